//! Which files a command works on, and what each of them is.

use crate::diagnostic::{Diagnostic, Report};
use crate::document::Document;
use crate::load::{self, Freshness, LoadOptions};
use std::path::Path;
use std::sync::Arc;

/// What a file is, by its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// OpenAPI or Swagger.
    Document,
    /// A mapping.
    Mapping,
    /// Neither; overlays and workflows are named by mappings.
    Other,
}

/// One file.
#[derive(Debug, Clone)]
pub struct Input {
    /// What it is.
    pub kind: Kind,
    /// Its tree.
    pub document: Arc<Document>,
}

/// Everything a command works on.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// Files in order.
    pub list: Vec<Input>,
    /// `--base-url`.
    pub base_url: Option<String>,
    /// True where no mock will answer from the documents: examples of answers are left out.
    pub unmocked: bool,
    /// Every location that was tried.
    pub tried: Vec<String>,
    /// For each of them that was read, what tells whether it changed.
    pub freshness: Vec<Freshness>,
}

impl Inputs {
    /// Reads the named files, or the default folders where none is named.
    ///
    /// A file that can't be read or is of no known kind is an error in the report; the others load.
    pub async fn read(named: &[String], base_url: Option<String>) -> (Inputs, Report) {
        let defaults = named.is_empty();
        let files = if defaults { default_files() } else { expand(named) };
        Self::read_each(files.into_iter().map(|file| (file, !defaults)).collect(), base_url).await
    }

    /// As [`Inputs::read`] for each location; true = it was named by itself, so that it must be of a known kind.
    pub async fn read_each(files: Vec<(String, bool)>, base_url: Option<String>) -> (Inputs, Report) {
        let mut report = Report::default();
        let mut inputs = Inputs { base_url, ..Inputs::default() };
        if files.is_empty() {
            report.push(
                Diagnostic::error(
                    "no-input",
                    "there is nothing to load: no file is named, and `specs/` and `mappings/` hold none",
                )
                .fix("name an OpenAPI document or a mapping: `rest-mcp serve openapi.yaml`"),
            );
        }
        for (file, named) in files {
            let (loaded, problems) = load::load_document(&file, &LoadOptions::default()).await;
            inputs.tried.push(file);
            report.merge(problems);
            let Some(loaded) = loaded else { continue };
            inputs.freshness.push(loaded.freshness);
            let document = loaded.document;
            let kind = kind(&document);
            if kind == Kind::Other && named {
                report.push(
                    Diagnostic::error("unknown-file", "this is neither an OpenAPI document nor a mapping")
                        .at(document.place(""))
                        .fix("an OpenAPI document starts with `openapi: 3.…` or `swagger: \"2.0\"`, a mapping with `version: 1`"),
                );
            }
            inputs.list.push(Input { kind, document: Arc::new(document) });
        }
        (inputs, report)
    }
}

/// What a file is.
fn kind(document: &Document) -> Kind {
    let Some(root) = document.root.as_object() else { return Kind::Other };
    if root.contains_key("openapi") || root.contains_key("swagger") {
        return Kind::Document;
    }
    let other = root.contains_key("overlay")
        || root.contains_key("arazzo")
        || root.contains_key("$schema") && root.contains_key("$defs");
    let mapping = ["version", "sources", "rules", "tools", "catalog"].iter().any(|key| root.contains_key(*key));
    if mapping && !other { Kind::Mapping } else { Kind::Other }
}

/// `mappings/`, then `specs/`, each in name order.
fn default_files() -> Vec<String> {
    expand(&["mappings".to_string(), "specs".to_string()])
}

/// Folders stand for their YAML and JSON files.
fn expand(named: &[String]) -> Vec<String> {
    let mut files = Vec::new();
    for name in named {
        let path = Path::new(name);
        if !path.is_dir() {
            if !(path.as_os_str() == "mappings" || path.as_os_str() == "specs") || path.exists() {
                files.push(name.clone());
            }
            continue;
        }
        let Ok(entries) = std::fs::read_dir(path) else { continue };
        let mut found: Vec<String> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| path.is_file())
            .filter(|path| {
                path.extension().and_then(|end| end.to_str()).is_some_and(|end| matches!(end, "yaml" | "yml" | "json"))
            })
            .filter(|path| !path.to_string_lossy().ends_with(".schema.json"))
            .map(|path| path.to_string_lossy().into_owned())
            .collect();
        found.sort();
        files.extend(found);
    }
    files
}
