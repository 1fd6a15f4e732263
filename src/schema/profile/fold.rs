//! Folds the combinators at the root of an object schema into `properties` and `required`.

use crate::schema::check::path::{cut, legal};
use crate::schema::walk;
use serde_json::{Map, Value, json};

/// Keywords that the root of a published schema may not have.
const FOLDED: [&str; 10] = ["$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "enum", "const"];

/// Schemas looked at in one fold; a document that asks for more gets the rest unfolded away.
const FUEL: usize = 2_000;

/// Longest note on legal combinations, in characters.
const MOST_NOTE: usize = 400;

/// True if the root has nothing to fold.
pub fn is_flat(schema: &Value) -> bool {
    schema.as_object().is_some_and(|members| FOLDED.iter().all(|keyword| !members.contains_key(*keyword)))
}

/// The members of one object schema that stands for `schema`: no combinator, no `$ref`, all property names.
/// `$defs` are not copied.
pub fn object(root: &Value, schema: &Value) -> Map<String, Value> {
    object_below(root, schema, &[], FUEL).0
}

/// As [`object`], without following the references in `open`; also gives the references that were followed.
pub fn object_below(root: &Value, schema: &Value, open: &[String], fuel: usize) -> (Map<String, Value>, Vec<String>) {
    let open = open.iter().map(String::as_str).collect();
    let mut fold = Fold { root, fuel: fuel.min(FUEL), open, followed: Vec::new(), notes: Vec::new() };
    let mut folded = fold.fold(schema);
    if !fold.notes.is_empty() {
        let note = cut(&fold.notes.join(" "), MOST_NOTE);
        let described = match folded.get("description").and_then(Value::as_str) {
            Some(text) if !text.trim().is_empty() => format!("{}\n{note}", text.trim_end()),
            _ => note,
        };
        folded.insert("description".to_string(), Value::from(described));
    }
    (folded, fold.followed)
}

struct Fold<'r> {
    root: &'r Value,
    fuel: usize,
    /// References being followed, so that a definition that holds itself ends.
    open: Vec<&'r str>,
    followed: Vec<String>,
    notes: Vec<String>,
}

impl<'r> Fold<'r> {
    fn fold(&mut self, schema: &'r Value) -> Map<String, Value> {
        let mut out = Map::new();
        let Some(members) = schema.as_object() else { return out };
        if self.fuel == 0 || self.open.len() > 128 {
            return out;
        }
        self.fuel -= 1;
        for (keyword, value) in members {
            if !FOLDED.contains(&keyword.as_str()) && keyword != "$defs" && keyword != "$anchor" {
                out.insert(keyword.clone(), value.clone());
            }
        }
        if let Some(reference) = members.get("$ref").and_then(Value::as_str)
            && !self.open.contains(&reference)
            && let Some(target) = walk::target(self.root, reference)
        {
            self.open.push(reference);
            self.followed.push(reference.to_string());
            let target = self.fold(target);
            self.open.pop();
            add(&mut out, target);
        }
        for part in members.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            let part = self.fold(part);
            add(&mut out, part);
        }
        for keyword in ["oneOf", "anyOf"] {
            if let Some(branches) = members.get(keyword).and_then(Value::as_array) {
                self.alternatives(&mut out, branches, keyword == "oneOf");
            }
        }
        let conditional = ["if", "then", "else"].into_iter().filter_map(|keyword| members.get(keyword));
        let dependent = members.get("dependentSchemas").and_then(Value::as_object).into_iter().flat_map(Map::values);
        for part in conditional.chain(dependent) {
            let part = self.fold(part);
            add_optional(&mut out, part);
        }
        if let Some(names) = members.get("not").and_then(|not| not.get("required")).and_then(Value::as_array) {
            let names: Vec<_> = names.iter().filter_map(Value::as_str).map(|name| format!("`{name}`")).collect();
            self.notes.push(format!("Do not give {} together.", names.join(" and ")));
        }
        out
    }

    fn alternatives(&mut self, out: &mut Map<String, Value>, branches: &'r [Value], exclusive: bool) {
        let noted = self.notes.len();
        let folded: Vec<Map<String, Value>> =
            branches.iter().filter(|branch| may_be_object(branch)).map(|branch| self.fold(branch)).collect();
        self.notes.truncate(noted);
        if folded.is_empty() {
            return;
        }
        let names_before = required(out);
        if let Some(note) = combinations(&folded, &names_before, exclusive) {
            self.notes.push(note);
        }
        let mut common: Option<Vec<String>> = None;
        for branch in &folded {
            let names = required(branch);
            common = Some(match common {
                None => names,
                Some(common) => common.into_iter().filter(|name| names.contains(name)).collect(),
            });
        }
        require(out, common.unwrap_or_default());
        let open = folded.iter().any(|branch| branch.get("additionalProperties") != Some(&Value::Bool(false)));
        if !open && !out.contains_key("additionalProperties") {
            out.insert("additionalProperties".to_string(), Value::Bool(false));
        }
        if folded.len() == 1 {
            folded.into_iter().for_each(|branch| add(out, branch));
            return;
        }
        let mut union: Map<String, Value> = Map::new();
        let mut seen: Map<String, Value> = Map::new();
        let count = folded.len();
        for branch in folded {
            for (name, property) in properties(branch) {
                let times = seen.get(&name).and_then(Value::as_u64).unwrap_or(0);
                match union.get_mut(&name) {
                    None => {
                        union.insert(name.clone(), property);
                    }
                    Some(slot) => *slot = either(slot.take(), property),
                }
                seen.insert(name, Value::from(times + 1));
            }
        }
        edit_properties(out, |target| {
            for (name, property) in union {
                let in_all = seen.get(&name).and_then(Value::as_u64) == Some(count as u64);
                match target.get(&name) {
                    None => {
                        target.insert(name, property);
                    }
                    // A branch refines what the base declares: a discriminator's values go into the base's schema.
                    Some(base) if in_all && property.get("enum").is_some() && base.get("enum").is_none() => {
                        let refined = both(base.clone(), property);
                        target.insert(name, refined);
                    }
                    Some(_) => {}
                }
            }
        });
    }
}

