//! Lists and results, shaped by the revision they are told in.

use super::any_era::{ask_in, peer_of};
use super::double::{catalog, tool};
use super::official::known_members;
use super::peer::{Peer, code, modern, request, text};
use rest_mcp::catalog::Annotations;
use rest_mcp::protocol::{Settings, Version};
use rest_mcp::transport;
use serde_json::{Value, json};
use std::sync::Arc;

#[tokio::test]
async fn row_04_and_27_no_object_has_a_member_that_its_revision_does_not_know() {
    for version in Version::ALL {
        let mut peer = peer_of(version).await;
        let mut unknown = Vec::new();
        let mut look = |definition: &str, object: &Value| {
            let Some(known) = known_members(version, definition) else { return };
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

/// Clients that read the first page only must see everything.
#[tokio::test]
async fn a_list_of_any_length_is_one_page_unless_pages_are_asked_for() {
    let mut long = catalog();
    let tool = long.tools.values().next().unwrap().clone();
    long.tools.extend((0..3000).map(|n| (format!("tool_{n}"), tool.clone())));
    let wanted = long.tools.len();
    let mut peer = Peer::with(long, Settings::default(), transport::Settings::default());
    let (items, cursors) = pages(&mut peer, Version::V2026_07_28, "tools/list", "tools").await;
    assert_eq!((items.len(), cursors.len()), (wanted, 0));
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
async fn long_lists_leave_out_what_says_nothing_new() {
    let all = |count: usize| {
        let mut catalog = catalog();
        catalog.tools.clear();
        for n in 0..count {
            let mut one = tool(&format!("tool{n}"));
            match n % 4 {
                0 => one.description = "The tool\n\nDoes it.".to_owned(),
                1 => {
                    // Deletes: what MCP takes for granted, but for being idempotent.
                    one.annotations =
                        Annotations { read_only: false, destructive: true, idempotent: true, open_world: true };
                }
                2 => {
                    one.annotations =
                        Annotations { read_only: false, destructive: true, idempotent: false, open_world: true }
                }
                _ => {
                    one.annotations =
                        Annotations { read_only: false, destructive: false, idempotent: false, open_world: false }
                }
            }
            one.title = Some("The tool".to_owned());
            catalog.tools.insert(one.name.clone(), Arc::new(one));
        }
        catalog
    };
    for version in Version::ALL {
        let mut peer = peer_of(version).await;
        let knows_hints = version.as_str() >= "2025-03-26";
        peer.double.swap(all(128));
        let short = peer.ask(ask_in(version, "a", "tools/list", Value::Null)).await["result"]["tools"].clone();
        let first = &short[0]["annotations"];
        assert_eq!(first.get("openWorldHint").is_some(), knows_hints, "{version:?}");
        peer.double.swap(all(129));
        let long = peer.ask(ask_in(version, "b", "tools/list", Value::Null)).await["result"]["tools"].clone();
        assert_eq!(long.as_array().unwrap().len(), 129);
        let hints = |n: usize| {
            let mut hints = long[n].get("annotations").cloned().unwrap_or_else(|| json!({}));
            hints.as_object_mut().unwrap().remove("title");
            hints
        };
        let expected = [
            json!({"readOnlyHint": true, "destructiveHint": false}),
            json!({"idempotentHint": true}),
            json!({}),
            json!({"destructiveHint": false, "openWorldHint": false}),
        ];
        for (n, expected) in expected.into_iter().enumerate() {
            assert_eq!(hints(n), if knows_hints { expected } else { json!({}) }, "{version:?} {n}");
        }
        // The description begins with the title; that of the second does not.
        let title = |n: usize| long[n].get("title").or(long[n].get("annotations").and_then(|hints| hints.get("title")));
        assert_eq!(title(0), None, "{version:?}");
        assert_eq!(title(1).is_some(), knows_hints, "{version:?}");
        assert_eq!(long[0]["description"], "The tool\n\nDoes it.");
    }
}

#[tokio::test]
async fn lists_made_ahead_of_a_reload_are_shown_from_then_on_and_with_their_catalog_only() {
    let without = |name: &str| {
        let mut catalog = catalog();
        catalog.tools.shift_remove(name);
        Arc::new(catalog)
    };
    for version in Version::ALL {
        let mut peer = peer_of(version).await;
        let shows = async |peer: &mut Peer, name: &str| {
            let list = peer.ask(ask_in(version, "a", "tools/list", Value::Null)).await["result"]["tools"].clone();
            list.as_array().unwrap().iter().any(|tool| tool["name"] == name)
        };
        assert!(shows(&mut peer, "image").await && shows(&mut peer, "audio").await, "{version:?}");
        let next = without("image");
        peer.server.prepare(next.clone());
        assert!(shows(&mut peer, "image").await, "{version:?}: not before the handler has it");
        peer.double.swap(next);
        assert!(!shows(&mut peer, "image").await && shows(&mut peer, "audio").await, "{version:?}");
        // Made ahead for a catalog that never came.
        peer.server.prepare(Arc::new(catalog()));
        peer.double.swap(without("audio"));
        assert!(shows(&mut peer, "image").await && !shows(&mut peer, "audio").await, "{version:?}");
    }
}
