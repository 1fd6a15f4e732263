//! The result pipeline of a mapping.
//!
//! Steps, in this order: `select` (jq), `path`, `pick`, `drop`, `rename`, `redact`, `limit_items`, `max_bytes`, then the
//! form: `format`, `template`, `blocks`, `as`. [`Compiled::rewrite_schema`] takes the published output schema the same way.

mod compose;
mod direct;
mod filter;
mod format;
mod hide;
mod needs;
mod prune;
mod raw;
mod read;
mod render;
mod schema;
mod selector;

pub use selector::Selector;

use super::cut::{self, Cut};
use super::jq::{self, Failure, Jq, Limits};
use super::{Block, problem};
use crate::catalog::Arguments;
use crate::mapping::{Binary, Format, OutputSchema, ResultKind, ResultRules};
use crate::template::{Template, TemplateError};
use bytes::Bytes;
use compose::BlockPlan;
use direct::Direct;
use filter::Outputs;
use needs::Needs;
use render::{UriTemplate, context};
use schema::Rewriter;
use selector::Tree;
use serde_json::{Value, json};

/// jq, templates and selectors of one tool, compiled.
#[derive(Debug)]
pub struct Compiled {
    select: Option<(Jq, Outputs)>,
    /// `select` from text to text, where that can be.
    direct: Option<Direct>,
    /// What `select` can look at, where that is less than everything.
    needs: Option<Needs>,
    path: Option<Selector>,
    pick: Option<Tree>,
    drop: Option<Tree>,
    rename: Option<Tree>,
    redact: Option<Tree>,
    limit_items: Option<usize>,
    max_bytes: Option<usize>,
    format: Option<Format>,
    template: Option<Template>,
    blocks: Vec<BlockPlan>,
    uri: Option<UriTemplate>,
    /// `as`.
    pub(super) kind: ResultKind,
    /// `mime_type` of the embedded resource.
    pub(super) mime_type: Option<String>,
    /// `binary`.
    pub(super) binary: Option<Binary>,
    /// `output_schema`.
    pub(super) output_schema: OutputSchema,
}

/// A fault in `result` rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeError {
    /// The key below `result`, such as `select`, `pick[1]` or `blocks[0].uri`.
    pub key: String,
    /// What is wrong, without trailing full stop.
    pub message: String,
}

/// A value after the pipeline.
#[derive(Debug, Clone, Default)]
pub struct Shaped {
    /// The value.
    pub value: Value,
    /// Its text, where `format` or `template` make one; else its JSON is the text.
    pub text: Option<String>,
    /// Composed blocks instead of a text.
    pub blocks: Option<Vec<Block>>,
    /// True if the value goes out as `structuredContent` too.
    pub structured: bool,
    /// What was shortened.
    pub cuts: Vec<Cut>,
    /// Remarks for the model.
    pub notes: Vec<String>,
    /// The API's own error message, where `path` led nowhere and the answer holds `errors` (GraphQL).
    pub failed: Option<String>,
}

/// What is made of a JSON text before any value is.
#[derive(Debug)]
pub(super) struct Part {
    /// JSON text.
    pub(super) text: Bytes,
    /// What it is.
    pub(super) stage: Stage,
}

/// How far a [`Part`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// What `select` looks at, and how many bytes of the text are left out.
    Input(usize),
    /// What `select` gave; other steps follow.
    Selected,
    /// The result.
    Result,
}

/// Files errors under a key.
trait Keyed<T> {
    fn keyed(self, key: impl Into<String>, errors: &mut Vec<ShapeError>) -> Option<T>;
}

impl<T> Keyed<T> for Result<T, String> {
    fn keyed(self, key: impl Into<String>, errors: &mut Vec<ShapeError>) -> Option<T> {
        self.map_err(|message| errors.push(ShapeError { key: key.into(), message })).ok()
    }
}

/// A template's fault with its place and way out.
fn told(error: TemplateError) -> String {
    match &error.fix {
        Some(fix) => format!("{error}: {fix}"),
        None => error.to_string(),
    }
}

