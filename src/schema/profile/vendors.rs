//! Reduces a schema to the keywords that every large vendor's function calling accepts: `type` (one),
//! `description`, `properties`, `required`, `items`, `enum` of strings, and inclusive bounds.
//!
//! What the others said goes into the description where it helps a model.

use super::fold;
use crate::schema::check::path::{cut, legal, legal_list};
use crate::schema::walk;
use serde_json::{Map, Value, json};

/// Nodes that inlining may make; past it, references are cut as if they were recursive.
const MOST_NODES: usize = 4_000;
/// Deepest nesting that is published.
const DEEPEST: usize = 24;

/// Reduces a self-contained input schema; the result has no `$ref` and no `$defs`.
pub fn reduce(full: &Value) -> Value {
    let mut reducer = Reducer { root: full, left: MOST_NODES, open: Vec::new() };
    let folded = Value::Object(fold::object(full, full));
    let mut out = reducer.reduce(&folded);
    if out.get("type").and_then(Value::as_str) != Some("object") {
        out = reducer.of_type("object", folded.as_object().unwrap_or(&Map::new()), Vec::new());
    }
    out
}

struct Reducer<'r> {
    root: &'r Value,
    left: usize,
    /// References being inlined.
    open: Vec<String>,
}

impl Reducer<'_> {
    fn reduce(&mut self, schema: &Value) -> Value {
        self.left = self.left.saturating_sub(1);
        let Some(members) = schema.as_object() else {
            let text = if *schema == Value::Bool(false) { "must not be given" } else { "any JSON value" };
            return json!({ "type": "string", "description": text });
        };
        if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
            return self.inline(reference, members);
        }
        if ["allOf", "anyOf", "oneOf", "if", "not"].iter().any(|keyword| members.contains_key(*keyword)) {
            return self.combined(schema, members);
        }
        self.simple(members)
    }

    fn inline(&mut self, reference: &str, members: &Map<String, Value>) -> Value {
        let name =
            walk::definition_name(reference).map(|name| name.into_owned()).unwrap_or_else(|| reference.to_string());
        let description = members.get("description").and_then(Value::as_str);
        let target = walk::target(self.root, reference);
        let recursive = self.open.iter().any(|open| open == reference);
        let (Some(target), false) = (target, recursive || self.left == 0 || self.open.len() >= DEEPEST) else {
            let what = if recursive { "recursive" } else { "see" };
            let described = match description {
                Some(text) => format!("{what} {name}: {text}"),
                None => format!("{what} {name}"),
            };
            let kind = target.and_then(|target| self.kind(target, 0)).unwrap_or("object");
            let mut cut_off = json!({ "type": kind, "description": described });
            if let (Some(out), "array") = (cut_off.as_object_mut(), kind) {
                out.insert("items".to_string(), json!({ "type": "object" }));
            }
            return cut_off;
        };
        self.open.push(reference.to_string());
        let mut out = if members.len() > 1 {
            let mut siblings = members.clone();
            siblings.shift_remove("$ref");
            if siblings.keys().all(|keyword| fold::is_annotation(keyword)) {
                self.reduce(target)
            } else {
                self.reduce(&json!({ "allOf": [Value::Object(siblings), target] }))
            }
        } else {
            self.reduce(target)
        };
        self.open.pop();
        if let (Some(text), Some(out)) = (description, out.as_object_mut()) {
            out.insert("description".to_string(), Value::from(text));
        }
        out
    }

    /// The type that a definition comes down to, without inlining it.
    fn kind(&self, schema: &Value, depth: usize) -> Option<&'static str> {
        if depth > 16 {
            return None;
        }
        if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|r| walk::target(self.root, r)) {
            return self.kind(target, depth + 1);
        }
        type_of(schema.as_object()?)
    }

    fn combined(&mut self, schema: &Value, members: &Map<String, Value>) -> Value {
        if self.is_object(schema, &mut 200) {
            let (folded, followed) = fold::object_below(self.root, schema, &self.open, self.left.max(1));
            let before = self.open.len();
            self.open.extend(followed);
            let out = self.of_type("object", &folded, Vec::new());
            self.open.truncate(before);
            return out;
        }
        let mut merged = members.clone();
        let all: Vec<Value> = take_list(&mut merged, "allOf");
        let mut any: Vec<Value> = take_list(&mut merged, "anyOf");
        any.extend(take_list(&mut merged, "oneOf"));
        for keyword in ["if", "then", "else", "not"] {
            merged.shift_remove(keyword);
        }
        for part in &all {
            if let Value::Object(part) = self.reduce(part) {
                for (keyword, value) in part {
                    merged.entry(keyword).or_insert(value);
                }
            }
        }
        if any.is_empty() {
            return self.simple(&merged);
        }
        let nullable = any.iter().any(|branch| branch.get("type").and_then(Value::as_str) == Some("null"));
        let mut reduced: Vec<Value> = Vec::new();
        for branch in any.iter().filter(|branch| branch.get("type").and_then(Value::as_str) != Some("null")) {
            let branch = self.reduce(branch);
            if !reduced.contains(&branch) {
                reduced.push(branch);
            }
        }
        let mut notes = if nullable { vec!["may be null".to_string()] } else { Vec::new() };
        let mut out = match simplest(reduced, &mut notes) {
            Some(Value::Object(out)) => out,
            _ => return self.simple(&merged),
        };
        for (keyword, value) in self.simple(&merged).as_object().into_iter().flatten() {
            let said = members.contains_key(keyword.as_str());
            if said && keyword != "type" {
                out.insert(keyword.clone(), value.clone());
            }
        }
        note(&mut out, &notes);
        Value::Object(out)
    }

    /// True if only objects (and null) satisfy the schema, or if some alternative is an object with members.
    fn is_object(&self, schema: &Value, fuel: &mut usize) -> bool {
        let Some(members) = schema.as_object() else { return false };
        if *fuel == 0 {
            return false;
        }
        *fuel -= 1;
        if let Some(reference) = members.get("$ref").and_then(Value::as_str)
            && walk::target(self.root, reference).is_some_and(|target| self.is_object(target, fuel))
        {
            return true;
        }
        if members.get("properties").and_then(Value::as_object).is_some_and(|properties| !properties.is_empty()) {
            return true;
        }
        ["allOf", "anyOf", "oneOf"].iter().any(|keyword| {
            let branches = members.get(*keyword).and_then(Value::as_array).into_iter().flatten();
            branches.into_iter().any(|branch| self.is_object(branch, fuel))
        })
    }

    /// A schema without combinators.
    fn simple(&mut self, members: &Map<String, Value>) -> Value {
        let mut notes = Vec::new();
        let kind = match type_of(members) {
            Some(kind) => kind,
            None => {
                notes.push("any JSON value".to_string());
                "string"
            }
        };
        if let Some(Value::Array(names)) = members.get("type") {
            let others: Vec<&str> = names.iter().filter_map(Value::as_str).filter(|name| *name != kind).collect();
            if !others.is_empty() {
                notes.push(format!("may be {}", others.join(" or ")));
            }
        }
        self.of_type(kind, members, notes)
    }

    fn of_type(&mut self, kind: &str, members: &Map<String, Value>, notes: Vec<String>) -> Value {
        let mut notes = notes;
        let mut out = Map::new();
        out.insert("type".to_string(), Value::from(kind));
        if let Some(text) = members.get("description").and_then(Value::as_str) {
            out.insert("description".to_string(), Value::from(text));
        }
        match kind {
            "object" => self.object(members, &mut out, &mut notes),
            "array" => self.array(members, &mut out, &mut notes),
            _ => scalar(kind, members, &mut out, &mut notes),
        }
        note(&mut out, &notes);
        Value::Object(out)
    }

    fn object(&mut self, members: &Map<String, Value>, out: &mut Map<String, Value>, notes: &mut Vec<String>) {
        let mut properties = Map::new();
        for (name, property) in members.get("properties").and_then(Value::as_object).into_iter().flatten() {
            properties.insert(name.clone(), self.reduce(property));
        }
        let required: Vec<&Value> = members
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            // Some vendors refuse a required name that is no property.
            .filter(|name| name.as_str().is_some_and(|name| properties.contains_key(name)))
            .collect();
        if !required.is_empty() {
            out.insert("required".to_string(), json!(required));
        }
        match members.get("additionalProperties") {
            Some(Value::Object(values)) => {
                let kind = self.kind(&Value::Object(values.clone()), 0);
                notes.push(format!("any member names, each value {}", kind.unwrap_or("any JSON")));
            }
            _ if properties.is_empty() && members.get("additionalProperties") != Some(&Value::Bool(false)) => {
                notes.push("any members".to_string());
            }
            _ => {}
        }
        out.insert("properties".to_string(), Value::Object(properties));
    }

    fn array(&mut self, members: &Map<String, Value>, out: &mut Map<String, Value>, notes: &mut Vec<String>) {
        let items = match members.get("items") {
            Some(items @ Value::Object(_)) => self.reduce(items),
            _ => {
                let first = members.get("prefixItems").and_then(Value::as_array).and_then(|list| list.first());
                first.map_or_else(
                    || json!({ "type": "string", "description": "any JSON value" }),
                    |item| self.reduce(item),
                )
            }
        };
        out.insert("items".to_string(), items);
        for keyword in ["minItems", "maxItems"] {
            if let Some(bound) = members.get(keyword).filter(|bound| bound.is_number()) {
                out.insert(keyword.to_string(), bound.clone());
            }
        }
        if members.get("uniqueItems") == Some(&Value::Bool(true)) {
            notes.push("no item twice".to_string());
        }
    }
}

