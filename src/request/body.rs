//! The body: the variant the call chose, its value in that variant's media type.

use super::style::text_of;
use super::{BodyKind, BodyPlan, BodyVariant, Fixed, Unsendable, file, form, media, multipart, values, xml};
use crate::catalog::{Arguments, From, RequestAction, Spot};
use crate::secret::Secret;
use base64::Engine;
use base64::engine::general_purpose;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};
use std::borrow::Cow;
use std::io;

/// Bytes and their final media type.
pub(super) struct Encoded<'p> {
    pub(super) media_type: Cow<'p, str>,
    pub(super) bytes: Vec<u8>,
}

/// Encodes the body and sets `Content-Type` and, for empty bodies, `Content-Length: 0`, which a client
/// leaves out otherwise (RFC 9110 §8.6).
pub(super) fn encode(
    action: &RequestAction,
    arguments: &Arguments,
    fixed: &Fixed<'_>,
    headers: &mut HeaderMap,
    secrets: &mut Vec<Secret>,
) -> Result<Option<Bytes>, Unsendable> {
    let value = match &action.body {
        Some(_) => values::body_value(action, arguments, fixed)?,
        None => None,
    };
    let plan = match &action.body {
        Some(plan) if value.is_some() || plan.required => plan,
        _ => {
            if [Method::POST, Method::PUT, Method::PATCH].contains(&action.method) {
                headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
            }
            return Ok(None);
        }
    };
    note_secrets(action, fixed, secrets);
    let variant = choose(plan, action, arguments, fixed)?;
    let refuse = |message: String| Unsendable::new(values::body_argument(action), message);
    let encoded = encode_variant(variant, value.as_deref(), fixed).map_err(refuse)?;
    if encoded.bytes.len() > fixed.max_body {
        return Err(refuse(file::too_large(fixed.max_body)));
    }
    let content_type = match encoded.media_type.as_ref() {
        "application/json" => HeaderValue::from_static("application/json"),
        other => super::header::value(other).map_err(refuse)?,
    };
    headers.insert(CONTENT_TYPE, content_type);
    if encoded.bytes.is_empty() {
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    }
    Ok(Some(Bytes::from(encoded.bytes)))
}

fn note_secrets(action: &RequestAction, fixed: &Fixed<'_>, secrets: &mut Vec<Secret>) {
    for binding in &action.bindings {
        if !matches!(binding.spot, Spot::Body | Spot::BodyMember(_)) || !values::is_secret(binding) {
            continue;
        }
        match &binding.from {
            From::Secret(secret) => secrets.push(secret.clone()),
            From::Caller(which) => secrets.extend((fixed.caller)(which).map(Secret::new)),
            _ => {}
        }
    }
}

fn choose<'a>(
    plan: &'a BodyPlan,
    action: &RequestAction,
    arguments: &Arguments,
    fixed: &Fixed<'_>,
) -> Result<&'a BodyVariant, Unsendable> {
    let Some((argument, wanted)) = values::media_type(action, arguments, fixed)? else {
        let nothing = || Unsendable::new(None, "this operation declares a body without a media type");
        return plan.variants.first().ok_or_else(nothing);
    };
    let wanted = text_of(&wanted);
    let found = plan.variants.iter().find(|variant| variant.media_type.eq_ignore_ascii_case(&wanted)).or_else(|| {
        let same =
            |variant: &&BodyVariant| media::essence(&variant.media_type).eq_ignore_ascii_case(media::essence(&wanted));
        plan.variants.iter().find(same)
    });
    found.ok_or_else(|| {
        let known: Vec<&str> = plan.variants.iter().map(|variant| variant.media_type.as_str()).collect();
        Unsendable::new(argument, format!("must be one of the media types {}", known.join(", ")))
    })
}

fn encode_variant<'p>(
    variant: &'p BodyVariant,
    value: Option<&Value>,
    fixed: &Fixed<'_>,
) -> Result<Encoded<'p>, String> {
    let media_type = variant.media_type.as_str();
    let same = |bytes: Vec<u8>| Encoded { media_type: media_type.into(), bytes };
    Ok(match (variant.kind, value) {
        (BodyKind::Json, None) => same(b"{}".to_vec()),
        (BodyKind::Json, Some(value)) => same(json(value, media_type)?),
        (BodyKind::Form, None) => same(Vec::new()),
        (BodyKind::Form, Some(value)) => same(form::encode(variant, value, fixed)?.into_bytes()),
        (BodyKind::Multipart, value) => multipart::encode(variant, value, fixed)?,
        (BodyKind::Xml, Some(value)) => same(xml_bytes(variant, value)?),
        (BodyKind::Text, Some(value)) => same(in_charset(&text_of(value), media_type)?),
        (BodyKind::JsonLines, Some(value)) => same(lines(value, media_type)?),
        (BodyKind::Binary, Some(value)) => {
            let file = file::parse(value, fixed)?;
            let media_type = concrete(media_type, file.content_type.as_deref())?;
            Encoded { media_type, bytes: transferred(variant.transfer.as_deref(), file) }
        }
        // A document has at least its root element (XML 1.0, section 2.1).
        (BodyKind::Xml, None) => same(xml_bytes(variant, &Value::Object(serde_json::Map::new()))?),
        (BodyKind::Text | BodyKind::JsonLines, None) => same(Vec::new()),
        (BodyKind::Binary, None) => Encoded { media_type: concrete(media_type, None)?, bytes: Vec::new() },
    })
}

