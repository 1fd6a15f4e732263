//! OpenAPI Overlay documents (1.0, 1.1, 1.2): a list of edits of a document, found by JSONPath.

pub mod path;

use crate::diagnostic::{Diagnostic, Report, Severity};
use crate::document::Document;
use path::Path;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Most nodes that all actions together may add.
const NODES: usize = 1_000_000;

/// Code of the problem that ends the work.
const TOO_LARGE: &str = "overlay-too-large";

/// Deepest node that an action may make.
const DEPTH: usize = 160;

/// Applies every action of `overlay` to `root`, in order, each to the result of the one before
/// (Overlay 1.1 §4.4.3). What can't be applied is left undone and reported; a target that selects
/// nothing is a warning. Places in the report are the overlay's.
pub fn apply(root: &mut Value, overlay: &Document) -> Report {
    let mut report = Report::default();
    let mut say = |severity, code, pointer: &str, message: String| {
        report.push(Diagnostic::new(severity, code, message).at(overlay.place(pointer)));
    };
    let version = overlay.root.get("overlay").and_then(super::text::scalar);
    let Some(version) = version else {
        say(Severity::Error, "not-overlay", "", "this is no Overlay document: it has no `overlay` version".to_owned());
        return report;
    };
    if !version.starts_with("1.") {
        say(
            Severity::Error,
            "not-overlay",
            "/overlay",
            format!("version {version} of Overlay is not supported, only 1.x"),
        );
        return report;
    }
    let Some(actions) = overlay.root.get("actions").and_then(Value::as_array) else {
        say(Severity::Error, "invalid-action", "", "an Overlay document needs a list of `actions`".to_owned());
        return report;
    };
    let mut room = NODES;
    for (index, action) in actions.iter().enumerate() {
        let at = format!("/actions/{index}");
        let mut problems = Vec::new();
        match written_out(overlay, action) {
            Ok(action) => run(root, &action, &mut room, &mut problems),
            Err(why) => problems.push((Severity::Error, "invalid-action", "$ref", why)),
        }
        let full = problems.iter().any(|(_, code, ..)| *code == TOO_LARGE);
        for (severity, code, member, message) in problems {
            let pointer = if member.is_empty() { at.clone() } else { format!("{at}/{member}") };
            say(severity, code, &pointer, message);
        }
        if full {
            break;
        }
    }
    report
}

/// Severity, code, member of the action at fault, message.
type Problem = (Severity, &'static str, &'static str, String);

/// The action itself, or the fields of the reusable action that it refers to with its own laid over them
/// (Overlay 1.2, "Reusable Action Reference Object"). The error is a sentence without a full stop.
fn written_out<'a>(overlay: &Document, action: &'a Value) -> Result<Cow<'a, Value>, String> {
    let (Some(own), Some(reference)) = (action.as_object(), action.get("$ref")) else {
        return Ok(Cow::Borrowed(action));
    };
    let text = reference.as_str().unwrap_or_default();
    let fragment = percent_encoding::percent_decode_str(text.trim_start_matches('#')).decode_utf8_lossy();
    let name = fragment.strip_prefix("/components/actions/").filter(|name| !name.is_empty() && !name.contains('/'));
    let Some(name) = name.filter(|_| text.starts_with('#')) else {
        return Err(format!("`$ref` of an action must be `#/components/actions/NAME`, not {reference}"));
    };
    let Some(fields) = overlay.get(&format!("/components/actions/{name}/fields")).and_then(Value::as_object) else {
        return Err(format!("`{text}` leads to no reusable action with `fields`"));
    };
    if fields.contains_key("target") {
        return Err(format!("the `fields` of `{text}` must not have a `target`: it belongs beside `$ref`"));
    }
    let mut whole = fields.clone();
    let laid_over = own.iter().filter(|(key, _)| *key != "$ref");
    whole.extend(laid_over.map(|(key, value)| (key.clone(), value.clone())));
    Ok(Cow::Owned(Value::Object(whole)))
}

