//! What is published as output schema.

use rest_mcp::schema::check::Checker;
use rest_mcp::schema::output::{has_object_root, relaxed, relaxed_within, strict, wrap_for_object_root};
use serde_json::{Value, json};
use std::sync::Arc;

#[track_caller]
fn accepts(schema: &Value, value: Value) {
    let problems = Checker::new(Arc::new(schema.clone())).check(&value);
    assert!(problems.is_empty(), "{value} against {schema}: {problems:?}");
}

fn pet() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["id", "name"],
        "properties": {
            "id": { "type": "integer", "format": "int64", "minimum": 1, "description": "Number." },
            "name": { "type": "string", "pattern": "^[a-z]+$" },
            "status": { "enum": ["sold", "free"] },
            "owner": { "$ref": "#/$defs/Person" },
            "tags": { "type": "array", "items": { "type": "string" }, "minItems": 1 }
        },
        "$defs": { "Person": { "type": "object", "required": ["email"], "properties": { "email": { "type": "string", "format": "email" } } } }
    })
}

#[test]
fn what_apis_really_answer_passes() {
    let out = relaxed(&pet());
    for value in [
        json!({}),
        json!({ "id": null, "name": null, "status": null, "owner": null, "tags": null }),
        json!({ "id": -1, "name": "REX", "status": "lost", "extra": [1], "tags": [], "owner": { "email": "no" } }),
        json!({ "tags": [null, "a"], "owner": {} }),
    ] {
        accepts(&out, value);
    }
}

#[test]
fn types_names_items_and_descriptions_are_kept() {
    let out = relaxed(&pet());
    assert_eq!(
        out,
        json!({
            "type": "object",
            "properties": {
                "id": { "type": ["integer", "null"], "description": "Number." },
                "name": { "type": ["string", "null"] },
                "status": { "type": ["string", "null"] },
                "owner": { "$ref": "#/$defs/Person" },
                "tags": { "type": ["array", "null"], "items": { "type": ["string", "null"] } }
            },
            "$defs": { "Person": { "type": ["object", "null"], "properties": { "email": { "type": ["string", "null"] } } } }
        })
    );
}

#[test]
fn one_of_that_overlaps_once_nothing_is_required_becomes_any_of() {
    let schema = json!({ "oneOf": [
        { "type": "object", "required": ["bark"], "properties": { "bark": { "type": "string" } } },
        { "type": "object", "required": ["meow"], "properties": { "meow": { "type": "string" } } }
    ] });
    let out = relaxed(&schema);
    assert!(out.get("oneOf").is_none());
    assert_eq!(out["type"], "object");
    accepts(&out, json!({}));
    accepts(&out, json!({ "bark": "x", "meow": "y" }));
}

#[test]
fn all_of_is_merged() {
    let schema = json!({
        "allOf": [{ "$ref": "#/$defs/Base" }, { "properties": { "b": { "type": "string" } }, "additionalProperties": false }],
        "$defs": { "Base": { "type": "object", "properties": { "a": { "type": "integer" } } } }
    });
    let out = relaxed(&schema);
    assert_eq!(
        out,
        json!({ "type": "object", "properties": { "a": { "type": ["integer", "null"] }, "b": { "type": ["string", "null"] } } })
    );
}

#[test]
fn a_nullable_reference_stays_a_reference() {
    let schema = json!({
        "type": "object",
        "properties": {
            "any": { "anyOf": [{ "$ref": "#/$defs/Node" }, { "type": "null" }] },
            "all": { "allOf": [{ "$ref": "#/$defs/Node" }], "description": "D" }
        },
        "$defs": { "Node": { "type": "object", "properties": { "next": { "oneOf": [{ "$ref": "#/$defs/Node" }, { "type": "null" }] } } } }
    });
    let out = relaxed(&schema);
    assert_eq!(out["properties"]["any"], json!({ "$ref": "#/$defs/Node" }));
    assert_eq!(out["properties"]["all"], json!({ "$ref": "#/$defs/Node", "description": "D" }));
    assert_eq!(out["$defs"]["Node"]["properties"]["next"], json!({ "$ref": "#/$defs/Node" }));
}

