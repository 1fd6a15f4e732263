//! The decision procedure of the one endpoint that serves both eras.

use super::client::{Response, Site};
use crate::protocol::double::{Caller2, Seen};
use crate::protocol::peer::{initialize, meta, modern, request, text};
use base64::Engine;
use rest_mcp::protocol::{self, Version};
use rest_mcp::transport::{Authenticator, Boxed, Certificate, Denied, Settings};
use serde_json::{Value, json};
use std::sync::Arc;

const V: &str = "MCP-Protocol-Version: 2026-07-28";

fn call(name: &str) -> Value {
    modern(json!(1), "tools/call", json!({"name": name}))
}

#[tokio::test]
async fn row_60_and_13_a_modern_call_needs_nothing_but_itself() {
    let site = Site::start().await;
    let response = site.modern("tools/call", json!({"name": "text"})).await;
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(text(&response.json()), "hello\nworld");
    assert_eq!(response.header("mcp-session-id"), None);
}

#[tokio::test]
async fn row_62_session_and_event_id_mean_nothing_to_modern_requests() {
    let site = Site::start().await;
    let headers = [V, "Mcp-Method: tools/call", "Mcp-Name: text", "Mcp-Session-Id: nope", "Last-Event-ID: 1-1"];
    assert_eq!(site.post(&headers, &call("text")).await.status, 200);
    for method in ["GET", "DELETE"] {
        let response = site.send(method, "/mcp", &[V, "Accept: text/event-stream", "Mcp-Session-Id: nope"], b"").await;
        assert_eq!(response.refusal(), (405, -32600));
        assert_eq!(response.header("allow"), Some("POST"));
    }
}

#[tokio::test]
async fn row_10_undescribed_requests_are_400() {
    let site = Site::start().await;
    let headers = [V, "Mcp-Method: tools/list"];
    for params in [
        Value::Null,
        json!({}),
        json!({"_meta": {}}),
        json!({"_meta": {"io.modelcontextprotocol/clientCapabilities": {}}}),
        json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}),
        json!({"_meta": {"io.modelcontextprotocol/protocolVersion": 1, "io.modelcontextprotocol/clientCapabilities": {}}}),
    ] {
        let response = site.post(&headers, &request("q", "tools/list", params.clone())).await;
        assert_eq!(response.refusal(), (400, -32602), "{params}");
        assert_eq!(response.json()["id"], "q");
    }
}

#[tokio::test]
async fn row_12_unsupported_versions_are_400() {
    let site = Site::start().await;
    for claimed in ["v999.0.0", "1900-01-01", "2025-11-25"] {
        let mut message = modern(json!(1), "tools/list", json!({}));
        message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(claimed);
        let response =
            site.post(&[&format!("MCP-Protocol-Version: {claimed}"), "Mcp-Method: tools/list"], &message).await;
        assert_eq!(response.refusal(), (400, -32022));
        assert_eq!(response.json()["error"]["data"], json!({"supported": ["2026-07-28"], "requested": claimed}));
    }
    let unclaimed = site.post(&["MCP-Protocol-Version: v999.0.0"], &request(1, "tools/list", json!({}))).await;
    assert_eq!(unclaimed.refusal(), (400, -32022));
}

#[tokio::test]
async fn row_14_a_missing_capability_is_400() {
    let site = Site::start().await;
    let response = site.modern("tools/call", json!({"name": "needs_sampling"})).await;
    assert_eq!(response.refusal(), (400, -32021));
    assert_eq!(response.json()["error"]["data"], json!({"requiredCapabilities": {"sampling": {}}}));
}

