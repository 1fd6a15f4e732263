//! File arguments: `{data | text | path, filename, content_type}` or a plain text.

use super::{Fixed, media};
use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

/// The published schema of a file argument. `media` is the declared content type, for the description.
pub fn file_schema(description: Option<&str>, media: Option<&str>) -> Value {
    let what = match media.filter(|media| !media.is_empty()) {
        Some(media) => format!("File content ({media})"),
        None => "File content".to_owned(),
    };
    let description = match description.filter(|text| !text.is_empty()) {
        Some(text) => format!("{text}\n\n{what}: plain text, or an object with `data` or `text`."),
        None => format!("{what}: plain text, or an object with `data` or `text`."),
    };
    json!({
        "description": description,
        "anyOf": [
            { "type": "string", "description": "Plain text, or a data: URI." },
            {
                "type": "object",
                "properties": {
                    "data": { "type": "string", "description": "Base64 of the bytes, or a data: URI." },
                    "text": { "type": "string", "description": "Plain text, instead of `data`." },
                    "filename": { "type": "string" },
                    "content_type": { "type": "string", "description": "Media type such as image/png." }
                },
                "additionalProperties": false
            }
        ]
    })
}

/// Adds `path` to a schema made by [`file_schema`], for servers where local files may be named.
pub fn allow_path(schema: &mut Value) {
    if let Some(Value::Object(properties)) = schema.pointer_mut("/anyOf/1/properties") {
        properties.insert(
            "path".to_owned(),
            json!({ "type": "string", "description": "Path of a local file, instead of `data`." }),
        );
    }
}

/// A file, decoded.
pub(super) struct File {
    pub(super) bytes: Bytes,
    pub(super) filename: Option<String>,
    pub(super) content_type: Option<String>,
    /// The bytes are the caller's plain text.
    pub(super) is_text: bool,
}

/// Reads a file argument.
pub(super) fn parse(value: &Value, fixed: &Fixed<'_>) -> Result<File, String> {
    let file = match value {
        Value::Object(members) => from_object(members, fixed)?,
        Value::String(text) => match data_uri(text, fixed.max_body)? {
            Some(file) => file,
            None => plain(text),
        },
        Value::Array(_) => return Err("one file is expected, not a list".to_owned()),
        value => plain(&super::style::text_of(value)),
    };
    if file.bytes.len() > fixed.max_body {
        return Err(too_large(fixed.max_body));
    }
    Ok(file)
}

fn plain(text: &str) -> File {
    File { bytes: Bytes::copy_from_slice(text.as_bytes()), filename: None, content_type: None, is_text: true }
}

/// The refusal of a body beyond the limit.
pub(super) fn too_large(limit: usize) -> String {
    format!("the body is larger than the {limit} bytes allowed")
}

const EXPECTED: &str = "a file is plain text or an object with exactly one of `data` (base64 or data: URI) and `text`, and optionally `filename` and `content_type`";

fn from_object(members: &Map<String, Value>, fixed: &Fixed<'_>) -> Result<File, String> {
    let mut file = None;
    let (mut filename, mut content_type) = (None, None);
    for (name, member) in members.iter().filter(|(_, member)| !member.is_null()) {
        let Some(text) = member.as_str() else { return Err(format!("`{name}` must be a string; {EXPECTED}")) };
        let content = match name.as_str() {
            "data" => match data_uri(text, fixed.max_body)? {
                Some(file) => file,
                None => {
                    let bytes = decode_base64(text, fixed.max_body)?;
                    File { bytes, filename: None, content_type: None, is_text: false }
                }
            },
            "text" => plain(text),
            "path" => from_path(text, fixed)?,
            "filename" => {
                filename = Some(text.to_owned());
                continue;
            }
            "content_type" | "contentType" => {
                if !media::is_valid(text, false) {
                    return Err("`content_type` must be a media type such as image/png".to_owned());
                }
                content_type = Some(text.to_owned());
                continue;
            }
            _ => return Err(format!("`{name}` is unknown; {EXPECTED}")),
        };
        if file.replace(content).is_some() {
            return Err(EXPECTED.to_owned());
        }
    }
    let Some(mut file) = file else { return Err(EXPECTED.to_owned()) };
    file.filename = filename.or(file.filename);
    file.content_type = content_type.or(file.content_type);
    Ok(file)
}

fn from_path(path: &str, fixed: &Fixed<'_>) -> Result<File, String> {
    let Some(read) = fixed.local_files else {
        return Err("`path` can't be used here; give the content as `data` or `text`".to_owned());
    };
    let bytes = read(path)?;
    let filename = path.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).map(str::to_owned);
    Ok(File { bytes, filename, content_type: None, is_text: false })
}

/// RFC 2397; `None` if the text is no data URI.
fn data_uri(text: &str, limit: usize) -> Result<Option<File>, String> {
    let Some(rest) = text.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:")).and(text.get(5..)) else {
        return Ok(None);
    };
    let Some((head, data)) = rest.split_once(',') else { return Ok(None) };
    let (media_type, is_base64) = match head.len().checked_sub(7).and_then(|at| head.split_at_checked(at)) {
        Some((media_type, mark)) if mark.eq_ignore_ascii_case(";base64") => (media_type, true),
        _ => (head, false),
    };
    if !(media_type.is_empty() || media_type.starts_with(';') || media::is_valid(media_type, false)) {
        return Ok(None);
    }
    let unescaped = percent_decode_str(data);
    let bytes = if is_base64 {
        decode_base64(&unescaped.decode_utf8_lossy(), limit)?
    } else {
        Bytes::from(unescaped.collect::<Vec<u8>>())
    };
    let content_type = media::is_valid(media_type, false).then(|| media_type.to_owned());
    Ok(Some(File { bytes, filename: None, content_type, is_text: false }))
}

/// RFC 4648 base64 or base64url, padded or not, white space ignored.
fn decode_base64(text: &str, limit: usize) -> Result<Bytes, String> {
    if text.len() / 4 > limit / 3 + 1 {
        return Err(too_large(limit));
    }
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let alphabet = if text.contains(['-', '_']) { &alphabet::URL_SAFE } else { &alphabet::STANDARD };
    let engine = GeneralPurpose::new(alphabet, config);
    let decoded = if text.contains([' ', '\n', '\r', '\t']) {
        engine.decode(text.split_ascii_whitespace().collect::<String>())
    } else {
        engine.decode(text)
    };
    decoded.map(Bytes::from).map_err(|_| "`data` is not base64; give plain text as `text`".to_owned())
}
