//! Operations → tools: which ones, under which names, with which edits.

use super::edits::{Chosen, wanted_tools};
use super::output::Answers;
use super::{At, Compiler, Unit, problem, token};
use crate::catalog::name::{NameCandidate, tool_names};
use crate::catalog::{Action, Annotations, Input, OperationRef, Output, PollPlan, RequestAction, Tool, hints};
use crate::diagnostic::{Diagnostic, Place, hint::nearest};
use crate::mapping::{AnnotationEdits, ClientCapability, Description, Paginate, Source, ToolEdits};
use crate::openapi::{Api, Operation, ParameterIn, RoutePart};
use crate::pace;
use crate::request::{self, PathPart};
use crate::schema::check::Checker;
use crate::schema::kept::Kept;
use crate::template::Template;
use indexmap::IndexMap;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Arc;

/// Everything needed to make one tool of one operation.
pub(super) struct Making<'a> {
    pub api: &'a Api,
    pub operation: &'a Operation,
    /// Relaxed schemas of this source's answers; `None` makes them for this tool alone.
    pub answers: Option<&'a RefCell<Answers<'a>>>,
    pub source: &'a Source,
    pub source_name: &'a str,
    pub source_index: usize,
    /// Tool name.
    pub name: String,
    pub edits: ToolEdits,
    /// Pointer of the `tools.<name>` entry, where there is one.
    pub pointer: Option<String>,
    /// What that entry says.
    pub own: Option<&'a ToolEdits>,
    pub at: At<'a>,
}

impl Making<'_> {
    /// Where the operation stands in its document.
    pub(super) fn operation_place(&self) -> Option<Place> {
        Some(place_of(self.operation))
    }

    /// The place of a key of the tool's mapping entry, else of the operation.
    pub(super) fn place(&self, key: &str) -> Option<Place> {
        match &self.pointer {
            Some(pointer) => self.at.value(&format!("{pointer}/{key}")),
            None => self.operation_place(),
        }
    }
}

