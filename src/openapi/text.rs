//! Text of documents as models and people may see it.

use serde_json::Value;

/// `text` without control characters (except tab and newline), bidirectional controls, byte order
/// marks and the invisible tag characters: nothing in it can hide or reorder what is read.
pub(super) fn clean(text: &str) -> String {
    // To the end in any case: the compiler makes that a few instructions for 16 bytes.
    if text.bytes().fold(true, |plain, byte| plain & (matches!(byte, 0x20..0x7f) | (byte == b'\n'))) {
        return text.to_owned();
    }
    text.replace("\r\n", "\n").chars().filter(|it| !is_hidden(*it)).collect()
}

/// [`clean`] on every text inside a value that is shown as an example.
pub(super) fn clean_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean(text)),
        Value::Array(items) => Value::Array(items.iter().map(clean_value).collect()),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(key, it)| (key.clone(), clean_value(it))).collect())
        }
        other => other.clone(),
    }
}

/// A scalar as its text; `None` for null, lists and objects.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{feff}' => true,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}' => true,
        other => other.is_control(),
    }
}
