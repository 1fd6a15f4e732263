//! What a body is: declared type, bytes, charset, size.

use super::{Make, answer, content_of, header, spoken, structured};
use bytes::Bytes;
use rest_mcp::content::{Json, LinkMaker, META_NULLED, META_TRUNCATED, from_response, value_of};
use serde_json::{Value, json};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

#[test]
fn json_is_text_and_structured_with_the_apis_own_bytes() {
    for media_type in
        ["application/json", "application/json; charset=utf-8", "application/hal+json", "text/json", "Application/JSON"]
    {
        let body = "{\"id\": 7,  \"big\": 12345678901234567890123}";
        let content = content_of(&Make::new().tool(), &answer(200, media_type, body));
        assert_eq!(spoken(&content), [body], "{media_type}");
        let Some(Json::Raw(raw)) = &content.structured else { panic!("{media_type}: not raw") };
        assert_eq!(raw, body, "{media_type}");
        assert!(!content.is_error && content.meta.is_none());
    }
}

#[test]
fn json_under_a_lying_or_missing_type_is_still_json() {
    for media_type in [
        "text/html",
        "text/html; charset=utf-8",
        "application/octet-stream",
        "text/plain",
        "",
        "application/javascript",
        "image/png",
        "binary/octet-stream",
        "application/x-www-form-urlencoded",
        "nonsense",
    ] {
        let content = content_of(&Make::new().tool(), &answer(200, media_type, " [1, 2]"));
        assert_eq!(structured(&content), Some(json!([1, 2])), "{media_type}");
    }
}

#[test]
fn text_that_only_looks_like_json_stays_text() {
    for (media_type, body) in
        [("text/plain", "42"), ("text/plain", "{not json}"), ("text/plain", "\"quoted\""), ("text/csv", "[a,b\n1,2")]
    {
        let content = content_of(&Make::new().tool(), &answer(200, media_type, body));
        assert_eq!(spoken(&content), [body]);
        assert!(content.structured.is_none(), "{body}");
    }
}

#[test]
fn scalars_are_json_where_json_is_declared() {
    for (body, value) in [("\"a\\nb\"", json!("a\nb")), ("3", json!(3)), ("null", Value::Null), ("true", json!(true))] {
        let content = content_of(&Make::new().tool(), &answer(200, "application/json", body));
        assert_eq!((spoken(&content), structured(&content)), (vec![body.to_owned()], Some(value)));
    }
}

#[test]
fn what_claims_to_be_json_but_is_not_is_shown_as_what_it_is() {
    let tool = Make::new().tool();
    assert_eq!(spoken(&content_of(&tool, &answer(200, "application/json", "plain words")))[0], "plain words");
    assert_eq!(spoken(&content_of(&tool, &answer(200, "application/json", PNG))), ["image image/png 12"]);
    assert_eq!(spoken(&content_of(&tool, &answer(200, "application/json", "{\"a\":1,}")))[0], "{\"a\":1,}");
    // Several texts one after another.
    let lines = content_of(&tool, &answer(200, "application/json", "{\"a\":1}\n{\"a\":2}\n"));
    assert_eq!(structured(&lines), Some(json!([{"a": 1}, {"a": 2}])));
}

