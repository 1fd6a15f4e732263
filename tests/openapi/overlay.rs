//! Overlay documents and their JSONPath.

use rest_mcp::diagnostic::Source;
use rest_mcp::document::Document;
use rest_mcp::openapi::overlay::apply;
use rest_mcp::openapi::overlay::path::Path;
use serde_json::{Value, json};
use std::sync::Arc;

fn select(path: &str, value: &Value) -> Vec<String> {
    let path = Path::parse(path).unwrap_or_else(|why| panic!("{path}: {why}"));
    path.select(value).into_iter().map(|(pointer, _)| pointer).collect()
}

#[test]
fn paths_of_rfc_9535() {
    // The bookstore of RFC 9535 §1.5, shortened, and the queries of its Table 2.
    let store = json!({ "store": {
        "book": [
            { "category": "reference", "author": "Rees", "price": 8.95 },
            { "category": "fiction", "author": "Waugh", "price": 12.99 },
            { "category": "fiction", "author": "Melville", "isbn": "0-553", "price": 8.99 },
            { "category": "fiction", "author": "Tolkien", "isbn": "0-395", "price": 22.99 },
        ],
        "bicycle": { "color": "red", "price": 399 },
    } });
    let book = |list: &[usize]| list.iter().map(|it| format!("/store/book/{it}")).collect::<Vec<_>>();
    let cases = [
        ("$", vec![String::new()]),
        ("$.store.book[*].author", (0..4).map(|it| format!("/store/book/{it}/author")).collect()),
        ("$..author", (0..4).map(|it| format!("/store/book/{it}/author")).collect()),
        ("$.store.*", vec!["/store/book".to_owned(), "/store/bicycle".to_owned()]),
        ("$..book[2]", book(&[2])),
        ("$..book[-1]", book(&[3])),
        ("$..book[0,1]", book(&[0, 1])),
        ("$..book[:2]", book(&[0, 1])),
        ("$..book[::-2]", book(&[3, 1])),
        ("$..book[1:3]", book(&[1, 2])),
        ("$..book[?@.isbn]", book(&[2, 3])),
        ("$..book[?(!@.isbn)]", book(&[0, 1])),
        ("$..book[?@.price<10]", book(&[0, 2])),
        ("$..book[?@.price < 10 && @.isbn]", book(&[2])),
        ("$..book[?@.author == 'Rees' || @.price >= 22.99]", book(&[0, 3])),
        ("$..book[?(@['category'] != \"fiction\")]", book(&[0])),
        ("$..book[?@.price > $.store.book[1].price]", book(&[3])),
        ("$..book[?length(@.author) == 4]", book(&[0])),
        ("$.store[?count(@.*) > 2]", vec!["/store/book".to_owned()]),
        ("$..book[?match(@.author, 'M.*')]", book(&[2])),
        ("$..book[?search(@.author, 'ee')]", book(&[0])),
        ("$['store']['bicycle']['color']", vec!["/store/bicycle/color".to_owned()]),
        ("$.store.book[?@.missing == @.gone]", book(&[0, 1, 2, 3])),
        ("$.nothing.here", vec![]),
    ];
    for (path, expected) in cases {
        assert_eq!(select(path, &store), expected, "{path}");
    }
}

#[test]
fn names_that_need_quoting_and_escapes() {
    let value = json!({ "paths": { "/a/{b}": { "x-y": 1 }, "it's": 2, "\u{1f600}": 3 } });
    assert_eq!(select("$.paths['/a/{b}'].x-y", &value), ["/paths/~1a~1{b}/x-y"]);
    assert_eq!(select(r"$.paths['it\'s']", &value), ["/paths/it's"]);
    assert_eq!(select("$.paths[\"it's\"]", &value), ["/paths/it's"]);
    assert_eq!(select(r"$.paths['\ud83d\ude00']", &value), ["/paths/\u{1f600}"]);
}

#[test]
fn broken_paths_are_refused() {
    let deep = format!("$[?{}@.a{}]", "(".repeat(500), ")".repeat(500));
    for path in
        ["", "a", "$.", "$[", "$['a", "$[?]", "$[?@.a ==]", "$.a b", "$[1", "$[?@.* == 1]", "$..", "$[?'a']", &deep]
    {
        assert!(Path::parse(path).is_err(), "{path}");
    }
}

fn overlay(actions: &str) -> Document {
    let text = format!("overlay: 1.1.0\ninfo: {{ title: t, version: 1 }}\nactions:\n{actions}");
    let source = Arc::new(Source { name: "o.yaml".to_owned(), text });
    rest_mcp::document::parse(source, "/o.yaml".to_owned(), &Default::default()).0.unwrap()
}

fn run(mut root: Value, actions: &str) -> (Value, Vec<&'static str>) {
    let report = apply(&mut root, &overlay(actions));
    assert!(report.diagnostics.iter().all(|it| it.place.is_some()));
    (root, report.diagnostics.iter().map(|it| it.code).collect())
}

