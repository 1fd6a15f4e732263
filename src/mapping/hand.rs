//! `request`, `steps` and `tests`: tools written by hand, and their proof.

use super::Json;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

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
    #[schemars(with = "Vec<super::schema::ParameterObject>")]
    pub parameters: Vec<Json>,
    /// Body tree; a leaf that is exactly one `{{placeholder}}` keeps the value's type.
    #[serde(default)]
    #[schemars(with = "Option<super::schema::Tree>")]
    pub body: Option<Json>,
    /// Media type of the body (default `application/json`).
    #[serde(default)]
    pub content_type: Option<String>,
    /// Names of credentials of the source that are sent.
    #[serde(default)]
    pub credentials: Vec<String>,
}

/// One step of a composite tool.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepRules {
    /// Name of the step's answer.
    pub id: String,
    /// An operation or a tool.
    pub call: String,
    /// Arguments: trees of templates over `input` and earlier steps.
    #[serde(default)]
    #[schemars(with = "IndexMap<String, super::schema::Tree>")]
    pub with: IndexMap<String, Json>,
    /// Condition: a placeholder, or a literal.
    #[serde(default)]
    #[schemars(with = "Option<super::schema::Condition>")]
    pub when: Option<Json>,
    /// What a failure does.
    #[serde(default)]
    pub on_error: OnError,
    /// Steps that must be finished first, beside those whose answers are used here.
    #[serde(default)]
    pub after: Vec<String>,
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
    #[schemars(with = "serde_json::Map<String, Json>")]
    pub args: Json,
    /// What the person or the client answers where the call asks, by the key of `ask`, or `confirm`: the form's
    /// content, `true`, or `false` to decline; a text for `kind: sample`, a list of URIs for `kind: roots`.
    #[schemars(with = "serde_json::Map<String, Json>")]
    pub answers: serde_json::Map<String, Json>,
    /// Expected request, or a list of them.
    pub request: Option<OneOrSeveral<TestRequest>>,
    /// Canned answer, or a list of them.
    pub respond: Option<OneOrSeveral<TestAnswer>>,
    /// Expected result.
    pub result: Option<TestResult>,
}

/// One thing or a list of them.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrSeveral<T> {
    /// A list.
    Several(Vec<T>),
    /// One.
    One(T),
}

impl<T> OneOrSeveral<T> {
    /// All of them.
    pub fn as_slice(&self) -> &[T] {
        match self {
            OneOrSeveral::One(one) => std::slice::from_ref(one),
            OneOrSeveral::Several(several) => several,
        }
    }
}

/// The request a test expects; what is not named is not compared.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TestRequest {
    /// HTTP method.
    pub method: Option<String>,
    /// Path as sent, with the query where one is expected.
    pub path: Option<String>,
    /// Query parameters as sent, decoded; all of them.
    pub query: Option<IndexMap<String, Json>>,
    /// Headers; others may be sent as well.
    pub headers: IndexMap<String, String>,
    /// The body as JSON.
    #[serde(deserialize_with = "super::tool::some")]
    pub json: Option<Json>,
    /// The body as text.
    pub body: Option<String>,
}

/// The answer a test gives.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TestAnswer {
    /// Status (default 200).
    #[schemars(range(min = 100, max = 599))]
    pub status: Option<u16>,
    /// Headers.
    pub headers: IndexMap<String, String>,
    /// A JSON body; `Content-Type` is `application/json` unless `headers` says otherwise.
    #[serde(deserialize_with = "super::tool::some")]
    pub json: Option<Json>,
    /// A text body.
    pub body: Option<String>,
    /// A binary body, base64.
    pub base64: Option<String>,
}

/// The result a test expects; what is not named is not compared.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TestResult {
    /// The structured value, or the first text block read as JSON.
    #[serde(deserialize_with = "super::tool::some")]
    pub json: Option<Json>,
    /// The text of all text blocks, joined by line feeds.
    pub text: Option<String>,
    /// `isError` (default false).
    pub is_error: Option<bool>,
    /// Content blocks as MCP writes them.
    pub blocks: Option<Vec<Json>>,
}
