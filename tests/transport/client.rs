//! HTTP/1.1 by hand, over a plain socket.

use crate::protocol::double::{Double, Seen, catalog};
use crate::protocol::official;
use crate::protocol::peer::{initialize, modern_with};
use rest_mcp::catalog::Catalog;
use rest_mcp::protocol::{self, Server, Version};
use rest_mcp::transport::{Settings, serve_http};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub struct Site {
    pub address: std::net::SocketAddr,
    pub double: Arc<Double>,
    seen: tokio::sync::Mutex<UnboundedReceiver<Seen>>,
    pub shutdown: CancellationToken,
    pub serving: JoinHandle<io::Result<()>>,
}

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn code(&self) -> i64 {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        crate::protocol::peer::code(&self.json())
    }

    /// Status and JSON-RPC code.
    pub fn refusal(&self) -> (u16, i64) {
        (self.status, self.code())
    }
}

/// A response that is still coming in.
pub struct Incoming {
    socket: TcpStream,
    buffer: Vec<u8>,
    pub head: Response,
    text: String,
    ended: bool,
    events: VecDeque<Event>,
    version: Version,
    method: String,
}

#[derive(Debug, Default, Clone, PartialEq)]
pub struct Event {
    pub kind: String,
    pub id: Option<String>,
    pub retry: Option<String>,
    pub data: String,
    pub comment: bool,
}

impl Event {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Site {
    pub async fn start() -> Self {
        Self::with(protocol::Settings::default(), Settings::default()).await
    }

    pub async fn without_sessions() -> Self {
        let mut settings = Settings::default();
        settings.sessions.enabled = false;
        Self::with(protocol::Settings::default(), settings).await
    }

    pub async fn with(settings: protocol::Settings, limits: Settings) -> Self {
        Self::serving(catalog(), settings, limits).await
    }

    pub async fn serving(catalog: Catalog, settings: protocol::Settings, limits: Settings) -> Self {
        let (double, seen) = Double::new(catalog);
        let server = Arc::new(Server::new(double.clone(), settings).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let serving = tokio::spawn(serve_http(listener, server, limits, shutdown.clone()));
        Site { address, double, seen: seen.into(), shutdown, serving }
    }

    /// What happened next inside the service.
    pub async fn saw(&self) -> Option<Seen> {
        self.seen.lock().await.recv().await
    }

    /// Sends a request of its own connection; headers as given, one a line.
    pub async fn open(&self, method: &str, path: &str, headers: &[&str], body: &[u8]) -> Incoming {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|line| line.to_ascii_lowercase().starts_with("host:")) {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        for line in headers {
            head.push_str(line);
            head.push_str("\r\n");
        }
        if !body.is_empty() && !headers.contains(&"Transfer-Encoding: chunked") {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        let mut socket = TcpStream::connect(self.address).await.unwrap();
        socket.write_all(head.as_bytes()).await.unwrap();
        // A server that refuses by the head alone may close before the body is through.
        let _ = socket.write_all(body).await;
        Incoming::head(socket).await
    }

    pub async fn send(&self, method: &str, path: &str, headers: &[&str], body: &[u8]) -> Response {
        let mut incoming = self.open(method, path, headers, body).await;
        if method == "HEAD" {
            incoming.head.headers.retain(|(name, _)| name != "content-length");
        }
        incoming.whole().await
    }

    /// POST to the MCP endpoint with the usual headers and these.
    pub async fn post_open(&self, headers: &[&str], body: &Value) -> Incoming {
        let mut all = vec!["Content-Type: application/json", "Accept: application/json, text/event-stream"];
        all.extend(headers);
        let mut incoming = self.open("POST", "/mcp", &all, body.to_string().as_bytes()).await;
        let claim = body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string()
            || headers.contains(&"MCP-Protocol-Version: 2026-07-28");
        incoming.version = if claim { Version::V2026_07_28 } else { Version::V2025_11_25 };
        incoming.method = body["method"].as_str().unwrap_or_default().to_owned();
        incoming
    }

    pub async fn post(&self, headers: &[&str], body: &Value) -> Response {
        let incoming = self.post_open(headers, body).await;
        let (version, method) = (incoming.version, incoming.method.clone());
        let response = incoming.whole().await;
        if response.header("content-type") == Some("application/json") {
            let message = response.json();
            for one in message.as_array().map_or(std::slice::from_ref(&message), Vec::as_slice) {
                official::check(
                    version,
                    one,
                    Some(&method).filter(|_| one.get("result").is_some()).map(String::as_str),
                );
            }
        }
        response
    }

    /// A modern request with matching headers.
    pub async fn modern(&self, method: &str, params: Value) -> Response {
        self.modern_open(method, params).await.checked().await
    }

    pub async fn modern_open(&self, method: &str, params: Value) -> Incoming {
        let mut headers = vec!["MCP-Protocol-Version: 2026-07-28".to_owned(), format!("Mcp-Method: {method}")];
        if let Some(name) = params["name"].as_str().or(params["uri"].as_str()).or(params["taskId"].as_str()) {
            headers.push(format!("Mcp-Name: {name}"));
        }
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        self.post_open(&headers, &modern_with(json!(1), method, params, json!({"elicitation": {}}))).await
    }

    /// Opens a session; its id.
    pub async fn session(&self, version: Version) -> String {
        let response = self.post(&[], &initialize(version.as_str(), json!({"elicitation": {}, "sampling": {}}))).await;
        assert_eq!(response.status, 200);
        let id = response.header("mcp-session-id").unwrap().to_owned();
        let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(&[&format!("Mcp-Session-Id: {id}")], &done).await.status, 202);
        id
    }

    /// The open GET stream of a session.
    pub async fn listen(&self, session: &str, more: &[&str]) -> Incoming {
        let session = format!("Mcp-Session-Id: {session}");
        let mut headers = vec!["Accept: text/event-stream", session.as_str()];
        headers.extend(more);
        self.open("GET", "/mcp", &headers, b"").await
    }
}

impl Incoming {
    async fn head(mut socket: TcpStream) -> Self {
        let mut buffer = Vec::new();
        let end = loop {
            if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                break end;
            }
            let read = socket.read_buf(&mut buffer).await.unwrap();
            assert!(read > 0, "closed inside the head: {:?}", String::from_utf8_lossy(&buffer));
        };
        let text = String::from_utf8(buffer[..end].to_vec()).unwrap();
        let mut lines = text.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines
            .map(|line| line.split_once(':').unwrap())
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        buffer.drain(..end + 4);
        Incoming {
            socket,
            buffer,
            head: Response { status, headers, body: Vec::new() },
            text: String::new(),
            ended: false,
            events: VecDeque::new(),
            version: Version::V2025_11_25,
            method: String::new(),
        }
    }

