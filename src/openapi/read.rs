//! Reads a document: its version, its paths, and everything they need.

use super::dialect::Table;
use super::finding::{Finding, Findings};
use super::node::Node;
use super::parameter::Declared;
use super::reference::References;
use super::text::{clean, scalar};
use super::{Api, MediaType, Operation, ReadOptions, SecurityRequirement, SecurityScheme, Server, Skipped};
use crate::diagnostic::{Diagnostic, Report};
use crate::document::DocumentSet;
use indexmap::IndexMap;
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

/// Versions that differ in more than what they add.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// 2.0.
    Swagger2,
    /// 3.0.
    V30,
    /// 3.1 and 3.2.
    V31,
}

/// What one reading knows.
pub(super) struct Reader<'a> {
    pub set: &'a DocumentSet,
    pub options: &'a ReadOptions,
    pub version: Version,
    pub references: References<'a>,
    pub findings: Findings,
    /// Definitions of schemas.
    pub table: Table<'a>,
    /// Which regular expressions the validator takes.
    pub patterns: HashMap<String, Option<String>>,
    /// How many more schemas are converted.
    pub schemas_left: usize,
    /// Parameters by document and pointer.
    pub parameters: HashMap<(usize, String), Result<Declared, Finding>>,
    /// Media types of bodies (with their examples) and responses by document and pointer of their owner.
    pub contents: HashMap<(usize, String, bool), Vec<MediaType>>,
    pub schemes: IndexMap<String, SecurityScheme>,
    /// 2.0 `consumes` and `produces`, the operation's or the document's.
    pub consumes: Vec<String>,
    pub produces: Vec<String>,
    /// The document's own.
    pub root_servers: Vec<Server>,
    pub root_security: Vec<Vec<SecurityRequirement>>,
    pub operations: Vec<Operation>,
    pub skipped: Vec<(Skipped, Finding)>,
    /// Whether a document uses `$id`.
    pub ids: OnceCell<Vec<bool>>,
}

/// See [`super::read`].
pub(super) fn read(set: &DocumentSet, options: &ReadOptions) -> (Option<Api>, Report) {
    let Some(document) = set.root() else {
        let problem = Diagnostic::error("no-document", "there is no document to read");
        return (None, Report { diagnostics: vec![problem] });
    };
    let root = Node { document: 0, pointer: String::new(), value: &document.root };
    let mut findings = Findings::default();
    let Some(version) = version(&root, &mut findings) else {
        return (None, findings.report(set));
    };
    let mut reader = Reader {
        set,
        options,
        version,
        references: References::new(set),
        findings,
        table: Table::default(),
        patterns: HashMap::new(),
        schemas_left: options.max_schemas,
        parameters: HashMap::new(),
        contents: HashMap::new(),
        schemes: IndexMap::new(),
        consumes: Vec::new(),
        produces: Vec::new(),
        root_servers: Vec::new(),
        root_security: Vec::new(),
        operations: Vec::new(),
        skipped: Vec::new(),
        ids: OnceCell::new(),
    };
    let api = reader.api(&root);
    (Some(api), reader.findings.report(set))
}

fn version(root: &Node<'_>, findings: &mut Findings) -> Option<Version> {
    let said = |key: &str| root.value.get(key).and_then(scalar);
    if let Some(version) = said("openapi").or_else(|| said("swagger")) {
        let version = version.trim().trim_start_matches('v').to_owned();
        let found = match version.as_str() {
            "3" => Some(Version::V30),
            other if other.starts_with("3.0") => Some(Version::V30),
            other if other.starts_with("3.") => Some(Version::V31),
            other if other == "2" || other.starts_with("2.") => Some(Version::Swagger2),
            _ => None,
        };
        if found.is_none() {
            let finding =
                Finding::error("unknown-version", root, format!("version {version} of OpenAPI is not supported"));
            findings.add(finding.fix("supported are 2.0 (`swagger`), 3.0, 3.1 and 3.2 (`openapi`)"));
        }
        return found;
    }
    let other = ["swaggerVersion", "asyncapi", "arazzo", "overlay", "raml", "wsdl:definitions"];
    let found = other.iter().find(|it| root.value.get(**it).is_some());
    if found.is_none() && root.value.get("paths").is_some_and(Value::is_object) {
        let what = "the document does not say its version; 3.1 is assumed";
        findings.add(Finding::warning("no-version", root, what).fix("add `openapi: 3.1.0` (or `swagger: \"2.0\"`)"));
        return Some(Version::V31);
    }
    let what = match found {
        Some(key) => format!("this is no OpenAPI document (it has `{key}`)"),
        None if root.value.is_object() => {
            "this is no OpenAPI document: it has neither `openapi` nor `swagger`".to_owned()
        }
        None => "this is no OpenAPI document: an object is expected at the top".to_owned(),
    };
    findings.add(
        Finding::error("not-openapi", root, what)
            .fix("give the OpenAPI document (2.0, 3.0, 3.1 or 3.2), as JSON or YAML"),
    );
    None
}

