//! What an author probably meant by a key that is not there.

use serde_json::{Map, Value};

/// A key from elsewhere and what it is called here.
#[derive(Debug, Clone, Copy)]
pub struct Renamed {
    /// Name of the definition in which it was written; empty = the file's top.
    pub within: &'static str,
    /// The keys.
    pub keys: &'static [&'static str],
    /// The way out.
    pub fix: &'static str,
}

/// The way out for a key of other tools, and for `camelCase`.
pub(super) fn unknown_key_fix(renamed: &[Renamed], within: &str, key: &str, legal: &[&str]) -> Option<String> {
    let plain = |word: &str| word.replace(['_', '-'], "").to_lowercase();
    if let Some(same) = legal.iter().find(|legal| plain(legal) == plain(key)) {
        return Some(format!("did you mean `{same}`? Keys are written in lower case with `_`"));
    }
    renamed
        .iter()
        .find(|entry| entry.within == within && entry.keys.iter().any(|known| plain(known) == plain(key)))
        .map(|entry| entry.fix.to_owned())
}

/// The keys of an object.
pub(super) fn legal_keys(schema: &'static Map<String, Value>) -> Vec<&'static str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, _)| name.as_str()).filter(|name| !name.starts_with('$')).collect()
}

/// Where a key that is wrong here would be right: in a member of this object, or in one that holds it.
pub(super) fn other_home(root: &'static Value, here: &'static Map<String, Value>, key: &str) -> Option<String> {
    let resolve = |schema: &'static Value| -> &'static Value {
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix("#/$defs/"));
        target.and_then(|name| root.get("$defs")?.get(name)).unwrap_or(schema)
    };
    let has = |schema: &'static Value| resolve(schema).get("properties").is_some_and(|all| all.get(key).is_some());
    let own = here.get("properties").and_then(Value::as_object);
    if let Some((member, _)) = own.into_iter().flatten().find(|(_, schema)| has(schema)) {
        return Some(format!("`{key}` belongs under `{member}`; indent it one level more"));
    }
    // An object that has this one as a member and knows the key: the author indented too far.
    let definitions = root.get("$defs").and_then(Value::as_object);
    let objects = definitions.into_iter().flatten().map(|(_, schema)| schema).chain(std::iter::once(root));
    for outer in objects {
        let Some(properties) = outer.get("properties").and_then(Value::as_object) else { continue };
        if !properties.contains_key(key) {
            continue;
        }
        let holds = |schema: &'static Value| {
            let below = resolve(schema);
            let inner = [below.get("additionalProperties"), below.get("items")].into_iter().flatten().map(resolve);
            std::iter::once(below)
                .chain(inner)
                .any(|schema| schema.as_object().is_some_and(|it| std::ptr::eq(it, here)))
        };
        if let Some((member, _)) = properties.iter().find(|(_, schema)| holds(schema)) {
            return Some(format!("`{key}` belongs beside `{member}`, not inside it; indent it less"));
        }
    }
    None
}

/// The way out of a wrong type. `raw` is the value as written; `in_words` says that the message names a format.
pub(super) fn type_fix(value: &Value, kinds: &[&str], within: &str, raw: &str, in_words: bool) -> Option<String> {
    let wants = |kind: &str| kinds.contains(&kind);
    match value {
        Value::String(text) if wants("boolean") => match text.to_lowercase().as_str() {
            "yes" | "on" | "y" => Some("write `true`; in YAML 1.2 `yes` and `on` are text".to_owned()),
            "no" | "off" | "n" => Some("write `false`; in YAML 1.2 `no` and `off` are text".to_owned()),
            "true" | "false" => Some("take the quotes away".to_owned()),
            _ => None,
        },
        Value::String(text) if (wants("integer") || wants("number")) && text.parse::<f64>().is_ok() => {
            Some("take the quotes away".to_owned())
        }
        Value::String(text) if within == "ToolRules" => Some(format!("write `operation: {text}` below it")),
        Value::String(text) if within == "Credential" && !text.is_empty() => {
            Some("write it as `{ value: … }`".to_owned())
        }
        Value::Number(_) | Value::Bool(_) if within == "Slot" => Some("put it in quotes".to_owned()),
        Value::Number(_) | Value::Bool(_) if wants("string") && !in_words && !raw.is_empty() && !raw.contains('\n') => {
            Some(format!("put it in quotes: `\"{raw}\"`"))
        }
        Value::String(_) | Value::Number(_) | Value::Object(_)
            if wants("array") && !raw.contains('\n') && raw.len() < 60 =>
        {
            Some(format!("write a list: `[{raw}]`"))
        }
        Value::Array(_) if wants("object") => Some("write `name: …` lines instead of `- …` items".to_owned()),
        _ => None,
    }
}
