//! Documents from text, without files.

use rest_mcp::diagnostic::{Report, Source};
use rest_mcp::document::{DocumentSet, Limits, parse};
use rest_mcp::openapi::{Api, Operation, ReadOptions, read};
use std::sync::Arc;

/// A set of documents: (location, text), the root first.
pub fn set(files: &[(&str, &str)]) -> DocumentSet {
    let documents = files.iter().map(|(location, text)| {
        let source = Arc::new(Source { name: (*location).to_owned(), text: (*text).to_owned() });
        let (document, report) = parse(source, (*location).to_owned(), &Limits::default());
        Arc::new(document.unwrap_or_else(|| panic!("{location}: {report:?}")))
    });
    DocumentSet::new(documents.collect())
}

/// Reads several files.
pub fn read_files(files: &[(&str, &str)]) -> (Api, Report) {
    let (api, report) = read(&set(files), &ReadOptions::default());
    (api.unwrap_or_else(|| panic!("{report:?}")), report)
}

/// Reads one file.
pub fn read_text(text: &str) -> (Api, Report) {
    read_files(&[("/specs/api.yaml", text)])
}

/// Reads a 3.0, 3.1 or 3.2 document that has these members besides version and info.
pub fn read_body(version: &str, body: &str) -> (Api, Report) {
    read_text(&format!("openapi: {version}\ninfo: {{ title: T, version: '1' }}\n{body}"))
}

/// The only operation.
pub fn only(api: &Api) -> &Operation {
    assert_eq!(api.operations.len(), 1, "{:?}", api.skipped);
    &api.operations[0]
}

/// The codes of a report.
pub fn codes(report: &Report) -> Vec<&'static str> {
    report.diagnostics.iter().map(|it| it.code).collect()
}
