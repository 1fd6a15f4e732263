//! The published output schema follows the value through each step.
//!
//! Schemas are self-contained: `$ref` points to `#/$defs/NAME` only. A path has an end, so what a step touches is
//! written out and everything below keeps its references.

use super::selector::{Segment, Selector, Tree};
use serde_json::{Map, Value, json};

/// Most references followed in a row, and most levels a schema is rewritten.
const MAX_DEPTH: usize = 64;

/// Rewrites schemas against one table of definitions.
#[derive(Clone, Copy)]
pub(super) struct Rewriter<'a> {
    definitions: Option<&'a Map<String, Value>>,
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Rewriter { definitions: root.get("$defs").and_then(Value::as_object) }
    }

    /// The schema itself instead of a reference to it. Siblings of the reference join it under `allOf`.
    pub(super) fn resolve(&self, schema: &Value) -> Value {
        let mut schema = schema.clone();
        for _ in 0..MAX_DEPTH {
            let Some(members) = schema.as_object_mut() else { return schema };
            let Some(reference) = members.remove("$ref") else { return schema };
            let target = reference.as_str().and_then(|text| text.strip_prefix("#/$defs/"));
            let target = target.and_then(|name| self.definitions?.get(name)).cloned().unwrap_or_else(|| json!({}));
            members.remove("$defs");
            let only_words =
                members.keys().all(|key| matches!(key.as_str(), "description" | "title" | "default" | "examples"));
            if !only_words {
                return json!({"allOf": [target, schema]});
            }
            schema = target;
        }
        json!({})
    }

    /// The same for values that are not null: `anyOf` of one schema and null is that schema.
    pub(super) fn present(&self, schema: &Value) -> Value {
        let mut schema = self.resolve(schema);
        for _ in 0..MAX_DEPTH {
            let Some(members) = schema.as_object() else { break };
            let union = |key: &str| members.get(key).filter(|_| !members.contains_key("properties"))?.as_array();
            let Some(list) = union("anyOf").or_else(|| union("oneOf")) else { break };
            let mut others = list.iter().filter(|branch| !is_null(branch));
            let (Some(one), None) = (others.next(), others.next()) else { break };
            schema = self.resolve(one);
        }
        schema
    }

    /// The schema of what the path leads to.
    pub(super) fn path(&self, schema: &Value, selector: &Selector) -> Value {
        self.descend(schema, &selector.segments, 0).unwrap_or_else(|| json!({}))
    }

    fn descend(&self, schema: &Value, segments: &[Segment], depth: usize) -> Option<Value> {
        let Some((first, rest)) = segments.split_first() else { return Some(schema.clone()) };
        if depth > MAX_DEPTH {
            return None;
        }
        let schema = self.present(schema);
        let members = schema.as_object()?;
        if is_list(members) {
            if matches!(first, Segment::Name(name) if name.parse::<usize>().is_ok())
                || members.contains_key("prefixItems")
            {
                return Some(json!({}));
            }
            let items = self.descend(members.get("items")?, segments, depth + 1)?;
            return Some(json!({"type": "array", "items": items}));
        }
        let Segment::Name(name) = first else {
            return Some(json!({"type": "array"}));
        };
        self.member(members, name, depth).and_then(|found| self.descend(&found, rest, depth + 1))
    }

    /// The schema of a member of objects; `None` where nothing is known.
    pub(super) fn member(&self, members: &Map<String, Value>, name: &str, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH || members.contains_key("patternProperties") {
            return None;
        }
        let mut found = Vec::new();
        if let Some(own) = members.get("properties").and_then(|properties| properties.get(name)) {
            found.push(own.clone());
        } else if let Some(open) = members.get("additionalProperties").filter(|open| open.is_object()) {
            found.push(open.clone());
        }
        let inside = |branch: &Value| {
            let branch = self.resolve(branch);
            self.member(branch.as_object()?, name, depth + 1)
        };
        for branch in branches(members, "allOf") {
            found.extend(inside(branch));
        }
        for key in ["anyOf", "oneOf"] {
            let all: Vec<&Value> = branches(members, key).filter(|branch| !is_null(branch)).collect();
            if all.is_empty() {
                continue;
            }
            // A branch that says nothing of the member allows anything there.
            let known: Option<Vec<Value>> = all.iter().map(|branch| inside(branch)).collect();
            if let Some(known) = known {
                found.push(any_of(known));
            }
        }
        match found.len() {
            0 | 1 => found.pop(),
            _ => Some(json!({"allOf": found})),
        }
    }

    /// What `pick` leaves.
    pub(super) fn pick(&self, schema: &Value, tree: &Tree, depth: usize) -> Value {
        if tree.leaf {
            return schema.clone();
        }
        self.rebuild(
            schema,
            depth,
            &|members, depth| {
                let Some(properties) = members.get("properties").and_then(Value::as_object) else { return };
                let mut kept = Map::new();
                for (name, property) in properties {
                    if let Some(child) = tree.child(name) {
                        kept.insert(name.clone(), self.pick(property, child, depth + 1));
                    }
                }
                // Named members that the schema only knows as additional ones.
                let open = members.get("additionalProperties").filter(|open| open.is_object()).cloned();
                for (name, child) in &tree.children {
                    if let Some(open) = open.as_ref().filter(|_| !kept.contains_key(name)) {
                        kept.insert(name.clone(), self.pick(open, child, depth + 1));
                    }
                }
                // A scalar is left out where the paths go on into it, required or not.
                let stays = |name: &str| {
                    let property = members.get("properties").and_then(|properties| properties.get(name));
                    tree.child(name)
                        .is_some_and(|child| child.leaf || property.is_some_and(|one| self.is_container(one)))
                };
                let certain: Vec<String> = kept.keys().filter(|name| stays(name)).cloned().collect();
                retain_required(members, |name| certain.iter().find(|one| *one == name).cloned());
                if open.is_some() {
                    members.remove("additionalProperties");
                }
                members.insert("properties".to_owned(), Value::Object(kept));
            },
            &|items, depth| self.pick(items, tree, depth),
        )
    }

    /// True if values can only be objects, lists or null.
    fn is_container(&self, schema: &Value) -> bool {
        let schema = self.present(schema);
        let kind = |one: &Value| one == "object" || one == "array" || one == "null";
        match schema.get("type") {
            Some(Value::Array(list)) => list.iter().all(kind),
            Some(one) => kind(one),
            None => false,
        }
    }

    /// What `drop` leaves.
    pub(super) fn remove(&self, schema: &Value, tree: &Tree, depth: usize) -> Value {
        self.rebuild(
            schema,
            depth,
            &|members, depth| {
                let Some(properties) = members.get("properties").and_then(Value::as_object) else { return };
                let kept: Map<String, Value> = properties
                    .iter()
                    .filter_map(|(name, property)| match tree.child(name) {
                        Some(child) if child.leaf => None,
                        Some(child) => Some((name.clone(), self.remove(property, child, depth + 1))),
                        None => Some((name.clone(), property.clone())),
                    })
                    .collect();
                retain_required(members, |name| {
                    (!tree.child(name).is_some_and(|child| child.leaf)).then(|| name.to_owned())
                });
                members.insert("properties".to_owned(), Value::Object(kept));
            },
            &|items, depth| self.remove(items, tree, depth),
        )
    }

    /// What `rename` makes of it.
    pub(super) fn rename(&self, schema: &Value, tree: &Tree, depth: usize) -> Value {
        self.rebuild(
            schema,
            depth,
            &|members, depth| {
                let new_name = |name: &str| tree.child(name).and_then(|child| child.rename.clone());
                let Some(properties) = members.get("properties").and_then(Value::as_object) else { return };
                let taken: Vec<String> = properties.keys().filter_map(|name| new_name(name)).collect();
                let renamed: Map<String, Value> = properties
                    .iter()
                    .filter(|(name, _)| new_name(name).is_some() || !taken.contains(name))
                    .map(|(name, property)| {
                        let property = match tree.child(name) {
                            Some(child) => self.rename(property, child, depth + 1),
                            None => property.clone(),
                        };
                        (new_name(name).unwrap_or_else(|| name.clone()), property)
                    })
                    .collect();
                retain_required(members, |name| Some(new_name(name).unwrap_or_else(|| name.to_owned())));
                // A member that only `additionalProperties` allowed may now bear a name that nothing allows.
                if members.get("additionalProperties").is_some_and(|open| open != &json!(false)) {
                    members.remove("additionalProperties");
                }
                members.insert("properties".to_owned(), Value::Object(renamed));
            },
            &|items, depth| self.rename(items, tree, depth),
        )
    }

    /// What `redact` makes of it.
    pub(super) fn redact(&self, schema: &Value, tree: &Tree, depth: usize) -> Value {
        if tree.leaf {
            let mut text = json!({"type": "string"});
            if let (Some(description), Some(members)) = (schema.get("description"), text.as_object_mut()) {
                members.insert("description".to_owned(), description.clone());
            }
            return text;
        }
        self.rebuild(
            schema,
            depth,
            &|members, depth| {
                if let Some(Value::Object(open)) = members.get("additionalProperties").cloned() {
                    members.insert("additionalProperties".to_owned(), any_of(vec![Value::Object(open), json!({})]));
                }
                let Some(properties) = members.get_mut("properties").and_then(Value::as_object_mut) else { return };
                for (name, property) in properties {
                    if let Some(child) = tree.child(name) {
                        *property = self.redact(property, child, depth + 1);
                    }
                }
            },
            &|items, depth| self.redact(items, tree, depth),
        )
    }

    /// Copies a schema with its object keywords changed by `object`, going through lists and combinations. Keywords that
    /// speak of whole values are left out where they may no longer hold.
    fn rebuild(
        &self,
        schema: &Value,
        depth: usize,
        object: &dyn Fn(&mut Map<String, Value>, usize),
        inner: &dyn Fn(&Value, usize) -> Value,
    ) -> Value {
        const WHOLE: [&str; 18] = [
            "const",
            "enum",
            "not",
            "if",
            "then",
            "else",
            "patternProperties",
            "propertyNames",
            "minProperties",
            "maxProperties",
            "dependentRequired",
            "dependentSchemas",
            "unevaluatedProperties",
            "unevaluatedItems",
            "uniqueItems",
            "contains",
            "discriminator",
            "examples",
        ];
        if depth > MAX_DEPTH {
            return json!({});
        }
        let mut schema = self.resolve(schema);
        let Some(members) = schema.as_object_mut() else { return json!({}) };
        let plain = !members.contains_key("properties") && members.get("type").is_some_and(is_scalar_type);
        if plain {
            return schema;
        }
        for key in WHOLE {
            members.remove(key);
        }
        members.remove("default");
        members.remove("example");
        object(members, depth);
        if let Some(items) = members.get("items").filter(|items| items.is_object()) {
            let items = inner(items, depth + 1);
            members.insert("items".to_owned(), items);
        }
        for key in ["prefixItems", "anyOf", "allOf", "oneOf"] {
            if let Some(Value::Array(list)) = members.get(key) {
                let list: Vec<Value> = list.iter().map(|branch| inner(branch, depth + 1)).collect();
                // Branches that told values apart may now be alike, so `oneOf` would refuse both.
                let same = if key == "oneOf" { "anyOf" } else { key };
                members.remove(key);
                match members.remove(same) {
                    Some(other) => {
                        members.insert("allOf".to_owned(), json!([{same: other}, {same: list}]));
                    }
                    None => {
                        members.insert(same.to_owned(), Value::Array(list));
                    }
                }
            }
        }
        schema
    }
}

