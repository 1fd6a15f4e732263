//! Steps as plans: what is kept of a value while it is read once, and what is made of it then.

use super::steps::{Make, Piece, Search, Step, Steps};
use indexmap::IndexMap;
use jaq_core::ops::Cmp;

/// Most calls of the compiler, which may follow a step many times over.
const MOST_WORK: usize = 500;
/// Most streams: each reads its value once more at worst.
const MOST_STREAMS: usize = 24;
/// Most members of one object that are looked for: each is one bit.
const MOST_MEMBERS: usize = 64;

/// What is done with one value.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) root: Node,
    /// What is found while the value is read: for each a stream, or nothing where it is a value as it stands.
    pub(super) slots: Vec<Option<Stream>>,
    pub(super) output: Expression,
}

/// A place in a value.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) members: IndexMap<String, Node>,
    /// Slots for the value itself, each with the optionality (`?`) of the steps that lead here.
    values: Vec<(usize, Vec<bool>)>,
    /// Slots for what a stream makes of it.
    pub(super) streams: Vec<(usize, Vec<bool>)>,
    /// The only slot, where nothing else is wanted here.
    pub(super) leaf: Option<usize>,
    /// Slots below, true for those that have no output where this is neither object nor null; the others are errors then.
    pub(super) below: Vec<(usize, bool)>,
    /// Where member names are remembered (`Known`): one for each way of reading.
    pub(super) place: u32,
}

impl Node {
    pub(super) fn values(&self) -> impl Iterator<Item = usize> {
        self.values.iter().map(|(slot, _)| *slot)
    }
}

/// What is made of a value while it is read.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) kind: Kind,
    /// No output instead of an error.
    pub(super) optional: bool,
    /// Where names in what is passed over are remembered.
    pub(super) place: u32,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// Every item or member.
    Each(Plan),
    /// One item.
    Item(isize, Plan),
    /// A range of items; the plan for each of them, or the range itself.
    Slice(Option<isize>, Option<isize>, Option<Plan>),
    Length,
}

