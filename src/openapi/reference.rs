//! Follows `$ref`: to any JSON pointer, `$anchor` or `$id`, in any document of the set, through
//! chains, never in circles.

use super::finding::Finding;
use super::node::{Node, push_token, unescape_token};
use crate::document::DocumentSet;
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::HashMap;

/// Longest chain of references.
const CHAIN: usize = 64;

/// Resolves references of a set of documents.
#[derive(Debug)]
pub(super) struct References<'a> {
    set: &'a DocumentSet,
    names: OnceCell<Names>,
}

/// Schemas named by JSON Schema's own means.
#[derive(Debug, Default)]
struct Names {
    /// `$anchor` and `$dynamicAnchor`, by document.
    anchors: HashMap<(usize, String), String>,
    /// `$id` (and draft-04 `id`) without fragment.
    ids: Vec<(String, usize, String)>,
}

/// What a Reference Object stands for.
#[derive(Debug, Clone)]
pub(super) struct Followed<'a> {
    /// The node at the end of the chain.
    pub node: Node<'a>,
    /// `summary` beside the first `$ref` that has one.
    pub summary: Option<&'a str>,
    /// `description` beside the first `$ref` that has one.
    pub description: Option<&'a str>,
}

impl<'a> References<'a> {
    pub fn new(set: &'a DocumentSet) -> References<'a> {
        References { set, names: OnceCell::new() }
    }

    /// The node that `reference`, written in document `from`, points to; else why there is none.
    pub fn resolve(&self, from: usize, reference: &str) -> Result<Node<'a>, String> {
        let first = match self.lookup(from, reference) {
            Ok(node) => return Ok(node),
            Err(why) => why,
        };
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let document = match address {
            "" => Some(from),
            _ => self.lookup(from, address).ok().map(|it| it.document),
        };
        let found = match document {
            Some(document) if fragment.starts_with('/') || fragment.is_empty() => {
                let root = self.root(document)?;
                self.walk(root, &percent_decode(fragment), 0)
            }
            Some(document) => {
                let pointer = self.names().anchors.get(&(document, fragment.to_owned()));
                pointer.and_then(|pointer| self.walk(self.root(document).ok()?, pointer, 0))
            }
            None => None,
        };
        found.or_else(|| self.by_id(address, fragment)).ok_or(first)
    }

