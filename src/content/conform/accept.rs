//! Checks bytes against a shape while reading them, as an automaton: one node at a time, or, below
//! `anyOf`, all alternatives side by side. Every byte is read once.

use super::read::Reader;
use super::{ANY, Node, Shape, Verdict};
use crate::schema::kinds::Kinds;

pub(super) fn accepts(shape: &Shape, text: &str) -> Verdict {
    let mut run = Run { shape, json: Reader::new(text) };
    match run.value(shape.root) {
        Some(conforms) if run.json.is_at_end() => {
            if conforms {
                Verdict::Conforms
            } else {
                Verdict::Differs
            }
        }
        _ => Verdict::NotJson,
    }
}

/// True for one well-formed JSON text, as [`accepts`] reads it.
pub(super) fn is_json(text: &str) -> bool {
    let mut json = Reader::new(text);
    json.skip().is_some() && json.is_at_end()
}

struct Run<'s, 'j> {
    shape: &'s Shape,
    json: Reader<'j>,
}

impl<'s> Run<'s, '_> {
    /// Reads a value against one node; `None` where the text is no JSON.
    fn value(&mut self, id: u32) -> Option<bool> {
        let Some(node) = self.shape.node(id) else { return self.json.skip().map(|()| true) };
        if !node.closure.is_empty() {
            let own = self.many(&node.closure)?;
            return Some(settle(self.shape, &node.closure, &own).first().copied().unwrap_or(false));
        }
        match self.json.next() {
            b'{' if node.kinds.meets(Kinds::OBJECT) => self.object(node),
            b'[' if node.kinds.meets(Kinds::ARRAY) => self.array(node),
            b'{' | b'[' => self.json.skip().map(|()| false),
            _ => self.json.scalar(node.kinds).map(|kind| node.kinds.meets(kind)),
        }
    }

    fn object(&mut self, node: &'s Node) -> Option<bool> {
        if !self.json.enter(b'}')? {
            return Some(true);
        }
        let mut guess = 0;
        loop {
            // Mostly it is the next one in the schema's order: then its name need not be read.
            let expected = node.properties.get(guess).filter(|next| next.plain && self.json.take_name(&next.quoted));
            let id = match expected {
                Some(property) => {
                    guess += 1;
                    self.json.colon()?;
                    property.node
                }
                None => self.json.name(|name| node.member(name, &mut guess))?,
            };
            if !self.value(id)? {
                return self.json.skip_rest(b'}').map(|()| false);
            }
            if !self.json.more(b'}')? {
                return Some(true);
            }
        }
    }

    fn array(&mut self, node: &'s Node) -> Option<bool> {
        if !self.json.enter(b']')? {
            return Some(true);
        }
        loop {
            if !self.value(node.items)? {
                return self.json.skip_rest(b']').map(|()| false);
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
            _ => self.json.scalar(Kinds::INTEGER).map(meets),
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
            return self.json.skip();
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
