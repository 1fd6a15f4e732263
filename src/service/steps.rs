//! Composite tools: each step starts as soon as the steps that it needs have ended; what already happened is reported
//! when one fails.

use super::run::{Service, State};
use super::{Context, Failure};
use crate::call;
use crate::catalog::{Arguments, Step, Tool};
use crate::content::{self, Block, Content, Json, Text};
use crate::mapping::OnError;
use crate::schema::kinds::{self, Kinds};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// How one step ended.
enum Ended {
    Done(Value),
    Skipped,
    Failed(String),
}

impl Service {
    pub(super) async fn steps(
        &self,
        state: &Arc<State>,
        context: &Context,
        tool: &Arc<Tool>,
        steps: &[Step],
        arguments: Arguments,
        depth: usize,
    ) -> Result<Content, Failure> {
        let mut scope = Map::new();
        scope.insert("input".to_string(), Value::Object(arguments.clone()));
        for (key, ask) in &tool.ask {
            // What the person gave is a name of its own too.
            let name = ask.into.as_ref().unwrap_or(key);
            if let Some(value) = arguments.get(name) {
                scope.insert(name.clone(), value.clone());
            }
        }
        let mut ended: Vec<Option<Ended>> = steps.iter().map(|_| None).collect();
        let mut running = FuturesUnordered::new();
        let mut started = vec![false; steps.len()];
        let mut stop: Option<(String, String)> = None;
        loop {
            // Each starts as soon as what it needs is there; after a failure none does, and those under way end.
            for (index, step) in steps.iter().enumerate() {
                let ready = step.after.iter().all(|before| ended.get(*before).is_some_and(Option::is_some));
                match started.get_mut(index) {
                    Some(started) if ready && !*started && stop.is_none() && !context.cancel.is_cancelled() => {
                        *started = true;
                    }
                    _ => continue,
                }
                let view = Value::Object(scope.clone());
                running.push(async move { (index, step, self.step(state, context, step, &view, depth).await) });
            }
            let Some((index, step, outcome)) = running.next().await else { break };
            let outcome = outcome?;
            let value = match &outcome {
                Ended::Done(value) => value.clone(),
                Ended::Skipped => Value::Null,
                Ended::Failed(text) => {
                    if step.on_error == OnError::Stop {
                        stop = stop.or_else(|| Some((step.id.clone(), text.clone())));
                    }
                    Value::Null
                }
            };
            scope.insert(step.id.clone(), value);
            if let Some(slot) = ended.get_mut(index) {
                *slot = Some(outcome);
            }
            if let Some(events) = &context.events {
                let count = ended.iter().filter(|one| one.is_some()).count();
                events.progress(count as f64, Some(steps.len() as f64), None);
            }
        }
        if let Some((id, text)) = stop {
            return Ok(report(steps, &ended, &id, &text));
        }
        if context.cancel.is_cancelled() {
            return Ok(report(steps, &ended, "", "cancelled"));
        }
        let mut value = Map::new();
        for (step, outcome) in steps.iter().zip(&ended) {
            let entry = match outcome {
                Some(Ended::Done(value)) => value.clone(),
                Some(Ended::Failed(text)) => json!({"error": text}),
                _ => Value::Null,
            };
            value.insert(step.id.clone(), entry);
        }
        scope.extend(value.clone());
        Ok(match &tool.result {
            Some(_) => content::from_value(
                tool,
                &arguments,
                Value::Object(scope),
                Vec::new(),
                &super::request::identity(tool, context),
                None,
            ),
            None => {
                let json = Json::Tree(Arc::new(Value::Object(value)));
                Content {
                    blocks: vec![Block::Text(Text::Json(json.clone()))],
                    structured: Some(json),
                    ..Content::default()
                }
            }
        })
    }

