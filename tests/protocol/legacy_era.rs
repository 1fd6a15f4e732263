//! Revisions with a handshake.

use super::double::{Seen, catalog};
use super::peer::{Peer, code, initialize, modern, request, text};
use rest_mcp::protocol::{Settings, Version};
use rest_mcp::service::Change;
use rest_mcp::transport;
use serde_json::{Value, json};

const LEGACY: [Version; 4] = [Version::V2024_11_05, Version::V2025_03_26, Version::V2025_06_18, Version::V2025_11_25];

#[tokio::test]
async fn row_02_a_known_version_is_agreed_to() {
    for version in LEGACY {
        let mut peer = Peer::start();
        let answer = peer.handshake(version, json!({})).await;
        assert_eq!(answer["result"]["protocolVersion"], version.as_str());
    }
}

#[tokio::test]
async fn row_03_an_unknown_version_is_countered_with_the_newest_that_has_a_handshake() {
    for asked in ["2024-10-07", "2026-07-28", "2099-01-01", "", "nonsense"] {
        let mut peer = Peer::start();
        peer.version = Version::V2025_11_25;
        let answer = peer.ask(initialize(asked, json!({}))).await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{asked}");
    }
}

#[tokio::test]
async fn initialize_once_and_with_a_version() {
    let mut peer = Peer::start();
    peer.version = Version::V2025_11_25;
    assert_eq!(code(&peer.ask(request(1, "initialize", json!({"capabilities": {}}))).await), -32602);
    assert_eq!(code(&peer.ask(request(1, "initialize", json!({"protocolVersion": 5}))).await), -32602);
    let wrong = json!({"protocolVersion": "2025-11-25", "capabilities": []});
    assert_eq!(code(&peer.ask(request(1, "initialize", wrong)).await), -32602);
    peer.handshake(Version::V2025_11_25, json!({})).await;
    assert_eq!(code(&peer.ask(initialize("2025-06-18", json!({}))).await), -32600);
    assert_eq!(text(&peer.call("text").await), "hello\nworld");
}

#[tokio::test]
async fn row_05_changes_are_not_announced_before_the_client_is_ready() {
    let mut peer = Peer::start();
    peer.version = Version::V2025_11_25;
    peer.ask(initialize("2025-11-25", json!({}))).await;
    peer.double.changes.send(Change::Tools).unwrap();
    assert_eq!(peer.ask(request(1, "ping", Value::Null)).await["id"], 1);
    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    peer.ask(request(2, "ping", Value::Null)).await;
    peer.double.changes.send(Change::Tools).unwrap();
    assert_eq!(peer.hear().await["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn row_06_ping_is_answered_at_any_time() {
    for version in LEGACY {
        let mut peer = Peer::start();
        peer.version = version;
        assert_eq!(peer.ask(request(1, "ping", Value::Null)).await["result"], json!({}));
        peer.handshake(version, json!({})).await;
        peer.send(&request("w", "tools/call", json!({"name": "wait"}))).await;
        peer.seen.recv().await;
        assert_eq!(peer.ask(request(2, "ping", json!({}))).await["result"], json!({}));
    }
}

#[tokio::test]
async fn row_07_batches_of_2025_03_26() {
    let mut peer = Peer::legacy(Version::V2025_03_26, json!({})).await;
    let batch = json!([
        request(1, "ping", Value::Null),
        {"jsonrpc": "2.0", "method": "notifications/whatever"},
        request("two", "tools/call", json!({"name": "text"})),
        {"jsonrpc": "2.0", "id": 3},
        7,
        initialize("2025-03-26", json!({})),
        request(4, "no/such", Value::Null)
    ]);
    let answers = peer.ask(batch).await;
    let summary: Vec<(Value, Option<i64>)> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["id"].clone(), one.get("error").map(|error| error["code"].as_i64().unwrap())))
        .collect();
    assert_eq!(
        summary,
        [
            (json!(1), None),
            (json!("two"), None),
            (json!(3), Some(-32600)),
            (Value::Null, Some(-32600)),
            (json!("init"), Some(-32600)),
            (json!(4), Some(-32601)),
        ]
    );
    // Nothing in it wants an answer: nothing comes.
    peer.send(&json!([{"jsonrpc": "2.0", "method": "a"}, {"jsonrpc": "2.0", "id": 99, "result": {}}])).await;
    assert_eq!(peer.ask(request(5, "ping", Value::Null)).await["id"], 5);
    assert_eq!(code(&peer.ask(json!([])).await), -32600);
}

