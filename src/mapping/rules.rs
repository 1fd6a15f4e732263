//! `rules`: edits for many operations at once.

use super::ToolEdits;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

/// One rule.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rule {
    /// Which operations; all conditions hold (AND), a list means any of it (OR). Empty = all.
    #[serde(rename = "match")]
    pub matches: Match,
    /// Edits.
    pub set: Option<ToolEdits>,
    /// Leave the operations out; final.
    pub exclude: bool,
}

/// Conditions.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Match {
    /// Source names.
    pub source: Option<OneOrMany>,
    /// HTTP methods.
    pub method: Option<OneOrMany>,
    /// Tags.
    pub tag: Option<OneOrMany>,
    /// Path globs: `*` one segment, `**` any number.
    pub path: Option<OneOrMany>,
    /// operationId globs.
    pub operation: Option<OneOrMany>,
    /// `deprecated`.
    pub deprecated: Option<bool>,
    /// Names of security schemes.
    pub security: Option<OneOrMany>,
    /// Extensions: `x-…: value`.
    #[serde(flatten)]
    pub extensions: IndexMap<String, super::Json>,
}

/// A text or a list of texts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl OneOrMany {
    /// All of them.
    pub fn as_slice(&self) -> &[String] {
        match self {
            OneOrMany::One(one) => std::slice::from_ref(one),
            OneOrMany::Many(many) => many,
        }
    }
}
