//! Calls that outlive their request: core tasks of 2025-11-25 (row 84) and the extension of 2026-07-28.

use super::double::{Seen, catalog_with_jobs};
use super::peer::{Peer, code, modern_with, request, text};
use rest_mcp::protocol::{Settings, Version};
use rest_mcp::transport;
use serde_json::{Value, json};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

fn peer() -> Peer {
    with(Settings::default())
}

fn with(settings: Settings) -> Peer {
    Peer::with(catalog_with_jobs(), settings, transport::Settings::default())
}

async fn legacy(version: Version) -> Peer {
    let mut peer = peer();
    peer.handshake(version, json!({"elicitation": {}})).await;
    peer
}

fn task_call(id: &str, tool: &str) -> Value {
    request(id, "tools/call", json!({"name": tool, "task": {"ttl": 60000}}))
}

/// A request of a client that knows the extension.
fn knowing(id: &str, method: &str, params: Value) -> Value {
    modern_with(json!(id), method, params, json!({"elicitation": {}, "extensions": {EXTENSION: {}}}))
}

fn call(tool: &str) -> Value {
    knowing(tool, "tools/call", json!({"name": tool}))
}

/// Asks until the task has ended.
async fn ended(peer: &mut Peer, get: impl Fn() -> Value) -> Value {
    for _ in 0..10_000 {
        let answer = peer.ask(get()).await;
        if answer["result"]["status"] != "working" {
            return answer["result"].clone();
        }
    }
    panic!("the task does not end");
}

#[tokio::test]
async fn row_84_only_2025_11_25_has_tasks_in_the_core_and_only_tools_that_wait_run_as_tasks() {
    for version in [Version::V2024_11_05, Version::V2025_06_18, Version::V2025_11_25] {
        let mut peer = peer();
        let capabilities = peer.handshake(version, json!({})).await["result"]["capabilities"].clone();
        let core = version == Version::V2025_11_25;
        let declared = json!({"cancel": {}, "requests": {"tools": {"call": {}}}});
        assert_eq!(capabilities.get("tasks"), Some(&declared).filter(|_| core));
        assert_eq!(capabilities.get("extensions"), None);
        let tools = peer.ask(request(1, "tools/list", json!({}))).await["result"]["tools"].clone();
        for tool in tools.as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            let waits = name.starts_with("job");
            let support = json!({"taskSupport": if name == "job_required" { "required" } else { "optional" }});
            assert_eq!(tool.get("execution"), Some(&support).filter(|_| core && waits), "{tool}");
        }
        if !core {
            // The parameter is not of this revision: the call runs as any other.
            let answer = peer.ask(task_call("t", "job_at_once")).await;
            assert_eq!(text(&answer), "done at once");
            assert_eq!(code(&peer.ask(request(2, "tasks/get", json!({"taskId": "x"}))).await), -32601);
        }
    }
    let mut peer = Peer::legacy(Version::V2025_11_25, json!({})).await;
    assert_eq!(code(&peer.ask(request(1, "tasks/get", json!({"taskId": "x"}))).await), -32601);
    assert_eq!(text(&peer.ask(task_call("t", "text")).await), "hello\nworld");
}

#[tokio::test]
async fn row_84_a_task_is_handed_out_polled_and_its_result_is_that_of_the_call() {
    let mut peer = legacy(Version::V2025_11_25).await;
    let task = peer.ask(task_call("c", "job")).await["result"]["task"].clone();
    assert_eq!(
        (&task["status"], &task["ttl"], &task["pollInterval"]),
        (&json!("working"), &json!(60000), &json!(2000))
    );
    let id = json!({"taskId": task["taskId"]});
    assert_eq!(task["taskId"].as_str().unwrap().len(), 32);
    peer.send(&request("r", "tasks/result", id.clone())).await;
    assert_eq!(peer.ask(request("g", "tasks/get", id.clone())).await["result"]["status"], "working");
    peer.double.release.notify_one();
    let result = peer.hear().await;
    assert_eq!((&result["id"], text(&result)), (&json!("r"), "the job is done"));
    assert_eq!(result["result"]["_meta"]["io.modelcontextprotocol/related-task"], id);
    assert_eq!(peer.ask(request("g", "tasks/get", id.clone())).await["result"]["status"], "completed");
    assert_eq!(code(&peer.ask(request("x", "tasks/cancel", id)).await), -32602);

    for (tool, wanted) in [("job_fails", "failed"), ("job_breaks", "failed"), ("job_at_once", "completed")] {
        let task = peer.ask(task_call("c", tool)).await["result"]["task"].clone();
        let id = json!({"taskId": task["taskId"]});
        peer.double.release.notify_one();
        let result = peer.ask(request("r", "tasks/result", id.clone())).await;
        match tool {
            "job_fails" => assert_eq!((&result["result"]["isError"], text(&result)), (&json!(true), "the job failed")),
            "job_breaks" => assert_eq!(code(&result), -32603),
            _ => assert_eq!(text(&result), "done at once"),
        }
        assert_eq!(peer.ask(request("g", "tasks/get", id)).await["result"]["status"], wanted, "{tool}");
        if tool == "job_at_once" {
            // Nobody waited for it.
            peer.double.release.notified().await;
        }
    }
}