/// False for a branch that no object satisfies (`type: null`, …).
fn may_be_object(branch: &Value) -> bool {
    match branch.get("type") {
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        _ => *branch != Value::Bool(false),
    }
}

fn properties(schema: Map<String, Value>) -> Map<String, Value> {
    let mut schema = schema;
    match schema.shift_remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    }
}

fn edit_properties(schema: &mut Map<String, Value>, edit: impl FnOnce(&mut Map<String, Value>)) {
    let slot = schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    if let Value::Object(properties) = slot {
        edit(properties);
    }
}

fn required(schema: &Map<String, Value>) -> Vec<String> {
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_string).collect()
}

fn require(schema: &mut Map<String, Value>, names: Vec<String>) {
    let mut all = required(schema);
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    if !all.is_empty() {
        schema.insert("required".to_string(), json!(all));
    }
}

/// Adds a part that holds as well (`allOf`, a reference's target).
fn add(out: &mut Map<String, Value>, part: Map<String, Value>) {
    let mut part = part;
    require(out, required(&part));
    part.shift_remove("required");
    if let Some(Value::Object(properties)) = part.shift_remove("properties") {
        edit_properties(out, |target| {
            for (name, property) in properties {
                let joined = match target.get(&name) {
                    None => property,
                    Some(before) => both(before.clone(), property),
                };
                target.insert(name, joined);
            }
        });
    }
    if part.get("additionalProperties") == Some(&Value::Bool(false)) {
        out.insert("additionalProperties".to_string(), Value::Bool(false));
    }
    for (keyword, value) in part {
        out.entry(keyword).or_insert(value);
    }
}

/// Adds the properties of a part that holds only sometimes.
fn add_optional(out: &mut Map<String, Value>, part: Map<String, Value>) {
    let part = properties(part);
    if part.is_empty() {
        return;
    }
    edit_properties(out, |target| {
        for (name, property) in part {
            // A name that is only mentioned here says when something holds, not what the value is.
            target.entry(name).or_insert(if property.get("const").is_some() { json!({}) } else { property });
        }
    });
}