fn run(root: &mut Value, action: &Value, room: &mut usize, problems: &mut Vec<Problem>) {
    let mut error = |code, member, message: String| problems.push((Severity::Error, code, member, message));
    let Some(target) = action.get("target").and_then(Value::as_str) else {
        return error("invalid-action", "", "an action needs a `target`".to_owned());
    };
    let selected = match Path::parse(target) {
        Ok(path) => path.select(root),
        Err(why) => return error("invalid-path", "target", format!("`{target}` is no JSONPath: {why}")),
    };
    let pointers: Vec<String> = selected.into_iter().map(|(pointer, _)| pointer).collect();
    if pointers.is_empty() {
        let message = format!("target `{target}` selects nothing");
        return problems.push((Severity::Warning, "nothing-selected", "target", message));
    }
    if action.get("remove") == Some(&Value::Bool(true)) {
        return remove(root, pointers);
    }
    let (member, value) = match (action.get("update"), action.get("copy").and_then(Value::as_str)) {
        (Some(value), None) => ("update", value.clone()),
        (None, Some(source)) => match Path::parse(source).map(|path| path.select(root)) {
            Ok(found) => match found.as_slice() {
                [(_, one)] => ("copy", Value::clone(one)),
                many => {
                    let message = format!("`{source}` selects {} nodes; `copy` needs exactly one", many.len());
                    return error("invalid-action", "copy", message);
                }
            },
            Err(why) => return error("invalid-path", "copy", format!("`{source}` is no JSONPath: {why}")),
        },
        (Some(_), Some(_)) => {
            return error("invalid-action", "", "`update` and `copy` can't stand in one action".to_owned());
        }
        (None, None) => {
            return error("invalid-action", "", "an action needs `update`, `copy` or `remove: true`".to_owned());
        }
    };
    let (nodes, depth) = measure(&value);
    for pointer in pointers {
        let deep = depth + pointer.matches('/').count() > DEPTH;
        let Some(left) = room.checked_sub(nodes).filter(|_| !deep) else {
            return error(TOO_LARGE, member, "the document would become too large or too deep".to_owned());
        };
        *room = left;
        let Some(node) = root.pointer_mut(&pointer) else { continue };
        if let Err(why) = merge(node, &value) {
            error("incompatible-update", member, format!("at `{pointer}`: {why}"));
        }
    }
}

/// Merges `value` into `node` (Overlay 1.1 §4.4.3): objects member by member, lists joined, single
/// values replaced. Members that do not fit stay as they are and are named in the error.
fn merge(node: &mut Value, value: &Value) -> Result<(), String> {
    match (node, value) {
        (Value::Object(node), Value::Object(value)) => merge_members(node, value),
        (Value::Array(node), Value::Array(value)) => {
            node.extend(value.iter().cloned());
            Ok(())
        }
        (Value::Array(node), single) => {
            node.push(single.clone());
            Ok(())
        }
        (node @ Value::Null, value) => {
            *node = value.clone();
            Ok(())
        }
        (node, value) if is_single(node) && is_single(value) => {
            *node = value.clone();
            Ok(())
        }
        (node, value) => Err(format!("{} can't be merged into {}", kind(value), kind(node))),
    }
}

fn merge_members(node: &mut Map<String, Value>, value: &Map<String, Value>) -> Result<(), String> {
    let mut problems = Vec::new();
    for (name, new) in value {
        match node.get_mut(name) {
            Some(Value::Array(_)) if !new.is_array() => {
                problems.push(format!("`{name}`: {} can't be merged into a list", kind(new)));
            }
            Some(old) => {
                if let Err(why) = merge(old, new) {
                    problems.push(format!("`{name}`: {why}"));
                }
            }
            None => {
                node.insert(name.clone(), new.clone());
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
}

/// How many nodes a value has, and how deep it is.
fn measure(value: &Value) -> (usize, usize) {
    let below: Vec<(usize, usize)> = match value {
        Value::Object(members) => members.values().map(measure).collect(),
        Value::Array(items) => items.iter().map(measure).collect(),
        _ => return (1, 0),
    };
    below.into_iter().fold((1, 1), |(nodes, depth), (more, deep)| (nodes + more, depth.max(deep + 1)))
}

fn is_single(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Object(_) => "an object",
        Value::Array(_) => "a list",
        _ => "a single value",
    }
}

/// Removes nodes from the object or list that holds them, the last in a list first so that the
/// others keep their index. The root can't be removed.
fn remove(root: &mut Value, pointers: Vec<String>) {
    let mut targets: Vec<(String, String)> = pointers
        .iter()
        .filter_map(|it| it.rsplit_once('/'))
        .map(|(parent, last)| (parent.to_owned(), crate::document::pointer::unescape(last).into_owned()))
        .collect();
    // Deeper first, then higher index first: nothing moves before it is removed.
    targets.sort_by(|(one, a), (two, b)| {
        let depth = |it: &str| it.matches('/').count();
        let index = |it: &str| it.parse::<usize>().unwrap_or(0);
        depth(two).cmp(&depth(one)).then_with(|| one.cmp(two)).then_with(|| index(b).cmp(&index(a)))
    });
    targets.dedup();
    for (parent, last) in targets {
        match root.pointer_mut(&parent) {
            Some(Value::Object(object)) => {
                object.shift_remove(&last);
            }
            Some(Value::Array(items)) => {
                if let Some(index) = last.parse::<usize>().ok().filter(|it| *it < items.len()) {
                    items.remove(index);
                }
            }
            _ => {}
        }
    }
}
