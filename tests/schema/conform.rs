//! Values made to conform.

use rest_mcp::content::conform::{Shape, Verdict};
use rest_mcp::schema::output::relaxed;
use serde_json::{Value, json};

fn shape() -> Shape {
    Shape::new(&relaxed(&json!({
        "type": "array",
        "items": { "$ref": "#/$defs/Node" },
        "$defs": { "Node": {
            "type": "object",
            "properties": {
                "id": { "type": "integer" }, "price": { "type": "number" }, "name": { "type": "string" },
                "next": { "$ref": "#/$defs/Node" },
                "map": { "type": "object", "additionalProperties": { "type": "integer" } },
                "either": { "oneOf": [
                    { "type": "object", "properties": { "a": { "type": "integer" } } },
                    { "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "boolean" } } }
                ] }
            }
        } }
    })))
}

#[test]
fn bytes_and_values_are_judged_alike_and_leaves_are_nulled() {
    let table: Vec<(Value, Value, usize)> = vec![
        (json!([]), json!([]), 0),
        (json!(null), json!(null), 0),
        (
            json!([{ "id": 1, "price": 1.5, "name": "x", "other": [{}] }]),
            json!([{ "id": 1, "price": 1.5, "name": "x", "other": [{}] }]),
            0,
        ),
        (json!([{ "id": 1.0, "price": 2 }]), json!([{ "id": 1.0, "price": 2 }]), 0),
        (json!([{ "id": 1.5 }]), json!([{ "id": null }]), 1),
        (
            json!([{ "id": "7", "name": 7, "next": { "next": { "id": [] } } }]),
            json!([{ "id": null, "name": null, "next": { "next": { "id": null } } }]),
            3,
        ),
        (json!(["x", { "id": 1 }, null]), json!([null, { "id": 1 }, null]), 1),
        (json!([{ "map": { "k": 1, "l": "x" } }]), json!([{ "map": { "k": 1, "l": null } }]), 1),
        (json!([{ "either": { "a": "x", "b": true } }]), json!([{ "either": { "a": "x", "b": true } }]), 0),
        (json!([{ "either": { "a": 1, "b": 2 } }]), json!([{ "either": { "a": 1, "b": 2 } }]), 0),
        (json!([{ "either": { "a": "x", "b": 2 } }]), json!([{ "either": { "a": null, "b": 2 } }]), 1),
        (json!({ "id": 1 }), json!(null), 1),
    ];
    let shape = shape();
    for (value, expected, nulled) in table {
        let bytes = value.to_string();
        let verdict = shape.accepts(bytes.as_bytes());
        assert_eq!(verdict, if nulled == 0 { Verdict::Conforms } else { Verdict::Differs }, "{bytes}");
        assert_eq!(shape.fits(&value), nulled == 0, "{bytes}");
        assert_eq!(shape.conform(value), (expected, nulled), "{bytes}");
    }
}

#[test]
fn what_is_no_json_is_told_from_what_differs() {
    let shape = shape();
    for text in ["", "[", "[1,]", "{\"a\":}", "[] []", "nul", "[{\"id\":\"\\x\"}]", "[\"unclosed]", "[true x]"] {
        assert_eq!(shape.accepts(text.as_bytes()), Verdict::NotJson, "{text}");
    }
    assert_eq!(shape.accepts(b"[\"\xff\"]"), Verdict::NotJson);
    assert_eq!(shape.accepts(b" [1] "), Verdict::Differs);
    assert_eq!(shape.accepts(b"{\"id\": [1}"), Verdict::NotJson);
}

#[test]
fn deep_nesting_overflows_nothing() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for shape in
        [shape(), Shape::new(&json!({})), Shape::new(&json!({ "anyOf": [{ "type": "array" }, { "type": "string" }] }))]
    {
        shape.accepts(deep.as_bytes());
    }
}

#[test]
fn an_object_root_is_never_null() {
    let shape = Shape::new(&relaxed(&json!({ "type": "object", "properties": { "a": { "type": "string" } } })));
    assert_eq!(shape.conform(json!([1])), (json!({}), 1));
    assert_eq!(shape.conform(json!(null)), (json!({}), 1));
    assert_eq!(shape.accepts(b"null"), Verdict::Differs);
}

#[test]
fn names_with_escapes_and_in_any_order_are_found() {
    let shape = shape();
    assert_eq!(shape.accepts(br#"[{"na\u006de":1}]"#), Verdict::Differs);
    assert_eq!(shape.accepts(br#"[{"name":"x","price":1,"id":2,"zzz":0,"id":"x"}]"#), Verdict::Differs);
}

#[test]
fn nested_alternatives_are_read_once_side_by_side() {
    // 2^29 ways through the alternatives, written with shared definitions.
    let mut definitions = serde_json::Map::new();
    definitions.insert("D0".to_string(), json!({ "type": "string" }));
    for n in 1..30 {
        let below = json!({ "$ref": format!("#/$defs/D{}", n - 1) });
        definitions.insert(
            format!("D{n}"),
            json!({ "anyOf": [
            { "type": "object", "properties": { "n": below, "x": { "type": "integer" } } },
            { "type": "object", "properties": { "n": below, "y": { "type": "integer" } } }
        ] }),
        );
    }
    let shape = Shape::new(&json!({ "$ref": "#/$defs/D29", "$defs": definitions }));
    let mut value = json!("leaf");
    for n in 1..30 {
        value = json!({ "n": value, "x": if n == 1 { json!("no integer") } else { json!(1) } });
    }
    assert_eq!(shape.accepts(value.to_string().as_bytes()), Verdict::Conforms);
    assert_eq!(shape.conform(value.clone()).0, value);
}
