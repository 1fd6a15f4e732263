//! Tests of call: arguments healed, checked and refused, and the body they make.

mod body;
mod heal;
mod random;

use http::Method;
use rest_mcp::call::{Call, Refusal, prepare};
use rest_mcp::catalog::{Action, Annotations, Binding, From, Input, OperationRef, Output, RequestAction, Spot, Tool};
use rest_mcp::mapping::StatusSet;
use rest_mcp::schema::check::Checker;
use rest_mcp::schema::profile::publish;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;

/// A tool with this input schema.
pub fn tool(name: &str, schema: Value, action: Action) -> Tool {
    Tool {
        name: name.to_string(),
        title: None,
        description: name.to_string(),
        annotations: Annotations { read_only: true, destructive: false, idempotent: true, open_world: true },
        icons: Vec::new(),
        tags: Vec::new(),
        operation: None,
        input: Input {
            published: publish(&schema, rest_mcp::mapping::SchemaProfile::Default).into(),
            check: Checker::new(schema),
            body_check: None,
            mirrored: Vec::new(),
        },
        output: Output::default(),
        action,
        ask: Vec::new(),
        confirm: None,
        requires_client: Vec::new(),
        result: None,
        cache: None,
    }
}

/// The same tool with an operation behind it.
pub fn with_operation(tool: Tool, method: &str, path: &str, id: &str, description: &str) -> Tool {
    let operation = OperationRef {
        source: "shop".to_string(),
        method: method.to_string(),
        path: path.to_string(),
        operation_id: Some(id.to_string()),
        deprecated: false,
    };
    Tool { operation: Some(operation), description: description.to_string(), ..tool }
}

/// An action with these bindings.
pub fn request(bindings: Vec<Binding>) -> RequestAction {
    RequestAction {
        source: 0,
        method: Method::POST,
        base_url: "https://api.example".to_string(),
        path: Vec::new(),
        fixed_query: None,
        parameters: Vec::new(),
        body: None,
        accept: "application/json".to_string(),
        bindings,
        security: Vec::new(),
        success: StatusSet::default(),
        errors: None,
        timeout: None,
        paginate: None,
        poll: None,
        stream: None,
        idempotent: false,
        own: Vec::new(),
        aliases: Vec::new(),
    }
}

/// An argument at a spot.
pub fn bind(name: &str, spot: Spot) -> Binding {
    Binding { from: From::Argument(name.to_string()), spot, required: false, default: None, keep_null: false }
}

/// `owner.name` as a spot.
pub fn member(path: &str) -> Spot {
    Spot::BodyMember(path.split('.').map(str::to_string).collect())
}

pub fn call_text(tool: Tool, text: &str) -> Result<Call, Refusal> {
    let raw = RawValue::from_string(text.to_string()).expect("JSON");
    prepare(&Arc::new(tool), Some(&raw))
}

/// Calls a tool that has this schema and no bindings.
pub fn call(schema: Value, arguments: &str) -> Result<Call, Refusal> {
    call_text(tool("t", schema, Action::Request(Box::new(request(Vec::new())))), arguments)
}

#[track_caller]
fn refused(schema: Value, arguments: &str) -> Refusal {
    call(schema, arguments).expect_err("refused")
}

fn pet() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["petId"],
        "properties": { "petId": { "type": "integer" }, "verbose": { "type": "boolean" } }
    })
}

#[test]
fn absent_and_null_arguments_are_none_given() {
    let open = json!({ "type": "object" });
    for arguments in [None, Some("null"), Some("{}"), Some(" { } "), Some("\"{}\"")] {
        let raw = arguments.map(|text| RawValue::from_string(text.to_string()).expect("JSON"));
        let tool = Arc::new(tool("t", open.clone(), Action::Steps(Vec::new())));
        assert!(prepare(&tool, raw.as_deref()).expect("called").arguments.is_empty());
    }
}

#[test]
fn arguments_that_are_no_object_are_refused() {
    for text in ["[1]", "7", "\"x\"", "true", "\"[1]\""] {
        let refusal = refused(json!({}), text);
        assert!(refusal.text("t").contains("must be a JSON object"), "{}", refusal.text("t"));
    }
}

