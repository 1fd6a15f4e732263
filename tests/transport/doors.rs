//! Who gets in: Host, Origin, CORS; the plain routes; start and end of the server.

use super::client::Site;
use crate::protocol::peer::{modern, text};
use rest_mcp::protocol;
use rest_mcp::transport::Settings;
use rest_mcp::workers::Workers;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test]
async fn row_57_foreign_hosts_and_origins_are_403_on_every_door() {
    let limits = Settings {
        hosts: vec!["mcp.example".to_owned()],
        origins: vec!["https://app.example".to_owned()],
        ..Settings::default()
    };
    let site = Site::with(protocol::Settings::default(), limits).await;
    let body = modern(json!(1), "tools/list", json!({})).to_string();
    for (method, path) in [
        ("POST", "/mcp"),
        ("GET", "/mcp"),
        ("DELETE", "/mcp"),
        ("OPTIONS", "/mcp"),
        ("GET", "/sse"),
        ("POST", "/messages"),
        ("GET", "/ws"),
    ] {
        for headers in [
            vec!["Host: evil.example.com"],
            vec!["Host: evil.example.com", "Origin: http://evil.example.com"],
            vec!["Host: localhost.evil.example"],
            vec!["Host: "],
            vec!["Host: 127.0.0.1:1", "Origin: http://evil.example.com"],
            vec!["Host: 127.0.0.1:1", "Origin: null"],
            vec!["Host: 127.0.0.1:1", "Origin: http://127.0.0.1.evil.example"],
            vec!["Host: 127.0.0.1:1", "Origin: http://localhost", "Origin: http://evil.example.com"],
            vec!["Host: 127.0.0.1:1", "Origin: https://app.example.evil.example"],
        ] {
            let mut all = headers.clone();
            all.push("Content-Type: application/json");
            let response = site.send(method, path, &all, if method == "POST" { body.as_bytes() } else { b"" }).await;
            assert_eq!(response.refusal(), (403, -32600), "{method} {path} {headers:?}");
            assert_eq!(response.header("access-control-allow-origin"), None);
        }
    }
    for headers in [
        vec!["Host: localhost:8080"],
        vec!["Host: [::1]:8080", "Origin: http://[::1]:3000"],
        vec!["Host: 127.0.0.1", "Origin: http://localhost:6274"],
        vec!["Host: mcp.example", "Origin: https://mcp.example"],
        vec!["Host: MCP.example:443", "Origin: https://app.example"],
    ] {
        let mut all = headers.clone();
        all.extend(["Content-Type: application/json", "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/list"]);
        let response = site.send("POST", "/mcp", &all, body.as_bytes()).await;
        assert_eq!(response.status, 200, "{headers:?}");
        let origin = headers.iter().find_map(|header| header.strip_prefix("Origin: "));
        assert_eq!(response.header("access-control-allow-origin"), origin);
    }
}

#[tokio::test]
async fn preflights_allow_what_clients_send() {
    let site = Site::start().await;
    let headers = [
        "Origin: http://localhost:6274",
        "Access-Control-Request-Method: POST",
        "Access-Control-Request-Headers: content-type, mcp-param-region, x-evil",
    ];
    let response = site.send("OPTIONS", "/mcp", &headers, b"").await;
    assert_eq!(response.status, 204);
    assert_eq!(response.header("access-control-allow-origin"), Some("http://localhost:6274"));
    let allowed = response.header("access-control-allow-headers").unwrap().to_ascii_lowercase();
    for name in [
        "content-type",
        "accept",
        "authorization",
        "mcp-protocol-version",
        "mcp-session-id",
        "last-event-id",
        "mcp-method",
        "mcp-name",
        "mcp-param-region",
    ] {
        assert!(allowed.contains(name), "{name}");
    }
    assert!(!allowed.contains("x-evil"));
    assert_eq!(response.header("access-control-expose-headers"), Some("Mcp-Session-Id, WWW-Authenticate"));
}

#[tokio::test]
async fn health_readiness_and_further_routes() {
    let extra = axum::Router::new().route("/metrics", axum::routing::get(|| async { "up 1" }));
    let limits = Settings { extra, ..Settings::default() };
    let ready = limits.ready.clone();
    let site = Site::with(protocol::Settings::default(), limits).await;
    for (path, status, body) in [("/healthz", 200, "ok"), ("/readyz", 200, "ready"), ("/metrics", 200, "up 1")] {
        let response = site.send("GET", path, &[], b"").await;
        assert_eq!((response.status, response.body.as_slice()), (status, body.as_bytes()));
    }
    ready.store(false, Ordering::Relaxed);
    assert_eq!(site.send("GET", "/readyz", &[], b"").await.status, 503);
}

