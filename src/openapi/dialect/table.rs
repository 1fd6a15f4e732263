//! The table of definitions: one for every schema that is referred to, converted once.

use super::{At, Reader, cycle, name};
use crate::document::{self, RefError};
use crate::openapi::finding::Finding;
use crate::openapi::node::Node;
use crate::pace;
use crate::schema::keyword::each_reference;
use crate::schema::{Definition, DefinitionId, Definitions, Schema};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Longest chain of schemas that are nothing but a `$ref`.
const CHAIN: usize = 64;

/// Definitions being collected.
#[derive(Debug, Default)]
pub(in crate::openapi) struct Table<'a> {
    entries: Vec<Entry<'a>>,
    by_target: HashMap<(usize, String), DefinitionId>,
    /// Answers of earlier look-ups, by document and reference as written.
    by_reference: HashMap<usize, HashMap<String, Result<DefinitionId, Unresolved>>>,
    names: HashSet<String>,
    /// The next number to try for a name that is taken.
    numbers: HashMap<String, usize>,
    /// Names that component schemas of the root document have a right to.
    reserved: HashMap<(usize, String), String>,
}

#[derive(Debug)]
struct Entry<'a> {
    name: String,
    node: Node<'a>,
    json: Option<Value>,
}

/// Why a schema's reference has no definition.
#[derive(Debug, Clone)]
pub(super) struct Unresolved {
    pub message: String,
    pub fix: Option<String>,
}

impl From<&RefError> for Unresolved {
    fn from(why: &RefError) -> Self {
        Unresolved { message: why.to_string(), fix: why.fix() }
    }
}

impl<'a> Table<'a> {
    pub fn name(&self, id: DefinitionId) -> Option<&str> {
        self.entries.get(id).map(|it| it.name.as_str())
    }

    pub fn node(&self, id: DefinitionId) -> Option<&Node<'a>> {
        self.entries.get(id).map(|it| &it.node)
    }

    /// The definition of a schema; made where there is none.
    pub fn id_of(&mut self, node: Node<'a>) -> DefinitionId {
        let key = (node.document, node.pointer.clone());
        if let Some(&id) = self.by_target.get(&key) {
            return id;
        }
        let name = match self.reserved.get(&key) {
            Some(name) => name.clone(),
            None => self.unique(&name::propose(&node.pointer)),
        };
        let id = self.entries.len();
        self.entries.push(Entry { name, node, json: None });
        self.by_target.insert(key, id);
        id
    }

    fn unique(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while !self.names.insert(name.clone()) {
            let number = self.numbers.entry(wanted.to_owned()).or_insert(1);
            *number += 1;
            name = format!("{wanted}_{number}");
        }
        name
    }
}

impl<'a> Reader<'a> {
    /// Gives the component schemas of the root document their own names, whatever is met first.
    pub(in crate::openapi) fn reserve_names(&mut self, schemas: &[(&'a str, Node<'a>)]) {
        let legal = |name: &str| name::legal(name) == name;
        for (name, node) in schemas.iter().filter(|(name, _)| legal(name)) {
            self.reserve_name(name, node);
        }
        for (name, node) in schemas.iter().filter(|(name, _)| !legal(name)) {
            self.reserve_name(&name::legal(name), node);
        }
    }

    fn reserve_name(&mut self, name: &str, node: &Node<'a>) {
        pace::breathe();
        let target = self.end_of_chain(node.clone()).unwrap_or_else(|_| node.clone());
        let key = (target.document, target.pointer);
        if !self.table.reserved.contains_key(&key) {
            let unique = self.table.unique(name);
            self.table.reserved.insert(key, unique);
        }
    }

    fn has_ids(&self, document: usize) -> bool {
        let documents = &self.set.documents;
        *self
            .ids
            .get_or_init(|| documents.iter().map(|it| document::mentions(&it.source.text, "$id")).collect::<Vec<_>>())
            .get(document)
            .unwrap_or(&true)
    }

