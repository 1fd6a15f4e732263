//! `poll`: waits for a long-running job, with progress, until it is done, the limit is reached or the client goes away.

use super::request::{Sent, elsewhere};
use super::run::{Service, State};
use super::{Context, Failure};
use crate::catalog::{Action, Arguments, From, PollPlan, RequestAction, Tool};
use crate::content::{Block, Content};
use crate::mapping::Poll;
use crate::response::Response;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Service {
    #[allow(clippy::too_many_arguments)]
    pub(super) async fn poll(
        &self,
        state: &Arc<State>,
        context: &Context,
        tool: &Arc<Tool>,
        action: &RequestAction,
        plan: &PollPlan,
        arguments: Arguments,
        first: Response,
    ) -> Result<Content, Failure> {
        let rules = &plan.rules;
        let every = rules.every.map_or(Duration::from_secs(2), |every| every.0);
        let at_most = rules.at_most.map_or(Duration::from_secs(600), |limit| limit.0);
        let started = Instant::now();
        let mut reported = -1.0f64;
        let mut response = first;
        let mut location = None;
        let mut asked = 0u64;
        // What the answers said so far, for an operation that is asked for the status.
        let mut known = serde_json::Map::new();
        loop {
            if !action.success.contains(response.status.as_u16()) {
                return Ok(self.shaped(tool, &response, &arguments, context));
            }
            let body = match serde_json::from_slice(&response.body) {
                Ok(body) => body,
                // The first answer may say nothing but that the job was taken on; later ones tell its state.
                Err(_) if asked == 0 || plan.status.is_none() || response.body.is_empty() => Value::Null,
                Err(_) => return Err(unreadable("the answer is not JSON")),
            };
            if let Value::Object(members) = &body {
                known.extend(members.clone());
            }
            if let Some(found) = next_location(rules, &response, &body) {
                location = Some(found);
            }
            if let (Some(events), Some(progress)) = (&context.events, &plan.progress)
                && let Ok(Some(value)) = progress.first(&body)
                && let Some(value) = value.as_f64().filter(|value| *value > reported)
            {
                reported = value;
                events.progress(value, Some(1.0), None);
            }
            let found = match plan.status.as_ref().map(|status| status.first(&body)) {
                None => None,
                Some(Ok(found)) => found,
                Some(Err(error)) if asked > 0 => return Err(unreadable(&error.to_string())),
                Some(Err(_)) => None,
            };
            if done(rules, found.as_ref(), &response) {
                let mut content =
                    self.finish_poll(state, context, tool, action, rules, arguments, response, &body).await;
                content.is_error |= found.is_some_and(|found| rules.failed.contains(&found));
                return Ok(content);
            }
            if started.elapsed() >= at_most {
                let mut content = self.shaped(tool, &response, &arguments, context);
                content.blocks.push(Block::text(format!(
                    "The job was not done after {} seconds; this is its last state.",
                    at_most.as_secs()
                )));
                return Ok(content);
            }
            let pause = match state.upstream.is_canned() {
                true => Duration::ZERO,
                false => response.retry_after().unwrap_or(every).min(at_most.saturating_sub(started.elapsed())),
            };
            if let Some(events) = &context.events {
                events.waiting();
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = context.cancel.cancelled() => return Ok(Content::error("Cancelled; the job itself may go on.".to_string())),
            }
            response =
                match self.ask_again(state, context, action, rules, &arguments, location.as_deref(), &known).await {
                    Sent::Answer(response) => response,
                    Sent::Failed(content) => return Ok(content),
                };
            asked += 1;
        }
    }

    #[allow(clippy::too_many_arguments)]
    async fn ask_again(
        &self,
        state: &Arc<State>,
        context: &Context,
        action: &RequestAction,
        rules: &Poll,
        arguments: &Arguments,
        location: Option<&str>,
        known: &serde_json::Map<String, Value>,
    ) -> Sent {
        if let Some(name) = rules.location.as_deref().and_then(|text| text.strip_prefix("operation ")) {
            let name = name.trim();
            let catalog = &state.catalog;
            let found = catalog.tools.values().chain(catalog.hidden.values()).find(|tool| tool.is_called(name));
            let Some(Action::Request(other)) = found.map(|tool| &tool.action) else {
                return Sent::Failed(Content::error(format!("`poll.location` names `{name}`, which is no operation.")));
            };
            // The status operation takes what the call was made with and what the job's answer says.
            let mut given = arguments.clone();
            given.extend(known.clone());
            let missing =
                other.bindings.iter().filter(|binding| binding.required).filter_map(|binding| match &binding.from {
                    From::Argument(name) if !given.contains_key(name) => Some(name.clone()),
                    _ => None,
                });
            let missing: Vec<String> = missing.collect();
            // A job's own number is called `id` in its answer, and by another name in the path.
            if let ([only], Some(id)) = (missing.as_slice(), known.get("id")) {
                given.insert(only.clone(), id.clone());
            }
            return self.send(state, context, other, &given).await;
        }
        let Some(location) = location else {
            if action.method == http::Method::GET {
                return self.send(state, context, action, arguments).await;
            }
            return Sent::Failed(Content::error(
                "The job was accepted, but the API did not say where to ask about it.".to_string(),
            ));
        };
        match self.built(state, context, action, arguments).await {
            Err(content) => Sent::Failed(content),
            Ok((request, _)) => match follow(request, location) {
                Some(request) => self.dispatch(state, context, action, request).await,
                None => Sent::Failed(Content::error(
                    "The job's status lies on another server; it was not asked.".to_string(),
                )),
            },
        }
    }

    #[allow(clippy::too_many_arguments)]
    async fn finish_poll(
        &self,
        state: &Arc<State>,
        context: &Context,
        tool: &Arc<Tool>,
        action: &RequestAction,
        rules: &Poll,
        arguments: Arguments,
        response: Response,
        body: &Value,
    ) -> Content {
        let result = rules.result.as_deref().and_then(|path| {
            path.trim_start_matches('.').split('.').try_fold(body, |value, key| value.get(key)).and_then(Value::as_str)
        });
        let Some(url) = result else { return self.shaped(tool, &response, &arguments, context) };
        let sent = match self.built(state, context, action, &arguments).await {
            Err(content) => Sent::Failed(content),
            Ok((request, _)) => match follow(request, url) {
                Some(request) => self.dispatch(state, context, action, request).await,
                None => Sent::Failed(Content::error(
                    "The job's result lies on another server; it was not fetched.".to_string(),
                )),
            },
        };
        match sent {
            Sent::Answer(response) => self.shaped(tool, &response, &arguments, context),
            Sent::Failed(content) => content,
        }
    }
}

/// A GET with the call's credentials to a place on the same server.
fn follow(mut request: crate::request::Request, location: &str) -> Option<crate::request::Request> {
    request.method = http::Method::GET;
    request.body = None;
    request.headers.remove(http::header::CONTENT_TYPE);
    request.headers.remove(http::header::CONTENT_LENGTH);
    elsewhere(request, location)
}

fn next_location(rules: &Poll, response: &Response, body: &Value) -> Option<String> {
    let text = rules.location.as_deref().unwrap_or("header location");
    match text.split_once(' ') {
        Some(("header", name)) => response.header(name.trim()).map(str::to_string),
        Some(_) => None,
        None => text
            .trim_start_matches('.')
            .split('.')
            .try_fold(body, |value, key| value.get(key))?
            .as_str()
            .map(str::to_string),
    }
}

fn done(rules: &Poll, status: Option<&Value>, response: &Response) -> bool {
    match rules.status {
        Some(_) => status.is_some_and(|status| rules.until.contains(status)),
        None => response.status.as_u16() != 202,
    }
}

/// The API answers something that the mapping does not expect: no other arguments would help, so it is no
/// result of the tool.
fn unreadable(why: &str) -> Failure {
    Failure::Internal(format!("The state of the job can't be read: {why}"))
}
