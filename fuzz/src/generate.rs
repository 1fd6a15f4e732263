//! Schemas and values out of the fuzzer's bytes, mostly well-formed.

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use serde_json::{Map, Value, json};

const NAMES: [&str; 8] = ["a", "b", "c", "id", "$ref", "type", "x/y~z", "ü"];
/// Names of `components.schemas` that schemas refer to.
pub const DEFINITIONS: [&str; 4] = ["A", "B", "C.d", "é"];
const TYPES: [&str; 7] = ["object", "array", "string", "integer", "number", "boolean", "null"];

/// What the schemas may hold.
#[derive(Clone, Copy)]
pub struct Dialect {
    /// Where definitions are.
    pub prefix: &'static str,
    /// Only what means the same in JSON Schema 2020-12 and here, well-formed.
    pub plain: bool,
}

fn name(u: &mut Unstructured<'_>) -> Result<String> {
    Ok((*u.choose(&NAMES)?).to_owned())
}

fn number(u: &mut Unstructured<'_>) -> Result<Value> {
    Ok(match u.int_in_range(0..=7u8)? {
        0 => json!(0.5),
        1 => json!(u.int_in_range(i64::MIN..=i64::MAX)?),
        2 => json!(1e30),
        3 => json!(-1),
        _ => json!(u.int_in_range(0..=5u8)?),
    })
}

fn text(u: &mut Unstructured<'_>) -> Result<String> {
    Ok(match u.int_in_range(0..=5u8)? {
        0 => String::new(),
        1 => u.arbitrary::<&str>()?.chars().take(20).collect(),
        2 => "2024-02-30".to_owned(),
        3 => "5".to_owned(),
        _ => name(u)?,
    })
}

/// Any JSON value.
pub fn value(u: &mut Unstructured<'_>, depth: usize) -> Result<Value> {
    Ok(match u.int_in_range(0..=if depth == 0 { 5 } else { 9u8 })? {
        0 => Value::Null,
        1 => Value::Bool(u.arbitrary()?),
        2 | 3 => number(u)?,
        4 | 5 => Value::String(text(u)?),
        6 | 7 => {
            let length = u.int_in_range(0..=3usize)?;
            Value::Array((0..length).map(|_| value(u, depth - 1)).collect::<Result<_>>()?)
        }
        _ => {
            let length = u.int_in_range(0..=4usize)?;
            Value::Object((0..length).map(|_| Ok((name(u)?, value(u, depth - 1)?))).collect::<Result<_>>()?)
        }
    })
}

fn schemas(u: &mut Unstructured<'_>, dialect: Dialect, depth: usize) -> Result<Value> {
    let length = u.int_in_range(usize::from(dialect.plain)..=3)?;
    Ok(Value::Array((0..length).map(|_| schema(u, dialect, depth)).collect::<Result<_>>()?))
}

fn named(u: &mut Unstructured<'_>, dialect: Dialect, depth: usize) -> Result<Value> {
    let length = u.int_in_range(0..=4usize)?;
    let members: Result<Map<_, _>> = (0..length).map(|_| Ok((name(u)?, schema(u, dialect, depth)?))).collect();
    Ok(Value::Object(members?))
}

/// A schema; where it is not plain, sometimes with a keyword of the wrong type.
pub fn schema(u: &mut Unstructured<'_>, dialect: Dialect, depth: usize) -> Result<Value> {
    if u.is_empty() || depth == 0 || u.ratio(1, 12)? {
        return Ok(match u.int_in_range(0..=3u8)? {
            0 => json!(true),
            1 => json!(false),
            2 => json!({ "type": *u.choose(&TYPES)? }),
            _ => json!({ "$ref": format!("{}{}", dialect.prefix, u.choose(&DEFINITIONS)?) }),
        });
    }
    let mut members = Map::new();
    for _ in 0..u.int_in_range(1..=4u8)? {
        let (keyword, mut held) = keyword(u, dialect, depth - 1)?;
        if !dialect.plain && u.ratio(1, 16)? {
            held = value(u, 2)?;
        }
        members.insert(keyword.to_owned(), held);
    }
    Ok(Value::Object(members))
}

