//! The four methods that reach the service, shared by both eras: reading their parameters, running
//! them, writing what came of them.

use super::error::{INVALID_PARAMS, RpcError};
use super::jsonrpc::{Meta, Params, Request, is_object, string};
use super::queue::Queue;
use super::version::Version;
use super::{Scope, Server, convert, text};
use crate::content::Content;
use crate::content::wire::{self, Pieces};
use crate::service::{
    ClientFeatures, Completion, Context, Events, Failure, Outcome, Peer, PromptResult, ReadResult, Round,
    TASKS_EXTENSION, TraceContext,
};
use http::HeaderName;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");
const BAGGAGE: HeaderName = HeaderName::from_static("baggage");

/// What the client declared, beyond what the service needs to know.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Features {
    pub(crate) known: ClientFeatures,
    /// `elicitation.url`.
    pub(crate) elicitation_url: bool,
}

impl Features {
    /// Reads a ClientCapabilities object.
    pub(crate) fn read(capabilities: &Value) -> Self {
        let object = |name: &str| capabilities.get(name).filter(|value| value.is_object());
        let elicitation = object("elicitation").and_then(Value::as_object);
        // `{}` means form mode; `{"url": {}}` alone means no form mode.
        let form = elicitation.is_some_and(|modes| modes.contains_key("form") || !modes.contains_key("url"));
        Features {
            known: ClientFeatures {
                elicitation: form,
                sampling: object("sampling").is_some(),
                roots: object("roots").is_some(),
                tasks: object("extensions").is_some_and(|known| known.get(TASKS_EXTENSION).is_some()),
            },
            elicitation_url: elicitation.is_some_and(|modes| modes.contains_key("url")),
        }
    }

    /// Without what the revision has no message for: some clients declare everything whatever they speak.
    pub(crate) fn spoken_in(mut self, version: Version) -> Self {
        if !version.knows().elicitation {
            self.known.elicitation = false;
            self.elicitation_url = false;
        }
        self
    }

    /// The capability that a request of ours needs and the client did not declare.
    pub(crate) fn lacks(&self, method: &str, params: &Value) -> Option<Value> {
        let url = params.get("mode").and_then(Value::as_str) == Some("url");
        let (has, needed) = match method {
            "elicitation/create" if url => (self.elicitation_url, serde_json::json!({"elicitation": {"url": {}}})),
            "elicitation/create" => (self.known.elicitation, serde_json::json!({"elicitation": {}})),
            "sampling/createMessage" => (self.known.sampling, serde_json::json!({"sampling": {}})),
            "roots/list" => (self.known.roots, serde_json::json!({"roots": {}})),
            _ => (false, serde_json::json!({})),
        };
        (!has).then_some(needed)
    }
}

/// A request for the service, parameters read.
#[derive(Debug)]
pub(crate) enum Call<'a> {
    Tool { name: Cow<'a, str>, arguments: Option<&'a RawValue> },
    Resource { uri: Cow<'a, str> },
    Prompt { name: Cow<'a, str>, arguments: Map<String, Value> },
    Complete { reference: Result<String, String>, argument: String, typed: String, given: Map<String, Value> },
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum Done {
    Tool(Content),
    Resource(ReadResult),
    Prompt(PromptResult),
    Completion(Completion),
}

fn bad(text: &'static str) -> RpcError {
    RpcError::new(INVALID_PARAMS, text)
}

fn text_of<'a>(raw: Option<&'a RawValue>, missing: &'static str) -> Result<Cow<'a, str>, RpcError> {
    raw.and_then(string).ok_or_else(|| bad(missing))
}

/// A raw object as a map; null counts as absent.
fn object_of(raw: Option<&RawValue>, wrong: &'static str) -> Result<Map<String, Value>, RpcError> {
    match raw.filter(|raw| raw.get() != "null") {
        None => Ok(Map::new()),
        Some(raw) => serde_json::from_str(raw.get()).map_err(|_| bad(wrong)),
    }
}

fn texts_of(raw: Option<&RawValue>, wrong: &'static str) -> Result<Map<String, Value>, RpcError> {
    let map = object_of(raw, wrong)?;
    if map.values().all(Value::is_string) { Ok(map) } else { Err(bad(wrong)) }
}

/// True if the method is one of the four.
pub(crate) fn reaches_service(method: &str) -> bool {
    matches!(method, "tools/call" | "resources/read" | "prompts/get" | "completion/complete")
}

/// Reads the parameters of one of the four methods.
pub(crate) fn read<'a>(method: &str, params: &Params<'a>) -> Result<Call<'a>, RpcError> {
    match method {
        "tools/call" => {
            let arguments = params.arguments.filter(|raw| raw.get() != "null");
            if arguments.is_some_and(|raw| !is_object(raw)) {
                return Err(bad("`params.arguments` must be an object"));
            }
            Ok(Call::Tool { name: text_of(params.name, "`params.name` must be a string")?, arguments })
        }
        "resources/read" => Ok(Call::Resource { uri: text_of(params.uri, "`params.uri` must be a string")? }),
        "prompts/get" => Ok(Call::Prompt {
            name: text_of(params.name, "`params.name` must be a string")?,
            arguments: texts_of(params.arguments, "`params.arguments` must be an object of strings")?,
        }),
        "completion/complete" => completion(params),
        _ => Err(RpcError::unknown_method(method, None)),
    }
}

