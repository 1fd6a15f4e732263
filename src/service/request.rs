//! One request behind a tool: credentials, request, answer, content.

use super::links::Links;
use super::observe::Leg;
use super::run::{Service, State};
use super::{Context, Failure, TraceContext};
use crate::access::Caller;
use crate::catalog::{Arguments, From, RequestAction, Tool};
use crate::content::{self, Content, failure};
use crate::mapping::CallerValue;
use crate::request::{self, Fixed, Masks, Request};
use crate::response::{NoAnswer, Response};
use crate::telemetry::Propagation;
use crate::template::{BodyTemplate, Scope};
use crate::upstream::SendOptions;
use crate::upstream::auth::{NoCredential, Resolved};
use bytes::Bytes;
use serde_json::Value;
use std::sync::Arc;

/// From so many bytes on an answer is shaped aside: it takes a millisecond, as long as twenty small calls.
const LONG: usize = 256 * 1024;

/// What one sent request came to.
pub(super) enum Sent {
    /// The API answered.
    Answer(Response),
    /// It did not, or the request could not be made: already content.
    Failed(Content),
}

impl Service {
    /// Builds, sends and shapes: pages, polls and streams go their own ways.
    pub(super) async fn request(
        &self,
        state: &Arc<State>,
        context: &Context,
        tool: &Arc<Tool>,
        action: &RequestAction,
        arguments: Arguments,
    ) -> Result<Content, Failure> {
        if let Some(rules) = &action.paginate {
            // Boxed: a call pays for the largest of all ways it might go.
            return Ok(Box::pin(self.pages(state, context, tool, action, rules, arguments)).await);
        }
        if let Some(rules) = &action.stream {
            return Ok(Box::pin(self.stream(state, context, tool, action, rules, arguments)).await);
        }
        match self.send(state, context, action, &arguments).await {
            Sent::Failed(content) => Ok(content),
            Sent::Answer(response) => match &action.poll {
                Some(plan) => Box::pin(self.poll(state, context, tool, action, plan, arguments, response)).await,
                None if response.body.len() >= LONG => {
                    Ok(Box::pin(self.shaped_aside(tool, response, arguments, context)).await)
                }
                None => Ok(self.shaped(tool, &response, &arguments, context)),
            },
        }
    }

    /// The answer as content.
    pub(super) fn shaped(&self, tool: &Tool, response: &Response, arguments: &Arguments, context: &Context) -> Content {
        shape(&self.links, tool, response, arguments, context)
    }

    /// The same on a thread of its own, for what takes long: other calls go on meanwhile. As many at once as there are workers.
    async fn shaped_aside(
        &self,
        tool: &Arc<Tool>,
        response: Response,
        arguments: Arguments,
        context: &Context,
    ) -> Content {
        let Ok(turn) = Arc::clone(&self.long).acquire_owned().await else {
            return self.shaped(tool, &response, &arguments, context);
        };
        let (links, tool, context) = (Arc::clone(&self.links), Arc::clone(tool), context.clone());
        let shaping = tokio::task::spawn_blocking(move || {
            let content = shape(&links, &tool, &response, &arguments, &context);
            // Not given back before, even if nobody waits any more.
            drop(turn);
            content
        });
        match shaping.await.map_err(tokio::task::JoinError::try_into_panic) {
            Ok(content) => content,
            Err(Ok(panic)) => std::panic::resume_unwind(panic),
            Err(Err(_)) => Content::error("The server is shutting down."),
        }
    }

