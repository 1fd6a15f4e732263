//! `init`: a first mapping for a document, or what changed in the document since.

use super::{print, show};
use crate::app::{self, Inputs, Kind, Loaded, load_all};
use crate::catalog::name::{NameCandidate, shorter};
use crate::catalog::{Catalog, hints};
use crate::config::ProcessEnvironment;
use crate::diagnostic::Source;
use crate::document::Document;
use crate::mapping::{self, OperationFacts};
use crate::openapi::{Api, Operation};
use clap::Args;
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The JSON Schema that a mapping's first line names, beside it.
const SCHEMA_FILE: &str = "mapping.schema.json";

#[derive(Debug, Args)]
pub(super) struct Init {
    /// OpenAPI document (path or URL).
    #[arg(value_name = "SPEC", required_unless_present = "update", conflicts_with = "update")]
    spec: Option<String>,
    /// Where to write the mapping; default: print it.
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Bring this mapping up to date: its text stays, what is new is appended as comments, what vanished is reported.
    #[arg(long, value_name = "MAPPING")]
    update: Option<String>,
}

impl Init {
    pub(super) async fn run(self) -> u8 {
        match (&self.update, &self.spec) {
            (Some(mapping), _) => self.update(mapping).await,
            (None, Some(spec)) => self.first(spec).await,
            (None, None) => 2,
        }
    }

    async fn first(&self, spec: &str) -> u8 {
        if let Some(output) = self.output.as_deref().filter(|output| Path::new(output).exists()) {
            eprintln!("error: `{output}` exists; `rest-mcp init --update {output}` brings it up to date");
            return 2;
        }
        let (inputs, mut report) = Inputs::read(&[spec.to_string()], None).await;
        let Loaded { catalog, report: problems, apis, .. } = load_all(&inputs, &ProcessEnvironment::new(".")).await;
        report.merge(problems);
        let Some((_, api)) = apis.first() else {
            show(&report, false);
            eprintln!("error: `{spec}` holds no usable OpenAPI document");
            return 2;
        };
        let source = app::source_name(spec);
        let folder = self.output.as_deref().and_then(|output| Path::new(output).parent()).unwrap_or(Path::new(""));
        let facts = facts(api, &catalog, "");
        let text = mapping::init(&source, &seen_from(folder, spec), SCHEMA_FILE, &facts);
        let Some(output) = &self.output else {
            print(&text);
            return 0;
        };
        if let Err(error) = written(output, &text) {
            eprintln!("error: can't write `{output}`: {error}");
            return 2;
        }
        eprintln!("wrote {output}: {} operations of `{}`", facts.len(), api.title);
        let schema = folder.join(SCHEMA_FILE);
        if !schema.exists() {
            let text = format!("{}\n", serde_json::to_string_pretty(&mapping::json_schema()).unwrap_or_default());
            match std::fs::write(&schema, text) {
                Ok(()) => eprintln!("wrote {}: completion and checks in editors", schema.display()),
                Err(error) => eprintln!("note: can't write `{}`: {error}", schema.display()),
            }
        }
        let left = api.skipped.len();
        if left > 0 {
            eprintln!("{left} operations can't be tools; `rest-mcp inspect {output}` says why");
        }
        0
    }

    async fn update(&self, file: &str) -> u8 {
        let (inputs, read) = Inputs::read(&[file.to_string()], None).await;
        let Some(input) = inputs.list.iter().find(|input| input.kind == Kind::Mapping) else {
            show(&read, false);
            eprintln!("error: `{file}` is no mapping");
            return 2;
        };
        let (mapping, report) = mapping::read(&input.document);
        show(&report, false);
        let Some(mapping) = mapping else { return 2 };
        let loaded = load_all(&inputs, &ProcessEnvironment::new(".")).await;
        if loaded.apis.is_empty() {
            show(&loaded.report, false);
            eprintln!("error: no source of `{file}` has a document that can be read");
            return 2;
        }
        let mut document = input.document.clone();
        let mut lines = Vec::new();
        for (source, api) in &loaded.apis {
            let (text, found) = mapping::init_update(&document, &mapping, source, &facts(api, &loaded.catalog, source));
            lines.extend(found);
            let source = Source::new(document.source.name.clone(), text);
            document = Arc::new(Document::new(document.location.clone(), source, document.root.clone()));
        }
        let text = &document.source.text;
        for line in &lines {
            eprintln!("{line}");
        }
        if lines.is_empty() {
            eprintln!("nothing changed in the document");
        }
        let target = self.output.as_deref().unwrap_or(file);
        if (target != file || *text != input.document.source.text)
            && let Err(error) = written(target, text)
        {
            eprintln!("error: can't write `{target}`: {error}");
            return 2;
        }
        u8::from(lines.iter().any(|line| !line.starts_with("new: ")))
    }
}

