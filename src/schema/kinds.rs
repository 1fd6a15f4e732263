//! Sets of JSON types, as schemas allow them.

use super::walk::Root;
use serde_json::Value;
use std::ops::{BitAnd, BitOr};

/// A set of JSON types. Whole and other numbers are kept apart: `integer` is the whole ones
/// (`1.0` too, Validation §6.1.1), `number` is both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    /// No type: nothing is allowed.
    pub const NONE: Kinds = Kinds(0);
    /// `null`.
    pub const NULL: Kinds = Kinds(1);
    /// `boolean`.
    pub const BOOLEAN: Kinds = Kinds(2);
    /// Whole numbers.
    pub const INTEGER: Kinds = Kinds(4);
    /// Numbers that are not whole.
    pub const FRACTION: Kinds = Kinds(8);
    /// `number`.
    pub const NUMBER: Kinds = Kinds(12);
    /// `string`.
    pub const STRING: Kinds = Kinds(16);
    /// `array`.
    pub const ARRAY: Kinds = Kinds(32);
    /// `object`.
    pub const OBJECT: Kinds = Kinds(64);
    /// Every type.
    pub const ALL: Kinds = Kinds(127);

    /// The set of one `type` name; an unknown name allows everything.
    pub fn named(name: &str) -> Kinds {
        match name {
            "null" => Kinds::NULL,
            "boolean" => Kinds::BOOLEAN,
            "integer" => Kinds::INTEGER,
            "number" => Kinds::NUMBER,
            "string" => Kinds::STRING,
            "array" => Kinds::ARRAY,
            "object" => Kinds::OBJECT,
            _ => Kinds::ALL,
        }
    }

    /// The type of a value.
    pub fn of(value: &Value) -> Kinds {
        match value {
            Value::Null => Kinds::NULL,
            Value::Bool(_) => Kinds::BOOLEAN,
            Value::Number(number) => match number.as_f64() {
                Some(float) if !number.is_i64() && !number.is_u64() => Kinds::of_float(float),
                _ => Kinds::INTEGER,
            },
            Value::String(_) => Kinds::STRING,
            Value::Array(_) => Kinds::ARRAY,
            Value::Object(_) => Kinds::OBJECT,
        }
    }

    /// The type of a number written with a fraction or exponent.
    pub fn of_float(float: f64) -> Kinds {
        if float.fract() == 0.0 { Kinds::INTEGER } else { Kinds::FRACTION }
    }

    /// True if the sets have a type in common.
    pub fn meets(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    /// The set without the types of `other`.
    pub fn without(self, other: Kinds) -> Kinds {
        Kinds(self.0 & !other.0)
    }

    /// What the value of a `type` keyword allows; an absent or malformed one allows everything.
    pub fn declared(keyword: Option<&Value>) -> Kinds {
        match keyword {
            Some(Value::String(name)) => Kinds::named(name),
            Some(Value::Array(names)) => {
                names.iter().filter_map(Value::as_str).map(Kinds::named).fold(Kinds::NONE, BitOr::bitor)
            }
            _ => Kinds::ALL,
        }
    }

    /// The names for a `type` keyword, in a fixed order with `null` last.
    pub fn names(self) -> Vec<&'static str> {
        let mut names = Vec::new();
        let table = [
            (Kinds::OBJECT, "object"),
            (Kinds::ARRAY, "array"),
            (Kinds::STRING, "string"),
            (Kinds::FRACTION, "number"),
            (Kinds::INTEGER, "integer"),
            (Kinds::BOOLEAN, "boolean"),
            (Kinds::NULL, "null"),
        ];
        for (kind, name) in table {
            let covered = name == "integer" && self.meets(Kinds::FRACTION);
            if self.meets(kind) && !covered {
                names.push(name);
            }
        }
        names
    }
}

impl BitOr for Kinds {
    type Output = Kinds;
    fn bitor(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }
}

impl BitAnd for Kinds {
    type Output = Kinds;
    fn bitand(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }
}

/// The types that a schema allows, through references (resolved in `root`), enums and combinators. Never
/// too few: what can't be told (`not`, conditions, deep recursion) counts as allowed.
pub fn allowed<R: Root + ?Sized>(root: &R, schema: &Value) -> Kinds {
    let mut fuel = 1_000;
    walk_kinds(root, schema, 0, &mut fuel)
}

fn walk_kinds<R: Root + ?Sized>(root: &R, schema: &Value, depth: usize, fuel: &mut usize) -> Kinds {
    let members = match schema {
        Value::Bool(false) => return Kinds::NONE,
        Value::Object(members) => members,
        _ => return Kinds::ALL,
    };
    if depth > 32 || *fuel == 0 {
        return Kinds::ALL;
    }
    *fuel -= 1;
    let mut kinds = Kinds::declared(members.get("type"));
    if let Some(value) = members.get("const") {
        kinds = kinds & Kinds::of(value);
    }
    if let Some(values) = members.get("enum").and_then(Value::as_array) {
        kinds = kinds & values.iter().map(Kinds::of).fold(Kinds::NONE, BitOr::bitor);
    }
    if let Some(reference) = members.get("$ref").and_then(Value::as_str)
        && let Some(target) = root.target(reference)
    {
        kinds = kinds & walk_kinds(root, target, depth + 1, fuel);
    }
    for part in members.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        kinds = kinds & walk_kinds(root, part, depth + 1, fuel);
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(branches) = members.get(keyword).and_then(Value::as_array) {
            let mut any = Kinds::NONE;
            for branch in branches {
                any = any | walk_kinds(root, branch, depth + 1, fuel);
            }
            kinds = kinds & any;
        }
    }
    kinds
}
