//! The style table of OpenAPI ("Style Examples") and RFC 6570 §3.2 in one place: a value becomes either
//! name-value pairs (query, cookies, forms) or one text (path, header).

use super::escape::Escape;
use crate::openapi::Style;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt::Write;

/// Takes name-value pairs.
pub(super) trait Sink {
    /// One pair; the error says why it can't be sent.
    fn pair(&mut self, name: Name<'_>, value: Joined<'_>) -> Result<(), String>;
}

/// A name on the wire.
#[derive(Clone, Copy)]
pub(super) struct Name<'n> {
    /// The parameter's name, or the key of an exploded object.
    pub(super) base: &'n str,
    /// `deepObject` keys behind it.
    pub(super) path: &'n [Key<'n>],
    /// True if the caller chose (part of) it.
    pub(super) chosen: bool,
}

/// One `[key]` of a `deepObject` name.
#[derive(Clone, Copy)]
pub(super) enum Key<'n> {
    /// A property.
    Member(&'n str),
    /// An array item.
    Index(usize),
}

impl Name<'_> {
    /// The name unencoded.
    pub(super) fn plain(&self) -> String {
        let mut text = self.base.to_owned();
        self.push_path(&mut text, Escape::Raw);
        text
    }

    /// Appends the name.
    pub(super) fn push(&self, out: &mut String, escape: Escape) {
        escape.push(out, self.base, false);
        self.push_path(out, escape);
    }

    fn push_path(&self, out: &mut String, escape: Escape) {
        for key in self.path {
            escape.push(out, "[", false);
            match key {
                Key::Member(member) => escape.push(out, member, false),
                Key::Index(index) => drop(write!(out, "{index}")),
            }
            escape.push(out, "]", false);
        }
    }
}

/// The value of one pair.
#[derive(Clone, Copy)]
pub(super) enum Joined<'v> {
    /// One value.
    One(&'v Value),
    /// List members with a delimiter between.
    List(&'v [Value], Delimiter),
    /// `key delimiter value …`.
    Members(&'v Map<String, Value>, Delimiter),
}

impl Joined<'_> {
    /// Appends the value.
    pub(super) fn push(self, out: &mut String, escape: Escape) -> Result<(), String> {
        match self {
            Joined::One(value) => {
                push_value(out, value, escape, false);
                Ok(())
            }
            Joined::List(items, delimiter) => push_list(out, items, escape, delimiter),
            Joined::Members(members, delimiter) => push_members(out, members, escape, delimiter, delimiter),
        }
    }
}

/// What stands between list members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delimiter {
    Comma,
    Space,
    Pipe,
    Tab,
    /// Exploded `label`.
    Dot,
    /// Between key and value of an exploded object.
    Equals,
}

impl Delimiter {
    fn of(style: Style) -> Self {
        match style {
            Style::SpaceDelimited => Delimiter::Space,
            Style::PipeDelimited => Delimiter::Pipe,
            Style::TabDelimited => Delimiter::Tab,
            _ => Delimiter::Comma,
        }
    }

    fn text(self, escape: Escape) -> &'static str {
        match (self, escape) {
            (Delimiter::Comma, _) => ",",
            (Delimiter::Dot, _) => ".",
            (Delimiter::Equals, _) => "=",
            (Delimiter::Space, Escape::Raw) => " ",
            (Delimiter::Space, _) => "%20",
            (Delimiter::Pipe, Escape::Raw) => "|",
            (Delimiter::Pipe, _) => "%7C",
            (Delimiter::Tab, Escape::Raw) => "\t",
            (Delimiter::Tab, _) => "%09",
        }
    }

    /// A member with the delimiter in it would arrive as two: RFC 6570 encodes only where the
    /// delimiter itself stays unencoded.
    fn check(self, member: &str, escape: Escape) -> Result<(), String> {
        let (splits, what) = match self {
            Delimiter::Comma => (escape == Escape::Raw && member.contains(',') && !is_quoted(member), "a comma"),
            Delimiter::Equals => (escape == Escape::Raw && member.contains('='), "an equals sign"),
            Delimiter::Space => (member.contains(' '), "a space"),
            Delimiter::Pipe => (member.contains('|'), "a `|`"),
            Delimiter::Tab => (member.contains('\t'), "a tab"),
            Delimiter::Dot => (false, ""),
        };
        if splits { Err(format!("a list member can't hold {what}, which separates members here")) } else { Ok(()) }
    }
}

