//! A value that satisfies a schema: deterministic, every property filled in, recursion cut.

use super::pattern;
use crate::request::view::{Part, View};
use crate::schema::{DefinitionId, Definitions, Direction, Schema};
use serde_json::{Map, Number, Value, json};

/// Values in one sample.
const MOST_VALUES: usize = 4000;
/// Nesting of one sample.
const DEEPEST: usize = 24;

/// A sample of a schema: `const`, `examples`, `default` or the first of `enum` where given, else made from type,
/// format and bounds. Properties that do not travel in `direction` are left out.
pub fn sample(schema: &Schema, definitions: &Definitions, direction: Direction) -> Value {
    let mut sampler = Sampler { definitions, direction, open: Vec::new(), depth: 0, left: MOST_VALUES };
    sampler.value(&schema.json, &schema.uses).unwrap_or(Value::Null)
}

struct Sampler<'a> {
    definitions: &'a Definitions,
    direction: Direction,
    /// Definitions being sampled, outermost first; true = referred to as a whole, not as a base.
    open: Vec<(DefinitionId, bool)>,
    depth: usize,
    left: usize,
}

impl<'a> Sampler<'a> {
    /// `None` = cut: the schema contains itself here, or there is too much of it.
    fn value(&mut self, json: &'a Value, uses: &'a [DefinitionId]) -> Option<Value> {
        if self.left == 0 || self.depth >= DEEPEST {
            return None;
        }
        self.left -= 1;
        match json {
            Value::Bool(true) => return Some(json!({})),
            Value::Object(_) => {}
            _ => return None,
        }
        let view = View::of(json, uses, self.definitions);
        let opened = self.open.len();
        let mut direct = names_a_definition(json);
        for part in &view.parts {
            let Some(id) = part.definition else { continue };
            let direct = std::mem::take(&mut direct);
            let around = self.open.get(..opened).unwrap_or_default().iter().filter(|(open, _)| *open == id);
            // a base shared through allOf may stand inside itself a few times
            if around.clone().count() >= 3 || (direct && around.clone().any(|(_, direct)| *direct)) {
                self.open.truncate(opened);
                return None;
            }
            if !self.open.get(opened..).unwrap_or_default().iter().any(|(open, _)| *open == id) {
                self.open.push((id, direct));
            }
        }
        self.depth += 1;
        let value = given(&view).or_else(|| self.made(&view));
        self.depth -= 1;
        self.open.truncate(opened);
        value
    }

    fn made(&mut self, view: &View<'a>) -> Option<Value> {
        match view.kind() {
            Some("object") => Some(self.object(view)),
            Some("array") => Some(self.array(view)),
            Some("string") => Some(Value::String(string(view))),
            Some("integer") => Some(number(view, true)),
            Some("number") => Some(number(view, false)),
            Some("boolean") => Some(Value::Bool(true)),
            Some("null") => Some(Value::Null),
            _ if view.text("format").is_some() || view.text("pattern").is_some() => Some(Value::String(string(view))),
            _ => Some(json!({})),
        }
    }

    fn object(&mut self, view: &View<'a>) -> Value {
        let mut members = Map::new();
        let hidden = match self.direction {
            Direction::Input => "readOnly",
            Direction::Output => "writeOnly",
        };
        for (name, schema, part) in view.properties() {
            let inner = View::of(schema, part.uses, self.definitions);
            if inner.keyword(hidden) == Some(&Value::Bool(true)) || *schema == Value::Bool(false) {
                continue;
            }
            match self.value(schema, part.uses) {
                Some(value) => drop(members.insert(name.to_owned(), value)),
                None if view.requires(name) => drop(members.insert(name.to_owned(), stub(&inner))),
                None => {}
            }
        }
        let fewest = bound(view, "minProperties").unwrap_or(0);
        let open = view.parts.iter().find_map(|part| Some((part.json.get("additionalProperties")?, *part)));
        if let Some((schema @ Value::Object(_), part)) = open {
            let wanted = if members.is_empty() { fewest.max(1) } else { fewest };
            for number in 1..=wanted.min(16) {
                if members.len() >= wanted {
                    break;
                }
                let Some(value) = self.value(schema, part.uses) else { break };
                members.insert(if number == 1 { "key".to_owned() } else { format!("key{number}") }, value);
            }
        }
        Value::Object(members)
    }