#[tokio::test]
async fn row_84_a_cancelled_task_stops_the_call() {
    let mut peer = legacy(Version::V2025_11_25).await;
    let task = peer.ask(task_call("c", "job")).await["result"]["task"].clone();
    let id = json!({"taskId": task["taskId"]});
    assert_eq!(peer.ask(request("x", "tasks/cancel", id.clone())).await["result"]["status"], "cancelled");
    assert_eq!(peer.seen.recv().await, Some(Seen::Started("job".to_owned())));
    assert_eq!(peer.seen.recv().await, Some(Seen::Cancelled("job".to_owned())));
    assert_eq!(peer.ask(request("g", "tasks/get", id.clone())).await["result"]["status"], "cancelled");
    assert_eq!(code(&peer.ask(request("r", "tasks/result", id)).await), -32600);
}

#[tokio::test]
async fn row_84_what_is_wrong_with_a_task_is_said() {
    let mut peer = legacy(Version::V2025_11_25).await;
    for task in [json!(1), json!("x"), json!([]), json!({"ttl": "1"}), json!({"ttl": -1}), json!({"ttl": 1.5})] {
        let call = request("c", "tools/call", json!({"name": "job", "task": task}));
        assert_eq!(code(&peer.ask(call).await), -32602, "{task}");
    }
    assert_eq!(code(&peer.ask(task_call("c", "text")).await), -32601);
    assert_eq!(code(&peer.ask(task_call("c", "no_such_tool")).await), -32602);
    for params in [json!({"taskId": "0"}), json!({"taskId": 7}), json!({}), Value::Null] {
        for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
            assert_eq!(code(&peer.ask(request("q", method, params.clone())).await), -32602, "{method} {params}");
        }
    }
    for method in ["tasks/list", "tasks/update"] {
        assert_eq!(code(&peer.ask(request("q", method, json!({"taskId": "0"}))).await), -32601);
    }
    // Questions come before the task.
    peer.send(&task_call("c", "job_asks")).await;
    let question = peer.hear().await;
    assert_eq!(question["method"], "elicitation/create");
    let answer = json!({"action": "accept", "content": {"name": "Ann"}});
    let created = peer.ask(json!({"jsonrpc": "2.0", "id": question["id"], "result": answer})).await;
    assert_eq!(created["result"]["task"]["status"], "working");
    peer.double.release.notify_one();
    let id = json!({"taskId": created["result"]["task"]["taskId"]});
    assert!(text(&peer.ask(request("r", "tasks/result", id)).await).contains("Ann"));
}

#[tokio::test]
async fn the_extension_is_only_for_requests_that_declare_it() {
    let mut peer = peer();
    let discover = peer.ask(modern_with(json!(1), "server/discover", json!({}), json!({}))).await;
    assert_eq!(discover["result"]["capabilities"]["extensions"], json!({EXTENSION: {}}));
    assert_eq!(discover["result"]["capabilities"].get("tasks"), None);
    peer.double.release.notify_one();
    let plain =
        peer.ask(modern_with(json!(2), "tools/call", json!({"name": "job", "task": {"ttl": 1}}), json!({}))).await;
    assert_eq!((&plain["result"]["resultType"], text(&plain)), (&json!("complete"), "the job is done"));
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({"taskId": "0", "inputResponses": {}});
        let refused = peer.ask(modern_with(json!(3), method, params.clone(), json!({}))).await;
        assert_eq!(code(&refused), -32021, "{method}");
        assert_eq!(refused["error"]["data"]["requiredCapabilities"], json!({"extensions": {EXTENSION: {}}}));
        assert_eq!(code(&peer.ask(knowing("q", method, params)).await), -32602, "{method}");
    }
    for method in ["tasks/list", "tasks/result"] {
        assert_eq!(code(&peer.ask(knowing("q", method, json!({"taskId": "0"}))).await), -32601, "{method}");
    }
    // What is done at once, and what never waits, is answered at once; the old parameter changes nothing.
    assert_eq!(text(&peer.ask(call("job_at_once")).await), "done at once");
    let old = knowing("t", "tools/call", json!({"name": "text", "task": {"ttl": 1}}));
    assert_eq!(text(&peer.ask(old).await), "hello\nworld");
}