impl Compiled {
    /// Compiles the rules; all faults at once.
    pub fn new(rules: &ResultRules) -> Result<Self, Vec<ShapeError>> {
        let errors = &mut Vec::new();
        let term = rules.select.as_deref().and_then(|text| jq::parsed(text).ok());
        let outputs = term.as_ref().map_or(Outputs::Unknown, filter::outputs);
        let select =
            rules.select.as_deref().and_then(|text| Some((Jq::compile(text).keyed("select", errors)?, outputs)));
        let direct = term.as_ref().and_then(|term| Direct::compile(term, outputs));
        // Where the filter fails, these tell why.
        let needs = term.as_ref().and_then(needs::needs).map(|needs| needs.and_member("errors"));
        let path = rules.path.as_deref().and_then(|text| Selector::parse(text).keyed("path", errors));
        let mut selectors = |key: &str, list: &[String]| {
            let all: Vec<Selector> = list
                .iter()
                .enumerate()
                .filter_map(|(index, text)| Selector::parse(text).keyed(format!("{key}[{index}]"), errors))
                .collect();
            (!all.is_empty()).then(|| Tree::new(&all))
        };
        let pick = selectors("pick", rules.pick.as_deref().unwrap_or_default());
        let drop = selectors("drop", rules.drop.as_deref().unwrap_or_default());
        let redact = selectors("redact", rules.redact.as_deref().unwrap_or_default());
        let mut renames = Vec::new();
        for (old, new) in &rules.rename {
            let key = format!("rename.{old}");
            if new.is_empty() {
                errors.push(ShapeError { key, message: "the new name is empty".to_owned() });
            } else if let Some(selector) = Selector::parse(old).keyed(key, errors) {
                renames.push((selector, new.clone()));
            }
        }
        let rename = (!renames.is_empty()).then(|| Tree::renaming(&renames));
        let template =
            rules.template.as_deref().and_then(|text| Template::compile(text).map_err(told).keyed("template", errors));
        let uri = rules.uri.as_deref().and_then(|text| UriTemplate::compile(text).keyed("uri", errors));
        let blocks: Vec<BlockPlan> = rules
            .blocks
            .iter()
            .flatten()
            .enumerate()
            .filter_map(|(index, rules)| BlockPlan::compile(rules, index, errors))
            .collect();
        let forms = [
            ("format", rules.format.is_some()),
            ("template", rules.template.is_some()),
            ("blocks", rules.blocks.as_ref().is_some_and(|blocks| !blocks.is_empty())),
        ];
        let given: Vec<&str> = forms.iter().filter(|(_, given)| *given).map(|(key, _)| *key).collect();
        if let [first, second, ..] = given.as_slice() {
            let message = format!("`{first}` and `{second}` exclude each other");
            errors.push(ShapeError { key: (*second).to_owned(), message });
        }
        let max_bytes = rules.max_bytes.map(|bytes| usize::try_from(bytes.0).unwrap_or(usize::MAX));
        if max_bytes.is_some_and(|bytes| bytes < 64) {
            errors.push(ShapeError {
                key: "max_bytes".to_owned(),
                message: "less than 64 bytes hold nothing".to_owned(),
            });
        }
        if !errors.is_empty() {
            return Err(std::mem::take(errors));
        }
        Ok(Compiled {
            select,
            direct,
            needs,
            path,
            pick,
            drop,
            rename,
            redact,
            limit_items: rules.limit_items,
            max_bytes,
            format: rules.format,
            template,
            blocks,
            uri,
            kind: rules.kind.unwrap_or_default(),
            mime_type: rules.mime_type.clone(),
            binary: rules.binary,
            output_schema: rules.output_schema.unwrap_or_default(),
        })
    }

    /// Takes a value through the pipeline. Errors: a filter or template failed on this value.
    pub fn apply(&self, value: Value, arguments: &Arguments) -> Result<Shaped, String> {
        let value = match &self.select {
            Some((filter, outputs)) => match select(filter, *outputs, &value, &Limits::default()) {
                Ok(selected) => selected,
                Err(failure) => return unselected(&failure, &value),
            },
            None => value,
        };
        self.selected(value, arguments)
    }

    /// The same for what [`Compiled::part`] gave and is no result yet. `None` where the filter fails on it: its error may
    /// tell of the whole, but for a limit, which would only be met once more.
    pub(super) fn apply_part(&self, part: &Part, arguments: &Arguments) -> Option<Result<Shaped, String>> {
        let (filter, outputs) = self.select.as_ref()?;
        let value = serde_json::from_slice(&part.text).ok()?;
        let Stage::Input(left_out) = part.stage else { return Some(self.selected(value, arguments)) };
        match select(filter, *outputs, &value, &Limits::of_part(left_out)) {
            Ok(value) => Some(self.selected(value, arguments)),
            Err(failure) if failure.limit => Some(unselected(&failure, &value)),
            Err(_) => None,
        }
    }

