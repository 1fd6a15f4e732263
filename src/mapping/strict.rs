//! Reads an author's settings against the generated JSON Schema: unknown keys, wrong types and bad values, all of
//! them, each with its place and a way out. The mapping language and the server's own settings share it.

mod finding;
mod names;
mod text;
mod walk;

pub use finding::{Finding, Findings};
pub use names::Renamed;

use serde_json::Value;

/// What a file may contain.
#[derive(Debug, Clone, Copy)]
pub struct Grammar {
    /// The schema, closed everywhere.
    pub schema: &'static Value,
    /// Keys that people bring from elsewhere.
    pub renamed: &'static [Renamed],
}

/// Checks the whole document and returns the tree that is left: unknown keys and wrong values taken out, empty
/// sections (`rules:`) left out.
pub fn check(grammar: Grammar, findings: &mut Findings<'_>) -> Value {
    let root = &findings.document().root;
    let mut walker = walk::Walker::new(grammar, findings);
    walker.walk(root, grammar.schema, "", None).unwrap_or_default()
}

/// A pointer as people say it: `/rules/0/match` is `rules[0].match`.
pub fn spoken(pointer: &str) -> String {
    let mut out = String::new();
    for step in pointer.split('/').skip(1) {
        let step = crate::document::pointer::unescape(step);
        if crate::document::pointer::index(&step).is_some() {
            out.push('[');
            out.push_str(&step);
            out.push(']');
            continue;
        }
        if !out.is_empty() {
            out.push('.');
        }
        if step.contains(['.', '/', ' ']) {
            out.push('"');
            out.push_str(&step);
            out.push('"');
        } else {
            out.push_str(&step);
        }
    }
    out
}
