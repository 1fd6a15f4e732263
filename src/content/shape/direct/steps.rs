//! A filter's text as steps, for the part of the language that is run directly.

use crate::content::shape::filter::constant;
use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Term};
use jaq_core::ops::Cmp;
use jaq_core::path::{Opt, Part};
use serde_json::Number;

/// What is done with a value, one step after the other; each step may have several outputs, which go on one by one.
pub(super) type Steps = Vec<Step>;

#[derive(Debug, Clone)]
pub(super) enum Step {
    /// `.a`; true for `.a?`.
    Member(String, bool),
    /// `.[]`; true for `.[]?`.
    Each(bool),
    /// `.[1]`; true for `.[1]?`.
    Item(isize, bool),
    /// `.[1:2]`; true for `.[1:2]?`.
    Slice(Option<isize>, Option<isize>, bool),
    /// `if`, and with it `select`.
    If(Steps, Steps, Steps),
    /// `,`; `empty` has no branch.
    Comma(Vec<Steps>),
    /// `//`
    Alternative(Steps, Steps),
    /// `first(f)`
    First(Steps),
    /// A value that is made.
    Make(Make),
}

/// A value made of the input.
#[derive(Debug, Clone)]
pub(super) enum Make {
    /// JSON text.
    Constant(Vec<u8>),
    Array(Steps),
    /// Names with quotes and colon, and what makes the values.
    Object(Vec<(Vec<u8>, Steps)>),
    /// A string with something to fill in.
    Text(Vec<Piece>),
    Compare(Steps, Cmp, Steps),
    And(Steps, Steps),
    Or(Steps, Steps),
    Not,
    Length,
    Type,
    /// Whether the input is of one of these kinds, told by the first byte of its text.
    Is(&'static [u8]),
    Has(String),
    Search(Search, String),
}

/// Part of a string.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    /// JSON text of a string, without quotes.
    Constant(Vec<u8>),
    Value(Steps),
}

/// How a string is looked for in another.
#[derive(Debug, Clone, Copy)]
pub(super) enum Search {
    Start,
    End,
    Anywhere,
}

/// First bytes of numbers.
const NUMBERS: &[u8] = b"-0123456789";

/// The steps of a filter. `None` where it is not simple enough.
pub(super) fn steps(term: &Term<&str>) -> Option<Steps> {
    Some(match term {
        Term::Id => Steps::new(),
        Term::Num(_) | Term::Neg(_) => constant_step(number(term)?),
        Term::Str(None, parts) => match constant(parts) {
            Some(text) => constant_step(serde_json::to_vec(&text).ok()?),
            None => make(Make::Text(pieces(parts)?)),
        },
        Term::Arr(None) => constant_step(b"[]".to_vec()),
        Term::Arr(Some(inner)) => make(Make::Array(steps(inner)?)),
        Term::Obj(members) if members.is_empty() => constant_step(b"{}".to_vec()),
        Term::Obj(members) => make(Make::Object(object(members)?)),
        Term::BinOp(left, op, right) => binary(steps(left)?, op, steps(right)?)?,
        Term::IfThenElse(branches, otherwise) => {
            let otherwise = match otherwise {
                Some(otherwise) => steps(otherwise)?,
                None => Steps::new(),
            };
            branches.iter().rev().try_fold(otherwise, |otherwise, (test, then)| {
                Some(vec![Step::If(single(steps(test)?)?, steps(then)?, otherwise)])
            })?
        }
        Term::Call(name, arguments) => call(name, arguments)?,
        Term::Path(inner, path) => {
            let mut all = steps(inner)?;
            for (part, opt) in &path.0 {
                all.push(self::part(part, matches!(opt, Opt::Optional))?);
            }
            all
        }
        _ => return None,
    })
}

/// How much deeper than the input the outputs may be nested.
pub(super) fn depth(steps: &[Step]) -> u32 {
    let most = |all: &[&Steps]| all.iter().map(|steps| depth(steps)).max().unwrap_or_default();
    let of = |step: &Step| match step {
        Step::Member(..) | Step::Each(_) | Step::Item(..) | Step::Slice(..) => 0,
        Step::If(_, then, otherwise) => most(&[then, otherwise]),
        Step::Alternative(left, right) => most(&[left, right]),
        Step::Comma(branches) => most(&branches.iter().collect::<Vec<_>>()),
        Step::First(inner) => depth(inner),
        Step::Make(Make::Array(inner)) => 1 + depth(inner),
        Step::Make(Make::Object(members)) => 1 + most(&members.iter().map(|(_, value)| value).collect::<Vec<_>>()),
        Step::Make(_) => 1,
    };
    steps.iter().map(of).sum()
}

fn make(made: Make) -> Steps {
    vec![Step::Make(made)]
}

fn constant_step(text: Vec<u8>) -> Steps {
    make(Make::Constant(text))
}

/// The same steps if they have one output at most.
fn single(steps: Steps) -> Option<Steps> {
    fn is_single(steps: &[Step]) -> bool {
        steps.iter().all(|step| match step {
            Step::Each(_) => false,
            Step::Comma(branches) => branches.is_empty(),
            Step::If(_, left, right) | Step::Alternative(left, right) => is_single(left) && is_single(right),
            Step::Member(..) | Step::Item(..) | Step::Slice(..) | Step::First(_) | Step::Make(_) => true,
        })
    }
    is_single(&steps).then_some(steps)
}

fn single_of(term: &Term<&str>) -> Option<Steps> {
    single(steps(term)?)
}

