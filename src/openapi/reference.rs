//! Follows `$ref`: through chains, through references that stand in the middle of a pointer, never
//! in circles. What one reference means is [`DocumentSet::resolve_at`]'s to say.

use super::finding::Finding;
use super::node::Node;
use crate::document::{DocumentSet, RefError, pointer};

/// Longest chain of references.
const CHAIN: usize = 64;

/// Resolves references of a set of documents.
#[derive(Debug)]
pub(super) struct References<'a> {
    set: &'a DocumentSet,
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
        References { set }
    }

    /// The node that `reference`, written at pointer `at` of document `from`, points to; else why
    /// there is none.
    pub fn resolve(&self, from: usize, at: &str, reference: &str) -> Result<Node<'a>, RefError> {
        let why = match self.set.resolve_at(from, at, reference) {
            Ok(target) => {
                return Ok(Node { document: target.document, pointer: target.pointer, value: target.value });
            }
            Err(why) => why,
        };
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let document = match address {
            "" => Some(from),
            _ => self.set.resolve_at(from, at, address).ok().map(|it| it.document),
        };
        let root = document.and_then(|it| self.root(it)).filter(|_| fragment.starts_with('/'));
        let path = percent_encoding::percent_decode_str(fragment).decode_utf8_lossy();
        root.and_then(|root| self.walk(root, &path)).ok_or(why)
    }

    /// Follows `node` as long as it is a Reference Object.
    pub fn follow(&self, node: Node<'a>) -> Result<Followed<'a>, Finding> {
        let mut followed = Followed { summary: None, description: None, node };
        let mut seen: Vec<(usize, String)> = Vec::new();
        while let Some(reference) = followed.node.reference() {
            let here = (followed.node.document, followed.node.pointer.clone());
            if seen.contains(&here) || seen.len() >= CHAIN {
                let what = format!("`$ref` {reference} leads back to itself");
                return Err(Finding::error("circular-ref", &followed.node, what));
            }
            followed.summary = followed.summary.or(followed.node.text("summary"));
            followed.description = followed.description.or(followed.node.text("description"));
            followed.node = self.resolve(here.0, &here.1, reference).map_err(|why| unresolved(&followed.node, &why))?;
            seen.push(here);
        }
        Ok(followed)
    }

    fn root(&self, document: usize) -> Option<Node<'a>> {
        let found = self.set.documents.get(document)?;
        Some(Node { document, pointer: String::new(), value: &found.root })
    }

    /// Walks `pointer` from `node`, following references that stand in the way.
    fn walk(&self, node: Node<'a>, path: &str) -> Option<Node<'a>> {
        let mut now = node;
        let mut left = CHAIN;
        for token in pointer::parse(path)? {
            now = loop {
                if let Some(value) = pointer::child(now.value, &token) {
                    break Node { document: now.document, pointer: pointer::join(&now.pointer, &token), value };
                }
                left = left.checked_sub(1)?;
                let target = self.set.resolve_at(now.document, &now.pointer, now.reference()?).ok()?;
                now = Node { document: target.document, pointer: target.pointer, value: target.value };
            };
        }
        Some(now)
    }
}

/// A reference that leads nowhere.
pub(super) fn unresolved(at: &Node<'_>, why: &RefError) -> Finding {
    let finding = Finding::error("unresolved-ref", &at.child_or_self("$ref"), why.to_string());
    match why.fix() {
        Some(fix) => finding.fix(fix),
        None => finding,
    }
}
