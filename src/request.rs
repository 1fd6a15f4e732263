//! Method, URL, headers and body, sent exactly as meant or refused with a reason: never a hole left
//! in a URL, never a silently dropped value.
//!
//! [`build`] walks [`RequestAction::bindings`] once; every value is written straight to its spot
//! (`values` finds it, `style` and `body` turn it into text or bytes). Decisions where the standards
//! leave a choice:
//!
//! - `null`, an empty array and an empty object are RFC 6570 §2.3 "undefined": left out. A required or
//!   `allowEmptyValue` query or cookie parameter is sent as `name=` instead; a path can't have a hole.
//! - A structure where a style has no place for one is sent as compact JSON text.
//! - `deepObject` goes to any depth: `a[b][c]=1`, array items by index: `a[b][0]=x`.
//! - `spaceDelimited`, `pipeDelimited` and tab exploded are the same as `form` exploded.
//! - Path values: only RFC 3986 unreserved characters stay as they are; a segment that would come
//!   out as `.` or `..` is refused, because URL parsers treat `%2e%2e` as `..` too.
//! - `allowReserved` passes reserved characters and `%XX` triplets, but never what ends or splits the
//!   parameter: `# [ ] & = +` in a query (OpenAPI 3.2 appendix E), `/ ? # [ ] %` in a path, and a comma
//!   inside a list member.
//! - Header values are sent as they are, non-ASCII text as UTF-8 (`obs-text`, RFC 9110 §5.5).
//! - A credential is never overridden: an argument that aims at its header, query parameter or cookie
//!   is refused; a forwarded header gives way.

mod body;
mod cookie;
pub mod credential;
mod escape;
mod file;
mod form;
mod header;
mod mask;
pub(crate) mod media;
mod multipart;
mod plan;
pub mod show;
mod style;
mod url;
mod values;
pub(crate) mod view;
pub(crate) mod xml;

pub use credential::{Credential, Value as CredentialText};
pub use file::{allow_path, file_schema};
pub use mask::Masks;
pub use plan::{body_plan, parameter_plan, parameter_problem};
pub use show::{to_curl, to_http};
pub use url::{join_base, parse_path, split_query};
pub use values::body_value;

use crate::catalog::{Arguments, RequestAction, SourcePlan};
use crate::mapping::CallerValue;
use crate::openapi::{Encoding, ParameterEncoding, ParameterIn, Style};
use crate::template::BodyTemplate;
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
    /// How the lists in a list are written, the outermost first (Swagger 2.0).
    pub inner: Vec<Style>,
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
    /// Which of the body's `content` it was made from, counted from 0; what is sent may have another name (`*/*`).
    pub declared: usize,
    /// Sent as `Content-Type` (multipart adds its boundary).
    pub media_type: String,
    /// How a value becomes bytes.
    pub kind: BodyKind,
    /// Per-property encoding of forms; of a list by position, see [`crate::openapi::MediaType::encoding`].
    pub encoding: IndexMap<String, Encoding>,
    /// Per-property content type defaults by schema: property → (media type, is file). Of a multipart list by
    /// position, always with [`FURTHER`](crate::openapi::FURTHER).
    pub parts: IndexMap<String, PartPlan>,
    /// XML element names and attributes: the body's schema, self-contained (its definitions under `$defs`).
    pub xml: Option<std::sync::Arc<serde_json::Value>>,
    /// A body of bytes that travels as text: `base64` or `base64url` (`format: byte` of OpenAPI 3.0.4, `contentEncoding` of 3.1).
    pub transfer: Option<String>,
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
    /// `contentEncoding` (or 3.0 `format: byte`): the bytes travel as this text, such as `base64`.
    pub transfer: Option<String>,
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
    /// Secrets that stand somewhere in it, for masking: here and in what is answered.
    pub secrets: Vec<crate::secret::Secret>,
}

/// Why a request can't be sent, in words for a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsendable {
    /// The argument at fault, where it is one.
    pub argument: Option<String>,
    /// What is wrong and what would be right; no secret, no host.
    pub message: String,
}

impl Unsendable {
    /// A refusal; `argument` is the argument at fault, where there is one.
    pub fn new(argument: Option<&str>, message: impl Into<String>) -> Self {
        Unsendable { argument: argument.map(str::to_owned), message: message.into() }
    }
}