fn binary(mut left: Steps, op: &BinaryOp<&str>, right: Steps) -> Option<Steps> {
    Some(match op {
        BinaryOp::Pipe(None) => {
            left.extend(right);
            left
        }
        BinaryOp::Comma => vec![Step::Comma(vec![left, right])],
        BinaryOp::Alt => vec![Step::Alternative(single(left)?, right)],
        BinaryOp::Or => make(Make::Or(single(left)?, single(right)?)),
        BinaryOp::And => make(Make::And(single(left)?, single(right)?)),
        BinaryOp::Cmp(op) => make(Make::Compare(single(left)?, *op, single(right)?)),
        _ => return None,
    })
}

fn pieces(parts: &[StrPart<&str, Term<&str>>]) -> Option<Vec<Piece>> {
    let quoted = |text: &str| {
        let quoted = serde_json::to_vec(text).ok()?;
        Some(Piece::Constant(quoted.get(1..quoted.len() - 1)?.to_vec()))
    };
    let piece = |part: &StrPart<&str, Term<&str>>| match part {
        StrPart::Str(text) => quoted(text),
        StrPart::Char(char) => quoted(char.encode_utf8(&mut [0; 4])),
        StrPart::Term(inner) => single_of(inner).map(Piece::Value),
    };
    parts.iter().map(piece).collect()
}

/// Members with constant names, none of them twice.
fn object(members: &[(Term<&str>, Option<Term<&str>>)]) -> Option<Vec<(Vec<u8>, Steps)>> {
    let mut all: Vec<(Vec<u8>, Steps)> = Vec::new();
    for (key, value) in members {
        let Term::Str(None, parts) = key else { return None };
        let name = constant(parts)?;
        let mut quoted = serde_json::to_vec(&name).ok()?;
        quoted.push(b':');
        if all.iter().any(|(other, _)| *other == quoted) {
            return None;
        }
        let value = match value {
            Some(value) => single_of(value)?,
            None => vec![Step::Member(name, false)],
        };
        all.push((quoted, value));
    }
    Some(all)
}

fn part(part: &Part<Term<&str>>, optional: bool) -> Option<Step> {
    let bound = |bound: &Option<Term<&str>>| match bound {
        None => Some(None),
        Some(term) => whole(term).map(Some),
    };
    Some(match part {
        Part::Range(None, None) => Step::Each(optional),
        Part::Range(from, to) => Step::Slice(bound(from)?, bound(to)?, optional),
        Part::Index(Term::Str(None, parts)) => Step::Member(constant(parts)?, optional),
        Part::Index(index) => Step::Item(whole(index)?, optional),
    })
}

fn call(name: &str, arguments: &[Term<&str>]) -> Option<Steps> {
    let kinds = |kinds: &'static [u8]| select(make(Make::Is(kinds)));
    Some(match (name, arguments) {
        ("true" | "false" | "null", []) => constant_step(name.as_bytes().to_vec()),
        ("empty", []) => vec![Step::Comma(Vec::new())],
        ("not", []) => make(Make::Not),
        ("length", []) => make(Make::Length),
        ("type", []) => make(Make::Type),
        ("first", []) => vec![Step::Item(0, false)],
        ("last", []) => vec![Step::Item(-1, false)],
        ("first", [inner]) => vec![Step::First(steps(inner)?)],
        ("map", [inner]) => {
            let mut each = vec![Step::Each(false)];
            each.extend(steps(inner)?);
            make(Make::Array(each))
        }
        ("select", [test]) => select(single_of(test)?),
        ("values", []) => kinds(b"tf-0123456789\"[{"),
        ("nulls", []) => kinds(b"n"),
        ("booleans", []) => kinds(b"tf"),
        ("numbers", []) => kinds(NUMBERS),
        ("strings", []) => kinds(b"\""),
        ("arrays", []) => kinds(b"["),
        ("objects", []) => kinds(b"{"),
        ("iterables", []) => kinds(b"[{"),
        ("scalars", []) => kinds(b"ntf-0123456789\""),
        ("has" | "startswith" | "endswith" | "contains", [Term::Str(None, parts)]) => {
            let text = constant(parts)?;
            make(match name {
                "has" => Make::Has(text),
                "startswith" => Make::Search(Search::Start, text),
                "endswith" => Make::Search(Search::End, text),
                _ => Make::Search(Search::Anywhere, text),
            })
        }
        ("tostring", []) => make(Make::Text(vec![Piece::Value(Steps::new())])),
        _ => return None,
    })
}

fn select(test: Steps) -> Steps {
    vec![Step::If(test, Steps::new(), vec![Step::Comma(Vec::new())])]
}

fn whole(term: &Term<&str>) -> Option<isize> {
    match term {
        Term::Num(digits) => digits.parse().ok(),
        Term::Neg(inner) => whole(inner)?.checked_neg(),
        _ => None,
    }
}

/// The JSON text of a number as it is written after a run: a whole number without fraction.
fn number(term: &Term<&str>) -> Option<Vec<u8>> {
    fn float(term: &Term<&str>) -> Option<f64> {
        match term {
            // Whole numbers past 64 bits have all their digits.
            Term::Num(text) if text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) => text.parse().ok(),
            Term::Neg(inner) => Some(-float(inner)?),
            _ => None,
        }
    }
    if let Some(whole) = whole(term) {
        return Some(whole.to_string().into_bytes());
    }
    let float = float(term)?;
    if float.fract() == 0.0 && float.abs() < 9e15 {
        return Some((float as i64).to_string().into_bytes());
    }
    Some(Number::from_f64(float)?.to_string().into_bytes())
}
