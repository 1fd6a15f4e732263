//! Makes a value conform to a published output schema.

/// Compiled form of a published output schema.
#[derive(Debug)]
pub struct Shape;
