//! The scripted API: answers the requests a story expects, and notes every other one.

use super::matching::differences;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use base64::Engine;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Barrier;

#[derive(Default)]
struct Script {
    expected: Vec<(Value, bool)>,
    problems: Vec<String>,
    together: HashMap<String, Arc<Barrier>>,
}

/// A running scripted API.
#[derive(Clone)]
pub struct Api {
    /// `127.0.0.1:port`.
    pub host: String,
    script: Arc<Mutex<Script>>,
}

impl Api {
    pub async fn start() -> Api {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let api = Api { host, script: Arc::default() };
        let served = api.clone();
        let router = axum::Router::new().fallback(move |request: Request| {
            let api = served.clone();
            async move { api.answer(request).await }
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        api
    }

    /// Sets the exchanges of the next call.
    pub fn expect(&self, exchanges: &[Value]) {
        let mut script = self.script.lock().unwrap();
        script.expected = exchanges.iter().map(|one| (one.clone(), false)).collect();
        script.together.clear();
        for one in exchanges {
            if let Some(group) = one.get("together").and_then(Value::as_str) {
                let count = exchanges.iter().filter(|other| other.get("together") == one.get("together")).count();
                script.together.insert(group.to_owned(), Arc::new(Barrier::new(count)));
            }
        }
    }

    /// What went wrong since, and the exchanges that never happened.
    pub fn problems(&self) -> Vec<String> {
        let mut script = self.script.lock().unwrap();
        let mut problems = std::mem::take(&mut script.problems);
        for (one, used) in &script.expected {
            if !used {
                problems.push(format!("never sent: {}", one.get("request").unwrap_or(&Value::Null)));
            }
        }
        problems
    }

    async fn answer(&self, request: Request) -> Response {
        let (head, body) = request.into_parts();
        let body = to_bytes(body, 1 << 24).await.unwrap_or_default();
        let target = head.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
        let headers: serde_json::Map<String, Value> = head
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), Value::String(value.to_str().unwrap_or("?").to_owned())))
            .collect();
        let seen = serde_json::json!({
            "method": head.method.as_str(),
            "path": target,
            "headers": headers,
            "json": serde_json::from_slice::<Value>(&body).unwrap_or(Value::Null),
            "body": String::from_utf8_lossy(&body),
        });
        let (respond, barrier) = {
            let mut script = self.script.lock().unwrap();
            let same = |(one, used): &(Value, bool)| {
                let wanted = &one["request"];
                !used
                    && wanted["path"] == seen["path"]
                    && wanted.get("method").is_none_or(|method| *method == seen["method"])
            };
            let Some(index) = script.expected.iter().position(same) else {
                script.problems.push(format!("unexpected request: {seen}"));
                return Response::builder().status(599).body(Body::from("unexpected")).unwrap();
            };
            script.expected[index].1 = true;
            let exchange = script.expected[index].0.clone();
            let mut found = Vec::new();
            differences(&exchange["request"], Some(&seen), "request", &mut found);
            script.problems.extend(found);
            let barrier =
                exchange.get("together").and_then(Value::as_str).and_then(|group| script.together.get(group).cloned());
            (exchange.get("respond").cloned().unwrap_or(Value::Null), barrier)
        };
        if let Some(barrier) = barrier
            && tokio::time::timeout(Duration::from_secs(10), barrier.wait()).await.is_err()
        {
            self.script.lock().unwrap().problems.push(format!("not at the same time as its group: {target}"));
        }
        self.respond(&respond).await
    }

    async fn respond(&self, answer: &Value) -> Response {
        if let Some(pause) = answer.get("after_ms").and_then(Value::as_u64) {
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        let here = |text: &str| text.replace("UPSTREAM", &format!("http://{}", self.host));
        let mut builder =
            Response::builder().status(answer.get("status").and_then(Value::as_u64).unwrap_or(200) as u16);
        let headers = answer.get("headers").and_then(Value::as_object);
        let typed = headers.is_some_and(|headers| headers.keys().any(|name| name.eq_ignore_ascii_case("content-type")));
        for (name, value) in headers.into_iter().flatten() {
            builder = builder.header(name, here(value.as_str().unwrap()));
        }
        let body = if let Some(json) = answer.get("json") {
            if !typed {
                builder = builder.header("content-type", "application/json");
            }
            here(&json.to_string()).into_bytes()
        } else if let Some(text) = answer.get("body").and_then(Value::as_str) {
            here(text).into_bytes()
        } else if let Some(text) = answer.get("base64").and_then(Value::as_str) {
            base64::engine::general_purpose::STANDARD.decode(text).unwrap()
        } else {
            Vec::new()
        };
        builder.body(Body::from(body)).unwrap()
    }
}