    async fn step(
        &self,
        state: &Arc<State>,
        context: &Context,
        step: &Step,
        scope: &Value,
        depth: usize,
    ) -> Result<Ended, Failure> {
        if let Some(when) = &step.when {
            match when.render(scope) {
                Ok(value) if truthy(&value) => {}
                // A condition over something that is not there does not hold.
                _ => return Ok(Ended::Skipped),
            }
        }
        let mut with = Map::new();
        for (name, template) in &step.with {
            match template.render(scope) {
                Ok(Value::Null) => {}
                Ok(value) => {
                    with.insert(name.clone(), fitting(&step.tool, name, value));
                }
                Err(message) => return Ok(Ended::Failed(format!("argument `{name}`: {message}"))),
            }
        }
        let call = match call::prepare_value(&step.tool, with) {
            Ok(call) => call,
            Err(refusal) => return Ok(Ended::Failed(refusal.text(&step.tool.name))),
        };
        let content = self.execute(state, context, &step.tool, call.arguments, depth + 1).await?;
        if content.is_error {
            return Ok(Ended::Failed(text_of(&content)));
        }
        Ok(Ended::Done(value_of(&content)))
    }
}

/// A number or boolean as text, where the argument takes nothing but text.
fn fitting(tool: &Tool, argument: &str, value: Value) -> Value {
    let root = tool.input.check.schema();
    let schema = root.get("properties").and_then(|properties| properties.get(argument));
    match (&value, schema) {
        (Value::Number(_) | Value::Bool(_), Some(schema))
            if kinds::allowed(root, schema).without(Kinds::NULL) == Kinds::STRING =>
        {
            Value::String(value.to_string())
        }
        _ => value,
    }
}

/// JavaScript-like truth: absent, null, false, 0, "" and "false" do not hold.
fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !matches!(text.as_str(), "" | "false" | "0"),
        Value::Array(list) => !list.is_empty(),
        Value::Object(_) => true,
    }
}

/// What a later step sees of an answer.
pub(super) fn value_of(content: &Content) -> Value {
    match &content.structured {
        Some(Json::Tree(value)) => value.as_ref().clone(),
        Some(Json::Raw(bytes)) => serde_json::from_slice(bytes).unwrap_or(Value::Null),
        None => match content.blocks.first() {
            Some(Block::Text(Text::Json(Json::Tree(value)))) => value.as_ref().clone(),
            Some(Block::Text(Text::Json(Json::Raw(bytes)) | Text::Read { json: bytes, .. })) => {
                serde_json::from_slice(bytes).unwrap_or(Value::Null)
            }
            Some(Block::Text(Text::Plain(text))) => Value::String(text.clone()),
            _ => Value::Null,
        },
    }
}

pub(super) fn text_of(content: &Content) -> String {
    content
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text(Text::Plain(text)) => Some(text.as_str()),
            _ => None,
        })
        .collect::<Vec<_>>()
        .join("\n")
}

fn report(steps: &[Step], ended: &[Option<Ended>], failed: &str, text: &str) -> Content {
    let mut lines = vec![if failed.is_empty() {
        "Stopped: cancelled.".to_string()
    } else {
        format!("Step `{failed}` failed: {text}")
    }];
    let mut done = Vec::new();
    for (step, outcome) in steps.iter().zip(ended) {
        match outcome {
            Some(Ended::Done(value)) => {
                let mut shown = value.to_string();
                if let Some((end, _)) = shown.char_indices().nth(300) {
                    shown.truncate(end);
                    shown.push('…');
                }
                done.push(format!("- `{}` ({}) already happened: {shown}", step.id, step.tool.name));
            }
            Some(Ended::Failed(other)) if step.id != failed => {
                done.push(format!("- `{}` failed as well: {other}", step.id))
            }
            Some(_) => {}
            None => done.push(format!("- `{}` was not started", step.id)),
        }
    }
    if !done.is_empty() {
        lines.push("What happened:".to_string());
        lines.extend(done);
    }
    Content::error(lines.join("\n"))
}
