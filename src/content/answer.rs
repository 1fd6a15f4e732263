//! An answer, or a value made of several, as content.

use super::conform::{Shape, Verdict};
use super::cut::{self, Cut};
use super::decode::{self, Body, Look};
use super::shape::{Compiled, Part, Shaped, Stage};
use super::{
    Block, Content, Json, LinkMaker, META_CUT, META_NULLED, META_TRUNCATED, ResourceBody, ResourceContents, Text,
    problem,
};
use crate::catalog::{Action, Arguments, RequestAction, Tool};
use crate::mapping::{Binary, ResultKind};
use crate::response::{MediaType, Response};
use bytes::Bytes;
use http::{Method, StatusCode};
use serde_json::Value;
use std::sync::Arc;

/// Larger files become links where links can be made; images and audio only from here on, since a model sees them
/// only when they are embedded.
const LINK_FILES_FROM: usize = 1 << 20;
const LINK_MEDIA_FROM: usize = 8 << 20;

/// True if the tool counts this status as success: its `success` rule, else 200 to 299.
pub fn succeeded(tool: &Tool, status: StatusCode) -> bool {
    match request(tool) {
        Some(action) => action.success.contains(status.as_u16()),
        None => status.is_success(),
    }
}

/// The content of one answer. `arguments` are those of the call (templates see them), `uri` is the identity of an
/// embedded resource where the mapping gives none.
pub fn from_response(
    tool: &Tool,
    arguments: &Arguments,
    response: &Response,
    uri: &str,
    links: Option<&dyn LinkMaker>,
) -> Content {
    let status = response.status;
    if status == StatusCode::NOT_MODIFIED {
        return Builder::new(tool, arguments, uri, links)
            .without_body("Not modified since the version that was asked for (304).".to_owned());
    }
    if !succeeded(tool, status) {
        return problem::from_status(tool, response);
    }
    let mut content = Builder::new(tool, arguments, uri, links).body(response);
    if response.truncated {
        content.set_meta(META_TRUNCATED, Value::Bool(true));
    }
    content
}

/// The content of a value that was put together from several answers: pages, steps, a stream. `notes` are remarks for the
/// model in a block of their own.
pub fn from_value(
    tool: &Tool,
    arguments: &Arguments,
    value: Value,
    notes: Vec<String>,
    uri: &str,
    links: Option<&dyn LinkMaker>,
) -> Content {
    Builder::new(tool, arguments, uri, links).value(value, Vec::new(), notes)
}

fn request(tool: &Tool) -> Option<&RequestAction> {
    match &tool.action {
        Action::Request(action) => Some(action),
        _ => None,
    }
}

struct Builder<'a> {
    tool: &'a Tool,
    arguments: &'a Arguments,
    uri: &'a str,
    links: Option<&'a dyn LinkMaker>,
    plan: Option<&'a Compiled>,
    shape: Option<&'a Shape>,
}

impl<'a> Builder<'a> {
    fn new(tool: &'a Tool, arguments: &'a Arguments, uri: &'a str, links: Option<&'a dyn LinkMaker>) -> Self {
        let plan = tool.result.as_deref().map(|plan| &plan.compiled);
        Builder { tool, arguments, uri, links, plan, shape: tool.output.conform.as_deref() }
    }

    fn body(&self, response: &Response) -> Content {
        let transparent = self.plan.is_none_or(Compiled::is_transparent);
        let kind = self.plan.map_or(ResultKind::Auto, |plan| plan.kind);
        let look = match self.plan {
            Some(plan) if kind != ResultKind::Resource && plan.takes_part() => Look::Part(plan),
            _ if transparent && kind != ResultKind::Resource => {
                Look::Whole(self.shape.filter(|_| kind == ResultKind::Auto))
            }
            _ => Look::Json,
        };
        let mut body = decode::decode(response, look);
        let mut shaped = None;
        if let (Body::Part(part), Some(plan)) = (&body, self.plan)
            && part.stage != Stage::Result
        {
            shaped = plan.apply_part(part, self.arguments);
            if shaped.is_none() {
                body = decode::decode(response, Look::Json);
            }
        }
        if let Some(error) = self.unfit(response, &body) {
            return error;
        }
        let embedded = kind == ResultKind::Resource;
        if embedded && (transparent || matches!(body, Body::Image(..) | Body::Audio(..) | Body::File(..))) {
            return self.whole_resource(response, body);
        }
        let (empty, text) = (matches!(body, Body::Empty), matches!(body, Body::Text(..)));
        let content = self.made_of(response, body, shaped);
        if !embedded || empty {
            return content;
        }
        let declared = response.media_type().filter(|_| text).map(|media_type| media_type.essence.into_owned());
        let uri = self.plan.and_then(|plan| plan.uri(&decode::value_of(response), self.arguments));
        self.embedded(content, uri, declared)
    }

