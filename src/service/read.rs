//! Resources, prompts and completion.

use super::ask::{Asked, Asking, wait};
use super::observe::note;
use super::run::{Service, State};
use super::steps::{text_of, value_of};
use super::{Completion, Context, Failure, Outcome, PromptResult, ReadResult, Round};
use crate::access::Decision;
use crate::call;
use crate::catalog::{Arguments, PromptBody, Resource};
use crate::content::{Block, Content, Json, ResourceBody, ResourceContents, Text};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Most values of a completion (MCP).
const MOST_VALUES: usize = 100;

impl Service {
    pub(super) async fn read(
        &self,
        context: &Context,
        uri: &str,
        _round: Round,
    ) -> Result<Outcome<ReadResult>, Failure> {
        if let Some(contents) = self.links.read(&context.caller, uri) {
            return Ok(Outcome::Complete(ReadResult { contents: vec![contents], ttl_ms: None }));
        }
        let state = self.state.load_full();
        let (resource, arguments) = self.resource(&state, context, uri).await?;
        let content = self.execute(&state, context, &resource.tool, arguments, 1).await?;
        if content.is_error {
            return Err(failed(text_of(&content), uri));
        }
        let contents = self.contents_of(context, &resource, &content, uri);
        let ttl_ms = content
            .meta
            .as_ref()
            .and_then(|meta| meta.get(super::request::META_MAX_AGE))
            .and_then(Value::as_u64)
            .map(|seconds| seconds.saturating_mul(1000));
        Ok(Outcome::Complete(ReadResult { contents, ttl_ms }))
    }

    /// The resource behind a URI, if there is one that the caller may read, and the arguments in the URI.
    pub(super) async fn resource(
        &self,
        state: &State,
        context: &Context,
        uri: &str,
    ) -> Result<(Arc<Resource>, Arguments), Failure> {
        if let Err(wait) = state.rates.check(context.caller.tenant.as_deref()) {
            note(context, "rate_limited");
            return Err(Failure::Internal(crate::content::failure::too_many_calls_text(wait)));
        }
        let unknown = || Failure::UnknownResource(uri.to_string());
        let mut all = state.catalog.resources.iter();
        let (resource, arguments) =
            all.find_map(|resource| Some((resource.clone(), matched(resource, uri)?))).ok_or_else(unknown)?;
        // One that is hidden from the caller must look like one that is not there.
        if !matches!(state.gate.decide(&context.caller, &resource.tool).await, Decision::Allow) {
            return Err(unknown());
        }
        let call = call::prepare_value(&resource.tool, arguments)
            .map_err(|refusal| Failure::InvalidParams(refusal.text(&resource.name)))?;
        Ok((resource, call.arguments))
    }

    /// A result as the contents of the resource.
    pub(super) fn contents_of(
        &self,
        context: &Context,
        resource: &Resource,
        content: &Content,
        uri: &str,
    ) -> Vec<ResourceContents> {
        let mut contents = contents(content, uri, resource.mime_type.as_deref());
        for one in &mut contents {
            // A large file became a link on its way; here its bytes are wanted.
            if let ResourceBody::Text(target) = &one.body
                && target.starts_with(super::links::PREFIX)
                && let Some(kept) = self.links.read(&context.caller, target)
            {
                one.mime_type = resource.mime_type.clone().or(kept.mime_type);
                one.body = kept.body;
            }
        }
        contents
    }