impl std::fmt::Display for Unsendable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.argument {
            Some(argument) => write!(f, "argument `{argument}`: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// Reads a local file by the path the caller gave, or refuses it in words for the model.
pub type ReadFile = dyn Fn(&str) -> Result<Bytes, String> + Sync;

/// What a request takes from around the call; made by the service, cheap.
#[derive(Clone, Copy)]
pub struct Fixed<'a> {
    /// The text of `${caller:…}`; `None` where the caller has no such thing.
    pub caller: &'a (dyn Fn(&CallerValue) -> Option<String> + Sync),
    /// The value of a template over the arguments; the error is for the model.
    pub template: &'a (dyn Fn(&BodyTemplate, &Arguments) -> Result<serde_json::Value, String> + Sync),
    /// Headers of the caller that the source forwards, and trace context; already filtered by
    /// [`SourcePlan::forward_headers`].
    pub forwarded: &'a [(http::HeaderName, http::HeaderValue)],
    /// Reads a local file for a `{path}` file argument; `None` where local files may not be named.
    pub local_files: Option<&'a ReadFile>,
    /// Most bytes of a body; [`build`] takes the smaller of this and the source's `max_request`.
    pub max_body: usize,
}

impl Default for Fixed<'_> {
    fn default() -> Self {
        Fixed {
            caller: &|_| None,
            template: &|_, _| Err("this tool's template can't be evaluated here".to_owned()),
            forwarded: &[],
            local_files: None,
            max_body: usize::MAX,
        }
    }
}

impl std::fmt::Debug for Fixed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fixed").field("max_body", &self.max_body).finish_non_exhaustive()
    }
}

/// Makes the request of one call.
///
/// `arguments` have passed the call's checks, `credentials` are the values of the alternative of
/// [`RequestAction::security`] in force. No input makes it panic; what can't be sent exactly as meant is
/// refused in words for the model.
pub fn build(
    action: &RequestAction,
    source: &SourcePlan,
    arguments: &Arguments,
    fixed: &Fixed<'_>,
    credentials: &[Credential],
) -> Result<Request, Unsendable> {
    let limit = usize::try_from(source.limits.max_request.0).unwrap_or(usize::MAX);
    let fixed = &Fixed { max_body: fixed.max_body.min(limit), ..*fixed };
    let mut secret_in_url = Vec::new();
    let mut wire = url::start(action, arguments, fixed, &mut secret_in_url)?;
    let mut headers = header::Headers::new(action, source, credentials)?;
    let mut cookies = cookie::Cookies::default();
    for binding in &action.bindings {
        let crate::catalog::Spot::Parameter(index) = binding.spot else { continue };
        let Some(plan) = action.parameters.get(index) else { continue };
        if plan.location == ParameterIn::Path {
            continue;
        }
        let Some(value) = values::parameter_value(binding, arguments, fixed)? else { continue };
        let secret = values::is_secret(binding);
        let at = values::Target { action, plan, index, credentials };
        let argument = values::argument_name(binding);
        let value = style::nested(value, &plan.inner).map_err(|message| Unsendable::new(argument, message))?;
        let written = match plan.location {
            ParameterIn::Query | ParameterIn::QueryString => {
                let start = wire.text.len();
                let written = wire.parameter(&at, &value);
                if secret && wire.text.len() > start {
                    secret_in_url.push(start..wire.text.len());
                }
                written
            }
            ParameterIn::Header => headers.parameter(&at, &value, argument.is_some(), secret, &mut cookies),
            ParameterIn::Cookie => cookies.parameter(&at, &value, secret),
            ParameterIn::Path => Ok(()),
        };
        written.map_err(|message| Unsendable::new(argument, message))?;
    }
    for credential in credentials {
        credential.apply(&mut wire, &mut headers, &mut cookies, &mut secret_in_url)?;
    }
    headers.fixed(source, fixed, credentials)?;
    headers.cookies(cookies)?;
    let mut secrets = Vec::new();
    let body = body::encode(action, arguments, fixed, &mut headers.map, &mut secrets)?;
    credentials.iter().for_each(|credential| credential.remember(&mut secrets));
    Ok(Request { method: action.method.clone(), url: wire.text, headers: headers.map, body, secret_in_url, secrets })
}
