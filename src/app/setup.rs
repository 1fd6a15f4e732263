//! `rest-mcp.yaml` and what it names: the settings, the folder that paths start from, the mappings.

use super::{Inputs, glob};
use crate::config::{self, Config, ProcessEnvironment};
use crate::diagnostic::{Diagnostic, Report};
use crate::document::{Document, location};
use crate::load::{self, LoadOptions};
use crate::mapping::Environment;
use crate::secret::Secret;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Picked up where no file is named.
pub const SETTINGS_FILE: &str = "rest-mcp.yaml";

/// What the command line names.
#[derive(Debug, Clone, Default)]
pub struct Named {
    /// `--config`.
    pub config: Option<String>,
    /// Documents and mappings; they replace those of the settings.
    pub files: Vec<String>,
    /// `--base-url`.
    pub base_url: Option<String>,
}

/// The settings in force and where they come from.
pub struct Setup {
    /// The settings; the defaults where there is no file.
    pub config: Config,
    /// Where relative paths start.
    pub folder: PathBuf,
    /// The settings file.
    pub file: Option<String>,
    /// Looks values up, and notes which files it reads.
    pub environment: Arc<Recorder>,
    document: Option<Document>,
    named: Named,
}

impl Setup {
    /// Reads the settings file that is named, or `rest-mcp.yaml` of the current folder where nothing is. With errors
    /// in the report there is no setup.
    pub async fn read(named: &Named) -> (Option<Setup>, Report) {
        let picked = named.files.is_empty() && Path::new(SETTINGS_FILE).is_file();
        let file = named.config.clone().or_else(|| picked.then(|| SETTINGS_FILE.to_owned()));
        let Some(file) = file else {
            let environment = Recorder::new(PathBuf::from("."));
            let config = Config::default();
            let setup =
                Setup { config, folder: ".".into(), file: None, environment, document: None, named: named.clone() };
            return (Some(setup), Report::new());
        };
        let (document, mut report) = load::load_document(&file, &LoadOptions::default()).await;
        let Some(document) = document.map(|loaded| loaded.document) else { return (None, report) };
        let (config, problems) = config::read(&document);
        report.merge(problems);
        let Some(config) = config.filter(|_| !report.has_errors()) else { return (None, report) };
        let folder = Path::new(&file).parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_owned();
        let environment = Recorder::new(folder.clone());
        let document = Some(document);
        (Some(Setup { config, folder, file: Some(file), environment, document, named: named.clone() }), report)
    }

    /// Reads them again.
    pub async fn again(&self) -> (Option<Setup>, Report) {
        Setup::read(&Named { config: self.file.clone(), ..self.named.clone() }).await
    }

    /// A path that the settings name.
    pub fn path(&self, named: &str) -> PathBuf {
        self.folder.join(named)
    }

    /// The files behind a path or pattern of the settings.
    pub fn expand(&self, pattern: &str) -> Vec<PathBuf> {
        glob::expand(&self.folder, pattern)
    }

    /// Documents and mappings: those of the command line, else those of the settings, else `mappings/` and `specs/`.
    pub async fn inputs(&self) -> (Inputs, Report) {
        let base_url = self.named.base_url.clone();
        if !self.named.files.is_empty() || self.file.is_none() {
            return Inputs::read(&self.named.files, base_url).await;
        }
        let (files, mut report) = self.files();
        if files.is_empty() && !report.has_errors() {
            return Inputs::read(&[], base_url).await;
        }
        let (inputs, problems) = Inputs::read_each(files, base_url).await;
        report.merge(problems);
        (inputs, report)
    }

    /// What `mappings` names now: locations, and whether each was named by itself.
    fn files(&self) -> (Vec<(String, bool)>, Report) {
        let mut report = Report::new();
        let mut files: Vec<(String, bool)> = Vec::new();
        if self.config.mappings.is_empty() {
            for folder in ["mappings", "specs"] {
                for end in ["yaml", "yml", "json"] {
                    let found = self.expand(&format!("{folder}/*.{end}"));
                    files.extend(found.into_iter().map(|path| (path.to_string_lossy().into_owned(), false)));
                }
            }
            files.retain(|(path, _)| !path.ends_with(".schema.json"));
            return (files, report);
        }
        for (index, slot) in self.config.mappings.iter().enumerate() {
            let place = self.document.as_ref().map(|document| document.place(&format!("/mappings/{index}")));
            let text = match slot.resolve_public(self.environment.as_ref()) {
                Ok(text) => text,
                Err(error) => {
                    report.push(Diagnostic::error("unresolved-value", error.to_string()).at(place));
                    continue;
                }
            };
            if location::is_url(&text) {
                files.push((text, true));
                continue;
            }
            let pattern =
                if self.path(&text).is_dir() { format!("{}/*.y*ml", text.trim_end_matches('/')) } else { text.clone() };
            let named = !glob::is_pattern(&pattern);
            let found = self.expand(&pattern);
            if found.is_empty() {
                let message = format!("`{text}` names no file");
                report.push(Diagnostic::error("no-input", message).at(place).fix("paths start at the settings file"));
            }
            for path in found {
                let path = path.to_string_lossy().into_owned();
                if !files.iter().any(|(known, _)| *known == path) {
                    files.push((path, named));
                }
            }
        }
        (files, report)
    }

    /// The settings file and everything that it names itself, for watching.
    pub fn watched(&self) -> BTreeSet<PathBuf> {
        let mut all: BTreeSet<PathBuf> = self.environment.files();
        all.extend(self.file.iter().map(PathBuf::from));
        if self.named.files.is_empty() && self.file.is_some() {
            let (files, _) = self.files();
            all.extend(
                files.into_iter().map(|(path, _)| path).filter(|path| !location::is_url(path)).map(PathBuf::from),
            );
        }
        let policies = self.config.access.policy.iter().flat_map(|policy| &policy.rego);
        all.extend(policies.flat_map(|pattern| self.expand(pattern)));
        all
    }
}

/// The process's environment, which notes the files that are read.
#[derive(Debug)]
pub struct Recorder {
    inner: ProcessEnvironment,
    folder: PathBuf,
    files: Mutex<BTreeSet<PathBuf>>,
}

impl Recorder {
    fn new(folder: PathBuf) -> Arc<Recorder> {
        Arc::new(Recorder { inner: ProcessEnvironment::new(folder.clone()), folder, files: Mutex::default() })
    }

    /// The files read so far.
    pub fn files(&self) -> BTreeSet<PathBuf> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Environment for Recorder {
    fn env(&self, name: &str) -> Option<Secret> {
        self.inner.env(name)
    }

    fn file(&self, path: &str) -> Result<Secret, String> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(self.folder.join(path));
        self.inner.file(path)
    }
}
