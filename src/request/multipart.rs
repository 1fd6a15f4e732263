//! `multipart/*` bodies (RFC 7578, WHATWG HTML §4.10.21.8): files, per-part types and headers, a boundary
//! that follows from the content and occurs in no part.

use super::body::Encoded;
use super::escape::Escape;
use super::style::{self, Joined, Name, Sink};
use super::{BodyKind, BodyVariant, Fixed, PartPlan, body, file, form, header, media};
use crate::openapi::{Encoding, FURTHER};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use indexmap::IndexMap;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt::Write;

struct Part<'p> {
    /// Items of a list have none.
    name: Option<String>,
    filename: Option<String>,
    content_type: Option<String>,
    transfer: Option<&'p str>,
    headers: Option<&'p IndexMap<String, String>>,
    bytes: Bytes,
}

/// A body of one part a property, array items each in a part of their own; of a list one part an item.
pub(super) fn encode<'p>(
    variant: &'p BodyVariant,
    value: Option<&Value>,
    fixed: &Fixed<'_>,
) -> Result<Encoded<'p>, String> {
    let mut parts = Vec::new();
    match value {
        None => {}
        Some(Value::Object(members)) => {
            for (name, member) in members {
                let encoding = variant.encoding.get(name);
                match encoding.and_then(form::styled).filter(|_| !member.is_null()) {
                    Some((style, explode, _)) => {
                        let mut sink = Fields { parts: &mut parts, members };
                        let member = style::nested(Cow::Borrowed(member), form::inner(encoding))?;
                        style::named(name, style, explode, !explode, &member, &mut sink)?;
                    }
                    None => push_property(&mut parts, variant, name, encoding, member, fixed)?,
                }
            }
        }
        Some(Value::Array(items)) if variant.parts.contains_key(FURTHER) => {
            for (position, item) in items.iter().enumerate() {
                let key = position.to_string();
                let plan = variant.parts.get(&key).or_else(|| variant.parts.get(FURTHER));
                let encoding = variant.encoding.get(&key).or_else(|| variant.encoding.get(FURTHER));
                let made = part(variant, plan, None, encoding, item, fixed);
                parts.push(made.map_err(|message| format!("item {key}: {message}"))?);
            }
        }
        Some(_) => return Err("a multipart body must be an object".to_owned()),
    }
    let total: usize = parts.iter().map(|part| part.bytes.len() + 256).sum();
    if total > fixed.max_body.saturating_add(parts.len() * 256) {
        return Err(file::too_large(fixed.max_body));
    }
    let boundary = boundary(&parts);
    let mut bytes = Vec::with_capacity(total + 64);
    for part in &parts {
        bytes.extend_from_slice(part_head(part, &boundary)?.as_bytes());
        bytes.extend_from_slice(&part.bytes);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    let declared = without_boundary(&variant.media_type);
    Ok(Encoded { media_type: format!("{declared}; boundary={boundary}").into(), bytes })
}

fn without_boundary(media_type: &str) -> String {
    let is_boundary = |part: &&str| part.trim().get(..9).is_some_and(|name| name.eq_ignore_ascii_case("boundary="));
    media_type.split(';').filter(|part| !is_boundary(part)).map(str::trim).collect::<Vec<_>>().join("; ")
}

/// SHA-256 of the parts, salted until no part holds it: equal calls give equal bytes.
fn boundary(parts: &[Part<'_>]) -> String {
    for salt in 0u32.. {
        let mut hash = Sha256::new_with_prefix(salt.to_be_bytes());
        for part in parts {
            hash.update(part.name.as_deref().unwrap_or_default().as_bytes());
            hash.update(part.bytes.len().to_be_bytes());
            hash.update(&part.bytes);
        }
        let mut boundary = String::with_capacity(48);
        boundary.push_str("part-");
        for byte in hash.finalize().iter().take(16) {
            let _ = write!(boundary, "{byte:02x}");
        }
        if !parts.iter().any(|part| contains(&part.bytes, boundary.as_bytes())) {
            return boundary;
        }
    }
    String::new()
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window.first() == needle.first() && window == needle)
}

fn part_head(part: &Part<'_>, boundary: &str) -> Result<String, String> {
    let mut head = format!("--{boundary}\r\n");
    // RFC 2183: what has no name in a form may still have one as a file.
    let disposition = match (&part.name, &part.filename) {
        (Some(name), _) => Some(format!("form-data; name=\"{}\"", quoted(name))),
        (None, Some(_)) => Some("attachment".to_owned()),
        (None, None) => None,
    };
    if let Some(disposition) = &disposition {
        let _ = write!(head, "Content-Disposition: {disposition}");
        if let Some(filename) = &part.filename {
            let _ = write!(head, "; filename=\"{}\"", quoted(filename));
        }
        head.push_str("\r\n");
    }
    let mut push = |name: &str, value: &str| {
        let sound = header::value(value).is_ok() && http::HeaderName::from_bytes(name.as_bytes()).is_ok();
        if !sound {
            let part = part.name.as_deref().unwrap_or_default();
            return Err(format!("the header `{name}` of the part `{part}` can't be sent"));
        }
        let _ = write!(head, "{name}: {value}\r\n");
        Ok(())
    };
    if let Some(content_type) = &part.content_type {
        push("Content-Type", content_type)?;
    }
    if let Some(transfer) = part.transfer {
        push("Content-Transfer-Encoding", transfer)?;
    }
    for (name, value) in part.headers.into_iter().flatten() {
        let own = name.eq_ignore_ascii_case("content-type")
            || disposition.is_some() && name.eq_ignore_ascii_case("content-disposition");
        if !own {
            push(name, value)?;
        }
    }
    head.push_str("\r\n");
    Ok(head)
}

