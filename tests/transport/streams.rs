//! Event streams: when an answer becomes one, what stands on it, who may come back to it.

use super::client::Site;
use crate::protocol::double::Seen;
use crate::protocol::peer::{request, text};
use rest_mcp::protocol::{self, Version};
use rest_mcp::service::Change;
use rest_mcp::transport::Settings;
use serde_json::{Value, json};
use std::time::Duration;

fn progress(name: &str) -> Value {
    request("c", "tools/call", json!({"name": name, "_meta": {"progressToken": 1}}))
}

fn started() -> Option<Seen> {
    Some(Seen::Started("wait_then_answer".to_owned()))
}

#[tokio::test]
async fn row_60_and_71_events_turn_the_answer_into_a_stream() {
    let site = Site::start().await;
    let params = json!({"name": "progress", "_meta": {"progressToken": "t"}});
    let mut stream = site.modern_open("tools/call", params).await;
    assert_eq!(stream.head.status, 200);
    assert_eq!(stream.head.header("content-type"), Some("text/event-stream"));
    assert_eq!(stream.head.header("x-accel-buffering"), Some("no"));
    assert_eq!(stream.head.header("cache-control"), Some("no-cache"));
    for value in [json!(0), json!(0.5), json!(1)] {
        let event = stream.event().await.unwrap();
        assert_eq!((event.id.clone(), event.retry.clone()), (None, None), "no resumption in the modern era");
        assert_eq!(event.json()["params"]["progress"], value);
    }
    assert_eq!(text(&stream.message().await.unwrap()), "done");
    assert_eq!(stream.event().await, None);
}

#[tokio::test]
async fn who_takes_no_stream_gets_json_and_no_events() {
    let site = Site::start().await;
    let session = site.session(Version::V2025_11_25).await;
    let body = progress("progress").to_string();
    let headers = ["Content-Type: application/json", "Accept: application/json", &format!("Mcp-Session-Id: {session}")];
    let response = site.send("POST", "/mcp", &headers, body.as_bytes()).await;
    assert_eq!((response.header("content-type"), text(&response.json())), (Some("application/json"), "done"));
    // And who takes no JSON gets a stream.
    let headers =
        ["Content-Type: application/json", "Accept: text/event-stream", &format!("Mcp-Session-Id: {session}")];
    let call = request(1, "tools/call", json!({"name": "text"})).to_string();
    let mut stream =
        site.open("POST", "/mcp", &headers, call.as_bytes()).await.speaks(Version::V2025_11_25, "tools/call");
    assert_eq!(text(&stream.message().await.unwrap()), "hello\nworld");
    assert_eq!(stream.message().await, None);
}

#[tokio::test]
async fn row_44_a_modern_client_that_goes_away_cancels() {
    let site = Site::start().await;
    {
        let opening = site.modern_open("tools/call", json!({"name": "wait"}));
        tokio::pin!(opening);
        tokio::select! {
            _ = &mut opening => panic!("nobody answered it"),
            seen = site.saw() => assert_eq!(seen, Some(Seen::Started("wait".to_owned()))),
        }
        // The socket closes here, before a response head.
    }
    assert_eq!(site.saw().await, Some(Seen::Cancelled("wait".to_owned())));
    // The same once the answer is a stream.
    let mut stream = site.modern_open("tools/call", json!({"name": "wait", "_meta": {"progressToken": 1}})).await;
    stream.message().await.unwrap();
    assert_eq!(site.saw().await, Some(Seen::Started("wait".to_owned())));
    drop(stream);
    assert_eq!(site.saw().await, Some(Seen::Cancelled("wait".to_owned())));
}

#[tokio::test]
async fn row_45_a_legacy_client_that_goes_away_does_not_cancel() {
    let site = Site::start().await;
    let session = format!("Mcp-Session-Id: {}", site.session(Version::V2025_06_18).await);
    for call in [request("a", "tools/call", json!({"name": "wait_then_answer"})), progress("wait_then_answer")] {
        {
            let headers = [session.as_str()];
            let opening = site.post_open(&headers, &call);
            tokio::pin!(opening);
            let mut stream = None;
            loop {
                tokio::select! {
                    opened = &mut opening, if stream.is_none() => stream = Some(opened),
                    seen = site.saw() => break assert_eq!(seen, started()),
                }
            }
        }
        site.double.release.notify_one();
        assert_eq!(site.saw().await, Some(Seen::Finished("wait_then_answer".to_owned())));
    }
}

