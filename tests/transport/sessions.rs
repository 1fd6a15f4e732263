//! Legacy sessions over Streamable HTTP, and life without them.

use super::client::Site;
use crate::protocol::double::{catalog, tool};
use crate::protocol::peer::{initialize, request, text};
use rest_mcp::protocol::{self, Version};
use rest_mcp::transport::{self, Settings};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;

fn ping() -> Value {
    request(1, "ping", Value::Null)
}

#[tokio::test]
async fn row_64_session_ids_are_visible_ascii_and_never_repeat() {
    let site = Site::start().await;
    let mut ids = HashSet::new();
    for _ in 0..20 {
        let id = site.session(Version::V2025_11_25).await;
        assert!(id.len() >= 32 && id.bytes().all(|byte| byte.is_ascii_graphic()));
        assert!(ids.insert(id));
    }
}

#[tokio::test]
async fn row_63_a_session_lives_until_it_is_deleted() {
    let site = Site::start().await;
    let session = format!("Mcp-Session-Id: {}", site.session(Version::V2025_11_25).await);
    assert_eq!(site.post(&[&session], &ping()).await.json()["result"], json!({}));
    assert_eq!(site.post(&[], &ping()).await.refusal(), (400, -32600));
    assert_eq!(site.post(&["Mcp-Session-Id: 0123"], &ping()).await.refusal(), (404, -32600));
    assert_eq!(site.post(&[&session, &session], &ping()).await.status, 400);
    assert_eq!(site.send("DELETE", "/mcp", &[], b"").await.refusal(), (400, -32600));
    let deleted = site.send("DELETE", "/mcp", &[&session], b"").await;
    assert_eq!((deleted.status, deleted.body.len()), (204, 0));
    assert_eq!(site.post(&[&session], &ping()).await.refusal(), (404, -32600));
    assert_eq!(site.send("DELETE", "/mcp", &[&session], b"").await.refusal(), (404, -32600));
    assert_eq!(site.send("GET", "/mcp", &[&session, "Accept: text/event-stream"], b"").await.refusal(), (404, -32600));
}

#[tokio::test]
async fn a_session_ends_when_it_is_not_used() {
    let sessions = transport::Sessions { enabled: true, idle: Duration::ZERO, max: 10 };
    let site = Site::with(protocol::Settings::default(), Settings { sessions, ..Settings::default() }).await;
    let opened = site.post(&[], &initialize("2025-11-25", json!({}))).await;
    let session = format!("Mcp-Session-Id: {}", opened.header("mcp-session-id").unwrap());
    // A millisecond later it is older than nothing.
    while site.post(&[&session], &ping()).await.status == 200 {}
    assert_eq!(site.post(&[&session], &ping()).await.refusal(), (404, -32600));
}

#[tokio::test]
async fn no_more_sessions_than_allowed() {
    let sessions = transport::Sessions { enabled: true, idle: Duration::from_secs(600), max: 2 };
    let site = Site::with(protocol::Settings::default(), Settings { sessions, ..Settings::default() }).await;
    let first = site.session(Version::V2025_11_25).await;
    site.session(Version::V2025_11_25).await;
    assert_eq!(site.post(&[], &initialize("2025-11-25", json!({}))).await.refusal(), (503, -32600));
    site.send("DELETE", "/mcp", &[&format!("Mcp-Session-Id: {first}")], b"").await;
    site.session(Version::V2025_11_25).await;
}

#[tokio::test]
async fn a_failed_initialize_opens_no_session() {
    let site = Site::start().await;
    let response = site.post(&[], &request(1, "initialize", json!({}))).await;
    assert_eq!((response.status, response.header("mcp-session-id")), (200, None));
    assert_eq!(response.code(), -32602);
}

#[tokio::test]
async fn row_66_the_version_header_of_a_session() {
    let site = Site::start().await;
    let session = format!("Mcp-Session-Id: {}", site.session(Version::V2025_06_18).await);
    for (version, status) in [("2025-06-18", 200), ("2025-11-25", 200), ("bogus", 400), ("2025-06-19", 400)] {
        let response = site.post(&[&session, &format!("MCP-Protocol-Version: {version}")], &ping()).await;
        assert_eq!(response.status, status, "{version}");
    }
    // `initialize` may carry any: the body decides.
    for version in ["2025-11-25", "bogus"] {
        let message = initialize("2025-06-18", json!({}));
        let response = site.post(&[&format!("MCP-Protocol-Version: {version}")], &message).await;
        assert_eq!(response.json()["result"]["protocolVersion"], "2025-06-18");
    }
}

