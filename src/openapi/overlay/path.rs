//! JSONPath (RFC 9535): names, wildcards, indices, slices, descendants, filters with comparisons,
//! existence tests and the five standard functions.

mod filter;
mod parse;

use crate::document::pointer;
use filter::Filter;
use serde_json::Value;

/// Most nodes that one query may look at.
const LOOKS: usize = 20_000_000;

/// A compiled query.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    segments: Vec<Segment>,
}

#[derive(Debug, Clone, PartialEq)]
struct Segment {
    /// `..`: at the node and everything below it.
    descendant: bool,
    selectors: Vec<Selector>,
}

#[derive(Debug, Clone, PartialEq)]
enum Selector {
    Name(String),
    Wildcard,
    Index(i64),
    Slice { start: Option<i64>, end: Option<i64>, step: i64 },
    Filter(Filter),
}

/// A selected node: its JSON pointer and value.
pub type Found<'v> = (String, &'v Value);

impl Path {
    /// Compiles `text`; the error says what is wrong and where.
    pub fn parse(text: &str) -> Result<Path, String> {
        parse::path(text)
    }

    /// The nodes of `root` that the query selects, in document order, without repeats.
    pub fn select<'v>(&self, root: &'v Value) -> Vec<Found<'v>> {
        let mut looks = LOOKS;
        let mut found = self.run(root, root, &mut looks);
        let mut seen = std::collections::HashSet::new();
        found.retain(|(pointer, _)| seen.insert(pointer.clone()));
        found
    }

    fn run<'v>(&self, root: &'v Value, start: &'v Value, looks: &mut usize) -> Vec<Found<'v>> {
        let mut now: Vec<Found<'v>> = vec![(String::new(), start)];
        for segment in &self.segments {
            let mut next = Vec::new();
            for (pointer, value) in now {
                if segment.descendant {
                    let mut open = vec![(pointer, value)];
                    while let Some((pointer, value)) = open.pop() {
                        select(&segment.selectors, root, &pointer, value, &mut next, looks);
                        let below = children(&pointer, value);
                        open.extend(below.into_iter().rev());
                        if *looks == 0 {
                            return next;
                        }
                    }
                } else {
                    select(&segment.selectors, root, &pointer, value, &mut next, looks);
                }
            }
            now = next;
        }
        now
    }

    /// True if the query can select one node at most (RFC 9535 §2.3.5.1).
    fn is_singular(&self) -> bool {
        self.segments.iter().all(|segment| {
            !segment.descendant && matches!(segment.selectors.as_slice(), [Selector::Name(_) | Selector::Index(_)])
        })
    }
}

fn children<'v>(at: &str, value: &'v Value) -> Vec<Found<'v>> {
    match value {
        Value::Object(object) => object.iter().map(|(key, it)| (pointer::join(at, key), it)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(n, it)| (pointer::join_index(at, n), it)).collect(),
        _ => Vec::new(),
    }
}

fn select<'v>(
    selectors: &[Selector],
    root: &'v Value,
    at: &str,
    value: &'v Value,
    into: &mut Vec<Found<'v>>,
    looks: &mut usize,
) {
    for selector in selectors {
        *looks = looks.saturating_sub(1);
        match (selector, value) {
            (Selector::Name(name), Value::Object(object)) => {
                into.extend(object.get(name).map(|it| (pointer::join(at, name), it)));
            }
            (Selector::Wildcard, _) => into.extend(children(at, value)),
            (Selector::Index(index), Value::Array(items)) => {
                let found = absolute(*index, items.len()).and_then(|n| items.get(n).map(|it| (n, it)));
                into.extend(found.map(|(n, it)| (pointer::join_index(at, n), it)));
            }
            (Selector::Slice { start, end, step }, Value::Array(items)) => {
                for n in slice(*start, *end, *step, items.len()) {
                    into.extend(items.get(n).map(|it| (pointer::join_index(at, n), it)));
                }
            }
            (Selector::Filter(filter), _) => {
                for (pointer, child) in children(at, value) {
                    *looks = looks.saturating_sub(1);
                    if *looks > 0 && filter.holds(root, child, looks) {
                        into.push((pointer, child));
                    }
                }
            }
            _ => {}
        }
    }
}

fn absolute(index: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    usize::try_from(if index < 0 { index.checked_add(length)? } else { index }).ok()
}

/// The indices of a slice (RFC 9535 §2.3.4.2).
fn slice(start: Option<i64>, end: Option<i64>, step: i64, length: usize) -> Vec<usize> {
    let Ok(length) = i64::try_from(length) else { return Vec::new() };
    let normal = |it: i64| if it >= 0 { it } else { length.saturating_add(it) };
    let mut found = Vec::new();
    if step > 0 {
        let lower = normal(start.unwrap_or(0)).clamp(0, length);
        let upper = normal(end.unwrap_or(length)).clamp(0, length);
        let mut n = lower;
        while n < upper {
            found.extend(usize::try_from(n));
            n = n.saturating_add(step);
        }
    } else if step < 0 {
        let upper = normal(start.unwrap_or(length - 1)).clamp(-1, length - 1);
        let lower = end.map_or(-1, |it| normal(it).clamp(-1, length - 1));
        let mut n = upper;
        while n > lower {
            found.extend(usize::try_from(n));
            n = n.saturating_add(step);
        }
    }
    found
}
