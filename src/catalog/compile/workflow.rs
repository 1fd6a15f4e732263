//! Arazzo workflows → tools: each step gets a tool of its own for its operation, without the mapping's edits, so that
//! parameters are found by the names that the document gives them.

use super::edits::rule_edits;
use super::hand::described;
use super::operation::{Making, annotations, near_operation, tool_pointer};
use super::{At, Compiler, Unit, location, problem, token};
use crate::arazzo::{self, Description, Parameter, Step, Target};
use crate::catalog::name::{NameCandidate, tool_names};
use crate::catalog::{
    Action, Annotations, Binding, From, Input, Output, RequestAction, Spot, Tool, Workflow, WorkflowStep,
};
use crate::diagnostic::{Diagnostic, hint::nearest};
use crate::document::location::resolve;
use crate::mapping::{BodyStyle, ToolEdits};
use crate::openapi::{Api, Operation};
use crate::schema::check::Checker;
use crate::schema::kept::Kept;
use crate::schema::profile;
use crate::template::{BodyTemplate, Template};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// The document being compiled, with what was made of it so far.
struct Scene<'a> {
    unit: &'a Unit,
    sources: &'a [(String, usize)],
    at: At<'a>,
    /// The source that lists the document.
    source: &'a str,
    description: &'a Description,
    made: HashMap<String, Arc<Tool>>,
}

/// True if an Arazzo document of the unit has a workflow of this name.
pub(super) fn is_workflow(unit: &Unit, name: &str) -> bool {
    let mut workflows =
        unit.workflows.iter().filter_map(|(_, document)| document.root.get("workflows")?.as_array()).flatten();
    workflows.any(|workflow| workflow.get("workflowId").and_then(Value::as_str) == Some(name))
}

