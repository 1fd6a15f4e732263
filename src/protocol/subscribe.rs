//! `subscriptions/listen` (2026-07-28) and the same changes as plain notifications for legacy peers.

use super::calls::Features;
use super::error::{INVALID_PARAMS, RpcError};
use super::jsonrpc::Request;
use super::tasks::{self, EXTENSION, Task};
use super::version::Version;
use super::watch::{AT_ONCE, Inbox, Subscription};
use super::{Queue, Reply, Scope, Server, text};
use crate::service::{Change, Failure};
use bytes::Bytes;
use futures_util::StreamExt;
use indexmap::IndexSet;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;

const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// Most resource URIs, or tasks, in one subscription.
const MOST_NAMED: usize = 1000;

/// A notification with these members of `params`; `meta` are those of `params._meta`.
fn notification(method: &str, mut params: Vec<String>, meta: Option<&str>) -> Bytes {
    params.extend(meta.map(|meta| format!(r#""_meta":{{{meta}}}"#)));
    let params = if params.is_empty() { String::new() } else { format!(r#","params":{{{}}}"#, params.join(",")) };
    Bytes::from(format!(r#"{{"jsonrpc":"2.0","method":"notifications/{method}"{params}}}"#))
}

fn list_changed_with(change: &Change, meta: Option<&str>) -> Bytes {
    let method = match change {
        Change::Tools => "tools/list_changed",
        Change::Prompts => "prompts/list_changed",
        Change::Resources => "resources/list_changed",
    };
    notification(method, Vec::new(), meta)
}

fn updated_with(uri: &str, meta: Option<&str>) -> Bytes {
    notification("resources/updated", vec![format!(r#""uri":{}"#, Value::from(uri))], meta)
}

/// What a legacy session is told when a list changed.
pub(crate) fn list_changed(change: &Change) -> Bytes {
    list_changed_with(change, None)
}

/// What a legacy session is told when a resource changed that it is subscribed to.
pub(crate) fn updated(uri: &str) -> Bytes {
    updated_with(uri, None)
}

/// What is said when changes were missed: that everything may have changed.
pub(crate) const EVERYTHING: [Change; 3] = [Change::Tools, Change::Prompts, Change::Resources];

struct Filter {
    tools: bool,
    prompts: bool,
    resources: bool,
    /// Those that the caller may read, each watched for the subscription's inbox.
    watched: Vec<(String, Subscription)>,
    /// The caller's own, of the extension.
    tasks: Vec<Arc<Task>>,
}

impl Filter {
    async fn read(
        server: &Server,
        request: &Request<'_>,
        scope: &Scope<'_>,
        features: Features,
        inbox: &Arc<Inbox>,
    ) -> Result<Self, RpcError> {
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
        let list = |name: &str| match asked.get(name) {
            None => Ok(Vec::new()),
            Some(list) => match serde_json::from_value::<Vec<String>>(list.clone()) {
                Ok(list) if list.len() > MOST_NAMED => {
                    Err(RpcError::new(INVALID_PARAMS, format!("Too many `{name}`: {MOST_NAMED} at most")))
                }
                list => list.map_err(|_| RpcError::new(INVALID_PARAMS, format!("`{name}` must be a list of strings"))),
            },
        };
        let uris = list("resourceSubscriptions")?;
        let tasks = list("taskIds")?;
        if asked.contains_key("taskIds") && server.view().tasks && !features.known.tasks {
            let needed = json!({"extensions": {EXTENSION: {}}});
            return Err(RpcError::from_failure(Failure::MissingCapability(needed), Version::V2026_07_28));
        }
        let task = |id: String| server.tasks.get(&scope.caller, &id, Version::V2026_07_28);
        let mut watched = Vec::new();
        if honoured("resources", "subscribe") {
            let uris: IndexSet<String> = uris.into_iter().collect();
            // What the caller may not read, or is not there, is left out of the acknowledgement.
            let watches = futures_util::stream::iter(uris.into_iter().map(|uri| async move {
                let subscription = server.watch(scope, &uri, inbox).await.ok()?;
                Some((uri, subscription))
            }));
            watched = watches.buffered(AT_ONCE).filter_map(std::future::ready).collect().await;
        }
        Ok(Filter {
            tools: flag("toolsListChanged")? && honoured("tools", "listChanged"),
            prompts: flag("promptsListChanged")? && honoured("prompts", "listChanged"),
            resources: flag("resourcesListChanged")? && honoured("resources", "listChanged"),
            watched,
            tasks: tasks.into_iter().filter_map(task).collect(),
        })
    }

    fn wants(&self, change: &Change) -> bool {
        match change {
            Change::Tools => self.tools,
            Change::Prompts => self.prompts,
            Change::Resources => self.resources,
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
        if !self.watched.is_empty() {
            let uris = self.watched.iter().map(|(uri, _)| uri.as_str()).collect();
            honoured.insert("resourceSubscriptions".to_owned(), uris);
        }
        if !self.tasks.is_empty() {
            honoured.insert("taskIds".to_owned(), self.tasks.iter().map(|task| task.id().to_string()).collect());
        }
        Bytes::from(format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{{meta}}},"notifications":{}}}}}"#,
            Value::Object(honoured)
        ))
    }
}

/// Serves one subscription until the client cancels it (the future is dropped or `cancel` fires) or
/// the server closes, which ends it with a result.
pub(crate) async fn listen(
    server: &Server,
    request: &Request<'_>,
    scope: &Scope<'_>,
    features: Features,
) -> Result<Reply, RpcError> {
    // Subscribed before anything is looked at, so that nothing falls between.
    let mut changes = server.handler.changes();
    let mut news = server.tasks.changes();
    let Some(queue) = scope.queue else {
        return Err(
            RpcError::new(INVALID_PARAMS, "`subscriptions/listen` needs `Accept: text/event-stream`").status(406)
        );
    };
    let inbox = Arc::<Inbox>::default();
    let filter = Filter::read(server, request, scope, features, &inbox).await?;
    let meta = format!(r#""{SUBSCRIPTION_ID}":{}"#, request.id.as_json());
    let mut open = queue.send(filter.acknowledgement(&meta)).await;
    // A task may have gone on since its client heard of it.
    open = open && tell(server, queue, filter.tasks.iter(), &meta).await;
    while open {
        let change = tokio::select! {
            biased;
            () = scope.closing.cancelled() => break,
            () = scope.cancel.cancelled() => break,
            change = changes.recv() => change,
            uri = inbox.next() => {
                open = queue.send(updated_with(&uri, Some(&meta))).await;
                continue;
            }
            id = news.recv(), if !filter.tasks.is_empty() => {
                let of = |task: &&Arc<Task>| !matches!(&id, Ok(id) if task.id() != id);
                open = tell(server, queue, filter.tasks.iter().filter(of), &meta).await;
                continue;
            }
        };
        match change {
            Ok(change) if filter.wants(&change) => open = queue.send(list_changed_with(&change, Some(&meta))).await,
            Ok(_) => {}
            Err(RecvError::Lagged(_)) => {
                for change in EVERYTHING.iter().filter(|change| filter.wants(change)) {
                    open = queue.send(list_changed_with(change, Some(&meta))).await;
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

/// Sends the state of tasks; false if the reader is gone.
async fn tell<'a>(server: &Server, queue: &Queue, tasks: impl Iterator<Item = &'a Arc<Task>>, meta: &str) -> bool {
    for task in tasks {
        if !queue.send(tasks::notification(server, task, meta)).await {
            return false;
        }
    }
    true
}
