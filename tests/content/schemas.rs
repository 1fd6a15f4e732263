//! The published output schema follows the pipeline.

use super::{compiled, rules};
use proptest::prelude::*;
use rest_mcp::content::shape::Compiled;
use rest_mcp::schema::check::Checker;
use serde_json::{Map, Value, json};
use std::sync::Arc;

fn published() -> Value {
    json!({
        "type": "object",
        "required": ["items", "total"],
        "properties": {
            "total": {"type": "integer"},
            "items": {"type": "array", "minItems": 3, "items": {"$ref": "#/$defs/Pet"}},
        },
        "$defs": {
            "Pet": {
                "type": "object",
                "required": ["id", "name", "secret"],
                "properties": {
                    "id": {"type": "integer"},
                    "name": {"type": "string", "description": "Its name."},
                    "secret": {"type": "string"},
                    "owner": {"anyOf": [{"$ref": "#/$defs/Person"}, {"type": "null"}]},
                    "parent": {"$ref": "#/$defs/Pet"},
                },
            },
            "Person": {"type": "object", "properties": {"email": {"type": "string"}, "friends": {"type": "array", "items": {"$ref": "#/$defs/Person"}}}},
        },
    })
}

fn person() -> Value {
    published()["$defs"]["Person"].clone()
}

fn rewritten(yaml: &str) -> Value {
    compiled(yaml).rewrite_schema(&published()).unwrap()
}

#[test]
fn each_step_rewrites_it_exactly() {
    let id = json!({"type": "integer"});
    let name = json!({"type": "string", "description": "Its name."});
    let cases = [
        ("{path: total}", json!({"type": "integer"})),
        ("{path: items.id}", json!({"type": "array", "items": id})),
        (
            "{path: items, pick: [id, owner.email]}",
            json!({"type": "array", "minItems": 3, "items": {"type": "object", "required": ["id"], "properties": {
                "id": id, "owner": {"anyOf": [{"type": "object", "properties": {"email": {"type": "string"}}}, {"type": "null"}]}}}}),
        ),
        (
            "{path: items, pick: [owner]}",
            json!({"type": "array", "minItems": 3, "items": {"type": "object", "properties": {"owner": {"anyOf": [{"$ref": "#/$defs/Person"}, {"type": "null"}]}}},
                "$defs": {"Person": person()}}),
        ),
        (
            "{path: items, drop: [secret, owner, parent], limit_items: 2}",
            json!({"type": "array", "items": {"type": "object", "required": ["id", "name"], "properties": {"id": id, "name": name}}}),
        ),
        (
            "{path: items, pick: [id, name], rename: {name: petName}}",
            json!({"type": "array", "minItems": 3, "items": {"type": "object", "required": ["id", "petName"], "properties": {"id": id, "petName": name}}}),
        ),
        (
            "{path: items, pick: [name, owner.email], redact: [name, owner.email]}",
            json!({"type": "array", "minItems": 3, "items": {"type": "object", "required": ["name"], "properties": {
                "name": name, "owner": {"anyOf": [{"type": "object", "properties": {"email": {"type": "string"}}}, {"type": "null"}]}}}}),
        ),
        ("{path: nothing}", json!({})),
        ("{format: csv, path: total}", json!({"type": "integer"})),
    ];
    for (yaml, expected) in cases {
        assert_eq!(rewritten(yaml), expected, "{yaml}");
    }
}

#[test]
fn simple_filters_have_exact_schemas_and_the_rest_is_open() {
    let maybe = |schema: Value| json!({"anyOf": [schema, {"type": "null"}]});
    let id = json!({"type": "integer"});
    let name = json!({"type": "string", "description": "Its name."});
    let pair = json!({"type": "object", "properties": {"id": maybe(id.clone()), "name": maybe(name.clone())}, "required": ["id", "name"]});
    let cases = [
        (".total", maybe(id.clone())),
        (".items[].id", json!({"type": "array", "items": maybe(id.clone())})),
        (".items[] | {id, name}", json!({"type": "array", "items": pair})),
        ("[.items[] | {id, \"name\": .name}]", json!({"type": "array", "items": pair})),
        (".items | map({id, name: .name})", json!({"type": "array", "items": pair})),
        (
            "{count: .items | length, first: .items[0].id}",
            json!({"type": "object", "properties": {"count": {"type": "number"}, "first": maybe(id.clone())}, "required": ["count", "first"]}),
        ),
        (".items[] | select(.id > 1) | .name", json!({"type": "array", "items": maybe(name)})),
        (".items | map(.id) | add", json!({})),
        ("frob", json!({})),
    ];
    for (filter, expected) in cases {
        let rules = rules(&format!("select: {}", json!(filter)));
        let Ok(compiled) = Compiled::new(&rules) else {
            assert_eq!(filter, "frob");
            continue;
        };
        assert_eq!(compiled.rewrite_schema(&published()), Some(expected), "{filter}");
    }
}

#[test]
fn results_that_are_no_structured_value_have_none() {
    for yaml in ["template: x", "blocks: [{type: text}]", "as: text", "as: resource", "output_schema: none"] {
        assert_eq!(compiled(yaml).rewrite_schema(&published()), None, "{yaml}");
    }
}

/// Values of the published schema.
fn pet(depth: u32) -> BoxedStrategy<Value> {
    let person = prop_oneof![
        Just(Value::Null),
        "[a-z]{0,4}".prop_map(|email| json!({"email": email, "friends": [{"email": "f"}]}))
    ];
    let leaf = (0i64..9, "[a-z]{0,4}", prop::option::of(person)).prop_map(|(id, name, owner)| {
        let mut pet = Map::new();
        pet.insert("id".into(), json!(id));
        pet.insert("name".into(), json!(name));
        pet.insert("secret".into(), json!("s"));
        if let Some(owner) = owner {
            pet.insert("owner".into(), owner);
        }
        Value::Object(pet)
    });
    if depth == 0 {
        return leaf.boxed();
    }
    (leaf, prop::option::of(pet(depth - 1)))
        .prop_map(|(mut pet, parent)| {
            if let Some(parent) = parent {
                pet["parent"] = parent;
            }
            pet
        })
        .boxed()
}

proptest! {
    #[test]
    fn what_comes_out_conforms_to_what_is_published(items in prop::collection::vec(pet(2), 3..5)) {
        let value = json!({"total": items.len(), "items": items});
        for yaml in [
            "{}",
            "{path: items}",
            "{path: items.owner}",
            "{path: items, pick: [id, parent.owner.email, '*.id']}",
            "{drop: [items.secret, items.parent.parent, '*.owner.*']}",
            "{rename: {items: pets, 'items.owner.email': mail, 'items.id': name, 'items.name': id}}",
            "{redact: [items.owner, items.parent.name, total]}",
            "{limit_items: 1, max_bytes: 200}",
            "{select: '.items[] | {id, owner: .owner.email, parents: [.parent?]}'}",
            "{select: '.items | map(select(.id > 3)) | first'}",
            "{select: '{total, names: [.items[].name], last: .items[-1].parent.id}'}",
            "{select: '.items[0] // .total'}",
        ] {
            let compiled = compiled(yaml);
            let schema = compiled.rewrite_schema(&published()).unwrap();
            let shaped = compiled.apply(value.clone(), &Map::new()).unwrap();
            let checker = Checker::new(Arc::new(schema.clone()));
            prop_assert!(checker.compile().is_ok(), "{} {}", yaml, schema);
            prop_assert!(checker.is_valid(&shaped.value), "{}: {} against {}", yaml, shaped.value, schema);
        }
    }
}