    fn array(&mut self, view: &View<'a>) -> Value {
        let fewest = bound(view, "minItems").unwrap_or(1).max(1);
        let most = bound(view, "maxItems").unwrap_or(usize::MAX);
        let wanted = fewest.min(most).min(64);
        let mut items = Vec::new();
        let prefix: Option<(&'a Vec<Value>, Part<'a>)> =
            view.parts.iter().find_map(|part| Some((part.json.get("prefixItems")?.as_array()?, *part)));
        for (schema, part) in prefix.iter().flat_map(|(list, part)| list.iter().map(move |schema| (schema, *part))) {
            items.extend(self.value(schema, part.uses));
        }
        let unique = view.keyword("uniqueItems") == Some(&Value::Bool(true));
        if let Some((schema, part)) = view.items() {
            while items.len() < wanted {
                let Some(mut value) = self.value(schema, part.uses) else { break };
                if unique && items.contains(&value) {
                    value = another(&View::of(schema, part.uses, self.definitions), value, items.len());
                }
                items.push(value);
            }
        }
        Value::Array(items)
    }
}

/// True if the schema is a reference, bare or alone in an `allOf` without properties of its own.
fn names_a_definition(json: &Value) -> bool {
    let wrapped = json.get("allOf").and_then(Value::as_array).filter(|all| all.len() == 1);
    let only = wrapped.and_then(|all| all.first()).is_some_and(|only| only.get("$ref").is_some());
    json.get("$ref").is_some() || (only && json.get("properties").is_none())
}

/// What stands for a required property that was cut.
fn stub(view: &View<'_>) -> Value {
    let nullable = view.parts.iter().any(|part| {
        part.json.get("type").and_then(Value::as_array).is_some_and(|kinds| kinds.iter().any(|kind| kind == "null"))
    });
    match view.kind() {
        _ if nullable => Value::Null,
        Some("array") => json!([]),
        Some("string") => json!("string"),
        _ => json!({}),
    }
}

/// A value the author gave, if its type is the declared one.
fn given(view: &View<'_>) -> Option<Value> {
    let kind = view.kind();
    let fits = |value: &&Value| match kind {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => true,
    };
    if let Some(value) = view.keyword("const") {
        return Some(value.clone());
    }
    let allowed = view.keyword("enum").and_then(Value::as_array);
    let legal = |value: &&Value| allowed.is_none_or(|allowed| allowed.contains(value));
    let listed = view.parts.iter().filter_map(|part| part.json.get("examples")?.as_array()).flatten();
    let single = view.parts.iter().filter_map(|part| part.json.get("example"));
    let default = view.parts.iter().filter_map(|part| part.json.get("default"));
    let chosen = listed.chain(single).chain(default).filter(fits).find(legal);
    // null in an enum says only that the value may be absent
    let first =
        || allowed.and_then(|allowed| allowed.iter().find(|value| !value.is_null()).or_else(|| allowed.first()));
    chosen.or_else(first).cloned()
}

fn bound(view: &View<'_>, keyword: &str) -> Option<usize> {
    let value = view.keyword(keyword)?;
    let number =
        value.as_u64().or_else(|| value.as_f64().filter(|number| *number >= 0.0).map(|number| number as u64))?;
    usize::try_from(number).ok()
}