    /// The steps behind `select`.
    fn selected(&self, value: Value, arguments: &Arguments) -> Result<Shaped, String> {
        let Some(path) = &self.path else {
            let value = match &self.pick {
                Some(tree) => tree.pick(value),
                None => value,
            };
            return self.finish(value, arguments);
        };
        let failed = graphql_error(&value).filter(|_| path.get(&value).is_none_or(|found| found.is_null()));
        let missed = || format!("The answer has nothing at `{}`.", path.as_str());
        let hits = path.hits(&value);
        let Some(value) = path.take(value).filter(|_| failed.is_none()) else {
            return Ok(Shaped { failed, notes: vec![missed()], structured: self.is_structured(), ..Shaped::default() });
        };
        let value = match &self.pick {
            Some(tree) => tree.pick(value),
            None => value,
        };
        let mut shaped = self.finish(value, arguments)?;
        if !hits {
            shaped.notes.insert(0, missed());
        }
        Ok(shaped)
    }

    /// The same for a JSON text; reads only what `path` and `pick` leave, where that can be. Errors as [`Compiled::apply`].
    pub fn apply_text(&self, text: &[u8], arguments: &Arguments) -> Result<Shaped, String> {
        let streams = self.select.is_none()
            && (self.path.is_some() || self.pick.is_some())
            && self.path.as_ref().is_none_or(read::is_plain);
        if streams
            && let Ok(Some(value)) = read::read(text, self.path.as_ref(), self.pick.as_ref())
            // Null and the empty list may be a miss, which needs the whole answer to be told.
            && !value.is_null()
            && value.as_array().is_none_or(|items| !items.is_empty())
        {
            return self.finish(value, arguments);
        }
        let value = serde_json::from_slice(text).map_err(|_| "the answer is no JSON that can be read".to_owned())?;
        self.apply(value, arguments)
    }

    /// True if [`Compiled::part`] may give something.
    pub(super) fn takes_part(&self) -> bool {
        self.direct.is_some() || self.needs.is_some() || self.only_picks()
    }

    /// True if nothing but `pick`, behind a `path` or not, is asked for.
    fn only_picks(&self) -> bool {
        self.pick.is_some() && self.select.is_none() && self.keeps_form()
    }

    /// The part of a text that the rules are about: what `path` and `pick` leave, where nothing else is asked for, what
    /// `select` gives, or what it looks at. `None` where the whole has to be read as a value ([`Compiled::apply_text`]), and
    /// where the text, which is UTF-8, is no JSON.
    pub(super) fn part(&self, text: &[u8]) -> Option<Part> {
        if let Some(selected) = self.direct.as_ref().and_then(|direct| direct.run(text)) {
            // A string is shown as it is where nothing else goes out.
            let plain = selected.first() == Some(&b'"') && !self.is_structured();
            let ends = self.path.is_none() && self.pick.is_none() && self.keeps_form() && !plain;
            let stage = if ends { Stage::Result } else { Stage::Selected };
            return Some(Part { text: selected.into(), stage });
        }
        if let Some(needs) = &self.needs {
            let part = prune::pruned(text, needs)?;
            let stage = Stage::Input(text.len().saturating_sub(part.len()));
            return Some(Part { text: part.into(), stage });
        }
        let pick = self.pick.as_ref().filter(|_| self.only_picks())?;
        Some(Part { text: raw::picked(text, self.path.as_ref(), pick)?.into(), stage: Stage::Result })
    }

    fn finish(&self, mut value: Value, arguments: &Arguments) -> Result<Shaped, String> {
        let mut cuts = Vec::new();
        let mut notes = Vec::new();
        if let Some(tree) = &self.drop {
            tree.remove(&mut value);
        }
        if let Some(tree) = &self.rename {
            let mut lost = Vec::new();
            value = tree.rename(value, &mut lost);
            lost.sort_unstable();
            lost.dedup();
            notes.extend(lost.iter().map(|name| format!("The API's own `{name}` gave way to a renamed member.")));
        }
        if let Some(tree) = &self.redact {
            tree.redact(&mut value);
        }
        if let Some(most) = self.limit_items {
            cut::limit_items(&mut value, most, "", &mut cuts);
        }
        // A composed or formatted text has its own length; its value is cut only where it is the text.
        let plain = self.template.is_none() && self.blocks.is_empty();
        if let Some(budget) = self.max_bytes.filter(|_| plain) {
            value = cut::fit(value, budget, "", &mut cuts);
        }
        let mut shaped = Shaped { structured: self.is_structured(), ..Shaped::default() };
        if let Some(template) = &self.template {
            let text =
                template.render_lenient(&context(&value, arguments)).map_err(|error| format!("`template`: {error}"))?;
            shaped.text = Some(self.fit_plain(text, &mut cuts));
        } else if !self.blocks.is_empty() {
            let mut blocks = Vec::new();
            for plan in &self.blocks {
                blocks.extend(plan.make(&value, arguments, &mut notes)?);
            }
            shaped.blocks = Some(blocks);
        } else if let Some(format) = self.format.filter(|format| *format != Format::Json) {
            shaped.text = Some(self.fit_plain(format::format(&value, format), &mut cuts));
        }
        Ok(Shaped { value, cuts, notes, ..shaped })
    }