fn branches<'a>(members: &'a Map<String, Value>, key: &str) -> impl Iterator<Item = &'a Value> {
    members.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null")
}

fn has_type(members: &Map<String, Value>, wanted: &str) -> bool {
    match members.get("type") {
        Some(Value::String(one)) => one == wanted,
        Some(Value::Array(list)) => list.iter().any(|one| one == wanted),
        _ => false,
    }
}

pub(super) fn is_list(members: &Map<String, Value>) -> bool {
    !has_type(members, "object")
        && !members.contains_key("properties")
        && (has_type(members, "array") || members.contains_key("items"))
}

fn is_scalar_type(kind: &Value) -> bool {
    let scalar = |one: &Value| one != "object" && one != "array";
    match kind {
        Value::Array(list) => list.iter().all(scalar),
        one => scalar(one),
    }
}

fn retain_required(members: &mut Map<String, Value>, keep: impl Fn(&str) -> Option<String>) {
    if let Some(Value::Array(required)) = members.get("required") {
        let kept: Vec<Value> = required.iter().filter_map(Value::as_str).filter_map(keep).map(Value::String).collect();
        if kept.is_empty() {
            members.remove("required");
        } else {
            members.insert("required".to_owned(), Value::Array(kept));
        }
    }
}

/// A schema that one of these must fit; one that says nothing makes all of it say nothing.
pub(super) fn any_of(mut list: Vec<Value>) -> Value {
    list.dedup();
    if list.iter().any(|schema| schema == &json!({}) || schema == &json!(true)) {
        return json!({});
    }
    if list.len() > 1 {
        return json!({"anyOf": list});
    }
    list.pop().unwrap_or_else(|| json!({}))
}

