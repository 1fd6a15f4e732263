//! What is published of an input schema.

use rest_mcp::mapping::SchemaProfile::{Default, Full, StrictVendors};
use rest_mcp::schema::profile::{publish, publish_or_keep, self_check};
use serde_json::{Value, json};

fn card_or_bank() -> Value {
    json!({
        "type": "object", "description": "Pays.", "required": ["amount"],
        "properties": { "amount": { "type": "number" } },
        "oneOf": [
            { "required": ["kind", "number"], "properties": { "kind": { "const": "card" }, "number": { "type": "string" } } },
            { "required": ["kind", "iban"], "properties": { "kind": { "const": "bank" }, "iban": { "type": "string" } } }
        ]
    })
}

fn names(schema: &Value) -> Vec<&str> {
    schema["properties"].as_object().expect("properties").keys().map(String::as_str).collect()
}

#[test]
fn full_is_verbatim() {
    assert_eq!(publish(&card_or_bank(), Full), card_or_bank());
}

#[test]
fn alternatives_at_the_root_become_optional_properties_and_a_note() {
    let published = publish(&card_or_bank(), Default);
    assert!(published.get("oneOf").is_none());
    assert_eq!(names(&published), ["amount", "kind", "number", "iban"]);
    assert_eq!(published["required"], json!(["amount", "kind"]));
    assert_eq!(published["properties"]["kind"]["enum"], json!(["card", "bank"]));
    let text = published["description"].as_str().expect("text");
    assert!(text.starts_with("Pays."), "{text}");
    assert!(text.contains("exactly one") && text.contains("`number`") && text.contains("\"bank\""), "{text}");
}

#[test]
fn all_of_at_the_root_is_merged_through_references() {
    let full = json!({
        "allOf": [{ "$ref": "#/$defs/Base" }, { "properties": { "b": { "type": "string" } }, "required": ["b"] }],
        "$defs": {
            "Base": { "type": "object", "properties": { "a": { "$ref": "#/$defs/Used" } }, "required": ["a"] },
            "Used": { "type": "integer" },
            "Unused": { "type": "string" }
        }
    });
    let published = publish(&full, Default);
    assert_eq!(published["type"], "object");
    assert_eq!(names(&published), ["a", "b"]);
    assert_eq!(published["required"], json!(["a", "b"]));
    assert_eq!(published["$defs"], json!({ "Used": { "type": "integer" } }));
    self_check(&published).expect("sound");
}

#[test]
fn no_combinator_stays_at_the_root_and_those_inside_do() {
    let inner = json!({ "oneOf": [{ "type": "string" }, { "type": "integer" }] });
    for keyword in ["oneOf", "anyOf", "allOf"] {
        let full =
            json!({ "type": "object", keyword: [{ "properties": { "x": inner } }, { "properties": { "y": {} } }] });
        let published = publish(&full, Default);
        for forbidden in ["oneOf", "anyOf", "allOf", "not", "if", "enum", "const", "$ref"] {
            assert!(published.get(forbidden).is_none(), "{forbidden} in {published}");
        }
        assert_eq!(published["properties"]["x"], inner, "{keyword}");
        assert_eq!(names(&published), ["x", "y"]);
    }
}

#[test]
fn conditions_keep_the_names_they_bring() {
    let full = json!({
        "type": "object", "properties": { "country": { "type": "string" } },
        "if": { "properties": { "country": { "const": "US" } } },
        "then": { "properties": { "zip": { "type": "string" } }, "required": ["zip"] },
        "else": { "properties": { "postcode": { "type": "string" } } },
        "dependentSchemas": { "zip": { "properties": { "zip4": { "type": "string" } } } },
        "not": { "required": ["zip", "postcode"] }
    });
    let published = publish(&full, Default);
    assert_eq!(names(&published), ["country", "zip", "postcode", "zip4"]);
    assert_eq!(published["properties"]["country"], json!({ "type": "string" }));
    assert!(published.get("required").is_none());
    assert!(published["description"].as_str().expect("note").contains("`zip` and `postcode`"));
}

