//! Walks over a self-contained schema's subschemas, and its local references.

use super::keyword::{Holds, holds};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;

/// Calls `visit` with every direct subschema of `schema` (booleans included).
pub fn each_child<'a>(schema: &'a Value, visit: &mut dyn FnMut(&'a Value)) {
    let Some(members) = schema.as_object() else { return };
    for (keyword, value) in members {
        match (holds(keyword), value) {
            (Holds::Map, Value::Object(map)) => map.values().for_each(&mut *visit),
            (Holds::List | Holds::One, Value::Array(list)) => list.iter().for_each(&mut *visit),
            (Holds::One, value) => visit(value),
            _ => {}
        }
    }
}

/// Calls `visit` with every direct subschema of `schema`, to change it.
pub fn each_child_mut(schema: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    let Some(members) = schema.as_object_mut() else { return };
    for (keyword, value) in members.iter_mut() {
        match (holds(keyword), value) {
            (Holds::Map, Value::Object(map)) => map.values_mut().for_each(&mut *visit),
            (Holds::List | Holds::One, Value::Array(list)) => list.iter_mut().for_each(&mut *visit),
            (Holds::One, value) => visit(value),
            _ => {}
        }
    }
}

/// Every `$ref` at or below `schema`, in no particular order, `$defs` included.
pub fn references(schema: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open = vec![schema];
    while let Some(next) = open.pop() {
        if let Some(reference) = next.get("$ref").and_then(Value::as_str) {
            found.push(reference);
        }
        each_child(next, &mut |child| open.push(child));
    }
    found
}

/// What references are looked up in: a self-contained schema, or the definitions of a whole source.
pub trait Root {
    /// What a local reference points to; see [`target`].
    fn target(&self, reference: &str) -> Option<&Value>;

    /// The definition of this name.
    fn definition(&self, name: &str) -> Option<&Value>;
}

impl Root for Value {
    fn target(&self, reference: &str) -> Option<&Value> {
        target(self, reference)
    }

    fn definition(&self, name: &str) -> Option<&Value> {
        self.get("$defs")?.get(name)
    }
}

/// What a local reference (`#`, `#/$defs/NAME` or any JSON pointer fragment, RFC 6901 §6) points to.
pub fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    if let Some(name) = definition_name(reference) {
        return root.get("$defs")?.get(name.as_ref());
    }
    let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8().ok()?;
    root.pointer(&pointer)
}

/// NAME of a reference `#/$defs/NAME`, unescaped; `None` for any other form.
pub fn definition_name(reference: &str) -> Option<Cow<'_, str>> {
    let name = reference.strip_prefix("#/$defs/")?;
    if name.contains('/') {
        return None;
    }
    if !name.contains(['~', '%']) {
        return Some(Cow::Borrowed(name));
    }
    let name = percent_encoding::percent_decode_str(name).decode_utf8().ok()?;
    Some(Cow::Owned(name.replace("~1", "/").replace("~0", "~")))
}

/// Removes the `$defs` that nothing reachable from the rest of `root` refers to.
pub fn drop_unused(root: &mut Value) {
    let Some(definitions) = root.get("$defs").and_then(Value::as_object) else { return };
    let mut used: HashSet<String> = HashSet::new();
    let mut open: Vec<&Value> = Vec::new();
    let mut keep_all = false;
    if let Some(members) = root.as_object() {
        for (keyword, value) in members.iter().filter(|(keyword, _)| *keyword != "$defs") {
            match (holds(keyword), value) {
                (Holds::Map, Value::Object(map)) => open.extend(map.values()),
                (Holds::List | Holds::One, Value::Array(list)) => open.extend(list),
                (Holds::One, value) => open.push(value),
                _ => {}
            }
        }
        if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
            follow(reference, definitions, &mut used, &mut open, &mut keep_all);
        }
    }
    while let Some(next) = open.pop() {
        if let Some(reference) = next.get("$ref").and_then(Value::as_str) {
            follow(reference, definitions, &mut used, &mut open, &mut keep_all);
        }
        each_child(next, &mut |child| open.push(child));
    }
    // A pointer into the middle of a definition needs its name too; such references are not taken apart.
    if keep_all {
        return;
    }
    let Some(members) = root.as_object_mut() else { return };
    if used.is_empty() {
        members.shift_remove("$defs");
    } else if let Some(definitions) = members.get_mut("$defs").and_then(Value::as_object_mut) {
        definitions.retain(|name, _| used.contains(name));
    }
}

fn follow<'a>(
    reference: &str,
    definitions: &'a serde_json::Map<String, Value>,
    used: &mut HashSet<String>,
    open: &mut Vec<&'a Value>,
    keep_all: &mut bool,
) {
    match definition_name(reference) {
        Some(name) => {
            if !used.contains(name.as_ref())
                && let Some(definition) = definitions.get(name.as_ref())
            {
                used.insert(name.into_owned());
                open.push(definition);
            }
        }
        None => *keep_all |= reference.starts_with("#/$defs/"),
    }
}
