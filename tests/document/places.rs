//! A node's place is where its author wrote it.

use super::read;
use rest_mcp::document::Document;

fn text_at<'d>(document: &'d Document, pointer: &str) -> &'d str {
    let place = document.place(pointer);
    assert_eq!(place.pointer, pointer);
    &document.source.text[place.start..place.end]
}

fn key_at<'d>(document: &'d Document, pointer: &str) -> &'d str {
    let place = document.key_place(pointer);
    &document.source.text[place.start..place.end]
}

#[test]
fn json_nodes_and_keys() {
    let (document, _) =
        read("{\"é\": {\"a/b\": [10, \"x\\\"y\", {\"k\": null}], \"esc\\u0061ped\": true}, \"last\": -1.5e3 }");
    let table = [
        ("/é/a~1b/0", "10", "10"),
        ("/é/a~1b/1", "\"x\\\"y\"", "\"x\\\"y\""),
        ("/é/a~1b/2/k", "null", "\"k\""),
        ("/é/a~1b/2", "{\"k\": null}", "{\"k\": null}"),
        ("/é/escaped", "true", "\"esc\\u0061ped\""),
        ("/last", "-1.5e3", "\"last\""),
    ];
    for (pointer, value, key) in table {
        assert_eq!(text_at(&document, pointer), value, "{pointer}");
        assert_eq!(key_at(&document, pointer), key, "{pointer}");
        assert_eq!(document.source_text(pointer), Some(value));
    }
    assert_eq!(document.place("").start, 0);
}

#[test]
fn yaml_nodes_and_keys() {
    let text = "\
info:
  version: 1.10   # comment
  title: 'Größe: x'
  text: |
    one
    two

  list:
    - a: 1
      b: 2
    - [x, {y: z}]
other: end
";
    let (document, _) = read(text);
    let table = [
        ("/info/version", "1.10", "version"),
        ("/info/title", "'Größe: x'", "title"),
        ("/info/list/0/b", "2", "b"),
        ("/info/list/0", "a: 1\n      b: 2", "a: 1\n      b: 2"),
        ("/info/list/1/1/y", "z", "y"),
        ("/info/list/1/1", "{y: z}", "{y: z}"),
        ("/other", "end", "other"),
    ];
    for (pointer, value, key) in table {
        assert_eq!(text_at(&document, pointer), value, "{pointer}");
        assert_eq!(key_at(&document, pointer), key, "{pointer}");
    }
    assert_eq!(document.source_text("/info/version"), Some("1.10"));
    assert!(text_at(&document, "/info/text").ends_with("two"));
    let info = document.place("/info");
    assert_eq!((info.position().line, info.position().column), (2, 3));
}

#[test]
fn a_node_that_is_not_in_the_text_is_placed_at_its_nearest_ancestor() {
    let (document, _) = read("a:\n  b:\n    c: 1\n");
    assert_eq!(text_at(&document, "/a/b/x/y"), "b");
    assert_eq!(document.source_text("/a/b/x"), None);
    assert_eq!(key_at(&document, "/a/b/x"), "b");
}

#[test]
fn what_aliases_and_merges_bring_is_placed_where_it_is_written() {
    let text = "base: &base\n  x: one\n  y: two\nuse:\n  <<: *base\n  y: three\nmany:\n  <<: [*base]\nsame: *base\n";
    let (document, _) = read(text);
    let line = |pointer: &str| document.place(pointer).position().line;
    assert_eq!((line("/use/x"), text_at(&document, "/use/x")), (2, "one"));
    assert_eq!((line("/use/y"), text_at(&document, "/use/y")), (6, "three"));
    assert_eq!(line("/many/y"), 3);
    assert_eq!(line("/same/x"), 2);
    assert_eq!(text_at(&document, "/same"), "*base");
}

#[test]
fn of_duplicate_keys_the_one_that_counts_is_found() {
    let (document, _) = read("a: 1\na: 2\n");
    assert_eq!(document.place("/a").position().line, 2);
}

#[test]
fn an_entry_that_was_left_out_stands_nowhere() {
    // A list or map as a key, written out or by an alias: the tree has no such entry, and its place is nobody else's.
    let (document, _) =
        read("base: &base {x: 1}\n? ''\n: empty\n? {a: b}\n: wrong\n? [c]\n: {deep: wrong}\n*base : wrong\n");
    assert_eq!(document.root.pointer("/").and_then(|value| value.as_str()), Some("empty"));
    assert_eq!((text_at(&document, "/"), document.place("/").position().line), ("empty", 3));
    assert_eq!(text_at(&document, "/base/x"), "1");
}

#[test]
fn columns_count_characters_and_lines_any_line_end() {
    let (document, _) = read("{\"ä\": [\r\n \"😀\", 7]}");
    let at = document.place("/ä/1").position();
    assert_eq!((at.line, at.column), (2, 7));
}

#[test]
fn later_yaml_documents_do_not_move_places() {
    let (document, _) = read("---\n---\na: 1\n---\na: 2\n");
    assert_eq!(document.place("/a").position().line, 3);
}

#[test]
fn many_questions_read_the_text_once() {
    // Each question alone would read the 4 MB again: this pins the index, by finishing.
    let text: String = (0..60_000).map(|n| format!("name{n}:\n  description: some text that takes place\n")).collect();
    let (document, _) = read(&text);
    for n in (0..60_000).step_by(600) {
        assert_eq!(text_at(&document, &format!("/name{n}/description")), "some text that takes place");
    }
}
