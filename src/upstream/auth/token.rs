//! Tokens from a token endpoint: client-credentials grant (RFC 6749 §4.4) and token exchange
//! (RFC 8693), one request in flight for each, renewed before they end.

use crate::mapping::{self, ClientAuth, ClientCredentials, Limits, Redirects, Tls, TokenExchange};
use crate::request::Request;
use crate::response::NoAnswer;
use crate::secret::Secret;
use crate::upstream::{SendOptions, Upstream};
use arc_swap::ArcSwapOption;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use url::form_urlencoded;

/// A lifetime for tokens that don't tell theirs.
const UNKNOWN_LIFETIME: Duration = Duration::from_secs(300);
/// No token is believed to live longer.
const LONGEST_LIFETIME: Duration = Duration::from_secs(24 * 3600);
/// How long a failure is remembered instead of asking again.
const FAILURE_TTL: Duration = Duration::from_secs(3);
/// The least time between two tokens that were given up because an API said 401.
const GIVE_UP_PAUSE: Duration = Duration::from_secs(10);
/// Most tokens kept; callers' exchanged tokens come and go.
const MOST_ENTRIES: usize = 10_000;

/// All fetched tokens. Survives reloads.
#[derive(Default)]
pub struct Tokens {
    entries: Mutex<HashMap<[u8; 32], Arc<Entry>>>,
    endpoints: Mutex<HashMap<String, Arc<Upstream>>>,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tokens")
    }
}

/// One token and its renewal.
#[derive(Default)]
pub(in crate::upstream) struct Entry {
    current: ArcSwapOption<Token>,
    fetching: tokio::sync::Mutex<()>,
    failed: Mutex<Option<Instant>>,
    given_up: Mutex<Option<Instant>>,
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Entry")
    }
}

struct Token {
    secret: Secret,
    renew: Instant,
    end: Instant,
}

impl Entry {
    fn usable(&self, now: Instant) -> Option<Arc<Token>> {
        self.current.load_full().filter(|token| now < token.end)
    }

    /// The token, fetched if need be.
    async fn get(&self, fetch: impl AsyncFnOnce() -> Result<(Secret, Duration), String>) -> Result<Secret, ()> {
        let now = Instant::now();
        let old = self.usable(now);
        let _turn = match &old {
            Some(token) if now < token.renew => return Ok(token.secret.clone()),
            // Time to renew, but the token is still good: one call renews, the others go on.
            Some(token) => match self.fetching.try_lock() {
                Ok(turn) => turn,
                Err(_) => return Ok(token.secret.clone()),
            },
            None => self.fetching.lock().await,
        };
        let now = Instant::now();
        if let Some(token) = self.usable(now)
            && now < token.renew
        {
            return Ok(token.secret.clone());
        }
        let fallback = || old.filter(|token| Instant::now() < token.end).map(|token| token.secret.clone()).ok_or(());
        let failed = *self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if failed.is_some_and(|failed| failed.elapsed() < FAILURE_TTL) {
            return fallback();
        }
        match fetch().await {
            Ok((secret, lifetime)) => {
                let now = Instant::now();
                let lifetime = lifetime.min(LONGEST_LIFETIME);
                let token = Token { secret: secret.clone(), renew: now + lifetime.mul_f64(0.8), end: now + lifetime };
                self.current.store(Some(Arc::new(token)));
                *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = None;
                Ok(secret)
            }
            Err(reason) => {
                tracing::warn!(%reason, "a token could not be fetched");
                *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
                fallback()
            }
        }
    }

    /// Forgets the token that an API refused; false if it was given up too recently.
    pub(super) fn give_up(&self, secret: &Secret) -> bool {
        let Some(token) = self.current.load_full() else { return true };
        if token.secret != *secret {
            return true;
        }
        let mut given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
        if given_up.is_some_and(|when| when.elapsed() < GIVE_UP_PAUSE) {
            return false;
        }
        *given_up = Some(Instant::now());
        self.current.store(None);
        true
    }
}

impl Tokens {
    pub(super) async fn client_credentials(
        &self,
        name: &str,
        grant: &ClientCredentials,
        tls: &Tls,
    ) -> Result<(Secret, Arc<Entry>), NoAnswer> {
        let client_auth = match grant.client_auth {
            ClientAuth::Basic => "basic",
            ClientAuth::Body => "body",
        };
        let mut parts = vec![
            "client_credentials",
            &grant.token_url,
            grant.client_id.expose(),
            grant.client_secret.expose(),
            grant.audience.as_deref().unwrap_or_default(),
            client_auth,
        ];
        parts.extend(grant.scopes.iter().map(String::as_str));
        let entry = self.entry(&parts);
        let fetch = async || {
            let mut form = vec![("grant_type", "client_credentials".to_owned())];
            if !grant.scopes.is_empty() {
                form.push(("scope", grant.scopes.join(" ")));
            }
            if let Some(audience) = &grant.audience {
                form.push(("audience", audience.clone()));
            }
            let client = Some((&grant.client_id, &grant.client_secret));
            self.fetch(&grant.token_url, tls, form, client, grant.client_auth).await
        };
        let secret = entry.get(fetch).await.map_err(|()| NoAnswer::Credential(name.to_owned()))?;
        Ok((secret, entry))
    }

