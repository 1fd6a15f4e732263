//! Search mode: finds and describes tools that `tools/list` does not show.

use super::Failure;
use super::run::{Service, State};
use crate::access::{Caller, Decision};
use crate::catalog::Arguments;
use crate::catalog::Tool;
use crate::catalog::search::{self, Index};
use crate::content::{Block, Content, Json, Text};
use serde_json::{Value, json};
use std::sync::Arc;

async fn allowed(state: &State, caller: &Caller, tool: &Tool) -> bool {
    matches!(state.gate.decide(caller, tool).await, Decision::Allow)
}

fn json_content(value: Value) -> Content {
    let json = Json::Tree(Arc::new(value));
    Content { blocks: vec![Block::Text(Text::Json(json.clone()))], structured: Some(json), ..Content::default() }
}

impl Service {
    pub(super) async fn search(&self, state: &Arc<State>, caller: &Caller, arguments: &Arguments) -> Content {
        let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
        let limit = arguments
            .get("limit")
            .and_then(Value::as_u64)
            .map_or(search::USUAL_LIMIT, |limit| (limit as usize).clamp(1, search::MOST_LIMIT));
        let index = state.index.get_or_init(|| Index::new(&state.catalog));
        let mut found = Vec::new();
        for (position, _) in index.search(query, search::MOST_LIMIT * 4) {
            let Some((_, tool)) = state.catalog.tools.get_index(position) else { continue };
            if found.len() < limit && allowed(state, caller, tool).await {
                found.push(search::found(tool));
            }
        }
        json_content(json!({"tools": found}))
    }

    pub(super) async fn describe(
        &self,
        state: &Arc<State>,
        caller: &Caller,
        arguments: &Arguments,
    ) -> Result<Content, Failure> {
        let name = arguments.get("name").and_then(Value::as_str).unwrap_or_default();
        match super::run::reachable(&state.catalog, name) {
            Some(tool) if allowed(state, caller, tool).await => Ok(json_content(search::described(tool))),
            _ => Ok(Content::error(format!("There is no tool `{name}`. Use search_tools to find one."))),
        }
    }
}
