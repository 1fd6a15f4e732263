//! Two servers with one state key are one server.

use super::{Folder, MAPPING, Running, STILL, echo, modern, run};
use serde_json::{Value, json};

async fn pair(settings: &str, mapping: &str, backend: &str) -> [Running; 2] {
    let make = || async {
        let folder = Folder::new(settings, backend);
        folder.write("secrets/state", "0123456789abcdef0123456789abcdef");
        folder.write("mapping.yaml", mapping);
        run(folder, STILL).await
    };
    [make().await, make().await]
}

const SHARED: &str = "state_key: \"${file:secrets/state}\"\n";

fn asking() -> String {
    format!(
        "{MAPPING}tools:\n  addPet:\n    operation: addPet\n    ask: {{ user: {{ kind: elicit, message: \"Who?\", schema: {{ type: object, required: [name], properties: {{ name: {{ type: string }} }} }}, into: name }} }}\n"
    )
}

async fn ask_here_answer_there(settings: &str) -> (Value, usize) {
    let api = echo().await;
    let [one, other] = pair(settings, &asking(), &api.url).await;
    let first = one.call(&[], "addPet", json!({})).await;
    assert_eq!(first.body["result"]["resultType"], "input_required", "{first:?}");
    let key = first.body["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let answers = json!({key: {"action": "accept", "content": {"name": "Rex"}}});
    let params = json!({
        "name": "addPet", "arguments": {}, "inputResponses": answers, "requestState": first.body["result"]["requestState"],
    });
    let second = other.post(&[], &modern("tools/call", params)).await;
    (second.body, api.count())
}

#[tokio::test]
async fn an_elicitation_begun_on_one_replica_ends_on_the_other() {
    let (body, calls) = ask_here_answer_there(SHARED).await;
    assert_eq!((body["result"]["resultType"].as_str(), calls), (Some("complete"), 1), "{body}");
}

#[tokio::test]
async fn without_a_shared_key_the_other_replica_believes_nothing() {
    let (body, calls) = ask_here_answer_there("").await;
    assert_eq!((body["error"]["code"].as_i64(), calls), (Some(-32602), 0), "{body}");
}

#[tokio::test]
async fn pages_go_on_across_replicas() {
    let mapping = format!("{MAPPING}catalog: {{ page_size: 2 }}\n");
    let worlds = pair(SHARED, &mapping, "http://127.0.0.1:9").await;
    let mut names = Vec::new();
    let mut cursor = Value::Null;
    for turn in 0.. {
        let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        let reply = worlds[turn % 2].post(&[], &modern("tools/list", params)).await;
        let result = &reply.body["result"];
        names.extend(
            result["tools"]
                .as_array()
                .unwrap_or_else(|| panic!("{reply:?}"))
                .iter()
                .map(|tool| tool["name"].to_string()),
        );
        cursor = result["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(names.len(), 5);
}

#[tokio::test]
async fn legacy_clients_need_no_session_where_sessions_are_off() {
    let api = echo().await;
    let settings = format!("{SHARED}legacy_sessions: {{ enabled: false }}\n");
    let worlds = pair(&settings, MAPPING, &api.url).await;
    for (number, world) in worlds.iter().chain(&worlds).enumerate() {
        let call = json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "getPet", "arguments": {"id": "7"}}});
        let reply = world.post(&[("mcp-protocol-version", "2025-11-25")], &call).await;
        assert!(reply.body["result"]["content"].is_array(), "{reply:?}");
    }
    assert_eq!(api.count(), 4);
}
