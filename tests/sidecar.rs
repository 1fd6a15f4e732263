//! The whole server out of `rest-mcp.yaml`: who gets in, what they see, what is written down, what reloads change.

mod binary;
mod callers;
mod faults;
mod kinds;
mod official_client;
mod reloads;
mod replicas;
mod scopes;
mod seeing;
mod settings;
mod spread;
mod watching;

use crate::protocol::official;
use crate::upstream::server::{Act, Server, answer, serve};
use rest_mcp::app::{Named, Setup, Sidecar, Telemetry, load_all, refused};
use rest_mcp::protocol::Version;
use rest_mcp::reload::{self, Times};
use rest_mcp::transport::serve_http;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub const REVISION: &str = "2026-07-28";

/// A small API of pets and orders, with a key that every operation needs.
pub const API: &str = r#"
openapi: 3.1.0
info: { title: shop, version: "1" }
servers: [{ url: BACKEND }]
security: [{ key: [] }]
components:
  securitySchemes:
    key: { type: apiKey, in: header, name: X-Key }
paths:
  /pets:
    get: { operationId: findPets, summary: Find pets, tags: [pet], responses: { "200": { description: ok } } }
    post:
      operationId: addPet
      summary: Add a pet
      tags: [pet]
      requestBody: { content: { application/json: { schema: { type: object, properties: { name: { type: string }, password: { type: string } } } } } }
      responses: { "200": { description: ok } }
  /pets/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
    get: { operationId: getPet, summary: Get a pet, tags: [pet], responses: { "200": { description: ok } } }
    delete: { operationId: deletePet, summary: Delete a pet, tags: [pet, admin], responses: { "200": { description: ok } } }
  /orders:
    get: { operationId: getOrders, summary: Get orders, tags: [store], responses: { "200": { description: ok } } }
"#;

pub const MAPPING: &str = r#"
version: 1
sources:
  shop: { spec: api.yaml, credentials: { key: { value: "${file:secrets/key}" } } }
"#;

/// The value that the API's key has.
pub const KEY: &str = "upstream-key-0123456789";

/// Files of one server.
pub struct Folder(pub TempDir);

impl Folder {
    pub fn new(settings: &str, backend: &str) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        std::fs::create_dir(folder.path("secrets")).unwrap();
        folder.write("secrets/key", KEY);
        folder.write("api.yaml", &API.replace("BACKEND", backend));
        folder.write("mapping.yaml", MAPPING);
        folder
            .write("rest-mcp.yaml", &format!("version: 1\nmappings: [mapping.yaml]\nlisten: 127.0.0.1:0\n{settings}"));
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub async fn setup(&self) -> Setup {
        let named = Named { config: Some(self.path("rest-mcp.yaml").to_str().unwrap().to_owned()), ..Named::default() };
        let (setup, report) = Setup::read(&named).await;
        setup.unwrap_or_else(|| panic!("{}", report.render(false)))
    }

    pub async fn sidecar(&self) -> Arc<Sidecar> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let setup = self.setup().await;
        let (inputs, mut report) = setup.inputs().await;
        let loaded = load_all(&inputs, setup.environment.as_ref()).await;
        report.merge(loaded.report.clone());
        assert!(!refused(&report, false), "{}", report.render(false));
        let telemetry = Telemetry::start(&setup).unwrap();
        Sidecar::new(setup, loaded, telemetry, Vec::new(), false, rest_mcp::app::LoadThread::start().unwrap()).unwrap()
    }
}

/// A server that runs until dropped.
pub struct Running {
    pub sidecar: Arc<Sidecar>,
    pub folder: Folder,
    pub url: String,
    /// Asks for a reload, as SIGHUP does.
    pub ask: mpsc::Sender<()>,
    pub shutdown: CancellationToken,
    pub http: reqwest::Client,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

/// Files are read again only when asked: no clock decides a test.
pub const STILL: Times = Times { watch: false, quiet: Duration::ZERO, poll: Duration::ZERO };

pub async fn start(settings: &str, backend: &str) -> Running {
    run(Folder::new(settings, backend), STILL).await
}

pub async fn run(folder: Folder, times: Times) -> Running {
    let sidecar = folder.sidecar().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (shutdown, (ask, asked)) = (CancellationToken::new(), mpsc::channel(1));
    tokio::spawn(reload::run(sidecar.clone(), times, asked, shutdown.clone()));
    tokio::spawn(serve_http(listener, sidecar.server(), sidecar.transport(), shutdown.clone()));
    Running { sidecar, folder, url, ask, shutdown, http: reqwest::Client::new() }
}

/// An API that answers everything with what it was asked.
pub async fn echo() -> Server {
    serve(|number, request| {
        let line = request.lines().next().unwrap_or_default();
        let body = json!({"number": number, "line": line}).to_string();
        Act::Send(answer("200 OK", "content-type: application/json\r\n", body))
    })
    .await
}

/// A modern request without its envelope's id.
pub fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = REVISION.into();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
    params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "suite", "version": "7"});
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// What came back.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub challenge: Option<String>,
    pub body: Value,
    pub text: String,
}

impl Running {
    pub async fn post(&self, headers: &[(&str, &str)], message: &Value) -> Reply {
        post(&self.http, &self.url, headers, message).await
    }

    pub async fn call(&self, headers: &[(&str, &str)], tool: &str, arguments: Value) -> Reply {
        self.post(headers, &modern("tools/call", json!({"name": tool, "arguments": arguments}))).await
    }

    /// Names of listed tools, over all pages.
    pub async fn tools(&self, headers: &[(&str, &str)]) -> Vec<String> {
        let reply = self.post(headers, &modern("tools/list", json!({}))).await;
        let tools = reply.body["result"]["tools"].as_array().unwrap_or_else(|| panic!("{reply:?}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    pub async fn get(&self, path: &str, headers: &[(&str, &str)]) -> (u16, String) {
        let mut request = self.http.get(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    /// Reloads, and waits until it is over.
    pub async fn reload(&self) -> bool {
        rest_mcp::reload::Reloadable::reload(self.sidecar.clone()).await
    }

    /// Lines of the audit file so far.
    pub async fn audit(&self) -> Vec<Value> {
        self.sidecar.finish().await;
        lines(&self.folder.read("audit.jsonl"))
    }
}

pub async fn post(http: &reqwest::Client, url: &str, headers: &[(&str, &str)], message: &Value) -> Reply {
    let method = message["method"].as_str().unwrap_or_default();
    let mut request = http
        .post(format!("{url}/mcp"))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    if !message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_null() {
        request = request.header("mcp-protocol-version", REVISION).header("mcp-method", method);
        if let Some(name) = message["params"]["name"].as_str() {
            request = request.header("mcp-name", name);
        }
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = request.body(message.to_string()).send().await.unwrap();
    let status = response.status().as_u16();
    let challenge = response.headers().get("www-authenticate").map(|value| value.to_str().unwrap().to_owned());
    let text = response.text().await.unwrap();
    let body: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
    if body.get("jsonrpc").is_some() {
        checked(message, &body);
    }
    Reply { status, challenge, body, text }
}

/// An answer satisfies the official schema of the revision that its request speaks.
pub fn checked(request: &Value, answer: &Value) {
    let version = match request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_null() {
        false => Version::V2026_07_28,
        true => Version::V2025_11_25,
    };
    let method = request["method"].as_str().filter(|_| answer.get("result").is_some());
    official::check(version, answer, method);
}

pub fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

/// `sha256:` and the hash of a key.
pub fn hash(key: &str) -> String {
    use sha2::Digest;
    let digits: String = sha2::Sha256::digest(key).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}
