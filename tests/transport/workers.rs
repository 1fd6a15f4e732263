//! Connections spread over threads of their own.

use super::client::Site;
use crate::protocol::double::{catalog, tool};
use crate::protocol::peer::{modern, text};
use rest_mcp::protocol;
use rest_mcp::transport::Settings;
use rest_mcp::workers::Workers;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn site(workers: usize) -> Site {
    let mut catalog = catalog();
    catalog.tools.insert("thread".to_owned(), Arc::new(tool("thread")));
    let workers = Some(Arc::new(Workers::of(workers).unwrap()));
    Site::serving(catalog, protocol::Settings::default(), Settings { workers, ..Settings::default() }).await
}

/// The name of the thread that a call on this connection ran on.
async fn thread(socket: &mut TcpStream) -> String {
    let body = modern(json!(1), "tools/call", json!({"name": "thread"})).to_string();
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: thread";
    socket.write_all(format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
    let mut read = Vec::new();
    loop {
        let all = String::from_utf8_lossy(&read).into_owned();
        if let Some((_, body)) = all.split_once("\r\n\r\n")
            && let Ok(answer) = serde_json::from_str::<Value>(body)
        {
            return text(&answer).to_owned();
        }
        assert_ne!(socket.read_buf(&mut read).await.unwrap(), 0, "{all}");
    }
}

#[tokio::test]
async fn connections_are_spread_evenly_and_each_stays_where_it_is() {
    let site = site(3).await;
    let mut found = BTreeMap::<String, usize>::new();
    let mut open = Vec::new();
    for _ in 0..9 {
        let mut socket = TcpStream::connect(site.address).await.unwrap();
        let first = thread(&mut socket).await;
        *found.entry(first.clone()).or_default() += 1;
        open.push((socket, first));
    }
    let even: Vec<(&str, usize)> = found.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(even, [("worker-1", 3), ("worker-2", 3), ("worker-3", 3)]);
    for (socket, first) in &mut open {
        for _ in 0..3 {
            assert_eq!(&thread(socket).await, first);
        }
    }
}

#[tokio::test]
async fn requests_of_one_connection_of_http_2_are_spread() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let site = site(2).await;
    let client = reqwest::Client::builder().http2_prior_knowledge().no_proxy().build().unwrap();
    let mut found = BTreeMap::<String, usize>::new();
    for number in 0..8 {
        let request = client
            .post(format!("http://{}/mcp", site.address))
            .header("content-type", "application/json")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", "thread")
            .body(modern(json!(number), "tools/call", json!({"name": "thread"})).to_string());
        let answer: Value = serde_json::from_str(&request.send().await.unwrap().text().await.unwrap()).unwrap();
        *found.entry(text(&answer).to_owned()).or_default() += 1;
    }
    assert_eq!(found.values().sum::<usize>(), 8);
    assert_eq!(found.keys().map(String::as_str).collect::<Vec<_>>(), ["worker-1", "worker-2"]);
}
