//! `tools`: edits of one tool. The same edits stand under `rules[].set`.

use super::{
    Ask, CacheHint, Duration, ErrorRules, HandRequest, Json, Paginate, Poll, ResultRules, StatusSet, StepRules,
};
use super::{StreamRules, ToolTest};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

/// One tool: which operation (or request, or steps) and its edits.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToolRules {
    /// `operationId` or `GET /pet/{petId}`.
    pub operation: Option<String>,
    /// Source name, where ambiguous.
    pub source: Option<String>,
    /// A hand-written request.
    pub request: Option<HandRequest>,
    /// Input schema of a hand-written or composite tool.
    #[schemars(with = "Option<super::schema::ObjectSchema>")]
    pub input: Option<Json>,
    /// Steps of a composite tool.
    pub steps: Vec<StepRules>,
    /// `workflowId` of an Arazzo document under `workflows` of a source; absent = the tool's own name, where it is one.
    pub workflow: Option<String>,
    /// Offline tests.
    pub tests: Vec<ToolTest>,
    /// Edits.
    #[serde(flatten)]
    pub edits: ToolEdits,
}

/// Edits: the same keys under `rules[].set` and `tools.<name>`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToolEdits {
    /// Tool name; under `rules[].set` only, as a template over `operation`, `method`, `path`, `tag`, `source`
    /// (`tools` keys are names already).
    pub name: Option<String>,
    /// Display name.
    pub title: Option<String>,
    /// For the model: a text, or where it comes from.
    pub description: Option<Description>,
    /// MCP annotations.
    pub annotations: Option<AnnotationEdits>,
    /// MCP icons.
    #[schemars(with = "Option<Vec<super::schema::Icon>>")]
    pub icons: Option<Vec<Json>>,
    /// Argument edits, by parameter name or dotted path (`body.note`).
    pub args: IndexMap<String, ArgumentEdits>,
    /// Arguments of your own that the request does not send, by name: for templates, `confirm` and `ask`.
    #[schemars(with = "IndexMap<String, super::schema::AnySchema>")]
    pub extra: IndexMap<String, Json>,
    /// Whether an object body is spread over the arguments.
    pub body: Option<BodyStyle>,
    /// Media type of the body, where several are declared.
    pub media_type: Option<String>,
    /// Result shaping.
    pub result: Option<ResultRules>,
    /// Statuses that count as success, such as `[200-299, 404]`.
    pub success: Option<StatusSet>,
    /// Error texts.
    pub errors: Option<ErrorRules>,
    /// Follow pages.
    pub paginate: Option<Paginate>,
    /// Wait for a long-running job.
    pub poll: Option<Poll>,
    /// Read an upstream stream.
    pub stream: Option<StreamRules>,
    /// Ask the person before the call; a Handlebars template over the arguments.
    pub confirm: Option<String>,
    /// What the person, not the model, must give.
    pub ask: IndexMap<String, Ask>,
    /// Client capabilities without which the call is refused.
    pub requires_client: Option<Vec<ClientCapability>>,
    /// Remember answers.
    pub cache: Option<CacheHint>,
    /// Time for the whole call.
    pub timeout: Option<Duration>,
    /// Keep the tool out of `tools/list`; steps and search may still call it.
    pub hidden: Option<bool>,
}

/// A client capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClientCapability {
    /// `elicitation`.
    Elicitation,
    /// `sampling`.
    Sampling,
    /// `roots`.
    Roots,
    /// Tasks: calls only run as a task (`io.modelcontextprotocol/tasks`, or `params.task` of 2025-11-25).
    Tasks,
}

/// A description.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Description {
    /// The text itself.
    Text(String),
    /// Taken from the document.
    From(DescriptionFrom),
}

/// Where a description comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DescriptionFrom {
    /// Parts, in order: `summary`, `description`, `responses`, `path`.
    #[schemars(with = "Vec<super::schema::DescriptionPart>")]
    pub from: Vec<String>,
    /// Put in front.
    pub prepend: Option<String>,
    /// Put behind.
    pub append: Option<String>,
    /// Cut at a word border.
    pub max_chars: Option<usize>,
}

/// MCP annotations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AnnotationEdits {
    /// `readOnlyHint`.
    pub read_only: Option<bool>,
    /// `destructiveHint`.
    pub destructive: Option<bool>,
    /// `idempotentHint`.
    pub idempotent: Option<bool>,
    /// `openWorldHint`.
    pub open_world: Option<bool>,
}

/// Edits of one argument.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ArgumentEdits {
    /// Published name.
    pub rename: Option<String>,
    /// Description.
    pub description: Option<String>,
    /// Fixed value: hidden from the model. Literal, or a text with `${env:}`, `${file:}`, `${caller:}`.
    /// Any JSON value, null included: `Some(Value::Null)` where written.
    #[serde(deserialize_with = "some")]
    #[schemars(with = "super::schema::FixedValue")]
    pub value: Option<Json>,
    /// Not published. Absent = published, unless `value` fixes the argument.
    pub hide: Option<bool>,
    /// Sent where the model gives nothing.
    #[serde(deserialize_with = "some")]
    #[schemars(with = "super::schema::Tree")]
    pub default: Option<Json>,
    /// Must be given.
    pub required: Option<bool>,
    /// Published as `x-mcp-header` with this suffix (2026-07-28).
    pub mirror: Option<String>,
    /// JSON Schema keywords that tighten the argument: `enum`, `examples`, `minimum`, `maximum`, `pattern`, ….
    #[serde(flatten)]
    pub schema: serde_json::Map<String, Json>,
}

pub(super) fn some<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

/// `body`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BodyStyle {
    /// Properties become arguments (default for object bodies).
    Flatten,
    /// One `body` argument.
    Single,
}