    pub(super) async fn exchange(
        &self,
        name: &str,
        exchange: &TokenExchange,
        subject: &Secret,
        tls: &Tls,
    ) -> Result<(Secret, Arc<Entry>), NoAnswer> {
        let client = exchange.client.as_ref().map(|(id, secret)| (id, secret));
        let mut parts = vec![
            "exchange",
            &exchange.token_url,
            subject.expose(),
            client.map_or("", |(id, _)| id.expose()),
            client.map_or("", |(_, secret)| secret.expose()),
            exchange.audience.as_deref().unwrap_or_default(),
        ];
        parts.extend(exchange.scopes.iter().map(String::as_str));
        let entry = self.entry(&parts);
        let fetch = async || {
            const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
            let mut form = vec![
                ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange".to_owned()),
                ("subject_token", subject.expose().to_owned()),
                ("subject_token_type", ACCESS_TOKEN.to_owned()),
                ("requested_token_type", ACCESS_TOKEN.to_owned()),
            ];
            if let Some(audience) = &exchange.audience {
                form.push(("audience", audience.clone()));
            }
            if !exchange.scopes.is_empty() {
                form.push(("scope", exchange.scopes.join(" ")));
            }
            self.fetch(&exchange.token_url, tls, form, client, ClientAuth::Basic).await
        };
        let secret = entry.get(fetch).await.map_err(|()| NoAnswer::Credential(name.to_owned()))?;
        Ok((secret, entry))
    }

    /// The entry for what `parts` say; its key gives none of them away.
    fn entry(&self, parts: &[&str]) -> Arc<Entry> {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        let key: [u8; 32] = hash.finalize().into();
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.get(&key) {
            return entry.clone();
        }
        if entries.len() >= MOST_ENTRIES {
            let now = Instant::now();
            entries.retain(|_, entry| entry.usable(now).is_some());
            if entries.len() >= MOST_ENTRIES {
                entries.clear();
            }
        }
        entries.entry(key).or_default().clone()
    }

    fn endpoint(&self, url: &str, tls: &Tls) -> Result<Arc<Upstream>, String> {
        let key = format!("{url} {tls:?}");
        let mut endpoints = self.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(endpoint) = endpoints.get(&key) {
            return Ok(endpoint.clone());
        }
        let limits = Limits {
            timeout: mapping::Duration(Duration::from_secs(10)),
            max_response: mapping::Bytes(256 * 1024),
            concurrency: 16,
            retries: 1,
            redirects: Redirects::None,
            ..Limits::default()
        };
        let made =
            Upstream::for_url("token endpoint", url, tls.clone(), limits).map_err(|problems| problems.join("; "))?;
        let made = Arc::new(made);
        endpoints.insert(key, made.clone());
        Ok(made)
    }

    async fn fetch(
        &self,
        url: &str,
        tls: &Tls,
        mut form: Vec<(&str, String)>,
        client: Option<(&Secret, &Secret)>,
        client_auth: ClientAuth,
    ) -> Result<(Secret, Duration), String> {
        let endpoint = self.endpoint(url, tls)?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        match (client, client_auth) {
            (None, _) => {}
            (Some((id, secret)), ClientAuth::Basic) => {
                // RFC 6749 §2.3.1: both are form-encoded before they are joined.
                let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
                let pair = format!("{}:{}", encode(id.expose()), encode(secret.expose()));
                let mut value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(pair)))
                    .map_err(|_| "client id or secret can't be sent".to_owned())?;
                value.set_sensitive(true);
                headers.insert(AUTHORIZATION, value);
            }
            (Some((id, secret)), ClientAuth::Body) => {
                form.push(("client_id", id.expose().to_owned()));
                form.push(("client_secret", secret.expose().to_owned()));
            }
        }
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let request = Request {
            method: http::Method::POST,
            url: url.to_owned(),
            headers,
            body: Some(Bytes::from(body)),
            secret_in_url: Vec::new(),
            secrets: Vec::new(),
        };
        let options = SendOptions { idempotent: true, ..SendOptions::default() };
        // Boxed: a token endpoint is an upstream itself, whose future may hold this one.
        let answer = Box::pin(endpoint.send(0, request, &options)).await;
        let answer = answer.map_err(|error| format!("token endpoint: {}", crate::upstream::kind(&error)))?;
        let parsed: Option<Value> = serde_json::from_slice(&answer.body).ok().filter(|_| !answer.truncated);
        if answer.status != http::StatusCode::OK {
            // Only the error code (RFC 6749 §5.2): descriptions may repeat what was sent.
            let code = parsed.as_ref().and_then(|body| body.get("error")).and_then(Value::as_str).unwrap_or("-");
            let code: String = code.chars().filter(|c| c.is_ascii_lowercase() || *c == '_').take(40).collect();
            return Err(format!("token endpoint: status {}, error `{code}`", answer.status.as_u16()));
        }
        let parsed = parsed.ok_or("token endpoint: the answer is no JSON")?;
        read_token(&parsed)
    }
}

/// RFC 6749 §5.1.
fn read_token(answer: &Value) -> Result<(Secret, Duration), String> {
    let text = |key: &str| answer.get(key).and_then(Value::as_str);
    let token = text("access_token").filter(|token| !token.is_empty()).ok_or("token endpoint: no access_token")?;
    // RFC 8693 §2.2.1 says `N_A` for tokens that are no access tokens.
    if let Some(other) = text("token_type").filter(|kind| !kind.eq_ignore_ascii_case("bearer") && *kind != "N_A") {
        let other: String = other.chars().take(20).collect();
        return Err(format!("token endpoint: token_type `{other}` is not supported"));
    }
    let seconds = match answer.get("expires_in") {
        Some(Value::Number(number)) => number.as_f64(),
        Some(Value::String(text)) => text.parse().ok(),
        _ => None,
    };
    let lifetime =
        seconds.filter(|seconds| *seconds >= 0.0).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    Ok((Secret::new(token), lifetime.unwrap_or(UNKNOWN_LIFETIME)))
}
