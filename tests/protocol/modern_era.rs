//! Revision 2026-07-28.

use super::double::{Seen, catalog};
use super::peer::{Peer, code, meta, modern, modern_with, request, text};
use rest_mcp::protocol::{Settings, Version};
use rest_mcp::service::{Change, TraceContext};
use rest_mcp::transport;
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn row_09_discover() {
    let settings = Settings { ttl_ms: 60_000, instructions: Some("Be kind".to_owned()), ..Settings::default() };
    let mut peer = Peer::with(catalog(), settings, transport::Settings::default());
    let result = peer.ask(modern(json!(1), "server/discover", json!({}))).await["result"].clone();
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!((&result["ttlMs"], &result["instructions"]), (&json!(60_000), &json!("Be kind")));
    // Probing must not lock out a handshake.
    peer.handshake(Version::V2025_11_25, json!({})).await;
    assert_eq!(text(&peer.call("text").await), "hello\nworld");
}

#[tokio::test]
async fn row_10_half_described_requests_are_refused_by_name() {
    const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    for (meta, missing) in [
        (json!({VERSION: "2026-07-28"}), CAPABILITIES),
        (json!({VERSION: "2026-07-28", CAPABILITIES: []}), CAPABILITIES),
        (json!({VERSION: "2026-07-28", CAPABILITIES: null}), CAPABILITIES),
        (json!({VERSION: 5, CAPABILITIES: {}}), VERSION),
        (json!({VERSION: null, CAPABILITIES: {}}), VERSION),
    ] {
        let mut peer = Peer::start();
        let answer = peer.ask(request(1, "tools/list", json!({"_meta": meta}))).await;
        assert_eq!(code(&answer), -32602, "{meta}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(missing), "{answer}");
    }
    for meta in [json!({}), json!({CAPABILITIES: {}})] {
        let mut peer = Peer::start();
        let answer = peer.ask(request(1, "server/discover", json!({"_meta": meta}))).await;
        assert_eq!(code(&answer), -32602);
        assert!(answer["error"]["message"].as_str().unwrap().contains(VERSION));
    }
}

#[tokio::test]
async fn row_11_client_info_is_not_needed_and_never_trusted() {
    let mut peer = Peer::start();
    for info in [json!(null), json!(5), json!({"name": "x", "version": "1"})] {
        let params = json!({"name": "text", "_meta": {"io.modelcontextprotocol/clientInfo": info}});
        assert_eq!(text(&peer.ask(modern(json!(1), "tools/call", params)).await), "hello\nworld");
    }
}

#[tokio::test]
async fn row_12_versions_that_can_not_be_claimed() {
    for claimed in ["1900-01-01", "2025-11-25", "2024-11-05", "", "v999.0.0"] {
        let mut peer = Peer::start();
        let mut message = modern(json!(1), "tools/list", json!({}));
        message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(claimed);
        let answer = peer.ask(message).await;
        assert_eq!(code(&answer), -32022);
        assert_eq!(answer["error"]["data"], json!({"supported": ["2026-07-28"], "requested": claimed}));
    }
}

#[tokio::test]
async fn row_13_nothing_carries_over_between_requests() {
    let mut peer = Peer::start();
    let capable = json!({"elicitation": {}, "sampling": {}});
    assert_eq!(
        text(&peer.ask(modern_with(json!(1), "tools/call", json!({"name": "needs_sampling"}), capable)).await),
        "sampled"
    );
    assert_eq!(code(&peer.ask(modern(json!(2), "tools/call", json!({"name": "needs_sampling"}))).await), -32021);
    // A modern request opens no session.
    assert_eq!(code(&peer.ask(request(3, "tools/list", json!({}))).await), -32600);
}

#[tokio::test]
async fn row_14_a_needed_capability_is_named() {
    let mut peer = Peer::start();
    for (tool, capabilities, needed) in [
        ("needs_sampling", json!({}), json!({"sampling": {}})),
        ("ask", json!({}), json!({"elicitation": {}})),
        ("ask", json!({"elicitation": {"url": {}}}), json!({"elicitation": {}})),
        ("ask_url", json!({"elicitation": {}}), json!({"elicitation": {"url": {}}})),
        ("ask_model", json!({"elicitation": {}}), json!({"sampling": {}})),
        ("ask_roots", json!({"elicitation": {}}), json!({"roots": {}})),
    ] {
        let answer = peer.ask(modern_with(json!(1), "tools/call", json!({"name": tool}), capabilities)).await;
        assert_eq!((code(&answer), &answer["error"]["data"]["requiredCapabilities"]), (-32021, &needed), "{tool}");
    }
}

#[tokio::test]
async fn row_15_16_and_24_every_result_says_its_kind_its_server_and_its_lifetime() {
    let settings = Settings { ttl_ms: 9, private_lists: true, ..Settings::default() };
    let mut peer = Peer::with(catalog(), settings, transport::Settings::default());
    for (method, params, ttl) in [
        ("server/discover", json!({}), Some(9)),
        ("tools/list", json!({}), Some(9)),
        ("resources/list", json!({}), Some(9)),
        ("resources/templates/list", json!({}), Some(9)),
        ("prompts/list", json!({}), Some(9)),
        ("resources/read", json!({"uri": "test://static-text"}), Some(7000)),
        ("tools/call", json!({"name": "text"}), None),
        ("prompts/get", json!({"name": "greet", "arguments": {"city": "x"}}), None),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "city", "value": ""}}),
            None,
        ),
    ] {
        let result = peer.ask(modern(json!(method), method, params)).await["result"].clone();
        assert_eq!(result["resultType"], "complete", "{method}");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "rest-mcp", "{method}");
        assert_eq!(result.get("ttlMs").and_then(Value::as_u64), ttl, "{method}");
        assert_eq!(result.get("cacheScope").and_then(Value::as_str), ttl.map(|_| "private"), "{method}");
    }
}

