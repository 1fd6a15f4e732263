//! Every mistake a person can make in YAML, one folder each: the bad input and the exact text that people get.
//!
//! `mapping.yaml` is read as a mapping, `rest-mcp.yaml` as the server's settings. `WRITE_REFUSALS=1` writes the
//! texts that are there now; whoever does that reads every one of them.

use rest_mcp::diagnostic::{Report, Source};
use rest_mcp::document::{Document, Limits, parse};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refusals");
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    all.sort();
    all
}

fn document(name: &str, text: &str) -> (Option<Document>, Report) {
    let source = Arc::new(Source { name: name.to_owned(), text: text.to_owned() });
    parse(source, name.to_owned(), &Limits::default())
}

fn reported(folder: &Path) -> Report {
    for name in ["mapping.yaml", "rest-mcp.yaml"] {
        let Ok(text) = std::fs::read_to_string(folder.join(name)) else { continue };
        let (document, mut report) = document(name, &text);
        if let Some(document) = document {
            let (usable, found) = if name == "mapping.yaml" {
                let (mapping, found) = rest_mcp::mapping::read(&document);
                (mapping.is_some(), found)
            } else {
                let (config, found) = rest_mcp::config::read(&document);
                (config.is_some(), found)
            };
            assert_eq!(usable, !found.has_errors(), "{}: settings with errors must not be used", folder.display());
            report.merge(found);
        }
        return report;
    }
    panic!("{}: no input", folder.display());
}

#[test]
fn each_mistake_gets_exactly_its_text() {
    let mut wrong = Vec::new();
    let folders = folders();
    assert!(folders.len() >= 40);
    for folder in &folders {
        let got = reported(folder).render(false);
        assert!(!got.is_empty(), "{}: nothing was refused", folder.display());
        let file = folder.join("expected.txt");
        if std::env::var_os("WRITE_REFUSALS").is_some() {
            std::fs::write(&file, &got).unwrap();
        }
        let wanted = std::fs::read_to_string(&file).unwrap_or_default();
        if got != wanted {
            wrong.push(format!("==== {}\n---- wanted\n{wanted}---- got\n{got}", folder.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_problem_has_a_place_and_a_code_in_kebab_case() {
    for folder in folders() {
        for one in reported(&folder).diagnostics {
            assert!(one.place.is_some(), "{}: {} has no place", folder.display(), one.code);
            assert!(one.code.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", one.code);
            assert!(!one.message.ends_with('.'), "{}: {}", folder.display(), one.message);
        }
    }
}