#[test]
fn a_lone_surrogate_does_not_break_the_whole_message() {
    let tool = Make::new().tool();
    let content =
        content_of(&tool, &answer(200, "application/json", r#"{"a":"x\ud800y","b":"\ud83d\ude00","c":"\\ud800"}"#));
    assert_eq!(structured(&content), Some(json!({"a": "x\u{fffd}y", "b": "😀", "c": "\\ud800"})));
}

/// RFC 8259, section 6: many readers hold a double; they refuse the whole message or make infinity of the rest.
#[test]
fn a_number_that_no_double_holds_is_the_text_of_its_digits() {
    let long = "9".repeat(400);
    let small = format!("1{}", "0".repeat(308));
    let body = format!(
        r#"{{"a": 1e400, "b": [-1E+999, 1e308, 1e-999], "1e400": "1e400\\\"1e400", "c": {long}, "d": {small}, "e": 0.{long}e2}}"#
    );
    let text = format!(
        r#"{{"a": "1e400", "b": ["-1E+999", 1e308, 1e-999], "1e400": "1e400\\\"1e400", "c": "{long}", "d": {small}, "e": 0.{long}e2}}"#
    );
    let content = content_of(&Make::new().tool(), &answer(200, "application/json", body.clone()));
    assert_eq!(spoken(&content), [text]);
    assert_eq!(structured(&content).unwrap()["a"], "1e400");
    // What is published is kept to: the leaf is nulled and counted, its digits stay in the text.
    let schema = json!({"type": "object", "properties": {"a": {"type": ["number", "null"]}}});
    let content = content_of(&Make::new().output(schema).tool(), &answer(200, "application/json", body));
    assert_eq!(structured(&content).unwrap()["a"], Value::Null);
    assert_eq!(content.meta.unwrap()[META_NULLED], json!(1));
}

#[test]
fn json_nested_without_end_is_passed_as_text_only() {
    let tool = Make::new().tool();
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let content = content_of(&tool, &answer(200, "application/json", deep.clone()));
    assert_eq!(spoken(&content)[0], deep);
    assert!(content.structured.is_none());
    let many = format!("[{}]", vec!["[{\"a\":\"[[[\"}]"; 500].join(","));
    assert!(content_of(&tool, &answer(200, "application/json", many)).structured.is_some());
}

#[test]
fn json_in_other_unicode_encodings_is_read() {
    let tool = Make::new().tool();
    let utf16: Vec<u8> =
        [0xfeff_u16].into_iter().chain("{\"a\":\"ä\"}".encode_utf16()).flat_map(u16::to_le_bytes).collect();
    for body in [utf16, b"\xef\xbb\xbf{\"a\":\"\xc3\xa4\"}".to_vec(), b"{\"a\":\"\xe4\"}".to_vec()] {
        assert_eq!(structured(&content_of(&tool, &answer(200, "application/json", body))), Some(json!({"a": "ä"})));
    }
}

#[test]
fn text_of_any_charset_is_read() {
    let tool = Make::new().tool();
    let cases: [(&str, &[u8], &str); 9] = [
        ("text/plain; charset=iso-8859-1", b"caf\xe9", "café"),
        ("text/plain; charset=\"Shift_JIS\"", b"\x93\xfa\x96\x7b", "日本"),
        ("text/plain; charset=utf-8", "naïve".as_bytes(), "naïve"),
        ("text/plain", b"caf\xe9", "café"),
        ("text/csv", b"a,b\r\n1,2\r\n", "a,b\r\n1,2\r\n"),
        ("text/plain; charset=utf-8", b"\xff\xfea\0b\0", "ab"),
        ("text/html", b"<meta charset=windows-1251><p>\xcf\xf0", "<meta charset=windows-1251><p>Пр"),
        (
            "application/xml",
            b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>",
            "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>é</a>",
        ),
        ("application/problem+xml", b"<a/>", "<a/>"),
    ];
    for (media_type, body, text) in cases {
        assert_eq!(spoken(&content_of(&tool, &answer(200, media_type, body.to_vec()))), [text], "{media_type}");
    }
}

#[test]
fn images_audio_and_files_have_their_own_blocks() {
    let tool = Make::new().tool();
    let webp = b"RIFF\x04\0\0\0WEBPVP8 ";
    let cases: [(&str, &[u8], &str); 17] = [
        ("image/png", PNG, "image image/png 12"),
        ("image/png; q=1", b"no signature at all", "image image/png 19"),
        ("image/jpg", b"?", "image image/jpeg 1"),
        ("image/jpeg", PNG, "image image/png 12"),
        ("application/octet-stream", PNG, "image image/png 12"),
        ("", b"\xff\xd8\xff\xe0", "image image/jpeg 4"),
        ("text/plain", b"GIF89a..", "image image/gif 8"),
        ("", webp, "image image/webp 16"),
        ("image/svg+xml", b"<svg/>", "resource rest-mcp:get_order image/svg+xml <svg/>"),
        ("image/tiff", b"II*\0\x01", "resource rest-mcp:get_order image/tiff 5 bytes"),
        ("audio/wav", b"RIFF\x04\0\0\0WAVEfmt ", "audio audio/wav 16"),
        ("", b"RIFF\x04\0\0\0WAVEfmt ", "audio audio/wav 16"),
        ("", b"ID3\x04\0", "audio audio/mpeg 5"),
        ("application/octet-stream", b"OggS\0\x02", "audio audio/ogg 6"),
        ("application/pdf", b"%PDF-1.7\n", "resource rest-mcp:get_order application/pdf 9 bytes"),
        ("application/octet-stream", b"PK\x03\x04\x14\0", "resource rest-mcp:get_order application/zip 6 bytes"),
        ("video/mp4", b"\0\0\0\x18ftypmp42", "resource rest-mcp:get_order video/mp4 12 bytes"),
    ];
    for (media_type, body, block) in cases {
        assert_eq!(spoken(&content_of(&tool, &answer(200, media_type, body.to_vec()))), [block], "{media_type}");
    }
    assert_eq!(
        spoken(&content_of(&tool, &answer(200, "application/vnd.acme.thing", &b"\0\x01\x02"[..]))),
        ["resource rest-mcp:get_order application/vnd.acme.thing 3 bytes"]
    );
    assert_eq!(
        spoken(&content_of(&tool, &answer(200, "application/octet-stream", &b"\x1f\x8b\x08\0"[..]))),
        ["resource rest-mcp:get_order application/gzip 4 bytes"]
    );
}

#[test]
fn no_body_is_a_short_ok() {
    let tool = Make::new().tool();
    assert_eq!(spoken(&content_of(&tool, &answer(204, "", ""))), ["OK (204 No Content)"]);
    assert_eq!(spoken(&content_of(&tool, &answer(205, "", ""))), ["OK (205 Reset Content)"]);
    assert_eq!(spoken(&content_of(&tool, &answer(200, "application/json", ""))), ["OK (200 OK)"]);
    assert_eq!(spoken(&content_of(&tool, &answer(200, "application/json", " \n"))), ["OK (200 OK)"]);
    let created = header(answer(201, "", ""), "location", "http://orders.internal.corp:8443/v1/orders/9?x=1");
    assert_eq!(spoken(&content_of(&tool, &created)), ["OK (201 Created)\nLocation: /v1/orders/9?x=1"]);
    let elsewhere = header(answer(201, "", ""), "location", "https://other.internal/orders/9");
    assert_eq!(spoken(&content_of(&tool, &elsewhere)), ["OK (201 Created)"]);
    let unchanged = content_of(&tool, &answer(304, "", ""));
    assert!(!unchanged.is_error);
    assert_eq!(spoken(&unchanged), ["Not modified since the version that was asked for (304)."]);
    let head = header(answer(200, "text/plain", ""), "content-length", "12");
    assert_eq!(
        spoken(&content_of(&Make::new().method(http::Method::HEAD).tool(), &head)),
        ["OK (200 OK)\ncontent-type: text/plain\ncontent-length: 12"]
    );
}

#[test]
fn a_published_output_schema_is_kept_to_whatever_comes_back() {
    let schema = json!({"type": "object", "properties": {"id": {"type": ["integer", "null"]}, "tags": {"type": ["array", "null"], "items": {"type": ["string", "null"]}}}});
    let tool = Make::new().output(schema).tool();
    let good = content_of(&tool, &answer(200, "application/json", r#"{"id":7,"tags":["a"]}"#));
    assert!(matches!(good.structured, Some(Json::Raw(_))) && good.meta.is_none());
    let bad = content_of(&tool, &answer(200, "application/json", r#"{"id":"seven","tags":["a",3]}"#));
    assert_eq!(structured(&bad), Some(json!({"id": null, "tags": ["a", null]})));
    assert_eq!(spoken(&bad), [r#"{"id":"seven","tags":["a",3]}"#], "the text keeps everything");
    assert_eq!(bad.meta.unwrap().get(META_NULLED), Some(&json!(2)));
    for other in [answer(204, "", ""), answer(200, "text/plain", "hello"), answer(200, "image/png", PNG)] {
        let content = content_of(&tool, &other);
        assert_eq!(structured(&content), Some(json!({})));
        assert!(!content.is_error && content.meta.is_none());
    }
}

#[test]
fn strict_output_turns_an_undeclared_answer_into_an_error() {
    let schema = json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}});
    let tool = Make::new().result("output_schema: strict").output(schema).strict().tool();
    assert!(!content_of(&tool, &answer(200, "application/json", r#"{"id":7}"#)).is_error);
    for other in
        [answer(200, "application/json", "{}"), answer(200, "application/json", r#"{"id":"x"}"#), answer(204, "", "")]
    {
        let content = content_of(&tool, &other);
        assert!(content.is_error && content.structured.is_none());
        assert!(spoken(&content)[0].starts_with("The API answered, but not with what is declared for `get_order`"));
    }
}

#[test]
fn sequences_become_lists() {
    let tool = Make::new().tool();
    for (media_type, body) in [
        ("application/x-ndjson", "{\"a\":1}\n\n{\"a\":2}"),
        ("application/json-seq", "\u{1e}{\"a\":1}\n\u{1e}{\"a\":2}\n"),
        ("text/event-stream", ": hi\ndata: {\"a\":1}\n\nevent: x\ndata: {\"a\":\ndata: 2}\n\ndata: [DONE]\n\n"),
    ] {
        let content = content_of(&tool, &answer(200, media_type, body));
        assert_eq!(structured(&content), Some(json!([{"a": 1}, {"a": 2}])), "{media_type}");
    }
}

#[test]
fn a_cut_off_answer_stays_valid_json_and_says_so() {
    let tool = Make::new().tool();
    let cases = [
        (
            r#"[{"id":1,"n":"a"},{"id":2,"n":"b"},{"id":3,"n":"c"#,
            json!([{"id":1,"n":"a"},{"id":2,"n":"b"}]),
            "the first 2 items",
        ),
        (r#"{"items":[1,2,3"#, json!({"items": [1, 2]}), "the first 2 items of `items`"),
        (
            r#"{"total":9,"items":[{"t":"x,]}\"","u":[1,2]},{"t":"y"#,
            json!({"total": 9, "items": [{"t": "x,]}\"", "u": [1, 2]}]}),
            "the first 1 items of `items`",
        ),
        (r#"{"a":1,"b":"xyz"#, json!({"a": 1}), "the first 1 members"),
    ];
    for (body, value, said) in cases {
        let mut response = answer(200, "application/json", body);
        response.truncated = true;
        let content = content_of(&tool, &response);
        assert_eq!(structured(&content), Some(value), "{body}");
        let note = &spoken(&content)[1];
        assert!(note.contains(said) && note.contains("Get the rest with `page`."), "{note}");
        assert_eq!(content.meta.unwrap().get(META_TRUNCATED), Some(&json!(true)));
    }
    let mut text = answer(200, "text/plain", "long tex");
    text.truncated = true;
    assert_eq!(spoken(&content_of(&tool, &text)).len(), 2);
}

struct Links;
impl LinkMaker for Links {
    fn link(&self, body: &Bytes, mime_type: &str) -> Option<String> {
        Some(format!("rest-mcp:link/{}/{mime_type}", body.len()))
    }
}

#[test]
fn large_and_asked_for_files_become_links() {
    let large = vec![0u8; (1 << 20) + 1];
    let named = header(
        answer(200, "application/zip", large.clone()),
        "content-disposition",
        "attachment; filename=\"../report.zip\"",
    );
    let run = |yaml: Option<&str>, response: &rest_mcp::response::Response| {
        let make = yaml.map_or_else(Make::new, |yaml| Make::new().result(yaml));
        let content = from_response(&make.tool(), &super::arguments(json!({})), response, "x:y", Some(&Links));
        spoken(&content).remove(0)
    };
    assert_eq!(
        run(None, &named),
        "link rest-mcp:link/1048577/application/zip report.zip application/zip Some(1048577)"
    );
    assert!(run(Some("binary: embed"), &named).starts_with("resource x:y application/zip"));
    assert_eq!(
        run(Some("binary: link"), &answer(200, "image/png", PNG)),
        "link rest-mcp:link/12/image/png get_order image/png Some(12)"
    );
    assert_eq!(run(None, &answer(200, "image/png", PNG)), "image image/png 12");
}

#[test]
fn as_resource_embeds_the_whole_body_under_the_mappings_uri() {
    let tool =
        Make::new().result("{as: resource, uri: 'shop://order/{{id}}?q={name}', mime_type: text/x-order}").tool();
    let content = content_of(&tool, &answer(200, "application/json", r#"{"name":"a b/&"}"#));
    assert_eq!(spoken(&content), [r#"resource shop://order/7?q=a%20b%2F%26 text/x-order {"name":"a b/&"}"#]);
    assert!(content.structured.is_none());
    let plain = Make::new().result("{as: resource, uri: 'test://embedded-resource'}").tool();
    let content = content_of(&plain, &answer(200, "text/plain", "This is an embedded resource content."));
    assert_eq!(
        spoken(&content),
        ["resource test://embedded-resource text/plain This is an embedded resource content."]
    );
}

#[test]
fn every_answer_has_a_value_for_pages_and_steps() {
    for (media_type, body, value) in [
        ("application/json", "{\"a\":1}", json!({"a": 1})),
        ("text/plain", "hi", json!("hi")),
        ("application/x-ndjson", "1\n2\n", json!([1, 2])),
        ("application/json", "", Value::Null),
        ("application/pdf", "%PDF-", json!("JVBERi0=")),
    ] {
        assert_eq!(value_of(&answer(200, media_type, body)), value);
    }
}
