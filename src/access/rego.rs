//! Rego policies in the embedded engine. No builtin of ours or theirs reaches a file or a socket.

use super::{Caller, Decision, policy_input, read_policy_answer};
use crate::catalog::Tool;
use crate::schema::kept::Kept;
use regorus::utils::limits::ExecutionTimerConfig;
use regorus::{Engine, Value as RegoValue};
use serde_json::Value;
use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A policy that takes longer than this to say yes says no.
const LONGEST: Duration = Duration::from_millis(250);
const STEPS_BETWEEN_CHECKS: NonZeroU32 = NonZeroU32::MIN.saturating_add(99);

/// Builtins whose answer is another one the next time.
const CHANGING: [&str; 7] = ["time.", "rand.", "uuid.", "opa.", "http.", "io.", "net.lookup"];
/// Tools, and callers of each, whose decisions are remembered; when there are more, all are made again.
const MOST_KNOWN: usize = 10_000;
const MOST_CALLERS: usize = 64;

/// A compiled policy. Each evaluation runs on its own copy of the engine. A policy that looks at nothing but its
/// input is asked once for each caller and tool: an evaluation costs more than the rest of a small call.
#[derive(Debug)]
pub struct Rego {
    engine: Engine,
    rule: String,
    /// By tool name, then by caller; `None` = the answer may change while the input stays the same.
    known: Option<Mutex<HashMap<String, Vec<Known>>>>,
}

/// A decision, and the tool and the caller that it was made for: all that a policy sees of them.
#[derive(Debug)]
struct Known {
    /// Stands for the whole tool: after a reload a name may mean another one, which has a schema of its own.
    tool: Kept,
    local: bool,
    subject: Option<Arc<str>>,
    tenant: Option<Arc<str>>,
    scopes: Vec<String>,
    claims: Option<Arc<Value>>,
    decision: Decision,
}

impl Known {
    fn is_of(&self, caller: &Caller, tool: &Tool) -> bool {
        if !self.tool.is_same(&tool.input.published) {
            return false;
        }
        let claims = match (&self.claims, &caller.claims) {
            // Callers by the same token share their claims.
            (Some(one), Some(other)) => Arc::ptr_eq(one, other) || one == other,
            (None, None) => true,
            _ => false,
        };
        claims
            && self.local == caller.local
            && self.subject == caller.subject
            && self.tenant == caller.tenant
            && self.scopes == caller.scopes
    }
}

impl Rego {
    /// Compiles modules (name, text); `rule` is the path that decides, such as `data.mcp.allow`.
    ///
    /// # Errors
    /// The engine's message with file, line and column, or that no module defines `rule`.
    pub fn new(modules: &[(String, String)], rule: &str) -> Result<Rego, String> {
        let mut engine = Engine::new();
        for (name, text) in modules {
            engine.add_policy(name.clone(), text.clone()).map_err(|error| error.to_string())?;
        }
        engine
            .set_execution_timer_config(ExecutionTimerConfig { limit: LONGEST, check_interval: STEPS_BETWEEN_CHECKS });
        // A first evaluation resolves all that need not be resolved again, and shows bad references.
        // What the rule thinks of an empty input does not matter.
        let mut probe = engine.clone();
        probe.set_input(RegoValue::new_object());
        if let Err(error) = probe.eval_rule(rule.to_owned()) {
            return Err(format!("`{rule}` can't be evaluated: {error}"));
        }
        let changing = modules.iter().any(|(_, text)| CHANGING.iter().any(|builtin| text.contains(builtin)));
        let known = (!changing).then(Mutex::default);
        Ok(Rego { engine: probe, rule: rule.to_owned(), known })
    }

    /// Evaluates the policy, unless it has decided the same before; an error or an undefined answer hides.
    pub fn decide(&self, caller: &Caller, tool: &Tool) -> Decision {
        if let Some(decision) = self.known_decision(caller, tool) {
            return decision;
        }
        match self.evaluate(&policy_input(caller, tool)) {
            Some(decision) => {
                self.remember(caller, tool, &decision);
                decision
            }
            None => Decision::Hide,
        }
    }

    fn known_decision(&self, caller: &Caller, tool: &Tool) -> Option<Decision> {
        let known = self.known.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&tool.name)?.iter().find(|known| known.is_of(caller, tool)).map(|known| known.decision.clone())
    }

    fn remember(&self, caller: &Caller, tool: &Tool, decision: &Decision) {
        let Some(known) = &self.known else { return };
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let Caller { subject, tenant, scopes, claims, local, .. } = caller.clone();
        let of_tool = known.entry(tool.name.clone()).or_default();
        // Few callers at a time: a longer list would cost more than an evaluation.
        if of_tool.len() >= MOST_CALLERS {
            of_tool.clear();
        }
        let tool = tool.input.published.clone();
        of_tool.push(Known { tool, local, subject, tenant, scopes, claims, decision: decision.clone() });
        if known.len() > MOST_KNOWN {
            known.clear();
        }
    }

    /// `None` = the policy failed or took too long; that may be another time.
    fn evaluate(&self, input: &Value) -> Option<Decision> {
        let mut engine = self.engine.clone();
        engine.set_input(RegoValue::from_json_str(&input.to_string()).ok()?);
        let answer = engine.eval_rule(self.rule.clone()).ok()?;
        Some(match answer {
            RegoValue::Bool(true) => Decision::Allow,
            RegoValue::Object(_) => match answer.to_json_str().ok().and_then(|text| serde_json::from_str(&text).ok()) {
                Some(answer) => read_policy_answer(&answer),
                None => Decision::Hide,
            },
            _ => Decision::Hide,
        })
    }
}
