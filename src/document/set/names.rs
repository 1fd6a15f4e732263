//! The names that documents and schemas give themselves: locations, `$self`, `$id`, `$anchor`.

use super::super::{Document, location, pointer, reference};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// All names in a set, made once.
#[derive(Debug, Default)]
pub(super) struct Names {
    locations: HashMap<String, usize>,
    /// `$self` and `$id` as absolute URIs: document and JSON pointer of the resource.
    resources: HashMap<String, (usize, String)>,
    documents: Vec<OfDocument>,
}

#[derive(Debug, Default)]
struct OfDocument {
    /// The base that `$self` sets.
    base: Option<String>,
    /// Embedded schema resources: JSON pointer and base URI.
    embedded: Vec<(String, String)>,
    /// By resource pointer and anchor name: JSON pointer.
    anchors: HashMap<(String, String), String>,
}

impl Names {
    pub(super) fn collect(documents: &[Arc<Document>], aliases: &HashMap<String, String>) -> Self {
        let mut names = Names::default();
        for (index, document) in documents.iter().enumerate() {
            // The first wins: the root is never hidden by a file that calls itself like it.
            names.locations.entry(document.location.clone()).or_insert(index);
            let own = of_document(document);
            if let Some(base) = &own.base {
                names.resources.entry(base.clone()).or_insert((index, String::new()));
            }
            for (at, uri) in &own.embedded {
                names.resources.entry(uri.clone()).or_insert_with(|| (index, at.clone()));
            }
            names.documents.push(own);
        }
        for (other, location) in aliases {
            if let Some(index) = names.location(location) {
                names.locations.entry(other.clone()).or_insert(index);
            }
        }
        names
    }

    pub(super) fn location(&self, location: &str) -> Option<usize> {
        self.locations.get(location).copied()
    }

    pub(super) fn resource(&self, uri: &str) -> Option<(usize, &str)> {
        self.resources.get(uri).map(|(document, at)| (*document, at.as_str()))
    }

    /// The bases other than the document's location, innermost first.
    pub(super) fn bases(&self, document: usize, at: &str) -> impl Iterator<Item = &str> {
        let own = self.documents.get(document);
        let embedded = own.into_iter().flat_map(move |own| {
            let exact = own.enclosing(at).map(|(_, base)| base);
            // Without a position every schema with an `$id` may be the one.
            let any = own.embedded.iter().filter(move |_| at.is_empty()).map(|(_, base)| base.as_str());
            exact.into_iter().chain(any)
        });
        embedded.chain(own.and_then(|own| own.base.as_deref()))
    }

    /// The embedded schema resource around a position.
    pub(super) fn enclosing(&self, document: usize, at: &str) -> Option<&str> {
        self.documents.get(document)?.enclosing(at).map(|(pointer, _)| pointer)
    }

    pub(super) fn resources(&self, document: usize) -> impl Iterator<Item = &str> {
        self.documents.get(document).into_iter().flat_map(|own| own.embedded.iter().map(|(at, _)| at.as_str()))
    }

    /// Where an anchor of a resource stands. An anchor asked for at the document finds those of
    /// embedded resources too, if no other resource has the name.
    pub(super) fn anchor(&self, document: usize, resource: &str, name: &str) -> Option<&str> {
        let anchors = &self.documents.get(document)?.anchors;
        if let Some(at) = anchors.get(&(resource.to_owned(), name.to_owned())) {
            return Some(at);
        }
        let mut others = anchors.iter().filter(|((_, anchor), _)| resource.is_empty() && anchor == name);
        match (others.next(), others.next()) {
            (Some((_, at)), None) => Some(at),
            _ => None,
        }
    }

    pub(super) fn anchors(&self, document: usize, resource: &str) -> impl Iterator<Item = &str> {
        let own = self.documents.get(document).into_iter().flat_map(|own| own.anchors.keys());
        own.filter(move |(of, _)| of == resource).map(|(_, name)| name.as_str())
    }
}

impl OfDocument {
    fn enclosing(&self, at: &str) -> Option<(&str, &str)> {
        let around = |outer: &str| at.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let found =
            self.embedded.iter().filter(|(pointer, _)| around(pointer)).max_by_key(|(pointer, _)| pointer.len());
        found.map(|(pointer, base)| (pointer.as_str(), base.as_str()))
    }
}

fn of_document(document: &Document) -> OfDocument {
    let mut own = OfDocument::default();
    let text = &document.source.text;
    if !["$id", "$self", "$anchor", "$dynamicAnchor"].iter().any(|name| reference::names_member(text, name)) {
        return own;
    }
    if let Some(Value::String(uri)) = document.root.get("$self") {
        own.base = location::resolve(&document.location, location::split(uri).0);
    }
    let start = own.base.clone().unwrap_or_else(|| document.location.clone());
    let mut anchors: Vec<(String, String)> = Vec::new();
    // The walk is depth first, so an outer `$id` is known before the inner ones.
    let names = ["$id", "$anchor", "$dynamicAnchor"];
    reference::walk(document, &mut |object, place| {
        if !names.iter().any(|name| object.contains_key(*name)) {
            return;
        }
        let at = place.pointer();
        let at = at.as_str();
        if let Some(Value::String(id)) = object.get("$id") {
            let base = own.enclosing(at).map_or(start.as_str(), |(_, base)| base).to_owned();
            let (file, fragment) = location::split(id);
            match location::resolve(&base, file) {
                Some(uri) if !file.is_empty() && at.is_empty() => own.base = own.base.take().or(Some(uri)),
                Some(uri) if !file.is_empty() => own.embedded.push((at.to_owned(), uri)),
                _ => {}
            }
            // Drafts 6 and 7 wrote anchors so.
            if let Some(name) = fragment.filter(|name| !name.is_empty()) {
                anchors.push((name.to_owned(), at.to_owned()));
            }
        }
        for key in ["$anchor", "$dynamicAnchor"] {
            if let Some(Value::String(name)) = object.get(key) {
                anchors.push((name.clone(), at.to_owned()));
            }
        }
    });
    for (name, at) in anchors {
        let resource = own.enclosing(&at).map_or(String::new(), |(pointer, _)| pointer.to_owned());
        own.anchors.entry((resource, name)).or_insert(at);
    }
    debug_assert!(own.anchors.values().all(|at| pointer::parse(at).is_some()));
    own
}
