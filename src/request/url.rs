//! The URL: base and path joined by concatenation, path values that can't add, remove or climb a
//! segment, and the query.

use super::escape::{Escape, push_literal, push_literal_query};
use super::style::{self, Joined, Name, Sink};
use super::values::{self, Target};
use super::{Fixed, ParameterPlan, PathPart, Unsendable, media};
use crate::catalog::{Arguments, Placement, RequestAction, Spot};
use crate::openapi::{ParameterEncoding, ParameterIn};
use serde_json::Value;
use std::ops::Range;

/// Cuts a path template into parts, variables bound to `parameters` by name.
///
/// A literal query or fragment behind the path is left out (see [`split_query`]). Author's text that a
/// URL can't hold is percent-encoded. `{+name}`, `{name*}`, `{name:regex}` and `{name=pattern}` are taken for
/// `{name}`. The error says which variable has no path parameter or which brace is open.
pub fn parse_path(template: &str, parameters: &[ParameterPlan]) -> Result<Vec<PathPart>, String> {
    let (path, _) = split_query(template);
    let mut parts = Vec::new();
    let mut literal = String::new();
    if !path.starts_with('/') {
        literal.push('/');
    }
    let mut rest = path;
    while let Some((before, from)) = rest.split_once('{') {
        push_literal(&mut literal, before);
        let (variable, after) =
            split_variable(from).ok_or_else(|| format!("the path `{path}` has a `{{` without its `}}`"))?;
        let index = find_variable(variable, parameters)
            .ok_or_else(|| format!("the path variable `{variable}` has no path parameter"))?;
        if !literal.is_empty() {
            parts.push(PathPart::Literal(std::mem::take(&mut literal)));
        }
        parts.push(PathPart::Parameter(index));
        rest = after;
    }
    push_literal(&mut literal, rest);
    if !literal.is_empty() {
        parts.push(PathPart::Literal(literal));
    }
    Ok(parts)
}

/// The inside of a variable (braces of a regular expression balanced) and what follows.
fn split_variable(from: &str) -> Option<(&str, &str)> {
    let mut open = 1usize;
    for (at, byte) in from.bytes().enumerate() {
        match byte {
            b'{' => open += 1,
            b'}' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some((from.get(..at)?, from.get(at + 1..)?));
        }
    }
    None
}

fn find_variable(variable: &str, parameters: &[ParameterPlan]) -> Option<usize> {
    let named = |name: &str| {
        parameters.iter().position(|parameter| parameter.location == ParameterIn::Path && parameter.name == name)
    };
    let bare = variable.trim();
    let stem = bare.split([':', '=']).next().unwrap_or_default();
    let plain = stem.trim_start_matches(['+', '#', '.', ';', '/']).trim_end_matches(['*', '?']).trim();
    named(variable).or_else(|| named(bare)).or_else(|| named(plain))
}

/// A path template's path and the literal query behind it, without `?` and fragment.
pub fn split_query(template: &str) -> (&str, Option<&str>) {
    // braces may hold a `?` or `#` of their own
    let mut depth = 0usize;
    for (at, byte) in template.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b'?' | b'#' if depth == 0 => {
                let path = template.get(..at).unwrap_or_default();
                let behind = template.get(at + 1..).unwrap_or_default();
                let query = (byte == b'?').then(|| behind.split('#').next().unwrap_or_default());
                return (path, query.filter(|query| !query.is_empty()));
            }
            _ => {}
        }
    }
    (template, None)
}

/// `base` and `path` by concatenation: never resolved, exactly one slash between, a query of the base
/// kept behind the path.
pub fn join_base(base: &str, path: &str) -> String {
    let mut out = String::with_capacity(base.len() + path.len() + 1);
    let (head, base_query) = split_query(base);
    let (path, path_query) = split_query(path);
    out.push_str(head.trim_end_matches('/'));
    if !path.starts_with('/') {
        out.push('/');
    }
    out.push_str(path);
    for (separator, query) in ['?', '&'].into_iter().zip([base_query, path_query].into_iter().flatten()) {
        out.push(separator);
        out.push_str(query);
    }
    out
}