/// The same or null.
pub(super) fn nullable(schema: Value) -> Value {
    match &schema {
        Value::Object(members) if members.is_empty() || has_type(members, "null") && !members.contains_key("enum") => {
            schema
        }
        Value::Bool(true) => schema,
        _ => json!({"anyOf": [schema, {"type": "null"}]}),
    }
}

/// Makes a schema self-contained again: the definitions that it still refers to, and no others.
pub(super) fn with_definitions(mut schema: Value, root: &Value) -> Value {
    let Some(all) = root.get("$defs").and_then(Value::as_object) else { return schema };
    if let Some(members) = schema.as_object_mut() {
        members.remove("$defs");
    }
    let mut used = Map::new();
    let mut pending = Vec::new();
    references(&schema, &mut pending, 0);
    while let Some(name) = pending.pop() {
        if let Some(definition) = all.get(&name).filter(|_| !used.contains_key(&name)) {
            references(definition, &mut pending, 0);
            used.insert(name, definition.clone());
        }
    }
    if used.is_empty() {
        return schema;
    }
    if let Some(members) = schema.as_object_mut() {
        // In the order of the original table, so that the same mapping publishes the same bytes.
        let ordered = all.iter().filter(|(name, _)| used.contains_key(*name));
        members.insert(
            "$defs".to_owned(),
            Value::Object(ordered.map(|(name, one)| (name.clone(), one.clone())).collect()),
        );
    }
    schema
}

