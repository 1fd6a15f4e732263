//! Tasks that ask while they go on, that must be tasks, and that are listened to (2026-07-28).

use super::double::{Seen, catalog_with_jobs};
use super::peer::{Peer, code, modern, modern_with, request, text};
use rest_mcp::protocol::{Settings, Version};
use rest_mcp::transport;
use serde_json::{Value, json};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

fn peer() -> Peer {
    Peer::with(catalog_with_jobs(), Settings::default(), transport::Settings::default())
}

fn knowing(id: &str, method: &str, params: Value) -> Value {
    modern_with(json!(id), method, params, json!({"elicitation": {}, "extensions": {EXTENSION: {}}}))
}

fn accept(name: &str) -> Value {
    json!({"action": "accept", "content": {"name": name}})
}

async fn get(peer: &mut Peer, id: &Value) -> Value {
    peer.ask(knowing("g", "tasks/get", json!({"taskId": id}))).await["result"].clone()
}

/// Gives answers, and waits until the task has taken up its call again.
async fn update(peer: &mut Peer, id: &Value, answers: Value) {
    let update = knowing("u", "tasks/update", json!({"taskId": id, "inputResponses": answers}));
    assert!(peer.ask(update).await["result"].is_object());
}

async fn next_round(peer: &mut Peer) -> Value {
    match peer.seen.recv().await {
        Some(Seen::Round(answers, _)) => Value::Object(answers),
        other => panic!("{other:?}"),
    }
}

/// Asks until the task is in another state.
async fn past(peer: &mut Peer, id: &Value, state: &str) -> Value {
    for _ in 0..10_000 {
        let task = get(peer, id).await;
        if task["status"] != state {
            return task;
        }
    }
    panic!("the task stays {state}");
}

