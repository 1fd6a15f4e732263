//! The published tools: compiled once from the `Api`s and the `Mapping`, immutable, ordered, looked
//! up by name. After this module nobody says OpenAPI.

pub mod compile;
pub mod hints;
pub mod name;
pub mod search;
mod poll;
mod workflow;

pub use poll::PollPlan;
pub use workflow::{Workflow, WorkflowAction, WorkflowGoal, WorkflowStep, WorkflowThen};

use crate::diagnostic::Diagnostic;
use crate::mapping::{
    Ask, CacheHint, CallerValue, ErrorRules, Limits, OnError, Paginate, ResultRules, StatusSet, StreamRules,
};
use crate::request::{BodyPlan, ParameterPlan, PathPart};
use crate::schema::kept::Kept;
use crate::secret::Secret;
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// All tools, resources and prompts of one load.
#[derive(Debug, Default)]
pub struct Catalog {
    /// By name, in publishing order.
    pub tools: IndexMap<String, Arc<Tool>>,
    /// Resources and resource templates, in publishing order.
    pub resources: Vec<Arc<Resource>>,
    /// Prompts by name.
    pub prompts: IndexMap<String, Arc<Prompt>>,
    /// The upstream APIs.
    pub sources: Vec<Arc<SourcePlan>>,
    /// Operations that are no tools, and why.
    pub skipped: Vec<SkippedOperation>,
    /// True in `catalog.mode: search`.
    pub search_mode: bool,
    /// Names of tools that stay listed in search mode.
    pub pinned: Vec<String>,
    /// Search mode's own tools: search, describe, call.
    pub own: Vec<Arc<Tool>>,
    /// Tools that steps, resources and search may call, but that are not listed.
    pub hidden: IndexMap<String, Arc<Tool>>,
    /// Names of hidden tools that nobody may call by name: operations that are not exposed, but that a step, a
    /// resource or a poll needs.
    pub internal: Vec<String>,
    /// Tools on one page of `tools/list`; `None` = all.
    pub page_size: Option<usize>,
    /// `ttlMs` of the lists.
    pub ttl: Option<Duration>,
}

/// An operation that is no tool.
#[derive(Debug, Clone)]
pub struct SkippedOperation {
    /// The source's name.
    pub source: String,
    /// `GET /pet/{petId}`.
    pub operation: String,
    /// `operationId`.
    pub operation_id: Option<String>,
    /// Why: the document's fault, or the mapping's wish (`excluded`, `not-listed`, `x-mcp`).
    pub reason: Diagnostic,
}

/// One upstream API, as the catalog needs it.
#[derive(Debug)]
pub struct SourcePlan {
    /// Its name in the mapping.
    pub name: String,
    /// The final base URL where the operations have one common; for display.
    pub base_url: String,
    /// Values by security scheme name (or a name of the author's own).
    pub credentials: IndexMap<String, CredentialPlan>,
    /// Headers on every request.
    pub headers: Vec<(http::HeaderName, SecretOr)>,
    /// Header names of the caller that are passed on; lower case.
    pub forward_headers: Vec<String>,
    /// TLS settings.
    pub tls: crate::mapping::Tls,
    /// Limits.
    pub limits: Limits,
    /// Folders whose files an argument may name (stdio only).
    pub upload_dirs: Vec<String>,
}

/// A text that may be a secret.
#[derive(Debug, Clone)]
pub enum SecretOr {
    /// Printable.
    Plain(String),
    /// Came from `${env:}` or `${file:}`.
    Secret(Secret),
}

/// How one credential is had and where it goes.
#[derive(Debug, Clone)]
pub struct CredentialPlan {
    /// Where it goes on the wire.
    pub placement: Placement,
    /// How it is had; `None` = not configured, calls that need it fail closed.
    pub value: Option<CredentialValue>,
    /// Environment variables or files that would supply it, for `inspect`.
    pub wanted: Vec<String>,
}

