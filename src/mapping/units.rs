//! Durations, sizes and status sets as authors write them.

use super::{Bytes, Duration, StatusSet};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de::Error};
use std::borrow::Cow;

#[derive(Deserialize)]
#[serde(untagged)]
enum NumberOrText {
    Number(f64),
    Text(String),
}

fn split_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim()))
}

impl Duration {
    /// Reads `250ms`, `5s`, `10m`, `1h`, `2d`, or a number of seconds.
    pub fn parse(text: &str) -> Option<Self> {
        let (number, unit) = split_unit(text)?;
        let factor = match unit {
            "ms" => 0.001,
            "" | "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            "d" => 86400.0,
            _ => return None,
        };
        std::time::Duration::try_from_secs_f64(number * factor).ok().map(Duration)
    }
}

impl Bytes {
    /// Reads `64KiB`, `10MiB`, `1GiB`, `64kB`, `1MB`, or a number of bytes.
    pub fn parse(text: &str) -> Option<Self> {
        let (number, unit) = split_unit(text)?;
        let factor: u64 = match unit.to_ascii_lowercase().as_str() {
            "" | "b" => 1,
            "kib" | "k" => 1024,
            "mib" | "m" => 1024 * 1024,
            "gib" | "g" => 1024 * 1024 * 1024,
            "kb" => 1000,
            "mb" => 1_000_000,
            "gb" => 1_000_000_000,
            _ => return None,
        };
        // A size is far below 2^52, where the product would round.
        let bytes = number * factor as f64;
        (bytes.is_finite() && (0.0..1e18).contains(&bytes)).then_some(Bytes(bytes as u64))
    }
}

impl StatusSet {
    /// Reads `200`, `200-299` or `4XX`.
    pub fn parse_one(text: &str) -> Option<std::ops::RangeInclusive<u16>> {
        let text = text.trim();
        let status = |t: &str| t.trim().parse::<u16>().ok().filter(|s| (100..=599).contains(s));
        if let Some(hundred) = text.strip_suffix("XX").or_else(|| text.strip_suffix("xx")) {
            let low = status(&format!("{hundred}00"))?;
            return Some(low..=low + 99);
        }
        match text.split_once('-') {
            Some((low, high)) => Some(status(low)?..=status(high)?).filter(|range| !range.is_empty()),
            None => status(text).map(|one| one..=one),
        }
    }

    /// True if the status is in the set.
    pub fn contains(&self, status: u16) -> bool {
        self.0.iter().any(|range| range.contains(&status))
    }
}

impl Default for StatusSet {
    /// 200 to 299.
    fn default() -> Self {
        StatusSet(vec![200..=299])
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match NumberOrText::deserialize(deserializer)? {
            NumberOrText::Number(seconds) => std::time::Duration::try_from_secs_f64(seconds).ok().map(Duration),
            NumberOrText::Text(text) => Duration::parse(&text),
        }
        .ok_or_else(|| D::Error::custom("expected a duration such as `250ms`, `5s`, `10m` or `1h`"))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match NumberOrText::deserialize(deserializer)? {
            NumberOrText::Number(number) => Bytes::parse(&number.to_string()),
            NumberOrText::Text(text) => Bytes::parse(&text),
        }
        .ok_or_else(|| D::Error::custom("expected a size such as `64KiB`, `10MiB` or a number of bytes"))
    }
}

impl<'de> Deserialize<'de> for StatusSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<NumberOrText>::deserialize(deserializer)?
            .iter()
            .map(|one| match one {
                NumberOrText::Number(number) => StatusSet::parse_one(&number.to_string()),
                NumberOrText::Text(text) => StatusSet::parse_one(text),
            })
            .collect::<Option<Vec<_>>>()
            .map(StatusSet)
            .ok_or_else(|| D::Error::custom("expected HTTP statuses such as `200`, `200-299` or `4XX`"))
    }
}

impl JsonSchema for Duration {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": "a duration such as `250ms`, `5s`, `10m` or `1h`",
            "description": "A length of time; a bare number means seconds.",
            "anyOf": [
                {"type": "number", "minimum": 0, "maximum": 31_536_000},
                {"type": "string", "pattern": "^[0-9]{1,9}([.][0-9]{1,9})? ?(ms|s|m|min|h|d)?$"}
            ]
        })
    }
}

impl JsonSchema for Bytes {
    fn schema_name() -> Cow<'static, str> {
        "Bytes".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": "a size such as `64KiB`, `10MiB` or `1MB`",
            "description": "A number of bytes; a bare number means bytes.",
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": 1_099_511_627_776_u64},
                {"type": "string", "pattern": "^[0-9]{1,12}([.][0-9]{1,9})? ?([KkMmGg](i?[Bb])?|[Bb])?$"}
            ]
        })
    }
}

impl JsonSchema for StatusSet {
    fn schema_name() -> Cow<'static, str> {
        "StatusSet".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "HTTP statuses.",
            "type": "array",
            "minItems": 1,
            "items": {
                "title": "an HTTP status such as `200`, `200-299` or `4XX`",
                "anyOf": [
                    {"type": "integer", "minimum": 100, "maximum": 599},
                    {"type": "string", "pattern": "^([1-5][0-9]{2}(-[1-5][0-9]{2})?|[1-5][Xx]{2})$"}
                ]
            }
        })
    }
}
