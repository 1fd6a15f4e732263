//! The body as a value, put together from the arguments that are bound to it.

use crate::catalog::{Arguments, Binding, From, RequestAction, Spot};
use crate::schema::check::path::Step;
use crate::schema::check::{Checker, Found};
use serde_json::{Map, Value};

/// Puts the body together; `None` if nothing was given for it.
///
/// `fixed` gives the value of every origin but [`From::Argument`] and [`From::Rest`]: fixed values,
/// secrets, the caller's, templates. An explicit null is a value only where the binding keeps nulls.
/// Whole bodies come first, then the remaining arguments, then single members, which win.
pub fn body_value(
    action: &RequestAction,
    arguments: &Arguments,
    fixed: impl Fn(&From) -> Option<Value>,
) -> Option<Value> {
    let mut body: Option<Value> = None;
    for binding in action.bindings.iter().filter(|binding| binding.spot == Spot::Body) {
        match &binding.from {
            From::Rest => {
                let rest = rest(action, arguments);
                if !rest.is_empty() {
                    merge(body.get_or_insert_with(|| Value::Object(Map::new())), rest);
                }
            }
            _ => body = value(binding, arguments, &fixed).or(body),
        }
    }
    // Longer paths later: a whole `owner` first, then `owner.name` laid over it.
    let mut members: Vec<(&[String], &Binding)> = Vec::new();
    for binding in &action.bindings {
        if let Spot::BodyMember(path) = &binding.spot {
            members.push((path, binding));
        }
    }
    if members.windows(2).any(|pair| matches!(pair, [(a, _), (b, _)] if a.len() > b.len())) {
        members.sort_by_key(|(path, _)| path.len());
    }
    for (path, binding) in members {
        let value = match &binding.from {
            From::Rest => Some(rest(action, arguments)).filter(|rest| !rest.is_empty()).map(Value::Object),
            _ => value(binding, arguments, &fixed),
        };
        if let Some(value) = value {
            put(body.get_or_insert_with(|| Value::Object(Map::new())), path, value);
        }
    }
    body
}

fn value(binding: &Binding, arguments: &Arguments, fixed: &impl Fn(&From) -> Option<Value>) -> Option<Value> {
    match &binding.from {
        From::Argument(name) => {
            arguments.get(name).filter(|value| binding.keep_null || binding.required || !value.is_null()).cloned()
        }
        other => fixed(other),
    }
}

/// Every argument that no other binding takes.
fn rest(action: &RequestAction, arguments: &Arguments) -> Map<String, Value> {
    let taken = |name: &str| action.bindings.iter().any(|b| matches!(&b.from, From::Argument(other) if other == name));
    arguments
        .iter()
        .filter(|(name, _)| !taken(name) && !action.own.contains(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn merge(body: &mut Value, members: Map<String, Value>) {
    if let Value::Object(body) = body {
        body.extend(members);
    }
}

fn put(body: &mut Value, path: &[String], value: Value) {
    let Some((last, above)) = path.split_last() else { return };
    let mut here = body;
    for name in above {
        let Value::Object(members) = here else { return };
        here = members.entry(name.as_str()).or_insert_with(|| Value::Object(Map::new()));
        if here.is_null() {
            *here = Value::Object(Map::new());
        }
    }
    if let Value::Object(members) = here {
        match (members.get_mut(last), value) {
            (Some(Value::Object(before)), Value::Object(more)) => before.extend(more),
            (_, value) => {
                members.insert(last.clone(), value);
            }
        }
    }
}

/// What is wrong with the body that the arguments make, by argument. Values that are known only when the
/// request is sent are stood in for, and what is said about them is left out.
pub(super) fn problems(action: &RequestAction, arguments: &Arguments, check: Option<&Checker>) -> Vec<Found> {
    if let Some(found) = no_room(action, arguments) {
        return vec![found];
    }
    let Some(check) = check else { return Vec::new() };
    let in_body = |binding: &&Binding| matches!(binding.spot, Spot::Body | Spot::BodyMember(_));
    // A body that the mapping's author wrote is not made of arguments.
    if action.bindings.iter().filter(in_body).any(|binding| matches!(binding.from, From::Template(_))) {
        return Vec::new();
    }
    let body = body_value(action, arguments, |from| match from {
        From::Fixed(value) => Some(value.clone()),
        _ => Some(Value::String(String::new())),
    });
    let body = match (body, &action.body) {
        (Some(body), _) => body,
        // A required body that nothing was given for is sent empty.
        (None, Some(plan)) if plan.required => Value::Object(Map::new()),
        _ => return Vec::new(),
    };
    let mut found = check.find(&body);
    found.retain(|found| !is_stand_in(action, &found.path));
    found.iter_mut().for_each(|found| found.path = as_argument(action, std::mem::take(&mut found.path)));
    found
}

/// A member has no place in a body that is given whole and is no object.
fn no_room(action: &RequestAction, arguments: &Arguments) -> Option<Found> {
    if !action.bindings.iter().any(|binding| matches!(binding.spot, Spot::BodyMember(_))) {
        return None;
    }
    action.bindings.iter().find_map(|binding| {
        let (Spot::Body, From::Argument(name)) = (&binding.spot, &binding.from) else { return None };
        let given = arguments.get(name)?;
        (!given.is_object() && !given.is_null()).then(|| Found {
            path: vec![Step::Name(name.clone())],
            message: "must be an object: other arguments are members of it".to_string(),
            hint: None,
            unknown: false,
        })
    })
}

fn is_stand_in(action: &RequestAction, path: &[Step]) -> bool {
    action.bindings.iter().any(|binding| {
        let known = matches!(binding.from, From::Argument(_) | From::Rest | From::Fixed(_));
        match &binding.spot {
            Spot::BodyMember(member) if !known => starts_with(path, member),
            Spot::Body => !known && path.is_empty(),
            _ => false,
        }
    })
}

fn starts_with(path: &[Step], member: &[String]) -> bool {
    path.len() >= member.len()
        && path.iter().zip(member).all(|(step, name)| matches!(step, Step::Name(other) if other == name))
}

/// A path in the body as a path in the arguments.
fn as_argument(action: &RequestAction, path: Vec<Step>) -> Vec<Step> {
    let mut best: Option<(usize, &str)> = None;
    let mut below: Option<&str> = None;
    for binding in &action.bindings {
        let From::Argument(name) = &binding.from else { continue };
        let member: &[String] = match &binding.spot {
            Spot::Body => &[],
            Spot::BodyMember(member) => member,
            _ => continue,
        };
        if starts_with(&path, member) && best.is_none_or(|(length, _)| member.len() >= length) {
            best = Some((member.len(), name));
        } else if path.len() < member.len()
            && path.iter().zip(member).all(|(step, name)| matches!(step, Step::Name(other) if other == name))
            && !path.is_empty()
        {
            below = below.or(Some(name));
        }
    }
    match (best, below) {
        (Some((length, name)), _) => {
            let mut out = vec![Step::Name(name.to_string())];
            out.extend(path.into_iter().skip(length));
            out
        }
        (None, Some(name)) => vec![Step::Name(name.to_string())],
        (None, None) => path,
    }
}