impl Compiler<'_> {
    pub(super) fn workflows(&mut self, unit: &Unit, sources: &[(String, usize)], at: At<'_>) {
        for (source, document) in &unit.workflows {
            let (description, report) = arazzo::read(document);
            self.report.merge(report);
            let mut scene = Scene { unit, sources, at, source, description: &description, made: HashMap::new() };
            for workflow in &description.workflows {
                match self.workflow(&scene, workflow) {
                    Ok(tool) => {
                        let (id, name) = (workflow.id.clone(), tool.name.clone());
                        self.add(tool, false, || Some(document.place(&workflow.pointer)));
                        if let Some(tool) = self.tool(&name) {
                            scene.made.insert(id, tool.clone());
                        }
                    }
                    Err(reason) => self.report.push(reason),
                }
            }
        }
    }

    fn workflow(&mut self, scene: &Scene<'_>, workflow: &arazzo::Workflow) -> Result<Tool, Diagnostic> {
        let place = |pointer: &str| Some(workflow.document.place(pointer));
        let wrong = |pointer: &str, message: String| {
            problem("unsupported-workflow", format!("workflow `{}` is no tool: {message}", workflow.id), place(pointer))
        };
        profile::self_check(&workflow.inputs)
            .map_err(|message| wrong(&format!("{}/inputs", workflow.pointer), message))?;
        let mut steps: Vec<WorkflowStep> = Vec::new();
        let mut asks: Vec<String> = Vec::new();
        for step in &workflow.steps {
            let known = |tree: &BodyTemplate, steps: &[WorkflowStep], own: Option<&Step>| {
                tree.placeholders().iter().try_for_each(|path| declared(path, steps, &workflow.inputs, own.is_some()))
            };
            let (tool, with) = match &step.target {
                Target::Workflow(id) => {
                    let tool = scene.made.get(id).cloned().ok_or_else(|| {
                        wrong(
                            &step.pointer,
                            format!(
                                "step `{}` calls the workflow `{id}`, which is none that stands before it",
                                step.id
                            ),
                        )
                    })?;
                    if tool.confirm.is_some() {
                        asks.push(format!("runs {}", tool.name));
                    }
                    let with = step
                        .parameters
                        .iter()
                        .map(|parameter| (parameter.name.clone(), parameter.value.clone()))
                        .collect();
                    (tool, with)
                }
                target => {
                    let (operation, making) =
                        self.making(scene, step, target).map_err(|message| wrong(&step.pointer, message))?;
                    let edits = rule_edits(scene.unit, making.source_name, operation, scene.at).map_err(|reason| {
                        wrong(&step.pointer, format!("step `{}` calls an operation that is {reason}", step.id))
                    })?;
                    if edits.confirm.is_some() {
                        asks.push(format!("{} {}", operation.method, operation.path));
                    }
                    let tool = Arc::new(self.tool_of(&making)?.0);
                    let Action::Request(action) = &tool.action else { continue };
                    let with = arguments(step, action).map_err(|(pointer, message)| wrong(pointer, message))?;
                    (tool, with)
                }
            };
            for (name, tree) in &with {
                known(tree, &steps, None)
                    .map_err(|message| wrong(&step.pointer, format!("step `{}`, `{name}`: {message}", step.id)))?;
            }
            for (name, tree) in &step.outputs {
                known(tree, &steps, Some(step)).map_err(|message| {
                    wrong(&step.pointer, format!("step `{}`, output `{name}`: {message}", step.id))
                })?;
            }
            for criterion in &step.criteria {
                let found =
                    criterion.paths().into_iter().try_for_each(|path| declared(path, &steps, &workflow.inputs, true));
                found.map_err(|message| {
                    wrong(&step.pointer, format!("step `{}`, `{}`: {message}", step.id, criterion.text))
                })?;
            }
            if matches!(step.target, Target::Workflow(_)) && !step.criteria.is_empty() {
                return Err(wrong(
                    &step.pointer,
                    format!("step `{}`: criteria for a called workflow are not supported", step.id),
                ));
            }
            steps.push(WorkflowStep {
                id: step.id.clone(),
                tool,
                with,
                criteria: step.criteria.clone(),
                outputs: step.outputs.clone(),
            });
        }
        for (name, tree) in &workflow.outputs {
            let found = tree.placeholders().iter().try_for_each(|path| declared(path, &steps, &workflow.inputs, false));
            found.map_err(|message| wrong(&workflow.pointer, format!("output `{name}`: {message}")))?;
        }
        let prefix =
            scene.unit.mapping.sources.get(scene.source).map(|source| source.tool_prefix.clone()).unwrap_or_default();
        let candidate = NameCandidate { wanted: Some(format!("{prefix}{}", workflow.id)), ..NameCandidate::default() };
        let name = tool_names(&[candidate], self.profile.name_style, self.profile.max_name.unwrap_or(64))
            .pop()
            .unwrap_or_default();
        let confirm = match asks.as_slice() {
            [] => None,
            some => Template::compile(&format!("Really run {name}? It calls {}.", some.join(", "))).ok(),
        };
        let mut tool = self.workflow_tool(name, workflow, steps, confirm);
        let own = scene
            .unit
            .mapping
            .tools
            .get(&workflow.id)
            .filter(|rules| rules.operation.is_none() && rules.request.is_none() && rules.steps.is_empty());
        if let Some(rules) = own {
            let pointer = tool_pointer(&workflow.id);
            let edits = &rules.edits;
            tool.title = edits.title.clone().or(tool.title);
            tool.description = described(&edits.description, || tool.description.clone());
            tool.annotations = annotations(tool.annotations, edits.annotations.as_ref());
            tool.icons = edits.icons.clone().unwrap_or_default();
            tool.result = self.result_plan(rules, &pointer, scene.at)?;
            if !edits.args.is_empty() {
                let place = scene.at.key(&format!("{pointer}/args"));
                return Err(problem(
                    "unsupported-edit",
                    format!("arguments of the workflow `{}` can't be edited", workflow.id),
                    place,
                )
                .fix("edit `inputs` in the Arazzo document".to_string()));
            }
        }
        Ok(tool)
    }

    fn workflow_tool(
        &self,
        name: String,
        workflow: &arazzo::Workflow,
        steps: Vec<WorkflowStep>,
        confirm: Option<Template>,
    ) -> Tool {
        let all = |wanted: fn(&Annotations) -> bool| steps.iter().all(|step| wanted(&step.tool.annotations));
        let any = |wanted: fn(&Annotations) -> bool| steps.iter().any(|step| wanted(&step.tool.annotations));
        let automatic = Annotations {
            read_only: all(|a| a.read_only),
            destructive: any(|a| a.destructive),
            idempotent: all(|a| a.idempotent),
            open_world: any(|a| a.open_world),
        };
        let description = match (&workflow.summary, &workflow.description) {
            (Some(summary), Some(description)) if !description.contains(summary.as_str()) => {
                format!("{summary}\n\n{description}")
            }
            (_, Some(text)) | (Some(text), None) => text.clone(),
            (None, None) => {
                format!("Runs {}.", steps.iter().map(|step| step.id.as_str()).collect::<Vec<_>>().join(", then "))
            }
        };
        let mut input = workflow.inputs.clone();
        super::person::amend(
            &mut input,
            &ToolEdits { confirm: confirm.as_ref().map(|text| text.source.to_string()), ..ToolEdits::default() },
        );
        Tool {
            name,
            title: workflow.summary.clone().map(|text| text.lines().next().unwrap_or_default().to_string()),
            description,
            annotations: automatic,
            icons: Vec::new(),
            tags: Vec::new(),
            operation: None,
            input: Input {
                published: Kept::from(profile::publish(&input, self.profile.schema_profile)),
                check: Checker::new(input),
                body_check: None,
                mirrored: Vec::new(),
            },
            output: Output::default(),
            action: Action::Workflow(Box::new(Workflow { steps, outputs: workflow.outputs.clone() })),
            ask: Vec::new(),
            confirm,
            requires_client: Vec::new(),
            result: None,
            cache: None,
        }
    }

    /// The operation of a step, and what its tool is made from.
    fn making<'s>(
        &self,
        scene: &Scene<'s>,
        step: &Step,
        target: &Target,
    ) -> Result<(&'s Operation, Making<'s>), String> {
        let named = match target {
            Target::Operation(source, _) | Target::Path(source, ..) => source.as_deref(),
            Target::Workflow(_) => None,
        };
        let source_name = scene.source_of(named)?;
        let api = scene.unit.apis.get(source_name).ok_or_else(|| format!("source `{source_name}` has no document"))?;
        let reference = match target {
            Target::Path(_, method, path) => format!("{method} {path}"),
            Target::Operation(_, id) | Target::Workflow(id) => id.clone(),
        };
        let operation = match api.find(&reference).as_slice() {
            [only] => *only,
            [] => return Err(missing(step, api, &reference)),
            _ => return Err(format!("step `{}`: several operations are called `{reference}`", step.id)),
        };
        let source =
            scene.unit.mapping.sources.get(source_name).ok_or_else(|| format!("there is no source `{source_name}`"))?;
        let source_index =
            scene.sources.iter().find(|(name, _)| name == source_name).map(|(_, index)| *index).unwrap_or_default();
        let mut edits = ToolEdits { body: Some(BodyStyle::Single), ..ToolEdits::default() };
        if let Some((Some(content_type), _)) = &step.body {
            edits.media_type = Some(content_type.clone());
        }
        let making = Making {
            api,
            operation,
            source,
            source_name,
            source_index,
            name: operation.operation_id.clone().unwrap_or(reference),
            edits,
            answers: None,
            pointer: None,
            own: None,
            at: scene.at,
        };
        Ok((operation, making))
    }
}

