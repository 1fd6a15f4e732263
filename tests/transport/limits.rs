//! What peers may cost: slow readers, too many connections, what is kept for who comes back, huge and broken input.

use super::client::Site;
use super::other_transports::Socket;
use crate::protocol::peer::{modern, request, text};
use rest_mcp::protocol::{self, Version};
use rest_mcp::service::Change;
use rest_mcp::transport::Settings;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;

const MEGABYTE: usize = 1 << 20;

async fn next_request_works(site: &Site) {
    let answer = site.modern("tools/call", json!({"name": "text"})).await;
    assert_eq!(text(&answer.json()), "hello\nworld");
}

fn short_patience() -> Settings {
    Settings { stall_timeout: Duration::from_millis(20), ..Settings::default() }
}

fn echo() -> Value {
    modern(json!(1), "tools/call", json!({"name": "echo", "arguments": {"text": "x".repeat(MEGABYTE)}}))
}

/// The bytes of one POST on a connection that is kept.
fn post(site: &Site, method: &str, name: Option<&str>, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let name = name.map_or(String::new(), |name| format!("Mcp-Name: {name}\r\n"));
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}Content-Length: {}\r\n\r\n{body}",
        site.address,
        body.len()
    )
    .into_bytes()
}

#[tokio::test]
async fn who_sends_requests_and_reads_no_answers_is_disconnected() {
    let site = Site::with(protocol::Settings::default(), short_patience()).await;
    let mut socket = TcpStream::connect(site.address).await.unwrap();
    let request = post(&site, "tools/call", Some("echo"), &echo());
    // Writing fails only once the server has closed.
    while socket.write_all(&request).await.is_ok() {}
    next_request_works(&site).await;
}

#[tokio::test]
async fn who_listens_and_does_not_read_is_disconnected() {
    let site = Site::with(protocol::Settings::default(), short_patience()).await;
    let mut socket = TcpStream::connect(site.address).await.unwrap();
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    // Each message names the subscription: a long name fills the buffers in between sooner.
    let id = json!("x".repeat(100_000));
    let listen = post(&site, "subscriptions/listen", None, &modern(id, "subscriptions/listen", wanted));
    socket.write_all(&listen).await.unwrap();
    let mut head = [0; 1];
    socket.read_exact(&mut head).await.unwrap();
    let mut other =
        site.modern_open("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})).await;
    other.message().await.unwrap();
    // Whoever reads hears of every change; the other is gone in the end.
    while site.double.changes.receiver_count() > 1 {
        site.double.changes.send(Change::Tools).unwrap();
        assert_eq!(other.message().await.unwrap()["method"], "notifications/tools/list_changed");
    }
    next_request_works(&site).await;
}

#[tokio::test]
async fn a_websocket_that_is_not_read_is_closed() {
    let site = Site::with(protocol::Settings::default(), short_patience()).await;
    let (mut socket, _) = Socket::open(&site).await;
    let frame = echo().to_string();
    let mut id = 1;
    while socket.send_raw(Message::text(frame.replacen("\"id\":1", &format!("\"id\":{id}"), 1))).await.is_ok() {
        id += 1;
    }
    next_request_works(&site).await;
}

#[tokio::test]
async fn no_more_connections_than_allowed_are_served_at_once() {
    let limits = Settings { max_connections: 2, ..Settings::default() };
    let site = Site::with(protocol::Settings::default(), limits).await;
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    let mut first = site.modern_open("subscriptions/listen", wanted.clone()).await;
    let mut second = site.modern_open("subscriptions/listen", wanted).await;
    first.message().await.unwrap();
    second.message().await.unwrap();
    // The third waits at the door: a change that happens now is heard before it is answered.
    let mut third = TcpStream::connect(site.address).await.unwrap();
    let list = post(&site, "tools/list", None, &modern(json!(3), "tools/list", json!({})));
    third.write_all(&list).await.unwrap();
    site.double.changes.send(Change::Tools).unwrap();
    first.message().await.unwrap();
    second.message().await.unwrap();
    let mut byte = [0; 1];
    let early = tokio::time::timeout(Duration::from_millis(20), third.read_exact(&mut byte)).await;
    assert!(early.is_err(), "answered while two others are connected");
    drop(first);
    third.read_exact(&mut byte).await.unwrap();
    assert_eq!(&byte, b"H");
}

#[tokio::test]
async fn what_is_kept_for_who_comes_back_is_bounded() {
    let limits = Settings { replay_messages: 3, ..Settings::default() };
    let site = Site::with(protocol::Settings::default(), limits).await;
    let id = site.session(Version::V2025_11_25).await;
    let mut stream = site.listen(&id, &[]).await.speaks(Version::V2025_11_25, "");
    let priming = stream.event().await.unwrap().id.unwrap();
    let mut last = priming.clone();
    for _ in 0..6 {
        site.double.changes.send(Change::Tools).unwrap();
        last = stream.event().await.unwrap().id.unwrap();
    }
    drop(stream);
    // Its first messages are gone: better no stream than one with a hole in it.
    let session = format!("Mcp-Session-Id: {id}");
    for (from, status) in [(&priming, 400), (&last, 200)] {
        let headers = ["Accept: text/event-stream", &session, &format!("Last-Event-ID: {from}")];
        assert_eq!(site.open("GET", "/mcp", &headers, b"").await.head.status, status, "{from}");
    }
}

#[tokio::test]
async fn the_bytes_kept_by_all_streams_together_are_bounded() {
    let limits = Settings { replay_bytes: 3 * MEGABYTE, ..Settings::default() };
    let site = Site::with(protocol::Settings::default(), limits).await;
    let id = site.session(Version::V2025_11_25).await;
    let session = format!("Mcp-Session-Id: {id}");
    let mut ids = Vec::new();
    // Each answer stays as a stream of its own, after progress that makes it one.
    for number in 0..4 {
        let mut params = json!({"name": "progress", "arguments": {"text": "x".repeat(MEGABYTE)}});
        params["_meta"]["progressToken"] = number.into();
        let mut stream = site.post_open(&[&session], &request(number, "tools/call", params)).await;
        ids.push(stream.event().await.unwrap().id.unwrap());
        while stream.event().await.is_some() {}
    }
    let last = format!("Last-Event-ID: {}", ids[3]);
    let headers = ["Accept: text/event-stream", &session, &last];
    assert_eq!(site.open("GET", "/mcp", &headers, b"").await.head.status, 200);
    next_request_works(&site).await;
}

#[tokio::test]
async fn a_hundred_megabytes_are_refused_on_every_door_before_they_are_kept() {
    let site = Site::start().await;
    let head = |more: &str| {
        format!("POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n{more}\r\n", site.address)
    };
    // The length alone is enough.
    let mut socket = TcpStream::connect(site.address).await.unwrap();
    socket.write_all(head("Content-Length: 104857600\r\n").as_bytes()).await.unwrap();
    let mut answer = vec![0; 12];
    socket.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, b"HTTP/1.1 413");
    // Without a length, what came is counted.
    let mut socket = TcpStream::connect(site.address).await.unwrap();
    socket.write_all(head("Transfer-Encoding: chunked\r\n").as_bytes()).await.unwrap();
    let chunk = [format!("{MEGABYTE:x}\r\n").as_bytes(), &vec![b' '; MEGABYTE], b"\r\n"].concat();
    let mut sent = 0;
    while sent < 100 && socket.write_all(&chunk).await.is_ok() {
        sent += 1;
    }
    assert!(sent < 100, "took {sent} MiB");
    next_request_works(&site).await;
    // A WebSocket frame that only says how long it will be.
    let (mut socket, _) = Socket::open(&site).await;
    let mut frame = vec![0x81, 0xff];
    frame.extend((100 * MEGABYTE as u64).to_be_bytes());
    frame.extend([0; 4]);
    socket.send_bytes(&frame).await;
    assert!(matches!(socket.close_code().await, Some(1009) | None));
    next_request_works(&site).await;
}

