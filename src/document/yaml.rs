//! YAML 1.2 through the events of `saphyr-parser`, straight into a tree.
//!
//! Beyond the core schema it knows merge keys (`<<`), which YAML 1.2 dropped and OpenAPI authors use.
//! Keys are text whatever they look like: `200:` is `"200"`.

mod builder;
pub(super) mod offsets;
mod repair;
mod scalar;
mod syntax;

pub(super) use repair::repair;
pub(super) use syntax::SYNTAX;

use super::Limits;
use super::parse::{Findings, Read};
use super::problems::Problems;
use crate::diagnostic::{Diagnostic, Place, Source};
use crate::pace;
use builder::{Builder, Flow, too_many};
use saphyr_parser::Parser;
use std::sync::Arc;

/// Reads the first document that is not empty; problems that cost a part only go to `problems`.
pub(super) fn read(source: &Arc<Source>, limits: &Limits, problems: &mut Problems) -> Result<Read, Diagnostic> {
    let text = source.text.as_str();
    // The scanner buffers a flow collection as tokens, two an item, before it gives the first event.
    let separators = text.bytes().filter(|b| matches!(b, b',' | b'[' | b'{')).count();
    if separators > limits.max_nodes / 2 {
        let place = Place::new(Arc::clone(source), 0, 0, "");
        return Err(too_many(limits).at(place));
    }
    let mut found = Problems::default();
    let strict = match read_text(source, text, limits, &mut found) {
        Ok(read) => {
            problems.merge(found);
            return Ok(read);
        }
        Err(failure) => failure,
    };
    if strict.indentation
        && let Some(repaired) = repair(text)
    {
        let mut found = Problems::default();
        if let Ok(read) = read_text(source, &repaired, limits, &mut found) {
            let problem =
                Diagnostic::note("yaml-indentation", "this is indented too little for YAML; it was read all the same");
            problems.push(problem.at(strict.problem.place).fix("indent it more than the key that it belongs to"));
            problems.merge(found);
            return Ok(read);
        }
    }
    problems.merge(found);
    Err(strict.problem)
}

struct Failure {
    problem: Diagnostic,
    /// True if [`repair`] may help.
    indentation: bool,
}

impl From<Diagnostic> for Failure {
    fn from(problem: Diagnostic) -> Self {
        Failure { problem, indentation: false }
    }
}

/// `text` is `source.text` or what [`repair`] made of it.
fn read_text(source: &Arc<Source>, text: &str, limits: &Limits, problems: &mut Problems) -> Result<Read, Box<Failure>> {
    let mut builder = Builder::new(source, text, limits, problems);
    for next in Parser::new_from_str(text) {
        pace::breathe();
        match next {
            Ok((event, span)) => {
                if builder.event(event, span).map_err(|problem| Box::new(problem.into()))? == Flow::Done {
                    break;
                }
            }
            Err(_) if builder.forgives() => break,
            Err(error) => {
                let offset = builder.byte(error.marker().index());
                let problem = syntax::problem(source, error.info(), offset, builder.open_bracket());
                return Err(Box::new(Failure { problem, indentation: is_indentation(error.info()) }));
            }
        }
    }
    match builder.result() {
        Some((root, duplicates)) => Ok(Read { root, findings: Findings { duplicates, huge: false } }),
        None => {
            let place = Place::new(Arc::clone(source), 0, 0, "");
            Err(Box::new(Diagnostic::error("empty-document", "the document is empty").at(place).into()))
        }
    }
}

/// True for the scanner's complaints about lines in brackets or quotes that stand too far left.
pub(super) fn is_indentation(info: &str) -> bool {
    info.starts_with("invalid indentation")
}
