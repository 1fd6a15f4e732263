//! What a task asks its client while it goes on (the extension of 2026-07-28 only).

use super::{End, Task};
use crate::protocol::Server;
use crate::protocol::calls::Features;
use crate::protocol::error::RpcError;
use crate::service::{Context, Failure, Outcome, Round};
use indexmap::IndexMap;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::Arc;

/// What was asked of the client and what it answered.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// Unanswered questions: by the name the client knows, the call's own name and `{method, params}`.
    open: IndexMap<String, (String, Value)>,
    /// Answers to the others, by the call's own names.
    answers: Map<String, Value>,
    /// Every name that was ever used: none is used for two questions.
    names: HashSet<String>,
}

impl Asked {
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// `inputRequests`.
    pub(super) fn requests(&self) -> Map<String, Value> {
        self.open.iter().map(|(name, (_, request))| (name.clone(), request.clone())).collect()
    }

    fn ask(&mut self, requests: Map<String, Value>) {
        for (key, request) in requests {
            let mut name = key.clone();
            let mut count = 1;
            while !self.names.insert(name.clone()) {
                count += 1;
                name = format!("{key}-{count}");
            }
            self.open.insert(name, (key, request));
        }
    }

    /// Takes the answers to open questions; true if those were the last.
    fn answer(&mut self, responses: Map<String, Value>) -> bool {
        let was_open = self.is_open();
        for (name, response) in responses {
            if let Some((key, _)) = self.open.shift_remove(&name) {
                self.answers.insert(key, response);
            }
        }
        was_open && !self.is_open()
    }
}

/// True if there is something to ask and the client declared all that it needs.
pub(super) fn can_ask(features: Features, requests: &Map<String, Value>) -> bool {
    !requests.is_empty() && lacking(features, requests).is_empty()
}

/// Capabilities that the questions need and the client did not declare.
fn lacking(features: Features, requests: &Map<String, Value>) -> Map<String, Value> {
    let mut lacking = Map::new();
    for request in requests.values() {
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
        if let Some(Value::Object(needed)) = features.lacks(method, request.get("params").unwrap_or(&Value::Null)) {
            lacking.extend(needed);
        }
    }
    lacking
}

impl Task {
    /// `tasks/update`: takes answers; those to nothing are ignored.
    pub(super) fn answer(&self, responses: Map<String, Value>) {
        let mut last = false;
        self.change(|progress| last = progress.asked.answer(responses));
        if last {
            self.answered.notify_one();
        }
    }

    /// Asks, and waits for every answer; `None` if the task ended before.
    async fn ask(&self, requests: Map<String, Value>) -> Option<Map<String, Value>> {
        if !self.change(|progress| progress.asked.ask(requests)) {
            return None;
        }
        tokio::select! {
            biased;
            () = self.ended.cancelled() => None,
            () = self.answered.notified() => Some(std::mem::take(&mut super::lock(&self.progress).asked.answers)),
        }
    }
}

/// Goes on with a call that asks, round by round, until it ends.
pub(super) fn drive(
    server: &Server,
    task: Arc<Task>,
    context: Context,
    arguments: Option<Box<RawValue>>,
    features: Features,
    first: (Map<String, Value>, Option<String>),
) {
    let handler = Arc::clone(&server.handler);
    let most = server.settings.max_rounds.max(1);
    let (mut requests, mut state) = first;
    tokio::spawn(async move {
        let fail = |failure| task.finish(End::Error(RpcError::from_failure(failure, task.version)));
        for _ in 0..most {
            let lacking = lacking(features, &requests);
            if !lacking.is_empty() {
                fail(Failure::MissingCapability(Value::Object(lacking)));
                return;
            }
            let Some(answers) = task.ask(requests).await else { return };
            let round = Round { answers, state };
            match handler.call_tool(&context, &task.tool, arguments.as_deref(), round).await {
                Ok(Outcome::InputRequired { requests: more, state: next }) if !more.is_empty() => {
                    (requests, state) = (more, next);
                }
                outcome => return task.came_to(outcome),
            }
        }
        fail(Failure::Internal("Too many rounds of questions".to_owned()));
    });
}
