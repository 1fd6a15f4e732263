//! `CallToolResult` straight into its pieces.
//!
//! After HTTP this is the hottest code of a call: JSON from the API goes out as it came (for `structuredContent`) and
//! escaped (for the text block). Long ones are pieces of their own, which nobody copies ([`Pieces`]).

pub(super) mod escape;
mod pieces;
mod shared;

pub use escape::write_string;
pub use pieces::Pieces;
pub use shared::{Deflated, SharedText};

use super::{Block, Content, Json, ResourceBody, ResourceContents, Text};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Map, Value};

/// What the spoken revision knows.
#[derive(Debug, Clone, Copy, Default)]
pub struct WireOptions<'a> {
    /// `structuredContent` (2025-06-18 and later).
    pub structured: bool,
    /// `structuredContent` must be an object (2025-06-18, 2025-11-25): anything else goes out as
    /// `{"result": …}`.
    pub wrap_structured: bool,
    /// Wrap objects too: for tools whose published output schema was wrapped, because its root is not `type: object`.
    pub wrap_objects: bool,
    /// `audio` blocks (2025-03-26 and later); else an embedded resource.
    pub audio: bool,
    /// `resource_link` blocks (2025-06-18 and later); else a text with the URI.
    pub links: bool,
    /// `"resultType":"complete"` (2026-07-28).
    pub result_type: bool,
    /// JSON text of `_meta["io.modelcontextprotocol/serverInfo"]` (2026-07-28).
    pub server_info: Option<&'a str>,
}

/// Appends the whole `CallToolResult` object, long parts of it as pieces of their own. Never a raw newline, so that it fits on one line of stdio.
pub fn write_result(content: &Content, pieces: &mut Pieces, options: &WireOptions<'_>) {
    pieces.text.reserve(estimate(content, options));
    pieces.text.extend_from_slice(b"{\"content\":[");
    for (index, block) in content.blocks.iter().enumerate() {
        if index > 0 {
            pieces.text.push(b',');
        }
        match block {
            Block::Text(Text::Read { escaped, .. }) => {
                pieces.text.extend_from_slice(b"{\"type\":\"text\",\"text\":\"");
                pieces.push(escaped);
                pieces.text.extend_from_slice(b"\"}");
            }
            block => write_block(block, &mut pieces.text, options),
        }
    }
    pieces.text.push(b']');
    if let Some(json) = content.structured.as_ref().filter(|_| options.structured && !content.is_error) {
        pieces.text.extend_from_slice(b",\"structuredContent\":");
        let wrapped = options.wrap_structured && (options.wrap_objects || !json.is_object());
        if wrapped {
            pieces.text.extend_from_slice(b"{\"result\":");
        }
        match json {
            Json::Raw(bytes) if !breaks_lines(bytes) => pieces.push(bytes),
            json => write_json(json, &mut pieces.text),
        }
        if wrapped {
            pieces.text.push(b'}');
        }
    }
    let out = &mut pieces.text;
    if content.is_error {
        out.extend_from_slice(b",\"isError\":true");
    }
    write_meta(content.meta.as_ref(), options.server_info, out);
    if options.result_type {
        out.extend_from_slice(b",\"resultType\":\"complete\"");
    }
    out.push(b'}');
}

/// Appends one content block (tool results, prompt messages).
pub fn write_block(block: &Block, out: &mut Vec<u8>, options: &WireOptions<'_>) {
    match block {
        Block::Text(text) => {
            out.extend_from_slice(b"{\"type\":\"text\",\"text\":");
            match text {
                Text::Plain(text) => write_string(text, out),
                Text::Json(Json::Raw(bytes)) => escape::quoted(bytes, out),
                Text::Read { escaped, .. } => {
                    out.push(b'"');
                    out.extend_from_slice(escaped);
                    out.push(b'"');
                }
                Text::Json(Json::Tree(value)) => escape::quoted_value(value, out),
            }
            out.push(b'}');
        }
        Block::Image { data, mime_type } => write_media("image", data, mime_type, out),
        Block::Audio { data, mime_type } if options.audio => write_media("audio", data, mime_type, out),
        Block::Audio { data, mime_type } => {
            out.extend_from_slice(b"{\"type\":\"resource\",\"resource\":{\"uri\":\"rest-mcp:audio\",\"mimeType\":");
            write_string(mime_type, out);
            out.extend_from_slice(b",\"blob\":");
            write_base64(data, out);
            out.extend_from_slice(b"}}");
        }
        Block::Resource(resource) => {
            out.extend_from_slice(b"{\"type\":\"resource\",\"resource\":");
            write_resource(resource, out);
            out.push(b'}');
        }
        Block::Link { uri, name, mime_type, size } if options.links => {
            out.extend_from_slice(b"{\"type\":\"resource_link\",\"uri\":");
            write_string(uri, out);
            out.extend_from_slice(b",\"name\":");
            write_string(name, out);
            if let Some(mime_type) = mime_type {
                out.extend_from_slice(b",\"mimeType\":");
                write_string(mime_type, out);
            }
            if let Some(size) = size {
                out.extend_from_slice(b",\"size\":");
                out.extend_from_slice(size.to_string().as_bytes());
            }
            out.push(b'}');
        }
        Block::Link { uri, name, mime_type, .. } => {
            let kind = mime_type.as_deref().unwrap_or("application/octet-stream");
            out.extend_from_slice(b"{\"type\":\"text\",\"text\":");
            write_string(&format!("{name} ({kind}): {uri}"), out);
            out.push(b'}');
        }
    }
}

