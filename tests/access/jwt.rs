//! The matrix of tokens: none gets in that should not.

use super::identity::{headers, key, resource};
use super::strings;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use rest_mcp::access::Caller;
use rest_mcp::transport::identity::jwks::{KeyPlace, KeySource, KeyTimes};
use rest_mcp::transport::identity::jwt::JwtSettings;
use rest_mcp::transport::identity::{Authenticator, Denied, Settings};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

pub const ISSUER: &str = "https://login.example";
pub const AUDIENCE: &str = "https://mcp.example/v1/mcp";

pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// A P-256 key pair: signs here, public half as a key of a set.
pub struct Signer {
    id: String,
    key: rcgen::KeyPair,
}

impl Signer {
    pub fn new(id: &str) -> Signer {
        Signer { id: id.to_owned(), key: rcgen::KeyPair::generate().unwrap() }
    }

    /// RFC 7518 §6.2: the uncompressed point is 4, x, y.
    pub fn jwk(&self) -> Value {
        let point = self.key.public_key_raw();
        assert_eq!((point.len(), point[0]), (65, 4));
        json!({
            "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": self.id,
            "x": URL_SAFE_NO_PAD.encode(&point[1..33]), "y": URL_SAFE_NO_PAD.encode(&point[33..]),
        })
    }

    pub fn sign(&self, claims: &Value) -> String {
        let mut header = Header::new(Algorithm::ES256);
        header.kid = Some(self.id.clone());
        self.sign_with(&header, claims)
    }

    pub fn sign_with(&self, header: &Header, claims: &Value) -> String {
        encode(header, claims, &EncodingKey::from_ec_pem(self.key.serialize_pem().as_bytes()).unwrap()).unwrap()
    }
}

pub fn good() -> Value {
    json!({"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "exp": now() + 600, "org": "acme", "scope": "read write"})
}

fn with(changes: Value) -> Value {
    let mut claims = good();
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            claims.as_object_mut().unwrap().remove(name);
        } else {
            claims[name] = value.clone();
        }
    }
    claims
}

pub fn settings(place: KeyPlace, times: KeyTimes) -> JwtSettings {
    JwtSettings {
        issuer: ISSUER.to_owned(),
        audiences: strings(&[AUDIENCE]),
        algorithms: Vec::new(),
        keys: KeySource { place, times },
        tenant_claim: Some("org".to_owned()),
    }
}

struct World {
    signer: Signer,
    authenticator: Authenticator,
    _folder: TempDir,
}

fn world(change: impl FnOnce(&mut JwtSettings, &mut Vec<Value>)) -> World {
    let signer = Signer::new("k1");
    let mut keys = vec![signer.jwk()];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jwks.json");
    let mut settings = settings(KeyPlace::File(path.clone()), KeyTimes::default());
    change(&mut settings, &mut keys);
    std::fs::write(&path, json!({ "keys": keys }).to_string()).unwrap();
    let settings = Settings {
        jwt: vec![settings],
        api_keys: vec![key("ci", "s3cret")],
        resource: Some(resource()),
        ..Settings::default()
    };
    World { signer, authenticator: Authenticator::new(settings).unwrap(), _folder: folder }
}

async fn present(authenticator: &Authenticator, token: &str) -> Result<Arc<Caller>, Denied> {
    authenticator.authenticate(&headers(&[("authorization", &format!("Bearer {token}"))]), None).await
}

#[tokio::test]
async fn a_good_token_makes_a_caller() {
    let world = world(|_, _| {});
    let token = world.signer.sign(&good());
    let caller = present(&world.authenticator, &token).await.unwrap();
    assert_eq!((caller.subject.as_deref(), caller.tenant.as_deref()), (Some("ann"), Some("acme")));
    assert_eq!(caller.scopes, ["read", "write"]);
    assert_eq!(caller.claims.as_ref().unwrap()["org"], "acme");
    assert_eq!(caller.token.as_ref().unwrap().expose(), token);
    let again = present(&world.authenticator, &token).await.unwrap();
    assert!(Arc::ptr_eq(&caller, &again), "the second time no signature is checked");
    assert_eq!(present(&world.authenticator, "s3cret").await.unwrap().subject.as_deref(), Some("ci"));
}

