//! Keeps a filter within its limits.
//!
//! Every definition (jq's own library included) begins with a native `__tick` that counts steps and
//! measures the stack; so does every place where outputs of one filter drive another, since native
//! generators such as `range` run no definition of their own. Values are checked for depth now and
//! then while they are built, because dropping a deep value recurses. This guards against accidents
//! of a mapping's author; it is no sandbox for strangers.

use super::{Limits, value};
use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Def, Pattern, Term};
use jaq_core::{DataT, Lut, data::HasLut, ops::Math, path};
use jaq_json::Val;
use std::cell::Cell;
use std::fmt;
use std::time::Instant;

/// The definition that holds the author's filter.
pub(super) const MAIN: &str = "__main";
const TICK: &str = "__tick";
const BUILT: &str = "__built";
const TIMES: &str = "__times";
/// Stack that a filter may use: a quarter of what a worker thread has.
const MAX_STACK: usize = 512 * 1024;

/// Data that natives see.
pub(super) struct Kind;

impl DataT for Kind {
    type V<'a> = Val;
    type Data<'a> = &'a Meter<'a>;
}

impl<'a> HasLut<'a, Kind> for &'a Meter<'a> {
    fn lut(&self) -> &'a Lut<Kind> {
        self.lut
    }
}

/// What is left of one run's limits.
pub(super) struct Meter<'a> {
    lut: &'a Lut<Kind>,
    steps: Cell<u64>,
    base: usize,
    started: Instant,
    time: std::time::Duration,
    ticks: Cell<u32>,
}

/// Why a filter was stopped; the payload of the unwinding.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stop {
    Steps,
    Time,
    Stack,
    Depth,
    Memory,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stop::Steps => "the filter needs too many steps (endless loop?)",
            Stop::Time => "the filter takes too long",
            Stop::Stack => "the filter calls itself too deeply",
            Stop::Depth => "the filter makes a value that is nested too deeply",
            Stop::Memory => "the filter makes a value that is too large",
        })
    }
}

impl<'a> Meter<'a> {
    pub(super) fn new(lut: &'a Lut<Kind>, limits: &Limits, input: u64) -> Self {
        Meter {
            lut,
            steps: Cell::new(limits.steps.saturating_add(input.saturating_mul(16))),
            base: stack(),
            started: Instant::now(),
            time: limits.time + std::time::Duration::from_micros(input.saturating_mul(4)),
            ticks: Cell::new(0),
        }
    }

    pub(super) fn stop(&self, why: Stop) {
        // Not `panic!`: no hook runs and nothing is printed.
        std::panic::resume_unwind(Box::new(why));
    }

    pub(super) fn spend(&self, steps: u64) {
        match self.steps.get().checked_sub(steps) {
            Some(left) => self.steps.set(left),
            None => self.stop(Stop::Steps),
        }
    }

    pub(super) fn tick(&self, input: &Val) {
        self.spend(value::weight(input));
        if self.base.abs_diff(stack()) > MAX_STACK {
            self.stop(Stop::Stack);
        }
        let ticks = self.ticks.get().wrapping_add(1);
        self.ticks.set(ticks);
        if ticks.is_multiple_of(256) && self.started.elapsed() > self.time {
            self.stop(Stop::Time);
        }
    }

    pub(super) fn built(&self, output: &Val) {
        self.tick(output);
        if self.ticks.get().is_multiple_of(64) && value::deeper_than(output, 2 * value::MAX_DEPTH, self) {
            self.stop(Stop::Depth);
        }
    }
}

/// Where the stack is now, near enough.
#[inline(never)]
fn stack() -> usize {
    let here = 0u8;
    std::ptr::from_ref(std::hint::black_box(&here)).addr()
}

/// All definitions of the language and the author's filter as [`MAIN`], guarded.
pub(super) fn definitions<'s>(main: Term<&'s str>) -> impl Iterator<Item = Def<&'s str>> {
    let library = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let library = library.filter(|def| !super::natives::WITHHELD.contains(&def.name)).map(|def| def as Def<&'s str>);
    library.chain([Def { name: MAIN, args: Vec::new(), body: main }]).map(definition)
}

fn definition(def: Def<&str>) -> Def<&str> {
    Def { name: def.name, args: def.args, body: after_tick(term(def.body)) }
}

fn call(name: &str) -> Term<&str> {
    Term::Call(name, Vec::new())
}

fn pipe<'s>(left: Term<&'s str>, right: Term<&'s str>) -> Term<&'s str> {
    Term::BinOp(Box::new(left), BinaryOp::Pipe(None), Box::new(right))
}

fn after_tick(body: Term<&str>) -> Term<&str> {
    pipe(call(TICK), body)
}

/// Guards the outputs of a term that may have many of them.
fn counted(inner: Term<&str>) -> Term<&str> {
    if single(&inner) { inner } else { pipe(inner, call(TICK)) }
}

