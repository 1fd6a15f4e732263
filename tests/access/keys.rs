//! Key sets by URL: rotation, single flight, bounded asking, stale keys.

use super::identity::headers;
use super::jwt::{Signer, good, settings};
use crate::upstream::server::{Act, Server, answer, serve};
use rest_mcp::mapping::Tls;
use rest_mcp::transport::identity::jwks::{KeyPlace, KeyTimes};
use rest_mcp::transport::identity::{Authenticator, Settings};
use rest_mcp::upstream::fetch::Document;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const FOREVER: Duration = Duration::from_secs(3600);

fn times(refresh: Duration, pause: Duration, stale: Duration) -> KeyTimes {
    KeyTimes { refresh, pause, stale }
}

fn authenticator(server: &Server, times: KeyTimes) -> Authenticator {
    let document =
        Document::new("jwks", &format!("{}/keys", server.url), Tls::default(), Duration::from_secs(5)).unwrap();
    let issuer = settings(KeyPlace::Remote(Arc::new(document)), times);
    Authenticator::new(Settings { jwt: vec![issuer], ..Settings::default() }).unwrap()
}

fn set(signers: &[&Signer]) -> Vec<u8> {
    let keys: Vec<_> = signers.iter().map(|signer| signer.jwk()).collect();
    answer("200 OK", "content-type: application/jwk-set+json\r\n", json!({ "keys": keys }).to_string())
}

async fn reason(authenticator: &Authenticator, token: &str) -> &'static str {
    let headers = headers(&[("authorization", &format!("Bearer {token}"))]);
    authenticator.authenticate(&headers, None).await.err().map_or("ok", |denied| denied.reason)
}

#[tokio::test]
async fn many_callers_ask_once_and_a_new_key_is_found_once() {
    let (old, new, never) = (Signer::new("old"), Signer::new("new"), Signer::new("never"));
    let (first, second) = (set(&[&old]), set(&[&old, &new]));
    let server = serve(move |number, _| Act::Send(if number == 0 { first.clone() } else { second.clone() })).await;
    let authenticator = authenticator(&server, times(FOREVER, Duration::ZERO, FOREVER));
    let token = old.sign(&good());
    let all = futures_util::future::join_all((0..20).map(|_| reason(&authenticator, &token))).await;
    assert!(all.iter().all(|reason| *reason == "ok"), "{all:?}");
    assert_eq!(server.count(), 1);
    assert_eq!(reason(&authenticator, &new.sign(&good())).await, "ok");
    assert_eq!(server.count(), 2);
    assert_eq!(reason(&authenticator, &never.sign(&good())).await, "token_key_unknown");
    assert_eq!(reason(&authenticator, &token).await, "ok");
    assert_eq!(server.count(), 3);
}

#[tokio::test]
async fn unknown_key_ids_do_not_become_a_flood_at_the_issuer() {
    let (known, unknown) = (Signer::new("known"), Signer::new("unknown"));
    let keys = set(&[&known]);
    let server = serve(move |_, _| Act::Send(keys.clone())).await;
    let authenticator = authenticator(&server, times(FOREVER, FOREVER, FOREVER));
    let (good_token, bad_token) = (known.sign(&good()), unknown.sign(&good()));
    for _ in 0..10 {
        assert_eq!(reason(&authenticator, &bad_token).await, "token_key_unknown");
        assert_eq!(reason(&authenticator, &good_token).await, "ok");
    }
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn old_keys_serve_while_the_issuer_is_away_but_not_for_ever() {
    for (stale, expected) in [(FOREVER, "ok"), (Duration::ZERO, "keys_unavailable")] {
        let signer = Signer::new("k");
        let keys = set(&[&signer]);
        let server = serve(move |number, _| match number {
            0 => Act::Send(keys.clone()),
            _ => Act::Send(answer("500 Internal Server Error", "", "")),
        })
        .await;
        let authenticator = authenticator(&server, times(Duration::ZERO, Duration::ZERO, stale));
        let token = signer.sign(&good());
        reason(&authenticator, &token).await;
        assert_eq!(reason(&authenticator, &token).await, expected);
        assert!(server.count() >= 2);
    }
}

#[tokio::test]
async fn without_keys_nobody_gets_in_and_the_fault_is_ours() {
    for document in [answer("200 OK", "", "{}"), answer("200 OK", "", "{\"keys\":[]}"), answer("404 Not Found", "", "")]
    {
        let server = serve(move |_, _| Act::Send(document.clone())).await;
        let authenticator = authenticator(&server, times(FOREVER, FOREVER, FOREVER));
        let headers = headers(&[("authorization", &format!("Bearer {}", Signer::new("k").sign(&good())))]);
        for _ in 0..3 {
            let denied = authenticator.authenticate(&headers, None).await.unwrap_err();
            assert_eq!((denied.status.as_u16(), denied.reason), (503, "keys_unavailable"));
        }
        assert_eq!(server.count(), 1);
    }
}
