//! `${env:NAME}`, `${env:NAME:-default}`, `${file:PATH}` and `${caller:…}`: the only way a secret gets into
//! a mapping. Parsed and resolved at load; a value that came out of one is never read again.

use super::Environment;
use crate::secret::Secret;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de::Error};
use std::borrow::Cow;
use std::fmt;

/// A text that may hold `${env:NAME}`, `${env:NAME:-default}`, `${file:PATH}` or, where the whole text is one,
/// `${caller:…}`. `$${` stands for `${`. Resolved at load; never evaluated again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot(pub String);

/// Something about the caller: `${caller:claims.x}`, `${caller:header.x}`, `${caller:tenant}`, `${caller:subject}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallerValue {
    /// A claim, by path.
    Claim(Vec<String>),
    /// A header, lower case.
    Header(String),
    /// The tenant's name.
    Tenant,
    /// The caller's name (`sub`, key name or certificate subject).
    Subject,
}

/// What a [`Slot`] holds once resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// As written (or a written default): printable.
    Plain(String),
    /// Something in it came from the environment or a file.
    Secret(Secret),
}

impl Resolved {
    /// The value, to be kept secret whatever it was.
    pub fn into_secret(self) -> Secret {
        match self {
            Resolved::Plain(text) => Secret::new(text),
            Resolved::Secret(secret) => secret,
        }
    }
}

/// What a slot needs and does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotError {
    /// One phrase a value, such as ``environment variable `PETSTORE_KEY` is not set``; no contents.
    pub missing: Vec<String>,
}

impl fmt::Display for SlotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.missing.join("; "))
    }
}

/// A wrong placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotSyntax {
    /// Bytes of the text it covers.
    pub range: std::ops::Range<usize>,
    /// What is wrong.
    pub message: String,
    /// The way out.
    pub fix: Option<String>,
}

/// Part of a slot's text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'s> {
    Text(&'s str),
    Env { name: &'s str, default: Option<&'s str> },
    File(&'s str),
    Caller(CallerValue),
}

impl Slot {
    /// The value. A variable that is not set or empty counts as missing unless it has a default.
    /// An error names everything that is missing; wrong syntax is refused when the mapping is read.
    pub fn resolve(&self, environment: &dyn Environment) -> Result<Resolved, SlotError> {
        let (text, secret) = self.fill(environment)?;
        Ok(if secret { Resolved::Secret(Secret::new(text)) } else { Resolved::Plain(text) })
    }

    /// The value as plain text, for what is no secret even where the environment supplies it: addresses,
    /// file names, server variables.
    pub fn resolve_public(&self, environment: &dyn Environment) -> Result<String, SlotError> {
        self.fill(environment).map(|(text, _)| text)
    }

    fn fill(&self, environment: &dyn Environment) -> Result<(String, bool), SlotError> {
        let parts = parse(&self.0).map_err(|wrong| SlotError { missing: vec![wrong.message] })?;
        let mut text = String::with_capacity(self.0.len());
        let mut secret = false;
        let mut missing = Vec::new();
        for part in parts {
            match part {
                Part::Text(literal) => text.push_str(literal),
                Part::Env { name, default } => {
                    match (environment.env(name).filter(|value| !value.expose().is_empty()), default) {
                        (Some(value), _) => {
                            secret = true;
                            text.push_str(value.expose());
                        }
                        (None, Some(default)) => text.push_str(default),
                        (None, None) => match environment.stand_in(name) {
                            Some(value) => {
                                secret = true;
                                text.push_str(value.expose());
                            }
                            None => missing.push(format!("environment variable `{name}` is not set")),
                        },
                    }
                }
                Part::File(path) => match environment.file(path) {
                    Ok(value) => {
                        secret = true;
                        text.push_str(value.expose());
                    }
                    Err(reason) => missing.push(format!("file `{path}`: {reason}")),
                },
                Part::Caller(_) => missing.push("a caller's value can't be had here".to_owned()),
            }
        }
        if missing.is_empty() { Ok((text, secret)) } else { Err(SlotError { missing }) }
    }

    /// The value of the caller that the whole text stands for.
    pub fn caller(&self) -> Option<CallerValue> {
        match parse(&self.0).ok()?.pop()? {
            Part::Caller(value) => Some(value),
            _ => None,
        }
    }

    /// Environment variables and files that would supply it: `NAME`, `file PATH`. Those with a default are not
    /// among them.
    pub fn wanted(&self) -> Vec<String> {
        parse(&self.0)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|part| match part {
                Part::Env { name, default: None } => Some(name.to_owned()),
                Part::File(path) => Some(format!("file {path}")),
                _ => None,
            })
            .collect()
    }

    /// True if nothing has to be looked up.
    pub fn is_literal(&self) -> bool {
        parse(&self.0).is_ok_and(|parts| parts.iter().all(|part| matches!(part, Part::Text(_))))
    }
}