    pub(super) async fn prompt(
        &self,
        context: &Context,
        name: &str,
        arguments: &Map<String, Value>,
        round: Round,
    ) -> Result<Outcome<PromptResult>, Failure> {
        let state = self.state.load_full();
        let Some(prompt) = state.catalog.prompts.get(name).cloned() else {
            return Err(Failure::UnknownPrompt(name.to_string()));
        };
        let missing: Vec<&str> = prompt
            .rules
            .arguments
            .iter()
            .filter(|argument| argument.required && !arguments.contains_key(&argument.name))
            .map(|argument| argument.name.as_str())
            .collect();
        if !missing.is_empty() {
            return Err(Failure::InvalidParams(format!("missing argument of prompt `{name}`: {}", missing.join(", "))));
        }
        if let Some((key, _)) = arguments.iter().find(|(_, value)| !value.is_string()) {
            return Err(Failure::InvalidParams(format!("argument `{key}` of prompt `{name}` must be a string")));
        }
        let asks: Vec<_> = prompt.rules.ask.iter().map(|(key, ask)| (key.clone(), ask.clone())).collect();
        let asking = Asking { context, key: &self.key, method: "prompts/get", name, asks: &asks, confirm: None };
        let given = match asking.round(arguments.clone(), &round)? {
            Asked::Ready(given) => given,
            Asked::Wait { requests, state } => return Ok(wait(requests, state)),
            Asked::Refused(text) => return Err(Failure::InvalidParams(text)),
        };
        let mut scope: Map<String, Value> = prompt
            .rules
            .arguments
            .iter()
            .map(|argument| (argument.name.clone(), Value::String(String::new())))
            .collect();
        scope.extend(given);
        let scope = Value::Object(scope);
        let render = |template: &crate::template::Template| template.render(&scope).map_err(Failure::Internal);
        let mut messages = Vec::new();
        for message in &prompt.messages {
            let block = match &message.body {
                PromptBody::Text(template) => Block::Text(Text::Plain(render(template)?)),
                PromptBody::Inline(uri, text, mime_type) => Block::Resource(ResourceContents {
                    uri: render(uri)?,
                    mime_type: mime_type.clone().or_else(|| Some("text/plain".to_string())),
                    body: ResourceBody::Text(render(text)?),
                }),
                PromptBody::Resource(uri) => Block::Resource(self.first(context, &render(uri)?).await?),
                PromptBody::Image(uri) => {
                    let contents = self.first(context, &render(uri)?).await?;
                    let mime_type = contents.mime_type.clone().unwrap_or_else(|| "image/png".to_string());
                    match contents.body {
                        ResourceBody::Blob(data) => Block::Image { data, mime_type },
                        ResourceBody::Text(_) => {
                            return Err(Failure::Internal("the prompt's image resource is text".to_string()));
                        }
                    }
                }
            };
            messages.push((message.role.clone(), block));
        }
        Ok(Outcome::Complete(PromptResult { description: prompt.rules.description.clone(), messages }))
    }

    async fn first(&self, context: &Context, uri: &str) -> Result<ResourceContents, Failure> {
        match Box::pin(self.read(context, uri, Round::default())).await? {
            Outcome::Complete(result) => {
                result.contents.into_iter().next().ok_or_else(|| Failure::UnknownResource(uri.to_string()))
            }
            Outcome::InputRequired { .. } => Err(Failure::Internal("a resource of a prompt can't ask".to_string())),
        }
    }

    pub(super) async fn completion(
        &self,
        context: &Context,
        reference: Result<&str, &str>,
        argument: &str,
        typed: &str,
        given: &Map<String, Value>,
    ) -> Result<Outcome<Completion>, Failure> {
        let state = self.state.load_full();
        let values: Vec<String> = match reference {
            Ok(name) => {
                let prompt = state.catalog.prompts.get(name).ok_or_else(|| Failure::UnknownPrompt(name.to_string()))?;
                let rules = prompt.rules.arguments.iter().find(|one| one.name == argument);
                let rules = rules
                    .ok_or_else(|| Failure::InvalidParams(format!("prompt `{name}` has no argument `{argument}`")))?;
                match &rules.complete {
                    Some(Value::Array(list)) => list.iter().map(plain).collect(),
                    Some(Value::String(tool)) => self.values_of(context, tool, argument, given).await,
                    _ => Vec::new(),
                }
            }
            Err(uri) => {
                let resource = state.catalog.resources.iter().find(|resource| resource.uri == uri);
                let seen = match resource {
                    Some(one) => matches!(state.gate.decide(&context.caller, &one.tool).await, Decision::Allow),
                    None => false,
                };
                let resource = resource
                    .filter(|_| seen)
                    .ok_or_else(|| Failure::InvalidParams("there is no such resource template".to_string()))?;
                let tree = resource.tool.input.published.tree();
                let schema = tree.get("properties").and_then(|properties| properties.get(argument));
                schema
                    .and_then(|schema| schema.get("enum"))
                    .and_then(Value::as_array)
                    .map(|list| list.iter().map(plain).collect())
                    .unwrap_or_default()
            }
        };
        let wanted = typed.to_lowercase();
        let mut found: Vec<String> =
            values.into_iter().filter(|value| value.to_lowercase().contains(&wanted)).collect();
        // What starts with the typed text comes first.
        found.sort_by_key(|value| !value.to_lowercase().starts_with(&wanted));
        found.dedup();
        let total = found.len();
        found.truncate(MOST_VALUES);
        Ok(Outcome::Complete(Completion { has_more: total > found.len(), total: Some(total), values: found }))
    }

