//! Runs a plan: every value is read once for each stream that it has, and what is found goes into slots.
//!
//! `None` stands for everything that is not done here, see [`super::Direct::run`].

use super::plan::{Expression, Kind, Node, Plan, Stream};
use super::scalar;
use crate::content::conform::{Known, NOWHERE, Reader};

/// What a slot holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Found {
    /// Nothing is there: it counts as null.
    Null,
    /// Using it would be an error.
    Error,
    /// It has no output.
    Empty,
    /// Where a value stands in the text.
    Text(usize, usize),
    /// Where outputs stand in what is written, and how many.
    Made(usize, usize, usize),
}

pub(super) struct Run<'j> {
    pub(super) text: &'j [u8],
    pub(super) json: Reader<'j>,
    pub(super) known: Known,
    /// Slots of the plans that are running.
    pub(super) slots: Vec<Found>,
    pub(super) out: Vec<u8>,
    /// Most bytes that are written.
    pub(super) most: usize,
}

impl<'j> Run<'j> {
    pub(super) fn new(text: &'j [u8], places: usize, deepest: u32, out: Vec<u8>, most: usize) -> Run<'j> {
        let json = Reader::new(text).no_deeper(deepest);
        Run { text, json, known: Known::new(text, places), slots: Vec::new(), out, most }
    }

    /// Reads one value and writes what the plan makes of it; gives the number of outputs.
    pub(super) fn plan(&mut self, plan: &Plan) -> Option<usize> {
        let (base, mark) = (self.slots.len(), self.out.len());
        self.slots.resize(base + plan.slots.len(), Found::Null);
        self.read(plan, &plan.root, base)?;
        self.finish(plan, base, mark)
    }

    /// The same with null as the value.
    pub(super) fn plan_on_null(&mut self, plan: &Plan) -> Option<usize> {
        let (base, mark) = (self.slots.len(), self.out.len());
        self.slots.resize(base + plan.slots.len(), Found::Null);
        self.finish(plan, base, mark)
    }

    fn finish(&mut self, plan: &Plan, base: usize, mark: usize) -> Option<usize> {
        let made = self.out.len();
        let count = match (&plan.output, self.slots.get(base)) {
            // The only stream stands where its outputs belong.
            (Expression::Stream(0), Some(Found::Made(_, _, count))) if plan.slots.len() == 1 => *count,
            (output, _) => {
                let count = self.write(plan, output, base)?;
                if made > mark {
                    self.out.copy_within(made.., mark);
                    self.out.truncate(self.out.len() - (made - mark));
                }
                count
            }
        };
        self.slots.truncate(base);
        Some(count)
    }

    fn set(&mut self, slot: usize, found: Found) {
        if let Some(place) = self.slots.get_mut(slot) {
            *place = found;
        }
    }

    /// Reads the value at a node and fills the slots there and below.
    fn read(&mut self, plan: &Plan, node: &Node, base: usize) -> Option<()> {
        let first = self.json.next();
        let start = self.json.at();
        for (slot, _) in &node.streams {
            self.json.go_to(start);
            let found = self.stream(plan.slots.get(*slot)?.as_ref()?)?;
            self.set(base + slot, found);
        }
        if !node.members.is_empty() {
            self.json.go_to(start);
            if first == b'{' {
                self.object(plan, node, base)?;
            } else {
                self.known.skip(&mut self.json, NOWHERE)?;
                for (slot, optional) in node.below.iter().filter(|_| first != b'n') {
                    self.set(base + slot, if *optional { Found::Empty } else { Found::Error });
                }
            }
        } else if node.streams.is_empty() {
            self.known.skip(&mut self.json, node.place)?;
        }
        let end = self.json.at();
        for slot in node.values() {
            self.set(base + slot, Found::Text(start, end));
        }
        Some(())
    }

    fn object(&mut self, plan: &Plan, node: &Node, base: usize) -> Option<()> {
        if !self.json.enter(b'}')? {
            return Some(());
        }
        let (mut seen, mut at) = (0u64, 0);
        loop {
            let look = |name: &str| node.members.get_index_of(name);
            let member = self.known.member(&mut self.json, node.place, &mut at, look)?;
            match node.members.get_index(member.to as usize) {
                Some((_, child)) => {
                    // The last one would count.
                    if seen & (1 << member.to) != 0 {
                        return None;
                    }
                    seen |= 1 << member.to;
                    match child.leaf {
                        Some(slot) => {
                            self.json.next();
                            let start = self.json.at();
                            self.known.skip(&mut self.json, child.place)?;
                            let end = self.json.at();
                            self.set(base + slot, Found::Text(start, end));
                        }
                        None => self.read(plan, child, base)?,
                    }
                }
                None => self.known.skip(&mut self.json, member.below)?,
            }
            if !self.json.more(b'}')? {
                return Some(());
            }
        }
    }

    /// Reads a value and writes what a stream makes of it.
    fn stream(&mut self, stream: &Stream) -> Option<Found> {
        let (first, mark) = (self.json.next(), self.out.len());
        let count = match (&stream.kind, first) {
            (Kind::Each(plan), b'[') => self.items(plan)?,
            (Kind::Each(plan), b'{') => self.members(|run| run.plan(plan))?,
            (Kind::Item(index, plan), b'[') => {
                let items = self.spans(stream.place)?;
                let index = bound(*index, items.len(), None);
                let Some(item) = index.and_then(|index| items.get(index)) else { return Some(Found::Null) };
                self.again(plan, std::slice::from_ref(item))?
            }
            (Kind::Slice(from, to, plan), b'[') => {
                let items = self.spans(stream.place)?;
                let all = items.len();
                let from = from.map_or(Some(0), |from| bound(from, all, Some(0)))?.min(all);
                let to = to.map_or(Some(all), |to| bound(to, all, Some(0)))?.min(all);
                let items = items.get(from..to.max(from))?;
                match plan {
                    Some(plan) => self.again(plan, items)?,
                    None => {
                        let (Some(first), Some(last)) = (items.first(), items.last()) else {
                            self.push(b"[],")?;
                            return Some(Found::Made(mark, self.out.len(), 1));
                        };
                        self.out.push(b'[');
                        self.push(self.text.get(first.0..last.1)?)?;
                        self.push(b"],")?;
                        1
                    }
                }
            }
            (Kind::Length, _) => {
                let length = match first {
                    b'[' => self.spans(stream.place)?.len(),
                    b'{' => self.members(|run| run.known.skip(&mut run.json, NOWHERE).map(|()| 1))?,
                    _ => {
                        let start = self.json.at();
                        self.known.skip(&mut self.json, NOWHERE)?;
                        match first {
                            b'"' => scalar::length(self.json.from(start))?,
                            b'n' => 0,
                            // Of a number it is the absolute value.
                            _ => return Some(Found::Error),
                        }
                    }
                };
                self.push(length.to_string().as_bytes())?;
                self.push(b",")?;
                1
            }
            (kind, _) => {
                self.known.skip(&mut self.json, NOWHERE)?;
                return match (kind, first) {
                    (Kind::Item(..), b'n') => Some(Found::Null),
                    // Of an object items are null here, and of a string there are slices.
                    (Kind::Item(..), b'{') | (Kind::Slice(..), b'"') => Some(Found::Error),
                    _ if stream.optional => Some(Found::Empty),
                    _ => Some(Found::Error),
                };
            }
        };
        Some(Found::Made(mark, self.out.len(), count))
    }

    fn items(&mut self, plan: &Plan) -> Option<usize> {
        let mut count = 0;
        let mut more = self.json.enter(b']')?;
        while more {
            count += self.plan(plan)?;
            more = self.json.more(b']')?;
        }
        Some(count)
    }

    /// Does something with every value of an object, in which no name stands twice; gives the sum of what it gives.
    fn members(&mut self, mut each: impl FnMut(&mut Self) -> Option<usize>) -> Option<usize> {
        let (mut sum, mut names) = (0, Vec::new());
        let mut more = self.json.enter(b'}')?;
        while more {
            self.json.next();
            let start = self.json.at();
            self.json.any_name()?;
            let name = self.json.from(start);
            let end = name.iter().rposition(|byte| *byte == b'"')?;
            names.push(name.get(..end)?);
            sum += each(self)?;
            more = self.json.more(b'}')?;
        }
        names.sort_unstable();
        let twice = names.windows(2).any(|pair| pair.first() == pair.last());
        // Names with escapes may be spelled in several ways.
        (!twice && !names.iter().any(|name| name.contains(&b'\\'))).then_some(sum)
    }

    /// Where the items of a list stand.
    fn spans(&mut self, place: u32) -> Option<Vec<(usize, usize)>> {
        let mut all = Vec::new();
        let mut more = self.json.enter(b']')?;
        while more {
            self.json.next();
            let start = self.json.at();
            self.known.skip(&mut self.json, place)?;
            all.push((start, self.json.at()));
            more = self.json.more(b']')?;
        }
        Some(all)
    }

    /// Runs a plan on items that were passed over.
    fn again(&mut self, plan: &Plan, items: &[(usize, usize)]) -> Option<usize> {
        let (end, mut count) = (self.json.at(), 0);
        for (start, _) in items {
            self.json.go_to(*start);
            count += self.plan(plan)?;
        }
        self.json.go_to(end);
        Some(count)
    }
}

/// The place that an index means, from the end where it is negative; what stands for it where it is before the beginning.
fn bound(index: isize, length: usize, before: Option<usize>) -> Option<usize> {
    let from = index.unsigned_abs();
    if index < 0 { length.checked_sub(from).or(before) } else { Some(from) }
}
