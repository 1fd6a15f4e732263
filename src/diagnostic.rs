//! Problems with a code, a place and a way out.
//!
//! Every stage that reads something an author wrote returns its value together with a [`Report`].
//! One renderer (`diagnostic/render`) serves people (excerpt and caret) and programs (JSON).

use std::sync::Arc;

/// The text of one input file or URL, kept so that excerpts can be shown.
#[derive(Debug)]
pub struct Source {
    /// What the author calls it: a path as given, or a URL without credentials.
    pub name: String,
    /// The whole text, decoded to UTF-8.
    pub text: String,
}

/// A range in a [`Source`], in bytes, with the JSON pointer (RFC 6901) of the node it covers.
#[derive(Debug, Clone)]
pub struct Place {
    /// The file.
    pub source: Arc<Source>,
    /// First byte.
    pub start: usize,
    /// One past the last byte (may equal `start`).
    pub end: usize,
    /// JSON pointer into the document; empty for the root.
    pub pointer: String,
}

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// For information.
    Note,
    /// Something was left out or looks wrong; loading goes on. An error under `--strict`.
    Warning,
    /// The thing it names can't be used.
    Error,
}

/// One problem.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// Stable code such as `unknown-key` or `unresolved-ref` (kebab case).
    pub code: &'static str,
    /// How bad.
    pub severity: Severity,
    /// One sentence, no trailing full stop, without secrets.
    pub message: String,
    /// Where.
    pub place: Option<Place>,
    /// The way out ("did you mean `operation`?").
    pub fix: Option<String>,
}

/// All problems of one or more stages, in the order they were met.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The problems.
    pub diagnostics: Vec<Diagnostic>,
}
