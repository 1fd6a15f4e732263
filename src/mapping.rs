//! What the author of a mapping file asked for, typed. `mapping/read` makes it from a document,
//! refusing unknown keys with a suggestion; the JSON Schema for editors is generated from these types.
//!
//! The file's format, version 1, is the reference; keys may grow, what stands here keeps its meaning.

mod edit;
mod flow;
mod hand;
pub mod init;
mod offer;
mod read;
pub mod reference;
mod renamed;
mod result;
mod rules;
pub mod schema;
pub mod select;
pub mod slot;
mod source;
pub mod strict;
mod tool;
mod units;
mod verify;
pub use flow::*;
pub use hand::*;
pub use init::{OperationFacts, init, init_update};
pub use offer::*;
pub(crate) use read::{deserialize, hide_by_name, hide_leaves, version};
pub use read::{read, read_with};
pub use result::*;
pub use rules::*;
pub use schema::json_schema;
pub(crate) use schema::{RateText, closed};
pub use select::{Facts, Selector, glob, path_glob};
pub use slot::{CallerValue, Resolved, Slot, SlotError};
pub use source::*;
pub use tool::*;
pub(crate) use verify::{is_scope, is_token};

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// A mapping file.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// Version of the language: 1.
    #[schemars(range(min = 1, max = 1))]
    pub version: u32,
    /// The APIs behind the tools, by a name of your own.
    #[serde(default)]
    pub sources: IndexMap<String, Source>,
    /// Edits for many operations at once: in order; every match applies; later wins; `exclude` is final.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// Edits and hand-written tools, by tool name.
    #[serde(default)]
    pub tools: IndexMap<String, ToolRules>,
    /// GET operations as resources or resource templates, by name.
    #[serde(default)]
    pub resources: IndexMap<String, ResourceRules>,
    /// Prompts by name.
    #[serde(default)]
    pub prompts: IndexMap<String, PromptRules>,
    /// How the catalog is published.
    #[serde(default)]
    pub catalog: CatalogRules,
}

/// How the catalog is published.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CatalogRules {
    /// `tools` lists every tool; `search` lists search, describe and call plus the pinned ones.
    pub mode: CatalogMode,
    /// Tools that stay listed in search mode.
    pub pinned: Vec<String>,
    /// What automatic names look like.
    pub name_style: NameStyle,
    /// Longest tool name (8 to 64).
    #[schemars(range(min = 8, max = 64))]
    pub max_name: Option<usize>,
    /// What published schemas may contain.
    pub schema_profile: SchemaProfile,
    /// Tools on one page of `tools/list`; absent = all.
    #[schemars(range(min = 1))]
    pub page_size: Option<usize>,
    /// `ttlMs` of the lists, such as `5m`; absent = 0.
    pub ttl: Option<Duration>,
}

/// `catalog.mode`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CatalogMode {
    /// Every tool is listed.
    #[default]
    Tools,
    /// Three tools find, describe and call the others.
    Search,
}

/// `catalog.name_style`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NameStyle {
    /// The operationId as it is, where legal.
    #[default]
    Keep,
    /// `snake_case`.
    Snake,
}

/// `catalog.schema_profile`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SchemaProfile {
    /// No `oneOf`/`anyOf`/`allOf` at the root; the full schema still checks the call.
    #[default]
    Default,
    /// Only keywords that all large model vendors accept.
    StrictVendors,
    /// The schema verbatim.
    Full,
}

/// A length of time such as `250ms`, `5s`, `10m`, `1h`; a bare number means seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(pub std::time::Duration);

/// A number of bytes such as `64KiB`, `10MiB`, `1MB`; a bare number means bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// Anything, as written.
pub type Json = Value;

/// Where `${env:NAME}` and `${file:PATH}` are looked up; the shell implements it, the core only asks.
pub trait Environment: Sync {
    /// An environment variable.
    fn env(&self, name: &str) -> Option<crate::secret::Secret>;
    /// What stands for a variable that is not set and has no default: nothing, but for mocks and offline tests.
    fn stand_in(&self, name: &str) -> Option<crate::secret::Secret> {
        let _ = name;
        None
    }
    /// A file's text without the trailing newline; the error is a short reason without contents.
    fn file(&self, path: &str) -> Result<crate::secret::Secret, String>;
}