impl<'a> Reader<'a> {
    /// True where the document is Swagger 2.0.
    pub(super) fn is_swagger2(&self) -> bool {
        self.version == Version::Swagger2
    }

    /// True where what stands beside a `$ref` does not count: before 3.1. A file that says no version
    /// is as its root.
    pub(super) fn is_legacy(&self, document: usize) -> bool {
        let root = self.set.documents.get(document).map(|it| &it.root);
        let own = root.and_then(|it| it.get("openapi").or_else(|| it.get("swagger"))).and_then(scalar);
        match own {
            Some(version) => version.starts_with("3.0") || version.starts_with('2'),
            None => self.version != Version::V31,
        }
    }

    fn api(&mut self, root: &Node<'a>) -> Api {
        let schemas = if self.is_swagger2() {
            root.child("definitions")
        } else {
            self.member(root.child("components"), "schemas")
        };
        let schemas = self.members_of(schemas);
        self.reserve_names(&schemas);
        let schemes = if self.is_swagger2() {
            root.child("securityDefinitions")
        } else {
            self.member(root.child("components"), "securitySchemes")
        };
        self.security_schemes(schemes);
        self.root_security = self.security(root).unwrap_or_default();
        if self.is_swagger2() {
            self.swagger2_root(root);
        } else {
            self.root_servers = self.servers(root).unwrap_or_else(|| self.default_servers());
        }
        self.paths(root);
        let definitions = self.take_definitions();
        let skipped = std::mem::take(&mut self.skipped);
        let info = root.child("info");
        let text = |key: &str| info.as_ref().and_then(|it| it.value.get(key)).and_then(scalar).map(|it| clean(&it));
        Api {
            title: text("title").unwrap_or_default(),
            version: text("version").unwrap_or_default(),
            description: text("description"),
            servers: std::mem::take(&mut self.root_servers),
            operations: std::mem::take(&mut self.operations),
            skipped: skipped
                .into_iter()
                .map(|(skipped, why)| Skipped { reason: why.place(self.set), ..skipped })
                .collect(),
            security_schemes: std::mem::take(&mut self.schemes),
            definitions: Arc::new(definitions),
        }
    }

    /// Member `key` of a node that may be a reference.
    fn member(&mut self, node: Option<Node<'a>>, key: &str) -> Option<Node<'a>> {
        self.references.follow(node?).ok()?.node.child(key)
    }

    fn members_of(&mut self, node: Option<Node<'a>>) -> Vec<(&'a str, Node<'a>)> {
        let followed = node.and_then(|it| self.references.follow(it).ok());
        followed.map(|it| it.node.members()).unwrap_or_default()
    }

    fn paths(&mut self, root: &Node<'a>) {
        for key in ["paths", "x-ms-paths"] {
            let Some(paths) = root.child(key) else { continue };
            if !paths.value.is_object() {
                self.findings.add(Finding::error("invalid-paths", &paths, format!("`{key}` must be an object")));
                continue;
            }
            match self.references.follow(paths) {
                Ok(followed) => {
                    for (path, node) in followed.node.members() {
                        // `x-…` is an extension; a path begins with a slash (or should).
                        if !path.starts_with("x-") && !node.value.is_null() {
                            self.path_item(path, node);
                        }
                    }
                }
                Err(problem) => self.findings.add(problem),
            }
        }
        if self.operations.is_empty() && self.skipped.is_empty() {
            let what = match root.child("webhooks").or_else(|| root.child("x-webhooks")) {
                Some(_) => "the document has no operations: webhooks are calls that the API makes, not calls to it",
                None => "the document has no operations",
            };
            self.findings.add(Finding::warning("no-operations", root, what));
        }
    }
}
