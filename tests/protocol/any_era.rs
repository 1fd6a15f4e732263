//! What holds in every revision.

use super::double::{catalog, tool};
use super::official::satisfies;
use super::peer::{Peer, code, modern, modern_with, request, text};
use rest_mcp::protocol::{Settings, Version};
use rest_mcp::transport;
use serde_json::{Value, json};

/// A request of the revision: self-describing or in an open session.
pub fn ask_in(version: Version, id: &str, method: &str, params: Value) -> Value {
    if version.is_modern() {
        modern(json!(id), method, if params.is_null() { json!({}) } else { params })
    } else {
        request(id, method, params)
    }
}

pub async fn peer_of(version: Version) -> Peer {
    if version.is_modern() { Peer::start() } else { Peer::legacy(version, json!({})).await }
}

#[tokio::test]
async fn row_01_ids_are_echoed_and_notifications_never_answered() {
    let mut peer = Peer::legacy(Version::V2025_11_25, json!({})).await;
    for id in [json!(0), json!(-7), json!(9007199254740993_i64), json!("a\"b\u{1F600}"), json!("")] {
        assert_eq!(peer.ask(request(id.clone(), "ping", Value::Null)).await["id"], id);
    }
    peer.line(br#"{"jsonrpc":"2.0","method":"no/such"}"#).await;
    peer.line(br#"{"jsonrpc":"2.0","method":"tools/call","params":5}"#).await;
    peer.line(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}"#).await;
    assert_eq!(peer.ask(request(1, "ping", Value::Null)).await["id"], 1);
}

#[tokio::test]
async fn row_04_server_info_grows_with_the_revision() {
    let settings = Settings {
        title: Some("T".to_owned()),
        description: Some("D".to_owned()),
        website_url: Some("https://example.com".to_owned()),
        icons: vec![json!({"src": "https://example.com/i.png"})],
        instructions: Some("Be kind".to_owned()),
        ..Settings::default()
    };
    for (version, members) in [
        (Version::V2024_11_05, "name version"),
        (Version::V2025_03_26, "name version"),
        (Version::V2025_06_18, "name version title"),
        (Version::V2025_11_25, "name version title description websiteUrl icons"),
    ] {
        let mut peer = Peer::with(catalog(), settings.clone(), transport::Settings::default());
        let answer = peer.handshake(version, json!({})).await;
        let info = answer["result"]["serverInfo"].as_object().unwrap();
        assert_eq!(info.keys().cloned().collect::<Vec<_>>().join(" "), members);
        assert_eq!(answer["result"]["instructions"], "Be kind");
    }
}

#[tokio::test]
async fn row_21_capabilities_name_exactly_what_is_there() {
    let mut peer = Peer::start();
    let all = peer.ask(modern(json!(1), "server/discover", json!({}))).await["result"]["capabilities"].clone();
    let flag = json!({"listChanged": true});
    assert_eq!(
        all,
        json!({"logging": {}, "tools": flag, "resources": {"subscribe": true, "listChanged": true}, "prompts": flag, "completions": {}})
    );
    let mut bare = rest_mcp::catalog::Catalog::default();
    bare.tools.insert("text".to_owned(), tool("text").into());
    let mut peer = Peer::with(bare, Settings::default(), transport::Settings::default());
    let some = peer.ask(modern(json!(1), "server/discover", json!({}))).await["result"]["capabilities"].clone();
    assert_eq!(some, json!({"logging": {}, "tools": flag}));
    for method in ["resources/list", "resources/templates/list", "prompts/list", "completion/complete"] {
        assert_eq!(code(&peer.ask(modern(json!(method), method, json!({}))).await), -32601, "{method}");
    }
    // The oldest revision has completion without a capability for it.
    let mut peer = Peer::start();
    let old = peer.handshake(Version::V2024_11_05, json!({})).await["result"]["capabilities"].clone();
    assert!(old.get("completions").is_none() && old.get("prompts").is_some());
}

#[tokio::test]
async fn row_34_an_unknown_tool_is_an_error_not_a_result() {
    for version in Version::ALL {
        let mut peer = peer_of(version).await;
        let answer = peer.ask(ask_in(version, "x", "tools/call", json!({"name": "nope"}))).await;
        assert_eq!((code(&answer), &answer["error"]["message"]), (-32602, &json!("Unknown tool: nope")));
    }
}

#[tokio::test]
async fn row_35_requests_that_are_no_tool_calls_are_refused() {
    let mut peer = Peer::legacy(Version::V2025_11_25, json!({})).await;
    for params in [
        json!({}),
        json!({"name": 5}),
        json!({"name": "echo", "arguments": []}),
        json!({"name": "echo", "arguments": "x"}),
    ] {
        assert_eq!(code(&peer.ask(request("p", "tools/call", params.clone())).await), -32602, "{params}");
    }
    for arguments in [json!({}), json!({"a": [1, {"b": null}]})] {
        let answer = peer.ask(request("p", "tools/call", json!({"name": "echo", "arguments": arguments}))).await;
        assert_eq!(text(&answer), arguments.to_string());
    }
    let answer = peer.ask(request("p", "tools/call", json!({"name": "echo", "arguments": null}))).await;
    assert_eq!(text(&answer), "none");
    assert_eq!(code(&peer.call("broken").await), -32603);
    assert_eq!(code(&peer.call("scoped").await), 403);
}

#[tokio::test]
async fn row_38_prompts_and_their_arguments() {
    for version in Version::ALL {
        let mut peer = peer_of(version).await;
        let good = json!({"name": "greet", "arguments": {"city": "Oslo"}});
        let answer = peer.ask(ask_in(version, "g", "prompts/get", good)).await;
        assert_eq!(
            answer["result"]["messages"],
            json!([{"role": "user", "content": {"type": "text", "text": "Hello Oslo"}}])
        );
        for bad in [
            json!({"name": "nope"}),
            json!({"name": "greet"}),
            json!({"name": "greet", "arguments": {"city": 5}}),
            json!({"name": "greet", "arguments": []}),
            json!({}),
        ] {
            assert_eq!(code(&peer.ask(ask_in(version, "g", "prompts/get", bad.clone())).await), -32602, "{bad}");
        }
    }
}

#[tokio::test]
async fn row_39_and_40_a_missing_resource_is_an_error_that_names_it() {
    for version in Version::ALL {
        let mut peer = peer_of(version).await;
        let answer = peer.ask(ask_in(version, "r", "resources/read", json!({"uri": "test://nope"}))).await;
        let expected = if version.is_modern() { -32602 } else { -32002 };
        assert_eq!((code(&answer), &answer["error"]["data"]["uri"]), (expected, &json!("test://nope")));
        let answer = peer.ask(ask_in(version, "r", "resources/read", json!({"uri": "test://static-binary"}))).await;
        assert_eq!(answer["result"]["contents"][0]["blob"], "AAE=");
    }
}

#[tokio::test]
async fn row_41_completion_gives_at_most_a_hundred_values() {
    for version in Version::ALL {
        let mut peer = peer_of(version).await;
        for reference in [
            json!({"type": "ref/prompt", "name": "greet"}),
            json!({"type": "ref/resource", "uri": "test://template/{id}/data"}),
        ] {
            let params = json!({"ref": reference, "argument": {"name": "city", "value": "Os"}, "context": {"arguments": {"a": "b"}}});
            let completion =
                peer.ask(ask_in(version, "c", "completion/complete", params)).await["result"]["completion"].clone();
            assert_eq!(completion["values"].as_array().unwrap().len(), 100);
            assert_eq!(completion["values"][1], "Os1");
            assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(150), &json!(true)));
        }
        for bad in [
            json!({}),
            json!({"ref": {"type": "ref/prompt", "name": "nope"}, "argument": {"name": "a", "value": ""}}),
            json!({"ref": {"type": "ref/tool", "name": "greet"}, "argument": {"name": "a", "value": ""}}),
            json!({"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "a"}}),
        ] {
            assert_eq!(
                code(&peer.ask(ask_in(version, "c", "completion/complete", bad.clone())).await),
                -32602,
                "{bad}"
            );
        }
    }
}

#[tokio::test]
async fn row_42_progress_grows_and_stops_before_the_answer() {
    for version in Version::ALL {
        for token in [json!("tok"), json!(7)] {
            let mut peer = peer_of(version).await;
            peer.send(&ask_in(
                version,
                "p",
                "tools/call",
                json!({"name": "progress", "_meta": {"progressToken": token}}),
            ))
            .await;
            let mut steps = Vec::new();
            let answer = loop {
                let message = peer.hear().await;
                if message.get("id").is_some() {
                    break message;
                }
                assert_eq!(message["params"]["progressToken"], token);
                steps.push((message["params"]["progress"].clone(), message["params"].get("message").cloned()));
            };
            assert_eq!(text(&answer), "done");
            let said = |text: &str| (version > Version::V2024_11_05).then(|| json!(text));
            assert_eq!(steps, [(json!(0), said("start")), (json!(0.5), None), (json!(1), said("end"))]);
        }
        let mut peer = peer_of(version).await;
        let silent = peer.ask(ask_in(version, "p", "tools/call", json!({"name": "progress"}))).await;
        assert_eq!(text(&silent), "done", "nobody asked for progress");
        let bad = json!({"name": "progress", "_meta": {"progressToken": {"a": 1}}});
        assert_eq!(code(&peer.ask(ask_in(version, "p", "tools/call", bad)).await), -32602);
    }
}

#[tokio::test]
async fn row_43_a_cancelled_call_stops_and_is_not_answered() {
    use super::double::Seen;
    for version in Version::ALL {
        let mut peer = peer_of(version).await;
        peer.send(&ask_in(version, "w\u{e9}", "tools/call", json!({"name": "wait"}))).await;
        assert_eq!(peer.seen.recv().await, Some(Seen::Started("wait".to_owned())));
        // Another spelling of the same string.
        peer.line(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w\u00e9","reason":"enough"}}"#).await;
        assert_eq!(peer.seen.recv().await, Some(Seen::Cancelled("wait".to_owned())));
        let next = peer.ask(ask_in(version, "n", "tools/call", json!({"name": "text"}))).await;
        assert_eq!(next["id"], "n");
        assert!(peer.finish().await.is_empty());
    }
}

#[tokio::test]
async fn row_55_messages_are_lines_and_nothing_else_comes_out() {
    let mut peer = Peer::start();
    let answer = peer.ask(modern(json!(1), "tools/call", json!({"name": "raw"}))).await;
    assert_eq!(answer["result"]["structuredContent"], json!({"a": 1}));
    assert_eq!(text(&peer.ask(modern(json!(2), "tools/call", json!({"name": "text"}))).await), "hello\nworld");
    assert!(peer.finish().await.is_empty());
}

#[tokio::test]
async fn row_56_the_end_of_input_ends_the_server_after_what_is_in_flight() {
    let mut peer = Peer::start();
    peer.send(&modern(json!(1), "tools/call", json!({"name": "wait_then_answer"}))).await;
    peer.seen.recv().await;
    peer.close_input().await;
    peer.double.release.notify_one();
    let rest = peer.finish().await;
    assert_eq!((rest.len(), text(&rest[0])), (1, "released"));
}

#[tokio::test]
async fn the_last_line_needs_no_newline_and_windows_line_ends_do_no_harm() {
    let mut peer = Peer::start();
    peer.line(b"\r").await;
    peer.line(b"").await;
    let message = modern(json!(1), "tools/call", json!({"name": "text"})).to_string();
    peer.line(format!("{message}\r").as_bytes()).await;
    peer.bytes(message.replace(r#""id":1"#, r#""id":2"#).as_bytes()).await;
    let mut lines = peer.finish().await;
    lines.sort_by_key(|line| line["id"].as_i64());
    assert_eq!(lines.iter().map(text).collect::<Vec<_>>(), ["hello\nworld"; 2]);
}

#[tokio::test]
async fn a_session_pasted_by_hand_gets_exactly_two_lines() {
    let mut peer = Peer::start();
    peer.version = Version::V2025_06_18;
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"sh","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"id":7}}}"#,
    ] {
        peer.line(line.as_bytes()).await;
    }
    let lines = peer.finish().await;
    assert_eq!(lines.len(), 2);
    satisfies(Version::V2025_06_18, "InitializeResult", &lines[0]["result"]);
    satisfies(Version::V2025_06_18, "CallToolResult", &lines[1]["result"]);
    assert_eq!((&lines[0]["id"], &lines[1]["id"], text(&lines[1])), (&json!(1), &json!(2), r#"{"id":7}"#));

    let peer_line = modern(json!(1), "tools/call", json!({"name": "echo", "arguments": {"id": 7}})).to_string();
    let mut peer = Peer::start();
    peer.line(peer_line.as_bytes()).await;
    let lines = peer.finish().await;
    assert_eq!((lines.len(), text(&lines[0])), (1, r#"{"id":7}"#));
}

#[tokio::test]
async fn both_eras_are_served_on_one_connection() {
    let mut peer = Peer::legacy(Version::V2025_03_26, json!({})).await;
    let new = peer
        .ask(modern_with(json!("n"), "tools/call", json!({"name": "needs_sampling"}), json!({"sampling": {}})))
        .await;
    assert_eq!(text(&new), "sampled");
    // What the modern request declared holds for it alone.
    let old = peer.call("needs_sampling").await;
    assert_eq!(old["result"]["isError"], true);
    assert_eq!(peer.call("text").await["result"].get("resultType"), None);
}

#[tokio::test]
async fn more_requests_than_may_wait_are_refused_one_by_one() {
    let settings = Settings { max_in_flight: 1, ..Settings::default() };
    let mut peer = Peer::with(catalog(), settings, transport::Settings::default());
    for id in 0..9 {
        peer.send(&modern(json!(id), "tools/call", json!({"name": "wait_then_answer"}))).await;
    }
    let refused = peer.hear().await;
    assert_eq!((&refused["id"], code(&refused)), (&json!(8), 429));
    for _ in 0..8 {
        peer.double.release.notify_one();
        assert_eq!(text(&peer.hear().await), "released");
    }
}

#[tokio::test]
async fn an_id_in_use_is_refused_and_free_again_after_the_answer() {
    let mut peer = Peer::start();
    let call = modern(json!("same"), "tools/call", json!({"name": "wait_then_answer"}));
    peer.send(&call).await;
    peer.seen.recv().await;
    let refused = peer.ask(call.clone()).await;
    assert_eq!((&refused["id"], code(&refused)), (&json!("same"), -32600));
    peer.send(&modern(json!("other"), "tools/list", json!({}))).await;
    assert_eq!(peer.hear().await["id"], "other");
    peer.double.release.notify_one();
    let lines = peer.finish().await;
    assert_eq!(lines[0]["id"], "same");
}
