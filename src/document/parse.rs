//! One door for JSON and YAML, chosen by content.

use super::index::Index;
use super::problems::Problems;
use super::{Document, Format, Limits, json, lenient, pointer, yaml};
use crate::diagnostic::{Diagnostic, Place, Report, Severity, Source};
use serde_json::Value;
use std::sync::Arc;

/// The code for integers past 64 bits.
pub(super) const INEXACT: &str = "number-precision";

/// Reads a document: JSON where the first character is `{` or `[`, else YAML 1.2 (core schema).
///
/// JSON with comments or trailing commas, and flow YAML that starts with a bracket, are read too,
/// with a warning (`json-not-strict`). Of duplicate keys the last wins, with a warning. `None` comes
/// with at least one error in the report; the report may hold warnings either way.
pub fn parse(source: Arc<Source>, location: String, limits: &Limits) -> (Option<Document>, Report) {
    if let Some(problem) = refuse_early(&source, limits) {
        return (None, problem.into());
    }
    let mut problems = Problems::default();
    let read = if looks_like_json(&source.text) {
        read_json(&source, limits, &mut problems)
    } else {
        yaml::read(&source, limits, &mut problems).map(|read| (read, Format::Yaml))
    };
    let document = match read {
        Ok((read, format)) => {
            let document = Document::with_format(location, source, read.root, format);
            explain(&document, read.findings, &mut problems);
            Some(document)
        }
        Err(problem) => {
            problems.push(problem);
            None
        }
    };
    (document, problems.report())
}

/// A tree and what has to be looked at again in the text.
pub(super) struct Read {
    pub(super) root: Value,
    pub(super) findings: Findings,
}

/// What a reader noticed without knowing the place.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Findings {
    /// Some object has a key twice.
    pub(super) duplicates: bool,
    /// Some number may be an integer past 64 bits.
    pub(super) huge: bool,
}

/// True if the first character that is no white space opens a JSON object or array.
pub(super) fn looks_like_json(text: &str) -> bool {
    matches!(text.trim_start().as_bytes().first(), Some(b'{' | b'['))
}

fn refuse_early(source: &Arc<Source>, limits: &Limits) -> Option<Diagnostic> {
    let text = &source.text;
    let whole = || Place::new(Arc::clone(source), 0, 0, "");
    if text.len() > limits.max_bytes {
        let message = format!("the document has {} bytes; at most {} are read", text.len(), limits.max_bytes);
        return Some(Diagnostic::error("document-too-large", message).at(whole()).fix("raise the size limit"));
    }
    // White space as JSON and YAML 1.2 (§5.5, §5.4) know it: a lone U+2000 is a text.
    let start = text.trim_start_matches([' ', '\t', '\r', '\n']);
    if start.is_empty() {
        return Some(Diagnostic::error("empty-document", "the document is empty").at(whole()));
    }
    if start.starts_with('<') {
        let head: String = start.chars().take(64).collect::<String>().to_ascii_lowercase();
        let kind = if head.starts_with("<!doctype") || head.starts_with("<html") {
            "an HTML page"
        } else if head.starts_with("<?xml") {
            "an XML document"
        } else {
            return None;
        };
        let at = text.len() - start.len();
        let place = Place::new(Arc::clone(source), at, at + 1, "");
        let problem = Diagnostic::error("not-json-or-yaml", format!("this is {kind}, not JSON or YAML"));
        return Some(problem.at(place).fix("point at the raw document, not at a page that shows it"));
    }
    None
}

fn read_json(source: &Arc<Source>, limits: &Limits, problems: &mut Problems) -> Result<(Read, Format), Diagnostic> {
    let strict = match json::read(source, &source.text, limits) {
        Ok(read) => return Ok((read, Format::Json)),
        Err(failure) => *failure,
    };
    if !strict.syntax {
        return Err(strict.problem);
    }
    let not_strict = |what: &str, place: Option<Place>| {
        Diagnostic::warning("json-not-strict", format!("this is not strict JSON ({what})")).at(place)
    };
    if let Some((cleaned, first)) = lenient::blank(&source.text)
        && let Ok(read) = json::read(source, &cleaned, limits)
    {
        let place = Place::new(Arc::clone(source), first.start, first.end, "");
        problems.push(not_strict(first.what, Some(place)).fix("remove it: other readers refuse the document"));
        return Ok((read, Format::Json));
    }
    let mut found = Problems::default();
    match yaml::read(source, limits, &mut found) {
        Ok(read) => {
            problems.push(not_strict("it was read as YAML", strict.problem.place));
            problems.merge(found);
            Ok((read, Format::Yaml))
        }
        // An author who calls the file YAML wrote YAML; a limit is a limit in either language.
        Err(problem) if problem.code != yaml::SYNTAX || is_yaml_name(&source.name) => Err(problem),
        Err(_) => Err(strict.problem),
    }
}

fn is_yaml_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with(".yaml") || name.ends_with(".yml")
}

/// Finds the places of what the reader noticed.
fn explain(document: &Document, findings: Findings, problems: &mut Problems) {
    if !findings.duplicates && !findings.huge {
        return;
    }
    let index: &Index = document.index();
    let text = &document.source.text;
    if findings.duplicates {
        index.duplicates(&mut |twice| {
            if !problems.count(Severity::Warning, "duplicate-key", 1) {
                return;
            }
            let first = document.source.position(twice.first.0);
            let message = format!(
                "key `{}` stands twice in one object; the last one counts, the one at line {}, column {} is ignored",
                twice.key, first.line, first.column
            );
            let place = document.place_of(twice.second, &pointer::join(twice.parent, twice.key));
            let problem = Diagnostic::warning("duplicate-key", message).at(place);
            problems.keep(problem.fix("remove or rename one of the two"));
        });
    }
    if findings.huge {
        index.huge_integers(text, &mut |at, range| {
            if problems.count(Severity::Warning, INEXACT, 1) {
                let (message, fix) = inexact(text.get(range.0..range.1).unwrap_or_default());
                problems.keep(Diagnostic::warning(INEXACT, message).at(document.place_of(range, at)).fix(fix));
            }
        });
    }
}

/// What to say of an integer that 64 bits can't hold.
pub(super) fn inexact(written: &str) -> (String, &'static str) {
    let shown: String = written.chars().take(40).collect();
    let message = format!("integer `{shown}` is past 64 bits; it is kept as the nearest floating-point number");
    (message, "quote it if the exact digits matter")
}
