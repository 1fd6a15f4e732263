//! Arguments that the request does not take: `confirm`, `extra`; and those that the person gives.

use crate::call::{CONFIRM, CONTINUE};
use crate::mapping::ToolEdits;
use serde_json::{Map, Value, json};

/// Names of the arguments that the request does not take.
pub(super) fn own_arguments(edits: &ToolEdits) -> Vec<String> {
    let mut names: Vec<String> = edits.extra.keys().cloned().collect();
    names.extend(edits.confirm.is_some().then(|| CONFIRM.to_string()));
    names.extend(edits.paginate.is_some().then(|| CONTINUE.to_string()));
    names
}

/// Adds `extra` arguments, `confirm` and `continue_from`, and takes away what `ask` fills in, in the published and the
/// checked schema alike.
pub(super) fn amend(schema: &mut Value, edits: &ToolEdits) {
    let Value::Object(root) = schema else { return };
    let properties = root.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    let Value::Object(properties) = properties else { return };
    let mut gone: Vec<String> = Vec::new();
    let mut optional: Vec<String> = Vec::new();
    for (key, ask) in &edits.ask {
        let into = ask.into.clone().unwrap_or_else(|| key.clone());
        match &ask.unless {
            // The model may give it; the person is asked only where it does not.
            Some(given) if *given == into => optional.push(into),
            _ => {
                properties.shift_remove(&into);
                gone.push(into);
            }
        }
    }
    for (name, schema) in &edits.extra {
        properties.entry(name.clone()).or_insert_with(|| schema.clone());
    }
    if edits.confirm.is_some() {
        properties.entry(CONFIRM.to_string()).or_insert_with(|| {
            json!({"type": "boolean", "description": "Only where you were told so: the person has agreed to exactly this call."})
        });
    }
    if edits.paginate.is_some() {
        properties.entry(CONTINUE.to_string()).or_insert_with(|| {
            json!({"type": "string", "description": "Opaque: as an earlier answer gave it, to go on where that ended."})
        });
    }
    if let Some(Value::Array(required)) = root.get_mut("required") {
        required.retain(|name| name.as_str().is_none_or(|name| !gone.iter().chain(&optional).any(|one| one == name)));
    }
}
