//! Revisions 2024-11-05 to 2025-11-25: a handshake, then requests in a session.

mod ask;
mod session;
pub(crate) use session::{Admission, Session};

use super::calls::{self, Call, Done, Features};
use super::cursor::Kind;
use super::error::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, RpcError, missing_capability};
use super::events::Level;
use super::jsonrpc::{Request, string};
use super::modern::undescribed;
use super::tasks::{self, Plan, Started};
use super::version::Version;
use super::{Reply, Scope, Server, text};
use crate::content::{Block, Content, Text};
use crate::service::{Failure, Outcome, Round};
use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Answers one request that claims no revision in `_meta`.
pub(crate) async fn serve(server: &Server, session: &Session, request: &Request<'_>, scope: &Scope<'_>) -> Reply {
    let id = request.id.as_json();
    match dispatch(server, session, request, scope).await {
        Ok(reply) => reply,
        Err(error) => Reply::error(id, &error),
    }
}

fn empty(request: &Request<'_>) -> Reply {
    Reply::result(request.id.as_json(), |out| out.extend_from_slice(b"{}"))
}

async fn dispatch(
    server: &Server,
    session: &Session,
    request: &Request<'_>,
    scope: &Scope<'_>,
) -> Result<Reply, RpcError> {
    let method = request.method.as_ref();
    if method == "initialize" {
        return initialize(server, session, request, scope);
    }
    if method == "ping" {
        return Ok(empty(request));
    }
    let Some(version) = session.version() else {
        return Err(match method {
            "server/discover" => undescribed(request),
            _ => RpcError::new(
                INVALID_REQUEST,
                "Not initialized: send `initialize`, or `_meta` with a protocol version (2026-07-28)",
            ),
        });
    };
    session.ready();
    let list = |kind| server.list(kind, version, &request.id, &request.params, scope);
    if method.ends_with("/list") {
        server.look(scope).await;
    }
    if !server.offers(method, version) {
        return Err(match method {
            "server/discover" => undescribed(request).status(200),
            _ => RpcError::unknown_method(method, Some(version)),
        });
    }
    match method {
        "tools/list" => list(Kind::Tools),
        "resources/list" => list(Kind::Resources),
        "resources/templates/list" => list(Kind::Templates),
        "prompts/list" => list(Kind::Prompts),
        "logging/setLevel" => {
            let level = request.params.level.and_then(string).and_then(|text| Level::parse(&text));
            session.set_level(level.ok_or_else(|| RpcError::new(INVALID_PARAMS, "Unknown log level"))?);
            Ok(empty(request))
        }
        "resources/subscribe" | "resources/unsubscribe" => subscribe(server, session, request, scope, version).await,
        "tasks/get" | "tasks/result" | "tasks/cancel" => {
            tasks::serve(server, request, scope, version, session.features()).await
        }
        _ if calls::reaches_service(method) => call(server, session, request, scope, version).await,
        _ => Err(RpcError::unknown_method(method, Some(version))),
    }
}

/// The same revision if we speak it, else our newest with a handshake; never an error for a version.
fn initialize(server: &Server, session: &Session, request: &Request<'_>, scope: &Scope<'_>) -> Result<Reply, RpcError> {
    let wanted = request
        .params
        .protocol_version
        .and_then(string)
        .ok_or_else(|| RpcError::new(INVALID_PARAMS, "`params.protocolVersion` must be a string"))?;
    let version = Version::parse(&wanted).filter(|version| !version.is_modern()).unwrap_or(Version::NEWEST_LEGACY);
    let capabilities: Value =
        request.params.capabilities.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_else(|| json!({}));
    if !capabilities.is_object() {
        return Err(RpcError::new(INVALID_PARAMS, "`params.capabilities` must be an object"));
    }
    if !session.open(version, Features::read(&capabilities).spoken_in(version)) {
        return Err(RpcError::new(INVALID_REQUEST, "Already initialized"));
    }
    server.record_start(scope, request.params.meta.as_ref(), "initialize", request.params.client_info, version);
    let mut result = json!({
        "protocolVersion": version.as_str(),
        "capabilities": server.capabilities(version),
        "serverInfo": server.info(version),
    });
    if let (Some(text), Some(result)) = (&server.settings.instructions, result.as_object_mut()) {
        result.insert("instructions".to_owned(), text.as_str().into());
    }
    Ok(Reply::result(request.id.as_json(), |out| text::put(out, &result)))
}

async fn subscribe(
    server: &Server,
    session: &Session,
    request: &Request<'_>,
    scope: &Scope<'_>,
    version: Version,
) -> Result<Reply, RpcError> {
    let uri = request
        .params
        .uri
        .and_then(string)
        .ok_or_else(|| RpcError::new(INVALID_PARAMS, "`params.uri` must be a string"))?;
    if request.method == "resources/unsubscribe" {
        session.unsubscribe(&uri);
        return Ok(empty(request));
    }
    if !session.can_ask() {
        return Err(RpcError::new(INVALID_REQUEST, "Without a session nobody could be told of a change"));
    }
    if session.is_subscribed(&uri) {
        return Ok(empty(request));
    }
    let subscription = server.watch(scope, &uri, session.inbox()).await;
    let subscription = subscription.map_err(|failure| RpcError::from_failure(failure, version))?;
    if !session.subscribe(&uri, subscription) {
        return Err(RpcError::new(INVALID_PARAMS, "Too many subscriptions"));
    }
    Ok(empty(request))
}