fn string(view: &View<'_>) -> String {
    let min = bound(view, "minLength").unwrap_or(0).min(65_536);
    let max = bound(view, "maxLength").unwrap_or(usize::MAX);
    if let Some(text) = view.text("pattern").and_then(|pattern| pattern::example(pattern, min, max)) {
        return text;
    }
    let format = match view.text("format").unwrap_or_default() {
        "date-time" => Some("2024-01-15T09:30:00Z"),
        "date" => Some("2024-01-15"),
        "time" => Some("09:30:00Z"),
        "duration" => Some("P1D"),
        "email" | "idn-email" => Some("user@example.com"),
        "hostname" | "idn-hostname" => Some("www.example.com"),
        "ipv4" | "ip" => Some("192.0.2.1"),
        "ipv6" => Some("2001:db8::1"),
        "uri" | "url" | "iri" => Some("https://www.example.com/"),
        "uri-reference" | "iri-reference" => Some("/sample"),
        "uri-template" => Some("/sample/{id}"),
        "uuid" => Some("3fa85f64-5717-4562-b3fc-2c963f66afa6"),
        "json-pointer" => Some("/sample"),
        "relative-json-pointer" => Some("0/sample"),
        "regex" => Some("^.*$"),
        "byte" | "base64" => Some("c2FtcGxl"),
        "binary" => Some("sample"),
        "phone" => Some("+15555550100"),
        _ if view.keyword("contentEncoding").is_some() => Some("c2FtcGxl"),
        _ => None,
    };
    let text = format.unwrap_or("string");
    let length = text.chars().count();
    if length > max {
        return text.chars().take(max).collect();
    }
    let padding = if format.is_some() { 0 } else { min.saturating_sub(length) };
    text.chars().chain(std::iter::repeat_n('a', padding)).collect()
}

/// The nearest number to 1 within the bounds.
fn number(view: &View<'_>, whole: bool) -> Value {
    let numbers =
        |keyword: &str| -> Vec<f64> { view.parts.iter().filter_map(|part| part.json.get(keyword)?.as_f64()).collect() };
    let step = numbers("multipleOf").into_iter().find(|step| *step > 0.0);
    let gap = step.unwrap_or(if whole { 1.0 } else { 0.5 });
    let above = |value: f64| if whole && step.is_none() { value.floor() + 1.0 } else { value + gap };
    let below = |value: f64| if whole && step.is_none() { value.ceil() - 1.0 } else { value - gap };
    let low = numbers("minimum").into_iter().chain(numbers("exclusiveMinimum").into_iter().map(above));
    let high = numbers("maximum").into_iter().chain(numbers("exclusiveMaximum").into_iter().map(below));
    let low = low.fold(f64::NEG_INFINITY, f64::max);
    let high = high.fold(f64::INFINITY, f64::min);
    let mut value = 1.0_f64.max(low).min(high.max(low));
    if let Some(step) = step {
        let up = (value / step).ceil() * step;
        value = if up <= high { up } else { (high / step).floor() * step };
    } else if whole {
        value = value.ceil();
    }
    if value.fract() == 0.0 && value.abs() < 9.0e15 {
        return Value::from(value as i64);
    }
    Number::from_f64(value).map_or(Value::from(1), Value::Number)
}

/// A different value of the same schema, for unique items.
fn another(view: &View<'_>, value: Value, index: usize) -> Value {
    let allowed = view.keyword("enum").and_then(Value::as_array);
    if let Some(other) = allowed.and_then(|allowed| allowed.get(index)) {
        return other.clone();
    }
    match value {
        Value::String(text) => Value::String(format!("{text}{index}")),
        Value::Number(number) => {
            number.as_i64().map_or(Value::Number(number), |number| Value::from(number + index as i64))
        }
        Value::Object(mut members) => {
            let name =
                members.iter().find(|(_, member)| member.is_string() || member.is_i64()).map(|(name, _)| name.clone());
            if let Some(member) = name.and_then(|name| members.get_mut(&name)) {
                *member = match member.take() {
                    Value::String(text) => Value::String(format!("{text}{index}")),
                    Value::Number(number) => {
                        Value::from(number.as_i64().unwrap_or_default().saturating_add(index as i64))
                    }
                    other => other,
                };
            }
            Value::Object(members)
        }
        other => other,
    }
}
