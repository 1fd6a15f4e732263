//! `onSuccess`, `onFailure` and their workflow-wide forms: only what is the default anyway is supported.

use serde_json::Value;

/// Checks the actions of a step. `next` is the id of the step after it. The error says what is not supported.
pub(super) fn check(
    workflow: &Value,
    step: &Value,
    components: Option<&Value>,
    next: Option<&str>,
) -> Result<(), String> {
    let success =
        actions(step.get("onSuccess").or_else(|| workflow.get("successActions")), components, "successActions")?;
    for action in success {
        let plain = action.get("criteria").and_then(Value::as_array).is_none_or(Vec::is_empty);
        let to = action.get("stepId").and_then(Value::as_str);
        match action.get("type").and_then(Value::as_str) {
            Some("goto") if plain && to.is_some() && to == next => {}
            Some("end") if next.is_none() => {}
            Some("end") => return Err("`onSuccess` with `end` before the last step is not supported".to_string()),
            Some("goto") => return Err("`onSuccess` with `goto` is not supported, but to the next step".to_string()),
            _ => return Err("an action has `type: end` or `type: goto`".to_string()),
        }
    }
    for action in
        actions(step.get("onFailure").or_else(|| workflow.get("failureActions")), components, "failureActions")?
    {
        match action.get("type").and_then(Value::as_str) {
            Some("end") => {}
            Some(other) => return Err(format!("`onFailure` with `{other}` is not supported")),
            None => return Err("an action needs a `type`".to_string()),
        }
    }
    Ok(())
}

/// The actions of a list, `reference`s resolved.
fn actions<'v>(list: Option<&'v Value>, components: Option<&'v Value>, kind: &str) -> Result<Vec<&'v Value>, String> {
    let Some(list) = list else { return Ok(Vec::new()) };
    let list = list.as_array().ok_or("actions are a list")?;
    list.iter()
        .map(|action| match action.get("reference").and_then(Value::as_str) {
            None => Ok(action),
            Some(reference) => {
                let name = reference.strip_prefix(&format!("$components.{kind}."));
                name.and_then(|name| components?.get(kind)?.get(name))
                    .ok_or_else(|| format!("`{reference}` points to nothing"))
            }
        })
        .collect()
}