fn missing(step: &Step, api: &Api, reference: &str) -> String {
    if let Some(skipped) = api.find_skipped(reference) {
        return format!("step `{}` calls `{reference}`, which can't be used: {}", step.id, skipped.reason.message);
    }
    let near = near_operation(reference, std::iter::once(api))
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default();
    format!("step `{}` calls `{reference}`, which is no operation{near}", step.id)
}

impl<'a> Scene<'a> {
    /// The mapping's source that a source description means.
    fn source_of(&self, named: Option<&str>) -> Result<&'a str, String> {
        let Some(named) = named else { return Ok(self.source) };
        let sources = &self.unit.mapping.sources;
        if let Some((name, _)) = sources.get_key_value(named) {
            return Ok(name);
        }
        let Some((_, url)) = self.description.sources.iter().find(|(name, _)| name == named) else {
            return Err(format!("there is no source description `{named}`"));
        };
        // The same document under another name; else the only one there is.
        let file = self
            .unit
            .workflows
            .iter()
            .find(|(source, _)| source == self.source)
            .map(|(_, document)| document.location.as_str());
        let wanted = file.and_then(|file| resolve(file, url));
        let same = self.unit.apis.iter().find(|(_, api)| {
            let document = api.operations.first().map(|operation| operation.origin.document.location.as_str());
            wanted.is_some() && document == wanted.as_deref()
        });
        match same {
            Some((name, _)) => Ok(name),
            None if self.description.sources.len() == 1 => Ok(self.source),
            None => {
                Err(format!("no source of the mapping is the source description `{named}`; name one of them `{named}`"))
            }
        }
    }
}