/// Cuts a text into its parts; adjacent texts are not joined.
pub(super) fn parse(text: &str) -> Result<Vec<Part<'_>>, SlotSyntax> {
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find("${")) {
        let start = at + found;
        if text.get(..start).is_some_and(|before| before.ends_with('$') && start > at) {
            // `$${`: the first dollar goes, the rest is text.
            push(&mut parts, text.get(at..start - 1));
            push(&mut parts, text.get(start..start + 2));
            at = start + 2;
            continue;
        }
        push(&mut parts, text.get(at..start));
        let wrong = |end: usize, message: String, fix: &str| SlotSyntax {
            range: start..end,
            message,
            fix: Some(fix.to_owned()),
        };
        let Some(length) = text.get(start..).and_then(|rest| rest.find('}')) else {
            return Err(wrong(text.len(), "`${` is not closed by `}`".to_owned(), "a literal `${` is written `$${`"));
        };
        let end = start + length + 1;
        let inner = text.get(start + 2..end - 1).unwrap_or_default();
        let part = placeholder(inner).map_err(|(message, fix)| wrong(end, message, &fix))?;
        if matches!(part, Part::Caller(_)) && (start, end) != (0, text.len()) {
            return Err(wrong(
                end,
                format!("`${{{inner}}}` stands among other text"),
                "a value of the caller must be the whole text",
            ));
        }
        parts.push(part);
        at = end;
    }
    push(&mut parts, text.get(at..));
    Ok(parts)
}

fn push<'s>(parts: &mut Vec<Part<'s>>, text: Option<&'s str>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        parts.push(Part::Text(text));
    }
}

fn placeholder(inner: &str) -> Result<Part<'_>, (String, String)> {
    let (kind, rest) = inner.split_once(':').unwrap_or((inner, ""));
    match kind {
        "env" => {
            let (name, default) = match rest.split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (rest, None),
            };
            let legal = !name.is_empty()
                && !name.starts_with(|c: char| c.is_ascii_digit())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !legal {
                return Err((
                    format!("`{name}` can't be the name of an environment variable"),
                    "write `${env:NAME}` or `${env:NAME:-default}`; names have letters, digits and `_`".to_owned(),
                ));
            }
            Ok(Part::Env { name, default })
        }
        "file" if rest.trim().is_empty() => {
            Err(("`${file:}` names no file".to_owned(), "write `${file:secrets/key}`".to_owned()))
        }
        "file" => Ok(Part::File(rest)),
        "caller" => caller(rest),
        _ => {
            let is_name = !inner.is_empty() && inner.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let fix = if is_name {
                format!("did you mean `${{env:{inner}}}`? A literal `${{` is written `$${{`")
            } else {
                "there are `${env:NAME}`, `${file:PATH}` and `${caller:…}`; a literal `${` is written `$${`".to_owned()
            };
            Err((format!("`${{{inner}}}` is no placeholder"), fix))
        }
    }
}

fn caller(rest: &str) -> Result<Part<'_>, (String, String)> {
    let value = match rest.split_once('.') {
        Some(("claims", path)) if path.split('.').all(|step| !step.is_empty()) => {
            Some(CallerValue::Claim(path.split('.').map(str::to_owned).collect()))
        }
        Some(("header", name)) if super::verify::is_token(name) => Some(CallerValue::Header(name.to_ascii_lowercase())),
        None if rest == "tenant" => Some(CallerValue::Tenant),
        None if rest == "subject" => Some(CallerValue::Subject),
        _ => None,
    };
    value.map(Part::Caller).ok_or_else(|| {
        (
            format!("`{rest}` is nothing that is known of a caller"),
            "there are `claims.NAME`, `header.NAME`, `tenant` and `subject`".to_owned(),
        )
    })
}

impl<'de> Deserialize<'de> for Slot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Text(String),
            Whole(i64),
            Flag(bool),
        }
        match Written::deserialize(deserializer) {
            Ok(Written::Text(text)) => Ok(Slot(text)),
            Ok(Written::Whole(number)) => Ok(Slot(number.to_string())),
            Ok(Written::Flag(flag)) => Ok(Slot(flag.to_string())),
            Err(_) => Err(D::Error::custom("expected a text")),
        }
    }
}

impl JsonSchema for Slot {
    fn schema_name() -> Cow<'static, str> {
        "Slot".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A text; may hold `${env:NAME}`, `${env:NAME:-default}` or `${file:PATH}`, resolved at load.",
            "type": ["string", "integer", "boolean"]
        })
    }
}
