//! Problems found while reading, kept with document and pointer; places are looked up once, at the end.

use super::node::Node;
use crate::diagnostic::{Diagnostic, Place, Report, Severity};
use crate::document::DocumentSet;
use std::collections::HashMap;

/// Most problems with one code; the rest are counted.
const SAME_CODE: usize = 50;

/// One problem, place not yet looked up.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub code: &'static str,
    pub severity: Severity,
    pub message: String,
    pub fix: Option<String>,
    pub document: usize,
    pub pointer: String,
}

impl Finding {
    pub fn new(severity: Severity, code: &'static str, at: &Node<'_>, message: impl Into<String>) -> Finding {
        Finding {
            code,
            severity,
            message: message.into(),
            fix: None,
            document: at.document,
            pointer: at.pointer.clone(),
        }
    }

    pub fn error(code: &'static str, at: &Node<'_>, message: impl Into<String>) -> Finding {
        Finding::new(Severity::Error, code, at, message)
    }

    pub fn warning(code: &'static str, at: &Node<'_>, message: impl Into<String>) -> Finding {
        Finding::new(Severity::Warning, code, at, message)
    }

    pub fn note(code: &'static str, at: &Node<'_>, message: impl Into<String>) -> Finding {
        Finding::new(Severity::Note, code, at, message)
    }

    pub fn fix(mut self, fix: impl Into<String>) -> Finding {
        self.fix = Some(fix.into());
        self
    }

    /// The problem with its place.
    pub fn place(&self, set: &DocumentSet) -> Diagnostic {
        Diagnostic {
            code: self.code,
            severity: self.severity,
            message: self.message.clone(),
            place: place(set, self.document, &self.pointer),
            fix: self.fix.clone(),
        }
    }
}

/// Where `pointer` stands in a document of `set`.
pub(super) fn place(set: &DocumentSet, document: usize, pointer: &str) -> Option<Place> {
    set.documents.get(document).map(|it| it.place(pointer))
}

/// All problems of one reading.
#[derive(Debug, Default)]
pub(super) struct Findings {
    list: Vec<Finding>,
    counts: HashMap<&'static str, usize>,
}

impl Findings {
    /// Keeps `finding`, or counts it where many like it are kept already. Errors are all kept.
    pub fn add(&mut self, finding: Finding) {
        let count = self.counts.entry(finding.code).or_default();
        *count += 1;
        if *count <= SAME_CODE || finding.severity == Severity::Error {
            self.list.push(finding);
        }
    }

    /// The report, places looked up.
    pub fn report(&self, set: &DocumentSet) -> Report {
        let mut report = Report { diagnostics: self.list.iter().map(|it| it.place(set)).collect() };
        let mut kept: HashMap<&'static str, usize> = HashMap::new();
        for finding in &self.list {
            *kept.entry(finding.code).or_default() += 1;
        }
        let mut more: Vec<(&'static str, usize, Severity)> = Vec::new();
        for finding in &self.list {
            let total = self.counts.get(finding.code).copied().unwrap_or(0);
            let left = total.saturating_sub(kept.get(finding.code).copied().unwrap_or(0));
            if left > 0 && !more.iter().any(|(code, ..)| *code == finding.code) {
                more.push((finding.code, left, finding.severity));
            }
        }
        report.diagnostics.extend(more.into_iter().map(|(code, left, severity)| Diagnostic {
            code,
            severity,
            message: format!("{left} more of the kind `{code}` are not listed"),
            place: None,
            fix: None,
        }));
        report
    }
}
