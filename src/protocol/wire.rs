//! Content as result members. Stands in for `content::wire`, with the same functions, until that is
//! merged.

use super::text::{put, put_meta};
use crate::content::{Block, Content, Json, ResourceBody, ResourceContents, Text};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

/// What the spoken revision knows.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WireOptions<'a> {
    pub(crate) structured: bool,
    pub(crate) wrap_structured: bool,
    pub(crate) wrap_objects: bool,
    pub(crate) audio: bool,
    pub(crate) links: bool,
    pub(crate) result_type: bool,
    /// JSON text of the `serverInfo` member of `_meta`.
    pub(crate) server_info: Option<&'a str>,
}

/// The whole `CallToolResult` object.
pub(crate) fn write_result(content: &Content, out: &mut Vec<u8>, options: &WireOptions<'_>) {
    out.extend_from_slice(b"{\"content\":[");
    for (index, block) in content.blocks.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_block(block, out, options);
    }
    out.push(b']');
    if content.is_error {
        out.extend_from_slice(b",\"isError\":true");
    } else if let Some(value) = content.structured.as_ref().filter(|_| options.structured) {
        let wrapped = options.wrap_structured && (options.wrap_objects || !is_object(value));
        out.extend_from_slice(b",\"structuredContent\":");
        if wrapped {
            out.extend_from_slice(b"{\"result\":");
        }
        put_json(out, value);
        if wrapped {
            out.push(b'}');
        }
    }
    let info = options.server_info.map(|info| format!(r#""io.modelcontextprotocol/serverInfo":{info}"#));
    put_meta(out, info.as_deref(), content.meta.as_ref());
    if options.result_type {
        out.extend_from_slice(b",\"resultType\":\"complete\"");
    }
    out.push(b'}');
}

fn put_json(out: &mut Vec<u8>, json: &Json) {
    match json {
        // A newline can only stand between tokens; on stdio and SSE it would end the message.
        Json::Raw(bytes) if bytes.iter().any(|byte| matches!(byte, b'\n' | b'\r')) => {
            out.extend(bytes.iter().filter(|byte| !matches!(byte, b'\n' | b'\r')));
        }
        Json::Raw(bytes) => out.extend_from_slice(bytes),
        Json::Tree(tree) => put(out, &**tree),
    }
}

fn put_base64(out: &mut Vec<u8>, data: &[u8]) {
    out.push(b'"');
    let start = out.len();
    out.resize(start + data.len().div_ceil(3) * 4, 0);
    if let Some(room) = out.get_mut(start..) {
        // The room is exactly the encoded length.
        let _ = STANDARD.encode_slice(data, room);
    }
    out.push(b'"');
}

fn put_text(out: &mut Vec<u8>, text: &Text) {
    match text {
        Text::Plain(text) => put(out, text.as_str()),
        Text::Json(Json::Tree(tree)) => put(out, &tree.to_string()),
        Text::Json(Json::Raw(bytes)) => match std::str::from_utf8(bytes) {
            Ok(text) => put(out, text),
            Err(_) => put(out, &String::from_utf8_lossy(bytes)),
        },
    }
}

/// A TextResourceContents or BlobResourceContents object.
pub(crate) fn write_resource(resource: &ResourceContents, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"uri\":");
    put(out, &resource.uri);
    if let Some(mime_type) = &resource.mime_type {
        out.extend_from_slice(b",\"mimeType\":");
        put(out, mime_type);
    }
    match &resource.body {
        ResourceBody::Text(text) => {
            out.extend_from_slice(b",\"text\":");
            put(out, text);
        }
        ResourceBody::Blob(data) => {
            out.extend_from_slice(b",\"blob\":");
            put_base64(out, data);
        }
    }
    out.push(b'}');
}

fn put_media(out: &mut Vec<u8>, kind: &str, data: &[u8], mime_type: &str) {
    out.extend_from_slice(b"{\"type\":");
    put(out, kind);
    out.extend_from_slice(b",\"data\":");
    put_base64(out, data);
    out.extend_from_slice(b",\"mimeType\":");
    put(out, mime_type);
    out.push(b'}');
}

/// One content block, in an older shape where the revision does not know the newer one.
pub(crate) fn write_block(block: &Block, out: &mut Vec<u8>, knows: &WireOptions<'_>) {
    match block {
        Block::Text(text) => {
            out.extend_from_slice(b"{\"type\":\"text\",\"text\":");
            put_text(out, text);
            out.push(b'}');
        }
        Block::Image { data, mime_type } => put_media(out, "image", data, mime_type),
        Block::Audio { data, mime_type } if knows.audio => put_media(out, "audio", data, mime_type),
        Block::Audio { data, mime_type } => {
            out.extend_from_slice(b"{\"type\":\"resource\",\"resource\":");
            let resource = ResourceContents {
                uri: "content:audio".to_owned(),
                mime_type: Some(mime_type.clone()),
                body: ResourceBody::Blob(data.clone()),
            };
            write_resource(&resource, out);
            out.push(b'}');
        }
        Block::Resource(resource) => {
            out.extend_from_slice(b"{\"type\":\"resource\",\"resource\":");
            write_resource(resource, out);
            out.push(b'}');
        }
        Block::Link { uri, name, mime_type, size } if knows.links => {
            let mut link = json!({"type": "resource_link", "uri": uri, "name": name});
            if let Some(link) = link.as_object_mut() {
                if let Some(mime_type) = mime_type {
                    link.insert("mimeType".to_owned(), mime_type.as_str().into());
                }
                if let Some(size) = size {
                    link.insert("size".to_owned(), (*size).into());
                }
            }
            put(out, &link);
        }
        Block::Link { uri, name, .. } => put(out, &json!({"type": "text", "text": format!("{name}: {uri}")})),
    }
}

fn is_object(json: &Json) -> bool {
    match json {
        Json::Raw(bytes) => bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{'),
        Json::Tree(tree) => tree.is_object(),
    }
}
