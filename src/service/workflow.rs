//! Arazzo workflows: calls one after another, as their actions lead; what already happened is reported when one fails.

mod trail;

use super::request::Sent;
use super::run::{Service, State};
use super::steps::{text_of, value_of};
use super::{Context, Failure};
use crate::call;
use crate::catalog::{
    Action, Arguments, From, Tool, Workflow, WorkflowAction, WorkflowGoal, WorkflowStep, WorkflowThen,
};
use crate::content::{self, Content};
use crate::response::Response;
use crate::template::{BodyTemplate, Scope};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use trail::Trail;

/// Most calls of one run: a workflow that jumps back for ever ends here.
const MOST_CALLS: usize = 200;
/// Longest pause before another attempt, whatever the API asks for.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// What one call of a step came to.
struct Ran {
    /// Outputs and body, or why it failed.
    outcome: Result<Done, String>,
    /// The values of the run with the answer's own.
    view: Value,
    /// What the API says to wait.
    wait: Option<Duration>,
}

/// What a step came to: its outputs, and its answer's body.
struct Done {
    outputs: Map<String, Value>,
    body: Value,
}

/// One run of a workflow.
struct Run<'a> {
    state: &'a Arc<State>,
    context: &'a Context,
    workflow: &'a Workflow,
    depth: usize,
    scope: Value,
    trail: Trail,
    /// Attempts that an action has caused: step, place among its failure actions.
    attempts: HashMap<(usize, usize), u32>,
}

/// How a run goes on.
enum Next {
    At(usize),
    End,
    /// This is the result, good or bad.
    Result(Content),
}

impl Service {
    pub(super) async fn workflow(
        &self,
        state: &Arc<State>,
        context: &Context,
        tool: &Arc<Tool>,
        workflow: &Workflow,
        arguments: Arguments,
        depth: usize,
    ) -> Result<Content, Failure> {
        let Some(inputs) = inputs(workflow, &arguments, context) else {
            return Ok(Content::error("The caller's identity lacks a value that this tool needs."));
        };
        let scope = json!({"inputs": inputs, "steps": {}, "workflows": {}, "sourceDescriptions": workflow.sources});
        let trail = Trail::default();
        let mut run = Run { state, context, workflow, depth, scope, trail, attempts: HashMap::new() };
        for (id, needed) in &workflow.before {
            let properties = needed.input.check.schema().get("properties").and_then(Value::as_object);
            let with: Map<String, Value> = inputs
                .iter()
                .filter(|(name, _)| properties.is_some_and(|all| all.contains_key(*name)))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            match run.call(self, needed, with.clone()).await? {
                Ok(outputs) => {
                    run.trail.done(id, needed, outputs.as_object());
                    if let Some(Value::Object(workflows)) = run.scope.get_mut("workflows") {
                        workflows.insert(id.clone(), json!({"inputs": with, "outputs": outputs}));
                    }
                }
                Err(reason) => {
                    return Ok(run
                        .trail
                        .report(workflow, &format!("Workflow `{id}`, which runs first, failed: {reason}")));
                }
            }
        }
        let mut at = 0;
        while let Some(step) = workflow.steps.get(at) {
            if context.cancel.is_cancelled() {
                return Ok(run.trail.report(workflow, "Stopped: cancelled."));
            }
            match run.step(self, at, step).await? {
                Next::At(next) => at = next,
                Next::End => break,
                Next::Result(content) => return Ok(content),
            }
        }
        let result = match workflow.outputs.as_slice() {
            [] => run.trail.results(),
            outputs => evaluated(outputs, &run.scope),
        };
        let uri = super::request::identity(tool, context);
        Ok(content::from_value(tool, &arguments, Value::Object(result), Vec::new(), &uri, None))
    }
}