    /// The request for these arguments, credentials included.
    pub(super) async fn built(
        &self,
        state: &State,
        context: &Context,
        action: &RequestAction,
        arguments: &Arguments,
    ) -> Result<(Request, Resolved), Content> {
        let Some(source) = state.catalog.sources.get(action.source) else {
            return Err(Content::error("This tool's API is not configured."));
        };
        let credentials = match self.credentials(state, context, action).await {
            Ok(credentials) => credentials,
            Err(no_answer) => return Err(failure::from_no_answer(&no_answer, &context.request_id, true)),
        };
        let caller = |value: &CallerValue| caller_value(&context.caller, value);
        let template = |template: &BodyTemplate, arguments: &Arguments| {
            let mut known = arguments.clone();
            for (name, from) in &action.aliases {
                let value = match from {
                    From::Argument(argument) => arguments.get(argument).cloned(),
                    From::Fixed(value) => Some(value.clone()),
                    From::Caller(wanted) => caller(wanted).map(Value::String),
                    From::Secret(_) | From::Template(_) | From::Rest => None,
                };
                known.extend(value.map(|value| (name.clone(), value)));
            }
            template.render_in(&Scope::new(&Value::Object(known)))
        };
        let reader = super::links::upload_reader(context.local, &source.upload_dirs);
        let forwarded = forwarded(&context.caller, &source.forward_headers);
        let fixed = Fixed {
            caller: &caller,
            template: &template,
            forwarded: &forwarded,
            local_files: reader.as_ref().map(|read| read.as_ref() as &(dyn Fn(&str) -> Result<Bytes, String> + Sync)),
            max_body: usize::MAX,
        };
        match request::build(action, source, arguments, &fixed, &credentials.credentials) {
            Ok(request) => Ok((request, credentials)),
            Err(unsendable) => Err(failure::from_unsendable(&unsendable)),
        }
    }

    async fn credentials(
        &self,
        state: &State,
        context: &Context,
        action: &RequestAction,
    ) -> Result<Resolved, NoAnswer> {
        if action.security.is_empty() {
            return Ok(Resolved::default());
        }
        let name = state.catalog.sources.get(action.source).map(|source| source.name.as_str()).unwrap_or_default();
        let tenant = context.caller.tenant.as_deref().and_then(|tenant| state.tenants.get(tenant)?.get(name));
        state.upstream.credentials(action.source, &action.security, &context.caller, tenant).await.map_err(|missing| {
            match missing {
                NoCredential::Missing { names } => NoAnswer::Credential(names.join(", ")),
                NoCredential::Failed(no_answer) => no_answer,
            }
        })
    }

    /// Builds and sends; where a fetched token is refused, once more with a fresh one.
    pub(super) async fn send(
        &self,
        state: &State,
        context: &Context,
        action: &RequestAction,
        arguments: &Arguments,
    ) -> Sent {
        self.send_with(state, context, action, arguments, &[]).await
    }

    /// [`Service::send`] with more headers.
    pub(super) async fn send_with(
        &self,
        state: &State,
        context: &Context,
        action: &RequestAction,
        arguments: &Arguments,
        headers: &[(http::HeaderName, http::HeaderValue)],
    ) -> Sent {
        let (mut request, credentials) = match self.built(state, context, action, arguments).await {
            Ok(built) => built,
            Err(content) => return Sent::Failed(content),
        };
        request.headers.extend(headers.iter().cloned());
        match self.dispatch(state, context, action, request).await {
            Sent::Answer(response)
                if response.status == http::StatusCode::UNAUTHORIZED && state.upstream.rejected(&credentials) =>
            {
                match self.built(state, context, action, arguments).await {
                    Ok((mut request, _)) => {
                        request.headers.extend(headers.iter().cloned());
                        self.dispatch(state, context, action, request).await
                    }
                    Err(content) => Sent::Failed(content),
                }
            }
            sent => sent,
        }
    }

    /// Sends a finished request.
    pub(super) async fn dispatch(
        &self,
        state: &State,
        context: &Context,
        action: &RequestAction,
        request: Request,
    ) -> Sent {
        let masks = Masks::of(&request);
        let leg = context.record.as_ref().map(|record| record.leg(state, action));
        let result = state.upstream.send(action.source, request, &options(context, action, leg.as_ref())).await;
        if let Some(leg) = leg {
            leg.end(result.as_ref().map(|response| response.status.as_u16()));
        }
        match result {
            Ok(mut response) => {
                masks.headers(&mut response.headers);
                response.body = masks.body(response.body);
                Sent::Answer(response)
            }
            Err(no_answer) => Sent::Failed(no_content(context, action, &no_answer)),
        }
    }
}

/// `_meta` key of an answer's `Cache-Control: max-age`, in seconds; for `resources/read`.
pub(super) const META_MAX_AGE: &str = "io.github.rest-mcp/maxAge";

/// The URI of an answer that goes out as an embedded resource: names the call, not the API's address.
pub(super) fn identity(tool: &Tool, context: &Context) -> String {
    // For every answer, though few need it: put together without the formatting machinery.
    ["rest-mcp://", &tool.name, "/", &context.request_id].concat()
}

