//! `select`: how many outputs a filter has, and which schema they follow.

use super::schema::{Rewriter, any_of, is_list, nullable};
use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Term};
use jaq_core::path::{Opt, Part};
use serde_json::{Map, Value, json};

/// How many outputs a filter has, as far as its text tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outputs {
    /// Exactly one: the result is that value.
    One,
    /// One or none: the value or null.
    Maybe,
    /// Not known: one output is that value, several are a list.
    Unknown,
    /// Any number: always a list.
    Many,
}

impl Outputs {
    /// Of `l | r`, or of a term that combines both.
    fn then(self, other: Outputs) -> Outputs {
        self.max(other)
    }
}

/// Judges a filter.
pub(super) fn outputs(term: &Term<&str>) -> Outputs {
    use Outputs::{Many, Maybe, One, Unknown};
    let all = |terms: &mut dyn Iterator<Item = &Term<&str>>| terms.map(outputs).fold(One, Outputs::then);
    match term {
        Term::Id | Term::Num(_) | Term::Var(_) | Term::Arr(_) => One,
        Term::Str(_, parts) => all(&mut parts.iter().filter_map(|part| match part {
            StrPart::Term(inner) => Some(inner),
            _ => None,
        })),
        Term::Recurse => Many,
        Term::Obj(members) => all(&mut members.iter().flat_map(|(key, value)| [Some(key), value.as_ref()]).flatten()),
        Term::Neg(inner) | Term::Label(_, inner) => outputs(inner),
        Term::Break(_) => Maybe,
        Term::BinOp(left, op, right) => match op {
            BinaryOp::Comma => Many,
            BinaryOp::Alt if outputs(left) <= Maybe && outputs(right) == One => One,
            BinaryOp::Update => One,
            BinaryOp::Assign | BinaryOp::UpdateMath(_) | BinaryOp::UpdateAlt => outputs(right),
            _ => outputs(left).then(outputs(right)),
        },
        Term::Fold("reduce", ..) => One,
        Term::Fold(..) => Many,
        Term::TryCatch(inner, catch) => outputs(inner).then(catch.as_ref().map_or(Maybe, |catch| outputs(catch))),
        Term::IfThenElse(branches, otherwise) => {
            let parts = branches.iter().flat_map(|(test, then)| [test, then]).chain(otherwise.as_deref());
            all(&mut parts.into_iter())
        }
        Term::Def(..) => Unknown,
        Term::Call(name, arguments) => call(name, arguments),
        Term::Path(inner, path) => path.0.iter().fold(outputs(inner), |sum, (part, opt)| {
            let part = match part {
                Part::Index(index) => outputs(index),
                Part::Range(None, None) => Many,
                Part::Range(from, to) => all(&mut from.iter().chain(to)),
            };
            sum.then(part).then(if matches!(opt, Opt::Optional) { Maybe } else { One })
        }),
    }
}

fn call(name: &str, arguments: &[Term<&str>]) -> Outputs {
    use Outputs::{Many, Maybe, One, Unknown};
    match (name, arguments.len()) {
        (
            "recurse" | "repeat" | "while" | "range" | "limit" | "skip" | "splits" | "paths" | "match" | "scan"
            | "capture",
            _,
        ) => Many,
        ("empty" | "error", _) => Maybe,
        (
            "values" | "nulls" | "booleans" | "numbers" | "strings" | "arrays" | "objects" | "iterables" | "scalars",
            0,
        ) => Maybe,
        ("select", 1) => arguments.iter().map(outputs).fold(Maybe, Outputs::then).min(Many),
        ("first" | "last", 1) | ("nth", 2) => Maybe,
        (
            "map" | "map_values" | "sort_by" | "group_by" | "unique_by" | "min_by" | "max_by" | "add" | "any" | "all"
            | "isempty" | "to_entries" | "from_entries" | "with_entries" | "del" | "pick" | "walk",
            _,
        ) => One,
        (
            "length" | "utf8bytelength" | "keys" | "keys_unsorted" | "not" | "tostring" | "tonumber" | "tojson"
            | "fromjson" | "type" | "sort" | "unique" | "min" | "max" | "reverse" | "flatten" | "floor" | "ceil"
            | "round" | "sqrt" | "abs" | "first" | "last" | "ascii_downcase" | "ascii_upcase" | "explode" | "implode"
            | "trim" | "ltrim" | "rtrim" | "transpose" | "true" | "false" | "null" | "todate" | "fromdate"
            | "todateiso8601" | "fromdateiso8601" | "gmtime" | "mktime" | "@text" | "@json" | "@csv" | "@tsv" | "@html"
            | "@uri" | "@base64" | "@base64d" | "@sh",
            0,
        ) => One,
        (
            "has" | "contains" | "inside" | "in" | "index" | "rindex" | "indices" | "startswith" | "endswith"
            | "ltrimstr" | "rtrimstr" | "join" | "split" | "test" | "sub" | "gsub" | "getpath" | "setpath" | "delpaths"
            | "strftime" | "strptime" | "pow" | "log" | "bsearch" | "flatten" | "nth",
            _,
        ) => arguments.iter().map(outputs).fold(One, Outputs::then),
        _ => Unknown,
    }
}

