//! What an API says when it refuses: the useful part of an error body, in few words, with the places it
//! names turned into the tool's own argument names.

mod clean;
mod message;
mod place;

pub(super) use message::list;

use super::shape::{Compiled, Part, Selector};
use super::{Content, decode, failure};
use crate::catalog::{Action, RequestAction, Tool};
use crate::response::Response;
use decode::Body;
use http::StatusCode;
use serde_json::Value;
use std::fmt::Write;

/// Longest useful part.
const MAX_BYTES: usize = 2048;

/// The content for an answer whose status is no success.
pub(super) fn from_status(tool: &Tool, response: &Response) -> Content {
    let action = match &tool.action {
        Action::Request(action) => Some(&**action),
        _ => None,
    };
    let plan = tool.result.as_deref().map(|plan| &plan.compiled);
    let status = response.status;
    let mut text = headline(status);
    if status.is_redirection() {
        text.push_str(": ");
        text.push_str(&redirect(response, action));
    } else if let Some(part) = useful_part(response, action, plan) {
        let _ = write!(text, ": {part}");
    }
    if let Some(wait) = response.retry_after() {
        let _ = write!(text, "\nTry again in {}.", failure::spoken(wait));
    }
    match action.and_then(|action| hint(action, status)) {
        Some(hint) => {
            let _ = write!(text, "\n{hint}");
        }
        None => text.push_str(match status {
            StatusCode::UNAUTHORIZED => {
                "\nThe API did not accept the credential of this server; other arguments will not help."
            }
            StatusCode::FORBIDDEN => "\nThe credential of this server may not do this.",
            StatusCode::PROXY_AUTHENTICATION_REQUIRED => "\nA proxy before the API asks for a credential.",
            _ => "",
        }),
    }
    Content::error(text)
}

/// `HTTP 404 Not Found`.
pub(super) fn headline(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("HTTP {} {reason}", status.as_u16()),
        None => format!("HTTP {}", status.as_u16()),
    }
}

/// Where a redirect leads: a path of the same origin, else nothing that names another address.
pub(super) fn redirect(response: &Response, action: Option<&RequestAction>) -> String {
    match own_location(response, action) {
        Some(path) => format!("redirect to `{path}`, not followed"),
        None if response.header("location").is_some() => "redirect to another address, not followed".to_owned(),
        None => "redirect without an address".to_owned(),
    }
}

/// Path and query of `Location` where it stays at the API's own origin.
pub(super) fn own_location(response: &Response, action: Option<&RequestAction>) -> Option<String> {
    let location = response.header("location")?;
    if location.starts_with("//") || location.starts_with("/\\") {
        return None;
    }
    if location.starts_with('/') {
        return Some(location.to_owned());
    }
    let target = match url::Url::parse(location) {
        Ok(target) => target,
        // Relative to the request: no origin in it.
        Err(url::ParseError::RelativeUrlWithoutBase) => return Some(location.to_owned()),
        Err(_) => return None,
    };
    let base = url::Url::parse(&action?.base_url).ok()?;
    if target.origin() != base.origin() {
        return None;
    }
    let query = target.query().map(|query| format!("?{query}")).unwrap_or_default();
    Some(format!("{}{query}", target.path()))
}

fn hint(action: &RequestAction, status: StatusCode) -> Option<&str> {
    let hints = &action.errors.as_ref()?.hints;
    let code = status.as_str();
    let class = code.get(..1).unwrap_or_default();
    let by_class = || hints.iter().find(|(key, _)| key.eq_ignore_ascii_case(&format!("{class}XX")));
    let found = hints.get_key_value(code).or_else(by_class).or_else(|| hints.get_key_value("default"));
    found.map(|(_, hint)| hint.as_str())
}

fn useful_part(response: &Response, action: Option<&RequestAction>, plan: Option<&Compiled>) -> Option<String> {
    let part = match decode::decode(response, decode::Look::Json) {
        // In a text it can't be told what is to be hidden.
        Body::Text(..) | Body::File(_, _, Some(_)) if plan.is_some_and(Compiled::redacts) => return None,
        Body::Empty | Body::Image(..) | Body::Audio(..) | Body::File(_, _, None) => return None,
        Body::Text(text, true) => decode::readable(&text),
        Body::Text(text, false) | Body::File(_, _, Some(text)) => {
            if text.trim_start().starts_with("<") {
                decode::readable(&text)
            } else {
                text
            }
        }
        Body::Json(text) | Body::Whole(text, ..) | Body::Part(Part { text, .. }) => {
            from_json(serde_json::from_slice(&text).unwrap_or_default(), action, plan)?
        }
        Body::Sequence(mut items) => {
            if let Some(plan) = plan.filter(|plan| plan.redacts()) {
                items.iter_mut().for_each(|item| plan.withhold_text(item));
            }
            from_json(Value::Array(items), action, plan)?
        }
        Body::CutJson(value, _) => from_json(value, action, plan)?,
    };
    let part = clean::text(&part, action.map(|action| action.base_url.as_str()), MAX_BYTES);
    (!part.is_empty()).then_some(part)
}

/// What `redact` hides in results is hidden here too. `drop` often only leaves out what is the same in each answer, such as
/// `message`: it is not kept to where a message is found.
fn from_json(mut value: Value, action: Option<&RequestAction>, plan: Option<&Compiled>) -> Option<String> {
    if let Some(plan) = plan {
        plan.redact(&mut value);
    }
    let to_argument = |written: &str| place::argument(written, action);
    let path = action.and_then(|action| action.errors.as_ref()?.path.as_deref());
    let at_path = path
        .and_then(|path| Selector::parse(path).ok())
        .and_then(|path| path.get(&value).map(|found| found.into_owned()));
    if let Some(found) = at_path.filter(|found| !found.is_null()) {
        return Some(match found {
            Value::String(text) => text,
            other => message::of(&other, &to_argument).unwrap_or_else(|| other.to_string()),
        });
    }
    if matches!(value, Value::Null) {
        return None;
    }
    if let Some(message) = message::of(&value, &to_argument) {
        return Some(message);
    }
    if let Some(plan) = plan {
        plan.drop(&mut value);
    }
    Some(message::without_traces(&value).to_string())
}
