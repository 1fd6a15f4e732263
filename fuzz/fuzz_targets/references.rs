//! Several files in memory, each begun by a line `=== NAME`: whatever they refer to, a reference leads to a node that
//! is there or says why not, and the tools that come out can be published.
#![no_main]

use common::api;
use libfuzzer_sys::fuzz_target;
use rest_mcp::document::{DocumentSet, external_references, pointer};
use rest_mcp::mapping::SchemaProfile;
use serde_json::Value;

fn files(input: &str) -> Vec<(String, String)> {
    let mut files = vec![("root.yaml".to_owned(), String::new())];
    for line in input.split_inclusive('\n') {
        match line.strip_prefix("=== ") {
            Some(name) if files.len() < 6 => files.push((name.trim().to_owned(), String::new())),
            _ => files.last_mut().expect("one").1.push_str(line),
        }
    }
    files
}

fn references<'v>(value: &'v Value, at: String, found: &mut Vec<(String, &'v Value)>) {
    match value {
        _ if found.len() > 100 => {}
        Value::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                references(item, pointer::join(&at, &n.to_string()), found);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                if key == "$ref" {
                    found.push((at.clone(), member));
                }
                references(member, pointer::join(&at, key), found);
            }
        }
        _ => {}
    }
}

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let documents: Vec<_> = files(text).iter().filter_map(|(name, text)| api::document(name, text)).collect();
    let set = DocumentSet::new(documents);
    for (index, document) in set.documents.iter().enumerate() {
        for (_, at) in external_references(document) {
            assert!(document.get(&at).is_some(), "{at:?}");
        }
        let mut found = Vec::new();
        references(&document.root, String::new(), &mut found);
        for (at, reference) in found {
            let led = match reference {
                Value::String(reference) => set.resolve_at(index, &at, reference),
                other => set.resolve_value(index, other),
            };
            match led {
                Ok(target) => {
                    let node = set.documents[target.document].get(&target.pointer);
                    assert_eq!(node, Some(target.value), "{reference}");
                }
                Err(reason) => assert!(!reason.to_string().is_empty()),
            }
        }
    }
    let Some(api) = api::api(&set) else { return };
    // One of them an input: three times as many inputs, and each comes by another length.
    let profile = [SchemaProfile::Default, SchemaProfile::Full, SchemaProfile::StrictVendors][input.len() % 3];
    api::publishable(&api::catalog(&api, profile), profile);
});