#[test]
fn actions_merge_append_replace_copy_and_remove() {
    let cases = [
        (
            "objects merge",
            json!({"a": {"b": 1, "c": {"d": 1}}}),
            "- { target: $.a, update: { b: 2, c: { e: 3 } } }",
            json!({"a": {"b": 2, "c": {"d": 1, "e": 3}}}),
        ),
        (
            "members that are lists are joined",
            json!({"tags": ["x"]}),
            "- { target: $, update: { tags: [y] } }",
            json!({"tags": ["x", "y"]}),
        ),
        (
            "a list takes one more",
            json!({"a": [1]}),
            "- { target: $.a, update: { b: 2 } }",
            json!({"a": [1, {"b": 2}]}),
        ),
        ("a list is joined", json!({"a": [1]}), "- { target: $.a, update: [2, 3] }", json!({"a": [1, 2, 3]})),
        ("a single value is replaced", json!({"a": "x"}), "- { target: $.a, update: y }", json!({"a": "y"})),
        (
            "remove from objects",
            json!({"a": {"x": 1, "y": 2}}),
            "- { target: $.a.x, remove: true }",
            json!({"a": {"y": 2}}),
        ),
        (
            "remove several from a list",
            json!({"a": [1, 2, 3, 4]}),
            "- { target: '$.a[?@ > 1 && @ < 4]', remove: true }",
            json!({"a": [1, 4]}),
        ),
        (
            "remove nested",
            json!({"a": {"a": {"b": 1}}, "b": {"a": 1}}),
            "- { target: $..a, remove: true }",
            json!({"b": {}}),
        ),
        (
            "copy",
            json!({"a": {"x": 1}, "b": {}}),
            "- { target: $.b, copy: $.a }",
            json!({"a": {"x": 1}, "b": {"x": 1}}),
        ),
        (
            "in order",
            json!({"a": {"x": 1}}),
            "- { target: $.a.x, remove: true }\n- { target: $.a, update: { x: { new: true } } }",
            json!({"a": {"x": {"new": true}}}),
        ),
        ("remove wins", json!({"a": 1}), "- { target: $.a, update: 2, remove: true }", json!({})),
    ];
    for (what, root, actions, expected) in cases {
        assert_eq!(run(root, actions), (expected, vec![]), "{what}");
    }
}

#[test]
fn what_can_not_be_applied_is_told_and_left_undone() {
    let root = json!({"a": {"b": {"c": 1}}, "l": [1]});
    for (what, actions, code) in [
        ("nothing selected", "- { target: $.x, update: {} }", "nothing-selected"),
        ("no path", "- { target: 'x', update: {} }", "invalid-path"),
        ("no target", "- { update: {} }", "invalid-action"),
        ("no effect", "- { target: $.a }", "invalid-action"),
        ("incompatible", "- { target: $.a, update: { b: text } }", "incompatible-update"),
        ("list and object", "- { target: $, update: { l: { a: 1 } } }", "incompatible-update"),
        ("copy of several", "- { target: $.a, copy: '$.*' }", "invalid-action"),
        ("reusable that is not there", "- { $ref: '#/components/actions/x', target: $.a }", "invalid-action"),
        ("reusable of another document", "- { $ref: 'o.yaml#/components/actions/x', target: $.a }", "invalid-action"),
    ] {
        assert_eq!(run(root.clone(), actions), (root.clone(), vec![code]), "{what}");
    }
    let source = Arc::new(Source { name: "o".to_owned(), text: "{}".to_owned() });
    let report = apply(&mut json!({}), &Document::new("/o", source, json!({})));
    assert_eq!(report.diagnostics[0].code, "not-overlay");
}

#[test]
fn a_document_that_copies_itself_again_and_again_stays_bounded() {
    let actions =
        "- { target: $.a, copy: $ }\n- { target: $.b, update: [1] }\n- { target: $.b, copy: $.b }\n".repeat(300);
    let (root, codes) = run(json!({"a": {}, "b": []}), &actions);
    assert!(codes.contains(&"overlay-too-large"), "{codes:?}");
    assert!(root.is_object());
}

/// Overlay 1.2, "Reusable Action Reference Example" and the key of "Reusable Action Reference Object" that needs
/// escapes (RFC 6901 §3).
#[test]
fn reusable_actions_are_applied_where_they_are_referred_to() {
    let actions = r#"
  - { $ref: '#/components/actions/errorResponse', target: "$.paths['/items'].get.responses" }
  - { $ref: '#/components/actions/errorResponse', target: "$.paths['/some-items'].delete.responses" }
  - { $ref: '#/components/actions/gone~1v1~0beta', target: $.gone }
  - { $ref: '#/components/actions/copied', target: $.copies, copy: "$.paths['/items'].get.x" }
components:
  actions:
    errorResponse: { description: Adds an error response, fields: { update: { 404: { description: Not Found } } } }
    gone/v1~beta: { fields: { remove: true } }
    copied: { fields: { copy: $.nothing } }
    unused: { fields: { target: $, remove: true } }
"#;
    let root = json!({"gone": 1, "copies": [], "paths": {
        "/items": {"get": {"x": 5, "responses": {"200": {"description": "OK"}}}},
        "/some-items": {"delete": {"responses": {"200": {"description": "OK"}}}},
    }});
    let both = json!({"200": {"description": "OK"}, "404": {"description": "Not Found"}});
    let expected = json!({"copies": [5], "paths": {
        "/items": {"get": {"x": 5, "responses": both}}, "/some-items": {"delete": {"responses": both}},
    }});
    assert_eq!(run(root.clone(), actions), (expected, vec![]));
    let with_target = "- { $ref: '#/components/actions/a', target: $.gone }\ncomponents: { actions: { a: { fields: { target: $, remove: true } } } }";
    assert_eq!(run(root.clone(), with_target), (root, vec!["invalid-action"]));
}
