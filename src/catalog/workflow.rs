//! A workflow of an Arazzo document, compiled.

use super::Tool;
use crate::arazzo::Criterion;
use crate::template::BodyTemplate;
use std::sync::Arc;

/// Calls one after another; see [`crate::arazzo::Workflow`] for what its expressions look up.
#[derive(Debug)]
pub struct Workflow {
    /// Steps in order.
    pub steps: Vec<WorkflowStep>,
    /// The result by name; empty = each step's outputs.
    pub outputs: Vec<(String, BodyTemplate)>,
}

/// One call of a workflow.
#[derive(Debug)]
pub struct WorkflowStep {
    /// `stepId`.
    pub id: String,
    /// A tool of its own for the operation, without the mapping's edits; or the called workflow's tool.
    pub tool: Arc<Tool>,
    /// Arguments.
    pub with: Vec<(String, BodyTemplate)>,
    /// All must hold; none = the status is a success.
    pub criteria: Vec<Criterion>,
    /// `outputs` by name.
    pub outputs: Vec<(String, BodyTemplate)>,
}
