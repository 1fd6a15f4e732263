//! Connections that carry event streams: what comes before, after and instead of them (RFC 9112 §6, §7.1, §9.3).

use super::client::Site;
use crate::protocol::peer::{modern_with, request};
use rest_mcp::protocol::Version;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const HEALTH: &str = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
const LAST_HEALTH: &str = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// A call that reports progress three times, as bytes.
fn call(more: &str) -> String {
    let params = json!({"name": "progress", "_meta": {"progressToken": "t"}});
    let body = modern_with(json!(1), "tools/call", params, json!({})).to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: progress\r\n\
         {more}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

async fn all(socket: &mut TcpStream) -> String {
    let mut text = Vec::new();
    socket.read_to_end(&mut text).await.unwrap();
    String::from_utf8(text).unwrap()
}

/// Reads up to and including `end`.
async fn until(socket: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    while !text.ends_with(end) {
        text.push(char::from(socket.read_u8().await.unwrap()));
    }
    text
}

/// The answers on a connection, in order: head (in lower case) and body, chunks put together.
fn answers(mut text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    while !text.is_empty() {
        let (head, rest) = text.split_once("\r\n\r\n").unwrap();
        let head = head.to_ascii_lowercase();
        let mut body = String::new();
        text = rest;
        if head.contains("transfer-encoding: chunked") {
            loop {
                let (size, rest) = text.split_once("\r\n").unwrap();
                let (chunk, rest) = rest.split_at(usize::from_str_radix(size, 16).unwrap());
                body.push_str(chunk);
                text = rest.strip_prefix("\r\n").unwrap();
                if chunk.is_empty() {
                    break;
                }
            }
        } else {
            let length = head.split_once("content-length: ").unwrap().1;
            let length = length.split("\r\n").next().unwrap().parse().unwrap();
            let (all, rest) = text.split_at(length);
            (body, text) = (all.to_owned(), rest);
        }
        found.push((head, body));
    }
    found
}

/// The messages of an event stream.
fn messages(body: &str) -> Vec<Value> {
    body.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect()
}

fn is_the_call((head, body): &(String, String)) {
    assert!(head.starts_with("http/1.1 200 ok\r\n"), "{head}");
    assert!(head.contains("\r\ncontent-type: text/event-stream"), "{head}");
    assert_eq!(head.matches("\r\ndate: ").count(), 1, "{head}");
    assert!(!head.contains("content-length"), "{head}");
    let messages = messages(body);
    let told: Vec<&Value> = messages.iter().filter_map(|message| message["params"].get("progress")).collect();
    assert_eq!(told, [&json!(0), &json!(0.5), &json!(1)]);
    assert_eq!(messages.last().unwrap()["result"]["content"][0]["text"], "done");
    assert_eq!(messages.len(), 4);
}

#[tokio::test]
async fn a_connection_serves_on_after_an_event_stream() {
    let site = Site::start().await;
    let mut socket = TcpStream::connect(site.address).await.unwrap();
    // One after the other, twice: the state of the first stream is gone.
    for _ in 0..2 {
        socket.write_all(call("").as_bytes()).await.unwrap();
        let text = until(&mut socket, "\r\n0\r\n\r\n").await;
        is_the_call(&answers(&text)[0]);
    }
    socket.write_all(LAST_HEALTH.as_bytes()).await.unwrap();
    assert_eq!(answers(&all(&mut socket).await)[0].1, "ok");
}

#[tokio::test]
async fn requests_sent_ahead_are_answered_in_order() {
    let site = Site::start().await;
    let mut socket = TcpStream::connect(site.address).await.unwrap();
    let requests = [HEALTH, &call(""), HEALTH, &call(""), &call(""), LAST_HEALTH].concat();
    socket.write_all(requests.as_bytes()).await.unwrap();
    let found = answers(&all(&mut socket).await);
    assert_eq!(found.len(), 6);
    for at in [0, 2, 5] {
        assert_eq!(found[at].1, "ok");
    }
    for at in [1, 3, 4] {
        is_the_call(&found[at]);
    }
}

#[tokio::test]
async fn who_asks_for_it_gets_the_connection_closed() {
    let site = Site::start().await;
    for line in ["Connection: close\r\n", "Connection: keep-alive, Close\r\n"] {
        let mut socket = TcpStream::connect(site.address).await.unwrap();
        socket.write_all((call(line) + HEALTH).as_bytes()).await.unwrap();
        let found = answers(&all(&mut socket).await);
        assert_eq!(found.len(), 1);
        is_the_call(&found[0]);
        assert!(found[0].0.contains("\r\nconnection: close"), "{}", found[0].0);
    }
}

#[tokio::test]
async fn a_head_in_single_bytes_is_a_head() {
    let site = Site::start().await;
    let mut socket = TcpStream::connect(site.address).await.unwrap();
    socket.set_nodelay(true).unwrap();
    for byte in (call("") + LAST_HEALTH).bytes() {
        socket.write_all(&[byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    let found = answers(&all(&mut socket).await);
    is_the_call(&found[0]);
    assert_eq!(found[1].1, "ok");
}

#[tokio::test]
async fn what_a_get_brings_along_is_no_request() {
    let site = Site::start().await;
    let session = site.session(Version::V2025_11_25).await;
    let mut socket = TcpStream::connect(site.address).await.unwrap();
    let get = format!(
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\
         Content-Length: {}\r\n\r\n{HEALTH}",
        HEALTH.len()
    );
    socket.write_all(get.as_bytes()).await.unwrap();
    until(&mut socket, "data: \n\n\r\n").await;
    let end = site.send("DELETE", "/mcp", &[&format!("Mcp-Session-Id: {session}")], b"").await;
    assert_eq!(end.status, 204);
    assert_eq!(until(&mut socket, "0\r\n\r\n").await, "0\r\n\r\n");
    socket.write_all(LAST_HEALTH.as_bytes()).await.unwrap();
    assert_eq!(answers(&all(&mut socket).await).len(), 1);
}

#[tokio::test]
async fn a_client_that_does_not_know_chunks_gets_none() {
    let site = Site::start().await;
    let mut socket = TcpStream::connect(site.address).await.unwrap();
    socket.write_all(call("").replacen("HTTP/1.1", "HTTP/1.0", 1).as_bytes()).await.unwrap();
    let text = all(&mut socket).await;
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(!head.to_ascii_lowercase().contains("transfer-encoding"), "{head}");
    assert_eq!(messages(body).len(), 4);
    assert!(body.starts_with("event: message\n"), "{body}");
}

#[tokio::test]
async fn http_2_carries_event_streams_beside_each_other() {
    let site = Site::start().await;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().http2_prior_knowledge().no_proxy().build().unwrap();
    let session = site.session(Version::V2025_11_25).await;
    let url = format!("http://{}/mcp", site.address);
    let post = |id: i64| {
        let body = request(id, "tools/call", json!({"name": "progress", "_meta": {"progressToken": id}}));
        let request = client.post(&url).header("content-type", "application/json").header("mcp-session-id", &session);
        request.header("accept", "application/json, text/event-stream").body(body.to_string()).send()
    };
    let (one, two) = tokio::join!(post(1), post(2));
    for response in [one.unwrap(), two.unwrap()] {
        assert_eq!(response.version(), reqwest::Version::HTTP_2);
        assert_eq!(messages(&response.text().await.unwrap()).len(), 4);
    }
}
