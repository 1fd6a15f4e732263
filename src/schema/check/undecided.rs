//! `oneOf` whose alternatives only their formats tell apart.
//!
//! `format` annotates here (Validation §7.2.1), so a date would fit `format: date` and `format: date-time` at once, and
//! every call would be refused. Such a `oneOf` becomes an `anyOf` with a mark beside it, by which [`super::distinct`]
//! still refuses what fits several alternatives whose formats it keeps to.

use super::distinct::is_asserted;
use crate::document::pointer;
use crate::schema::keyword::{Holds, holds, is_annotation};
use crate::schema::walk::{each_child, each_child_mut, references, target};
use serde_json::{Map, Value, json};

/// The keyword of the mark: `at`, where the `oneOf` stands (RFC 6901), and `kinds`, a number an alternative, the same
/// for those that nothing but formats and annotations tell apart.
pub(super) const MARK: &str = "rest-mcp:oneOf";

/// Nodes of one alternative that are looked at; where that is not enough, a format is taken to be among the rest.
const MOST_NODES: usize = 2_000;

/// Names that lead to one another before an alternative is described.
const MOST_NAMES: usize = 8;

/// The schema with a marked `anyOf` for each `oneOf` that formats or nothing but annotations decide; `None` if there is
/// none.
pub(super) fn decidable(schema: &Value) -> Option<Value> {
    if !has_undecided(schema, schema) {
        return None;
    }
    let mut out = schema.clone();
    loosen(&mut out, schema, "");
    Some(out)
}

fn has_undecided(node: &Value, root: &Value) -> bool {
    let mut found = undecided(node, root);
    each_child(node, &mut |child| found = found || has_undecided(child, root));
    found
}

fn undecided(node: &Value, root: &Value) -> bool {
    let alternatives = node.get("oneOf").and_then(Value::as_array);
    alternatives.is_some_and(|all| all.iter().any(|one| formats(one, root, &is_asserted)) || repeats(all, root))
}

/// True if two alternatives differ by formats that nobody checks (`int32`, `password`).
fn repeats(alternatives: &[Value], root: &Value) -> bool {
    alternatives.iter().any(|one| formats(one, root, &|_| true))
        && kinds(alternatives, root).iter().enumerate().any(|(index, kind)| index != *kind)
}

fn loosen(node: &mut Value, root: &Value, at: &str) {
    let exchanged = undecided(node, root);
    let Some(members) = node.as_object_mut() else { return };
    for (keyword, value) in members.iter_mut() {
        let here = || pointer::join(at, keyword);
        match (holds(keyword), value) {
            (Holds::Map, Value::Object(map)) => {
                let here = here();
                map.iter_mut().for_each(|(name, schema)| loosen(schema, root, &pointer::join(&here, name)));
            }
            (Holds::List | Holds::One, Value::Array(list)) => {
                let here = here();
                let places = list.iter_mut().enumerate();
                places.for_each(|(index, schema)| loosen(schema, root, &pointer::join_index(&here, index)));
            }
            (Holds::One, schema) => loosen(schema, root, &here()),
            _ => {}
        }
    }
    if exchanged {
        exchange(members, root, &pointer::join(at, "oneOf"));
    }
}

fn exchange(members: &mut Map<String, Value>, root: &Value, at: &str) {
    let Some(alternatives) = members.shift_remove("oneOf") else { return };
    let plain = pointer::get(root, at).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    members.insert(MARK.to_string(), json!({ "at": at, "kinds": kinds(plain, root) }));
    if !members.contains_key("anyOf") {
        members.insert("anyOf".to_string(), alternatives);
    } else if let Value::Array(all) = members.entry("allOf").or_insert_with(|| json!([])) {
        all.push(json!({ "anyOf": alternatives }));
    }
}

/// For each alternative the index of the first that is the same without formats and annotations.
fn kinds(alternatives: &[Value], root: &Value) -> Vec<usize> {
    let bare: Vec<Value> = alternatives.iter().map(|one| bare(one, root)).collect();
    bare.iter().map(|one| bare.iter().position(|other| other == one).unwrap_or_default()).collect()
}

/// The schema without what does not assert. Of references those of the alternative itself are followed, and those to
/// definitions without references of their own: alternatives with a name each are compared by what they say.
fn bare(alternative: &Value, root: &Value) -> Value {
    let mut out = alternative.clone();
    for _ in 0..MOST_NAMES {
        let Some(named) = alone(&out).and_then(|reference| target(root, reference)) else { break };
        out = named.clone();
    }
    strip(&mut out, root);
    out
}

/// The reference of a schema that says nothing else.
fn alone(schema: &Value) -> Option<&str> {
    let members = schema.as_object()?;
    let plain = members.keys().all(|keyword| keyword == "$ref" || is_annotation(keyword));
    members.get("$ref").and_then(Value::as_str).filter(|_| plain)
}

fn strip(schema: &mut Value, root: &Value) {
    if let Some(named) = alone(schema).and_then(|reference| target(root, reference))
        && references(named).is_empty()
    {
        *schema = named.clone();
    }
    if let Some(members) = schema.as_object_mut() {
        members.retain(|keyword, _| !is_annotation(keyword));
    }
    each_child_mut(schema, &mut |child| strip(child, root));
}

/// True if a format that counts stands in the alternative.
fn formats(alternative: &Value, root: &Value, counts: &dyn Fn(&str) -> bool) -> bool {
    let (mut open, mut seen, mut left) = (vec![alternative], Vec::new(), MOST_NODES);
    while let Some(node) = open.pop() {
        if left == 0 {
            return true;
        }
        left -= 1;
        if node.get("format").and_then(Value::as_str).is_some_and(counts) {
            return true;
        }
        if let Some(reference) = node.get("$ref").and_then(Value::as_str)
            && !seen.contains(&reference)
        {
            seen.push(reference);
            open.extend(target(root, reference));
        }
        each_child(node, &mut |child| open.push(child));
    }
    false
}
