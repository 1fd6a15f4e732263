//! Templates with blocks and helpers: the Handlebars engine, with our rendering of values, our
//! helpers and a bounded output.

use super::scan::Scanned;
use super::{MAX_OUTPUT, TemplateError, too_long, write_value};
use handlebars::template::{BlockParam, HelperTemplate, Parameter, TemplateElement};
use handlebars::{
    Context, Handlebars, Helper, HelperResult, JsonTruthy, Output, Path, PathSeg, RenderContext, RenderError,
    RenderErrorReason, Renderable,
};
use std::fmt::Write;
use std::io;
use std::sync::{Arc, LazyLock};

/// Name under which plain values are rendered; can't be written in a template.
const VALUE: &str = " value";
/// Helpers that open a block.
const BLOCKS: &[&str] = &["if", "unless", "each", "with"];
/// Helpers that make a value.
const INLINE: &[&str] = &[
    "json",
    "urlencode",
    "default",
    "join",
    "lookup",
    "eq",
    "ne",
    "gt",
    "gte",
    "lt",
    "lte",
    "and",
    "or",
    "not",
    "len",
];

static STRICT: LazyLock<Handlebars<'static>> = LazyLock::new(|| registry(true));
static LENIENT: LazyLock<Handlebars<'static>> = LazyLock::new(|| registry(false));

fn registry(strict: bool) -> Handlebars<'static> {
    let mut registry = Handlebars::new();
    registry.register_escape_fn(handlebars::no_escape);
    registry.set_strict_mode(strict);
    registry.unregister_helper("log");
    registry.unregister_helper("raw");
    registry.register_helper(VALUE, Box::new(value_helper));
    registry.register_helper("json", Box::new(json_helper));
    registry.register_helper("urlencode", Box::new(urlencode_helper));
    registry.register_helper("default", Box::new(default_helper));
    registry.register_helper("join", Box::new(join_helper));
    registry
}

/// A compiled template for the engine.
#[derive(Debug)]
pub(super) struct Engine(handlebars::Template);

impl Engine {
    /// Compiles; refuses helpers that do not exist.
    pub(super) fn compile(text: &str, scanned: &Scanned<'_>) -> Result<Self, TemplateError> {
        let mut template = handlebars::Template::compile(text).map_err(|error| {
            let offset = error.pos().map_or(0, |(line, column)| offset_of(text, line, column));
            // The engine points behind the tag it could not read; its start is what the author looks for.
            let tag = scanned.tags.iter().rev().find(|tag| tag.start <= offset);
            let error = TemplateError::at(text, tag.map_or(offset, |tag| tag.start), "this placeholder can't be read");
            error.fix("write `{{name}}`, `{{helper value}}` or `{{#if name}}…{{/if}}`; names with spaces go in `[…]`")
        })?;
        rewrite_all(&mut template.elements).map_err(|(name, is_block)| {
            let tag = scanned.tags.iter().find(|tag| {
                let inner = tag.inner.trim_start_matches(['#', '^', '(', ' ']);
                inner.strip_prefix(name.as_str()).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
            });
            let inside = || text.find(&format!("({name}")).map(|at| at + 1);
            let offset = tag.map(|tag| tag.start).or_else(inside).unwrap_or(0);
            let known = if is_block { BLOCKS } else { INLINE };
            TemplateError::at(
                text,
                offset,
                format!("there is no {} `{name}`", if is_block { "block" } else { "helper" }),
            )
            .fix(format!("there are {}", list(known)))
        })?;
        Ok(Engine(template))
    }

    /// Renders at most [`MAX_OUTPUT`] bytes. `strict`: a missing value is an error, else it is empty.
    pub(super) fn render(&self, context: &Context, size_hint: usize, strict: bool) -> Result<String, String> {
        let registry = if strict { &*STRICT } else { &*LENIENT };
        let mut out = Bounded { text: String::with_capacity(size_hint), full: false };
        let mut state = RenderContext::new(None);
        match self.0.render(registry, context, &mut state, &mut out) {
            Ok(()) => Ok(out.text),
            Err(_) if out.full => Err(too_long()),
            Err(error) => Err(explain(&error)),
        }
    }

    /// Adds the paths that are looked up in the values themselves.
    pub(super) fn placeholders(&self, list: &mut Vec<Vec<String>>) {
        elements_paths(&self.0.elements, list, 0);
    }
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let rest = text.get(start..).unwrap_or_default();
    start + rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at)
}

