//! `path` and `pick` alone, from text to text: what is kept is copied as it stands, so that numbers keep their digits.

use super::selector::{Segment, Selector, Tree};
use crate::content::conform::{Known, NOWHERE, Reader};

/// Most members of one object that can be picked here: each is one bit.
const MOST: usize = 64;

/// The place of the objects that `pick` begins with.
const ROOT: u32 = 0;

/// What `path` and `pick` leave of a JSON text, as JSON text. `None` where it has to be done value by value: the path leads
/// through a list or nowhere, a kept member stands twice, or there is nothing at all; and where the text is no JSON or holds
/// a lone surrogate.
pub(super) fn picked(text: &[u8], path: Option<&Selector>, pick: &Tree) -> Option<Vec<u8>> {
    let (json, known) = (Reader::new(text), Known::new(text, 1));
    let mut run = Run { text, json, known, out: Vec::with_capacity(text.len() / 4) };
    run.descend(path.map_or(&[][..], |path| &path.segments), pick)?;
    // Behind a path the empty list may be a miss, which is told.
    let told = path.is_some() && run.out == b"[]";
    (run.json.is_at_end() && !run.json.saw_lone_surrogate() && !told).then_some(run.out)
}

struct Run<'j> {
    text: &'j [u8],
    json: Reader<'j>,
    /// A place for each node of the tree that is met, and for each member that is left out.
    known: Known,
    out: Vec<u8>,
}

impl Run<'_> {
    fn descend(&mut self, segments: &[Segment], pick: &Tree) -> Option<()> {
        let Some((first, rest)) = segments.split_first() else {
            return match self.json.next() {
                b'{' | b'[' => self.value(pick, ROOT).map(|_| ()),
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
                self.known.skip(&mut self.json, NOWHERE)?;
            }
            if !self.json.more(b'}')? {
                return found.then_some(());
            }
        }
    }

    /// Copies what the tree keeps of a value. False, and nothing copied, for a scalar where the paths go on (see
    /// [`Tree::leads_into`]).
    fn value(&mut self, tree: &Tree, place: u32) -> Option<bool> {
        match self.json.next() {
            b'{' if !tree.leaf => self.object(tree, place),
            b'[' if !tree.leaf => self.array(tree, place),
            b'n' => self.copy(place),
            _ if tree.leaf => self.copy(place),
            _ => self.known.skip(&mut self.json, NOWHERE).map(|()| false),
        }
    }

    fn copy(&mut self, place: u32) -> Option<bool> {
        let start = self.json.at();
        self.known.skip(&mut self.json, place)?;
        self.out.extend_from_slice(self.json.from(start));
        Some(true)
    }

    fn object(&mut self, tree: &Tree, place: u32) -> Option<bool> {
        if tree.any.is_some() || tree.children.len() > MOST {
            return None;
        }
        self.out.push(b'{');
        if !self.json.enter(b'}')? {
            self.out.push(b'}');
            return Some(true);
        }
        let (mut seen, mut empty, mut at) = (0u64, true, 0);
        loop {
            let member = self.known.member(&mut self.json, place, &mut at, |name| tree.children.get_index_of(name))?;
            match tree.children.get_index(member.to as usize) {
                Some((_, child)) => {
                    if seen & (1 << member.to) != 0 {
                        return None;
                    }
                    seen |= 1 << member.to;
                    let before = self.out.len();
                    if !empty {
                        self.out.push(b',');
                    }
                    self.out.extend_from_slice(self.text.get(member.name.0..member.name.1)?);
                    if self.value(child, member.below)? {
                        empty = false;
                    } else {
                        self.out.truncate(before);
                    }
                }
                None => self.known.skip(&mut self.json, member.below)?,
            }
            if !self.json.more(b'}')? {
                self.out.push(b'}');
                return Some(true);
            }
        }
    }

    fn array(&mut self, tree: &Tree, place: u32) -> Option<bool> {
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
            if self.value(tree, place)? {
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
