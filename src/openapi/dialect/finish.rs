//! What can be said of a schema only when all its keywords are known: null, exclusive bounds,
//! files, examples, enumerations of the wrong type.

use super::{At, Marks, Reader};
use crate::schema::keyword::is_annotation;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

impl Reader<'_> {
    /// The finished schema. `source` is the Schema Object, `out` its converted keywords.
    pub(super) fn finish(
        &mut self,
        at: &mut At,
        source: &Map<String, Value>,
        mut marks: Marks,
        mut out: Map<String, Value>,
    ) -> Value {
        if let Some(reference) = marks.reference.take() {
            out.shift_insert(0, "$ref".to_owned(), Value::String(reference));
        }
        if let Some(rest) = marks.additional_items.take()
            && out.contains_key("prefixItems")
            && !out.contains_key("items")
        {
            out.insert("items".to_owned(), rest);
        }
        exclusive(&mut out, marks.exclusive_minimum, "minimum", "exclusiveMinimum");
        exclusive(&mut out, marks.exclusive_maximum, "maximum", "exclusiveMaximum");
        hoist(&mut out, &marks.required);
        if let Some(example) = marks.example.take() {
            let list = out.entry("examples").or_insert_with(|| json!([]));
            if let Some(list) = list.as_array_mut()
                && !list.contains(&example)
            {
                list.insert(0, example);
            }
        }
        content(&mut out, marks.file);
        self.typed_enum(at, &mut out);
        self.discriminate(at, source, &mut out);
        if marks.nullable { nullable(out) } else { Value::Object(out) }
    }

    /// An `enum` whose values YAML (or the author) gave another type than `type` asks for.
    fn typed_enum(&mut self, at: &At, out: &mut Map<String, Value>) {
        let types: Vec<String> = types(out).into_iter().filter(|it| it != "null").collect();
        let [only] = types.as_slice() else { return dedup(out) };
        let Some(values) = out.get_mut("enum").and_then(Value::as_array_mut) else { return };
        let mut changed = false;
        let document = self.set.documents.get(at.document);
        for (index, value) in values.iter_mut().enumerate() {
            let fixed = match (only.as_str(), &*value) {
                ("string", Value::Number(number)) => {
                    // As written: 1.10 is not 1.1.
                    let written = document.and_then(|it| it.source_text(&format!("{}/enum/{index}", at.pointer)));
                    Value::String(written.map_or_else(|| number.to_string(), str::to_owned))
                }
                ("string", Value::Bool(flag)) => Value::String(flag.to_string()),
                ("integer", Value::String(text)) => match text.parse::<i64>() {
                    Ok(number) => Value::from(number),
                    Err(_) => continue,
                },
                ("number", Value::String(text)) => match text.parse::<f64>() {
                    Ok(number) => json!(number),
                    Err(_) => continue,
                },
                ("boolean", Value::String(text)) if text == "true" || text == "false" => Value::Bool(text == "true"),
                _ => continue,
            };
            changed = true;
            *value = fixed;
        }
        if changed {
            self.warn(at, "enum-type", format!("`enum` has values that are no {only}; they are taken as such"));
        }
        dedup(out);
    }
}

fn dedup(out: &mut Map<String, Value>) {
    if let Some(values) = out.get_mut("enum").and_then(Value::as_array_mut) {
        let mut seen = HashSet::new();
        values.retain(|it| seen.insert(it.to_string()));
    }
}

fn types(out: &Map<String, Value>) -> Vec<String> {
    match out.get("type") {
        Some(Value::String(name)) => vec![name.clone()],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Boolean `exclusiveMinimum` (draft-04, OpenAPI up to 3.0) makes `minimum` exclusive.
fn exclusive(out: &mut Map<String, Value>, is_exclusive: bool, bound: &str, keyword: &str) {
    if is_exclusive && let Some(value) = out.shift_remove(bound) {
        out.insert(keyword.to_owned(), value);
    }
}

fn hoist(out: &mut Map<String, Value>, names: &[String]) {
    if names.is_empty() {
        return;
    }
    let list = out.entry("required").or_insert_with(|| json!([]));
    if let Some(list) = list.as_array_mut() {
        for name in names.iter().filter(|name| !list.iter().any(|it| it == *name)).collect::<Vec<_>>() {
            list.push(Value::String(name.clone()));
        }
    }
}

/// Files and base64 text in 2020-12's words; `format` stays, it is what people know.
fn content(out: &mut Map<String, Value>, file: bool) {
    if file {
        out.insert("format".to_owned(), json!("binary"));
    }
    match out.get("format").and_then(Value::as_str) {
        Some("binary") if !out.contains_key("contentMediaType") => {
            out.insert("contentMediaType".to_owned(), json!("application/octet-stream"));
        }
        Some("byte") if !out.contains_key("contentEncoding") => {
            out.insert("contentEncoding".to_owned(), json!("base64"));
        }
        _ => {}
    }
}

/// `nullable: true` (OpenAPI 3.0, still written in 3.1): null is valid too.
fn nullable(mut out: Map<String, Value>) -> Value {
    let applies = ["$ref", "allOf", "oneOf", "anyOf", "not", "if"];
    if applies.iter().any(|it| out.contains_key(*it)) {
        return wrap(out);
    }
    if let Some(value) = out.shift_remove("const") {
        out.insert("enum".to_owned(), json!([value]));
    }
    let typed = out.contains_key("type");
    if let Some(types) = out.get_mut("type") {
        let mut names = match types.take() {
            Value::Array(names) => names,
            one => vec![one],
        };
        if !names.iter().any(|it| it == "null") {
            names.push(json!("null"));
        }
        *types = Value::Array(names);
    }
    if let Some(values) = out.get_mut("enum").and_then(Value::as_array_mut)
        && !values.contains(&Value::Null)
        && (typed || !values.is_empty())
    {
        values.push(Value::Null);
    }
    Value::Object(out)
}

fn wrap(out: Map<String, Value>) -> Value {
    let outside = |key: &str| is_annotation(key) && !matches!(key, "format" | "contentEncoding" | "contentMediaType");
    let (mut around, mut inner) = (Map::new(), Map::new());
    for (key, value) in out {
        if outside(&key) {
            around.insert(key, value)
        } else {
            inner.insert(key, value)
        };
    }
    let alone = match inner.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
        Some([only]) if inner.len() == 1 => Some(only.clone()),
        _ => None,
    };
    let mut branches = match (inner.len(), inner.get("anyOf").and_then(Value::as_array)) {
        (1, Some(branches)) => branches.clone(),
        _ => vec![alone.unwrap_or(Value::Object(inner))],
    };
    let null = json!({ "type": "null" });
    if !branches.contains(&null) {
        branches.push(null);
    }
    around.insert("anyOf".to_owned(), Value::Array(branches));
    Value::Object(around)
}
