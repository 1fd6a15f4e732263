//! `paginate`, `poll`, `stream`, `ask`, `cache`: what happens around one request.

use super::{Duration, Json};
use schemars::JsonSchema;
use serde::Deserialize;

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
    #[schemars(range(min = 1))]
    pub max_pages: Option<usize>,
    /// Most items a call (default 500).
    #[serde(default)]
    #[schemars(range(min = 1))]
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
    /// Those among them that mean the job failed: the result is an error.
    pub failed: Vec<Json>,
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
    /// When `ask` and `confirm` are put to clients with the tasks extension: before the task begins, or during it.
    pub questions: Questions,
}

/// `poll.questions`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Questions {
    /// The call waits for the answers; the task begins with the job.
    #[default]
    Before,
    /// The task begins at once and waits for the answers.
    During,
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
    /// Left out where the client can't ask such a thing.
    pub optional: bool,
    /// Text for the person (`elicit`) or the model (`sample`); a Handlebars template over the arguments.
    pub message: Option<String>,
    /// Form (`elicit`): a flat object schema.
    #[schemars(with = "Option<super::schema::ObjectSchema>")]
    pub schema: Option<Json>,
    /// Argument (or step variable) that takes the answer; dotted into the answer as `into.member`.
    pub into: Option<String>,
    /// Member of the answer that is taken; absent = all, or the only one.
    pub take: Option<String>,
    /// Most tokens (`sample`).
    #[schemars(range(min = 1))]
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