    async fn more(&mut self) -> bool {
        self.socket.read_buf(&mut self.buffer).await.unwrap_or(0) > 0
    }

    /// The next piece of a chunked body; `None` at its end.
    async fn chunk(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|window| window == b"\r\n") {
                let size = std::str::from_utf8(&self.buffer[..end]).unwrap();
                let size = usize::from_str_radix(size, 16).unwrap();
                if self.buffer.len() >= end + 4 + size {
                    let data = self.buffer[end + 2..end + 2 + size].to_vec();
                    self.buffer.drain(..end + 4 + size);
                    return (size > 0).then_some(data);
                }
            }
            if !self.more().await {
                return None;
            }
        }
    }

    pub async fn whole(mut self) -> Response {
        if self.head.header("transfer-encoding") == Some("chunked") {
            while let Some(data) = self.chunk().await {
                self.head.body.extend(data);
            }
        } else {
            let length: usize = self.head.header("content-length").map_or(0, |length| length.parse().unwrap());
            while self.buffer.len() < length && self.more().await {}
            self.head.body = self.buffer[..length].to_vec();
        }
        self.head
    }

    /// The whole response, its one message checked.
    pub async fn checked(self) -> Response {
        let (version, method) = (self.version, self.method.clone());
        let response = self.whole().await;
        if response.header("content-type") == Some("application/json") {
            official::check(version, &response.json(), Some(&method));
        }
        response
    }

    /// The next event or comment; `None` at the end of the stream.
    pub async fn event(&mut self) -> Option<Event> {
        assert_eq!(self.head.header("content-type"), Some("text/event-stream"), "{:?}", self.head);
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if self.ended {
                assert_eq!(self.text, "", "an unfinished event");
                return None;
            }
            match self.chunk().await {
                Some(data) => self.text.push_str(&String::from_utf8(data).unwrap()),
                None => self.ended = true,
            }
            while let Some(end) = self.text.find("\n\n") {
                let mut event = Event::default();
                for line in self.text[..end].split('\n') {
                    match line.split_once(':').unwrap_or((line, "")) {
                        ("", _) => event.comment = true,
                        ("event", value) => event.kind = value.trim_start().to_owned(),
                        ("id", value) => event.id = Some(value.trim_start().to_owned()),
                        ("retry", value) => event.retry = Some(value.trim_start().to_owned()),
                        ("data", value) => event.data.push_str(value.strip_prefix(' ').unwrap_or(value)),
                        other => panic!("{other:?} in an event"),
                    }
                }
                self.text.drain(..end + 2);
                self.events.push_back(event);
            }
        }
    }

    /// The next message, checked; comments and priming events are passed over.
    pub async fn message(&mut self) -> Option<Value> {
        loop {
            let event = self.event().await?;
            if event.comment || event.data.is_empty() {
                continue;
            }
            assert_eq!(event.kind, "message");
            let message = event.json();
            let answer = message.get("result").is_some();
            official::check(self.version, &message, answer.then_some(self.method.as_str()));
            return Some(message);
        }
    }

    /// What the next messages are expected to be in.
    pub fn speaks(mut self, version: Version, method: &str) -> Self {
        self.version = version;
        self.method = method.to_owned();
        self
    }
}
