//! `tools`, `resources` and `prompts`: edits of one tool, and tools written by hand.

use super::{Bytes, Duration, Json, Slot};
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
    pub input: Option<Json>,
    /// Steps of a composite tool.
    pub steps: Vec<StepRules>,
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
    /// Tool name (only under `rules[].set`, with placeholders; `tools` keys are names already).
    pub name: Option<String>,
    /// Display name.
    pub title: Option<String>,
    /// For the model: a text, or where it comes from.
    pub description: Option<Description>,
    /// MCP annotations.
    pub annotations: Option<AnnotationEdits>,
    /// MCP icons.
    pub icons: Option<Vec<Json>>,
    /// Argument edits, by parameter name or dotted path (`body.note`).
    pub args: IndexMap<String, ArgumentEdits>,
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
    pub value: Option<Json>,
    /// Not published.
    pub hide: bool,
    /// Sent where the model gives nothing.
    #[serde(deserialize_with = "some")]
    pub default: Option<Json>,
    /// Must be given.
    pub required: Option<bool>,
    /// Published as `x-mcp-header` with this suffix (2026-07-28).
    pub mirror: Option<String>,
    /// JSON Schema keywords that tighten the argument: `enum`, `examples`, `minimum`, `maximum`, `pattern`, ….
    #[serde(flatten)]
    pub schema: serde_json::Map<String, Json>,
}

fn some<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
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

/// Result shaping: a pipeline; each step also rewrites the published output schema.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ResultRules {
    /// jq filter, with time and memory limits.
    pub select: Option<String>,
    /// Dotted path.
    pub path: Option<String>,
    /// Properties to keep, dotted; on a list: of each item.
    pub pick: Vec<String>,
    /// Properties to leave out, dotted; `*` matches any name.
    pub drop: Vec<String>,
    /// Old name (dotted) to new name.
    pub rename: IndexMap<String, String>,
    /// Values replaced by `***`, dotted.
    pub redact: Vec<String>,
    /// Longest list.
    pub limit_items: Option<usize>,
    /// Largest text; cut so that JSON stays valid.
    pub max_bytes: Option<Bytes>,
    /// Form of the text.
    pub format: Option<Format>,
    /// Handlebars template of a text result.
    pub template: Option<String>,
    /// Several content blocks from one answer.
    pub blocks: Vec<BlockRules>,
    /// Kind of content.
    #[serde(rename = "as")]
    pub kind: ResultKind,
    /// URI of the embedded resource; a template.
    pub uri: Option<String>,
    /// MIME type of the embedded resource.
    pub mime_type: Option<String>,
    /// Large or binary answers: embedded or linked.
    pub binary: Option<Binary>,
    /// What is published as output schema.
    pub output_schema: Option<OutputSchema>,
}

/// `format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Compact JSON.
    Json,
    /// Aligned text table.
    Table,
    /// RFC 4180 CSV.
    Csv,
    /// Markdown table or list.
    Markdown,
    /// Plain `name: value` lines.
    Text,
}

/// One composed block.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum BlockRules {
    /// Text.
    Text {
        /// Dotted path of the value.
        #[serde(default)]
        path: Option<String>,
        /// Handlebars template.
        #[serde(default)]
        template: Option<String>,
    },
    /// Image from base64.
    Image {
        /// Dotted path of the base64 text.
        data: String,
        /// Dotted path of the MIME type, or the MIME type itself.
        #[serde(default)]
        mime_type: Option<String>,
    },
    /// Audio from base64.
    Audio {
        /// Dotted path of the base64 text.
        data: String,
        /// Dotted path of the MIME type, or the MIME type itself.
        #[serde(default)]
        mime_type: Option<String>,
    },
    /// Embedded resource.
    Resource {
        /// URI template.
        uri: String,
        /// Dotted path of the value; absent = all.
        #[serde(default)]
        path: Option<String>,
        /// MIME type.
        #[serde(default)]
        mime_type: Option<String>,
    },
    /// Link to a resource.
    Link {
        /// URI template.
        uri: String,
        /// Name template.
        #[serde(default)]
        name: Option<String>,
        /// MIME type.
        #[serde(default)]
        mime_type: Option<String>,
    },
}

