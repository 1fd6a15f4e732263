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
fn alternatives_of_another_type_are_no_way_out() {
    // A list where a text or null belongs costs more values than the whole object, but the object has to stay.
    let text = json!({ "type": ["object", "null"], "additionalProperties": { "type": ["string", "null"] } });
    let number = json!({ "type": ["number", "null"] });
    let given = json!({ "a": ["x", true, 0.5], "b": "y" });
    let kept = (json!({ "a": null, "b": "y" }), 1);
    let root = json!({ "type": "object", "anyOf": [number, text] });
    assert_eq!(Shape::new(&root).conform(given.clone()), kept);
    // Also where null would do: only what does not conform goes.
    let inner = json!({ "type": "object", "properties": { "m": { "anyOf": [number, text] } } });
    assert_eq!(Shape::new(&inner).conform(json!({ "m": given })), (json!({ "m": kept.0 }), 1));
    // What no alternative holds becomes what both the schema and one of them allow.
    let list = json!({ "type": ["object", "array"], "anyOf": [number, { "type": ["array", "null"] }] });
    assert_eq!(Shape::new(&list).conform(given), (json!([]), 1));
}

#[test]
fn names_with_escapes_and_in_any_order_are_found() {
    let shape = shape();
    assert_eq!(shape.accepts(br#"[{"na\u006de":1}]"#), Verdict::Differs);
    assert_eq!(shape.accepts(br#"[{"name":"x","price":1,"id":2,"zzz":0,"id":"x"}]"#), Verdict::Differs);
}

#[test]
fn names_are_read_as_json_writes_them() {
    let published = json!({"type": "object", "properties": {
        "a": {"type": "integer"}, "a\"b": {"type": "integer"}, "c\\d": {"type": "integer"}, "e\nf": {"type": "integer"},
        "\u{e9}": {"type": "integer"}
    }});
    let shape = Shape::new(&published);
    // In the schema's order and out of it, with and without white space, escaped and not.
    for text in [
        r#"{"a":1,"a\"b":1,"c\\d":1,"e\nf":1,"é":1}"#,
        r#"{"\u00e9":1,"e\nf":1,"c\\d":1,"a\"b":1,"a":1}"#,
        r#"{ "a" : 1 , "a\u0022b" : 1 }"#,
    ] {
        assert_eq!(shape.accepts(text.as_bytes()), Verdict::Conforms, "{text}");
        assert_eq!(shape.accepts(text.replace('1', "true").as_bytes()), Verdict::Differs, "{text}");
    }
    for text in [r#"{"a":1,"a"b":1}"#, r#"{"a"1}"#, r#"{"a" 1}"#, "{\"a\":1,\"a\\\"b\":1,\"c\\\\d\":1,\"e\nf\":1}"] {
        assert_eq!(shape.accepts(text.as_bytes()), Verdict::NotJson, "{text}");
    }
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

#[test]
fn every_form_of_json_is_read_as_the_standard_says() {
    let any = Shape::new(&json!({}));
    let array = Shape::new(
        &json!({ "type": "array", "items": { "type": ["array", "object", "string", "number", "boolean", "null"] } }),
    );
    // RFC 8259: (text, is JSON)
    let table: [(&str, bool); 60] = [
        ("0", true),
        ("-0", true),
        ("01", false),
        ("-", false),
        ("+1", false),
        ("1.", false),
        (".5", false),
        ("1.5e", false),
        ("1.5e+", false),
        ("1E-7", true),
        // Right by the grammar, but section 6 lets readers refuse what no double holds, and many do.
        ("1e400", false),
        ("1e308", true),
        ("1e-400", true),
        ("0x1", false),
        ("NaN", false),
        ("Infinity", false),
        ("1 2", false),
        ("\"\"", true),
        ("\"a\\u00e9\\n\\/\"", true),
        ("\"\\u12g4\"", false),
        ("\"\\u123\"", false),
        ("\"\\a\"", false),
        ("\"a\tb\"", false),
        ("\"1234567\n\"", false),
        ("\"12345678\u{1f}\"", false),
        ("\"1234567\\\"9\"", true),
        ("\"äöüßéèê\u{7f}\u{10ffff}\"", true),
        ("\"", false),
        ("\"\\", false),
        ("\"\\\"", false),
        ("'a'", false),
        ("true", true),
        ("tru", false),
        ("truex", false),
        ("True", false),
        ("null", true),
        ("nul", false),
        ("[]", true),
        ("[ ]", true),
        ("[1,2]", true),
        ("[1,]", false),
        ("[,1]", false),
        ("[1 2]", false),
        ("[1", false),
        ("[1}", false),
        ("]", false),
        ("{}", true),
        ("{ }", true),
        ("{\"a\":1}", true),
        ("{\"a\" : 1 , \"b\":[{}]}", true),
        ("{\"a\":1,}", false),
        ("{\"a\"}", false),
        ("{\"a\":}", false),
        ("{a:1}", false),
        ("{1:1}", false),
        ("{\"a\":1]", false),
        ("{,}", false),
        ("/* c */1", false),
        ("\u{feff}1", false),
        ("\u{a0}1", false),
    ];
    for (text, is_json) in table {
        let expected = if is_json { Verdict::Conforms } else { Verdict::NotJson };
        for text in [text.to_string(), format!(" \n\r\t{text} \n\r\t")] {
            assert_eq!(any.accepts(text.as_bytes()), expected, "{text:?}");
            assert_eq!(
                array.accepts(format!("[{text}]").as_bytes()) == Verdict::NotJson,
                !is_json || text == "1 2",
                "[{text:?}]"
            );
        }
    }
    assert_eq!(any.accepts(b"\"a\0b\""), Verdict::NotJson);
    assert_eq!(any.accepts(b"1\0"), Verdict::NotJson);
    assert_eq!(any.accepts("[".repeat(127).as_bytes()), Verdict::NotJson);
    assert_eq!(any.accepts(format!("{}{}", "[".repeat(127), "]".repeat(127)).as_bytes()), Verdict::Conforms);
    assert_eq!(any.accepts(format!("{}{}", "[".repeat(128), "]".repeat(128)).as_bytes()), Verdict::NotJson);
}
