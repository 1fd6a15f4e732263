//! OpenAPI Arazzo 1.x documents: workflows as lists of calls with data flowing from one to the next.
//!
//! [`read`] gives every workflow that can be run as it is written; one that needs something that is not
//! supported (XPath criteria, `$url`) is left out with the reason, never half run.

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
use std::time::Duration;

/// Something that costs its workflow: the pointer of the node, and what is wrong.
type Wrong = (String, String);

/// What is usable of one document.
#[derive(Debug, Default)]
pub struct Description {
    /// `sourceDescriptions`.
    pub sources: Vec<SourceDescription>,
    /// Workflows that can be run, in document order.
    pub workflows: Vec<Workflow>,
}

/// One of `sourceDescriptions`.
#[derive(Debug, Clone)]
pub struct SourceDescription {
    /// Its name in expressions.
    pub name: String,
    /// As written: relative to the document.
    pub url: String,
    /// `type: arazzo`; else OpenAPI.
    pub arazzo: bool,
}

/// One workflow. Expressions look up `inputs.NAME`, `steps.ID.outputs.NAME`, `workflows.ID.outputs.NAME` (and
/// `.inputs.NAME`) of the workflows that it depends on, `sourceDescriptions.NAME.url` and, in what belongs to a step's
/// own answer, `statusCode`, `method`, `request.body`, `request.{path,query,header}.NAME`, `response.body`,
/// `response.header.NAME` and, where the step called a workflow, `outputs.NAME`.
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
    /// `dependsOn`: workflows that run first; the name of a source description where they are of another document.
    pub depends_on: Vec<(Option<String>, String)>,
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
    /// Tried in order when the step has succeeded: its own `onSuccess`, then `successActions` of the workflow.
    pub on_success: Vec<Action>,
    /// Tried in order when it has failed: its own `onFailure`, then `failureActions` of the workflow.
    pub on_failure: Vec<Action>,
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
    /// A workflow: source description's name where it is one of another document, `workflowId`.
    Workflow(Option<String>, String),
}

/// What comes after a step, if all criteria hold.
#[derive(Debug, Clone)]
pub struct Action {
    /// Its name.
    pub name: String,
    /// What is done.
    pub then: Then,
    /// All must hold.
    pub criteria: Vec<Criterion>,
    /// JSON pointer of the action.
    pub pointer: String,
}

/// `type` of an action.
#[derive(Debug, Clone)]
pub enum Then {
    /// The workflow ends here: well after a success, as a failure after a failure.
    End,
    /// The workflow goes on there and does not come back.
    Goto(Goal),
    /// The step is tried again.
    Retry {
        /// `retryAfter`; a `Retry-After` header of the answer wins.
        after: Option<Duration>,
        /// `retryLimit`: attempts beyond the first.
        limit: u32,
        /// Done before each attempt.
        first: Option<Goal>,
    },
}

/// Where an action leads.
#[derive(Debug, Clone)]
pub enum Goal {
    /// A step of the same workflow.
    Step(String),
    /// A workflow: source description's name where it is one of another document, `workflowId`, its inputs.
    Workflow(Option<String>, String, Vec<Parameter>),
}

/// `workflowId` as a reference: a name, or `$sourceDescriptions.NAME.WORKFLOW`.
fn workflow_name(text: &str) -> Result<(Option<String>, String), String> {
    match text.strip_prefix("$sourceDescriptions.") {
        None if text.starts_with('$') => Err(format!("`{text}` names no workflow")),
        None => Ok((None, text.to_string())),
        Some(rest) => {
            let (source, id) = rest.split_once('.').ok_or_else(|| format!("`{text}` names no workflow"))?;
            Ok((Some(source.to_string()), id.to_string()))
        }
    }
}

/// A Reusable Object's target in `components`, or the object itself.
fn reference<'v>(value: &'v Value, components: Option<&'v Value>, kind: &str) -> Result<&'v Value, String> {
    let Some(reference) = value.get("reference").and_then(Value::as_str) else { return Ok(value) };
    let name = reference.strip_prefix(&format!("$components.{kind}."));
    name.and_then(|name| components?.get(kind)?.get(name)).ok_or_else(|| format!("`{reference}` points to nothing"))
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
