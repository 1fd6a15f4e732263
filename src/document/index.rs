//! Where every node of a document stands in its text: an arena built in one pass, on demand.

mod json;
mod yaml;

use super::{Format, pointer};
use std::collections::HashMap;
use std::sync::OnceLock;

/// A byte range.
pub(super) type Range = (usize, usize);

/// Positions of all nodes of one document.
#[derive(Debug, Default)]
pub(super) struct Index {
    nodes: Vec<Node>,
    /// Children of nodes that have many; made for the first question.
    wide: OnceLock<HashMap<u32, Wide>>,
}

/// The children of one node, to be found without walking along all of them.
#[derive(Debug, Default)]
struct Wide {
    /// By name; of duplicate keys the last.
    members: HashMap<Box<str>, u32>,
    items: Vec<u32>,
}

/// Up to here walking along is quick enough.
const FEW: usize = 32;

#[derive(Debug, Default)]
struct Node {
    /// The member's name; `None` for list items and the root.
    key: Option<Box<str>>,
    key_range: Range,
    range: Range,
    first: Option<u32>,
    next: Option<u32>,
    /// The last child, while building.
    last: Option<u32>,
    kind: Kind,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Kind {
    #[default]
    Scalar,
    Map,
    List,
    /// A YAML alias to this node.
    Alias(u32),
}

/// The answer to a question for a pointer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) key: Option<Range>,
    pub(super) value: Range,
    /// False where this is only the nearest ancestor.
    pub(super) exact: bool,
}

/// A key that stands twice.
pub(super) struct Duplicate<'i> {
    pub(super) key: &'i str,
    /// JSON pointer of the object.
    pub(super) parent: &'i str,
    pub(super) first: Range,
    pub(super) second: Range,
}

/// Aliases followed for one answer at most: each can lead to a map that merges another.
const MAX_HOPS: usize = 64;

impl Index {
    pub(super) fn build(text: &str, format: Format) -> Self {
        let mut index = match format {
            Format::Json => json::build(text),
            Format::Yaml => yaml::build(text),
        };
        if index.nodes.is_empty() {
            index.nodes.push(Node { range: (0, text.len()), ..Node::default() });
        }
        index
    }

    /// Adds a child to `parent` and returns its number.
    fn add(&mut self, parent: Option<u32>, node: Node) -> u32 {
        let id = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        self.nodes.push(node);
        if let Some(parent) = parent {
            let previous = self.node(parent).and_then(|parent| parent.last);
            match previous.and_then(|last| self.nodes.get_mut(last as usize)) {
                Some(previous) => previous.next = Some(id),
                None => {
                    if let Some(parent) = self.nodes.get_mut(parent as usize) {
                        parent.first = Some(id);
                    }
                }
            }
            if let Some(parent) = self.nodes.get_mut(parent as usize) {
                parent.last = Some(id);
            }
        }
        id
    }

    fn node(&self, id: u32) -> Option<&Node> {
        self.nodes.get(id as usize)
    }

    fn children(&self, id: u32) -> impl Iterator<Item = (u32, &Node)> {
        let mut next = self.node(id).and_then(|node| node.first);
        std::iter::from_fn(move || {
            let id = next?;
            let node = self.node(id)?;
            next = node.next;
            Some((id, node))
        })
    }

    fn wide(&self, id: u32) -> Option<&Wide> {
        let all = self.wide.get_or_init(|| {
            let ids = (0..self.nodes.len()).filter_map(|id| u32::try_from(id).ok());
            let many = ids.filter(|id| self.children(*id).nth(FEW).is_some());
            many.map(|id| {
                let mut wide = Wide::default();
                for (child, node) in self.children(id) {
                    wide.items.push(child);
                    wide.members.extend(node.key.clone().map(|key| (key, child)));
                }
                (id, wide)
            })
            .collect()
        });
        all.get(&id)
    }