impl Compiler<'_> {
    pub(super) fn operations(&mut self, unit: &Unit, sources: &[(String, usize)], at: At<'_>) {
        let (chosen, stale) = wanted_tools(unit, at);
        self.report.diagnostics.extend(stale);
        let candidates: Vec<NameCandidate> = chosen
            .iter()
            .map(|choice| NameCandidate {
                operation_id: choice.operation.operation_id.clone(),
                method: choice.operation.method.clone(),
                path: choice.operation.path.clone(),
                prefix: unit
                    .mapping
                    .sources
                    .get(choice.source)
                    .map(|source| source.tool_prefix.clone())
                    .unwrap_or_default(),
                wanted: choice.name.clone(),
            })
            .collect();
        let taken: HashSet<&str> = self.catalog.tools.keys().chain(self.hidden.keys()).map(String::as_str).collect();
        let names = tool_names(&candidates, self.profile.name_style, self.profile.max_name.unwrap_or(64));
        let names = apart(names, &candidates, &taken, &chosen);
        self.used_rule_args.clear();
        let brought: Vec<(usize, String)> = chosen.iter().flat_map(|choice| choice.rule_args.iter().cloned()).collect();
        let answers: IndexMap<&str, RefCell<Answers<'_>>> =
            unit.apis.iter().map(|(name, api)| (name.as_str(), RefCell::new(Answers::new(api)))).collect();
        for (choice, name) in chosen.into_iter().zip(names) {
            if let Some(answers) = answers.get(choice.source) {
                self.operation(unit, sources, answers, choice, name, at);
            }
        }
        self.stale_rule_arguments(brought, at);
        self.stale_variables(unit, at);
        for (name, api) in &unit.apis {
            for skipped in &api.skipped {
                self.skip(
                    name,
                    &skipped.method,
                    &skipped.path,
                    skipped.operation_id.as_deref(),
                    skipped.reason.clone(),
                );
            }
        }
    }

    fn operation<'a>(
        &mut self,
        unit: &'a Unit,
        sources: &[(String, usize)],
        answers: &'a RefCell<Answers<'a>>,
        choice: Chosen<'a>,
        name: String,
        at: At<'a>,
    ) {
        pace::breathe();
        let operation = choice.operation;
        if let Some(reason) = choice.left_out {
            self.skip(choice.source, &operation.method, &operation.path, operation.operation_id.as_deref(), reason);
            return;
        }
        let Some(source) = unit.mapping.sources.get(choice.source) else { return };
        let Some(source_index) = sources.iter().find(|(name, _)| name == choice.source).map(|(_, index)| *index) else {
            return;
        };
        let hidden = choice.internal || choice.edits.hidden.unwrap_or(false);
        if choice.internal {
            self.catalog.internal.push(name.clone());
        }
        let making = Making {
            api: choice.api,
            operation,
            answers: Some(answers),
            source,
            source_name: choice.source,
            source_index,
            name,
            edits: choice.edits,
            pointer: choice.pointer.clone(),
            own: choice.own,
            at,
        };
        match self.tool_of(&making) {
            Ok((tool, used)) => {
                self.used_rule_args.extend(choice.rule_args.into_iter().filter(|(_, key)| used.contains(key)));
                self.add(tool, hidden, || {
                    making.pointer.as_ref().and_then(|pointer| at.key(pointer)).or_else(|| making.operation_place())
                });
            }
            Err(reason) => {
                let mapped = making.pointer.is_some();
                let mut reason = reason;
                if !mapped {
                    reason.severity = crate::diagnostic::Severity::Warning;
                }
                // One missing base URL is one problem, however many operations it costs.
                let known = |other: &Diagnostic| {
                    reason.code == "no-base-url" && other.code == reason.code && other.message == reason.message
                };
                if !self.report.diagnostics.iter().any(known) {
                    self.report.push(reason.clone());
                }
                self.skip(
                    making.source_name,
                    &operation.method,
                    &operation.path,
                    operation.operation_id.as_deref(),
                    reason,
                );
            }
        }
    }

    pub(super) fn tool_of(&mut self, making: &Making<'_>) -> Result<(Tool, Vec<String>), Diagnostic> {
        let operation = making.operation;
        let here = || making.operation_place();
        let method = http::Method::from_bytes(operation.method.as_bytes())
            .map_err(|_| problem("bad-method", format!("`{}` is no HTTP method", operation.method), here()))?;
        let base_url = self.operation_base(making)?;
        let mut arguments = self.arguments(making)?;
        let path =
            path_parts(operation, &arguments.parameters).map_err(|reason| problem("bad-path", reason, here()))?;
        let fixed_query = operation.route.fixed_query.clone();
        let body = self.body(making, &mut arguments)?;
        let needs = body.as_ref().map(|body| body.needs.clone()).unwrap_or_default();
        self.late_arguments(making, &mut arguments)?;
        self.stale_arguments(making, &arguments, &[]);
        self.asked_arguments(making, &arguments)?;
        self.merged_arguments(making);
        let input = arguments.input(&self.profile, &making.edits, body.as_ref().and_then(|body| body.check.clone()));
        let output = self.output(making)?;
        let (published_output, accept, plan) = (output.schema, output.accept, output.plan.clone());
        let security = self.security(making)?;
        let paginate = self.paginate(making, &arguments)?;
        let used = std::mem::take(&mut arguments.used_edits);
        let idempotent =
            matches!(operation.method.as_str(), "GET" | "HEAD" | "OPTIONS" | "PUT" | "DELETE" | "QUERY" | "TRACE");
        let annotations = annotations(hints::annotations(&operation.method), making.edits.annotations.as_ref());
        let action = RequestAction {
            source: making.source_index,
            method,
            base_url,
            path,
            fixed_query,
            parameters: arguments.parameters,
            body: body.map(|body| body.plan),
            accept,
            bindings: arguments.bindings,
            security,
            success: making.edits.success.clone().unwrap_or_default(),
            errors: making.edits.errors.clone(),
            timeout: making.edits.timeout.map(|timeout| timeout.0),
            paginate,
            poll: making
                .edits
                .poll
                .as_ref()
                .map(PollPlan::compile)
                .transpose()
                .map_err(|(key, message)| problem("bad-filter", message, making.place(&format!("poll/{key}"))))?,
            stream: making.edits.stream.clone(),
            idempotent: making.edits.annotations.and_then(|a| a.idempotent).unwrap_or(idempotent),
            own: super::person::own_arguments(&making.edits),
            aliases: Vec::new(),
        };
        if let Some((key, message, fix)) = super::person::idle_task_edit(&making.edits) {
            return Err(problem("no-effect", message.to_string(), making.place(key)).fix(fix));
        }
        let published = Kept::new(&input.published);
        // Mostly the two are the same: then they share their memory.
        let other = input.check.filter(|check| *check != input.published);
        let check = other.map_or_else(|| published.clone(), Kept::from);
        let tool = Tool {
            name: making.name.clone(),
            title: making.edits.title.clone().or_else(|| operation.summary.clone()).map(|title| clip(&title, 120)),
            description: self.description(making, &needs),
            annotations,
            icons: making.edits.icons.clone().unwrap_or_default(),
            tags: operation.tags.clone(),
            operation: Some(OperationRef {
                source: making.source_name.to_string(),
                method: operation.method.clone(),
                path: operation.path.clone(),
                operation_id: operation.operation_id.clone(),
                deprecated: operation.deprecated,
            }),
            input: Input {
                published,
                check: Checker::new(check),
                body_check: input.body_check.map(Checker::new),
                mirrored: input.mirrored,
            },
            output: output_of(published_output, output.strict),
            action: Action::Request(Box::new(action)),
            ask: making.edits.ask.iter().map(|(key, ask)| (key.clone(), ask.clone())).collect(),
            confirm: self.confirm(making)?,
            requires_client: capabilities(making.edits.requires_client.as_deref()),
            result: plan,
            cache: making.edits.cache.clone(),
        };
        Ok((tool, used))
    }

    /// `ask` and `confirm` of the tool's own entry name arguments that are there.
    fn asked_arguments(&self, making: &Making<'_>, arguments: &super::argument::Arguments) -> Result<(), Diagnostic> {
        let Some(own) = making.own else { return Ok(()) };
        let mut known: Vec<&str> = arguments.names().collect();
        known.extend(making.edits.extra.keys().map(String::as_str));
        super::person::names_are_known(own, &making.edits, &known, &making.name)
            .map_err(|(key, message, fix)| problem("unknown-argument", message, making.place(&key)).fix(fix))
    }

    /// A key of `args` in a rule that no operation of the rule has.
    fn stale_rule_arguments(&mut self, mut brought: Vec<(usize, String)>, at: At<'_>) {
        brought.sort();
        brought.dedup();
        for (rule, key) in brought.into_iter().filter(|one| !self.used_rule_args.contains(one)) {
            let place = at.key(&format!("/rules/{rule}/set/args/{}", token(&key)));
            let mut warning =
                problem("stale-edit", format!("no operation of rule {} has an argument `{key}`", rule + 1), place);
            warning.severity = crate::diagnostic::Severity::Warning;
            self.report.push(warning);
        }
    }

    /// `paginate` with the names of arguments instead of those of parameters.
    fn paginate(
        &self,
        making: &Making<'_>,
        arguments: &super::argument::Arguments,
    ) -> Result<Option<Paginate>, Diagnostic> {
        let Some(mut rules) = making.edits.paginate.clone() else { return Ok(None) };
        for (key, name) in [("arg", &mut rules.arg), ("size_arg", &mut rules.size_arg)] {
            let Some(wanted) = name else { continue };
            match arguments.argument_of(wanted) {
                Some(found) => *wanted = found,
                None => {
                    let known: Vec<&str> = arguments.parameters.iter().map(|plan| plan.name.as_str()).collect();
                    let diagnostic = problem(
                        "unknown-argument",
                        format!(
                            "`paginate.{key}`: `{}` has no argument `{wanted}` that changes from page to page",
                            making.name
                        ),
                        making.place(&format!("paginate/{key}")),
                    );
                    return Err(match nearest(wanted, known.iter().copied()).filter(|near| near != wanted) {
                        Some(near) => diagnostic.fix(format!("did you mean `{near}`?")),
                        None if known.contains(&wanted.as_str()) => diagnostic
                            .fix(format!("delete `value` of `{wanted}`; `hide: true` keeps it from the model")),
                        None => diagnostic.fix(format!("there are: {}", known.join(", "))),
                    });
                }
            }
        }
        Ok(Some(rules))
    }

    fn confirm(&self, making: &Making<'_>) -> Result<Option<Template>, Diagnostic> {
        let Some(text) = &making.edits.confirm else { return Ok(None) };
        // `{{method}}`, `{{path}}` and `{{tool}}` are known at load; arguments come at the call.
        let text = text
            .replace("{{method}}", &making.operation.method)
            .replace("{{path}}", &making.operation.path)
            .replace("{{tool}}", &making.name);
        Template::compile(&text)
            .map(Some)
            .map_err(|error| problem("bad-template", format!("`confirm`: {error}"), making.place("confirm")))
    }

    /// `needs`: arguments that a body must have, where a call may also do without one.
    fn description(&self, making: &Making<'_>, needs: &[String]) -> String {
        let operation = making.operation;
        let (text, from) = match &making.edits.description {
            Some(Description::Text(text)) => (Some(text.as_str()), None),
            Some(Description::From(from)) => (None, Some(from)),
            None => (None, None),
        };
        if let Some(text) = text {
            return text.to_string();
        }
        let errors: Vec<(String, String)> = operation
            .responses
            .iter()
            .filter(|response| response.status.starts_with('4') || response.status.starts_with('5'))
            .filter_map(|response| Some((response.status.clone(), response.description.clone()?)))
            .collect();
        let mut text = hints::describe(
            operation.summary.as_deref(),
            operation.description.as_deref(),
            &operation.method,
            &operation.path,
            from,
            &errors,
        );
        if !needs.is_empty() {
            let _ = write!(text, "\n\nThe body may be left out; else it needs: {}.", needs.join(", "));
        }
        text
    }

    /// Alternatives by credential name. Fails closed: an unknown or unsupported scheme stays in the list.
    fn security(&self, making: &Making<'_>) -> Result<Vec<Vec<String>>, Diagnostic> {
        Ok(making
            .operation
            .security
            .iter()
            .map(|alternative| alternative.iter().map(|requirement| requirement.scheme.clone()).collect())
            .collect())
    }
}

