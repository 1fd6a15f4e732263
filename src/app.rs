//! Puts the parts together: files and flags in, a compiled catalog or a running server out.

mod callers;
mod glob;
mod input;
mod load_thread;
pub mod offline;
mod routes;
mod setup;
mod sidecar;

pub use input::{Input, Inputs, Kind};
pub use load_thread::LoadThread;
pub use setup::{Named, Recorder, SETTINGS_FILE, Setup};
pub use sidecar::{Sidecar, Telemetry, reachable, settings_problems};

use crate::access::Access;
use crate::catalog::compile::{Beside, Options, Unit, compile};
use crate::catalog::{Action, Catalog, CredentialValue, hints};
use crate::diagnostic::{Diagnostic, Report, Severity};
use crate::document::{Document, DocumentSet, location};
use crate::load::{self, Freshness, LoadOptions};
use crate::mapping::{Environment, Mapping, Slot, Source};
use crate::openapi::{self, Api};
use crate::protocol;
use crate::secret::Secret;
use crate::service::state::StateKey;
use crate::service::{Service, State};
use crate::upstream::Upstream;
use crate::upstream::policy::Gate;
use indexmap::IndexMap;
use std::sync::Arc;

/// What a load came to.
pub struct Loaded {
    /// The tools.
    pub catalog: Catalog,
    /// Every problem of every file.
    pub report: Report,
    /// The documents behind the sources, by `(source, Api)`, for `mock`.
    pub apis: Vec<(String, Arc<Api>)>,
    /// Every file and URL that was read, for watching.
    pub files: Vec<String>,
    /// For each document that was read, what tells whether it changed.
    pub freshness: Vec<Freshness>,
}

impl Loaded {
    /// Bytes and estimated tokens of the published tool list.
    pub fn published_size(&self) -> (usize, usize) {
        let catalog = &self.catalog;
        let listed = |name: &String| !catalog.search_mode || catalog.pinned.contains(name);
        let tools = catalog.tools.iter().filter(|(name, _)| listed(name)).map(|(_, tool)| tool);
        let bytes: usize = catalog
            .own
            .iter()
            .chain(tools)
            .map(|tool| {
                let schema = tool.input.published.text().len();
                schema + tool.name.len() + tool.description.len() + 40
            })
            .sum();
        (bytes, hints::estimated_tokens(bytes))
    }
}

/// Loads and compiles everything that the inputs name.
pub async fn load_all(inputs: &Inputs, environment: &dyn Environment) -> Loaded {
    load_with(inputs, environment, &[]).await
}

/// [`load_all`] with other base URLs for some sources.
pub async fn load_with(inputs: &Inputs, environment: &dyn Environment, urls: &[(String, Slot)]) -> Loaded {
    let mut loader = Loader {
        inputs,
        environment,
        urls,
        report: Report::default(),
        apis: Vec::new(),
        files: Vec::new(),
        freshness: inputs.freshness.clone(),
    };
    let mut units = Vec::new();
    let mut named: Vec<String> = Vec::new();
    for input in &inputs.list {
        if input.kind == Kind::Mapping
            && let Some((unit, specs)) = loader.mapping(input).await
        {
            named.extend(specs);
            units.push(unit);
        }
    }
    for input in &inputs.list {
        if input.kind == Kind::Document
            && !named.contains(&input.document.location)
            && let Some(unit) = loader.bare(input, &units).await
        {
            units.push(unit);
        }
    }
    let options = Options { base_url: inputs.base_url.clone() };
    let (catalog, report) = compile(&units, &options, environment);
    loader.report.merge(report);
    Loaded { catalog, report: loader.report, apis: loader.apis, files: loader.files, freshness: loader.freshness }
}

struct Loader<'a> {
    inputs: &'a Inputs,
    environment: &'a dyn Environment,
    urls: &'a [(String, Slot)],
    report: Report,
    apis: Vec<(String, Arc<Api>)>,
    files: Vec<String>,
    freshness: Vec<Freshness>,
}

