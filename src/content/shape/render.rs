//! What templates see of an answer, and URI templates.

use super::selector::Selector;
use crate::catalog::Arguments;
use serde_json::{Map, Value};

/// What a template sees: the arguments, covered by the members of an object answer; any answer as `result`, a
/// list also as `items`; the arguments alone as `args`.
pub(super) fn context(value: &Value, arguments: &Arguments) -> Value {
    let mut context: Map<String, Value> = arguments.clone();
    context.insert("args".to_owned(), Value::Object(arguments.clone()));
    match value {
        Value::Object(members) => {
            context.entry("result").or_insert_with(|| value.clone());
            context.extend(members.iter().map(|(name, member)| (name.clone(), member.clone())));
        }
        Value::Array(_) => {
            context.insert("items".to_owned(), value.clone());
            context.insert("result".to_owned(), value.clone());
        }
        _ => {
            context.insert("result".to_owned(), value.clone());
        }
    }
    Value::Object(context)
}

/// A URI with `{{path}}` or `{path}` in it; values are percent-encoded (RFC 6570 §3.2.2), so that none adds a
/// segment, query or fragment.
#[derive(Debug)]
pub(super) struct UriTemplate {
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Literal(String),
    Value(Selector),
}

impl UriTemplate {
    /// Compiles a template; the error says what is wrong.
    pub(super) fn compile(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((literal, tail)) = rest.split_once('{') {
            if !literal.is_empty() {
                parts.push(Part::Literal(literal.to_owned()));
            }
            let (inner, after) = match tail.strip_prefix('{') {
                Some(double) => double.split_once("}}"),
                None => tail.split_once('}'),
            }
            .ok_or_else(|| format!("`{text}` has an unclosed brace"))?;
            parts.push(Part::Value(Selector::parse(inner.trim()).map_err(|error| format!("in `{text}`: {error}"))?));
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
        let legal = |char: char| char.is_ascii_alphanumeric() || "+-.".contains(char);
        if !scheme.starts_with(|char: char| char.is_ascii_alphabetic()) || !scheme.chars().all(legal) {
            return Err(format!("`{text}` is no absolute URI: it needs a scheme such as `shop:`"));
        }
        Ok(UriTemplate { parts })
    }

    /// Fills the template in; the answer's members come before the arguments.
    pub(super) fn expand(&self, value: &Value, arguments: &Arguments) -> String {
        let mut uri = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(text) => uri.push_str(text),
                Part::Value(selector) => {
                    let argument = || selector.get_in(arguments);
                    if let Some(found) = selector.get(value).or_else(argument) {
                        expand(&found, &mut uri);
                    }
                }
            }
        }
        uri
    }
}

fn expand(value: &Value, uri: &mut String) {
    match value {
        Value::Null => {}
        Value::String(text) => encode(text, uri),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    uri.push(',');
                }
                expand(item, uri);
            }
        }
        other => encode(&other.to_string(), uri),
    }
}

fn encode(text: &str, uri: &mut String) {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
    const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    uri.extend(utf8_percent_encode(text, UNRESERVED));
}