    /// Cuts a plain text to `max_bytes`.
    pub(super) fn fit_plain(&self, text: String, cuts: &mut Vec<Cut>) -> String {
        match self.max_bytes {
            Some(budget) => cut::fit_plain(text, budget, cuts),
            None => text,
        }
    }

    /// True if nothing is asked for that changes a JSON body: its bytes may go through.
    pub(super) fn is_transparent(&self) -> bool {
        self.select.is_none() && self.path.is_none() && self.pick.is_none() && self.keeps_form()
    }

    /// True if nothing is asked for but `select`, `path` and `pick`.
    fn keeps_form(&self) -> bool {
        self.drop.is_none()
            && self.rename.is_none()
            && self.redact.is_none()
            && self.limit_items.is_none()
            && self.max_bytes.is_none()
            && self.format.is_none()
            && !self.composes()
    }

    /// True if a template or blocks make the content, whatever the body is.
    pub(super) fn composes(&self) -> bool {
        self.template.is_some() || !self.blocks.is_empty()
    }

    /// True if the value goes out as `structuredContent`.
    pub(super) fn is_structured(&self) -> bool {
        self.kind == ResultKind::Auto && !self.composes()
    }

    /// `uri` filled in; `None` where the mapping gives none.
    pub(super) fn uri(&self, value: &Value, arguments: &Arguments) -> Option<String> {
        self.uri.as_ref().map(|uri| uri.expand(value, arguments))
    }

    /// The output schema of what the pipeline makes of a value of the `published` one. `None` where the result is no
    /// structured value (`template`, `blocks`, `as: text | resource`, `output_schema: none`).
    pub fn rewrite_schema(&self, published: &Value) -> Option<Value> {
        if !self.is_structured() || self.output_schema == OutputSchema::None {
            return None;
        }
        let rewriter = Rewriter::new(published);
        let mut schema = published.clone();
        if let Some((filter, outputs)) = &self.select {
            schema = match jq::parsed(filter.text()) {
                Ok(term) => {
                    let output = filter::schema(&term, &schema, rewriter, 0);
                    match outputs {
                        Outputs::One => output,
                        Outputs::Maybe => schema::nullable(output),
                        Outputs::Many if output == json!({}) => json!({"type": "array"}),
                        Outputs::Many => json!({"type": "array", "items": output}),
                        Outputs::Unknown => json!({}),
                    }
                }
                Err(_) => json!({}),
            };
        }
        if let Some(path) = &self.path {
            schema = rewriter.path(&schema, path);
        }
        if let Some(tree) = &self.pick {
            schema = rewriter.pick(&schema, tree, 0);
        }
        if let Some(tree) = &self.drop {
            schema = rewriter.remove(&schema, tree, 0);
        }
        if let Some(tree) = &self.rename {
            schema = rewriter.rename(&schema, tree, 0);
        }
        if let Some(tree) = &self.redact {
            schema = rewriter.redact(&schema, tree, 0);
        }
        let mut schema = schema::with_definitions(schema, published);
        if self.limit_items.is_some() || self.max_bytes.is_some() {
            schema::loosen(&mut schema, self.max_bytes.is_some(), 0);
        }
        Some(schema)
    }
}

/// Runs the filter and makes one value of its outputs.
fn select(filter: &Jq, outputs: Outputs, value: &Value, limits: &Limits) -> Result<Value, Failure> {
    let wanted = if outputs <= Outputs::Maybe { 1 } else { usize::MAX };
    let mut all = filter.attempt(value, limits, wanted)?;
    Ok(match (outputs, all.len()) {
        (Outputs::Many, _) | (_, 2..) => Value::Array(all),
        _ => all.pop().unwrap_or_default(),
    })
}

/// What a failed filter tells of: the API's own errors, where there are some.
fn unselected(failure: &Failure, value: &Value) -> Result<Shaped, String> {
    match graphql_error(value) {
        None => Err(format!("`select`: {}", failure.message)),
        failed => Ok(Shaped { failed, ..Shaped::default() }),
    }
}

/// What `errors` of an answer say (GraphQL, section "Errors"); `None` where the list is empty or missing.
fn graphql_error(value: &Value) -> Option<String> {
    let errors = value.get("errors")?.as_array().filter(|errors| !errors.is_empty())?;
    problem::list(errors, &|place| place.to_owned())
}
