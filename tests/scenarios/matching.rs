//! Subset matching: what a story does not name is not compared.

use serde_json::Value;

/// Stands for "this member must not be there".
const ABSENT: &str = "$absent";
/// Stands for "this member must be there, whatever it is".
const ANY: &str = "$any";

/// What differs, with its pointer. Members of objects that are not expected are not looked at; lists must have the
/// same length. A text that starts with `~` must be contained.
pub fn differences(wanted: &Value, got: Option<&Value>, at: &str, out: &mut Vec<String>) {
    if wanted == ABSENT {
        if let Some(got) = got {
            out.push(format!("{at}: must be absent, is {got}"));
        }
        return;
    }
    let Some(got) = got else {
        out.push(format!("{at}: missing, wanted {wanted}"));
        return;
    };
    if wanted == ANY {
        return;
    }
    match (wanted, got) {
        (Value::Object(wanted), Value::Object(members)) => {
            if wanted.contains_key("$exactly") {
                if wanted.get("$exactly") != Some(&Value::Object(members.clone())) {
                    out.push(format!("{at}: wanted exactly {wanted:?}, got {got}"));
                }
                return;
            }
            for (name, value) in wanted {
                differences(value, members.get(name), &format!("{at}/{name}"), out);
            }
        }
        (Value::Array(wanted), Value::Array(items)) => {
            if wanted.len() != items.len() {
                out.push(format!("{at}: wanted {} items, got {got}", wanted.len()));
                return;
            }
            for (index, value) in wanted.iter().enumerate() {
                differences(value, items.get(index), &format!("{at}/{index}"), out);
            }
        }
        (Value::String(wanted), Value::String(text)) if wanted.starts_with('~') => {
            if !text.contains(&wanted[1..]) {
                out.push(format!("{at}: wanted a text with {:?}, got {text:?}", &wanted[1..]));
            }
        }
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => {}
        _ if wanted == got => {}
        _ => out.push(format!("{at}: wanted {wanted}, got {got}")),
    }
}
