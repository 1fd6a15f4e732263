//! What users of other tools report as broken: every row is pinned by tests that are named in `field-reports.tsv`.

use rest_mcp::app::{Inputs, load_all};
use rest_mcp::config::ProcessEnvironment;
use rest_mcp::mapping::Limits;
use serde_json::json;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

const TABLE: &str = include_str!("field-reports.tsv");

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Row, subject and the tests that pin it.
fn rows() -> Vec<(&'static str, &'static str, &'static str)> {
    let cells = |line: &'static str| {
        let mut cells = line.split('\t');
        let row = (cells.next().unwrap(), cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        assert!(!row.1.is_empty() && !row.2.is_empty() && cells.next().is_none(), "{line}");
        row
    };
    TABLE.lines().filter(|line| !line.starts_with('#')).map(cells).collect()
}

/// Names of the functions of a file that are tests.
fn tests_of(file: &Path) -> HashSet<String> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut found = HashSet::new();
    let mut marked = false;
    for line in text.lines().map(str::trim) {
        let code = line.strip_prefix("async ").unwrap_or(line);
        if let Some(rest) = code.strip_prefix("fn ").filter(|_| marked) {
            found.insert(rest.split(['(', '<']).next().unwrap().to_owned());
            marked = false;
        } else if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            marked = true;
        } else if !line.starts_with("#[") && !line.starts_with("///") {
            marked = false;
        }
    }
    found
}

fn is_there(named: &str) -> bool {
    if let Some(folder) = named.strip_prefix("refusals:") {
        return tests().join("refusals").join(folder).is_dir();
    }
    if let Some(story) = named.strip_prefix("story:") {
        let (folder, part) = story.split_once('#').unwrap_or((story, ""));
        let story = std::fs::read_to_string(tests().join("scenarios").join(folder).join("story.yaml"));
        let part = part.replace('@', " ");
        return story.is_ok_and(|text| {
            text.lines().any(|line| part.is_empty() || line.contains("name: ") && line.contains(&part))
        });
    }
    let (module, name) = named.split_once("::").unwrap_or_default();
    let file = tests().join(module).with_extension("rs");
    file.is_file() && tests_of(&file).contains(name)
}

#[test]
fn every_row_names_tests_that_exist() {
    let mut seen = BTreeSet::new();
    for (row, _, pinned) in rows() {
        assert!(seen.insert(row), "{row} twice");
        if pinned.starts_with("none: ") {
            continue;
        }
        let gone: Vec<&str> = pinned.split(' ').filter(|named| !is_there(named)).collect();
        assert!(gone.is_empty(), "{row}: {gone:?}");
    }
}

/// The collection itself lies beside the project, where it is at hand.
#[test]
fn no_row_is_left_out() {
    let Some(shared) = std::env::var_os("REST_MCP_SHARED") else { return };
    let Ok(text) = std::fs::read_to_string(Path::new(&shared).join("field-reports.md")) else { return };
    let is_row = |cell: &str| {
        let mut letters = cell.chars();
        matches!(letters.next(), Some('A' | 'B' | 'C')) && cell.len() > 1 && letters.all(|c| c.is_ascii_digit())
    };
    let reported: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix('|')?.split('|').next())
        .map(str::trim)
        .filter(|cell| is_row(cell))
        .collect();
    let pinned: BTreeSet<&str> = rows().into_iter().map(|(row, ..)| row).collect();
    assert_eq!(reported, pinned);
}

/// Row C28. The figure is that of the language's reference.
#[test]
fn a_call_has_thirty_seconds_unless_told_otherwise() {
    assert_eq!(Limits::default().timeout.0, Duration::from_secs(30));
}

/// Row C11.
#[tokio::test]
async fn texts_examples_and_choices_of_arguments_are_published() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("spec.yaml");
    let spec = json!({
        "openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "servers": [{"url": "http://h.invalid"}],
        "paths": {"/a": {"post": {
            "operationId": "a", "summary": "Does it.",
            "parameters": [
                {"name": "of", "in": "query", "description": "Of the parameter.", "example": "p", "schema": {"type": "string", "description": "Of the schema.", "enum": ["p", "q"]}},
                {"name": "to", "in": "query", "schema": {"type": "string", "description": "Of the schema.", "example": "s"}},
                {"name": "many", "in": "query", "examples": {"one": {"value": 1}, "two": {"value": 2}}, "schema": {"type": "integer"}},
            ],
            "requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {
                "kind": {"type": "string", "description": "Of the member.", "enum": ["x", "y"], "example": "x", "default": "y"}
            }}}}},
            "responses": {"200": {"description": "Good."}},
        }}},
    });
    std::fs::write(&file, spec.to_string()).unwrap();
    let (inputs, _) = Inputs::read(&[file.display().to_string()], None).await;
    let loaded = load_all(&inputs, &ProcessEnvironment::default()).await;
    let tool = &loaded.catalog.tools["a"];
    let published = tool.input.published.tree();
    let properties = &published["properties"];
    assert_eq!(tool.description, "Does it.");
    assert_eq!(
        properties["of"],
        json!({"type": "string", "description": "Of the parameter.", "enum": ["p", "q"], "examples": ["p"]})
    );
    assert_eq!(properties["to"], json!({"type": "string", "description": "Of the schema.", "examples": ["s"]}));
    assert_eq!(properties["many"], json!({"type": "integer", "examples": [1, 2]}));
    let kind = json!({"type": "string", "description": "Of the member.", "enum": ["x", "y"], "examples": ["x"], "default": "y"});
    assert_eq!(properties["kind"], kind);
}