    /// The content of a body that can be shown. `shaped` is what became of a part that is no result yet.
    fn made_of(&self, response: &Response, body: Body, shaped: Option<Result<Shaped, String>>) -> Content {
        match body {
            Body::Empty => self.without_body(self.empty_text(response)),
            Body::Whole(text, escaped, verdict) => self.raw(text, Some(escaped), verdict),
            Body::Json(text) => match self.plan {
                Some(plan) => self.shaped(plan.apply_text(&text, self.arguments), Vec::new(), Vec::new()),
                None => self.raw(text, None, Verdict::Conforms),
            },
            Body::Part(part) => match shaped {
                Some(shaped) => self.shaped(shaped, Vec::new(), Vec::new()),
                None => {
                    let verdict = self.shape.map_or(Verdict::Conforms, |shape| shape.accepts(&part.text));
                    self.raw(part.text, None, verdict)
                }
            },
            Body::Sequence(mut items) => {
                if let Some(plan) = self.plan {
                    items.iter_mut().for_each(|item| plan.withhold_text(item));
                }
                self.value(Value::Array(items), Vec::new(), Vec::new())
            }
            Body::CutJson(value, cuts) => {
                let note = "The API's answer was longer than what is read of it.".to_owned();
                self.value(value, cuts, vec![note])
            }
            Body::Text(text, _) => self.text(text, response),
            Body::Image(data, mime_type) => match self.linked(&data, &mime_type, LINK_MEDIA_FROM, response) {
                Some(link) => self.blocks(vec![link], response.truncated),
                None => self.blocks(vec![Block::Image { data, mime_type }], response.truncated),
            },
            Body::Audio(data, mime_type) => match self.linked(&data, &mime_type, LINK_MEDIA_FROM, response) {
                Some(link) => self.blocks(vec![link], response.truncated),
                None => self.blocks(vec![Block::Audio { data, mime_type }], response.truncated),
            },
            Body::File(data, mime_type, text) => match self.linked(&data, &mime_type, LINK_FILES_FROM, response) {
                Some(link) => self.blocks(vec![link], response.truncated),
                None => self.blocks(vec![self.resource(data, mime_type, text)], response.truncated),
            },
        }
    }

    /// JSON whose bytes go through.
    fn raw(&self, text: Bytes, escaped: Option<Bytes>, verdict: Verdict) -> Content {
        let json = Json::Raw(text.clone());
        let shown = match escaped {
            Some(escaped) => Text::Read { json: text.clone(), escaped },
            None => Text::Json(json.clone()),
        };
        let mut content = Content { blocks: vec![Block::Text(shown)], ..Content::default() };
        let structured = self.plan.is_none_or(Compiled::is_structured);
        match (verdict, self.shape) {
            _ if !structured => {}
            _ if self.tool.output.strict.is_some() => {
                let value = serde_json::from_slice(&text).unwrap_or_default();
                match self.undeclared(&value) {
                    Some(error) => {
                        content.is_error = true;
                        content.blocks.insert(0, error);
                    }
                    None => content.structured = Some(json),
                }
            }
            (Verdict::Differs, Some(shape)) => {
                let value = serde_json::from_slice(&text).unwrap_or_default();
                self.conforming(shape, value, &mut content);
            }
            _ => content.structured = Some(json),
        }
        content
    }