    /// The schema that `$dynamicRef: #name` or an anchor names in `document`.
    pub fn anchor(&self, document: usize, name: &str) -> Option<Node<'a>> {
        let pointer = self.names().anchors.get(&(document, name.to_owned()))?;
        self.walk(self.root(document).ok()?, pointer, 0)
    }

    /// The innermost ancestor-or-self of `node` that has an `$id`.
    pub fn resource(&self, document: usize, pointer: &str) -> Option<Node<'a>> {
        let ids = &self.names().ids;
        let roots = ids.iter().filter(|(_, at, root)| *at == document && is_within(pointer, root));
        let (_, _, root) = roots.max_by_key(|(_, _, root)| root.len())?;
        if root.is_empty() { None } else { self.walk(self.root(document).ok()?, root, 0) }
    }

    /// Follows `node` as long as it is a Reference Object.
    pub fn follow(&self, node: Node<'a>) -> Result<Followed<'a>, Finding> {
        let mut followed = Followed { summary: None, description: None, node };
        let mut seen: Vec<(usize, String)> = Vec::new();
        while let Some(reference) = followed.node.reference() {
            let here = (followed.node.document, followed.node.pointer.clone());
            if seen.contains(&here) || seen.len() >= CHAIN {
                return Err(Finding::error(
                    "circular-ref",
                    &followed.node,
                    format!("`$ref` {reference} leads back to itself"),
                ));
            }
            seen.push(here);
            followed.summary = followed.summary.or(followed.node.text("summary"));
            followed.description = followed.description.or(followed.node.text("description"));
            followed.node = self.resolve(followed.node.document, reference).map_err(|why| {
                Finding::error("unresolved-ref", &followed.node, format!("`$ref` {reference}: {why}"))
            })?;
        }
        Ok(followed)
    }

    fn root(&self, document: usize) -> Result<Node<'a>, String> {
        let found = self.set.documents.get(document).ok_or_else(|| "no such document".to_owned())?;
        Ok(Node { document, pointer: String::new(), value: &found.root })
    }

    /// The plain meaning: a document's address and a JSON pointer.
    fn lookup(&self, from: usize, reference: &str) -> Result<Node<'a>, String> {
        let target = self.set.resolve(from, reference).map_err(|why| why.to_string())?;
        Ok(Node { document: target.document, pointer: target.pointer, value: target.value })
    }

    /// Walks `pointer` from `node`, following references that stand in the way.
    fn walk(&self, node: Node<'a>, pointer: &str, hops: usize) -> Option<Node<'a>> {
        let mut now = node;
        for token in pointer.split('/').skip(1) {
            let token = unescape_token(token);
            let mut left = CHAIN.saturating_sub(hops);
            let next = loop {
                if let Some(value) = step(now.value, &token) {
                    let mut pointer = now.pointer;
                    push_token(&mut pointer, &token);
                    break Node { document: now.document, pointer, value };
                }
                left = left.checked_sub(1)?;
                let reference = now.reference()?;
                now = self.lookup(now.document, reference).ok()?;
            };
            now = next;
        }
        Some(now)
    }

    fn by_id(&self, address: &str, fragment: &str) -> Option<Node<'a>> {
        if address.is_empty() {
            return None;
        }
        let ids = &self.names().ids;
        let same = ids.iter().find(|(id, ..)| id == address);
        let ends = || ids.iter().find(|(id, ..)| id.strip_suffix(address).is_some_and(|it| it.ends_with('/')));
        let (_, document, pointer) = same.or_else(ends)?;
        let root = self.walk(self.root(*document).ok()?, pointer, 0)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.walk(root, &percent_decode(fragment), 0);
        }
        self.anchor(*document, fragment)
    }

    fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            let mut names = Names::default();
            for (index, document) in self.set.documents.iter().enumerate() {
                let text = &document.source.text;
                if ["$id", "$schema", "$anchor", "$dynamicAnchor"].iter().any(|it| text.contains(it)) {
                    scan(index, &document.root, &mut names);
                }
            }
            names
        })
    }
}

fn is_within(pointer: &str, root: &str) -> bool {
    pointer.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn step<'v>(value: &'v Value, token: &str) -> Option<&'v Value> {
    match value {
        Value::Object(object) => object.get(token),
        Value::Array(items) => items.get(token.parse::<usize>().ok()?),
        _ => None,
    }
}

fn percent_decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn scan(document: usize, root: &Value, names: &mut Names) {
    let mut open: Vec<(&Value, String)> = vec![(root, String::new())];
    while let Some((value, pointer)) = open.pop() {
        match value {
            Value::Object(object) => {
                for key in ["$anchor", "$dynamicAnchor"] {
                    if let Some(name) = object.get(key).and_then(Value::as_str) {
                        names.anchors.entry((document, name.to_owned())).or_insert_with(|| pointer.clone());
                    }
                }
                let id = object.get("$id").or_else(|| object.get("id").filter(|_| is_schema(object)));
                if let Some(id) = id.and_then(Value::as_str) {
                    match id.split_once('#') {
                        Some(("", name)) if !name.is_empty() => {
                            names.anchors.entry((document, name.to_owned())).or_insert_with(|| pointer.clone());
                        }
                        Some(("", _)) => {}
                        Some((address, _)) => names.ids.push((address.to_owned(), document, pointer.clone())),
                        None => names.ids.push((id.to_owned(), document, pointer.clone())),
                    }
                }
                for (key, child) in object.iter().filter(|(_, it)| it.is_object() || it.is_array()) {
                    let mut child_pointer = pointer.clone();
                    push_token(&mut child_pointer, key);
                    open.push((child, child_pointer));
                }
            }
            Value::Array(items) => {
                for (index, child) in items.iter().enumerate().filter(|(_, it)| it.is_object() || it.is_array()) {
                    open.push((child, format!("{pointer}/{index}")));
                }
            }
            _ => {}
        }
    }
}

/// Draft-04 `id` counts only beside keywords that make the object a schema root.
fn is_schema(object: &serde_json::Map<String, Value>) -> bool {
    object.contains_key("$schema") || object.contains_key("definitions")
}