#[tokio::test]
async fn row_08_arrays_are_refused_in_all_other_revisions() {
    for version in [Version::V2024_11_05, Version::V2025_06_18, Version::V2025_11_25] {
        let mut peer = Peer::legacy(version, json!({})).await;
        let answer = peer.ask(json!([request(1, "ping", Value::Null)])).await;
        assert_eq!((code(&answer), &answer["id"]), (-32600, &Value::Null));
    }
    let mut peer = Peer::start();
    assert_eq!(code(&peer.ask(json!([modern(json!(1), "tools/list", json!({}))])).await), -32600);
    let mut peer = Peer::legacy(Version::V2025_03_26, json!({})).await;
    let mixed = peer.ask(json!([modern(json!(1), "tools/list", json!({})), request(2, "ping", Value::Null)])).await;
    assert_eq!(code(&mixed[0]), -32600);
}

#[tokio::test]
async fn methods_of_the_modern_era_do_not_exist_in_a_session() {
    for version in LEGACY {
        let mut peer = Peer::legacy(version, json!({})).await;
        for method in ["subscriptions/listen", "tasks/get", "no/such"] {
            assert_eq!(code(&peer.ask(request(method, method, json!({}))).await), -32601, "{method}");
        }
        // The fallback of a probing client: not a version error, which would end the attempt.
        let probe = peer.ask(request("d", "server/discover", json!({}))).await;
        assert_eq!(code(&probe), -32602);
        assert!(probe["error"]["message"].as_str().unwrap().contains("io.modelcontextprotocol/protocolVersion"));
    }
}

#[tokio::test]
async fn logging_follows_the_level_of_the_session() {
    for version in LEGACY {
        let mut peer = Peer::legacy(version, json!({})).await;
        for (level, lines) in [(None, 3), (Some("debug"), 4), (Some("warning"), 2), (Some("emergency"), 0)] {
            if let Some(level) = level {
                let answer = peer.ask(request("l", "logging/setLevel", json!({"level": level}))).await;
                assert_eq!(answer["result"], json!({}));
            }
            peer.send(&request("c", "tools/call", json!({"name": "log"}))).await;
            let mut heard = 0;
            while peer.hear().await.get("id").is_none() {
                heard += 1;
            }
            assert_eq!(heard, lines, "{level:?}");
        }
        assert_eq!(code(&peer.ask(request("l", "logging/setLevel", json!({"level": "loud"}))).await), -32602);
        assert_eq!(code(&peer.ask(request("l", "logging/setLevel", json!({}))).await), -32602);
    }
}

#[tokio::test]
async fn log_lines_that_the_client_can_not_take_are_counted_not_piled_up() {
    let mut peer = Peer::legacy(Version::V2025_11_25, json!({})).await;
    peer.send(&request("c", "tools/call", json!({"name": "many_logs"}))).await;
    let mut heard = 0;
    while peer.hear().await.get("id").is_none() {
        heard += 1;
    }
    assert!((1..5000).contains(&heard), "{heard}");
}

