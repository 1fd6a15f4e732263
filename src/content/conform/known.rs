//! What led to the members of objects that were read before. The objects of a list mostly have the same members in the
//! same order and spacing: then the bytes between two values are those of the object before, and comparing them is all
//! the reading they need.

use super::read::Reader;
use super::sink::{Blind, Sink};
use crate::schema::kinds::Kinds;

/// Shorter texts repeat too little to be worth remembering.
const SHORT: usize = 2048;
/// Most members of a place that are remembered, and most places.
const MOST_MEMBERS: usize = 64;
const MOST_PLACES: usize = 1024;
/// Members that may be missing before the one that is there.
const AHEAD: usize = 8;

/// No place: nothing is remembered of the objects there.
pub(in crate::content) const NOWHERE: u32 = u32::MAX;

/// Where no member leads that is not wanted.
const LEFT_OUT: u32 = u32::MAX;

/// Places where objects stand, and what led to their members.
pub(in crate::content) struct Known<S: Sink = Blind> {
    places: Vec<Vec<Step<S>>>,
}

/// A member that was read before at this place.
#[derive(Debug, Clone, Copy)]
pub(in crate::content) struct Member {
    /// What the reader made of its name.
    pub to: u32,
    /// The place of the objects in its value.
    pub below: u32,
    /// Where in the text its name stood, with quotes and colon: beginning and end.
    pub name: (usize, usize),
}

/// The bytes from the comma or brace before a member to its value.
struct Step<S: Sink> {
    /// The first 16 of them, zeros behind them, and ones where they are.
    head: u128,
    mask: u128,
    from: usize,
    length: usize,
    member: Member,
    /// The same bytes as the sink keeps them.
    kept: S::Kept,
}

impl<S: Sink> Step<S> {
    #[inline]
    fn fits(&self, ahead: u128, json: &Reader<'_, S>) -> bool {
        ahead & self.mask == self.head && (self.length <= 16 || json.repeats(self.from, self.length))
    }
}

/// Where members are missing: the step that is taken instead.
#[inline(never)]
fn later<'k, S: Sink>(
    steps: &'k [Step<S>],
    ahead: u128,
    json: &mut Reader<'_, S>,
    at: &mut usize,
) -> Option<&'k Member> {
    let steps = steps.get(*at + 1..)?.iter().take(AHEAD);
    let (missing, step) = steps.enumerate().find(|(_, step)| step.fits(ahead, json))?;
    json.pass(step.length, &step.kept);
    *at += missing + 2;
    Some(&step.member)
}

impl<S: Sink> Known<S> {
    /// Remembers at so many places from the start (more come as members are read), in a text that is long enough.
    pub fn new(text: &[u8], places: usize) -> Known<S> {
        let places = if text.len() < SHORT { 0 } else { places.min(MOST_PLACES) };
        Known { places: std::iter::repeat_with(Vec::new).take(places).collect() }
    }

    /// Reads over a name that was read before at this place, and over its colon. `at` counts the members.
    #[inline]
    pub fn follow(&self, json: &mut Reader<'_, S>, place: u32, at: &mut usize) -> Option<&Member> {
        let steps = self.places.get(place as usize)?;
        let step = steps.get(*at)?;
        let ahead = json.ahead()?;
        if !step.fits(ahead, json) {
            return later(steps, ahead, json, at);
        }
        json.pass(step.length, &step.kept);
        *at += 1;
        Some(&step.member)
    }

    /// Reads on as long as a member was read before at this place and its value is a short one ([`Reader::short`]) of a kind
    /// that is wanted of where the member leads. True if the object ended.
    #[inline(never)]
    pub fn rush(&self, json: &mut Reader<'_, S>, place: u32, at: &mut usize, wanted: impl Fn(u32) -> Kinds) -> bool {
        let Some(steps) = self.places.get(place as usize) else { return false };
        while let Some(step) = steps.get(*at)
            && let Some(ahead) = json.ahead()
            && step.fits(ahead, json)
            && let Some(ended) = json.short(step.length, &step.kept, wanted(step.member.to))
        {
            *at += 1;
            if ended {
                return true;
            }
        }
        false
    }

