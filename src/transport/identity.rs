//! Who calls over HTTP: API keys, JSON Web Tokens, client certificates, or nobody where that is
//! allowed. Wrong is never taken for absent: a credential that was presented and is not good is a
//! denial even where anonymous callers are welcome.
//!
//! Also the resource server's half of OAuth 2.1: metadata (RFC 9728) and challenges (RFC 6750 §3).

pub mod certificate;
pub mod door;
pub mod jwks;
pub mod jwt;

use crate::access::Caller;
use crate::mapping::is_scope;
use arc_swap::ArcSwap;
use certificate::ClientCertificate;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, StatusCode};
use indexmap::IndexMap;
use jwt::{JwtIssuer, JwtSettings};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use url::Url;

const API_KEY_HEADER: &str = "x-api-key";
/// Longer credentials are refused unread.
const LONGEST_CREDENTIAL: usize = 16 * 1024;

/// How callers are recognised.
#[derive(Default)]
pub struct Settings {
    /// API keys.
    pub api_keys: Vec<ApiKey>,
    /// Issuers of tokens.
    pub jwt: Vec<JwtSettings>,
    /// Verified client certificates; `None` = they say nothing about the caller.
    pub certificates: Option<CertificateRules>,
    /// Callers without any credential are let in.
    pub anonymous: bool,
    /// What is protected, for OAuth clients.
    pub resource: Option<Resource>,
}

/// One API key.
#[derive(Debug, Clone)]
pub struct ApiKey {
    /// Becomes the caller's subject.
    pub name: String,
    /// `sha256:` and 64 hexadecimal digits.
    pub hash: String,
    /// The caller's tenant.
    pub tenant: Option<String>,
    /// The caller's scopes.
    pub scopes: Vec<String>,
}

/// What a verified client certificate says about the caller.
#[derive(Debug, Clone, Default)]
pub struct CertificateRules {
    /// Attribute of the subject that names the tenant: `CN`, `O` or `OU`; `None` = no tenant.
    pub tenant_from: Option<String>,
    /// The caller's scopes.
    pub scopes: Vec<String>,
}

/// The protected resource (RFC 9728).
#[derive(Debug, Clone)]
pub struct Resource {
    /// Canonical URL of the MCP endpoint; the audience of tokens.
    pub url: String,
    /// Issuers whose tokens are good here.
    pub authorization_servers: Vec<String>,
    /// The smallest useful set of scopes.
    pub scopes: Vec<String>,
}

/// A refusal. The outside learns the status and the challenge, nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// 400 malformed, 401 not recognised, 403 recognised but not allowed, 503 keys can't be had.
    pub status: StatusCode,
    /// `WWW-Authenticate`, where there is a challenge.
    pub www_authenticate: Option<String>,
    /// For audit and metrics; one of a fixed set.
    pub reason: &'static str,
}

/// Recognises callers.
pub struct Authenticator {
    keys: Vec<Key>,
    issuers: Vec<JwtIssuer>,
    certificates: Option<CertificateRules>,
    anonymous: bool,
    resource: Option<(Resource, Url)>,
    wanted: ArcSwap<Vec<HeaderName>>,
    nobody: Arc<Caller>,
}

struct Key {
    hash: [u8; 32],
    caller: Arc<Caller>,
}

impl Authenticator {
    /// Compiles the settings.
    ///
    /// # Errors
    /// Every problem as one text: hashes that are none, unknown algorithms, a resource that is no URL,
    /// no way in at all.
    pub fn new(settings: Settings) -> Result<Authenticator, Vec<String>> {
        let mut problems = Vec::new();
        let mut keys = Vec::with_capacity(settings.api_keys.len());
        for key in &settings.api_keys {
            let Some(hash) = read_hash(&key.hash) else {
                problems.push(format!(
                    "access.api_keys `{}`: key_hash must be `sha256:` and 64 hexadecimal digits",
                    key.name
                ));
                continue;
            };
            let caller = Caller {
                subject: Some(key.name.as_str().into()),
                tenant: key.tenant.as_deref().map(Into::into),
                scopes: key.scopes.clone(),
                ..Caller::default()
            };
            keys.push(Key { hash, caller: Arc::new(caller) });
        }
        let mut issuers = Vec::with_capacity(settings.jwt.len());
        for issuer in settings.jwt {
            match JwtIssuer::new(issuer) {
                Ok(issuer) => issuers.push(issuer),
                Err(found) => problems.extend(found.into_iter().map(|text| format!("access.jwt: {text}"))),
            }
        }
        let resource = match settings.resource {
            None => None,
            Some(resource) => match Url::parse(&resource.url) {
                Ok(url) if matches!(url.scheme(), "http" | "https") && url.fragment().is_none() => {
                    Some((resource, url))
                }
                _ => {
                    problems.push(format!("access: the resource `{}` must be an absolute HTTP URL", resource.url));
                    None
                }
            },
        };
        let way_in = settings.anonymous || !keys.is_empty() || !issuers.is_empty() || settings.certificates.is_some();
        if !way_in && problems.is_empty() {
            problems.push(
                "access: nobody could ever get in; configure keys, tokens or certificates, or `anonymous: allow`"
                    .to_owned(),
            );
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Authenticator {
            keys,
            issuers,
            certificates: settings.certificates,
            anonymous: settings.anonymous,
            resource,
            wanted: ArcSwap::default(),
            nobody: Arc::default(),
        })
    }

