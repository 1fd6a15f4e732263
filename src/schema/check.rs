//! Compiled validators (JSON Schema 2020-12) whose messages are for a model.
//!
//! A value that passes costs no allocation. A value that fails is read a second time to say, for each
//! problem, where it is, what was expected and what the nearest legal name is. `format` is an
//! annotation (Validation §7.2.1): real documents declare formats that their APIs do not keep to. Only where a value fits
//! several alternatives of a `oneOf` do formats decide: then it must keep to those of at most one.

mod distinct;
pub mod explain;
pub mod near;
pub mod path;
mod undecided;

use super::kept::Kept;
use jsonschema::{Draft, PatternOptions, ValidationOptions, Validator};
use path::Step;
use serde_json::Value;
use std::sync::OnceLock;

/// Most problems that one check reports; one more line says how many are left out.
pub const MOST_PROBLEMS: usize = 10;

/// Faults told apart by [`Checker::faults`].
const MOST_FAULTS: usize = 100;

/// One wrong argument, in words for a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Argument name with path, such as `filter.limit`; empty for the object itself.
    pub argument: String,
    /// What is wrong and what was expected.
    pub message: String,
    /// "did you mean `petId`?"
    pub hint: Option<String>,
}

/// A [`Problem`] whose place is still a path, so that it can be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// From the checked value down to the place.
    pub path: Vec<Step>,
    /// What is wrong and what was expected.
    pub message: String,
    /// "did you mean `petId`?"
    pub hint: Option<String>,
    /// True if the place is a member that the schema does not know.
    pub unknown: bool,
}

impl From<Found> for Problem {
    fn from(found: Found) -> Self {
        Problem { argument: path::text(&found.path), message: found.message, hint: found.hint }
    }
}

/// A compiled validator, built on first use.
#[derive(Debug)]
pub struct Checker {
    kept: Kept,
    /// Read on first use: most arguments pass, and then only the validator is asked.
    schema: OnceLock<Value>,
    compiled: OnceLock<Result<Validator, String>>,
}

impl Checker {
    /// Takes a self-contained schema of dialect 2020-12; compiles nothing yet.
    pub fn new(schema: impl Into<Kept>) -> Checker {
        Checker { kept: schema.into(), schema: OnceLock::new(), compiled: OnceLock::new() }
    }

    /// The schema that values are checked against.
    pub fn schema(&self) -> &Value {
        self.schema.get_or_init(|| {
            let tree = self.kept.tree();
            undecided::decidable(&tree).unwrap_or_else(|| tree.into_owned())
        })
    }

    /// Compiles now; the error is one sentence without a full stop. A schema that does not compile
    /// refuses every value.
    pub fn compile(&self) -> Result<(), String> {
        self.validator().map(|_| ()).map_err(str::to_string)
    }

    /// True if `value` satisfies the schema; false if the schema can't be compiled.
    pub fn is_valid(&self, value: &Value) -> bool {
        self.validator().is_ok_and(|validator| validator.is_valid(value))
    }

    /// Every problem of `value`, at most [`MOST_PROBLEMS`] and one line that counts the rest; empty if valid.
    pub fn check(&self, value: &Value) -> Vec<Problem> {
        if self.is_valid(value) {
            return Vec::new();
        }
        self.find(value).into_iter().map(Problem::from).collect()
    }

    /// As [`Checker::check`], with paths instead of texts.
    pub fn find(&self, value: &Value) -> Vec<Found> {
        let validator = match self.validator() {
            Ok(validator) => validator,
            Err(reason) => {
                let message = format!("no call can be made: the schema of this tool can't be used ({reason})");
                return vec![Found { path: Vec::new(), message, hint: None, unknown: false }];
            }
        };
        if validator.is_valid(value) {
            return Vec::new();
        }
        let mut found = explain::explain(self.schema(), validator.iter_errors(value));
        if found.is_empty() {
            let message = "does not satisfy the schema of this tool".to_string();
            found.push(Found { path: Vec::new(), message, hint: None, unknown: false });
        }
        found.iter_mut().for_each(|found| path::settle(&mut found.path, value));
        found
    }

    /// Where `value` goes against the schema: the places whose value, or something in it, would have to be
    /// another. Missing and unknown members are not among them. Empty path = anywhere.
    pub fn faults(&self, value: &Value) -> Vec<Vec<Step>> {
        let Ok(validator) = self.validator() else { return Vec::new() };
        let mut faults: Vec<Vec<Step>> = Vec::new();
        for error in validator.iter_errors(value).filter(|error| explain::is_about_value(error)) {
            if faults.len() >= MOST_FAULTS {
                return vec![Vec::new()];
            }
            let mut place = explain::steps(error.instance_path());
            path::settle(&mut place, value);
            faults.push(place);
        }
        faults
    }

    fn validator(&self) -> Result<&Validator, &str> {
        self.compiled.get_or_init(|| compile(&self.kept.tree())).as_ref().map_err(String::as_str)
    }
}

/// Says why a `pattern` can't be used, if so: readers drop such patterns with a warning rather than
/// lose the tool.
pub fn pattern_problem(pattern: &str) -> Option<String> {
    compile(&serde_json::json!({ "pattern": pattern })).err()
}

fn compile(schema: &Value) -> Result<Validator, String> {
    let options = options().should_validate_formats(false);
    let built = match undecided::decidable(schema) {
        Some(decidable) => distinct::marked(options, schema).build(&decidable),
        None => options.build(schema),
    };
    built.map_err(|error| {
        let place = error.instance_path().as_str().to_string();
        let reason = path::cut(&error.to_string(), 160);
        if place.is_empty() { reason } else { format!("at `{}`: {reason}", path::cut(&place, 120)) }
    })
}

fn options() -> ValidationOptions<'static> {
    // Patterns come from documents that others wrote: time and memory of each are bounded.
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(100_000)
        .size_limit(4 * 1024 * 1024)
        .dfa_size_limit(2 * 1024 * 1024);
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .offline()
        .should_ignore_unknown_formats(true)
        .with_pattern_options(patterns)
}