/// WHATWG: `"`, CR and LF percent-encoded; other control characters too, which no header may hold.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character == '"' || character.is_ascii_control() {
            let _ = write!(out, "%{:02X}", u32::from(character));
        } else {
            out.push(character);
        }
    }
    out
}

fn push_property<'p>(
    parts: &mut Vec<Part<'p>>,
    variant: &'p BodyVariant,
    name: &str,
    encoding: Option<&'p Encoding>,
    member: &Value,
    fixed: &Fixed<'_>,
) -> Result<(), String> {
    let plan = variant.parts.get(name);
    let items = match member {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    for item in items {
        parts.push(part(variant, plan, Some(name), encoding, item, fixed)?);
    }
    Ok(())
}

fn part<'p>(
    variant: &'p BodyVariant,
    plan: Option<&'p PartPlan>,
    name: Option<&str>,
    encoding: Option<&'p Encoding>,
    item: &Value,
    fixed: &Fixed<'_>,
) -> Result<Part<'p>, String> {
    let mut part = match plan {
        Some(plan) if plan.file && !item.is_null() => {
            let named = |message: String| name.map_or(message.clone(), |name| format!("`{name}`: {message}"));
            file_part(plan, name, encoding, item, fixed).map_err(named)?
        }
        _ => field_part(variant, plan, name, encoding, item)?,
    };
    part.headers = encoding.map(|encoding| &encoding.headers);
    Ok(part)
}

fn declared_type<'p>(plan: Option<&'p PartPlan>, encoding: Option<&'p Encoding>) -> Option<&'p str> {
    let explicit = encoding.and_then(|encoding| encoding.content_type.as_deref());
    explicit.or_else(|| plan.and_then(|plan| plan.content_type.as_deref())).filter(|text| !text.is_empty())
}

fn file_part<'p>(
    plan: &'p PartPlan,
    name: Option<&str>,
    encoding: Option<&'p Encoding>,
    item: &Value,
    fixed: &Fixed<'_>,
) -> Result<Part<'p>, String> {
    let file = file::parse(item, fixed)?;
    let declared = declared_type(Some(plan), encoding).unwrap_or("application/octet-stream");
    let options: Vec<&str> = declared.split(',').map(str::trim).filter(|option| !option.is_empty()).collect();
    let given = file.content_type.as_deref();
    let explicit = encoding.is_some_and(|encoding| encoding.content_type.is_some());
    let content_type = match given {
        Some(given) if !explicit || options.iter().any(|option| body::concrete(option, Some(given)).is_ok()) => {
            given.to_owned()
        }
        Some(given) => return Err(format!("the content type must be {declared}, not {given}")),
        None => {
            let first = options.iter().find(|option| !media::is_range(option)).copied();
            first.unwrap_or("application/octet-stream").to_owned()
        }
    };
    let (bytes, filename) = match plan.transfer.as_deref() {
        Some(_) if file.is_text => (file.bytes, file.filename),
        Some("base64url") => {
            (Bytes::from(base64::engine::general_purpose::URL_SAFE.encode(&file.bytes)), file.filename)
        }
        Some(_) => (Bytes::from(STANDARD.encode(&file.bytes)), file.filename),
        // without a file name many servers take the part for a text field
        None => (file.bytes, file.filename.or_else(|| name.map(str::to_owned))),
    };
    Ok(Part {
        name: name.map(str::to_owned),
        filename,
        content_type: Some(content_type),
        transfer: plan.transfer.as_deref(),
        headers: None,
        bytes,
    })
}

fn field_part<'p>(
    variant: &BodyVariant,
    plan: Option<&PartPlan>,
    name: Option<&str>,
    encoding: Option<&Encoding>,
    item: &Value,
) -> Result<Part<'p>, String> {
    let explicit = encoding.and_then(|encoding| encoding.content_type.as_deref());
    let structure = item.is_object() || item.is_array();
    let declared = explicit.or_else(|| {
        let planned = plan.and_then(|plan| plan.content_type.as_deref());
        if structure { planned.or(Some("application/json")) } else { planned }
    });
    let first = declared.and_then(|list| list.split(',').next()).map(str::trim).filter(|first| !first.is_empty());
    let text = form::field_text(variant, name.unwrap_or("item"), first, item)?;
    // text/plain is what a part without a type is (RFC 7578 §4.4)
    let content_type =
        first.filter(|first| !media::is_range(first) && (explicit.is_some() || media::essence(first) != "text/plain"));
    let bytes = match media::kind(first.unwrap_or_default()) {
        Some(BodyKind::Text) => body::in_charset(&text, first.unwrap_or_default())?,
        _ => text.into_owned().into_bytes(),
    };
    Ok(Part {
        name: name.map(str::to_owned),
        filename: None,
        content_type: content_type.map(str::to_owned),
        transfer: None,
        headers: None,
        bytes: Bytes::from(bytes),
    })
}

/// Style-based properties: the pairs of a query, unencoded, one part each.
struct Fields<'w, 'p> {
    parts: &'w mut Vec<Part<'p>>,
    members: &'w serde_json::Map<String, Value>,
}

impl Sink for Fields<'_, '_> {
    fn pair(&mut self, name: Name<'_>, value: Joined<'_>) -> Result<(), String> {
        let plain = name.plain();
        if name.chosen && self.members.contains_key(&plain) && name.path.is_empty() {
            return Err(format!("`{plain}` is a part of its own"));
        }
        let mut text = String::new();
        value.push(&mut text, Escape::Raw)?;
        self.parts.push(Part {
            name: Some(plain),
            filename: None,
            content_type: None,
            transfer: None,
            headers: None,
            bytes: Bytes::from(text),
        });
        Ok(())
    }
}