/// The URL being written.
pub(super) struct Wire {
    /// The URL so far.
    pub(super) text: String,
    has_query: bool,
}

/// Writes base and path.
pub(super) fn start(
    action: &RequestAction,
    arguments: &Arguments,
    fixed: &Fixed<'_>,
    secret_in_url: &mut Vec<Range<usize>>,
) -> Result<Wire, Unsendable> {
    let mut text = String::with_capacity(action.base_url.len() + 128);
    let (base, base_query) = split_query(&action.base_url);
    text.push_str(base.trim_end_matches('/'));
    let path_start = text.len();
    let mut slashes = 0;
    let mut last_argument = None;
    for part in &action.path {
        match part {
            PathPart::Literal(literal) => {
                slashes += count_slashes(literal);
                text.push_str(literal);
            }
            PathPart::Parameter(index) => {
                last_argument = push_variable(&mut text, *index, action, arguments, fixed, secret_in_url)?;
            }
        }
    }
    let path = text.get(path_start..).unwrap_or_default();
    // values can't hold a slash or a lone dot by construction; this is the lock behind the door
    if count_slashes(path) != slashes || path.contains(['?', '#', '\\']) {
        return Err(Unsendable::new(last_argument, "would change the path of the request"));
    }
    if action.path.len() > 1 && path.split('/').any(is_dot_segment) {
        let message = "`.` and `..` as a whole path segment would point elsewhere and can't be sent";
        return Err(Unsendable::new(last_argument, message));
    }
    let mut wire = Wire { text, has_query: false };
    for query in [base_query, action.fixed_query.as_deref()].into_iter().flatten().filter(|query| !query.is_empty()) {
        wire.separate();
        push_literal_query(&mut wire.text, query);
    }
    Ok(wire)
}

fn count_slashes(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'/').count()
}

/// `.`, `..` and their `%2e` spellings, which URL parsers (WHATWG URL §4.1) treat alike.
fn is_dot_segment(segment: &str) -> bool {
    let mut rest = segment;
    let mut dots = 0;
    while !rest.is_empty() {
        let after = rest.strip_prefix('.').or_else(|| rest.strip_prefix("%2e")).or_else(|| rest.strip_prefix("%2E"));
        let Some(after) = after else { return false };
        rest = after;
        dots += 1;
    }
    matches!(dots, 1 | 2)
}

fn push_variable<'a>(
    text: &mut String,
    index: usize,
    action: &'a RequestAction,
    arguments: &Arguments,
    fixed: &Fixed<'_>,
    secret_in_url: &mut Vec<Range<usize>>,
) -> Result<Option<&'a str>, Unsendable> {
    let plan = action.parameters.get(index);
    let binding = action.bindings.iter().find(|binding| binding.spot == Spot::Parameter(index));
    let (Some(plan), Some(binding)) = (plan, binding) else {
        return Err(Unsendable::new(None, "the path of this operation has a variable that nothing fills"));
    };
    let argument = values::argument_name(binding);
    let refuse = |message: String| Unsendable::new(argument, message);
    let Some(value) = values::parameter_value(binding, arguments, fixed)? else {
        return Err(refuse("is part of the path and missing".to_owned()));
    };
    let value = style::nested(value, &plan.inner).map_err(refuse)?;
    let start = text.len();
    match &plan.encoding {
        ParameterEncoding::Style { style, explode, allow_reserved, .. } => {
            let escape = if *allow_reserved { Escape::Segment } else { Escape::Strict };
            style::path(text, &plan.name, *style, *explode, escape, &value).map_err(refuse)?;
        }
        ParameterEncoding::Content { media_type } => {
            let content = super::body::text_in(media_type, &value, false).map_err(refuse)?;
            if content.is_empty() {
                return Err(refuse("an empty value would leave a hole in the path".to_owned()));
            }
            Escape::Strict.push(text, &content, false);
        }
    }
    if values::is_secret(binding) {
        secret_in_url.push(start..text.len());
    }
    Ok(argument)
}

impl Wire {
    fn separate(&mut self) {
        self.text.push(if std::mem::replace(&mut self.has_query, true) { '&' } else { '?' });
    }

