//! What holds in every revision.

use super::double::{catalog, tool};
use super::official::{known_members, satisfies};
use super::peer::{Peer, code, modern, modern_with, request, text};
use rest_mcp::protocol::{Settings, Version};
use rest_mcp::transport;
use serde_json::{Value, json};

/// A request of the revision: self-describing or in an open session.
fn ask_in(version: Version, id: &str, method: &str, params: Value) -> Value {
    if version.is_modern() {
        modern(json!(id), method, if params.is_null() { json!({}) } else { params })
    } else {
        request(id, method, params)
    }
}

async fn peer_of(version: Version) -> Peer {
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
async fn row_04_and_27_no_object_has_a_member_that_its_revision_does_not_know() {
    for version in Version::ALL {
        let mut peer = peer_of(version).await;
        let mut unknown = Vec::new();
        let mut look = |definition: &str, object: &Value| {
            let known = known_members(version, definition);
            for member in object.as_object().unwrap().keys().filter(|member| !known.contains(member)) {
                unknown.push(format!("{} {definition}.{member}", version.as_str()));
            }
        };
        let tools = peer.ask(ask_in(version, "a", "tools/list", Value::Null)).await["result"].clone();
        look("ListToolsResult", &tools);
        for tool in tools["tools"].as_array().unwrap() {
            look("Tool", tool);
            if let Some(hints) = tool.get("annotations") {
                look("ToolAnnotations", hints);
            }
        }
        let resources = peer.ask(ask_in(version, "b", "resources/list", Value::Null)).await["result"].clone();
        resources["resources"].as_array().unwrap().iter().for_each(|one| look("Resource", one));
        let templates = peer.ask(ask_in(version, "c", "resources/templates/list", Value::Null)).await["result"].clone();
        templates["resourceTemplates"].as_array().unwrap().iter().for_each(|one| look("ResourceTemplate", one));
        let prompts = peer.ask(ask_in(version, "d", "prompts/list", Value::Null)).await["result"].clone();
        prompts["prompts"].as_array().unwrap().iter().for_each(|one| look("Prompt", one));
        look("PromptArgument", &prompts["prompts"][0]["arguments"][0]);
        for name in ["text", "object", "list", "fail", "audio", "link", "image", "embedded"] {
            let result = peer.ask(ask_in(version, name, "tools/call", json!({"name": name}))).await["result"].clone();
            look("CallToolResult", &result);
        }
        assert_eq!(unknown, Vec::<String>::new());
    }
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
async fn row_23_lists_keep_their_order() {
    let expected: Vec<String> = catalog().tools.keys().cloned().collect();
    for version in Version::ALL {
        let mut peer = peer_of(version).await;
        for id in ["a", "b"] {
            let answer = peer.ask(ask_in(version, id, "tools/list", Value::Null)).await;
            let names: Vec<&str> = answer["result"]["tools"]
                .as_array()
                .unwrap()
                .iter()
                .map(|tool| tool["name"].as_str().unwrap())
                .collect();
            assert_eq!(names, expected);
        }
    }
}

#[tokio::test]
async fn row_26_input_schemas_are_object_schemas_and_lose_only_header_marks() {
    for version in Version::ALL {
        let mut peer = peer_of(version).await;
        let answer = peer.ask(ask_in(version, "a", "tools/list", Value::Null)).await;
        for tool in answer["result"]["tools"].as_array().unwrap() {
            assert_eq!(tool["inputSchema"]["type"], "object");
        }
        let region =
            answer["result"]["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "region").unwrap();
        let properties = &region["inputSchema"]["properties"];
        let mark = |name: &str| properties[name].get("x-mcp-header").cloned();
        if version.is_modern() {
            assert_eq!(
                [mark("region"), mark("count"), mark("flag")],
                [Some(json!("Region")), Some(json!("Count")), Some(json!("Flag"))]
            );
            assert_eq!(properties["anything"], true);
        } else {
            assert_eq!([mark("region"), mark("count")], [None, None]);
            // Up to 2025-11-25 a property's schema must be an object.
            assert_eq!(properties["anything"], json!({}));
        }
        assert_eq!(mark("other"), None);
    }
}

#[tokio::test]
async fn row_27_a_list_result_is_wrapped_alike_in_schema_and_value() {
    for version in [Version::V2025_06_18, Version::V2025_11_25] {
        let mut peer = peer_of(version).await;
        let answer = peer.ask(request("l", "tools/list", Value::Null)).await;
        let tool =
            answer["result"]["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "list").unwrap().clone();
        assert_eq!(
            tool["outputSchema"],
            json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": {"result": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/item"}, {"$ref": "#/properties/result"}]}}},
                "required": ["result"],
                "$defs": {"item": {"type": "integer", "default": {"$ref": "#"}}}
            })
        );
        assert_eq!(peer.call("list").await["result"]["structuredContent"], json!({"result": [1, 2]}));
        assert_eq!(peer.call("object").await["result"]["structuredContent"], json!({"celsius": 20}));
    }
    for version in [Version::V2024_11_05, Version::V2025_03_26] {
        let mut peer = peer_of(version).await;
        let result = peer.call("list").await["result"].clone();
        assert_eq!(result, json!({"content": [{"type": "text", "text": "[1,2]"}]}));
    }
    let mut peer = Peer::start();
    let answer = peer.ask(modern(json!(1), "tools/call", json!({"name": "list"}))).await;
    assert_eq!(answer["result"]["structuredContent"], json!([1, 2]));
}

