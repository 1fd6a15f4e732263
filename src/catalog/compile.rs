//! `Api`s + `Mapping` → [`Catalog`]. The only place that sees both.
//!
//! One walk makes, for every argument, its schema and its exact spot in the request
//! ([`super::Binding`]); the published schema, the check and the request all derive from that list.

mod argument;
pub use argument::location;
mod body;
mod edits;
mod extras;
mod given;
mod hand;
mod operation;
mod output;
mod own;
mod person;
mod server;
mod source;
mod steps;
mod types;
mod workflow;

use super::{Catalog, SkippedOperation, Tool};
use crate::diagnostic::{Diagnostic, Place, Report};
use crate::document::Document;
use crate::mapping::{CatalogMode, CatalogRules, Environment, Mapping};
use crate::openapi::Api;
use crate::schema::check::Checker;
use crate::schema::kept::Kept;
use indexmap::IndexMap;
use std::sync::Arc;

/// One mapping with the APIs its sources name.
pub struct Unit {
    /// The mapping (an empty one where a document is served alone).
    pub mapping: Mapping,
    /// Where the mapping was read from, for places.
    pub document: Option<Arc<Document>>,
    /// By source name; a source of hand-written tools only has none.
    pub apis: IndexMap<String, Arc<Api>>,
    /// Arazzo documents with the names of the sources that list them.
    pub workflows: Vec<(String, Arc<Document>)>,
}

/// Settings that come from the command line.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Replaces every base URL.
    pub base_url: Option<String>,
}

/// Compiles everything. Problems cost the tool they concern; the catalog holds the rest.
///
/// `${file:PATH}` is relative to the folder of the mapping that says it.
pub fn compile(units: &[Unit], options: &Options, environment: &dyn Environment) -> (Catalog, Report) {
    let mut compiler = Compiler {
        options,
        environment,
        catalog: Catalog::default(),
        report: Report::default(),
        hidden: IndexMap::new(),
        profile: profile(units),
        used_rule_args: Default::default(),
        folder: None,
    };
    for unit in units {
        compiler.folder = unit.document.as_ref().map(|document| document.location.clone());
        compiler.unit(unit);
    }
    compiler.finish(units)
}

fn profile(units: &[Unit]) -> CatalogRules {
    let mut merged = CatalogRules::default();
    for rules in units.iter().map(|unit| &unit.mapping.catalog) {
        if rules.mode != CatalogMode::default() {
            merged.mode = rules.mode;
        }
        merged.pinned.extend(rules.pinned.iter().cloned());
        if rules.name_style != Default::default() {
            merged.name_style = rules.name_style;
        }
        merged.max_name = rules.max_name.or(merged.max_name);
        if rules.schema_profile != Default::default() {
            merged.schema_profile = rules.schema_profile;
        }
        merged.page_size = rules.page_size.or(merged.page_size);
        merged.ttl = rules.ttl.or(merged.ttl);
    }
    merged
}

struct Compiler<'a> {
    options: &'a Options,
    environment: &'a dyn Environment,
    catalog: Catalog,
    report: Report,
    /// Tools that are callable by steps, resources and search, but not listed.
    hidden: IndexMap<String, Arc<Tool>>,
    profile: CatalogRules,
    /// Keys of `args` in rules that some operation of the unit has.
    used_rule_args: std::collections::HashSet<(usize, String)>,
    /// Where the mapping in hand was read from; its files are relative to that.
    folder: Option<String>,
}

/// Search mode's own tools.
fn search_tools(catalog: &Catalog) -> Vec<Arc<Tool>> {
    let make = |one: super::search::SearchTool| {
        let schema = Kept::new(&one.input);
        Arc::new(Tool {
            name: one.name.to_string(),
            title: Some(one.title.to_string()),
            description: one.description,
            annotations: one.annotations,
            icons: Vec::new(),
            tags: Vec::new(),
            operation: None,
            input: super::Input {
                published: schema.clone(),
                check: Checker::new(schema),
                body_check: None,
                mirrored: Vec::new(),
            },
            output: super::Output::default(),
            action: match one.name {
                super::search::SEARCH => super::Action::Search,
                super::search::DESCRIBE => super::Action::Describe,
                _ => super::Action::CallByName,
            },
            ask: Vec::new(),
            confirm: None,
            requires_client: Vec::new(),
            result: None,
            cache: None,
        })
    };
    super::search::definitions(catalog).into_iter().map(make).collect()
}