#[tokio::test]
async fn what_is_no_utf_8_is_refused_on_every_door() {
    let site = Site::start().await;
    let body = b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}";
    let response = site.send("POST", "/mcp", &["Content-Type: application/json"], body).await;
    assert_eq!(response.refusal(), (400, -32700));
    let (mut socket, _) = Socket::open(&site).await;
    // A text frame, masked with zeros, whose one byte is no UTF-8.
    socket.send_bytes(&[0x81, 0x81, 0, 0, 0, 0, 0xff]).await;
    assert!(matches!(socket.close_code().await, Some(1007) | None));
    next_request_works(&site).await;
}

#[tokio::test]
async fn headers_that_say_two_things_are_refused() {
    let site = Site::start().await;
    let body = modern(json!(1), "tools/call", json!({"name": "text"})).to_string();
    let usual = ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: text"];
    for twice in [
        "MCP-Protocol-Version: 2025-06-18",
        "MCP-Protocol-Version: 2026-07-28",
        "Mcp-Method: tools/list",
        "Mcp-Name: fail",
        "Mcp-Name: text",
        "mcp-name: text, fail",
    ] {
        let mut headers = vec!["Content-Type: application/json"];
        headers.extend(usual);
        headers.push(twice);
        let response = site.send("POST", "/mcp", &headers, body.as_bytes()).await;
        assert_eq!(response.refusal(), (400, -32020), "{twice}");
    }
    let id = site.session(Version::V2025_11_25).await;
    let (one, two) = (format!("Mcp-Session-Id: {id}"), "Mcp-Session-Id: other".to_owned());
    let ping = request(1, "ping", Value::Null).to_string();
    let response = site.send("POST", "/mcp", &["Content-Type: application/json", &one, &two], ping.as_bytes()).await;
    assert_eq!(response.refusal(), (400, -32600));
    next_request_works(&site).await;
}
