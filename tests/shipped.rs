//! What the repository ships works as it stands: documents, mappings, examples, and what the pages say.

use rest_mcp::app::{self, Input, Inputs, Kind, MockEnvironment, offline};
use rest_mcp::config::ProcessEnvironment;
use rest_mcp::diagnostic::{Report, Severity, Source};
use rest_mcp::document::{Limits, parse};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &str, wanted: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    fn walk(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path, out) } else { out.push(path) }
        }
    }
    let mut all = Vec::new();
    walk(&root().join(folder), &mut all);
    all.retain(|path| wanted(path));
    all.sort();
    assert!(!all.is_empty(), "{folder} holds nothing");
    all
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "yaml")
}

/// What is worse than a note.
fn problems(report: &Report) -> String {
    let worse = report.diagnostics.iter().filter(|one| one.severity > Severity::Note);
    worse.map(|one| one.render(false)).collect::<Vec<_>>().join("\n")
}

async fn loads(inputs: &Inputs) -> String {
    // Any credential will do: what is shipped must not depend on the environment.
    let process = ProcessEnvironment::default();
    problems(&app::load_all(inputs, &MockEnvironment(&process)).await.report)
}

#[tokio::test]
async fn every_document_and_mapping_loads_without_errors_and_warnings() {
    let mut count = 0;
    for folder in ["specs", "mappings", "examples"] {
        for path in files(folder, &is_yaml) {
            let text = std::fs::read_to_string(&path).unwrap();
            if path.file_name().is_some_and(|name| name == "rest-mcp.yaml") {
                let name = path.display().to_string();
                let (document, report) = parse(Arc::new(Source { name: name.clone(), text }), name, &Limits::default());
                assert_eq!(problems(&report), "", "{}", path.display());
                let (_, report) = rest_mcp::config::read(&document.unwrap());
                assert_eq!(problems(&report), "", "{}", path.display());
                continue;
            }
            let ours =
                ["openapi:", "swagger:", "version: 1"].iter().any(|key| text.lines().any(|line| line.starts_with(key)));
            if !ours {
                continue;
            }
            count += 1;
            let (inputs, report) = Inputs::read(&[path.display().to_string()], None).await;
            assert_eq!(problems(&report), "", "{}", path.display());
            assert_eq!(loads(&inputs).await, "", "{}", path.display());
        }
    }
    assert!(count >= 20, "{count}");
}

#[tokio::test]
async fn the_tests_of_every_mapping_pass() {
    let is_mapping = |path: &Path| path.file_name().is_some_and(|name| name == "mapping.yaml");
    for path in files("examples", &is_mapping) {
        let (inputs, _) = Inputs::read(&[path.display().to_string()], None).await;
        let verdicts = offline::run(&inputs, None).await;
        assert_eq!(problems(&verdicts.report), "", "{}", path.display());
        let has_tools = std::fs::read_to_string(&path).unwrap().contains("\ntools:");
        assert!(!has_tools || !verdicts.list.is_empty(), "{} has no tests", path.display());
        for verdict in &verdicts.list {
            let told = verdict.differences.join("\n");
            assert_eq!(told, "", "{}: {}: {}", path.display(), verdict.tool, verdict.name);
        }
    }
}

/// The fenced blocks of one language.
fn blocks(page: &Path, language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap();
    let mut out = Vec::new();
    for part in text.split(&format!("\n```{language}\n")).skip(1) {
        out.push(part.split("\n```").next().unwrap().to_owned() + "\n");
    }
    out
}

fn pages() -> Vec<PathBuf> {
    let mut all = files("examples", &|path| path.extension().is_some_and(|ending| ending == "md"));
    all.push(root().join("README.md"));
    all
}

#[tokio::test]
async fn every_mapping_on_a_page_loads() {
    let mut count = 0;
    for page in pages() {
        for block in blocks(&page, "yaml") {
            if !block.contains("version: 1\n") {
                // A part of the mapping beside the page must stand there word for word.
                let mapping = std::fs::read_to_string(page.with_file_name("mapping.yaml")).unwrap();
                assert!(mapping.contains(block.trim_end()), "{}: not in the mapping:\n{block}", page.display());
                continue;
            }
            count += 1;
            let name = page.with_file_name("page.yaml").display().to_string();
            let (document, report) =
                parse(Arc::new(Source { name: name.clone(), text: block }), name, &Limits::default());
            assert_eq!(problems(&report), "", "{}", page.display());
            let input = Input { kind: Kind::Mapping, document: Arc::new(document.unwrap()) };
            let inputs = Inputs { list: vec![input], ..Inputs::default() };
            assert_eq!(loads(&inputs).await, "", "{}", page.display());
        }
    }
    assert!(count >= 2, "{count}");
}

fn run(folder: &Path, line: &str) -> (Option<i32>, String) {
    let bin = Path::new(env!("CARGO_BIN_EXE_rest-mcp"));
    let path = format!("{}:{}", bin.parent().unwrap().display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh").arg("-c").arg(line).current_dir(folder).env("PATH", path).output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.code(), text)
}

#[test]
fn the_commands_of_the_pages_work() {
    let mut count = 0;
    for page in pages().into_iter().filter(|page| page.starts_with(root().join("examples"))) {
        for line in blocks(&page, "sh").iter().flat_map(|block| block.lines()) {
            // Serving does not end by itself; other programs may not be there.
            if !line.starts_with("rest-mcp ") || line.contains(" serve ") {
                continue;
            }
            count += 1;
            let (code, text) = run(page.parent().unwrap(), line);
            assert_eq!(code, Some(0), "{}: {line}\n{text}", page.display());
        }
    }
    assert!(count >= 20, "{count}");
}

#[test]
fn the_walk_of_the_first_mapping_shows_what_it_says() {
    let folder = root().join("examples/first-mapping");
    let (_, text) = run(&folder, "rest-mcp inspect openapi.yaml");
    assert!(text.contains("getBooksUsingGET") && text.contains("clientId"), "{text}");
    let (_, text) = run(&folder, r#"rest-mcp call find_books mapping.yaml --args '{"q": "emma"}' --dry-run"#);
    assert!(text.contains("/v1/books?q=emma&pageSize=10&clientId=rest-mcp"), "{text}");
    let (_, text) = run(&folder, "rest-mcp test mapping.yaml");
    assert!(text.contains("1 passed, 0 failed"), "{text}");
    // The mistake that the page invites to.
    let copy = tempfile::tempdir().unwrap();
    std::fs::copy(folder.join("openapi.yaml"), copy.path().join("openapi.yaml")).unwrap();
    let mapping = std::fs::read_to_string(folder.join("mapping.yaml")).unwrap().replace("rename:", "renmae:");
    std::fs::write(copy.path().join("mapping.yaml"), mapping).unwrap();
    let (code, text) = run(copy.path(), "rest-mcp check mapping.yaml");
    assert_ne!(code, Some(0), "{text}");
    assert!(text.contains("mapping.yaml:11:") && text.contains("`rename`"), "{text}");
}
