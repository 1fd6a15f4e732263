//! What bindings make of arguments, fixed values and what the server knows.

use super::{Operation, binding, body_text, header_text, operation, style};
use indexmap::IndexMap;
use rest_mcp::catalog::{Arguments, From, Spot};
use rest_mcp::mapping::CallerValue;
use rest_mcp::openapi::{ParameterIn, Style};
use rest_mcp::request::{BodyKind, BodyPlan, BodyVariant, Fixed, body_value};
use rest_mcp::secret::Secret;
use rest_mcp::template::BodyTemplate;
use serde_json::{Value, json};

fn json_plan(required: bool) -> BodyPlan {
    let variant = BodyVariant {
        declared: 0,
        media_type: "application/json".to_owned(),
        kind: BodyKind::Json,
        encoding: IndexMap::new(),
        parts: IndexMap::new(),
        xml: None,
        transfer: None,
    };
    BodyPlan { variants: vec![variant], required }
}

fn member(path: &[&str]) -> Spot {
    Spot::BodyMember(path.iter().map(|name| (*name).to_owned()).collect())
}

fn argument(name: &str) -> From {
    From::Argument(name.to_owned())
}

fn body(operation: Operation, arguments: Value) -> String {
    body_text(&operation.build(arguments)).to_owned()
}

#[test]
fn flattened_members_become_the_body() {
    let flat = || {
        operation("POST", "/p")
            .body_from(json_plan(true), argument("name"), member(&["name"]))
            .bind(argument("city"), member(&["address", "city"]))
            .bind(argument("zip"), member(&["address", "zip"]))
            .bind(From::Fixed(json!(true)), member(&["audit"]))
    };
    assert_eq!(
        body(flat(), json!({"zip": "1", "name": "n", "city": "c"})),
        r#"{"name":"n","address":{"city":"c","zip":"1"},"audit":true}"#
    );
    assert_eq!(body(flat(), json!({})), r#"{"audit":true}"#);
    // keep_null: the first binding's null is sent, the others' is absent
    assert_eq!(body(flat(), json!({"name": null, "city": null})), r#"{"name":null,"audit":true}"#);
}

#[test]
fn fixed_members_can_not_be_replaced_by_the_caller() {
    let whole = || {
        operation("POST", "/p")
            .body_from(json_plan(true), argument("body"), Spot::Body)
            .bind(From::Fixed(json!("acme")), member(&["tenant", "id"]))
    };
    assert_eq!(body(whole(), json!({"body": {"a": 1}})), r#"{"a":1,"tenant":{"id":"acme"}}"#);
    assert_eq!(body(whole(), json!({"body": {"tenant": {"name": "x"}}})), r#"{"tenant":{"name":"x","id":"acme"}}"#);
    whole().refusal(json!({"body": {"tenant": {"id": "evil"}}}));
    whole().refusal(json!({"body": [1]}));
    let rest = || {
        operation("POST", "/p")
            .body_from(json_plan(true), argument("name"), member(&["name"]))
            .bind(From::Rest, Spot::Body)
            .bind(From::Fixed(json!("acme")), member(&["tenant"]))
            .query("page")
    };
    assert_eq!(
        body(rest(), json!({"name": "n", "extra": [1], "page": 2, "more": null})),
        r#"{"name":"n","extra":[1],"more":null,"tenant":"acme"}"#
    );
    rest().refusal(json!({"tenant": "evil"}));
}

#[test]
fn required_members_matter_only_with_a_body() {
    let optional = |required| {
        let mut operation = operation("POST", "/p").body_from(json_plan(required), argument("a"), member(&["a"]));
        operation.action.bindings[0].required = true;
        operation.bind(argument("b"), member(&["b"]))
    };
    assert!(optional(false).build(json!({})).body.is_none());
    assert_eq!(optional(false).refusal(json!({"b": 1})).argument.as_deref(), Some("a"));
    assert_eq!(optional(true).refusal(json!({})).argument.as_deref(), Some("a"));
}

#[test]
fn null_and_missing_parameters_are_absent() {
    let mut with_default = operation("GET", "/p").query("a").query("b");
    with_default.action.bindings[1].default = Some(json!(20));
    assert_eq!(with_default.url(json!({"a": null, "b": null})), "https://api.example/p?b=20");
    let required = operation("GET", "/p").query("a").required();
    assert_eq!(required.refusal(json!({"a": null})).argument.as_deref(), Some("a"));
}

#[test]
fn values_of_the_caller_secrets_and_templates() {
    let caller = |value: &CallerValue| match value {
        CallerValue::Tenant => Some("acme/eu".to_owned()),
        _ => None,
    };
    let template = |template: &BodyTemplate, arguments: &Arguments| match template {
        BodyTemplate::Value(path) => arguments.get(&path[0]).cloned().ok_or_else(|| "missing".to_owned()),
        _ => Err("unexpected".to_owned()),
    };
    let fixed = Fixed { caller: &caller, template: &template, ..Fixed::default() };
    let query = |operation: Operation, name: &str, from| {
        operation.parameter_from(name, ParameterIn::Query, style(Style::Form, true), from)
    };
    let make = || {
        let operation = query(operation("GET", "/{t}"), "s", From::Secret(Secret::new("s3cr&t")));
        let operation = query(operation, "v", From::Template(BodyTemplate::Value(vec!["x".to_owned()])));
        operation.parameter_from("t", ParameterIn::Path, style(Style::Simple, false), From::Caller(CallerValue::Tenant))
    };
    let request = make().try_build_with(json!({"x": [1, 2]}), &fixed).unwrap();
    assert_eq!(request.url, "https://api.example/acme%2Feu?s=s3cr%26t&v=1&v=2");
    let shown = &request.url[request.secret_in_url[0].clone()];
    assert_eq!(shown, "?s=s3cr%26t");
    assert_eq!(make().try_build_with(json!({}), &fixed).unwrap_err().message, "missing");
    // fails closed where the caller lacks what the mapping needs
    let refused = make().try_build_with(json!({"x": 1}), &Fixed { caller: &|_| None, ..fixed }).unwrap_err();
    assert_eq!(refused.argument, None);
    let header = operation("GET", "/p")
        .parameter_from("X-Key", ParameterIn::Header, style(Style::Simple, false), From::Secret(Secret::new("k")))
        .build(json!({}));
    assert!(header.headers["x-key"].is_sensitive());
    assert_eq!(header_text(&header, "x-key"), Some("k"));
}

#[test]
fn body_value_borrows_a_whole_body() {
    let mut operation = operation("POST", "/p").body(json_plan(true));
    let arguments = json!({"body": {"a": 1}});
    let arguments = arguments.as_object().unwrap();
    let value = body_value(&operation.action, arguments, &Fixed::default()).unwrap().unwrap();
    assert!(matches!(value, std::borrow::Cow::Borrowed(_)));
    drop(value);
    operation.action.bindings.push(binding(argument("body"), Spot::Body));
    assert!(
        body_value(&operation.action, arguments, &Fixed::default()).is_ok(),
        "the same value twice is no contradiction"
    );
}
