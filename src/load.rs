//! Reads documents and mappings from files and URLs, with size, time and redirect limits.
//!
//! A document's `$ref`s may reach what lies in its own folder (for a URL: its own origin) and what
//! [`LoadOptions::allow_refs`] names; links that lead out of a folder count as leading out. What may
//! not or can't be read costs the nodes that need it, never the document.

mod fence;
mod fetch;
mod file;

pub use fetch::Freshness;

use crate::diagnostic::{Diagnostic, Report, Severity};
use crate::document::{self, Document, DocumentSet, Limits, location};
use fence::{Fence, Refusal};
use std::collections::{HashMap, HashSet, VecDeque};
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// What loading may cost and where references may lead.
#[derive(Debug, Clone)]
pub struct LoadOptions {
    /// Bytes of one document, as sent and after decompression.
    pub max_bytes: usize,
    /// Bytes of all documents of a set.
    pub max_total_bytes: usize,
    /// Documents of a set.
    pub max_documents: usize,
    /// For one URL, connecting and all redirects included.
    pub timeout: Duration,
    /// For all URLs of a set.
    pub total_timeout: Duration,
    /// Redirects of one URL.
    pub max_redirects: usize,
    /// Folders (relative ones from the root document's folder) and origins (`https://host`, perhaps
    /// with a path) that `$ref` may reach besides the root document's own.
    pub allow_refs: Vec<String>,
    /// Levels of nesting and number of values of one document.
    pub limits: Limits,
}

impl Default for LoadOptions {
    /// 64 MiB a document, 256 MiB and 5,000 documents a set, 30 seconds a URL, 5 minutes for all,
    /// 5 redirects, nothing outside allowed.
    fn default() -> Self {
        LoadOptions {
            max_bytes: 64 << 20,
            max_total_bytes: 256 << 20,
            max_documents: 5_000,
            timeout: Duration::from_secs(30),
            total_timeout: Duration::from_secs(300),
            max_redirects: 5,
            allow_refs: Vec::new(),
            limits: Limits::default(),
        }
    }
}

/// One document and what tells whether it changed since.
#[derive(Debug)]
pub struct Loaded {
    /// The document.
    pub document: Document,
    /// For [`changed`].
    pub freshness: Freshness,
}

/// Reads a document and everything it refers to. `location` is a path or an `http(s)` URL, as the
/// user gave it. `None` comes with an error; a referenced document that can't be read is a warning at
/// its `$ref`.
pub async fn load_set(location: &str, options: &LoadOptions) -> (Option<DocumentSet>, Report) {
    let (set, _, report) = load_set_tracked(location, options).await;
    (set, report)
}

/// As [`load_set`], with what tells later whether one of the documents changed (in the order of
/// [`DocumentSet::documents`]).
pub async fn load_set_tracked(location: &str, options: &LoadOptions) -> (Option<DocumentSet>, Vec<Freshness>, Report) {
    let mut loader = match Loader::new(location, options) {
        Ok(loader) => loader,
        Err(problem) => return (None, Vec::new(), problem.into()),
    };
    let root = match loader.root(location).await {
        (Some(root), report) => {
            loader.report.merge(report);
            root
        }
        (None, report) => return (None, Vec::new(), report),
    };
    loader.follow(Arc::new(root.document), root.freshness).await;
    loader.finish()
}

/// As [`load_set_tracked`] for a root document that was read from a file already.
pub async fn load_set_of(root: Arc<Document>, options: &LoadOptions) -> (Option<DocumentSet>, Vec<Freshness>, Report) {
    let mut loader = match Loader::new(&root.location, options) {
        Ok(loader) => loader,
        Err(problem) => return (None, Vec::new(), problem.into()),
    };
    let freshness = Freshness::of_file(root.location.clone(), None);
    loader.follow(root, freshness).await;
    loader.finish()
}

/// Reads one document and nothing it refers to: mappings, overlays.
pub async fn load_document(location: &str, options: &LoadOptions) -> (Option<Loaded>, Report) {
    let mut loader = match Loader::new(location, options) {
        Ok(loader) => loader,
        Err(problem) => return (None, problem.into()),
    };
    loader.root(location).await
}