/// `as`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ResultKind {
    /// By content type.
    #[default]
    Auto,
    /// Text only.
    Text,
    /// Whole body as an embedded resource.
    Resource,
}

/// `binary`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Binary {
    /// In the result.
    Embed,
    /// As a `resource_link` served by `resources/read`.
    Link,
}

/// `output_schema`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutputSchema {
    /// Nothing required, everything nullable, open.
    #[default]
    Relaxed,
    /// As declared; an answer that does not conform is an error.
    Strict,
    /// None.
    None,
}

/// Set of HTTP statuses: `200`, `"200-299"`, `"4XX"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusSet(pub Vec<std::ops::RangeInclusive<u16>>);

/// Error texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ErrorRules {
    /// Dotted path of the message in an error body.
    pub path: Option<String>,
    /// Status to what the model should do.
    pub hints: IndexMap<String, String>,
}

/// Follow pages.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Paginate {
    /// How pages are named.
    pub style: PageStyle,
    /// Dotted path of the list; absent = the body itself.
    #[serde(default)]
    pub items: Option<String>,
    /// Dotted path of the next cursor (`style: cursor`), or of the next URL (`style: link`; else the Link header).
    #[serde(default)]
    pub cursor: Option<String>,
    /// Parameter that takes the cursor, page number or offset.
    #[serde(default)]
    pub arg: Option<String>,
    /// Parameter that takes the page size (for `offset`: to advance by).
    #[serde(default)]
    pub size_arg: Option<String>,
    /// Most pages a call (default 5).
    #[serde(default)]
    pub max_pages: Option<usize>,
    /// Most items a call (default 500).
    #[serde(default)]
    pub max_items: Option<usize>,
}

/// `paginate.style`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PageStyle {
    /// A cursor from the answer.
    Cursor,
    /// 1, 2, 3, ….
    Page,
    /// 0, n, 2n, ….
    Offset,
    /// RFC 8288 `Link: <…>; rel="next"`.
    Link,
}

/// Wait for a long-running job.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Poll {
    /// jq filter of the status.
    pub status: Option<String>,
    /// Statuses that end the wait.
    pub until: Vec<Json>,
    /// Where to ask: `header location`, `operation NAME` or a dotted path of a URL in the body.
    pub location: Option<String>,
    /// Pause; `Retry-After` wins.
    pub every: Option<Duration>,
    /// Longest wait.
    pub at_most: Option<Duration>,
    /// jq filter of the progress, 0 to 1.
    pub progress: Option<String>,
    /// Dotted path of the result URL once done.
    pub result: Option<String>,
}

/// Read an upstream stream (`text/event-stream`, NDJSON).
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StreamRules {
    /// What the result is.
    pub mode: StreamMode,
    /// Members of an item that report progress.
    pub progress: Option<StreamProgress>,
    /// Members of an item that are a log line.
    pub log: Option<StreamLog>,
}

/// `stream.mode`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StreamMode {
    /// The last item that is neither progress nor log; a list where there are several.
    #[default]
    Auto,
    /// All items as a list.
    Collect,
}

/// Members that report progress.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StreamProgress {
    /// Dotted path of the progress.
    pub value: String,
    /// Dotted path of the total.
    pub total: Option<String>,
    /// Dotted path of the message.
    pub message: Option<String>,
}

/// Members that are a log line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StreamLog {
    /// Dotted path of the level.
    pub level: Option<String>,
    /// Dotted path of the message.
    pub message: String,
}

/// What the person (or the client) must give.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ask {
    /// What is asked.
    pub kind: AskKind,
    /// Text for the person (`elicit`) or the model (`sample`); a Handlebars template over the arguments.
    pub message: Option<String>,
    /// Form (`elicit`): a flat object schema.
    pub schema: Option<Json>,
    /// Argument (or step variable) that takes the answer; dotted into the answer as `into.member`.
    pub into: Option<String>,
    /// Member of the answer that is taken; absent = all, or the only one.
    pub take: Option<String>,
    /// Most tokens (`sample`).
    pub max_tokens: Option<u32>,
    /// System prompt (`sample`).
    pub system: Option<String>,
    /// Asked only after this one was answered.
    pub after: Option<String>,
    /// Asked only where this argument is missing.
    pub unless: Option<String>,
}