impl Loader<'_> {
    /// A document served without any mapping: a source named after its file.
    async fn bare(&mut self, input: &Input, units: &[Unit]) -> Option<Unit> {
        let mut name = source_name(&input.document.location);
        while units.iter().any(|unit| unit.mapping.sources.contains_key(&name)) {
            name.push('_');
        }
        let api = self.api(&input.document.location, &[], &Source::default(), None).await?;
        self.apis.push((name.clone(), api.clone()));
        let mut source = self.source(&name, Source::default());
        self.fence(&mut source, &input.document.location, &api);
        let sources = IndexMap::from_iter([(name.clone(), source)]);
        let mapping = Mapping { version: 1, sources, ..Mapping::default() };
        Some(Unit { mapping, document: None, apis: IndexMap::from_iter([(name, api)]), workflows: Vec::new() })
    }

    /// A mapping with the documents of its sources. Also returns their locations.
    async fn mapping(&mut self, input: &Input) -> Option<(Unit, Vec<String>)> {
        self.files.push(input.document.location.clone());
        let (mapping, report) = crate::mapping::read_with(&input.document, Some(&crate::content::jq::check_jq));
        self.report.merge(report);
        let mut mapping = mapping?;
        let environment = Beside { environment: self.environment, location: Some(&input.document.location) };
        let mut apis = IndexMap::new();
        let mut specs = Vec::new();
        let mut workflows = Vec::new();
        for (name, source) in &mut mapping.sources {
            *source = self.source(name, std::mem::take(source));
            for (index, file) in source.workflows.iter().enumerate() {
                let place = format!("/sources/{}/workflows/{index}", crate::document::pointer::escape(name));
                if let Some(document) = self.workflow(file, &input.document, &place).await {
                    workflows.push((name.clone(), document));
                }
            }
            let Some(spec) = &source.spec else { continue };
            let pointer = format!("/sources/{}/spec", crate::document::pointer::escape(name));
            let location = match spec.resolve_public(&environment) {
                Ok(text) => relative_to(&input.document.location, &text),
                Err(error) => {
                    self.report.push(
                        Diagnostic::error("unresolved-value", error.to_string()).at(input.document.place(&pointer)),
                    );
                    continue;
                }
            };
            let mut overlays = Vec::new();
            for (index, overlay) in source.overlays.iter().enumerate() {
                if let Ok(text) = overlay.resolve_public(&environment) {
                    let place = format!("/sources/{}/overlays/{index}", crate::document::pointer::escape(name));
                    overlays.push((relative_to(&input.document.location, &text), place));
                }
            }
            if let Some(api) = self.api(&location, &overlays, source, Some((&input.document, &pointer))).await {
                self.fence(source, &location, &api);
                self.apis.push((name.clone(), api.clone()));
                apis.insert(name.clone(), api);
            }
            specs.push(location);
        }
        Some((Unit { mapping, document: Some(input.document.clone()), apis, workflows }, specs))
    }

    /// An Arazzo document that a source lists.
    async fn workflow(&mut self, file: &Slot, mapping: &Document, pointer: &str) -> Option<Arc<Document>> {
        let location = match file.resolve_public(self.environment) {
            Ok(text) => relative_to(&mapping.location, &text),
            Err(error) => {
                self.report.push(Diagnostic::error("unresolved-value", error.to_string()).at(mapping.place(pointer)));
                return None;
            }
        };
        self.files.push(location.clone());
        let (document, report) = load::load_document(&location, &LoadOptions::default()).await;
        self.report.merge(report);
        if document.is_none() {
            let problem =
                Diagnostic::error("unreadable-workflows", "the Arazzo document can't be read; see the problem above");
            self.report.push(problem.at(mapping.place(pointer)));
        }
        document.map(|loaded| Arc::new(loaded.document))
    }

    /// A document from the net that names servers of another origin must not lead into the private network.
    fn fence(&self, source: &mut Source, location: &str, api: &Api) {
        if source.base_url.is_some() || source.limits.allow_private.is_some() || !location::is_url(location) {
            return;
        }
        let origin = |text: &str| url::Url::parse(text).ok().map(|url| url.origin());
        let own = origin(location);
        let servers = api.operations.iter().flat_map(|operation| &operation.servers);
        if servers.into_iter().any(|server| origin(&server.url) != own) {
            source.limits.allow_private = Some(false);
        }
    }

    /// The source with what the command line says of it.
    fn source(&self, name: &str, mut source: Source) -> Source {
        if let Some((_, url)) = self.urls.iter().find(|(known, _)| known == name) {
            source.base_url = Some(url.clone());
        }
        if let Some(base_url) = &self.inputs.base_url {
            source.base_url = Some(Slot(base_url.clone()));
        }
        source
    }

    async fn api(
        &mut self,
        location: &str,
        overlays: &[(String, String)],
        source: &Source,
        named_at: Option<(&Document, &str)>,
    ) -> Option<Arc<Api>> {
        let options = LoadOptions { allow_refs: source.allow_refs.clone(), ..LoadOptions::default() };
        // A file that was read to find out what it is need not be read again.
        let known = self.inputs.list.iter().find(|input| input.document.location == location);
        let (set, freshness, report) = match known.filter(|_| !crate::document::location::is_url(location)) {
            Some(input) => load::load_set_of(input.document.clone(), &options).await,
            None => load::load_set_tracked(location, &options).await,
        };
        self.freshness.extend(freshness);
        self.files.push(location.to_string());
        let unreadable = set.is_none();
        self.report.merge(report);
        let Some(mut set) = set else {
            if let Some((document, pointer)) = named_at.filter(|_| unreadable) {
                self.report.push(
                    Diagnostic::error("unreadable-spec", "the source's document can't be read; see the problem above")
                        .at(document.place(pointer)),
                );
            }
            return None;
        };
        self.files.extend(set.documents.iter().skip(1).map(|document| document.location.clone()));
        for (overlay, pointer) in overlays {
            set = self.overlaid(set, overlay, named_at.map(|(document, _)| (document, pointer.as_str()))).await;
        }
        let options = openapi::ReadOptions { answer_examples: !self.inputs.unmocked, ..Default::default() };
        let (api, mut report) = openapi::read(&set, &options);
        if api.as_ref().is_some_and(|api| !api.operations.is_empty()) {
            // A bad node costs what stands on it; the rest is served.
            for problem in &mut report.diagnostics {
                problem.severity = problem.severity.min(Severity::Warning);
            }
        }
        self.report.merge(report);
        api.map(Arc::new)
    }

    async fn overlaid(&mut self, set: DocumentSet, overlay: &str, named_at: Option<(&Document, &str)>) -> DocumentSet {
        self.files.push(overlay.to_string());
        let (document, report) = load::load_document(overlay, &LoadOptions::default()).await;
        self.report.merge(report);
        let document = document.map(|loaded| {
            self.freshness.push(loaded.freshness);
            loaded.document
        });
        let Some((document, root)) = document.zip(set.root().cloned()) else {
            if let Some((mapping, pointer)) = named_at {
                self.report.push(
                    Diagnostic::error("unreadable-overlay", "the overlay can't be read; see the problem above")
                        .at(mapping.place(pointer)),
                );
            }
            return set;
        };
        let mut value = root.root.clone();
        self.report.merge(openapi::overlay::apply(&mut value, &document));
        set.with_root(Arc::new(root.with_root(value)))
    }
}

