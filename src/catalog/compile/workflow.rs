//! Arazzo workflows → tools: each step gets a tool of its own for its operation, without the mapping's edits, so that
//! parameters are found by the names that the document gives them. The edits of `tools` make the published tool out of
//! the workflow's own one, which is what other workflows call.

mod names;
mod output;
mod published;
mod target;

use super::{At, Compiler, Unit, problem};
use crate::arazzo::{self, Criterion, Description, Goal, Parameter, Step, Target, Then};
use crate::catalog::{
    Action, Annotations, Input, Output, Tool, Workflow, WorkflowAction, WorkflowGoal, WorkflowStep, WorkflowThen,
};
use crate::diagnostic::Diagnostic;
use crate::document::Document;
use crate::schema::check::Checker;
use crate::schema::kept::Kept;
use crate::schema::profile;
use crate::template::BodyTemplate;
use names::Names;
pub(super) use published::workflow_of;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// How deep workflows may call workflows: as deep as a run goes.
const DEEPEST: usize = 8;

/// One Arazzo document.
struct Listed<'a> {
    /// The source that lists it.
    source: &'a str,
    document: &'a Arc<Document>,
    description: Description,
}

/// A workflow as its document has it.
#[derive(Clone)]
struct Core {
    tool: Arc<Tool>,
    /// Input schema.
    inputs: Value,
    /// Calls in it that the mapping wants confirmed.
    asks: Vec<String>,
}

/// A workflow: which document, `workflowId`.
type Name = (usize, String);

/// The documents of a unit, with what was made of them so far.
struct Scene<'a> {
    unit: &'a Unit,
    sources: &'a [(String, usize)],
    at: At<'a>,
    documents: &'a [Listed<'a>],
    /// `None`: it is no tool.
    made: HashMap<Name, Option<Core>>,
    /// Being made, the outermost first.
    open: Vec<Name>,
}

/// One workflow being compiled.
struct Work<'a> {
    /// Which document.
    document: usize,
    workflow: &'a arazzo::Workflow,
}

impl Work<'_> {
    fn wrong(&self, pointer: &str, message: String) -> Diagnostic {
        let message = format!("workflow `{}` is no tool: {message}", self.workflow.id);
        problem("unsupported-workflow", message, Some(self.workflow.document.place(pointer)))
    }

    fn wrong_step(&self, step: &Step, message: String) -> Diagnostic {
        self.wrong(&step.pointer, format!("step `{}`{message}", step.id))
    }
}

