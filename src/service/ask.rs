//! Asking the person (or the client's model, or its roots) before a call. Always an
//! [`Outcome::InputRequired`]; `protocol/legacy` turns that into server requests.

use super::state::{StateKey, binding};
use super::{Context, Failure, Outcome, Round};
use crate::catalog::{Arguments, Tool};
use crate::mapping::{Ask, AskKind};
use crate::schema::check::Checker;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Key of the confirmation among the input requests, and the argument for clients that can't ask.
pub use crate::call::CONFIRM;

/// What asking came to.
pub enum Asked {
    /// Everything is there; arguments hold the answers.
    Ready(Arguments),
    /// The person must be asked first.
    Wait {
        /// `{method, params}` by key.
        requests: Map<String, Value>,
        /// Signed.
        state: Option<String>,
    },
    /// The person said no; text for the model.
    Refused(String),
}

/// Everything a round of asking looks at.
pub struct Asking<'a> {
    /// The context of the call.
    pub context: &'a Context,
    /// Signs state.
    pub key: &'a StateKey,
    /// MCP method and name of what is called.
    pub method: &'a str,
    /// The tool's or prompt's name.
    pub name: &'a str,
    /// What is asked, in order.
    pub asks: &'a [(String, Ask)],
    /// Confirmation text, rendered.
    pub confirm: Option<String>,
}

impl Asking<'_> {
    /// One round: takes the answers of this and of earlier rounds, and asks for what is missing.
    ///
    /// # Errors
    /// A state that is not ours or expired, an answer of the wrong form, a capability that the client lacks.
    pub fn round(&self, mut arguments: Arguments, round: &Round) -> Result<Asked, Failure> {
        if self.asks.is_empty() && self.confirm.is_none() {
            return Ok(Asked::Ready(arguments));
        }
        let digest = serde_json::to_vec(&arguments).unwrap_or_default();
        let bound = binding(&self.context.caller, self.method, self.name, &digest);
        let mut answers = match &round.state {
            Some(state) => self.key.open(&bound, state).map_err(|reason| Failure::InvalidParams(reason.to_string()))?,
            None => Map::new(),
        };
        for (key, answer) in &round.answers {
            // Answers to questions that are not asked here are ignored.
            if key == CONFIRM || self.asks.iter().any(|(asked, _)| asked == key) {
                answers.insert(key.clone(), answer.clone());
            }
        }
        let mut requests = Map::new();
        if let Some(text) = &self.confirm {
            match answers.get(CONFIRM) {
                None if !self.context.client.elicitation => {
                    if arguments.get(CONFIRM) != Some(&Value::Bool(true)) {
                        return Ok(Asked::Refused(format!(
                            "Not done yet: {text}\nAsk the person; if they agree, call again with the same arguments and `{CONFIRM}: true`."
                        )));
                    }
                }
                None => {
                    let schema = json!({"type": "object", "properties": {}});
                    requests.insert(CONFIRM.to_string(), json!({"method": "elicitation/create", "params": {"mode": "form", "message": text, "requestedSchema": schema}}));
                }
                Some(answer) => match action(CONFIRM, answer)? {
                    Action::Accept(_) => {}
                    Action::Decline => return Ok(Asked::Refused("Not done: the person declined.".to_string())),
                    Action::Cancel => return Ok(Asked::Refused("Not done: the person cancelled.".to_string())),
                },
            }
        }
        // Questions that need no more answer; those that come `after` them may be asked.
        let mut settled: Vec<&str> = Vec::new();
        let mut pending: Vec<&(String, Ask)> = self.asks.iter().collect();
        loop {
            let count = pending.len();
            let mut later = Vec::new();
            for one in pending {
                let (key, ask) = one;
                let known = |before: &str| self.asks.iter().any(|(key, _)| key == before);
                if ask.after.as_deref().is_some_and(|before| known(before) && !settled.contains(&before)) {
                    later.push(one);
                    continue;
                }
                let needless = ask.unless.as_ref().is_some_and(|name| arguments.contains_key(name));
                if needless || ask.optional && !self.able(ask.kind).0 {
                    settled.push(key);
                    continue;
                }
                match answers.get(key) {
                    Some(answer) => match self.taken(key, ask, answer)? {
                        Taken::Value(value) => {
                            settled.push(key);
                            arguments.insert(ask.into.clone().unwrap_or_else(|| key.clone()), value);
                        }
                        Taken::Again => {
                            requests.insert(key.clone(), self.request(ask, &arguments)?);
                        }
                        Taken::Refused(text) => return Ok(Asked::Refused(text)),
                    },
                    None => {
                        requests.insert(key.clone(), self.request(ask, &arguments)?);
                    }
                }
            }
            if later.is_empty() || later.len() == count {
                break;
            }
            pending = later;
        }
        if requests.is_empty() {
            arguments.shift_remove(CONFIRM);
            return Ok(Asked::Ready(arguments));
        }
        for key in requests.keys() {
            answers.remove(key);
        }
        let state = self.key.seal(&bound, &answers);
        Ok(Asked::Wait { requests, state })
    }

    /// Whether the client can do this, and what the capability is called.
    fn able(&self, kind: AskKind) -> (bool, &'static str) {
        let client = &self.context.client;
        match kind {
            AskKind::Elicit => (client.elicitation, "elicitation"),
            AskKind::Sample => (client.sampling, "sampling"),
            AskKind::Roots => (client.roots, "roots"),
        }
    }

    fn request(&self, ask: &Ask, arguments: &Arguments) -> Result<Value, Failure> {
        let (able, capability) = self.able(ask.kind);
        if !able {
            return Err(Failure::MissingCapability(json!({capability: {}})));
        }
        let text = |template: &Option<String>| match template {
            None => Ok(String::new()),
            // Compiled at each ask: a person answers in seconds, a template compiles in microseconds.
            Some(text) => crate::template::Template::compile(text)
                .map_err(|error| error.to_string())
                .and_then(|template| spoken(&template, arguments))
                .map_err(Failure::Internal),
        };
        Ok(match ask.kind {
            AskKind::Elicit => {
                let schema = ask.schema.clone().unwrap_or_else(|| json!({"type": "object", "properties": {}}));
                json!({"method": "elicitation/create", "params": {"mode": "form", "message": text(&ask.message)?, "requestedSchema": schema}})
            }
            AskKind::Sample => {
                let mut params = json!({
                    "messages": [{"role": "user", "content": {"type": "text", "text": text(&ask.message)?}}],
                    "maxTokens": ask.max_tokens.unwrap_or(1024),
                });
                if let (Some(system), Value::Object(params)) = (&ask.system, &mut params) {
                    params.insert("systemPrompt".to_string(), json!(system));
                }
                json!({"method": "sampling/createMessage", "params": params})
            }
            AskKind::Roots => json!({"method": "roots/list", "params": {}}),
        })
    }

    fn taken(&self, key: &str, ask: &Ask, answer: &Value) -> Result<Taken, Failure> {
        let value = match ask.kind {
            AskKind::Elicit => match action(key, answer)? {
                Action::Decline => return Ok(Taken::Refused("Not done: the person declined to answer.".to_string())),
                Action::Cancel => return Ok(Taken::Refused("Not done: the person cancelled.".to_string())),
                Action::Accept(content) => {
                    if let Some(schema) = &ask.schema
                        && !Checker::new(Arc::new(schema.clone())).is_valid(&content)
                    {
                        return Ok(Taken::Again);
                    }
                    content
                }
            },
            AskKind::Sample => {
                let content = answer.get("content").ok_or_else(|| malformed(key))?;
                let first = match content {
                    Value::Array(blocks) => blocks.first().ok_or_else(|| malformed(key))?,
                    one => one,
                };
                first.get("text").cloned().unwrap_or_else(|| first.clone())
            }
            AskKind::Roots => match answer.get("roots") {
                Some(Value::Array(roots)) => Value::Array(roots.clone()),
                _ => return Err(malformed(key)),
            },
        };
        Ok(Taken::Value(picked(ask, value)))
    }
}