    /// The definition that `reference`, written at `at`, means.
    pub(super) fn definition(&mut self, at: &At, reference: &str) -> Result<DefinitionId, Unresolved> {
        let known = self.table.by_reference.get(&at.document).and_then(|it| it.get(reference));
        if let Some(known) = known {
            return known.clone();
        }
        let found = self
            .references
            .resolve(at.document, &at.pointer, reference)
            .map_err(|why| Unresolved::from(&why))
            .and_then(|node| self.end_of_chain(node))
            .map(|node| self.table.id_of(node));
        // With an `$id` about, the meaning depends on where the reference stands.
        if !self.has_ids(at.document) {
            self.table.by_reference.entry(at.document).or_default().insert(reference.to_owned(), found.clone());
        }
        found
    }

    /// Follows schemas that are nothing but a `$ref`.
    fn end_of_chain(&self, node: Node<'a>) -> Result<Node<'a>, Unresolved> {
        let mut now = node;
        let mut seen: Vec<(usize, String)> = Vec::new();
        while let (Some(reference), Some(1)) = (now.reference(), now.value.as_object().map(|it| it.len())) {
            let here = (now.document, now.pointer.clone());
            if seen.contains(&here) || seen.len() >= CHAIN {
                return Err(Unresolved { message: format!("`$ref` {reference} leads back to itself"), fix: None });
            }
            seen.push(here);
            now =
                self.references.resolve(now.document, &now.pointer, reference).map_err(|why| Unresolved::from(&why))?;
        }
        Ok(now)
    }

    /// Converts everything referred to so far and closes the table.
    pub(in crate::openapi) fn take_definitions(&mut self) -> Definitions {
        let mut next = 0;
        while let Some(node) = self.table.node(next).cloned() {
            let mut at = At::new(&node);
            let json = self.convert(&mut at, node.value);
            if let Some(entry) = self.table.entries.get_mut(next) {
                entry.json = Some(json);
            }
            next += 1;
        }
        let table = std::mem::take(&mut self.table);
        let nodes: Vec<Node<'a>> = table.entries.iter().map(|it| it.node.clone()).collect();
        let mut names = table.names;
        let list = table.entries.into_iter().map(|it| (it.name, it.json.unwrap_or(Value::Bool(true)))).collect();
        let (mut list, broken) = cycle::break_cycles(list, &mut names);
        keep_anchors(&nodes, &mut list);
        for id in broken {
            if let Some(node) = nodes.get(id) {
                self.findings.add(Finding::note(
                    "circular-schema",
                    node,
                    "the schema applies itself to the same value; the circle is cut where it adds nothing",
                ));
            }
        }
        let ids: HashMap<String, DefinitionId> =
            list.iter().enumerate().map(|(id, (name, _))| (name.clone(), id)).collect();
        let define = |(name, json): (String, Value)| {
            pace::breathe();
            let mut uses = Vec::new();
            each_reference(&json, &mut |reference| {
                let id = crate::schema::keyword::definition_name(reference).and_then(|it| ids.get(it));
                if let Some(&id) = id
                    && !uses.contains(&id)
                {
                    uses.push(id);
                }
            });
            Definition::new(name, Schema { json: Arc::new(json), uses: Arc::from(uses) })
        };
        Definitions { list: list.into_iter().map(define).collect() }
    }
}

/// Gives definitions the `$anchor` that their author gave them (2020-12 Core, section 8.2.2). References
/// are pointers by now; nothing needs it but a reader who knows the schema by that name. Of several equal
/// ones the first stays: in one schema they may not repeat.
fn keep_anchors(nodes: &[Node<'_>], list: &mut [(String, Value)]) {
    let mut taken = HashSet::new();
    for (node, (_, json)) in nodes.iter().zip(list) {
        let anchor = node.value.get("$anchor").and_then(Value::as_str).filter(|it| is_anchor(it));
        if let (Some(anchor), Some(object)) = (anchor, json.as_object_mut())
            && taken.insert(anchor)
        {
            object.insert("$anchor".to_owned(), Value::String(anchor.to_owned()));
        }
    }
}

fn is_anchor(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    text.bytes().all(inner) && text.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
}
