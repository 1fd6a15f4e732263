//! Scopes that tools need, and policies over what a tool reaches: the list and the call agree, by way of other tools too.

use super::{Folder, MAPPING, STILL, Server, echo, hash, run};
use rest_mcp::transport::serve_stdio;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio_util::sync::CancellationToken;

/// `replace` posts and deletes, `look` reads twice.
const COMPOSITES: &str = r#"
tools:
  replace:
    description: Replaces a pet.
    input: { type: object, required: [id], properties: { id: { type: string } } }
    steps:
      - { id: gone, call: deletePet, with: { id: "{{input.id}}" } }
      - { id: made, call: addPet, with: { name: "{{input.id}}" } }
  look:
    description: Looks at a pet and its orders.
    input: { type: object, required: [id], properties: { id: { type: string } } }
    steps:
      - { id: pet, call: getPet, with: { id: "{{input.id}}" } }
      - { id: orders, call: getOrders }
"#;

const TOOLS: [&str; 7] = ["findPets", "addPet", "getPet", "deletePet", "getOrders", "replace", "look"];

/// What a tool needs where posting needs `write` and everything tagged `admin` needs `admin`; worked out by hand.
fn needed(tool: &str) -> &'static [&'static str] {
    match tool {
        "addPet" => &["write"],
        "deletePet" => &["admin"],
        "replace" => &["write", "admin"],
        _ => &[],
    }
}

async fn folder(settings: &str, api: &Server) -> Folder {
    let folder = Folder::new(settings, &api.url);
    folder.write("mapping.yaml", &format!("{MAPPING}{COMPOSITES}"));
    folder
}

fn scoped(keys: &[(&str, &[&str])]) -> String {
    let keys: String = keys
        .iter()
        .map(|(key, scopes)| {
            format!("    - {{ name: {key}, key_hash: \"{}\", scopes: {} }}\n", hash(key), json!(scopes))
        })
        .collect();
    format!(
        "audit: {{ to: audit.jsonl }}\naccess:\n  api_keys:\n{keys}  scopes: {{ write: [\"method:POST\"], admin: [\"tag:admin\"] }}\n"
    )
}

#[tokio::test]
async fn a_call_without_a_scope_says_which_to_ask_for_and_the_list_agrees() {
    let api = echo().await;
    let callers: [(&str, &[&str]); 4] =
        [("none", &[]), ("writer", &["write"]), ("admin", &["admin"]), ("both", &["admin", "write", "else"])];
    let world = run(folder(&scoped(&callers), &api).await, STILL).await;
    let mut denials = 0;
    for (key, scopes) in callers {
        let headers = [("x-api-key", key)];
        let listed = world.tools(&headers).await;
        for tool in TOOLS {
            let before = api.count();
            let arguments = match tool {
                "findPets" | "getOrders" | "addPet" => json!({}),
                _ => json!({"id": "7"}),
            };
            let reply = world.call(&headers, tool, arguments).await;
            let missing: Vec<&str> = needed(tool).iter().copied().filter(|scope| !scopes.contains(scope)).collect();
            assert_eq!(listed.iter().any(|name| name == tool), missing.is_empty(), "{tool} for {key}");
            if missing.is_empty() {
                assert_eq!(reply.status, 200, "{tool} for {key}: {reply:?}");
                let sent = if matches!(tool, "replace" | "look") { 2 } else { 1 };
                assert_eq!(api.count() - before, sent, "{tool} for {key}");
                continue;
            }
            denials += 1;
            let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{}\"", missing.join(" "));
            assert_eq!((reply.status, reply.challenge), (403, Some(challenge)), "{tool} for {key}");
            assert_eq!(api.count(), before, "{tool} for {key}");
        }
    }
    let denied: Vec<Value> = world.audit().await.into_iter().filter(|line| line["audit"] == "denied").collect();
    assert_eq!(denied.len(), denials);
    assert!(denied.iter().all(|line| line["reason"] == "insufficient_scope" && line["status"] == 403), "{denied:?}");
}

#[tokio::test]
async fn who_starts_the_process_needs_no_scope() {
    let api = echo().await;
    let world = run(folder(&scoped(&[("none", &[])]), &api).await, STILL).await;
    let (near, far) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(far);
    let (server, settings) = (world.sidecar.server(), world.sidecar.transport());
    let shutdown = CancellationToken::new();
    let stop = shutdown.clone();
    tokio::spawn(async move { serve_stdio(server, &settings, input, output, stop).await });
    let (read, mut write) = tokio::io::split(near);
    let message = super::modern("tools/list", json!({}));
    write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    let line = BufReader::new(read).lines().next_line().await.unwrap().unwrap();
    shutdown.cancel();
    let reply: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(reply["result"]["tools"].as_array().unwrap().len(), TOOLS.len(), "{line}");
}

#[tokio::test]
async fn a_policy_sees_every_operation_that_a_tool_reaches() {
    let api = echo().await;
    let folder = folder("access: { anonymous: allow, policy: { rego: [policy.rego] } }\n", &api).await;
    let policy = "package mcp\n\nallow if {\n  every operation in input.tool.operations {\n    operation.method == \"GET\"\n    \
        operation.source == \"shop\"\n    not \"admin\" in operation.tags\n    startswith(operation.path, \"/\")\n  }\n  \
        count(input.tool.operations) > 0\n}\n";
    folder.write("policy.rego", policy);
    let world = run(folder, STILL).await;
    let mut listed = world.tools(&[]).await;
    listed.sort();
    assert_eq!(listed, ["findPets", "getOrders", "getPet", "look"]);
    let reply = world.call(&[], "replace", json!({"id": "7"})).await;
    assert!(reply.text.contains("Unknown tool"), "{reply:?}");
    let reply = world.call(&[], "look", json!({"id": "7"})).await;
    assert_eq!((reply.status, api.count()), (200, 2), "{reply:?}");
}
