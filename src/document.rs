//! A YAML or JSON tree whose nodes know file, line and column.
//!
//! The tree is a plain [`serde_json::Value`] (fast to build, cheap to hold); a node's position is
//! found on demand by [`Document::place`], which reads the source text again. Only diagnostics pay.

use crate::diagnostic::Source;
use serde_json::Value;
use std::sync::Arc;

/// One parsed file.
#[derive(Debug)]
pub struct Document {
    /// Absolute path or URL, the base for relative references. Never shown to a client.
    pub location: String,
    /// Name and text.
    pub source: Arc<Source>,
    /// The tree; key order is the author's.
    pub root: Value,
}

/// A root document and every file it reaches through `$ref`.
#[derive(Debug, Default)]
pub struct DocumentSet {
    /// The root comes first.
    pub documents: Vec<Arc<Document>>,
}
