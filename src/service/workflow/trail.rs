//! What has happened in a run of a workflow.

use crate::catalog::{Tool, Workflow};
use crate::content::Content;
use serde_json::{Map, Value};

/// Longest part of an answer that is quoted, in characters.
const QUOTED: usize = 300;
/// Most lines about single calls; the earlier ones are counted.
const MOST_LINES: usize = 20;

/// Every call in order.
#[derive(Default)]
pub(super) struct Trail {
    calls: usize,
    lines: Vec<(String, String)>,
    results: Map<String, Value>,
}

impl Trail {
    /// A step has been called.
    pub(super) fn called(&mut self) {
        self.calls += 1;
    }

    /// How many calls there were.
    pub(super) fn calls(&self) -> usize {
        self.calls
    }

    /// A step or workflow has done its work.
    pub(super) fn done(&mut self, id: &str, tool: &Tool, outputs: Option<&Map<String, Value>>) {
        let shown = outputs.filter(|outputs| !outputs.is_empty());
        let shown =
            shown.map(|outputs| format!(": {}", cut(&Value::Object(outputs.clone()).to_string()))).unwrap_or_default();
        self.lines.push((id.to_string(), format!("- `{id}` ({}) already happened{shown}", tool.name)));
    }

    /// A step has failed.
    pub(super) fn failed(&mut self, id: &str, tool: &Tool, reason: &str) {
        self.lines.push((id.to_string(), format!("- `{id}` ({}) failed: {}", tool.name, cut(reason))));
    }

    /// What a step gave last.
    pub(super) fn result(&mut self, id: &str, value: Value) {
        self.results.insert(id.to_string(), value);
    }

    /// What each step gave.
    pub(super) fn results(self) -> Map<String, Value> {
        self.results
    }

    /// An error that says what happened before. A failure that `what` is about stands there already.
    pub(super) fn report(&self, workflow: &Workflow, what: &str) -> Content {
        let mut lines = vec![what.to_string()];
        let told = self
            .lines
            .last()
            .filter(|(id, line)| what.starts_with(&format!("Step `{id}` failed")) && line.contains(") failed: "));
        let before = self.lines.len() - usize::from(told.is_some());
        let hidden = before.saturating_sub(MOST_LINES);
        if hidden > 0 {
            lines.push(format!("- {hidden} earlier calls"));
        }
        lines.extend(self.lines.iter().take(before).skip(hidden).map(|(_, line)| line.clone()));
        for step in &workflow.steps {
            if !self.lines.iter().any(|(id, _)| *id == step.id) {
                lines.push(format!("- `{}` was not started", step.id));
            }
        }
        Content::error(lines.join("\n"))
    }
}

/// A text in few words.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_string(),
    }
}
