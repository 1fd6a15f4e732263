//! What operators see of one call, and that its parts belong together.

use super::{Folder, STILL, echo, modern, run, start};
use crate::upstream::server::{Act, answer, serve};
use serde_json::{Value, json};

// A trace id whose bytes are ASCII ("ABCDEFGHIJKLMNOP"): it can be found in a protobuf message.
const TRACE: &str = "4142434445464748494a4b4c4d4e4f50";
const PARENT: &str = "00-4142434445464748494a4b4c4d4e4f50-6162636465666768-01";

#[tokio::test]
async fn audit_metrics_and_trace_of_one_call_carry_the_same_ids() {
    let (api, collector) = (echo().await, serve(|_, _| Act::Send(answer("200 OK", "", ""))).await);
    let settings =
        format!("audit: {{ to: audit.jsonl }}\ntelemetry: {{ metrics: /metrics, otlp: \"{}\" }}\n", collector.url);
    let world = start(&settings, &api.url).await;
    let message =
        modern("tools/call", json!({"name": "getPet", "arguments": {"id": "7"}, "_meta": {"traceparent": PARENT}}));
    let reply = world.post(&[], &message).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    // The API sees the same trace with our span as parent.
    let request = api.requests().pop().unwrap();
    assert!(request.contains(&format!("traceparent: 00-{TRACE}-")) && !request.contains(PARENT), "{request}");
    let (status, metrics) = world.get("/metrics", &[]).await;
    assert_eq!(status, 200);
    let counted = metrics.lines().any(|line| line.starts_with("rest_mcp_calls_total{tool=\"getPet\",outcome=\"ok\"}"));
    assert!(counted, "{metrics}");
    let audit = world.audit().await;
    let call = audit.iter().find(|line| line["audit"] == "call").unwrap();
    assert_eq!(call["trace_id"], TRACE);
    let id = call["request_id"].as_str().unwrap();
    let requests = collector.requests();
    let traces = requests.iter().find(|text| text.starts_with("POST /v1/traces ")).unwrap();
    let attributes = [
        ("jsonrpc.request.id", "1"),
        ("mcp.protocol.version", super::REVISION),
        ("mcp.method.name", "tools/call"),
        ("gen_ai.tool.name", "getPet"),
        ("rest_mcp.request_id", id),
        ("network.transport", "tcp"),
    ];
    for (key, value) in attributes {
        assert!(traces.contains(&attribute(key, value)), "{key}");
    }
    for part in ["ABCDEFGHIJKLMNOP", "tools/call getPet", "GET /pets/{id}"] {
        assert!(traces.contains(part), "{part}");
    }
    // The counter says which call it counted last (OpenMetrics 1.0, exemplars).
    let open = world.http.get(format!("{}/metrics", world.url)).header("accept", "application/openmetrics-text");
    let open = open.send().await.unwrap();
    assert!(
        open.headers()["content-type"].to_str().unwrap().starts_with("application/openmetrics-text; version=1.0.0")
    );
    let open = open.text().await.unwrap();
    let counted = open.lines().filter(|line| line.starts_with("rest_mcp_calls_total{tool=\"getPet\",outcome=\"ok\"}"));
    // Other tests of the process count there too: theirs may be the last one.
    assert!(counted.clone().count() == 1 && counted.clone().all(|line| line.contains(" # {request_id=\"")), "{open}");
    assert!(open.ends_with("# EOF\n") && open.contains("# TYPE rest_mcp_calls counter\n"), "{open}");
}

/// An attribute with a text as OTLP writes it: `KeyValue { key = 1, value = 2: AnyValue { string_value = 1 } }`.
fn attribute(key: &str, value: &str) -> String {
    let length = |text: &str| char::from(u8::try_from(text.len()).unwrap());
    let inner = format!("\n{}{value}", length(value));
    format!("\n{}{key}\u{12}{}{inner}", length(key), length(&inner))
}