#[tokio::test]
async fn row_17_and_51_questions_are_results_that_the_client_answers_with_a_new_request() {
    let mut peer = Peer::start();
    let capable = json!({"elicitation": {}, "sampling": {}, "roots": {}});
    let first = peer.ask(modern_with(json!(1), "tools/call", json!({"name": "ask"}), capable.clone())).await;
    assert_eq!(first["result"]["resultType"], "input_required");
    assert_eq!(first["result"]["inputRequests"]["user_name"]["params"]["message"], "What is your name?");
    assert!(first["result"].get("ttlMs").is_none() && first["result"].get("content").is_none());
    let given = json!({"action": "accept", "content": {"name": "Ada"}});
    let params = json!({"name": "ask", "inputResponses": {"user_name": given, "extra": {}}});
    let second = peer.ask(modern_with(json!(2), "tools/call", params, capable.clone())).await;
    assert_eq!(text(&second), given.to_string());
    // The wrong key: asked again. The wrong type: an error.
    let params = json!({"name": "ask", "inputResponses": {"other": {}}});
    let again = peer.ask(modern_with(json!(3), "tools/call", params, capable.clone())).await;
    assert_eq!(again["result"]["resultType"], "input_required");
    for responses in [json!([]), json!("x"), json!({"user_name": "Ada"})] {
        let params = json!({"name": "ask", "inputResponses": responses});
        assert_eq!(code(&peer.ask(modern_with(json!(4), "tools/call", params, capable.clone())).await), -32602);
    }
    for tool in ["ask_model", "ask_roots"] {
        let answer = peer.ask(modern_with(json!(tool), "tools/call", json!({"name": tool}), capable.clone())).await;
        assert_eq!(answer["result"]["resultType"], "input_required");
    }
}

#[tokio::test]
async fn row_52_state_goes_out_and_comes_back_as_it_is() {
    let mut peer = Peer::start();
    let capable = json!({"elicitation": {}});
    let mut state = Value::Null;
    for (round, key) in ["first", "second"].into_iter().enumerate() {
        let mut params = json!({"name": "ask_twice"});
        if !state.is_null() {
            params["requestState"] = state;
            params["inputResponses"] = json!({"first": {"action": "decline"}});
        }
        let answer = peer.ask(modern_with(json!(round), "tools/call", params, capable.clone())).await;
        assert!(answer["result"]["inputRequests"][key].is_object());
        state = answer["result"]["requestState"].clone();
    }
    let params =
        json!({"name": "ask_twice", "requestState": state, "inputResponses": {"second": {"action": "decline"}}});
    assert_eq!(text(&peer.ask(modern_with(json!(9), "tools/call", params, capable.clone())).await), "state-ok");
    for tampered in [json!("state-9"), json!(5), json!({})] {
        let params = json!({"name": "ask_twice", "requestState": tampered});
        assert_eq!(code(&peer.ask(modern_with(json!(8), "tools/call", params, capable.clone())).await), -32602);
    }
    assert_eq!(peer.seen.recv().await, Some(Seen::Round(Default::default(), None)));
}

