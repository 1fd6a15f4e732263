//! Compiled validators (JSON Schema 2020-12) whose messages are for a model.

/// A compiled validator, built on first use.
#[derive(Debug)]
pub struct Checker;

impl Checker {
    /// Takes a self-contained schema of dialect 2020-12; compiles nothing yet.
    pub fn new(_: std::sync::Arc<serde_json::Value>) -> Checker {
        Checker
    }
}