impl Compiler<'_> {
    pub(super) fn workflows(&mut self, unit: &Unit, sources: &[(String, usize)], at: At<'_>) {
        let mut documents = Vec::new();
        for (source, document) in &unit.workflows {
            let (description, report) = arazzo::read(document);
            self.report.merge(report);
            documents.push(Listed { source, document, description });
        }
        let mut scene = Scene { unit, sources, at, documents: &documents, made: HashMap::new(), open: Vec::new() };
        for (index, listed) in documents.iter().enumerate() {
            for workflow in &listed.description.workflows {
                if let Ok(core) = self.core(&mut scene, index, &workflow.id) {
                    self.published(&scene, listed, workflow, &core);
                }
            }
        }
        self.stale_workflows(&scene);
    }

    /// A workflow's own tool. `Err`: why it can't be called; what is wrong with itself is in the report.
    fn core(&mut self, scene: &mut Scene<'_>, document: usize, id: &str) -> Result<Core, String> {
        let name: Name = (document, id.to_string());
        if let Some(made) = scene.made.get(&name) {
            return made.clone().ok_or_else(|| format!("the workflow `{id}` is no tool"));
        }
        if scene.open.contains(&name) {
            return Err(format!("the workflow `{id}` leads back here; workflows can't call each other in a circle"));
        }
        if scene.open.len() > DEEPEST {
            return Err(format!("more than {DEEPEST} workflows call each other"));
        }
        let documents = scene.documents;
        let found = documents
            .get(document)
            .and_then(|listed| listed.description.workflows.iter().find(|workflow| workflow.id == id));
        let workflow = found.ok_or_else(|| format!("there is no workflow `{id}`, or it is no tool"))?;
        scene.open.push(name.clone());
        let made = self.compiled(scene, &Work { document, workflow });
        scene.open.pop();
        let core = made.map_err(|reason| self.report.push(reason)).ok();
        scene.made.insert(name, core.clone());
        core.ok_or_else(|| format!("the workflow `{id}` is no tool"))
    }

    fn compiled(&mut self, scene: &mut Scene<'_>, work: &Work<'_>) -> Result<Core, Diagnostic> {
        let workflow = work.workflow;
        let mut inputs = workflow.inputs.clone();
        profile::self_check(&inputs).map_err(|message| work.wrong(&format!("{}/inputs", workflow.pointer), message))?;
        let mut asks: Vec<String> = Vec::new();
        let mut before: Vec<(String, Arc<Tool>)> = Vec::new();
        for (source, id) in &workflow.depends_on {
            let needed = scene
                .document_of(work.document, source.as_deref())
                .and_then(|document| self.core(scene, document, id))
                .map_err(|message| work.wrong(&format!("{}/dependsOn", workflow.pointer), message))?;
            names::take_in(&mut inputs, &needed.inputs);
            asks.extend(needed.asks);
            before.push((id.clone(), needed.tool));
        }
        let mut names = Names::new(&inputs, workflow, &before, scene.described(work.document));
        let mut steps: Vec<WorkflowStep> = Vec::new();
        for step in &workflow.steps {
            let target::Called { tool, with, sent, asks: more } = self.called(scene, work, step)?;
            asks.extend(more);
            for (name, tree) in &with {
                names.tree(tree, None).map_err(|message| work.wrong_step(step, format!(", `{name}`: {message}")))?;
            }
            let own = Some((step, &*tool));
            for (name, tree) in &step.outputs {
                let known = names.tree(tree, own);
                known.map_err(|message| work.wrong_step(step, format!(", output `{name}`: {message}")))?;
            }
            let criteria = |criteria: &[Criterion], names: &Names<'_>| {
                criteria.iter().try_for_each(|criterion| {
                    names
                        .criterion(criterion, own)
                        .map_err(|message| work.wrong_step(step, format!(", `{}`: {message}", criterion.text)))
                })
            };
            criteria(&step.criteria, &names)?;
            for action in step.on_success.iter().chain(&step.on_failure) {
                criteria(&action.criteria, &names)?;
            }
            names.done(step, &tool);
            steps.push(WorkflowStep {
                id: step.id.clone(),
                tool,
                with,
                sent,
                criteria: step.criteria.clone(),
                on_success: Vec::new(),
                on_failure: Vec::new(),
                outputs: step.outputs.clone(),
            });
        }
        // Actions may lead to later steps.
        for (index, step) in workflow.steps.iter().enumerate() {
            let on_success = self.actions(scene, work, step, &step.on_success, &names, &mut asks)?;
            let on_failure = self.actions(scene, work, step, &step.on_failure, &names, &mut asks)?;
            if let Some(compiled) = steps.get_mut(index) {
                (compiled.on_success, compiled.on_failure) = (on_success, on_failure);
            }
        }
        for (name, tree) in &workflow.outputs {
            names
                .tree(tree, None)
                .map_err(|message| work.wrong(&workflow.pointer, format!("output `{name}`: {message}")))?;
        }
        let sources = scene.described(work.document);
        let sources = sources.iter().map(|source| (source.name.clone(), json!({"url": source.url}))).collect();
        let compiled = Workflow { inputs: Vec::new(), before, sources, steps, outputs: workflow.outputs.clone() };
        let tool = Arc::new(core_tool(workflow, &inputs, compiled));
        Ok(Core { tool, inputs, asks })
    }

    fn actions(
        &mut self,
        scene: &mut Scene<'_>,
        work: &Work<'_>,
        step: &Step,
        actions: &[arazzo::Action],
        names: &Names<'_>,
        asks: &mut Vec<String>,
    ) -> Result<Vec<WorkflowAction>, Diagnostic> {
        let mut compiled = Vec::new();
        for action in actions {
            let wrong = |message: String| {
                work.wrong(&action.pointer, format!("step `{}`, action `{}`: {message}", step.id, action.name))
            };
            let mut goal = |goal: &Goal| -> Result<WorkflowGoal, String> {
                match goal {
                    Goal::Step(id) => {
                        let at = work.workflow.steps.iter().position(|step| step.id == *id);
                        at.map(WorkflowGoal::Step).ok_or_else(|| format!("there is no step `{id}`"))
                    }
                    Goal::Workflow(source, id, parameters) => {
                        let document = scene.document_of(work.document, source.as_deref())?;
                        let core = self.core(scene, document, id)?;
                        asks.extend(core.asks.iter().cloned());
                        Ok(WorkflowGoal::Workflow(core.tool.clone(), given(parameters, &core, names)?))
                    }
                }
            };
            let then = match &action.then {
                Then::End => WorkflowThen::End,
                Then::Goto(to) => WorkflowThen::Goto(goal(to).map_err(wrong)?),
                Then::Retry { after, limit, first } => {
                    let first = first.as_ref().map(goal).transpose().map_err(wrong)?;
                    WorkflowThen::Retry { after: *after, limit: *limit, first }
                }
            };
            compiled.push(WorkflowAction { criteria: action.criteria.clone(), then });
        }
        Ok(compiled)
    }
}

