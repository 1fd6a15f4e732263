//! The reference of every key for people: Markdown out of the published JSON Schema, so that it can't fall behind.

mod examples;

pub use examples::EXAMPLES;

use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::fmt::Write;

/// Types that are told where they are used: they have no keys of their own.
const DEEPEST: usize = 8;

/// Markdown of the mapping language.
pub fn mapping() -> String {
    markdown("The mapping language", "rest-mcp schema mapping --markdown", super::schema::shared(), EXAMPLES)
}

/// Markdown of a schema of ours: a table of keys for the root and for each definition that has some, in the order in
/// which they are met. `examples` are YAML by definition.
pub(crate) fn markdown(title: &str, command: &str, schema: &Value, examples: &[(&str, &str)]) -> String {
    let mut writer = Writer { schema, out: String::new() };
    let _ = writeln!(writer.out, "# {title}\n\n{}\n", words(schema));
    let _ = writeln!(writer.out, "Written by `{command}` from the program's own types; don't edit it by hand.\n");
    let sections = sections(schema);
    writer.table(schema, None);
    for (name, places) in &sections {
        let Some(definition) = schema.get("$defs").and_then(|all| all.get(name)) else { continue };
        let _ = writeln!(writer.out, "## {name}\n\n{} Stands at {}.\n", words(definition), list(places));
        // What a tool shares with rules is told there.
        let shared = (name == "ToolRules").then(|| schema.pointer("/$defs/ToolEdits/properties")).flatten();
        if shared.is_some() {
            let _ = writeln!(writer.out, "All keys of [ToolEdits](#tooledits), and:\n");
        }
        writer.table(definition, shared.and_then(Value::as_object));
        if let Some((_, example)) = examples.iter().find(|(of, _)| of == name) {
            let _ = writeln!(writer.out, "```yaml\n{}\n```\n", example.trim_end());
        }
    }
    writer.out.truncate(writer.out.trim_end().len());
    writer.out.push('\n');
    writer.out
}

/// Definitions with keys, and where they stand.
fn sections(schema: &Value) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut queue: VecDeque<(String, &Value)> = VecDeque::from([(String::new(), schema)]);
    while let Some((place, node)) = queue.pop_front() {
        let mut targets = Vec::new();
        targets_of(schema, node, &place, &mut targets, 0);
        for (name, place) in targets {
            match found.iter_mut().find(|(known, _)| *known == name) {
                Some((_, places)) => {
                    if !places.contains(&place) && places.len() < 4 {
                        places.push(place);
                    }
                }
                None => {
                    if let Some(definition) = schema.get("$defs").and_then(|all| all.get(&name)) {
                        queue.push_back((place.clone(), definition));
                        found.push((name, vec![place]));
                    }
                }
            }
        }
    }
    found
}

/// The definitions with keys that a node leads to, with their places.
fn targets_of(schema: &Value, node: &Value, place: &str, out: &mut Vec<(String, String)>, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    if let Some(name) = reference(node) {
        let target = schema.get("$defs").and_then(|all| all.get(name));
        match target {
            Some(target) if has_keys(target) => out.push((name.to_owned(), place.to_owned())),
            Some(target) => targets_of(schema, target, place, out, depth + 1),
            None => {}
        }
    }
    let join = |key: &str| if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") };
    for (key, property) in node.get("properties").and_then(Value::as_object).into_iter().flatten() {
        targets_of(schema, property, &join(key), out, depth + 1);
    }
    if let Some(other) = node.get("additionalProperties").filter(|other| other.is_object()) {
        targets_of(schema, other, &join("<name>"), out, depth + 1);
    }
    if let Some(items) = node.get("items") {
        targets_of(schema, items, &format!("{place}[]"), out, depth + 1);
    }
    for key in ["anyOf", "oneOf"] {
        for branch in node.get(key).and_then(Value::as_array).into_iter().flatten() {
            targets_of(schema, branch, place, out, depth + 1);
        }
    }
}

/// True for objects with keys of their own, and for a choice among such.
fn has_keys(definition: &Value) -> bool {
    let keys = |node: &Value| node.get("properties").is_some();
    let branches = || definition.get("oneOf").and_then(Value::as_array);
    keys(definition) || branches().is_some_and(|all| !all.is_empty() && all.iter().all(keys))
}

fn reference(node: &Value) -> Option<&str> {
    node.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

struct Writer<'s> {
    schema: &'s Value,
    out: String,
}