/// The schema of a filter's outputs for inputs of this schema: exact for paths, iteration, object and list construction and
/// pipes, open (`{}`) for everything else.
pub(super) fn schema(term: &Term<&str>, input: &Value, rewriter: Rewriter<'_>, depth: usize) -> Value {
    if depth > 64 {
        return json!({});
    }
    let next = |term: &Term<&str>, input: &Value| schema(term, input, rewriter, depth + 1);
    match term {
        Term::Id => input.clone(),
        Term::Num(_) => json!({"type": "number"}),
        Term::Str(..) => json!({"type": "string"}),
        Term::Arr(None) => json!({"type": "array"}),
        Term::Arr(Some(inner)) => list_of(next(inner, input)),
        Term::Obj(members) => object(members, input, &next),
        Term::BinOp(left, BinaryOp::Pipe(None), right) => next(right, &next(left, input)),
        Term::BinOp(left, BinaryOp::Comma, right) => any_of(vec![next(left, input), next(right, input)]),
        Term::BinOp(left, BinaryOp::Alt, right) => any_of(vec![next(left, input), next(right, input)]),
        Term::BinOp(_, BinaryOp::Cmp(_) | BinaryOp::And | BinaryOp::Or, _) => json!({"type": "boolean"}),
        Term::TryCatch(inner, None) => next(inner, input),
        Term::IfThenElse(branches, otherwise) => {
            let mut all: Vec<Value> = branches.iter().map(|(_, then)| next(then, input)).collect();
            all.push(otherwise.as_ref().map_or_else(|| input.clone(), |term| next(term, input)));
            any_of(all)
        }
        Term::Call(name, arguments) => match (*name, arguments.as_slice()) {
            ("map", [inner]) => match items(input, rewriter) {
                Some(item) => list_of(next(inner, &item)),
                None => json!({"type": "array"}),
            },
            ("select", [_]) | ("sort_by" | "unique_by", [_]) | ("values" | "reverse" | "sort" | "unique", []) => {
                input.clone()
            }
            ("first" | "last", []) => items(input, rewriter).map_or_else(|| json!({}), nullable),
            ("first" | "last", [inner]) => next(inner, input),
            ("length", []) => json!({"type": "number"}),
            ("tostring" | "tojson" | "type" | "ascii_downcase" | "ascii_upcase", []) | ("join", [_]) => {
                json!({"type": "string"})
            }
            ("not" | "true" | "false", []) | ("has" | "test" | "startswith" | "endswith" | "contains", [_]) => {
                json!({"type": "boolean"})
            }
            ("keys" | "keys_unsorted" | "to_entries", []) => json!({"type": "array"}),
            _ => json!({}),
        },
        Term::Path(inner, path) => {
            let start = next(inner, input);
            path.0.iter().fold(start, |schema, (part, _)| step(&schema, part, rewriter))
        }
        _ => json!({}),
    }
}

fn list_of(items: Value) -> Value {
    if items == json!({}) { json!({"type": "array"}) } else { json!({"type": "array", "items": items}) }
}

fn items(schema: &Value, rewriter: Rewriter<'_>) -> Option<Value> {
    let schema = rewriter.present(schema);
    let members = schema.as_object()?;
    if !is_list(members) || members.contains_key("prefixItems") {
        return None;
    }
    members.get("items").filter(|items| items.is_object()).cloned()
}

fn step(schema: &Value, part: &Part<Term<&str>>, rewriter: Rewriter<'_>) -> Value {
    let known = match part {
        Part::Range(None, None) => items(schema, rewriter),
        Part::Range(..) => items(schema, rewriter).map(list_of),
        Part::Index(Term::Num(_) | Term::Neg(_)) => items(schema, rewriter).map(nullable),
        Part::Index(Term::Str(None, parts)) => constant(parts).and_then(|name| {
            let schema = rewriter.resolve(schema);
            rewriter.member(schema.as_object()?, &name, 0).map(nullable)
        }),
        Part::Index(_) => None,
    };
    known.unwrap_or_else(|| json!({}))
}

/// The text of a string without anything to fill in.
pub(super) fn constant(parts: &[StrPart<&str, Term<&str>>]) -> Option<String> {
    parts
        .iter()
        .map(|part| match part {
            StrPart::Str(text) => Some((*text).to_owned()),
            StrPart::Char(char) => Some(char.to_string()),
            StrPart::Term(_) => None,
        })
        .collect()
}

/// `{name, id: .x, "y": …}`: every member is there, since a filter gives null where the input has nothing.
fn object(
    members: &[(Term<&str>, Option<Term<&str>>)],
    input: &Value,
    next: &dyn Fn(&Term<&str>, &Value) -> Value,
) -> Value {
    let mut properties = Map::new();
    for (key, value) in members {
        let name = match key {
            Term::Str(None, parts) => constant(parts),
            // `{name}` and `{$name}`.
            Term::Call(name, arguments) if arguments.is_empty() => Some((*name).to_owned()),
            Term::Var(name) => name.strip_prefix('$').map(str::to_owned),
            _ => None,
        };
        let Some(name) = name else { return json!({"type": "object"}) };
        let schema = match (key, value) {
            (_, Some(value)) => next(value, input),
            (Term::Var(_), None) => json!({}),
            (_, None) => {
                let index = Term::Str(None, vec![StrPart::Str(name.as_str())]);
                let path = jaq_core::path::Path(vec![(Part::Index(index), Opt::Essential)]);
                next(&Term::Path(Box::new(Term::Id), path), input)
            }
        };
        properties.insert(name, schema);
    }
    let names: Vec<&String> = properties.keys().collect();
    json!({"type": "object", "properties": properties, "required": names})
}