fn shape(links: &Links, tool: &Tool, response: &Response, arguments: &Arguments, context: &Context) -> Content {
    let maker = links.maker(&context.caller);
    let uri = identity(tool, context);
    let mut content = content::from_response(tool, arguments, response, &uri, Some(&maker));
    if let Some(age) = response.max_age() {
        content.set_meta(META_MAX_AGE, age.as_secs().into());
    }
    content
}

/// What the model is told where there is no answer; the details go to the log.
pub(super) fn no_content(context: &Context, action: &RequestAction, no_answer: &NoAnswer) -> Content {
    if !matches!(no_answer, NoAnswer::Cancelled) {
        tracing::warn!(request_id = %context.request_id, kind = crate::upstream::kind(no_answer), detail = ?no_answer, "no answer");
    }
    failure::from_no_answer(no_answer, &context.request_id, action.idempotent)
}

/// The caller's headers that the source passes on.
fn forwarded(caller: &Caller, names: &[String]) -> Vec<(http::HeaderName, http::HeaderValue)> {
    names
        .iter()
        .filter_map(|name| {
            let value = caller.headers.get(name)?;
            Some((http::HeaderName::from_bytes(name.as_bytes()).ok()?, http::HeaderValue::from_str(value).ok()?))
        })
        .collect()
}

/// Limits and identity of one sending.
pub(super) fn options(context: &Context, action: &RequestAction, leg: Option<&Leg<'_>>) -> SendOptions {
    let trace = match leg {
        Some(leg) => leg.propagation(),
        None => context.trace.as_deref().map(|trace| Arc::new(propagation(trace))),
    };
    SendOptions { timeout: action.timeout, idempotent: action.idempotent, cancel: context.cancel.clone(), trace }
}

/// The client's trace context as headers.
pub(super) fn propagation(trace: &TraceContext) -> Propagation {
    Propagation::new(trace.traceparent.as_deref(), trace.tracestate.as_deref(), trace.baggage.as_deref())
}

/// The request with another address on the same server, which may be relative; credentials go nowhere else.
/// Those in the query come along, in place of what the address has under their names (masked, as it may be).
pub(super) fn elsewhere(mut request: Request, address: &str) -> Option<Request> {
    let base = url::Url::parse(&request.url).ok()?;
    let mut target = base.join(address).ok()?;
    if target.origin() != base.origin() {
        return None;
    }
    target.set_fragment(None);
    let in_query = |range: &std::ops::Range<usize>| {
        let start = request.url.get(..range.end)?.rfind(['?', '&'])? + 1;
        request.url.get(start..range.end)?.split_once('=')
    };
    let ours: Vec<(&str, &str)> = request.secret_in_url.iter().filter_map(in_query).collect();
    if !ours.is_empty()
        && let Some(query) = target.query()
    {
        let name = |pair: &str| pair.split('=').next().unwrap_or_default().to_owned();
        let others = query.split('&').filter(|pair| !ours.iter().any(|(own, _)| *own == name(pair)));
        let others = others.collect::<Vec<&str>>().join("&");
        target.set_query(Some(others.as_str()).filter(|query| !query.is_empty()));
    }
    let mut text = target.to_string();
    let mut secrets = Vec::new();
    for (name, value) in ours {
        text.push(if text.contains('?') { '&' } else { '?' });
        let start = text.len();
        text.push_str(&format!("{name}={value}"));
        secrets.push(start..text.len());
    }
    request.url = text;
    request.secret_in_url = secrets;
    Some(request)
}

/// Something about the caller, for `${caller:…}`.
pub(super) fn caller_value(caller: &Caller, value: &CallerValue) -> Option<String> {
    match value {
        CallerValue::Tenant => caller.tenant.as_deref().map(str::to_string),
        CallerValue::Subject => caller.subject.as_deref().map(str::to_string),
        CallerValue::Header(name) => caller.headers.get(name).cloned(),
        CallerValue::Claim(path) => {
            let mut found = caller.claims.as_deref()?;
            for key in path {
                found = found.get(key)?;
            }
            match found {
                Value::String(text) => Some(text.clone()),
                Value::Number(_) | Value::Bool(_) => Some(found.to_string()),
                _ => None,
            }
        }
    }
}

/// True if some binding needs the caller's header.
pub fn wanted_headers(action: &RequestAction) -> impl Iterator<Item = &str> {
    action.bindings.iter().filter_map(|binding| match &binding.from {
        From::Caller(CallerValue::Header(name)) => Some(name.as_str()),
        _ => None,
    })
}
