//! Tests of document: from bytes to trees with places, `$ref`s, loading.

mod corpus;
mod diagnostic;
mod json;
mod limits;
mod load;
mod places;
mod pointer;
mod references;
mod remote;
mod yaml;

use rest_mcp::diagnostic::{Report, Source};
use rest_mcp::document::{Document, Limits, parse};
use serde_json::Value;

/// Parses text that must give a document.
fn read(text: &str) -> (Document, Report) {
    let (document, report) = parse(Source::new("doc.yaml", text), "/d/doc.yaml".to_owned(), &Limits::default());
    (document.unwrap_or_else(|| panic!("no document:\n{}", report.render(false))), report)
}

/// Parses text that must not give a document; returns what was said.
fn refused(text: &str) -> Report {
    let (document, report) = parse(Source::new("doc", text), "/d/doc".to_owned(), &Limits::default());
    assert!(document.is_none(), "{text:?} was read as {:?}", document.map(|d| d.root.clone()));
    assert!(report.has_errors(), "refused without an error");
    report
}

/// The tree, with no problem of any kind.
fn clean(text: &str) -> Value {
    let (document, report) = read(text);
    assert!(report.is_empty(), "{}", report.render(false));
    document.root.clone()
}

fn codes(report: &Report) -> Vec<&'static str> {
    report.diagnostics.iter().map(|d| d.code).collect()
}