fn keyword(u: &mut Unstructured<'_>, dialect: Dialect, depth: usize) -> Result<(&'static str, Value)> {
    let size = |u: &mut Unstructured<'_>| Ok(json!(u.int_in_range(0..=3u8)?));
    Ok(match u.int_in_range(0..=if dialect.plain { 29 } else { 41u8 })? {
        0..=2 => ("type", json!(*u.choose(&TYPES)?)),
        3 => ("type", json!([*u.choose(&TYPES)?, "null"].iter().collect::<std::collections::BTreeSet<_>>())),
        4 | 5 => ("properties", named(u, dialect, depth)?),
        6 => ("required", json!([name(u)?])),
        7 => ("additionalProperties", schema(u, dialect, depth)?),
        8 => ("items", schema(u, dialect, depth)?),
        9 => ("allOf", schemas(u, dialect, depth)?),
        10 => ("anyOf", schemas(u, dialect, depth)?),
        11 => ("oneOf", schemas(u, dialect, depth)?),
        12 => ("not", schema(u, dialect, depth)?),
        13 => ("enum", json!([value(u, 1)?])),
        14 => ("const", value(u, 2)?),
        15 => (*u.choose(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"])?, number(u)?),
        16 => (
            *u.choose(&["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"])?,
            size(u)?,
        ),
        17 => ("multipleOf", json!(u.int_in_range(1..=4u8)?)),
        18 => ("uniqueItems", json!(u.arbitrary::<bool>()?)),
        19 => ("pattern", json!(*u.choose(&["^a", "\\d+$", "^[^b]*$", "\\p{L}"])?)),
        20 => ("patternProperties", json!({ *u.choose(&["^a", "b$", "^x-"])?: schema(u, dialect, depth)? })),
        21 => ("prefixItems", schemas(u, dialect, depth)?),
        22 => ("contains", schema(u, dialect, depth)?),
        23 => ("propertyNames", schema(u, dialect, depth)?),
        24 => (*u.choose(&["if", "then", "else"])?, schema(u, dialect, depth)?),
        25 => ("dependentRequired", json!({ name(u)?: [name(u)?] })),
        26 => ("dependentSchemas", json!({ name(u)?: schema(u, dialect, depth)? })),
        27 => (*u.choose(&["title", "description", "$comment"])?, json!(text(u)?)),
        28 | 29 => ("$ref", json!(format!("{}{}", dialect.prefix, u.choose(&DEFINITIONS)?))),
        30 => ("nullable", json!(u.arbitrary::<bool>()?)),
        31 => (*u.choose(&["readOnly", "writeOnly", "deprecated"])?, json!(true)),
        32 => ("format", json!(*u.choose(&["date", "int64", "binary", "byte", "uuid", "nonsense"])?)),
        33 => (*u.choose(&["exclusiveMinimum", "exclusiveMaximum"])?, json!(u.arbitrary::<bool>()?)),
        34 => ("discriminator", json!({"propertyName": name(u)?, "mapping": {name(u)?: *u.choose(&DEFINITIONS)?}})),
        35 => ("pattern", json!(text(u)?)),
        36 => (*u.choose(&["$id", "$anchor", "$dynamicAnchor", "$schema"])?, json!(text(u)?)),
        37 => ("$defs", named(u, dialect, depth)?),
        38 => (
            "$ref",
            json!(*u.choose(&["#", "#/paths", "#/components/schemas", "#a", "a", "#/$defs/a", "./root.json#/info"])?),
        ),
        39 => (*u.choose(&["unevaluatedProperties", "unevaluatedItems"])?, schema(u, dialect, depth)?),
        40 => (*u.choose(&["example", "default"])?, value(u, 3)?),
        _ => (*u.choose(&["contentMediaType", "contentEncoding", "x-y", "xml", "examples"])?, value(u, 2)?),
    })
}