/// Where in a mapping something stands.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    document: Option<&'a Document>,
}

impl At<'_> {
    /// The value at a pointer of the mapping.
    fn value(&self, pointer: &str) -> Option<Place> {
        self.document.map(|document| document.place(pointer))
    }
    /// The key at a pointer of the mapping.
    fn key(&self, pointer: &str) -> Option<Place> {
        self.document.map(|document| document.key_place(pointer))
    }
}

/// A diagnostic with an optional place.
pub(crate) fn problem(code: &'static str, message: String, place: Option<Place>) -> Diagnostic {
    let diagnostic = Diagnostic::error(code, message);
    match place {
        Some(place) => diagnostic.at(place),
        None => diagnostic,
    }
}

/// Escapes one token of a JSON pointer (RFC 6901 §3).
pub(crate) fn token(text: &str) -> String {
    text.replace('~', "~0").replace('/', "~1")
}

/// The environment as one mapping file sees it: `${file:PATH}` is relative to the file's folder.
pub struct Beside<'a> {
    /// Where everything else is looked up.
    pub environment: &'a dyn Environment,
    /// Path or URL of the mapping.
    pub location: Option<&'a str>,
}

impl Environment for Beside<'_> {
    fn env(&self, name: &str) -> Option<crate::secret::Secret> {
        self.environment.env(name)
    }

    fn stand_in(&self, name: &str) -> Option<crate::secret::Secret> {
        self.environment.stand_in(name)
    }

    fn file(&self, path: &str) -> Result<crate::secret::Secret, String> {
        match self.location {
            // A mapping from the network must not read this machine's files by a relative name.
            Some(location) if location.contains("://") && !path.starts_with('/') => {
                Err("a mapping from a URL has no folder".to_string())
            }
            Some(location) => self.environment.file(&beside(location, path)),
            None => self.environment.file(path),
        }
    }
}

/// A path that a file names, seen from where the file is; an absolute one stays.
fn beside(location: &str, path: &str) -> String {
    if path.starts_with(['/', '\\']) || path.get(1..2) == Some(":") || location.contains("://") {
        return path.to_string();
    }
    match location.rsplit_once(['/', '\\']) {
        Some((folder, _)) => format!("{folder}/{path}"),
        None => path.to_string(),
    }
}

