//! Positions in YAML, from the same events as the tree.

use super::super::yaml::offsets::Offsets;
use super::super::yaml::{is_indentation, repair};
use super::{Index, Kind, Node, Range};
use saphyr_parser::{Event, Parser};
use std::collections::HashMap;

pub(super) fn build(text: &str) -> Index {
    match scan(text) {
        Ok(index) => index,
        // As the reader did: places in the repaired text are those of the text.
        Err((index, info)) if is_indentation(&info) => match repair(text) {
            Some(repaired) => scan(&repaired).unwrap_or_else(|(index, _)| index),
            None => index,
        },
        Err((index, _)) => index,
    }
}

/// The index, or as far as it goes and what the scanner says.
fn scan(text: &str) -> Result<Index, (Index, String)> {
    let offsets = Offsets::new(text);
    let mut builder = Builder::new();
    for next in Parser::new_from_str(text) {
        let (event, span) = match next {
            Ok(next) => next,
            Err(error) => return Err((builder.index, error.info().to_owned())),
        };
        let range = offsets.range(span);
        match event {
            Event::Scalar(key, _, anchor, _) if builder.wants_key() => {
                builder.anchor(anchor, None, Some(&key));
                builder.key(Some(&key), trimmed(text, range));
            }
            Event::Scalar(_, _, anchor, _) => {
                let id = builder.value(trimmed(text, range), Kind::Scalar);
                builder.anchor(anchor, id, None);
            }
            Event::Alias(anchor) if builder.wants_key() => {
                let key = builder.anchors.get(&anchor).and_then(|known| known.text.clone());
                builder.key(key.as_deref(), range);
            }
            Event::Alias(anchor) => {
                let target = builder.anchors.get(&anchor).and_then(|known| known.node);
                builder.value(range, target.map_or(Kind::Scalar, Kind::Alias));
            }
            Event::SequenceStart(anchor, _) => builder.open(anchor, range, Kind::List),
            Event::MappingStart(anchor, _) => builder.open(anchor, range, Kind::Map),
            Event::SequenceEnd | Event::MappingEnd => builder.close(range),
            // The tree is that of the first document that is not empty.
            Event::DocumentEnd if builder.has_content(text) => break,
            Event::DocumentEnd => builder = Builder::new(),
            _ => {}
        }
    }
    Ok(builder.index)
}

struct Builder {
    index: Index,
    open: Vec<Open>,
    anchors: HashMap<usize, Known>,
}

struct Open {
    /// `None` inside a key that is no scalar.
    node: Option<u32>,
    map: bool,
    /// The key whose value comes next; one without a name is a list or map, whose entry the tree does not have.
    key: Option<(Option<Box<str>>, Range)>,
    /// True while a list or map stands where a key belongs.
    is_key: bool,
}

struct Known {
    node: Option<u32>,
    text: Option<String>,
}

impl Builder {
    fn new() -> Self {
        Builder { index: Index::default(), open: Vec::new(), anchors: HashMap::new() }
    }

    /// False for a document that is only `null` or nothing.
    fn has_content(&self, text: &str) -> bool {
        self.index.node(0).is_some_and(|root| {
            let written = text.get(root.range.0..root.range.1).unwrap_or_default();
            root.kind != Kind::Scalar || !matches!(written, "" | "~" | "null" | "Null" | "NULL" | "---" | "...")
        })
    }

    fn wants_key(&self) -> bool {
        self.open.last().is_some_and(|open| open.map && open.key.is_none())
    }

    fn key(&mut self, key: Option<&str>, range: Range) {
        if let Some(open) = self.open.last_mut() {
            open.key = Some((key.map(Into::into), range));
        }
    }

    fn anchor(&mut self, anchor: usize, node: Option<u32>, text: Option<&str>) {
        if anchor != 0 {
            self.anchors.insert(anchor, Known { node, text: text.map(str::to_owned) });
        }
    }

    /// Adds a value under the open collection; `None` inside a key that is no scalar, and for the value of one.
    fn value(&mut self, range: Range, kind: Kind) -> Option<u32> {
        let (parent, key) = match self.open.last_mut() {
            None if !self.index.nodes.is_empty() => return None,
            None => (None, None),
            Some(open) => (Some(open.node?), open.key.take()),
        };
        let (key, key_range) = match key {
            Some((None, _)) => return None,
            Some((key, range)) => (key, range),
            None => (None, (0, 0)),
        };
        Some(self.index.add(parent, Node { key, key_range, range, kind, ..Node::default() }))
    }

    fn open(&mut self, anchor: usize, range: Range, kind: Kind) {
        let is_key = self.wants_key();
        let node = if is_key { None } else { self.value(range, kind) };
        self.anchor(anchor, node, None);
        self.open.push(Open { node, map: kind == Kind::Map, key: None, is_key });
    }

    fn close(&mut self, range: Range) {
        let Some(open) = self.open.pop() else { return };
        if open.is_key {
            self.key(None, range);
        }
        let Some(node) = open.node else { return };
        // A block collection ends with its last entry, not where the next token stands.
        let inner = self.index.node(node).and_then(|node| node.last).and_then(|last| self.index.node(last));
        let inner_end = inner.map_or(0, |child| child.range.1.max(child.key_range.1));
        if let Some(node) = self.index.nodes.get_mut(node as usize) {
            let flow = range.0 < range.1;
            node.range.1 = if flow { range.1 } else { inner_end.max(node.range.1) };
        }
    }
}

/// Block scalars reach to the next token; their range ends with their last visible character.
fn trimmed(text: &str, range: Range) -> Range {
    let part = text.get(range.0..range.1).unwrap_or_default();
    (range.0, range.0 + part.trim_end().len())
}
