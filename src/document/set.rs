//! A root document and every file it reaches, and what a `$ref` in one of them means.

mod names;
mod problem;

pub use problem::RefError;

use super::{Document, location, pointer};
use names::Names;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// A root document and every file it reaches through `$ref`.
#[derive(Debug, Default)]
pub struct DocumentSet {
    /// The root comes first.
    pub documents: Vec<Arc<Document>>,
    /// Locations that a reference names and that could not be loaded, with the reason.
    pub missing: HashMap<String, String>,
    /// Other addresses of documents in the set (redirects), with the location each has here.
    pub aliases: HashMap<String, String>,
    names: OnceLock<Names>,
}

/// What a reference leads to.
#[derive(Debug, Clone, PartialEq)]
pub struct Target<'s> {
    /// Index in [`DocumentSet::documents`].
    pub document: usize,
    /// JSON pointer of the node in that document, whatever way the reference named it.
    pub pointer: String,
    /// The node. It may be a reference itself.
    pub value: &'s Value,
}

impl DocumentSet {
    /// A set of documents, the root first.
    pub fn new(documents: Vec<Arc<Document>>) -> Self {
        DocumentSet { documents, ..Self::default() }
    }

    /// The same with the locations that could not be loaded, and why.
    #[must_use]
    pub fn with_missing(mut self, missing: HashMap<String, String>) -> Self {
        self.missing = missing;
        self
    }

    /// The same with other addresses of its documents (asked for, found).
    #[must_use]
    pub fn with_aliases(mut self, aliases: HashMap<String, String>) -> Self {
        self.aliases = aliases;
        self
    }

    /// The root document.
    pub fn root(&self) -> Option<&Arc<Document>> {
        self.documents.first()
    }

    /// The set with another root (an overlay was applied); the other documents stay.
    #[must_use]
    pub fn with_root(&self, root: Arc<Document>) -> Self {
        let documents = std::iter::once(root).chain(self.documents.iter().skip(1).cloned()).collect();
        DocumentSet::new(documents).with_missing(self.missing.clone()).with_aliases(self.aliases.clone())
    }

    /// Index of the document at an absolute location, or with that `$self` or `$id`.
    pub fn find(&self, location: &str) -> Option<usize> {
        let names = self.names();
        names.location(location).or_else(|| names.resource(location).map(|(document, _)| document))
    }

    /// What a `$ref` in document `from` (index in [`DocumentSet::documents`]) leads to.
    ///
    /// Understands pointers (`#/a/b`, percent-encoded), `$anchor` and `$dynamicAnchor` names
    /// (`#name`), files relative to the document, URLs, and `$self`/`$id` of documents and schemas in
    /// the set. It takes one step: cycles are for the caller. Where schemas with their own `$id` are
    /// about, [`DocumentSet::resolve_at`] is exact; this tries the document first, then them.
    pub fn resolve(&self, from: usize, reference: &str) -> Result<Target<'_>, RefError> {
        self.resolve_at(from, "", reference)
    }

    /// As [`DocumentSet::resolve`], for a `$ref` that may be no string.
    pub fn resolve_value(&self, from: usize, reference: &Value) -> Result<Target<'_>, RefError> {
        match reference {
            Value::String(reference) => self.resolve(from, reference),
            _ => Err(RefError::NotAString),
        }
    }

    /// As [`DocumentSet::resolve`], for a reference that stands at the JSON pointer `at`: the `$id` of
    /// an enclosing schema is then its base (JSON Schema 2020-12, section 8.2.1).
    pub fn resolve_at(&self, from: usize, at: &str, reference: &str) -> Result<Target<'_>, RefError> {
        let (file, fragment) = location::split(reference);
        let fragment = fragment.unwrap_or_default();
        if file.is_empty() {
            return self.resolve_local(from, at, fragment, reference);
        }
        let Some(document) = self.documents.get(from) else {
            return Err(RefError::malformed(reference, "there is no such document"));
        };
        let names = self.names();
        for base in names.bases(from, at) {
            let Some(target) = location::resolve(base, file) else { continue };
            if let Some((document, resource)) = names.resource(&target) {
                return self.inside(document, resource, fragment, reference);
            }
        }
        let Some(target) = location::resolve(&document.location, file) else {
            return Err(RefError::malformed(reference, "this is neither a path nor a URL"));
        };
        match names.location(&target).map(|document| (document, "")).or_else(|| names.resource(&target)) {
            Some((document, resource)) => self.inside(document, resource, fragment, reference),
            None => {
                let reason = self.missing.get(&target).cloned();
                Err(RefError::NotLoaded { reference: location::shown(reference), reason })
            }
        }
    }

    fn resolve_local(&self, from: usize, at: &str, fragment: &str, reference: &str) -> Result<Target<'_>, RefError> {
        let names = self.names();
        if let Some(resource) = names.enclosing(from, at)
            && let Ok(target) = self.inside(from, resource, fragment, reference)
        {
            return Ok(target);
        }
        let failure = match self.inside(from, "", fragment, reference) {
            Ok(target) => return Ok(target),
            Err(failure) => failure,
        };
        if at.is_empty() {
            for resource in names.resources(from) {
                if let Ok(target) = self.inside(from, resource, fragment, reference) {
                    return Ok(target);
                }
            }
        }
        Err(failure)
    }

    /// Follows a fragment inside a document or a schema resource embedded in it.
    fn inside(&self, index: usize, resource: &str, fragment: &str, reference: &str) -> Result<Target<'_>, RefError> {
        let root = self.documents.get(index).and_then(|document| document.get(resource));
        let Some(root) = root else {
            return Err(RefError::malformed(reference, "there is no such document"));
        };
        let target = |path: &str, value| Target { document: index, pointer: format!("{resource}{path}"), value };
        let Some(decoded) = pointer::from_fragment(fragment) else {
            return Err(RefError::malformed(reference, "its fragment is not percent-encoded UTF-8"));
        };
        if decoded.is_empty() || decoded.starts_with('/') {
            if let Some(value) = pointer::get(root, &decoded) {
                return Ok(target(&decoded, value));
            }
            // A name with a literal `%`, written without encoding it.
            if let Some(value) = pointer::get(root, fragment) {
                return Ok(target(fragment, value));
            }
            // `file.yaml#/` by the letter names a member with the empty name; people mean the whole file.
            if decoded == "/" {
                return Ok(target("", root));
            }
            return Err(RefError::no_node(root, reference, &decoded));
        }
        let names = self.names();
        if let Some((path, value)) = names.anchor(index, resource, &decoded).and_then(|path| {
            self.documents.get(index).and_then(|document| document.get(path)).map(|value| (path, value))
        }) {
            return Ok(Target { document: index, pointer: path.to_owned(), value });
        }
        // `#components/schemas/Pet`: the slash is often forgotten, and nothing else can be meant.
        let slashed = format!("/{decoded}");
        if decoded.contains('/')
            && let Some(value) = pointer::get(root, &slashed)
        {
            return Ok(target(&slashed, value));
        }
        Err(RefError::no_anchor(names.anchors(index, resource), reference, &decoded))
    }

    fn names(&self) -> &Names {
        self.names.get_or_init(|| Names::collect(&self.documents, &self.aliases))
    }
}