    /// Appends a query parameter; returns the value's range.
    pub(super) fn secret(&mut self, name: &str, value: &str) -> Range<usize> {
        self.separate();
        Escape::Strict.push(&mut self.text, name, false);
        self.text.push('=');
        let start = self.text.len();
        Escape::Strict.push(&mut self.text, value, false);
        start..self.text.len()
    }

    /// Appends a parameter of the query.
    pub(super) fn parameter(&mut self, at: &Target<'_>, value: &Value) -> Result<(), String> {
        match &at.plan.encoding {
            ParameterEncoding::Style { style, explode, allow_reserved, allow_empty_value } => {
                let escape = if *allow_reserved { Escape::Query } else { Escape::Strict };
                let keep_empty = at.plan.required || *allow_empty_value;
                style::named(&at.plan.name, *style, *explode, keep_empty, value, &mut Query { wire: self, at, escape })
            }
            ParameterEncoding::Content { media_type } if at.plan.location == ParameterIn::QueryString => {
                let content = self.whole(at, media_type, value)?;
                if !content.is_empty() {
                    self.separate();
                    self.text.push_str(&content);
                }
                Ok(())
            }
            ParameterEncoding::Content { media_type } => {
                let content = super::body::text_in(media_type, value, false)?;
                at.check_name(ParameterIn::Query, &at.plan.name, false)?;
                self.separate();
                Escape::Strict.push(&mut self.text, &at.plan.name, false);
                self.text.push('=');
                Escape::Strict.push(&mut self.text, &content, false);
                Ok(())
            }
        }
    }

    /// `in: querystring`: a form stays a form, anything else is percent-encoded as a whole.
    fn whole(&self, at: &Target<'_>, media_type: &str, value: &Value) -> Result<String, String> {
        let is_form = media::kind(media_type) == Some(super::BodyKind::Form);
        if let (true, Value::Object(members)) = (is_form, value) {
            members.keys().try_for_each(|name| at.check_name(ParameterIn::Query, name, true))?;
            return super::body::text_in(media_type, value, false).map(std::borrow::Cow::into_owned);
        }
        let mut out = String::new();
        Escape::Strict.push(&mut out, &super::body::text_in(media_type, value, false)?, false);
        Ok(out)
    }
}

struct Query<'w> {
    wire: &'w mut Wire,
    at: &'w Target<'w>,
    escape: Escape,
}

impl Sink for Query<'_> {
    fn pair(&mut self, name: Name<'_>, value: Joined<'_>) -> Result<(), String> {
        if name.chosen {
            self.at.check_name(ParameterIn::Query, &name.plain(), true)?;
        } else {
            self.at.check_name(ParameterIn::Query, name.base, false)?;
        }
        self.wire.separate();
        name.push(&mut self.wire.text, Escape::Strict);
        self.wire.text.push('=');
        value.push(&mut self.wire.text, self.escape)
    }
}

impl Target<'_> {
    /// Refuses a name that another parameter, the path's own query or a credential already uses.
    /// `chosen` = the caller chose the name (a key of an exploded object).
    pub(super) fn check_name(&self, location: ParameterIn, name: &str, chosen: bool) -> Result<(), String> {
        let by_credential = self.credentials.iter().any(|credential| match &credential.placement {
            Placement::Query(used) => location == ParameterIn::Query && used == name,
            Placement::Cookie(used) => location == ParameterIn::Cookie && used == name,
            _ => false,
        });
        if by_credential {
            return Err(format!("`{name}` is sent by the server as a credential; leave it out"));
        }
        if !chosen {
            return Ok(());
        }
        let declared = self
            .action
            .parameters
            .iter()
            .enumerate()
            .any(|(index, plan)| index != self.index && plan.location == location && plan.name == name);
        let literal = location == ParameterIn::Query
            && self.action.fixed_query.as_deref().is_some_and(|query| {
                query.split('&').any(|pair| pair.split('=').next().is_some_and(|used| used == name))
            });
        if declared || literal {
            Err(format!("`{name}` is a parameter of its own; don't give it here"))
        } else {
            Ok(())
        }
    }
}