fn references(schema: &Value, found: &mut Vec<String>, depth: usize) {
    if depth > 2 * MAX_DEPTH {
        return;
    }
    match schema {
        Value::Object(members) => {
            if let Some(name) =
                members.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix("#/$defs/"))
            {
                found.push(name.to_owned());
            }
            members.values().for_each(|value| references(value, found, depth + 1));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found, depth + 1)),
        _ => {}
    }
}

/// Takes out what a shortened value may break: `minItems` where lists lose items; with `texts` (a limit of bytes, under
/// which members and the ends of texts go too) also `required`, `minProperties`, `minLength`, `pattern` and `format`.
pub(super) fn loosen(schema: &mut Value, texts: bool, depth: usize) {
    if depth > 2 * MAX_DEPTH {
        return;
    }
    match schema {
        Value::Object(members) => {
            // A property may bear a keyword's name; its value is a schema then.
            members.retain(|key, value| match key.as_str() {
                "minItems" => !value.is_number(),
                "minLength" | "minProperties" => !texts || !value.is_number(),
                "pattern" | "format" => !texts || !value.is_string(),
                "required" => !texts || !value.is_array(),
                _ => true,
            });
            members.values_mut().for_each(|value| loosen(value, texts, depth + 1));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| loosen(item, texts, depth + 1)),
        _ => {}
    }
}
