//! Compiled validators (JSON Schema 2020-12) whose messages are for a model.

use serde_json::Value;
use std::sync::Arc;

/// A compiled validator, built on first use.
#[derive(Debug)]
pub struct Checker;

impl Checker {
    /// Takes a self-contained schema of dialect 2020-12.
    pub fn new(_: Arc<Value>) -> Checker {
        Checker
    }
}
