//! The body that arguments make.

use super::{bind, call_text, member, request, tool};
use rest_mcp::call::body_value;
use rest_mcp::catalog::{Action, Binding, From, RequestAction, Spot};
use rest_mcp::request::{BodyKind, BodyPlan, BodyVariant};
use rest_mcp::schema::check::Checker;
use rest_mcp::secret::Secret;
use serde_json::{Value, json};
use std::sync::Arc;

fn body(action: &RequestAction, arguments: Value) -> Option<Value> {
    body_value(action, arguments.as_object().expect("an object"), |from| match from {
        From::Fixed(value) => Some(value.clone()),
        From::Secret(_) => Some(json!("s3cret")),
        _ => None,
    })
}

fn fixed(value: Value, spot: Spot) -> Binding {
    Binding { from: From::Fixed(value), ..bind("", spot) }
}

#[test]
fn members_go_where_their_paths_say() {
    let action = request(vec![
        bind("city", member("owner.address.city")),
        bind("owner", member("owner")),
        bind("name", member("name")),
        bind("q", Spot::Parameter(0)),
        fixed(json!("web"), member("origin")),
    ]);
    assert_eq!(
        body(
            &action,
            json!({ "q": 1, "city": "Oslo", "name": "Rex", "owner": { "age": 3, "address": { "zip": "1" } } })
        ),
        Some(
            json!({ "name": "Rex", "origin": "web", "owner": { "age": 3, "address": { "zip": "1", "city": "Oslo" } } })
        )
    );
    assert_eq!(
        body(&action, json!({ "city": "Oslo" })),
        Some(json!({ "origin": "web", "owner": { "address": { "city": "Oslo" } } }))
    );
}

#[test]
fn nothing_given_is_no_body() {
    let action = request(vec![bind("name", member("name")), bind("q", Spot::Parameter(0))]);
    assert_eq!(body(&action, json!({ "q": 1 })), None);
    assert_eq!(body(&action, json!({ "name": null })), None);
}

#[test]
fn a_whole_body_is_taken_as_it_is_and_fixed_members_win() {
    let action = request(vec![bind("body", Spot::Body)]);
    for whole in [json!([1, 2]), json!("text"), json!(0), json!({ "a": {} })] {
        assert_eq!(body(&action, json!({ "body": whole })), Some(whole));
    }
    let action = request(vec![fixed(json!("acme"), member("tenant")), bind("body", Spot::Body)]);
    assert_eq!(
        body(&action, json!({ "body": { "tenant": "evil", "x": 1 } })),
        Some(json!({ "tenant": "acme", "x": 1 }))
    );
}

#[test]
fn the_rest_takes_what_nothing_else_takes() {
    let rest = Binding { from: From::Rest, ..bind("", Spot::Body) };
    let action = request(vec![rest, bind("id", Spot::Parameter(0)), bind("newName", member("name"))]);
    assert_eq!(
        body(&action, json!({ "id": 1, "newName": "Rex", "extra": null, "more": [1] })),
        Some(json!({ "extra": null, "more": [1], "name": "Rex" }))
    );
    assert_eq!(body(&action, json!({ "id": 1 })), None);
}

fn checked(bindings: Vec<Binding>, required: bool) -> rest_mcp::catalog::Tool {
    let mut action = request(bindings);
    let variant = BodyVariant {
        declared: 0,
        media_type: "application/json".to_string(),
        kind: BodyKind::Json,
        encoding: Default::default(),
        parts: Default::default(),
        xml: None,
        transfer: None,
    };
    action.body = Some(BodyPlan { variants: vec![variant], required });
    let mut tool = tool("t", json!({ "type": "object" }), Action::Request(Box::new(action)));
    tool.input.body_check = Some(Checker::new(Arc::new(json!({
        "type": "object", "required": ["owner", "key"],
        "properties": {
            "owner": { "type": "object", "required": ["name"], "properties": { "name": { "type": "string" }, "age": { "type": "integer" } } },
            "key": { "type": "string", "minLength": 10 }
        }
    }))));
    tool
}

#[test]
fn problems_of_the_body_are_told_by_argument() {
    let bindings = || {
        let key = Binding { from: From::Secret(Secret::new("top-secret-value")), ..bind("", member("key")) };
        vec![bind("ownerName", member("owner.name")), bind("years", member("owner.age")), key]
    };
    let text = call_text(checked(bindings(), true), r#"{"years":"x"}"#).expect_err("refused").text("t");
    assert!(text.contains("`years` expected integer") && text.contains("`ownerName` is required"), "{text}");
    assert!(!text.contains("key") && !text.contains("top-secret"), "{text}");
    let text = call_text(checked(bindings(), true), "{}").expect_err("refused").text("t");
    assert!(text.contains("`ownerName` is required"), "{text}");
    call_text(checked(bindings(), true), r#"{"ownerName":"Ann"}"#).expect("called");
}

#[test]
fn a_required_body_that_nothing_is_given_for_is_checked_as_empty() {
    let bindings = || vec![bind("owner", member("owner")), bind("key", member("key"))];
    let text = call_text(checked(bindings(), true), "{}").expect_err("refused").text("t");
    assert!(text.contains("`owner` is required") && text.contains("`key` is required"), "{text}");
    call_text(checked(bindings(), false), "{}").expect("no body, nothing to check");
}

#[test]
fn a_member_without_room_is_refused_not_dropped() {
    let action = request(vec![bind("body", Spot::Body), fixed(json!("acme"), member("tenant"))]);
    let tool = tool("t", json!({ "type": "object" }), Action::Request(Box::new(action)));
    let text = call_text(tool, r#"{"body":[1]}"#).expect_err("refused").text("t");
    assert!(text.contains("`body` must be an object"), "{text}");
}
