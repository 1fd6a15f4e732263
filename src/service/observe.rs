//! What operators see of a call: one audit event, metrics and a span, tied together by the request
//! id and the trace id. Where nobody looks, a call costs one test of an option more.

use super::request::propagation;
use super::run::State;
use super::{Context, Failure, Outcome};
use crate::audit::{Audit, Event, Who};
use crate::catalog::RequestAction;
use crate::content::{Content, META_NULLED};
use crate::request::PathPart;
use crate::response::NoAnswer;
use crate::telemetry::trace::{ClientSpan, McpRequest, Span, Tracing};
use crate::telemetry::{Ids, InFlight, Meters, Propagation};
use crate::upstream::kind;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Where calls are written down, counted and traced.
pub struct Observer {
    audit: Arc<Audit>,
    tracing: Tracing,
    /// `None` = not counted.
    meters: Option<Meters>,
}

impl Observer {
    /// `metrics`: a recorder is installed.
    pub fn new(audit: Arc<Audit>, tracing: Tracing, metrics: bool) -> Observer {
        Observer { audit, tracing, meters: metrics.then(Meters::default) }
    }

    /// True if anybody looks.
    pub fn is_on(&self) -> bool {
        self.audit.is_on() || self.tracing.is_on() || self.meters.is_some()
    }

    pub(super) fn audit(&self) -> Option<&Audit> {
        Some(self.audit.as_ref()).filter(|audit| audit.is_on())
    }

    /// A call begins.
    pub(super) fn begin<'a>(&'a self, context: &Context, target: Target<'a>) -> Running<'a> {
        let incoming = context.trace.as_deref().map(propagation).unwrap_or_default();
        let span = self.tracing.begin(&McpRequest {
            method: target.method,
            target: Some(target.name),
            rpc_id: context.peer.rpc_id.as_deref(),
            request_id: &context.request_id,
            session_id: context.peer.session_id.as_deref(),
            protocol_version: context.peer.protocol_version,
            network_transport: if context.local { "pipe" } else { "tcp" },
            incoming: &incoming,
        });
        let seen = Seen { span, upstream: Duration::ZERO, status: None, reason: None };
        let context = Context { record: Some(Arc::new(Record(Mutex::new(seen)))), ..context.clone() };
        let in_flight = self.meters.as_ref().map(Meters::begin);
        Running { observer: self, context, target, started: Instant::now(), _in_flight: in_flight, over: false }
    }
}

/// What is called.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    method: &'static str,
    name: &'a str,
    raw: Option<&'a RawValue>,
    arguments: Option<&'a Map<String, Value>>,
}

impl<'a> Target<'a> {
    pub(super) fn tool(name: &'a str, raw: Option<&'a RawValue>) -> Target<'a> {
        Target { method: "tools/call", name, raw, arguments: None }
    }

    pub(super) fn resource(uri: &'a str) -> Target<'a> {
        Target { method: "resources/read", name: uri, raw: None, arguments: None }
    }

    pub(super) fn prompt(name: &'a str, arguments: &'a Map<String, Value>) -> Target<'a> {
        Target { method: "prompts/get", name, raw: None, arguments: Some(arguments) }
    }
}

/// What is learnt of one call while it runs.
pub struct Record(Mutex<Seen>);

struct Seen {
    span: Span,
    /// Time spent waiting for APIs.
    upstream: Duration,
    /// Status of the last answer.
    status: Option<u16>,
    /// Why it fails, first word wins; one of a fixed set.
    reason: Option<&'static str>,
}

impl Record {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One upstream request begins.
    pub(super) fn leg(&self, state: &State, action: &RequestAction) -> Leg<'_> {
        let source = state.catalog.sources.get(action.source).map(|source| source.name.as_str()).unwrap_or_default();
        let span = self.seen().span.upstream(&action.method, Some(&template(action)), source);
        Leg { record: self, span, started: Instant::now() }
    }
}

/// One upstream request of a call.
pub(super) struct Leg<'a> {
    record: &'a Record,
    span: ClientSpan,
    started: Instant,
}

impl Leg<'_> {
    /// The trace headers that go along.
    pub(super) fn propagation(&self) -> Option<Arc<Propagation>> {
        self.span.propagation()
    }

    /// The API answered with a status, or not.
    pub(super) fn end(self, result: Result<u16, &NoAnswer>) {
        let result = result.map_err(kind);
        {
            let mut seen = self.record.seen();
            seen.upstream += self.started.elapsed();
            match result {
                Ok(status) => {
                    seen.status = Some(status);
                    seen.reason = None;
                }
                Err(kind) => seen.reason = Some(kind),
            }
        }
        self.span.end(result);
    }
}

/// Keeps in mind why a call fails, for whoever looks.
pub(super) fn note(context: &Context, reason: &'static str) {
    if let Some(record) = &context.record {
        record.seen().reason.get_or_insert(reason);
    }
}

