//! Compiled validators (JSON Schema 2020-12) whose messages are for a model.

/// A compiled validator, built on first use.
#[derive(Debug)]
pub struct Checker;
