//! API keys, anonymous callers, challenges and the metadata document.

use super::strings;
use http::{HeaderMap, HeaderName, HeaderValue};
use rest_mcp::access::Caller;
use rest_mcp::transport::identity::certificate::ClientCertificate;
use rest_mcp::transport::identity::{ApiKey, Authenticator, CertificateRules, Denied, Resource, Settings};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::sync::Arc;

pub fn key(name: &str, value: &str) -> ApiKey {
    let digits: String = Sha256::digest(value).iter().map(|byte| format!("{byte:02x}")).collect();
    ApiKey {
        name: name.to_owned(),
        hash: format!("sha256:{digits}"),
        tenant: Some(format!("{name}-tenant")),
        scopes: strings(&["read"]),
    }
}

pub fn headers(fields: &[(&str, &str)]) -> HeaderMap {
    fields
        .iter()
        .map(|(name, value)| (HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap()))
        .collect()
}

pub fn resource() -> Resource {
    Resource {
        url: "https://mcp.example/v1/mcp".to_owned(),
        authorization_servers: strings(&["https://login.example"]),
        scopes: strings(&["read"]),
    }
}

async fn ask(authenticator: &Authenticator, fields: &[(&str, &str)]) -> Result<Arc<Caller>, Denied> {
    authenticator.authenticate(&headers(fields), None).await
}

#[tokio::test]
async fn the_matrix_of_api_keys() {
    let settings = Settings { api_keys: vec![key("ci", "s3cret"), key("app", "other")], ..Settings::default() };
    let keys = Authenticator::new(settings).unwrap();
    for fields in [
        &[("authorization", "Bearer s3cret")][..],
        &[("authorization", "bearer  s3cret")],
        &[("x-api-key", "s3cret")],
        &[("authorization", "Bearer s3cret"), ("x-api-key", "wrong")],
    ] {
        let caller = ask(&keys, fields).await.unwrap();
        assert_eq!(
            (caller.subject.as_deref(), caller.tenant.as_deref()),
            (Some("ci"), Some("ci-tenant")),
            "{fields:?}"
        );
        assert_eq!(caller.scopes, ["read"]);
        assert!(caller.token.is_none());
    }
    for (fields, status, reason) in [
        (&[][..], 401, "no_credential"),
        (&[("authorization", "Bearer S3CRET")], 401, "unknown_key"),
        (&[("authorization", "Bearer s3cre")], 401, "unknown_key"),
        (&[("authorization", "Bearer ci")], 401, "unknown_key"),
        (&[("authorization", "Bearer ")], 401, "other_scheme"),
        (&[("authorization", "Basic czNjcmV0")], 401, "other_scheme"),
        (&[("authorization", "s3cret")], 401, "other_scheme"),
        (&[("x-api-key", "wrong")], 401, "unknown_key"),
        (&[("authorization", "Bearer wrong"), ("x-api-key", "s3cret")], 401, "unknown_key"),
        (&[("x-api-key", "s3cret"), ("x-api-key", "s3cret")], 400, "malformed_credential"),
        (&[("authorization", "Bearer s3cret"), ("authorization", "Bearer other")], 400, "malformed_credential"),
    ] {
        let denied = keys.authenticate(&repeated(fields), None).await.unwrap_err();
        assert_eq!((denied.status.as_u16(), denied.reason), (status, reason), "{fields:?}");
        assert!(denied.www_authenticate.is_some_and(|text| text.starts_with("Bearer ")), "{fields:?}");
    }
    assert!(ask(&keys, &[("authorization", &format!("Bearer {}", "x".repeat(20_000)))]).await.is_err());
}

fn repeated(fields: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.append(HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap());
    }
    headers
}

#[tokio::test]
async fn a_wrong_credential_is_not_taken_for_none() {
    let settings = Settings { api_keys: vec![key("ci", "s3cret")], anonymous: true, ..Settings::default() };
    let both = Authenticator::new(settings).unwrap();
    assert!(ask(&both, &[]).await.unwrap().subject.is_none());
    assert!(ask(&both, &[("authorization", "Bearer wrong")]).await.is_err());
    assert!(ask(&both, &[("x-api-key", "wrong")]).await.is_err());
    // Where nobody reads it, the header is no credential for us.
    assert!(ask(&Authenticator::open(), &[("authorization", "Bearer for the API")]).await.is_ok());
}

