//! Headers that repeat parts of a modern request's body, so that proxies can route without reading
//! it (2026-07-28, Streamable HTTP, "Standard request headers").
//!
//! What a header says must be what the body says; anything else is -32020.

use super::error::{HEADER_MISMATCH, RpcError};
use super::jsonrpc::{Params, string};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName};
use serde_json::Value;
use std::borrow::Cow;

pub(crate) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

fn mismatch(text: String) -> RpcError {
    RpcError::new(HEADER_MISMATCH, text).status(400)
}

/// The one value of a header, without surrounding blanks.
pub(crate) fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, RpcError> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(mismatch(format!("Header {name} appears twice")));
    }
    match first.to_str() {
        Ok(text) => Ok(Some(text.trim_matches([' ', '\t']))),
        Err(_) => Err(mismatch(format!("Header {name} holds characters that headers can't hold"))),
    }
}

fn required<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<&'h str, RpcError> {
    single(headers, name)?.ok_or_else(|| mismatch(format!("Header {name} is missing")))
}

fn same(name: &HeaderName, header: &str, body: &str) -> Result<(), RpcError> {
    if header == body { Ok(()) } else { Err(mismatch(format!("Header {name} does not match the body"))) }
}

/// `MCP-Protocol-Version` = the claim in `_meta`.
pub(crate) fn check_version(headers: &HeaderMap, claim: &str) -> Result<(), RpcError> {
    same(&VERSION, required(headers, &VERSION)?, claim)
}

/// `Mcp-Method`, and `Mcp-Name` where the method has a subject.
pub(crate) fn check_method(headers: &HeaderMap, method: &str, params: &Params<'_>) -> Result<(), RpcError> {
    same(&METHOD, required(headers, &METHOD)?, method)?;
    let subject = match method {
        "tools/call" | "prompts/get" => params.name,
        "resources/read" => params.uri,
        "tasks/get" | "tasks/update" | "tasks/cancel" => params.task_id,
        _ => return Ok(()),
    };
    // A body without subject fails for its own reason later.
    let Some(subject) = subject.and_then(string) else { return Ok(()) };
    same(&NAME, &decoded(&NAME, required(headers, &NAME)?)?, &subject)
}

/// `=?base64?…?=` decoded; anything not fully wrapped is meant literally.
fn decoded<'h>(name: &HeaderName, value: &'h str) -> Result<Cow<'h, str>, RpcError> {
    let Some(inner) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Ok(Cow::Borrowed(value));
    };
    STANDARD
        .decode(inner)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .map(Cow::Owned)
        .ok_or_else(|| mismatch(format!("Header {name} holds no valid base64 of a UTF-8 text")))
}

/// `Mcp-Param-*` of the arguments that a tool mirrors: (argument, suffix).
pub(crate) fn check_params(
    headers: &HeaderMap,
    params: &Params<'_>,
    mirrored: &[(String, String)],
) -> Result<(), RpcError> {
    // Arguments that are no object fail for their own reason later.
    let arguments: serde_json::Map<String, Value> =
        params.arguments.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    for (argument, suffix) in mirrored {
        let name = format!("mcp-param-{}", suffix.to_ascii_lowercase());
        let name = HeaderName::try_from(name).map_err(|_| mismatch(format!("`{suffix}` can't be part of a header")))?;
        let header = single(headers, &name)?;
        let value = arguments.get(argument).filter(|value| !value.is_null());
        match (value, header) {
            (None, None) => {}
            (None, Some(_)) => return Err(mismatch(format!("Header {name} has no argument `{argument}`"))),
            (Some(_), None) => return Err(mismatch(format!("Header {name} is missing"))),
            (Some(value), Some(header)) => {
                if !agrees(value, &decoded(&name, header)?) {
                    return Err(mismatch(format!("Header {name} does not match the argument `{argument}`")));
                }
            }
        }
    }
    Ok(())
}

fn agrees(value: &Value, header: &str) -> bool {
    match value {
        Value::String(text) => text == header,
        Value::Bool(flag) => header == if *flag { "true" } else { "false" },
        Value::Number(number) => {
            if let (Some(value), Ok(header)) = (number.as_i64(), header.parse::<i64>()) {
                return value == header;
            }
            header.parse::<f64>().is_ok_and(|header| header.is_finite() && number.as_f64() == Some(header))
        }
        // Nothing else can be mirrored.
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}
