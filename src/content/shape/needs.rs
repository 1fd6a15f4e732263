//! `select`: which parts of its input a filter can look at, so that the rest need not be built.
//!
//! A filter's text is followed with the places of the input that its values stand at. Whatever is not known to look at
//! less looks at the whole of where it is. Errors need no care: they may show values in full, so that a filter that
//! fails on the parts runs again on the whole, unless it met a limit.

use super::filter::constant;
use indexmap::IndexMap;
use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Pattern, Term};
use jaq_core::path::Part;

/// What is needed of a value. Of a scalar it is always the value, of a list always every item's place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// Everything.
    pub(super) whole: bool,
    /// Members of an object.
    pub(super) members: IndexMap<String, Needs>,
    /// Items of a list; of an object it is everything.
    pub(super) items: Option<Box<Needs>>,
}

impl Needs {
    /// The same and all of a member.
    pub(super) fn and_member(mut self, name: &str) -> Needs {
        self.members.entry(name.to_owned()).or_default().whole = true;
        self
    }
}

/// What a filter needs of its input; `None` if that is the whole of it.
pub(super) fn needs(term: &Term<&str>) -> Option<Needs> {
    let mut follower = Follower { needs: Needs::default() };
    let outputs = follower.term(term, &vec![Vec::new()], 0);
    follower.whole(&outputs);
    (!follower.needs.whole).then_some(follower.needs)
}

/// One step into the input.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Member(String),
    Items,
}

/// Where values may stand in the input. Values that stand nowhere in it, or only in parts that are needed whole, have no
/// place.
type Places = Vec<Vec<Step>>;

/// Most places, deepest terms and longest places that are followed.
const MOST_PLACES: usize = 64;
const DEEPEST: usize = 64;
const LONGEST: usize = 32;

struct Follower {
    needs: Needs,
}

impl Follower {
    fn at(&mut self, place: &[Step]) -> &mut Needs {
        place.iter().fold(&mut self.needs, |needs, step| match step {
            Step::Member(name) => needs.members.entry(name.clone()).or_default(),
            Step::Items => needs.items.get_or_insert_default(),
        })
    }

    fn whole(&mut self, places: &Places) -> Places {
        for place in places {
            self.at(place).whole = true;
        }
        Places::new()
    }

    /// Follows a term whose outputs are looked at in full.
    fn used(&mut self, term: &Term<&str>, input: &Places, depth: usize) -> Places {
        let outputs = self.term(term, input, depth);
        self.whole(&outputs)
    }

    /// Follows a term; gives where its outputs stand.
    fn term(&mut self, term: &Term<&str>, input: &Places, depth: usize) -> Places {
        if depth > DEEPEST || input.len() > MOST_PLACES {
            return self.whole(input);
        }
        let depth = depth + 1;
        match term {
            Term::Id => input.clone(),
            Term::Num(_) | Term::Var(_) | Term::Break(_) | Term::Arr(None) => Places::new(),
            Term::Str(Some(_), parts) if parts.is_empty() => self.whole(input),
            Term::Str(_, parts) => {
                for part in parts {
                    if let StrPart::Term(inner) = part {
                        self.used(inner, input, depth);
                    }
                }
                Places::new()
            }
            Term::Arr(Some(inner)) | Term::Neg(inner) => self.used(inner, input, depth),
            Term::Obj(members) => {
                for (key, value) in members {
                    self.member(key, value.as_ref(), input, depth);
                }
                Places::new()
            }
            Term::BinOp(left, op, right) => match op {
                BinaryOp::Pipe(None) => {
                    let between = self.term(left, input, depth);
                    self.term(right, &between, depth)
                }
                BinaryOp::Pipe(Some(Pattern::Var(_))) => {
                    self.used(left, input, depth);
                    self.term(right, input, depth)
                }
                BinaryOp::Comma | BinaryOp::Alt => {
                    let mut outputs = self.term(left, input, depth);
                    outputs.extend(self.term(right, input, depth));
                    outputs
                }
                BinaryOp::Or | BinaryOp::And | BinaryOp::Math(_) | BinaryOp::Cmp(_) => {
                    self.used(left, input, depth);
                    self.used(right, input, depth)
                }
                _ => self.whole(input),
            },
            Term::Label(_, inner) | Term::TryCatch(inner, None) => self.term(inner, input, depth),
            Term::IfThenElse(branches, otherwise) => {
                let mut outputs = match otherwise {
                    Some(otherwise) => self.term(otherwise, input, depth),
                    None => input.clone(),
                };
                for (test, then) in branches {
                    self.used(test, input, depth);
                    outputs.extend(self.term(then, input, depth));
                }
                outputs
            }
            Term::Call(name, arguments) => self.call(name, arguments, input, depth),
            Term::Path(inner, path) => {
                let mut places = self.term(inner, input, depth);
                for (part, _) in &path.0 {
                    places = self.part(part, places, input, depth);
                }
                places
            }
            // Definitions may give known names another meaning; messages of errors show values.
            Term::Recurse | Term::Def(..) | Term::Fold(..) | Term::TryCatch(_, Some(_)) => self.whole(input),
        }
    }

