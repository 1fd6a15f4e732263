//! Composite tools: several calls, one tool.

use super::hand::{confirm, described, shown};
use super::operation::{annotations, capabilities, tool_pointer};
use super::{At, Compiler, Unit, problem, token};
use crate::catalog::{Action, Annotations, Input, Output, Step, Tool};
use crate::diagnostic::{Diagnostic, hint::nearest};
use crate::mapping::{ToolEdits, ToolRules};
use crate::schema::check::Checker;
use crate::schema::kept::Kept;
use crate::schema::profile;
use crate::template::BodyTemplate;
use indexmap::IndexMap;
use serde_json::{Value, json};

impl Compiler<'_> {
    pub(super) fn composites(&mut self, unit: &Unit, at: At<'_>) {
        let mut pending: Vec<(&String, &ToolRules)> =
            unit.mapping.tools.iter().filter(|(_, rules)| !rules.steps.is_empty()).collect();
        // A composite tool may call another one that is written further down.
        loop {
            let names: Vec<&str> = pending.iter().map(|(name, _)| name.as_str()).collect();
            let waits = |name: &str, rules: &ToolRules| {
                rules.steps.iter().any(|step| {
                    step.call != name && names.contains(&step.call.as_str()) && self.tool(&step.call).is_none()
                })
            };
            let ready = pending.iter().position(|(name, rules)| !waits(name, rules));
            if pending.is_empty() {
                return;
            }
            // Where all wait for each other the first one is refused, which says so.
            let (name, rules) = pending.remove(ready.unwrap_or(0));
            let pointer = tool_pointer(name);
            match self.composite(name, rules, ready.is_none(), &pointer, at) {
                Ok(tool) => self.add(tool, rules.edits.hidden.unwrap_or(false), || at.key(&pointer)),
                Err(reason) => self.report.push(reason),
            }
        }
    }

    fn composite(
        &mut self,
        name: &str,
        rules: &ToolRules,
        circular: bool,
        pointer: &str,
        at: At<'_>,
    ) -> Result<Tool, Diagnostic> {
        let mut input = rules.input.clone().unwrap_or_else(|| json!({"type": "object", "properties": {}}));
        profile::self_check(&input).map_err(|message| {
            problem("bad-schema", format!("tool `{name}`: {message}"), at.value(&format!("{pointer}/input")))
        })?;
        if let Value::Object(root) = &mut input {
            root.entry("additionalProperties").or_insert(Value::Bool(false));
        }
        for (key, edit) in &rules.edits.args {
            let keys =
                [("rename", edit.rename.is_some()), ("value", edit.value.is_some()), ("hide", edit.hide == Some(true))];
            if let Some((useless, _)) = keys.iter().find(|(_, given)| *given) {
                let place = at.key(&format!("{pointer}/args/{}/{useless}", token(key)));
                return Err(problem("no-effect", format!("`{useless}` has no effect on a tool of steps"), place)
                    .fix("change `input` and `with` themselves".to_string()));
            }
        }
        self.edit_input(&mut input, &mut Vec::new(), &rules.edits, name, pointer, at)?;
        let known_input = with_answers(&input, &rules.edits);
        {
            let known: Vec<&str> = known_input
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(|p| p.keys().map(String::as_str))
                .collect();
            super::person::names_are_known(&rules.edits, &rules.edits, &known, name).map_err(
                |(key, message, fix)| {
                    problem("unknown-argument", message, at.value(&format!("{pointer}/{key}"))).fix(fix)
                },
            )?;
        }
        super::person::amend(&mut input, &rules.edits);
        let mut steps: Vec<Step> = Vec::new();
        for (index, rule) in rules.steps.iter().enumerate() {
            let here = format!("{pointer}/steps/{index}");
            let found = self
                .tool_for(&rule.call, None)
                .map_err(|several| self.ambiguous(&rule.call, &several, at.value(&format!("{here}/call"))))?;
            let Some(tool) = found else {
                if circular {
                    let message = format!("step `{}` calls `{}`, which calls this tool in turn", rule.id, rule.call);
                    return Err(problem("circular-steps", message, at.value(&format!("{here}/call"))));
                }
                let names: Vec<&str> = self.catalog.tools.keys().map(String::as_str).collect();
                let diagnostic = problem(
                    "unknown-call",
                    format!("step `{}` calls `{}`, which is no tool or operation", rule.id, rule.call),
                    at.value(&format!("{here}/call")),
                );
                return Err(match nearest(&rule.call, names) {
                    Some(near) => diagnostic.fix(format!("did you mean `{near}`?")),
                    None => diagnostic,
                });
            };
            if !tool.ask.is_empty() || tool.confirm.is_some() && rules.edits.confirm.is_none() {
                let key = if tool.ask.is_empty() { "confirm" } else { "ask" };
                let message = format!("`{}` asks the person (`{key}`), which a step can't", tool.name);
                return Err(problem("asking-step", message, at.value(&format!("{here}/call")))
                    .fix(format!("put `{key}` on `{name}`, or call a tool of the same operation without it")));
            }
            let mut with = IndexMap::new();
            let mut after: Vec<usize> = Vec::new();
            let input = tool.input.published.tree();
            for (argument, value) in &rule.with {
                let place = at.value(&format!("{here}/with/{}", token(argument)));
                let template = BodyTemplate::compile(value)
                    .map_err(|error| problem("bad-template", shown(&error), place.clone()))?;
                self.known(&template, &steps, &known_input, place, &mut after)?;
                if input.pointer(&format!("/properties/{}", token(argument))).is_none()
                    && input.get("additionalProperties") == Some(&Value::Bool(false))
                {
                    let names = tool.input.published.property_names();
                    let diagnostic = problem(
                        "unknown-argument",
                        format!("`{}` has no argument `{argument}`", tool.name),
                        at.key(&format!("{here}/with/{}", token(argument))),
                    );
                    return Err(match nearest(argument, names.iter().map(String::as_str)) {
                        Some(near) => diagnostic.fix(format!("did you mean `{near}`?")),
                        None => diagnostic.fix(format!("it takes: {}", names.join(", "))),
                    });
                }
                let root = tool.input.check.schema();
                if let Some(schema) = root.pointer(&format!("/properties/{}", token(argument)))
                    && let Some(message) = super::types::mismatch(&template, &known_input, &steps, root, schema)
                {
                    let place = at.value(&format!("{here}/with/{}", token(argument)));
                    return Err(problem(
                        "type-mismatch",
                        format!("argument `{argument}` of `{}`: {message}", tool.name),
                        place,
                    ));
                }
                with.insert(argument.clone(), template);
            }
            let when = match &rule.when {
                None => None,
                Some(value) => {
                    let place = at.value(&format!("{here}/when"));
                    let template = BodyTemplate::compile(value)
                        .map_err(|error| problem("bad-template", shown(&error), place.clone()))?;
                    self.known(&template, &steps, &known_input, place, &mut after)?;
                    Some(template)
                }
            };
            after.extend(rule.after.iter().filter_map(|id| steps.iter().position(|step| &step.id == id)));
            after.sort_unstable();
            after.dedup();
            steps.push(Step { id: rule.id.clone(), tool, with, when, on_error: rule.on_error, after });
        }
        let all = |wanted: fn(&Annotations) -> bool| steps.iter().all(|step| wanted(&step.tool.annotations));
        let any = |wanted: fn(&Annotations) -> bool| steps.iter().any(|step| wanted(&step.tool.annotations));
        let automatic = Annotations {
            read_only: all(|a| a.read_only),
            destructive: any(|a| a.destructive),
            idempotent: all(|a| a.idempotent),
            open_world: any(|a| a.open_world),
        };
        let edits = &rules.edits;
        let calls: Vec<&str> = steps.iter().map(|step| step.tool.name.as_str()).collect();
        let description = described(&edits.description, || format!("Calls {}.", calls.join(", then ")));
        let result = self.result_plan(rules, pointer, at)?;
        if let Some((key, message, fix)) = super::person::idle_task_edit(edits) {
            return Err(problem("no-effect", message.to_string(), at.key(&format!("{pointer}/{key}"))).fix(fix));
        }
        let mut needed = capabilities(edits.requires_client.as_deref());
        // A step waits for its job within the call, whoever calls.
        let of_steps = steps.iter().flat_map(|step| step.tool.requires_client.iter());
        needed.extend(of_steps.filter(|name| *name != "tasks").cloned());
        needed.sort();
        needed.dedup();
        Ok(Tool {
            name: name.to_string(),
            title: edits.title.clone(),
            description,
            annotations: annotations(automatic, edits.annotations.as_ref()),
            icons: edits.icons.clone().unwrap_or_default(),
            tags: Vec::new(),
            operation: None,
            input: Input {
                published: Kept::from(profile::publish(&input, self.profile.schema_profile)),
                check: Checker::new(input),
                body_check: None,
                mirrored: super::hand::mirrored(edits),
            },
            output: Output::default(),
            action: Action::Steps(steps),
            ask: edits.ask.iter().map(|(key, ask)| (key.clone(), ask.clone())).collect(),
            confirm: confirm(edits.confirm.as_deref(), name, "", "").map_err(|message| {
                problem("bad-template", format!("`confirm`: {message}"), at.value(&format!("{pointer}/confirm")))
            })?,
            requires_client: needed,
            result,
            cache: edits.cache.clone(),
        })
    }

    /// Every placeholder names `input.…` or an earlier step; later steps wait for those they name.
    fn known(
        &self,
        template: &BodyTemplate,
        steps: &[Step],
        input: &Value,
        place: Option<crate::diagnostic::Place>,
        after: &mut Vec<usize>,
    ) -> Result<(), Diagnostic> {
        for path in template.placeholders() {
            let Some(first) = path.first() else { continue };
            if first == "input" {
                let Some(argument) = path.get(1) else { continue };
                if input.pointer(&format!("/properties/{}", token(argument))).is_none() {
                    let names: Vec<String> = input
                        .get("properties")
                        .and_then(Value::as_object)
                        .map(|p| p.keys().cloned().collect())
                        .unwrap_or_default();
                    let diagnostic =
                        problem("unknown-placeholder", format!("the tool has no input `{argument}`"), place);
                    return Err(match nearest(argument, names.iter().map(String::as_str)) {
                        Some(near) => diagnostic.fix(format!("did you mean `input.{near}`?")),
                        None => diagnostic.fix(format!("declare `{argument}` under `input.properties`")),
                    });
                }
                continue;
            }
            if input.pointer(&format!("/x-answers/{}", token(first))).is_some() {
                continue;
            }
            match steps.iter().position(|step| &step.id == first) {
                Some(index) => after.push(index),
                None => {
                    let names: Vec<&str> = steps.iter().map(|step| step.id.as_str()).chain(["input"]).collect();
                    let diagnostic = problem(
                        "unknown-placeholder",
                        format!("`{first}` is neither `input` nor an earlier step"),
                        place,
                    );
                    return Err(match nearest(first, names.iter().copied()) {
                        Some(near) => diagnostic.fix(format!("did you mean `{near}`?")),
                        None => diagnostic.fix(format!("use one of: {}", names.join(", "))),
                    });
                }
            }
        }
        Ok(())
    }
}

/// The input as placeholders see it: what the person gives is part of it, and a name of its own.
fn with_answers(input: &Value, edits: &ToolEdits) -> Value {
    let mut known = input.clone();
    let Value::Object(root) = &mut known else { return known };
    let names: Vec<String> =
        edits.ask.iter().map(|(key, ask)| ask.into.clone().unwrap_or_else(|| key.clone())).collect();
    let answers: serde_json::Map<String, Value> = names.iter().map(|name| (name.clone(), json!({}))).collect();
    if let Value::Object(properties) = root.entry("properties").or_insert_with(|| json!({})) {
        for (name, schema) in answers.iter().chain(edits.extra.iter()) {
            properties.entry(name.clone()).or_insert_with(|| schema.clone());
        }
    }
    root.insert("x-answers".to_string(), Value::Object(answers));
    known
}
