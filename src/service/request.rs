//! One request behind a tool: credentials, request, answer, content.

use super::run::{Service, State};
use super::{Context, Failure};
use crate::access::Caller;
use crate::catalog::{Arguments, From, RequestAction, Tool};
use crate::content::{self, Content, failure};
use crate::mapping::CallerValue;
use crate::request::{self, Fixed, Request};
use crate::response::{NoAnswer, Response};
use crate::upstream::SendOptions;
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;

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
    ) -> Content {
        if let Some(rules) = &action.paginate {
            return self.pages(state, context, tool, action, rules, arguments).await;
        }
        if let Some(rules) = &action.stream {
            return self.stream(state, context, tool, action, rules, arguments).await;
        }
        match self.send(state, context, action, &arguments).await {
            Sent::Failed(content) => content,
            Sent::Answer(response) => match &action.poll {
                Some(rules) => self.poll(state, context, tool, action, rules, arguments, response).await,
                None => self.shaped(tool, action, &response, arguments, context),
            },
        }
    }

    /// The answer as content.
    pub(super) fn shaped(
        &self,
        tool: &Tool,
        action: &RequestAction,
        response: &Response,
        arguments: Arguments,
        context: &Context,
    ) -> Content {
        let _ = action;
        let maker = self.links.maker(&context.caller);
        content::from_response(tool, response, &Value::Object(arguments), Some(&maker))
    }

    /// The request for these arguments, credentials included.
    pub(super) async fn built(
        &self,
        state: &State,
        context: &Context,
        action: &RequestAction,
        arguments: &Arguments,
    ) -> Result<Request, Content> {
        let Some(source) = state.catalog.sources.get(action.source) else {
            return Err(failure::text("This tool's API is not configured.".to_string()));
        };
        let tenant = state.access.credentials(&context.caller, &source.name);
        let credentials = match state.upstream.credentials(action.source, source, &action.security, &context.caller, tenant).await {
            Ok(credentials) => credentials,
            Err(no_answer) => return Err(failure::from_no_answer(&no_answer, &context.request_id)),
        };
        let caller = |value: &CallerValue| caller_value(&context.caller, value);
        let reader = super::links::upload_reader(context.local, &source.upload_dirs);
        let fixed = Fixed {
            caller: &caller,
            headers: &context.caller.headers,
            local_files: reader.as_deref(),
            max_body: source.limits.max_request.0,
        };
        request::build(action, source, arguments, &fixed, &credentials).map_err(|unsendable| failure::from_unsendable(&unsendable))
    }

    /// Builds and sends once (the upstream may repeat what may be repeated).
    pub(super) async fn send(&self, state: &State, context: &Context, action: &RequestAction, arguments: &Arguments) -> Sent {
        let request = match self.built(state, context, action, arguments).await {
            Ok(request) => request,
            Err(content) => return Sent::Failed(content),
        };
        self.dispatch(state, context, action, request).await
    }

    /// Sends a finished request; a 401 with a fetched token is tried once more with a fresh one by the upstream.
    pub(super) async fn dispatch(&self, state: &State, context: &Context, action: &RequestAction, request: Request) -> Sent {
        match state.upstream.send(action.source, request, &options(context, action)).await {
            Ok(response) => Sent::Answer(response),
            Err(no_answer) => {
                if !matches!(no_answer, NoAnswer::Cancelled) {
                    tracing::warn!(request_id = %context.request_id, kind = crate::upstream::kind(&no_answer), detail = ?no_answer, "no answer");
                }
                Sent::Failed(failure::from_no_answer(&no_answer, &context.request_id))
            }
        }
    }
}

/// Limits and identity of one sending.
pub(super) fn options(context: &Context, action: &RequestAction) -> SendOptions {
    SendOptions {
        timeout: action.timeout,
        idempotent: action.idempotent,
        cancel: context.cancel.clone(),
        trace: context.trace.clone(),
    }
}

/// Something about the caller, for `${caller:…}`.
fn caller_value(caller: &Caller, value: &CallerValue) -> Option<String> {
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

/// Milliseconds since, for events.
pub(super) fn since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1000.0
}
