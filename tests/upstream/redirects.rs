//! Redirects (RFC 9110 §15.4): same origin, other origin, internal addresses.

use super::server::*;
use http::{HeaderValue, Method};
use rest_mcp::mapping::{Limits, Redirects};
use rest_mcp::request::Request;
use rest_mcp::response::NoAnswer;
use rest_mcp::upstream::{SendOptions, is_internal};

fn rules(redirects: Redirects) -> Limits {
    Limits { redirects, allow_private: Some(true), ..limits() }
}

fn with_secrets(method: Method, url: &str) -> Request {
    let mut request = request(method, url);
    let mut key = HeaderValue::from_static("k3y");
    key.set_sensitive(true);
    request.headers.insert("x-api-key", key);
    request.headers.insert("authorization", HeaderValue::from_static("Bearer t0ken"));
    request.headers.insert("cookie", HeaderValue::from_static("session=c00kie"));
    request.headers.insert("x-plain", HeaderValue::from_static("plain"));
    request
}

#[tokio::test]
async fn within_the_origin_credentials_stay() {
    let server = serve(|number, _| match number {
        0 => Act::Send(answer("302 Found", "location: /there\r\n", "")),
        _ => Act::Send(answer("200 OK", "", "here")),
    })
    .await;
    let got = upstream(&server.url, rules(Redirects::SameOrigin))
        .send(0, with_secrets(Method::GET, &server.url), &idempotent())
        .await
        .unwrap();
    assert_eq!(&got.body[..], b"here");
    let second = &server.requests()[1];
    assert!(second.starts_with("GET /there ") && second.contains("k3y") && second.contains("t0ken"), "{second}");
}

#[tokio::test]
async fn across_origins_no_credential_goes_along() {
    let other = serve(|_, _| Act::Send(answer("200 OK", "", "there"))).await;
    let location = format!("location: {}/there\r\n", other.url);
    let server = serve(move |_, _| Act::Send(answer("307 Temporary Redirect", &location, ""))).await;
    let got = upstream(&server.url, rules(Redirects::Any))
        .send(0, with_secrets(Method::GET, &server.url), &idempotent())
        .await
        .unwrap();
    assert_eq!(&got.body[..], b"there");
    let seen = &other.requests()[0];
    assert!(seen.contains("x-plain: plain"), "{seen}");
    for secret in ["k3y", "t0ken", "c00kie"] {
        assert!(!seen.contains(secret), "{seen}");
    }
}

#[tokio::test]
async fn another_origin_is_refused_unless_allowed_and_gets_nothing() {
    let other = serve(|_, _| Act::Send(answer("200 OK", "", "there"))).await;
    let location = format!("location: {}/there\r\n", other.url);
    let server = serve(move |_, _| Act::Send(answer("302 Found", &location, ""))).await;
    let error = upstream(&server.url, rules(Redirects::SameOrigin))
        .send(0, with_secrets(Method::GET, &server.url), &idempotent())
        .await
        .unwrap_err();
    assert!(matches!(error, NoAnswer::Forbidden(_)), "{error:?}");
    assert_eq!(other.count(), 0);
}

#[tokio::test]
async fn with_none_the_redirect_is_the_answer() {
    let server = serve(|_, _| Act::Send(answer("302 Found", "location: /there\r\n", "moved"))).await;
    let got = upstream(&server.url, rules(Redirects::None)).send(0, get(&server.url), &idempotent()).await.unwrap();
    assert_eq!((got.status.as_u16(), &got.body[..], server.count()), (302, &b"moved"[..], 1));
}

#[tokio::test]
async fn an_internal_target_is_refused_even_where_any_origin_is_allowed() {
    for target in [
        "http://127.0.0.1:9/",
        "http://127.1:9/",
        "http://2130706433:9/",
        "http://0x7f.1:9/",
        "http://[::1]:9/",
        "http://[::ffff:127.0.0.1]:9/",
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "http://localhost:9/",
    ] {
        let location = format!("location: {target}\r\n");
        let server = serve(move |_, _| Act::Send(answer("302 Found", &location, ""))).await;
        let limits = Limits { redirects: Redirects::Any, retries: 0, ..limits() };
        let error = upstream(&server.url, limits).send(0, get(&server.url), &idempotent()).await.unwrap_err();
        assert!(matches!(error, NoAnswer::Forbidden(_)), "{target}: {error:?}");
    }
}

