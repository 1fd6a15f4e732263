//! Any bytes as a document: a tree within its limits or a reason, every node of it has a place, JSON is read as
//! serde_json reads it, and what a YAML emitter makes of the tree is read as the same tree.
#![no_main]

use common::api::LIMITS;
use libfuzzer_sys::fuzz_target;
use rest_mcp::document::{Document, Format, decode, parse, pointer};
use serde_json::Value;
use std::sync::Arc;

/// Visits up to `left` nodes.
fn each_node(value: &Value, at: String, left: &mut usize, visit: &mut dyn FnMut(&Value, &str)) {
    if *left == 0 {
        return;
    }
    *left -= 1;
    visit(value, &at);
    match value {
        Value::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                each_node(item, pointer::join(&at, &n.to_string()), left, visit);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                each_node(member, pointer::join(&at, key), left, visit);
            }
        }
        _ => {}
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn count(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(count).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(count).sum::<usize>(),
        _ => 1,
    }
}

fn places(document: &Document) {
    let lines = document.source.text.split(['\n', '\r']).count();
    each_node(&document.root, String::new(), &mut 200, &mut |value, at| {
        assert_eq!(document.get(at), Some(value), "{at:?}");
        let place = format!("{:?} {:?}", document.place(at), document.key_place(at));
        assert!(place.len() < 10 * document.source.text.len() + 10_000, "{lines} lines: {place}");
        let written = document.source_text(at);
        if let (Value::String(text), Some(written)) = (value, written)
            && text.chars().all(|c| c.is_ascii_alphabetic())
            && !written.contains(['\\', '\n', '\r', '&', '!', '*'])
        {
            assert!(written.contains(text.as_str()), "{at:?} is {text:?}, written {written:?}");
        }
    });
}

/// The emitter writes YAML 1.1, where these end lines: it indents what follows them. In YAML 1.2 (§5.4) they do not.
fn broken_by_the_emitter(value: &Value) -> bool {
    value.to_string().contains(['\u{85}', '\u{2028}', '\u{2029}'])
}

fuzz_target!(|input: &[u8]| {
    let Ok(source) = decode("api", input.to_vec()) else { return };
    let strict = serde_json::from_str::<Value>(&source.text).ok().filter(|value| value.is_object() || value.is_array());
    let (document, report) = parse(Arc::clone(&source), "/api/root".to_owned(), &LIMITS);
    let Some(document) = document else {
        assert!(report.has_errors(), "no document and no reason");
        let small = |value: &Value| depth(value) < LIMITS.max_depth - 1 && count(value) < LIMITS.max_nodes / 2;
        assert!(!strict.as_ref().is_some_and(small), "refused: {report:?}");
        return;
    };
    let (levels, nodes) = (depth(&document.root), count(&document.root));
    assert!(levels <= LIMITS.max_depth && nodes <= LIMITS.max_nodes, "{levels} levels, {nodes} nodes");
    if let Some(strict) = strict {
        assert_eq!(document.format(), Format::Json);
        assert_eq!(document.root, strict);
    }
    places(&document);
    if nodes < 500
        && !broken_by_the_emitter(&document.root)
        && let Ok(text) = serde_yaml::to_string(&document.root)
    {
        let (again, report) =
            parse(rest_mcp::diagnostic::Source::new("again", text.clone()), "/again".to_owned(), &LIMITS);
        let again = again.unwrap_or_else(|| panic!("{report:?} in {text}"));
        assert_eq!(again.root, document.root, "{text}");
    }
});