impl Run<'_> {
    /// One step with its actions.
    async fn step(&mut self, service: &Service, at: usize, step: &WorkflowStep) -> Result<Next, Failure> {
        if self.trail.calls() >= MOST_CALLS {
            let text = format!(
                "Stopped before step `{}`: {MOST_CALLS} calls were made, and the workflow still goes on.",
                step.id
            );
            return Ok(Next::Result(self.trail.report(self.workflow, &text)));
        }
        let ran = self.once(service, step).await?;
        let (actions, failed) = match &ran.outcome {
            Ok(_) => {
                self.attempts.retain(|(of, _), _| *of != at);
                (&step.on_success, None)
            }
            Err(reason) => (&step.on_failure, Some(reason.clone())),
        };
        self.note(step, ran.outcome);
        let failure = |run: &Self, reason: &str| {
            Next::Result(run.trail.report(run.workflow, &format!("Step `{}` failed: {reason}", step.id)))
        };
        for (index, action) in actions.iter().enumerate().filter(|(_, action)| holds(action, &ran.view)) {
            match &action.then {
                WorkflowThen::End => {
                    return Ok(match &failed {
                        None => Next::End,
                        Some(reason) => failure(self, reason),
                    });
                }
                WorkflowThen::Goto(WorkflowGoal::Step(to)) => return Ok(Next::At(*to)),
                WorkflowThen::Goto(WorkflowGoal::Workflow(tool, with)) => {
                    return self.handed_over(service, step, tool, with).await;
                }
                WorkflowThen::Retry { after, limit, first } => {
                    let used = self.attempts.entry((at, index)).or_default();
                    if *used >= *limit {
                        // An exhausted action says nothing any more; the ones behind it may.
                        continue;
                    }
                    *used += 1;
                    if let Some(stopped) = self.before_retry(service, step, first.as_ref(), ran.wait.or(*after)).await?
                    {
                        return Ok(stopped);
                    }
                    return Ok(Next::At(at));
                }
            }
        }
        Ok(match &failed {
            None => Next::At(at + 1),
            Some(reason) => failure(self, reason),
        })
    }

    /// Calls a step and tells the client how far the run is.
    async fn once(&mut self, service: &Service, step: &WorkflowStep) -> Result<Ran, Failure> {
        let ran = service.workflow_step(self.state, self.context, step, &self.scope, self.depth).await?;
        self.trail.called();
        if let Some(events) = &self.context.events {
            let (made, all) = (self.trail.calls(), self.workflow.steps.len() + self.workflow.before.len());
            events.progress(made as f64, Some(made.max(all) as f64), None);
        }
        Ok(ran)
    }

    fn note(&mut self, step: &WorkflowStep, outcome: Result<Done, String>) {
        match outcome {
            Ok(done) => {
                if let Some(Value::Object(steps)) = self.scope.get_mut("steps") {
                    steps.insert(step.id.clone(), json!({"outputs": done.outputs}));
                }
                self.trail.done(&step.id, &step.tool, Some(&done.outputs));
                self.trail
                    .result(&step.id, if done.outputs.is_empty() { done.body } else { Value::Object(done.outputs) });
            }
            Err(reason) => self.trail.failed(&step.id, &step.tool, &reason),
        }
    }

    /// `goto` another workflow: its result is the result.
    async fn handed_over(
        &mut self,
        service: &Service,
        step: &WorkflowStep,
        tool: &Arc<Tool>,
        with: &[(String, BodyTemplate)],
    ) -> Result<Next, Failure> {
        let with = match rendered(with, &self.scope) {
            Ok(with) => with,
            Err(message) => {
                return Ok(Next::Result(
                    self.trail
                        .report(self.workflow, &format!("Step `{}` leads to `{}`: {message}", step.id, tool.name)),
                ));
            }
        };
        Ok(Next::Result(match self.call(service, tool, with).await? {
            Ok(outputs) => {
                let uri = super::request::identity(tool, self.context);
                content::from_value(tool, &Map::new(), outputs, Vec::new(), &uri, None)
            }
            Err(reason) => self.trail.report(
                self.workflow,
                &format!("Workflow `{}`, to which step `{}` leads, failed: {reason}", tool.name, step.id),
            ),
        }))
    }

    /// What is done before another attempt, and the pause. `Some` = there is none.
    async fn before_retry(
        &mut self,
        service: &Service,
        step: &WorkflowStep,
        first: Option<&WorkflowGoal>,
        pause: Option<Duration>,
    ) -> Result<Option<Next>, Failure> {
        let failed = match first {
            None => None,
            Some(WorkflowGoal::Step(index)) => match self.workflow.steps.get(*index) {
                None => None,
                Some(other) => {
                    let ran = self.once(service, other).await?;
                    let reason = ran.outcome.as_ref().err().map(|reason| (other.id.clone(), reason.clone()));
                    self.note(other, ran.outcome);
                    reason
                }
            },
            Some(WorkflowGoal::Workflow(tool, with)) => match rendered(with, &self.scope) {
                Err(message) => Some((tool.name.clone(), message)),
                Ok(with) => {
                    self.trail.called();
                    match self.call(service, tool, with).await? {
                        Ok(outputs) => {
                            self.trail.done(&tool.name, tool, outputs.as_object());
                            None
                        }
                        Err(reason) => Some((tool.name.clone(), reason)),
                    }
                }
            },
        };
        if let Some((id, reason)) = failed {
            let text = format!("Before step `{}` could be tried again, `{id}` failed: {reason}", step.id);
            return Ok(Some(Next::Result(self.trail.report(self.workflow, &text))));
        }
        let pause = pause.filter(|_| !self.state.upstream.is_canned()).unwrap_or_default().min(LONGEST_PAUSE);
        tokio::select! {
            () = tokio::time::sleep(pause) => Ok(None),
            () = self.context.cancel.cancelled() => {
                Ok(Some(Next::Result(self.trail.report(self.workflow, "Stopped: cancelled."))))
            }
        }
    }

    /// Calls a workflow: its outputs, or why it failed.
    async fn call(
        &self,
        service: &Service,
        tool: &Arc<Tool>,
        with: Map<String, Value>,
    ) -> Result<Result<Value, String>, Failure> {
        let call = match call::prepare_value(tool, with) {
            Ok(call) => call,
            Err(refusal) => return Ok(Err(refusal.text(&tool.name))),
        };
        let content = service.execute(self.state, self.context, tool, call.arguments, self.depth + 1).await?;
        Ok(if content.is_error { Err(text_of(&content)) } else { Ok(value_of(&content)) })
    }
}

