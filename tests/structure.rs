//! The architecture page holds: imports go up the module list only, secrets are read in few places.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|end| end == "rs") {
            out.push(path);
        }
    }
}

fn all_sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    files.sort();
    let name = |path: &PathBuf| path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}

/// Modules in the order of `src/lib.rs`.
fn order() -> HashMap<String, usize> {
    let page = include_str!("../src/lib.rs");
    let names = page.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    names.enumerate().map(|(index, name)| (name.to_string(), index)).collect()
}

/// A type of an earlier stage may name a part of a later one where the later one is compiled at load:
/// the catalog holds compiled request, content and template parts.
const COMPILED_PARTS: &[(&str, &str)] =
    &[("catalog", "request"), ("catalog", "content"), ("catalog", "call"), ("schema", "mapping")];

#[test]
fn imports_only_go_up_the_module_list() {
    let order = order();
    let mut bad = Vec::new();
    for (file, text) in all_sources() {
        let module = file.split('/').next().unwrap().trim_end_matches(".rs");
        let Some(own) = order.get(module) else { continue };
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            for found in code.match_indices("crate::").map(|(at, found)| &code[at + found.len()..]) {
                let used: String = found.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                let allowed = COMPILED_PARTS.contains(&(module, used.as_str()));
                if order.get(&used).is_some_and(|other| other > own) && !allowed {
                    bad.push(format!("{file}:{}: `{module}` uses `{used}`, which is below it", number + 1));
                }
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn openapi_and_mapping_do_not_know_each_other() {
    for (file, text) in all_sources() {
        if file.starts_with("openapi") {
            assert!(!text.contains("crate::mapping"), "{file} looks into the mapping");
        }
        if file.starts_with("mapping") {
            assert!(!text.contains("crate::openapi"), "{file} looks into OpenAPI documents");
        }
    }
}

#[test]
fn the_core_touches_no_file_socket_clock_or_environment() {
    let order = order();
    let shell = order["config"];
    for (file, text) in all_sources() {
        let module = file.split('/').next().unwrap().trim_end_matches(".rs");
        if order.get(module).is_none_or(|own| *own >= shell) {
            continue;
        }
        for word in ["std::fs", "std::env", "std::net", "tokio::", "SystemTime::now", "reqwest", "getrandom"] {
            let found = text.lines().position(|line| !line.trim_start().starts_with("//") && line.contains(word));
            assert!(found.is_none(), "{file}:{}: the core uses `{word}`", found.unwrap_or_default() + 1);
        }
    }
}

#[test]
fn secrets_are_read_where_they_reach_the_wire_or_are_compared() {
    const ALLOWED: &[&str] = &[
        "secret.rs",
        "request/credential.rs",
        "request/values.rs",
        "upstream/",
        "transport/identity",
        "mapping/slot.rs",
        "config",
        "access",
    ];
    for (file, text) in all_sources() {
        let allowed = ALLOWED.iter().any(|start| file.starts_with(start));
        assert!(allowed || !text.contains(".expose()"), "{file} reads a secret");
    }
}

#[test]
fn files_stay_under_500_lines() {
    for (file, text) in all_sources() {
        assert!(text.lines().count() <= 500, "{file} has {} lines", text.lines().count());
    }
}

#[test]
fn main_is_short() {
    assert!(include_str!("../src/main.rs").lines().count() < 30);
}
