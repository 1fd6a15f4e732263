//! Published schemas, fitted to what a revision allows at their root.

use crate::protocol::version::Version;
use serde_json::{Map, Value, json};

/// True if the root is `type: object`, the only root that `outputSchema` may have up to 2025-11-25.
pub(super) fn is_object_schema(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}

/// An input schema: `x-mcp-header` marks are for modern peers only, boolean property schemas too.
pub(super) fn input(published: &Value, mirrored: &[(String, String)], version: Version) -> Value {
    let mut schema = published.clone();
    let Some(root) = schema.as_object_mut() else {
        return json!({"type": "object"});
    };
    if !root.contains_key("type") {
        root.insert("type".to_owned(), "object".into());
    }
    let modern = version.is_modern();
    for (name, property) in root.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        match property {
            Value::Object(property) => {
                property.shift_remove("x-mcp-header");
                let mark = mirrored.iter().find(|(argument, _)| argument == name);
                if let (Some((_, suffix)), true) = (mark, modern) {
                    property.insert("x-mcp-header".to_owned(), suffix.as_str().into());
                }
            }
            Value::Bool(true) if !modern => *property = json!({}),
            Value::Bool(false) if !modern => *property = json!({"not": {}}),
            _ => {}
        }
    }
    schema
}

/// `{"result": …}` around a schema with another root. Definitions move to the new root, references
/// to other places follow the schema to its new place.
pub(super) fn wrapped(schema: &Value) -> Value {
    let mut inner = schema.clone();
    let mut outer = Map::new();
    if let Some(members) = inner.as_object_mut() {
        for key in ["$schema", "$defs", "definitions"] {
            if let Some(value) = members.shift_remove(key) {
                outer.insert(key.to_owned(), value);
            }
        }
    }
    rebase(&mut inner, 0);
    for key in ["$defs", "definitions"] {
        if let Some(definitions) = outer.get_mut(key) {
            rebase(definitions, 0);
        }
    }
    outer.insert("type".to_owned(), "object".into());
    outer.insert("properties".to_owned(), json!({"result": inner}));
    outer.insert("required".to_owned(), json!(["result"]));
    Value::Object(outer)
}

/// Deeper schemas are left as they are: the documents' own limit is far below.
const DEEPEST: usize = 200;

fn rebase(value: &mut Value, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                match (key.as_str(), &mut *member) {
                    ("$ref" | "$dynamicRef", Value::String(reference)) => {
                        if let Some(pointer) = reference.strip_prefix('#') {
                            let moved = pointer.is_empty()
                                || pointer.starts_with('/')
                                    && !pointer.starts_with("/$defs/")
                                    && !pointer.starts_with("/definitions/");
                            if moved {
                                *reference = format!("#/properties/result{pointer}");
                            }
                        }
                    }
                    ("const" | "enum" | "default" | "examples" | "example", _) => {}
                    (_, member) => rebase(member, depth + 1),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rebase(item, depth + 1)),
        _ => {}
    }
}
