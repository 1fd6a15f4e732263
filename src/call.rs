//! A tool plus arguments that passed: healed, checked, defaults filled in. A [`Call`] exists only if
//! the arguments satisfy the schema and can be sent.
//!
//! Arguments that are right as they come are read once and validated once; everything else is for
//! those that are not.

mod body;
mod defaults;
mod digits;
mod heal;
mod parse;

pub use crate::schema::check::Problem;
pub use body::body_value;

use crate::catalog::{Action, Arguments, Binding, From, Tool};
use crate::schema::check::explain::listed;
use crate::schema::check::path::{self, Step};
use crate::schema::check::{Checker, Found};
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;

/// A call that may be made.
#[derive(Debug)]
pub struct Call {
    /// The tool.
    pub tool: Arc<Tool>,
    /// Checked arguments; nulls of optional parameters removed.
    pub arguments: Arguments,
    /// Places where a text was read as the JSON that the schema wants, or a null was taken for absent; for the log.
    pub healed: Vec<String>,
}

/// Why arguments were refused; every problem, not just the first.
#[derive(Debug, Clone, Default)]
pub struct Refusal {
    /// One entry a problem.
    pub problems: Vec<Problem>,
    /// The legal argument names, where an unknown one was given.
    pub legal: Vec<String>,
}

impl Refusal {
    /// A refusal with one problem.
    pub fn one(argument: impl Into<String>, message: impl Into<String>) -> Refusal {
        let problem = Problem { argument: argument.into(), message: message.into(), hint: None };
        Refusal { problems: vec![problem], legal: Vec::new() }
    }

    /// Text for the model: one line a problem, and the legal names where an unknown one was given.
    pub fn text(&self, tool_name: &str) -> String {
        let mut out = format!("`{tool_name}` was not called: its arguments are not right.");
        for problem in &self.problems {
            out.push_str("\n- ");
            if !problem.argument.is_empty() {
                out.push_str(&format!("`{}` ", problem.argument));
            }
            out.push_str(&problem.message);
            if let Some(hint) = &problem.hint {
                out.push_str(&format!(" ({hint})"));
            }
        }
        if !self.legal.is_empty() {
            let names: Vec<&str> = self.legal.iter().map(String::as_str).collect();
            out.push_str(&format!("\nArguments of `{tool_name}`: {}.", listed(&names)));
        }
        out
    }
}

/// The argument with which a client that can't ask the person says that they agreed; also the key of
/// the confirmation among MCP input requests.
pub const CONFIRM: &str = "confirm";

/// The argument with which a paginated tool goes on where an earlier answer ended.
pub const CONTINUE: &str = "continue_from";

/// Reads, heals and checks the arguments of a call.
///
/// `arguments` is the caller's JSON text: an object; absent and `null` mean `{}`, and an object inside a
/// JSON string (some clients send that) is read as the object.
pub fn prepare(tool: &Arc<Tool>, arguments: Option<&RawValue>) -> Result<Call, Refusal> {
    let text = parse::unwrapped(arguments.map_or("{}", RawValue::get));
    let mut arguments =
        parse::arguments(&text).map_err(|problem| Refusal { problems: vec![problem], legal: vec![] })?;
    let mut healed = Vec::new();
    if digits::has_long_run(&text) {
        digits::settle(&text, &mut arguments, tool.input.check.schema(), &mut healed)?;
    }
    settled(tool, arguments, healed)
}

/// [`prepare`] for arguments that are values already: steps, resources, completion.
pub fn prepare_value(tool: &Arc<Tool>, arguments: Arguments) -> Result<Call, Refusal> {
    settled(tool, arguments, Vec::new())
}

fn settled(tool: &Arc<Tool>, mut arguments: Arguments, mut healed: Vec<String>) -> Result<Call, Refusal> {
    let check = &tool.input.check;
    let bindings = match &tool.action {
        Action::Request(action) => action.bindings.as_slice(),
        _ => &[],
    };
    defaults::fill(tool, &mut arguments);
    let mut valid = is_valid(check, &mut arguments);
    if !valid {
        let faults = with_value(&mut arguments, |value| check.faults(value));
        heal::heal(&mut arguments, check.schema(), &faults, &mut healed);
        defaults::fill(tool, &mut arguments);
        valid = is_valid(check, &mut arguments);
    }
    if valid && drop_nulls(bindings, &mut arguments) {
        defaults::fill(tool, &mut arguments);
        valid = is_valid(check, &mut arguments);
    }
    let found = if valid { Vec::new() } else { find(check, &mut arguments) };
    if !found.is_empty() || !valid {
        return Err(refuse(tool, found));
    }
    if let Action::Request(action) = &tool.action {
        let found = body::problems(action, &arguments, tool.input.body_check.as_ref());
        if !found.is_empty() {
            return Err(refuse(tool, found));
        }
    }
    Ok(Call { tool: tool.clone(), arguments, healed })
}

/// Removes explicit nulls that mean absent; says whether there were any.
fn drop_nulls(bindings: &[Binding], arguments: &mut Arguments) -> bool {
    if !arguments.values().any(Value::is_null) {
        return false;
    }
    let before = arguments.len();
    for binding in bindings {
        if let From::Argument(name) = &binding.from
            && !binding.keep_null
            && !binding.required
            && arguments.get(name).is_some_and(Value::is_null)
        {
            arguments.shift_remove(name);
        }
    }
    arguments.len() != before
}

fn is_valid(check: &Checker, arguments: &mut Arguments) -> bool {
    with_value(arguments, |value| check.is_valid(value))
}

fn find(check: &Checker, arguments: &mut Arguments) -> Vec<Found> {
    with_value(arguments, |value| check.find(value))
}

/// Lends the arguments out as a value, without copying them.
fn with_value<T>(arguments: &mut Arguments, look: impl FnOnce(&Value) -> T) -> T {
    let value = Value::Object(std::mem::take(arguments));
    let seen = look(&value);
    if let Value::Object(members) = value {
        *arguments = members;
    }
    seen
}

fn refuse(tool: &Tool, found: Vec<Found>) -> Refusal {
    let unknown = found.iter().any(|found| found.unknown && found.path.len() == 1);
    let legal = if unknown { tool.input.published.property_names() } else { Vec::new() };
    let mut problems: Vec<Problem> = found.into_iter().map(Problem::from).collect();
    if problems.is_empty() {
        let message = "do not satisfy the schema of this tool".to_string();
        problems.push(Problem { argument: String::new(), message, hint: None });
    }
    for problem in &mut problems {
        if problem.argument.is_empty() && !problem.message.starts_with("and ") {
            problem.message = format!("The arguments: {}", problem.message);
        }
    }
    Refusal { problems, legal }
}

/// The text of a path, for a refusal.
fn refusal_at(path: &[Step], message: String) -> Refusal {
    Refusal::one(path::text(path), message)
}