#[tokio::test]
async fn every_wrong_credential_gets_the_same_challenge() {
    let settings = Settings { api_keys: vec![key("ci", "s3cret")], resource: Some(resource()), ..Settings::default() };
    let keys = Authenticator::new(settings).unwrap();
    let metadata = "resource_metadata=\"https://mcp.example/.well-known/oauth-protected-resource/v1/mcp\"";
    let denied = ask(&keys, &[]).await.unwrap_err();
    assert_eq!(denied.www_authenticate.unwrap(), format!("Bearer scope=\"read\", {metadata}"));
    for token in ["wrong", "a.b.c", "s3cretx"] {
        let denied = ask(&keys, &[("authorization", &format!("Bearer {token}"))]).await.unwrap_err();
        assert_eq!(denied.status.as_u16(), 401);
        assert_eq!(
            denied.www_authenticate.unwrap(),
            format!("Bearer error=\"invalid_token\", scope=\"read\", {metadata}"),
            "{token}"
        );
    }
    assert_eq!(
        keys.insufficient_scope(&strings(&["admin", "no good", "a\"b", "write"])),
        format!("Bearer error=\"insufficient_scope\", scope=\"admin write\", {metadata}")
    );
}

#[test]
fn the_metadata_document_is_where_and_what_the_standard_says() {
    let settings = Settings { anonymous: true, resource: Some(resource()), ..Settings::default() };
    let with = Authenticator::new(settings).unwrap();
    let paths = ["/.well-known/oauth-protected-resource/v1/mcp", "/.well-known/oauth-protected-resource"];
    assert_eq!(with.metadata_paths(), paths);
    assert_eq!(
        with.metadata().unwrap(),
        json!({
            "resource": "https://mcp.example/v1/mcp",
            "authorization_servers": ["https://login.example"],
            "bearer_methods_supported": ["header"],
            "scopes_supported": ["read"],
        })
    );
    let root = Resource { url: "https://mcp.example:8443/".to_owned(), ..resource() };
    let root = Authenticator::new(Settings { anonymous: true, resource: Some(root), ..Settings::default() }).unwrap();
    assert_eq!(root.metadata_paths(), ["/.well-known/oauth-protected-resource"]);
    assert_eq!(root.metadata_url().unwrap(), "https://mcp.example:8443/.well-known/oauth-protected-resource");
    assert!(Authenticator::open().metadata().is_none());
}

#[tokio::test]
async fn a_certificate_names_caller_and_tenant() {
    let certificate = |subject: &[(&str, &str)]| ClientCertificate {
        subject: subject.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        ..ClientCertificate::default()
    };
    let rules = CertificateRules { tenant_from: Some("O".to_owned()), scopes: strings(&["read"]) };
    let settings = Settings { certificates: Some(rules), api_keys: vec![key("ci", "s3cret")], ..Settings::default() };
    let mutual = Authenticator::new(settings).unwrap();
    let good = certificate(&[("O", "acme"), ("CN", "robot")]);
    let caller = mutual.authenticate(&HeaderMap::new(), Some(&good)).await.unwrap();
    assert_eq!((caller.subject.as_deref(), caller.tenant.as_deref()), (Some("robot"), Some("acme")));
    let denied = mutual.authenticate(&HeaderMap::new(), Some(&certificate(&[("CN", "robot")]))).await.unwrap_err();
    assert_eq!((denied.status.as_u16(), denied.reason), (403, "certificate_without_tenant"));
    assert_eq!(mutual.authenticate(&HeaderMap::new(), None).await.unwrap_err().status.as_u16(), 401);
    // A bad bearer token is not saved by a good certificate.
    assert!(mutual.authenticate(&headers(&[("authorization", "Bearer bad")]), Some(&good)).await.is_err());
}

#[tokio::test]
async fn only_headers_that_a_mapping_asks_for_are_kept() {
    let open = Authenticator::open();
    let request = repeated(&[("x-tenant", "a"), ("x-tenant", "b"), ("cookie", "c"), ("x-request-id", "1")]);
    assert!(open.authenticate(&request, None).await.unwrap().headers.is_empty());
    open.keep_headers(strings(&["X-Tenant", "x-request-id", "x-absent", "no good"]));
    let caller = open.authenticate(&request, None).await.unwrap();
    let kept: Vec<(&str, &str)> = caller.headers.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!(kept, [("x-tenant", "a, b"), ("x-request-id", "1")]);
}

#[test]
fn wrong_settings_are_all_told() {
    let mut bad = key("bad", "x");
    bad.hash = "sha256:abc".to_owned();
    let resource = Resource { url: "/mcp".to_owned(), ..resource() };
    let settings = Settings { api_keys: vec![bad], resource: Some(resource), ..Settings::default() };
    assert_eq!(Authenticator::new(settings).err().unwrap().len(), 2);
    assert_eq!(Authenticator::new(Settings::default()).err().unwrap().len(), 1);
}
