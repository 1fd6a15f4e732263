//! `Content-Type` values (RFC 9110 §8.3.1).

use std::borrow::Cow;

/// A parsed media type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaType<'a> {
    /// `type/subtype`, lower case.
    pub essence: Cow<'a, str>,
    /// The text behind the first `;`.
    rest: &'a str,
}

impl<'a> MediaType<'a> {
    /// Reads `type/subtype; name=value`; `None` without a slash between two tokens.
    pub fn parse(text: &'a str) -> Option<Self> {
        let (essence, rest) = text.split_once(';').unwrap_or((text, ""));
        let essence = essence.trim();
        let (kind, subtype) = essence.split_once('/')?;
        if kind.is_empty() || subtype.is_empty() || essence.contains(char::is_whitespace) {
            return None;
        }
        let essence = if essence.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(essence.to_ascii_lowercase())
        } else {
            Cow::Borrowed(essence)
        };
        Some(MediaType { essence, rest })
    }

    /// The value of a parameter, quotes removed.
    pub fn parameter(&self, name: &str) -> Option<Cow<'a, str>> {
        parameters(self.rest).find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// `charset`.
    pub fn charset(&self) -> Option<Cow<'a, str>> {
        if self.rest.is_empty() { None } else { self.parameter("charset") }
    }

    /// `application/json`, `text/json` and every `+json` (RFC 6839).
    pub fn is_json(&self) -> bool {
        let essence: &str = &self.essence;
        matches!(essence, "application/json" | "text/json" | "application/x-json" | "text/x-json")
            || essence.ends_with("+json")
    }
}

/// Parameters `name=value` separated by `;`; quoted strings are unquoted.
pub(super) fn parameters(text: &str) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start_matches([';', ' ', '\t']);
            if rest.is_empty() {
                return None;
            }
            let end = rest.find(['=', ';']).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            let Some(value) = after.strip_prefix('=') else {
                rest = after;
                continue;
            };
            let value = value.trim_start();
            let (value, after) = match value.strip_prefix('"') {
                Some(quoted) => unquote(quoted),
                None => {
                    let end = value.find(';').unwrap_or(value.len());
                    let (value, after) = value.split_at(end);
                    (Cow::Borrowed(value.trim()), after)
                }
            };
            rest = after;
            return Some((name.trim(), value));
        }
    })
}

/// Reads a quoted-string (RFC 9110 §5.6.4) whose opening quote is already gone.
pub(super) fn unquote(text: &str) -> (Cow<'_, str>, &str) {
    let Some(end) = text.find(['"', '\\']) else { return (Cow::Borrowed(text), "") };
    let (head, tail) = text.split_at(end);
    if let Some(after) = tail.strip_prefix('"') {
        return (Cow::Borrowed(head), after);
    }
    let mut value = head.to_owned();
    let mut chars = tail.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return (Cow::Owned(value), tail.get(at + 1..).unwrap_or_default()),
            '\\' => value.extend(chars.next().map(|(_, escaped)| escaped)),
            _ => value.push(char),
        }
    }
    (Cow::Owned(value), "")
}