#[tokio::test]
async fn row_18_and_70_methods_of_the_handshake_era_do_not_exist() {
    let mut peer = Peer::start();
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/get",
        "tasks/list",
        "no/such",
    ] {
        let params =
            json!({"level": "debug", "uri": "test://static-text", "protocolVersion": "2025-11-25", "capabilities": {}});
        assert_eq!(code(&peer.ask(modern(json!(method), method, params)).await), -32601, "{method}");
    }
}

#[tokio::test]
async fn row_19_own_errors_stay_outside_the_reserved_range() {
    let mut peer = Peer::start();
    assert_eq!(code(&peer.ask(modern(json!(1), "tools/call", json!({"name": "scoped"}))).await), 403);
    assert_eq!(code(&peer.ask(modern(json!(1), "tools/call", json!({"name": "broken"}))).await), -32603);
}

#[tokio::test]
async fn row_22_declared_lists_answer_even_when_the_caller_may_see_nothing() {
    let mut peer = Peer::start();
    *peer.double.visible.lock().unwrap() = Some(Vec::new());
    assert_eq!(peer.ask(modern(json!(1), "tools/list", json!({}))).await["result"]["tools"], json!([]));
    assert!(
        peer.ask(modern(json!(2), "server/discover", json!({}))).await["result"]["capabilities"]["tools"].is_object()
    );
}

#[tokio::test]
async fn row_46_log_lines_only_for_requests_that_ask_for_them() {
    let mut peer = Peer::start();
    assert_eq!(text(&peer.ask(modern(json!(1), "tools/call", json!({"name": "log"}))).await), "done");
    for (level, lines) in [("debug", 4), ("warning", 2), ("alert", 0)] {
        let params = json!({"name": "log", "_meta": {"io.modelcontextprotocol/logLevel": level}});
        peer.send(&modern(json!(2), "tools/call", params)).await;
        let mut heard = 0;
        while peer.hear().await.get("id").is_none() {
            heard += 1;
        }
        assert_eq!(heard, lines, "{level}");
    }
    let params = json!({"name": "log", "_meta": {"io.modelcontextprotocol/logLevel": "loud"}});
    assert_eq!(code(&peer.ask(modern(json!(3), "tools/call", params)).await), -32602);
}

#[tokio::test]
async fn row_48_a_subscription_is_acknowledged_first_and_hears_only_what_it_asked_for() {
    const ID: &str = "io.modelcontextprotocol/subscriptionId";
    let mut peer = Peer::watching();
    let uris = ["test://static-text", "test://not-there"];
    let wanted =
        json!({"toolsListChanged": true, "promptsListChanged": false, "resourceSubscriptions": uris, "taskIds": ["t"]});
    let first = peer.ask(modern(json!("sub"), "subscriptions/listen", json!({"notifications": wanted}))).await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["_meta"], json!({ID: "sub"}));
    let honoured = json!({"toolsListChanged": true, "resourceSubscriptions": ["test://static-text"]});
    assert_eq!(first["params"]["notifications"], honoured);
    let changes = peer.double.changes.clone();
    peer.double.write("test://not-there", Some("there now"));
    peer.double.write("test://static-text", Some("changed"));
    let updated = peer.hear().await;
    assert_eq!(updated["params"], json!({"uri": "test://static-text", "_meta": {ID: "sub"}}));
    for change in [Change::Prompts, Change::Resources, Change::Tools] {
        changes.send(change).unwrap();
    }
    let changed = peer.hear().await;
    assert_eq!(
        (&changed["method"], &changed["params"]["_meta"][ID]),
        (&json!("notifications/tools/list_changed"), &json!("sub"))
    );
    // A second one, with a number for an id, keeps its own type.
    let second = peer.ask(modern(json!(7), "subscriptions/listen", json!({"notifications": {}}))).await;
    assert_eq!(second["params"]["_meta"], json!({ID: 7}));
    // Cancelled: silence.
    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "sub"}})).await;
    peer.ask(modern(json!("after"), "tools/list", json!({}))).await;
    changes.send(Change::Tools).unwrap();
    let rest = peer.finish().await;
    assert_eq!(rest.iter().map(|one| one["id"].clone()).collect::<Vec<_>>(), [json!(7)]);
    for bad in [
        json!({}),
        json!({"notifications": []}),
        json!({"notifications": {"toolsListChanged": "yes"}}),
        json!({"notifications": {"resourceSubscriptions": "x"}}),
    ] {
        let mut peer = Peer::start();
        assert_eq!(code(&peer.ask(modern(json!(1), "subscriptions/listen", bad)).await), -32602);
    }
}

