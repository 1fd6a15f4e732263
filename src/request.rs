//! Method, URL, headers and body, sent exactly as meant or refused with a reason: never a hole left
//! in a URL, never a silently dropped value.

use crate::openapi::{Encoding, ParameterEncoding, ParameterIn};
use bytes::Bytes;
use indexmap::IndexMap;

/// One piece of a path template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathPart {
    /// Text sent as is (already percent-encoded).
    Literal(String),
    /// Index into the action's parameters.
    Parameter(usize),
}

/// A parameter, ready to be encoded.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterPlan {
    /// Name on the wire.
    pub name: String,
    /// Where it goes.
    pub location: ParameterIn,
    /// How a value becomes text.
    pub encoding: ParameterEncoding,
    /// True if the request can't be sent without it.
    pub required: bool,
}

/// A body, ready to be encoded.
#[derive(Debug, Clone)]
pub struct BodyPlan {
    /// Possible encodings, the preferred one first; never empty.
    pub variants: Vec<BodyVariant>,
    /// `required`: an absent value is sent as an empty value of the kind (`{}` for JSON objects).
    pub required: bool,
}

/// One media type of a body.
#[derive(Debug, Clone)]
pub struct BodyVariant {
    /// Sent as `Content-Type` (multipart adds its boundary).
    pub media_type: String,
    /// How a value becomes bytes.
    pub kind: BodyKind,
    /// Per-property encoding of forms.
    pub encoding: IndexMap<String, Encoding>,
    /// Per-property content type defaults by schema: property → (media type, is file).
    pub parts: IndexMap<String, PartPlan>,
    /// XML element names and attributes, for `application/xml`: the body's schema, references kept.
    pub xml: Option<std::sync::Arc<serde_json::Value>>,
}

/// What a multipart or form property is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartPlan {
    /// Default content type of the part by its schema (OpenAPI 3.1 §4.8.15.1).
    pub content_type: Option<String>,
    /// The property is a file: its argument is `{data, filename, content_type}` or text.
    pub file: bool,
    /// An array of such parts.
    pub repeated: bool,
}

/// How a body value becomes bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyKind {
    /// `application/json` and `+json`.
    Json,
    /// `application/x-www-form-urlencoded`.
    Form,
    /// `multipart/form-data`.
    Multipart,
    /// `application/xml`, `text/xml`, `+xml`.
    Xml,
    /// `text/*`: a string as is.
    Text,
    /// Sequences of JSON texts: NDJSON, JSON Lines, JSON Seq.
    JsonLines,
    /// Anything else: bytes given as a file argument.
    Binary,
}

/// A request that may be sent. Values that are secrets are marked in `sensitive`.
#[derive(Debug, Clone)]
pub struct Request {
    /// Method.
    pub method: http::Method,
    /// Absolute URL; final, never re-encoded.
    pub url: String,
    /// Headers in order; secret values have `is_sensitive()` set.
    pub headers: http::HeaderMap,
    /// Body; `None` = no body at all.
    pub body: Option<Bytes>,
    /// Byte range of [`Request::url`] that is secret (API key in the query), for masking.
    pub secret_in_url: Vec<std::ops::Range<usize>>,
}

/// Why a request can't be sent, in words for a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsendable {
    /// The argument at fault, where it is one.
    pub argument: Option<String>,
    /// What is wrong and what would be right; no secret, no host.
    pub message: String,
}