#[tokio::test]
async fn subscribed_resources_and_list_changes_are_announced() {
    for version in LEGACY {
        let mut peer = Peer::watching();
        peer.handshake(version, json!({})).await;
        peer.double.write("test://other", Some("not watched"));
        let watched = json!({"uri": "test://static-text"});
        assert_eq!(peer.ask(request(1, "resources/subscribe", watched.clone())).await["result"], json!({}));
        let changes = peer.double.changes.clone();
        peer.double.write("test://other", Some("changed"));
        // It changes, goes, and comes back.
        for text in [Some("changed"), None, Some("changed")] {
            peer.double.write("test://static-text", text);
            let updated = peer.hear().await;
            assert_eq!((&updated["method"], &updated["params"]), (&json!("notifications/resources/updated"), &watched));
        }
        for (change, method) in
            [(Change::Prompts, "prompts"), (Change::Resources, "resources"), (Change::Tools, "tools")]
        {
            changes.send(change).unwrap();
            assert_eq!(peer.hear().await["method"], format!("notifications/{method}/list_changed"));
        }
        // The other is subscribed to after the first was let go: only its change is heard.
        assert_eq!(peer.ask(request(2, "resources/unsubscribe", watched)).await["result"], json!({}));
        let other = json!({"uri": "test://other"});
        assert_eq!(peer.ask(request(3, "resources/subscribe", other.clone())).await["result"], json!({}));
        peer.double.write("test://static-text", Some("unheard"));
        peer.double.write("test://other", Some("heard"));
        assert_eq!(peer.hear().await["params"], other);
        for bad in [json!({}), json!({"uri": 1})] {
            assert_eq!(code(&peer.ask(request(4, "resources/subscribe", bad)).await), -32602);
        }
        let hidden = peer.ask(request(5, "resources/subscribe", json!({"uri": "test://not-there"}))).await;
        assert_eq!(code(&hidden), -32002);
    }
}

#[tokio::test]
async fn missed_changes_are_made_up_for() {
    let mut peer = Peer::legacy(Version::V2025_11_25, json!({})).await;
    peer.ask(request(1, "ping", Value::Null)).await;
    // More than the channel keeps, before the server gets to look.
    for _ in 0..40 {
        peer.double.changes.send(Change::Tools).unwrap();
    }
    let mut methods = Vec::new();
    for _ in 0..3 {
        methods.push(peer.hear().await["method"].clone());
    }
    methods.sort_by_key(Value::to_string);
    assert_eq!(
        methods,
        [
            "notifications/prompts/list_changed",
            "notifications/resources/list_changed",
            "notifications/tools/list_changed"
        ]
    );
}

#[tokio::test]
async fn questions_become_requests_to_the_client() {
    let capabilities = json!({"elicitation": {}, "sampling": {}, "roots": {}});
    for version in [Version::V2025_06_18, Version::V2025_11_25] {
        let mut peer = Peer::legacy(version, capabilities.clone()).await;
        let question = peer.ask(request("c", "tools/call", json!({"name": "ask"}))).await;
        assert_eq!(
            (&question["method"], &question["params"]["message"]),
            (&json!("elicitation/create"), &json!("What is your name?"))
        );
        let color = &question["params"]["requestedSchema"]["properties"]["color"];
        if version == Version::V2025_06_18 {
            assert!(question["params"].get("mode").is_none());
            assert_eq!(color, &json!({"type": "string", "enum": ["r"], "enumNames": ["Red"]}));
        } else {
            assert_eq!(color["oneOf"][0]["title"], "Red");
        }
        let given = json!({"action": "accept", "content": {"name": "Ada"}});
        let answer = peer.ask(json!({"jsonrpc": "2.0", "id": question["id"], "result": given})).await;
        assert_eq!(text(&answer), given.to_string());
    }
    for version in LEGACY {
        let mut peer = Peer::legacy(version, capabilities.clone()).await;
        for (tool, method, given) in [
            (
                "ask_model",
                "sampling/createMessage",
                json!({"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}),
            ),
            ("ask_roots", "roots/list", json!({"roots": []})),
        ] {
            let question = peer.ask(request("c", "tools/call", json!({"name": tool}))).await;
            assert_eq!(question["method"], method);
            let answer = peer.ask(json!({"jsonrpc": "2.0", "id": question["id"], "result": given})).await;
            assert_eq!(text(&answer), given.to_string());
        }
    }
}

#[tokio::test]
async fn questions_in_rounds_carry_the_state_inside_the_server() {
    let mut peer = Peer::legacy(Version::V2025_11_25, json!({"elicitation": {"form": {}}})).await;
    peer.send(&request("c", "tools/call", json!({"name": "ask_twice"}))).await;
    for message in ["First?", "Second?"] {
        let question = peer.hear().await;
        assert_eq!(question["params"]["message"], message);
        assert!(!question.to_string().contains("state-"));
        peer.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})).await;
    }
    assert_eq!(text(&peer.hear().await), "state-ok");
    let decline = json!({"action": "decline"});
    let round = |key: &str, state: &str| {
        Seen::Round(json!({key: decline}).as_object().unwrap().clone(), Some(state.to_owned()))
    };
    assert_eq!(peer.seen.recv().await, Some(Seen::Round(Default::default(), None)));
    assert_eq!(peer.seen.recv().await, Some(round("first", "state-1")));
    assert_eq!(peer.seen.recv().await, Some(round("second", "state-2")));
}

