//! `outputSchema` and `Accept` of a tool, from the declared success responses.

use super::operation::Making;
use super::{Compiler, problem};
use crate::catalog::ResultPlan;
use crate::content::shape::Compiled;
use crate::diagnostic::Diagnostic;
use crate::mapping::{OutputSchema, ResultRules};
use crate::openapi::{Api, MediaType, Response};
use crate::schema::bundle::Directed;
use crate::schema::kept::size;
use crate::schema::{Direction, output};
use serde_json::{Value, json};
use std::sync::Arc;

/// Published output schemas larger than this say too little for their tokens and are left out.
const MOST_BYTES: usize = 16 * 1024;
/// What the output schemas of one source may take together: a list that a model reads is for the arguments.
const MOST_TOGETHER: usize = 256 * 1024;

/// What a tool's answers look like.
pub(super) struct OutputParts {
    pub schema: Option<Value>,
    pub strict: bool,
    pub accept: String,
    pub plan: Option<Arc<ResultPlan>>,
}

/// The answers of one source: what several of them refer to is relaxed once.
pub(super) struct Answers<'a> {
    table: Directed<'a>,
    made: output::Relaxed,
    /// Bytes of one output schema.
    most: usize,
}

impl<'a> Answers<'a> {
    pub(super) fn new(api: &'a Api) -> Self {
        let most = (MOST_TOGETHER / api.operations.len().max(1)).min(MOST_BYTES);
        Answers { table: api.definitions.table(Direction::Output), made: output::Relaxed::default(), most }
    }

    fn relaxed(&mut self, schema: &Value) -> Value {
        output::within(&self.table, schema, self.most, &mut self.made)
    }
}

impl Compiler<'_> {
    pub(super) fn output(&mut self, making: &Making<'_>) -> Result<OutputParts, Diagnostic> {
        let successes: Vec<&Response> = successes(making);
        let accept = accept(&successes);
        let wanted = making.edits.result.as_ref().and_then(|rules| rules.output_schema).unwrap_or_default();
        let plan = match &making.edits.result {
            None => None,
            Some(rules) => {
                let compiled = Compiled::new(rules).map_err(|errors| {
                    let first = errors.first();
                    let key = first.map(|error| error.key.clone()).unwrap_or_default();
                    let message = errors
                        .iter()
                        .map(|error| format!("`result.{}`: {}", error.key, error.message))
                        .collect::<Vec<_>>()
                        .join("; ");
                    problem("bad-result", message, making.place(&format!("result/{}", key.replace('.', "/"))))
                })?;
                Some(Arc::new(ResultPlan { rules: rules.clone(), compiled }))
            }
        };
        let strict = wanted == OutputSchema::Strict;
        let mut schema = match wanted {
            OutputSchema::None => None,
            // What a stream or a finished job gives is declared nowhere.
            _ if making.edits.stream.is_some() || making.edits.poll.is_some() => None,
            _ => declared(making, &successes, strict),
        };
        if let (Some(published), Some(rules)) = (&schema, &making.edits.paginate) {
            schema = listed(published, rules.items.as_deref());
        }
        if let (Some(published), Some(plan)) = (&schema, &plan) {
            let rewritten = plan.compiled.rewrite_schema(published);
            schema = if strict { rewritten } else { rewritten.as_ref().map(relaxed_again) };
        }
        if !strict
            && schema
                .as_ref()
                .is_some_and(|schema| size(schema) > making.answers.map_or(MOST_BYTES, |answers| answers.borrow().most))
        {
            schema = None;
        }
        Ok(OutputParts { schema, strict, accept, plan })
    }
}

/// What a filter builds is never null and has all its members; what stands in for an answer that it can't be applied
/// to has not. A list stays one: an empty list stands in for it.
fn relaxed_again(rewritten: &Value) -> Value {
    let mut relaxed = output::relaxed(rewritten);
    if rewritten.get("type").is_some_and(|kind| kind == "array")
        && let Some(members) = relaxed.as_object_mut()
    {
        members.insert("type".to_string(), json!("array"));
    }
    relaxed
}

/// The schema of a list of the items of all pages.
fn listed(page: &Value, items: Option<&str>) -> Option<Value> {
    let rules = ResultRules { path: items.map(str::to_string), ..ResultRules::default() };
    let mut list = Compiled::new(&rules).ok()?.rewrite_schema(page)?;
    if let Value::Object(members) = &mut list {
        let is_list = match members.get("type") {
            Some(Value::String(kind)) => kind == "array",
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "array"),
            _ => false,
        };
        if !is_list {
            return None;
        }
        members.insert("type".to_string(), json!("array"));
        for bound in ["minItems", "maxItems", "uniqueItems"] {
            members.remove(bound);
        }
    }
    Some(list)
}

fn successes<'a>(making: &Making<'a>) -> Vec<&'a Response> {
    let by =
        |wanted: fn(&str) -> bool| making.operation.responses.iter().filter(|r| wanted(&r.status)).collect::<Vec<_>>();
    let exact = by(|status| status.starts_with('2'));
    if exact.is_empty() { by(|status| status == "default") } else { exact }
}

fn is_json(media: &MediaType) -> bool {
    let essence = media.media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || essence.ends_with("+json")
}

/// The schema of the JSON answers; several different ones are alternatives.
fn declared(making: &Making<'_>, successes: &[&Response], strict: bool) -> Option<Value> {
    let definitions = &making.api.definitions;
    let mut schemas: Vec<Value> = Vec::new();
    for response in successes {
        let Some(media) = response.content.iter().find(|media| is_json(media)) else {
            // An answer without JSON has no structured content; then no schema may be published.
            if !response.content.is_empty() || response.status != "204" {
                return None;
            }
            return None;
        };
        if !media.has_schema {
            return None;
        }
        let schema = if strict {
            output::strict(&definitions.bundle(&media.schema, Direction::Output))
        } else {
            let schema = definitions.directed(&media.schema, Direction::Output);
            match making.answers {
                Some(answers) => answers.borrow_mut().relaxed(&schema.json),
                None => Answers::new(making.api).relaxed(&schema.json),
            }
        };
        if !schemas.contains(&schema) {
            schemas.push(schema);
        }
    }
    match schemas.len() {
        0 => None,
        1 => schemas.pop(),
        _ => None,
    }
}

/// `Accept`: what the success responses declare, best first; errors are taken in any form.
fn accept(successes: &[&Response]) -> String {
    let mut types: Vec<&str> = Vec::new();
    for media in successes.iter().flat_map(|response| &response.content) {
        let essence = media.media_type.split(';').next().unwrap_or_default().trim();
        if essence.contains('/') && !types.contains(&essence) && essence.bytes().all(|b| b.is_ascii_graphic()) {
            types.push(essence);
        }
    }
    types.sort_by_key(|essence| !(*essence == "application/json" || essence.ends_with("+json")));
    if types.is_empty() || types.contains(&"*/*") {
        return "application/json, */*;q=0.8".to_string();
    }
    format!("{}, */*;q=0.1", types.join(", "))
}