/// Where an operation stands.
pub(super) fn place_of(operation: &Operation) -> Place {
    operation.origin.document.place(&operation.origin.pointer)
}

/// The path template with its variables as indices of parameters.
pub(super) fn path_parts(
    operation: &Operation,
    parameters: &[request::ParameterPlan],
) -> Result<Vec<PathPart>, String> {
    let index = |name: &str| parameters.iter().position(|plan| plan.location == ParameterIn::Path && plan.name == name);
    operation
        .route
        .parts
        .iter()
        .map(|part| match part {
            RoutePart::Literal(text) => Ok(PathPart::Literal(text.clone())),
            RoutePart::Variable(name) => index(name)
                .map(PathPart::Parameter)
                .ok_or_else(|| format!("the path variable `{name}` is no parameter")),
        })
        .collect()
}

/// Compiled form of a published output schema.
pub(super) fn output_of(published: Option<serde_json::Value>, strict: bool) -> Output {
    let Some(schema) = published else { return Output::default() };
    let conform = Some(Arc::new(crate::content::conform::Shape::new(&schema)));
    let schema = Kept::from(schema);
    let strict = strict.then(|| Arc::new(Checker::new(schema.clone())));
    Output { published: Some(schema), conform, strict }
}

/// Capability names.
pub(super) fn capabilities(wanted: Option<&[ClientCapability]>) -> Vec<String> {
    wanted
        .unwrap_or_default()
        .iter()
        .map(|capability| match capability {
            ClientCapability::Elicitation => "elicitation".to_string(),
            ClientCapability::Sampling => "sampling".to_string(),
            ClientCapability::Roots => "roots".to_string(),
            ClientCapability::Tasks => "tasks".to_string(),
        })
        .collect()
}

