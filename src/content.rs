//! Blocks, structured value and error mark: the only place where failures become text for the model.

pub mod conform;
pub mod shape;

use bytes::Bytes;
use serde_json::Value;
use std::sync::Arc;

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