fn scalar(kind: &str, members: &Map<String, Value>, out: &mut Map<String, Value>, notes: &mut Vec<String>) {
    let values: Vec<Value> = match (members.get("const"), members.get("enum")) {
        (Some(value), _) => vec![value.clone()],
        (None, Some(Value::Array(values))) => values.clone(),
        _ => Vec::new(),
    };
    let values: Vec<Value> = values.into_iter().filter(|value| !value.is_null()).collect();
    if !values.is_empty() {
        if kind == "string" && values.iter().all(Value::is_string) {
            out.insert("enum".to_string(), Value::Array(values));
        } else if let [single] = values.as_slice() {
            notes.push(format!("always {}", legal(single)));
        } else {
            notes.push(format!("one of {}", legal_list(values.iter())));
        }
    }
    for (keyword, bound) in members.iter().filter(|(_, bound)| bound.is_number()) {
        let (target, note_needed) = match (kind, keyword.as_str()) {
            ("integer" | "number", "minimum" | "maximum") | ("string", "minLength" | "maxLength") => {
                (keyword.as_str(), "")
            }
            ("integer" | "number", "exclusiveMinimum") if !members.contains_key("minimum") => ("minimum", "more than"),
            ("integer" | "number", "exclusiveMaximum") if !members.contains_key("maximum") => ("maximum", "less than"),
            ("integer" | "number", "multipleOf") => ("", "a multiple of"),
            _ => continue,
        };
        if !note_needed.is_empty() {
            notes.push(format!("{note_needed} {bound}"));
        }
        if !target.is_empty() {
            out.insert(target.to_string(), bound.clone());
        }
    }
    for keyword in ["pattern", "format"] {
        if let Some(text) = members.get(keyword).and_then(Value::as_str)
            && !matches!(text, "int32" | "int64" | "float" | "double")
        {
            notes.push(format!("{keyword} {}", cut(text, 120)));
        }
    }
}

