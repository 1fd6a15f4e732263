//! Resources that clients subscribe to: the API is asked whether they changed, in the subscriber's own name.

use super::{Folder, Running, STILL, hash, modern, run};
use crate::upstream::server::{Act, Server, answer, serve};
use rest_mcp::protocol::Version;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const RESOURCES: &str = "
resources:
  orders: { operation: getOrders, uri: \"shop://orders\", mime_type: application/json }
  pet: { operation: getPet, uri: \"shop://pets/{id}\", mime_type: application/json }
";

/// An API whose orders can be changed, and which knows what a conditional request is.
struct Api {
    server: Server,
    orders: Arc<Mutex<String>>,
    /// Requests that were answered with the whole text.
    whole: Arc<AtomicUsize>,
}

async fn api(etags: bool) -> Api {
    let (orders, whole) = (Arc::new(Mutex::new("[1]".to_owned())), Arc::new(AtomicUsize::new(0)));
    let (text, count) = (orders.clone(), whole.clone());
    let server = serve(move |_, request| {
        let line = request.lines().next().unwrap_or_default();
        if !line.contains(" /orders ") {
            return Act::Send(answer("404 Not Found", "", ""));
        }
        let text = text.lock().unwrap().clone();
        let etag = format!("\"{}\"", text.len());
        if etags && request.to_lowercase().contains(&format!("if-none-match: {etag}")) {
            return Act::Send(format!("HTTP/1.1 304 Not Modified\r\netag: {etag}\r\n\r\n").into_bytes());
        }
        count.fetch_add(1, Ordering::Relaxed);
        let headers = if etags { format!("etag: {etag}\r\n") } else { String::new() };
        Act::Send(answer("200 OK", &format!("content-type: application/json\r\n{headers}"), text))
    })
    .await;
    Api { server, orders, whole }
}

async fn world(settings: &str, api: &Api) -> Running {
    let folder = Folder::new(&format!("subscriptions: {{ every: 2ms }}\n{settings}"), &api.server.url);
    folder.write("mapping.yaml", &format!("{}{RESOURCES}", super::MAPPING));
    run(folder, STILL).await
}

/// One open `subscriptions/listen`.
struct Listening {
    response: reqwest::Response,
    text: String,
}

impl Listening {
    async fn start(world: &Running, headers: &[(&str, &str)], uris: &[&str]) -> Listening {
        let message = modern("subscriptions/listen", json!({"notifications": {"resourceSubscriptions": uris}}));
        let mut request = world
            .http
            .post(format!("{}/mcp", world.url))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", super::REVISION)
            .header("mcp-method", "subscriptions/listen");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.body(message.to_string()).send().await.unwrap();
        assert_eq!(response.status(), 200);
        Listening { response, text: String::new() }
    }

    async fn next(&mut self) -> Value {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: ")).map(str::to_owned);
                self.text = rest.to_owned();
                match data {
                    Some(data) if !data.is_empty() => {
                        let message = serde_json::from_str(&data).unwrap();
                        crate::protocol::official::check(Version::V2026_07_28, &message, None);
                        return message;
                    }
                    _ => continue,
                }
            }
            let chunk = self.response.chunk().await.unwrap().expect("the stream ended");
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }
}

/// Waits until the API was asked again.
async fn asked_again(api: &Api) {
    let before = api.server.count();
    while api.server.count() < before + 2 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_api_with_etags_is_asked_whether_it_changed_and_sends_its_text_once_a_change() {
    let api = api(true).await;
    let world = world("", &api).await;
    let mut listening = Listening::start(&world, &[], &["shop://orders", "shop://pets/7", "shop://nothing"]).await;
    let acknowledged = listening.next().await;
    // What is not there, and what no resource is, is left out.
    assert_eq!(acknowledged["params"]["notifications"], json!({"resourceSubscriptions": ["shop://orders"]}));
    asked_again(&api).await;
    assert_eq!(api.whole.load(Ordering::Relaxed), 1);
    *api.orders.lock().unwrap() = "[1, 2]".to_owned();
    let updated = listening.next().await;
    assert_eq!(
        (&updated["method"], &updated["params"]["uri"]),
        (&json!("notifications/resources/updated"), &json!("shop://orders"))
    );
    asked_again(&api).await;
    assert_eq!(api.whole.load(Ordering::Relaxed), 2);
    assert!(api.server.requests().iter().all(|request| request.contains(super::KEY)), "asked with the credential");
}

#[tokio::test]
async fn without_etags_the_text_itself_is_compared() {
    let api = api(false).await;
    let world = world("", &api).await;
    let mut listening = Listening::start(&world, &[], &["shop://orders"]).await;
    listening.next().await;
    asked_again(&api).await;
    *api.orders.lock().unwrap() = "[2]".to_owned();
    assert_eq!(listening.next().await["params"]["uri"], "shop://orders");
}

#[tokio::test]
async fn nobody_listening_nothing_is_asked() {
    let api = api(true).await;
    let world = world("", &api).await;
    let mut listening = Listening::start(&world, &[], &["shop://orders"]).await;
    listening.next().await;
    let mut second = Listening::start(&world, &[], &["shop://orders"]).await;
    second.next().await;
    drop(listening);
    asked_again(&api).await;
    drop(second);
    // It notices that the stream is gone, and then a long time passes without a question.
    let mut quiet = 0;
    while quiet < 20 {
        let before = api.server.count();
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        quiet = if api.server.count() == before { quiet + 1 } else { 0 };
    }
}

#[tokio::test]
async fn what_is_hidden_from_a_caller_is_neither_listed_nor_read_nor_watched() {
    let api = api(true).await;
    let access = format!(
        "access:\n  api_keys:\n    - {{ name: a, key_hash: \"{}\", tenant: all }}\n    - {{ name: b, key_hash: \"{}\", tenant: few }}\n  tenants: {{ all: {{ allow: [\"*\"] }}, few: {{ allow: [\"*\"], deny: [\"tag:store\"] }} }}\n",
        hash("key-a"),
        hash("key-b")
    );
    let world = world(&access, &api).await;
    for (key, sees) in [("key-a", true), ("key-b", false)] {
        let headers = [("x-api-key", key)];
        let list = world.post(&headers, &modern("resources/list", json!({}))).await.body["result"]["resources"].clone();
        let uris: Vec<&Value> = list.as_array().unwrap().iter().map(|one| &one["uri"]).collect();
        assert_eq!(uris, if sees { vec!["shop://orders"] } else { vec![] }, "{key}");
        let read = [("x-api-key", key), ("mcp-name", "shop://orders")];
        let read = world.post(&read, &modern("resources/read", json!({"uri": "shop://orders"}))).await;
        assert_eq!(read.body["error"]["code"], if sees { Value::Null } else { json!(-32602) }, "{read:?}");
        let before = api.server.count();
        let mut listening = Listening::start(&world, &headers, &["shop://orders"]).await;
        let honoured = listening.next().await["params"]["notifications"].clone();
        assert_eq!(honoured, if sees { json!({"resourceSubscriptions": ["shop://orders"]}) } else { json!({}) });
        if !sees {
            assert_eq!(api.server.count(), before, "the API is not asked for who may not see");
        }
        drop(listening);
        // Nobody is left that asks, so that the counts of the next round are its own.
        let mut quiet = 0;
        while quiet < 10 {
            let before = api.server.count();
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            quiet = if api.server.count() == before { quiet + 1 } else { 0 };
        }
    }
}

#[tokio::test]
async fn subscriptions_can_be_off() {
    let api = api(true).await;
    let folder = Folder::new("subscriptions: { every: 0s }\n", &api.server.url);
    folder.write("mapping.yaml", &format!("{}{RESOURCES}", super::MAPPING));
    let world = run(folder, STILL).await;
    let discovered = world.post(&[], &modern("server/discover", json!({}))).await;
    assert_eq!(discovered.body["result"]["capabilities"]["resources"]["subscribe"], false, "{discovered:?}");
    let mut listening = Listening::start(&world, &[], &["shop://orders"]).await;
    assert_eq!(listening.next().await["params"]["notifications"], json!({}));
    assert_eq!(api.server.count(), 0);
}