fn completion<'a>(params: &Params<'a>) -> Result<Call<'a>, RpcError> {
    let reference = object_of(params.reference, "`params.ref` must be an object")?;
    let member = |map: &Map<String, Value>, name: &str| map.get(name).and_then(Value::as_str).map(str::to_owned);
    let reference = match reference.get("type").and_then(Value::as_str) {
        Some("ref/prompt") => Ok(member(&reference, "name").ok_or_else(|| bad("`params.ref.name` must be a string"))?),
        Some("ref/resource") => Err(member(&reference, "uri").ok_or_else(|| bad("`params.ref.uri` must be a string"))?),
        _ => return Err(bad("`params.ref.type` must be `ref/prompt` or `ref/resource`")),
    };
    let argument = object_of(params.argument, "`params.argument` must be an object")?;
    let name = member(&argument, "name").ok_or_else(|| bad("`params.argument.name` must be a string"))?;
    let typed = member(&argument, "value").ok_or_else(|| bad("`params.argument.value` must be a string"))?;
    let mut context = object_of(params.context, "`params.context` must be an object")?;
    let given = match context.shift_remove("arguments") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(map)) if map.values().all(Value::is_string) => map,
        Some(_) => return Err(bad("`params.context.arguments` must be an object of strings")),
    };
    Ok(Call::Complete { reference, argument: name, typed, given })
}

/// The answers and state that a client brings along (2026-07-28, multi round-trip requests).
pub(crate) fn round(params: &Params<'_>) -> Result<Round, RpcError> {
    let answers = object_of(params.input_responses, "`params.inputResponses` must be an object")?;
    if !answers.values().all(Value::is_object) {
        return Err(bad("Each member of `params.inputResponses` must be an object"));
    }
    let state = match params.request_state.filter(|raw| raw.get() != "null") {
        None => None,
        Some(raw) => Some(string(raw).ok_or_else(|| bad("`params.requestState` must be a string"))?.into_owned()),
    };
    Ok(Round { answers, state })
}

/// `progressToken` as JSON text: a string or an integer.
pub(crate) fn progress_token<'a>(meta: Option<&Meta<'a>>) -> Result<Option<&'a str>, RpcError> {
    match meta.and_then(|meta| meta.progress_token).map(RawValue::get) {
        None | Some("null") => Ok(None),
        Some(text) if text.starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) => Ok(Some(text)),
        Some(_) => Err(bad("`progressToken` must be a string or a number")),
    }
}

/// W3C trace context from `_meta`, else from the HTTP headers; malformed parts are ignored.
pub(crate) fn trace(scope: &Scope<'_>, meta: Option<&Meta<'_>>) -> Option<Arc<TraceContext>> {
    let from_meta = |raw: Option<&RawValue>| raw.and_then(string).map(Cow::into_owned);
    let from_header =
        |name: HeaderName| scope.headers.and_then(|headers| headers.get(name)?.to_str().ok()).map(str::to_owned);
    let mut found = TraceContext {
        traceparent: meta.and_then(|meta| from_meta(meta.traceparent)),
        tracestate: meta.and_then(|meta| from_meta(meta.tracestate)),
        baggage: meta.and_then(|meta| from_meta(meta.baggage)),
    };
    if found == TraceContext::default() {
        found = TraceContext {
            traceparent: from_header(TRACEPARENT),
            tracestate: from_header(TRACESTATE),
            baggage: from_header(BAGGAGE),
        };
    }
    found.traceparent = found.traceparent.filter(|text| is_traceparent(text));
    if found.traceparent.is_none() {
        found.tracestate = None;
    }
    let printable = |text: &String| text.len() <= 8192 && text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    found.tracestate = found.tracestate.filter(printable);
    found.baggage = found.baggage.filter(printable);
    (found != TraceContext::default()).then(|| Arc::new(found))
}

/// `version "-" trace-id "-" parent-id "-" trace-flags` (W3C Trace Context §3.2).
fn is_traceparent(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut hex = |length: usize| {
        parts.next().is_some_and(|part| {
            part.len() == length && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        })
    };
    hex(2) && hex(32) && hex(16) && hex(2) && (parts.next().is_none() || !text.starts_with("00"))
}