/// The one branch to publish: strings over numbers over lists over objects without members.
fn simplest(branches: Vec<Value>, notes: &mut Vec<String>) -> Option<Value> {
    let rank = |schema: &Value| match schema.get("type").and_then(Value::as_str) {
        Some("string") => 0,
        Some("number") => 1,
        Some("integer") => 2,
        Some("boolean") => 3,
        Some("array") => 4,
        _ => 5,
    };
    let kinds: Vec<&str> = branches.iter().filter_map(|branch| branch.get("type")?.as_str()).collect();
    let mut others: Vec<String> = Vec::new();
    let first = branches.iter().min_by_key(|branch| rank(branch))?;
    let kind = first.get("type").and_then(Value::as_str).unwrap_or_default();
    for other in kinds {
        if other != kind && !others.iter().any(|known| known == other) {
            others.push(other.to_string());
        }
    }
    if !others.is_empty() {
        notes.push(format!("may also be {}", others.join(" or ")));
    }
    let same: Vec<&Value> = branches.iter().filter(|branch| branch.get("type") == first.get("type")).collect();
    if let [_] = same.as_slice() {
        return Some(first.clone());
    }
    // Several of one type: their values together, or the type alone.
    let mut out = Map::new();
    out.insert("type".to_string(), Value::from(kind));
    let texts: Vec<&str> = same.iter().filter_map(|branch| branch.get("description")?.as_str()).collect();
    if !texts.is_empty() {
        out.insert("description".to_string(), Value::from(texts.join("; or ")));
    }
    let enums: Option<Vec<&Vec<Value>>> = same.iter().map(|branch| branch.get("enum")?.as_array()).collect();
    if let Some(enums) = enums {
        let mut values: Vec<Value> = Vec::new();
        for value in enums.into_iter().flatten() {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        out.insert("enum".to_string(), Value::Array(values));
    }
    if kind == "array" {
        let items = first.get("items").cloned().unwrap_or_else(|| json!({ "type": "string" }));
        out.insert("items".to_string(), items);
    }
    if kind == "object" {
        out.insert("properties".to_string(), json!({}));
    }
    Some(Value::Object(out))
}

fn take_list(members: &mut Map<String, Value>, keyword: &str) -> Vec<Value> {
    match members.shift_remove(keyword) {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    }
}

fn note(out: &mut Map<String, Value>, notes: &[String]) {
    if notes.is_empty() {
        return;
    }
    let note = notes.join("; ");
    let described = match out.get("description").and_then(Value::as_str) {
        Some(text) if !text.trim().is_empty() => format!("{} ({note})", text.trim_end()),
        _ => note,
    };
    out.insert("description".to_string(), Value::from(described));
}

/// The first type that is not null, declared or told by other keywords.
fn type_of(members: &Map<String, Value>) -> Option<&'static str> {
    let declared = match members.get("type") {
        Some(Value::String(name)) => Some(name.as_str()),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        _ => None,
    };
    if let Some(name) = declared {
        return ["string", "integer", "number", "boolean", "array", "object"].into_iter().find(|known| *known == name);
    }
    let values = members.get("enum").and_then(Value::as_array);
    let example = members.get("const").or_else(|| values?.iter().find(|value| !value.is_null()));
    match example {
        Some(Value::String(_)) => return Some("string"),
        Some(Value::Bool(_)) => return Some("boolean"),
        Some(Value::Number(n)) => return Some(if n.is_f64() { "number" } else { "integer" }),
        _ => {}
    }
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| members.contains_key(*keyword));
    if has(&["properties", "additionalProperties", "required", "patternProperties"]) {
        Some("object")
    } else if has(&["items", "prefixItems", "minItems", "maxItems"]) {
        Some("array")
    } else if has(&["pattern", "minLength", "maxLength", "format"]) {
        Some("string")
    } else if has(&["minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"]) {
        Some("number")
    } else {
        None
    }
}
