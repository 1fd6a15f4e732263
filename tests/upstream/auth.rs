//! Credentials that must be fetched: one request in flight, early renewal, fail closed.

use super::server::*;
use indexmap::IndexMap;
use rest_mcp::access::Caller;
use rest_mcp::catalog::{CredentialPlan, CredentialValue, Placement, SourcePlan};
use rest_mcp::mapping::{ClientAuth, ClientCredentials, TokenExchange};
use rest_mcp::request::{Credential, CredentialText};
use rest_mcp::response::NoAnswer;
use rest_mcp::secret::Secret;
use rest_mcp::upstream::Upstream;
use rest_mcp::upstream::auth::{NoCredential, Resolved};
use std::sync::Arc;

fn grant(url: &str, client_auth: ClientAuth) -> CredentialValue {
    CredentialValue::ClientCredentials(Arc::new(ClientCredentials {
        token_url: url.to_owned(),
        client_id: Secret::new("me & you"),
        client_secret: Secret::new("p:ss"),
        scopes: vec!["read".to_owned(), "write".to_owned()],
        audience: Some("https://api".to_owned()),
        client_auth,
    }))
}

fn source(value: Option<CredentialValue>) -> SourcePlan {
    let credential = |value| CredentialPlan { placement: Placement::Bearer, value, wanted: Vec::new() };
    let credentials = IndexMap::from([
        ("oauth".to_owned(), credential(value)),
        ("key".to_owned(), credential(Some(CredentialValue::Static(Secret::new("k"))))),
        ("none".to_owned(), credential(None)),
    ]);
    SourcePlan { credentials, ..plan("http://127.0.0.1:1", limits()) }
}

fn make(plan: SourcePlan) -> Upstream {
    Upstream::new(&[Arc::new(plan)]).unwrap()
}

fn secret(credential: &Credential) -> &str {
    match &credential.value {
        CredentialText::Secret(secret) => secret.expose(),
        CredentialText::UserPassword(user, _) => user.expose(),
    }
}

/// The only credential's value.
fn bearer(resolved: &Resolved) -> &str {
    assert_eq!(resolved.credentials.len(), 1);
    secret(&resolved.credentials[0])
}

fn wanted(names: &[&[&str]]) -> Vec<Vec<String>> {
    names.iter().map(|all| all.iter().map(|name| (*name).to_owned()).collect()).collect()
}

fn token(number: usize, lifetime: &str) -> Act {
    let body = format!("{{\"access_token\":\"t{number}\",\"token_type\":\"Bearer\",\"expires_in\":{lifetime}}}");
    Act::Send(answer("200 OK", "content-type: application/json\r\n", body))
}