/// `ask.kind`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AskKind {
    /// A form for the person.
    #[default]
    Elicit,
    /// The client's model.
    Sample,
    /// The client's roots.
    Roots,
}

/// Remember answers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheHint {
    /// How long.
    pub ttl: Duration,
    /// Whose answers are shared.
    #[serde(default)]
    pub per: CachePer,
}

/// `cache.per`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CachePer {
    /// One caller's only.
    #[default]
    Caller,
    /// One tenant's.
    Tenant,
    /// Everybody's.
    All,
}

/// A hand-written request.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HandRequest {
    /// HTTP method.
    pub method: String,
    /// Path template; `{name}` is a parameter or argument.
    pub path: String,
    /// OpenAPI Parameter Objects.
    #[serde(default)]
    pub parameters: Vec<Json>,
    /// Body tree; a leaf that is exactly one `{{placeholder}}` keeps the value's type.
    #[serde(default)]
    pub body: Option<Json>,
    /// Media type of the body (default `application/json`).
    #[serde(default)]
    pub content_type: Option<String>,
    /// Names of credentials of the source that are sent.
    #[serde(default)]
    pub credentials: Vec<String>,
}

/// One step of a composite tool.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepRules {
    /// Name of the step's answer.
    pub id: String,
    /// An operation or a tool.
    pub call: String,
    /// Arguments: trees of templates over `input` and earlier steps.
    #[serde(default)]
    pub with: IndexMap<String, Json>,
    /// Condition: a placeholder, or a literal.
    #[serde(default)]
    pub when: Option<Json>,
    /// What a failure does.
    #[serde(default)]
    pub on_error: OnError,
}

/// `on_error`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// The tool fails and reports what already happened.
    #[default]
    Stop,
    /// The step's answer is null; the others go on.
    Continue,
}

/// An offline test.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToolTest {
    /// What it shows.
    pub name: Option<String>,
    /// Arguments.
    pub args: Json,
    /// Expected request, or a list of them.
    pub request: Option<Json>,
    /// Canned answer, or a list of them.
    pub respond: Option<Json>,
    /// Expected result.
    pub result: Option<Json>,
}

/// A GET operation as resource or resource template.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResourceRules {
    /// `operationId`, `GET /path` or a tool's name.
    pub operation: String,
    /// Source name, where ambiguous.
    #[serde(default)]
    pub source: Option<String>,
    /// URI, or RFC 6570 template whose variables are the arguments.
    pub uri: String,
    /// `title`.
    #[serde(default)]
    pub title: Option<String>,
    /// `description`.
    #[serde(default)]
    pub description: Option<String>,
    /// `mimeType`.
    #[serde(default)]
    pub mime_type: Option<String>,
    /// Fixed arguments.
    #[serde(default)]
    pub args: IndexMap<String, Json>,
}

/// A prompt.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PromptRules {
    /// `title`.
    pub title: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// Arguments.
    pub arguments: Vec<PromptArgument>,
    /// Messages.
    pub messages: Vec<PromptMessage>,
    /// Asked of the person or client before the prompt is made (2026-07-28).
    pub ask: IndexMap<String, Ask>,
}

/// A prompt's argument.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PromptArgument {
    /// Name.
    pub name: String,
    /// `title`.
    pub title: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// Must be given.
    pub required: bool,
    /// Completion: a list of values, or the name of a tool whose answer lists them.
    pub complete: Option<Json>,
}

/// A prompt's message: exactly one of `text`, `resource`, `image`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PromptMessage {
    /// `user` or `assistant`.
    pub role: Option<Slot>,
    /// Handlebars template.
    pub text: Option<String>,
    /// URI template of a resource that is read and embedded.
    pub resource: Option<String>,
    /// Text of the embedded resource, instead of reading it; a template.
    pub resource_text: Option<String>,
    /// MIME type of `resource_text`.
    pub mime_type: Option<String>,
    /// URI template of an image resource that is read.
    pub image: Option<String>,
}

/// Something about the caller: `${caller:claims.x}`, `${caller:header.x}`, `${caller:tenant}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallerValue {
    /// A claim, by path.
    Claim(Vec<String>),
    /// A header, lower case.
    Header(String),
    /// The tenant's name.
    Tenant,
    /// The caller's name (`sub`, key name or certificate subject).
    Subject,
}
