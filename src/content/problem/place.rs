//! Places in a request, as error bodies name them, turned back into argument names.

use crate::catalog::{From, RequestAction, Spot};
use crate::openapi::ParameterIn;

/// The argument that a place stands for: `body.petName`, `/petName`, `/data/attributes/x`, `query.limit`, `$.a[0].b`. Unknown
/// places stay as written, with dots.
pub(super) fn argument(written: &str, action: Option<&RequestAction>) -> String {
    let parts = parts(written);
    let found = action.and_then(|action| find(&parts, action));
    found.unwrap_or_else(|| parts.join("."))
}

fn parts(written: &str) -> Vec<String> {
    let text = written.trim().trim_start_matches('#');
    if text.starts_with('/') {
        let unescape = |part: &str| part.replace("~1", "/").replace("~0", "~");
        return text.split('/').filter(|part| !part.is_empty()).map(unescape).collect();
    }
    let text = text.strip_prefix("$.").unwrap_or(text);
    text.split(['.', '[', ']'])
        .filter(|part| !part.is_empty())
        .map(|part| part.trim_matches(['"', '\'']).to_owned())
        .collect()
}

fn find(parts: &[String], action: &RequestAction) -> Option<String> {
    let (first, rest) = parts.split_first()?;
    let location = match first.to_ascii_lowercase().as_str() {
        "query" | "querystring" => Some(ParameterIn::Query),
        "path" | "params" => Some(ParameterIn::Path),
        "header" | "headers" => Some(ParameterIn::Header),
        "cookie" | "cookies" => Some(ParameterIn::Cookie),
        _ => None,
    };
    if location.is_some()
        && let Some((name, below)) = rest.split_first()
        && let Some(found) = parameter(name, location, below, action)
    {
        return Some(found);
    }
    let in_body = |parts: &[String]| (!parts.is_empty()).then(|| member(parts, action)).flatten();
    if matches!(first.as_str(), "body" | "requestBody" | "json" | "form" | "payload")
        && let Some(found) = in_body(rest)
    {
        return Some(found);
    }
    // JSON:API documents keep members under `data/attributes`.
    let inside = parts.strip_prefix(&["data".to_owned(), "attributes".to_owned()][..]);
    in_body(parts)
        .or_else(|| parameter(first, None, rest, action))
        .or_else(|| in_body(inside?))
        .or_else(|| whole(parts, action))
}

fn parameter(name: &str, location: Option<ParameterIn>, below: &[String], action: &RequestAction) -> Option<String> {
    let same = |found: &str, place: ParameterIn| {
        location.is_none_or(|location| location == place)
            && (found == name || place == ParameterIn::Header && found.eq_ignore_ascii_case(name)
                // Frameworks turn `X-Token` into `x_token`.
                || place == ParameterIn::Header && found.replace('-', "_").eq_ignore_ascii_case(name))
    };
    action.bindings.iter().find_map(|binding| match (&binding.from, &binding.spot) {
        (From::Argument(argument), Spot::Parameter(index)) => {
            let plan = action.parameters.get(*index)?;
            same(&plan.name, plan.location).then(|| join(argument, below))
        }
        _ => None,
    })
}

/// The argument that fills the deepest member on the way to the place.
fn member(parts: &[String], action: &RequestAction) -> Option<String> {
    let filled = action.bindings.iter().filter_map(|binding| match (&binding.from, &binding.spot) {
        (From::Argument(argument), Spot::BodyMember(path)) => Some((argument, path)),
        _ => None,
    });
    let best = filled.filter(|(_, path)| parts.starts_with(path)).max_by_key(|(_, path)| path.len());
    best.map(|(argument, path)| join(argument, parts.get(path.len()..).unwrap_or_default()))
}

/// The place inside an argument that is the whole body, or one of the open body's own members.
fn whole(parts: &[String], action: &RequestAction) -> Option<String> {
    let parts = match parts.split_first() {
        Some((first, rest)) if first == "body" => rest,
        _ => parts,
    };
    action.bindings.iter().find_map(|binding| match (&binding.from, &binding.spot) {
        (From::Argument(argument), Spot::Body) => Some(join(argument, parts)),
        (From::Rest, _) if !parts.is_empty() => Some(parts.join(".")),
        _ => None,
    })
}

fn join(argument: &str, below: &[String]) -> String {
    let mut text = argument.to_owned();
    for part in below {
        text.push('.');
        text.push_str(part);
    }
    text
}