impl Service {
    async fn workflow_step(
        &self,
        state: &Arc<State>,
        context: &Context,
        step: &WorkflowStep,
        scope: &Value,
        depth: usize,
    ) -> Result<Ran, Failure> {
        let failed = |reason: String| Ran { outcome: Err(reason), view: scope.clone(), wait: None };
        let with = match rendered(&step.with, scope) {
            Ok(with) => with,
            Err(message) => return Ok(failed(message)),
        };
        let call = match call::prepare_value(&step.tool, with) {
            Ok(call) => call,
            Err(refusal) => return Ok(failed(refusal.text(&step.tool.name))),
        };
        let Action::Request(action) = &step.tool.action else {
            let content = self.execute(state, context, &step.tool, call.arguments, depth + 1).await?;
            if content.is_error {
                return Ok(failed(text_of(&content)));
            }
            let body = value_of(&content);
            let mut view = with_answer(scope, None, body.clone());
            if let Some(members) = view.as_object_mut() {
                members.insert("outputs".to_string(), body.clone());
            }
            if let Some(broken) = step.criteria.iter().find(|criterion| !criterion.holds(&view)) {
                let reason = format!("`{}` does not hold. The outputs: {}", broken.text, trail::cut(&body.to_string()));
                return Ok(Ran { outcome: Err(reason), view, wait: None });
            }
            let mut outputs = body.as_object().cloned().unwrap_or_default();
            outputs.extend(evaluated(&step.outputs, &view));
            return Ok(Ran { outcome: Ok(Done { outputs, body }), view, wait: None });
        };
        let response = match self.send(state, context, action, &call.arguments).await {
            Sent::Answer(response) => response,
            Sent::Failed(content) => return Ok(failed(text_of(&content))),
        };
        let body = serde_json::from_slice(&response.body)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&response.body).into_owned()));
        let mut view = with_answer(scope, Some(&response), body.clone());
        if let Some(members) = view.as_object_mut() {
            members.insert("method".to_string(), action.method.as_str().into());
            members.insert("request".to_string(), request(step, scope));
        }
        let wait = response.retry_after();
        let outcome = if step.criteria.is_empty() && !content::succeeded(&step.tool, response.status) {
            Err(text_of(&self.shaped(&step.tool, &response, &call.arguments, context)))
        } else if let Some(broken) = step.criteria.iter().find(|criterion| !criterion.holds(&view)) {
            let status = response.status.as_u16();
            let answer = trail::cut(&body.to_string());
            Err(format!("status {status}; `{}` does not hold. The answer: {answer}", broken.text))
        } else {
            Ok(Done { outputs: evaluated(&step.outputs, &view), body })
        };
        Ok(Ran { outcome, view, wait })
    }
}