fn explain(error: &RenderError) -> String {
    match error.reason() {
        RenderErrorReason::MissingVariable(Some(path)) => format!("`{path}` has no value"),
        RenderErrorReason::MissingVariable(None) => "a value is missing".to_owned(),
        RenderErrorReason::Other(text) => text.clone(),
        other => other.to_string(),
    }
}

struct Bounded {
    text: String,
    full: bool,
}

impl Output for Bounded {
    fn write(&mut self, part: &str) -> Result<(), io::Error> {
        if self.text.len() + part.len() > MAX_OUTPUT {
            self.full = true;
            return Err(io::Error::other("full"));
        }
        self.text.push_str(part);
        Ok(())
    }
}

// ---- compile: plain values go through our own rendering, unknown helpers are refused ----

type UnknownHelper = (String, bool);

fn rewrite_all(elements: &mut [TemplateElement]) -> Result<(), UnknownHelper> {
    elements.iter_mut().try_for_each(rewrite)
}

fn rewrite(element: &mut TemplateElement) -> Result<(), UnknownHelper> {
    match element {
        TemplateElement::Expression(helper) | TemplateElement::HtmlExpression(helper) => {
            let plain = !helper.block && helper.params.is_empty() && helper.hash.is_empty();
            match (&helper.name, plain) {
                (Parameter::Subexpression(_), _) => rewrite_parameter(&mut helper.name),
                (name, true) => {
                    let path = match name {
                        Parameter::Name(name) => Path::parse(name).ok().map(Parameter::Path),
                        other => Some(other.clone()),
                    };
                    if let Some(path) = path {
                        helper.params.push(path);
                        helper.name = Parameter::Name(VALUE.to_owned());
                    }
                    Ok(())
                }
                (name, false) => {
                    known(name, INLINE, false)?;
                    rewrite_parameters(helper)
                }
            }
        }
        TemplateElement::HelperBlock(helper) => {
            known(&helper.name, BLOCKS, true)?;
            rewrite_parameters(helper)?;
            for template in [&mut helper.template, &mut helper.inverse].into_iter().flatten() {
                rewrite_all(&mut template.elements)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn known(name: &Parameter, list: &[&str], is_block: bool) -> Result<(), UnknownHelper> {
    match name.as_name() {
        Some(name) if list.contains(&name) => Ok(()),
        name => Err((name.unwrap_or("?").to_owned(), is_block)),
    }
}

fn rewrite_parameters(helper: &mut HelperTemplate) -> Result<(), UnknownHelper> {
    helper.params.iter_mut().chain(helper.hash.values_mut()).try_for_each(rewrite_parameter)
}

fn rewrite_parameter(parameter: &mut Parameter) -> Result<(), UnknownHelper> {
    let Parameter::Subexpression(inner) = parameter else { return Ok(()) };
    let TemplateElement::Expression(helper) = inner.element.as_mut() else { return Ok(()) };
    if helper.params.is_empty() && helper.hash.is_empty() {
        return Ok(());
    }
    known(&helper.name, INLINE, false)?;
    rewrite_parameters(helper)
}

// ---- the names a template looks up ----

fn elements_paths(elements: &[TemplateElement], list: &mut Vec<Vec<String>>, up: usize) {
    for element in elements {
        match element {
            TemplateElement::Expression(helper) | TemplateElement::HtmlExpression(helper) => {
                helper_paths(helper, list, up);
            }
            TemplateElement::HelperBlock(helper) => {
                helper_paths(helper, list, up);
                let moves = matches!(helper.name.as_name(), Some("each" | "with"));
                let shadows: Vec<&str> = match &helper.block_param {
                    Some(BlockParam::Single(one)) => one.as_name().into_iter().collect(),
                    Some(BlockParam::Pair((one, two))) => one.as_name().into_iter().chain(two.as_name()).collect(),
                    _ => Vec::new(),
                };
                if let Some(template) = &helper.template {
                    let before = list.len();
                    elements_paths(&template.elements, list, up + usize::from(moves));
                    let mut at = 0;
                    list.retain(|path| {
                        at += 1;
                        at <= before || !path.first().is_some_and(|name| shadows.contains(&name.as_str()))
                    });
                }
                if let Some(template) = &helper.inverse {
                    elements_paths(&template.elements, list, up);
                }
            }
            _ => {}
        }
    }
}

fn helper_paths(helper: &HelperTemplate, list: &mut Vec<Vec<String>>, up: usize) {
    if helper.params.is_empty() && helper.hash.is_empty() && !helper.block {
        parameter_paths(&helper.name, list, up);
    }
    for parameter in helper.params.iter().chain(helper.hash.values()) {
        parameter_paths(parameter, list, up);
    }
}

fn parameter_paths(parameter: &Parameter, list: &mut Vec<Vec<String>>, up: usize) {
    match parameter {
        Parameter::Path(Path::Relative((steps, _))) => {
            let rises = steps.iter().take_while(|step| matches!(step, PathSeg::Ruled(_))).count();
            // `../x` inside one `each` is the values' own `x`; `@root.x` is too rare to follow.
            if rises != up {
                return;
            }
            let names: Option<Vec<String>> = steps
                .iter()
                .skip(rises)
                .map(|step| match step {
                    PathSeg::Named(name) => Some(name.clone()),
                    _ => None,
                })
                .collect();
            if let Some(names) = names
                && !names.is_empty()
                && !list.contains(&names)
            {
                list.push(names);
            }
        }
        Parameter::Subexpression(inner) => {
            if let TemplateElement::Expression(helper) = inner.element.as_ref() {
                helper_paths(helper, list, up);
            }
        }
        _ => {}
    }
}

// ---- helpers ----

fn other(text: String) -> RenderError {
    RenderErrorReason::Other(text).into()
}

fn parameter<'h>(
    helper: &'h Helper<'_>,
    registry: &Handlebars<'_>,
    index: usize,
    name: &str,
) -> Result<&'h serde_json::Value, RenderError> {
    let Some(found) = helper.param(index) else {
        return Err(other(format!("`{name}` needs {} values", index + 1)));
    };
    if found.is_value_missing() && registry.strict_mode() {
        return Err(RenderError::strict_error(found.relative_path()));
    }
    Ok(found.value())
}

fn value_helper(
    helper: &Helper<'_>,
    registry: &Handlebars<'_>,
    _: &Context,
    _: &mut RenderContext<'_, '_>,
    out: &mut dyn Output,
) -> HelperResult {
    let mut text = String::new();
    write_value(&mut text, parameter(helper, registry, 0, "value")?);
    Ok(out.write(&text)?)
}

fn json_helper(
    helper: &Helper<'_>,
    registry: &Handlebars<'_>,
    _: &Context,
    _: &mut RenderContext<'_, '_>,
    out: &mut dyn Output,
) -> HelperResult {
    Ok(out.write(&parameter(helper, registry, 0, "json")?.to_string())?)
}

fn urlencode_helper(
    helper: &Helper<'_>,
    registry: &Handlebars<'_>,
    _: &Context,
    _: &mut RenderContext<'_, '_>,
    out: &mut dyn Output,
) -> HelperResult {
    let mut text = String::new();
    write_value(&mut text, parameter(helper, registry, 0, "urlencode")?);
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        // RFC 3986 §2.3: everything but unreserved characters.
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            write!(encoded, "%{byte:02X}").map_err(|_| other("can't write".to_owned()))?;
        }
    }
    Ok(out.write(&encoded)?)
}

