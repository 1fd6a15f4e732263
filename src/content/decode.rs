//! What a body is: by its declared type, and by its bytes where that is missing or lies.

mod charset;
mod html;
mod json;
mod kind;
mod sniff;

pub(super) use html::readable;
pub(super) use json::Look;
pub(super) use sniff::signature;

use super::conform::Verdict;
use super::sequence;
use super::shape::Part;
use crate::response::{MediaType, Response};
use bytes::Bytes;
use json::Found;
use kind::Kind;
use serde_json::Value;

/// A decoded body.
#[derive(Debug)]
pub(super) enum Body {
    /// No bytes.
    Empty,
    /// One JSON text in UTF-8.
    Json(Bytes),
    /// One JSON text in UTF-8, the same escaped, and what it is to the tool's output schema (`Conforms` without one).
    Whole(Bytes, Bytes, Verdict),
    /// The part of such a text that a mapping is about ([`Look::Part`]).
    Part(Part),
    /// A sequence of JSON texts (NDJSON, JSON Seq, SSE) as a list.
    Sequence(Vec<Value>),
    /// The beginning of a JSON text that was cut off, completed so that it is valid.
    CutJson(Value, Vec<super::cut::Cut>),
    /// Readable text; `true` for HTML.
    Text(String, bool),
    /// An image that MCP clients show.
    Image(Bytes, String),
    /// Audio.
    Audio(Bytes, String),
    /// Anything else, with its media type; the text where it is readable.
    File(Bytes, String, Option<String>),
}

/// Decodes the body of an answer.
pub(super) fn decode(response: &Response, look: Look<'_>) -> Body {
    let body = &response.body;
    if body.is_empty() {
        return Body::Empty;
    }
    let declared = response.media_type();
    let charset = declared.as_ref().and_then(MediaType::charset);
    let charset = charset.as_deref();
    match kind::of(declared.as_ref(), body) {
        Kind::Json => json_body(response, declared.as_ref(), charset, look),
        Kind::Sequence => sequence_body(response, declared.as_ref(), charset),
        Kind::MaybeJson(otherwise) => {
            // Only an object or a list: `42` under `text/plain` is a text.
            let (text, found) = json::read(body, charset, look);
            match json(&text, found) {
                Some(body) => body,
                None if response.truncated => cut_json(&text).unwrap_or_else(|| other(*otherwise, body, charset)),
                None => other(*otherwise, body, charset),
            }
        }
        kind => other(kind, body, charset),
    }
}

fn json_body(response: &Response, declared: Option<&MediaType<'_>>, charset: Option<&str>, look: Look<'_>) -> Body {
    let (text, found) = json::read(&response.body, charset, look);
    if let Some(body) = json(&text, found) {
        return body;
    }
    if let Some(repaired) = json::readable(&text) {
        let found = json::judge(&repaired, look);
        if let Some(body) = json(&Bytes::from(repaired), found) {
            return body;
        }
    }
    if text.iter().all(u8::is_ascii_whitespace) {
        return Body::Empty;
    }
    if response.truncated
        && let Some(cut) = cut_json(&text)
    {
        return cut;
    }
    // Several texts one after another under `application/json`.
    if let Some(items) = sequence::strict_lines(&text) {
        return Body::Sequence(items);
    }
    match kind::by_bytes(&response.body) {
        Some(found) => other(found, &response.body, charset),
        None => other(kind::text_or_file(declared, &response.body), &response.body, charset),
    }
}

/// The body where a text is JSON.
fn json(text: &Bytes, found: Found) -> Option<Body> {
    match found {
        Found::Verdict(Verdict::NotJson) | Found::Whole(Verdict::NotJson, _) => None,
        Found::Verdict(_) => Some(Body::Json(text.clone())),
        Found::Whole(verdict, escaped) => Some(Body::Whole(text.clone(), escaped, verdict)),
        Found::Part(part) => Some(Body::Part(part)),
    }
}

fn cut_json(text: &[u8]) -> Option<Body> {
    let (value, cuts) = super::cut::salvage(text)?;
    Some(Body::CutJson(value, cuts))
}

fn sequence_body(response: &Response, declared: Option<&MediaType<'_>>, charset: Option<&str>) -> Body {
    let text = charset::text(&response.body, charset, false);
    let Some(mut decoder) = declared.and_then(sequence::Decoder::for_media_type) else {
        return Body::Text(text, false);
    };
    let mut items = decoder.push(text.as_bytes());
    // A last line that was cut off is no item of its own.
    let last = decoder.finish();
    if !response.truncated {
        items.extend(last);
    }
    Body::Sequence(items.into_iter().map(sequence::Item::into_value).collect())
}

fn other(kind: Kind, body: &Bytes, charset: Option<&str>) -> Body {
    match kind {
        Kind::Text => Body::Text(charset::text(body, charset, false), false),
        Kind::Html => Body::Text(charset::text(body, charset, true), true),
        Kind::Image(mime_type) => Body::Image(body.clone(), mime_type),
        Kind::Audio(mime_type) => Body::Audio(body.clone(), mime_type),
        Kind::TextFile(mime_type) => Body::File(body.clone(), mime_type, Some(charset::text(body, charset, false))),
        Kind::File(mime_type) => Body::File(body.clone(), mime_type, None),
        Kind::MaybeJson(otherwise) => other(*otherwise, body, charset),
        Kind::Json | Kind::Sequence => Body::Text(charset::text(body, charset, false), false),
    }
}

/// The value of an answer, for pages, polls, steps and caches: JSON as a tree, a sequence as a list, text as
/// a string, binary as base64, an empty body as null.
pub fn value_of(response: &Response) -> Value {
    match decode(response, Look::Json) {
        Body::Empty => Value::Null,
        Body::Json(text) | Body::Whole(text, ..) | Body::Part(Part { text, .. }) => {
            serde_json::from_slice(&text).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&text).into_owned()))
        }
        Body::Sequence(items) => Value::Array(items),
        Body::CutJson(value, _) => value,
        Body::Text(text, _) | Body::File(_, _, Some(text)) => Value::String(text),
        Body::Image(data, _) | Body::Audio(data, _) | Body::File(data, _, None) => {
            use base64::Engine;
            Value::String(base64::engine::general_purpose::STANDARD.encode(&data))
        }
    }
}
