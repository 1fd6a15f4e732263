//! Runtime expressions (Arazzo 1.0 §4.7) as paths into the values of a run.

use crate::template::BodyTemplate;
use serde_json::Value;

/// Deepest tree of values.
const DEEPEST: usize = 64;

/// The path that an expression such as `$steps.login.outputs.token` stands for.
///
/// # Errors
/// It is no expression, or one that is not supported.
pub fn path(text: &str) -> Result<Vec<String>, String> {
    let unknown = || format!("`{text}` is no expression that is supported");
    let (head, pointer) = match text.split_once('#') {
        Some((head, pointer)) => (head, Some(pointer)),
        None => (text, None),
    };
    let mut found = match head {
        "$statusCode" | "$method" => vec![head.trim_start_matches('$').to_string()],
        "$response.body" => vec!["response".to_string(), "body".to_string()],
        "$request.body" => vec!["request".to_string(), "body".to_string()],
        "$url" => return Err("`$url` is not supported: it may hold credentials".to_string()),
        _ => {
            if let Some(name) = head.strip_prefix("$response.header.").filter(|name| !name.is_empty()) {
                vec!["response".to_string(), "header".to_string(), name.to_ascii_lowercase()]
            } else if let Some(rest) = head
                .strip_prefix("$response.body.")
                .or_else(|| head.strip_prefix("$response.body[").map(|_| head.get(14..).unwrap_or_default()))
            {
                let mut found = vec!["response".to_string(), "body".to_string()];
                found.extend(members(rest).ok_or_else(unknown)?);
                found
            } else if let Some((place, name)) = head
                .strip_prefix("$request.")
                .and_then(|rest| rest.split_once('.'))
                .filter(|(place, name)| matches!(*place, "path" | "query" | "header") && !name.is_empty())
            {
                let name = if place == "header" { name.to_ascii_lowercase() } else { name.to_string() };
                vec!["request".to_string(), place.to_string(), name]
            } else if let Some((first, rest)) =
                ["inputs", "outputs"].iter().find_map(|first| Some((first, head.strip_prefix(&format!("${first}."))?)))
            {
                let mut found = vec![(*first).to_string()];
                found.extend(members(rest).ok_or_else(unknown)?);
                found
            } else if let Some(rest) = head.strip_prefix("$workflows.") {
                let found = members(rest).ok_or_else(unknown)?;
                if found.len() < 3 || !matches!(found.get(1).map(String::as_str), Some("outputs" | "inputs")) {
                    return Err(format!("`{text}` must read `$workflows.ID.outputs.NAME`"));
                }
                std::iter::once("workflows".to_string()).chain(found).collect()
            } else if let Some(name) =
                head.strip_prefix("$sourceDescriptions.").and_then(|rest| rest.strip_suffix(".url"))
            {
                vec!["sourceDescriptions".to_string(), name.to_string(), "url".to_string()]
            } else if let Some(rest) = head.strip_prefix("$steps.") {
                let found = members(rest).ok_or_else(unknown)?;
                if found.len() < 3 || found.get(1).map(String::as_str) != Some("outputs") {
                    return Err(format!("`{text}` must read `$steps.ID.outputs.NAME`"));
                }
                std::iter::once("steps".to_string()).chain(found).collect()
            } else {
                return Err(unknown());
            }
        }
    };
    if let Some(pointer) = pointer {
        let tokens =
            crate::document::pointer::parse(pointer).ok_or_else(|| format!("`#{pointer}` is no JSON pointer"))?;
        found.extend(tokens.into_iter().map(|token| token.into_owned()));
    }
    Ok(found)
}

/// `a.b[0].c` as names and indices.
fn members(text: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for part in text.split('.') {
        let (name, mut rest) = match part.find('[') {
            Some(at) => (part.get(..at)?, part.get(at..)?),
            None => (part, ""),
        };
        if name.is_empty() && rest.is_empty() {
            return None;
        }
        if !name.is_empty() {
            found.push(name.to_string());
        }
        while !rest.is_empty() {
            let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
            found.push(index.trim_matches(['\'', '"']).to_string());
            rest = after;
        }
    }
    Some(found)
}

/// A value with its expressions: a text that is one expression (`$…`, or `{$…}` alone) keeps the value's type, one
/// that holds some in braces stays text, anything else is as written.
///
/// # Errors
/// An expression that is not supported, or too deep a tree.
pub fn tree(value: &Value) -> Result<BodyTemplate, String> {
    build(value, 0)
}

fn build(value: &Value, depth: usize) -> Result<BodyTemplate, String> {
    if depth > DEEPEST {
        return Err(format!("more than {DEEPEST} levels inside each other"));
    }
    match value {
        Value::String(text) => self::text(text),
        Value::Array(items) => {
            items.iter().map(|item| build(item, depth + 1)).collect::<Result<_, _>>().map(BodyTemplate::List)
        }
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| Ok((name.clone(), build(value, depth + 1)?)));
            members.collect::<Result<_, String>>().map(BodyTemplate::Object)
        }
        other => Ok(BodyTemplate::Literal(other.clone())),
    }
}

/// What a text that begins with `$` must begin with to be meant as an expression.
const KNOWN: [&str; 11] = [
    "$inputs.",
    "$steps.",
    "$response.",
    "$request.",
    "$statusCode",
    "$url",
    "$method",
    "$outputs.",
    "$workflows.",
    "$sourceDescriptions.",
    "$components.",
];

fn text(text: &str) -> Result<BodyTemplate, String> {
    if KNOWN.iter().any(|start| text.starts_with(start)) && !text.contains(char::is_whitespace) {
        return path(text).map(BodyTemplate::Value);
    }
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("{$") {
        let Some(length) = rest.get(at..).and_then(|tail| tail.find('}')) else { break };
        let (before, inner, after) = (rest.get(..at), rest.get(at + 1..at + length), rest.get(at + length + 1..));
        if let Some(before) = before.filter(|before| !before.is_empty()) {
            pieces.push(BodyTemplate::Literal(Value::from(before)));
        }
        pieces.push(BodyTemplate::Value(path(inner.unwrap_or_default())?));
        rest = after.unwrap_or_default();
    }
    if pieces.is_empty() {
        return Ok(BodyTemplate::Literal(Value::from(text)));
    }
    if !rest.is_empty() {
        pieces.push(BodyTemplate::Literal(Value::from(rest)));
    }
    match pieces.len() {
        1 => pieces.pop().ok_or_else(String::new),
        _ => Ok(BodyTemplate::Joined(pieces)),
    }
}