/// A schema for values that satisfy both.
pub fn both(a: Value, b: Value) -> Value {
    if a == b || is_any(&b) {
        return a;
    }
    if is_any(&a) {
        return b;
    }
    if let (Some(small), Some(large)) = (a.as_object(), b.as_object())
        && !small.contains_key("$ref")
        && !large.contains_key("$ref")
        && large
            .iter()
            .all(|(keyword, value)| is_annotation(keyword) || small.get(keyword).is_none_or(|other| other == value))
    {
        let mut merged = small.clone();
        for (keyword, value) in large {
            merged.entry(keyword.clone()).or_insert_with(|| value.clone());
        }
        return Value::Object(merged);
    }
    json!({ "allOf": [a, b] })
}

/// A schema for values that satisfy one or the other.
pub fn either(a: Value, b: Value) -> Value {
    if a == b || is_any(&a) {
        return a;
    }
    if is_any(&b) {
        return b;
    }
    if let (Some(mut values), Some(more)) = (values_of(&a), values_of(&b)) {
        for value in more {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let mut merged = Map::new();
        for keyword in ["type", "title", "description"] {
            let (mine, other) = (a.get(keyword), b.get(keyword));
            if let (Some(value), true) = (mine, mine == other || keyword == "description") {
                merged.insert(keyword.to_string(), value.clone());
            }
        }
        merged.insert("enum".to_string(), Value::Array(values));
        return Value::Object(merged);
    }
    let mut branches = match a {
        Value::Object(mut members) if members.len() == 1 && members.contains_key("anyOf") => {
            match members.shift_remove("anyOf") {
                Some(Value::Array(branches)) => branches,
                _ => Vec::new(),
            }
        }
        other => vec![other],
    };
    if !branches.contains(&b) {
        branches.push(b);
    }
    json!({ "anyOf": branches })
}

/// The values of a schema that is only an enum or a constant.
fn values_of(schema: &Value) -> Option<Vec<Value>> {
    let members = schema.as_object()?;
    let only = |keyword: &str| matches!(keyword, "enum" | "const" | "type") || is_annotation(keyword);
    if !members.keys().all(|keyword| only(keyword)) {
        return None;
    }
    match (members.get("const"), members.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

fn is_any(schema: &Value) -> bool {
    match schema {
        Value::Bool(accepts) => *accepts,
        Value::Object(members) => members.keys().all(|keyword| is_annotation(keyword)),
        _ => false,
    }
}

/// Keywords that say something about a value without restricting it, OpenAPI's own included.
pub fn is_annotation(keyword: &str) -> bool {
    crate::schema::keyword::is_annotation(keyword) || keyword == "example" || keyword.starts_with("x-")
}

/// Says which combinations of arguments are legal.
fn combinations(branches: &[Map<String, Value>], always: &[String], exclusive: bool) -> Option<String> {
    if branches.len() < 2 {
        return None;
    }
    let mut sets: Vec<String> = Vec::new();
    for branch in branches.iter().take(8) {
        let properties = branch.get("properties").and_then(Value::as_object);
        let fixed = |name: &str| {
            let property = properties.and_then(|properties| properties.get(name))?;
            let single = property.get("enum").and_then(Value::as_array).filter(|values| values.len() == 1);
            property.get("const").or_else(|| single.and_then(|values| values.first())).cloned()
        };
        let mut names: Vec<String> = required(branch);
        // A discriminator that the base requires still tells the branches apart.
        for name in properties.into_iter().flat_map(Map::keys) {
            if !names.contains(name) && fixed(name).is_some() {
                names.push(name.clone());
            }
        }
        let parts: Vec<String> = names
            .iter()
            .filter(|name| !always.contains(name) || fixed(name).is_some())
            .map(|name| match fixed(name) {
                Some(value) => format!("`{name}` = {}", legal(&value)),
                None => format!("`{name}`"),
            })
            .collect();
        let set = match parts.is_empty() {
            true => continue,
            false => parts.join(" + "),
        };
        if !sets.contains(&set) {
            sets.push(set);
        }
    }
    if sets.len() < 2 {
        return None;
    }
    let more = if branches.len() > 8 { "; or another" } else { "" };
    let how = if exclusive { "Give exactly one of these sets" } else { "Give at least one of these sets" };
    Some(format!("{how}: {}{more}.", sets.join("; or ")))
}
