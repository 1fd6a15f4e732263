//! `result`, `success` and `errors`: how an answer is shaped.

use super::Bytes;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

/// Result shaping: a pipeline; each step also rewrites the published output schema. An answer that is no JSON is not shown
/// where `select`, `path`, `pick`, `drop` or `redact` leave something out.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ResultRules {
    /// jq filter, with time and memory limits.
    pub select: Option<String>,
    /// Dotted path.
    pub path: Option<String>,
    /// Properties to keep, dotted; on a list: of each item. `[]` takes back what an earlier rule says.
    pub pick: Option<Vec<String>>,
    /// Properties to leave out, dotted; `*` matches any name. `[]` takes back what an earlier rule says.
    pub drop: Option<Vec<String>>,
    /// Old name (dotted) to new name.
    pub rename: IndexMap<String, String>,
    /// Values replaced by `***`, dotted; in error bodies too. `[]` takes back what an earlier rule says.
    pub redact: Option<Vec<String>>,
    /// Longest list.
    #[schemars(range(min = 1))]
    pub limit_items: Option<usize>,
    /// Largest text; cut so that JSON stays valid.
    pub max_bytes: Option<Bytes>,
    /// Form of the text.
    pub format: Option<Format>,
    /// Handlebars template of a text result.
    pub template: Option<String>,
    /// Several content blocks from one answer. `[]` takes back what an earlier rule says.
    pub blocks: Option<Vec<BlockRules>>,
    /// Kind of content.
    #[serde(rename = "as")]
    pub kind: Option<ResultKind>,
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