#[test]
fn properties_of_one_name_in_two_branches_are_alternatives() {
    let full = json!({ "anyOf": [
        { "type": "object", "properties": { "id": { "type": "string" } }, "required": ["id"] },
        { "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"] },
        { "type": "null" }
    ] });
    let published = publish(&full, Default);
    assert_eq!(published["properties"]["id"], json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] }));
    assert_eq!(published["required"], json!(["id"]));
}

#[test]
fn boolean_subschemas_become_objects() {
    let full = json!({
        "type": "object",
        "properties": { "a": true, "b": false, "c": { "type": "object", "properties": { "d": true }, "additionalProperties": false } }
    });
    let published = publish(&full, Default);
    assert_eq!(published["properties"]["a"], json!({}));
    assert_eq!(published["properties"]["b"], json!({ "not": {} }));
    assert_eq!(published["properties"]["c"]["properties"]["d"], json!({}));
    assert_eq!(published["properties"]["c"]["additionalProperties"], false);
}

#[test]
fn a_definition_that_merges_itself_ends() {
    let full = json!({ "$ref": "#/$defs/A", "$defs": { "A": { "type": "object", "allOf": [{ "$ref": "#/$defs/A" }], "properties": { "x": { "$ref": "#/$defs/A" } } } } });
    for profile in [Default, StrictVendors] {
        let published = publish(&full, profile);
        assert_eq!(published["type"], "object");
        assert_eq!(names(&published), ["x"]);
    }
}

#[test]
fn a_property_called_like_a_keyword_is_a_property() {
    let full = json!({ "type": "object", "properties": { "$ref": { "type": "string" }, "oneOf": { "type": "string" }, "properties": { "type": "object" } } });
    assert_eq!(publish(&full, Default), full);
    assert_eq!(names(&publish(&full, StrictVendors)), ["$ref", "oneOf", "properties"]);
}

/// Every keyword that stands in a schema, at any depth.
fn keywords(schema: &Value, out: &mut Vec<String>) {
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        out.push(keyword.clone());
        match (keyword.as_str(), value) {
            ("properties", Value::Object(map)) => map.values().for_each(|schema| keywords(schema, out)),
            ("items", value) => keywords(value, out),
            _ => {}
        }
    }
}