/// Appends a `TextResourceContents` or `BlobResourceContents` object.
pub fn write_resource(resource: &ResourceContents, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"uri\":");
    write_string(&resource.uri, out);
    if let Some(mime_type) = &resource.mime_type {
        out.extend_from_slice(b",\"mimeType\":");
        write_string(mime_type, out);
    }
    match &resource.body {
        ResourceBody::Text(text) => {
            out.extend_from_slice(b",\"text\":");
            write_string(text, out);
        }
        ResourceBody::Blob(data) => {
            out.extend_from_slice(b",\"blob\":");
            write_base64(data, out);
        }
    }
    out.push(b'}');
}

/// Appends JSON as it is, newlines outside strings turned into spaces.
pub fn write_json(json: &Json, out: &mut Vec<u8>) {
    match json {
        Json::Raw(bytes) => {
            let start = out.len();
            out.extend_from_slice(bytes);
            if !breaks_lines(bytes) {
                return;
            }
            // Inside strings JSON has no raw line break (RFC 8259 §7), so each one is whitespace.
            if let Some(written) = out.get_mut(start..) {
                for byte in written {
                    *byte = if matches!(*byte, b'\n' | b'\r') { b' ' } else { *byte };
                }
            }
        }
        Json::Tree(value) => write_value(value, out),
    }
}

/// True if a JSON text goes over several lines.
fn breaks_lines(json: &[u8]) -> bool {
    memchr::memchr2(b'\n', b'\r', json).is_some()
}

/// Appends base64 with quotes.
pub fn write_base64(data: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let start = out.len();
    let length = base64::encoded_len(data.len(), true).unwrap_or(0);
    out.resize(start + length, 0);
    let written = out.get_mut(start..).and_then(|space| STANDARD.encode_slice(data, space).ok()).unwrap_or(0);
    out.truncate(start + written);
    out.push(b'"');
}

fn write_media(kind: &str, data: &Bytes, mime_type: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(b"\",\"data\":");
    write_base64(data, out);
    out.extend_from_slice(b",\"mimeType\":");
    write_string(mime_type, out);
    out.push(b'}');
}

fn write_meta(meta: Option<&Map<String, Value>>, server_info: Option<&str>, out: &mut Vec<u8>) {
    if meta.is_none_or(Map::is_empty) && server_info.is_none() {
        return;
    }
    out.extend_from_slice(b",\"_meta\":{");
    let mut first = true;
    for (key, value) in meta.into_iter().flatten() {
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        write_string(key, out);
        out.push(b':');
        write_value(value, out);
    }
    if let Some(info) = server_info {
        if !first {
            out.push(b',');
        }
        out.extend_from_slice(b"\"io.modelcontextprotocol/serverInfo\":");
        out.extend_from_slice(info.as_bytes());
    }
    out.push(b'}');
}

/// Serializing a `Value` into memory can't fail; what was written before a failure is taken back all the same.
fn write_value(value: &Value, out: &mut Vec<u8>) {
    let start = out.len();
    if serde_json::to_writer(&mut *out, value).is_err() {
        out.truncate(start);
        out.extend_from_slice(b"null");
    }
}

/// Bytes that the result will take, so that the buffer grows once.
fn estimate(content: &Content, options: &WireOptions<'_>) -> usize {
    let json = |json: &Json| match json {
        Json::Raw(bytes) => bytes.len(),
        Json::Tree(_) => 256,
    };
    let beside = |json: &Json| match json {
        Json::Raw(bytes) => Pieces::copied(bytes),
        Json::Tree(_) => 256,
    };
    let blocks: usize = content
        .blocks
        .iter()
        .map(|block| match block {
            Block::Text(Text::Plain(text)) => text.len() + text.len() / 8,
            Block::Text(Text::Json(value)) => json(value) + json(value) / 4,
            Block::Text(Text::Read { escaped, .. }) => Pieces::copied(escaped),
            Block::Image { data, .. } | Block::Audio { data, .. } => data.len() / 3 * 4,
            Block::Resource(ResourceContents { body: ResourceBody::Blob(data), .. }) => data.len() / 3 * 4,
            Block::Resource(ResourceContents { body: ResourceBody::Text(text), .. }) => text.len() + text.len() / 8,
            Block::Link { .. } => 256,
        })
        .map(|length| length + 96)
        .sum();
    let structured = content.structured.as_ref().filter(|_| options.structured).map_or(0, beside);
    blocks + structured + 192
}
