//! Hand-written tools: a request in the mapping instead of an operation of a document.

use super::operation::{annotations, capabilities, path_parts, tool_pointer};
use super::{At, Compiler, Unit, problem};
use crate::catalog::{
    Action, Binding, CredentialPlan, From, Input, OperationRef, Output, RequestAction, ResultPlan, Spot, Tool, hints,
};
use crate::content::shape::Compiled;
use crate::diagnostic::{Diagnostic, Source, hint::nearest};
use crate::document::{Document, DocumentSet};
use crate::mapping::{Credential, Description, HandRequest, ToolRules};
use crate::openapi::{self, Operation};
use crate::request::{self, BodyKind, BodyPlan, BodyVariant, ParameterPlan};
use crate::schema::check::Checker;
use crate::schema::kept::Kept;
use crate::schema::profile;
use crate::template::{BodyTemplate, Template};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use std::sync::Arc;

impl Compiler<'_> {
    pub(super) fn hand_written(&mut self, unit: &Unit, sources: &[(String, usize)], at: At<'_>) {
        for (name, rules) in &unit.mapping.tools {
            let Some(request) = &rules.request else { continue };
            let pointer = tool_pointer(name);
            match self.hand_tool(name, rules, request, unit, sources, &pointer, at) {
                Ok(tool) => self.add(tool, rules.edits.hidden.unwrap_or(false), || at.key(&pointer)),
                Err(reason) => self.report.push(reason),
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn hand_tool(
        &mut self,
        name: &str,
        rules: &ToolRules,
        request: &HandRequest,
        unit: &Unit,
        sources: &[(String, usize)],
        pointer: &str,
        at: At<'_>,
    ) -> Result<Tool, Diagnostic> {
        let source = match (&rules.source, sources) {
            (Some(wanted), _) => sources.iter().find(|(name, _)| name == wanted),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        let Some((source_name, source_index)) = source else {
            let names: Vec<&str> = sources.iter().map(|(name, _)| name.as_str()).collect();
            let fix = match rules.source.as_deref().and_then(|wanted| nearest(wanted, names.iter().copied())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("add `source:` with one of: {}", names.join(", ")),
            };
            let place =
                rules.source.as_ref().map_or_else(|| at.key(pointer), |_| at.value(&format!("{pointer}/source")));
            return Err(problem("unknown-source", format!("tool `{name}`: which source?"), place).fix(fix));
        };
        let configured = unit.mapping.sources.get(source_name).cloned().unwrap_or_default();
        let plan = self.catalog.sources.get(*source_index).cloned();
        let base_url =
            plan.as_ref().map(|plan| plan.base_url.clone()).filter(|url| !url.is_empty()).ok_or_else(|| {
                problem("no-base-url", format!("source `{source_name}` has no base URL"), at.key(pointer))
                    .fix("add `base_url:` under the source".to_string())
            })?;
        let method = http::Method::from_bytes(request.method.to_ascii_uppercase().as_bytes()).map_err(|_| {
            problem(
                "bad-method",
                format!("`{}` is no HTTP method", request.method),
                at.value(&format!("{pointer}/request/method")),
            )
        })?;
        let mut input = rules.input.clone().unwrap_or_else(|| json!({"type": "object"}));
        let operation = self.as_operation(request, &method, pointer, at)?;
        let mut parameters: Vec<ParameterPlan> = Vec::new();
        let mut bindings: Vec<Binding> = Vec::new();
        for parameter in &operation.parameters {
            if input.pointer(&format!("/properties/{}", super::token(&parameter.name))).is_none() {
                declare(
                    &mut input,
                    &parameter.name,
                    parameter.schema.json.as_ref(),
                    parameter.description.as_deref(),
                    parameter.required,
                );
            }
            bindings.push(argument(&parameter.name, Spot::Parameter(parameters.len()), parameter.required));
            parameters.push(request::parameter_plan(parameter));
        }
        let path = path_parts(&operation, &parameters)
            .map_err(|reason| problem("bad-path", reason, at.value(&format!("{pointer}/request/path"))))?;
        let body = self.hand_body(request, &mut bindings, &mut input, pointer, at)?;
        let edits = &rules.edits;
        let aliases = self.edit_input(&mut input, &mut bindings, edits, name, pointer, at)?;
        let paginate = super::own::hand_pages(rules, &aliases, &input, pointer, at)?;
        {
            let mut known: Vec<&str> = input
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(|p| p.keys().map(String::as_str))
                .collect();
            known.extend(edits.extra.keys().map(String::as_str));
            super::person::names_are_known(edits, edits, &known, name).map_err(|(key, message, fix)| {
                problem("unknown-argument", message, at.value(&format!("{pointer}/{key}"))).fix(fix)
            })?;
        }
        profile::self_check(&input).map_err(|message| {
            problem("bad-schema", format!("tool `{name}`: {message}"), at.value(&format!("{pointer}/input")))
        })?;
        if let Value::Object(root) = &mut input {
            root.entry("additionalProperties").or_insert(Value::Bool(false));
        }
        super::person::amend(&mut input, edits);
        let published = profile::publish(&input, self.profile.schema_profile);
        let result = self.result_plan(rules, pointer, at)?;
        let spoken = format!("{method} {}", request.path);
        Ok(Tool {
            name: name.to_string(),
            title: edits.title.clone(),
            description: described(&edits.description, || format!("{spoken} of {source_name}")),
            annotations: annotations(hints::annotations(method.as_str()), edits.annotations.as_ref()),
            icons: edits.icons.clone().unwrap_or_default(),
            tags: Vec::new(),
            operation: Some(OperationRef {
                source: source_name.clone(),
                method: method.to_string(),
                path: request.path.clone(),
                operation_id: None,
                deprecated: false,
            }),
            input: Input {
                published: Kept::new(&published),
                check: Checker::new(&input),
                body_check: None,
                mirrored: mirrored(edits),
            },
            output: Output::default(),
            action: Action::Request(Box::new(RequestAction {
                source: *source_index,
                idempotent: edits
                    .annotations
                    .and_then(|a| a.idempotent)
                    .unwrap_or(matches!(method.as_str(), "GET" | "HEAD" | "OPTIONS" | "PUT" | "DELETE")),
                method,
                base_url,
                path,
                fixed_query: operation.route.fixed_query.clone(),
                parameters,
                body,
                accept: "application/json, */*;q=0.8".to_string(),
                bindings,
                security: self.hand_security(request, &configured.credentials, *source_index, pointer, at)?,
                success: edits.success.clone().unwrap_or_default(),
                errors: edits.errors.clone(),
                timeout: edits.timeout.map(|timeout| timeout.0),
                paginate,
                poll: edits.poll.as_ref().map(crate::catalog::PollPlan::compile).transpose().map_err(
                    |(key, message)| problem("bad-filter", message, at.value(&format!("{pointer}/poll/{key}"))),
                )?,
                stream: edits.stream.clone(),
                own: super::person::own_arguments(edits),
                aliases,
            })),
            ask: edits.ask.iter().map(|(key, ask)| (key.clone(), ask.clone())).collect(),
            confirm: confirm(edits.confirm.as_deref(), name, &request.method, &request.path).map_err(|message| {
                problem("bad-template", format!("`confirm`: {message}"), at.value(&format!("{pointer}/confirm")))
            })?,
            requires_client: match super::person::idle_task_edit(edits) {
                None => capabilities(edits.requires_client.as_deref()),
                Some((key, message, fix)) => {
                    let place = at.key(&format!("{pointer}/{key}"));
                    return Err(problem("no-effect", message.to_string(), place).fix(fix));
                }
            },
            result,
            cache: edits.cache.clone(),
        })
    }

    /// The request as the one operation of a small document: parameters mean what OpenAPI says.
    fn as_operation(
        &mut self,
        request: &HandRequest,
        method: &http::Method,
        pointer: &str,
        at: At<'_>,
    ) -> Result<Operation, Diagnostic> {
        let root = json!({
            "openapi": "3.1.0",
            "info": {"title": "", "version": ""},
            "paths": {request.path.clone(): {method.as_str().to_ascii_lowercase(): {"parameters": request.parameters, "responses": {}}}},
        });
        let text = serde_json::to_string_pretty(&root).unwrap_or_default();
        let document = Document::new("request", Source::new("request", text), root);
        let (api, report) =
            openapi::read(&DocumentSet::new(vec![Arc::new(document)]), &openapi::ReadOptions::default());
        let place = || at.value(&format!("{pointer}/request"));
        let found = api.and_then(|api| api.operations.into_iter().next());
        found.ok_or_else(|| {
            let reasons: Vec<&str> = report.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
            problem("bad-request", format!("this request can't be read: {}", reasons.join("; ")), place())
        })
    }

    fn hand_security(
        &self,
        request: &HandRequest,
        named: &IndexMap<String, Credential>,
        source: usize,
        pointer: &str,
        at: At<'_>,
    ) -> Result<Vec<Vec<String>>, Diagnostic> {
        let Some(plan) = self.catalog.sources.get(source) else { return Ok(Vec::new()) };
        if request.credentials.is_empty() {
            // A hand-written request sends every credential that the source configures; one that is named in the
            // mapping but has no value stops the call.
            let wanted =
                |name: &String, credential: &CredentialPlan| named.contains_key(name) || credential.value.is_some();
            let all: Vec<String> =
                plan.credentials.iter().filter(|(name, one)| wanted(name, one)).map(|(name, _)| name.clone()).collect();
            return Ok(if all.is_empty() { Vec::new() } else { vec![all] });
        }
        for (index, name) in request.credentials.iter().enumerate() {
            if !plan.credentials.contains_key(name) {
                let place = at.value(&format!("{pointer}/request/credentials/{index}"));
                let diagnostic = problem("unknown-credential", format!("the source has no credential `{name}`"), place);
                return Err(match nearest(name, plan.credentials.keys().map(String::as_str)) {
                    Some(near) => diagnostic.fix(format!("did you mean `{near}`?")),
                    None => diagnostic.fix("add it under `credentials:` of the source".to_string()),
                });
            }
        }
        Ok(vec![request.credentials.clone()])
    }

    fn hand_body(
        &self,
        request: &HandRequest,
        bindings: &mut Vec<Binding>,
        input: &mut Value,
        pointer: &str,
        at: At<'_>,
    ) -> Result<Option<BodyPlan>, Diagnostic> {
        let Some(body) = &request.body else { return Ok(None) };
        let media_type = request.content_type.clone().unwrap_or_else(|| "application/json".to_string());
        let template = BodyTemplate::compile(body).map_err(|error| {
            problem(
                "bad-template",
                format!("`request.body`: {}", shown(&error)),
                at.value(&format!("{pointer}/request/body")),
            )
        })?;
        for path in template.placeholders() {
            let Some(name) = path.first() else { continue };
            if input.pointer(&format!("/properties/{}", super::token(name))).is_none() {
                let known: Vec<String> = input
                    .get("properties")
                    .and_then(Value::as_object)
                    .map(|p| p.keys().cloned().collect())
                    .unwrap_or_default();
                let diagnostic = problem(
                    "unknown-placeholder",
                    format!("`{{{{{name}}}}}` is no argument of the tool"),
                    at.value(&format!("{pointer}/request/body")),
                );
                return Err(match nearest(name, known.iter().map(String::as_str)) {
                    Some(near) => diagnostic.fix(format!("did you mean `{near}`?")),
                    None => diagnostic.fix(format!("declare `{name}` under `input.properties`")),
                });
            }
        }
        bindings.push(Binding {
            from: From::Template(template),
            spot: Spot::Body,
            required: false,
            default: None,
            keep_null: true,
        });
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let kind = match essence.as_str() {
            "application/x-www-form-urlencoded" => BodyKind::Form,
            "multipart/form-data" => BodyKind::Multipart,
            "application/xml" | "text/xml" => BodyKind::Xml,
            "application/x-ndjson" => BodyKind::JsonLines,
            text if text.starts_with("text/") => BodyKind::Text,
            _ => BodyKind::Json,
        };
        let variant = BodyVariant {
            declared: 0,
            media_type,
            kind,
            encoding: Default::default(),
            parts: Default::default(),
            xml: None,
            transfer: None,
        };
        Ok(Some(BodyPlan { variants: vec![variant], required: true }))
    }

    pub(super) fn result_plan(
        &self,
        rules: &ToolRules,
        pointer: &str,
        at: At<'_>,
    ) -> Result<Option<Arc<ResultPlan>>, Diagnostic> {
        let Some(result) = &rules.edits.result else { return Ok(None) };
        match Compiled::new(result) {
            Ok(compiled) => Ok(Some(Arc::new(ResultPlan { rules: result.clone(), compiled }))),
            Err(errors) => {
                let key = errors.first().map(|error| error.key.replace('.', "/")).unwrap_or_default();
                let message = errors
                    .iter()
                    .map(|error| format!("`result.{}`: {}", error.key, error.message))
                    .collect::<Vec<_>>()
                    .join("; ");
                Err(problem("bad-result", message, at.value(&format!("{pointer}/result/{key}"))))
            }
        }
    }
}

/// Adds a property to an input schema.
pub(super) fn declare(input: &mut Value, name: &str, schema: &Value, description: Option<&str>, required: bool) {
    let Value::Object(root) = input else { return };
    let properties = root.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties
        && !properties.contains_key(name)
    {
        let mut schema = if schema.is_object() { schema.clone() } else { Value::Object(Map::new()) };
        if let (Value::Object(object), Some(description)) = (&mut schema, description) {
            object.insert("description".to_string(), json!(description));
        }
        properties.insert(name.to_string(), schema);
    }
    if required
        && let Value::Array(list) = root.entry("required").or_insert_with(|| json!([]))
        && !list.contains(&json!(name))
    {
        list.push(json!(name));
    }
}

fn argument(name: &str, spot: Spot, required: bool) -> Binding {
    Binding { from: From::Argument(name.to_string()), spot, required, default: None, keep_null: false }
}

/// All faults of a body template.
pub(super) fn shown(errors: &[crate::template::TemplateError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// A tool's own description, else a stand-in: never empty.
pub(super) fn described(description: &Option<Description>, otherwise: impl Fn() -> String) -> String {
    match description {
        Some(Description::Text(text)) if !text.trim().is_empty() => text.clone(),
        Some(Description::From(from)) => from.prepend.clone().or_else(|| from.append.clone()).unwrap_or_else(otherwise),
        _ => otherwise(),
    }
}

/// The confirmation text with what is known at load filled in.
pub(super) fn confirm(text: Option<&str>, tool: &str, method: &str, path: &str) -> Result<Option<Template>, String> {
    let Some(text) = text else { return Ok(None) };
    let text = text.replace("{{method}}", method).replace("{{path}}", path).replace("{{tool}}", tool);
    Template::compile(&text).map(Some).map_err(|error| error.to_string())
}

pub(super) fn mirrored(edits: &crate::mapping::ToolEdits) -> Vec<(String, String)> {
    let renamed =
        |key: &String, edit: &crate::mapping::ArgumentEdits| edit.rename.clone().unwrap_or_else(|| key.clone());
    edits.args.iter().filter_map(|(key, edit)| Some((renamed(key, edit), edit.mirror.clone()?))).collect()
}
