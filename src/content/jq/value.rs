//! JSON values to jaq's and back.

use super::Failure;
use super::guard::{Kind, Meter, Stop};
use jaq_json::{Map, Num, Val};
use serde_json::{Number, Value};
use std::fmt::Write;

/// Deepest output; `serde_json` reads 128 levels, and what is deeper helps nobody.
pub(super) const MAX_DEPTH: usize = 120;

/// The value for jaq; `size` grows by the number of nodes and some more for long strings.
pub(super) fn from_json(value: &Value, size: &mut u64) -> Val {
    *size += 1;
    match value {
        Value::Null => Val::Null,
        Value::Bool(value) => Val::Bool(*value),
        Value::Number(number) => Val::Num(from_number(number)),
        Value::String(text) => {
            *size += text.len() as u64 / 64;
            Val::utf8_str(text.clone())
        }
        Value::Array(items) => items.iter().map(|item| from_json(item, size)).collect(),
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| (Val::utf8_str(key.clone()), from_json(value, size)));
            Val::obj(members.collect::<Map>())
        }
    }
}

fn from_number(number: &Number) -> Num {
    if let Some(number) = number.as_i64() {
        Num::from_integral(number)
    } else if let Some(number) = number.as_u64() {
        Num::from_integral(number)
    } else {
        Num::Float(number.as_f64().unwrap_or(f64::NAN))
    }
}