/// Annotations with the author's edits on top.
pub(super) fn annotations(automatic: Annotations, edits: Option<&AnnotationEdits>) -> Annotations {
    let Some(edits) = edits else { return automatic };
    Annotations {
        read_only: edits.read_only.unwrap_or(automatic.read_only),
        destructive: edits.destructive.unwrap_or(automatic.destructive),
        idempotent: edits.idempotent.unwrap_or(automatic.idempotent),
        open_world: edits.open_world.unwrap_or(automatic.open_world),
    }
}

/// A title fits on one line.
fn clip(text: &str, most: usize) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()),
        None => line.to_string(),
    }
}

/// Automatic names that clash with another source's tools get the source's name in front.
fn apart(
    names: Vec<String>,
    candidates: &[NameCandidate],
    taken: &HashSet<&str>,
    chosen: &[Chosen<'_>],
) -> Vec<String> {
    names
        .into_iter()
        .zip(candidates)
        .zip(chosen)
        .map(|((name, candidate), choice)| {
            if candidate.wanted.is_some() || !taken.contains(name.as_str()) {
                return name;
            }
            let prefixed = NameCandidate { prefix: format!("{}_", choice.source), ..candidate.clone() };
            tool_names(std::slice::from_ref(&prefixed), Default::default(), 64).into_iter().next().unwrap_or(name)
        })
        .collect()
}

/// "did you mean" for a name that hits no operation.
pub(super) fn near_operation<'a>(name: &str, apis: impl Iterator<Item = &'a Api>) -> Option<String> {
    let names: Vec<String> = apis
        .flat_map(|api| &api.operations)
        .flat_map(|operation| {
            operation.operation_id.clone().into_iter().chain([format!("{} {}", operation.method, operation.path)])
        })
        .collect();
    nearest(name, names.iter().map(String::as_str)).map(str::to_string)
}

/// Pointer of a tool's entry.
pub(super) fn tool_pointer(name: &str) -> String {
    format!("/tools/{}", token(name))
}
