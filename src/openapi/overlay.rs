//! OpenAPI Overlay documents (1.0, 1.1): a list of edits of a document, found by JSONPath.

pub mod path;

use crate::diagnostic::{Diagnostic, Report, Severity};
use crate::document::Document;
use path::Path;
use serde_json::{Map, Value};

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
    for (index, action) in actions.iter().enumerate() {
        let at = format!("/actions/{index}");
        let mut problems = Vec::new();
        run(root, action, &mut problems);
        for (severity, code, member, message) in problems {
            let pointer = if member.is_empty() { at.clone() } else { format!("{at}/{member}") };
            say(severity, code, &pointer, message);
        }
    }
    report
}

/// Severity, code, member of the action at fault, message.
type Problem = (Severity, &'static str, &'static str, String);

fn run(root: &mut Value, action: &Value, problems: &mut Vec<Problem>) {
    let mut error = |code, member, message: String| problems.push((Severity::Error, code, member, message));
    if action.get("$ref").is_some() {
        return error("unsupported-action", "$ref", "reusable actions (Overlay 1.2) are not supported".to_owned());
    }
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
    for pointer in pointers {
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
