//! `onSuccess`, `onFailure` and their workflow-wide forms (Arazzo 1.0 §4.6.8, §4.6.9): what comes after a step.

use super::{Action, Criterion, Goal, Then, Wrong, read::parameters, reference};
use serde_json::Value;
use std::time::Duration;

/// Longest pause before another attempt.
const LONGEST: f64 = 3600.0;

/// The actions of a step that succeeded (`success`) or failed, in the order in which they are tried: its own, then
/// those of the workflow that it does not replace by name.
pub(super) fn read(
    workflow: (&Value, &str),
    step: (&Value, &str),
    components: Option<&Value>,
    success: bool,
) -> Result<Vec<Action>, Wrong> {
    let (own, common) = if success { ("onSuccess", "successActions") } else { ("onFailure", "failureActions") };
    let reader = Reader { components, kind: common, success };
    let mut actions = reader.list(step.0.get(own), &format!("{}/{own}", step.1))?;
    for action in reader.list(workflow.0.get(common), &format!("{}/{common}", workflow.1))? {
        if !actions.iter().any(|known| known.name == action.name) {
            actions.push(action);
        }
    }
    Ok(actions)
}

struct Reader<'a> {
    components: Option<&'a Value>,
    kind: &'static str,
    success: bool,
}

impl Reader<'_> {
    fn list(&self, list: Option<&Value>, at: &str) -> Result<Vec<Action>, Wrong> {
        let Some(list) = list else { return Ok(Vec::new()) };
        let list = list.as_array().ok_or_else(|| (at.to_string(), "actions are a list".to_string()))?;
        let mut actions: Vec<Action> = Vec::new();
        for (index, written) in list.iter().enumerate() {
            let at = format!("{at}/{index}");
            let action = self.action(written, &at)?;
            if actions.iter().any(|known| known.name == action.name) {
                return Err((at, format!("there is an action `{}` already", action.name)));
            }
            actions.push(action);
        }
        Ok(actions)
    }

    fn action(&self, written: &Value, at: &str) -> Result<Action, Wrong> {
        let wrong = |message: String| (at.to_string(), message);
        let action = reference(written, self.components, self.kind).map_err(wrong)?;
        let text = |key: &str| action.get(key).and_then(Value::as_str);
        let name = text("name").ok_or_else(|| wrong("an action has no `name`".to_string()))?.to_string();
        let mut criteria = Vec::new();
        for criterion in action.get("criteria").and_then(Value::as_array).into_iter().flatten() {
            criteria.push(Criterion::read(criterion).map_err(|message| wrong(format!("action `{name}`: {message}")))?);
        }
        let goal = match (text("stepId"), text("workflowId")) {
            (None, None) => None,
            (Some(step), None) => Some(Goal::Step(step.to_string())),
            (None, Some(workflow)) => {
                let (source, id) = super::workflow_name(workflow).map_err(wrong)?;
                Some(Goal::Workflow(source, id, parameters(action.get("parameters"), self.components, at)?))
            }
            _ => return Err(wrong(format!("action `{name}` has `stepId` or `workflowId`, not both"))),
        };
        let then = match (text("type"), goal) {
            (Some("end"), None) => Then::End,
            (Some("end"), Some(_)) => return Err(wrong(format!("action `{name}` ends, and names where to go on"))),
            (Some("goto"), Some(goal)) => Then::Goto(goal),
            (Some("goto"), None) => return Err(wrong(format!("action `{name}` needs `stepId` or `workflowId`"))),
            (Some("retry"), first) if !self.success => {
                Then::Retry { after: after(action).map_err(wrong)?, limit: limit(action).map_err(wrong)?, first }
            }
            _ => {
                let kinds = if self.success { "`end` or `goto`" } else { "`end`, `goto` or `retry`" };
                return Err(wrong(format!("the `type` of action `{name}` is {kinds}")));
            }
        };
        Ok(Action { name, then, criteria, pointer: at.to_string() })
    }
}

/// `retryAfter`, in seconds.
fn after(action: &Value) -> Result<Option<Duration>, String> {
    let Some(written) = action.get("retryAfter") else { return Ok(None) };
    let seconds = written.as_f64().filter(|seconds| (0.0..=LONGEST).contains(seconds));
    let seconds = seconds.ok_or_else(|| format!("`retryAfter` is a number of seconds, {LONGEST} at most"))?;
    Ok(Some(Duration::from_secs_f64(seconds)))
}

/// `retryLimit`; one attempt where it is not said.
fn limit(action: &Value) -> Result<u32, String> {
    let Some(written) = action.get("retryLimit") else { return Ok(1) };
    let limit = written.as_u64().and_then(|limit| u32::try_from(limit).ok());
    limit.ok_or_else(|| "`retryLimit` is a whole number of attempts".to_string())
}
