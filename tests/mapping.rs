//! Mapping files, templates and settings.

mod edit;
mod init;
mod reading;
mod schema;
mod select;
mod settings;
mod slot;
mod template;

use rest_mcp::diagnostic::{Report, Source};
use rest_mcp::document::{Document, Limits, parse};
use rest_mcp::mapping::Mapping;
use std::sync::Arc;

fn document(text: &str) -> Document {
    let source = Arc::new(Source { name: "mapping.yaml".to_owned(), text: text.to_owned() });
    let (document, report) = parse(source, "mapping.yaml".to_owned(), &Limits::default());
    document.unwrap_or_else(|| panic!("{}", report.render(false)))
}

fn read(text: &str) -> (Option<Mapping>, Report) {
    rest_mcp::mapping::read(&document(text))
}

fn mapping(text: &str) -> Mapping {
    let (mapping, report) = read(text);
    mapping.unwrap_or_else(|| panic!("{}", report.render(false)))
}
