//! jq filters with limits, compiled at load.
//!
//! The language is jaq's. Missing on purpose: everything that looks outside (`env`, `$ENV`, `input`,
//! `now`, `localtime`, modules) or acts (`halt`, `debug`, `stderr`). A filter that runs away is stopped by
//! `guard` with an error: it can neither catch that nor take the process down.

mod guard;
mod natives;
mod parse;
mod value;

pub(super) use parse::parsed;

use guard::{Kind, Meter, Stop};
use jaq_core::compile::Undefined;
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars};
use serde_json::Value;

/// What one run may cost.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Steps; about 10 million a second. The size of the input is granted on top.
    pub steps: u64,
    /// Longest time, a backstop for single steps that are dear.
    pub time: std::time::Duration,
    /// Most outputs.
    pub outputs: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 2_000_000, time: std::time::Duration::from_millis(200), outputs: 100_000 }
    }
}

impl Limits {
    /// For a part of a text: what is left out is granted too, at a value for every 16 bytes.
    pub(super) fn of_part(left_out: usize) -> Limits {
        let (limits, left_out) = (Limits::default(), left_out as u64);
        let time = limits.time + std::time::Duration::from_micros(left_out / 4);
        Limits { steps: limits.steps.saturating_add(left_out), time, ..limits }
    }
}

/// Why a run has no outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) message: String,
    /// True for one of the [`Limits`]: then the message shows no value.
    pub(super) limit: bool,
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure { message, limit: false }
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Failure {
        Failure { message: stop.to_string(), limit: true }
    }
}

/// A compiled filter.
pub struct Jq {
    text: String,
    filter: jaq_core::Filter<Kind>,
}

impl std::fmt::Debug for Jq {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Jq").field(&self.text).finish()
    }
}

/// Checks a filter without keeping it; the error says where (`at character 12`) and what.
pub fn check_jq(text: &str) -> Result<(), String> {
    Jq::compile(text).map(drop)
}

impl Jq {
    /// Compiles a filter; the error says where (`at character 12`) and what.
    pub fn compile(text: &str) -> Result<Self, String> {
        let main = parse::parsed(text)?;
        let arena = Arena::default();
        let loader = Loader::new(guard::definitions(main));
        let modules =
            loader.load(&arena, File { code: guard::MAIN, path: () }).map_err(|_| "can't be loaded".to_owned())?;
        let filter = Compiler::default().with_funs(natives::functions()).compile(modules).map_err(|errors| {
            let mut messages = errors.iter().flat_map(|(_, list)| list).map(|(name, kind)| undefined(text, name, kind));
            messages.next().unwrap_or_else(|| "can't be compiled".to_owned())
        })?;
        Ok(Jq { text: text.to_owned(), filter })
    }

    /// The filter as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All outputs, in order. Errors: the filter's own, or the limit it ran into.
    pub fn all(&self, input: &Value) -> Result<Vec<Value>, String> {
        self.run(input, &Limits::default(), usize::MAX)
    }

    /// The first output, if there is one.
    pub fn first(&self, input: &Value) -> Result<Option<Value>, String> {
        self.run(input, &Limits::default(), 1).map(|outputs| outputs.into_iter().next())
    }

    /// At most `wanted` outputs under the given limits.
    pub fn run(&self, input: &Value, limits: &Limits, wanted: usize) -> Result<Vec<Value>, String> {
        self.attempt(input, limits, wanted).map_err(|failure| failure.message)
    }

    /// The same, with limits told from the filter's own errors.
    pub(super) fn attempt(&self, input: &Value, limits: &Limits, wanted: usize) -> Result<Vec<Value>, Failure> {
        // The guard stops a filter by unwinding: an error value could be caught by the filter's own `try`.
        let run = std::panic::AssertUnwindSafe(|| self.outputs(input, limits, wanted));
        match std::panic::catch_unwind(run) {
            Ok(outputs) => outputs,
            Err(payload) => Err(match payload.downcast_ref::<Stop>() {
                Some(stop) => Failure::from(*stop),
                None => Failure::from("the filter failed on this value".to_owned()),
            }),
        }
    }

    fn outputs(&self, input: &Value, limits: &Limits, wanted: usize) -> Result<Vec<Value>, Failure> {
        let mut size = 0;
        let input = value::from_json(input, &mut size);
        let meter = Meter::new(&self.filter.lut, limits, size);
        let mut outputs = Vec::new();
        for output in self.filter.id.run((Ctx::<Kind>::new(&meter, Vars::new([])), input)) {
            let output = output.map_err(|exception| match exception.get_err() {
                Ok(error) => value::message(&error, &self.text),
                Err(_) => "the filter was left by `break`".to_owned(),
            })?;
            outputs.push(value::to_json(&output, &meter, 0)?);
            if outputs.len() >= wanted {
                break;
            }
            if outputs.len() > limits.outputs {
                let message = format!("the filter has more than {} outputs", limits.outputs);
                return Err(Failure { message, limit: true });
            }
        }
        Ok(outputs)
    }
}

fn undefined(text: &str, name: &str, kind: &Undefined) -> String {
    let place = parse::place(text, name);
    if name == "$ENV" || (matches!(kind, Undefined::Filter(_)) && natives::WITHHELD.contains(&name)) {
        return format!("{place}: `{name}` is not available here");
    }
    match kind {
        Undefined::Filter(0) => format!("{place}: there is no filter `{name}`"),
        Undefined::Filter(arity) => format!("{place}: there is no filter `{name}` with {arity} argument(s)"),
        kind => format!("{place}: there is no {} `{name}`", kind.as_str()),
    }
}
