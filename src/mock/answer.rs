//! What the mock answers: response by status, media type by `Accept`, body by example or schema.

use super::route::Match;
use super::{payload, sample};
use crate::openapi::{Api, MediaType, Response};
use crate::request::{BodyKind, media, view, xml};
use crate::schema::Direction;
use bytes::Bytes;
use http::HeaderMap;
use serde_json::{Value, json};

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// `Content-Type`; `None` = no body.
    pub content_type: Option<String>,
    /// `Allow` of a 405.
    pub allow: Option<String>,
    /// Body.
    pub body: Bytes,
}

/// An RFC 9457 answer.
pub(super) fn problem(status: u16, detail: &str) -> Answer {
    let title = http::StatusCode::from_u16(status).ok().and_then(|code| code.canonical_reason()).unwrap_or("Error");
    let body = json!({ "type": "about:blank", "title": title, "status": status, "detail": detail });
    Answer {
        status,
        content_type: Some("application/problem+json".to_owned()),
        allow: None,
        body: Bytes::from(body.to_string()),
    }
}

/// What `Prefer` (RFC 7240) asks for.
#[derive(Default)]
struct Preference {
    code: Option<u16>,
    /// One-based number of the example; names do not survive reading.
    example: Option<usize>,
}

fn preference(headers: &HeaderMap) -> Preference {
    let mut preference = Preference::default();
    for value in headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok()) {
        for part in value.split([',', ';']) {
            let Some((name, text)) = part.split_once('=') else { continue };
            let text = text.trim().trim_matches('"');
            match name.trim() {
                "code" | "status" => preference.code = text.parse().ok().filter(|code| (200..600).contains(code)),
                "example" => preference.example = text.parse().ok(),
                _ => {}
            }
        }
    }
    preference
}

/// The answer of an operation.
pub(super) fn of(api: &Api, found: &Match, headers: &HeaderMap) -> Answer {
    let Some(operation) = api.operations.get(found.operation) else { return problem(404, "no such operation") };
    let preference = preference(headers);
    let chosen = match preference.code {
        Some(code) => by_code(&operation.responses, code).map(|response| (code, response)),
        None => first_success(&operation.responses),
    };
    let Some((status, response)) = chosen else {
        return match preference.code {
            Some(code) if code >= 400 => problem(code, "the document says nothing of this status"),
            Some(code) => empty(code),
            None => empty(204),
        };
    };
    if response.content.is_empty() || matches!(status, 204 | 205 | 304) {
        return empty(status);
    }
    let accepts: Vec<&str> =
        headers.get_all(http::header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let Some(content) = negotiate(&response.content, &accepts.join(",")) else {
        return problem(406, "the operation answers in none of the accepted media types");
    };
    let content_type = concrete(&content.media_type);
    let body = body(api, content, &content_type, preference.example, found);
    Answer { status, content_type: Some(content_type), allow: None, body }
}

fn empty(status: u16) -> Answer {
    Answer { status, content_type: None, allow: None, body: Bytes::new() }
}

fn by_code(responses: &[Response], code: u16) -> Option<&Response> {
    let (exact, range) = (code.to_string(), format!("{}XX", code / 100));
    let named = |name: &str| responses.iter().find(|response| response.status.eq_ignore_ascii_case(name));
    named(&exact).or_else(|| named(&range)).or_else(|| named("default"))
}

/// The first 2xx, else `default` as 200, else the first response at all.
fn first_success(responses: &[Response]) -> Option<(u16, &Response)> {
    let code = |response: &Response| {
        let text = response.status.to_ascii_uppercase().replace("XX", "00");
        text.parse::<u16>().ok().filter(|code| (200..600).contains(code))
    };
    let coded = || responses.iter().filter_map(|response| Some((code(response)?, response)));
    coded()
        .find(|(code, _)| (200..300).contains(code))
        .or_else(|| responses.iter().find(|response| response.status == "default").map(|response| (200, response)))
        .or_else(|| coded().next())
}

/// The acceptable media type with the highest quality (RFC 9110 §12.5.1); the document's order breaks ties.
fn negotiate<'a>(content: &'a [MediaType], accept: &str) -> Option<&'a MediaType> {
    if accept.trim().is_empty() {
        return content.first();
    }
    let quality = |declared: &str| {
        let rate = |range: &str| {
            let quality = range.split(';').skip(1).find_map(|parameter| parameter.trim().strip_prefix("q="));
            quality.map_or(Some(1.0), |quality| quality.trim().parse::<f32>().ok()).unwrap_or(0.0)
        };
        let specific = |range: &&str| match media::essence(range) {
            "*/*" => 0,
            range if range.ends_with("/*") => 1,
            _ => 2,
        };
        let covering = |range: &&str| media::covers(range, declared) || media::covers(declared, range);
        accept.split(',').filter(covering).max_by_key(specific).map_or(0.0, rate)
    };
    let mut best: Option<(f32, &MediaType)> = None;
    for entry in content {
        let quality = quality(&entry.media_type);
        if quality > 0.0 && best.is_none_or(|(present, _)| quality > present) {
            best = Some((quality, entry));
        }
    }
    best.map(|(_, entry)| entry)
}

