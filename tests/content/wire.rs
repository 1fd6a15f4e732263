//! `CallToolResult` on the wire: every byte legal, nothing a revision does not know.

use super::{Make, answer, content_of};
use bytes::Bytes;
use proptest::prelude::*;
use rest_mcp::content::wire::{Pieces, WireOptions, write_resource, write_result, write_string};
use rest_mcp::content::{Block, Content, Json, ResourceBody, ResourceContents, Text};
use serde_json::{Value, json};
use std::sync::Arc;

fn wire(content: &Content, options: &WireOptions<'_>) -> Value {
    let mut out = Pieces::from(b"x".to_vec());
    write_result(content, &mut out, options);
    let out = out.whole();
    assert!(!out.contains(&b'\n') && !out.contains(&b'\r'), "a raw line break would end the message on stdio");
    serde_json::from_slice(&out[1..]).unwrap()
}

const MODERN: WireOptions<'static> = WireOptions {
    structured: true,
    wrap_structured: false,
    wrap_objects: false,
    audio: true,
    links: true,
    result_type: true,
    server_info: Some(r#"{"name":"s","version":"1"}"#),
};
const NOVEMBER_2025: WireOptions<'static> =
    WireOptions { wrap_structured: true, result_type: false, server_info: None, ..MODERN };
const FIRST: WireOptions<'static> = WireOptions {
    structured: false,
    wrap_structured: false,
    wrap_objects: false,
    audio: false,
    links: false,
    result_type: false,
    server_info: None,
};

proptest! {
    #[test]
    fn any_text_survives_as_a_json_string(text in any::<String>()) {
        let mut out = Vec::new();
        write_string(&text, &mut out);
        prop_assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
    }

    #[test]
    fn json_text_of_any_length_survives_escaping(text in "[a-z\"\\\\\n\r\t\u{1}\u{7f}ä€😀{}:,]{0,200}") {
        let mut out = Vec::new();
        write_string(&text, &mut out);
        prop_assert!(!out.iter().any(|byte| *byte < 0x20));
        prop_assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
    }
}

#[test]
fn escapes_are_the_short_ones() {
    let mut out = Vec::new();
    write_string("\u{0}\u{8}\u{c}\n\r\t\"\\/\u{1f}\u{7f}é", &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), "\"\\u0000\\b\\f\\n\\r\\t\\\"\\\\/\\u001f\u{7f}é\"");
}

#[test]
fn pretty_printed_json_travels_on_one_line_and_unchanged_in_the_text() {
    let body = "{\n  \"a\": \"x\\ny\",\r\n  \"b\": [1,\n2]\n}\n";
    let content = content_of(&Make::new().tool(), &answer(200, "application/json", body));
    let sent = wire(&content, &MODERN);
    assert_eq!(sent["content"][0]["text"], json!(body));
    assert_eq!(sent["structuredContent"], json!({"a": "x\ny", "b": [1, 2]}));
}

#[test]
fn each_revision_gets_what_it_knows() {
    let content = content_of(&Make::new().tool(), &answer(200, "application/json", "[1]"));
    assert_eq!(
        wire(&content, &MODERN),
        json!({"content": [{"type": "text", "text": "[1]"}], "structuredContent": [1], "resultType": "complete",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}}})
    );
    assert_eq!(
        wire(&content, &NOVEMBER_2025),
        json!({"content": [{"type": "text", "text": "[1]"}], "structuredContent": {"result": [1]}})
    );
    assert_eq!(wire(&content, &FIRST), json!({"content": [{"type": "text", "text": "[1]"}]}));
}

#[test]
fn objects_are_wrapped_only_where_the_published_schema_was() {
    let content = content_of(&Make::new().tool(), &answer(200, "application/json", " {\"a\":1}"));
    assert_eq!(wire(&content, &NOVEMBER_2025)["structuredContent"], json!({"a": 1}));
    let always = WireOptions { wrap_objects: true, ..NOVEMBER_2025 };
    assert_eq!(wire(&content, &always)["structuredContent"], json!({"result": {"a": 1}}));
    let tree = Content { structured: Some(Json::Tree(Arc::new(json!({"a": 1})))), ..Content::default() };
    assert_eq!(wire(&tree, &NOVEMBER_2025)["structuredContent"], json!({"a": 1}));
}

#[test]
fn errors_carry_no_structured_content() {
    let mut content = Content::error("no");
    content.structured = Some(Json::Raw(Bytes::from_static(b"{}")));
    content.set_meta("io.github.rest-mcp/x", json!("\"quoted\""));
    assert_eq!(
        wire(&content, &NOVEMBER_2025),
        json!({"content": [{"type": "text", "text": "no"}], "isError": true, "_meta": {"io.github.rest-mcp/x": "\"quoted\""}})
    );
}

#[test]
fn every_block_has_its_form_and_its_older_stand_in() {
    let content = Content {
        blocks: vec![
            Block::Text(Text::Json(Json::Tree(Arc::new(json!({"a": "\"\n"}))))),
            Block::Image { data: Bytes::from_static(b"\0\xff"), mime_type: "image/png".into() },
            Block::Audio { data: Bytes::from_static(b"a"), mime_type: "audio/wav".into() },
            Block::Link { uri: "x:1".into(), name: "n\"".into(), mime_type: Some("a/b".into()), size: Some(3) },
            Block::Resource(ResourceContents {
                uri: "x:2".into(),
                mime_type: None,
                body: ResourceBody::Text("t".into()),
            }),
        ],
        ..Content::default()
    };
    assert_eq!(
        wire(&content, &MODERN)["content"],
        json!([
            {"type": "text", "text": "{\"a\":\"\\\"\\n\"}"},
            {"type": "image", "data": "AP8=", "mimeType": "image/png"},
            {"type": "audio", "data": "YQ==", "mimeType": "audio/wav"},
            {"type": "resource_link", "uri": "x:1", "name": "n\"", "mimeType": "a/b", "size": 3},
            {"type": "resource", "resource": {"uri": "x:2", "text": "t"}},
        ])
    );
    let old = wire(&content, &FIRST);
    assert_eq!(
        old["content"][2],
        json!({"type": "resource", "resource": {"uri": "rest-mcp:audio", "mimeType": "audio/wav", "blob": "YQ=="}})
    );
    assert_eq!(old["content"][3], json!({"type": "text", "text": "n\" (a/b): x:1"}));
    let mut out = Vec::new();
    let blob = ResourceContents {
        uri: "x:3".into(),
        mime_type: Some("a/b".into()),
        body: ResourceBody::Blob(Bytes::from_static(b"abc")),
    };
    write_resource(&blob, &mut out);
    assert_eq!(out, br#"{"uri":"x:3","mimeType":"a/b","blob":"YWJj"}"#);
}