#[tokio::test]
async fn row_68_headers_must_say_what_the_body_says() {
    let site = Site::start().await;
    let ok = ["Mcp-Method: tools/call", "Mcp-Name: text"];
    for (headers, why) in [
        (vec![ok[0], ok[1]], "no version"),
        (vec!["MCP-Protocol-Version: 2025-11-25", ok[0], ok[1]], "another version"),
        (vec![V, V, ok[0], ok[1]], "two versions"),
        (vec![V, ok[1]], "no method"),
        (vec![V, "Mcp-Method: tools/list", ok[1]], "another method"),
        (vec![V, "Mcp-Method: TOOLS/CALL", ok[1]], "the method in capitals"),
        (vec![V, ok[0], ok[0], ok[1]], "two methods"),
        (vec![V, ok[0]], "no name"),
        (vec![V, ok[0], "Mcp-Name: Text"], "another name"),
        (vec![V, ok[0], "Mcp-Name: tex"], "half a name"),
        (vec![V, ok[0], ok[1], ok[1]], "two names"),
        (vec![V, ok[0], "Mcp-Name: t\u{e9}xt"], "bytes that are no ASCII"),
        (vec![V, ok[0], "Mcp-Name: =?base64?dGV4dA?="], "base64 without padding"),
        (vec![V, ok[0], "Mcp-Name: =?base64?!!!!?="], "no base64"),
        (vec![V, ok[0], "Mcp-Name: =?base64?/w==?="], "no UTF-8"),
        (vec![V, ok[0], "Mcp-Name: =?BASE64?dGV4dA==?="], "a marker in capitals is literal"),
    ] {
        let response = site.post(&headers, &call("text")).await;
        assert_eq!(response.refusal(), (400, -32020), "{why}");
        assert!(response.json()["id"] == 1 || why == "two versions");
    }
    for headers in
        [vec![V, "mcp-method:   tools/call  ", "MCP-NAME: text"], vec![V, ok[0], "Mcp-Name: =?base64?dGV4dA==?="]]
    {
        assert_eq!(site.post(&headers, &call("text")).await.status, 200, "{headers:?}");
    }
    let read = modern(json!(1), "resources/read", json!({"uri": "test://static-text"}));
    assert_eq!(site.post(&[V, "Mcp-Method: resources/read"], &read).await.refusal(), (400, -32020));
    assert_eq!(site.post(&[V, "Mcp-Method: resources/read", "Mcp-Name: test://static-text"], &read).await.status, 200);
    let list = modern(json!(1), "tools/list", json!({}));
    assert_eq!(site.post(&[V, "Mcp-Method: tools/list"], &list).await.status, 200, "no name needed");
}

async fn region(site: &Site, arguments: Value, headers: &[&str]) -> Response {
    let message = modern(json!(1), "tools/call", json!({"name": "region", "arguments": arguments}));
    let mut all = vec![V, "Mcp-Method: tools/call", "Mcp-Name: region"];
    all.extend(headers);
    site.post(&all, &message).await
}

#[tokio::test]
async fn row_69_mirrored_arguments() {
    let site = Site::start().await;
    let encoded = format!("Mcp-Param-Region: =?base64?{}?=", base64::engine::general_purpose::STANDARD.encode("Malmö"));
    for (arguments, headers) in [
        (json!({}), vec![]),
        (json!({"region": null}), vec![]),
        (json!({"region": "eu"}), vec!["Mcp-Param-Region: eu"]),
        (json!({"region": "eu"}), vec!["MCP-PARAM-REGION:  eu "]),
        (json!({"region": "eu"}), vec!["Mcp-Param-Region: =?base64?ZXU=?=", "Mcp-Param-Unknown: x"]),
        (json!({"region": "Malmö"}), vec![encoded.as_str()]),
        (json!({"region": "=?base64?x"}), vec!["Mcp-Param-Region: =?base64?x"]),
        (json!({"count": 42}), vec!["Mcp-Param-Count: 42"]),
        (json!({"count": 42}), vec!["Mcp-Param-Count: 42.0"]),
        (json!({"count": 42.0}), vec!["Mcp-Param-Count: 42"]),
        (json!({"flag": false}), vec!["Mcp-Param-Flag: false"]),
        (json!({"other": "x"}), vec![]),
    ] {
        let response = region(&site, arguments.clone(), &headers).await;
        assert_eq!(response.status, 200, "{arguments} {headers:?} {response:?}");
    }
    for (arguments, headers) in [
        (json!({"region": "eu"}), vec![]),
        (json!({"region": "eu"}), vec!["Mcp-Param-Region: us"]),
        (json!({"region": "eu"}), vec!["Mcp-Param-Region: EU"]),
        (json!({"region": "eu"}), vec!["Mcp-Param-Region: eu", "Mcp-Param-Region: eu"]),
        (json!({"region": "eu"}), vec!["Mcp-Param-Region: =?base64?ZXU?="]),
        (json!({"region": "eu"}), vec!["Mcp-Param-Region: =?base64?Z#U=?="]),
        (json!({}), vec!["Mcp-Param-Region: eu"]),
        (json!({"region": null}), vec!["Mcp-Param-Region: null"]),
        (json!({"count": 42}), vec!["Mcp-Param-Count: 43"]),
        (json!({"count": 9007199254740993_i64}), vec!["Mcp-Param-Count: 9007199254740992"]),
        (json!({"flag": false}), vec!["Mcp-Param-Flag: False"]),
    ] {
        let response = region(&site, arguments.clone(), &headers).await;
        assert_eq!(response.refusal(), (400, -32020), "{arguments} {headers:?}");
    }
    // Who may not see the tool learns nothing of its headers.
    *site.double.visible.lock().unwrap() = Some(Vec::new());
    assert_eq!(region(&site, json!({"region": "eu"}), &[]).await.status, 200);
}

