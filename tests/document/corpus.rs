//! Real documents, where the material beside the repository is there.

use rest_mcp::document::{Limits, decode, external_references, parse};
use rest_mcp::load::{LoadOptions, load_set};
use std::path::{Path, PathBuf};

fn corpus() -> Option<PathBuf> {
    let shared = std::env::var_os("REST_MCP_SHARED").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    shared.into_iter().chain([beside]).map(|shared| shared.join("corpus")).find(|corpus| corpus.is_dir())
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, out);
        } else {
            out.push(path);
        }
    }
}

#[test]
fn corpus_documents_parse() {
    let Some(corpus) = corpus() else {
        eprintln!("corpus_documents_parse: skipped, no corpus");
        return;
    };
    let mut paths = Vec::new();
    files(&corpus, &mut paths);
    let is_document = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().to_ascii_lowercase();
        let ends = [".json", ".yaml", ".yml"].iter().any(|end| name.ends_with(end));
        ends && path.parent() != Some(&corpus)
    };
    let (mut read, mut refused, mut references) = (0, Vec::new(), 0);
    for path in paths.into_iter().filter(is_document) {
        let shown = path.strip_prefix(&corpus).unwrap().display().to_string();
        let report = match decode(&shown, std::fs::read(&path).unwrap()) {
            Err(problem) => [problem].into_iter().collect(),
            Ok(source) => {
                let (document, report) = parse(source, path.display().to_string(), &Limits::default());
                if let Some(document) = &document {
                    read += 1;
                    for (_, at) in external_references(document) {
                        references += 1;
                        assert!(document.get(&at).is_some(), "{shown}: {at}");
                        assert!(document.source_text(&at).is_some(), "{shown}: {at} has no place");
                    }
                    assert!(!report.has_errors(), "{}", report.render(false));
                }
                report
            }
        };
        if report.has_errors() {
            refused.push((shown, report));
        }
    }
    println!("corpus_documents_parse: {read} read, {} refused, {references} external references", refused.len());
    for (shown, report) in &refused {
        println!("{}", report.render(false));
        if !shown.starts_with("malformed/") {
            eprintln!("BAD {shown}");
        }
        assert!(report.diagnostics.iter().all(|d| d.place.is_some()));
    }
}

#[tokio::test]
async fn corpus_sets_load() {
    let Some(corpus) = corpus() else {
        eprintln!("corpus_sets_load: skipped, no corpus");
        return;
    };
    let manifest = std::fs::read_to_string(corpus.join("MANIFEST.tsv")).unwrap();
    let (mut sets, mut documents, mut unread) = (0, 0, Vec::new());
    for row in manifest.lines().skip(1) {
        let file = row.split('\t').next().unwrap();
        let options = LoadOptions { allow_refs: vec!["..".to_owned()], ..LoadOptions::default() };
        let (set, report) = load_set(corpus.join(file).to_str().unwrap(), &options).await;
        let Some(set) = set else {
            assert!(file.starts_with("malformed/"), "{}", report.render(false));
            continue;
        };
        sets += 1;
        documents += set.documents.len();
        unread.extend(report.diagnostics.into_iter().filter(|d| d.code == "missing-document"));
    }
    println!("corpus_sets_load: {sets} sets, {documents} documents, {} references not read", unread.len());
    for problem in unread {
        println!("{}", problem.render(false));
    }
}