#[test]
fn definitions_that_extend_one_another_end() {
    let schema = json!({
        "$ref": "#/$defs/A",
        "$defs": {
            "A": { "allOf": [{ "$ref": "#/$defs/B" }, { "properties": { "x": { "allOf": [{ "$ref": "#/$defs/A" }, { "properties": { "k": {} } }] } } }] },
            "B": { "allOf": [{ "$ref": "#/$defs/A" }, { "properties": { "y": { "allOf": [{ "$ref": "#/$defs/B" }, { "properties": { "l": {} } }] } } }] }
        }
    });
    assert!(relaxed(&schema).to_string().len() < 100_000);
}

#[test]
fn unions_of_scalars_are_one_type_list() {
    assert_eq!(
        relaxed(&json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] })),
        json!({ "type": ["string", "integer", "null"] })
    );
}

#[test]
fn the_root_keeps_its_one_type() {
    assert_eq!(relaxed(&json!({ "type": "object", "properties": { "a": true } }))["type"], "object");
    assert_eq!(relaxed(&json!({ "type": ["object", "null"] }))["type"], json!(["object", "null"]));
    let by_reference = json!({ "$ref": "#/$defs/P", "$defs": { "P": { "type": "object", "properties": { "p": { "$ref": "#/$defs/P" } } } } });
    let out = relaxed(&by_reference);
    assert_eq!((&out["type"], out.get("$ref")), (&json!("object"), None));
    assert_eq!(out["$defs"]["P"]["type"], json!(["object", "null"]));
}

#[test]
fn wrapping_keeps_references_right() {
    let list = json!({ "type": "array", "items": { "$ref": "#/$defs/P" }, "$defs": { "P": { "type": "object", "properties": { "up": { "$ref": "#" } } } } });
    let wrapped = wrap_for_object_root(&list);
    assert!(!has_object_root(&list) && has_object_root(&wrapped));
    assert_eq!(wrapped["required"], json!(["result"]));
    assert_eq!(wrapped["properties"]["result"]["items"], json!({ "$ref": "#/$defs/P" }));
    assert_eq!(wrapped["$defs"]["P"]["properties"]["up"], json!({ "$ref": "#/properties/result" }));
    accepts(&wrapped, json!({ "result": [{ "up": [] }] }));
}

#[test]
fn strict_is_as_declared() {
    assert_eq!(strict(&pet()), pet());
}

#[test]
fn a_limit_keeps_the_definitions_nearest_to_the_root() {
    let wide = |next: &str| {
        let mut properties = serde_json::Map::new();
        for n in 0..20 {
            properties.insert(format!("{next}{n}"), json!({ "type": "string" }));
        }
        properties.insert("next".to_string(), json!({ "$ref": format!("#/$defs/{next}"), "description": "N" }));
        json!({ "type": "object", "properties": properties })
    };
    let schema = json!({
        "type": "object", "properties": { "a": { "$ref": "#/$defs/A" } },
        "$defs": { "A": wide("B"), "B": wide("C"), "C": { "type": "string" } }
    });
    let small = relaxed_within(&schema, 1_200);
    assert!(small["$defs"]["A"]["properties"]["B0"].is_object());
    assert!(small["$defs"].get("B").is_none());
    assert_eq!(small["$defs"]["A"]["properties"]["next"], json!({ "description": "N", "type": ["object", "null"] }));
    let none = relaxed_within(&schema, 0);
    assert_eq!(none, json!({ "type": "object", "properties": { "a": { "type": ["object", "null"] } } }));
    for limit in [0, 100, 1_200, 5_000, usize::MAX] {
        accepts(&relaxed_within(&schema, limit), json!({ "a": { "B0": "x", "next": { "C0": null, "next": "c" } } }));
    }
    assert_eq!(relaxed_within(&schema, 100_000), relaxed(&schema));
}