#[tokio::test]
async fn a_task_asks_takes_answers_one_by_one_and_never_uses_a_name_twice() {
    let mut peer = peer();
    let created = peer.ask(knowing("c", "tools/call", json!({"name": "job_asks_during"}))).await["result"].clone();
    assert_eq!(created["resultType"], "task");
    let id = created["taskId"].clone();
    assert_eq!(next_round(&mut peer).await, json!({}));
    let asked = past(&mut peer, &id, "working").await;
    assert_eq!(asked["status"], "input_required");
    let names: Vec<&String> = asked["inputRequests"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["who", "where"]);
    assert_eq!(asked["inputRequests"]["who"]["params"]["message"], "Who?");
    // What was never asked is ignored, what is no answer is refused, and both change nothing.
    update(&mut peer, &id, json!({"nothing": {"ignored": true}})).await;
    for bad in [json!({"who": 7}), json!(7), Value::Null] {
        let refused = knowing("u", "tasks/update", json!({"taskId": id, "inputResponses": bad}));
        assert_eq!(code(&peer.ask(refused).await), -32602, "{bad}");
    }
    assert_eq!(get(&mut peer, &id).await["inputRequests"], asked["inputRequests"]);
    // One answer: only the other question is open.
    update(&mut peer, &id, json!({"where": accept("here")})).await;
    let half = get(&mut peer, &id).await;
    assert_eq!(half["status"], "input_required");
    assert_eq!(half["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), ["who"]);
    // An answer to what was answered is ignored.
    update(&mut peer, &id, json!({"where": accept("there"), "who": {"action": "decline"}})).await;
    assert_eq!(next_round(&mut peer).await, json!({"where": accept("here"), "who": {"action": "decline"}}));
    // The same question again has a name of its own.
    let again = past(&mut peer, &id, "working").await;
    assert_eq!(again["inputRequests"]["who-2"]["params"]["message"], "Really?");
    assert_eq!(again["inputRequests"].as_object().unwrap().len(), 1);
    update(&mut peer, &id, json!({"who-2": accept("Ann")})).await;
    assert_eq!(next_round(&mut peer).await, json!({"who": accept("Ann")}));
    assert_eq!(peer.seen.recv().await, Some(Seen::Started("job_asks_during".to_owned())));
    peer.double.release.notify_one();
    let end = past(&mut peer, &id, "working").await;
    assert_eq!(end["status"], "completed");
    assert!(end["result"]["content"][0]["text"].as_str().unwrap().contains("Ann"), "{end}");
}

#[tokio::test]
async fn a_task_that_waits_for_answers_can_be_cancelled() {
    let mut peer = peer();
    let created = peer.ask(knowing("c", "tools/call", json!({"name": "job_asks_during"}))).await["result"].clone();
    let id = created["taskId"].clone();
    past(&mut peer, &id, "working").await;
    peer.ask(knowing("x", "tasks/cancel", json!({"taskId": id}))).await["result"].as_object().unwrap();
    assert_eq!(get(&mut peer, &id).await["status"], "cancelled");
    // Late answers are acknowledged and change nothing.
    update(&mut peer, &id, json!({"who": accept("Ann"), "where": accept("here")})).await;
    assert_eq!(get(&mut peer, &id).await["status"], "cancelled");
    assert_eq!(next_round(&mut peer).await, json!({}));
    assert_eq!(peer.seen.try_recv().ok(), None);
}

#[tokio::test]
async fn who_does_not_know_tasks_or_can_not_be_asked_is_asked_before() {
    let mut peer = peer();
    let plain = modern_with(json!(1), "tools/call", json!({"name": "job_asks_during"}), json!({"elicitation": {}}));
    let asked = peer.ask(plain).await["result"].clone();
    assert_eq!((&asked["resultType"], asked.get("taskId")), (&json!("input_required"), None));
    // Without elicitation nobody can answer, task or not.
    let only = json!({"extensions": {EXTENSION: {}}});
    let unable = peer.ask(modern_with(json!(2), "tools/call", json!({"name": "job_asks_during"}), only)).await;
    assert_eq!(code(&unable), -32021);
    assert_eq!(unable["error"]["data"]["requiredCapabilities"], json!({"elicitation": {}}));
}

#[tokio::test]
async fn a_tool_that_only_runs_as_a_task_says_so() {
    let mut peer = peer();
    let refused = peer.ask(modern(json!(1), "tools/call", json!({"name": "job_required"}))).await;
    assert_eq!(code(&refused), -32021);
    assert_eq!(refused["error"]["data"]["requiredCapabilities"], json!({"extensions": {EXTENSION: {}}}));
    let created = peer.ask(knowing("c", "tools/call", json!({"name": "job_required"}))).await;
    assert_eq!(created["result"]["resultType"], "task");

    // 2025-11-25: "non-task call to a required tool: MUST -32601"; before there were no tasks.
    let mut peer = self::peer();
    peer.handshake(Version::V2025_11_25, json!({})).await;
    assert_eq!(code(&peer.ask(request(1, "tools/call", json!({"name": "job_required"}))).await), -32601);
    let task = peer.ask(request(2, "tools/call", json!({"name": "job_required", "task": {}}))).await;
    assert_eq!(task["result"]["task"]["status"], "working");
    let mut peer = self::peer();
    peer.handshake(Version::V2025_06_18, json!({})).await;
    let refused = peer.ask(request(1, "tools/call", json!({"name": "job_required"}))).await;
    assert_eq!(refused["result"]["isError"], true);
    assert!(text(&refused).contains(EXTENSION), "{refused}");

    // Where the operator turned tasks off, it runs as any other.
    let off = Settings { max_tasks: 0, ..Settings::default() };
    let mut peer = Peer::with(catalog_with_jobs(), off, transport::Settings::default());
    peer.double.release.notify_one();
    let plain = peer.ask(modern(json!(1), "tools/call", json!({"name": "job_required"}))).await;
    assert_eq!(text(&plain), "the job is done");
}

#[tokio::test]
async fn tasks_are_listened_to_by_whoever_owns_them() {
    let mut peer = peer();
    let created = peer.ask(knowing("c", "tools/call", json!({"name": "job_asks_during"}))).await["result"].clone();
    let id = created["taskId"].clone();
    past(&mut peer, &id, "working").await;
    let wanted = json!({"notifications": {"taskIds": [id, "unknown"]}});
    let refused = peer.ask(modern(json!("no"), "subscriptions/listen", wanted.clone())).await;
    assert_eq!(code(&refused), -32021);
    assert_eq!(refused["error"]["data"]["requiredCapabilities"], json!({"extensions": {EXTENSION: {}}}));
    let acknowledged = peer.ask(knowing("sub", "subscriptions/listen", wanted)).await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["notifications"], json!({"taskIds": [id]}));
    // First how it stands, then every change; each is what `tasks/get` would say.
    let stands = peer.hear().await;
    assert_eq!(stands["params"]["_meta"], json!({SUBSCRIPTION: "sub"}));
    assert_eq!((&stands["params"]["taskId"], &stands["params"]["status"]), (&id, &json!("input_required")));
    assert!(stands["params"]["inputRequests"]["who"].is_object());
    let update = json!({"taskId": id, "inputResponses": {"who": accept("Ann"), "where": accept("here")}});
    peer.send(&knowing("u", "tasks/update", update)).await;
    peer.double.release.notify_one();
    let mut end = Value::Null;
    let mut answered = false;
    while !answered || end["status"] != "completed" {
        let message = peer.hear().await;
        match message.get("id") {
            Some(id) => answered = id == "u",
            None => end = message["params"].clone(),
        }
    }
    assert!(end["result"]["content"][0]["text"].as_str().unwrap().contains("Ann"), "{end}");
    let mut peer = self::peer();
    for wrong in [json!({"taskIds": "x"}), json!({"taskIds": [1]}), json!({"taskIds": vec!["x"; 1001]})] {
        let listen = knowing("w", "subscriptions/listen", json!({"notifications": wrong}));
        assert_eq!(code(&peer.ask(listen).await), -32602);
    }
}