fn default_helper(
    helper: &Helper<'_>,
    registry: &Handlebars<'_>,
    _: &Context,
    _: &mut RenderContext<'_, '_>,
    out: &mut dyn Output,
) -> HelperResult {
    let usable = helper.param(0).filter(|found| {
        !found.is_value_missing() && (found.value().is_truthy(true) || found.value() == &serde_json::Value::Bool(false))
    });
    let mut text = String::new();
    match usable {
        Some(found) => write_value(&mut text, found.value()),
        None => write_value(&mut text, parameter(helper, registry, 1, "default")?),
    }
    Ok(out.write(&text)?)
}

fn join_helper(
    helper: &Helper<'_>,
    registry: &Handlebars<'_>,
    _: &Context,
    _: &mut RenderContext<'_, '_>,
    out: &mut dyn Output,
) -> HelperResult {
    let list = parameter(helper, registry, 0, "join")?;
    let separator = match helper.param(1) {
        Some(given) => {
            given.value().as_str().map(Arc::from).ok_or_else(|| other("`join` needs a text between".to_owned()))?
        }
        None => Arc::<str>::from(", "),
    };
    let mut text = String::new();
    match list {
        serde_json::Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.write(&separator)?;
                }
                text.clear();
                write_value(&mut text, item);
                out.write(&text)?;
            }
            Ok(())
        }
        serde_json::Value::Null => Ok(()),
        single => {
            write_value(&mut text, single);
            Ok(out.write(&text)?)
        }
    }
}
