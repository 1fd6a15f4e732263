//! YAML by the 1.2 core schema (YAML 1.2.2, section 10.3.2) and what authors do with it.

use super::{clean, codes, read, refused};
use serde_json::{Value, json};

#[test]
fn plain_scalars_follow_the_core_schema_and_nothing_else() {
    let table = [
        ("no", json!("no")),
        ("No", json!("No")),
        ("yes", json!("yes")),
        ("on", json!("on")),
        ("off", json!("off")),
        ("y", json!("y")),
        ("n", json!("n")),
        ("true", json!(true)),
        ("True", json!(true)),
        ("TRUE", json!(true)),
        ("tRUE", json!("tRUE")),
        ("false", json!(false)),
        ("null", json!(null)),
        ("Null", json!(null)),
        ("NULL", json!(null)),
        ("nULL", json!("nULL")),
        ("~", json!(null)),
        ("", json!(null)),
        ("2001-12-14", json!("2001-12-14")),
        ("2023-02-30", json!("2023-02-30")),
        ("2001-12-14t21:59:43.10-05:00", json!("2001-12-14t21:59:43.10-05:00")),
        ("0o14", json!(12)),
        ("0o19", json!("0o19")),
        ("0x3A", json!(58)),
        ("0xZZ", json!("0xZZ")),
        ("-0x3A", json!("-0x3A")),
        ("0b11", json!("0b11")),
        ("1_000", json!("1_000")),
        ("12:30:45", json!("12:30:45")),
        ("685_230.15", json!("685_230.15")),
        ("0", json!(0)),
        ("-19", json!(-19)),
        ("+12", json!(12)),
        ("1.", json!(1.0)),
        (".5", json!(0.5)),
        ("1e3", json!(1000.0)),
        ("-1.5E-2", json!(-0.015)),
        ("1.2.3", json!("1.2.3")),
        ("1e", json!("1e")),
        (".", json!(".")),
        ("-", json!([null])),
        ("+", json!("+")),
        ("18446744073709551615", json!(18446744073709551615u64)),
        ("-9223372036854775808", json!(-9223372036854775808i64)),
        ("'no'", json!("no")),
        ("\"200\"", json!("200")),
        ("=", json!("=")),
    ];
    for (text, expected) in table {
        let text = if text == "-" { "\n  -".to_owned() } else { text.to_owned() };
        let (document, _) = read(&format!("a: {text}\n"));
        assert_eq!(document.root, json!({ "a": expected }), "for {text:?}");
    }
}

#[test]
fn keys_are_text_as_written() {
    let tree = clean("200: a\n4XX: b\ntrue: c\nnull: d\n1.0: e\n0x10: f\n'q': g\nno: h\n2020-01-01: i\n");
    let keys: Vec<&str> = tree.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["200", "4XX", "true", "null", "1.0", "0x10", "q", "no", "2020-01-01"]);
}

#[test]
fn numbers_json_does_not_have_stay_text_with_a_note() {
    for text in [".inf", "-.inf", "+.INF", ".nan", ".NaN", "1e999"] {
        let (document, report) = read(&format!("a: {text}\n"));
        assert_eq!(document.root, json!({ "a": text }));
        assert_eq!(codes(&report), ["number-not-finite"], "for {text}");
    }
}

#[test]
fn an_integer_past_64_bits_is_the_nearest_float_and_said_so() {
    let (document, report) = read("a:\n  - 1\n  - 18446744073709551616\n");
    assert_eq!(document.root["a"][1].as_f64(), Some(18446744073709551616.0));
    assert_eq!(codes(&report), ["number-precision"]);
    let place = report.diagnostics[0].place.as_ref().unwrap();
    assert_eq!((place.position().line, place.position().column), (3, 5));
    assert_eq!(place.pointer, "/a/1");
}

#[test]
fn leading_zeros_are_decimal_and_noted() {
    let (document, report) = read("a: 010\nb: '010'\n");
    assert_eq!(document.root, json!({ "a": 10, "b": "010" }));
    assert_eq!(codes(&report), ["leading-zeros"]);
}

#[test]
fn tags_of_the_core_schema_decide_and_others_are_noted() {
    let (document, report) =
        read("a: !!str 200\nb: !!int '7'\nc: !!float 1\nd: ! 12\ne: !Ref x\nf: !!timestamp 2001-01-01\ng: !!bool no\n");
    assert_eq!(
        document.root,
        json!({ "a": "200", "b": 7, "c": 1.0, "d": "12", "e": "x", "f": "2001-01-01", "g": "no" })
    );
    assert_eq!(codes(&report), ["unknown-tag", "tag-mismatch"]);
}

