//! Resources and prompts of a mapping.

use super::{At, Compiler, Unit, problem, token};
use crate::catalog::{Action, Prompt, Resource};
use crate::diagnostic::Severity;
use crate::diagnostic::hint::nearest;
use std::sync::Arc;

impl Compiler<'_> {
    /// `poll.location: operation NAME` names an operation or tool.
    pub(super) fn polled(&mut self, unit: &Unit, at: At<'_>) {
        let rules = unit
            .mapping
            .rules
            .iter()
            .enumerate()
            .filter_map(|(index, rule)| Some((format!("/rules/{index}/set"), rule.set.as_ref()?)));
        let tools = unit.mapping.tools.iter().map(|(name, rules)| (format!("/tools/{}", token(name)), &rules.edits));
        for (pointer, edits) in rules.chain(tools) {
            let location = edits.poll.as_ref().and_then(|poll| poll.location.as_deref());
            let Some(name) = location.and_then(|location| location.strip_prefix("operation ")).map(str::trim) else {
                continue;
            };
            let place = at.value(&format!("{pointer}/poll/location"));
            match self.tool_for(name, None) {
                Ok(Some(_)) => continue,
                Ok(None) => {}
                Err(several) => {
                    self.report.push(self.ambiguous(name, &several, place));
                    continue;
                }
            }
            let diagnostic =
                problem("unknown-call", format!("`poll.location`: there is no operation or tool `{name}`"), place);
            let known: Vec<&str> = self
                .catalog
                .tools
                .values()
                .flat_map(|tool| tool.operation.as_ref()?.operation_id.as_deref())
                .chain(self.catalog.tools.keys().map(String::as_str))
                .collect();
            self.report.push(match nearest(name, known.iter().copied()) {
                Some(near) => diagnostic.fix(format!("did you mean `{near}`?")),
                None => diagnostic.fix("name the operation that tells a job's state".to_string()),
            });
        }
    }

    pub(super) fn resources(&mut self, unit: &Unit, at: At<'_>) {
        for (name, rules) in &unit.mapping.resources {
            let pointer = format!("/resources/{}", token(name));
            let found = match self.tool_for(&rules.operation, rules.source.as_deref()) {
                Ok(found) => found,
                Err(several) => {
                    let place = at.value(&format!("{pointer}/operation"));
                    self.report.push(self.ambiguous(&rules.operation, &several, place));
                    continue;
                }
            };
            let Some(tool) = found else {
                let names: Vec<String> = self.catalog.tools.keys().cloned().collect();
                let mut diagnostic = problem(
                    "stale-edit",
                    format!("resource `{name}`: there is no operation or tool `{}`", rules.operation),
                    at.value(&format!("{pointer}/operation")),
                );
                diagnostic.severity = Severity::Warning;
                if let Some(near) = nearest(&rules.operation, names.iter().map(String::as_str)) {
                    diagnostic = diagnostic.fix(format!("did you mean `{near}`?"));
                }
                self.report.push(diagnostic);
                continue;
            };
            if let Action::Request(action) = &tool.action
                && action.method != http::Method::GET
            {
                self.report.push(
                    problem(
                        "bad-resource",
                        format!("resource `{name}` is a {} operation; reading must not change anything", action.method),
                        at.value(&format!("{pointer}/operation")),
                    )
                    .fix("name a GET operation".to_string()),
                );
                continue;
            }
            let mut unknown = None;
            let input = tool.input.published.tree();
            for variable in variables(&rules.uri) {
                if input.pointer(&format!("/properties/{}", token(&variable))).is_none() {
                    unknown = Some(variable);
                }
            }
            if let Some(variable) = unknown {
                self.report.push(problem(
                    "unknown-placeholder",
                    format!("resource `{name}`: `{{{variable}}}` is no argument of `{}`", tool.name),
                    at.value(&format!("{pointer}/uri")),
                ));
                continue;
            }
            self.catalog.resources.push(Arc::new(Resource {
                name: name.clone(),
                title: rules.title.clone(),
                description: rules.description.clone().or_else(|| Some(tool.description.clone())),
                mime_type: rules.mime_type.clone(),
                is_template: rules.uri.contains('{'),
                uri: rules.uri.clone(),
                arguments: rules.args.iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
                tool,
            }));
        }
    }

    pub(super) fn prompts(&mut self, unit: &Unit, at: At<'_>) {
        for (name, rules) in &unit.mapping.prompts {
            let pointer = format!("/prompts/{}", token(name));
            if self.catalog.prompts.contains_key(name) {
                self.report.push(problem(
                    "name-collision",
                    format!("a second prompt is called `{name}`"),
                    at.key(&pointer),
                ));
                continue;
            }
            for (index, argument) in rules.arguments.iter().enumerate() {
                if let Some(serde_json::Value::String(tool)) = &argument.complete
                    && self.tool(tool).is_none()
                {
                    let place = at.value(&format!("{pointer}/arguments/{index}/complete"));
                    let mut warning = problem(
                        "stale-edit",
                        format!("prompt `{name}`: there is no tool `{tool}` to complete from"),
                        place,
                    );
                    warning.severity = Severity::Warning;
                    self.report.push(match nearest(tool, self.catalog.tools.keys().map(String::as_str)) {
                        Some(near) => warning.fix(format!("did you mean `{near}`?")),
                        None => warning.fix("name a tool, or list the values".to_string()),
                    });
                }
            }
            match Prompt::compile(name, rules) {
                Ok(prompt) => {
                    self.catalog.prompts.insert(name.clone(), Arc::new(prompt));
                }
                Err((index, message)) => {
                    let place = at.value(&format!("{pointer}/messages/{index}"));
                    self.report.push(problem("bad-template", format!("prompt `{name}`: {message}"), place));
                }
            }
        }
    }
}

/// Variables of a level-1 URI template (RFC 6570).
fn variables(uri: &str) -> Vec<String> {
    uri.split('{')
        .skip(1)
        .filter_map(|part| part.split_once('}'))
        .map(|(name, _)| name.trim_start_matches(['+', '#']).to_string())
        .collect()
}
