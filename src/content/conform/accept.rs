//! Checks bytes against a shape while reading them, as an automaton: one node at a time, or, below
//! `anyOf`, all alternatives side by side. Every byte is read once.

use super::known::{Known, NOWHERE};
use super::read::Reader;
use super::sink::Sink;
use super::{ANY, Node, Shape, Verdict};
use crate::schema::kinds::Kinds;

/// What the text is to the shape, and the reader that read it.
pub(super) fn accepts<'j, S: Sink>(shape: &Shape, text: &'j [u8], sink: S) -> (Verdict, Reader<'j, S>) {
    let nodes = shape.nodes.len();
    let known = Known::new(text, nodes + 1);
    let mut run = Run { shape, json: Reader::with(text, sink), known };
    let verdict = match run.value(shape.root, nodes as u32) {
        Some(conforms) if run.json.is_at_end() => {
            if conforms {
                Verdict::Conforms
            } else {
                Verdict::Differs
            }
        }
        _ => Verdict::NotJson,
    };
    (verdict, run.json)
}

/// Whether it is one well-formed JSON text, as [`accepts`] reads it.
pub(super) fn is_json<S: Sink>(text: &[u8], sink: S) -> (Verdict, Reader<'_, S>) {
    let mut json = Reader::with(text, sink);
    let good = Known::new(text, 1).skip(&mut json, 0).is_some() && json.is_at_end();
    (if good { Verdict::Conforms } else { Verdict::NotJson }, json)
}

struct Run<'s, 'j, S: Sink> {
    shape: &'s Shape,
    json: Reader<'j, S>,
    /// A place for each node, and more for what no node is about: what a step leads to there is nothing.
    known: Known<S>,
}

impl<'s, S: Sink> Run<'s, '_, S> {
    /// Reads a value against one node, or at a place where there is none; `None` where the text is no JSON.
    // Inlined, so that scalars are read where they are met.
    #[inline(always)]
    fn value(&mut self, id: u32, place: u32) -> Option<bool> {
        let first = self.json.next();
        if matches!(first, b'{' | b'[') {
            return self.container(first, id, place);
        }
        let Some(node) = self.shape.node(id) else { return self.json.scalar(first, Kinds::NUMBER).map(|_| true) };
        if !node.closure.is_empty() {
            return self.alternatives(node);
        }
        self.json.scalar(first, node.kinds).map(|kind| node.kinds.meets(kind))
    }

    #[inline(never)]
    fn container(&mut self, first: u8, id: u32, place: u32) -> Option<bool> {
        let Some(node) = self.shape.node(id) else { return self.known.skip(&mut self.json, place).map(|()| true) };
        if !node.closure.is_empty() {
            return self.alternatives(node);
        }
        match first {
            b'{' if node.kinds.meets(Kinds::OBJECT) => self.object(node, id),
            b'[' if node.kinds.meets(Kinds::ARRAY) => self.array(node, place),
            _ => self.known.skip(&mut self.json, NOWHERE).map(|()| false),
        }
    }

    fn alternatives(&mut self, node: &'s Node) -> Option<bool> {
        let own = self.many(&node.closure)?;
        Some(settle(self.shape, &node.closure, &own).first().copied().unwrap_or(false))
    }

    fn object(&mut self, node: &'s Node, place: u32) -> Option<bool> {
        if !self.json.enter(b'}')? {
            return Some(true);
        }
        let (mut at, mut guess) = (0, 0);
        let shape = self.shape;
        let wanted = |id| match shape.node(id) {
            None => Kinds::ALL,
            Some(node) if node.closure.is_empty() => node.kinds,
            Some(_) => Kinds::NONE,
        };
        loop {
            if self.known.rush(&mut self.json, place, &mut at, wanted) {
                return Some(true);
            }
            let (id, below) = match self.known.follow(&mut self.json, place, &mut at) {
                Some(member) => (member.to, member.below),
                None => {
                    let start = self.json.at();
                    let id = self.member(node, &mut guess)?;
                    (id, self.known.learn(&mut self.json, place, &mut at, start, id).below)
                }
            };
            if !self.value(id, below)? {
                return self.known.skip_rest(&mut self.json, b'}').map(|()| false);
            }
            if !self.json.more(b'}')? {
                return Some(true);
            }
        }
    }

    /// Reads a member's name and colon; gives the node for its value.
    fn member(&mut self, node: &'s Node, guess: &mut usize) -> Option<u32> {
        // Mostly it is the next one in the schema's order: then its name need not be read.
        let expected = node.properties.get(*guess).filter(|next| next.plain && self.json.take_name(&next.quoted));
        match expected {
            Some(property) => {
                *guess += 1;
                self.json.colon()?;
                Some(property.node)
            }
            None => self.json.name(|name| node.member(name, guess)),
        }
    }

    fn array(&mut self, node: &'s Node, place: u32) -> Option<bool> {
        if !self.json.enter(b']')? {
            return Some(true);
        }
        loop {
            if !self.value(node.items, place)? {
                return self.known.skip_rest(&mut self.json, b']').map(|()| false);
            }
            if !self.json.more(b']')? {
                return Some(true);
            }
        }
    }

    /// Reads a value against several nodes at once; says for each whether its own conditions hold.
    fn many(&mut self, ids: &[u32]) -> Option<Vec<bool>> {
        let shape = self.shape;
        let meets = |kind| ids.iter().map(|id| shape.node(*id).is_none_or(|node| node.kinds.meets(kind))).collect();
        match self.json.next() {
            b'{' => self.many_members(ids, meets(Kinds::OBJECT)),
            b'[' => self.many_items(ids, meets(Kinds::ARRAY)),
            first => self.json.scalar(first, Kinds::INTEGER).map(meets),
        }
    }

    fn many_members(&mut self, ids: &[u32], mut holds: Vec<bool>) -> Option<Vec<bool>> {
        if !self.json.enter(b'}')? {
            return Some(holds);
        }
        let shape = self.shape;
        let mut guesses = vec![0usize; ids.len()];
        let mut below = Below::default();
        loop {
            below.clear();
            self.json.name(|name| {
                for (parent, (id, guess)) in ids.iter().zip(&mut guesses).enumerate() {
                    if holds.get(parent) == Some(&true)
                        && let Some(node) = shape.node(*id)
                    {
                        below.want(shape, parent, node.member(name, guess));
                    }
                }
            })?;
            self.many_below(&below, &mut holds)?;
            if !self.json.more(b'}')? {
                return Some(holds);
            }
        }
    }

    fn many_items(&mut self, ids: &[u32], mut holds: Vec<bool>) -> Option<Vec<bool>> {
        if !self.json.enter(b']')? {
            return Some(holds);
        }
        let mut below = Below::default();
        loop {
            below.clear();
            for (parent, id) in ids.iter().enumerate().filter(|(parent, _)| holds.get(*parent) == Some(&true)) {
                below.want(self.shape, parent, self.shape.node(*id).map_or(ANY, |node| node.items));
            }
            self.many_below(&below, &mut holds)?;
            if !self.json.more(b']')? {
                return Some(holds);
            }
        }
    }

    /// Reads one member's or item's value and strikes the parents whose node does not hold.
    fn many_below(&mut self, below: &Below, holds: &mut [bool]) -> Option<()> {
        if below.ids.is_empty() {
            return self.known.skip(&mut self.json, NOWHERE);
        }
        let own = self.many(&below.ids)?;
        let settled = settle(self.shape, &below.ids, &own);
        for (parent, id) in &below.wanted {
            let fits = below.ids.iter().position(|other| other == id).and_then(|at| settled.get(at));
            if let (Some(slot), Some(false)) = (holds.get_mut(*parent), fits) {
                *slot = false;
            }
        }
        Some(())
    }
}