#[tokio::test]
async fn row_49_a_subscription_ends_with_a_result_when_the_server_does() {
    let mut peer = Peer::start();
    peer.ask(modern(json!(3), "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}))).await;
    peer.shutdown.cancel();
    let end = peer.hear().await;
    assert_eq!((&end["id"], &end["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"]), (&json!(3), &json!(3)));
    assert!(peer.finish().await.is_empty());
}

#[tokio::test]
async fn row_50_what_is_advertised_is_served_and_the_other_way_round() {
    let settings = Settings { list_changed: false, watch_every: Duration::ZERO, ..Settings::default() };
    let mut peer = Peer::with(catalog(), settings, transport::Settings::default());
    let capabilities = peer.ask(modern(json!(1), "server/discover", json!({}))).await["result"]["capabilities"].clone();
    assert_eq!(capabilities["tools"]["listChanged"], false);
    assert_eq!(capabilities["resources"]["subscribe"], false);
    let listen = modern(json!(2), "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    assert_eq!(code(&peer.ask(listen).await), -32601);
}

#[tokio::test]
async fn row_83_an_extension_that_only_the_client_knows_changes_nothing() {
    let mut peer = Peer::start();
    let capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}, "com.example/x": {}}});
    let params = json!({"name": "text", "task": {"ttl": 5}});
    let answer = peer.ask(modern_with(json!(1), "tools/call", params, capabilities)).await;
    assert_eq!(answer["result"]["resultType"], "complete");
    let discovered = peer.ask(modern(json!(2), "server/discover", json!({}))).await;
    assert!(discovered["result"]["capabilities"].get("extensions").is_none());
}

#[tokio::test]
async fn trace_context_reaches_the_service_and_malformed_parts_do_not() {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let mut peer = Peer::start();
    for (meta, expected) in [
        (
            json!({"traceparent": parent, "tracestate": "a=b", "baggage": "k=v"}),
            Some((Some(parent), Some("a=b"), Some("k=v"))),
        ),
        (json!({"traceparent": "00-XYZ", "tracestate": "a=b"}), None),
        (json!({"traceparent": 5}), None),
        (json!({"traceparent": parent, "tracestate": "a\r\nb"}), Some((Some(parent), None, None))),
        (json!({}), None),
    ] {
        peer.ask(modern(json!(1), "tools/call", json!({"name": "trace", "_meta": meta}))).await;
        let own = |text: Option<&str>| text.map(str::to_owned);
        let expected = expected.map(|(traceparent, tracestate, baggage)| TraceContext {
            traceparent: own(traceparent),
            tracestate: own(tracestate),
            baggage: own(baggage),
        });
        assert_eq!(peer.seen.recv().await, Some(Seen::Trace(expected)), "{meta}");
    }
}

#[tokio::test]
async fn a_swapped_catalog_is_listed_at_once() {
    let mut peer = Peer::start();
    let before = peer.ask(modern(json!(1), "tools/list", json!({}))).await["result"]["tools"].as_array().unwrap().len();
    let mut smaller = catalog();
    smaller.tools.shift_remove("image");
    peer.double.swap(smaller);
    let after = peer.ask(modern(json!(2), "tools/list", json!({}))).await["result"]["tools"].as_array().unwrap().len();
    assert_eq!(after, before - 1);
}

#[tokio::test]
async fn search_mode_lists_its_own_tools_and_what_is_pinned() {
    let mut searching = catalog();
    searching.search_mode = true;
    searching.pinned = vec!["text".to_owned()];
    searching.own = vec![searching.tools["image"].clone()];
    let mut peer = Peer::with(searching, Settings::default(), transport::Settings::default());
    let tools = peer.ask(modern(json!(1), "tools/list", json!({}))).await["result"]["tools"].clone();
    assert_eq!(tools.as_array().unwrap().iter().map(|tool| &tool["name"]).collect::<Vec<_>>(), ["image", "text"]);
    assert_eq!(text(&peer.ask(modern(json!(2), "tools/call", json!({"name": "echo"}))).await), "none");
}

#[tokio::test]
async fn meta_of_other_vendors_is_ignored() {
    let mut peer = Peer::start();
    let mut all = meta(json!({}));
    all["com.example/anything"] = json!([1, 2, 3]);
    let answer = peer.ask(request(1, "tools/call", json!({"name": "text", "_meta": all, "unknown": {}}))).await;
    assert_eq!(code_or_text(&answer), "hello\nworld");
}

fn code_or_text(answer: &Value) -> String {
    answer.get("error").map_or_else(|| text(answer).to_owned(), Value::to_string)
}
