//! OpenAPI Arazzo 1.x documents: workflows as lists of calls with data flowing from one to the next.
//!
//! [`read`] gives every workflow that can be run as it is written; one that needs something that is not
//! supported (branches, repeats, other kinds of sources) is left out with the reason, never half run.

mod actions;
mod condition;
mod expression;
mod read;

pub use condition::Criterion;
pub use expression::{path, tree};
pub use read::read;

use crate::document::Document;
use crate::template::BodyTemplate;
use serde_json::Value;
use std::sync::Arc;

/// What is usable of one document.
#[derive(Debug, Default)]
pub struct Description {
    /// `sourceDescriptions` of type `openapi`: name and URL as written.
    pub sources: Vec<(String, String)>,
    /// Workflows that can be run, in document order.
    pub workflows: Vec<Workflow>,
}

/// One workflow. Expressions look up `inputs.NAME`, `steps.ID.outputs.NAME` and, in what belongs to a step's own
/// answer, `statusCode`, `response.body` and `response.header.NAME`.
#[derive(Debug)]
pub struct Workflow {
    /// `workflowId`.
    pub id: String,
    /// `summary`.
    pub summary: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// `inputs` without references: an object schema.
    pub inputs: Value,
    /// Steps in order.
    pub steps: Vec<Step>,
    /// `outputs` by name.
    pub outputs: Vec<(String, BodyTemplate)>,
    /// JSON pointer of the workflow.
    pub pointer: String,
    /// Where it was read from.
    pub document: Arc<Document>,
}

/// One step.
#[derive(Debug)]
pub struct Step {
    /// `stepId`.
    pub id: String,
    /// What it calls.
    pub target: Target,
    /// Parameters: the workflow's, then the step's over them.
    pub parameters: Vec<Parameter>,
    /// `requestBody`: its content type, and the payload.
    pub body: Option<(Option<String>, BodyTemplate)>,
    /// All must hold; none = the operation's own idea of success.
    pub criteria: Vec<Criterion>,
    /// `outputs` by name.
    pub outputs: Vec<(String, BodyTemplate)>,
    /// JSON pointer of the step.
    pub pointer: String,
}

/// What a step calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// An operation by `operationId`; the source description's name where it is given.
    Operation(Option<String>, String),
    /// An operation by the pointer into its document: source description's name, upper-case method, path template.
    Path(Option<String>, String, String),
    /// Another workflow of the same document.
    Workflow(String),
}

/// A value for a parameter.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// `in`; absent for inputs of workflows.
    pub location: Option<String>,
    /// Its value.
    pub value: BodyTemplate,
    /// JSON pointer of the parameter.
    pub pointer: String,
}
