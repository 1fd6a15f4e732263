//! Calls on several threads: the API's connections, and long answers that are shaped beside them.

use super::{Folder, Running, modern, post, start};
use crate::upstream::server::{Act, answer, serve};
use rest_mcp::transport::{Settings, serve_http};
use rest_mcp::workers::Workers;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Connections that the API sees where two clients, each on a worker of its own, call in turn.
async fn connections(limits: &str) -> usize {
    let api = super::echo().await;
    let folder = Folder::new("", &api.url);
    folder
        .write("mapping.yaml", &super::MAPPING.replace("spec: api.yaml", &format!("spec: api.yaml, limits: {limits}")));
    let sidecar = folder.sidecar().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let shutdown = CancellationToken::new();
    let _ends = shutdown.clone().drop_guard();
    let workers = Some(Arc::new(Workers::of(2).unwrap()));
    let settings = Settings { workers, ..sidecar.transport() };
    tokio::spawn(serve_http(listener, sidecar.server(), settings, shutdown));
    let clients = [reqwest::Client::new(), reqwest::Client::new()];
    for number in 0..6 {
        for client in &clients {
            let call = modern("tools/call", json!({"name": "getPet", "arguments": {"id": number.to_string()}}));
            let reply = post(client, &url, &[], &call).await;
            assert_eq!(reply.body["result"]["structuredContent"]["line"], format!("GET /pets/{number} HTTP/1.1"));
        }
    }
    assert_eq!(api.count(), 12);
    api.connections()
}

#[tokio::test]
async fn each_worker_has_its_own_connections_to_the_api() {
    assert_eq!(connections("{}").await, 2);
}

#[tokio::test]
async fn a_limit_of_the_api_holds_for_all_workers_together() {
    assert_eq!(connections("{ concurrency: 1 }").await, 1);
}

/// A server whose API answers so.
async fn answering(status: &'static str, kind: &'static str, body: String) -> Running {
    let headers = format!("content-type: {kind}\r\n");
    let api = serve(move |_, _| Act::Send(answer(status, &headers, body.clone()))).await;
    start("", &api.url).await
}

/// A list of objects of at least so many bytes.
fn rows(bytes: usize) -> Value {
    (0..bytes / 40 + 1).map(|id| json!({"id": id, "name": format!("a name of forty bytes, number {id}")})).collect()
}

#[tokio::test]
async fn long_answers_are_as_right_as_short_ones() {
    // Shorter and longer than what is shaped aside.
    for bytes in [1_000, 200_000, 300_000, 3_000_000] {
        let expected = rows(bytes);
        let server = answering("200 OK", "application/json", expected.to_string()).await;
        let calls = (0..4).map(|_| server.call(&[], "findPets", json!({})));
        for reply in futures_util::future::join_all(calls).await {
            let result = &reply.body["result"];
            assert_eq!(result["isError"], Value::Null);
            let text = result["content"][0]["text"].as_str().unwrap();
            assert_eq!((text, &result["structuredContent"]), (expected.to_string().as_str(), &expected));
        }
    }
}

#[tokio::test]
async fn a_long_error_is_an_error() {
    let body = json!({"message": "no pets today", "more": "x".repeat(400_000)}).to_string();
    let server = answering("500 Internal Server Error", "application/json", body).await;
    let reply = server.call(&[], "findPets", json!({})).await;
    assert_eq!(reply.body["result"]["isError"], true);
    assert!(reply.body["result"]["content"][0]["text"].as_str().unwrap().contains("no pets today"));
}
