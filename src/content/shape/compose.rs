//! `blocks`: several content blocks out of one answer.

use super::render::{UriTemplate, context};
use super::{Keyed, Selector, ShapeError, told};
use crate::catalog::Arguments;
use crate::content::{Block, ResourceBody, ResourceContents, decode};
use crate::mapping::BlockRules;
use crate::template::Template;
use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use serde_json::Value;

/// One compiled block.
#[derive(Debug)]
pub(super) enum BlockPlan {
    Text { path: Option<Selector>, template: Option<Template> },
    Media { audio: bool, data: Selector, mime_type: Option<MimeType> },
    Resource { uri: UriTemplate, path: Option<Selector>, mime_type: Option<String> },
    Link { uri: UriTemplate, name: Option<Template>, mime_type: Option<String> },
}

/// A MIME type, or where the answer says it.
#[derive(Debug)]
pub(super) enum MimeType {
    Literal(String),
    At(Selector),
}

impl BlockPlan {
    /// Compiles one block; `index` is its place in the list, for messages.
    pub(super) fn compile(rules: &BlockRules, index: usize, errors: &mut Vec<ShapeError>) -> Option<Self> {
        let key = |name: &str| format!("blocks[{index}].{name}");
        let media = |audio: bool, data: &str, mime_type: &Option<String>, errors: &mut Vec<ShapeError>| {
            let mime_type = match mime_type.as_deref() {
                Some(literal) if literal.contains('/') => Some(MimeType::Literal(literal.to_owned())),
                Some(path) => Some(MimeType::At(Selector::parse(path).keyed(key("mime_type"), errors)?)),
                None => None,
            };
            Some(BlockPlan::Media { audio, data: Selector::parse(data).keyed(key("data"), errors)?, mime_type })
        };
        let path = |path: &Option<String>, errors: &mut Vec<ShapeError>| match path {
            Some(path) => Selector::parse(path).keyed(key("path"), errors).map(Some),
            None => Some(None),
        };
        let template = |name: &str, text: &Option<String>, errors: &mut Vec<ShapeError>| match text {
            Some(text) => Template::compile(text).map_err(told).keyed(key(name), errors).map(Some),
            None => Some(None),
        };
        match rules {
            BlockRules::Text { path: at, template: text } => {
                let (path, template) = (path(at, errors), template("template", text, errors));
                Some(BlockPlan::Text { path: path?, template: template? })
            }
            BlockRules::Image { data, mime_type } => media(false, data, mime_type, errors),
            BlockRules::Audio { data, mime_type } => media(true, data, mime_type, errors),
            BlockRules::Resource { uri, path: at, mime_type } => {
                let (uri, path) = (UriTemplate::compile(uri).keyed(key("uri"), errors), path(at, errors));
                Some(BlockPlan::Resource { uri: uri?, path: path?, mime_type: mime_type.clone() })
            }
            BlockRules::Link { uri, name, mime_type } => {
                let uri = UriTemplate::compile(uri).keyed(key("uri"), errors);
                let name = template("name", name, errors);
                Some(BlockPlan::Link { uri: uri?, name: name?, mime_type: mime_type.clone() })
            }
        }
    }

    /// The block for this answer; `None` with a note where the answer lacks what it needs.
    pub(super) fn make(
        &self,
        value: &Value,
        arguments: &Arguments,
        notes: &mut Vec<String>,
    ) -> Result<Option<Block>, String> {
        Ok(match self {
            BlockPlan::Text { template: Some(template), path } => {
                let found = path.as_ref().and_then(|path| path.get(value));
                let value = found.as_deref().unwrap_or(value);
                Some(Block::text(template.render_lenient(&context(value, arguments))?))
            }
            BlockPlan::Text { template: None, path } => at(path, value, notes).map(|found| Block::text(plain(&found))),
            BlockPlan::Media { audio, data, mime_type } => {
                let found = data.get(value);
                let decoded = found.as_deref().and_then(Value::as_str).and_then(decode_base64);
                let Some((bytes, labelled)) = decoded else {
                    let what = if *audio { "audio" } else { "image" };
                    notes.push(format!("The answer has no base64 {what} at `{}`.", data.as_str()));
                    return Ok(None);
                };
                let said = match mime_type {
                    Some(MimeType::Literal(literal)) => Some(literal.clone()),
                    Some(MimeType::At(path)) => path.get(value).as_deref().and_then(Value::as_str).map(str::to_owned),
                    None => None,
                };
                let fallback = if *audio { "audio/wav" } else { "image/png" };
                let mime_type = said
                    .or(labelled)
                    .or_else(|| decode::signature(&bytes).map(str::to_owned))
                    .unwrap_or_else(|| fallback.to_owned());
                let data = Bytes::from(bytes);
                Some(if *audio { Block::Audio { data, mime_type } } else { Block::Image { data, mime_type } })
            }
            BlockPlan::Resource { uri, path, mime_type } => at(path, value, notes).map(|found| {
                let default = if found.is_string() { "text/plain" } else { "application/json" };
                Block::Resource(ResourceContents {
                    uri: uri.expand(value, arguments),
                    mime_type: Some(mime_type.clone().unwrap_or_else(|| default.to_owned())),
                    body: ResourceBody::Text(plain(&found)),
                })
            }),
            BlockPlan::Link { uri, name, mime_type } => {
                let uri = uri.expand(value, arguments);
                let name = match name {
                    Some(template) => template.render_lenient(&context(value, arguments))?,
                    None => uri.clone(),
                };
                Some(Block::Link { uri, name, mime_type: mime_type.clone(), size: None })
            }
        })
    }
}

fn at<'a>(path: &Option<Selector>, value: &'a Value, notes: &mut Vec<String>) -> Option<std::borrow::Cow<'a, Value>> {
    match path {
        Some(path) => {
            let found = path.get(value);
            if found.is_none() {
                notes.push(format!("The answer has nothing at `{}`.", path.as_str()));
            }
            found
        }
        None => Some(std::borrow::Cow::Borrowed(value)),
    }
}

/// A string as it is, anything else as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Base64 of either alphabet, with or without padding, line breaks or a `data:` prefix (whose media type is given back).
fn decode_base64(text: &str) -> Option<(Vec<u8>, Option<String>)> {
    const LENIENT: GeneralPurposeConfig =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    const STANDARD: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::STANDARD, LENIENT);
    const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::URL_SAFE, LENIENT);
    let (labelled, data) = match text.strip_prefix("data:").and_then(|uri| uri.split_once(',')) {
        Some((head, data)) => (head.strip_suffix(";base64"), data),
        None => (None, text),
    };
    let mut data = std::borrow::Cow::Borrowed(data);
    if data.contains(|char: char| char.is_ascii_whitespace()) {
        data = data.split_ascii_whitespace().collect::<String>().into();
    }
    let bytes = STANDARD.decode(&*data).or_else(|_| URL_SAFE.decode(&*data)).ok().filter(|bytes| !bytes.is_empty())?;
    Some((bytes, labelled.filter(|label| label.contains('/')).map(str::to_owned)))
}
