//! Keywords that assert something about a value: kept where the 2020-12 metaschema accepts them,
//! repaired where the meaning is plain, else left out with a warning.

use super::pattern::portable;
use super::{At, Marks, Reader};
use crate::diagnostic::Severity;
use crate::openapi::text::scalar;
use crate::schema::check::pattern_problem;
use serde_json::{Map, Number, Value, json};

/// Longest regular expression that is tried.
const LONGEST_PATTERN: usize = 10_000;

impl Reader<'_> {
    /// A keyword that holds no schema.
    pub(super) fn assertion(&mut self, at: &mut At, key: &str, value: &Value, marks: &mut Marks) -> Option<Value> {
        let kept = match key {
            "enum" => return self.enumeration(at, value),
            "required" => return self.required(at, value),
            "pattern" => return self.pattern(at, value),
            "exclusiveMinimum" | "exclusiveMaximum" => {
                let flag = value.as_bool().or_else(|| value.as_str().and_then(|it| it.parse().ok()));
                if let Some(flag) = flag {
                    let mark = match key {
                        "exclusiveMinimum" => &mut marks.exclusive_minimum,
                        _ => &mut marks.exclusive_maximum,
                    };
                    *mark = flag;
                    return None;
                }
                number(value)
            }
            "minimum" | "maximum" => number(value),
            "multipleOf" => number(value).filter(|it| it.as_f64().is_some_and(|it| it > 0.0)),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains"
            | "maxContains" => count(value),
            "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => flag(value),
            "format" | "contentEncoding" | "contentMediaType" => scalar(value).map(Value::String),
            "dependentRequired" => dependent(value),
            _ => {
                self.find(
                    at,
                    Severity::Note,
                    "unknown-keyword",
                    format!("`{key}` is no JSON Schema keyword; it is left out"),
                );
                return None;
            }
        };
        if kept.is_none() {
            self.warn(at, "invalid-keyword", format!("`{key}` can't have this value; it is left out"));
        }
        kept
    }

    fn enumeration(&mut self, at: &At, value: &Value) -> Option<Value> {
        let Some(values) = value.as_array() else {
            self.warn(at, "invalid-keyword", "`enum` must be a list; it is left out");
            return None;
        };
        if values.is_empty() {
            self.warn(at, "invalid-keyword", "`enum` is empty, so nothing would be valid; it is left out");
            return None;
        }
        Some(Value::Array(values.clone()))
    }

    fn required(&mut self, at: &At, value: &Value) -> Option<Value> {
        match value {
            Value::Bool(_) => return None,
            Value::String(text) if text == "true" || text == "false" => return None,
            _ => {}
        }
        let Some(names) = value.as_array() else {
            self.warn(at, "invalid-keyword", "`required` must be a list of names; it is left out");
            return None;
        };
        let mut kept: Vec<String> = Vec::new();
        for name in names.iter().filter_map(scalar) {
            if !kept.contains(&name) {
                kept.push(name);
            }
        }
        (!kept.is_empty()).then(|| json!(kept))
    }

    fn pattern(&mut self, at: &At, value: &Value) -> Option<Value> {
        let pattern = value.as_str()?;
        if let Some(usable) = self.usable_pattern(pattern) {
            return Some(Value::String(usable));
        }
        self.warn(at, "unusable-pattern", format!("`{pattern}` is no usable regular expression; it is not checked"));
        None
    }

    /// `patternProperties` without the patterns that can't be used.
    pub(super) fn legal_patterns(&mut self, at: &At, members: Value) -> Value {
        let Value::Object(members) = members else { return members };
        let mut kept = Map::new();
        for (pattern, schema) in members {
            if let Some(usable) = self.usable_pattern(&pattern) {
                kept.insert(usable, schema);
            } else {
                self.warn(
                    at,
                    "unusable-pattern",
                    format!("`{pattern}` is no usable regular expression; it is not checked"),
                );
            }
        }
        Value::Object(kept)
    }

    /// `pattern` in words that every validator takes, if ours does too: one unusable pattern would make
    /// the whole schema unusable.
    fn usable_pattern(&mut self, pattern: &str) -> Option<String> {
        if let Some(known) = self.patterns.get(pattern) {
            return known.clone();
        }
        let usable = Some(pattern).filter(|it| it.len() <= LONGEST_PATTERN).and_then(portable);
        let usable = usable.filter(|it| pattern_problem(it).is_none());
        self.patterns.insert(pattern.to_owned(), usable.clone());
        usable
    }

    /// `type`: one name or a list of names; the wrong names that people use are understood.
    pub(super) fn types(&mut self, at: &mut At, value: &Value, marks: &mut Marks) -> Option<Value> {
        let mut names: Vec<&'static str> = Vec::new();
        let given = match value {
            Value::Array(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        for item in given {
            let name = match item {
                Value::String(text) => text.as_str(),
                Value::Null => "null",
                _ => "",
            };
            if let Some(name) = type_name(name) {
                names.push(name);
            } else if name.eq_ignore_ascii_case("file") {
                marks.file = true;
                names.push("string");
            } else {
                let meant = guess(name);
                let what = match meant {
                    Some(meant) => format!("`{name}` is no type; `{meant}` is assumed"),
                    None => format!("`{name}` is no type; any type is accepted"),
                };
                self.warn(at, "unknown-type", what);
                match meant {
                    Some(meant) => names.push(meant),
                    None => return None,
                }
            }
        }
        names.dedup();
        let mut unique: Vec<&'static str> = Vec::new();
        names.into_iter().for_each(|it| {
            if !unique.contains(&it) {
                unique.push(it);
            }
        });
        match unique.as_slice() {
            [] => None,
            [one] => Some(json!(one)),
            several => Some(json!(several)),
        }
    }
}

fn type_name(name: &str) -> Option<&'static str> {
    ["string", "number", "integer", "boolean", "array", "object", "null"].into_iter().find(|it| *it == name)
}

