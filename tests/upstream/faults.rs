//! Connections and statuses that fail.

use super::server::*;
use http::{Method, StatusCode};
use rest_mcp::mapping::{self, Breaker, Duration as Limit, Limits};
use rest_mcp::response::{NoAnswer, TimeoutKind};
use rest_mcp::upstream::SendOptions;
use std::time::{Duration, SystemTime};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn a_good_answer_comes_back_whole_over_one_connection() {
    let server = serve(|_, _| Act::Send(answer("200 OK", "x-a: b\r\n", "hello"))).await;
    let upstream = upstream(&server.url, limits());
    for _ in 0..3 {
        let got = upstream.send(0, get(&format!("{}/a?b=c", server.url)), &idempotent()).await.unwrap();
        assert_eq!((got.status, &got.body[..], got.truncated), (StatusCode::OK, &b"hello"[..], false));
        assert_eq!(got.headers["x-a"], "b");
    }
    assert_eq!((server.count(), server.connections()), (3, 1));
    let request = &server.requests()[0];
    assert!(request.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(concat!("user-agent: rest-mcp/", env!("CARGO_PKG_VERSION"))), "{request}");
}

#[tokio::test]
async fn a_connection_that_was_closed_while_nobody_used_it_costs_no_call() {
    let mut server = serve(|number, _| match number {
        0 => Act::SendAndClose(answer("200 OK", "", "first")),
        _ => Act::Send(answer("200 OK", "", "second")),
    })
    .await;
    let upstream = upstream(&server.url, Limits { retries: 0, ..limits() });
    upstream.send(0, get(&server.url), &idempotent()).await.unwrap();
    server.ended(1).await;
    // Nothing of it was sent over the closed one, so even this may go out again.
    let got = upstream.send(0, request(Method::POST, &server.url), &SendOptions::default()).await.unwrap();
    assert_eq!(&got.body[..], b"second");
    assert_eq!((server.count(), server.connections()), (2, 2));
}