    /// Any value through the pipeline.
    fn value(&self, value: Value, cuts: Vec<Cut>, notes: Vec<String>) -> Content {
        match self.plan {
            Some(plan) if plan.kind == ResultKind::Resource => {
                let uri = plan.uri(&value, self.arguments);
                self.embedded(self.shaped(plan.apply(value, self.arguments), cuts, notes), uri, None)
            }
            Some(plan) => self.shaped(plan.apply(value, self.arguments), cuts, notes),
            None => self.shaped(Ok(Shaped { value, structured: true, ..Shaped::default() }), cuts, notes),
        }
    }

    fn shaped(&self, shaped: Result<Shaped, String>, mut cuts: Vec<Cut>, mut notes: Vec<String>) -> Content {
        let shaped = match shaped {
            Ok(shaped) => shaped,
            Err(message) => {
                return Content::error(format!(
                    "The API answered, but the answer can't be shown as the mapping of `{}` says: {message}.",
                    self.tool.name
                ));
            }
        };
        if let Some(message) = shaped.failed {
            return Content::error(format!("The API reported: {message}"));
        }
        cuts.extend(shaped.cuts);
        notes.extend(shaped.notes);
        // One serialization serves the text and the structured value.
        let bytes = Bytes::from(serde_json::to_vec(&shaped.value).unwrap_or_else(|_| b"null".to_vec()));
        let json = Json::Raw(bytes.clone());
        let blocks = match (shaped.blocks, shaped.text) {
            (Some(blocks), _) => blocks,
            (None, Some(text)) => vec![Block::text(text)],
            (None, None) => match &shaped.value {
                // Without a structured twin a string is shown as it is.
                Value::String(text) if !shaped.structured => vec![Block::text(text.clone())],
                _ => vec![Block::Text(Text::Json(json.clone()))],
            },
        };
        let mut content = Content { blocks, ..Content::default() };
        if shaped.structured
            && let Some(error) = self.undeclared(&shaped.value)
        {
            content.is_error = true;
            content.blocks.insert(0, error);
            return content;
        }
        match self.shape {
            _ if !shaped.structured => {}
            Some(shape) if self.tool.output.strict.is_none() && shape.accepts(&bytes) != Verdict::Conforms => {
                self.conforming(shape, shaped.value, &mut content);
            }
            _ => content.structured = Some(json),
        }
        self.remark(&mut content, &cuts, notes);
        content
    }

    /// Text that is no JSON.
    fn text(&self, text: String, response: &Response) -> Content {
        let mut notes = Vec::new();
        if let Some(error) = not_json(response).filter(|_| !response.truncated) {
            notes.push(format!("The API calls this JSON, but it can't be read as such: {error}."));
        }
        let mut cuts = Vec::new();
        let text = match self.plan {
            Some(plan) if plan.composes() => {
                return self.shaped(plan.apply(Value::String(text), self.arguments), cuts, notes);
            }
            Some(plan) => plan.fit_plain(text, &mut cuts),
            None => text,
        };
        let mut content = self.blocks(vec![Block::text(text)], response.truncated);
        self.remark(&mut content, &cuts, notes);
        content
    }

    /// Content that has no JSON: a published output schema is still kept to.
    fn blocks(&self, blocks: Vec<Block>, truncated: bool) -> Content {
        let mut content = Content { blocks, ..Content::default() };
        if self.plan.is_none_or(Compiled::is_structured) {
            let text = match content.blocks.first() {
                Some(Block::Text(Text::Plain(text))) => Value::String(text.clone()),
                _ => Value::Null,
            };
            self.stand_in(text, &mut content);
        }
        if truncated {
            content
                .blocks
                .push(Block::text("The API's answer was longer than what is read of it; this is its beginning."));
        }
        content
    }

    fn without_body(&self, text: String) -> Content {
        let mut content = Content::text(text);
        if self.plan.is_none_or(Compiled::is_structured) {
            self.stand_in(Value::Null, &mut content);
        }
        content
    }