    fn member(&mut self, key: &Term<&str>, value: Option<&Term<&str>>, input: &Places, depth: usize) {
        match (key, value) {
            (key, Some(value)) => {
                self.used(key, input, depth);
                self.used(value, input, depth);
            }
            (Term::Str(None, parts), None) if let Some(name) = constant(parts) => {
                let places = self.step(input, &Step::Member(name));
                self.whole(&places);
            }
            (Term::Var(_), None) => {}
            _ => {
                self.whole(input);
            }
        }
    }

    /// The places one step on. That a value is there at all is needed, for its kind.
    fn step(&mut self, places: &Places, step: &Step) -> Places {
        let mut next = Places::new();
        for place in places {
            if place.len() >= LONGEST {
                self.at(place).whole = true;
                continue;
            }
            let place: Vec<Step> = place.iter().chain([step]).cloned().collect();
            self.at(&place);
            if !next.contains(&place) {
                next.push(place);
            }
        }
        next
    }

    fn part(&mut self, part: &Part<Term<&str>>, places: Places, input: &Places, depth: usize) -> Places {
        match part {
            Part::Range(None, None) | Part::Index(Term::Num(_)) => self.step(&places, &Step::Items),
            Part::Index(Term::Neg(inner)) if matches!(**inner, Term::Num(_)) => self.step(&places, &Step::Items),
            Part::Index(Term::Str(None, parts)) if let Some(name) = constant(parts) => {
                self.step(&places, &Step::Member(name))
            }
            Part::Index(index) => {
                self.used(index, input, depth);
                self.whole(&places)
            }
            Part::Range(from, to) => {
                for bound in [from, to].into_iter().flatten() {
                    self.used(bound, input, depth);
                }
                self.whole(&places)
            }
        }
    }

    fn call(&mut self, name: &str, arguments: &[Term<&str>], input: &Places, depth: usize) -> Places {
        match (name, arguments) {
            ("empty" | "true" | "false" | "null", []) => Places::new(),
            // These look at nothing but the kind.
            (
                "values" | "nulls" | "booleans" | "numbers" | "strings" | "arrays" | "objects" | "iterables"
                | "scalars",
                [],
            ) => input.clone(),
            ("first" | "last", []) => self.step(input, &Step::Items),
            ("first", [inner]) => self.term(inner, input, depth),
            ("select", [test]) => {
                self.used(test, input, depth);
                input.clone()
            }
            ("map" | "any" | "all", [inner]) => {
                let items = self.step(input, &Step::Items);
                self.used(inner, &items, depth)
            }
            _ => self.whole(input),
        }
    }
}