/// Where a credential goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// A header.
    Header(String),
    /// A query parameter.
    Query(String),
    /// A cookie.
    Cookie(String),
    /// `Authorization: Basic …`.
    Basic,
    /// `Authorization: Bearer …`.
    Bearer,
    /// The TLS client certificate of the source.
    ClientCertificate,
}

/// How a credential is had.
#[derive(Debug, Clone)]
pub enum CredentialValue {
    /// An API key or bearer token.
    Static(Secret),
    /// User name and password.
    UserPassword(Secret, Secret),
    /// OAuth 2.0 client-credentials grant (RFC 6749 §4.4).
    ClientCredentials(Arc<crate::mapping::ClientCredentials>),
    /// RFC 8693 exchange of the caller's token.
    Exchange(Arc<crate::mapping::TokenExchange>),
    /// A header of the caller, as is (lower-case name).
    Forward(String),
}

/// One MCP tool.
#[derive(Debug)]
pub struct Tool {
    /// Name: `[A-Za-z0-9_-]{1,64}`, unique.
    pub name: String,
    /// Display name.
    pub title: Option<String>,
    /// For the model; never empty.
    pub description: String,
    /// Hints.
    pub annotations: Annotations,
    /// `icons` as published.
    pub icons: Vec<Value>,
    /// OpenAPI tags, for policies and search.
    pub tags: Vec<String>,
    /// The operation behind it (`GET /pet/{petId}`), for policies, audit and `inspect`.
    pub operation: Option<OperationRef>,
    /// Arguments.
    pub input: Input,
    /// Result schema.
    pub output: Output,
    /// What a call does.
    pub action: Action,
    /// Asked of the person before the call, in order.
    pub ask: Vec<(String, Ask)>,
    /// Confirmation text template.
    pub confirm: Option<crate::template::Template>,
    /// Client capabilities without which the call is refused (-32021).
    pub requires_client: Vec<String>,
    /// Result shaping.
    pub result: Option<Arc<ResultPlan>>,
    /// Cache of answers.
    pub cache: Option<CacheHint>,
}

impl Tool {
    /// True if this is the tool of that name, or its operation has that `operationId` or is that `METHOD /path`.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.operation.as_ref().is_some_and(|operation| operation.is_called(name))
    }
}

impl OperationRef {
    /// Source, method and path: equal for the same operation.
    pub fn place(&self) -> (&str, &str, &str) {
        (&self.source, &self.method, &self.path)
    }

    /// True if this operation has that `operationId` or is that `METHOD /path`.
    pub fn is_called(&self, name: &str) -> bool {
        self.operation_id.as_deref() == Some(name)
            || name
                .split_once(' ')
                .is_some_and(|(method, path)| self.method.eq_ignore_ascii_case(method) && self.path == path.trim())
    }
}

/// A tool's operation.
#[derive(Debug, Clone)]
pub struct OperationRef {
    /// The source's name.
    pub source: String,
    /// Upper-case method.
    pub method: String,
    /// Path template.
    pub path: String,
    /// `operationId`.
    pub operation_id: Option<String>,
    /// `deprecated`.
    pub deprecated: bool,
}

/// MCP ToolAnnotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Annotations {
    /// `readOnlyHint`.
    pub read_only: bool,
    /// `destructiveHint`.
    pub destructive: bool,
    /// `idempotentHint`.
    pub idempotent: bool,
    /// `openWorldHint`.
    pub open_world: bool,
}

/// What a tool takes.
#[derive(Debug)]
pub struct Input {
    /// The published `inputSchema`: self-contained, root `type: object`.
    pub published: Kept,
    /// What arguments are checked against: the full schema over the arguments object.
    pub check: crate::schema::check::Checker,
    /// What the assembled body is checked against, where `check` can't say it all.
    pub body_check: Option<crate::schema::check::Checker>,
    /// Arguments that a client repeats in `Mcp-Param-{value}` headers: (argument, suffix).
    pub mirrored: Vec<(String, String)>,
}