#[tokio::test]
async fn a_connection_with_a_rest_of_an_answer_on_it_is_not_used_again() {
    let mut server = serve(|number, _| match number {
        0 => Act::Endless(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n".to_vec(), b"x".repeat(1024)),
        _ => Act::Send(answer("200 OK", "", "fine")),
    })
    .await;
    let upstream = upstream(&server.url, Limits { max_response: mapping::Bytes(10), ..limits() });
    let cut = upstream.send(0, get(&server.url), &idempotent()).await.unwrap();
    assert_eq!((&cut.body[..], cut.truncated), (&b"xxxxxxxxxx"[..], true));
    // It is closed at once, not when somebody needs one.
    server.ended(1).await;
    assert_eq!(&upstream.send(0, get(&server.url), &idempotent()).await.unwrap().body[..], b"fine");
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn an_answer_that_nobody_asked_for_is_never_the_answer_to_the_next_call() {
    let mut two = answer("200 OK", "", "first");
    two.extend(answer("200 OK", "", "of nobody"));
    let server = serve(move |number, _| match number {
        0 => Act::Send(two.clone()),
        _ => Act::Send(answer("200 OK", "", "second")),
    })
    .await;
    let upstream = upstream(&server.url, Limits { retries: 0, ..limits() });
    for expected in ["first", "second", "second"] {
        let got = upstream.send(0, request(Method::POST, &server.url), &SendOptions::default()).await.unwrap();
        assert_eq!(got.body, expected);
    }
    // The connection with the surplus on it was given up, the next one was kept.
    assert_eq!((server.count(), server.connections()), (3, 2));
}

#[tokio::test]
async fn refused_is_told_as_no_connection_and_tried_again_for_any_method() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let upstream = upstream(&url, limits());
    let error = upstream.send(0, request(Method::POST, &url), &SendOptions::default()).await.unwrap_err();
    assert!(matches!(error, NoAnswer::Connect(_)), "{error:?}");
}

#[tokio::test]
async fn a_reset_before_the_answer_is_repeated_only_where_that_is_harmless() {
    for (method, options, sent) in
        [(Method::GET, idempotent(), 3), (Method::POST, SendOptions::default(), 1), (Method::PUT, idempotent(), 3)]
    {
        let server = serve(|_, _| Act::SendAndReset(Vec::new())).await;
        let upstream = upstream(&server.url, limits());
        let error = upstream.send(0, request(method.clone(), &server.url), &options).await.unwrap_err();
        assert!(matches!(error, NoAnswer::Broken(_)), "{method}: {error:?}");
        assert_eq!(server.count(), sent, "{method}");
    }
}

#[tokio::test]
async fn after_a_reset_the_repeat_answers() {
    let server = serve(|number, _| match number {
        0 => Act::SendAndReset(Vec::new()),
        _ => Act::Send(answer("200 OK", "", "fine")),
    })
    .await;
    let upstream = upstream(&server.url, limits());
    let got = upstream.send(0, get(&server.url), &idempotent()).await.unwrap();
    assert_eq!(&got.body[..], b"fine");
    assert_eq!(server.count(), 2);
}

#[tokio::test]
async fn silence_ends_at_the_limit_that_was_set_and_the_next_call_works() {
    let server = serve(|number, _| match number {
        0 | 1 => Act::SendAndHang(Vec::new()),
        _ => Act::Send(answer("200 OK", "", "fine")),
    })
    .await;
    let first_byte = Duration::from_millis(40);
    let upstream = upstream(&server.url, Limits { first_byte_timeout: Some(Limit(first_byte)), ..limits() });
    let error = upstream.send(0, get(&server.url), &idempotent()).await.unwrap_err();
    assert!(matches!(error, NoAnswer::Timeout(TimeoutKind::FirstByte, limit) if limit == first_byte), "{error:?}");
    let whole = Duration::from_millis(30);
    let options = SendOptions { timeout: Some(whole), ..idempotent() };
    let error = upstream.send(0, get(&server.url), &options).await.unwrap_err();
    assert!(matches!(error, NoAnswer::Timeout(TimeoutKind::Total, limit) if limit == whole), "{error:?}");
    assert_eq!(&upstream.send(0, get(&server.url), &idempotent()).await.unwrap().body[..], b"fine");
    assert_eq!(server.count(), 3);
}

#[tokio::test]
async fn an_answer_that_trickles_ends_at_the_whole_limit() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n".to_vec();
    let server = serve(move |_, _| Act::Trickle(head.clone())).await;
    // No byte is late by itself.
    let first_byte_timeout = Some(Limit(Duration::from_secs(20)));
    let upstream = upstream(&server.url, Limits { first_byte_timeout, ..limits() });
    let options = SendOptions { timeout: Some(Duration::from_millis(300)), ..idempotent() };
    let error = upstream.send(0, get(&server.url), &options).await.unwrap_err();
    assert!(matches!(error, NoAnswer::Timeout(TimeoutKind::Total, _)), "{error:?}");
}

#[tokio::test]
async fn a_503_storm_is_bounded_and_the_last_answer_is_shown() {
    for (options, sent) in [(idempotent(), 3), (SendOptions::default(), 1)] {
        let server = serve(|_, _| Act::Send(answer("503 Service Unavailable", "", "later"))).await;
        let upstream = upstream(&server.url, limits());
        let got = upstream.send(0, get(&server.url), &options).await.unwrap();
        assert_eq!((got.status.as_u16(), &got.body[..]), (503, &b"later"[..]));
        assert_eq!(server.count(), sent);
    }
}

#[tokio::test]
async fn statuses_that_are_answers_are_never_repeated() {
    for status in
        ["400 Bad Request", "404 Not Found", "409 Conflict", "500 Internal Server Error", "501 Not Implemented"]
    {
        let server = serve(move |_, _| Act::Send(answer(status, "", "no"))).await;
        let upstream = upstream(&server.url, limits());
        upstream.send(0, get(&server.url), &idempotent()).await.unwrap();
        assert_eq!(server.count(), 1, "{status}");
    }
}

#[tokio::test]
async fn a_429_is_repeated_only_with_retry_after_and_only_if_there_is_time() {
    let past = "retry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    let far = "retry-after: 86400\r\n";
    for (header, options, sent) in [
        ("", idempotent(), 1),
        ("retry-after: 0\r\n", idempotent(), 3),
        (past, idempotent(), 3),
        ("retry-after: soon\r\n", idempotent(), 1),
        (far, idempotent(), 1),
        ("retry-after: 0\r\n", SendOptions::default(), 1),
    ] {
        let server = serve(move |_, _| Act::Send(answer("429 Too Many Requests", header, ""))).await;
        let upstream = upstream(&server.url, limits());
        let got = upstream.send(0, get(&server.url), &options).await.unwrap();
        assert_eq!((got.status.as_u16(), server.count()), (429, sent), "{header}");
    }
}

