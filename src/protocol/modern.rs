//! Revision 2026-07-28: no handshake, no state; every request says in `_meta` what it speaks and
//! what its client can do.

use super::calls::{self, Call, Done, Features};
use super::cursor::Kind;
use super::error::{HEADER_MISMATCH, INVALID_PARAMS, RpcError};
use super::events::Level;
use super::jsonrpc::{Request, string};
use super::tasks::{self, Started};
use super::version::{CLAIMABLE, Version};
use super::{Reply, Scope, Server, mirror, subscribe, text};
use crate::service::{Failure, Outcome};
use serde_json::{Map, Value, json};

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// What a request without (or with half) the required metadata gets.
pub(crate) fn undescribed(request: &Request<'_>) -> RpcError {
    let meta = request.params.meta.as_ref();
    let mut missing = Vec::new();
    if meta.and_then(|meta| meta.protocol_version).is_none() {
        missing.push(VERSION_KEY);
    }
    if meta.and_then(|meta| meta.client_capabilities).is_none() {
        missing.push(CAPABILITIES_KEY);
    }
    RpcError::missing_meta(&missing)
}

/// What the metadata said.
struct Described {
    version: Version,
    features: Features,
}

/// The checks in front of every method, in the order that suits every probe of the official suite.
fn describe(request: &Request<'_>, scope: &Scope<'_>) -> Result<Described, RpcError> {
    let meta = request.params.meta.as_ref();
    let invalid = |key: &str, what: &str| {
        RpcError::new(INVALID_PARAMS, format!("`params._meta[\"{key}\"]` must be {what}")).status(400)
    };
    let claim = match meta.and_then(|meta| meta.protocol_version) {
        None => return Err(undescribed(request)),
        Some(raw) => string(raw).ok_or_else(|| invalid(VERSION_KEY, "a string"))?,
    };
    let capabilities: Value = match meta.and_then(|meta| meta.client_capabilities) {
        None => return Err(undescribed(request)),
        Some(raw) => serde_json::from_str(raw.get()).unwrap_or_default(),
    };
    if !capabilities.is_object() {
        return Err(invalid(CAPABILITIES_KEY, "an object"));
    }
    if let Some(headers) = scope.headers {
        mirror::check_version(headers, &claim)?;
    }
    let version = Version::parse(&claim)
        .filter(|version| version.is_modern())
        .ok_or_else(|| RpcError::unsupported_version(&claim))?;
    if let Some(headers) = scope.headers {
        mirror::check_method(headers, &request.method, &request.params)?;
    }
    Ok(Described { version, features: Features::read(&capabilities) })
}

/// Answers one modern request.
pub(crate) async fn serve(server: &Server, request: &Request<'_>, scope: &Scope<'_>) -> Reply {
    let id = request.id.as_json();
    let described = match describe(request, scope) {
        Ok(described) => described,
        Err(error) => return Reply::error(id, &error),
    };
    match dispatch(server, request, scope, &described).await {
        Ok(reply) => reply,
        Err(error) => Reply::error(id, &error),
    }
}

async fn dispatch(
    server: &Server,
    request: &Request<'_>,
    scope: &Scope<'_>,
    described: &Described,
) -> Result<Reply, RpcError> {
    let version = described.version;
    let method = request.method.as_ref();
    let list = |kind| server.list(kind, version, &request.id, &request.params, scope);
    if method.ends_with("/list") {
        server.look(scope).await;
    }
    if !server.offers(method, version) {
        return Err(RpcError::unknown_method(method, Some(version)));
    }
    match method {
        "server/discover" => {
            let meta = request.params.meta.as_ref();
            server.record_start(scope, meta, "server/discover", meta.and_then(|meta| meta.client_info), version);
            Ok(discover(server, request, version))
        }
        "tools/list" => list(Kind::Tools),
        "resources/list" => list(Kind::Resources),
        "resources/templates/list" => list(Kind::Templates),
        "prompts/list" => list(Kind::Prompts),
        "tasks/get" | "tasks/update" | "tasks/cancel" => {
            tasks::serve(server, request, scope, version, described.features).await
        }
        "subscriptions/listen" => subscribe::listen(server, request, scope, described.features).await,
        _ => call(server, request, scope, described).await,
    }
}

fn discover(server: &Server, request: &Request<'_>, version: Version) -> Reply {
    let mut result = json!({
        "resultType": "complete",
        "supportedVersions": CLAIMABLE,
        "capabilities": server.capabilities(version),
        "ttlMs": server.settings.ttl_ms,
        "cacheScope": "private",
    });
    if let (Some(text), Some(result)) = (&server.settings.instructions, result.as_object_mut()) {
        result.insert("instructions".to_owned(), text.as_str().into());
    }
    Reply::result(request.id.as_json(), |out| {
        text::put(out, &result);
        out.pop();
        text::put_meta(out, server.result_meta(version), None);
        out.push(b'}');
    })
}

