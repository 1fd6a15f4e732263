//! `oneOf` whose alternatives only their formats tell apart.

use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Nodes of one alternative that are looked at; where that is not enough, a format is taken to be among the rest.
const MOST_NODES: usize = 2_000;

/// The schema with `anyOf` for each `oneOf` that has a `format` in it. `format` only annotates here (Validation §7.2.1), so a
/// date would fit `format: date` and `format: date-time` at once, and every call would be refused.
pub(super) fn decidable(schema: &Value) -> Cow<'_, Value> {
    if !undecided(schema, schema) {
        return Cow::Borrowed(schema);
    }
    let mut out = schema.clone();
    loosen(&mut out, schema);
    Cow::Owned(out)
}

/// Members that hold values rather than schemas.
fn is_data(key: &str) -> bool {
    matches!(key, "enum" | "const" | "default" | "examples" | "example")
}

fn formatted(alternatives: &Value, root: &Value) -> bool {
    alternatives.as_array().is_some_and(|alternatives| alternatives.iter().any(|one| has_format(one, root)))
}

fn undecided(node: &Value, root: &Value) -> bool {
    match node {
        Value::Object(members) => members.iter().any(|(key, value)| {
            !is_data(key) && ((key == "oneOf" && formatted(value, root)) || undecided(value, root))
        }),
        Value::Array(items) => items.iter().any(|item| undecided(item, root)),
        _ => false,
    }
}

fn loosen(node: &mut Value, root: &Value) {
    match node {
        Value::Object(members) => {
            members.iter_mut().filter(|(key, _)| !is_data(key)).for_each(|(_, value)| loosen(value, root));
            if members.get("oneOf").is_some_and(|alternatives| formatted(alternatives, root)) {
                exchange(members);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| loosen(item, root)),
        _ => {}
    }
}

fn exchange(members: &mut Map<String, Value>) {
    let Some(alternatives) = members.shift_remove("oneOf") else { return };
    if !members.contains_key("anyOf") {
        members.insert("anyOf".to_string(), alternatives);
    } else if let Value::Array(all) = members.entry("allOf").or_insert_with(|| json!([])) {
        all.push(json!({ "anyOf": alternatives }));
    }
}

fn has_format(alternative: &Value, root: &Value) -> bool {
    let (mut open, mut seen, mut left) = (vec![alternative], Vec::new(), MOST_NODES);
    while let Some(node) = open.pop() {
        if left == 0 {
            return true;
        }
        left -= 1;
        match node {
            Value::Object(members) => {
                if members.get("format").is_some_and(Value::is_string) {
                    return true;
                }
                if let Some(reference) = members.get("$ref").and_then(Value::as_str)
                    && !seen.contains(&reference)
                {
                    seen.push(reference);
                    open.extend(crate::schema::walk::target(root, reference));
                }
                open.extend(members.iter().filter(|(key, _)| !is_data(key)).map(|(_, value)| value));
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    false
}
