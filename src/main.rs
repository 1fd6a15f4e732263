//! rest-mcp
fn main() {}
