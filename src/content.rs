//! Blocks, structured value and error mark: the only place where failures become text for the model.
//!
//! [`from_response`] turns an answer into [`Content`], [`from_value`] a value that was put together
//! from several answers (pages, steps, streams); [`failure`] speaks where there is no answer at all.

mod answer;
pub mod conform;
mod cut;
mod decode;
pub mod failure;
pub mod jq;
mod problem;
pub mod sequence;
pub mod shape;
pub mod wire;

pub use answer::{from_response, from_value, succeeded};
pub use decode::value_of;

use bytes::Bytes;
use serde_json::Value;
use std::sync::Arc;

/// Reverse-DNS prefix of our keys in `_meta`.
pub const META_PREFIX: &str = "io.github.rest-mcp/";
/// `_meta`: how many leaves of `structuredContent` were set to null to conform to the output schema.
pub const META_NULLED: &str = "io.github.rest-mcp/nulled";
/// `_meta`: what was shortened, as a list of `{path, kept, total}`.
pub const META_CUT: &str = "io.github.rest-mcp/cut";
/// `_meta`: true if the API's answer was longer than what is read of it.
pub const META_TRUNCATED: &str = "io.github.rest-mcp/truncated";

/// The outcome of a call as MCP shows it, before any revision's filtering.
#[derive(Debug, Clone, Default)]
pub struct Content {
    /// Content blocks; a failed call has at least one text block.
    pub blocks: Vec<Block>,
    /// `structuredContent`: conforms to the tool's published `outputSchema`; absent on errors.
    pub structured: Option<Json>,
    /// `isError`.
    pub is_error: bool,
    /// `_meta` of the result (vendor-prefixed keys), such as truncation counts.
    pub meta: Option<serde_json::Map<String, Value>>,
}

/// JSON that may still be the upstream's own bytes.
#[derive(Debug, Clone)]
pub enum Json {
    /// Exactly one well-formed JSON text in UTF-8, no newline outside strings needed to survive.
    Raw(Bytes),
    /// A tree.
    Tree(Arc<Value>),
}

/// One content block.
#[derive(Debug, Clone)]
pub enum Block {
    /// `text`.
    Text(Text),
    /// `image`.
    Image {
        /// Bytes.
        data: Bytes,
        /// `mimeType`.
        mime_type: String,
    },
    /// `audio`.
    Audio {
        /// Bytes.
        data: Bytes,
        /// `mimeType`.
        mime_type: String,
    },
    /// Embedded `resource`.
    Resource(ResourceContents),
    /// `resource_link`.
    Link {
        /// `uri`.
        uri: String,
        /// `name`.
        name: String,
        /// `mimeType`.
        mime_type: Option<String>,
        /// `size` in bytes.
        size: Option<u64>,
    },
}

/// Text of a block.
#[derive(Debug, Clone)]
pub enum Text {
    /// A text.
    Plain(String),
    /// The serialization of a JSON value, shared with `structured` where it is the same.
    Json(Json),
    /// A JSON text as it came, and the same as it stands between the quotes of a JSON string.
    Read {
        /// See [`Json::Raw`].
        json: Bytes,
        /// See [`wire::write_string`].
        escaped: Bytes,
    },
}

/// Contents of a resource.
#[derive(Debug, Clone)]
pub struct ResourceContents {
    /// `uri`.
    pub uri: String,
    /// `mimeType`.
    pub mime_type: Option<String>,
    /// Text or bytes.
    pub body: ResourceBody,
}

/// Text or bytes of a resource.
#[derive(Debug, Clone)]
pub enum ResourceBody {
    /// `text`.
    Text(String),
    /// `blob`.
    Blob(Bytes),
}

/// Makes links under which `resources/read` serves an answer again.
pub trait LinkMaker {
    /// The URI of this body, or `None` where it can't be served later (it is embedded then).
    fn link(&self, body: &Bytes, mime_type: &str) -> Option<String>;
}

impl Content {
    /// A successful call with one text.
    pub fn text(text: impl Into<String>) -> Self {
        Content { blocks: vec![Block::text(text)], ..Content::default() }
    }

    /// A failed call (`isError`) with one text for the model.
    pub fn error(text: impl Into<String>) -> Self {
        Content { blocks: vec![Block::text(text)], is_error: true, ..Content::default() }
    }

    /// Sets one member of `_meta`.
    pub fn set_meta(&mut self, key: &str, value: Value) {
        self.meta.get_or_insert_default().insert(key.to_owned(), value);
    }

    /// The first text block as text; JSON is serialized. For logs and tests, not for the hot path.
    pub fn first_text(&self) -> Option<String> {
        self.blocks.iter().find_map(|block| match block {
            Block::Text(text) => Some(text.to_text()),
            _ => None,
        })
    }
}

impl Block {
    /// A plain text block.
    pub fn text(text: impl Into<String>) -> Self {
        Block::Text(Text::Plain(text.into()))
    }
}

impl Text {
    /// The text; JSON is serialized.
    pub fn to_text(&self) -> String {
        match self {
            Text::Plain(text) => text.clone(),
            Text::Json(json) => json.to_text(),
            Text::Read { json, .. } => String::from_utf8_lossy(json).into_owned(),
        }
    }
}

impl Json {
    /// The tree; raw bytes are parsed, `null` if they are no JSON after all.
    pub fn to_value(&self) -> Value {
        match self {
            Json::Raw(bytes) => serde_json::from_slice(bytes).unwrap_or(Value::Null),
            Json::Tree(value) => (**value).clone(),
        }
    }

    /// The serialization.
    pub fn to_text(&self) -> String {
        match self {
            Json::Raw(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Json::Tree(value) => value.to_string(),
        }
    }

    /// True if the value is a JSON object.
    pub fn is_object(&self) -> bool {
        match self {
            Json::Raw(bytes) => bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{'),
            Json::Tree(value) => value.is_object(),
        }
    }
}
