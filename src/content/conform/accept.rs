//! Checks bytes against a shape while reading them, as an automaton: one node at a time, or, below
//! `anyOf`, all alternatives side by side. Every byte is read once.

use super::{ANY, Node, Shape, Verdict};
use crate::schema::kinds::Kinds;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

pub(super) fn accepts(shape: &Shape, json: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(json) else { return Verdict::NotJson };
    let mut reader = serde_json::Deserializer::from_str(text);
    let conforms = match (One { shape, id: shape.root }).deserialize(&mut reader) {
        Ok(conforms) => conforms,
        Err(_) => return Verdict::NotJson,
    };
    match reader.end() {
        Ok(()) if conforms => Verdict::Conforms,
        Ok(()) => Verdict::Differs,
        Err(_) => Verdict::NotJson,
    }
}

/// Reads a value against one node.
#[derive(Clone, Copy)]
struct One<'s> {
    shape: &'s Shape,
    id: u32,
}

impl<'de> DeserializeSeed<'de> for One<'_> {
    type Value = bool;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        match self.shape.node(self.id) {
            None => IgnoredAny::deserialize(deserializer).map(|_| true),
            Some(node) if node.closure.is_empty() => {
                deserializer.deserialize_any(OneVisitor { shape: self.shape, node })
            }
            Some(node) => {
                let own = deserializer.deserialize_any(ManyVisitor { shape: self.shape, ids: &node.closure })?;
                Ok(settle(self.shape, &node.closure, own).first().copied().unwrap_or(false))
            }
        }
    }
}

struct OneVisitor<'s> {
    shape: &'s Shape,
    node: &'s Node,
}

