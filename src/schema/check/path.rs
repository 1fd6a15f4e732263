//! Places in a value and short forms of values, as text for a model.

use serde_json::Value;

/// One step down a JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Into the member of this name.
    Name(String),
    /// Into the item at this index, from 0.
    Index(usize),
}

/// Longest text of a caller's own that a message repeats, in characters.
const MOST_SHOWN: usize = 60;

/// Writes a path: `filter.limit`, `items[2].name`, `labels["a.b"]`; empty for the value itself.
pub fn text(path: &[Step]) -> String {
    let mut out = String::new();
    for step in path {
        match step {
            Step::Index(index) => out.push_str(&format!("[{index}]")),
            Step::Name(name) if is_plain(name) => {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(name);
            }
            Step::Name(name) if out.is_empty() && !name.contains(['.', '[', '"']) && !name.is_empty() => {
                out.push_str(&cut(name, MOST_SHOWN));
            }
            Step::Name(name) => {
                out.push('[');
                out.push_str(&quoted(name));
                out.push(']');
            }
        }
    }
    out
}

/// Turns steps that look like an index but go into an object back into names.
pub fn settle(path: &mut [Step], value: &Value) {
    let mut here = Some(value);
    for step in path {
        if let (Step::Index(index), Some(Value::Object(_))) = (&*step, here) {
            *step = Step::Name(index.to_string());
        }
        here = match step {
            Step::Index(index) => here.and_then(|value| value.get(*index)),
            Step::Name(name) => here.and_then(|value| value.get(name.as_str())),
        };
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MOST_SHOWN
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '@' | '/' | ':'))
}

/// A value in short: scalars as JSON cut to 60 characters, containers by their size.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) => match items.len() {
            1 => "an array of 1 item".to_string(),
            n => format!("an array of {n} items"),
        },
        Value::Object(members) => match members.len() {
            1 => "an object with 1 member".to_string(),
            n => format!("an object with {n} members"),
        },
        scalar => scalar.to_string(),
    }
}

/// A value of the schema (an enum's, a constant), which may be a small container.
pub fn legal(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        other => cut(&other.to_string(), MOST_SHOWN),
    }
}

/// Several legal values, at most twenty.
pub fn legal_list<'a>(values: impl Iterator<Item = &'a Value>) -> String {
    let mut out = String::new();
    let mut left_out = 0usize;
    for (index, value) in values.enumerate() {
        if index >= 20 {
            left_out += 1;
            continue;
        }
        if index > 0 {
            out.push_str(", ");
        }
        out.push_str(&legal(value));
    }
    if left_out > 0 {
        out.push_str(&format!(", and {left_out} more"));
    }
    out
}

/// The text as a JSON string, cut to 60 characters.
pub fn quoted(text: &str) -> String {
    Value::from(cut(text, MOST_SHOWN)).to_string()
}

/// At most `most` characters, the last one an ellipsis where something was cut.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_string(),
        Some(_) => {
            let end = text.char_indices().nth(most.saturating_sub(1)).map_or(0, |(at, _)| at);
            format!("{}…", text.get(..end).unwrap_or_default())
        }
    }
}

/// Name of the JSON type of a value, with `integer` for whole numbers.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.is_i64() || n.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
