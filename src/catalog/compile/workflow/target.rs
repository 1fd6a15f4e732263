//! What a step calls, and with which arguments.

use super::{Scene, Work, target_name};
use crate::arazzo::{Parameter, SourceDescription, Step, Target};
use crate::catalog::compile::edits::rule_edits;
use crate::catalog::compile::operation::{Making, near_operation};
use crate::catalog::compile::{Compiler, location};
use crate::catalog::{Action, Binding, From, RequestAction, Spot, Tool};
use crate::diagnostic::{Diagnostic, hint::nearest};
use crate::document::location::resolve;
use crate::mapping::{BodyStyle, ToolEdits};
use crate::openapi::{Api, Operation};
use crate::template::BodyTemplate;
use std::sync::Arc;

/// A step's tool and what it is given.
pub(super) struct Called {
    pub tool: Arc<Tool>,
    pub with: Vec<(String, BodyTemplate)>,
    pub sent: Vec<(String, String, BodyTemplate)>,
    pub asks: Vec<String>,
}

impl Compiler<'_> {
    pub(super) fn called(&mut self, scene: &mut Scene<'_>, work: &Work<'_>, step: &Step) -> Result<Called, Diagnostic> {
        if let Target::Workflow(source, id) = &step.target {
            let core = scene
                .document_of(work.document, source.as_deref())
                .and_then(|document| self.core(scene, document, id))
                .map_err(|message| work.wrong_step(step, format!(" calls `{id}`: {message}")))?;
            let with: Vec<(String, BodyTemplate)> =
                step.parameters.iter().map(|one| (one.name.clone(), one.value.clone())).collect();
            return Ok(Called { tool: core.tool, with, sent: Vec::new(), asks: core.asks });
        }
        let (operation, making) =
            self.making(scene, work, step).map_err(|message| work.wrong(&step.pointer, message))?;
        let edits = rule_edits(scene.unit, making.source_name, operation, scene.at)
            .map_err(|reason| work.wrong_step(step, format!(" calls an operation that is {reason}")))?;
        let asks: Vec<String> =
            edits.confirm.iter().map(|_| format!("{} {}", operation.method, operation.path)).collect();
        let tool = Arc::new(self.tool_of(&making)?.0);
        let (with, sent) = match &tool.action {
            Action::Request(action) => {
                let with = arguments(step, action).map_err(|(pointer, message)| work.wrong(pointer, message))?;
                (with, sent(step, action))
            }
            _ => (Vec::new(), Vec::new()),
        };
        Ok(Called { tool, with, sent, asks })
    }

    /// The operation of a step, and what its tool is made from.
    fn making<'s>(
        &self,
        scene: &Scene<'s>,
        work: &Work<'_>,
        step: &Step,
    ) -> Result<(&'s Operation, Making<'s>), String> {
        let named = match &step.target {
            Target::Operation(source, _) | Target::Path(source, ..) => source.as_deref(),
            Target::Workflow(..) => None,
        };
        let reference = match &step.target {
            Target::Path(_, method, path) => format!("{method} {path}"),
            other => target_name(other).to_string(),
        };
        let source_name = scene.source_of(work.document, named, &reference)?;
        let unit = scene.unit;
        let api = unit.apis.get(source_name).ok_or_else(|| format!("source `{source_name}` has no document"))?;
        let operation = match api.find(&reference).as_slice() {
            [only] => *only,
            [] => return Err(missing(step, api, &reference)),
            _ => return Err(format!("step `{}`: several operations are called `{reference}`", step.id)),
        };
        let source =
            unit.mapping.sources.get(source_name).ok_or_else(|| format!("there is no source `{source_name}`"))?;
        let source_index =
            scene.sources.iter().find(|(name, _)| name == source_name).map(|(_, index)| *index).unwrap_or_default();
        let mut edits = ToolEdits { body: Some(BodyStyle::Single), ..ToolEdits::default() };
        if let Some((Some(content_type), _)) = &step.body {
            edits.media_type = Some(content_type.clone());
        }
        let making = Making {
            api,
            operation,
            source,
            source_name,
            source_index,
            name: operation.operation_id.clone().unwrap_or(reference),
            edits,
            answers: None,
            pointer: None,
            own: None,
            at: scene.at,
        };
        Ok((operation, making))
    }
}

fn missing(step: &Step, api: &Api, reference: &str) -> String {
    if let Some(skipped) = api.find_skipped(reference) {
        return format!("step `{}` calls `{reference}`, which can't be used: {}", step.id, skipped.reason.message);
    }
    let near = near_operation(reference, std::iter::once(api))
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default();
    format!("step `{}` calls `{reference}`, which is no operation{near}", step.id)
}

