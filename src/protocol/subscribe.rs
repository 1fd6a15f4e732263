//! `subscriptions/listen` (2026-07-28) and the same changes as plain notifications for legacy peers.

use super::error::{INVALID_PARAMS, RpcError};
use super::jsonrpc::Request;
use super::version::Version;
use super::{Reply, Scope, Server, text};
use crate::service::Change;
use bytes::Bytes;
use serde_json::{Map, Value, json};
use tokio::sync::broadcast::error::RecvError;

const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// Most resource URIs in one subscription.
const MOST_URIS: usize = 1000;

/// The notification that tells of a change, without `params._meta`.
fn notification(change: &Change, meta: Option<&str>) -> Bytes {
    let method = match change {
        Change::Tools => "notifications/tools/list_changed",
        Change::Prompts => "notifications/prompts/list_changed",
        Change::Resources => "notifications/resources/list_changed",
        Change::ResourceUpdated(_) => "notifications/resources/updated",
    };
    let mut params = Vec::new();
    if let Change::ResourceUpdated(uri) = change {
        params.push(format!(r#""uri":{}"#, Value::from(uri.as_str())));
    }
    if let Some(meta) = meta {
        params.push(format!(r#""_meta":{{{meta}}}"#));
    }
    let params = if params.is_empty() { String::new() } else { format!(r#","params":{{{}}}"#, params.join(",")) };
    Bytes::from(format!(r#"{{"jsonrpc":"2.0","method":"{method}"{params}}}"#))
}

/// What a legacy session is told about a change; `subscribed` says which URIs it watches.
pub(crate) fn for_legacy(change: &Change, subscribed: impl Fn(&str) -> bool) -> Option<Bytes> {
    match change {
        Change::ResourceUpdated(uri) if !subscribed(uri) => None,
        change => Some(notification(change, None)),
    }
}

/// What is said when changes were missed: that everything may have changed.
pub(crate) const EVERYTHING: [Change; 3] = [Change::Tools, Change::Prompts, Change::Resources];

struct Filter {
    tools: bool,
    prompts: bool,
    resources: bool,
    uris: Vec<String>,
}

impl Filter {
    fn read(server: &Server, request: &Request<'_>) -> Result<Self, RpcError> {
        let wrong = |text: &'static str| RpcError::new(INVALID_PARAMS, text);
        let raw = request.params.notifications.ok_or_else(|| wrong("`params.notifications` must be an object"))?;
        let asked: Map<String, Value> =
            serde_json::from_str(raw.get()).map_err(|_| wrong("`params.notifications` must be an object"))?;
        let offered = server.capabilities(Version::V2026_07_28);
        let honoured = |feature: &str, capability: &str| {
            offered.get(feature).and_then(|feature| feature.get(capability)) == Some(&Value::Bool(true))
        };
        let flag = |name: &str| match asked.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(wrong("A member of `params.notifications` has the wrong type")),
        };
        let uris = match asked.get("resourceSubscriptions") {
            None => Vec::new(),
            Some(list) => serde_json::from_value::<Vec<String>>(list.clone())
                .map_err(|_| wrong("`resourceSubscriptions` must be a list of strings"))?,
        };
        if uris.len() > MOST_URIS {
            return Err(wrong("Too many `resourceSubscriptions`"));
        }
        Ok(Filter {
            tools: flag("toolsListChanged")? && honoured("tools", "listChanged"),
            prompts: flag("promptsListChanged")? && honoured("prompts", "listChanged"),
            resources: flag("resourcesListChanged")? && honoured("resources", "listChanged"),
            uris: if honoured("resources", "subscribe") { uris } else { Vec::new() },
        })
    }

    fn wants(&self, change: &Change) -> bool {
        match change {
            Change::Tools => self.tools,
            Change::Prompts => self.prompts,
            Change::Resources => self.resources,
            Change::ResourceUpdated(uri) => self.uris.contains(uri),
        }
    }

    fn acknowledgement(&self, meta: &str) -> Bytes {
        let mut honoured = Map::new();
        for (name, on) in [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ] {
            if on {
                honoured.insert(name.to_owned(), true.into());
            }
        }
        if !self.uris.is_empty() {
            honoured.insert("resourceSubscriptions".to_owned(), json!(self.uris));
        }
        Bytes::from(format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{{meta}}},"notifications":{}}}}}"#,
            Value::Object(honoured)
        ))
    }
}

/// Serves one subscription until the client cancels it (the future is dropped or `cancel` fires) or
/// the server closes, which ends it with a result.
pub(crate) async fn listen(server: &Server, request: &Request<'_>, scope: &Scope<'_>) -> Result<Reply, RpcError> {
    let filter = Filter::read(server, request)?;
    let Some(queue) = scope.queue else {
        return Err(
            RpcError::new(INVALID_PARAMS, "`subscriptions/listen` needs `Accept: text/event-stream`").status(406)
        );
    };
    let meta = format!(r#""{SUBSCRIPTION_ID}":{}"#, request.id.as_json());
    // Subscribed before the acknowledgement, so that nothing falls between.
    let mut changes = server.handler.changes();
    let mut open = queue.send(filter.acknowledgement(&meta)).await;
    while open {
        let change = tokio::select! {
            biased;
            () = scope.closing.cancelled() => break,
            () = scope.cancel.cancelled() => break,
            change = changes.recv() => change,
        };
        match change {
            Ok(change) if filter.wants(&change) => open = queue.send(notification(&change, Some(&meta))).await,
            Ok(_) => {}
            Err(RecvError::Lagged(_)) => {
                let updated = filter.uris.iter().cloned().map(Change::ResourceUpdated);
                for change in EVERYTHING.into_iter().chain(updated).filter(|change| filter.wants(change)) {
                    open = queue.send(notification(&change, Some(&meta))).await;
                }
            }
            Err(RecvError::Closed) => break,
        }
    }
    let own = server.result_meta(Version::V2026_07_28).map_or(meta.clone(), |own| format!("{own},{meta}"));
    Ok(Reply::result(request.id.as_json(), |out| {
        out.extend_from_slice(b"{\"resultType\":\"complete\"");
        text::put_meta(out, Some(&own), None);
        out.push(b'}');
    }))
}