/// The values of a step by the names of its tool's arguments; the error's first part is the pointer.
fn arguments<'s>(step: &'s Step, action: &RequestAction) -> Result<Vec<(String, BodyTemplate)>, (&'s str, String)> {
    let mut with = Vec::new();
    let argument = |wanted: &dyn Fn(&Spot) -> bool| {
        action.bindings.iter().find_map(|binding| match &binding.from {
            From::Argument(name) if wanted(&binding.spot) => Some(name.clone()),
            _ => None,
        })
    };
    for parameter in &step.parameters {
        let name = argument(&|spot| matches!(spot, Spot::Parameter(index) if is(action, *index, parameter)));
        match name {
            Some(name) => with.push((name, parameter.value.clone())),
            None => return Err((&parameter.pointer, unknown_parameter(step, parameter, action))),
        }
    }
    if let Some((_, payload)) = &step.body {
        match argument(&|spot| *spot == Spot::Body) {
            Some(name) => with.push((name, payload.clone())),
            None => return Err((&step.pointer, format!("step `{}`: the operation takes no body", step.id))),
        }
    }
    let given = |binding: &&Binding| matches!(&binding.from, From::Argument(name) if !with.iter().any(|(known, _)| known == name));
    if let Some(binding) =
        action.bindings.iter().filter(|binding| binding.required && binding.default.is_none()).find(given)
        && let From::Argument(name) = &binding.from
    {
        return Err((
            &step.pointer,
            format!("step `{}` gives no value for `{name}`, which the operation requires", step.id),
        ));
    }
    Ok(with)
}

fn is(action: &RequestAction, index: usize, parameter: &Parameter) -> bool {
    action.parameters.get(index).is_some_and(|plan| {
        plan.name == parameter.name
            && parameter.location.as_deref().is_none_or(|wanted| wanted == location(plan.location))
    })
}

fn unknown_parameter(step: &Step, parameter: &Parameter, action: &RequestAction) -> String {
    let place = parameter.location.as_deref().unwrap_or_default();
    if place == "header" && parameter.name.eq_ignore_ascii_case("authorization") {
        return format!("step `{}` sets `Authorization`; put it under `credentials:` of the source", step.id);
    }
    let names = action.parameters.iter().map(|plan| plan.name.as_str());
    let near = nearest(&parameter.name, names).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    format!("step `{}`: the operation has no {place} parameter `{}`{near}", step.id, parameter.name)
}

/// A path names an input, an output of an earlier step, or (`own`) part of the step's own answer.
fn declared(path: &[String], steps: &[WorkflowStep], inputs: &Value, own: bool) -> Result<(), String> {
    let second = path.get(1).map(String::as_str).unwrap_or_default();
    match path.first().map(String::as_str) {
        Some("inputs") => {
            let closed = inputs.get("additionalProperties") == Some(&Value::Bool(false));
            match inputs.pointer(&format!("/properties/{}", token(second))) {
                None if closed => Err(format!("`$inputs.{second}` is not declared under `inputs`")),
                _ => Ok(()),
            }
        }
        Some("steps") => {
            let step = steps
                .iter()
                .find(|step| step.id == second)
                .ok_or_else(|| format!("`$steps.{second}` is no earlier step"))?;
            let output = path.get(3).map(String::as_str).unwrap_or_default();
            let by_workflow =
                matches!(&step.tool.action, Action::Workflow(of) if of.outputs.iter().any(|(name, _)| name == output));
            match by_workflow || step.outputs.iter().any(|(name, _)| name == output) {
                true => Ok(()),
                false => Err(format!("step `{second}` has no output `{output}`")),
            }
        }
        _ if own => Ok(()),
        _ => Err("only `$inputs` and outputs of earlier steps can be used here".to_string()),
    }
}
