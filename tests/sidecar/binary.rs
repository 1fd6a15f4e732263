//! The real binary: settings picked up, signals, health.

use super::{Folder, Reply, hash, modern, post};
use serde_json::{Value, json};
use std::process::Stdio;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

pub(super) fn command(folder: &Folder) -> Command {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rest-mcp"));
    command
        .current_dir(folder.0.path())
        .kill_on_drop(true)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub(super) struct Served {
    child: Child,
    pub(super) url: String,
    log: Lines<BufReader<ChildStderr>>,
}

impl Served {
    /// Starts and reads the address it serves on.
    pub(super) async fn start(folder: &Folder, arguments: &[&str]) -> Served {
        let mut child = command(folder).arg("serve").args(arguments).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut seen = String::new();
        while let Some(line) = log.next_line().await.unwrap() {
            if let Some((_, rest)) = line.split_once("serving MCP on ") {
                let url = rest.split(' ').next().unwrap().trim_end_matches("/mcp").to_owned();
                return Served { child, url, log };
            }
            seen.push_str(&line);
            seen.push('\n');
        }
        panic!("{seen}");
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().unwrap().to_string();
        assert!(std::process::Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    async fn line(&mut self, part: &str) -> String {
        while let Some(line) = self.log.next_line().await.unwrap() {
            if line.contains(part) {
                return line;
            }
        }
        panic!("the log ended without `{part}`");
    }

    async fn list(&self, headers: &[(&str, &str)]) -> Reply {
        post(&reqwest::Client::new(), &self.url, headers, &modern("tools/list", json!({}))).await
    }
}

#[tokio::test]
async fn the_settings_of_the_folder_are_picked_up_and_sighup_reads_them_again() {
    let settings = format!(
        "reload: {{ watch: false }}\naccess: {{ api_keys: [{{ name: a, key_hash: \"{}\" }}] }}\n",
        hash("a-key")
    );
    let folder = Folder::new(&settings, "http://127.0.0.1:9");
    let mut served = Served::start(&folder, &[]).await;
    assert_eq!(served.list(&[]).await.status, 401);
    assert_eq!(served.list(&[("x-api-key", "a-key")]).await.body["result"]["tools"].as_array().unwrap().len(), 5);
    folder.write(
        "mapping.yaml",
        &format!("{}rules: [{{ match: {{ method: DELETE }}, exclude: true }}]\n", super::MAPPING),
    );
    served.signal("HUP");
    let line = served.line("reloaded").await;
    assert!(line.contains("deletePet"), "{line}");
    assert_eq!(served.list(&[("x-api-key", "a-key")]).await.body["result"]["tools"].as_array().unwrap().len(), 4);
    for (url, code) in [
        (format!("{}/healthz", served.url), 0),
        (format!("{}/readyz", served.url), 0),
        (format!("{}/gone", served.url), 1),
    ] {
        let status = command(&folder).args(["healthcheck", &url]).stderr(Stdio::null()).status().await.unwrap();
        assert_eq!(status.code(), Some(code), "{url}");
    }
    served.signal("TERM");
    assert_eq!(served.child.wait().await.unwrap().code(), Some(0));
    let status = command(&folder)
        .args(["healthcheck", &format!("{}/healthz", served.url)])
        .stderr(Stdio::null())
        .status()
        .await
        .unwrap();
    assert_eq!(status.code(), Some(1));
}

#[tokio::test]
async fn sigterm_finishes_what_is_in_flight_and_exits_with_0() {
    let (entered, gate) = (Arc::new(tokio::sync::Notify::new()), Arc::new(tokio::sync::Notify::new()));
    let (said, held) = (entered.clone(), gate.clone());
    let router = axum::Router::new().fallback(move || {
        let (said, held) = (said.clone(), held.clone());
        async move {
            said.notify_one();
            held.notified().await;
            ([("content-type", "application/json")], "{\"done\":true}")
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let api = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let folder = Folder::new("audit: { to: audit.jsonl }\n", &api);
    let mut served = Served::start(&folder, &["--config", "rest-mcp.yaml"]).await;
    let url = served.url.clone();
    let calling = tokio::spawn(async move {
        let call = modern("tools/call", json!({"name": "getPet", "arguments": {"id": "7"}}));
        post(&reqwest::Client::new(), &url, &[], &call).await
    });
    entered.notified().await;
    served.signal("TERM");
    served.line("stopping").await;
    // No new connection is taken any more; until then the server may still say so itself.
    let address = served.url.trim_start_matches("http://").to_owned();
    while tokio::net::TcpStream::connect(&address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    gate.notify_one();
    let reply = calling.await.unwrap();
    assert_eq!(reply.body["result"]["structuredContent"], json!({"done": true}), "{reply:?}");
    assert_eq!(served.child.wait().await.unwrap().code(), Some(0));
    assert!(folder.read("audit.jsonl").contains("\"outcome\":\"ok\""), "the last event is written");
}

#[tokio::test]
async fn stdio_trusts_its_environment() {
    let settings = format!(
        "audit: {{ to: audit.jsonl }}\naccess: {{ api_keys: [{{ name: a, key_hash: \"{}\" }}] }}\n",
        hash("a-key")
    );
    let folder = Folder::new(&settings, "http://127.0.0.1:9");
    let mut child = command(&folder).args(["serve", "--stdio"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let line = format!("{}\n", modern("tools/list", json!({})));
    input.write_all(line.as_bytes()).await.unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let reply: Value = serde_json::from_str(&output.next_line().await.unwrap().unwrap()).unwrap();
    assert_eq!(reply["result"]["tools"].as_array().unwrap().len(), 5, "{reply}");
    drop(input);
    assert_eq!(child.wait().await.unwrap().code(), Some(0));
    let audit = folder.read("audit.jsonl");
    assert!(audit.contains("\"transport\":\"stdio\"") && audit.contains("\"count\":5"), "{audit}");
}

#[tokio::test]
async fn an_open_server_is_refused_and_check_says_why() {
    let folder = Folder::new("", "http://127.0.0.1:9");
    folder.write(
        "rest-mcp.yaml",
        "version: 1\nmappings: [mapping.yaml]\nlisten: \"${env:NO_SUCH_ADDRESS:-0.0.0.0:0}\"\n",
    );
    for arguments in [&["serve"][..], &["check"], &["check", "--config", "rest-mcp.yaml"]] {
        let output = command(&folder).args(arguments).output().await.unwrap();
        assert!(!output.status.success(), "{arguments:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("allow_public"), "{arguments:?}: {said}");
    }
}

#[tokio::test]
async fn with_a_json_log_everything_said_is_a_json_line_and_a_trace_of_all_holds_no_secret() {
    let api = super::echo().await;
    let settings = format!(
        "telemetry: {{ log: json, metrics: /metrics, listen: \"127.0.0.1:0\" }}\naudit: {{ to: stderr, arguments: full }}\n\
         access: {{ api_keys: [{{ name: a, key_hash: \"{}\" }}] }}\n",
        hash("caller-key-value-9")
    );
    let folder = Folder::new(&settings, &api.url);
    // Something to warn of.
    folder.write("mapping.yaml", &format!("{}tools: {{ gone: {{ operation: vanished }} }}\n", super::MAPPING));
    let mut child = command(&folder).arg("serve").env("REST_MCP_LOG", "trace").spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut lines = Vec::new();
    let url = loop {
        let line = log.next_line().await.unwrap().unwrap_or_else(|| panic!("{lines:?}"));
        let read: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        lines.push(line);
        if let Some((_, rest)) = read["message"].as_str().and_then(|text| text.split_once("serving MCP on ")) {
            break rest.split(' ').next().unwrap().trim_end_matches("/mcp").to_owned();
        }
    };
    let http = reqwest::Client::new();
    for key in ["caller-key-value-9", "a-wrong-key-value-9"] {
        let headers = [("authorization", format!("Bearer {key}"))];
        let headers = [("authorization", headers[0].1.as_str())];
        for tool in ["getPet", "nothing"] {
            let message = modern("tools/call", json!({"name": tool, "arguments": {"id": "7"}}));
            post(&http, &url, &headers, &message).await;
        }
    }
    assert_eq!(api.count(), 1);
    let id = child.id().unwrap().to_string();
    assert!(std::process::Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
    while let Some(line) = log.next_line().await.unwrap() {
        lines.push(line);
    }
    assert!(child.wait().await.unwrap().success());
    let read: Vec<Value> =
        lines.iter().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
    let said = |part: &str| read.iter().any(|line| line["message"].as_str().is_some_and(|text| text.contains(part)));
    for part in ["serving MCP on", "tools, ", "metrics and health on", "stopping", "there is no operation `vanished`"] {
        assert!(said(part), "{part}: {lines:?}");
    }
    let warned = read.iter().find(|line| line["code"] == "stale-edit").unwrap();
    assert!(warned["level"] == "WARN" && warned["line"].as_u64() > Some(0), "{warned}");
    let all = lines.join("\n");
    for secret in [super::KEY, "caller-key-value-9", "a-wrong-key-value-9"] {
        assert!(!all.contains(secret), "{secret}");
    }
}