/// The path template, for spans: never the path itself.
fn template(action: &RequestAction) -> String {
    let mut text = String::new();
    for part in &action.path {
        match part {
            PathPart::Literal(literal) => text.push_str(literal),
            PathPart::Parameter(index) => {
                let name = action.parameters.get(*index).map(|plan| plan.name.as_str()).unwrap_or_default();
                text.push_str(&format!("{{{name}}}"));
            }
        }
    }
    text
}

/// A call that runs. Dropped before its end, it was cancelled.
pub(super) struct Running<'a> {
    observer: &'a Observer,
    context: Context,
    target: Target<'a>,
    started: Instant,
    _in_flight: Option<InFlight>,
    over: bool,
}

/// How a call ended.
struct End {
    /// `ok`, `error`, `input_required`, `cancelled`, `failed` or `denied`.
    outcome: &'static str,
    error: Option<&'static str>,
    /// Answer did not match the documented schema.
    mismatch: bool,
}

/// Reasons for which a caller is refused, as opposed to calls that fail.
const DENIALS: [&str; 4] = ["unknown_tool", "hidden_tool", "insufficient_scope", "rate_limited"];

impl Running<'_> {
    /// The call's context, with its record.
    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// The call is over; `content` shows a result that can be an error itself.
    pub(super) fn end<T>(mut self, result: &Result<Outcome<T>, Failure>, content: impl Fn(&T) -> Option<&Content>) {
        self.over = true;
        let noted = self.context.record.as_ref().and_then(|record| {
            let seen = record.seen();
            seen.reason.or(seen
                .status
                .filter(|status| *status >= 400)
                .map(|status| if status < 500 { "http_4xx" } else { "http_5xx" }))
        });
        let end = |outcome, error| End { outcome, error, mismatch: false };
        let end = match result {
            Ok(Outcome::InputRequired { .. }) => end("input_required", None),
            Ok(Outcome::Complete(done)) => match content(done) {
                Some(content) if content.is_error => {
                    let error = noted.unwrap_or("refused");
                    let denied = DENIALS.contains(&error);
                    let outcome = match error {
                        "cancelled" => "cancelled",
                        _ if denied => "denied",
                        _ => "error",
                    };
                    end(outcome, Some(error))
                }
                Some(content) => {
                    let mismatch = content.meta.as_ref().is_some_and(|meta| meta.contains_key(META_NULLED));
                    End { outcome: "ok", error: None, mismatch }
                }
                None => end("ok", None),
            },
            Err(failure) => {
                let error = match failure {
                    Failure::UnknownTool(_) => noted.unwrap_or("unknown_tool"),
                    Failure::InsufficientScope(_) => "insufficient_scope",
                    Failure::UnknownResource(_) => noted.unwrap_or("unknown_resource"),
                    Failure::UnknownPrompt(_) => "unknown_prompt",
                    Failure::InvalidParams(_) => "invalid_params",
                    Failure::MissingCapability(_) => "missing_capability",
                    Failure::Internal(_) => noted.unwrap_or("internal"),
                };
                end(if DENIALS.contains(&error) { "denied" } else { "failed" }, Some(error))
            }
        };
        self.write(&end);
    }

    fn write(&self, end: &End) {
        let elapsed = self.started.elapsed();
        let (mut upstream, mut status, mut trace_id) = (Duration::ZERO, None, None);
        if let Some(record) = &self.context.record {
            let mut seen = record.seen();
            (upstream, status) = (seen.upstream, seen.status);
            trace_id = seen.span.trace_id();
            seen.span.finish(end.error);
        }
        let denied = (end.outcome == "denied").then_some(end.error).flatten();
        let ids = Ids { request_id: &self.context.request_id, trace_id: trace_id.as_deref() };
        self.count(end, denied, elapsed, upstream, ids);
        let Some(audit) = self.observer.audit() else { return };
        let who = Who {
            caller: Some(&self.context.caller),
            request_id: &self.context.request_id,
            trace_id: trace_id.as_deref(),
            transport: self.context.transport,
        };
        let Target { method, name, raw, arguments } = self.target;
        if let Some(reason) = denied {
            let status = (reason == "insufficient_scope").then_some(403);
            return audit.record(who, Event::Denied { method: Some(method), name: Some(name), reason, status });
        }
        let read: Option<Map<String, Value>> = raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let arguments = arguments.or(read.as_ref());
        let (outcome, error) = (end.outcome, end.error);
        audit.record(who, Event::Call { method, name, arguments, outcome, status, error, duration: elapsed });
    }

    fn count(&self, end: &End, denied: Option<&'static str>, elapsed: Duration, upstream: Duration, ids: Ids<'_>) {
        let Some(meters) = &self.observer.meters else { return };
        if let Some(reason) = denied {
            meters.denied(reason);
        } else if let Some(error) = end.error {
            meters.error(error);
        }
        // Names that callers make up must not become time series.
        if self.target.method != "tools/call" || matches!(denied, Some("unknown_tool" | "hidden_tool")) {
            return;
        }
        meters.end(self.target.name, end.outcome, elapsed, upstream, ids);
        if end.mismatch {
            meters.mismatch(self.target.name);
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.over {
            self.write(&End { outcome: "cancelled", error: Some("cancelled"), mismatch: false });
        }
    }
}