#[tokio::test]
async fn a_switched_off_transport_is_not_there() {
    let limits = Settings { mcp_path: None, sse_path: None, websocket_path: None, ..Settings::default() };
    let site = Site::with(protocol::Settings::default(), limits).await;
    for path in ["/mcp", "/sse", "/messages", "/ws"] {
        assert_eq!(site.send("GET", path, &[], b"").await.status, 404);
    }
}

#[tokio::test]
async fn paths_that_can_not_be_routed_are_refused_at_start() {
    for (mcp, sse) in [("mcp", "/sse"), ("/same", "/same"), ("/{x}", "/sse"), ("/healthz", "/sse"), ("/a", "/messages")]
    {
        let limits = Settings { mcp_path: Some(mcp.to_owned()), sse_path: Some(sse.to_owned()), ..Settings::default() };
        let site = Site::with(protocol::Settings::default(), limits).await;
        let error = site.serving.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    }
}

#[tokio::test]
async fn a_shutdown_answers_what_is_in_flight_and_takes_nothing_new() {
    for workers in [None, Some(Arc::new(Workers::of(2).unwrap()))] {
        answers_what_is_in_flight(Settings { workers, ..Settings::default() }).await;
    }
}

async fn answers_what_is_in_flight(settings: Settings) {
    let site = Site::with(protocol::Settings::default(), settings).await;
    let double = site.double.clone();
    let (address, shutdown) = (site.address, site.shutdown.clone());
    let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
    let body = modern(json!(1), "tools/call", json!({"name": "wait_then_answer"})).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: wait_then_answer\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    site.saw().await;
    shutdown.cancel();
    double.release.notify_one();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    let json = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(text(&json), "released");
    site.serving.await.unwrap().unwrap();
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn requests_follow_each_other_on_one_connection() {
    let site = Site::start().await;
    let mut socket = tokio::net::TcpStream::connect(site.address).await.unwrap();
    let one = |bad: bool| {
        let body = if bad { "{".to_owned() } else { modern(json!(1), "tools/list", json!({})).to_string() };
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\nContent-Length: {}\r\n\r\n{body}",
            site.address,
            body.len()
        )
    };
    socket.write_all(format!("{}{}{}", one(true), one(false), one(true)).as_bytes()).await.unwrap();
    socket.shutdown().await.unwrap();
    let mut all = Vec::new();
    socket.read_to_end(&mut all).await.unwrap();
    let all = String::from_utf8_lossy(&all);
    let statuses: Vec<&str> = all.matches("HTTP/1.1 400").chain(all.matches("HTTP/1.1 200")).collect();
    assert_eq!(statuses, ["HTTP/1.1 400", "HTTP/1.1 400", "HTTP/1.1 200"]);
}

#[tokio::test]
async fn smuggled_and_broken_heads_close_the_connection() {
    let site = Site::start().await;
    for head in [
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Name: a\r\n b\r\n\r\n",
        "nonsense\r\n\r\nnonsense nonsense\r\n\r\n",
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
    ] {
        let mut socket = tokio::net::TcpStream::connect(site.address).await.unwrap();
        socket.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let _ = socket.read_to_string(&mut answer).await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{head:?}: {answer:?}");
    }
    assert_eq!(site.modern("tools/list", json!({})).await.status, 200);
}

#[tokio::test]
async fn http_2_carries_calls_and_its_authority_is_checked_like_a_host() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let site = Site::start().await;
    let client = reqwest::Client::builder().http2_prior_knowledge().no_proxy().build().unwrap();
    let body = modern(json!(1), "tools/call", json!({"name": "text"})).to_string();
    let post = async |host: &str| {
        client
            .post(format!("http://{host}:{}/mcp", site.address.port()))
            .header("content-type", "application/json")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", "text")
            .body(body.clone())
            .send()
            .await
            .unwrap()
    };
    let response = post("localhost").await;
    assert_eq!((response.version(), response.status().as_u16()), (http::Version::HTTP_2, 200));
    assert_eq!(text(&serde_json::from_str(&response.text().await.unwrap()).unwrap()), "hello\nworld");
    let evil = reqwest::Client::builder()
        .http2_prior_knowledge()
        .no_proxy()
        .resolve("evil.example", site.address)
        .build()
        .unwrap();
    let address = format!("http://evil.example:{}/mcp", site.address.port());
    let response =
        evil.post(address).header("content-type", "application/json").body(body.clone()).send().await.unwrap();
    assert_eq!(response.status().as_u16(), 403);
}