/// Only what the request asked to hear: absent = no log lines at all.
fn log_level(request: &Request<'_>) -> Result<Option<Level>, RpcError> {
    match request.params.meta.as_ref().and_then(|meta| meta.log_level) {
        None => Ok(None),
        Some(raw) => string(raw)
            .and_then(|text| Level::parse(&text))
            .map(Some)
            .ok_or_else(|| RpcError::new(INVALID_PARAMS, "Unknown log level")),
    }
}

async fn call(
    server: &Server,
    request: &Request<'_>,
    scope: &Scope<'_>,
    described: &Described,
) -> Result<Reply, RpcError> {
    let version = described.version;
    let call = calls::read(&request.method, &request.params)?;
    if let (Call::Tool { name, .. }, Some(headers)) = (&call, scope.headers)
        // Most tools mirror nothing: only the others cost the question who may see them.
        && server.view().catalog.tools.get(name.as_ref()).is_some_and(|tool| !tool.input.mirrored.is_empty())
        && let Some(tool) = {
            server.look(scope).await;
            server.seen_tool(name, &scope.caller)
        }
    {
        mirror::check_params(headers, &request.params, &tool.input.mirrored)?;
    }
    let round = calls::round(&request.params)?;
    let meta = request.params.meta.as_ref();
    let token = calls::progress_token(meta)?;
    let events = calls::listener(scope.queue, token, log_level(request)?, version);
    let context =
        calls::context(server, scope, request, version, described.features, events.clone().map(|events| events as _));
    let plan = match &call {
        // The server alone decides, and only for a client that knows tasks.
        Call::Tool { name, .. } if described.features.known.tasks => server.task_plan(name, None, version),
        _ => None,
    };
    let outcome = match (&call, plan) {
        (Call::Tool { name, arguments }, Some(plan)) => {
            match tasks::start(server, name, *arguments, context, round, version, described.features, plan).await {
                Started::Task(task) => Ok(Err(task)),
                Started::Outcome(outcome) => outcome.map(|outcome| Ok(calls::map(outcome, Done::Tool))),
            }
        }
        _ => calls::run(server, &call, &context, round).await.map(Ok),
    };
    if let Some(events) = events {
        events.close();
    }
    match outcome {
        Err(failure) => Err(RpcError::from_failure(failure, version)),
        Ok(Err(task)) => Ok(tasks::create(server, request, &task)),
        Ok(Ok(Outcome::Complete(done))) => {
            Ok(Reply::in_pieces(request.id.as_json(), |out| calls::write(server, out, &call, &done, version)))
        }
        Ok(Ok(Outcome::InputRequired { requests, state })) => {
            input_required(server, request, described, requests, state)
        }
    }
}

fn input_required(
    server: &Server,
    request: &Request<'_>,
    described: &Described,
    requests: Map<String, Value>,
    state: Option<String>,
) -> Result<Reply, RpcError> {
    let mut lacking = Map::new();
    for ask in requests.values() {
        let method = ask.get("method").and_then(Value::as_str).unwrap_or_default();
        if let Some(Value::Object(needed)) = described.features.lacks(method, ask.get("params").unwrap_or(&Value::Null))
        {
            lacking.extend(needed);
        }
    }
    if !lacking.is_empty() {
        return Err(RpcError::from_failure(Failure::MissingCapability(Value::Object(lacking)), described.version));
    }
    let mut result = Map::new();
    result.insert("resultType".to_owned(), "input_required".into());
    if !requests.is_empty() {
        result.insert("inputRequests".to_owned(), Value::Object(requests));
    }
    if let Some(state) = state {
        result.insert("requestState".to_owned(), state.into());
    }
    if result.len() < 2 {
        return Err(RpcError::from_failure(Failure::Internal("Nothing to ask for".to_owned()), described.version));
    }
    Ok(Reply::result(request.id.as_json(), |out| {
        text::put(out, &result);
        out.pop();
        text::put_meta(out, server.result_meta(described.version), None);
        out.push(b'}');
    }))
}

/// A version header of the modern era on a request that claims nothing in its body.
pub(crate) fn header_without_claim(request: &Request<'_>) -> RpcError {
    if request.method == "initialize" {
        return RpcError::new(HEADER_MISMATCH, "`initialize` belongs to revisions before 2026-07-28").status(400);
    }
    undescribed(request)
}