impl<'a> Scene<'a> {
    /// The source descriptions of a document.
    pub(super) fn described(&self, document: usize) -> &'a [SourceDescription] {
        self.documents.get(document).map_or(&[], |listed| listed.description.sources.as_slice())
    }

    /// Where a source description leads, seen from its document.
    fn location(&self, document: usize, source: &SourceDescription) -> Option<String> {
        resolve(self.documents.get(document)?.document.location.as_str(), &source.url)
    }

    /// The document that has a workflow: the same one, or the one that a source description names.
    pub(super) fn document_of(&self, document: usize, named: Option<&str>) -> Result<usize, String> {
        let Some(named) = named else { return Ok(document) };
        let source = self.described(document).iter().find(|source| source.name == named);
        let source = source.ok_or_else(|| format!("there is no source description `{named}`"))?;
        if !source.arazzo {
            return Err(format!("the source description `{named}` has no workflows; it needs `type: arazzo`"));
        }
        let wanted = self.location(document, source);
        let found =
            self.documents.iter().position(|listed| Some(listed.document.location.as_str()) == wanted.as_deref());
        found.ok_or_else(|| format!("`{}` is not loaded; list it under `workflows:` of a source too", source.url))
    }

    /// The mapping's source that a source description means; without one, the source that has the operation.
    fn source_of(&self, document: usize, named: Option<&str>, reference: &str) -> Result<&'a str, String> {
        let own = self.documents.get(document).map_or("", |listed| listed.source);
        let openapi: Vec<&SourceDescription> =
            self.described(document).iter().filter(|source| !source.arazzo).collect();
        let Some(named) = named else {
            let has = |source: &str| self.unit.apis.get(source).is_some_and(|api| !api.find(reference).is_empty());
            if has(own) {
                return Ok(own);
            }
            let mut others = openapi.iter().filter_map(|source| self.api_of(document, source)).filter(|name| has(name));
            return match (others.next(), others.next()) {
                (Some(only), None) => Ok(only),
                (Some(_), Some(_)) => {
                    Err(format!("several documents have `{reference}`; write `$sourceDescriptions.NAME.{reference}`"))
                }
                (None, _) => Ok(own),
            };
        };
        let sources = &self.unit.mapping.sources;
        if let Some((name, _)) = sources.get_key_value(named) {
            return Ok(name);
        }
        let Some(source) = openapi.iter().find(|source| source.name == named) else {
            return Err(format!("there is no source description `{named}` of an OpenAPI document"));
        };
        match self.api_of(document, source) {
            Some(name) => Ok(name),
            // The only one there is stands for the source that lists the document.
            None if openapi.len() == 1 => Ok(own),
            None => {
                Err(format!("no source of the mapping is the source description `{named}`; name one of them `{named}`"))
            }
        }
    }

    /// The source whose document a source description names.
    fn api_of(&self, document: usize, source: &SourceDescription) -> Option<&'a str> {
        let wanted = self.location(document, source)?;
        let unit: &'a crate::catalog::compile::Unit = self.unit;
        let same = unit.apis.iter().find(|(_, api)| {
            let own = api.operations.first().map(|operation| operation.origin.document.location.as_str());
            own == Some(wanted.as_str())
        });
        same.map(|(name, _)| name.as_str())
    }
}

/// The values of a step by the names of its tool's arguments; the error's first part is the pointer.
fn arguments<'s>(step: &'s Step, action: &RequestAction) -> Result<Vec<(String, BodyTemplate)>, (&'s str, String)> {
    let mut with = Vec::new();
    let argument = |wanted: &dyn Fn(&Spot) -> bool| {
        action.bindings.iter().find_map(|binding| match &binding.from {
            From::Argument(name) if wanted(&binding.spot) => Some(name.clone()),
            _ => None,
        })
    };
    for parameter in &step.parameters {
        let name = argument(&|spot| matches!(spot, Spot::Parameter(index) if is(action, *index, parameter)));
        match name {
            Some(name) => with.push((name, parameter.value.clone())),
            None => return Err((&parameter.pointer, unknown_parameter(step, parameter, action))),
        }
    }
    if let Some((_, payload)) = &step.body {
        match argument(&|spot| *spot == Spot::Body) {
            Some(name) => with.push((name, payload.clone())),
            None => return Err((&step.pointer, format!("step `{}`: the operation takes no body", step.id))),
        }
    }
    let given = |binding: &&Binding| matches!(&binding.from, From::Argument(name) if !with.iter().any(|(known, _)| known == name));
    if let Some(binding) =
        action.bindings.iter().filter(|binding| binding.required && binding.default.is_none()).find(given)
        && let From::Argument(name) = &binding.from
    {
        return Err((
            &step.pointer,
            format!("step `{}` gives no value for `{name}`, which the operation requires", step.id),
        ));
    }
    Ok(with)
}

/// The same by place and name, as `$request` names them.
fn sent(step: &Step, action: &RequestAction) -> Vec<(String, String, BodyTemplate)> {
    let mut sent = Vec::new();
    for parameter in &step.parameters {
        let plan = (0..action.parameters.len()).find(|index| is(action, *index, parameter));
        if let Some(plan) = plan.and_then(|index| action.parameters.get(index)) {
            let place = location(plan.location);
            let name = if place == "header" { plan.name.to_ascii_lowercase() } else { plan.name.clone() };
            sent.push((place.to_string(), name, parameter.value.clone()));
        }
    }
    if let Some((_, payload)) = &step.body {
        sent.push(("body".to_string(), String::new(), payload.clone()));
    }
    sent
}

fn is(action: &RequestAction, index: usize, parameter: &Parameter) -> bool {
    action.parameters.get(index).is_some_and(|plan| {
        plan.name == parameter.name
            && parameter.location.as_deref().is_none_or(|wanted| wanted == location(plan.location))
    })
}

fn unknown_parameter(step: &Step, parameter: &Parameter, action: &RequestAction) -> String {
    let place = parameter.location.as_deref().unwrap_or_default();
    if place == "header" && parameter.name.eq_ignore_ascii_case("authorization") {
        return format!("step `{}` sets `Authorization`; put it under `credentials:` of the source", step.id);
    }
    let names = action.parameters.iter().map(|plan| plan.name.as_str());
    let near = nearest(&parameter.name, names).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    format!("step `{}`: the operation has no {place} parameter `{}`{near}", step.id, parameter.name)
}