/// The nodes that one member or item is read against, and for whom.
#[derive(Default)]
struct Below {
    /// (index of the parent, node).
    wanted: Vec<(usize, u32)>,
    /// The nodes and all their alternatives, each once.
    ids: Vec<u32>,
}

impl Below {
    fn want(&mut self, shape: &Shape, parent: usize, id: u32) {
        let Some(node) = shape.node(id) else { return };
        self.wanted.push((parent, id));
        let closure = if node.closure.is_empty() { std::slice::from_ref(&id) } else { &node.closure };
        for id in closure {
            if !self.ids.contains(id) {
                self.ids.push(*id);
            }
        }
    }

    fn clear(&mut self) {
        self.wanted.clear();
        self.ids.clear();
    }
}

/// Which nodes hold, once their own conditions are known: a node with alternatives needs one of them.
fn settle(shape: &Shape, ids: &[u32], own: &[bool]) -> Vec<bool> {
    let alternatives = |id: u32| shape.node(id).map_or(&[][..], |node| &node.any_of);
    let mut holds: Vec<bool> = ids.iter().zip(own).map(|(id, own)| *own && alternatives(*id).is_empty()).collect();
    let place = |id: u32| ids.iter().position(|other| *other == id);
    // Each round settles at least one node or is the last.
    loop {
        let mut changed = false;
        for (index, (id, own)) in ids.iter().zip(own).enumerate() {
            let open = *own && holds.get(index) == Some(&false);
            let one = |branch: &u32| place(*branch).and_then(|at| holds.get(at)).copied().unwrap_or(false);
            if open && alternatives(*id).iter().any(one) {
                if let Some(slot) = holds.get_mut(index) {
                    *slot = true;
                }
                changed = true;
            }
        }
        if !changed {
            return holds;
        }
    }
}