#[tokio::test]
async fn structured_content_is_left_out_of_failed_calls() {
    for version in Version::ALL {
        let mut peer = peer_of(version).await;
        let result = peer.ask(ask_in(version, "f", "tools/call", json!({"name": "fail"}))).await["result"].clone();
        assert_eq!(result["isError"], true);
        assert_eq!(result["content"], json!([{"type": "text", "text": "it failed"}]));
        assert!(result.get("structuredContent").is_none());
    }
}

#[tokio::test]
async fn newer_blocks_reach_older_peers_in_a_shape_they_know() {
    let kinds = |version: Version| match version {
        Version::V2024_11_05 => ["resource", "text"],
        Version::V2025_03_26 => ["audio", "text"],
        _ => ["audio", "resource_link"],
    };
    for version in Version::ALL {
        let mut peer = peer_of(version).await;
        for (name, kind) in ["audio", "link"].into_iter().zip(kinds(version)) {
            let result = peer.ask(ask_in(version, name, "tools/call", json!({"name": name}))).await["result"].clone();
            assert_eq!(result["content"][0]["type"], kind, "{name} in {}", version.as_str());
        }
    }
    let mut peer = peer_of(Version::V2024_11_05).await;
    let resource = peer.call("audio").await["result"]["content"][0]["resource"].clone();
    assert_eq!((&resource["mimeType"], &resource["blob"]), (&json!("audio/wav"), &json!("iVBORw==")));
    assert!(text(&peer.call("link").await).contains("test://static-text"));
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

/// Collects all pages; the cursors on the way.
async fn pages(peer: &mut Peer, version: Version, method: &str, member: &str) -> (Vec<Value>, Vec<String>) {
    let (mut items, mut cursors) = (Vec::new(), Vec::<String>::new());
    loop {
        let params = cursors.last().map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
        let answer = peer.ask(ask_in(version, &format!("p{}", cursors.len()), method, params)).await;
        items.extend(answer["result"][member].as_array().unwrap().clone());
        match answer["result"]["nextCursor"].as_str() {
            Some(next) => cursors.push(next.to_owned()),
            None => return (items, cursors),
        }
    }
}

#[tokio::test]
async fn row_37_and_24_pages_cover_the_list_and_foreign_cursors_are_refused() {
    let settings = Settings { page_size: Some(4), state_key: b"shared".to_vec(), ttl_ms: 5, ..Settings::default() };
    let start = || Peer::with(catalog(), settings.clone(), transport::Settings::default());
    for version in Version::ALL {
        let mut peer = start();
        if !version.is_modern() {
            peer.handshake(version, json!({})).await;
        }
        let (items, cursors) = pages(&mut peer, version, "tools/list", "tools").await;
        assert_eq!(items.len(), catalog().tools.len());
        let next = cursors[0].clone();
        // Another replica with the same key takes the cursor up.
        let mut replica = start();
        if !version.is_modern() {
            replica.handshake(version, json!({})).await;
        }
        let page = replica.ask(ask_in(version, "r", "tools/list", json!({"cursor": next}))).await;
        assert_eq!(page["result"]["tools"][0], items[4]);
        let mut flipped = next.clone().into_bytes();
        flipped[3] = if flipped[3] == b'A' { b'B' } else { b'A' };
        let flipped = String::from_utf8(flipped).unwrap();
        for cursor in [json!(flipped), json!(""), json!("x"), json!("🦀"), json!(5), json!(format!("{next}AA"))] {
            let answer = peer.ask(ask_in(version, "c", "tools/list", json!({"cursor": cursor}))).await;
            assert_eq!(code(&answer), -32602, "{cursor}");
        }
        // A cursor belongs to one list of one catalog.
        assert_eq!(code(&peer.ask(ask_in(version, "c", "prompts/list", json!({"cursor": next}))).await), -32602);
        let mut other = catalog();
        other.tools.shift_remove("image");
        peer.double.swap(other);
        assert_eq!(code(&peer.ask(ask_in(version, "c", "tools/list", json!({"cursor": next}))).await), -32602);
    }
}

#[tokio::test]
async fn a_cursor_of_one_caller_does_not_open_the_list_of_another() {
    let settings = Settings { page_size: Some(2), ..Settings::default() };
    let mut peer = Peer::with(catalog(), settings, transport::Settings::default());
    let first = peer.ask(modern(json!(1), "tools/list", json!({}))).await;
    assert_eq!(first["result"]["cacheScope"], "public");
    let cursor = first["result"]["nextCursor"].clone();
    *peer.double.visible.lock().unwrap() = Some(vec![0, 2, 5]);
    assert_eq!(code(&peer.ask(modern(json!(2), "tools/list", json!({"cursor": cursor}))).await), -32602);
    let (items, _) = pages(&mut peer, Version::V2026_07_28, "tools/list", "tools").await;
    let names: Vec<&Value> = items.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["text", "audio", "fail"]);
    let answer = peer.ask(modern(json!(3), "tools/list", json!({}))).await;
    assert_eq!(answer["result"]["cacheScope"], "private");
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