#[tokio::test]
async fn many_calls_at_once_fetch_one_token() {
    let server = serve(|number, _| token(number, "3600")).await;
    let upstream = make(source(Some(grant(&server.url, ClientAuth::Basic))));
    let (wanted, caller) = (wanted(&[&["oauth"]]), Caller::default());
    let calls = (0..20).map(|_| upstream.credentials(0, &wanted, &caller, None));
    for got in futures_util::future::join_all(calls).await {
        assert_eq!(bearer(&got.unwrap()), "t0");
    }
    assert_eq!(server.count(), 1);
    let request = &server.requests()[0];
    // base64 of `me+%26+you:p%3Ass` (RFC 6749 §2.3.1)
    assert!(request.contains("authorization: Basic bWUrJTI2K3lvdTpwJTNBc3M="), "{request}");
    let form = "grant_type=client_credentials&scope=read+write&audience=https%3A%2F%2Fapi";
    assert!(request.ends_with(form), "{request}");
    // A reload keeps the token.
    let renewed = upstream.renew(&[Arc::new(source(Some(grant(&server.url, ClientAuth::Basic))))]).unwrap();
    assert_eq!(bearer(&renewed.credentials(0, &wanted, &caller, None).await.unwrap()), "t0");
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn client_id_and_secret_go_into_the_form_where_asked() {
    let server = serve(|number, _| token(number, "\"3600\"")).await;
    let upstream = make(source(Some(grant(&server.url, ClientAuth::Body))));
    upstream.credentials(0, &wanted(&[&["oauth"]]), &Caller::default(), None).await.unwrap();
    let request = &server.requests()[0];
    assert!(request.ends_with("&client_id=me+%26+you&client_secret=p%3Ass"), "{request}");
    assert!(!request.to_lowercase().contains("authorization:"), "{request}");
}

#[tokio::test]
async fn a_token_that_is_over_is_fetched_again() {
    let server = serve(|number, _| token(number, "0")).await;
    let upstream = make(source(Some(grant(&server.url, ClientAuth::Basic))));
    for expected in ["t0", "t1"] {
        let got = upstream.credentials(0, &wanted(&[&["oauth"]]), &Caller::default(), None).await.unwrap();
        assert_eq!(bearer(&got), expected);
    }
}

#[tokio::test]
async fn a_rejected_token_is_given_up_once() {
    let server = serve(|number, _| token(number, "3600")).await;
    let upstream = make(source(Some(grant(&server.url, ClientAuth::Basic))));
    let (wanted, caller) = (wanted(&[&["oauth"]]), Caller::default());
    let first = upstream.credentials(0, &wanted, &caller, None).await.unwrap();
    assert!(upstream.rejected(&first));
    let second = upstream.credentials(0, &wanted, &caller, None).await.unwrap();
    assert_eq!(bearer(&second), "t1");
    // Late news about the first token do not cost the second one.
    assert!(upstream.rejected(&first));
    assert!(!upstream.rejected(&second));
    assert_eq!(bearer(&upstream.credentials(0, &wanted, &caller, None).await.unwrap()), "t1");
    assert_eq!(server.count(), 2);
    let key = upstream.credentials(0, &[vec!["key".to_owned()]], &caller, None).await.unwrap();
    assert!(!upstream.rejected(&key));
}

#[tokio::test]
async fn a_failed_fetch_stops_the_call_and_is_remembered_for_a_moment() {
    for (status, body) in [
        ("401 Unauthorized", "{\"error\":\"invalid_client\"}"),
        ("200 OK", "<html>"),
        ("200 OK", "{\"token_type\":\"Bearer\"}"),
        ("200 OK", "{\"access_token\":\"x\",\"token_type\":\"mac\"}"),
        ("302 Found", ""),
    ] {
        let server = serve(move |_, _| Act::Send(answer(status, "location: /x\r\n", body))).await;
        let upstream = make(source(Some(grant(&server.url, ClientAuth::Basic))));
        for _ in 0..3 {
            let error = upstream.credentials(0, &wanted(&[&["oauth"]]), &Caller::default(), None).await.unwrap_err();
            let NoCredential::Failed(NoAnswer::Credential(name)) = error else { panic!("{error:?}") };
            assert_eq!(name, "oauth");
        }
        assert_eq!(server.count(), 1, "{status} {body}");
    }
}

#[tokio::test]
async fn an_exchange_sends_the_caller_s_token_and_keeps_callers_apart() {
    let server = serve(|number, _| token(number, "3600")).await;
    let upstream = make(source(Some(CredentialValue::Exchange(Arc::new(TokenExchange {
        token_url: server.url.clone(),
        audience: Some("api".to_owned()),
        scopes: vec!["a".to_owned()],
        client: None,
    })))));
    let caller = |token: &str| Caller { token: Some(Secret::new(token)), ..Caller::default() };
    let wanted = wanted(&[&["oauth"]]);
    for (token, expected) in [("one", "t0"), ("two", "t1"), ("one", "t0")] {
        let got = upstream.credentials(0, &wanted, &caller(token), None).await.unwrap();
        assert_eq!(bearer(&got), expected, "{token}");
    }
    let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&subject_token=one\
        &subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token\
        &requested_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token&audience=api&scope=a";
    assert!(server.requests()[0].ends_with(form), "{}", server.requests()[0]);
    // Without a token of the caller the call fails instead of going out without one.
    let error = upstream.credentials(0, &wanted, &Caller::default(), None).await.unwrap_err();
    assert!(matches!(error, NoCredential::Missing { .. }), "{error:?}");
}

#[tokio::test]
async fn the_first_configured_alternative_is_taken_and_none_is_invented() {
    let upstream = make(source(None));
    let caller = Caller::default();
    for (alternatives, expected) in [
        (wanted(&[]), Ok(vec![])),
        (wanted(&[&["key"]]), Ok(vec!["k"])),
        (wanted(&[&["none"], &["key"]]), Ok(vec!["k"])),
        (wanted(&[&["none", "key"], &["key"]]), Ok(vec!["k"])),
        (wanted(&[&[], &["key"]]), Ok(vec!["k"])),
        (wanted(&[&["none"], &[]]), Ok(vec![])),
        (wanted(&[&["none"]]), Err(vec!["none"])),
        (wanted(&[&["none", "unheard"], &["key", "none"]]), Err(vec!["none"])),
    ] {
        let got = upstream.credentials(0, &alternatives, &caller, None).await;
        let got = match &got {
            Ok(found) => Ok(found.credentials.iter().map(secret).collect::<Vec<_>>()),
            Err(NoCredential::Missing { names }) => Err(names.iter().map(String::as_str).collect()),
            Err(other) => panic!("{other:?}"),
        };
        assert_eq!(got, expected, "{alternatives:?}");
    }
}

#[tokio::test]
async fn a_tenant_s_own_credential_replaces_the_source_s() {
    let upstream = make(source(None));
    let own = IndexMap::from([("key".to_owned(), CredentialValue::Static(Secret::new("tenant")))]);
    let got = upstream.credentials(0, &wanted(&[&["key"]]), &Caller::default(), Some(&own)).await.unwrap();
    assert_eq!(bearer(&got), "tenant");
}

#[tokio::test]
async fn a_forwarded_header_loses_the_scheme_that_its_place_adds() {
    let upstream = make(source(Some(CredentialValue::Forward("authorization".to_owned()))));
    let mut caller = Caller::default();
    caller.headers.insert("authorization".to_owned(), "Bearer abc".to_owned());
    let got = upstream.credentials(0, &wanted(&[&["oauth"]]), &caller, None).await.unwrap();
    assert_eq!(bearer(&got), "abc");
}