#[tokio::test]
async fn who_can_not_be_asked_gets_a_failed_call_that_says_why() {
    for (version, capabilities, tool, word) in [
        (Version::V2025_11_25, json!({}), "ask", "elicitation"),
        (Version::V2025_11_25, json!({"elicitation": {"url": {}}}), "ask", "elicitation"),
        (Version::V2025_11_25, json!({"elicitation": {}}), "ask_url", "elicitation"),
        (Version::V2025_06_18, json!({"elicitation": {"url": {}, "form": {}}}), "ask_url", "URL"),
        (Version::V2025_03_26, json!({"elicitation": {}}), "ask", "elicitation"),
        (Version::V2025_11_25, json!({}), "ask_model", "sampling"),
        (Version::V2024_11_05, json!({}), "ask_roots", "roots"),
        (Version::V2024_11_05, json!({}), "needs_sampling", "sampling"),
    ] {
        let mut peer = Peer::legacy(version, capabilities).await;
        let answer = peer.call(tool).await;
        assert_eq!(answer["result"]["isError"], true, "{tool}");
        assert!(text(&answer).contains(word), "{answer}");
    }
    let mut peer = Peer::legacy(Version::V2025_11_25, json!({"elicitation": {}})).await;
    let question = peer.ask(request("c", "tools/call", json!({"name": "ask"}))).await;
    let error = json!({"code": -1, "message": "no"});
    let answer = peer.ask(json!({"jsonrpc": "2.0", "id": question["id"], "error": error})).await;
    assert_eq!(answer["result"]["isError"], true);
}

#[tokio::test]
async fn a_capability_that_the_revision_has_no_message_for_does_not_count() {
    // Some clients declare elicitation whatever they speak: the service must take its other way of asking.
    for version in LEGACY {
        let mut peer = Peer::legacy(version, json!({"elicitation": {"form": {}}, "sampling": {}})).await;
        let able = if version >= Version::V2025_06_18 { "elicitation sampling" } else { "sampling" };
        assert_eq!(text(&peer.call("features").await), able, "{}", version.as_str());
    }
}

#[tokio::test]
async fn rounds_of_questions_end() {
    let settings = Settings { max_rounds: 1, ..Settings::default() };
    let mut peer = Peer::with(catalog(), settings, transport::Settings::default());
    peer.handshake(Version::V2025_11_25, json!({"elicitation": {}})).await;
    let question = peer.ask(request("c", "tools/call", json!({"name": "ask_twice"}))).await;
    let answer =
        peer.ask(json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {}}})).await;
    assert_eq!(code(&answer), -32603);
}

#[tokio::test]
async fn a_cancelled_call_takes_its_question_back() {
    let mut peer = Peer::legacy(Version::V2025_11_25, json!({"elicitation": {}})).await;
    let question = peer.ask(request("c", "tools/call", json!({"name": "ask"}))).await;
    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "c"}})).await;
    let taken_back = peer.hear().await;
    assert_eq!(
        (&taken_back["method"], &taken_back["params"]["requestId"]),
        (&json!("notifications/cancelled"), &question["id"])
    );
    // A late answer is dropped.
    peer.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "cancel"}})).await;
    assert_eq!(peer.ask(request(1, "ping", Value::Null)).await["id"], 1);
}

#[tokio::test]
async fn an_open_question_does_not_keep_the_server_after_the_end_of_input() {
    let mut peer = Peer::legacy(Version::V2025_11_25, json!({"elicitation": {}})).await;
    peer.ask(request("c", "tools/call", json!({"name": "ask"}))).await;
    let rest = peer.finish().await;
    assert_eq!(rest[0]["result"]["isError"], true);
}
