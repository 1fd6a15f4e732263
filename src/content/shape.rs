//! The result pipeline of a mapping.

/// jq, templates and selectors of one tool, compiled.
#[derive(Debug)]
pub struct Compiled;