#[tokio::test]
async fn a_task_of_the_extension_carries_its_end() {
    let mut peer = peer();
    for (tool, status) in [("job", "completed"), ("job_fails", "completed"), ("job_breaks", "failed")] {
        let created = peer.ask(call(tool)).await["result"].clone();
        assert_eq!((&created["resultType"], &created["status"]), (&json!("task"), &json!("working")), "{tool}");
        let get = || knowing("g", "tasks/get", json!({"taskId": created["taskId"]}));
        assert_eq!(peer.ask(get()).await["result"]["status"], "working");
        peer.double.release.notify_one();
        let end = ended(&mut peer, get).await;
        assert_eq!(end["status"], status, "{tool}");
        match tool {
            "job_breaks" => assert_eq!(end["error"], json!({"code": -32603, "message": "the job broke"})),
            _ => assert_eq!(end["result"].get("isError"), Some(&json!(true)).filter(|_| tool == "job_fails")),
        }
    }
}

#[tokio::test]
async fn questions_come_before_the_task_of_the_extension() {
    let mut peer = peer();
    let asked = peer.ask(call("job_asks")).await["result"].clone();
    assert_eq!((&asked["resultType"], asked.get("taskId")), (&json!("input_required"), None));
    let answers = json!({"who": {"action": "accept", "content": {"name": "Ann"}}});
    let again = json!({"name": "job_asks", "inputResponses": answers, "requestState": asked["requestState"]});
    let created = peer.ask(knowing("2", "tools/call", again)).await["result"].clone();
    assert_eq!(created["resultType"], "task");
    let id = json!({"taskId": created["taskId"]});
    let update = json!({"taskId": created["taskId"], "inputResponses": {"nothing": {}}});
    peer.ask(knowing("u", "tasks/update", update)).await["result"].as_object().unwrap();
    assert_eq!(code(&peer.ask(knowing("u", "tasks/update", id.clone())).await), -32602);
    peer.double.release.notify_one();
    let end = ended(&mut peer, || knowing("g", "tasks/get", id.clone())).await;
    assert!(end["result"]["content"][0]["text"].as_str().unwrap().contains("Ann"), "{end}");
}

#[tokio::test]
async fn cancelling_is_acknowledged_whether_or_not_there_is_something_to_stop() {
    let mut peer = peer();
    let created = peer.ask(call("job")).await["result"].clone();
    let cancel = || knowing("x", "tasks/cancel", json!({"taskId": created["taskId"]}));
    peer.ask(cancel()).await["result"].as_object().unwrap();
    assert_eq!(peer.seen.recv().await, Some(Seen::Started("job".to_owned())));
    assert_eq!(peer.seen.recv().await, Some(Seen::Cancelled("job".to_owned())));
    let end = ended(&mut peer, || knowing("g", "tasks/get", json!({"taskId": created["taskId"]}))).await;
    assert_eq!(end["status"], "cancelled");
    peer.ask(cancel()).await["result"].as_object().unwrap();
    // Before it is a task, a call is cancelled as any other.
    peer.send(&call("job_before")).await;
    assert_eq!(peer.seen.recv().await, Some(Seen::Started("job_before".to_owned())));
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "job_before"}});
    peer.send(&cancelled).await;
    assert_eq!(peer.seen.recv().await, Some(Seen::Cancelled("job_before".to_owned())));
}

#[tokio::test]
async fn tasks_are_bounded_and_can_be_off() {
    let mut peer = with(Settings { max_tasks: 4, ..Settings::default() });
    let first = peer.ask(call("job")).await["result"].clone();
    assert_eq!(first["resultType"], "task");
    // One caller may hold a quarter: the second call is answered when it is done.
    peer.send(&knowing("second", "tools/call", json!({"name": "job"}))).await;
    assert_eq!(peer.seen.recv().await, Some(Seen::Started("job".to_owned())));
    assert_eq!(peer.seen.recv().await, Some(Seen::Started("job".to_owned())));
    peer.ask(knowing("x", "tasks/cancel", json!({"taskId": first["taskId"]}))).await;
    assert_eq!(peer.seen.recv().await, Some(Seen::Cancelled("job".to_owned())));
    peer.double.release.notify_one();
    assert_eq!(text(&peer.hear().await), "the job is done");

    let mut peer = with(Settings { max_tasks: 0, ..Settings::default() });
    let discover = peer.ask(knowing("1", "server/discover", json!({}))).await;
    assert_eq!(discover["result"]["capabilities"].get("extensions"), None);
    peer.double.release.notify_one();
    assert_eq!(text(&peer.ask(call("job")).await), "the job is done");
    assert_eq!(code(&peer.ask(knowing("g", "tasks/get", json!({"taskId": "0"}))).await), -32601);
}
