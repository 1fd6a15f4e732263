//! `sources`: where the API is, how it is reached and what it may cost.

use super::{Bytes, Duration, Slot};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

/// One API.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Source {
    /// Path (relative to this file) or URL of the OpenAPI document; absent for hand-written tools only.
    pub spec: Option<Slot>,
    /// OpenAPI Overlay 1.x documents, applied in order.
    pub overlays: Vec<Slot>,
    /// OpenAPI Arazzo 1.x documents: each workflow becomes a tool.
    pub workflows: Vec<Slot>,
    /// Stands for the document's first server. An operation's own server keeps its place beside it where it is relative
    /// or on the same origin; others are replaced.
    pub base_url: Option<Slot>,
    /// Values of server variables.
    pub server_variables: IndexMap<String, Slot>,
    /// Which operations become tools without being named.
    pub expose: Expose,
    /// Put in front of every automatic tool name.
    pub tool_prefix: String,
    /// One entry per security scheme of the document, or a name of your own.
    pub credentials: IndexMap<String, Credential>,
    /// Headers on every request.
    pub headers: IndexMap<String, Slot>,
    /// Headers of the caller that are passed on; nothing else is.
    pub forward_headers: Vec<String>,
    /// TLS towards the API.
    pub tls: Tls,
    /// What the API may cost.
    pub limits: Limits,
    /// Folders outside the document's own, or origins, that `$ref` may reach.
    pub allow_refs: Vec<String>,
    /// Folders (stdio only) whose files an argument may name.
    pub upload_dirs: Vec<String>,
}

/// `expose`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Expose {
    /// Every operation.
    #[default]
    All,
    /// Only operations named under `tools`.
    Listed,
}

/// One credential. Exactly one of `value`, `username`+`password`, `grant`, `exchange`, `forward`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Credential {
    /// API key or bearer token.
    pub value: Option<Slot>,
    /// User name of HTTP basic.
    pub username: Option<Slot>,
    /// Password of HTTP basic.
    pub password: Option<Slot>,
    /// OAuth 2.0 grant; only `client_credentials`.
    pub grant: Option<Grant>,
    /// Token endpoint of the grant; else the document's.
    pub token_url: Option<Slot>,
    /// Client id.
    pub client_id: Option<Slot>,
    /// Client secret.
    pub client_secret: Option<Slot>,
    /// Scopes asked for.
    pub scopes: Vec<String>,
    /// `audience` or `resource` sent with the grant.
    pub audience: Option<String>,
    /// How the client authenticates at the token endpoint.
    pub client_auth: ClientAuth,
    /// RFC 8693 token exchange for the caller's token.
    pub exchange: Option<Exchange>,
    /// `header NAME`: passes that header of the caller on. Off by default, warned about.
    pub forward: Option<String>,
    /// For a name that is no scheme of the document: `bearer`, `basic`, `header NAME`, `query NAME`, `cookie NAME`.
    pub place: Option<String>,
}

/// `grant`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// RFC 6749 §4.4.
    ClientCredentials,
}

/// `client_auth`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClientAuth {
    /// HTTP basic.
    #[default]
    Basic,
    /// `client_id` and `client_secret` in the form.
    Body,
}

/// `exchange`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// Token endpoint.
    pub token_url: Slot,
    /// `audience`.
    #[serde(default)]
    pub audience: Option<String>,
    /// `scope`.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Client id at the token endpoint.
    #[serde(default)]
    pub client_id: Option<Slot>,
    /// Client secret at the token endpoint.
    #[serde(default)]
    pub client_secret: Option<Slot>,
}

/// A resolved client-credentials grant.
#[derive(Debug, Clone)]
pub struct ClientCredentials {
    /// Token endpoint.
    pub token_url: String,
    /// Client id.
    pub client_id: crate::secret::Secret,
    /// Client secret.
    pub client_secret: crate::secret::Secret,
    /// Scopes.
    pub scopes: Vec<String>,
    /// Audience.
    pub audience: Option<String>,
    /// How the client authenticates.
    pub client_auth: ClientAuth,
}

/// A resolved token exchange.
#[derive(Debug, Clone)]
pub struct TokenExchange {
    /// Token endpoint.
    pub token_url: String,
    /// Audience.
    pub audience: Option<String>,
    /// Scopes.
    pub scopes: Vec<String>,
    /// Client id and secret.
    pub client: Option<(crate::secret::Secret, crate::secret::Secret)>,
}

/// TLS towards the API.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tls {
    /// PEM file with the CAs to trust beside the built-in ones.
    pub ca: Option<String>,
    /// PEM file with the client certificate.
    pub cert: Option<String>,
    /// PEM file with the client key.
    pub key: Option<String>,
    /// Accept any certificate. Warned about loudly.
    pub insecure: bool,
}

/// What the API may cost.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Time to connect (default 5s).
    pub connect_timeout: Duration,
    /// Time to the first byte of the answer (default: `timeout`).
    pub first_byte_timeout: Option<Duration>,
    /// Time for the whole call (default 30s).
    pub timeout: Duration,
    /// Largest answer that is read (default 10MiB).
    pub max_response: Bytes,
    /// Largest request body (default 10MiB).
    pub max_request: Bytes,
    /// Calls at the same time (default 64).
    #[schemars(range(min = 1))]
    pub concurrency: usize,
    /// Calls in a time, such as `50/s` or `100/m`.
    #[schemars(with = "Option<super::schema::RateText>")]
    pub rate: Option<String>,
    /// Repeats of calls that may be repeated (default 2).
    pub retries: u32,
    /// Circuit breaker.
    pub breaker: Option<Breaker>,
    /// Which redirects are followed.
    pub redirects: Redirects,
    /// Allow private, loopback and link-local addresses (default: only where `base_url` names one).
    pub allow_private: Option<bool>,
}

impl Default for Limits {
    fn default() -> Self {
        let seconds = |n| Duration(std::time::Duration::from_secs(n));
        Limits {
            connect_timeout: seconds(5),
            first_byte_timeout: None,
            timeout: seconds(30),
            max_response: Bytes(10 * 1024 * 1024),
            max_request: Bytes(10 * 1024 * 1024),
            concurrency: 64,
            rate: None,
            retries: 2,
            breaker: None,
            redirects: Redirects::SameOrigin,
            allow_private: None,
        }
    }
}

/// Circuit breaker.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Breaker {
    /// Failures in a row that open it.
    #[schemars(range(min = 1))]
    pub failures: u32,
    /// Time until it is tried again.
    pub cooldown: Duration,
}

/// `redirects`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Redirects {
    /// Shown to the model as the answer.
    None,
    /// Followed within the same origin; credentials stay.
    SameOrigin,
    /// Followed anywhere allowed; credentials only to the same origin.
    Any,
}