/// Whether a document is another one now; `None` where that can't be told (an error, no validators).
/// Asks a server with `If-None-Match`/`If-Modified-Since`, and a file system for time and size.
pub async fn changed(freshness: &Freshness, options: &LoadOptions) -> Option<bool> {
    if location::is_url(&freshness.location) {
        fetch::changed(freshness, options).await
    } else {
        file::changed(freshness).await
    }
}

/// Bytes that came from somewhere.
struct Fetched {
    /// The location that relative references start from: after redirects.
    location: String,
    bytes: Vec<u8>,
    freshness: Freshness,
}

struct Loader<'o> {
    options: &'o LoadOptions,
    fence: Fence,
    fetcher: fetch::Fetcher,
    deadline: Instant,
    /// Bytes that the set may still take.
    left: usize,
    /// The folder of the root document, as in locations and as the user wrote it.
    folder: Option<(String, String)>,
    documents: Vec<Arc<Document>>,
    freshness: Vec<Freshness>,
    missing: HashMap<String, String>,
    aliases: HashMap<String, String>,
    report: Report,
}

/// A document that a `$ref` names.
struct Wanted {
    location: String,
    from: usize,
    at: String,
}

impl<'o> Loader<'o> {
    fn new(location: &str, options: &'o LoadOptions) -> Result<Self, Diagnostic> {
        let mut folder = None;
        let fence = if location::is_url(location) {
            Fence::of_url(location, &options.allow_refs)
        } else {
            let path = file::absolute(location)?;
            let parent = |path: &str| path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
            folder = Some((parent(&path), parent(&file::plain(location))));
            Fence::of_file(&path, &options.allow_refs)
        };
        Ok(Loader {
            options,
            fence,
            fetcher: fetch::Fetcher::new(location, options),
            deadline: Instant::now() + options.total_timeout,
            left: options.max_total_bytes,
            folder,
            documents: Vec::new(),
            freshness: Vec::new(),
            missing: HashMap::new(),
            aliases: HashMap::new(),
            report: Report::new(),
        })
    }

    async fn root(&mut self, location: &str) -> (Option<Loaded>, Report) {
        let fetched = if location::is_url(location) {
            self.fetcher.root(location, &mut self.fence, self.deadline).await
        } else {
            match file::absolute(location) {
                Ok(path) => file::read(PathBuf::from(&path), path, self.options.max_bytes, true).await,
                Err(problem) => return (None, problem.into()),
            }
        };
        let name = file::shown(location);
        match fetched {
            Ok(fetched) => self.parse(name, fetched),
            Err(reason) => {
                let problem = Diagnostic::error("unreadable-document", format!("`{name}` can't be read: {reason}"));
                (None, problem.into())
            }
        }
    }

    /// Reads what is wanted, breadth first, each location once.
    async fn follow(&mut self, root: Arc<Document>, freshness: Freshness) {
        let mut queue: VecDeque<Wanted> = VecDeque::new();
        let mut known: HashSet<String> = HashSet::new();
        known.insert(root.location.clone());
        known.insert(freshness.location.clone());
        self.redirected(&freshness.location, &root.location);
        self.keep(root, freshness, &mut queue, &mut known);
        let mut failed: Vec<(Wanted, Refusal)> = Vec::new();
        while let Some(wanted) = queue.pop_front() {
            match self.read(&wanted.location).await {
                Ok(fetched) if self.documents.iter().any(|other| other.location == fetched.location) => {
                    // Another address of a document that is here already.
                    self.aliases.insert(wanted.location, fetched.location);
                }
                Ok(fetched) => {
                    self.left = self.left.saturating_sub(fetched.bytes.len());
                    let location = wanted.location.clone();
                    self.redirected(&location, &fetched.location);
                    let (loaded, mut report) = self.parse(self.name(&location), fetched);
                    match loaded {
                        Some(loaded) => {
                            self.report.merge(report);
                            self.keep(Arc::new(loaded.document), loaded.freshness, &mut queue, &mut known);
                        }
                        None => {
                            self.missing.insert(location, "it can't be read, see its own problems".to_owned());
                            // The set goes on without it.
                            for problem in &mut report.diagnostics {
                                problem.severity = problem.severity.min(Severity::Warning);
                            }
                            self.report.merge(report);
                        }
                    }
                }
                Err(refusal) => failed.push((wanted, refusal)),
            }
        }
        self.complain(failed);
    }

