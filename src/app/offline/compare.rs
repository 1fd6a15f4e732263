//! Expected and got, with the place of the first difference.

use crate::document::pointer;
use crate::mapping::{TestRequest, TestResult};
use crate::upstream::CannedRequest;
use serde_json::Value;

/// Longest value that is shown, in characters.
const SHOWN: usize = 300;

/// Path and query of a URL, as sent.
pub(super) fn target(url: &url::Url) -> String {
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_string(),
    }
}

/// Compares one request with what a test expects of it; what is not named is not compared.
pub(super) fn request(name: &str, expected: &TestRequest, sent: &CannedRequest, out: &mut Vec<String>) {
    let mut differ = |what: &str, expected: &str, got: &str| {
        out.push(format!("{name}, {what}: expected `{}`, got `{}`", cut(expected), cut(got)));
    };
    if let Some(method) = &expected.method
        && !method.eq_ignore_ascii_case(sent.method.as_str())
    {
        differ("method", method, sent.method.as_str());
    }
    if let Some(path) = &expected.path {
        let got = if path.contains('?') { target(&sent.url) } else { sent.url.path().to_string() };
        if *path != got {
            differ("path", path, &got);
        }
    }
    if let Some(query) = &expected.query {
        let wanted: Vec<(String, String)> = query.iter().flat_map(|(name, value)| pairs(name, value)).collect();
        let mut got: Vec<(String, String)> =
            sent.url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        let mut sorted = wanted.clone();
        sorted.sort();
        got.sort();
        if sorted != got {
            differ("query", &joined(&sorted), &joined(&got));
        }
    }
    for (header, value) in &expected.headers {
        let got: Vec<String> = sent
            .headers
            .get_all(header.as_str())
            .iter()
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .collect();
        match got.as_slice() {
            [] => differ(&format!("header `{header}`"), value, "(not sent)"),
            got if got.join(", ") != *value
                && !got.iter().flat_map(|one| one.split(',')).any(|one| one.trim() == value) =>
            {
                differ(&format!("header `{header}`"), value, &got.join(", "))
            }
            _ => {}
        }
    }
    let body = sent.body.as_deref().unwrap_or_default();
    if let Some(text) = &expected.body {
        let got = String::from_utf8_lossy(body);
        if *text != got {
            differ("body", text, &got);
        }
    }
    if let Some(json) = &expected.json {
        match serde_json::from_slice::<Value>(body) {
            Ok(got) => out.extend(difference(json, &got).map(|text| format!("{name}, json{text}"))),
            Err(_) if body.is_empty() => differ("json", &json.to_string(), "(no body)"),
            Err(_) => differ("json", &json.to_string(), &String::from_utf8_lossy(body)),
        }
    }
}

fn pairs(name: &str, value: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match value {
        Value::Array(items) => items.iter().map(|item| (name.to_string(), text(item))).collect(),
        one => vec![(name.to_string(), text(one))],
    }
}

fn joined(pairs: &[(String, String)]) -> String {
    pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

/// Compares a `CallToolResult` with what a test expects of it.
pub(super) fn result(expected: &TestResult, got: &Value, out: &mut Vec<String>) {
    let is_error = got.get("isError").and_then(Value::as_bool).unwrap_or(false);
    let wanted = expected.is_error.unwrap_or(false);
    if is_error != wanted {
        out.push(format!("result, is_error: expected {wanted}, got {is_error}"));
    }
    if let Some(text) = &expected.text {
        let got = text_of(got);
        if *text != got {
            out.push(format!("result, text: expected `{}`, got `{}`", cut(text), cut(&got)));
        }
    }
    if let Some(json) = &expected.json {
        let value = got.get("structuredContent").cloned().or_else(|| {
            let text = got.get("content")?.as_array()?.iter().find_map(|block| block.get("text")?.as_str())?;
            serde_json::from_str(text).ok()
        });
        match value {
            Some(value) => out.extend(difference(json, &value).map(|text| format!("result, json{text}"))),
            None => out.push(format!(
                "result, json: expected {}, got the text `{}`",
                cut(&json.to_string()),
                cut(&text_of(got))
            )),
        }
    }
    if let Some(blocks) = &expected.blocks {
        let got = got.get("content").cloned().unwrap_or(Value::Null);
        out.extend(difference(&Value::Array(blocks.clone()), &got).map(|text| format!("result, blocks{text}")));
    }
}

/// All text blocks, joined by line feeds.
pub(super) fn text_of(result: &Value) -> String {
    let blocks = result.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect::<Vec<_>>().join("\n")
}

/// ` at POINTER: expected …, got …` of the first difference. Numbers are equal by value.
fn difference(expected: &Value, got: &Value) -> Option<String> {
    let (at, expected, got) = first(String::new(), Some(expected), Some(got))?;
    let show = |value: Option<&Value>| value.map_or_else(|| "nothing".to_string(), |value| cut(&value.to_string()));
    let place = if at.is_empty() { String::new() } else { format!(" at {at}") };
    Some(format!("{place}: expected {}, got {}", show(expected), show(got)))
}

type Found<'v> = (String, Option<&'v Value>, Option<&'v Value>);

fn first<'v>(at: String, expected: Option<&'v Value>, got: Option<&'v Value>) -> Option<Found<'v>> {
    match (expected, got) {
        (Some(Value::Object(wanted)), Some(Value::Object(found))) => {
            let missing =
                wanted.iter().find_map(|(name, value)| first(pointer::join(&at, name), Some(value), found.get(name)));
            missing.or_else(|| {
                let extra = found.iter().find(|(name, _)| !wanted.contains_key(*name))?;
                Some((pointer::join(&at, extra.0), None, Some(extra.1)))
            })
        }
        (Some(Value::Array(wanted)), Some(Value::Array(found))) => (0..wanted.len().max(found.len()))
            .find_map(|index| first(pointer::join_index(&at, index), wanted.get(index), found.get(index))),
        (Some(Value::Number(wanted)), Some(Value::Number(found)))
            if wanted == found || wanted.as_f64() == found.as_f64() =>
        {
            None
        }
        (Some(wanted), Some(found)) if wanted == found => None,
        (None, None) => None,
        _ => Some((at, expected, got)),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_string(),
    }
}
