//! HTTP+SSE of 2024-11-05, and WebSocket.

use super::client::Site;
use crate::protocol::double::Seen;
use crate::protocol::official;
use crate::protocol::peer::{code, initialize, modern, request, text};
use futures_util::{SinkExt, StreamExt};
use rest_mcp::protocol::{self, Version};
use rest_mcp::service::Change;
use rest_mcp::transport::Settings;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

#[tokio::test]
async fn row_73_the_endpoint_comes_first_and_answers_travel_on_the_stream() {
    let site = Site::start().await;
    let mut stream = site.open("GET", "/sse", &["Accept: text/event-stream"], b"").await;
    assert_eq!(stream.head.header("x-accel-buffering"), Some("no"));
    let endpoint = stream.event().await.unwrap();
    assert_eq!(endpoint.kind, "endpoint");
    assert!(endpoint.data.starts_with("/messages?sessionId="), "{endpoint:?}");
    let mut stream = stream.speaks(Version::V2024_11_05, "initialize");
    let post = async |message: &Value| {
        let body = message.to_string();
        let response = site.send("POST", &endpoint.data, &["Content-Type: application/json"], body.as_bytes()).await;
        assert_eq!((response.status, response.body.len()), (202, 0));
    };
    post(&initialize("2024-11-05", json!({}))).await;
    assert_eq!(stream.message().await.unwrap()["result"]["protocolVersion"], "2024-11-05");
    post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    let mut stream = stream.speaks(Version::V2024_11_05, "tools/call");
    post(&request(2, "tools/call", json!({"name": "text"}))).await;
    assert_eq!(text(&stream.message().await.unwrap()), "hello\nworld");
    site.double.changes.send(Change::Tools).unwrap();
    assert_eq!(stream.message().await.unwrap()["method"], "notifications/tools/list_changed");
    // Served here are revisions with a handshake; the refusal sends a probing client to `initialize`.
    post(&modern(json!(3), "server/discover", json!({}))).await;
    assert_eq!(code(&stream.message().await.unwrap()), -32600);
    post(&json!("nonsense")).await;
    assert_eq!(code(&stream.message().await.unwrap()), -32600);
    // Closing the stream ends the session and what runs in it.
    post(&request(4, "tools/call", json!({"name": "wait"}))).await;
    assert_eq!(site.saw().await, Some(Seen::Started("wait".to_owned())));
    drop(stream);
    assert_eq!(site.saw().await, Some(Seen::Cancelled("wait".to_owned())));
    let response = site.send("POST", &endpoint.data, &[], b"{}").await;
    assert_eq!(response.refusal(), (404, -32600));
}

#[tokio::test]
async fn row_73_wrong_uses_of_the_two_endpoints() {
    let limits = Settings { max_body: 100, ..Settings::default() };
    let site = Site::with(protocol::Settings::default(), limits).await;
    assert_eq!(site.send("POST", "/sse", &[], b"{}").await.refusal(), (405, -32600));
    assert_eq!(site.send("GET", "/messages", &[], b"").await.refusal(), (405, -32600));
    assert_eq!(site.send("GET", "/sse", &["Accept: application/json"], b"").await.refusal(), (406, -32600));
    assert_eq!(site.send("POST", "/messages", &[], b"{}").await.refusal(), (400, -32600));
    assert_eq!(site.send("POST", "/messages?sessionId=nope", &[], b"{}").await.refusal(), (404, -32600));
    let mut stream = site.open("GET", "/sse", &[], b"").await;
    let endpoint = stream.event().await.unwrap().data;
    assert_eq!(site.send("POST", &endpoint, &[], &[b' '; 101]).await.refusal(), (413, -32600));
}

