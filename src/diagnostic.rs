//! Problems with a code, a place and a way out.
//!
//! Every stage that reads something an author wrote returns its value together with a [`Report`].
//! One renderer (`diagnostic/render`) serves people (excerpt and caret) and programs (JSON).

pub mod hint;
pub mod json;
pub mod place;
pub mod render;

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

impl Diagnostic {
    /// A problem of the given severity without place and fix.
    pub fn new(severity: Severity, code: &'static str, message: impl Into<String>) -> Self {
        Diagnostic { code, severity, message: message.into(), place: None, fix: None }
    }

    /// An error: the thing it names can't be used.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// A warning: something was left out or looks wrong, loading goes on.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// For information.
    pub fn note(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, message)
    }

    /// The same problem with its place; takes a [`Place`] or an `Option<Place>` (`None` keeps what was there).
    #[must_use]
    pub fn at(mut self, place: impl Into<Option<Place>>) -> Self {
        if let Some(place) = place.into() {
            self.place = Some(place);
        }
        self
    }

    /// The same problem with a way out.
    #[must_use]
    pub fn fix(mut self, text: impl Into<String>) -> Self {
        self.fix = Some(text.into());
        self
    }

    /// The same problem with a way out where there is one.
    #[must_use]
    pub fn maybe_fix(mut self, text: Option<String>) -> Self {
        if text.is_some() {
            self.fix = text;
        }
        self
    }
}

impl Severity {
    /// `error`, `warning` or `note`.
    pub fn label(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl Report {
    /// A report without problems.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one problem.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Adds all problems of a later stage.
    pub fn merge(&mut self, other: Report) {
        self.diagnostics.extend(other.diagnostics);
    }

    /// True if nothing at all was reported.
    pub fn is_empty(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// True if at least one problem is an error.
    pub fn has_errors(&self) -> bool {
        self.errors() > 0
    }

    /// How many errors.
    pub fn errors(&self) -> usize {
        self.count(Severity::Error)
    }

    /// How many warnings.
    pub fn warnings(&self) -> usize {
        self.count(Severity::Warning)
    }

    /// How many problems of this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|d| d.severity == severity).count()
    }

    /// Exit code of a command that only checks: 1 for any error, 1 for a warning under `strict`, else 0.
    /// (2 is for the command itself: unusable input or usage.)
    pub fn exit_code(&self, strict: bool) -> u8 {
        u8::from(self.has_errors() || (strict && self.warnings() > 0))
    }

    /// Such as `2 errors, 1 warning`; empty where there is neither.
    pub fn summary(&self) -> String {
        let part = |n: usize, word: &str| match n {
            0 => None,
            1 => Some(format!("1 {word}")),
            n => Some(format!("{n} {word}s")),
        };
        [part(self.errors(), "error"), part(self.warnings(), "warning")]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", ")
    }
}

impl Extend<Diagnostic> for Report {
    fn extend<T: IntoIterator<Item = Diagnostic>>(&mut self, problems: T) {
        self.diagnostics.extend(problems);
    }
}

impl FromIterator<Diagnostic> for Report {
    fn from_iter<T: IntoIterator<Item = Diagnostic>>(problems: T) -> Self {
        Report { diagnostics: problems.into_iter().collect() }
    }
}

impl IntoIterator for Report {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.diagnostics.into_iter()
    }
}

impl From<Diagnostic> for Report {
    fn from(problem: Diagnostic) -> Self {
        Report { diagnostics: vec![problem] }
    }
}
