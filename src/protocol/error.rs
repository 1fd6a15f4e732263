//! JSON-RPC errors: code, text, data and, for HTTP, the status that goes with them.

use super::version::{CLAIMABLE, Version};
use crate::service::Failure;
use serde_json::{Value, json};
use std::borrow::Cow;

pub(crate) const PARSE_ERROR: i32 = -32700;
pub(crate) const INVALID_REQUEST: i32 = -32600;
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
pub(crate) const INVALID_PARAMS: i32 = -32602;
pub(crate) const INTERNAL_ERROR: i32 = -32603;
/// Up to 2025-11-25 only.
pub(crate) const RESOURCE_NOT_FOUND: i32 = -32002;
pub(crate) const HEADER_MISMATCH: i32 = -32020;
pub(crate) const MISSING_CAPABILITY: i32 = -32021;
pub(crate) const UNSUPPORTED_VERSION: i32 = -32022;
/// Ours, outside the reserved range -32768…-32000.
pub(crate) const TOO_MANY_REQUESTS: i32 = 429;
/// Ours: a scope is missing where no HTTP status can say so.
pub(crate) const FORBIDDEN: i32 = 403;

/// A JSON-RPC error.
#[derive(Debug, Clone)]
pub(crate) struct RpcError {
    pub(crate) code: i32,
    pub(crate) message: Cow<'static, str>,
    /// Boxed: errors travel in many results.
    pub(crate) data: Option<Box<Value>>,
    /// HTTP status while nothing has been sent yet.
    pub(crate) status: u16,
    /// Scopes the caller lacks.
    pub(crate) scopes: Vec<String>,
}

impl RpcError {
    pub(crate) fn new(code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        RpcError { code, message: message.into(), data: None, status: 200, scopes: Vec::new() }
    }

    pub(crate) fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    pub(crate) fn data(mut self, data: Value) -> Self {
        self.data = Some(Box::new(data));
        self
    }

    /// -32601; HTTP 404 in the modern era, inside a 200 before.
    pub(crate) fn unknown_method(method: &str, version: Option<Version>) -> Self {
        let status = if version.is_some_and(Version::is_modern) { 404 } else { 200 };
        RpcError::new(METHOD_NOT_FOUND, format!("Method not found: {}", short(method))).status(status)
    }

    /// -32022 with what may be claimed.
    pub(crate) fn unsupported_version(requested: &str) -> Self {
        RpcError::new(UNSUPPORTED_VERSION, format!("Unsupported protocol version: {}", short(requested)))
            .data(json!({"supported": CLAIMABLE, "requested": short(requested)}))
            .status(400)
    }

    /// -32602 for a self-describing request that does not describe itself.
    pub(crate) fn missing_meta(missing: &[&str]) -> Self {
        let list = missing.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        RpcError::new(INVALID_PARAMS, format!("`params._meta` lacks {list}")).status(400)
    }

    /// A failure of the service, as this revision says it.
    pub(crate) fn from_failure(failure: Failure, version: Version) -> Self {
        match failure {
            Failure::UnknownTool(name) => RpcError::new(INVALID_PARAMS, format!("Unknown tool: {}", short(&name))),
            Failure::UnknownPrompt(name) => RpcError::new(INVALID_PARAMS, format!("Unknown prompt: {}", short(&name))),
            Failure::UnknownResource(uri) => {
                let code = if version.is_modern() { INVALID_PARAMS } else { RESOURCE_NOT_FOUND };
                RpcError::new(code, "Resource not found").data(json!({"uri": uri}))
            }
            Failure::InvalidParams(text) => RpcError::new(INVALID_PARAMS, text),
            Failure::MissingCapability(required) if version.is_modern() => {
                RpcError::new(MISSING_CAPABILITY, "The client lacks a capability that this request needs")
                    .data(json!({"requiredCapabilities": required}))
                    .status(400)
            }
            Failure::MissingCapability(required) => RpcError::new(INVALID_REQUEST, missing_capability(&required)),
            Failure::InsufficientScope(scopes) => {
                let mut error =
                    RpcError::new(FORBIDDEN, format!("Insufficient scope: {} needed", scopes.join(" "))).status(403);
                error.scopes = scopes;
                error
            }
            Failure::Internal(text) => RpcError::new(INTERNAL_ERROR, text),
        }
    }

    /// The error object.
    pub(crate) fn object(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let (Some(data), Some(object)) = (&self.data, error.as_object_mut()) {
            object.insert("data".to_owned(), (**data).clone());
        }
        error
    }

    /// The error response; `id` is JSON text, absent if it could not be read.
    pub(crate) fn write(&self, id: Option<&str>) -> Vec<u8> {
        format!(r#"{{"jsonrpc":"2.0","id":{},"error":{}}}"#, id.unwrap_or("null"), self.object()).into_bytes()
    }
}

/// Text for peers whose revision has no code for a missing capability.
pub(crate) fn missing_capability(required: &Value) -> String {
    let names: Vec<&str> = required
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, inner)| match inner.as_object().and_then(|inner| inner.keys().next()) {
            Some(extension) if name == "extensions" => extension.as_str(),
            _ => name.as_str(),
        })
        .collect();
    format!("This needs the client capability {}, which this client did not declare", names.join(", "))
}

/// A caller's text, cut so that an error stays short.
pub(crate) fn short(text: &str) -> &str {
    let end = text.char_indices().nth(200).map_or(text.len(), |(index, _)| index);
    text.get(..end).unwrap_or_default()
}