#[test]
fn aliases_repeat_values_also_as_keys() {
    let tree = clean("a: &x { b: [1, &k two] }\nc: *x\n*k : 3\n");
    assert_eq!(tree, json!({ "a": { "b": [1, "two"] }, "c": { "b": [1, "two"] }, "two": 3 }));
}

#[test]
fn an_anchor_may_be_defined_again() {
    assert_eq!(clean("a: &x 1\nb: *x\nc: &x 2\nd: *x\n"), json!({ "a": 1, "b": 1, "c": 2, "d": 2 }));
}

#[test]
fn merge_keys_fill_in_what_is_not_written_whatever_the_order() {
    let base = "base: &base { x: 1, y: 2 }\nother: &other { y: 3, z: 4 }\n";
    let merged = |text: &str| clean(&format!("{base}{text}"))["m"].clone();
    assert_eq!(merged("m: { <<: *base, y: 9 }"), json!({ "x": 1, "y": 9 }));
    assert_eq!(merged("m: { y: 9, <<: *base }"), json!({ "y": 9, "x": 1 }));
    assert_eq!(merged("m: { <<: [*base, *other] }"), json!({ "x": 1, "y": 2, "z": 4 }));
    assert_eq!(merged("m:\n  <<: *base\n  <<: *other\n"), json!({ "x": 1, "y": 2, "z": 4 }));
    assert_eq!(merged("m: { '<<': 5 }"), json!({ "<<": 5 }));
}

#[test]
fn a_merge_of_something_else_is_kept_and_warned_about() {
    let (document, report) = read("m:\n  <<: 5\n");
    assert_eq!(document.root, json!({ "m": { "<<": 5 } }));
    assert_eq!(codes(&report), ["merge-key"]);
}

#[test]
fn of_duplicate_keys_the_last_wins_and_both_places_are_named() {
    let (document, report) = read("paths:\n  /a: 1\n  /b: 2\n  /a: 3\n");
    assert_eq!(document.root, json!({ "paths": { "/a": 3, "/b": 2 } }));
    let problem = &report.diagnostics[0];
    assert_eq!(problem.code, "duplicate-key");
    assert!(problem.message.contains("line 2, column 3"), "{}", problem.message);
    let place = problem.place.as_ref().unwrap();
    assert_eq!((place.position().line, place.position().column), (4, 3));
    assert_eq!(place.pointer, "/paths/~1a");
}

#[test]
fn a_placeholder_without_quotes_is_explained() {
    let (document, report) = read("body: {{ id }}\n");
    assert_eq!(codes(&report), ["yaml-key"]);
    assert!(report.diagnostics[0].fix.as_ref().unwrap().contains("quote"));
    assert_eq!(document.root, json!({ "body": {} }));
}

#[test]
fn block_and_folded_texts() {
    let tree = clean("a: |\n  one\n  two\nb: >-\n  one\n  two\nc: |+\n  x\n\nd: \"x\\\n  y\"\n");
    assert_eq!(tree, json!({ "a": "one\ntwo\n", "b": "one two", "c": "x\n\n", "d": "xy" }));
}

#[test]
fn crlf_ends_lines_like_lf() {
    let (document, report) = read("a:\r\n  b: |\r\n    x\r\n    y\r\n  c: 1\r\n");
    assert!(report.is_empty());
    assert_eq!(document.root, json!({ "a": { "b": "x\ny\n", "c": 1 } }));
    let place = document.key_place("/a/c");
    assert_eq!((place.position().line, place.position().column), (5, 3));
}

#[test]
fn markers_comments_and_directives_around_one_document() {
    for text in [
        "---\na: 1\n",
        "# x\n---\na: 1\n...\n",
        "%YAML 1.2\n---\na: 1\n",
        "a: 1\n---\n",
        "--- {a: 1}",
        "---\n---\na: 1\n",
    ] {
        assert_eq!(clean(text), json!({ "a": 1 }), "for {text:?}");
    }
}

#[test]
fn of_several_documents_the_first_is_used_with_a_warning() {
    for text in ["a: 1\n---\nb: 2\n", "a: 1\n---\nb: 2\n---\nc: [\n", "a: 1\n---\nc: [\n"] {
        let (document, report) = read(text);
        assert_eq!(document.root, json!({ "a": 1 }));
        assert_eq!(codes(&report), ["multiple-documents"]);
        assert_eq!(report.diagnostics[0].place.as_ref().unwrap().position().line, 2);
    }
}