/// The type that a wrong name plainly means.
fn guess(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    type_name(&lower).or(match lower.as_str() {
        "int" | "int32" | "int64" | "long" => Some("integer"),
        "float" | "double" | "decimal" => Some("number"),
        "bool" => Some("boolean"),
        "str" | "text" | "date" | "datetime" | "date-time" | "uuid" => Some("string"),
        "list" => Some("array"),
        "dict" | "map" | "hash" => Some("object"),
        _ => None,
    })
}

/// A number, also where it is written as text.
fn number(value: &Value) -> Option<Value> {
    match value {
        Value::Number(_) => Some(value.clone()),
        Value::String(text) => {
            let text = text.trim();
            let whole = text.parse::<i64>().ok().map(Value::from);
            whole.or_else(|| text.parse::<f64>().ok().and_then(Number::from_f64).map(Value::Number))
        }
        _ => None,
    }
}

/// A count: a whole number, not negative.
fn count(value: &Value) -> Option<Value> {
    let number = number(value)?;
    if number.is_u64() {
        return Some(number);
    }
    let float = number.as_f64().filter(|it| *it >= 0.0 && it.fract() == 0.0)?;
    (float <= 9_007_199_254_740_992.0).then(|| Value::from(float as u64))
}

fn flag(value: &Value) -> Option<Value> {
    match value {
        Value::Bool(_) => Some(value.clone()),
        Value::String(text) if text == "true" || text == "false" => Some(Value::Bool(text == "true")),
        _ => None,
    }
}

fn dependent(value: &Value) -> Option<Value> {
    let members = value.as_object()?;
    let lists = members.iter().filter_map(|(name, list)| {
        let mut names: Vec<&str> = list.as_array()?.iter().filter_map(Value::as_str).collect();
        let mut seen = Vec::new();
        names.retain(|it| {
            let new = !seen.contains(it);
            seen.push(*it);
            new
        });
        Some((name.clone(), json!(names)))
    });
    Some(Value::Object(lists.collect()))
}