#[tokio::test]
async fn an_internal_source_is_refused_where_private_addresses_are_forbidden() {
    let server = serve(|_, _| Act::Send(answer("200 OK", "", ""))).await;
    let limits = Limits { allow_private: Some(false), retries: 0, ..limits() };
    for url in [server.url.clone(), server.url.replace("127.0.0.1", "localhost")] {
        let error = upstream(&url, limits.clone()).send(0, get(&url), &idempotent()).await.unwrap_err();
        assert!(matches!(error, NoAnswer::Forbidden(_)), "{url}: {error:?}");
    }
    assert_eq!(server.count(), 0);
}

#[tokio::test]
async fn targets_that_are_no_plain_http_urls_are_refused() {
    for location in ["ftp://example.com/", "file:///etc/passwd", "http://user:pw@127.0.0.1/", "http://", "javascript:x"]
    {
        let header = format!("location: {location}\r\n");
        let server = serve(move |_, _| Act::Send(answer("302 Found", &header, ""))).await;
        let error =
            upstream(&server.url, rules(Redirects::Any)).send(0, get(&server.url), &idempotent()).await.unwrap_err();
        assert!(matches!(error, NoAnswer::Forbidden(_)), "{location}: {error:?}");
    }
}

#[tokio::test]
async fn a_loop_ends_after_five_hops() {
    let server = serve(|_, _| Act::Send(answer("302 Found", "location: /again\r\n", ""))).await;
    let error =
        upstream(&server.url, rules(Redirects::SameOrigin)).send(0, get(&server.url), &idempotent()).await.unwrap_err();
    assert!(matches!(error, NoAnswer::Forbidden(_)), "{error:?}");
    assert_eq!(server.count(), 6);
}

#[tokio::test]
async fn method_and_body_change_as_the_standard_says() {
    for (method, status, expected, body_kept) in [
        (Method::POST, "301 Moved Permanently", "GET", false),
        (Method::POST, "302 Found", "GET", false),
        (Method::POST, "303 See Other", "GET", false),
        (Method::POST, "307 Temporary Redirect", "POST", true),
        (Method::POST, "308 Permanent Redirect", "POST", true),
        (Method::PUT, "302 Found", "PUT", true),
        (Method::PUT, "303 See Other", "GET", false),
        (Method::DELETE, "303 See Other", "GET", false),
        (Method::HEAD, "303 See Other", "HEAD", true),
    ] {
        let server = serve(move |number, _| match number {
            0 => Act::Send(answer(status, "location: /there\r\n", "")),
            _ => Act::Send(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec()),
        })
        .await;
        let mut sent = request(method.clone(), &server.url);
        sent.headers.insert("content-type", HeaderValue::from_static("text/plain"));
        sent.body = Some("payload".into());
        upstream(&server.url, rules(Redirects::SameOrigin)).send(0, sent, &SendOptions::default()).await.unwrap();
        let second = &server.requests()[1];
        assert!(second.starts_with(&format!("{expected} /there ")), "{method} {status}: {second}");
        assert_eq!(second.contains("payload"), body_kept, "{method} {status}: {second}");
        assert_eq!(second.contains("content-type"), body_kept, "{method} {status}: {second}");
    }
}

#[test]
fn internal_addresses_are_known_in_every_notation() {
    let internal = [
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "127.0.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "192.0.0.8",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:10.0.0.1",
        "::127.0.0.1",
        "fc00::1",
        "fd12::1",
        "fe80::1",
        "ff02::1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2001:db8::1",
    ];
    for text in internal {
        assert!(is_internal(text.parse().unwrap()), "{text}");
    }
    for text in
        ["1.1.1.1", "100.128.0.1", "172.32.0.1", "192.169.0.1", "2606:4700::1111", "64:ff9b::808:808", "::ffff:8.8.8.8"]
    {
        assert!(!is_internal(text.parse().unwrap()), "{text}");
    }
}
