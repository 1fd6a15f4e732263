//! Makes a value conform to a published output schema, and tells quickly when nothing needs to be done.
//!
//! A [`Shape`] knows what relaxed schemas say: types, properties, items, additional members, `anyOf`.
//! Answers that conform are found so by streaming their bytes; no tree is built.

mod accept;
mod compile;
mod known;
mod read;
mod repair;
mod sink;

pub(super) use known::{Known, NOWHERE};
pub(super) use read::Reader;
pub(super) use sink::{Blind, Escaping, Sink};

use crate::schema::kinds::Kinds;
use serde_json::Value;

/// Compiled form of a published output schema.
#[derive(Debug)]
pub struct Shape {
    nodes: Vec<Node>,
    root: u32,
}

/// The node that accepts everything; always the first.
const ANY: u32 = 0;

/// One schema. References are indices, so that definitions may hold themselves.
#[derive(Debug)]
struct Node {
    kinds: Kinds,
    /// In the schema's order, which answers mostly keep.
    properties: Vec<Property>,
    /// Indices into `properties`, ordered by name.
    sorted: Vec<u32>,
    items: u32,
    extra: u32,
    /// At least one of these holds as well; empty = no such condition.
    any_of: Vec<u32>,
    /// This node and all alternatives reachable through `any_of`; empty without `any_of`.
    closure: Vec<u32>,
}

/// A declared member.
#[derive(Debug)]
struct Property {
    /// The name between quotes: as it stands in JSON text, where `plain`.
    quoted: Box<str>,
    /// Nothing in the name needs an escape.
    plain: bool,
    node: u32,
}

impl Property {
    fn new(name: &str, node: u32) -> Property {
        let plain = !name.bytes().any(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
        Property { quoted: ["\"", name, "\""].concat().into(), plain, node }
    }

    fn name(&self) -> &str {
        self.quoted.get(1..self.quoted.len() - 1).unwrap_or_default()
    }
}

impl Node {
    fn any() -> Node {
        Node {
            kinds: Kinds::ALL,
            properties: Vec::new(),
            sorted: Vec::new(),
            items: ANY,
            extra: ANY,
            any_of: Vec::new(),
            closure: Vec::new(),
        }
    }

    /// The node for a member. `guess` is where the name is looked for first; it moves on.
    fn member(&self, name: &str, guess: &mut usize) -> u32 {
        if let Some(expected) = self.properties.get(*guess)
            && expected.name() == name
        {
            *guess += 1;
            return expected.node;
        }
        let found = self
            .sorted
            .binary_search_by(|index| self.properties.get(*index as usize).map_or("", Property::name).cmp(name));
        match found.ok().and_then(|at| self.sorted.get(at)) {
            Some(index) => {
                *guess = *index as usize + 1;
                self.properties.get(*index as usize).map_or(ANY, |property| property.node)
            }
            None => self.extra,
        }
    }
}

/// What [`Shape::accepts`] says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Well-formed JSON that conforms.
    Conforms,
    /// Well-formed JSON that does not.
    Differs,
    /// No JSON text in UTF-8 (RFC 8259), one nested deeper than 127, or one with a number that no double holds
    /// (section 6): many clients refuse the whole message for it.
    NotJson,
}

impl Shape {
    /// Compiles a published schema ([`crate::schema::output::relaxed`]); never fails. Keywords that relaxed
    /// schemas do not have are ignored.
    pub fn new(published: &Value) -> Shape {
        compile::compile(published)
    }

    /// Makes `value` conform: what does not is replaced by null and counted. Where the root must be an
    /// object or a list and the value is none, an empty one comes back, counted too.
    pub fn conform(&self, value: Value) -> (Value, usize) {
        let mut value = value;
        let nulled = repair::repair(self, &mut value);
        (value, nulled)
    }

    /// True if [`Shape::conform`] would change nothing.
    pub fn fits(&self, value: &Value) -> bool {
        repair::fits(self, value)
    }

    /// Reads bytes, building nothing: linear in their length.
    pub fn accepts(&self, json: &[u8]) -> Verdict {
        if is_utf8(json) { accept::accepts(self, json, Blind).0 } else { Verdict::NotJson }
    }

    /// [`Shape::accepts`] of bytes that are known to be UTF-8, where a lone surrogate is no JSON either: it is legal in the
    /// grammar but stands for no text, and clients refuse the whole message. Without a shape it is the grammar alone.
    pub(super) fn judge<S: Sink>(shape: Option<&Shape>, json: &[u8], sink: S) -> (Verdict, S) {
        let (verdict, read) = match shape {
            Some(shape) => accept::accepts(shape, json, sink),
            None => accept::is_json(json, sink),
        };
        (if read.saw_lone_surrogate() { Verdict::NotJson } else { verdict }, read.into_sink())
    }

    fn node(&self, id: u32) -> Option<&Node> {
        self.nodes.get(id as usize).filter(|_| id != ANY)
    }
}

/// Whether bytes are UTF-8; quickest where they are ASCII.
pub(super) fn is_utf8(bytes: &[u8]) -> bool {
    bytes.is_ascii() || std::str::from_utf8(bytes).is_ok()
}
