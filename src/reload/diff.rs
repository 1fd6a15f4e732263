//! What a reload changes: for the log, and for the clients.

use crate::catalog::{Action, Catalog, Tool};
use crate::pace;
use crate::service::Change;
use std::sync::Arc;

/// The difference between two catalogs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    /// Tools that are new.
    pub added: Vec<String>,
    /// Tools that are gone.
    pub removed: Vec<String>,
    /// Tools that look or do otherwise.
    pub changed: Vec<String>,
    /// `tools/list` is another one.
    pub tools: bool,
    /// `prompts/list` is another one.
    pub prompts: bool,
    /// `resources/list` or `resources/templates/list` is another one.
    pub resources: bool,
}

impl Diff {
    /// What leads from `before` to `after`.
    pub fn between(before: &Catalog, after: &Catalog) -> Diff {
        let mut diff = Diff::default();
        for (name, tool) in &after.tools {
            pace::breathe();
            match before.tools.get(name) {
                None => diff.added.push(name.clone()),
                Some(old) => {
                    let looks = !looks_alike(old, tool);
                    diff.tools |= looks;
                    if looks || does(old) != does(tool) {
                        diff.changed.push(name.clone());
                    }
                }
            }
        }
        diff.removed = before.tools.keys().filter(|name| !after.tools.contains_key(*name)).cloned().collect();
        let order = !before.tools.keys().eq(after.tools.keys());
        let mode = (before.search_mode, &before.pinned) != (after.search_mode, &after.pinned);
        let own = before.own.len() != after.own.len()
            || before.own.iter().zip(&after.own).any(|(one, other)| !looks_alike(one, other));
        diff.tools |= order || mode || own;
        diff.prompts = format!("{:?}", before.prompts) != format!("{:?}", after.prompts);
        let shown = |catalog: &Catalog| -> Vec<_> {
            let of = |one: &Arc<crate::catalog::Resource>| {
                (one.name.clone(), one.title.clone(), one.description.clone(), one.mime_type.clone(), one.uri.clone())
            };
            catalog.resources.iter().map(of).collect()
        };
        diff.resources = shown(before) != shown(after);
        diff
    }

    /// True if clients and calls see no difference.
    pub fn is_empty(&self) -> bool {
        *self == Diff::default()
    }

    /// What clients are told: each kind once, and only if it changed.
    pub fn changes(&self) -> Vec<Change> {
        let all = [(self.tools, Change::Tools), (self.prompts, Change::Prompts), (self.resources, Change::Resources)];
        all.into_iter().filter_map(|(changed, change)| changed.then_some(change)).collect()
    }
}

/// True if `tools/list` shows both alike.
fn looks_alike(one: &Tool, other: &Tool) -> bool {
    one.title == other.title
        && one.description == other.description
        && one.annotations == other.annotations
        && one.icons == other.icons
        && one.input.published == other.input.published
        && one.input.mirrored == other.input.mirrored
        && one.output.published == other.output.published
}

/// What a tool does, as far as a log needs to tell two apart; secrets do not print.
fn does(tool: &Tool) -> String {
    let operation = &tool.operation;
    match &tool.action {
        Action::Request(action) => format!(
            "{operation:?} {} {} {:?} {:?} {:?} {:?}",
            action.method, action.base_url, action.path, action.parameters, action.bindings, action.security
        ),
        Action::Steps(steps) => {
            let calls: Vec<_> = steps.iter().map(|step| (&step.id, &step.tool.name, &step.with)).collect();
            format!("{calls:?}")
        }
        _ => String::new(),
    }
}
