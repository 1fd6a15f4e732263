//! Arguments from JSON text. A member that is given twice is refused: which one counts would be a guess.

use super::Problem;
use crate::catalog::Arguments;
use crate::schema::check::path::{cut, quoted, type_name};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::borrow::Cow;
use std::fmt;

/// The text that holds the arguments: the inner one where the outer is a JSON string of an object.
pub(super) fn unwrapped(text: &str) -> Cow<'_, str> {
    if !text.trim_start().starts_with('"') {
        return Cow::Borrowed(text);
    }
    match serde_json::from_str::<String>(text) {
        Ok(inner) if inner.trim_start().starts_with('{') => Cow::Owned(inner),
        _ => Cow::Borrowed(text),
    }
}

/// Reads the arguments of a call.
pub(super) fn arguments(text: &str) -> Result<Arguments, Problem> {
    match value(text) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(other) => Err(problem(format!("must be a JSON object, got {}", type_name(&other)))),
        Err(reason) => Err(problem(reason)),
    }
}

fn problem(message: String) -> Problem {
    Problem { argument: String::new(), message: format!("The arguments {message}"), hint: None }
}

/// Reads one JSON text without duplicate members; the error completes "the arguments …".
pub(super) fn value(text: &str) -> Result<Value, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = Json.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    read.map_err(|error| match error.classify() {
        serde_json::error::Category::Data => {
            let text = error.to_string();
            text.rsplit_once(" at line").map_or(text.as_str(), |(reason, _)| reason).to_string()
        }
        _ => format!("are not JSON that can be read: {}", cut(&error.to_string(), 120)),
    })
}

struct Json;

impl<'de> DeserializeSeed<'de> for Json {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Json {
    type Value = Value;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }
    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }
    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("hold a number out of range"))
    }
    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_string()))
    }
    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Json)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            match map.entry(name) {
                serde_json::map::Entry::Occupied(entry) => {
                    return Err(A::Error::custom(format!("give the member {} twice", quoted(entry.key()))));
                }
                serde_json::map::Entry::Vacant(entry) => {
                    entry.insert(members.next_value_seed(Json)?);
                }
            }
        }
        Ok(Value::Object(map))
    }
}