impl Writer<'_> {
    /// A table of keys; of a choice, one for each branch.
    fn table(&mut self, node: &Value, without: Option<&Map<String, Value>>) {
        if node.get("properties").is_none() {
            for branch in node.get("oneOf").and_then(Value::as_array).into_iter().flatten() {
                let kind = branch.pointer("/properties/type/const").and_then(Value::as_str).unwrap_or_default();
                let _ = writeln!(self.out, "`type: {kind}`: {}\n", words(branch));
                self.table(branch, None);
            }
            return;
        }
        let required: Vec<&str> =
            node.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        self.out.push_str("| Key | Value | Meaning |\n| --- | --- | --- |\n");
        let keys = node.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (key, property) in keys.filter(|(key, _)| without.is_none_or(|without| !without.contains_key(*key))) {
            let must = if required.contains(&key.as_str()) { " (required)" } else { "" };
            let meaning = match words(property) {
                text if text.is_empty() => self.target(property).map(words).unwrap_or_default(),
                text => text,
            };
            let _ = writeln!(self.out, "| `{key}`{must} | {} | {} |", cell(&self.value(property, 0)), cell(&meaning));
        }
        for (pattern, property) in node.get("patternProperties").and_then(Value::as_object).into_iter().flatten() {
            let key = pattern.trim_start_matches('^');
            let _ = writeln!(self.out, "| `{key}…` | any value | {} |", cell(&words(property)));
        }
        self.out.push('\n');
    }

    fn target(&self, node: &Value) -> Option<&Value> {
        self.schema.get("$defs")?.get(reference(node)?)
    }

    /// What can stand there, in words.
    fn value(&self, node: &Value, depth: usize) -> String {
        if depth > DEEPEST {
            return "a value".to_owned();
        }
        if let Some(name) = reference(node) {
            return match self.target(node) {
                // Numbers and booleans stand for their own text there.
                Some(_) if name == "Slot" => "text; may hold `${env:NAME}`, `${file:PATH}`".to_owned(),
                Some(target) if has_keys(target) => format!("[{name}](#{})", name.to_ascii_lowercase()),
                Some(target) => self.value(target, depth + 1),
                None => name.to_owned(),
            };
        }
        if let Some(title) = node.get("title").and_then(Value::as_str) {
            return title.to_owned();
        }
        if let Some(constant) = node.get("const") {
            return format!("`{}`", plain(constant));
        }
        if let Some(choices) = node.get("enum").and_then(Value::as_array) {
            return choices.iter().map(|one| format!("`{}`", plain(one))).collect::<Vec<_>>().join(", ");
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(branches) = node.get(key).and_then(Value::as_array) {
                let branch = |branch: &Value| {
                    let value = self.value(branch, depth + 1);
                    match (branch.get("const"), words(branch)) {
                        (Some(_), words) if !words.is_empty() => format!("{value}: {}", words.trim_end_matches('.')),
                        _ => value,
                    }
                };
                let branches: Vec<String> = branches.iter().map(branch).collect();
                return branches.join(if key == "oneOf" { "; " } else { ", or " });
            }
        }
        let kinds: Vec<&str> = match node.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => {
                kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect()
            }
            _ => Vec::new(),
        };
        let named = |kind: &&str| match *kind {
            "array" => match node.get("items") {
                Some(items) if items.is_object() => format!("list of {}", self.value(items, depth + 1)),
                _ => "list".to_owned(),
            },
            "object" => match node.get("additionalProperties") {
                Some(other) if other.is_object() => format!("by name: {}", self.value(other, depth + 1)),
                _ => "object".to_owned(),
            },
            "string" => "text".to_owned(),
            "integer" => format!("whole number{}", bounds(node)),
            "number" => format!("number{}", bounds(node)),
            other => other.to_owned(),
        };
        match kinds.is_empty() {
            true => "any value".to_owned(),
            false => kinds.iter().map(named).collect::<Vec<_>>().join(" or "),
        }
    }
}

fn bounds(node: &Value) -> String {
    let bound = |key: &str| node.get(key).filter(|bound| bound.as_f64().is_some());
    match (bound("minimum"), bound("maximum")) {
        (Some(low), Some(high)) if low == high => format!(" {low}"),
        (Some(low), Some(high)) => format!(" from {low} to {high}"),
        (Some(low), None) if low.as_f64() != Some(0.0) => format!(", {low} at least"),
        _ => String::new(),
    }
}

/// A node's own description as one line.
fn words(node: &Value) -> String {
    let text = node.get("description").and_then(Value::as_str).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn list(places: &[String]) -> String {
    places.iter().map(|place| format!("`{place}`")).collect::<Vec<_>>().join(", ")
}