enum Taken {
    Value(Value),
    Again,
    Refused(String),
}

enum Action {
    Accept(Value),
    Decline,
    Cancel,
}

fn malformed(key: &str) -> Failure {
    Failure::InvalidParams(format!("the answer to `{key}` has the wrong form"))
}

fn action(key: &str, answer: &Value) -> Result<Action, Failure> {
    match answer.get("action").and_then(Value::as_str) {
        Some("accept") => Ok(Action::Accept(answer.get("content").cloned().unwrap_or_else(|| json!({})))),
        Some("decline") => Ok(Action::Decline),
        Some("cancel") => Ok(Action::Cancel),
        _ => Err(malformed(key)),
    }
}

/// The member that the argument takes: `take`, else the one named like the argument, else the only one.
fn picked(ask: &Ask, value: Value) -> Value {
    let Value::Object(object) = &value else { return value };
    if let Some(take) = &ask.take {
        return object.get(take).cloned().unwrap_or(Value::Null);
    }
    if let Some(member) = ask.into.as_ref().and_then(|into| object.get(into)) {
        return member.clone();
    }
    match object.values().next() {
        Some(only) if object.len() == 1 && ask.into.is_some() => only.clone(),
        _ => value,
    }
}

/// The confirmation text of a tool for these arguments.
///
/// # Errors
/// The template can't be rendered.
pub fn confirmation(tool: &Tool, arguments: &Arguments) -> Result<Option<String>, Failure> {
    let Some(template) = &tool.confirm else { return Ok(None) };
    spoken(template, arguments).map(Some).map_err(Failure::Internal)
}

/// A text for a person: an argument that was not given is empty in it.
fn spoken(template: &crate::template::Template, arguments: &Arguments) -> Result<String, String> {
    let mut scope = arguments.clone();
    for name in template.placeholders().into_iter().filter_map(|path| path.into_iter().next()) {
        scope.entry(name).or_insert(Value::Null);
    }
    template.render(&Value::Object(scope))
}

/// Passes a wait on.
pub fn wait<T>(requests: Map<String, Value>, state: Option<String>) -> Outcome<T> {
    Outcome::InputRequired { requests, state }
}