/// The bytes of a file in their declared text form. Text that is in that form already stays: what the document says of
/// the body tells a caller to write it so.
fn transferred(transfer: Option<&str>, file: file::File) -> Vec<u8> {
    let engine = match transfer {
        None => return Vec::from(file.bytes),
        Some("base64url") => &general_purpose::URL_SAFE,
        Some(_) => &general_purpose::STANDARD,
    };
    match file.is_text && engine.decode(&file.bytes).is_ok() {
        true => Vec::from(file.bytes),
        false => engine.encode(&file.bytes).into_bytes(),
    }
}

/// The type to send where the declared one may be a range; the caller's own must lie within.
pub(super) fn concrete<'p>(declared: &'p str, given: Option<&str>) -> Result<Cow<'p, str>, String> {
    match given {
        Some(given) if media::covers(declared, given) => {
            Ok(if media::is_range(declared) { given.to_owned().into() } else { declared.into() })
        }
        // anything is a stream of bytes, so the caller may say more exactly what it is
        Some(given) if media::essence(declared).eq_ignore_ascii_case("application/octet-stream") => {
            Ok(given.to_owned().into())
        }
        Some(given) => Err(format!("the content type must be {declared}, not {given}")),
        None if media::essence(declared) == "*/*" || media::essence(declared) == "application/*" => {
            Ok("application/octet-stream".into())
        }
        None if media::is_range(declared) => {
            Err(format!("give the file as an object with a `content_type` that fits {declared}"))
        }
        None => Ok(declared.into()),
    }
}

/// Compact JSON; ASCII only where the media type names a charset other than UTF-8.
pub(super) fn json(value: &Value, media_type: &str) -> Result<Vec<u8>, String> {
    match media::charset(media_type) {
        None => serde_json::to_vec(value).map_err(|_| "can't be written as JSON".to_owned()),
        Some(charset) if charset.eq_ignore_ascii_case("utf-8") => {
            serde_json::to_vec(value).map_err(|_| "can't be written as JSON".to_owned())
        }
        Some(_) => in_charset(&ascii_json(value)?, media_type),
    }
}

fn xml_bytes(variant: &BodyVariant, value: &Value) -> Result<Vec<u8>, String> {
    let schema = variant.xml.as_deref().unwrap_or(&Value::Bool(true));
    in_charset(&xml::write(value, schema, media::charset(&variant.media_type))?, &variant.media_type)
}

/// NDJSON: one text a line. JSON text sequences (RFC 7464): each behind a record separator.
fn lines(value: &Value, media_type: &str) -> Result<Vec<u8>, String> {
    let is_sequence = media::essence(media_type).to_ascii_lowercase().ends_with("json-seq");
    let items = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut out = Vec::with_capacity(items.len() * 32);
    for item in items {
        if is_sequence {
            out.push(0x1e);
        }
        serde_json::to_writer(&mut out, item).map_err(|_| "can't be written as JSON".to_owned())?;
        out.push(b'\n');
    }
    Ok(out)
}

/// Text in the charset that the media type names, or UTF-8.
pub(super) fn in_charset(text: &str, media_type: &str) -> Result<Vec<u8>, String> {
    let Some(label) = media::charset(media_type).filter(|label| !label.eq_ignore_ascii_case("utf-8")) else {
        return Ok(text.as_bytes().to_vec());
    };
    if text.is_ascii() && label.eq_ignore_ascii_case("us-ascii") {
        return Ok(text.as_bytes().to_vec());
    }
    let encoding = encoding_rs::Encoding::for_label(label.as_bytes())
        .filter(|encoding| *encoding == encoding.output_encoding())
        .ok_or_else(|| format!("the charset {label} can't be written"))?;
    let (bytes, _, unmappable) = encoding.encode(text);
    if unmappable { Err(format!("holds characters that the charset {label} lacks")) } else { Ok(bytes.into_owned()) }
}

/// A value as text of a media type: `content` parameters, form fields. `ascii` = JSON must not hold
/// non-ASCII characters (headers, cookies).
pub(super) fn text_in<'v>(media_type: &str, value: &'v Value, ascii: bool) -> Result<Cow<'v, str>, String> {
    match (media::kind(media_type), value) {
        (Some(BodyKind::Json | BodyKind::JsonLines), value) if ascii => ascii_json(value).map(Cow::Owned),
        (Some(BodyKind::Json | BodyKind::JsonLines), value) => Ok(value.to_string().into()),
        (Some(BodyKind::Form), Value::Object(members)) => form::plain(members).map(Cow::Owned),
        (_, value) => Ok(text_of(value)),
    }
}

/// JSON with every non-ASCII character as `\uXXXX`.
fn ascii_json(value: &Value) -> Result<String, String> {
    let mut out = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut out, Ascii(CompactFormatter));
    serde::Serialize::serialize(value, &mut serializer).map_err(|_| "can't be written as JSON".to_owned())?;
    String::from_utf8(out).map_err(|_| "can't be written as JSON".to_owned())
}

struct Ascii(CompactFormatter);

impl Formatter for Ascii {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        for character in fragment.chars() {
            if character.is_ascii() {
                self.0.write_string_fragment(writer, character.encode_utf8(&mut [0; 4]))?;
            } else {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
        }
        Ok(())
    }
}
