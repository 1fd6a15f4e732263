//! Filter expressions (RFC 9535 §2.3.5) and functions (§2.4).

use super::Path;
use serde_json::Value;
use std::cmp::Ordering;

/// A logical expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Filter {
    Or(Vec<Filter>),
    And(Vec<Filter>),
    Not(Box<Filter>),
    Compare(Operand, Comparison, Operand),
    /// The query selects at least one node.
    Exists(Query),
    /// `match` (whole text) or `search` (part of it).
    Matches {
        text: Operand,
        pattern: Operand,
        whole: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A query from the root (`$`) or the current node (`@`).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Query {
    pub from_root: bool,
    pub path: Path,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operand {
    Literal(Value),
    /// The value of the one node, or nothing.
    Single(Query),
    Length(Box<Operand>),
    Count(Query),
    Value(Query),
}

impl Query {
    fn run<'v>(&self, root: &'v Value, current: &'v Value, looks: &mut usize) -> Vec<&'v Value> {
        let start = if self.from_root { root } else { current };
        self.path.run(root, start, looks).into_iter().map(|(_, value)| value).collect()
    }
}

impl Operand {
    /// The value, or `None` for "nothing".
    fn value(&self, root: &Value, current: &Value, looks: &mut usize) -> Option<Value> {
        match self {
            Operand::Literal(value) => Some(value.clone()),
            Operand::Single(query) | Operand::Value(query) => match query.run(root, current, looks).as_slice() {
                [one] => Some(Value::clone(one)),
                _ => None,
            },
            Operand::Count(query) => Some(Value::from(query.run(root, current, looks).len())),
            Operand::Length(of) => match of.value(root, current, looks)? {
                Value::String(text) => Some(Value::from(text.chars().count())),
                Value::Array(items) => Some(Value::from(items.len())),
                Value::Object(members) => Some(Value::from(members.len())),
                _ => None,
            },
        }
    }
}

impl Filter {
    /// True if `current`, a node below `root`, passes.
    pub fn holds(&self, root: &Value, current: &Value, looks: &mut usize) -> bool {
        match self {
            Filter::Or(parts) => parts.iter().any(|it| it.holds(root, current, looks)),
            Filter::And(parts) => parts.iter().all(|it| it.holds(root, current, looks)),
            Filter::Not(part) => !part.holds(root, current, looks),
            Filter::Exists(query) => !query.run(root, current, looks).is_empty(),
            Filter::Compare(left, comparison, right) => {
                let (left, right) = (left.value(root, current, looks), right.value(root, current, looks));
                comparison.holds(left.as_ref(), right.as_ref())
            }
            Filter::Matches { text, pattern, whole } => {
                let text = text.value(root, current, looks);
                let pattern = pattern.value(root, current, looks);
                match (text.as_ref().and_then(Value::as_str), pattern.as_ref().and_then(Value::as_str)) {
                    (Some(text), Some(pattern)) => matches(text, pattern, *whole),
                    _ => false,
                }
            }
        }
    }
}

fn matches(text: &str, pattern: &str, whole: bool) -> bool {
    let pattern = if whole { format!("^(?:{pattern})$") } else { pattern.to_owned() };
    regex::RegexBuilder::new(&pattern).size_limit(1 << 20).build().is_ok_and(|it| it.is_match(text))
}

impl Comparison {
    /// RFC 9535 §2.3.5.2.2: nothing equals nothing; only numbers and texts have an order.
    fn holds(self, left: Option<&Value>, right: Option<&Value>) -> bool {
        let equal = || match (left, right) {
            (None, None) => true,
            (Some(left), Some(right)) => same(left, right),
            _ => false,
        };
        let order = || match (left?, right?) {
            (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
            (Value::Number(left), Value::Number(right)) => left.as_f64()?.partial_cmp(&right.as_f64()?),
            _ => None,
        };
        match self {
            Comparison::Equal => equal(),
            Comparison::NotEqual => !equal(),
            Comparison::Less => order() == Some(Ordering::Less),
            Comparison::Greater => order() == Some(Ordering::Greater),
            Comparison::LessOrEqual => order() == Some(Ordering::Less) || equal(),
            Comparison::GreaterOrEqual => order() == Some(Ordering::Greater) || equal(),
        }
    }
}

fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        _ => left == right,
    }
}