#[tokio::test]
async fn claims_may_take_the_forms_issuers_use() {
    let world = world(|settings, _| settings.tenant_claim = Some("realm.id".to_owned()));
    for (changes, tenant, scopes, subject) in [
        (json!({"realm": {"id": 7}}), "7", &["read", "write"][..], "ann"),
        (json!({"realm.id": "flat"}), "flat", &["read", "write"], "ann"),
        (json!({"realm": {"id": "x"}, "scope": null, "scp": ["a", "b"]}), "x", &["a", "b"], "ann"),
        (
            json!({"realm": {"id": "x"}, "scope": null, "scp": "a b", "sub": null, "client_id": "robot"}),
            "x",
            &["a", "b"],
            "robot",
        ),
        (json!({"realm": {"id": "x"}, "aud": ["https://elsewhere", AUDIENCE], "scope": ""}), "x", &[], "ann"),
    ] {
        let caller = present(&world.authenticator, &world.signer.sign(&with(changes.clone()))).await.unwrap();
        assert_eq!(caller.tenant.as_deref(), Some(tenant), "{changes}");
        assert_eq!(caller.scopes, scopes, "{changes}");
        assert_eq!(caller.subject.as_deref(), Some(subject), "{changes}");
    }
}

#[tokio::test]
async fn wrong_claims_are_refused() {
    let world = world(|_, _| {});
    for (changes, status, reason) in [
        (json!({"exp": now() - 600}), 401, "token_expired"),
        (json!({"exp": null}), 401, "token_claims"),
        (json!({"exp": "tomorrow"}), 401, "token_claims"),
        (json!({"nbf": now() + 600}), 401, "token_not_yet_valid"),
        (json!({"aud": "https://elsewhere.example"}), 401, "token_audience"),
        (json!({"aud": ["https://mcp.example"]}), 401, "token_audience"),
        (json!({"aud": null}), 401, "token_claims"),
        (json!({"aud": []}), 401, "token_audience"),
        (json!({"iss": "https://login.example/"}), 401, "token_issuer"),
        (json!({"iss": null}), 401, "token_claims"),
        (json!({"org": null}), 403, "tenant_missing"),
        (json!({"org": ""}), 403, "tenant_missing"),
        (json!({"org": ["acme"]}), 403, "tenant_missing"),
    ] {
        let denied = present(&world.authenticator, &world.signer.sign(&with(changes.clone()))).await.unwrap_err();
        assert_eq!((denied.status.as_u16(), denied.reason), (status, reason), "{changes}");
    }
}

#[tokio::test]
async fn wrong_signatures_and_keys_are_refused_with_one_voice() {
    let world = world(|_, _| {});
    let stranger = Signer::new("k1");
    let good_token = world.signer.sign(&good());
    let mut parts: Vec<&str> = good_token.split('.').collect();
    let other_claims = URL_SAFE_NO_PAD.encode(with(json!({"sub": "eve"})).to_string());
    parts[1] = &other_claims;
    let forged = parts.join(".");
    let mut unknown = Header::new(Algorithm::ES256);
    unknown.kid = Some("k9".to_owned());
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let claims = part(good());
    let none = format!("{}.{claims}.", part(json!({"alg": "none", "typ": "JWT"})));
    let none_with_key = format!("{}.{claims}.", part(json!({"alg": "none", "kid": "k1"})));
    let odd_none = format!("{}.{claims}.", part(json!({"alg": "nOnE"})));
    let critical = format!("{}.{claims}.AAAA", part(json!({"alg": "ES256", "kid": "k1", "crit": ["x"], "x": 1})));
    let mut hidden = None;
    for (token, reason) in [
        (stranger.sign(&good()), "token_signature"),
        (forged, "token_signature"),
        (world.signer.sign_with(&unknown, &good()), "token_key_unknown"),
        (none, "token_malformed"),
        (none_with_key, "token_malformed"),
        (odd_none, "token_malformed"),
        (critical, "token_malformed"),
        (format!("{good_token}x"), "token_signature"),
        (format!("{good_token}."), "token_malformed"),
        ("not.a.token".to_owned(), "token_malformed"),
        (String::from("x"), "token_malformed"),
    ] {
        let denied = present(&world.authenticator, &token).await.unwrap_err();
        if reason != "token_signature" || denied.reason != "token_malformed" {
            assert_eq!(denied.reason, reason, "{token}");
        }
        let outside = (denied.status, denied.www_authenticate);
        assert_eq!(*hidden.get_or_insert(outside.clone()), outside, "{token}");
    }
}

