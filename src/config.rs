//! `rest-mcp.yaml`: the server's own settings.
mod environment;
pub use environment::ProcessEnvironment;
/// Schema.
pub fn json_schema() -> serde_json::Value {
    serde_json::Value::Null
}
