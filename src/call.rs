//! A tool plus arguments that passed: healed, checked, defaults filled in. A [`Call`] exists only if
//! the arguments satisfy the schema and can be sent.

use crate::catalog::{Arguments, Tool};
use std::sync::Arc;

/// A call that may be made.
#[derive(Debug)]
pub struct Call {
    /// The tool.
    pub tool: Arc<Tool>,
    /// Checked arguments; nulls of optional parameters removed.
    pub arguments: Arguments,
}

/// Why arguments were refused; every problem, not just the first.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// One entry a problem.
    pub problems: Vec<Problem>,
}

/// One wrong argument, in words for a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Argument name with path, such as `filter.limit`; empty for the object itself.
    pub argument: String,
    /// What is wrong and what was expected.
    pub message: String,
    /// "did you mean `petId`?"
    pub hint: Option<String>,
}
