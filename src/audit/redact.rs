//! What of a call's arguments may stand in the trail.

use crate::access::glob_matches;
use serde_json::{Map, Value};

/// How much of the arguments is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ArgumentsMode {
    /// Values of telling names and values that look like credentials become `***`; long ones are cut.
    #[default]
    Redacted,
    /// Everything, cut only at the depth and size that keep a line readable.
    Full,
    /// Nothing.
    None,
}

/// Parts of names that tell a secret; compared without case, dashes and underscores.
const TELLING: [&str; 21] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "authorization",
    "cookie",
    "session",
    "signature",
    "otp",
    "pincode",
    "cvv",
    "cvc",
    "cardnumber",
    "iban",
    "ssn",
    "jwt",
];

const LONGEST_TEXT: usize = 256;
const LONGEST_FULL_TEXT: usize = 16 * 1024;
const MOST_MEMBERS: usize = 64;
const DEEPEST: usize = 8;
const HIDDEN: &str = "***";

/// Applies the rules.
#[derive(Debug, Clone, Default)]
pub struct Redaction {
    mode: ArgumentsMode,
    names: Vec<String>,
}

impl Redaction {
    /// `names` are further globs (`*`) over argument and member names.
    pub fn new(mode: ArgumentsMode, names: &[String]) -> Redaction {
        Redaction { mode, names: names.iter().map(|name| plain(name)).collect() }
    }

    /// The arguments as they may be written; null for none.
    pub fn apply(&self, arguments: &Map<String, Value>) -> Value {
        match self.mode {
            ArgumentsMode::None => Value::Null,
            _ => self.object(arguments, DEEPEST),
        }
    }

    fn object(&self, members: &Map<String, Value>, depth: usize) -> Value {
        let mut kept = Map::new();
        for (name, value) in members.iter().take(MOST_MEMBERS) {
            let value = if self.mode == ArgumentsMode::Redacted && self.is_telling(name) {
                Value::String(HIDDEN.to_owned())
            } else {
                self.value(value, depth)
            };
            kept.insert(cut(name, LONGEST_TEXT), value);
        }
        if members.len() > MOST_MEMBERS {
            kept.insert("…".to_owned(), Value::from(members.len() - MOST_MEMBERS));
        }
        Value::Object(kept)
    }

    fn value(&self, value: &Value, depth: usize) -> Value {
        let full = self.mode == ArgumentsMode::Full;
        let Some(depth) = depth.checked_sub(1) else { return Value::String("…".to_owned()) };
        match value {
            Value::Object(members) => self.object(members, depth),
            Value::Array(items) => {
                let mut kept: Vec<Value> =
                    items.iter().take(MOST_MEMBERS).map(|item| self.value(item, depth)).collect();
                if items.len() > MOST_MEMBERS {
                    kept.push(Value::String(format!("… {} more", items.len() - MOST_MEMBERS)));
                }
                Value::Array(kept)
            }
            Value::String(text) if !full && looks_secret(text) => Value::String(HIDDEN.to_owned()),
            Value::String(text) => Value::String(cut(text, if full { LONGEST_FULL_TEXT } else { LONGEST_TEXT })),
            other => other.clone(),
        }
    }

    fn is_telling(&self, name: &str) -> bool {
        let name = plain(name);
        TELLING.iter().any(|part| name.contains(part)) || self.names.iter().any(|glob| glob_matches(glob, &name))
    }
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ' | '.')).flat_map(char::to_lowercase).collect()
}

/// Credentials in the open: an Authorization value, a JSON Web Token, a private key, a URL with a
/// password.
fn looks_secret(text: &str) -> bool {
    let text = text.trim_start();
    let starts = |prefix: &str| text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    let token = text.starts_with("eyJ") && text.split('.').count() >= 3;
    let with_password = text.split_once("://").is_some_and(|(_, rest)| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        authority.split_once('@').is_some_and(|(user, _)| user.contains(':'))
    });
    starts("bearer ") || starts("basic ") || token || text.contains("PRIVATE KEY-----") || with_password
}

fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} bytes)", text.get(..end).unwrap_or_default(), text.len()),
    }
}
