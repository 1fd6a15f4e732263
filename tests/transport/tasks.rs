//! Tasks over HTTP: they outlive the stream that made them and belong to their caller.

use super::client::Site;
use crate::protocol::double::{Seen, catalog_with_jobs};
use crate::protocol::peer::modern_with;
use rest_mcp::access::Caller;
use rest_mcp::protocol;
use rest_mcp::transport::{Authenticator, Boxed, Certificate, Denied, Settings};
use serde_json::{Value, json};
use std::sync::Arc;

/// Everybody is who they say they are.
struct Named;

impl Authenticator for Named {
    fn authenticate<'a>(
        &'a self,
        headers: &'a http::HeaderMap,
        _: Option<&'a Certificate>,
    ) -> Boxed<'a, Result<Arc<Caller>, Denied>> {
        let subject = headers.get("x-who").and_then(|value| value.to_str().ok()).map(Arc::from);
        Box::pin(async move { Ok(Arc::new(Caller { subject, ..Default::default() })) })
    }
    fn challenge(&self, _: &[String]) -> Option<String> {
        None
    }
}

async fn ask(site: &Site, who: &str, method: &str, name: &str, params: Value) -> Value {
    let capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let headers = [
        "MCP-Protocol-Version: 2026-07-28".to_owned(),
        format!("Mcp-Method: {method}"),
        format!("Mcp-Name: {name}"),
        format!("X-Who: {who}"),
    ];
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    site.post(&headers, &modern_with(json!(1), method, params, capabilities)).await.json()
}

#[tokio::test]
async fn a_task_outlives_its_request_and_is_its_callers_own() {
    let limits = Settings { authenticator: Arc::new(Named), ..Settings::default() };
    let site = Site::with(protocol::Settings::default(), limits).await;
    site.double.swap(catalog_with_jobs());
    let created = ask(&site, "ann", "tools/call", "job", json!({"name": "job"})).await["result"].clone();
    assert_eq!(created["resultType"], "task");
    let id = created["taskId"].as_str().unwrap();
    let task = json!({"taskId": id});
    let working = ask(&site, "ann", "tasks/get", id, task.clone()).await;
    assert_eq!(working["result"]["status"], "working");
    for method in ["tasks/get", "tasks/cancel"] {
        let foreign = ask(&site, "bob", method, id, task.clone()).await;
        assert_eq!(foreign["error"]["code"], -32602, "{method}");
        let misnamed = ask(&site, "ann", method, "other", task.clone()).await;
        assert_eq!(misnamed["error"]["code"], -32020, "{method}");
    }
    assert_eq!(site.saw().await, Some(Seen::Started("job".to_owned())));
    ask(&site, "ann", "tasks/cancel", id, task).await["result"].as_object().unwrap();
    assert_eq!(site.saw().await, Some(Seen::Cancelled("job".to_owned())));
}

#[tokio::test]
async fn a_client_that_leaves_before_there_is_a_task_stops_the_call() {
    let site = Site::start().await;
    site.double.swap(catalog_with_jobs());
    let capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let headers = ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: job_before"];
    let params = json!({"name": "job_before"});
    let call = site.post_open(&headers, &modern_with(json!(1), "tools/call", params, capabilities)).await;
    assert_eq!(site.saw().await, Some(Seen::Started("job_before".to_owned())));
    drop(call);
    assert_eq!(site.saw().await, Some(Seen::Cancelled("job_before".to_owned())));
}
