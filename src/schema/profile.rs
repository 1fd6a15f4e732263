//! What of a schema is published. Calls are always checked against the full schema, so the published one
//! may say less. It narrows in two places only: a property that one of several alternatives declares has
//! that alternative's type, and [`SchemaProfile::StrictVendors`] settles on one of several types.
//!
//! No profile loses a property name.

mod fold;
mod vendors;

use super::check::Checker;
use super::walk;
use crate::mapping::SchemaProfile;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Makes the published form of a self-contained input schema.
///
/// - `Full`: as it is.
/// - `Default`: the root is `type: object` without `oneOf`, `anyOf`, `allOf`, `not`, `if`, `enum`, `const`
///   and `$ref`; what they say is folded into `properties` and `required` and, where that can't hold it,
///   into the root's `description`. Inside, everything stays; booleans as properties become objects;
///   unused `$defs` go.
/// - `StrictVendors`: also without `$ref` and `$defs`, and only with keywords that every large vendor accepts.
pub fn publish(full: &Value, profile: SchemaProfile) -> Value {
    match profile {
        SchemaProfile::Full => full.clone(),
        SchemaProfile::Default => default(full),
        SchemaProfile::StrictVendors => vendors::reduce(full),
    }
}

/// [`publish`], and the full schema where that is another one. Most are the same, and are not copied.
pub fn publish_or_keep(full: Value, profile: SchemaProfile) -> (Value, Option<Value>) {
    if profile == SchemaProfile::Default && is_published_form(&full) {
        return (full, None);
    }
    let published = publish(&full, profile);
    let full = (published != full).then_some(full);
    (published, full)
}

/// True if the default profile leaves this as it is, for sure.
fn is_published_form(full: &Value) -> bool {
    fold::is_flat(full)
        && full.get("type").and_then(Value::as_str) == Some("object")
        && full.get("properties").is_some_and(Value::is_object)
        && full.get("$defs").is_none()
        && !holds_boolean_properties(full)
}

fn holds_boolean_properties(schema: &Value) -> bool {
    let Some(members) = schema.as_object() else { return false };
    let mut found = members.iter().any(|(keyword, value)| match keyword.as_str() {
        "properties" | "patternProperties" | "$defs" => {
            value.as_object().is_some_and(|map| map.values().any(Value::is_boolean))
        }
        "items" => value.is_boolean(),
        _ => false,
    });
    walk::each_child(schema, &mut |child| found = found || holds_boolean_properties(child));
    found
}

fn default(full: &Value) -> Value {
    let mut folded = match fold::is_flat(full) {
        true => full.as_object().cloned().unwrap_or_default(),
        false => fold::object(full, full),
    };
    folded.insert("type".to_string(), Value::from("object"));
    if !folded.get("properties").is_some_and(Value::is_object) {
        folded.insert("properties".to_string(), Value::Object(Map::new()));
    }
    if let Some(definitions) = full.get("$defs") {
        folded.insert("$defs".to_string(), definitions.clone());
    }
    let mut published = Value::Object(folded);
    without_boolean_properties(&mut published);
    walk::drop_unused(&mut published);
    published
}

/// Several clients can't read `true` and `false` as the schema of a property.
fn without_boolean_properties(schema: &mut Value) {
    let mut plain = |schema: &mut Value| match schema {
        Value::Bool(true) => *schema = Value::Object(Map::new()),
        Value::Bool(false) => *schema = serde_json::json!({ "not": {} }),
        _ => {}
    };
    if let Some(members) = schema.as_object_mut() {
        for keyword in ["properties", "patternProperties", "$defs"] {
            if let Some(map) = members.get_mut(keyword).and_then(Value::as_object_mut) {
                map.values_mut().for_each(&mut plain);
            }
        }
        if let Some(items @ Value::Bool(_)) = members.get_mut("items") {
            plain(items);
        }
    }
    walk::each_child_mut(schema, &mut without_boolean_properties);
}

/// Checks a schema before it is published: the root is an object schema of `type: object`, every `$ref`
/// points to something in it, and it compiles. The error is one sentence without a full stop.
pub fn self_check(published: &Value) -> Result<(), String> {
    quick_check(published)?;
    Checker::new(Arc::new(published.clone())).compile()
}

/// As [`self_check`], without compiling.
pub fn quick_check(published: &Value) -> Result<(), String> {
    if published.get("type").and_then(Value::as_str) != Some("object") {
        return Err("the root is not `type: object`".to_string());
    }
    match walk::references(published).into_iter().find(|reference| walk::target(published, reference).is_none()) {
        Some(dangling) => Err(format!("`$ref: {}` points to nothing", super::check::path::cut(dangling, 120))),
        None => Ok(()),
    }
}