#[tokio::test]
async fn spans_of_older_clients_name_their_session() {
    let (api, collector) = (echo().await, serve(|_, _| Act::Send(answer("200 OK", "", ""))).await);
    let world = start(&format!("telemetry: {{ otlp: \"{}\" }}\n", collector.url), &api.url).await;
    let message = json!({"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}});
    let post = |session: Option<String>, message: Value| {
        let mut request = world.http.post(format!("{}/mcp", world.url)).header("content-type", "application/json");
        request = request.header("accept", "application/json, text/event-stream");
        if let Some(session) = session {
            request = request.header("mcp-session-id", session).header("mcp-protocol-version", "2025-06-18");
        }
        request.body(message.to_string()).send()
    };
    let opened = post(None, message).await.unwrap();
    let session = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let call = json!({"jsonrpc": "2.0", "id": "call \u{fc}", "method": "tools/call", "params": {"name": "getPet", "arguments": {"id": "7"}}});
    assert_eq!(post(Some(session.clone()), call).await.unwrap().status(), 200);
    world.sidecar.finish().await;
    let requests = collector.requests();
    let traces = requests.iter().find(|text| text.starts_with("POST /v1/traces ")).unwrap();
    for (key, value) in [("mcp.session.id", session.as_str()), ("mcp.protocol.version", "2025-06-18")] {
        assert!(traces.contains(&attribute(key, value)), "{key}");
    }
    assert!(traces.contains("call \u{fc}"));
}

#[tokio::test]
async fn an_error_text_carries_the_request_id_of_the_audit_event() {
    let world = start("audit: { to: audit.jsonl }\n", "http://127.0.0.1:9").await;
    let reply = world.call(&[], "getPet", json!({"id": "7"})).await;
    assert_eq!(reply.body["result"]["isError"], true);
    let audit = world.audit().await;
    let id = audit[0]["request_id"].as_str().unwrap();
    assert!(reply.text.contains(id), "{id}: {reply:?}");
    assert_eq!((&audit[0]["outcome"], &audit[0]["error"]), (&json!("error"), &json!("connect")));
    assert!(audit[0].get("status").is_none());
}

#[tokio::test]
async fn every_kind_of_request_leaves_its_event() {
    let api = serve(|number, _| {
        let status = ["200 OK", "404 Not Found", "503 Service Unavailable"][number.min(2)];
        Act::Send(answer(status, "content-type: application/json\r\n", "{}"))
    })
    .await;
    let folder = Folder::new("audit: { to: audit.jsonl }\n", &api.url);
    folder.write(
        "mapping.yaml",
        &format!(
            "{}tools: {{ getPet: {{ operation: getPet, confirm: \"Really?\" }} }}\n",
            super::MAPPING.replace("credentials", "limits: { retries: 0 }, credentials")
        ),
    );
    let world = run(folder, STILL).await;
    world.post(&[], &modern("server/discover", json!({}))).await;
    let legacy = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}});
    world.post(&[], &legacy).await;
    world.tools(&[]).await;
    world.call(&[], "addPet", json!({"name": "Rex", "password": "hunter2"})).await;
    world.call(&[], "findPets", json!({})).await;
    world.call(&[], "getOrders", json!({})).await;
    world.call(&[], "deletePet", json!({})).await;
    world.call(&[], "getPet", json!({"id": "7"})).await;
    world.call(&[], "nothing", json!({})).await;
    let events: Vec<Value> = world.audit().await;
    let seen: Vec<String> = events
        .iter()
        .map(|line| {
            let part = |key: &str| line.get(key).map(|value| value.as_str().map_or(value.to_string(), str::to_owned));
            ["audit", "method", "client", "protocol_version", "count", "name", "outcome", "status", "error", "reason"]
                .into_iter()
                .filter_map(part)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    assert_eq!(
        seen,
        [
            "start server/discover suite 2026-07-28",
            "start initialize old 2025-11-25",
            "tools_list 5",
            "call tools/call addPet ok 200",
            "call tools/call findPets error 404 http_4xx",
            "call tools/call getOrders error 503 http_5xx",
            "call tools/call deletePet error invalid_arguments",
            "call tools/call getPet input_required",
            "denied tools/call nothing unknown_tool",
        ]
    );
    assert_eq!(events[3]["arguments"], json!({"name": "Rex", "password": "***"}));
    assert!(events.iter().all(|line| line["request_id"].is_string() && line["transport"] == "http"));
    let ids: std::collections::HashSet<&str> = events.iter().map(|line| line["request_id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), events.len());
}

#[tokio::test]
async fn metrics_are_for_callers_that_get_in_unless_they_have_their_own_listener() {
    let api = echo().await;
    let access = format!("access: {{ api_keys: [{{ name: a, key_hash: \"{}\" }}] }}\n", super::hash("a-key"));
    let world = start(&format!("telemetry: {{ metrics: /metrics }}\n{access}"), &api.url).await;
    assert_eq!(world.get("/metrics", &[]).await.0, 401);
    assert_eq!(world.get("/metrics", &[("authorization", "Bearer a-key")]).await.0, 200);
    assert_eq!(world.get("/healthz", &[]).await, (200, "ok".to_owned()));
    let apart =
        start(&format!("telemetry: {{ metrics: /metrics, listen: \"127.0.0.1:0\" }}\n{access}"), &api.url).await;
    assert_eq!(apart.get("/metrics", &[("authorization", "Bearer a-key")]).await.0, 404);
    let address = apart.sidecar.observe(apart.shutdown.clone()).await.unwrap().unwrap();
    let get = |path: &str| {
        let request = apart.http.get(format!("http://{address}{path}"));
        async move { request.send().await.unwrap().status().as_u16() }
    };
    assert_eq!((get("/metrics").await, get("/healthz").await, get("/readyz").await), (200, 200, 200));
    apart.sidecar.retire().await;
    assert_eq!(get("/readyz").await, 503);
}

#[tokio::test]
async fn reloads_are_counted() {
    let api = echo().await;
    let world = start("telemetry: { metrics: /metrics }\n", &api.url).await;
    world.folder.write("mapping.yaml", "version: 1\nsuorces: {}\n");
    assert!(!world.reload().await);
    let (_, text) = world.get("/metrics", &[]).await;
    assert!(text.contains("rest_mcp_reloads_total{outcome=\"failed\"}"), "{text}");
}