#[tokio::test]
async fn row_43_a_legacy_client_cancels_by_notification() {
    let site = Site::start().await;
    let session = format!("Mcp-Session-Id: {}", site.session(Version::V2025_11_25).await);
    let (headers, call) = ([session.as_str()], request("w", "tools/call", json!({"name": "wait"})));
    let opening = site.post_open(&headers, &call);
    tokio::pin!(opening);
    tokio::select! {
        _ = &mut opening => panic!("nobody answered it"),
        seen = site.saw() => assert_eq!(seen, Some(Seen::Started("wait".to_owned()))),
    }
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "w"}});
    let (response, seen, cancelled) = tokio::join!(opening, site.saw(), site.post(&headers, &cancel));
    assert_eq!((cancelled.status, seen), (202, Some(Seen::Cancelled("wait".to_owned()))));
    let response = response.whole().await;
    assert_eq!((response.status, response.body.len()), (202, 0));
}

#[tokio::test]
async fn row_67_streams_of_2025_11_25_start_with_an_id_and_can_be_resumed() {
    let site = Site::start().await;
    let id = site.session(Version::V2025_11_25).await;
    let session = format!("Mcp-Session-Id: {id}");
    let mut stream = site.post_open(&[&session], &progress("wait_then_answer")).await;
    let priming = stream.event().await.unwrap();
    assert_eq!(priming.data, "");
    assert!(priming.retry.is_some());
    let first = stream.event().await.unwrap();
    assert_eq!(first.json()["params"]["progress"], 1);
    assert_eq!(site.saw().await, started());
    drop(stream);
    site.double.release.notify_one();
    assert_eq!(site.saw().await, Some(Seen::Finished("wait_then_answer".to_owned())));
    // From the first event on only the answer is left; from the priming event on, both.
    for (from, messages) in [(first.id.clone().unwrap(), 1), (priming.id.clone().unwrap(), 2)] {
        let mut resumed =
            site.listen(&id, &[&format!("Last-Event-ID: {from}")]).await.speaks(Version::V2025_11_25, "tools/call");
        let mut last = Value::Null;
        for _ in 0..messages {
            last = resumed.message().await.unwrap();
        }
        assert_eq!(text(&last), "released");
        assert_eq!(resumed.message().await, None);
    }
    for unknown in ["99-1", "x", "1", "1-99", ""] {
        let response = site.listen(&id, &[&format!("Last-Event-ID: {unknown}")]).await;
        assert_eq!(response.head.status, 400, "{unknown}");
        assert_eq!(response.whole().await.code(), -32600);
    }
}

#[tokio::test]
async fn row_67_older_clients_see_neither_ids_nor_empty_events() {
    let site = Site::start().await;
    for version in [Version::V2025_03_26, Version::V2025_06_18] {
        let session = format!("Mcp-Session-Id: {}", site.session(version).await);
        let mut stream = site.post_open(&[&session], &progress("progress")).await;
        let mut count = 0;
        while let Some(event) = stream.event().await {
            assert_eq!((&event.id, &event.retry), (&None, &None));
            assert_ne!(event.data, "");
            count += 1;
        }
        assert_eq!(count, 4);
    }
}

#[tokio::test]
async fn row_61_and_65_the_get_stream_carries_changes_and_nothing_else() {
    let watching = protocol::Settings { watch_every: Duration::from_millis(1), ..protocol::Settings::default() };
    let site = Site::with(watching, Settings::default()).await;
    let id = site.session(Version::V2025_11_25).await;
    let session = format!("Mcp-Session-Id: {id}");
    let mut older = site.listen(&id, &[]).await;
    older.event().await.unwrap();
    let mut newer = site.listen(&id, &[]).await.speaks(Version::V2025_11_25, "");
    let priming = newer.event().await.unwrap();
    // One message goes out once: the older stream has ended.
    assert_eq!(older.event().await, None);
    assert_eq!(
        site.post(&[&session], &request(1, "resources/subscribe", json!({"uri": "test://static-text"}))).await.status,
        200
    );
    let mut answer = site.post_open(&[&session], &progress("progress")).await;
    while answer.message().await.is_some() {}
    site.double.changes.send(Change::Tools).unwrap();
    assert_eq!(newer.message().await.unwrap()["method"], "notifications/tools/list_changed");
    site.double.write("test://static-text", Some("changed"));
    let updated = newer.event().await.unwrap();
    assert_eq!(updated.json()["params"]["uri"], "test://static-text");
    // Coming back, nothing is said twice and nothing was missed.
    drop(newer);
    site.double.changes.send(Change::Prompts).unwrap();
    let mut resumed =
        site.listen(&id, &[&format!("Last-Event-ID: {}", updated.id.unwrap())]).await.speaks(Version::V2025_11_25, "");
    assert_eq!(resumed.message().await.unwrap()["method"], "notifications/prompts/list_changed");
    let mut again =
        site.listen(&id, &[&format!("Last-Event-ID: {}", priming.id.unwrap())]).await.speaks(Version::V2025_11_25, "");
    assert_eq!(again.message().await.unwrap()["method"], "notifications/tools/list_changed");
    // The end of the session is the end of its streams.
    assert_eq!(site.send("DELETE", "/mcp", &[&session], b"").await.status, 204);
    while again.message().await.is_some() {}
    let refused = site.send("GET", "/mcp", &[&session, "Accept: application/json"], b"").await;
    assert_eq!(refused.status, 404);
}