fn holds(action: &WorkflowAction, view: &Value) -> bool {
    action.criteria.iter().all(|criterion| criterion.holds(view))
}

/// The inputs by the names that the document gives them; `None` where the caller's identity lacks one. What the
/// mapping fixes can't be given by the caller, whatever it is called.
fn inputs(workflow: &Workflow, arguments: &Arguments, context: &Context) -> Option<Map<String, Value>> {
    let mut inputs = arguments.clone();
    for (input, from) in &workflow.inputs {
        inputs.shift_remove(input);
        if let From::Argument(name) = from {
            inputs.shift_remove(name);
        }
    }
    for (input, from) in &workflow.inputs {
        let value = match from {
            From::Argument(name) => arguments.get(name).cloned(),
            From::Fixed(value) => Some(value.clone()),
            From::Caller(which) => Some(Value::String(super::request::caller_value(&context.caller, which)?)),
            From::Secret(_) | From::Template(_) | From::Rest => None,
        };
        if let Some(value) = value {
            inputs.insert(input.clone(), value);
        }
    }
    Some(inputs)
}

/// Arguments; an input that the caller left out leaves its parameter out.
fn rendered(with: &[(String, BodyTemplate)], scope: &Value) -> Result<Map<String, Value>, String> {
    let mut given = Map::new();
    for (name, template) in with {
        match template.render(scope) {
            Ok(Value::Null) => {}
            Ok(value) => {
                given.insert(name.clone(), value);
            }
            Err(_) if matches!(template, BodyTemplate::Value(path) if path.first().is_some_and(|first| first == "inputs")) =>
                {}
            Err(message) => return Err(format!("`{name}`: {message}")),
        }
    }
    Ok(given)
}

/// What a step has sent, as `$request` names it.
fn request(step: &WorkflowStep, scope: &Value) -> Value {
    let mut request = Map::new();
    for (place, name, template) in &step.sent {
        let Ok(value) = template.render(scope) else { continue };
        if place == "body" {
            request.insert("body".to_string(), value);
        } else if let Value::Object(members) = request.entry(place.clone()).or_insert_with(|| json!({})) {
            members.insert(name.clone(), value);
        }
    }
    Value::Object(request)
}

/// The values of a run and of one answer.
fn with_answer(scope: &Value, response: Option<&Response>, body: Value) -> Value {
    let mut view = scope.clone();
    let Value::Object(members) = &mut view else { return view };
    let mut headers = Map::new();
    if let Some(response) = response {
        members.insert("statusCode".to_string(), response.status.as_u16().into());
        for (name, value) in &response.headers {
            headers.entry(name.as_str()).or_insert_with(|| Value::from(String::from_utf8_lossy(value.as_bytes())));
        }
    }
    members.insert("response".to_string(), json!({"body": body, "header": headers}));
    view
}

/// Named values; what is not there is null.
fn evaluated(outputs: &[(String, BodyTemplate)], scope: &Value) -> Map<String, Value> {
    let scope = Scope::new(scope);
    outputs.iter().map(|(name, template)| (name.clone(), template.render_in(&scope).unwrap_or(Value::Null))).collect()
}
