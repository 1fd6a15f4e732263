//! Published schemas, fitted to what a revision allows at their root.

use crate::protocol::version::Version;
use crate::schema::kept::{HEADER_MARK, Kept};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The text of an input schema: `x-mcp-header` marks are for modern peers only, boolean property schemas too.
pub(super) fn input<'a>(published: &'a Kept, mirrored: &[(String, String)], version: Version) -> Cow<'a, str> {
    if mirrored.is_empty() && published.is_plain() {
        return published.text();
    }
    let mut schema = published.tree().into_owned();
    let Some(root) = schema.as_object_mut() else {
        return Cow::Borrowed(r#"{"type":"object"}"#);
    };
    if !root.contains_key("type") {
        root.insert("type".to_owned(), "object".into());
    }
    let modern = version.is_modern();
    for (name, property) in root.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        match property {
            Value::Object(property) => {
                property.shift_remove(HEADER_MARK);
                let mark = mirrored.iter().find(|(argument, _)| argument == name);
                if let (Some((_, suffix)), true) = (mark, modern) {
                    property.insert(HEADER_MARK.to_owned(), suffix.as_str().into());
                }
            }
            Value::Bool(true) if !modern => *property = json!({}),
            Value::Bool(false) if !modern => *property = json!({"not": {}}),
            _ => {}
        }
    }
    Cow::Owned(schema.to_string())
}

/// The text of an output schema. Up to 2025-11-25 its root must be `type: object`: any other is wrapped.
pub(super) fn output(published: &Kept, any_root: bool) -> Cow<'_, str> {
    if any_root || published.has_object_root() {
        return published.text();
    }
    Cow::Owned(wrapped(&published.tree()).to_string())
}

/// `{"result": …}` around a schema with another root. Definitions move to the new root, references
/// to other places follow the schema to its new place.
fn wrapped(schema: &Value) -> Value {
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
