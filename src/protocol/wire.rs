//! Content as result members. Stands in for `content::wire` until that exists.

use super::version::{Structured, Version};
use crate::content::{Block, Content, Json, ResourceBody, ResourceContents, Text};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Appends any serializable value.
pub(crate) fn put<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    // Writing into a Vec can't fail, and none of the values written here has a map with odd keys.
    let _ = serde_json::to_writer(out, value);
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

fn put_resource(out: &mut Vec<u8>, resource: &ResourceContents) {
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
pub(crate) fn put_block(out: &mut Vec<u8>, block: &Block, version: Version) {
    let knows = version.knows();
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
            put_resource(
                out,
                &ResourceContents {
                    uri: "content:audio".to_owned(),
                    mime_type: Some(mime_type.clone()),
                    body: ResourceBody::Blob(data.clone()),
                },
            );
            out.push(b'}');
        }
        Block::Resource(resource) => {
            out.extend_from_slice(b"{\"type\":\"resource\",\"resource\":");
            put_resource(out, resource);
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

/// The members of a CallToolResult without braces, `resultType` and `_meta`.
///
/// `wrap`: the tool's output schema is published wrapped, so its values are too.
pub(crate) fn put_call_result(out: &mut Vec<u8>, content: &Content, version: Version, wrap: bool) {
    out.extend_from_slice(b"\"content\":[");
    for (index, block) in content.blocks.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        put_block(out, block, version);
    }
    out.push(b']');
    if content.is_error {
        out.extend_from_slice(b",\"isError\":true");
    } else if let Some(value) = &content.structured {
        match version.knows().structured {
            Structured::Unknown => {}
            Structured::Object if wrap || !is_object(value) => {
                out.extend_from_slice(b",\"structuredContent\":{\"result\":");
                put_json(out, value);
                out.push(b'}');
            }
            Structured::Object | Structured::Any => {
                out.extend_from_slice(b",\"structuredContent\":");
                put_json(out, value);
            }
        }
    }
}

/// `,"_meta":{…}` of the members given, or nothing.
pub(crate) fn put_meta(out: &mut Vec<u8>, own: Option<&str>, more: Option<&Map<String, Value>>) {
    let more = more.filter(|map| !map.is_empty());
    if own.is_none() && more.is_none() {
        return;
    }
    out.extend_from_slice(b",\"_meta\":{");
    out.extend_from_slice(own.unwrap_or_default().as_bytes());
    for (index, (key, value)) in more.into_iter().flatten().enumerate() {
        if index > 0 || own.is_some() {
            out.push(b',');
        }
        put(out, key);
        out.push(b':');
        put(out, value);
    }
    out.push(b'}');
}

/// `[…]` of resource contents.
pub(crate) fn put_contents(out: &mut Vec<u8>, contents: &[ResourceContents]) {
    out.push(b'[');
    for (index, one) in contents.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        put_resource(out, one);
    }
    out.push(b']');
}