fn is_quoted(member: &str) -> bool {
    member.len() >= 2 && member.starts_with('"') && member.ends_with('"')
}

/// A list of lists with each inner list as one text, its members joined as `inner` says (Swagger 2.0, "Items
/// Object"). Other values and members stay as they are.
pub(super) fn nested<'v>(value: Cow<'v, Value>, inner: &[Style]) -> Result<Cow<'v, Value>, String> {
    let (Some((style, deeper)), Value::Array(items)) = (inner.split_first(), value.as_ref()) else {
        return Ok(value);
    };
    let mut texts = Vec::with_capacity(items.len());
    for item in items {
        let item = nested(Cow::Borrowed(item), deeper)?;
        texts.push(match item.as_ref() {
            Value::Array(members) => {
                let mut text = String::new();
                push_list(&mut text, members, Escape::Raw, Delimiter::of(*style))?;
                Value::String(text)
            }
            _ => item.into_owned(),
        });
    }
    Ok(Cow::Owned(Value::Array(texts)))
}

/// Name-value pairs of a value in one of the query styles. `keep_empty`: an empty array or object is
/// sent as an empty value.
pub(super) fn named<S: Sink>(
    name: &str,
    style: Style,
    explode: bool,
    keep_empty: bool,
    value: &Value,
    sink: &mut S,
) -> Result<(), String> {
    let own = Name { base: name, path: &[], chosen: false };
    match value {
        Value::Null => Ok(()),
        Value::Array(items) if items.iter().all(Value::is_null) => {
            if keep_empty {
                sink.pair(own, Joined::List(&[], Delimiter::Comma))
            } else {
                Ok(())
            }
        }
        Value::Array(_) | Value::Object(_) if style == Style::DeepObject => deep(name, &mut Vec::new(), value, sink),
        Value::Array(items) if explode => repeat(own, items, sink),
        Value::Array(items) => sink.pair(own, Joined::List(items, Delimiter::of(style))),
        Value::Object(members) if explode => {
            for (key, member) in members {
                let name = Name { base: key, path: &[], chosen: true };
                match member {
                    Value::Null => {}
                    Value::Array(items) => repeat(name, items, sink)?,
                    member => sink.pair(name, Joined::One(member))?,
                }
            }
            Ok(())
        }
        Value::Object(members) if members.values().all(Value::is_null) => {
            if keep_empty {
                sink.pair(own, Joined::List(&[], Delimiter::Comma))
            } else {
                Ok(())
            }
        }
        Value::Object(members) => sink.pair(own, Joined::Members(members, Delimiter::of(style))),
        value => sink.pair(own, Joined::One(value)),
    }
}

fn repeat<S: Sink>(name: Name<'_>, items: &[Value], sink: &mut S) -> Result<(), String> {
    items.iter().filter(|item| !item.is_null()).try_for_each(|item| sink.pair(name, Joined::One(item)))
}

fn deep<'v, S: Sink>(name: &str, path: &mut Vec<Key<'v>>, value: &'v Value, sink: &mut S) -> Result<(), String> {
    match value {
        Value::Null => Ok(()),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Key::Index(index));
                deep(name, path, item, sink)?;
                path.pop();
            }
            Ok(())
        }
        Value::Object(members) => {
            for (key, member) in members {
                path.push(Key::Member(key));
                deep(name, path, member, sink)?;
                path.pop();
            }
            Ok(())
        }
        value => sink.pair(Name { base: name, path, chosen: true }, Joined::One(value)),
    }
}

/// A path parameter's text.
pub(super) fn path(
    out: &mut String,
    name: &str,
    style: Style,
    explode: bool,
    escape: Escape,
    value: &Value,
) -> Result<(), String> {
    let start = out.len();
    if is_undefined(value) {
        return Err(HOLE.to_owned());
    }
    match style {
        Style::Matrix => matrix(out, name, explode, escape, value)?,
        Style::Label => {
            out.push('.');
            let delimiter = if explode { Delimiter::Dot } else { Delimiter::Comma };
            plain(out, explode, escape, delimiter, value)?;
        }
        style => plain(out, explode, escape, Delimiter::of(style), value)?,
    }
    if out.len() == start { Err(HOLE.to_owned()) } else { Ok(()) }
}

const HOLE: &str = "an empty value would leave a hole in the path; give a non-empty one";