#[tokio::test]
async fn a_public_key_is_never_an_hmac_secret() {
    // The classic confusion: HS256 over the public key's bytes, in every form a verifier might take it.
    let plain = world(|_, _| {});
    let hmac_too = world(|settings, _| settings.algorithms = strings(&["ES256", "HS256"]));
    for world in [plain, hmac_too] {
        let point = world.signer.key.public_key_raw().to_vec();
        let der = pem_body(&world.signer.key.public_key_pem());
        let pem = world.signer.key.public_key_pem();
        let jwk = world.signer.jwk().to_string();
        for secret in [point.as_slice(), &der, pem.as_bytes(), jwk.as_bytes()] {
            let mut header = Header::new(Algorithm::HS256);
            header.kid = Some("k1".to_owned());
            let token = encode(&header, &good(), &EncodingKey::from_secret(secret).unwrap()).unwrap();
            assert_eq!(present(&world.authenticator, &token).await.unwrap_err().status.as_u16(), 401);
        }
    }
}

#[tokio::test]
async fn hmac_is_accepted_only_where_named() {
    let secret = "0123456789abcdef0123456789abcdef";
    let oct = json!({"kty": "oct", "kid": "shared", "k": URL_SAFE_NO_PAD.encode(secret)});
    let mut header = Header::new(Algorithm::HS256);
    header.kid = Some("shared".to_owned());
    let token = encode(&header, &good(), &EncodingKey::from_secret(secret.as_bytes()).unwrap()).unwrap();
    let silent = world(|_, keys| keys.push(oct.clone()));
    assert_eq!(present(&silent.authenticator, &token).await.unwrap_err().reason, "token_algorithm");
    let named = world(|settings, keys| {
        settings.algorithms = strings(&["HS256"]);
        keys.push(oct.clone());
    });
    assert!(present(&named.authenticator, &token).await.is_ok());
    // ... and then the asymmetric ones are not.
    let denied = present(&named.authenticator, &named.signer.sign(&good())).await.unwrap_err();
    assert_eq!(denied.reason, "token_algorithm");
}

#[tokio::test]
async fn keys_for_other_uses_or_algorithms_do_not_verify() {
    for change in
        [json!({"use": "enc"}), json!({"key_ops": ["sign"]}), json!({"alg": "ES384"}), json!({"alg": "ECDH-ES"})]
    {
        let world = world(|_, keys| {
            for (name, value) in change.as_object().unwrap() {
                keys[0][name] = value.clone();
            }
            keys.push(json!({"kty": "unheard-of", "kid": "odd"}));
            keys.push(Signer::new("k2").jwk());
        });
        let denied = present(&world.authenticator, &world.signer.sign(&good())).await.unwrap_err();
        assert_eq!(denied.reason, "token_key_unknown", "{change}");
    }
}

#[tokio::test]
async fn a_token_without_key_id_is_tried_with_the_fitting_keys() {
    let world = world(|_, keys| keys.insert(0, Signer::new("k0").jwk()));
    let token = world.signer.sign_with(&Header::new(Algorithm::ES256), &good());
    assert!(present(&world.authenticator, &token).await.is_ok());
}

#[test]
fn wrong_settings_are_all_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = settings(KeyPlace::File(folder.path().join("x")), KeyTimes::default());
    wrong.issuer = String::new();
    wrong.audiences = Vec::new();
    wrong.algorithms = strings(&["none", "RS1"]);
    let problems = Authenticator::new(Settings { jwt: vec![wrong], ..Settings::default() }).err().unwrap();
    assert_eq!(problems.len(), 4, "{problems:?}");
}

/// The DER bytes in a PEM text.
fn pem_body(pem: &str) -> Vec<u8> {
    let body: String = pem.lines().filter(|line| !line.starts_with("---")).collect();
    base64::engine::general_purpose::STANDARD.decode(body).unwrap()
}
