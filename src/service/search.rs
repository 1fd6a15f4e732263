//! Search mode: finds and describes tools that `tools/list` does not show.

use super::Failure;
use super::run::{Service, State};
use crate::access::{Access, Caller, Decision};
use crate::catalog::Tool;
use crate::catalog::search::Index;
use crate::catalog::Arguments;
use crate::content::{Block, Content, Json, Text, failure};
use serde_json::{Value, json};
use std::sync::Arc;

/// Results of one search.
const MOST_RESULTS: usize = 20;

async fn allowed(access: &Access, caller: &Caller, tool: &Tool) -> bool {
    matches!(access.decide(caller, tool).await, Decision::Allow)
}

fn json_content(value: Value) -> Content {
    let json = Json::Tree(Arc::new(value));
    Content { blocks: vec![Block::Text(Text::Json(json.clone()))], structured: Some(json), ..Content::default() }
}

impl Service {
    pub(super) async fn search(&self, state: &Arc<State>, caller: &Caller, arguments: &Arguments) -> Content {
        let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
        let limit = arguments.get("limit").and_then(Value::as_u64).map_or(8, |limit| limit.clamp(1, MOST_RESULTS as u64) as usize);
        let index = state.index.get_or_init(|| Index::new(&state.catalog));
        let mut found = Vec::new();
        for (position, _) in index.search(query, MOST_RESULTS * 4) {
            let Some((name, tool)) = state.catalog.tools.get_index(position) else { continue };
            if found.len() < limit && allowed(&state.access, caller, tool).await {
                found.push(json!({"name": name, "description": short(&tool.description)}));
            }
        }
        json_content(json!({"tools": found}))
    }

    pub(super) async fn describe(&self, state: &Arc<State>, caller: &Caller, arguments: &Arguments) -> Result<Content, Failure> {
        let name = arguments.get("name").and_then(Value::as_str).unwrap_or_default();
        match state.catalog.tools.get(name) {
            Some(tool) if allowed(&state.access, caller, tool).await => Ok(json_content(json!({
                "name": tool.name,
                "description": tool.description,
                "inputSchema": tool.input.published.as_ref(),
            }))),
            _ => Ok(failure::text(format!("There is no tool `{name}`. Use search_tools to find one."))),
        }
    }
}

fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(160) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_string(),
    }
}
