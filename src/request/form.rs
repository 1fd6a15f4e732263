//! `application/x-www-form-urlencoded` with the `encoding` object (OpenAPI 3.1 "Encoding Object").
//!
//! With `style`, `explode` or `allowReserved` a property is written like a query parameter; without, by
//! its content type: text as it is, structures as JSON, one pair an array item.

use super::escape::Escape;
use super::style::{self, Joined, Name, Sink, text_of};
use super::{BodyKind, BodyVariant, Fixed, body, file, media, xml};
use crate::openapi::{Encoding, Style};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use std::borrow::Cow;
use url::form_urlencoded::byte_serialize;

/// The form of an object; a text is taken for a ready form.
pub(super) fn encode(variant: &BodyVariant, value: &Value, fixed: &Fixed<'_>) -> Result<String, String> {
    let members = match value {
        Value::Object(members) => members,
        Value::String(ready) => return Ok(ready.clone()),
        _ => return Err("a form must be an object".to_owned()),
    };
    let mut out = String::with_capacity(members.len() * 24);
    for (name, member) in members {
        let encoding = variant.encoding.get(name);
        match encoding.and_then(styled).filter(|_| !member.is_null()) {
            Some((style, explode, escape)) => {
                let mut pairs = Pairs { out: &mut out, escape, members, name };
                let member = style::nested(Cow::Borrowed(member), inner(encoding))?;
                style::named(name, style, explode, !explode, &member, &mut pairs)?;
            }
            None => content(&mut out, variant, name, encoding, member, fixed)?,
        }
    }
    Ok(out)
}

/// A form without any `encoding`.
pub(super) fn plain(members: &Map<String, Value>) -> Result<String, String> {
    let mut out = String::new();
    for (name, member) in members {
        match member {
            Value::Array(items) => items.iter().for_each(|item| pair(&mut out, name, &text_of(item))),
            member => pair(&mut out, name, &text_of(member)),
        }
    }
    Ok(out)
}

/// Style, explode and escape of a property, where one of the RFC 6570 fields is given.
pub(super) fn styled(encoding: &Encoding) -> Option<(Style, bool, Escape)> {
    if encoding.style.is_none() && encoding.explode.is_none() && !encoding.allow_reserved {
        return None;
    }
    let style = encoding.style.unwrap_or(Style::Form);
    let explode = encoding.explode.unwrap_or(style == Style::Form);
    Some((style, explode, if encoding.allow_reserved { Escape::Query } else { Escape::Strict }))
}

/// How lists in the list of a property are written.
pub(super) fn inner(encoding: Option<&Encoding>) -> &[Style] {
    encoding.map_or(&[], |encoding| &encoding.inner)
}

fn content(
    out: &mut String,
    variant: &BodyVariant,
    name: &str,
    encoding: Option<&Encoding>,
    member: &Value,
    fixed: &Fixed<'_>,
) -> Result<(), String> {
    let plan = variant.parts.get(name);
    let declared = encoding.and_then(|encoding| encoding.content_type.as_deref());
    let items = match member {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    for item in items {
        if plan.is_some_and(|plan| plan.file) && !item.is_null() {
            let file = file::parse(item, fixed).map_err(|message| format!("`{name}`: {message}"))?;
            // a form is text: bytes travel as base64 (OpenAPI 3.1, "URL Encoded Form with Binary Values")
            let text = match std::str::from_utf8(&file.bytes) {
                Ok(text) if file.is_text => Cow::Borrowed(text),
                _ => STANDARD.encode(&file.bytes).into(),
            };
            pair(out, name, &text);
        } else {
            pair(out, name, &field_text(variant, name, declared, item)?);
        }
    }
    Ok(())
}

/// A field's text by its declared content type.
pub(super) fn field_text<'v>(
    variant: &BodyVariant,
    name: &str,
    declared: Option<&str>,
    value: &'v Value,
) -> Result<Cow<'v, str>, String> {
    let first = declared.and_then(|list| list.split(',').next()).map(str::trim).unwrap_or_default();
    if value.is_null() {
        return Ok("".into());
    }
    if media::kind(first) == Some(BodyKind::Xml) && !value.is_string() {
        let schema = variant.xml.as_deref().unwrap_or(&Value::Bool(true));
        return xml::write_property(value, schema, name).map(Cow::Owned);
    }
    body::text_in(first, value, false)
}

fn separate(out: &mut String) {
    if !out.is_empty() {
        out.push('&');
    }
}

/// WHATWG URL §5.2.
fn pair(out: &mut String, name: &str, value: &str) {
    separate(out);
    out.extend(byte_serialize(name.as_bytes()));
    out.push('=');
    out.extend(byte_serialize(value.as_bytes()));
}

struct Pairs<'w> {
    out: &'w mut String,
    escape: Escape,
    members: &'w Map<String, Value>,
    name: &'w str,
}

impl Sink for Pairs<'_> {
    fn pair(&mut self, name: Name<'_>, value: Joined<'_>) -> Result<(), String> {
        if name.chosen {
            let plain = name.plain();
            if plain != self.name && self.members.contains_key(&plain) {
                return Err(format!("`{plain}` is a form field of its own; don't give it inside `{}`", self.name));
            }
        }
        separate(self.out);
        name.push(self.out, Escape::Strict);
        self.out.push('=');
        value.push(self.out, self.escape)
    }
}