    /// Values that a tool's answer lists: strings, or the member named like the argument (else `id`, `name`).
    async fn values_of(
        &self,
        context: &Context,
        tool: &str,
        argument: &str,
        given: &Map<String, Value>,
    ) -> Vec<String> {
        let state = self.state.load_full();
        let catalog = &state.catalog;
        let Some(tool) = catalog.tools.get(tool).or_else(|| catalog.hidden.get(tool)).cloned() else {
            return Vec::new();
        };
        if !tool.annotations.read_only || !matches!(state.gate.decide(&context.caller, &tool).await, Decision::Allow) {
            return Vec::new();
        }
        let known = tool.input.published.property_names();
        let with: Arguments =
            given.iter().filter(|(key, _)| known.contains(key)).map(|(k, v)| (k.clone(), v.clone())).collect();
        let Ok(call) = call::prepare_value(&tool, with) else { return Vec::new() };
        let Ok(content) = self.execute(&state, context, &tool, call.arguments, 1).await else { return Vec::new() };
        let value = value_of(&content);
        let list = match &value {
            Value::Array(list) => Some(list),
            Value::Object(members) => members.values().find_map(Value::as_array),
            _ => None,
        };
        let member = |item: &Value| match item {
            Value::Object(members) => [argument, "id", "name"].iter().find_map(|key| members.get(*key)).map(plain),
            other => Some(plain(other)),
        };
        list.map(|list| list.iter().filter_map(member).collect()).unwrap_or_default()
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The arguments of a resource for this URI (RFC 6570 level 1: a variable takes no `/`).
fn matched(resource: &Arc<Resource>, uri: &str) -> Option<Arguments> {
    let mut arguments = resource.arguments.clone();
    let mut rest = uri;
    let mut template = resource.uri.as_str();
    loop {
        let Some((literal, after)) = template.split_once('{') else {
            return (rest == template).then_some(arguments);
        };
        rest = rest.strip_prefix(literal)?;
        let (name, tail) = after.split_once('}')?;
        let stop = tail.split('{').next().unwrap_or_default();
        let greedy = name.starts_with('+');
        let end = if stop.is_empty() { rest.len() } else { rest.find(stop)? };
        let (value, remaining) = (rest.get(..end)?, rest.get(end..)?);
        if value.is_empty() || (!greedy && value.contains('/')) {
            return None;
        }
        let value = percent_encoding::percent_decode_str(value).decode_utf8().ok()?;
        arguments.insert(name.trim_start_matches('+').to_string(), Value::String(value.into_owned()));
        rest = remaining;
        template = tail;
    }
}

/// Why a resource can't be read, from the text of the failed call.
pub(super) fn failed(text: String, uri: &str) -> Failure {
    match text.starts_with("HTTP 404") || text.starts_with("HTTP 410") {
        true => Failure::UnknownResource(uri.to_owned()),
        false => Failure::Internal(text),
    }
}

/// Blocks of an answer as contents of a resource.
fn contents(content: &Content, uri: &str, mime_type: Option<&str>) -> Vec<ResourceContents> {
    let make = |mime: Option<&str>, body: ResourceBody| ResourceContents {
        uri: uri.to_string(),
        mime_type: mime_type.or(mime).map(str::to_string),
        body,
    };
    let mut all = Vec::new();
    for block in &content.blocks {
        all.push(match block {
            Block::Text(Text::Plain(text)) => make(Some("text/plain"), ResourceBody::Text(text.clone())),
            Block::Text(Text::Json(Json::Raw(bytes)) | Text::Read { json: bytes, .. }) => {
                make(Some("application/json"), ResourceBody::Text(String::from_utf8_lossy(bytes).into_owned()))
            }
            Block::Text(Text::Json(Json::Tree(value))) => {
                make(Some("application/json"), ResourceBody::Text(value.to_string()))
            }
            Block::Image { data, mime_type } | Block::Audio { data, mime_type } => {
                make(Some(mime_type), ResourceBody::Blob(data.clone()))
            }
            Block::Resource(inner) => make(inner.mime_type.as_deref(), inner.body.clone()),
            Block::Link { uri: target, .. } => make(Some("text/uri-list"), ResourceBody::Text(target.clone())),
        });
    }
    all
}
