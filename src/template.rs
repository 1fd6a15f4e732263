//! Text templates (Handlebars, no HTML escaping, strict) and body trees whose single-placeholder
//! leaves keep the value's type. Compiled at load; values are never compiled.
//!
//! A text whose tags are all plain paths (`{{a.b}}`) is rendered by walking its pieces; anything else
//! goes through the Handlebars engine. Both agree: text as is, numbers and booleans as JSON writes
//! them, null as nothing, lists and objects as compact JSON, a missing value is an error.
//!
//! Helpers beside Handlebars' own (`if`, `unless`, `each`, `with`, `lookup`, `eq`, `ne`, `gt`, `gte`, `lt`,
//! `lte`, `and`, `or`, `not`, `len`): `json VALUE`, `urlencode VALUE`, `default VALUE FALLBACK`, `join LIST SEPARATOR`.
//! There are no partials, decorators, scripts or logging.

mod body;
mod engine;
mod scan;

pub use body::BodyTemplate;

use scan::Piece;
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Longest text a template may make, in bytes.
pub const MAX_OUTPUT: usize = 1024 * 1024;
/// Longest template, in bytes.
pub const MAX_TEMPLATE: usize = 64 * 1024;

/// A compiled text template.
#[derive(Debug, Clone)]
pub struct Template {
    /// What the author wrote.
    pub source: Arc<str>,
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    /// Text and plain paths.
    Plain(Arc<[Piece]>),
    /// Everything else.
    Engine(Arc<engine::Engine>),
}

/// Why a template does not compile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    /// Line in the template's text, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Byte offset in the template's text.
    pub offset: usize,
    /// What is wrong.
    pub message: String,
    /// The way out, where one is known.
    pub fix: Option<String>,
    /// JSON pointer of the text inside a [`BodyTemplate`]'s tree; empty for a text.
    pub pointer: String,
}

impl TemplateError {
    fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        TemplateError {
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
            offset: before.len(),
            message: message.into(),
            fix: None,
            pointer: String::new(),
        }
    }

    fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (line {}, column {} of the template)", self.message, self.line, self.column)
    }
}

/// The values a template may use: one object, shared by several templates of one call.
#[derive(Debug)]
pub struct Scope<'v> {
    value: &'v Value,
    // The engine owns its data; made once however many templates need it, never for plain ones.
    context: OnceLock<handlebars::Context>,
}

impl<'v> Scope<'v> {
    /// Wraps the values.
    pub fn new(value: &'v Value) -> Self {
        Scope { value, context: OnceLock::new() }
    }

    /// The values.
    pub fn value(&self) -> &'v Value {
        self.value
    }

    fn context(&self) -> &handlebars::Context {
        self.context.get_or_init(|| handlebars::Context::from(self.value.clone()))
    }
}

impl Template {
    /// Compiles a text. No value ever goes through here.
    pub fn compile(text: &str) -> Result<Template, TemplateError> {
        if text.len() > MAX_TEMPLATE {
            return Err(TemplateError::at(text, 0, format!("a template may have {MAX_TEMPLATE} bytes at most")));
        }
        let scanned = scan::scan(text)?;
        let form = match scan::plain(text, &scanned) {
            Some(pieces) => Form::Plain(pieces.into()),
            None => Form::Engine(Arc::new(engine::Engine::compile(text, &scanned)?)),
        };
        Ok(Template { source: text.into(), form })
    }

    /// Renders; the error names the value that is missing. At most [`MAX_OUTPUT`] bytes.
    pub fn render(&self, value: &Value) -> Result<String, String> {
        self.render_in(&Scope::new(value))
    }

    /// [`Template::render`] with values that several templates share.
    pub fn render_in(&self, scope: &Scope<'_>) -> Result<String, String> {
        self.fill(scope, true)
    }

    /// [`Template::render`] over an API's answer, where a member may be missing: it is empty text. Failing would turn a call
    /// that was carried out into an error.
    pub fn render_lenient(&self, value: &Value) -> Result<String, String> {
        self.fill(&Scope::new(value), false)
    }

    fn fill(&self, scope: &Scope<'_>, strict: bool) -> Result<String, String> {
        match &self.form {
            Form::Plain(pieces) => {
                let mut out = String::with_capacity(self.source.len());
                for piece in pieces.iter() {
                    match piece {
                        Piece::Text(text) => out.push_str(text),
                        Piece::Path(path) => match lookup(scope.value, path) {
                            Some(value) => write_value(&mut out, value),
                            None if strict => return Err(missing(path)),
                            None => {}
                        },
                    }
                    if out.len() > MAX_OUTPUT {
                        return Err(too_long());
                    }
                }
                Ok(out)
            }
            Form::Engine(engine) => engine.render(scope.context(), self.source.len(), strict),
        }
    }

    /// The paths the template looks up in its values, in order, without duplicates. Paths inside
    /// `each` and `with` blocks, which look elsewhere, are not among them.
    pub fn placeholders(&self) -> Vec<Vec<String>> {
        let mut list = Vec::new();
        match &self.form {
            Form::Plain(pieces) => {
                for piece in pieces.iter() {
                    if let Piece::Path(path) = piece
                        && !list.contains(path)
                    {
                        list.push(path.clone());
                    }
                }
            }
            Form::Engine(engine) => engine.placeholders(&mut list),
        }
        list
    }

    /// True if the text has no tags at all.
    pub fn is_literal(&self) -> bool {
        matches!(&self.form, Form::Plain(pieces) if pieces.iter().all(|piece| matches!(piece, Piece::Text(_))))
    }
}

/// The value at a path of member names and list indices.
pub fn lookup<'v>(root: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(root, |value, step| match value {
        Value::Object(members) => members.get(step.as_str()),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

fn missing(path: &[String]) -> String {
    format!("`{}` has no value", path.join("."))
}

fn too_long() -> String {
    format!("the text is longer than {MAX_OUTPUT} bytes")
}

fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => {}
        Value::String(text) => out.push_str(text),
        other => out.push_str(&other.to_string()),
    }
}