    /// Lets everybody in, as nobody: stdio, and where the configuration says so.
    pub fn open() -> Authenticator {
        Authenticator {
            keys: Vec::new(),
            issuers: Vec::new(),
            certificates: None,
            anonymous: true,
            resource: None,
            wanted: ArcSwap::default(),
            nobody: Arc::default(),
        }
    }

    /// True if a caller without any credential gets in.
    pub fn allows_anonymous(&self) -> bool {
        self.anonymous
    }

    /// Names of headers that mappings ask for, put into [`Caller::headers`] from now on.
    pub fn keep_headers(&self, names: impl IntoIterator<Item = String>) {
        let names = names.into_iter().filter_map(|name| HeaderName::from_bytes(name.as_bytes()).ok());
        self.wanted.store(Arc::new(names.collect()));
    }

    /// Recognises the caller of one HTTP request; `certificate` is one that TLS has verified.
    ///
    /// # Errors
    /// [`Denied`]: the same status and challenge for every wrong credential.
    pub async fn authenticate(
        &self,
        headers: &HeaderMap,
        certificate: Option<&ClientCertificate>,
    ) -> Result<Arc<Caller>, Denied> {
        let mut caller = self.recognise(headers, certificate).await?;
        let wanted = self.wanted.load();
        if !wanted.is_empty() {
            Arc::make_mut(&mut caller).headers = wanted
                .iter()
                .filter_map(|name| {
                    let mut values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
                    let first = values.next()?.to_owned();
                    // RFC 9110 §5.3: several fields of one name mean their list.
                    Some((name.as_str().to_owned(), values.fold(first, |all, next| all + ", " + next)))
                })
                .collect::<IndexMap<_, _>>();
        }
        Ok(caller)
    }

    async fn recognise(
        &self,
        headers: &HeaderMap,
        certificate: Option<&ClientCertificate>,
    ) -> Result<Arc<Caller>, Denied> {
        if !self.keys.is_empty() || !self.issuers.is_empty() {
            if let Some(token) = self.bearer(headers)? {
                return self.by_token(token).await;
            }
            if !self.keys.is_empty()
                && let Some(key) = self.single(headers, API_KEY_HEADER)?
            {
                return self.by_key(key).ok_or_else(|| self.unknown("unknown_key"));
            }
        }
        if let (Some(rules), Some(certificate)) = (&self.certificates, certificate) {
            return certificate_caller(rules, certificate).map(Arc::new).ok_or(Denied {
                status: StatusCode::FORBIDDEN,
                www_authenticate: None,
                reason: "certificate_without_tenant",
            });
        }
        if self.anonymous {
            return Ok(self.nobody.clone());
        }
        let www_authenticate = Some(self.challenge(None, self.resource_scopes()));
        Err(Denied { status: StatusCode::UNAUTHORIZED, www_authenticate, reason: "no_credential" })
    }