    fn redirected(&mut self, asked: &str, found: &str) {
        if asked != found {
            self.aliases.insert(asked.to_owned(), found.to_owned());
        }
    }

    async fn read(&mut self, location: &str) -> Result<Fetched, Refusal> {
        if self.documents.len() >= self.options.max_documents {
            let reason = format!("more than {} documents refer to each other", self.options.max_documents);
            return Err(Refusal::plain(reason));
        }
        if self.left == 0 {
            return Err(Refusal::plain(format!("all documents have over {} bytes", self.options.max_total_bytes)));
        }
        let limit = self.options.max_bytes.min(self.left);
        if location::is_url(location) {
            self.fence.permit_url(location)?;
            return self.fetcher.reference(location, &self.fence, limit, self.deadline).await.map_err(Refusal::plain);
        }
        let path = self.fence.permit_path(location)?;
        file::read(path, location.to_owned(), limit, false).await.map_err(Refusal::plain)
    }

    /// Bytes to a document. Large ones take many milliseconds without a pause: a server loads on a thread of its own.
    fn parse(&self, name: String, fetched: Fetched) -> (Option<Loaded>, Report) {
        let limits =
            Limits { max_bytes: self.options.limits.max_bytes.min(self.options.max_bytes), ..self.options.limits };
        let Fetched { location, bytes, freshness } = fetched;
        let work = move || match document::decode(&name, bytes) {
            Ok(source) => document::parse(source, location, &limits),
            Err(problem) => (None, problem.into()),
        };
        match std::panic::catch_unwind(AssertUnwindSafe(work)) {
            Ok((document, report)) => (document.map(|document| Loaded { document, freshness }), report),
            Err(_) => {
                let problem = Diagnostic::error("unreadable-document", "reading was interrupted");
                (None, problem.into())
            }
        }
    }

    fn keep(
        &mut self,
        document: Arc<Document>,
        freshness: Freshness,
        queue: &mut VecDeque<Wanted>,
        known: &mut HashSet<String>,
    ) {
        let from = self.documents.len();
        for (location, at) in document::external_references(&document) {
            if known.insert(location.clone()) {
                queue.push_back(Wanted { location, from, at });
            }
        }
        self.documents.push(document);
        self.freshness.push(freshness);
    }

    /// One warning for each location that was not read, unless a `$self` or `$id` supplies it.
    fn complain(&mut self, failed: Vec<(Wanted, Refusal)>) {
        let set = DocumentSet::new(self.documents.clone()).with_aliases(self.aliases.clone());
        for (wanted, refusal) in failed {
            if set.find(&wanted.location).is_some() {
                continue;
            }
            let from = self.documents.get(wanted.from);
            let place = from.map(|document| document.place(&wanted.at));
            let written = from.and_then(|document| document.get(&wanted.at)).and_then(|value| value.as_str());
            // Swagger 1 referred to schemas by their bare names.
            let bare = written.filter(|name| !name.contains(['/', '.', '#', ':']));
            let schema =
                bare.map(|name| format!("for a schema write `#/components/schemas/{name}` or `#/definitions/{name}`"));
            let message = format!("`{}` was not loaded: {}", self.name(&wanted.location), refusal.reason);
            let problem = Diagnostic::warning(refusal.code, message).at(place).maybe_fix(refusal.fix.or(schema));
            self.report.push(problem);
            self.missing.insert(wanted.location, refusal.reason);
        }
    }

    /// What an author calls a location: near the root as the root was given.
    fn name(&self, location: &str) -> String {
        if let Some((folder, given)) = &self.folder
            && let Some(rest) = location.strip_prefix(folder.as_str())
        {
            return file::shown(&format!("{given}{rest}"));
        }
        file::shown(location)
    }

    fn finish(self) -> (Option<DocumentSet>, Vec<Freshness>, Report) {
        let set = DocumentSet::new(self.documents).with_missing(self.missing).with_aliases(self.aliases);
        (Some(set), self.freshness, self.report)
    }
}
