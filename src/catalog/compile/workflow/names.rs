//! What the expressions of a workflow may name.

use crate::arazzo::{Action, Criterion, Goal, SourceDescription, Step, Then, Workflow};
use crate::catalog::{Action as ToolAction, Tool};
use crate::diagnostic::hint::nearest;
use crate::template::BodyTemplate;
use serde_json::{Value, json};
use std::sync::Arc;

/// Everything that can have a value in a run.
pub(super) struct Names<'a> {
    inputs: &'a Value,
    before: &'a [(String, Arc<Tool>)],
    sources: &'a [SourceDescription],
    /// Steps whose outputs are known: id, names.
    steps: Vec<(String, Vec<String>)>,
    /// The workflow jumps: a step may run after any other one.
    jumps: bool,
}

impl<'a> Names<'a> {
    pub(super) fn new(
        inputs: &'a Value,
        workflow: &Workflow,
        before: &'a [(String, Arc<Tool>)],
        sources: &'a [SourceDescription],
    ) -> Self {
        let to_step = |action: &Action| match &action.then {
            Then::Goto(goal) => matches!(goal, Goal::Step(_)),
            Then::Retry { first, .. } => matches!(first, Some(Goal::Step(_))),
            Then::End => false,
        };
        let jumps = workflow.steps.iter().any(|step| step.on_success.iter().chain(&step.on_failure).any(to_step));
        let mut steps = Vec::new();
        if jumps {
            let names = |step: &Step| step.outputs.iter().map(|(name, _)| name.clone()).collect();
            steps.extend(workflow.steps.iter().map(|step| (step.id.clone(), names(step))));
        }
        Names { inputs, before, sources, steps, jumps }
    }

    /// The step's outputs are known from here on.
    pub(super) fn done(&mut self, step: &Step, tool: &Tool) {
        let mut names = outputs(tool);
        names.extend(step.outputs.iter().map(|(name, _)| name.clone()));
        self.steps.retain(|(id, _)| *id != step.id);
        self.steps.push((step.id.clone(), names));
    }

    /// The error says what is unknown. `own`: the step whose answer is meant, where there is one.
    pub(super) fn tree(&self, tree: &BodyTemplate, own: Option<(&Step, &Tool)>) -> Result<(), String> {
        tree.placeholders().iter().try_for_each(|path| self.path(path, own))
    }

    pub(super) fn criterion(&self, criterion: &Criterion, own: Option<(&Step, &Tool)>) -> Result<(), String> {
        criterion.paths().into_iter().try_for_each(|path| self.path(path, own))
    }

    fn path(&self, path: &[String], own: Option<(&Step, &Tool)>) -> Result<(), String> {
        let part = |index: usize| path.get(index).map(String::as_str).unwrap_or_default();
        match part(0) {
            "inputs" => known(self.inputs, part(1))
                .map_err(|hint| format!("`$inputs.{}` is not declared under `inputs`{hint}", part(1))),
            "steps" => {
                let found = self.steps.iter().find(|(id, _)| id == part(1));
                let (_, names) = found.ok_or_else(|| match self.jumps {
                    true => format!("`$steps.{}` is no step", part(1)),
                    false => format!("`$steps.{}` is no earlier step", part(1)),
                })?;
                match names.iter().any(|name| name == part(3)) {
                    true => Ok(()),
                    false => Err(format!(
                        "step `{}` has no output `{}`{}",
                        part(1),
                        part(3),
                        near(part(3), names.iter().map(String::as_str))
                    )),
                }
            }
            "workflows" => {
                let found = self.before.iter().find(|(id, _)| id == part(1));
                let (_, tool) = found.ok_or_else(|| format!("`$workflows.{}` is none of `dependsOn`", part(1)))?;
                match part(2) {
                    "inputs" => known(tool.input.check.schema(), part(3))
                        .map_err(|hint| format!("workflow `{}` has no input `{}`{hint}", part(1), part(3))),
                    _ => {
                        let names = outputs(tool);
                        match names.iter().any(|name| name == part(3)) {
                            true => Ok(()),
                            false => Err(format!("workflow `{}` has no output `{}`", part(1), part(3))),
                        }
                    }
                }
            }
            "sourceDescriptions" => match self.sources.iter().any(|source| source.name == part(1)) {
                true => Ok(()),
                false => Err(format!("there is no source description `{}`", part(1))),
            },
            "outputs" => match own {
                Some((_, tool)) if outputs(tool).iter().any(|name| name == part(1)) => Ok(()),
                _ => Err(format!("`$outputs.{}` is no output of a workflow that this step calls", part(1))),
            },
            _ if own.is_some() => Ok(()),
            _ => Err("only `$inputs` and outputs of earlier steps can be used here".to_string()),
        }
    }
}

/// The outputs of a workflow's tool by name.
fn outputs(tool: &Tool) -> Vec<String> {
    match &tool.action {
        ToolAction::Workflow(of) => of.outputs.iter().map(|(name, _)| name.clone()).collect(),
        _ => Vec::new(),
    }
}

/// The error is a hint at what was meant.
fn known(inputs: &Value, name: &str) -> Result<(), String> {
    let closed = inputs.get("additionalProperties") == Some(&Value::Bool(false));
    let properties = inputs.get("properties").and_then(Value::as_object);
    match properties.is_some_and(|all| all.contains_key(name)) || !closed {
        true => Ok(()),
        false => Err(near(name, properties.into_iter().flatten().map(|(name, _)| name.as_str()))),
    }
}

fn near<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> String {
    nearest(name, names).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

/// Adds the inputs of a workflow that runs first; a name that both have stays as it is.
pub(super) fn take_in(inputs: &mut Value, more: &Value) {
    let Some(root) = inputs.as_object_mut() else { return };
    let properties = root.entry("properties").or_insert_with(|| json!({}));
    if let (Some(properties), Some(more)) =
        (properties.as_object_mut(), more.get("properties").and_then(Value::as_object))
    {
        for (name, schema) in more {
            properties.entry(name.clone()).or_insert_with(|| schema.clone());
        }
    }
    for name in more.get("required").and_then(Value::as_array).into_iter().flatten() {
        if let Value::Array(required) = root.entry("required").or_insert_with(|| json!([]))
            && !required.contains(name)
        {
            required.push(name.clone());
        }
    }
}
