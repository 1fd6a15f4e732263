//! `access`: who may call, and what.

use crate::mapping::{Credential, Duration, Slot};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

/// Who may call, and what.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Access {
    /// Callers known by a key.
    pub api_keys: Vec<ApiKey>,
    /// Callers with a JSON Web Token (RFC 7519, RFC 9068).
    pub jwt: Option<Jwt>,
    /// Callers with a client certificate (needs `tls.client_ca`).
    pub mtls: Option<ClientCertificates>,
    /// Callers without any credential; absent = `deny` as soon as any other rule is there.
    pub anonymous: Option<Anonymous>,
    /// What each tenant may see and call; `*` is for every other caller. Where tenants are named, one that is not may
    /// call nothing.
    pub tenants: IndexMap<String, Tenant>,
    /// Scopes that tools need: by scope, tools as in `tenants`. A caller without a scope does not see those tools; a call
    /// of one is answered with 403 and the scopes to ask for (RFC 6750 `insufficient_scope`).
    pub scopes: IndexMap<String, Vec<String>>,
    /// A policy that decides beside the lists.
    pub policy: Option<Policy>,
}

impl Access {
    /// True if nothing says who may call.
    pub fn is_open(&self) -> bool {
        self.api_keys.is_empty() && self.jwt.is_none() && self.mtls.is_none() && self.anonymous != Some(Anonymous::Deny)
    }

    /// What happens to callers without any credential.
    pub fn anonymous(&self) -> Anonymous {
        self.anonymous.unwrap_or(if self.is_open() { Anonymous::Allow } else { Anonymous::Deny })
    }
}

/// A caller known by a key.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApiKey {
    /// The caller's name, for audit and policies.
    pub name: String,
    /// `sha256:` and the key's SHA-256 in hexadecimal.
    pub key_hash: Slot,
    /// The caller's tenant.
    #[serde(default)]
    pub tenant: Option<String>,
    /// Granted scopes.
    #[serde(default)]
    pub scopes: Vec<String>,
}

/// Callers with a JSON Web Token.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Jwt {
    /// `iss` that is accepted.
    pub issuer: Slot,
    /// `aud` that is accepted: this server's address.
    pub audience: Slot,
    /// The issuer's keys: URL or file.
    pub jwks: Slot,
    /// Accepted signature algorithms (default `RS256`, `ES256`).
    #[serde(default = "default_algorithms")]
    #[schemars(length(min = 1))]
    pub algorithms: Vec<JwtAlgorithm>,
    /// Claim that names the tenant, dotted.
    #[serde(default)]
    pub tenant_claim: Option<String>,
    /// Scopes that are announced (RFC 9728 `scopes_supported`).
    #[serde(default)]
    pub scopes_supported: Vec<String>,
    /// Where clients get tokens (RFC 9728 `authorization_servers`); absent = the issuer.
    #[serde(default)]
    pub authorization_servers: Vec<String>,
}

fn default_algorithms() -> Vec<JwtAlgorithm> {
    vec![JwtAlgorithm::Rs256, JwtAlgorithm::Es256]
}

/// A signature algorithm (RFC 7518 §3.1, RFC 8037); only asymmetric ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum JwtAlgorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    Rs384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    Rs512,
    /// RSASSA-PSS with SHA-256.
    Ps256,
    /// RSASSA-PSS with SHA-384.
    Ps384,
    /// RSASSA-PSS with SHA-512.
    Ps512,
    /// ECDSA P-256 with SHA-256.
    Es256,
    /// ECDSA P-384 with SHA-384.
    Es384,
    /// Ed25519.
    #[serde(rename = "EdDSA")]
    EdDsa,
}

/// Callers with a client certificate.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClientCertificates {
    /// Part of the subject that names the tenant; absent = no tenant.
    pub tenant: Option<SubjectPart>,
    /// Granted scopes.
    pub scopes: Vec<String>,
}

/// Part of a certificate's subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubjectPart {
    /// CN.
    CommonName,
    /// O.
    Organization,
    /// OU.
    OrganizationalUnit,
}

/// `anonymous`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Anonymous {
    /// Refused.
    Deny,
    /// Served.
    Allow,
}

/// What a tenant may see and call.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tenant {
    /// Tools: name globs, `tag:NAME` or `method:NAME`; absent = all, empty = none.
    pub allow: Option<Vec<String>>,
    /// Tools left out, written alike; wins over `allow`.
    pub deny: Vec<String>,
    /// Calls in a time, such as `20/s`.
    #[schemars(with = "Option<crate::mapping::RateText>")]
    pub rate: Option<String>,
    /// Credentials of its own, by source and by name there.
    pub credentials: IndexMap<String, IndexMap<String, TenantCredential>>,
}

/// A tenant's credential.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TenantCredential {
    /// An API key or bearer token.
    Value(Slot),
    /// Any kind of credential.
    Credential(Box<Credential>),
}

/// A policy that decides beside the lists; what it can't decide is denied.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// Rego files: paths or globs.
    pub rego: Vec<String>,
    /// The rule that is asked (default `data.mcp.allow`).
    pub query: Option<String>,
    /// URL of a decision of an Open Policy Agent, instead of `rego`.
    pub opa: Option<Slot>,
    /// Time for one decision (default 1s).
    pub timeout: Option<Duration>,
}
