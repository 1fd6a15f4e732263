//! `path` and `pick` alone, from text to text: what is kept is copied as it stands, so that numbers keep their digits.

use super::selector::{Segment, Selector, Tree};
use crate::content::conform::Reader;

/// Most members of one object that can be picked here: each is one bit.
const MOST: usize = 64;

/// What `path` and `pick` leave of a JSON text, as JSON text. `None` where it has to be done value by value: the path leads
/// through a list or nowhere, a kept member stands twice, or there is nothing at all.
pub(super) fn picked(text: &str, path: Option<&Selector>, pick: &Tree) -> Option<Vec<u8>> {
    let mut run = Run { text, json: Reader::new(text), out: Vec::with_capacity(text.len() / 4) };
    run.descend(path.map_or(&[][..], |path| &path.segments), pick)?;
    // Behind a path the empty list may be a miss, which is told.
    let told = path.is_some() && run.out == b"[]";
    (run.json.is_at_end() && !told).then_some(run.out)
}

struct Run<'j> {
    text: &'j str,
    json: Reader<'j>,
    out: Vec<u8>,
}

impl Run<'_> {
    fn descend(&mut self, segments: &[Segment], pick: &Tree) -> Option<()> {
        let Some((first, rest)) = segments.split_first() else {
            return match self.json.next() {
                b'{' | b'[' => self.value(pick).map(|_| ()),
                // Null, or nothing to pick from.
                _ => None,
            };
        };
        let Segment::Name(wanted) = first else { return None };
        if self.json.next() != b'{' || !self.json.enter(b'}')? {
            return None;
        }
        let mut found = false;
        loop {
            if self.json.name(|name| name == wanted)? {
                if std::mem::replace(&mut found, true) {
                    return None;
                }
                self.descend(rest, pick)?;
            } else {
                self.json.skip()?;
            }
            if !self.json.more(b'}')? {
                return found.then_some(());
            }
        }
    }

    /// Copies what the tree keeps of a value. False, and nothing copied, for a scalar where the paths go on (see
    /// [`Tree::leads_into`]).
    fn value(&mut self, tree: &Tree) -> Option<bool> {
        match self.json.next() {
            b'{' if !tree.leaf => self.object(tree),
            b'[' if !tree.leaf => self.array(tree),
            b'n' => self.copy(),
            _ if tree.leaf => self.copy(),
            _ => self.json.skip().map(|()| false),
        }
    }

    fn copy(&mut self) -> Option<bool> {
        let start = self.json.at();
        self.json.skip()?;
        self.out.extend_from_slice(self.text.get(start..self.json.at())?.as_bytes());
        Some(true)
    }

    fn object(&mut self, tree: &Tree) -> Option<bool> {
        if tree.any.is_some() || tree.children.len() > MOST {
            return None;
        }
        self.out.push(b'{');
        if !self.json.enter(b'}')? {
            self.out.push(b'}');
            return Some(true);
        }
        let (mut seen, mut empty) = (0u64, true);
        loop {
            self.json.next();
            let start = self.json.at();
            let child = self.json.name(|name| tree.children.iter().position(|(child, _)| child == name))?;
            match child.and_then(|at| Some((at, tree.children.get_index(at)?.1))) {
                Some((at, child)) => {
                    if seen & (1 << at) != 0 {
                        return None;
                    }
                    seen |= 1 << at;
                    let before = self.out.len();
                    if !empty {
                        self.out.push(b',');
                    }
                    self.out.extend_from_slice(self.text.get(start..self.json.at())?.as_bytes());
                    if self.value(child)? {
                        empty = false;
                    } else {
                        self.out.truncate(before);
                    }
                }
                None => self.json.skip()?,
            }
            if !self.json.more(b'}')? {
                self.out.push(b'}');
                return Some(true);
            }
        }
    }

    fn array(&mut self, tree: &Tree) -> Option<bool> {
        self.out.push(b'[');
        if !self.json.enter(b']')? {
            self.out.push(b']');
            return Some(true);
        }
        let mut empty = true;
        loop {
            let before = self.out.len();
            if !empty {
                self.out.push(b',');
            }
            if self.value(tree)? {
                empty = false;
            } else {
                self.out.truncate(before);
            }
            if !self.json.more(b']')? {
                self.out.push(b']');
                return Some(true);
            }
        }
    }
}