#[test]
fn syntax_errors_name_their_line_and_a_way_out() {
    // text, line, column, part of the fix
    let table = [
        ("a: b: c\n", 1, 5, "quote"),
        ("a: 1\n b: 2\n", 2, 3, ""),
        ("a:\n\t- b\n", 2, 1, "tab"),
        ("a: *nothing\n", 1, 4, "`*`"),
        ("openapi: 3.0.0\npaths: [\n", 2, 8, "close"),
        ("a: \"x\n", 0, 0, ""),
        ("a: 1\n- b\n", 2, 3, ""),
        ("a: @b\n", 1, 4, ""),
    ];
    for (text, line, column, fix) in table {
        let report = refused(text);
        let problem = &report.diagnostics[0];
        assert_eq!(problem.code, "yaml-syntax", "for {text:?}");
        let at = problem.place.as_ref().unwrap().position();
        if line > 0 {
            assert_eq!((at.line, at.column), (line, column), "for {text:?}: {}", problem.message);
        }
        let said = problem.fix.clone().unwrap_or_default();
        assert!(said.contains(fix), "for {text:?}: {said:?}");
    }
}

#[test]
fn nothing_and_pages_are_refused_by_name() {
    assert_eq!(codes(&refused("")), ["empty-document"]);
    assert_eq!(codes(&refused(" \n\t\n")), ["empty-document"]);
    assert_eq!(codes(&refused("# only a comment\n")), ["empty-document"]);
    // YAML 1.2 §5.5: white space is the blank and the tab.
    assert_eq!(read("\u{2000}\n").0.root, "\u{2000}");
    assert_eq!(codes(&refused("<!DOCTYPE html><html></html>")), ["not-json-or-yaml"]);
    assert_eq!(codes(&refused("\n<html>")), ["not-json-or-yaml"]);
    assert_eq!(codes(&refused("<?xml version='1.0'?><a/>")), ["not-json-or-yaml"]);
}

#[test]
fn many_problems_of_one_kind_are_counted_not_listed() {
    let text: String = (0..100).map(|n| format!("k{n}: 00{n}\n")).collect();
    let (_, report) = read(&text);
    assert_eq!(report.diagnostics.len(), 21);
    assert!(report.diagnostics[20].message.starts_with("80 more"));
}

#[test]
fn order_is_the_authors() {
    let tree = clean("z: 1\na: 2\nm: { y: 1, b: 2 }\n");
    let keys = |v: &Value| v.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&tree), ["z", "a", "m"]);
    assert_eq!(keys(&tree["m"]), ["y", "b"]);
}

#[test]
fn brackets_and_quotes_indented_too_little_are_read_with_a_note() {
    let table = [
        ("a:\n  b: {\n    \"x\": 1\n }\n  c: 2\n", json!({ "a": { "b": { "x": 1 }, "c": 2 } })),
        ("a:\n  b: [\n    1, # one }\n  2 # two ]\n ]\n  c: 2\n", json!({ "a": { "b": [1, 2], "c": 2 } })),
        (
            "a:\n  - b: {\n'x': 'it''s',\n\"y\": \"}\\\"\"}\n  - c\n",
            json!({ "a": [{ "b": { "x": "it's", "y": "}\"" } }, "c"] }),
        ),
        ("a:\n  example:\n  {\n    x: don't\n }\nb: 1\n", json!({ "a": { "example": { "x": "don't" } }, "b": 1 })),
        ("a:\n  b: \"one\n two\n\n three\"\n  c: 1\n", json!({ "a": { "b": "one two\nthree", "c": 1 } })),
        ("a:\n  b: 'one\ntwo'\n  c: {\n }\n", json!({ "a": { "b": "one two", "c": {} } })),
        ("a:\n  b: \"one \\\n  two\"\n  c: {\n }\n", json!({ "a": { "b": "one two", "c": {} } })),
        ("a:\n  t: |\n    x: {\n    }\n  c: {\n }\n", json!({ "a": { "t": "x: {\n}\n", "c": {} } })),
        ("a:\n  t: some\n    text: {\n  c: {\n }\n", json!(null)),
        ("- t: |\n    x: {\n  u: {\n }\n", json!([{ "t": "x: {\n", "u": {} }])),
    ];
    for (text, expected) in table {
        if expected.is_null() {
            refused(text);
            continue;
        }
        let (document, report) = read(text);
        assert_eq!(document.root, expected, "for {text:?}");
        assert_eq!(codes(&report), ["yaml-indentation"], "for {text:?}");
    }
}

#[test]
fn places_behind_a_repaired_line_are_those_of_the_text() {
    let (document, _) = read("a:\n  b: { # größe\n  x: 'ä'\n }\nc: [é, 7]\n");
    assert_eq!(document.root, json!({ "a": { "b": { "x": "ä" } }, "c": ["é", 7] }));
    assert_eq!(document.source_text("/c/1"), Some("7"));
    let at = document.place("/c/1").position();
    assert_eq!((at.line, at.column), (5, 8));
    assert_eq!(document.place("/a/b/x").position().line, 3);
}
