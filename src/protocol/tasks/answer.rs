//! `tasks/*` and the answer that hands out a new task.

use super::{EXTENSION, End, Progress, Task};
use crate::audit::timestamp;
use crate::content::wire::Pieces;
use crate::protocol::calls::{self, Call, Done, Features};
use crate::protocol::error::{INVALID_PARAMS, INVALID_REQUEST, RpcError};
use crate::protocol::jsonrpc::{Request, is_object, string};
use crate::protocol::version::Version;
use crate::protocol::{Reply, Scope, Server, text};
use crate::service::Failure;
use bytes::Bytes;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

fn milliseconds(time: Duration) -> Value {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).into()
}

fn status(progress: &Progress, version: Version) -> &'static str {
    match &progress.end {
        None if progress.asked.is_open() => "input_required",
        None => "working",
        // A failed call is a failed task in 2025-11-25, and the completed task of a failed call after.
        Some(End::Done(Done::Tool(content))) if content.is_error && !version.is_modern() => "failed",
        Some(End::Done(_)) => "completed",
        Some(End::Error(_)) => "failed",
        Some(End::Cancelled) => "cancelled",
    }
}

/// The members of a Task as its revision names them, now.
fn now(task: &Task) -> Map<String, Value> {
    members(task, &super::lock(&task.progress))
}

fn members(task: &Task, progress: &Progress) -> Map<String, Value> {
    let mut members = Map::new();
    let mut put = |key: &str, value: Value| members.insert(key.to_owned(), value);
    put("taskId", json!(task.id));
    put("status", status(progress, task.version).into());
    if let Some(message) = &progress.message {
        put("statusMessage", message.as_str().into());
    }
    put("createdAt", timestamp(task.created).into());
    put("lastUpdatedAt", timestamp(progress.updated).into());
    let (ttl, every) = if task.version.is_modern() { ("ttlMs", "pollIntervalMs") } else { ("ttl", "pollInterval") };
    put(ttl, milliseconds(task.plan.ttl));
    put(every, milliseconds(task.plan.every));
    members
}

/// A modern result: members, then what `more` appends.
fn modern(server: &Server, request: &Request<'_>, members: Value, more: impl FnOnce(&mut Vec<u8>)) -> Reply {
    Reply::result(request.id.as_json(), |out| {
        text::put(out, &members);
        out.pop();
        more(out);
        text::put_meta(out, server.result_meta(Version::V2026_07_28), None);
        out.push(b'}');
    })
}

/// The answer to `tools/call` that hands out a task.
pub(crate) fn create(server: &Server, request: &Request<'_>, task: &Task) -> Reply {
    let mut all = now(task);
    if task.version.is_modern() {
        all.insert("resultType".to_owned(), "task".into());
        return modern(server, request, Value::Object(all), |_| {});
    }
    Reply::result(request.id.as_json(), |out| text::put(out, &json!({"task": all})))
}

/// Answers `tasks/*`; which of them the revision has was decided before.
pub(crate) async fn serve(
    server: &Server,
    request: &Request<'_>,
    scope: &Scope<'_>,
    version: Version,
    features: Features,
) -> Result<Reply, RpcError> {
    if version.is_modern() && !features.known.tasks {
        let needed = json!({"extensions": {EXTENSION: {}}});
        return Err(RpcError::from_failure(Failure::MissingCapability(needed), version));
    }
    let bad = |text: &'static str| RpcError::new(INVALID_PARAMS, text);
    let id = request.params.task_id.and_then(string).ok_or_else(|| bad("`params.taskId` must be a string"))?;
    let task = server.tasks.get(&scope.caller, &id, version).ok_or_else(|| bad("Unknown task"))?;
    let acknowledged = || modern(server, request, json!({"resultType": "complete"}), |_| {});
    match request.method.as_ref() {
        "tasks/get" if version.is_modern() => Ok(detailed(server, request, &task)),
        "tasks/get" => Ok(Reply::result(request.id.as_json(), |out| text::put(out, &now(&task)))),
        "tasks/cancel" => {
            let stopped = task.stop();
            if version.is_modern() {
                return Ok(acknowledged());
            }
            if !stopped {
                return Err(bad("The task has ended already"));
            }
            Ok(Reply::result(request.id.as_json(), |out| text::put(out, &now(&task))))
        }
        "tasks/update" => {
            if !request.params.input_responses.is_some_and(is_object) {
                return Err(bad("`params.inputResponses` must be an object"));
            }
            task.answer(calls::round(&request.params)?.answers);
            Ok(acknowledged())
        }
        _ => result(server, request, scope, &task).await,
    }
}

/// `tasks/get` of 2026-07-28: the end is part of it.
fn detailed(server: &Server, request: &Request<'_>, task: &Task) -> Reply {
    Reply::in_pieces(request.id.as_json(), |out| {
        out.text.extend_from_slice(b"{\"resultType\":\"complete\",");
        state(server, task, out);
        text::put_meta(&mut out.text, server.result_meta(Version::V2026_07_28), None);
        out.text.push(b'}');
    })
}

/// `notifications/tasks`: what `tasks/get` would say now. `meta` are members of `_meta`.
pub(crate) fn notification(server: &Server, task: &Task, meta: &str) -> Bytes {
    let mut out = Pieces::from(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tasks\",\"params\":{".to_vec());
    state(server, task, &mut out);
    out.text.extend_from_slice(format!(r#","_meta":{{{meta}}}}}}}"#).as_bytes());
    out.whole().into()
}

/// The members of a DetailedTask, without braces.
fn state(server: &Server, task: &Task, pieces: &mut Pieces) {
    let progress = super::lock(&task.progress);
    let mut all = members(task, &progress);
    if progress.end.is_none() && progress.asked.is_open() {
        all.insert("inputRequests".to_owned(), Value::Object(progress.asked.requests()));
    }
    let object = serde_json::to_vec(&all).unwrap_or_default();
    let out = &mut pieces.text;
    out.extend_from_slice(object.get(1..object.len().saturating_sub(1)).unwrap_or_default());
    match &progress.end {
        Some(End::Done(done)) => {
            out.extend_from_slice(b",\"result\":");
            calls::write(server, pieces, &call(task), done, task.version);
        }
        Some(End::Error(error)) => {
            out.extend_from_slice(b",\"error\":");
            text::put(out, &error.object());
        }
        None | Some(End::Cancelled) => {}
    }
}

fn call(task: &Task) -> Call<'_> {
    Call::Tool { name: Cow::Borrowed(&task.tool), arguments: None }
}

/// `tasks/result` (2025-11-25): waits for the end, and is what the call would have been answered.
async fn result(
    server: &Server,
    request: &Request<'_>,
    scope: &Scope<'_>,
    task: &Arc<Task>,
) -> Result<Reply, RpcError> {
    tokio::select! {
        () = task.ended.cancelled() => {}
        () = scope.cancel.cancelled() => return Err(RpcError::new(INVALID_REQUEST, "Cancelled")),
        () = scope.closing.cancelled() => return Err(RpcError::new(INVALID_REQUEST, "The server ends")),
    }
    match &super::lock(&task.progress).end {
        Some(End::Done(done)) => {
            Ok(Reply::in_pieces(request.id.as_json(), |out| calls::write(server, out, &call(task), done, task.version)))
        }
        Some(End::Error(error)) => Err(error.clone()),
        None | Some(End::Cancelled) => Err(RpcError::new(INVALID_REQUEST, "The task was cancelled")),
    }
}