/// What a tool gives.
#[derive(Debug, Default)]
pub struct Output {
    /// The published `outputSchema`, self-contained; any root type.
    pub published: Option<Kept>,
    /// Compiled form that makes a value conform.
    pub conform: Option<Arc<crate::content::conform::Shape>>,
    /// With `output_schema: strict`: the whole published schema; an answer that fails it is an error.
    pub strict: Option<Arc<crate::schema::check::Checker>>,
}

/// What a call does.
#[derive(Debug)]
pub enum Action {
    /// One request (or several alike: pages, polls).
    Request(Box<RequestAction>),
    /// Several calls, one tool.
    Steps(Vec<Step>),
    /// A workflow of an Arazzo document.
    Workflow(Box<Workflow>),
    /// Search mode's own tools.
    Search,
    /// Search mode: describe.
    Describe,
    /// Search mode: call.
    CallByName,
}

/// One request behind a tool: the single list of bindings from which both the published schema and
/// the request derive.
#[derive(Debug)]
pub struct RequestAction {
    /// Index into [`Catalog::sources`].
    pub source: usize,
    /// Upper-case method.
    pub method: http::Method,
    /// Absolute base URL, without trailing slash, variables filled in.
    pub base_url: String,
    /// The path, cut into parts at load.
    pub path: Vec<PathPart>,
    /// Literal query that the author wrote in the path.
    pub fixed_query: Option<String>,
    /// Parameters, in document order.
    pub parameters: Vec<ParameterPlan>,
    /// The body.
    pub body: Option<BodyPlan>,
    /// `Accept` header.
    pub accept: String,
    /// Argument → spot.
    pub bindings: Vec<Binding>,
    /// Credential alternatives by name in [`SourcePlan::credentials`]: OR of AND.
    pub security: Vec<Vec<String>>,
    /// Statuses that count as success beyond or instead of 2xx.
    pub success: StatusSet,
    /// Error texts.
    pub errors: Option<ErrorRules>,
    /// Whole-call time limit, where it differs from the source's.
    pub timeout: Option<Duration>,
    /// Repeats over pages.
    pub paginate: Option<Paginate>,
    /// Repeats until done.
    pub poll: Option<PollPlan>,
    /// Upstream stream.
    pub stream: Option<StreamRules>,
    /// True if a connection failure or 503 may be retried (RFC 9110 §9.2.2).
    pub idempotent: bool,
    /// Arguments that stay here: `extra`, `confirm`, `continue_from`. Never part of [`From::Rest`].
    pub own: Vec<String>,
    /// Names that the templates of a hand-written body know besides the arguments: those that were renamed or fixed.
    pub aliases: Vec<(String, From)>,
}

/// One argument (or fixed value) and its exact spot in the request.
#[derive(Debug, Clone)]
pub struct Binding {
    /// Where the value comes from.
    pub from: From,
    /// Where it goes.
    pub spot: Spot,
    /// True if a call without it can't be sent.
    pub required: bool,
    /// Used where the caller gives nothing (only where the mapping says so: a schema's `default`
    /// is the server's business).
    pub default: Option<Value>,
    /// Explicit null is sent (bodies); else null means absent.
    pub keep_null: bool,
}

/// Where a bound value comes from.
#[derive(Debug, Clone)]
pub enum From {
    /// A published argument.
    Argument(String),
    /// Fixed in the mapping.
    Fixed(Value),
    /// Fixed, from the environment or a file.
    Secret(Secret),
    /// Something about the caller.
    Caller(CallerValue),
    /// A text template over the arguments (hand-written tools).
    Template(crate::template::BodyTemplate),
    /// Every argument that no other binding takes (open bodies).
    Rest,
}