    /// The error where a body without JSON can't be shown as the mapping says: all of it would show what is left out.
    fn unfit(&self, response: &Response, body: &Body) -> Option<Content> {
        match body {
            Body::Text(..) | Body::File(..) => {}
            // Pictures and sounds have no members; but they must be what they are called.
            Body::Image(data, _) | Body::Audio(data, _) if decode::signature(data).is_none() => {}
            _ => return None,
        }
        let plan = self.plan.filter(|plan| plan.needs_json(true).is_some())?;
        let error = not_json(response);
        let rule = plan.needs_json(error.is_some())?;
        let media_type = response.media_type().map(|media_type| media_type.essence.into_owned());
        let is = match (error, media_type) {
            (Some(error), Some(media_type)) => {
                format!("what is declared as {media_type} can't be read as such: {error}")
            }
            (_, Some(media_type)) => format!("this is {media_type}"),
            (_, None) => "this is something else".to_owned(),
        };
        Some(Content::error(format!(
            "The API answered ({}, {} bytes), but the answer can't be shown as the mapping of `{}` says: `{rule}` needs \
             JSON, and {is}.",
            problem::headline(response.status),
            response.body.len(),
            self.tool.name
        )))
    }

    /// `as: resource` with other rules: the text that they give is the resource's. `uri` is the mapping's, `declared` the
    /// answer's media type where it is a text that stays one.
    fn embedded(&self, mut content: Content, uri: Option<String>, declared: Option<String>) -> Content {
        let Some(plan) = self.plan.filter(|plan| !content.is_error && !plan.has_blocks()) else { return content };
        if let Some(first) = content.blocks.first_mut()
            && let Block::Text(text) = first
        {
            let usual = match text {
                Text::Plain(_) => plan.text_type(),
                Text::Json(_) | Text::Read { .. } => "application/json",
            };
            let uri = uri.unwrap_or_else(|| self.uri.to_owned());
            let mime_type = plan.mime_type.clone().or(declared).or_else(|| Some(usual.to_owned()));
            let body = ResourceBody::Text(text.to_text());
            *first = Block::Resource(ResourceContents { uri, mime_type, body });
        }
        content
    }

    /// `as: resource`.
    fn whole_resource(&self, response: &Response, body: Body) -> Content {
        let plan = self.plan;
        let declared = response.media_type().map(|media_type| media_type.essence.into_owned());
        let (mime_type, text, data) = match body {
            Body::Empty => return self.without_body(self.empty_text(response)),
            Body::Json(text) | Body::Whole(text, ..) | Body::Part(Part { text, .. }) => {
                (declared, Some(String::from_utf8_lossy(&text).into_owned()), Bytes::new())
            }
            Body::Sequence(_) => (declared, Some(String::from_utf8_lossy(&response.body).into_owned()), Bytes::new()),
            Body::CutJson(value, _) => (declared, Some(value.to_string()), Bytes::new()),
            Body::Text(text, _) => (declared, Some(text), Bytes::new()),
            Body::Image(data, mime_type) | Body::Audio(data, mime_type) => (Some(mime_type), None, data),
            Body::File(data, mime_type, text) => (Some(mime_type), text, data),
        };
        let value = || decode::value_of(response);
        let uri = plan.and_then(|plan| plan.uri(&value(), self.arguments)).unwrap_or_else(|| self.uri.to_owned());
        let mime_type = plan.and_then(|plan| plan.mime_type.clone()).or(mime_type);
        let body = match text {
            Some(text) => ResourceBody::Text(text),
            None => ResourceBody::Blob(data),
        };
        self.blocks(vec![Block::Resource(ResourceContents { uri, mime_type, body })], response.truncated)
    }

    fn resource(&self, data: Bytes, mime_type: String, text: Option<String>) -> Block {
        let body = match text {
            Some(text) => ResourceBody::Text(text),
            None => ResourceBody::Blob(data),
        };
        let uri =
            self.plan.and_then(|plan| plan.uri(&Value::Null, self.arguments)).unwrap_or_else(|| self.uri.to_owned());
        let mime_type = self.plan.and_then(|plan| plan.mime_type.clone()).unwrap_or(mime_type);
        Block::Resource(ResourceContents { uri, mime_type: Some(mime_type), body })
    }

