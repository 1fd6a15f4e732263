//! Arguments that the request does not take: `confirm`, `extra`; and those that the person gives.

use crate::call::{CONFIRM, CONTINUE};
use crate::diagnostic::hint::nearest;
use crate::mapping::{ClientCapability, Questions, ToolEdits};
use crate::template::Template;
use serde_json::{Map, Value, json};

/// Checks that `ask.*.into`, `ask.*.unless` and the placeholders of `confirm` of `own` name something: an argument of
/// `known`, or what another question gives. The error is the key below the tool, what is wrong, and how to mend it.
pub(super) fn names_are_known(
    own: &ToolEdits,
    all: &ToolEdits,
    known: &[&str],
    tool: &str,
) -> Result<(), (String, String, String)> {
    let listed =
        || if known.is_empty() { "it has no arguments".to_string() } else { format!("it has: {}", known.join(", ")) };
    let mend =
        |name: &str| nearest(name, known.iter().copied()).map_or_else(listed, |near| format!("did you mean `{near}`?"));
    let answers: Vec<&str> = all.ask.iter().map(|(key, ask)| ask.into.as_deref().unwrap_or(key)).collect();
    for (key, ask) in &own.ask {
        if let Some(into) = ask.into.as_deref().filter(|into| !known.contains(into)) {
            return Err((
                format!("ask/{}/into", super::token(key)),
                format!("`{tool}` has no argument `{into}`"),
                mend(into),
            ));
        }
        if let Some(unless) = ask.unless.as_deref().filter(|name| !known.contains(name) && !answers.contains(name)) {
            return Err((
                format!("ask/{}/unless", super::token(key)),
                format!("`{tool}` has no argument `{unless}`"),
                mend(unless),
            ));
        }
    }
    let Some(Ok(confirm)) = own.confirm.as_deref().map(Template::compile) else { return Ok(()) };
    for path in confirm.placeholders() {
        let Some(name) = path.first() else { continue };
        // These three are filled in at load.
        if !known.contains(&name.as_str()) && !matches!(name.as_str(), "method" | "path" | "tool") {
            return Err((
                "confirm".to_string(),
                format!("`{{{{{name}}}}}`: `{tool}` has no such argument"),
                mend(name),
            ));
        }
    }
    Ok(())
}

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
    for (name, schema) in &edits.extra {
        properties.entry(name.clone()).or_insert_with(|| schema.clone());
    }
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

/// An edit about tasks that has no effect on this tool: its key, what is wrong, and how to mend it.
pub(super) fn idle_task_edit(edits: &ToolEdits) -> Option<(&'static str, &'static str, &'static str)> {
    let required = edits.requires_client.iter().flatten().any(|wanted| *wanted == ClientCapability::Tasks);
    let during = edits.poll.as_ref().is_some_and(|poll| poll.questions == Questions::During);
    if required && edits.poll.is_none() {
        return Some(("requires_client", "no call of this tool becomes a task", "add `poll:`, or take `tasks` out"));
    }
    (during && edits.ask.is_empty() && edits.confirm.is_none()).then_some((
        "poll/questions",
        "nothing is asked",
        "add `ask:` or `confirm:`, or delete `questions`",
    ))
}