pub struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    pub async fn open(site: &Site) -> (Self, Option<String>) {
        let mut request = format!("ws://{}/ws", site.address).into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", "mcp".parse().unwrap());
        let (socket, response) = connect_async(request).await.unwrap();
        let protocol = response.headers().get("sec-websocket-protocol").map(|value| value.to_str().unwrap().to_owned());
        (Socket(socket), protocol)
    }

    async fn say(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).await.unwrap();
    }

    async fn hear(&mut self, version: Version, method: &str) -> Value {
        loop {
            match self.0.next().await.unwrap().unwrap() {
                Message::Text(text) => {
                    let message: Value = serde_json::from_str(&text).unwrap();
                    official::check(version, &message, message.get("result").is_some().then_some(method));
                    return message;
                }
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    pub async fn send_raw(&mut self, message: Message) -> Result<(), tungstenite::Error> {
        self.0.send(message).await
    }

    /// Bytes that the library would not send.
    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        let MaybeTlsStream::Plain(stream) = self.0.get_mut() else { panic!("TLS") };
        stream.write_all(bytes).await.unwrap();
    }

    pub async fn close_code(&mut self) -> Option<u16> {
        loop {
            match self.0.next().await {
                Some(Ok(Message::Close(frame))) => return frame.map(|frame| frame.code.into()),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return None,
            }
        }
    }
}

#[tokio::test]
async fn row_74_a_websocket_serves_both_eras_like_stdio() {
    let site = Site::start().await;
    let (mut socket, protocol) = Socket::open(&site).await;
    assert_eq!(protocol.as_deref(), Some("mcp"));
    socket.say(&modern(json!(1), "tools/call", json!({"name": "text"}))).await;
    assert_eq!(text(&socket.hear(Version::V2026_07_28, "tools/call").await), "hello\nworld");
    socket.say(&initialize("2025-11-25", json!({"elicitation": {}}))).await;
    socket.hear(Version::V2025_11_25, "initialize").await;
    socket.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    socket.say(&request(2, "tools/call", json!({"name": "ask"}))).await;
    let question = socket.hear(Version::V2025_11_25, "tools/call").await;
    socket.say(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "cancel"}})).await;
    assert_eq!(text(&socket.hear(Version::V2025_11_25, "tools/call").await), r#"{"action":"cancel"}"#);
    site.double.changes.send(Change::Tools).unwrap();
    assert_eq!(socket.hear(Version::V2025_11_25, "").await["method"], "notifications/tools/list_changed");
    socket.say(&request(3, "tools/call", json!({"name": "wait"}))).await;
    assert_eq!(site.saw().await, Some(Seen::Started("wait".to_owned())));
    socket.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}})).await;
    assert_eq!(site.saw().await, Some(Seen::Cancelled("wait".to_owned())));
    socket.say(&json!([request(4, "ping", Value::Null)])).await;
    assert_eq!(code(&socket.hear(Version::V2025_11_25, "").await), -32600);
    // Closing cancels what runs.
    socket.say(&request(5, "tools/call", json!({"name": "wait"}))).await;
    assert_eq!(site.saw().await, Some(Seen::Started("wait".to_owned())));
    socket.0.close(None).await.unwrap();
    assert_eq!(site.saw().await, Some(Seen::Cancelled("wait".to_owned())));
}

#[tokio::test]
async fn row_74_frames_that_are_no_text_or_too_long_close_the_socket() {
    let limits = Settings { max_frame: 1000, ..Settings::default() };
    let site = Site::with(protocol::Settings::default(), limits).await;
    let (mut socket, _) = Socket::open(&site).await;
    socket.0.send(Message::binary(b"{}".to_vec())).await.unwrap();
    assert_eq!(socket.close_code().await, Some(1003));
    let (mut socket, _) = Socket::open(&site).await;
    socket.0.send(Message::text("x".repeat(1001))).await.unwrap();
    assert!(matches!(socket.close_code().await, Some(1009) | None));
    let (mut socket, _) = Socket::open(&site).await;
    socket.0.send(Message::text("{")).await.unwrap();
    assert_eq!(code(&socket.hear(Version::V2026_07_28, "").await), -32700);
    socket.0.send(Message::Ping(b"a".to_vec().into())).await.unwrap();
    assert!(matches!(socket.0.next().await, Some(Ok(Message::Pong(_)))));
    assert_eq!(site.send("GET", "/ws", &[], b"").await.refusal(), (426, -32600));
}

#[tokio::test]
async fn row_74_the_upgrade_checks_the_origin() {
    let site = Site::start().await;
    let mut request = format!("ws://{}/ws", site.address).into_client_request().unwrap();
    request.headers_mut().insert("origin", "https://evil.example.com".parse().unwrap());
    match connect_async(request).await {
        Err(tungstenite::Error::Http(response)) => assert_eq!(response.status(), 403),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_shutdown_closes_sockets_after_their_answers() {
    let site = Site::start().await;
    let (mut socket, _) = Socket::open(&site).await;
    socket.say(&modern(json!(1), "tools/call", json!({"name": "wait_then_answer"}))).await;
    site.saw().await;
    site.shutdown.cancel();
    site.double.release.notify_one();
    assert_eq!(text(&socket.hear(Version::V2026_07_28, "tools/call").await), "released");
    assert_eq!(socket.close_code().await, Some(1001));
}