/// A failed call in words, for peers whose revision has no error code for it.
fn refusal(text: String) -> Done {
    Done::Tool(Content { blocks: vec![Block::Text(Text::Plain(text))], is_error: true, ..Content::default() })
}

/// The task that the client wants its call to be (`params.task`, 2025-11-25).
async fn task_plan(
    server: &Server,
    call: &Call<'_>,
    request: &Request<'_>,
    scope: &Scope<'_>,
    version: Version,
) -> Result<Option<Plan>, RpcError> {
    let (Call::Tool { name, .. }, Some(raw)) = (call, request.params.task.filter(|raw| raw.get() != "null")) else {
        return Ok(None);
    };
    // A server that did not declare tasks runs the call as any other.
    if !version.knows().tasks || !server.view().tasks {
        return Ok(None);
    }
    let bad = || RpcError::new(INVALID_PARAMS, "`params.task` must be an object with an optional integer `ttl`");
    let wanted: Value = serde_json::from_str(raw.get()).map_err(|_| bad())?;
    let ttl = match wanted.as_object().ok_or_else(bad)?.get("ttl") {
        None | Some(Value::Null) => None,
        Some(ttl) => Some(Duration::from_millis(ttl.as_u64().ok_or_else(bad)?)),
    };
    server.look(scope).await;
    // A hidden tool must look like an unknown one.
    if server.seen_tool(name, &scope.caller).is_none() {
        return Ok(None);
    }
    let plan = server.task_plan(name, ttl, version);
    plan.map(Some).ok_or_else(|| RpcError::new(METHOD_NOT_FOUND, "This tool does not run as a task"))
}

async fn call(
    server: &Server,
    session: &Session,
    request: &Request<'_>,
    scope: &Scope<'_>,
    version: Version,
) -> Result<Reply, RpcError> {
    let call = calls::read(&request.method, &request.params)?;
    let meta = request.params.meta.as_ref();
    let token = calls::progress_token(meta)?;
    let level = session.level().unwrap_or(server.settings.log_level);
    let plan = task_plan(server, &call, request, scope, version).await?;
    let events = calls::listener(scope.queue, token, Some(level), version);
    let mut features = session.features();
    features.known.tasks = plan.is_some();
    let context = calls::context(server, scope, request, version, features, events.clone().map(|events| events as _));
    let mut round = Round::default();
    let mut outcome = Err(RpcError::new(INTERNAL_ERROR, "Too many rounds of questions"));
    for _ in 0..server.settings.max_rounds.max(1) {
        let came_to = match (&call, plan) {
            (Call::Tool { name, arguments }, Some(plan)) => {
                match tasks::start(server, name, *arguments, context.clone(), round, version, features, plan).await {
                    Started::Outcome(outcome) => outcome.map(|outcome| calls::map(outcome, Done::Tool)),
                    Started::Task(task) => {
                        if let Some(events) = events {
                            events.close();
                        }
                        return Ok(tasks::create(server, request, &task));
                    }
                }
            }
            _ => calls::run(server, &call, &context, round).await,
        };
        match came_to {
            Ok(Outcome::Complete(done)) => {
                outcome = Ok(done);
                break;
            }
            Ok(Outcome::InputRequired { requests, state }) => {
                match ask::all(server, session, scope, version, &requests).await {
                    Ok(answers) => round = Round { answers, state },
                    Err(text) => {
                        outcome = match call {
                            Call::Tool { .. } => Ok(refusal(text)),
                            _ => Err(RpcError::new(INVALID_REQUEST, text)),
                        };
                        break;
                    }
                }
            }
            Err(Failure::MissingCapability(needed)) if version.knows().tasks && needed.get("extensions").is_some() => {
                let text = "This tool runs only as a task: send `params.task`";
                outcome = Err(RpcError::new(METHOD_NOT_FOUND, text));
                break;
            }
            Err(Failure::MissingCapability(needed)) if matches!(call, Call::Tool { .. }) => {
                outcome = Ok(refusal(missing_capability(&needed)));
                break;
            }
            Err(failure) => {
                outcome = Err(RpcError::from_failure(failure, version));
                break;
            }
        }
    }
    if let Some(events) = events {
        events.close();
    }
    let done = outcome?;
    if let (Call::Tool { name, .. }, Some(plan)) = (&call, plan) {
        // Done before it had to wait: still the task that was asked for.
        let task = server.tasks.add(&scope.caller, name, version, plan, CancellationToken::new());
        let task = task.ok_or_else(|| RpcError::new(INTERNAL_ERROR, "Too many tasks"))?;
        task.done(done);
        return Ok(tasks::create(server, request, &task));
    }
    Ok(Reply::in_pieces(request.id.as_json(), |out| calls::write(server, out, &call, &done, version)))
}