fn matrix(out: &mut String, name: &str, explode: bool, escape: Escape, value: &Value) -> Result<(), String> {
    let pair = |out: &mut String, name: &str, value: &Value| {
        out.push(';');
        Escape::Strict.push(out, name, false);
        if value.as_str() != Some("") {
            out.push('=');
            push_value(out, value, escape, false);
        }
    };
    match value {
        Value::Array(items) if explode => {
            items.iter().filter(|item| !item.is_null()).for_each(|item| pair(out, name, item));
        }
        Value::Object(members) if explode => {
            members.iter().filter(|(_, member)| !member.is_null()).for_each(|(key, member)| pair(out, key, member));
        }
        Value::Array(_) | Value::Object(_) => {
            out.push(';');
            Escape::Strict.push(out, name, false);
            out.push('=');
            plain(out, false, escape, Delimiter::Comma, value)?;
        }
        value => pair(out, name, value),
    }
    Ok(())
}

/// A header parameter's text (`simple`, nothing percent-encoded); `None` = nothing to send.
pub(super) fn header(style: Style, explode: bool, required: bool, value: &Value) -> Result<Option<String>, String> {
    if is_undefined(value) {
        return Ok(required.then(String::new));
    }
    let mut out = String::new();
    plain(&mut out, explode, Escape::Raw, Delimiter::of(style), value)?;
    Ok(Some(out))
}

/// RFC 6570 §2.3: no value, no members, or only members without value.
fn is_undefined(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().all(Value::is_null),
        Value::Object(members) => members.values().all(Value::is_null),
        _ => false,
    }
}

fn plain(out: &mut String, explode: bool, escape: Escape, delimiter: Delimiter, value: &Value) -> Result<(), String> {
    match value {
        Value::Array(items) => push_list(out, items, escape, delimiter),
        Value::Object(members) => {
            let inner = if explode { Delimiter::Equals } else { delimiter };
            push_members(out, members, escape, inner, delimiter)
        }
        value => {
            push_value(out, value, escape, false);
            Ok(())
        }
    }
}

fn push_list(out: &mut String, items: &[Value], escape: Escape, delimiter: Delimiter) -> Result<(), String> {
    let mut first = true;
    for item in items.iter().filter(|item| !item.is_null()) {
        if !std::mem::take(&mut first) {
            out.push_str(delimiter.text(escape));
        }
        push_member(out, item, escape, delimiter)?;
    }
    Ok(())
}

fn push_members(
    out: &mut String,
    members: &Map<String, Value>,
    escape: Escape,
    inner: Delimiter,
    outer: Delimiter,
) -> Result<(), String> {
    let mut first = true;
    for (key, member) in members.iter().filter(|(_, member)| !member.is_null()) {
        if !std::mem::take(&mut first) {
            out.push_str(outer.text(escape));
        }
        outer.check(key, escape)?;
        inner.check(key, escape)?;
        escape.push(out, key, true);
        out.push_str(inner.text(escape));
        push_member(out, member, escape, outer)?;
    }
    Ok(())
}

fn push_member(out: &mut String, member: &Value, escape: Escape, delimiter: Delimiter) -> Result<(), String> {
    match member {
        Value::String(text) => delimiter.check(text, escape)?,
        Value::Array(_) | Value::Object(_) => delimiter.check(&text_of(member), escape)?,
        _ => {}
    }
    push_value(out, member, escape, true);
    Ok(())
}

/// Appends a value's text, escaped.
pub(super) fn push_value(out: &mut String, value: &Value, escape: Escape, member: bool) {
    match value {
        Value::String(text) => escape.push(out, text, member),
        Value::Array(_) | Value::Object(_) => escape.push(out, &text_of(value), member),
        // digits, signs and words of scalars are unreserved
        value => push_scalar(out, value),
    }
}

/// A value as text: strings as they are, numbers without exponent, structures as compact JSON.
pub(super) fn text_of(value: &Value) -> std::borrow::Cow<'_, str> {
    match value {
        Value::String(text) => text.as_str().into(),
        Value::Array(_) | Value::Object(_) => value.to_string().into(),
        value => {
            let mut out = String::new();
            push_scalar(&mut out, value);
            out.into()
        }
    }
}

fn push_scalar(out: &mut String, value: &Value) {
    match value {
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => {
            // writing to a String can't fail
            let _ = match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(number), _, _) => write!(out, "{number}"),
                (_, Some(number), _) => write!(out, "{number}"),
                // Display of f64 has the shortest digits that read back the same, and no exponent
                (_, _, Some(number)) => write!(out, "{number}"),
                _ => write!(out, "{number}"),
            };
        }
        _ => {}
    }
}