/// The request's place in the conversation.
fn peer(scope: &Scope<'_>, request: &Request<'_>, version: Version) -> Peer {
    let id = request.id.as_json();
    let bare = id.strip_prefix('"').and_then(|id| id.strip_suffix('"')).unwrap_or(id);
    let session = scope.headers.filter(|_| !version.is_modern()).and_then(|headers| headers.get("mcp-session-id"));
    Peer {
        rpc_id: Some(Arc::from(bare)),
        session_id: session.and_then(|id| id.to_str().ok()).map(Arc::from),
        protocol_version: Some(version.as_str()),
    }
}

/// What the service gets to know about the request.
pub(crate) fn context(
    server: &Server,
    scope: &Scope<'_>,
    request: &Request<'_>,
    version: Version,
    features: Features,
    events: Option<Arc<dyn Events>>,
) -> Context {
    let mut client = features.known;
    // Where the operator turned tasks off, a call that should be one runs as any other.
    client.tasks |= !server.view().tasks;
    Context {
        caller: Arc::clone(&scope.caller),
        request_id: server.next_request_id(),
        cancel: scope.cancel.clone(),
        events,
        client,
        trace: trace(scope, request.params.meta.as_ref()),
        local: scope.local,
        transport: scope.transport,
        peer: peer(scope, request, version),
        record: None,
    }
}

pub(crate) fn map<T>(outcome: Outcome<T>, wrap: impl FnOnce(T) -> Done) -> Outcome<Done> {
    match outcome {
        Outcome::Complete(value) => Outcome::Complete(wrap(value)),
        Outcome::InputRequired { requests, state } => Outcome::InputRequired { requests, state },
    }
}

/// Runs one round.
pub(crate) async fn run(
    server: &Server,
    call: &Call<'_>,
    context: &Context,
    round: Round,
) -> Result<Outcome<Done>, Failure> {
    let handler = &server.handler;
    Ok(match call {
        Call::Tool { name, arguments } => map(handler.call_tool(context, name, *arguments, round).await?, Done::Tool),
        Call::Resource { uri } => map(handler.read_resource(context, uri, round).await?, Done::Resource),
        Call::Prompt { name, arguments } => {
            map(handler.get_prompt(context, name, arguments, round).await?, Done::Prompt)
        }
        Call::Complete { reference, argument, typed, given } => {
            let reference = reference.as_ref().map(String::as_str).map_err(String::as_str);
            map(handler.complete(context, reference, argument, typed, given).await?, Done::Completion)
        }
    })
}

/// Appends the result object.
pub(crate) fn write(server: &Server, pieces: &mut Pieces, call: &Call<'_>, done: &Done, version: Version) {
    if let Done::Tool(content) = done {
        let wrap = match call {
            Call::Tool { name, .. } if !version.is_modern() && content.structured.is_some() => {
                server.view().catalog.tools.get(name.as_ref()).is_some_and(|tool| convert::wraps(tool))
            }
            _ => false,
        };
        return wire::write_result(content, pieces, &server.wire_options(version, wrap));
    }
    let out = &mut pieces.text;
    out.push(b'{');
    if version.is_modern() {
        out.extend_from_slice(b"\"resultType\":\"complete\",");
    }
    match done {
        Done::Tool(_) => {}
        Done::Resource(result) => {
            out.extend_from_slice(b"\"contents\":[");
            for (index, one) in result.contents.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                wire::write_resource(one, out);
            }
            out.push(b']');
            if version.is_modern() {
                let ttl = result.ttl_ms.unwrap_or(0);
                // Contents may depend on the caller's upstream credential.
                out.extend_from_slice(format!(r#","ttlMs":{ttl},"cacheScope":"private""#).as_bytes());
            }
        }
        Done::Prompt(result) => {
            let options = server.wire_options(version, false);
            out.extend_from_slice(b"\"messages\":[");
            for (index, (role, block)) in result.messages.iter().enumerate() {
                out.extend_from_slice(if index > 0 { b",{\"role\":" } else { b"{\"role\":" });
                text::put(out, role);
                out.extend_from_slice(b",\"content\":");
                wire::write_block(block, out, &options);
                out.push(b'}');
            }
            out.push(b']');
            if let Some(description) = &result.description {
                out.extend_from_slice(b",\"description\":");
                text::put(out, description);
            }
        }
        Done::Completion(completion) => {
            let values: Vec<&String> = completion.values.iter().take(100).collect();
            let more = completion.has_more || completion.values.len() > 100;
            let mut object = serde_json::json!({"values": values, "hasMore": more});
            if let (Some(total), Some(object)) = (completion.total, object.as_object_mut()) {
                object.insert("total".to_owned(), total.into());
            }
            out.extend_from_slice(b"\"completion\":");
            text::put(out, &object);
        }
    }
    text::put_meta(out, server.result_meta(version), None);
    out.push(b'}');
}

/// Listeners for the events of one request.
pub(crate) fn listener(
    queue: Option<&Arc<Queue>>,
    token: Option<&str>,
    level: Option<super::events::Level>,
    version: Version,
) -> Option<Arc<super::events::RequestEvents>> {
    super::events::RequestEvents::new(queue?, token, level, version)
}
