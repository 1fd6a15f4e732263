//! Values that a mapping gives where the caller gives none.
//!
//! A `default` in a document's schema is the server's business and is never sent; the schema of a
//! hand-written or composite tool belongs to the mapping, so its defaults count.

use crate::catalog::{Action, Arguments, Binding, From, Tool};
use serde_json::Value;

/// Fills what is absent.
pub(super) fn fill(tool: &Tool, arguments: &mut Arguments) {
    let by_hand = match &tool.action {
        Action::Request(action) => {
            for binding in &action.bindings {
                if let Binding { from: From::Argument(name), default: Some(default), .. } = binding
                    && !arguments.contains_key(name)
                {
                    arguments.insert(name.clone(), default.clone());
                }
            }
            action.bindings.iter().any(|binding| matches!(binding.from, From::Template(_)))
        }
        Action::Steps(_) | Action::Workflow(_) => true,
        Action::Search | Action::Describe | Action::CallByName => false,
    };
    if !by_hand {
        return;
    }
    for (name, property) in tool.input.check.schema().get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        if let Some(default) = property.get("default")
            && !arguments.contains_key(name)
        {
            arguments.insert(name.clone(), default.clone());
        }
    }
}