impl<'de> Visitor<'de> for OneVisitor<'_> {
    type Value = bool;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        Ok(self.node.kinds.meets(Kinds::NULL))
    }
    fn visit_bool<E: Error>(self, _: bool) -> Result<bool, E> {
        Ok(self.node.kinds.meets(Kinds::BOOLEAN))
    }
    fn visit_i64<E: Error>(self, _: i64) -> Result<bool, E> {
        Ok(self.node.kinds.meets(Kinds::INTEGER))
    }
    fn visit_u64<E: Error>(self, _: u64) -> Result<bool, E> {
        Ok(self.node.kinds.meets(Kinds::INTEGER))
    }
    fn visit_f64<E: Error>(self, float: f64) -> Result<bool, E> {
        Ok(self.node.kinds.meets(Kinds::of_float(float)))
    }
    fn visit_str<E: Error>(self, _: &str) -> Result<bool, E> {
        Ok(self.node.kinds.meets(Kinds::STRING))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<bool, A::Error> {
        let mut conforms = self.node.kinds.meets(Kinds::ARRAY);
        let item = One { shape: self.shape, id: self.node.items };
        while conforms {
            match items.next_element_seed(item)? {
                Some(fits) => conforms = fits,
                None => return Ok(true),
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(false)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<bool, A::Error> {
        let mut conforms = self.node.kinds.meets(Kinds::OBJECT);
        let mut guess = 0;
        while conforms {
            match members.next_key_seed(Name { node: self.node, guess: &mut guess })? {
                Some(id) => conforms = members.next_value_seed(One { shape: self.shape, id })?,
                None => return Ok(true),
            }
        }
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(false)
    }
}

/// Reads a member's name and gives its node.
struct Name<'s, 'g> {
    node: &'s Node,
    guess: &'g mut usize,
}

impl<'de> DeserializeSeed<'de> for Name<'_, '_> {
    type Value = u32;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u32, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_, '_> {
    type Value = u32;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a name")
    }
    fn visit_str<E: Error>(self, name: &str) -> Result<u32, E> {
        Ok(self.node.member(name, self.guess))
    }
}

/// Which nodes hold, once their own conditions are known: a node with alternatives needs one of them.
fn settle(shape: &Shape, ids: &[u32], own: Vec<bool>) -> Vec<bool> {
    let alternatives = |id: u32| shape.node(id).map_or(&[][..], |node| &node.any_of);
    let mut holds: Vec<bool> = ids.iter().zip(&own).map(|(id, own)| *own && alternatives(*id).is_empty()).collect();
    let place = |id: u32| ids.iter().position(|other| *other == id);
    // Each round settles at least one node or is the last.
    loop {
        let mut changed = false;
        for (index, id) in ids.iter().enumerate() {
            let open = !holds.get(index).copied().unwrap_or(true) && own.get(index).copied().unwrap_or(false);
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

/// Reads a value against several nodes at once; the result says for each whether its own conditions hold.
struct Many<'s> {
    shape: &'s Shape,
    ids: &'s [u32],
}

impl<'de> DeserializeSeed<'de> for Many<'_> {
    type Value = Vec<bool>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<bool>, D::Error> {
        deserializer.deserialize_any(ManyVisitor { shape: self.shape, ids: self.ids })
    }
}

struct ManyVisitor<'s> {
    shape: &'s Shape,
    ids: &'s [u32],
}

impl ManyVisitor<'_> {
    fn scalar(&self, kind: Kinds) -> Vec<bool> {
        self.ids.iter().map(|id| self.shape.node(*id).is_none_or(|node| node.kinds.meets(kind))).collect()
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

    /// Strikes the parents whose node does not hold.
    fn strike(&self, shape: &Shape, own: Vec<bool>, holds: &mut [bool]) {
        let below = settle(shape, &self.ids, own);
        for (parent, id) in &self.wanted {
            let fits = self.ids.iter().position(|other| other == id).and_then(|at| below.get(at)).copied();
            if let (Some(slot), Some(false)) = (holds.get_mut(*parent), fits) {
                *slot = false;
            }
        }
    }
}

impl<'de> Visitor<'de> for ManyVisitor<'_> {
    type Value = Vec<bool>;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E: Error>(self) -> Result<Vec<bool>, E> {
        Ok(self.scalar(Kinds::NULL))
    }
    fn visit_bool<E: Error>(self, _: bool) -> Result<Vec<bool>, E> {
        Ok(self.scalar(Kinds::BOOLEAN))
    }
    fn visit_i64<E: Error>(self, _: i64) -> Result<Vec<bool>, E> {
        Ok(self.scalar(Kinds::INTEGER))
    }
    fn visit_u64<E: Error>(self, _: u64) -> Result<Vec<bool>, E> {
        Ok(self.scalar(Kinds::INTEGER))
    }
    fn visit_f64<E: Error>(self, float: f64) -> Result<Vec<bool>, E> {
        Ok(self.scalar(Kinds::of_float(float)))
    }
    fn visit_str<E: Error>(self, _: &str) -> Result<Vec<bool>, E> {
        Ok(self.scalar(Kinds::STRING))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<bool>, A::Error> {
        let mut holds = self.scalar(Kinds::ARRAY);
        let mut below = Below::default();
        loop {
            below.clear();
            for (parent, id) in self.ids.iter().enumerate().filter(|(at, _)| holds.get(*at) == Some(&true)) {
                below.want(self.shape, parent, self.shape.node(*id).map_or(ANY, |node| node.items));
            }
            if below.ids.is_empty() {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(holds);
            }
            match items.next_element_seed(Many { shape: self.shape, ids: &below.ids })? {
                Some(own) => below.strike(self.shape, own, &mut holds),
                None => return Ok(holds),
            }
        }
    }
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Vec<bool>, A::Error> {
        let mut holds = self.scalar(Kinds::OBJECT);
        let mut guesses = vec![0usize; self.ids.len()];
        let mut below = Below::default();
        loop {
            below.clear();
            let names =
                Names { shape: self.shape, ids: self.ids, holds: &holds, guesses: &mut guesses, below: &mut below };
            if members.next_key_seed(names)?.is_none() {
                return Ok(holds);
            }
            if below.ids.is_empty() {
                members.next_value::<IgnoredAny>()?;
                continue;
            }
            let own = members.next_value_seed(Many { shape: self.shape, ids: &below.ids })?;
            below.strike(self.shape, own, &mut holds);
        }
    }
}

/// Reads a member's name and collects its nodes.
struct Names<'s, 'g> {
    shape: &'s Shape,
    ids: &'s [u32],
    holds: &'g [bool],
    guesses: &'g mut [usize],
    below: &'g mut Below,
}

impl<'de> DeserializeSeed<'de> for Names<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Names<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a name")
    }
    fn visit_str<E: Error>(self, name: &str) -> Result<(), E> {
        for (parent, (id, guess)) in self.ids.iter().zip(self.guesses).enumerate() {
            if self.holds.get(parent) == Some(&true)
                && let Some(node) = self.shape.node(*id)
            {
                self.below.want(self.shape, parent, node.member(name, guess));
            }
        }
        Ok(())
    }
}