/// A declared range as something that can be sent.
fn concrete(media_type: &str) -> String {
    match media::essence(media_type) {
        "*/*" | "application/*" => "application/json".to_owned(),
        "text/*" => "text/plain".to_owned(),
        "image/*" => "image/png".to_owned(),
        "audio/*" => "audio/wav".to_owned(),
        range if range.contains('*') => "application/octet-stream".to_owned(),
        _ => media_type.to_owned(),
    }
}

fn body(api: &Api, content: &MediaType, content_type: &str, example: Option<usize>, found: &Match) -> Bytes {
    let kind = media::kind(content_type);
    let given = match example {
        Some(number) => content.examples.get(number.wrapping_sub(1)).or_else(|| content.examples.first()),
        None => content.examples.first(),
    };
    let schema = content.item_schema.as_ref().filter(|_| !content.has_schema).unwrap_or(&content.schema);
    let made = || sample::sample(schema, &api.definitions, Direction::Output);
    let value = match (given, kind) {
        // an example of a text format is the text itself
        (Some(Value::String(text)), Some(BodyKind::Json)) => {
            let is_text = view::View::of(&schema.json, &schema.uses, &api.definitions).kind() == Some("string");
            let parsed = if is_text { None } else { serde_json::from_str(text).ok() };
            parsed.unwrap_or_else(|| Value::String(text.clone()))
        }
        (Some(Value::String(text)), _) => return Bytes::from(text.clone()),
        (Some(value), _) => value.clone(),
        (None, Some(BodyKind::Json | BodyKind::JsonLines | BodyKind::Xml | BodyKind::Form)) => made(),
        (None, Some(BodyKind::Text)) => match payload::text(content_type) {
            Some(text) => return Bytes::from_static(text.as_bytes()),
            None => made(),
        },
        (None, _) => return payload::binary(content_type),
    };
    let value = if example.is_none() { echo(value, found) } else { value };
    let is_events = media::essence(content_type).eq_ignore_ascii_case("text/event-stream");
    match kind {
        Some(BodyKind::JsonLines) => {
            Bytes::from(items(&value).iter().map(|item| format!("{item}\n")).collect::<String>())
        }
        Some(BodyKind::Xml) => {
            let bundled = view::bundle(&schema.json, &schema.uses, &api.definitions);
            Bytes::from(xml::write(&value, &bundled, None).unwrap_or_default())
        }
        Some(BodyKind::Text) if is_events => {
            Bytes::from(items(&value).iter().map(|item| format!("data: {item}\n\n")).collect::<String>())
        }
        Some(BodyKind::Text) => Bytes::from(match value {
            Value::String(text) => text,
            value => value.to_string(),
        }),
        _ => Bytes::from(value.to_string()),
    }
}

fn items(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        one => std::slice::from_ref(one),
    }
}

/// Writes path values into the answer's members of the same name, where the type fits.
fn echo(mut value: Value, found: &Match) -> Value {
    let Value::Object(members) = &mut value else { return value };
    let last = found.variables.len().saturating_sub(1);
    for (index, (variable, text)) in found.variables.iter().enumerate() {
        let plain = |name: &str| name.replace(['_', '-'], "").to_ascii_lowercase();
        let wanted = plain(variable);
        let same = members.keys().find(|name| plain(name) == wanted).cloned();
        let id = || (index == last && wanted.ends_with("id") && members.contains_key("id")).then(|| "id".to_owned());
        let Some(name) = same.or_else(id) else { continue };
        let Some(member) = members.get_mut(&name) else { continue };
        let typed = match member {
            Value::String(_) => Some(Value::String(text.clone())),
            Value::Number(_) => {
                let whole = text.parse::<i64>().ok().map(Value::from);
                whole.or_else(|| text.parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Value::Number))
            }
            _ => None,
        };
        if let Some(typed) = typed {
            *member = typed;
        }
    }
    value
}
