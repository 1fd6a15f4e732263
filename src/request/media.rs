//! Media types as texts (RFC 9110 §8.3.1): what kind one is and which charset it names.

use super::BodyKind;

/// `type/subtype` without parameters, trimmed.
pub(crate) fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

/// True for `type/subtype` of tokens (`*` allowed where `range`) with sane parameters: can't break a header.
pub(super) fn is_valid(media_type: &str, range: bool) -> bool {
    let token = |text: &str| !text.is_empty() && text.bytes().all(is_token_byte) && (range || !text.contains('*'));
    let Some((kind, subtype)) = essence(media_type).split_once('/') else { return false };
    token(kind) && token(subtype) && media_type.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// `tchar` of RFC 9110 §5.6.2.
pub(super) fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// `image/*`, `*/*`.
pub(crate) fn is_range(media_type: &str) -> bool {
    essence(media_type).contains('*')
}

/// True if `range` (or the media type itself) covers `media_type`, parameters aside.
pub(crate) fn covers(range: &str, media_type: &str) -> bool {
    let (range, media_type) = (essence(range), essence(media_type));
    if range == "*/*" || range.eq_ignore_ascii_case(media_type) {
        return true;
    }
    match (range.split_once('/'), media_type.split_once('/')) {
        (Some((kind, "*")), Some((other, _))) => kind.eq_ignore_ascii_case(other),
        _ => false,
    }
}

/// The `charset` parameter.
pub(super) fn charset(media_type: &str) -> Option<&str> {
    media_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    })
}

const JSON: &[&str] = &["application/json", "text/json", "application/x-json", "text/x-json"];
const LINES: &[&str] = &[
    "application/x-ndjson",
    "application/ndjson",
    "application/jsonl",
    "application/x-jsonl",
    "application/jsonlines",
    "application/x-jsonlines",
    "application/json-lines",
    "application/json-seq",
    "application/stream+json",
    "application/x-json-stream",
    "text/x-ndjson",
    "text/jsonl",
];
/// `application` types that are text.
const TEXT: &[&str] = &[
    "application/graphql",
    "application/javascript",
    "application/x-javascript",
    "application/ecmascript",
    "application/yaml",
    "application/x-yaml",
    "application/vnd.yaml",
    "application/toml",
    "application/sql",
    "application/jwt",
    "application/sparql-query",
    "application/sparql-update",
    "application/n-triples",
    "application/n-quads",
    "application/trig",
    "application/x-sh",
    "application/x-pem-file",
    "application/jsonpath",
    "application/pgp-signature",
    "message/rfc822",
];

/// How values of a media type become bytes, where the media type alone says so.
pub(crate) fn kind(media_type: &str) -> Option<BodyKind> {
    let essence = essence(media_type).to_ascii_lowercase();
    let listed = |list: &[&str]| list.contains(&essence.as_str());
    Some(if listed(LINES) || essence.ends_with("+json-seq") {
        BodyKind::JsonLines
    } else if listed(JSON) || essence.ends_with("+json") {
        BodyKind::Json
    } else if essence == "application/x-www-form-urlencoded" {
        BodyKind::Form
    } else if essence.starts_with("multipart/") {
        BodyKind::Multipart
    } else if essence == "application/xml" || essence == "text/xml" || essence.ends_with("+xml") {
        BodyKind::Xml
    } else if essence.starts_with("text/") || listed(TEXT) || essence.ends_with("+yaml") {
        BodyKind::Text
    } else if essence == "application/octet-stream"
        || ["image/", "audio/", "video/", "font/"].iter().any(|prefix| essence.starts_with(prefix))
    {
        BodyKind::Binary
    } else {
        return None;
    })
}
