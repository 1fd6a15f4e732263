//! Text and URI templates over an answer and the call's arguments.

use super::selector::Selector;
use crate::catalog::Arguments;
use handlebars::{Handlebars, no_escape};
use serde_json::{Map, Value};
use std::io;

/// Longest template and longest text that one makes.
const MAX_TEMPLATE: usize = 64 * 1024;
const MAX_TEXT: usize = 10 << 20;
const NAME: &str = "t";

/// A compiled Handlebars template. A member that the answer lacks is empty text: optional members of an API
/// must not fail the call.
pub(super) struct TextTemplate {
    registry: Handlebars<'static>,
}

impl std::fmt::Debug for TextTemplate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TextTemplate")
    }
}

impl TextTemplate {
    /// Compiles a template; the error says where and what.
    pub(super) fn compile(text: &str) -> Result<Self, String> {
        if text.len() > MAX_TEMPLATE {
            return Err(format!("the template is longer than {MAX_TEMPLATE} bytes"));
        }
        if has_partial(text) {
            return Err("partials (`{{> …}}`) and decorators (`{{* …}}`) are not available".to_owned());
        }
        let mut registry = Handlebars::new();
        registry.register_escape_fn(no_escape);
        registry.unregister_helper("log");
        registry.register_template_string(NAME, text).map_err(|error| {
            let place = error.pos().map(|(line, column)| format!("line {line}, column {column}: ")).unwrap_or_default();
            format!("{place}{}", error.reason())
        })?;
        Ok(TextTemplate { registry })
    }

    /// Fills the template in.
    pub(super) fn render(&self, context: &Value) -> Result<String, String> {
        let mut text = Bounded(Vec::new());
        self.registry.render_to_write(NAME, context, &mut text).map_err(|error| error.reason().to_string())?;
        String::from_utf8(text.0).map_err(|_| "the template cut a character".to_owned())
    }
}

/// Partials may call themselves without end.
fn has_partial(text: &str) -> bool {
    text.match_indices("{{").any(|(at, _)| {
        let tag = text.get(at + 2..).unwrap_or_default();
        let tag = tag.trim_start_matches(['{', '~', '#', ' ', '\t', '\r', '\n']);
        tag.starts_with(['>', '*'])
    })
}

struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_TEXT {
            return Err(io::Error::other("the text grows too long"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

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