#[test]
fn retry_after_is_seconds_or_a_date() {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777 - 60); // 60 s before the date below
    for (text, expected) in [
        ("120", Some(120)),
        (" 5 ", Some(5)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", Some(60)),
        ("Sunday, 06-Nov-94 08:49:37 GMT", Some(60)),
        ("Sun Nov  6 08:49:37 1994", Some(60)),
        ("Sun, 06 Nov 1983 08:49:37 GMT", Some(0)),
        ("-1", None),
        ("1.5", None),
        ("", None),
    ] {
        let mut headers = http::HeaderMap::new();
        headers.insert("retry-after", text.parse().unwrap());
        assert_eq!(rest_mcp::upstream::retry_after(&headers, now), expected.map(Duration::from_secs), "{text}");
    }
}

#[tokio::test]
async fn an_open_breaker_sends_nothing_and_one_good_answer_closes_it() {
    let server = serve(|number, _| match number {
        0..=2 => Act::SendAndReset(Vec::new()),
        _ => Act::Send(answer("200 OK", "", "")),
    })
    .await;
    let breaker = |cooldown| Some(Breaker { failures: 2, cooldown: Limit(cooldown) });
    let slow = upstream(&server.url, Limits { breaker: breaker(Duration::from_secs(3600)), retries: 0, ..limits() });
    for _ in 0..2 {
        assert!(matches!(slow.send(0, get(&server.url), &idempotent()).await, Err(NoAnswer::Broken(_))));
    }
    let error = slow.send(0, get(&server.url), &idempotent()).await.unwrap_err();
    assert!(matches!(error, NoAnswer::CircuitOpen(left) if left <= Duration::from_secs(3600)), "{error:?}");
    assert_eq!(server.count(), 2);
    assert_eq!(slow.breakers(), [("api", 1)]);
    let fast = upstream(&server.url, Limits { breaker: breaker(Duration::ZERO), retries: 0, ..limits() });
    assert!(fast.send(0, get(&server.url), &idempotent()).await.is_err());
    for _ in 0..3 {
        assert!(fast.send(0, get(&server.url), &idempotent()).await.is_ok());
    }
    assert_eq!(fast.breakers(), [("api", 0)]);
}

#[tokio::test]
async fn beyond_the_concurrency_a_call_is_told_to_come_again() {
    let server = serve(|_, _| Act::SendAndHang(Vec::new())).await;
    let upstream = upstream(&server.url, Limits { concurrency: 1, ..limits() });
    let cancel = CancellationToken::new();
    let first = SendOptions { cancel: cancel.clone(), ..idempotent() };
    let second = SendOptions { timeout: Some(Duration::from_millis(80)), ..idempotent() };
    let (first, second) = tokio::join!(upstream.send(0, get(&server.url), &first), async {
        let result = upstream.send(0, get(&server.url), &second).await;
        cancel.cancel();
        result
    });
    assert!(matches!(second, Err(NoAnswer::Busy(_))), "{second:?}");
    assert!(matches!(first, Err(NoAnswer::Cancelled)), "{first:?}");
    assert!(server.count() <= 1);
}

#[tokio::test]
async fn beyond_the_rate_a_call_is_told_when_to_come_again() {
    let server = serve(|_, _| Act::Send(answer("200 OK", "", ""))).await;
    let upstream = upstream(&server.url, Limits { rate: Some("2/h".to_owned()), ..limits() });
    for _ in 0..2 {
        upstream.send(0, get(&server.url), &idempotent()).await.unwrap();
    }
    let error = upstream.send(0, get(&server.url), &idempotent()).await.unwrap_err();
    assert!(matches!(error, NoAnswer::Busy(wait) if wait > Duration::from_secs(60)), "{error:?}");
    assert_eq!(server.count(), 2);
}

