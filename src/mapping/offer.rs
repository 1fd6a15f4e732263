//! `resources` and `prompts`.

use super::{Ask, Json};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

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
    #[schemars(with = "IndexMap<String, super::schema::Tree>")]
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
    #[schemars(with = "Option<super::OneOrMany>")]
    pub complete: Option<Json>,
}

/// A prompt's message: exactly one of `text`, `resource`, `image`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PromptMessage {
    /// Whose message it is.
    pub role: Role,
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

/// `role`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    #[default]
    User,
    /// The model.
    Assistant,
}
