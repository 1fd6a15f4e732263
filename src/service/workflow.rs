//! Arazzo workflows: calls one after another; what already happened is reported when one fails.

use super::request::Sent;
use super::run::{Service, State};
use super::{Context, Failure};
use crate::call;
use crate::catalog::{Action, Arguments, Tool, Workflow, WorkflowStep};
use crate::content::{self, Block, Content, Json, Text};
use crate::response::Response;
use crate::template::{BodyTemplate, Scope};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Longest part of an answer that is quoted, in characters.
const QUOTED: usize = 300;

/// What one step came to: its outputs, and its answer's body.
struct Done {
    outputs: Map<String, Value>,
    body: Value,
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
        let mut scope = json!({"inputs": arguments, "steps": {}});
        let mut done: Vec<(&WorkflowStep, Done)> = Vec::new();
        for step in &workflow.steps {
            if context.cancel.is_cancelled() {
                return Ok(report(&done, workflow, None));
            }
            match self.workflow_step(state, context, step, &scope, depth).await? {
                Ok(result) => {
                    if let Some(Value::Object(steps)) = scope.get_mut("steps") {
                        steps.insert(step.id.clone(), json!({"outputs": result.outputs}));
                    }
                    done.push((step, result));
                }
                Err(reason) => return Ok(report(&done, workflow, Some((&step.id, &reason)))),
            }
            if let Some(events) = &context.events {
                events.progress(done.len() as f64, Some(workflow.steps.len() as f64), None);
            }
        }
        let result = match workflow.outputs.as_slice() {
            [] => {
                let all = done.into_iter().map(|(step, one)| (step.id.clone(), shown(one)));
                all.collect()
            }
            outputs => evaluated(outputs, &scope),
        };
        if tool.result.is_some() {
            let uri = super::request::identity(tool, context);
            return Ok(content::from_value(tool, &arguments, Value::Object(result), Vec::new(), &uri, None));
        }
        let json = Json::Tree(Arc::new(Value::Object(result)));
        Ok(Content {
            blocks: vec![Block::Text(Text::Json(json.clone()))],
            structured: Some(json),
            ..Content::default()
        })
    }

    async fn workflow_step(
        &self,
        state: &Arc<State>,
        context: &Context,
        step: &WorkflowStep,
        scope: &Value,
        depth: usize,
    ) -> Result<Result<Done, String>, Failure> {
        let mut with = Map::new();
        for (name, template) in &step.with {
            match template.render(scope) {
                Ok(Value::Null) => {}
                Ok(value) => {
                    with.insert(name.clone(), value);
                }
                // An input that the caller left out leaves its parameter out.
                Err(_) if matches!(template, BodyTemplate::Value(path) if path.first().is_some_and(|first| first == "inputs")) =>
                    {}
                Err(message) => return Ok(Err(format!("`{name}`: {message}"))),
            }
        }
        let call = match call::prepare_value(&step.tool, with) {
            Ok(call) => call,
            Err(refusal) => return Ok(Err(refusal.text(&step.tool.name))),
        };
        let Action::Request(action) = &step.tool.action else {
            let content = self.execute(state, context, &step.tool, call.arguments, depth + 1).await?;
            if content.is_error {
                return Ok(Err(super::steps::text_of(&content)));
            }
            let body = super::steps::value_of(&content);
            let mut outputs = body.as_object().cloned().unwrap_or_default();
            outputs.extend(evaluated(&step.outputs, &with_answer(scope, None, body.clone())));
            return Ok(Ok(Done { outputs, body }));
        };
        let response = match self.send(state, context, action, &call.arguments).await {
            Sent::Answer(response) => response,
            Sent::Failed(content) => return Ok(Err(super::steps::text_of(&content))),
        };
        let body = serde_json::from_slice(&response.body)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&response.body).into_owned()));
        let view = with_answer(scope, Some(&response), body.clone());
        if step.criteria.is_empty() && !content::succeeded(&step.tool, response.status) {
            let shaped = self.shaped(&step.tool, &response, &call.arguments, context);
            return Ok(Err(super::steps::text_of(&shaped)));
        }
        if let Some(broken) = step.criteria.iter().find(|criterion| !criterion.holds(&view)) {
            let status = response.status.as_u16();
            return Ok(Err(format!(
                "status {status}; `{}` does not hold. The answer: {}",
                broken.text,
                cut(&body.to_string())
            )));
        }
        Ok(Ok(Done { outputs: evaluated(&step.outputs, &view), body }))
    }
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

fn shown(done: Done) -> Value {
    if done.outputs.is_empty() { done.body } else { Value::Object(done.outputs) }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_string(),
    }
}

fn report(done: &[(&WorkflowStep, Done)], workflow: &Workflow, failed: Option<(&str, &str)>) -> Content {
    let mut lines = vec![match failed {
        Some((id, reason)) => format!("Step `{id}` failed: {reason}"),
        None => "Stopped: cancelled.".to_string(),
    }];
    for (step, one) in done {
        let outputs = if one.outputs.is_empty() {
            String::new()
        } else {
            format!(": {}", cut(&Value::Object(one.outputs.clone()).to_string()))
        };
        lines.push(format!("- `{}` ({}) already happened{outputs}", step.id, step.tool.name));
    }
    for step in workflow.steps.iter().skip(done.len() + usize::from(failed.is_some())) {
        lines.push(format!("- `{}` was not started", step.id));
    }
    Content::error(lines.join("\n"))
}