    /// The node a pointer names, or its nearest ancestor.
    pub(super) fn find(&self, wanted: &str) -> Found {
        let mut at = 0;
        let mut exact = true;
        let mut hops = MAX_HOPS;
        for token in pointer::parse(wanted).unwrap_or_default() {
            match self.child(at, &token, &mut hops) {
                Some(child) => at = child,
                None => {
                    exact = false;
                    break;
                }
            }
        }
        match self.node(at) {
            Some(node) => Found { key: node.key.is_some().then_some(node.key_range), value: node.range, exact },
            None => Found { key: None, value: (0, 0), exact: false },
        }
    }

    fn child(&self, of: u32, name: &str, hops: &mut usize) -> Option<u32> {
        let mut of = of;
        while let Kind::Alias(target) = self.node(of)?.kind {
            *hops = hops.checked_sub(1)?;
            of = target;
        }
        match self.node(of)?.kind {
            Kind::List => {
                let at = pointer::index(name)?;
                match self.wide(of) {
                    Some(wide) => wide.items.get(at).copied(),
                    None => self.children(of).nth(at).map(|(id, _)| id),
                }
            }
            Kind::Map => {
                let own = match self.wide(of) {
                    Some(wide) => wide.members.get(name).copied(),
                    // The last of duplicate keys counts, as in the tree.
                    None => {
                        self.children(of).filter(|(_, node)| node.key.as_deref() == Some(name)).last().map(|(id, _)| id)
                    }
                };
                own.or_else(|| self.merged(of, name, hops))
            }
            Kind::Scalar | Kind::Alias(_) => None,
        }
    }

    /// A member that merge keys bring into a map; the first source that has it counts.
    fn merged(&self, of: u32, name: &str, hops: &mut usize) -> Option<u32> {
        let merges = self.children(of).filter(|(_, node)| node.key.as_deref() == Some("<<"));
        for (id, _) in merges {
            *hops = hops.checked_sub(1)?;
            let is_list = self.node(id)?.kind == Kind::List;
            if !is_list {
                if let Some(found) = self.child(id, name, hops) {
                    return Some(found);
                }
                continue;
            }
            for (item, _) in self.children(id) {
                *hops = hops.checked_sub(1)?;
                if let Some(found) = self.child(item, name, hops) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// Visits every key that stands twice in one object, except merge keys.
    pub(super) fn duplicates(&self, visit: &mut dyn FnMut(Duplicate<'_>)) {
        self.walk(&mut |id, parent| {
            if self.node(id).is_none_or(|node| node.kind != Kind::Map) {
                return;
            }
            let mut seen: HashMap<&str, Range> = HashMap::new();
            for (_, child) in self.children(id) {
                let Some(key) = child.key.as_deref().filter(|key| *key != "<<") else { continue };
                if let Some(first) = seen.insert(key, child.key_range) {
                    visit(Duplicate { key, parent, first, second: child.key_range });
                }
            }
        });
    }

    /// Visits JSON numbers that are integers past 64 bits: pointer and range.
    pub(super) fn huge_integers(&self, text: &str, visit: &mut dyn FnMut(&str, Range)) {
        self.walk(&mut |id, pointer| {
            let Some(node) = self.node(id).filter(|node| node.kind == Kind::Scalar) else { return };
            let written = text.get(node.range.0..node.range.1).unwrap_or_default();
            let digits = written.strip_prefix('-').unwrap_or(written);
            let integer = digits.len() > 18 && digits.bytes().all(|b| b.is_ascii_digit());
            if integer && written.parse::<i64>().is_err() && written.parse::<u64>().is_err() {
                visit(pointer, node.range);
            }
        });
    }

    /// Visits every node in document order with its pointer.
    fn walk(&self, visit: &mut dyn FnMut(u32, &str)) {
        let mut todo = vec![(0, String::new())];
        while let Some((id, path)) = todo.pop() {
            visit(id, &path);
            let list = self.node(id).is_some_and(|node| node.kind == Kind::List);
            let start = todo.len();
            for (n, (child, node)) in self.children(id).enumerate() {
                let path = match &node.key {
                    Some(key) if !list => pointer::join(&path, key),
                    _ => pointer::join_index(&path, n),
                };
                todo.push((child, path));
            }
            if let Some(added) = todo.get_mut(start..) {
                added.reverse();
            }
        }
    }
}
