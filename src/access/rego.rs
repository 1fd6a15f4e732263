//! Rego policies in the embedded engine. No builtin of ours or theirs reaches a file or a socket.

use super::{Decision, read_policy_answer};
use regorus::utils::limits::ExecutionTimerConfig;
use regorus::{Engine, Value as RegoValue};
use serde_json::Value;
use std::num::NonZeroU32;
use std::time::Duration;

/// A policy that takes longer than this to say yes says no.
const LONGEST: Duration = Duration::from_millis(250);
const STEPS_BETWEEN_CHECKS: NonZeroU32 = NonZeroU32::MIN.saturating_add(99);

/// A compiled policy. Each evaluation runs on its own copy of the engine.
#[derive(Debug, Clone)]
pub struct Rego {
    engine: Engine,
    rule: String,
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
        Ok(Rego { engine: probe, rule: rule.to_owned() })
    }

    /// Evaluates the policy; an error or an undefined answer hides.
    pub fn decide(&self, input: &Value) -> Decision {
        let mut engine = self.engine.clone();
        let Ok(input) = RegoValue::from_json_str(&input.to_string()) else {
            return Decision::Hide;
        };
        engine.set_input(input);
        let Ok(answer) = engine.eval_rule(self.rule.clone()) else {
            return Decision::Hide;
        };
        match answer {
            RegoValue::Bool(true) => Decision::Allow,
            RegoValue::Object(_) => match answer.to_json_str().ok().and_then(|text| serde_json::from_str(&text).ok()) {
                Some(answer) => read_policy_answer(&answer),
                None => Decision::Hide,
            },
            _ => Decision::Hide,
        }
    }
}
