//! JSON (RFC 8259), and what people take for it.

use super::{clean, codes, read, refused};
use rest_mcp::diagnostic::Severity;
use rest_mcp::document::{Format, decode};
use serde_json::json;

#[test]
fn json_is_told_by_its_first_character_not_by_a_name() {
    let (document, report) = read("\n  {\"a\": [1, 2.5, -3, null, true, \"x\\u00e9\\n\"]}\n");
    assert!(report.is_empty());
    assert_eq!(document.format(), Format::Json);
    assert_eq!(document.root, json!({ "a": [1, 2.5, -3, null, true, "x\u{e9}\n"] }));
    assert_eq!(clean("[1]"), json!([1]));
}

#[test]
fn of_duplicate_keys_the_last_wins_and_both_places_are_named() {
    let (document, report) = read("{\n  \"a\": 1,\n  \"b\": {\"x\": 1, \"x\": 2},\n  \"a\": 3\n}");
    assert_eq!(document.root, json!({ "a": 3, "b": { "x": 2 } }));
    assert_eq!(codes(&report), ["duplicate-key", "duplicate-key"]);
    let places: Vec<_> = report.diagnostics.iter().map(|d| d.place.as_ref().unwrap()).collect();
    let lines: Vec<_> = places.iter().map(|p| (p.position().line, p.position().column, p.pointer.as_str())).collect();
    assert_eq!(lines, [(4, 3, "/a"), (3, 17, "/b/x")]);
    assert!(report.diagnostics[0].message.contains("line 2, column 3"));
    assert!(report.diagnostics.iter().all(|d| d.severity == Severity::Warning));
}

#[test]
fn integers_past_64_bits_are_found() {
    let (document, report) = read(r#"{"a": 18446744073709551615, "b": [18446744073709551616], "c": 1e30}"#);
    assert_eq!(document.root["a"], json!(18446744073709551615u64));
    assert_eq!(codes(&report), ["number-precision"]);
    assert_eq!(report.diagnostics[0].place.as_ref().unwrap().pointer, "/b/0");
}

#[test]
fn comments_and_trailing_commas_are_read_with_a_warning_where_they_stand() {
    let table = [
        ("{\"a\": 1,}", 1, 8),
        ("{\"a\": [1, 2, ],\n \"b\": 2}", 1, 12),
        ("{ // note \"x\": 9\n \"a\": 1 }", 1, 3),
        ("{\"a\": \"x // y\", /* b: , } */ \"c\": 1}", 1, 17),
    ];
    for (text, line, column) in table {
        let (document, report) = read(text);
        assert_eq!(codes(&report), ["json-not-strict"], "for {text}");
        assert_eq!(document.format(), Format::Json);
        let at = report.diagnostics[0].place.as_ref().unwrap().position();
        assert_eq!((at.line, at.column), (line, column), "for {text}");
    }
    assert_eq!(read("{\"a\": \"x // y\", /* b: , } */ \"c\": 1}").0.root, json!({ "a": "x // y", "c": 1 }));
    assert_eq!(read("{ // note \"x\": 9\n \"a\": 1 }").0.root, json!({ "a": 1 }));
}

#[test]
fn flow_yaml_in_brackets_is_read_with_a_warning() {
    let (document, report) = read("{ openapi: 3.1.0, info: { title: 'x', version: no } } # end\n");
    assert_eq!(document.root, json!({ "openapi": "3.1.0", "info": { "title": "x", "version": "no" } }));
    assert_eq!(codes(&report), ["json-not-strict"]);
    assert_eq!(document.format(), Format::Yaml);
}

#[test]
fn broken_json_is_explained_as_json() {
    // text, line, column, part of message, part of fix
    let table = [
        ("{\n \"a\": 1\n \"b\": 2\n}", 3, 2, "expected `,` or `}`", "comma"),
        ("{\"a\": [1, 2}", 1, 12, "expected `,` or `]`", "comma"),
        ("{\"a\": \"x", 1, 9, "EOF", "not closed"),
        ("{\"a\": 1} {\"b\": 2}", 1, 10, "trailing characters", "one JSON value"),
    ];
    for (text, line, column, message, fix) in table {
        let report = refused(text);
        let problem = &report.diagnostics[0];
        assert_eq!(problem.code, "json-syntax", "for {text}");
        let at = problem.place.as_ref().unwrap().position();
        assert_eq!((at.line, at.column), (line, column), "for {text}: {}", problem.message);
        assert!(problem.message.contains(message), "{}", problem.message);
        assert!(problem.fix.as_ref().unwrap().contains(fix));
    }
}

#[test]
fn bytes_become_text_or_a_refusal_with_offset() {
    let text = |bytes: &[u8]| decode("d", bytes.to_vec()).map(|source| source.text.clone());
    assert_eq!(text(b"\xef\xbb\xbfa: 1").unwrap(), "a: 1");
    let utf16 = |order: fn(u16) -> [u8; 2], mark: bool| {
        let units = "a: \u{e9}\u{1f600}".encode_utf16();
        let mark = if mark { vec![0xfeff] } else { vec![] };
        mark.into_iter().chain(units).flat_map(order).collect::<Vec<u8>>()
    };
    for bytes in [utf16(u16::to_le_bytes, true), utf16(u16::to_be_bytes, true), utf16(u16::to_le_bytes, false)] {
        assert_eq!(text(&bytes).unwrap(), "a: \u{e9}\u{1f600}");
    }
    let latin1 = decode("d", b"a: 1\nb: caf\xe9 x\n".to_vec()).unwrap_err();
    assert_eq!(latin1.code, "encoding");
    assert!(latin1.message.contains("0xe9") && latin1.message.contains("offset 11"), "{}", latin1.message);
    let at = latin1.place.as_ref().unwrap().position();
    assert_eq!((at.line, at.column), (2, 7));
    assert!(latin1.fix.unwrap().contains("UTF-8"));
    assert!(decode("d", b"\xff\xfea".to_vec()).is_err());
    assert!(decode("d", b"\x1f\x8b\x08\0\0\0\xff".to_vec()).unwrap_err().fix.unwrap().contains("compressed"));
}
