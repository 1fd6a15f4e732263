//! The published tool of a workflow: its own one with the edits of `tools` on it.

use super::{Core, Listed, Scene};
use crate::arazzo;
use crate::catalog::compile::hand::{confirm, described, mirrored};
use crate::catalog::compile::operation::{annotations, capabilities, output_of, tool_pointer};
use crate::catalog::compile::{At, Compiler, Unit, person, problem};
use crate::catalog::name::{NameCandidate, tool_names};
use crate::catalog::{Action, From, Input, Tool};
use crate::diagnostic::{Diagnostic, Severity, hint::nearest};
use crate::mapping::{CallerValue, OutputSchema, ToolEdits, ToolRules};
use crate::schema::check::Checker;
use crate::schema::kept::Kept;
use crate::schema::profile;
use serde_json::Value;

/// Edits that only make sense for one request.
const OF_A_REQUEST: &str = "put it on the operations that the workflow calls, by way of `rules`";

/// The workflow that an entry of `tools` is about: what `workflow` says, else its own name where nothing else says
/// what the tool is.
pub(in crate::catalog::compile) fn workflow_of<'r>(
    unit: &Unit,
    name: &'r str,
    rules: &'r ToolRules,
) -> Option<&'r str> {
    if let Some(workflow) = &rules.workflow {
        return Some(workflow);
    }
    let bare = rules.operation.is_none() && rules.request.is_none() && rules.steps.is_empty();
    let mut workflows =
        unit.workflows.iter().filter_map(|(_, document)| document.root.get("workflows")?.as_array()).flatten();
    let mut named = || workflows.any(|workflow| workflow.get("workflowId").and_then(Value::as_str) == Some(name));
    (bare && named()).then_some(name)
}