#[tokio::test]
async fn row_70_unknown_methods_are_404() {
    let site = Site::start().await;
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "no/such"]
    {
        let message = modern(json!(method), method, json!({"level": "info"}));
        let response = site.post(&[V, &format!("Mcp-Method: {method}")], &message).await;
        assert_eq!(response.refusal(), (404, -32601), "{method}");
        assert_eq!(response.json()["id"], method);
    }
}

#[tokio::test]
async fn other_modern_errors_ride_in_a_200() {
    let site = Site::start().await;
    for params in [json!({"name": "nope"}), json!({"name": "broken"})] {
        let response = site.modern("tools/call", params).await;
        assert_eq!(response.status, 200);
        response.code();
    }
    let scoped = site.modern("tools/call", json!({"name": "scoped"})).await;
    assert_eq!(scoped.refusal(), (403, 403));
}

#[tokio::test]
async fn initialize_under_a_modern_header_is_a_mismatch() {
    let site = Site::start().await;
    let response = site.post(&[V], &initialize("2025-11-25", json!({}))).await;
    assert_eq!(response.refusal(), (400, -32020));
}

#[tokio::test]
async fn row_08_arrays() {
    let site = Site::start().await;
    let session = format!("Mcp-Session-Id: {}", site.session(Version::V2025_11_25).await);
    let batch = json!([request(1, "ping", Value::Null)]);
    assert_eq!(site.post(&[&session], &batch).await.refusal(), (400, -32600));
    assert_eq!(site.post(&[V], &batch).await.refusal(), (400, -32600));
    assert_eq!(
        site.post(&[&session], &json!([call("text"), request(2, "ping", Value::Null)])).await.refusal(),
        (400, -32600)
    );
    let session = format!("Mcp-Session-Id: {}", site.session(Version::V2025_03_26).await);
    let batch = json!([
        request(1, "ping", Value::Null),
        {"jsonrpc": "2.0", "method": "notifications/x"},
        initialize("2025-03-26", json!({})),
        request(3, "tools/call", json!({"name": "text"}))
    ]);
    let answers =
        site.open("POST", "/mcp", &["Content-Type: application/json", &session], batch.to_string().as_bytes()).await;
    let answers = answers.whole().await.json();
    assert_eq!(
        answers.as_array().unwrap().iter().map(|one| one["id"].clone()).collect::<Vec<_>>(),
        [json!(1), json!("init"), json!(3)]
    );
    assert_eq!(answers[1]["error"]["code"], -32600);
    let silent = json!([{"jsonrpc": "2.0", "method": "notifications/x"}, {"jsonrpc": "2.0", "id": 1, "result": {}}]);
    let response = site.post(&[&session], &silent).await;
    assert_eq!((response.status, response.body.len()), (202, 0));
    assert_eq!(site.post(&[&session], &json!([])).await.refusal(), (400, -32600));
}

#[tokio::test]
async fn row_59_notifications_and_responses() {
    let site = Site::start().await;
    let notification = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "_meta": meta(json!({}))}});
    let response = site.post(&[V], &notification).await;
    assert_eq!((response.status, response.body.len(), response.header("content-type")), (202, 0, None));
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    assert_eq!(site.post(&[V], &answer).await.refusal(), (400, -32600));
    assert_eq!(site.post(&[], &answer).await.refusal(), (400, -32600));
    let session = format!("Mcp-Session-Id: {}", site.session(Version::V2025_06_18).await);
    let response = site.post(&[&session], &answer).await;
    assert_eq!((response.status, response.body.len()), (202, 0));
}

