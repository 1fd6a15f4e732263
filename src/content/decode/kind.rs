//! Which kind of content a media type and some bytes stand for.

use super::sniff;
use crate::response::MediaType;

/// A kind of body.
#[derive(Debug)]
pub(super) enum Kind {
    Json,
    /// Declared as something else but beginning like a JSON object or list; what it is if it is no JSON.
    MaybeJson(Box<Kind>),
    Sequence,
    Text,
    Html,
    Image(String),
    Audio(String),
    /// A file that is readable text.
    TextFile(String),
    File(String),
}

const OCTETS: &str = "application/octet-stream";

/// The kind of a body that is not empty.
pub(super) fn of(declared: Option<&MediaType<'_>>, body: &[u8]) -> Kind {
    let Some(declared) = declared else { return undeclared(body) };
    if declared.is_json() {
        return Kind::Json;
    }
    let essence: &str = &declared.essence;
    match essence {
        "application/x-ndjson"
        | "application/ndjson"
        | "application/jsonl"
        | "application/x-jsonl"
        | "application/x-jsonlines"
        | "application/jsonlines"
        | "application/json-seq"
        | "application/stream+json"
        | "text/event-stream" => return Kind::Sequence,
        OCTETS
        | "binary/octet-stream"
        | "application/x-download"
        | "application/force-download"
        | "*/*"
        | "application/x-unknown"
        | "unknown/unknown" => return undeclared(body),
        "text/html" | "application/xhtml+xml" => return maybe_json(body, Kind::Html),
        "image/svg+xml" => return Kind::TextFile(essence.to_owned()),
        _ => {}
    }
    let (group, _) = essence.split_once('/').unwrap_or((essence, ""));
    match group {
        "text" => match by_bytes(body) {
            // A text type never begins with the signature of a binary format.
            Some(found) => found,
            None => maybe_json(body, Kind::Text),
        },
        "image" => image(essence, body),
        "audio" => match sniff::signature(body) {
            Some(found) if found.starts_with("audio/") && essence == "audio/*" => Kind::Audio(found.to_owned()),
            _ => maybe_json(body, Kind::Audio(essence.to_owned())),
        },
        "video" | "font" | "model" => maybe_json(body, Kind::File(essence.to_owned())),
        "multipart" => text_or_file(Some(declared), body),
        _ if is_textual(essence) => maybe_json(body, Kind::Text),
        _ => match sniff::signature(body) {
            Some(_) => Kind::File(essence.to_owned()),
            None => maybe_json(body, text_or_file(Some(declared), body)),
        },
    }
}

/// The kind of what a signature at the beginning betrays.
pub(super) fn by_bytes(body: &[u8]) -> Option<Kind> {
    sniff::signature(body).map(kind_of_signature)
}

/// Text where the bytes are readable, else a file of the declared type.
pub(super) fn text_or_file(declared: Option<&MediaType<'_>>, body: &[u8]) -> Kind {
    let readable = sniff::is_text(body);
    match declared.map(|declared| &*declared.essence) {
        Some(essence) if is_textual(essence) || essence.starts_with("multipart/") || essence.ends_with("json") => {
            if readable {
                Kind::Text
            } else {
                Kind::File(essence.to_owned())
            }
        }
        Some(essence) if readable => Kind::TextFile(essence.to_owned()),
        Some(essence) => Kind::File(essence.to_owned()),
        None if readable => Kind::Text,
        None => Kind::File(OCTETS.to_owned()),
    }
}

fn undeclared(body: &[u8]) -> Kind {
    if let Some(found) = by_bytes(body) {
        return found;
    }
    if sniff::is_html(body) {
        return Kind::Html;
    }
    maybe_json(body, text_or_file(None, body))
}

fn maybe_json(body: &[u8], otherwise: Kind) -> Kind {
    if sniff::begins_like_json(body) { Kind::MaybeJson(Box::new(otherwise)) } else { otherwise }
}

fn image(essence: &str, body: &[u8]) -> Kind {
    match sniff::signature(body) {
        Some(found) if found.starts_with("image/") => kind_of_signature(found),
        // Labelled as an image, but another known format.
        Some(found) => kind_of_signature(found),
        None if is_shown(essence) => maybe_json(body, Kind::Image(normal(essence).to_owned())),
        None => maybe_json(body, Kind::File(essence.to_owned())),
    }
}

fn kind_of_signature(found: &str) -> Kind {
    if is_shown(found) {
        Kind::Image(found.to_owned())
    } else if found.starts_with("audio/") {
        Kind::Audio(found.to_owned())
    } else {
        Kind::File(found.to_owned())
    }
}

/// Images that models take.
fn is_shown(essence: &str) -> bool {
    matches!(normal(essence), "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

fn normal(essence: &str) -> &str {
    match essence {
        "image/jpg" | "image/pjpeg" => "image/jpeg",
        "image/x-png" => "image/png",
        other => other,
    }
}

fn is_textual(essence: &str) -> bool {
    let subtype = essence.split_once('/').map_or("", |(_, subtype)| subtype);
    essence.starts_with("text/")
        || subtype.ends_with("+xml")
        || subtype.ends_with("+yaml")
        || matches!(
            subtype,
            "xml"
                | "yaml"
                | "x-yaml"
                | "toml"
                | "csv"
                | "javascript"
                | "x-javascript"
                | "ecmascript"
                | "graphql"
                | "sql"
                | "x-www-form-urlencoded"
                | "xml-dtd"
                | "x-sh"
                | "n-triples"
                | "n-quads"
                | "trig"
                | "sparql-query"
                | "openmetrics-text"
                | "jwt"
                | "pgp-signature"
                | "x-pem-file"
                | "http"
                | "rtf"
        )
}
