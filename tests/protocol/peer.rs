//! A client at the other end of a pipe, typing messages by hand.

use super::double::{Double, Seen, catalog};
use super::official;
use rest_mcp::catalog::Catalog;
use rest_mcp::protocol::{Server, Settings, Version};
use rest_mcp::transport;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub struct Peer {
    output: BufReader<ReadHalf<DuplexStream>>,
    input: Option<WriteHalf<DuplexStream>>,
    pub double: Arc<Double>,
    pub server: Arc<Server>,
    pub seen: UnboundedReceiver<Seen>,
    pub shutdown: CancellationToken,
    serving: JoinHandle<io::Result<()>>,
    /// By id: method and revision of what was asked.
    asked: HashMap<String, (String, Version)>,
    /// The revision of messages that answer nothing.
    pub version: Version,
}

/// `_meta` of a modern request that declares these capabilities.
pub fn meta(capabilities: Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities
    })
}

/// A modern request without `id`-bookkeeping of its own.
pub fn modern(id: Value, method: &str, params: Value) -> Value {
    modern_with(id, method, params, json!({}))
}

pub fn modern_with(id: Value, method: &str, mut params: Value, capabilities: Value) -> Value {
    let mut all = meta(capabilities);
    for (key, value) in params["_meta"].as_object().cloned().unwrap_or_default() {
        all[key.as_str()] = value;
    }
    params["_meta"] = all;
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "id": id.into(), "method": method});
    if !params.is_null() {
        message["params"] = params;
    }
    message
}

pub fn initialize(version: &str, capabilities: Value) -> Value {
    request(
        "init",
        "initialize",
        json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}}),
    )
}

impl Peer {
    pub fn start() -> Self {
        Self::with(catalog(), Settings::default(), transport::Settings::default())
    }

    /// Resources that it subscribes to are asked about all the time.
    pub fn watching() -> Self {
        let settings = Settings { watch_every: Duration::from_millis(1), ..Settings::default() };
        Self::with(catalog(), settings, transport::Settings::default())
    }

    pub fn with(catalog: Catalog, settings: Settings, limits: transport::Settings) -> Self {
        let (double, seen) = Double::new(catalog);
        let server = Arc::new(Server::new(double.clone(), settings).unwrap());
        let (ours, theirs) = duplex(1 << 20);
        let (output, input) = split(ours);
        let (their_input, their_output) = split(theirs);
        let shutdown = CancellationToken::new();
        let stop = shutdown.clone();
        let served = server.clone();
        let serving =
            tokio::spawn(async move { transport::serve_stdio(served, &limits, their_input, their_output, stop).await });
        Peer {
            output: BufReader::new(output),
            input: Some(input),
            double,
            server,
            seen,
            shutdown,
            serving,
            asked: HashMap::new(),
            version: Version::V2026_07_28,
        }
    }

    /// A legacy session past the handshake.
    pub async fn legacy(version: Version, capabilities: Value) -> Self {
        let mut peer = Self::start();
        peer.handshake(version, capabilities).await;
        peer
    }

    pub async fn handshake(&mut self, version: Version, capabilities: Value) -> Value {
        self.version = version;
        let answer = self.ask(initialize(version.as_str(), capabilities)).await;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        answer
    }

    pub async fn send(&mut self, message: &Value) {
        for one in message.as_array().map_or(std::slice::from_ref(message), Vec::as_slice) {
            if let (Some(method), Some(id)) = (one["method"].as_str(), one.get("id")) {
                let claim = one["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string();
                let version = if claim { Version::V2026_07_28 } else { self.version };
                self.asked.insert(id.to_string(), (method.to_owned(), version));
            }
        }
        self.line(message.to_string().as_bytes()).await;
    }

    pub async fn line(&mut self, bytes: &[u8]) {
        self.bytes(bytes).await;
        self.bytes(b"\n").await;
    }

    pub async fn bytes(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).await.unwrap();
    }

    /// The next message expects to be an answer to this.
    pub fn expect(&mut self, id: Value, method: &str, version: Version) {
        self.asked.insert(id.to_string(), (method.to_owned(), version));
    }

    /// The next message, checked.
    pub async fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).await.unwrap();
        assert!(line.ends_with('\n'), "the output ended: {line:?}");
        let message: Value = serde_json::from_str(&line).unwrap();
        for one in message.as_array().map_or(std::slice::from_ref(&message), Vec::as_slice) {
            let asked = one.get("method").is_none().then(|| self.asked.remove(&one["id"].to_string())).flatten();
            let version = asked.as_ref().map_or(self.version, |(_, version)| *version);
            official::check(version, one, asked.as_ref().map(|(method, _)| method.as_str()));
        }
        message
    }

    pub async fn ask(&mut self, message: Value) -> Value {
        self.send(&message).await;
        self.hear().await
    }

    pub async fn call(&mut self, name: &str) -> Value {
        self.ask(request(format!("call {name}"), "tools/call", json!({"name": name}))).await
    }

    /// Closes the input; what is left of the output, once the server has ended.
    pub async fn finish(mut self) -> Vec<Value> {
        self.close_input().await;
        let mut rest = Vec::new();
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).await.unwrap() == 0 {
                break;
            }
            rest.push(serde_json::from_str(&line).unwrap());
        }
        self.serving.await.unwrap().unwrap();
        rest
    }

    pub async fn close_input(&mut self) {
        self.input.as_mut().unwrap().shutdown().await.unwrap();
    }
}

/// Text of the first block.
pub fn text(response: &Value) -> &str {
    response["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {response:#}"))
}

pub fn code(response: &Value) -> i64 {
    response["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {response:#}"))
}
