//! Where a binding's value comes from, and the body value they make together.

use super::{Credential, Fixed, ParameterPlan, Unsendable, credential};
use crate::catalog::{Arguments, Binding, From, RequestAction, Spot};
use crate::mapping::CallerValue;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A parameter that is being written, with what its names must not collide with.
pub(super) struct Target<'a> {
    pub(super) action: &'a RequestAction,
    pub(super) plan: &'a ParameterPlan,
    pub(super) index: usize,
    pub(super) credentials: &'a [Credential],
}

/// The argument behind a binding, for messages.
pub(super) fn argument_name(binding: &Binding) -> Option<&str> {
    match &binding.from {
        From::Argument(name) => Some(name),
        _ => None,
    }
}

/// True if the value must not be shown.
pub(super) fn is_secret(binding: &Binding) -> bool {
    matches!(binding.from, From::Secret(_) | From::Caller(CallerValue::Header(_)))
}

/// A binding's value; `None` = absent. Null stays only where [`Binding::keep_null`] says so.
fn value_of<'a>(
    binding: &'a Binding,
    arguments: &'a Arguments,
    fixed: &Fixed<'_>,
) -> Result<Option<Cow<'a, Value>>, Unsendable> {
    let given = match &binding.from {
        From::Argument(name) => arguments.get(name).map(Cow::Borrowed),
        From::Fixed(value) => Some(Cow::Borrowed(value)),
        From::Secret(secret) => Some(Cow::Owned(Value::String(credential::reveal(secret).to_owned()))),
        From::Caller(which) => (fixed.caller)(which).map(|text| Cow::Owned(Value::String(text))),
        From::Template(template) => {
            let value = (fixed.template)(template, arguments).map_err(|message| Unsendable::new(None, message))?;
            Some(Cow::Owned(value))
        }
        From::Rest => None,
    };
    let given = given.filter(|value| binding.keep_null || !value.is_null());
    Ok(given.or_else(|| binding.default.as_ref().map(Cow::Borrowed)))
}

fn missing(binding: &Binding) -> Unsendable {
    match (&binding.from, argument_name(binding)) {
        (_, Some(name)) => Unsendable::new(Some(name), "is required and missing"),
        (From::Caller(_), _) => Unsendable::new(None, "the caller's identity lacks a value that this tool needs"),
        _ => Unsendable::new(None, "a value that this tool needs is missing on the server"),
    }
}

/// A parameter's value; null and missing are absent, unless required.
pub(super) fn parameter_value<'a>(
    binding: &'a Binding,
    arguments: &'a Arguments,
    fixed: &Fixed<'_>,
) -> Result<Option<Cow<'a, Value>>, Unsendable> {
    match value_of(binding, arguments, fixed)?.filter(|value| !value.is_null()) {
        Some(value) => Ok(Some(value)),
        None if binding.required => Err(missing(binding)),
        None => Ok(None),
    }
}

/// A value with the argument it came from.
type Named<'a> = (Option<&'a str>, Cow<'a, Value>);

/// The text that chooses among the body's media types.
pub(super) fn media_type<'a>(
    action: &'a RequestAction,
    arguments: &'a Arguments,
    fixed: &Fixed<'_>,
) -> Result<Option<Named<'a>>, Unsendable> {
    for binding in action.bindings.iter().filter(|binding| binding.spot == Spot::MediaType) {
        if let Some(value) = value_of(binding, arguments, fixed)?.filter(|value| !value.is_null()) {
            return Ok(Some((argument_name(binding), value)));
        }
    }
    Ok(None)
}

/// The argument that is the body, for messages.
pub(super) fn body_argument(action: &RequestAction) -> Option<&str> {
    action.bindings.iter().find(|binding| binding.spot == Spot::Body).and_then(argument_name)
}

/// The value of the body, before encoding: what [`Spot::Body`], [`Spot::BodyMember`] and [`From::Rest`]
/// bindings make together. `None` = no body value was given.
///
/// Refused where two sources give the same member, so that a caller can't replace what the mapping
/// fixed.
pub fn body_value<'a>(
    action: &'a RequestAction,
    arguments: &'a Arguments,
    fixed: &Fixed<'_>,
) -> Result<Option<Cow<'a, Value>>, Unsendable> {
    let mut body: Option<Cow<'a, Value>> = None;
    let mut absent = None;
    for binding in &action.bindings {
        let (path, from_rest) = match &binding.spot {
            Spot::Body => (&[] as &[String], matches!(binding.from, From::Rest)),
            Spot::BodyMember(path) => (path.as_slice(), matches!(binding.from, From::Rest)),
            Spot::Parameter(_) | Spot::MediaType => continue,
        };
        let value =
            if from_rest { rest(action, arguments).map(Cow::Owned) } else { value_of(binding, arguments, fixed)? };
        match value {
            Some(value) => {
                let argument = argument_name(binding);
                put(&mut body, path, value).map_err(|message| Unsendable::new(argument, message))?;
            }
            None if binding.required && absent.is_none() => absent = Some((binding, path.is_empty())),
            None => {}
        }
    }
    // a missing member matters only if there is a body; a missing body always
    match absent {
        Some((binding, whole)) if whole || body.is_some() || action.body.as_ref().is_some_and(|b| b.required) => {
            Err(missing(binding))
        }
        _ => Ok(body),
    }
}

/// Arguments that no binding takes.
fn rest(action: &RequestAction, arguments: &Arguments) -> Option<Value> {
    let taken = |name: &str| action.bindings.iter().any(|binding| argument_name(binding) == Some(name));
    let members: Map<String, Value> = arguments
        .iter()
        .filter(|(name, _)| !taken(name) && !action.own.contains(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if members.is_empty() { None } else { Some(Value::Object(members)) }
}

fn put<'a>(body: &mut Option<Cow<'a, Value>>, path: &[String], value: Cow<'a, Value>) -> Result<(), String> {
    let Some((last, parents)) = path.split_last() else {
        return match body {
            Some(present) => join(present.to_mut(), &value, "body"),
            None => {
                *body = Some(value);
                Ok(())
            }
        };
    };
    let mut node = body.get_or_insert_with(|| Cow::Owned(Value::Object(Map::new()))).to_mut();
    for name in parents {
        let Value::Object(members) = node else { return Err(not_an_object(name)) };
        node = members.entry(name.as_str()).or_insert_with(|| Value::Object(Map::new()));
    }
    let Value::Object(members) = node else { return Err(not_an_object(last)) };
    match members.get_mut(last) {
        Some(present) => join(present, &value, last),
        None => {
            members.insert(last.clone(), value.into_owned());
            Ok(())
        }
    }
}

fn not_an_object(name: &str) -> String {
    format!("the body must be an object where its member `{name}` goes")
}

/// Adds what does not contradict: objects are merged, anything else must be equal.
fn join(present: &mut Value, more: &Value, name: &str) -> Result<(), String> {
    if let (Value::Object(present), Value::Object(more)) = (&mut *present, more) {
        for (name, member) in more {
            match present.get_mut(name) {
                Some(already) => join(already, member, name)?,
                None => drop(present.insert(name.clone(), member.clone())),
            }
        }
        return Ok(());
    }
    if present == more { Ok(()) } else { Err(format!("the body member `{name}` is set elsewhere; leave it out")) }
}
