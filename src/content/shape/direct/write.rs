//! Writes what a plan makes of its slots: what is kept is copied as it stands.
//!
//! Outputs are written one after the other, each with a comma behind it; whoever closes a container takes the last one.

use super::plan::{Expression, Kind, Part, Plan, Stream};
use super::run::{Found, Run};
use super::scalar;
use crate::content::conform::{Known, NOWHERE, Reader};

/// A value that an expression made.
enum Operand<'p> {
    Text(usize, usize),
    Made(usize, usize),
    Constant(&'p [u8]),
}

impl Run<'_> {
    pub(super) fn push(&mut self, bytes: &[u8]) -> Option<()> {
        if self.out.len() + bytes.len() > self.most {
            return None;
        }
        self.out.extend_from_slice(bytes);
        Some(())
    }

    /// Ends a container: in the place of the last comma, or behind the first byte.
    fn close(&mut self, close: u8) {
        match self.out.last_mut() {
            Some(last) if *last == b',' => *last = close,
            _ => self.out.push(close),
        }
        self.out.push(b',');
    }

    /// Writes the outputs of an expression; gives their number.
    pub(super) fn write(&mut self, plan: &Plan, expression: &Expression, base: usize) -> Option<usize> {
        let mark = self.out.len();
        Some(match expression {
            Expression::Value(slot) | Expression::Stream(slot) => match *self.slots.get(base + slot)? {
                Found::Text(start, end) => {
                    self.push(self.text.get(start..end)?)?;
                    self.out.push(b',');
                    1
                }
                Found::Made(start, end, count) => {
                    if self.out.len() + (end - start) > self.most {
                        return None;
                    }
                    self.out.extend_from_within(start..end);
                    count
                }
                Found::Null => self.null(plan, *slot)?,
                Found::Empty => 0,
                Found::Error => return None,
            },
            Expression::Constant(text) => {
                self.push(text)?;
                self.out.push(b',');
                1
            }
            Expression::With(slot, inner) => match self.slots.get(base + slot)? {
                Found::Error => return None,
                Found::Empty => 0,
                _ => self.write(plan, inner, base)?,
            },
            Expression::Array(inner) => {
                self.out.push(b'[');
                self.write(plan, inner, base)?;
                self.close(b']');
                1
            }
            Expression::Object(members) => {
                self.out.push(b'{');
                for (name, value) in members {
                    self.push(name)?;
                    match self.write(plan, value, base)? {
                        0 => {
                            self.out.truncate(mark);
                            return Some(0);
                        }
                        1 => {}
                        _ => return None,
                    }
                }
                self.close(b'}');
                1
            }
            Expression::Comma(all) => {
                let mut count = 0;
                for one in all {
                    count += self.write(plan, one, base)?;
                }
                count
            }
            Expression::If(test, then, otherwise) => match self.test(plan, test, base)? {
                Some(true) => self.write(plan, then, base)?,
                Some(false) => self.write(plan, otherwise, base)?,
                None => 0,
            },
            Expression::Alternative(left, right) => match self.write(plan, left, base)? {
                0 => self.write(plan, right, base)?,
                1 if self.out.get(mark..).is_some_and(scalar::is_true) => 1,
                1 => {
                    self.out.truncate(mark);
                    self.write(plan, right, base)?
                }
                _ => return None,
            },
            Expression::First(inner) => {
                let count = self.write(plan, inner, base)?;
                if count > 1 {
                    let mut json = Reader::new(self.out.get(mark..)?);
                    Known::new(&[], 0).skip(&mut json, NOWHERE)?;
                    let end = mark + json.at();
                    self.out.truncate(end);
                    self.out.push(b',');
                }
                count.min(1)
            }
            Expression::Then(outputs, then) => {
                let count = self.write(plan, outputs, base)?;
                let text = self.out.split_off(mark);
                self.outputs(&text, count, then)?
            }
            Expression::Text(parts) => self.string(plan, parts, base)?,
            Expression::Type(inner) => match self.operand(plan, inner, base)? {
                Some(value) => {
                    let kind = scalar::kind(self.bytes(&value)?);
                    self.out.truncate(mark);
                    self.push(kind)?;
                    self.out.push(b',');
                    1
                }
                None => 0,
            },
            _ => match self.test(plan, expression, base)? {
                Some(test) => {
                    self.push(if test { b"true," } else { b"false," })?;
                    1
                }
                None => 0,
            },
        })
    }

    /// Writes what is made of a value that is not there.
    fn null(&mut self, plan: &Plan, slot: usize) -> Option<usize> {
        match plan.slots.get(slot)? {
            None => self.push(b"null,").map(|()| 1),
            Some(Stream { kind: Kind::Item(_, plan), .. }) => self.plan_on_null(plan),
            Some(Stream { kind: Kind::Length, .. }) => self.push(b"0,").map(|()| 1),
            Some(Stream { optional, .. }) => optional.then_some(0),
        }
    }

    /// Runs a plan on outputs.
    fn outputs(&mut self, text: &[u8], count: usize, plan: &Plan) -> Option<usize> {
        let out = std::mem::take(&mut self.out);
        let (json, known) = (self.json.anew(text), Known::new(&[], 0));
        let mut run = Run { text, json, known, slots: Vec::new(), out, most: self.most };
        let mut sum = 0;
        for _ in 0..count {
            sum += run.plan(plan)?;
            run.json.take(b',').then_some(())?;
        }
        self.out = run.out;
        Some(sum)
    }

    fn string(&mut self, plan: &Plan, parts: &[Part], base: usize) -> Option<usize> {
        let (mark, mut string) = (self.out.len(), vec![b'"']);
        for part in parts {
            match part {
                Part::Constant(text) => string.extend_from_slice(text),
                Part::Value(value) => {
                    let Some(value) = self.operand(plan, value, base)? else { return Some(0) };
                    let spoken = scalar::spoken(self.bytes(&value)?)?;
                    if self.out.len() + string.len() + spoken.len() > self.most {
                        return None;
                    }
                    string.extend_from_slice(spoken);
                    self.out.truncate(mark);
                }
            }
        }
        string.extend_from_slice(b"\",");
        self.push(&string)?;
        Some(1)
    }

    /// The one output of an expression, if there is one. It may stand at the end of what is written: whoever is done with it
    /// takes that off.
    fn operand<'p>(&mut self, plan: &Plan, expression: &'p Expression, base: usize) -> Option<Option<Operand<'p>>> {
        match expression {
            Expression::Value(slot) => match *self.slots.get(base + slot)? {
                Found::Text(start, end) => Some(Some(Operand::Text(start, end))),
                Found::Null => Some(Some(Operand::Constant(b"null"))),
                Found::Empty => Some(None),
                Found::Error | Found::Made(..) => None,
            },
            Expression::Constant(text) => Some(Some(Operand::Constant(text))),
            _ => {
                let mark = self.out.len();
                match self.write(plan, expression, base)? {
                    0 => Some(None),
                    1 => Some(Some(Operand::Made(mark, self.out.len() - 1))),
                    _ => None,
                }
            }
        }
    }

    fn bytes<'a>(&'a self, operand: &Operand<'a>) -> Option<&'a [u8]> {
        match operand {
            Operand::Text(start, end) => self.text.get(*start..*end),
            Operand::Made(start, end) => self.out.get(*start..*end),
            Operand::Constant(text) => Some(text),
        }
    }

    /// Whether an expression's output is true, if it has one.
    fn test(&mut self, plan: &Plan, expression: &Expression, base: usize) -> Option<Option<bool>> {
        let mark = self.out.len();
        let found = match expression {
            Expression::Compare(left, op, right) => {
                let (Some(left), Some(right)) = (self.operand(plan, left, base)?, self.operand(plan, right, base)?)
                else {
                    self.out.truncate(mark);
                    return Some(None);
                };
                let order = scalar::compare(self.bytes(&left)?, self.bytes(&right)?)?;
                op.run(&order, &std::cmp::Ordering::Equal)
            }
            Expression::With(slot, inner) => {
                return match self.slots.get(base + slot)? {
                    Found::Error => None,
                    Found::Empty => Some(None),
                    _ => self.test(plan, inner, base),
                };
            }
            Expression::And(left, right) => {
                return match self.test(plan, left, base)? {
                    Some(true) => self.test(plan, right, base),
                    decided => Some(decided),
                };
            }
            Expression::Or(left, right) => {
                return match self.test(plan, left, base)? {
                    Some(false) => self.test(plan, right, base),
                    decided => Some(decided),
                };
            }
            Expression::Not(inner) => return Some(self.test(plan, inner, base)?.map(|test| !test)),
            Expression::Has(slot) => match self.slots.get(base + slot)? {
                Found::Text(..) => true,
                Found::Null => false,
                _ => return None,
            },
            Expression::Is(inner, _) | Expression::Search(inner, ..) => {
                let Some(value) = self.operand(plan, inner, base)? else { return Some(None) };
                let value = self.bytes(&value)?;
                match expression {
                    Expression::Is(_, kinds) => value.first().is_some_and(|first| kinds.contains(first)),
                    Expression::Search(_, search, wanted) => scalar::found(value, *search, wanted)?,
                    _ => return None,
                }
            }
            other => {
                let Some(value) = self.operand(plan, other, base)? else { return Some(None) };
                scalar::is_true(self.bytes(&value)?)
            }
        };
        self.out.truncate(mark);
        Some(Some(found))
    }
}