fn written(file: &str, text: &str) -> std::io::Result<()> {
    if let Some(folder) = Path::new(file).parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, text)
}

/// The operations of one source, as `init` needs them.
fn facts(api: &Api, catalog: &Catalog, source: &str) -> Vec<OperationFacts> {
    let mut taken: HashSet<String> = catalog.tools.keys().chain(catalog.hidden.keys()).cloned().collect();
    api.operations
        .iter()
        .map(|operation| {
            let tool_name = tool_name(operation, catalog, source);
            let candidate = NameCandidate {
                operation_id: operation.operation_id.clone(),
                method: operation.method.clone(),
                path: operation.path.clone(),
                ..NameCandidate::default()
            };
            let shorter = shorter(&candidate, &tool_name).filter(|name| taken.insert(name.clone()));
            OperationFacts {
                operation_id: operation.operation_id.clone(),
                method: operation.method.clone(),
                path: operation.path.clone(),
                summary: operation.summary.clone(),
                tags: operation.tags.clone(),
                tool_name,
                shorter,
                dangerous: dangerous(operation),
            }
        })
        .collect()
}

fn tool_name(operation: &Operation, catalog: &Catalog, source: &str) -> String {
    let found = catalog.tools.values().find(|tool| {
        tool.operation.as_ref().is_some_and(|of| {
            of.method == operation.method && of.path == operation.path && (source.is_empty() || of.source == source)
        })
    });
    found.map(|tool| tool.name.clone()).or_else(|| operation.operation_id.clone()).unwrap_or_default()
}

/// Deletes or overwrites, by its method or by what it is called.
fn dangerous(operation: &Operation) -> bool {
    const WORDS: [&str; 8] = ["delete", "remove", "destroy", "purge", "wipe", "reset", "drop", "terminate"];
    let name = operation.operation_id.as_deref().unwrap_or(&operation.path).to_ascii_lowercase();
    let safe = hints::annotations(&operation.method).read_only;
    hints::annotations(&operation.method).destructive || (!safe && WORDS.iter().any(|word| name.contains(word)))
}

/// The document's path as the mapping's folder sees it.
fn seen_from(folder: &Path, spec: &str) -> String {
    if crate::document::location::is_url(spec) || Path::new(spec).is_absolute() {
        return spec.to_string();
    }
    let plain = |path: &Path| -> Vec<PathBuf> {
        path.components()
            .filter(|part| *part != Component::CurDir)
            .map(|part| PathBuf::from(part.as_os_str()))
            .collect()
    };
    let (folder, spec_parts) = match folder.is_absolute() {
        true => match std::env::current_dir() {
            Ok(here) => (plain(folder), plain(&here.join(spec))),
            Err(_) => return spec.to_string(),
        },
        false => (plain(folder), plain(Path::new(spec))),
    };
    let common = folder.iter().zip(&spec_parts).take_while(|(a, b)| a == b && a.as_os_str() != "..").count();
    if folder.iter().skip(common).any(|part| part.as_os_str() == "..") {
        return std::path::absolute(spec).map_or_else(|_| spec.to_string(), |path| path.to_string_lossy().into_owned());
    }
    let mut out: Vec<String> = folder.iter().skip(common).map(|_| "..".to_string()).collect();
    out.extend(spec_parts.iter().skip(common).map(|part| part.to_string_lossy().into_owned()));
    out.join("/")
}
