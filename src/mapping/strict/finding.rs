//! Problems while they are gathered: placed, ordered and cleaned of secrets only when all are known.

use super::text;
use crate::diagnostic::{Diagnostic, Place, Report, Severity, Source};
use crate::document::Document;
use std::ops::Range;
use std::sync::Arc;

/// Most problems of one file that are reported.
const MAX_FINDINGS: usize = 200;

/// One problem.
#[derive(Debug, Clone)]
pub struct Finding {
    code: &'static str,
    severity: Severity,
    pointer: String,
    message: String,
    fix: Option<String>,
    on_key: bool,
    inside: Option<Range<usize>>,
}

impl Finding {
    /// An error about the value at a pointer.
    pub fn error(code: &'static str, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Finding {
            code,
            severity: Severity::Error,
            pointer: pointer.into(),
            message: message.into(),
            fix: None,
            on_key: false,
            inside: None,
        }
    }

    /// A warning about the value at a pointer.
    pub fn warning(code: &'static str, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Finding { severity: Severity::Warning, ..Self::error(code, pointer, message) }
    }

    /// The way out.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// The way out, where there is one.
    #[must_use]
    pub fn maybe_fix(mut self, fix: Option<String>) -> Self {
        self.fix = fix.or(self.fix);
        self
    }

    /// The caret goes below the key.
    #[must_use]
    pub fn on_key(mut self) -> Self {
        self.on_key = true;
        self
    }

    /// The caret goes below these bytes of the text that the value is.
    #[must_use]
    pub fn inside(mut self, range: Range<usize>) -> Self {
        self.inside = Some(range);
        self
    }
}

/// The problems of one document.
#[derive(Debug)]
pub struct Findings<'d> {
    document: &'d Document,
    list: Vec<Finding>,
    /// Nodes that were taken out: what is said about their parents afterwards may be a consequence.
    broken: Vec<String>,
    /// Texts that excerpts must not show.
    hidden: Vec<String>,
}

impl<'d> Findings<'d> {
    /// No problem yet.
    pub fn new(document: &'d Document) -> Self {
        Findings { document, list: Vec::new(), broken: Vec::new(), hidden: Vec::new() }
    }

    /// The document.
    pub fn document(&self) -> &'d Document {
        self.document
    }

    /// Adds a problem. That something is missing is not said where a key was taken out that may have meant it.
    pub fn add(&mut self, finding: Finding) {
        let is_consequence = matches!(finding.code, "missing-key" | "no-effect")
            && self
                .broken
                .iter()
                .any(|broken| broken.strip_prefix(finding.pointer.as_str()).is_some_and(|rest| rest.starts_with('/')));
        if !is_consequence {
            self.list.push(finding);
        }
    }

    /// Adds a problem whose node is taken out.
    pub(super) fn add_broken(&mut self, finding: Finding) {
        self.broken.push(finding.pointer.clone());
        self.list.push(finding);
    }

    /// Keeps the text at a pointer out of every excerpt.
    pub fn hide(&mut self, pointer: impl Into<String>) {
        self.hidden.push(pointer.into());
    }

    /// True if something is wrong that can't be left as it is.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// The report, in the order of the text.
    pub fn into_report(self) -> Report {
        let source = self.shown_source();
        let mut placed: Vec<(usize, Diagnostic)> = self
            .list
            .iter()
            .map(|finding| {
                let place = self.place(finding, &source);
                let diagnostic = Diagnostic {
                    code: finding.code,
                    severity: finding.severity,
                    message: finding.message.clone(),
                    fix: finding.fix.clone(),
                    place: Some(place.clone()),
                };
                (place.start, diagnostic)
            })
            .collect();
        placed.sort_by_key(|(start, _)| *start);
        let more = placed.len().saturating_sub(MAX_FINDINGS);
        let mut diagnostics: Vec<Diagnostic> = placed.into_iter().map(|(_, one)| one).take(MAX_FINDINGS).collect();
        if more > 0 {
            diagnostics.push(Diagnostic {
                code: "more-problems",
                severity: Severity::Error,
                message: format!("{more} more problems in this file"),
                place: None,
                fix: None,
            });
        }
        Report { diagnostics }
    }

    fn place(&self, finding: &Finding, source: &Arc<Source>) -> Place {
        let whole = if finding.on_key {
            self.document.key_place(&finding.pointer)
        } else {
            self.document.place(&finding.pointer)
        };
        let mut place = Place { source: Arc::clone(source), ..whole };
        if let Some(range) = &finding.inside
            && let Some(raw) = self.document.source_text(&finding.pointer)
            && let Some(serde_json::Value::String(decoded)) = self.document.get(&finding.pointer)
            && let Some(found) = text::locate(raw, decoded, range)
        {
            let start = place.start;
            place.start = start + found.start;
            place.end = start + found.end;
        } else if !finding.on_key {
            // A node of many lines is marked by its first.
            let shown = source.text.get(place.start..place.end).unwrap_or_default();
            if let Some(newline) = shown.find('\n') {
                place.end = place.start + shown.get(..newline).unwrap_or_default().trim_end().len();
            }
        }
        place
    }

    /// The source, or a copy in which hidden texts are stars of the same length.
    fn shown_source(&self) -> Arc<Source> {
        if self.hidden.is_empty() || self.list.is_empty() {
            return Arc::clone(&self.document.source);
        }
        let mut ranges: Vec<Range<usize>> = self
            .hidden
            .iter()
            .filter(|pointer| self.document.source_text(pointer).is_some())
            .map(|pointer| self.document.place(pointer))
            .map(|place| place.start..place.end)
            .collect();
        ranges.sort_by_key(|range| range.start);
        let original = &self.document.source.text;
        let mut text = String::with_capacity(original.len());
        let mut at = 0;
        for range in ranges {
            let start = range.start.max(at);
            text.push_str(original.get(at..start).unwrap_or_default());
            for c in original.get(start..range.end).unwrap_or_default().chars() {
                if c == '\n' || c == '\r' {
                    text.push(c);
                } else {
                    text.extend(std::iter::repeat_n('*', c.len_utf8()));
                }
            }
            at = at.max(range.end);
        }
        text.push_str(original.get(at..).unwrap_or_default());
        Arc::new(Source { name: self.document.source.name.clone(), text })
    }
}