#[test]
fn a_member_given_twice_is_refused() {
    let refusal = refused(json!({}), r#"{"a":{"b":1,"b":2}}"#);
    assert!(refusal.text("t").contains("give the member \"b\" twice"), "{}", refusal.text("t"));
}

#[test]
fn arguments_nested_too_deep_are_refused() {
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let Ok(raw) = serde_json::from_str::<&RawValue>(&deep) else { return };
    let tool = Arc::new(tool("t", json!({}), Action::Steps(Vec::new())));
    assert!(prepare(&tool, Some(raw)).is_err());
}

#[test]
fn the_refusal_names_every_problem_once_and_the_legal_names() {
    let text = refused(pet(), r#"{"pet_id":"x","verbos":true}"#).text("get_pet");
    assert_eq!(
        text,
        "`get_pet` was not called: its arguments are not right.\n\
         - `pet_id` is not known (did you mean `petId`?)\n\
         - `verbos` is not known (did you mean `verbose`?)\n\
         - `petId` is required but missing; expected integer\n\
         Arguments of `get_pet`: `petId`, `verbose`."
    );
}

#[test]
fn no_legal_names_where_none_was_unknown() {
    assert_eq!(
        refused(pet(), r#"{"petId":1.5}"#).text("get_pet"),
        "`get_pet` was not called: its arguments are not right.\n- `petId` expected integer, got number 1.5"
    );
}

#[test]
fn a_tool_whose_schema_can_not_be_used_is_never_called() {
    let refusal = refused(json!({ "properties": { "a": { "pattern": "(" } } }), "{}");
    assert!(refusal.text("t").contains("can't be used"), "{}", refusal.text("t"));
}

#[test]
fn numbers_that_would_lose_digits_are_never_rounded() {
    let schema = |kind: Value| json!({ "type": "object", "properties": { "a": { "type": "array", "items": { "type": kind } } } });
    // (type, given, kept as or refused)
    let table: [(Value, &str, Option<Value>); 14] = [
        (json!("integer"), "9223372036854775807", Some(json!(i64::MAX))),
        (json!("integer"), "-9223372036854775808", Some(json!(i64::MIN))),
        (json!("integer"), "18446744073709551615", Some(json!(u64::MAX))),
        (json!("integer"), "18446744073709551616", None),
        (json!("integer"), "-9223372036854775809", None),
        (json!("number"), "0.30000000000000004", Some(json!(0.30000000000000004))),
        (json!("number"), "0.1000000000000000055511151231257827", Some(json!(0.1))),
        (json!("number"), "3.14159265358979323846", None),
        (json!("string"), "123456789012345678901234567890", Some(json!("123456789012345678901234567890"))),
        (json!(["string", "integer"]), "123456789012345678901234567890", None),
        (json!("number"), "1000000000000000000000.0", Some(json!(1e21))),
        (json!("number"), "103400000000000000000", Some(json!(1.034e20))),
        (json!("integer"), "103400000000000000000", None),
        (json!("number"), "103400000000000000001", None),
    ];
    for (kind, given, expected) in table {
        let result = call(schema(kind.clone()), &format!(r#"{{"x,\"[{{":"\\","a":[1,{given}]}}"#).replace("[1,", "["));
        match (result, expected) {
            (Ok(call), Some(value)) => assert_eq!(call.arguments["a"], json!([value]), "{given}"),
            (Err(refusal), None) => {
                let text = refusal.text("t");
                assert!(text.contains("`a[0]`") && text.contains("digits"), "{text}");
                assert_eq!(text.contains("as text"), kind.is_array(), "{text}");
            }
            (result, expected) => panic!("{given} as {kind}: {result:?}, expected {expected:?}"),
        }
    }
}

#[test]
fn long_digits_in_text_are_text() {
    let given =
        call(json!({}), r#"{"a":"123456789012345678901234567890","12345678901234567890123":1}"#).expect("called");
    assert_eq!(given.arguments["a"], "123456789012345678901234567890");
}

#[test]
fn the_mapping_fills_what_is_absent_or_null() {
    let schema =
        json!({ "type": "object", "properties": { "limit": { "type": "integer", "maximum": 50, "default": 7 } } });
    let with_default = |default: Option<Value>| {
        let binding = Binding { default, ..bind("limit", Spot::Parameter(0)) };
        tool("t", schema.clone(), Action::Request(Box::new(request(vec![binding]))))
    };
    let limit = |text: &str, default: Option<Value>| {
        call_text(with_default(default), text).map(|call| call.arguments.get("limit").cloned())
    };
    assert_eq!(limit("{}", Some(json!(20))).expect("called"), Some(json!(20)));
    assert_eq!(limit(r#"{"limit":null}"#, Some(json!(20))).expect("called"), Some(json!(20)));
    assert_eq!(limit(r#"{"limit":3}"#, Some(json!(20))).expect("called"), Some(json!(3)));
    assert_eq!(limit("{}", None).expect("called"), None, "a schema's default is the server's business");
    assert!(limit("{}", Some(json!(99))).is_err(), "a default is checked like any value");
}

#[test]
fn defaults_of_a_hand_written_schema_count() {
    let schema = json!({ "type": "object", "properties": { "first": { "type": "integer", "default": 20 } } });
    assert_eq!(call_text(tool("t", schema, Action::Steps(Vec::new())), "{}").expect("called").arguments["first"], 20);
}