#[test]
fn strict_vendors_has_only_keywords_that_all_accept_and_loses_no_name() {
    let full = json!({
        "type": "object", "additionalProperties": false, "required": ["a"],
        "properties": {
            "a": { "type": ["null", "integer"], "exclusiveMinimum": 0, "maximum": 10, "multipleOf": 2, "examples": [2] },
            "b": { "const": "x" },
            "c": { "anyOf": [{ "type": "object", "properties": { "deep": { "type": "string", "format": "date" } } }, { "type": "string" }] },
            "d": { "anyOf": [{ "type": "array", "items": { "type": "string" } }, { "type": "string" }, { "type": "null" }] },
            "e": { "type": "array" },
            "f": { "type": "object", "additionalProperties": { "type": "integer" } },
            "g": { "$ref": "#/$defs/Node" },
            "h": true,
            "i": { "allOf": [{ "$ref": "#/$defs/Node" }, { "properties": { "extra": { "type": "boolean" } } }] },
            "j": { "enum": [1, 2] },
            "k": { "type": "string", "pattern": "^a", "default": "a", "readOnly": false, "minLength": 1 }
        },
        "$defs": { "Node": { "type": "object", "properties": { "value": { "type": "string" }, "next": { "$ref": "#/$defs/Node" } } } }
    });
    let published = publish(&full, StrictVendors);
    let allowed = [
        "type",
        "description",
        "properties",
        "required",
        "items",
        "enum",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
    ];
    let mut used = Vec::new();
    keywords(&published, &mut used);
    used.retain(|keyword| !allowed.contains(&keyword.as_str()));
    assert_eq!(used, Vec::<String>::new());
    let p = &published["properties"];
    assert_eq!(names(&published), ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"]);
    assert_eq!((&p["a"]["type"], &p["a"]["minimum"], &p["a"]["maximum"]), (&json!("integer"), &json!(0), &json!(10)));
    assert!(p["a"]["description"].as_str().expect("note").contains("may be null"));
    assert_eq!(p["b"], json!({ "type": "string", "enum": ["x"] }));
    assert_eq!(p["c"]["properties"]["deep"]["type"], "string");
    assert_eq!(p["d"]["type"], "string");
    assert!(p["e"]["items"].is_object());
    assert_eq!(p["g"]["properties"]["value"], json!({ "type": "string" }));
    assert_eq!(p["g"]["properties"]["next"], json!({ "type": "object", "description": "recursive Node" }));
    assert!(p["i"]["properties"]["extra"].is_object() && p["i"]["properties"]["value"].is_object());
    assert_eq!(p["j"]["type"], "integer");
    assert!(p["j"]["description"].as_str().expect("note").contains("1, 2"));
    self_check(&published).expect("sound");
}

#[test]
fn a_diamond_is_no_cycle() {
    let full = json!({
        "type": "object", "properties": { "l": { "$ref": "#/$defs/P" }, "r": { "$ref": "#/$defs/P" } },
        "$defs": { "P": { "type": "object", "properties": { "x": { "type": "integer" } } } }
    });
    let published = publish(&full, StrictVendors);
    assert_eq!(published["properties"]["l"], published["properties"]["r"]);
    assert_eq!(names(&published["properties"]["r"]), ["x"]);
}

#[test]
fn inlining_that_doubles_at_each_step_is_bounded() {
    let mut definitions = serde_json::Map::new();
    for n in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/D{}", n + 1) });
        definitions.insert(format!("D{n}"), json!({ "type": "object", "properties": { "a": next, "b": next } }));
    }
    definitions.insert("D40".to_string(), json!({ "type": "string" }));
    let full = json!({ "type": "object", "properties": { "x": { "$ref": "#/$defs/D0" } }, "$defs": definitions });
    assert!(publish(&full, StrictVendors).to_string().len() < 1_000_000);
    self_check(&publish(&full, Default)).expect("sound");
}

#[test]
fn the_self_check_finds_what_a_client_would_trip_over() {
    assert!(self_check(&json!({ "type": "array" })).is_err());
    assert!(self_check(&json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/Gone" } } })).is_err());
    assert!(self_check(&json!({ "type": "object", "properties": { "a": { "pattern": "(" } } })).is_err());
    self_check(&json!({ "type": "object", "properties": { "$ref": { "type": "string" } } }))
        .expect("a name, no reference");
}

#[test]
fn what_the_default_profile_leaves_as_it_is_is_neither_copied_nor_changed() {
    let object = |members: Value| {
        let mut schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
        schema.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        schema
    };
    let same = [
        object(json!({ "required": ["a"], "additionalProperties": false })),
        object(json!({ "properties": { "a": { "items": { "type": "string" }, "enum": [true, false] } } })),
        object(json!({ "properties": { "a": { "additionalProperties": true, "not": false } } })),
    ];
    for full in same {
        assert_eq!(publish_or_keep(full.clone(), Default), (full.clone(), None));
        assert_eq!(publish(&full, Default), full);
    }
    let changed = [
        json!({ "properties": { "a": {} } }),
        json!({ "type": "object" }),
        json!({ "type": ["object", "null"], "properties": {} }),
        object(json!({ "properties": { "a": true } })),
        object(json!({ "properties": { "a": { "properties": { "b": false } } } })),
        object(json!({ "properties": { "a": { "items": true } } })),
        object(json!({ "patternProperties": { "^b": { "anyOf": [{ "items": false }, {}] } } })),
        object(json!({ "$defs": { "Unused": {} } })),
        object(json!({ "anyOf": [{ "properties": { "b": {} } }] })),
    ];
    for full in changed {
        let published = publish(&full, Default);
        assert_ne!(published, full);
        assert_eq!(publish_or_keep(full.clone(), Default), (published, Some(full)));
    }
    let full = object(json!({ "properties": { "a": true } }));
    assert_eq!(publish_or_keep(full.clone(), Full), (full, None));
}