/// The inputs of a workflow that is called, by name.
fn given(parameters: &[Parameter], core: &Core, names: &Names<'_>) -> Result<Vec<(String, BodyTemplate)>, String> {
    let mut with = Vec::new();
    for parameter in parameters {
        names.tree(&parameter.value, None).map_err(|message| format!("`{}`: {message}", parameter.name))?;
        with.push((parameter.name.clone(), parameter.value.clone()));
    }
    let required = core.inputs.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        let default = core.inputs.get("properties").and_then(|all| all.get(name)?.get("default"));
        if default.is_none() && !with.iter().any(|(known, _)| known == name) {
            return Err(format!("the workflow `{}` requires `{name}`, which is not given", core.tool.name));
        }
    }
    Ok(with)
}

/// The tool as its document has it: nothing of the mapping is in it.
fn core_tool(workflow: &arazzo::Workflow, inputs: &Value, compiled: Workflow) -> Tool {
    let tools: Vec<&Arc<Tool>> = compiled.tools().collect();
    let all = |wanted: fn(&Annotations) -> bool| tools.iter().all(|tool| wanted(&tool.annotations));
    let any = |wanted: fn(&Annotations) -> bool| tools.iter().any(|tool| wanted(&tool.annotations));
    let annotations = Annotations {
        read_only: all(|a| a.read_only),
        destructive: any(|a| a.destructive),
        idempotent: all(|a| a.idempotent),
        open_world: any(|a| a.open_world),
    };
    let mut needed: Vec<String> = tools.iter().flat_map(|tool| tool.requires_client.iter().cloned()).collect();
    needed.sort();
    needed.dedup();
    let description = match (&workflow.summary, &workflow.description) {
        (Some(summary), Some(description)) if !description.contains(summary.as_str()) => {
            format!("{summary}\n\n{description}")
        }
        (_, Some(text)) | (Some(text), None) => text.clone(),
        (None, None) => {
            let steps: Vec<&str> = compiled.steps.iter().map(|step| step.id.as_str()).collect();
            format!("Runs {}.", steps.join(", then "))
        }
    };
    let schema = output::schema(&compiled, inputs);
    let published = Kept::from(inputs);
    Tool {
        name: workflow.id.clone(),
        title: workflow.summary.clone().map(|text| text.lines().next().unwrap_or_default().to_string()),
        description,
        annotations,
        icons: Vec::new(),
        tags: Vec::new(),
        operation: None,
        input: Input {
            published: published.clone(),
            check: Checker::new(published),
            body_check: None,
            mirrored: Vec::new(),
        },
        output: Output { published: Some(Kept::from(schema)), ..Output::default() },
        action: Action::Workflow(Box::new(compiled)),
        ask: Vec::new(),
        confirm: None,
        requires_client: needed,
        result: None,
        cache: None,
    }
}

/// What a target is in the mapping: for the message where it is missing.
fn target_name(target: &Target) -> &str {
    match target {
        Target::Operation(_, id) | Target::Workflow(_, id) => id,
        Target::Path(_, _, path) => path,
    }
}
