//! JSON Web Tokens (RFC 7519, RFC 9068): signature by a key of the issuer's set, algorithm as
//! configured, issuer, audience, time.

use super::jwks::{KeySet, KeySource, Keys};
use crate::access::Caller;
use crate::secret::Secret;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Validation, decode, decode_header, get_current_timestamp};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Clocks may differ by this much, in seconds.
const LEEWAY: u64 = 30;
/// Signatures that are checked for one token at most: tokens without a key id.
const MOST_ATTEMPTS: usize = 8;
/// Verified tokens that are remembered; signatures cost more than everything else of a small call.
const MOST_VERIFIED: usize = 4096;

/// One issuer of tokens.
pub struct JwtSettings {
    /// `iss`.
    pub issuer: String,
    /// `aud`: any of these.
    pub audiences: Vec<String>,
    /// Accepted algorithms by JOSE name; empty = the asymmetric ones. HMAC only if named here.
    pub algorithms: Vec<String>,
    /// Where the keys are.
    pub keys: KeySource,
    /// Claim that names the tenant, dotted (`org.id`); a token without it is refused.
    pub tenant_claim: Option<String>,
}

/// Verifies tokens of one issuer.
pub(super) struct JwtIssuer {
    algorithms: Vec<Algorithm>,
    validation: Validation,
    keys: Keys,
    tenant_claim: Option<String>,
    verified: Mutex<HashMap<[u8; 32], Verified>>,
}

/// A token whose signature was good: for as long as it lives and the key set stays the same.
struct Verified {
    caller: Arc<Caller>,
    end: u64,
    keys: Arc<KeySet>,
}

impl JwtIssuer {
    pub(super) fn new(settings: JwtSettings) -> Result<JwtIssuer, Vec<String>> {
        let mut problems = Vec::new();
        let mut algorithms = Vec::new();
        for name in &settings.algorithms {
            match name.parse::<Algorithm>() {
                Ok(algorithm) => algorithms.push(algorithm),
                Err(_) => problems.push(format!("`{name}` is no signature algorithm that can be accepted")),
            }
        }
        if settings.algorithms.is_empty() {
            use Algorithm::{ES256, ES384, EdDSA, PS256, PS384, PS512, RS256, RS384, RS512};
            algorithms = vec![RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, EdDSA];
        }
        if settings.issuer.is_empty() {
            problems.push("issuer is missing".to_owned());
        }
        if settings.audiences.is_empty() {
            problems.push("audience is missing: tokens for other services would be accepted".to_owned());
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut validation = Validation::new(Algorithm::RS256);
        validation.leeway = LEEWAY;
        validation.validate_nbf = true;
        validation.set_issuer(&[&settings.issuer]);
        validation.set_audience(&settings.audiences);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        let keys = Keys::new(settings.keys);
        let tenant_claim = settings.tenant_claim;
        Ok(JwtIssuer { algorithms, validation, keys, tenant_claim, verified: Mutex::default() })
    }

    /// The caller that a token stands for, or why it stands for none.
    pub(super) async fn verify(&self, token: &str) -> Result<Arc<Caller>, &'static str> {
        let hash: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        if let Some(caller) = self.remembered(&hash) {
            return Ok(caller);
        }
        let header = decode_header(token).map_err(|_| "token_malformed")?;
        if !self.algorithms.contains(&header.alg) {
            return Err("token_algorithm");
        }
        let keys = self.keys.find(header.kid.as_deref(), header.alg).await?;
        let mut validation = self.validation.clone();
        // The algorithm is one of those configured, and the key is one for it: nothing the token says
        // makes an HMAC key out of a public one.
        validation.algorithms = vec![header.alg];
        let mut why = "token_key_unknown";
        for key in keys.fitting(header.kid.as_deref(), header.alg).take(MOST_ATTEMPTS) {
            match decode::<Value>(token, key, &validation) {
                Ok(data) => {
                    let end = data.claims.get("exp").and_then(Value::as_u64).unwrap_or_default();
                    let caller = Caller { token: Some(Secret::new(token)), ..self.caller(data.claims)? };
                    let caller = Arc::new(caller);
                    self.remember(hash, Verified { caller: caller.clone(), end, keys: keys.clone() });
                    return Ok(caller);
                }
                Err(error) => match error.kind() {
                    ErrorKind::InvalidSignature => why = "token_signature",
                    ErrorKind::ExpiredSignature => return Err("token_expired"),
                    ErrorKind::ImmatureSignature => return Err("token_not_yet_valid"),
                    ErrorKind::InvalidAudience => return Err("token_audience"),
                    ErrorKind::InvalidIssuer => return Err("token_issuer"),
                    ErrorKind::MissingRequiredClaim(_) | ErrorKind::InvalidClaimFormat(_) => {
                        return Err("token_claims");
                    }
                    _ => why = "token_malformed",
                },
            }
        }
        Err(why)
    }

    fn remembered(&self, hash: &[u8; 32]) -> Option<Arc<Caller>> {
        let fresh = self.keys.fresh()?;
        let verified = self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        let known = verified.get(hash)?;
        let alive = get_current_timestamp() < known.end && Arc::ptr_eq(&known.keys, &fresh);
        alive.then(|| known.caller.clone())
    }

    fn remember(&self, hash: [u8; 32], token: Verified) {
        let mut verified = self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        if verified.len() >= MOST_VERIFIED {
            verified.clear();
        }
        verified.insert(hash, token);
    }

    fn caller(&self, claims: Value) -> Result<Caller, &'static str> {
        let text = |key: &str| claims.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let tenant: Option<Arc<str>> = match &self.tenant_claim {
            None => None,
            Some(path) => Some(tenant(&claims, path).ok_or("tenant_missing")?.into()),
        };
        let subject = text("sub").or_else(|| text("client_id")).or_else(|| text("azp")).map(Into::into);
        let scopes = scopes(&claims);
        Ok(Caller { subject, tenant, scopes, claims: Some(Arc::new(claims)), ..Caller::default() })
    }
}

/// A claim by its whole name (URLs have dots too), else by dotted path; text or an integer.
fn tenant(claims: &Value, path: &str) -> Option<String> {
    let claim = match claims.get(path) {
        Some(claim) => claim,
        None => path.split('.').try_fold(claims, |at, name| at.get(name))?,
    };
    match claim {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) if number.is_u64() || number.is_i64() => Some(number.to_string()),
        _ => None,
    }
}

/// `scope` (RFC 8693 §4.2: one text) and `scp` (a text or a list, as some issuers write it).
fn scopes(claims: &Value) -> Vec<String> {
    let mut scopes: Vec<String> = Vec::new();
    for key in ["scope", "scp"] {
        match claims.get(key) {
            Some(Value::String(text)) => scopes.extend(text.split_ascii_whitespace().map(str::to_owned)),
            Some(Value::Array(list)) => scopes.extend(list.iter().filter_map(|one| one.as_str().map(str::to_owned))),
            _ => {}
        }
    }
    scopes
}
