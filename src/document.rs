//! A YAML or JSON tree whose nodes know file, line and column.
//!
//! The tree is a plain [`serde_json::Value`] (fast to build, cheap to hold); a node's position is
//! found on demand by [`Document::place`], which reads the source text again, once for all
//! questions. Only diagnostics pay.

pub mod decode;
mod index;
mod json;
mod lenient;
pub mod location;
pub mod parse;
pub mod pointer;
mod problems;
pub mod reference;
pub mod set;
mod yaml;

pub use decode::decode;
pub use parse::parse;
pub use reference::external_references;
pub(crate) use reference::mentions;
pub use set::{DocumentSet, RefError, Target};

use crate::diagnostic::{Place, Source};
use crate::pace;
use index::Index;
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// One parsed file.
#[derive(Debug)]
pub struct Document {
    /// Absolute path or URL, the base for relative references. Never shown to a client.
    pub location: String,
    /// Name and text.
    pub source: Arc<Source>,
    /// The tree; key order is the author's.
    pub root: Value,
    /// How the text is written.
    format: Format,
    /// Positions of all nodes, made when first asked for.
    index: OnceLock<Index>,
}

/// How a document's text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, perhaps with comments or trailing commas.
    Json,
    /// YAML 1.2.
    Yaml,
}

/// What a document may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of text.
    pub max_bytes: usize,
    /// Levels of nesting; above 128 JSON stays at 128.
    pub max_depth: usize,
    /// Values in the tree, those that aliases repeat included.
    pub max_nodes: usize,
}

impl Default for Limits {
    /// 64 MiB, 128 levels, 4 million values.
    fn default() -> Self {
        Limits { max_bytes: 64 << 20, max_depth: 128, max_nodes: 4_000_000 }
    }
}

impl Document {
    /// A document from its parts, for a tree that did not come out of [`parse`].
    pub fn new(location: impl Into<String>, source: Arc<Source>, root: Value) -> Self {
        let format = if parse::looks_like_json(&source.text) { Format::Json } else { Format::Yaml };
        Self::with_format(location.into(), source, root, format)
    }

    fn with_format(location: String, source: Arc<Source>, root: Value, format: Format) -> Self {
        Document { location, source, root, format, index: OnceLock::new() }
    }

    /// The same file with an edited tree (overlays). Positions stay those of the text; a node that
    /// the text does not have is placed at its nearest ancestor.
    #[must_use]
    pub fn with_root(&self, root: Value) -> Self {
        Self::with_format(self.location.clone(), Arc::clone(&self.source), root, self.format)
    }

    /// How the text is written.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Where the value at a JSON pointer stands in the text. For a value that aliases or merge keys
    /// brought here it is where the author wrote it; for one that the text does not have, the nearest
    /// ancestor (its key). The place's pointer is the one asked for.
    pub fn place(&self, pointer: &str) -> Place {
        let found = self.index().find(pointer);
        let range = if found.exact { found.value } else { found.key.unwrap_or(found.value) };
        self.place_of(range, pointer)
    }

    /// Where the key of the value at a JSON pointer stands; the value itself for list items and the root.
    pub fn key_place(&self, pointer: &str) -> Place {
        let found = self.index().find(pointer);
        self.place_of(found.key.unwrap_or(found.value), pointer)
    }

    /// The text of the value exactly as the author wrote it, quotes included: tells `1.10` from `1.1`.
    /// `None` where the text does not have the node.
    pub fn source_text(&self, pointer: &str) -> Option<&str> {
        let found = self.index().find(pointer);
        if !found.exact {
            return None;
        }
        self.source.text.get(found.value.0..found.value.1)
    }

    /// The value at a JSON pointer.
    pub fn get(&self, pointer: &str) -> Option<&Value> {
        pointer::get(&self.root, pointer)
    }

    fn place_of(&self, range: (usize, usize), pointer: &str) -> Place {
        Place::new(Arc::clone(&self.source), range.0, range.1, pointer)
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::build(&self.source.text, self.format))
    }
}

/// Trees of megabytes are freed beside calls, value by value.
impl Drop for Document {
    fn drop(&mut self) {
        if pace::is_on() {
            pace::free(std::mem::take(&mut self.root));
        }
    }
}
