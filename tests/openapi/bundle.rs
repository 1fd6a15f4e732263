//! Bundling: only what is used, nothing that does not travel, nothing that points outside.

use super::support::read_text;
use rest_mcp::openapi::Api;
use rest_mcp::schema::view::Additional;
use rest_mcp::schema::{Direction, Schema};
use serde_json::{Value, json};

/// An API whose one operation has a body with this schema.
fn api(schema: Value, components: Value) -> (Api, Schema) {
    let document = json!({
        "openapi": "3.0.3", "info": { "title": "T", "version": "1" },
        "paths": { "/": { "post": { "requestBody": { "content": { "application/json": { "schema": schema } } } } } },
        "components": { "schemas": components },
    });
    let (api, _) = read_text(&document.to_string());
    let schema = api.operations[0].body.as_ref().unwrap().content[0].schema.clone();
    (api, schema)
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

#[test]
fn only_used_definitions_go_along_and_recursion_stays_a_reference() {
    let components = json!({
        "Node": {"type": "object", "properties": {"child": reference("Node"), "leaf": reference("Leaf")}},
        "Leaf": {"type": "string"}, "Other": {"type": "number"},
    });
    let (api, schema) = api(reference("Node"), components);
    assert_eq!(
        api.definitions.bundle(&schema, Direction::Input),
        json!({
            "$ref": "#/$defs/Node",
            "$defs": {
                "Node": {"type": "object", "properties": {"child": {"$ref": "#/$defs/Node"}, "leaf": {"$ref": "#/$defs/Leaf"}}},
                "Leaf": {"type": "string"},
            },
        }),
    );
}

#[test]
fn read_only_properties_do_not_travel_in_and_write_only_ones_not_out() {
    let components = json!({
        "Id": {"type": "integer", "readOnly": true},
        "Base": {"type": "object", "properties": {"created": {"type": "string", "readOnly": true}}, "required": ["created"]},
    });
    let schema = json!({
        "allOf": [reference("Base"), {"required": ["created", "name"]}],
        "properties": {
            "id": reference("Id"), "by_all_of": {"allOf": [reference("Id")], "description": "d"},
            "name": {"type": "string"}, "password": {"type": "string", "writeOnly": true},
            "nested": {"type": "object", "properties": {"id": reference("Id"), "x": {}}, "required": ["id"]},
        },
        "required": ["id", "password"],
    });
    let (api, schema) = api(schema, components);
    assert_eq!(
        api.definitions.bundle(&schema, Direction::Input),
        json!({
            "allOf": [{"$ref": "#/$defs/Base"}, {"required": ["name"]}],
            "properties": {
                "name": {"type": "string"}, "password": {"type": "string", "writeOnly": true},
                "nested": {"type": "object", "properties": {"x": {}}},
            },
            "required": ["password"],
            "$defs": {"Base": {"type": "object", "properties": {}}},
        }),
    );
    let out = api.definitions.bundle(&schema, Direction::Output);
    assert!(out["properties"].get("password").is_none());
    assert_eq!(out["required"], json!(["id"]));
    assert_eq!(out["$defs"]["Base"]["required"], json!(["created"]));
}

#[test]
fn parts_share_their_definitions() {
    let components = json!({"A": {"properties": {"b": reference("B")}}, "B": {"type": "string"}});
    let (api, schema) = api(json!({"anyOf": [reference("A"), reference("B")]}), components);
    let parts = [schema.clone(), Schema::any(), schema];
    let (values, definitions) = api.definitions.bundle_parts(parts.iter(), Direction::Input);
    assert_eq!(values.len(), 3);
    assert_eq!(values[1], json!(true));
    assert_eq!(definitions.keys().collect::<Vec<_>>(), ["A", "B"]);
}

#[test]
fn xml_marks_go_when_published_and_stay_for_encoding() {
    let (api, schema) = api(
        reference("A"),
        json!({"A": {"type": "object", "xml": {"name": "a"}, "properties": {"xml": {"type": "string"}}}}),
    );
    let published = api.definitions.bundle(&schema, Direction::Input);
    assert_eq!(published["$defs"]["A"], json!({"type": "object", "properties": {"xml": {"type": "string"}}}));
    let for_xml = api.definitions.bundle_for_xml(&schema, Direction::Input);
    assert_eq!(for_xml["$defs"]["A"]["xml"], json!({"name": "a"}));
}

#[test]
fn a_reference_at_the_root_can_be_replaced_by_what_it_means() {
    let components = json!({"A": {"type": "object", "description": "a", "properties": {"a": reference("A")}}});
    let expected = json!({
        "type": "object", "description": "mine", "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"type": "object", "description": "a", "properties": {"a": {"$ref": "#/$defs/A"}}}},
    });
    for schema in [
        json!({"$ref": "#/components/schemas/A", "description": "mine"}),
        json!({"allOf": [reference("A")], "description": "mine"}),
    ] {
        let (api, schema) = api(schema, components.clone());
        assert_eq!(api.definitions.inline(&schema, Direction::Input), expected);
    }
}

#[test]
fn an_object_view_merges_what_is_composed() {
    let components = json!({
        "Root": {"type": "object", "properties": {"id": {"type": "integer", "readOnly": true}, "r": {"type": "string"}}, "required": ["id", "r"]},
        "Left": {"allOf": [reference("Root"), {"properties": {"l": {"type": "string"}}}]},
        "Right": {"allOf": [reference("Root"), {"properties": {"x": {"type": "string"}}, "required": ["x"]}]},
        "Loop": {"type": "object", "properties": {"n": {"type": "string"}}, "allOf": [reference("Loop")]},
    });
    // A diamond is no circle: Root is reached twice.
    let (api, schema) = api(json!({"allOf": [reference("Left"), reference("Right")]}), components);
    let view = api.definitions.object_view(&schema, Direction::Input).unwrap();
    assert_eq!(view.properties.keys().collect::<Vec<_>>(), ["r", "l", "x"]);
    assert_eq!(view.required, ["r", "x"]);
    assert!(!view.other_constraints);
    assert_eq!(view.additional, Additional::Open);
}

#[test]
fn an_object_view_of_alternatives_unites_them_as_optional() {
    let components = json!({
        "A": {"type": "object", "properties": {"k": {"const": "a"}, "a": {"type": "string"}}, "required": ["k", "a"]},
        "B": {"type": "object", "properties": {"k": {"const": "b"}}, "required": ["k"]},
    });
    let (api, schema) =
        api(json!({"type": "object", "properties": {"n": {}}, "oneOf": [reference("A"), reference("B")]}), components);
    let view = api.definitions.object_view(&schema, Direction::Input).unwrap();
    assert_eq!(view.properties.keys().collect::<Vec<_>>(), ["n", "k", "a"]);
    assert_eq!(view.required, ["k"], "what every branch asks for is asked for");
    assert_eq!(*view.properties["k"].json, json!({"anyOf": [{"const": "a"}, {"const": "b"}]}));
    assert!(view.other_constraints);
}

#[test]
fn what_is_no_object_has_no_view() {
    let cases = [
        json!({"type": "array", "items": {}}),
        json!({"type": "string"}),
        json!({}),
        json!({"type": ["object", "array"]}),
        json!({"oneOf": [{"type": "object"}, {"type": "string"}]}),
        json!({"allOf": [{"type": "object"}, {"type": "string"}]}),
    ];
    for case in cases {
        let (api, schema) = api(case.clone(), json!({}));
        assert_eq!(api.definitions.object_view(&schema, Direction::Input), None, "{case}");
    }
}

#[test]
fn a_nullable_object_is_an_object_and_closed_ones_are_told() {
    let (api, schema) = api(
        json!({"nullable": true, "allOf": [reference("A")]}),
        json!({"A": {"type": "object", "properties": {"a": {}}, "additionalProperties": false}}),
    );
    let view = api.definitions.object_view(&schema, Direction::Input).unwrap();
    assert!(view.nullable);
    assert_eq!(view.additional, Additional::Closed);
}