#[tokio::test]
async fn a_get_that_takes_no_stream_is_406() {
    let site = Site::start().await;
    let session = format!("Mcp-Session-Id: {}", site.session(Version::V2025_11_25).await);
    assert_eq!(site.send("GET", "/mcp", &[&session, "Accept: application/json"], b"").await.refusal(), (406, -32600));
}

#[tokio::test]
async fn several_streams_of_one_session_run_at_once() {
    let site = Site::start().await;
    let session = format!("Mcp-Session-Id: {}", site.session(Version::V2025_11_25).await);
    let mut streams = Vec::new();
    for number in 0..3 {
        let call = request(number, "tools/call", json!({"name": "progress", "_meta": {"progressToken": number}}));
        streams.push((number, site.post_open(&[&session], &call).await));
    }
    for (number, mut stream) in streams {
        let mut last = Value::Null;
        while let Some(message) = stream.message().await {
            assert!(message.get("id").is_some() || message["params"]["progressToken"] == number);
            last = message;
        }
        assert_eq!(last["id"], number);
    }
}

#[tokio::test]
async fn questions_ride_on_the_stream_of_their_call() {
    let site = Site::start().await;
    for version in [Version::V2025_06_18, Version::V2025_11_25] {
        let session = format!("Mcp-Session-Id: {}", site.session(version).await);
        let call = request("c", "tools/call", json!({"name": "ask"}));
        let mut stream = site.post_open(&[&session], &call).await.speaks(version, "tools/call");
        let question = stream.message().await.unwrap();
        assert_eq!(question["method"], "elicitation/create");
        let given = json!({"action": "accept", "content": {"name": "Ada"}});
        let response = site.post(&[&session], &json!({"jsonrpc": "2.0", "id": question["id"], "result": given})).await;
        assert_eq!(response.status, 202);
        assert_eq!(text(&stream.message().await.unwrap()), given.to_string());
        assert_eq!(stream.message().await, None);
    }
}

#[tokio::test]
async fn row_17_modern_questions_are_results() {
    let site = Site::start().await;
    let response = site.modern("tools/call", json!({"name": "ask"})).await;
    assert_eq!(response.json()["result"]["resultType"], "input_required");
}

#[tokio::test]
async fn row_71_long_silence_turns_into_a_stream_of_comments() {
    let limits = Settings { heartbeat: Duration::from_millis(1), ..Settings::default() };
    let site = Site::with(protocol::Settings::default(), limits).await;
    let mut stream = site.modern_open("tools/call", json!({"name": "wait_then_answer"})).await;
    for _ in 0..3 {
        assert!(stream.event().await.unwrap().comment);
    }
    site.double.release.notify_one();
    assert_eq!(text(&stream.message().await.unwrap()), "released");
}

#[tokio::test]
async fn row_46_log_lines_need_to_be_asked_for() {
    let site = Site::start().await;
    assert_eq!(
        site.modern("tools/call", json!({"name": "log"})).await.header("content-type"),
        Some("application/json")
    );
    let params = json!({"name": "log", "_meta": {"io.modelcontextprotocol/logLevel": "error"}});
    let mut stream = site.modern_open("tools/call", params).await;
    assert_eq!(stream.message().await.unwrap()["params"], json!({"level": "error", "data": "a error line"}));
    assert_eq!(text(&stream.message().await.unwrap()), "done");
}

#[tokio::test]
async fn row_48_and_49_a_subscription_is_a_stream_that_ends_with_a_result() {
    const ID: &str = "io.modelcontextprotocol/subscriptionId";
    let site = Site::start().await;
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    let mut stream = site.modern_open("subscriptions/listen", wanted.clone()).await;
    let first = stream.message().await.unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    site.double.changes.send(Change::Prompts).unwrap();
    site.double.changes.send(Change::Tools).unwrap();
    let changed = stream.message().await.unwrap();
    assert_eq!(
        (&changed["method"], &changed["params"]["_meta"][ID]),
        (&json!("notifications/tools/list_changed"), &json!(1))
    );
    site.shutdown.cancel();
    let end = stream.message().await.unwrap();
    assert_eq!((&end["id"], &end["result"]["_meta"][ID]), (&json!(1), &json!(1)));
    assert_eq!(stream.message().await, None);
    site.serving.await.unwrap().unwrap();

    let site = Site::start().await;
    let headers = [
        "Content-Type: application/json",
        "Accept: application/json",
        "MCP-Protocol-Version: 2026-07-28",
        "Mcp-Method: subscriptions/listen",
    ];
    let body = crate::protocol::peer::modern(json!(1), "subscriptions/listen", wanted).to_string();
    assert_eq!(site.send("POST", "/mcp", &headers, body.as_bytes()).await.status, 406);
}
