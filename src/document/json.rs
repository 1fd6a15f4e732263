//! JSON through `serde_json`, counting values and noticing duplicate keys on the way.

use super::Limits;
use super::parse::{Findings, Read};
use crate::diagnostic::{Diagnostic, Place, Source};
use crate::pace;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;
use std::sync::Arc;

/// Why a text was not read.
pub(super) struct Failure {
    pub(super) problem: Diagnostic,
    /// True if another notation may still be meant; false for limits.
    pub(super) syntax: bool,
}

/// Reads strict JSON. `text` is `source.text` or the same with some characters blanked out.
pub(super) fn read(source: &Arc<Source>, text: &str, limits: &Limits) -> Result<Read, Box<Failure>> {
    let mut state = State { left: limits.max_nodes, depth_left: limits.max_depth, ..State::default() };
    let mut reader = serde_json::Deserializer::from_str(text);
    let outcome = Tree { state: &mut state }.deserialize(&mut reader).and_then(|root| reader.end().map(|()| root));
    match outcome {
        Ok(root) => Ok(Read { root, findings: state.findings }),
        Err(error) => Err(Box::new(failure(source, text, limits, &state, &error))),
    }
}

#[derive(Default)]
struct State {
    left: usize,
    depth_left: usize,
    too_many: bool,
    too_deep: bool,
    findings: Findings,
    /// Items and members of what is open, innermost last: each list and object is made once its length is known.
    /// Most are small, and growing would double what they take.
    items: Vec<Value>,
    members: Vec<(String, Value)>,
}

struct Tree<'s> {
    state: &'s mut State,
}

impl Tree<'_> {
    fn enter<E: serde::de::Error>(&mut self) -> Result<(), E> {
        match self.state.depth_left.checked_sub(1) {
            Some(left) => {
                self.state.depth_left = left;
                Ok(())
            }
            None => {
                self.state.too_deep = true;
                Err(E::custom("too deep"))
            }
        }
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        pace::breathe();
        match self.state.left.checked_sub(1) {
            Some(left) => self.state.left = left,
            None => {
                self.state.too_many = true;
                return Err(D::Error::custom("too many values"));
            }
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        // serde_json hands an integer past 64 bits over as a float.
        if value.abs() >= 9.2e18 {
            self.state.findings.huge = true;
        }
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut access: A) -> Result<Value, A::Error> {
        self.enter()?;
        let start = self.state.items.len();
        while let Some(item) = access.next_element_seed(Tree { state: &mut *self.state })? {
            self.state.items.push(item);
        }
        self.state.depth_left += 1;
        Ok(Value::Array(self.state.items.drain(start..).collect()))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut access: A) -> Result<Value, A::Error> {
        self.enter()?;
        let start = self.state.members.len();
        while let Some(key) = access.next_key::<String>()? {
            let value = access.next_value_seed(Tree { state: &mut *self.state })?;
            self.state.members.push((key, value));
        }
        self.state.depth_left += 1;
        let read = self.state.members.len() - start;
        let mut map = Map::with_capacity(read);
        map.extend(self.state.members.drain(start..));
        self.state.findings.duplicates |= map.len() < read;
        Ok(Value::Object(map))
    }
}

fn failure(source: &Arc<Source>, text: &str, limits: &Limits, state: &State, error: &serde_json::Error) -> Failure {
    let offset = offset(text, error);
    let end = text.get(offset..).and_then(|rest| rest.chars().next()).map_or(offset, |c| offset + c.len_utf8());
    let place = Place::new(Arc::clone(source), offset, end, "");
    let whole = error.to_string();
    let message = whole.rsplit_once(" at line ").map_or(whole.as_str(), |(head, _)| head);
    if state.too_many {
        let message = format!("the document has more than {} values", limits.max_nodes);
        return Failure { problem: Diagnostic::error("document-too-large", message).at(place), syntax: false };
    }
    if state.too_deep || message.starts_with("recursion limit") {
        let message = format!("the document is nested deeper than {} levels", limits.max_depth.min(128));
        return Failure { problem: Diagnostic::error("document-too-deep", message).at(place), syntax: false };
    }
    let fix = match message {
        m if m.starts_with("expected `,` or") => Some("put a comma between the two, or close the one before"),
        m if m.starts_with("EOF while") => Some("the text ends too early: a quote, brace or bracket is not closed"),
        m if m.starts_with("trailing characters") => Some("one file holds one JSON value; remove what follows"),
        m if m.starts_with("control character") => Some("write line breaks in strings as \\n and tabs as \\t"),
        m if m.starts_with("key must be a string") => Some("put the key in double quotes"),
        m if m.starts_with("invalid escape") => Some("write a backslash in a string as \\\\"),
        m if m.starts_with("expected value") => Some("a value is missing or not quoted here"),
        _ => None,
    };
    let problem = Diagnostic::error("json-syntax", format!("this is not JSON: {message}")).at(place);
    Failure { problem: problem.maybe_fix(fix.map(str::to_owned)), syntax: true }
}

/// `serde_json` counts lines at LF only, and columns in bytes from 1 (0: at the line's end).
fn offset(text: &str, error: &serde_json::Error) -> usize {
    let line_start = match error.line().checked_sub(2) {
        Some(nth) => text.match_indices('\n').nth(nth).map_or(text.len(), |(at, _)| at + 1),
        None => 0,
    };
    let mut at = (line_start + error.column().saturating_sub(1)).min(text.len());
    if error.is_eof() {
        at = text.trim_end().len();
    }
    crate::diagnostic::place::floor_boundary(text, at)
}