/// Makes every missing environment variable and file present: the mock takes any credential.
pub struct MockEnvironment<'a>(pub &'a dyn Environment);

impl Environment for MockEnvironment<'_> {
    fn env(&self, name: &str) -> Option<Secret> {
        self.0.env(name).filter(|value| !value.is_empty())
    }
    fn stand_in(&self, _: &str) -> Option<Secret> {
        Some(Secret::new("mock"))
    }
    fn file(&self, path: &str) -> Result<Secret, String> {
        self.0.file(path).or_else(|_| Ok(Secret::new("mock")))
    }
}

/// A path or URL that an input names, relative to the input.
fn relative_to(base: &str, named: &str) -> String {
    crate::document::location::resolve(base, named).unwrap_or_else(|| named.to_string())
}

/// A source's name: the file's, in characters that go into tool names and variables.
pub(crate) fn source_name(location: &str) -> String {
    let file = location.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = file.split('.').next().unwrap_or_default();
    let name: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    let generic = matches!(name.trim_matches('_'), "" | "openapi" | "swagger" | "api" | "index");
    let folder = location.rsplit(['/', '\\']).nth(1).map(|folder| {
        folder.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>().to_ascii_lowercase()
    });
    match folder.filter(|folder| generic && !folder.is_empty() && !location.contains("://")) {
        Some(folder) => folder,
        None if name.is_empty() => "api".to_string(),
        None => name,
    }
}

/// True if nothing may be served: an author's mistake must not silently change what is exposed.
pub fn refused(report: &Report, strict: bool) -> bool {
    let worst = if strict { Severity::Warning } else { Severity::Error };
    report.diagnostics.iter().any(|diagnostic| diagnostic.severity >= worst)
}

/// What the server's own settings say of the service.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Who may call what.
    pub rules: crate::access::Rules,
    /// Signs what travels through the client.
    pub state_key: Option<Vec<u8>>,
}

/// A service over a catalog.
///
/// # Errors
/// Every problem of TLS files, limits and access rules as one text.
pub fn service(catalog: Catalog, settings: &Settings) -> Result<Service, Vec<String>> {
    let upstream = Upstream::new(&catalog.sources)?;
    let gate = Gate::new(Access::new(&settings.rules)?, None);
    let state = State::new(Arc::new(catalog), Arc::new(upstream), gate);
    Ok(Service::new(state, StateKey::new(settings.state_key.as_deref())))
}

/// Headers of the caller that some source or tool asks for.
pub fn captured_headers(catalog: &Catalog) -> Vec<String> {
    let mut names: Vec<String> =
        catalog.sources.iter().flat_map(|source| source.forward_headers.iter().cloned()).collect();
    for source in &catalog.sources {
        names.extend(source.credentials.values().filter_map(|credential| match &credential.value {
            Some(CredentialValue::Forward(header)) => Some(header.clone()),
            _ => None,
        }));
    }
    for tool in catalog.tools.values().chain(catalog.hidden.values()) {
        if let Action::Request(action) = &tool.action {
            names.extend(crate::service::wanted_headers(action).map(str::to_string));
        }
    }
    names.sort();
    names.dedup();
    names
}

/// How the protocol presents this catalog.
pub fn protocol_settings(catalog: &Catalog) -> protocol::Settings {
    protocol::Settings {
        page_size: catalog.page_size,
        ttl_ms: catalog.ttl.map_or(0, |ttl| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX)),
        ..protocol::Settings::default()
    }
}