    /// A link instead of the bytes: where the mapping asks for one, or they are many.
    fn linked(&self, data: &Bytes, mime_type: &str, from: usize, response: &Response) -> Option<Block> {
        let wanted = match self.plan.and_then(|plan| plan.binary) {
            Some(Binary::Link) => true,
            Some(Binary::Embed) => false,
            None => data.len() >= from,
        };
        // What was cut off is no whole file, but a link would promise one.
        if !wanted || response.truncated && data.len() < from {
            return None;
        }
        let uri = self.links?.link(data, mime_type)?;
        let name = response.file_name().unwrap_or_else(|| self.tool.name.clone());
        let size = (!response.truncated).then_some(data.len() as u64);
        Some(Block::Link { uri, name, mime_type: Some(mime_type.to_owned()), size })
    }

    /// Sets `structuredContent` to what the schema lets through of the value, and counts the rest.
    fn conforming(&self, shape: &Shape, value: Value, content: &mut Content) {
        let (value, nulled) = shape.conform(value);
        content.structured = Some(Json::Tree(Arc::new(value)));
        if nulled > 0 {
            content.set_meta(META_NULLED, nulled.into());
        }
    }

    /// Keeps to a published output schema where the answer has no JSON: protocol and clients want a structured value
    /// whatever came back. With `output_schema: strict` such an answer is an error.
    fn stand_in(&self, value: Value, content: &mut Content) {
        if let Some(error) = self.undeclared(&value) {
            content.is_error = true;
            content.blocks.insert(0, error);
        } else if let Some(shape) = self.shape {
            content.structured = Some(Json::Tree(Arc::new(shape.conform(value).0)));
        }
    }

    /// Notes in a block of their own, since the first text is the twin of the structured value.
    fn remark(&self, content: &mut Content, cuts: &[Cut], mut notes: Vec<String>) {
        if !cuts.is_empty() {
            const MOST: usize = 5;
            let mut shown: Vec<String> = cuts.iter().take(MOST).map(Cut::spoken).collect();
            if cuts.len() > MOST {
                shown.push(format!("and {} more cuts", cuts.len() - MOST));
            }
            notes.push(format!(
                "Shortened: showing {}. {}",
                shown.join(", "),
                cut::way_to_the_rest(&self.tool.input.published.property_names())
            ));
            let list = cuts.iter().take(100).map(cut::Cut::to_json).collect();
            content.set_meta(META_CUT, Value::Array(list));
        }
        if !notes.is_empty() {
            content.blocks.push(Block::text(notes.join("\n")));
        }
    }

    fn empty_text(&self, response: &Response) -> String {
        let status = response.status;
        let reason = status.canonical_reason().map(|reason| format!(" {reason}")).unwrap_or_default();
        let mut text = format!("OK ({}{reason})", status.as_u16());
        let action = request(self.tool);
        if status.is_redirection() {
            text = format!("{}{reason}: {}", status.as_u16(), problem::redirect(response, action));
        } else if let Some(location) = problem::own_location(response, action) {
            text.push_str(&format!("\nLocation: {location}"));
        }
        if action.is_some_and(|action| action.method == Method::HEAD) {
            for name in ["content-type", "content-length", "last-modified", "etag"] {
                if let Some(value) = response.header(name) {
                    text.push_str(&format!("\n{name}: {value}"));
                }
            }
        }
        text
    }

    /// With `output_schema: strict`: what is wrong with a value that does not conform.
    fn undeclared(&self, value: &Value) -> Option<Block> {
        let problems = self.tool.output.strict.as_ref()?.check(value);
        let first = problems.first()?;
        let place = if first.argument.is_empty() { String::new() } else { format!("`{}`: ", first.argument) };
        Some(Block::text(format!(
            "The API answered, but not with what is declared for `{}`: {place}{}.",
            self.tool.name,
            first.message.trim_end_matches('.')
        )))
    }
}

/// Why a body can't be read that is declared as JSON; `None` where it isn't, or it can be read.
fn not_json(response: &Response) -> Option<serde_json::Error> {
    response.media_type().filter(MediaType::is_json)?;
    serde_json::from_slice::<Value>(&response.body).err()
}