#[tokio::test]
async fn what_is_no_message_is_400_with_a_json_rpc_body() {
    let site = Site::start().await;
    for (body, code) in [
        (&b"{"[..], -32700),
        (b"\xff", -32700),
        (b"5", -32600),
        (b"{}", -32600),
        (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, -32602),
        (br#"{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}"#, -32600),
    ] {
        let response = site.send("POST", "/mcp", &["Content-Type: application/json"], body).await;
        assert_eq!(response.refusal(), (400, code), "{}", String::from_utf8_lossy(body));
    }
    let empty = site.send("POST", "/mcp", &["Content-Type: application/json", "Content-Length: 0"], b"").await;
    assert_eq!(empty.refusal(), (400, -32700));
    assert_eq!(site.modern("tools/call", json!({"name": "text"})).await.status, 200);
}

#[tokio::test]
async fn media_types_sizes_and_methods_are_refused_with_a_json_rpc_body() {
    let limits = Settings { max_body: 1000, ..Settings::default() };
    let site = Site::with(protocol::Settings::default(), limits).await;
    let body = call("text").to_string();
    let types = [
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("application/json; charset=utf-8", 400),
        ("APPLICATION/JSON", 400),
    ];
    for (kind, status) in types {
        let response = site.send("POST", "/mcp", &[&format!("Content-Type: {kind}")], body.as_bytes()).await;
        assert_eq!(response.status, status, "{kind}");
        response.code();
    }
    assert_eq!(site.send("POST", "/mcp", &[], body.as_bytes()).await.refusal(), (415, -32600));
    let json_type = "Content-Type: application/json";
    for (accept, status) in [
        ("text/html", 406),
        ("application/json;q=0", 406),
        ("*/*", 400),
        ("application/*", 400),
        ("text/event-stream", 400),
    ] {
        let response = site.send("POST", "/mcp", &[json_type, &format!("Accept: {accept}")], body.as_bytes()).await;
        assert_eq!(response.status, status, "{accept}");
        response.code();
    }
    let big = vec![b' '; 1001];
    assert_eq!(site.send("POST", "/mcp", &[json_type], &big).await.refusal(), (413, -32600));
    // Without announcing its length.
    let mut chunked = b"400\r\n".to_vec();
    chunked.extend(vec![b' '; 1024]);
    chunked.extend(b"\r\n0\r\n\r\n");
    let response = site.send("POST", "/mcp", &[json_type, "Transfer-Encoding: chunked"], &chunked).await;
    assert_eq!(response.refusal(), (413, -32600));
    for method in ["PUT", "PATCH", "HEAD", "TRACE"] {
        let response = site.send(method, "/mcp", &[], b"").await;
        assert_eq!(response.status, 405, "{method}");
        assert!(response.header("allow").unwrap().contains("POST"));
    }
    assert_eq!(site.send("GET", "/nowhere", &[], b"").await.status, 404);
}

struct Keys;
impl Authenticator for Keys {
    fn authenticate<'a>(
        &'a self,
        headers: &'a http::HeaderMap,
        _: Option<&'a Certificate>,
    ) -> Boxed<'a, Result<Arc<rest_mcp::access::Caller>, Denied>> {
        let subject =
            headers.get("authorization").and_then(|value| value.to_str().ok()?.strip_prefix("Bearer ")).map(Arc::from);
        Box::pin(async move {
            match subject {
                Some(subject) => {
                    Ok(Arc::new(rest_mcp::access::Caller { subject: Some(subject), ..Default::default() }))
                }
                None => Err(Denied {
                    status: 401,
                    www_authenticate: Some("Bearer resource_metadata=\"https://x/.well-known\"".to_owned()),
                    body: "A bearer token is needed".to_owned(),
                }),
            }
        })
    }
    fn challenge(&self, scopes: &[String]) -> Option<String> {
        Some(format!("Bearer error=\"insufficient_scope\", scope=\"{}\"", scopes.join(" ")))
    }
}

#[tokio::test]
async fn row_77_and_64_every_request_is_authenticated_and_sessions_belong_to_their_caller() {
    let limits = Settings {
        authenticator: Arc::new(Keys),
        capture_headers: vec!["x-tenant".to_owned(), "x-absent".to_owned()],
        ..Settings::default()
    };
    let site = Site::with(protocol::Settings::default(), limits).await;
    for (method, path) in [
        ("POST", "/mcp"),
        ("GET", "/mcp"),
        ("DELETE", "/mcp"),
        ("GET", "/sse"),
        ("POST", "/messages?sessionId=x"),
        ("GET", "/ws"),
    ] {
        let response = site.send(method, path, &["Content-Type: application/json"], b"").await;
        assert_eq!(response.refusal(), (401, -32600), "{method} {path}");
        assert_eq!(response.header("www-authenticate"), Some("Bearer resource_metadata=\"https://x/.well-known\""));
    }
    let (ann, bob) = ("Authorization: Bearer ann", "Authorization: Bearer bob");
    let opened = site.post(&[ann], &initialize("2025-11-25", json!({}))).await;
    let session = format!("Mcp-Session-Id: {}", opened.header("mcp-session-id").unwrap());
    let ping = request(1, "ping", Value::Null);
    assert_eq!(site.post(&[bob, &session], &ping).await.refusal(), (404, -32600));
    assert_eq!(site.post(&[ann, &session], &ping).await.status, 200);
    let scoped = site.post(&[ann, V, "Mcp-Method: tools/call", "Mcp-Name: scoped"], &call("scoped")).await;
    assert_eq!(scoped.header("www-authenticate"), Some("Bearer error=\"insufficient_scope\", scope=\"write\""));
    let headers = [ann, "X-Tenant: acme", "X-Other: no", V, "Mcp-Method: tools/call", "Mcp-Name: region"];
    assert_eq!(site.post(&headers, &call("region")).await.status, 200);
    let expected =
        Caller2 { subject: Some("ann".to_owned()), headers: vec![("x-tenant".to_owned(), "acme".to_owned())] };
    assert_eq!(site.saw().await, Some(Seen::Caller(expected)));
}
