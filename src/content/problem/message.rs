//! The common shapes of error bodies: problem details (RFC 9457), JSON:API, OAuth (RFC 6749 §5.2), GraphQL, and those
//! of widespread frameworks.

use serde_json::{Map, Value};

/// Members that hold the message, the best first.
const MESSAGES: [&str; 15] = [
    "detail",
    "message",
    "error_description",
    "errorMessage",
    "error_message",
    "msg",
    "description",
    "reason",
    "faultstring",
    "Message",
    "userMessage",
    "developerMessage",
    "errorDescription",
    "text",
    "error",
];
/// Members that list single problems.
const LISTS: [&str; 12] = [
    "errors",
    "details",
    "detail",
    "violations",
    "invalid-params",
    "invalidParams",
    "invalid_params",
    "issues",
    "fieldErrors",
    "validationErrors",
    "problems",
    "causes",
];
/// Members that say where a single problem is.
const PLACES: [&str; 15] = [
    "loc",
    "field",
    "path",
    "pointer",
    "instancePath",
    "property",
    "propertyPath",
    "parameter",
    "param",
    "attribute",
    "name",
    "key",
    "location",
    "dataPath",
    "source",
];
/// Members that hold what only developers of the API need.
const TRACES: [&str; 8] =
    ["stack", "stackTrace", "stack_trace", "stacktrace", "trace", "traceback", "backtrace", "debug"];
const MAX_PROBLEMS: usize = 20;
const MAX_DEPTH: usize = 4;

/// Turns a place that the body names into the words for the model.
pub(super) type Place<'a> = &'a dyn Fn(&str) -> String;

/// The message of an error body; `None` where no known shape fits.
pub(super) fn of(value: &Value, place: Place<'_>) -> Option<String> {
    described(value, place, 0)
}

/// The messages of a list of problems, joined; `None` where none has one.
pub(in crate::content) fn list(problems: &[Value], place: Place<'_>) -> Option<String> {
    listed(problems, place, 0)
}

fn described(value: &Value, place: Place<'_>, depth: usize) -> Option<String> {
    if depth > MAX_DEPTH {
        return None;
    }
    match value {
        Value::String(text) => filled(text),
        Value::Array(problems) => listed(problems, place, depth),
        Value::Object(members) => of_object(members, place, depth),
        _ => None,
    }
}

/// Adds a part, unless it repeats one that is there already.
fn add(parts: &mut Vec<String>, part: Option<String>) {
    if let Some(part) = part.filter(|part| !parts.iter().any(|old| old.contains(part.as_str()))) {
        parts.push(part);
    }
}

fn of_object(members: &Map<String, Value>, place: Place<'_>, depth: usize) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    add(&mut parts, members.get("title").and_then(Value::as_str).and_then(filled));
    // Envelopes: the error is an object of its own.
    for key in ["error", "fault", "exception", "Error"] {
        if let Some(inner @ (Value::Object(_) | Value::Array(_))) = members.get(key) {
            add(&mut parts, described(inner, place, depth + 1));
        }
    }
    let texts = MESSAGES.iter().filter_map(|key| members.get(*key)?.as_str().and_then(filled));
    add(&mut parts, texts.into_iter().next());
    if let Some(short) = members.get("error").and_then(Value::as_str).and_then(filled) {
        add(&mut parts, Some(short));
    }
    for key in LISTS {
        match members.get(key) {
            Some(Value::Array(problems)) => add(&mut parts, listed(problems, place, depth + 1)),
            Some(Value::Object(fields)) => {
                add(&mut parts, by_field(fields, place).or_else(|| of_object(fields, place, depth + 1)))
            }
            _ => {}
        }
    }
    if parts.is_empty() && depth == 0 {
        add(&mut parts, by_field(members, place));
    }
    (!parts.is_empty()).then(|| parts.join(": "))
}

/// `{"name": ["is missing"], "age": "too low"}` (Django, Rails, Laravel).
fn by_field(fields: &Map<String, Value>, place: Place<'_>) -> Option<String> {
    let mut problems = Vec::new();
    for (name, found) in fields {
        let texts: Vec<&str> = match found {
            Value::Array(list) if !list.is_empty() => list.iter().map(Value::as_str).collect::<Option<_>>()?,
            Value::String(text) if fields.len() <= MAX_PROBLEMS => vec![text],
            _ => return None,
        };
        let text = texts.join(", ");
        problems.push(if name == "non_field_errors" || name == "base" {
            text
        } else {
            format!("`{}`: {text}", place(name))
        });
    }
    (!problems.is_empty()).then(|| bounded(problems))
}

fn listed(problems: &[Value], place: Place<'_>, depth: usize) -> Option<String> {
    let texts: Vec<String> = problems.iter().filter_map(|problem| single(problem, place, depth)).collect();
    (!texts.is_empty()).then(|| bounded(texts))
}

fn bounded(mut problems: Vec<String>) -> String {
    let more = problems.len().saturating_sub(MAX_PROBLEMS);
    problems.truncate(MAX_PROBLEMS);
    let mut text = problems.join("; ");
    if more > 0 {
        text.push_str(&format!("; and {more} more"));
    }
    text
}

/// One problem of a list: its place and its message.
fn single(problem: &Value, place: Place<'_>, depth: usize) -> Option<String> {
    let Value::Object(members) = problem else { return described(problem, place, depth + 1) };
    let at = PLACES.iter().find_map(|key| written(members.get(*key)?)).filter(|at| !at.is_empty());
    let mut rest = members.clone();
    for key in PLACES {
        rest.remove(key);
    }
    let message = of_object(&rest, place, depth + 1).or_else(|| {
        let words: Vec<&str> =
            ["code", "type", "keyword", "resource"].iter().filter_map(|key| rest.get(*key)?.as_str()).collect();
        (!words.is_empty()).then(|| words.join(" "))
    });
    match (at, message) {
        (Some(at), Some(message)) => Some(format!("`{}`: {message}", place(&at))),
        (None, message @ Some(_)) => message,
        _ => Some(without_traces(problem).to_string()),
    }
}

/// A place as the body writes it: a text, a list (`["body", "petName"]`) or JSON:API's `source`.
fn written(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let parts: Vec<String> = parts
                .iter()
                .map(|part| match part {
                    Value::String(text) => Some(text.clone()),
                    Value::Number(number) => Some(number.to_string()),
                    _ => None,
                })
                .collect::<Option<_>>()?;
            Some(parts.join("."))
        }
        Value::Object(source) => {
            let found = ["pointer", "parameter", "header"].iter().find_map(|key| source.get(*key)?.as_str());
            found.map(str::to_owned)
        }
        _ => None,
    }
}

fn filled(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A body without stack traces.
pub(super) fn without_traces(value: &Value) -> Value {
    let mut value = value.clone();
    if let Value::Object(members) = &mut value {
        members.retain(|name, _| !TRACES.contains(&name.as_str()));
    }
    value
}