/// What is made of the slots.
#[derive(Debug)]
pub(super) enum Expression {
    /// A value as it stands.
    Value(usize),
    /// What a stream made.
    Stream(usize),
    Constant(Vec<u8>),
    /// What is made where a value has an output; else what it has instead.
    With(usize, Box<Expression>),
    Array(Box<Expression>),
    Object(Vec<(Vec<u8>, Expression)>),
    Comma(Vec<Expression>),
    If(Box<Expression>, Box<Expression>, Box<Expression>),
    Alternative(Box<Expression>, Box<Expression>),
    First(Box<Expression>),
    /// The outputs are read again as input of a plan.
    Then(Box<Expression>, Box<Plan>),
    Text(Vec<Part>),
    Compare(Box<Expression>, Cmp, Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Not(Box<Expression>),
    Type(Box<Expression>),
    Is(Box<Expression>, &'static [u8]),
    /// Whether a value is there at all.
    Has(usize),
    Search(Box<Expression>, Search, String),
}

/// Part of a string.
#[derive(Debug)]
pub(super) enum Part {
    Constant(Vec<u8>),
    Value(Expression),
}

/// The plan of a filter and how many places for names it has; `None` where it is too much.
pub(super) fn plan(steps: &[Step]) -> Option<(Plan, usize)> {
    let mut compiler = Compiler { places: 0, work: MOST_WORK, streams: MOST_STREAMS };
    let plan = compiler.plan(steps)?;
    Some((plan, compiler.places as usize))
}

struct Compiler {
    places: u32,
    work: usize,
    streams: usize,
}

/// The plan of one value in the making.
#[derive(Default)]
struct Scope {
    root: Node,
    slots: Vec<Option<Stream>>,
}

/// Member names that lead to a place, each with its optionality.
type Place = Vec<(String, bool)>;

impl Scope {
    fn at(&mut self, place: &Place) -> &mut Node {
        place.iter().fold(&mut self.root, |node, (name, _)| node.members.entry(name.clone()).or_default())
    }

    fn value(&mut self, place: &Place) -> usize {
        let optional: Vec<bool> = place.iter().map(|(_, optional)| *optional).collect();
        let next = self.slots.len();
        let node = self.at(place);
        if let Some((slot, _)) = node.values.iter().find(|(_, other)| *other == optional) {
            return *slot;
        }
        node.values.push((next, optional));
        self.slots.push(None);
        next
    }
}

impl Compiler {
    fn place(&mut self) -> u32 {
        self.places += 1;
        self.places - 1
    }

    fn plan(&mut self, steps: &[Step]) -> Option<Plan> {
        let mut scope = Scope::default();
        let output = self.expression(steps, &Place::new(), &mut scope)?;
        let Scope { mut root, slots } = scope;
        self.finish(&mut root, 0)?;
        Some(Plan { root, slots, output })
    }

    /// Fills in what follows from the whole; gives all slots at a node and below.
    fn finish(&mut self, node: &mut Node, depth: usize) -> Option<Vec<(usize, Vec<bool>)>> {
        if node.members.len() > MOST_MEMBERS {
            return None;
        }
        node.place = self.place();
        let mut below = Vec::new();
        for child in node.members.values_mut() {
            below.extend(self.finish(child, depth + 1)?);
        }
        node.below =
            below.iter().map(|(slot, optional)| (*slot, optional.get(depth).copied().unwrap_or_default())).collect();
        node.leaf = match node.values.as_slice() {
            [(slot, _)] if node.streams.is_empty() && node.members.is_empty() => Some(*slot),
            _ => None,
        };
        below.extend(node.values.iter().chain(&node.streams).cloned());
        Some(below)
    }

    fn expression(&mut self, steps: &[Step], place: &Place, scope: &mut Scope) -> Option<Expression> {
        self.work = self.work.checked_sub(1)?;
        let Some((step, rest)) = steps.split_first() else { return Some(Expression::Value(scope.value(place))) };
        let followed = |first: &Steps| -> Steps { first.iter().chain(rest).cloned().collect() };
        Some(match step {
            Step::Member(name, optional) => {
                let mut next = place.clone();
                next.push((name.clone(), *optional));
                let output = self.expression(rest, &next, scope)?;
                match rest.first() {
                    None
                    | Some(
                        Step::Member(..) | Step::Each(_) | Step::Item(..) | Step::Slice(..) | Step::Make(Make::Length),
                    ) => output,
                    // What follows need not look at the member, whose error or lack of output counts all the same.
                    Some(_) => Expression::With(scope.value(&next), Box::new(output)),
                }
            }
            Step::Each(optional) => {
                let kind = Kind::Each(self.plan(rest)?);
                self.stream(kind, *optional, place, scope)?
            }
            Step::Item(index, optional) => {
                let kind = Kind::Item(*index, self.plan(rest)?);
                self.stream(kind, *optional, place, scope)?
            }
            Step::Slice(from, to, optional) => match rest {
                // What has no output has no items either.
                [Step::Each(_), rest @ ..] => {
                    let kind = Kind::Slice(*from, *to, Some(self.plan(rest)?));
                    self.stream(kind, *optional, place, scope)?
                }
                // `map` of a range.
                [Step::Make(Make::Array(inner)), rest @ ..]
                    if let [Step::Each(_), each @ ..] = inner.as_slice()
                        && !optional =>
                {
                    let kind = Kind::Slice(*from, *to, Some(self.plan(each)?));
                    let items = self.stream(kind, false, place, scope)?;
                    self.then(Expression::Array(Box::new(items)), rest)?
                }
                _ => {
                    let slice = self.stream(Kind::Slice(*from, *to, None), *optional, place, scope)?;
                    self.then(slice, rest)?
                }
            },
            Step::If(test, then, otherwise) => {
                let test = self.boxed(test, place, scope)?;
                let then = self.boxed(&followed(then), place, scope)?;
                Expression::If(test, then, self.boxed(&followed(otherwise), place, scope)?)
            }
            Step::Comma(branches) => {
                let mut all = Vec::new();
                for branch in branches {
                    all.push(self.expression(&followed(branch), place, scope)?);
                }
                Expression::Comma(all)
            }
            // What a path leads to can be read on where it stands.
            Step::Alternative(left, right)
                if !rest.is_empty() && left.iter().all(|step| matches!(step, Step::Member(_, false))) =>
            {
                let test = self.boxed(left, place, scope)?;
                let then = self.boxed(&followed(left), place, scope)?;
                Expression::If(test, then, self.boxed(&followed(right), place, scope)?)
            }
            Step::Alternative(left, right) => {
                let left = self.boxed(left, place, scope)?;
                let either = Expression::Alternative(left, self.boxed(right, place, scope)?);
                self.then(either, rest)?
            }
            Step::First(inner) => {
                let first = Expression::First(self.boxed(inner, place, scope)?);
                self.then(first, rest)?
            }
            Step::Make(Make::Array(inner)) if let [Step::Each(_), rest @ ..] = rest => {
                let all: Steps = inner.iter().chain(rest).cloned().collect();
                return self.expression(&all, place, scope);
            }
            Step::Make(made) => {
                let made = self.made(made, place, scope)?;
                match rest {
                    [Step::Make(Make::Not), rest @ ..] => self.then(Expression::Not(Box::new(made)), rest)?,
                    _ => self.then(made, rest)?,
                }
            }
        })
    }

    fn boxed(&mut self, steps: &[Step], place: &Place, scope: &mut Scope) -> Option<Box<Expression>> {
        self.expression(steps, place, scope).map(Box::new)
    }

    /// The outputs through further steps.
    fn then(&mut self, outputs: Expression, rest: &[Step]) -> Option<Expression> {
        if rest.is_empty() {
            return Some(outputs);
        }
        Some(Expression::Then(Box::new(outputs), Box::new(self.plan(rest)?)))
    }

    fn stream(&mut self, kind: Kind, optional: bool, place: &Place, scope: &mut Scope) -> Option<Expression> {
        self.streams = self.streams.checked_sub(1)?;
        let slot = scope.slots.len();
        scope.slots.push(Some(Stream { kind, optional, place: self.place() }));
        let path = place.iter().map(|(_, optional)| *optional).collect();
        scope.at(place).streams.push((slot, path));
        Some(Expression::Stream(slot))
    }

    fn made(&mut self, made: &Make, place: &Place, scope: &mut Scope) -> Option<Expression> {
        Some(match made {
            Make::Constant(text) => Expression::Constant(text.clone()),
            Make::Array(inner) => Expression::Array(self.boxed(inner, place, scope)?),
            Make::Object(members) => {
                let mut all = Vec::new();
                for (name, value) in members {
                    all.push((name.clone(), self.expression(value, place, scope)?));
                }
                Expression::Object(all)
            }
            Make::Text(pieces) => {
                let mut parts = Vec::new();
                for piece in pieces {
                    parts.push(match piece {
                        Piece::Constant(text) => Part::Constant(text.clone()),
                        Piece::Value(steps) => Part::Value(self.expression(steps, place, scope)?),
                    });
                }
                Expression::Text(parts)
            }
            Make::Compare(left, op, right) => {
                let left = self.boxed(left, place, scope)?;
                Expression::Compare(left, *op, self.boxed(right, place, scope)?)
            }
            Make::And(left, right) => {
                Expression::And(self.boxed(left, place, scope)?, self.boxed(right, place, scope)?)
            }
            Make::Or(left, right) => Expression::Or(self.boxed(left, place, scope)?, self.boxed(right, place, scope)?),
            Make::Not => Expression::Not(self.boxed(&[], place, scope)?),
            Make::Length => self.stream(Kind::Length, false, place, scope)?,
            Make::Type => Expression::Type(self.boxed(&[], place, scope)?),
            Make::Is(kinds) => Expression::Is(self.boxed(&[], place, scope)?, kinds),
            Make::Has(name) => {
                let mut member = place.clone();
                member.push((name.clone(), false));
                Expression::Has(scope.value(&member))
            }
            Make::Search(search, wanted) => Expression::Search(self.boxed(&[], place, scope)?, *search, wanted.clone()),
        })
    }
}
