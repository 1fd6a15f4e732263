//! A workflow of an Arazzo document, compiled.

use super::{From, Tool};
use crate::arazzo::Criterion;
use crate::template::BodyTemplate;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// Calls one after another; see [`crate::arazzo::Workflow`] for what its expressions look up.
#[derive(Debug, Clone, Default)]
pub struct Workflow {
    /// Inputs that the mapping renames, fixes or hides: name in the document, where its value comes from.
    pub inputs: Vec<(String, From)>,
    /// Workflows that run first (`dependsOn`): `workflowId` and tool. Each takes its inputs from this one's.
    pub before: Vec<(String, Arc<Tool>)>,
    /// `sourceDescriptions` as expressions see them: `{NAME: {url}}`.
    pub sources: Map<String, Value>,
    /// Steps in order.
    pub steps: Vec<WorkflowStep>,
    /// The result by name; empty = each step's outputs.
    pub outputs: Vec<(String, BodyTemplate)>,
}

/// One call of a workflow.
#[derive(Debug, Clone)]
pub struct WorkflowStep {
    /// `stepId`.
    pub id: String,
    /// A tool of its own for the operation, without the mapping's edits; or the called workflow's tool.
    pub tool: Arc<Tool>,
    /// Arguments.
    pub with: Vec<(String, BodyTemplate)>,
    /// The same by place and name in the document, for `$request`: `body`, or `path`, `query`, `header` and a name.
    pub sent: Vec<(String, String, BodyTemplate)>,
    /// All must hold; none = the status is a success.
    pub criteria: Vec<Criterion>,
    /// Tried in order after a success; none holds = the next step.
    pub on_success: Vec<WorkflowAction>,
    /// Tried in order after a failure; none holds = the workflow fails.
    pub on_failure: Vec<WorkflowAction>,
    /// `outputs` by name.
    pub outputs: Vec<(String, BodyTemplate)>,
}

/// What comes after a step, if all criteria hold.
#[derive(Debug, Clone)]
pub struct WorkflowAction {
    /// All must hold.
    pub criteria: Vec<Criterion>,
    /// What is done.
    pub then: WorkflowThen,
}

/// `type` of an action.
#[derive(Debug, Clone)]
pub enum WorkflowThen {
    /// The workflow ends.
    End,
    /// It goes on there.
    Goto(WorkflowGoal),
    /// The step is tried again.
    Retry {
        /// Pause; a `Retry-After` header of the answer wins.
        after: Option<Duration>,
        /// Attempts beyond the first.
        limit: u32,
        /// Done before each attempt.
        first: Option<WorkflowGoal>,
    },
}

/// Where an action leads.
#[derive(Debug, Clone)]
pub enum WorkflowGoal {
    /// A step of the same workflow, by its place in the list.
    Step(usize),
    /// A workflow and its inputs.
    Workflow(Arc<Tool>, Vec<(String, BodyTemplate)>),
}

impl Workflow {
    /// Every tool that a run may call.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.before.iter().map(|(_, tool)| tool).chain(self.steps.iter().flat_map(|step| {
            std::iter::once(&step.tool)
                .chain(step.on_success.iter().chain(&step.on_failure).filter_map(WorkflowAction::tool))
        }))
    }
}

impl WorkflowAction {
    /// The workflow that the action calls.
    fn tool(&self) -> Option<&Arc<Tool>> {
        match &self.then {
            WorkflowThen::Goto(WorkflowGoal::Workflow(tool, _))
            | WorkflowThen::Retry { first: Some(WorkflowGoal::Workflow(tool, _)), .. } => Some(tool),
            _ => None,
        }
    }
}
