//! Requests to the client in the shape that an older revision knows.
//!
//! The service asks in the newest shape; elicitation forms of 2025-06-18 know neither modes nor
//! titled or multiple choices.

use super::version::Version;
use serde_json::{Map, Value};

/// The parameters for a peer of this revision, or why it can't be asked.
pub(crate) fn for_peer(method: &str, params: &Value, version: Version) -> Result<Value, String> {
    let knows = version.knows();
    let mut params = params.clone();
    match method {
        "elicitation/create" if !knows.elicitation => {
            Err(format!("revision {} has no way to ask the person", version.as_str()))
        }
        "elicitation/create" if !knows.elicitation_modes => {
            if params.get("mode").and_then(Value::as_str) == Some("url") {
                return Err(format!("revision {} can't send the person to a URL", version.as_str()));
            }
            if let Some(params) = params.as_object_mut() {
                params.shift_remove("mode");
            }
            let properties = params.pointer_mut("/requestedSchema/properties").and_then(Value::as_object_mut);
            for (name, property) in properties.into_iter().flatten() {
                simplify(property).map_err(|()| format!("its client can't show the field `{name}`"))?;
            }
            Ok(params)
        }
        "sampling/createMessage" if version < Version::V2025_11_25 => {
            let messages = params.get_mut("messages").and_then(Value::as_array_mut);
            for content in messages.into_iter().flatten().filter_map(|message| message.get_mut("content")) {
                if let Value::Array(blocks) = content {
                    match blocks.as_mut_slice() {
                        [only] => *content = only.take(),
                        _ => return Err("its client takes one content block a message".to_owned()),
                    }
                }
            }
            Ok(params)
        }
        _ => Ok(params),
    }
}

/// `oneOf` of titled constants → `enum` with `enumNames`; several choices can't be said.
fn simplify(property: &mut Value) -> Result<(), ()> {
    let Some(members) = property.as_object_mut() else { return Err(()) };
    if members.get("type").and_then(Value::as_str) == Some("array") {
        return Err(());
    }
    if let Some(Value::Array(choices)) = members.shift_remove("oneOf") {
        let pick = |key: &str, choice: &Value| choice.get(key).or_else(|| choice.get("const")).cloned();
        let values: Option<Vec<Value>> = choices.iter().map(|choice| pick("const", choice)).collect();
        let names: Option<Vec<Value>> = choices.iter().map(|choice| pick("title", choice)).collect();
        members.insert("enum".to_owned(), values.ok_or(())?.into());
        members.insert("enumNames".to_owned(), names.ok_or(())?.into());
    }
    Ok(())
}

/// The parts of one request that the service wants made.
pub(crate) fn parts(ask: &Value) -> (String, Value) {
    let method = ask.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
    (method, ask.get("params").cloned().unwrap_or_else(|| Value::Object(Map::new())))
}