#[tokio::test]
async fn a_reload_keeps_the_state_of_sources_that_did_not_change() {
    let server = serve(|_, _| Act::Send(answer("200 OK", "", ""))).await;
    let rated = Limits { rate: Some("1/h".to_owned()), ..limits() };
    let before = upstream(&server.url, rated.clone());
    before.send(0, get(&server.url), &idempotent()).await.unwrap();
    let same = before.renew(&[std::sync::Arc::new(plan(&server.url, rated))]).unwrap();
    assert!(matches!(same.send(0, get(&server.url), &idempotent()).await, Err(NoAnswer::Busy(_))));
    let wider = Limits { rate: Some("2/h".to_owned()), ..limits() };
    let other = same.renew(&[std::sync::Arc::new(plan(&server.url, wider))]).unwrap();
    assert!(other.send(0, get(&server.url), &idempotent()).await.is_ok());
}

#[tokio::test]
async fn a_cancelled_call_hangs_up_on_the_api() {
    let (closed, mut seen) = tokio::sync::mpsc::channel(1);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let cancel = CancellationToken::new();
    let fire = cancel.clone();
    tokio::spawn(async move {
        use tokio::io::AsyncReadExt;
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut part = [0; 1024];
        assert!(socket.read(&mut part).await.unwrap() > 0);
        fire.cancel();
        while socket.read(&mut part).await.is_ok_and(|count| count > 0) {}
        closed.send(()).await.unwrap();
    });
    let upstream = upstream(&url, limits());
    let result = upstream.send(0, get(&url), &SendOptions { cancel, ..idempotent() }).await;
    assert!(matches!(result, Err(NoAnswer::Cancelled)), "{result:?}");
    seen.recv().await.unwrap();
}

#[tokio::test]
async fn a_name_that_does_not_exist_is_told_as_such() {
    let url = "http://no-such-host.invalid/";
    let upstream = upstream(url, Limits { retries: 0, ..limits() });
    let error = upstream.send(0, get(url), &idempotent()).await.unwrap_err();
    assert!(matches!(error, NoAnswer::Dns(_)), "{error:?}");
}

#[tokio::test]
async fn an_answer_that_is_no_http_is_told_as_such() {
    let server = serve(|_, _| Act::SendAndClose(b"SSH-2.0-OpenSSH\r\n\r\n".to_vec())).await;
    let upstream = upstream(&server.url, limits());
    let error = upstream.send(0, get(&server.url), &SendOptions::default()).await.unwrap_err();
    assert!(matches!(error, NoAnswer::Body(_)), "{error:?}");
}

#[test]
fn wrong_settings_are_all_told_with_the_source_s_name() {
    let mut bad = plan("http://127.0.0.1:1", Limits { concurrency: 0, rate: Some("fast".to_owned()), ..limits() });
    let problems = rest_mcp::upstream::Upstream::new(&[std::sync::Arc::new(bad)]).unwrap_err();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems.iter().all(|text| text.starts_with("source `api`: limits.")), "{problems:?}");
    bad = plan("http://127.0.0.1:1", limits());
    bad.tls.ca = Some("/nonexistent/ca.pem".to_owned());
    bad.tls.cert = Some("/nonexistent/cert.pem".to_owned());
    let problems = rest_mcp::upstream::Upstream::new(&[std::sync::Arc::new(bad)]).unwrap_err();
    assert_eq!(problems.len(), 3, "{problems:?}");
}

#[tokio::test]
async fn a_url_that_would_change_on_the_way_is_not_sent() {
    let server = serve(|_, _| Act::Send(answer("200 OK", "", ""))).await;
    let upstream = upstream(&server.url, limits());
    for path in ["/a/../b", "/a/%2e%2e/b", "/a/.%2E", "/a\\b", "/a/./b", "/a#b", "/a/\tb"] {
        let url = format!("{}{path}", server.url);
        let result = upstream.send(0, get(&url), &idempotent()).await;
        assert!(matches!(result, Err(NoAnswer::Forbidden(_))), "{path}: {result:?}");
    }
    assert_eq!(server.count(), 0);
    for path in ["", "/", "?a=b", "/a%2Fb/c%20d?x=%26&y=a+b&z='q'", "/a//b/", "/a;b=c/(d)!$&*,=:@"] {
        let url = format!("{}{path}", server.url);
        upstream.send(0, get(&url), &idempotent()).await.unwrap();
    }
    assert!(server.requests()[3].starts_with("GET /a%2Fb/c%20d?x=%26&y=a+b&z="), "{:?}", server.requests());
    assert!(server.requests()[4].starts_with("GET /a//b/ "), "{:?}", server.requests());
    assert!(server.requests()[5].starts_with("GET /a;b=c/(d)!$&*,=:@ "), "{:?}", server.requests());
}