    /// The member whose name comes next, colon included: as it was read at this place before, or read now. `look` says which
    /// of the wanted members a name is; for the others `to` is none of theirs.
    #[inline]
    pub fn member(
        &mut self,
        json: &mut Reader<'_, S>,
        place: u32,
        at: &mut usize,
        look: impl FnOnce(&str) -> Option<usize>,
    ) -> Option<Member> {
        if let Some(member) = self.follow(json, place, at) {
            return Some(*member);
        }
        let start = json.at();
        let to = json.name(look)?.map_or(LEFT_OUT, |wanted| wanted as u32);
        Some(self.learn(json, place, at, start, to))
    }

    /// Remembers the name that was read from `start` (behind the comma or brace) on, colon included.
    pub fn learn(&mut self, json: &mut Reader<'_, S>, place: u32, at: &mut usize, start: usize, to: u32) -> Member {
        let behind = json.at();
        let Some(begin) = json.from(start).iter().position(|byte| *byte == b'"') else {
            return Member { to, below: NOWHERE, name: (0, 0) };
        };
        let name = (start + begin, behind);
        let mut member = Member { to, below: NOWHERE, name };
        let more = self.places.len() < MOST_PLACES;
        let next = self.places.len() as u32;
        let Some(steps) = self.places.get_mut(place as usize) else { return member };
        json.next();
        let bytes = json.from(start);
        if steps.len() >= MOST_MEMBERS || bytes.is_empty() {
            return member;
        }
        let (mut head, mut mask) = ([0; 16], [0; 16]);
        for ((head, mask), byte) in head.iter_mut().zip(&mut mask).zip(bytes) {
            (*head, *mask) = (*byte, 0xff);
        }
        member.below = if more { next } else { NOWHERE };
        let (head, mask) = (u128::from_le_bytes(head), u128::from_le_bytes(mask));
        let step = Step { head, mask, from: start, length: bytes.len(), member, kept: S::keep(bytes) };
        steps.insert((*at).min(steps.len()), step);
        *at += 1;
        if more {
            self.places.push(Vec::new());
        }
        member
    }

    /// Reads over a value at a place.
    #[inline]
    pub fn skip(&mut self, json: &mut Reader<'_, S>, place: u32) -> Option<()> {
        match json.next() {
            b'{' => self.skip_object(json, place),
            b'[' => self.skip_array(json, place),
            first => json.scalar(first, Kinds::NUMBER).map(|_| ()),
        }
    }

    fn skip_object(&mut self, json: &mut Reader<'_, S>, place: u32) -> Option<()> {
        if !json.enter(b'}')? {
            return Some(());
        }
        let mut at = 0;
        loop {
            if self.rush(json, place, &mut at, |_| Kinds::ALL) {
                return Some(());
            }
            self.skip_member(json, place, &mut at)?;
            if !json.more(b'}')? {
                return Some(());
            }
        }
    }

    fn skip_array(&mut self, json: &mut Reader<'_, S>, place: u32) -> Option<()> {
        if !json.enter(b']')? {
            return Some(());
        }
        loop {
            self.skip(json, place)?;
            if !json.more(b']')? {
                return Some(());
            }
        }
    }

    #[inline]
    fn skip_member(&mut self, json: &mut Reader<'_, S>, place: u32, at: &mut usize) -> Option<()> {
        let below = match self.follow(json, place, at) {
            Some(member) => member.below,
            None => {
                let start = json.at();
                json.any_name()?;
                self.learn(json, place, at, start, 0).below
            }
        };
        self.skip(json, below)
    }

    /// Reads over what is left of a container after an item or member.
    pub fn skip_rest(&mut self, json: &mut Reader<'_, S>, close: u8) -> Option<()> {
        while json.more(close)? {
            if close == b'}' { self.skip_member(json, NOWHERE, &mut 0)? } else { self.skip(json, NOWHERE)? }
        }
        Some(())
    }
}