impl Compiler<'_> {
    /// A path of the mapping in hand.
    fn path(&self, path: &str) -> String {
        self.folder.as_deref().map_or_else(|| path.to_string(), |location| beside(location, path))
    }

    /// The environment of the mapping in hand.
    fn here(&self) -> Beside<'_> {
        Beside { environment: self.environment, location: self.folder.as_deref() }
    }

    fn unit(&mut self, unit: &Unit) {
        let at = At { document: unit.document.as_deref() };
        let first = self.catalog.sources.len();
        let mut sources: Vec<(String, usize)> = Vec::new();
        for (name, source) in &unit.mapping.sources {
            let api = unit.apis.get(name).map(Arc::as_ref);
            let plan = self.source(name, source, api, at);
            sources.push((name.clone(), self.catalog.sources.len()));
            self.catalog.sources.push(Arc::new(plan));
        }
        debug_assert_eq!(first + sources.len(), self.catalog.sources.len());
        self.operations(unit, &sources, at);
        self.common_bases(first);
        self.hand_written(unit, &sources, at);
        self.composites(unit, at);
        self.polled(unit, at);
        self.workflows(unit, &sources, at);
        self.resources(unit, at);
        self.prompts(unit, at);
    }

    /// Where the mapping gives a source no base URL, the one that its operations share is its configured origin: the
    /// one that may be a private address, and whose connections are kept.
    fn common_bases(&mut self, first: usize) {
        for (index, plan) in self.catalog.sources.iter_mut().enumerate().skip(first) {
            if !plan.base_url.is_empty() {
                continue;
            }
            let tools = self.catalog.tools.values().chain(self.hidden.values());
            let mut bases = tools.filter_map(|tool| match &tool.action {
                super::Action::Request(action) if action.source == index => Some(action.base_url.as_str()),
                _ => None,
            });
            let origin = |base: &str| url::Url::parse(base).map(|url| url.origin()).ok();
            let Some(common) = bases.next() else { continue };
            if bases.all(|base| base == common || origin(base) == origin(common))
                && let Some(plan) = Arc::get_mut(plan)
            {
                plan.base_url = common.to_string();
            }
        }
    }

    /// Adds a tool under its own name; a clash is reported and costs the later one. Its place is asked for only
    /// then: finding places means reading the document's text again.
    fn add(&mut self, tool: Tool, hidden: bool, place: impl FnOnce() -> Option<Place>) {
        let name = tool.name.clone();
        if self.catalog.tools.contains_key(&name) || self.hidden.contains_key(&name) {
            self.report.push(
                problem("name-collision", format!("a second tool would be called `{name}`"), place())
                    .fix("rename one of them, or set `tool_prefix` on one of the sources".to_string()),
            );
            return;
        }
        let tool = Arc::new(tool);
        if hidden {
            self.hidden.insert(name, tool);
        } else {
            self.catalog.tools.insert(name, tool);
        }
    }

    fn tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.catalog.tools.get(name).or_else(|| self.hidden.get(name))
    }

    /// A tool by its name, or the only one of the operation (`operationId` or `GET /path`), of one source where that is
    /// said. `Err` has the names of all where there are several: their edits differ, and none may be left out by
    /// guessing.
    fn tool_for(&self, name: &str, source: Option<&str>) -> Result<Option<Arc<Tool>>, Vec<String>> {
        let of_source = |tool: &Arc<Tool>| match (source, &tool.operation) {
            (Some(source), Some(operation)) => operation.source == source,
            _ => true,
        };
        if let Some(tool) = self.tool(name).filter(|tool| of_source(tool)) {
            return Ok(Some(tool.clone()));
        }
        let of_operation = |tool: &&Arc<Tool>| {
            tool.operation.as_ref().is_some_and(|operation| {
                operation.is_called(name) && source.is_none_or(|source| source == operation.source)
            })
        };
        let all: Vec<&Arc<Tool>> =
            self.catalog.tools.values().chain(self.hidden.values()).filter(of_operation).collect();
        match all.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(Arc::clone(only))),
            several => Err(several.iter().map(|tool| tool.name.clone()).collect()),
        }
    }

    /// What to say where an operation has several tools.
    fn ambiguous(&self, name: &str, several: &[String], place: Option<Place>) -> Diagnostic {
        problem("ambiguous-call", format!("`{name}` is the operation of several tools: {}", several.join(", ")), place)
            .fix("name one of them; a tool of its own with `hidden: true` serves where none fits".to_string())
    }

    fn skip(&mut self, source: &str, method: &str, path: &str, operation_id: Option<&str>, reason: Diagnostic) {
        self.catalog.skipped.push(SkippedOperation {
            source: source.to_string(),
            operation: format!("{method} {path}"),
            operation_id: operation_id.map(str::to_string),
            reason,
        });
    }

    fn finish(mut self, units: &[Unit]) -> (Catalog, Report) {
        if self.profile.mode == CatalogMode::Search {
            self.catalog.own = search_tools(&self.catalog);
            for own in &self.catalog.own {
                if self.tool(&own.name).is_some() {
                    self.report.push(
                        Diagnostic::error(
                            "name-collision",
                            format!("a tool is called `{}`, as one of search mode's own is", own.name),
                        )
                        .fix("rename it, or set `tool_prefix` on its source".to_string()),
                    );
                }
            }
        }
        self.catalog.hidden = self.hidden;
        self.catalog.search_mode = self.profile.mode == CatalogMode::Search;
        for name in &self.profile.pinned {
            if !self.catalog.tools.contains_key(name) {
                let place = units.iter().find_map(|unit| {
                    let index = unit.mapping.catalog.pinned.iter().position(|pinned| pinned == name)?;
                    unit.document.as_ref().map(|document| document.place(&format!("/catalog/pinned/{index}")))
                });
                let mut diagnostic =
                    Diagnostic::warning("stale-edit", format!("`pinned` names `{name}`, which is no tool"));
                if let Some(place) = place {
                    diagnostic = diagnostic.at(place);
                }
                if let Some(near) =
                    crate::diagnostic::hint::nearest(name, self.catalog.tools.keys().map(String::as_str))
                {
                    diagnostic = diagnostic.fix(format!("did you mean `{near}`?"));
                }
                self.report.push(diagnostic);
            }
        }
        self.catalog.pinned = self.profile.pinned.clone();
        self.catalog.page_size = self.profile.page_size;
        self.catalog.ttl = self.profile.ttl.map(|ttl| ttl.0);
        (self.catalog, self.report)
    }
}