#[tokio::test]
async fn row_66_without_sessions_the_header_says_the_version() {
    let site = Site::without_sessions().await;
    let opened = site.post(&[], &initialize("2025-11-25", json!({}))).await;
    assert_eq!((opened.status, opened.header("mcp-session-id")), (200, None));
    let call = request(1, "tools/call", json!({"name": "object"}));
    for (header, structured) in
        [(None, false), (Some("2025-03-26"), false), (Some("2025-06-18"), true), (Some("2025-11-25"), true)]
    {
        let header = header.map(|version| format!("MCP-Protocol-Version: {version}"));
        let headers: Vec<&str> = header.iter().map(String::as_str).collect();
        let response = site.post(&headers, &call).await.json();
        assert_eq!(text(&response), "20 °C");
        assert_eq!(response["result"].get("structuredContent").is_some(), structured, "{header:?}");
    }
    assert_eq!(site.post(&["MCP-Protocol-Version: bogus"], &call).await.refusal(), (400, -32022));
    for method in ["GET", "DELETE"] {
        let response = site.send(method, "/mcp", &["Accept: text/event-stream"], b"").await;
        assert_eq!(response.refusal(), (405, -32600), "{method}");
        assert_eq!(response.header("allow"), Some("POST"));
    }
    assert_eq!(site.post(&[], &json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await.status, 202);
    assert_eq!(site.post(&[], &json!({"jsonrpc": "2.0", "id": 1, "result": {}})).await.refusal(), (400, -32600));
    // A header-less array is revision 2025-03-26's.
    let batch = json!([request(1, "ping", Value::Null)]);
    let headers = ["Content-Type: application/json"];
    let answers = site.send("POST", "/mcp", &headers, batch.to_string().as_bytes()).await;
    assert_eq!((answers.status, answers.json()), (200, json!([{"jsonrpc": "2.0", "id": 1, "result": {}}])));
    // Who can't be asked is told so in the result.
    let asked =
        site.post(&["MCP-Protocol-Version: 2025-11-25"], &request(1, "tools/call", json!({"name": "ask"}))).await;
    assert_eq!(asked.json()["result"]["isError"], true);
}

#[tokio::test]
async fn errors_of_legacy_requests_ride_in_a_200() {
    let site = Site::start().await;
    let session = format!("Mcp-Session-Id: {}", site.session(Version::V2025_11_25).await);
    for (method, params, code) in [
        ("no/such", json!({}), -32601),
        ("tools/call", json!({"name": "nope"}), -32602),
        ("resources/read", json!({"uri": "test://nope"}), -32002),
        ("logging/setLevel", json!({"level": "loud"}), -32602),
    ] {
        assert_eq!(site.post(&[&session], &request(1, method, params)).await.refusal(), (200, code), "{method}");
    }
}

#[tokio::test]
async fn an_id_may_not_be_used_twice_at_once() {
    let site = Site::start().await;
    let session = format!("Mcp-Session-Id: {}", site.session(Version::V2025_11_25).await);
    let call = request("same", "tools/call", json!({"name": "wait_then_answer"}));
    let headers = [session.as_str()];
    let first = site.post_open(&headers, &call);
    tokio::pin!(first);
    tokio::select! {
        _ = &mut first => panic!("nobody released it"),
        _ = site.saw() => {}
    }
    assert_eq!(site.post(&[&session], &call).await.refusal(), (200, -32600));
}

#[tokio::test]
async fn long_lists_come_whole_in_both_eras_and_over_streams() {
    let site = Site::start().await;
    let mut long = catalog();
    for n in 0..600 {
        let mut one = tool(&format!("tool_{n}"));
        one.description = format!("Number {n}, \"quoted\" and said at length: {}", "é".repeat(100));
        long.tools.insert(one.name.clone(), std::sync::Arc::new(one));
    }
    let names: Vec<Value> = long.tools.keys().map(|name| json!(name)).collect();
    site.double.swap(long);
    let listed = |answer: &Value| -> Vec<Value> {
        answer["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect()
    };
    let modern = site.modern("tools/list", json!({})).await;
    assert!(modern.body.len() > 150_000);
    assert_eq!(listed(&modern.json()), names);
    let session = site.session(Version::V2025_11_25).await;
    let session = format!("Mcp-Session-Id: {session}");
    let ask = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list"});
    assert_eq!(listed(&site.post(&[&session], &ask).await.json()), names);
    // A client that takes event streams only.
    let headers = ["Content-Type: application/json", "Accept: text/event-stream", session.as_str()];
    let stream = site.open("POST", "/mcp", &headers, ask.to_string().as_bytes()).await;
    let mut stream = stream.speaks(Version::V2025_11_25, "tools/list");
    assert_eq!(listed(&stream.message().await.unwrap()), names);
}