/// The JSON of an output. Non-finite numbers become null (as jq prints them); object keys must be strings.
pub(super) fn to_json(value: &Val, meter: &Meter<'_>, depth: usize) -> Result<Value, Failure> {
    if depth > MAX_DEPTH {
        return Err(Stop::Depth.into());
    }
    meter.spend(1);
    Ok(match value {
        Val::Null => Value::Null,
        Val::Bool(value) => Value::Bool(*value),
        Val::Num(number) => to_number(number),
        Val::TStr(bytes) | Val::BStr(bytes) => {
            meter.spend(bytes.len() as u64 / 64);
            Value::String(String::from_utf8_lossy(bytes).into_owned())
        }
        Val::Arr(items) => {
            Value::Array(items.iter().map(|item| to_json(item, meter, depth + 1)).collect::<Result<_, _>>()?)
        }
        Val::Obj(members) => Value::Object(
            members
                .iter()
                .map(|(key, value)| {
                    let key = match key {
                        Val::TStr(bytes) | Val::BStr(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                        _ => return Err("the filter made an object whose key is no string".to_owned().into()),
                    };
                    Ok((key, to_json(value, meter, depth + 1)?))
                })
                .collect::<Result<_, Failure>>()?,
        ),
    })
}

fn to_number(number: &Num) -> Value {
    match number {
        Num::Int(number) => Value::from(*number as i64),
        Num::Float(number) => from_float(*number),
        Num::Dec(text) => text.parse().map_or(Value::Null, from_float),
        other => other.to_string().parse::<Number>().map_or(Value::Null, Value::Number),
    }
}

/// A double that is a whole number is written as one, as jq does.
fn from_float(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return Value::from(number as i64);
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

/// True if the value is nested deeper than `limit`. Each look costs a step: a value may hold the same part many
/// times over, and is as large as it looks then.
pub(super) fn deeper_than(value: &Val, limit: usize, meter: &Meter<'_>) -> bool {
    meter.spend(1);
    match value {
        Val::Arr(items) => limit == 0 || items.iter().any(|item| deeper_than(item, limit - 1, meter)),
        Val::Obj(members) => limit == 0 || members.values().any(|value| deeper_than(value, limit - 1, meter)),
        _ => false,
    }
}

/// What one step with this value as input costs.
pub(super) fn weight(value: &Val) -> u64 {
    1 + match value {
        Val::TStr(bytes) | Val::BStr(bytes) => bytes.len() as u64 / 64,
        Val::Arr(items) => items.len() as u64 / 16,
        Val::Obj(members) => members.len() as u64 / 8,
        _ => 0,
    }
}

/// The message of a filter's error. Values that the interpreter quotes are told by their type: a filter is asked to leave
/// most of an answer out. Of what the filter itself says, only the beginning is written out.
pub(super) fn message(error: &jaq_json::Error, filter: &str) -> String {
    let mut text = Beginning(String::new());
    let whole = write!(text, "{error}").is_ok();
    // What the filter itself says begins with the quote or the bracket of a value.
    if let Some(verb) = QUOTING.iter().find(|verb| text.0.starts_with(**verb)) {
        let told = error.to_string();
        return without_values(verb, told.get(verb.len()..).unwrap_or_default(), filter);
    }
    match serde_json::from_str::<String>(&text.0) {
        // `error("words")`: the words without quotes.
        Ok(words) if whole => words,
        _ if whole => text.0,
        _ => text.0 + "…",
    }
}

/// How the interpreter's own errors begin; a value follows, and where there are two of them the other behind ` with ` or an operator.
const QUOTING: [&str; 4] = ["cannot index ", "cannot use ", "cannot calculate ", "invalid path expression with input "];

/// An error of the interpreter with types for values. What something was indexed with stays where it stands in the filter.
fn without_values(verb: &str, quoted: &str, filter: &str) -> String {
    let Some((value, rest)) = leading(quoted) else { return format!("{verb}a value") };
    let kind = kind(&value);
    match rest.trim_start().split_once(' ') {
        Some(("as", wanted)) => format!("{verb}{kind} as {wanted}"),
        Some(("with", name)) if filter.contains(name.trim_matches('"')) => format!("{verb}{kind} with {name}"),
        Some((joint, other)) => match leading(other) {
            Some((other, _)) => format!("{verb}{kind} {joint} {}", self::kind(&other)),
            None => format!("{verb}{kind} {joint} a value"),
        },
        None => format!("{verb}{kind}"),
    }
}

/// The JSON value that a text begins with, and what is behind it.
fn leading(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter();
    let value = values.next()?.ok()?;
    Some((value, text.get(values.byte_offset()..)?))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

struct Beginning(String);

impl Write for Beginning {
    fn write_str(&mut self, part: &str) -> std::fmt::Result {
        const MOST: usize = 300;
        let room = MOST.saturating_sub(self.0.len());
        let end = (0..=room.min(part.len())).rev().find(|at| part.is_char_boundary(*at)).unwrap_or(0);
        self.0.push_str(part.get(..end).unwrap_or_default());
        if end < part.len() { Err(std::fmt::Error) } else { Ok(()) }
    }
}

/// Reads JSON text inside a filter (`fromjson`).
pub(super) fn parse(text: &[u8], meter: &Meter<'_>) -> Result<Val, String> {
    meter.spend(text.len() as u64 / 16);
    let value: Value = serde_json::from_slice(text).map_err(|error| format!("not JSON: {error}"))?;
    let mut size = 0;
    Ok(from_json(&value, &mut size))
}

/// The product of two values, if it stays of bearable size.
pub(super) fn product(left: Val, right: Val, meter: &Meter<'_>) -> jaq_json::ValR {
    const MOST_BYTES: u64 = 16 << 20;
    const MOST_BITS: u64 = 1 << 16;
    let size = match (&left, &right) {
        (Val::TStr(text) | Val::BStr(text), Val::Num(times)) | (Val::Num(times), Val::TStr(text) | Val::BStr(text)) => {
            let times = times.as_isize().map_or(u64::MAX, |times| u64::try_from(times).unwrap_or(0));
            let size = (text.len() as u64).saturating_mul(times);
            if size > MOST_BYTES {
                meter.stop(Stop::Memory);
            }
            size
        }
        (Val::Num(Num::BigInt(left)), Val::Num(Num::BigInt(right))) => {
            let bits = left.bits().saturating_add(right.bits());
            if bits > MOST_BITS {
                meter.stop(Stop::Memory);
            }
            bits
        }
        _ => 0,
    };
    meter.spend(size / 64);
    left * right
}

/// The data kind's value type, named here for the natives.
pub(super) type Run<'a> = jaq_core::Cv<'a, Kind>;