    /// The bearer token of the request; another scheme or two headers are malformed.
    fn bearer<'a>(&self, headers: &'a HeaderMap) -> Result<Option<&'a str>, Denied> {
        let Some(value) = self.single(headers, AUTHORIZATION.as_str())? else {
            return Ok(None);
        };
        match value.split_once(' ') {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") && !token.trim().is_empty() => {
                Ok(Some(token.trim()))
            }
            _ => Err(self.unknown("other_scheme")),
        }
    }

    fn single<'a>(&self, headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Denied> {
        let mut values = headers.get_all(name).iter();
        let Some(value) = values.next() else { return Ok(None) };
        let text = value.to_str().ok().filter(|text| text.len() <= LONGEST_CREDENTIAL);
        match (text, values.next()) {
            (Some(text), None) => Ok(Some(text)),
            _ => Err(Denied {
                status: StatusCode::BAD_REQUEST,
                www_authenticate: Some(self.challenge(Some("invalid_request"), &[])),
                reason: "malformed_credential",
            }),
        }
    }

    async fn by_token(&self, token: &str) -> Result<Arc<Caller>, Denied> {
        if let Some(caller) = self.by_key(token) {
            return Ok(caller);
        }
        let mut why = "unknown_key";
        for issuer in &self.issuers {
            match issuer.verify(token).await {
                Ok(caller) => return Ok(caller),
                // A token that is good but for its tenant is known: 403 does not ask for another token.
                Err("tenant_missing") => {
                    return Err(Denied {
                        status: StatusCode::FORBIDDEN,
                        www_authenticate: None,
                        reason: "tenant_missing",
                    });
                }
                Err("keys_unavailable") => {
                    return Err(Denied {
                        status: StatusCode::SERVICE_UNAVAILABLE,
                        www_authenticate: None,
                        reason: "keys_unavailable",
                    });
                }
                Err(reason) => why = reason,
            }
        }
        Err(self.unknown(why))
    }

    /// Compares with every key, in a time that does not depend on which one it is.
    fn by_key(&self, presented: &str) -> Option<Arc<Caller>> {
        let hash: [u8; 32] = Sha256::digest(presented.as_bytes()).into();
        let mut found = u32::MAX;
        for (index, key) in (0u32..).zip(&self.keys) {
            let equal: Choice = key.hash.ct_eq(&hash);
            found = u32::conditional_select(&found, &index, equal);
        }
        let found = usize::try_from(found).ok()?;
        self.keys.get(found).map(|key| key.caller.clone())
    }

    fn unknown(&self, reason: &'static str) -> Denied {
        Denied {
            status: StatusCode::UNAUTHORIZED,
            www_authenticate: Some(self.challenge(Some("invalid_token"), self.resource_scopes())),
            reason,
        }
    }

    fn resource_scopes(&self) -> &[String] {
        self.resource.as_ref().map_or(&[], |(resource, _)| &resource.scopes)
    }

    /// The challenge for a tool that needs more scopes (status 403).
    pub fn insufficient_scope(&self, scopes: &[String]) -> String {
        self.challenge(Some("insufficient_scope"), scopes)
    }

    fn challenge(&self, error: Option<&str>, scopes: &[String]) -> String {
        let mut parts = Vec::with_capacity(3);
        if let Some(error) = error {
            parts.push(format!("error=\"{error}\""));
        }
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).filter(|scope| is_scope(scope)).collect();
        if !scopes.is_empty() {
            parts.push(format!("scope=\"{}\"", scopes.join(" ")));
        }
        if let Some(url) = self.metadata_url() {
            parts.push(format!("resource_metadata=\"{url}\""));
        }
        if parts.is_empty() {
            parts.push("realm=\"mcp\"".to_owned());
        }
        format!("Bearer {}", parts.join(", "))
    }

    /// The metadata document's URL (RFC 9728 §3.1: the well-known part goes between host and path).
    pub fn metadata_url(&self) -> Option<String> {
        let (_, url) = self.resource.as_ref()?;
        let mut at = url.clone();
        at.set_query(None);
        at.set_path(&metadata_path(url));
        Some(at.into())
    }

    /// Paths under which the metadata document is served.
    pub fn metadata_paths(&self) -> Vec<String> {
        let Some((_, url)) = &self.resource else { return Vec::new() };
        let mut paths = vec![metadata_path(url)];
        if paths.iter().all(|path| path != METADATA) {
            paths.push(METADATA.to_owned());
        }
        paths
    }

    /// The metadata document (RFC 9728 §2); `None` where no authorization server is configured.
    pub fn metadata(&self) -> Option<Value> {
        let (resource, _) = self.resource.as_ref()?;
        let mut document = json!({
            "resource": resource.url,
            "authorization_servers": resource.authorization_servers,
            "bearer_methods_supported": ["header"],
        });
        if let Value::Object(members) = &mut document
            && !resource.scopes.is_empty()
        {
            members.insert("scopes_supported".to_owned(), json!(resource.scopes));
        }
        Some(document)
    }
}

const METADATA: &str = "/.well-known/oauth-protected-resource";

fn metadata_path(resource: &Url) -> String {
    format!("{METADATA}{}", resource.path().trim_end_matches('/'))
}

fn read_hash(text: &str) -> Option<[u8; 32]> {
    let digits = text.strip_prefix("sha256:")?;
    if digits.len() != 64 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let mut hash = [0; 32];
    for (index, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(index * 2..index * 2 + 2)?, 16).ok()?;
    }
    Some(hash)
}

/// The caller a certificate stands for; `None` if it lacks the attribute that names the tenant.
fn certificate_caller(rules: &CertificateRules, certificate: &ClientCertificate) -> Option<Caller> {
    let tenant = match &rules.tenant_from {
        None => None,
        Some(attribute) => Some(certificate.attribute(attribute)?.into()),
    };
    Some(Caller { subject: Some(certificate.name().into()), tenant, scopes: rules.scopes.clone(), ..Caller::default() })
}