/// True if the term has one output at most and is cheap.
fn single(term: &Term<&str>) -> bool {
    match term {
        Term::Id | Term::Num(_) | Term::Var(_) => true,
        Term::Str(None, parts) => !parts.iter().any(|part| matches!(part, StrPart::Term(_))),
        Term::Path(inner, path) => {
            single(inner) && path.0.iter().all(|(part, _)| matches!(part, path::Part::Index(index) if single(index)))
        }
        _ => false,
    }
}

#[allow(clippy::boxed_local)] // the boxes are the term's own
fn boxed(inner: Box<Term<&str>>) -> Box<Term<&str>> {
    Box::new(term(*inner))
}

/// The same term with guards inside.
fn term(one: Term<&str>) -> Term<&str> {
    match one {
        Term::Id | Term::Recurse | Term::Num(_) | Term::Break(_) | Term::Var(_) => one,
        Term::Str(format, parts) => {
            let parts = parts.into_iter().map(|part| match part {
                StrPart::Term(inner) => StrPart::Term(counted(term(inner))),
                other => other,
            });
            Term::Str(format, parts.collect())
        }
        Term::Arr(None) => Term::Arr(None),
        Term::Arr(Some(inner)) => pipe(Term::Arr(Some(Box::new(counted(term(*inner))))), call(BUILT)),
        Term::Obj(members) => {
            let members = members.into_iter().map(|(key, value)| (term(key), value.map(|value| counted(term(value)))));
            pipe(Term::Obj(members.collect()), call(BUILT))
        }
        Term::Neg(inner) => Term::Neg(boxed(inner)),
        Term::BinOp(left, op, right) => binary(term(*left), op, term(*right)),
        Term::Label(name, inner) => Term::Label(name, boxed(inner)),
        Term::Fold(name, source, pattern, bodies) => {
            let bodies = bodies.into_iter().map(|body| after_tick(term(body))).collect();
            Term::Fold(name, Box::new(counted(term(*source))), self::pattern(pattern), bodies)
        }
        Term::TryCatch(inner, catch) => Term::TryCatch(boxed(inner), catch.map(boxed)),
        Term::IfThenElse(branches, otherwise) => {
            let branches = branches.into_iter().map(|(test, then)| (counted(term(test)), term(then)));
            Term::IfThenElse(branches.collect(), otherwise.map(boxed))
        }
        Term::Def(definitions, inner) => Term::Def(definitions.into_iter().map(definition).collect(), boxed(inner)),
        Term::Call(name, arguments) => {
            Term::Call(name, arguments.into_iter().map(|argument| counted(term(argument))).collect())
        }
        Term::Path(inner, parts) => {
            let parts = parts.0.into_iter().map(|(part, opt)| {
                let part = match part {
                    path::Part::Index(index) => path::Part::Index(term(index)),
                    path::Part::Range(from, to) => path::Part::Range(from.map(term), to.map(term)),
                };
                (part, opt)
            });
            Term::Path(boxed(inner), path::Path(parts.collect()))
        }
    }
}

fn binary<'s>(left: Term<&'s str>, op: BinaryOp<&'s str>, right: Term<&'s str>) -> Term<&'s str> {
    const FACTOR: &str = "$__factor";
    let join = |left, op, right| Term::BinOp(Box::new(left), op, Box::new(right));
    match op {
        BinaryOp::Pipe(None) => {
            let right = if single(&right) { right } else { after_tick(right) };
            join(left, BinaryOp::Pipe(None), right)
        }
        BinaryOp::Pipe(Some(bound)) => join(left, BinaryOp::Pipe(Some(pattern(bound))), after_tick(right)),
        BinaryOp::Comma => join(left, BinaryOp::Comma, right),
        BinaryOp::Math(Math::Mul) => Term::Call(TIMES, vec![counted(left), counted(right)]),
        BinaryOp::UpdateMath(Math::Mul) => {
            let product = Term::Call(TIMES, vec![Term::Id, Term::Var(FACTOR)]);
            let update = join(left, BinaryOp::Update, product);
            join(counted(right), BinaryOp::Pipe(Some(Pattern::Var(FACTOR))), update)
        }
        BinaryOp::Update => join(left, BinaryOp::Update, after_tick(right)),
        op => join(counted(left), op, counted(right)),
    }
}

fn pattern(one: Pattern<&str>) -> Pattern<&str> {
    match one {
        Pattern::Var(name) => Pattern::Var(name),
        Pattern::Arr(inner) => Pattern::Arr(inner.into_iter().map(pattern).collect()),
        Pattern::Obj(members) => {
            Pattern::Obj(members.into_iter().map(|(key, inner)| (term(key), pattern(inner))).collect())
        }
    }
}