impl Compiler<'_> {
    /// Every tool that the mapping makes of a workflow: one for each entry, else one as it is.
    pub(super) fn published(
        &mut self,
        scene: &Scene<'_>,
        listed: &Listed<'_>,
        workflow: &arazzo::Workflow,
        core: &Core,
    ) {
        let of_source = |rules: &ToolRules| rules.source.as_deref().is_none_or(|source| source == listed.source);
        let tools = &scene.unit.mapping.tools;
        let entries: Vec<(&String, &ToolRules)> = tools
            .iter()
            .filter(|(name, rules)| {
                of_source(rules) && workflow_of(scene.unit, name, rules) == Some(workflow.id.as_str())
            })
            .collect();
        if entries.is_empty() {
            let sources = &scene.unit.mapping.sources;
            let prefix = sources.get(listed.source).map(|source| source.tool_prefix.as_str()).unwrap_or_default();
            let wanted = Some(format!("{prefix}{}", workflow.id));
            let candidate = NameCandidate { wanted, ..NameCandidate::default() };
            let names = tool_names(&[candidate], self.profile.name_style, self.profile.max_name.unwrap_or(64));
            let name = names.into_iter().next().unwrap_or_default();
            match self.edited(core, name, &ToolRules::default(), "", scene.at) {
                Ok(tool) => self.add(tool, false, || Some(listed.document.place(&workflow.pointer))),
                Err(reason) => self.report.push(reason),
            }
        }
        for (name, rules) in entries {
            let pointer = tool_pointer(name);
            match self.edited(core, name.clone(), rules, &pointer, scene.at) {
                Ok(tool) => self.add(tool, rules.edits.hidden.unwrap_or(false), || scene.at.key(&pointer)),
                Err(reason) => self.report.push(reason),
            }
        }
    }

    /// `workflow:` that names none.
    pub(super) fn stale_workflows(&mut self, scene: &Scene<'_>) {
        let ids = || {
            scene
                .documents
                .iter()
                .filter_map(|listed| listed.document.root.get("workflows")?.as_array())
                .flatten()
                .filter_map(|workflow| workflow.get("workflowId")?.as_str())
        };
        for (name, rules) in &scene.unit.mapping.tools {
            let Some(wanted) = rules.workflow.as_deref().filter(|wanted| !ids().any(|id| id == *wanted)) else {
                continue;
            };
            let place = scene.at.value(&format!("{}/workflow", tool_pointer(name)));
            let mut diagnostic =
                problem("stale-edit", format!("tool `{name}`: there is no workflow `{wanted}`"), place);
            diagnostic.severity = Severity::Warning;
            self.report.push(match nearest(wanted, ids()) {
                Some(near) => diagnostic.fix(format!("did you mean `{near}`?")),
                None => diagnostic.fix("list its document under `workflows:` of the source".to_string()),
            });
        }
    }

    fn edited(
        &mut self,
        core: &Core,
        name: String,
        rules: &ToolRules,
        pointer: &str,
        at: At<'_>,
    ) -> Result<Tool, Diagnostic> {
        let edits = &rules.edits;
        let useless = [
            ("paginate", edits.paginate.is_some()),
            ("poll", edits.poll.is_some()),
            ("stream", edits.stream.is_some()),
            ("success", edits.success.is_some()),
            ("errors", edits.errors.is_some()),
            ("media_type", edits.media_type.is_some()),
            ("body", edits.body.is_some()),
            ("timeout", edits.timeout.is_some()),
        ];
        if let Some((key, _)) = useless.iter().find(|(_, given)| *given) {
            let place = at.key(&format!("{pointer}/{key}"));
            let message = format!("`{key}` has no effect on the tool of a workflow");
            return Err(problem("no-effect", message, place).fix(OF_A_REQUEST.to_string()));
        }
        let mut input = core.inputs.clone();
        let inputs = self.edit_input(&mut input, &mut Vec::new(), edits, &name, pointer, at)?;
        let secret = |from: &From| matches!(from, From::Secret(_) | From::Caller(CallerValue::Header(_)));
        if let Some((key, _)) = inputs.iter().find(|(_, from)| secret(from)) {
            let place = at.value(&format!("{pointer}/args/{}/value", super::super::token(key)));
            return Err(problem(
                "secret-in-workflow",
                format!("`{key}` is an input of a workflow, whose values are shown: it takes no `${{env:}}`, `${{file:}}` or `${{caller:header.}}`"),
                place,
            )
            .fix("send secrets as `credentials` or `headers` of the source".to_string()));
        }
        profile::self_check(&input).map_err(|message| {
            problem("bad-schema", format!("tool `{name}`: {message}"), at.key(&format!("{pointer}/args")))
        })?;
        {
            let properties = input.get("properties").and_then(Value::as_object);
            let mut known: Vec<&str> = properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            known.extend(edits.extra.keys().map(String::as_str));
            person::names_are_known(edits, edits, &known, &name).map_err(|(key, message, fix)| {
                problem("unknown-argument", message, at.value(&format!("{pointer}/{key}"))).fix(fix)
            })?;
        }
        // What the rules want confirmed of an operation is confirmed for the whole.
        let question = match (&edits.confirm, core.asks.as_slice()) {
            (Some(text), _) => Some(text.clone()),
            (None, []) => None,
            (None, asks) => Some(format!("Really run {name}? It calls {}.", asks.join(", "))),
        };
        person::amend(&mut input, &ToolEdits { confirm: question.clone(), ..edits.clone() });
        let result = self.result_plan(rules, pointer, at)?;
        let wanted = edits.result.as_ref().and_then(|rules| rules.output_schema).unwrap_or_default();
        let published = core.tool.output.published.as_ref().filter(|_| wanted != OutputSchema::None);
        let mut schema = published.map(|schema| schema.tree().into_owned());
        if let (Some(published), Some(plan)) = (&schema, &result) {
            schema = plan.compiled.rewrite_schema(published);
        }
        if let Some((key, message, fix)) = person::idle_task_edit(edits) {
            let place = at.key(&format!("{pointer}/{key}"));
            return Err(problem("no-effect", message.to_string(), place).fix(fix));
        }
        let mut needed = capabilities(edits.requires_client.as_deref());
        needed.extend(core.tool.requires_client.iter().cloned());
        needed.sort();
        needed.dedup();
        let action = match &core.tool.action {
            Action::Workflow(workflow) => {
                Action::Workflow(Box::new(crate::catalog::Workflow { inputs, ..(**workflow).clone() }))
            }
            _ => return Err(problem("unsupported-workflow", format!("`{name}` is no workflow"), at.key(pointer))),
        };
        Ok(Tool {
            title: edits.title.clone().or_else(|| core.tool.title.clone()),
            description: described(&edits.description, || core.tool.description.clone()),
            annotations: annotations(core.tool.annotations, edits.annotations.as_ref()),
            icons: edits.icons.clone().unwrap_or_default(),
            tags: Vec::new(),
            operation: None,
            input: Input {
                published: Kept::from(profile::publish(&input, self.profile.schema_profile)),
                check: Checker::new(input),
                body_check: None,
                mirrored: mirrored(edits),
            },
            output: output_of(schema, wanted == OutputSchema::Strict),
            action,
            ask: edits.ask.iter().map(|(key, ask)| (key.clone(), ask.clone())).collect(),
            confirm: confirm(question.as_deref(), &name, "", "").map_err(|message| {
                problem("bad-template", format!("`confirm`: {message}"), at.value(&format!("{pointer}/confirm")))
            })?,
            requires_client: needed,
            result,
            cache: edits.cache.clone(),
            name,
        })
    }
}