/// Where a bound value goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spot {
    /// [`RequestAction::parameters`] at this index.
    Parameter(usize),
    /// The whole body.
    Body,
    /// A member of the body, by path of property names.
    BodyMember(Vec<String>),
    /// Chooses among several media types.
    MediaType,
}

/// One step of a composite tool.
#[derive(Debug)]
pub struct Step {
    /// `id`.
    pub id: String,
    /// Called tool (may be hidden from `tools/list`).
    pub tool: Arc<Tool>,
    /// Arguments: a tree of templates over `input` and earlier steps.
    pub with: IndexMap<String, crate::template::BodyTemplate>,
    /// Condition.
    pub when: Option<crate::template::BodyTemplate>,
    /// What a failure does.
    pub on_error: OnError,
    /// Steps that must be finished first (indices).
    pub after: Vec<usize>,
}

/// Compiled result shaping.
#[derive(Debug)]
pub struct ResultPlan {
    /// What the author wrote.
    pub rules: ResultRules,
    /// jq, templates and selectors, compiled.
    pub compiled: crate::content::shape::Compiled,
}

/// A resource or resource template.
#[derive(Debug)]
pub struct Resource {
    /// `name`.
    pub name: String,
    /// `title`.
    pub title: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// `mimeType`.
    pub mime_type: Option<String>,
    /// URI or RFC 6570 level 1 template.
    pub uri: String,
    /// True if `uri` holds variables.
    pub is_template: bool,
    /// Fixed arguments.
    pub arguments: Arguments,
    /// The tool behind it (need not be listed).
    pub tool: Arc<Tool>,
}

/// A prompt.
#[derive(Debug)]
pub struct Prompt {
    /// `name`.
    pub name: String,
    /// What the mapping says.
    pub rules: crate::mapping::PromptRules,
    /// One a message.
    pub messages: Vec<PromptTemplate>,
}

/// A prompt's message, compiled.
#[derive(Debug)]
pub struct PromptTemplate {
    /// `user` or `assistant`.
    pub role: String,
    /// What it holds.
    pub body: PromptBody,
}

/// What a prompt's message holds.
#[derive(Debug)]
pub enum PromptBody {
    /// Text over the arguments.
    Text(crate::template::Template),
    /// A resource that is read and embedded.
    Resource(crate::template::Template),
    /// An embedded resource whose text stands in the mapping: URI, text, MIME type.
    Inline(crate::template::Template, crate::template::Template, Option<String>),
    /// A resource that is read and shown as an image.
    Image(crate::template::Template),
}

impl Prompt {
    /// Compiles a prompt; the error is the message's index and what is wrong.
    pub fn compile(name: &str, rules: &crate::mapping::PromptRules) -> Result<Self, (usize, String)> {
        let compile = |index: usize, text: &str| {
            crate::template::Template::compile(text).map_err(|error| (index, error.to_string()))
        };
        let mut messages = Vec::new();
        for (index, message) in rules.messages.iter().enumerate() {
            let role = match message.role {
                crate::mapping::Role::User => "user",
                crate::mapping::Role::Assistant => "assistant",
            };
            let body = match (&message.text, &message.resource, &message.resource_text, &message.image) {
                (Some(text), None, None, None) => PromptBody::Text(compile(index, text)?),
                (None, Some(uri), None, None) => PromptBody::Resource(compile(index, uri)?),
                (None, Some(uri), Some(text), None) => {
                    PromptBody::Inline(compile(index, uri)?, compile(index, text)?, message.mime_type.clone())
                }
                (None, None, None, Some(uri)) => PromptBody::Image(compile(index, uri)?),
                _ => return Err((index, "a message has exactly one of `text`, `resource`, `image`".to_string())),
            };
            messages.push(PromptTemplate { role: role.to_string(), body });
        }
        Ok(Prompt { name: name.to_string(), rules: rules.clone(), messages })
    }
}

/// Arguments as a JSON object.
pub type Arguments = Map<String, Value>;
