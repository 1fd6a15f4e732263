//! What is healed, and what never is.

use super::{bind, call, call_text, member, request, tool};
use rest_mcp::catalog::{Action, Binding, Spot};
use serde_json::{Value, json};

fn object(properties: Value) -> Value {
    json!({
        "type": "object", "properties": properties,
        "$defs": {
            "Tags": { "type": "array", "items": { "$ref": "#/$defs/Tag" } },
            "Tag": { "type": "object", "properties": { "id": { "type": "integer" }, "name": { "type": "string" } }, "additionalProperties": false }
        }
    })
}

#[test]
fn texts_are_read_where_the_schema_wants_no_text() {
    // (schema of `a`, given, arrives as)
    let table = [
        (json!({ "type": "array" }), json!("[1, \"2\"]"), json!([1, "2"])),
        (json!({ "type": "object" }), json!(" {\"k\": 1} "), json!({ "k": 1 })),
        (json!({ "type": "integer" }), json!("5"), json!(5)),
        (json!({ "type": "number" }), json!("-2.5"), json!(-2.5)),
        (json!({ "type": "boolean" }), json!("true"), json!(true)),
        (json!({ "type": ["integer", "null"] }), json!("5"), json!(5)),
        (json!({ "type": ["integer", "null"] }), json!("null"), json!(null)),
        (json!({ "anyOf": [{ "type": "array" }, { "type": "null" }] }), json!("[]"), json!([])),
        (json!({ "allOf": [{ "$ref": "#/$defs/Tags" }], "description": "d" }), json!("[]"), json!([])),
        (json!({ "enum": [1, 2] }), json!("2"), json!(2)),
        (
            json!({ "$ref": "#/$defs/Tags" }),
            json!("[{\"id\": \"7\", \"name\": \"8\"}]"),
            json!([{ "id": 7, "name": "8" }]),
        ),
        (json!({ "$ref": "#/$defs/Tags" }), json!(["{\"id\": 7}", { "id": "8" }]), json!([{ "id": 7 }, { "id": 8 }])),
        (
            json!({ "type": "object", "additionalProperties": { "type": "integer" } }),
            json!({ "x": "1" }),
            json!({ "x": 1 }),
        ),
        (
            json!({ "type": "array", "prefixItems": [{ "type": "integer" }], "items": { "type": "boolean" } }),
            json!(["1", "false"]),
            json!([1, false]),
        ),
        (
            json!({ "type": "array", "items": { "type": "array", "items": { "type": "number" } } }),
            json!("[\"[1.5]\"]"),
            json!([[1.5]]),
        ),
    ];
    for (schema, given, expected) in table {
        let text = json!({ "a": given }).to_string();
        let call = call(object(json!({ "a": schema })), &text).unwrap_or_else(|r| panic!("{text}: {}", r.text("t")));
        assert_eq!(call.arguments["a"], expected, "{schema}");
        assert!(!call.healed.is_empty());
    }
}

#[test]
fn texts_stay_where_text_is_allowed() {
    let table = [
        json!({ "type": "string" }),
        json!({ "type": ["string", "integer"] }),
        json!({}),
        json!({ "anyOf": [{ "type": "integer" }, { "type": "string" }] }),
        json!({ "description": "anything" }),
    ];
    for schema in table {
        // The wrong `b` makes sure that healing runs.
        let text = r#"{"a":"123","b":"1"}"#;
        let call = call(object(json!({ "a": schema, "b": { "type": "integer" } })), text).expect("called");
        assert_eq!(call.arguments["a"], "123", "{schema}");
        assert_eq!(call.healed, ["b"]);
    }
}

#[test]
fn what_does_not_fit_is_refused_not_guessed() {
    let table = [
        (json!({ "type": "integer" }), json!("5.5")),
        (json!({ "type": "integer" }), json!("five")),
        (json!({ "type": "integer" }), json!("")),
        (json!({ "type": "integer" }), json!("12345678901234567890123")),
        (json!({ "type": "array" }), json!("{\"a\":1}")),
        (json!({ "type": "array" }), json!("a,b")),
        (json!({ "type": "array" }), json!(1)),
        (json!({ "type": "array" }), json!("[12345678901234567890123]")),
        (json!({ "type": "object" }), json!("{\"a\":1,\"a\":2}")),
        (json!({ "type": "boolean" }), json!("yes")),
        (json!({ "type": "boolean" }), json!(1)),
        (json!({ "type": "string" }), json!(1)),
    ];
    for (schema, given) in table {
        let text = json!({ "a": given }).to_string();
        assert!(call(object(json!({ "a": schema })), &text).is_err(), "{text} for {schema}");
    }
}

#[test]
fn texts_in_texts_end_somewhere() {
    let schema = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/N" } }, "$defs": { "N": { "type": "array", "items": { "$ref": "#/$defs/N" } } } });
    let mut text = "[]".to_string();
    for _ in 0..12 {
        text = format!("[{}]", Value::from(text));
    }
    let call = call(schema, &json!({ "a": text }).to_string()).expect("called");
    assert!(!call.arguments["a"].to_string().contains('"'));
}

#[test]
fn null_for_an_optional_argument_is_absent() {
    let schema = object(
        json!({ "q": { "type": "string" }, "n": { "type": "object", "properties": { "x": { "type": "integer" } } } }),
    );
    let call = call(schema, r#"{"q":null,"n":{"x":null}}"#).expect("called");
    assert_eq!(Value::Object(call.arguments), json!({ "n": {} }));
}

#[test]
fn null_for_a_required_argument_is_refused() {
    let mut schema = object(json!({ "q": { "type": "string" } }));
    schema["required"] = json!(["q"]);
    let text = call(schema, r#"{"q":null}"#).expect_err("refused").text("t");
    assert!(text.contains("`q` expected string, got null"), "{text}");
}

#[test]
fn explicit_null_is_kept_where_the_body_is_nullable_only() {
    let nullable = json!({ "type": ["string", "null"] });
    let schema = object(json!({ "query": nullable, "note": nullable, "tag": nullable }));
    let bindings = vec![
        bind("query", Spot::Parameter(0)),
        Binding { keep_null: true, ..bind("note", member("note")) },
        bind("tag", member("tag")),
    ];
    let tool = tool("t", schema, Action::Request(Box::new(request(bindings))));
    let call = call_text(tool, r#"{"query":null,"note":null,"tag":null}"#).expect("called");
    assert_eq!(Value::Object(call.arguments), json!({ "note": null }));
}
