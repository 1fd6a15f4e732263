//! Numbers with more digits than a number can carry here: never rounded silently.
//!
//! Whole numbers are exact from -2^63 to 2^64-1, others to 17 significant digits (IEEE 754 binary64); a whole number
//! beyond that passes as such a one where the schema wants fractions too and no digit is lost. A
//! longer one is kept as text where the schema wants text, and refused everywhere else.

use super::{Refusal, heal, refusal_at};
use crate::catalog::Arguments;
use crate::schema::check::path::{Step, cut};
use crate::schema::kinds::Kinds;
use serde_json::Value;

/// Shortest run of digits that may lose some.
const LONG: usize = 18;

/// True if the text has a run of digits (and points) that is long enough to matter; cheap.
pub(super) fn has_long_run(text: &str) -> bool {
    let mut run = 0usize;
    for byte in text.bytes() {
        if byte.is_ascii_digit() || byte == b'.' {
            run += 1;
            if run >= LONG {
                return true;
            }
        } else {
            run = 0;
        }
    }
    false
}

/// True if the number token can't be carried exactly.
fn loses(token: &str) -> bool {
    if !token.contains(['.', 'e', 'E']) {
        return token.parse::<i64>().is_err() && token.parse::<u64>().is_err();
    }
    rounds(token)
}

/// True if the number token is another number as binary64.
fn rounds(token: &str) -> bool {
    let mantissa = token.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_matches('0');
    if digits.len() <= 17 {
        return false;
    }
    let Ok(float) = token.parse::<f64>() else { return true };
    let written = format!("{:.*e}", digits.len() - 1, float.abs());
    let kept: String = written.split('e').next().unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
    kept != digits
}

/// Finds every such number in the text that `arguments` was read from; puts its digits as text where only
/// text is wanted.
pub(super) fn settle(
    text: &str,
    arguments: &mut Arguments,
    schema: &Value,
    healed: &mut Vec<String>,
) -> Result<(), Refusal> {
    let mut refusal = Refusal::default();
    for (path, token) in lossy(text) {
        let kinds = heal::kinds_at(schema, &path);
        if kinds.meets(Kinds::STRING)
            && !kinds.meets(Kinds::NUMBER)
            && let Some(place) = place(arguments, &path)
        {
            *place = Value::from(token);
            healed.push(crate::schema::check::path::text(&path));
            continue;
        }
        // A floating-point number that somebody wrote without its exponent (`1.034e20`).
        if kinds.meets(Kinds::FRACTION) && !kinds.meets(Kinds::STRING) && !rounds(token) {
            continue;
        }
        let way_out = match kinds.meets(Kinds::STRING) && kinds != Kinds::ALL {
            true => "; send it as text, in quotes",
            false => "",
        };
        let limits = match token.contains(['.', 'e', 'E']) {
            true => "numbers keep 17 significant digits",
            false => "whole numbers go from -9223372036854775808 to 18446744073709551615",
        };
        let message = format!("{} has more digits than can be kept: {limits}{way_out}", cut(token, 60));
        refusal.problems.extend(refusal_at(&path, message).problems);
    }
    if refusal.problems.is_empty() { Ok(()) } else { Err(refusal) }
}

fn place<'a>(arguments: &'a mut Arguments, path: &[Step]) -> Option<&'a mut Value> {
    let (first, rest) = path.split_first()?;
    let Step::Name(name) = first else { return None };
    rest.iter().try_fold(arguments.get_mut(name)?, |value, step| match step {
        Step::Name(name) => value.get_mut(name),
        Step::Index(index) => value.get_mut(*index),
    })
}

/// Number tokens that lose digits, with their paths, in well-formed JSON text; at most ten.
pub(super) fn lossy(text: &str) -> Vec<(Vec<Step>, &str)> {
    let mut found = Vec::new();
    let mut path: Vec<Step> = Vec::new();
    let mut name_next = false;
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'"' => {
                while let Some(&inside) = bytes.get(at) {
                    at += if inside == b'\\' { 2 } else { 1 };
                    if inside == b'"' {
                        break;
                    }
                }
                if name_next && let Some(Step::Name(name)) = path.last_mut() {
                    *name =
                        text.get(start..at).and_then(|quoted| serde_json::from_str(quoted).ok()).unwrap_or_default();
                    name_next = false;
                }
            }
            b'{' => {
                path.push(Step::Name(String::new()));
                name_next = true;
            }
            b'[' => path.push(Step::Index(0)),
            b'}' | b']' => {
                path.pop();
                name_next = false;
            }
            b',' => match path.last_mut() {
                Some(Step::Index(index)) => *index += 1,
                Some(Step::Name(_)) => name_next = true,
                None => {}
            },
            b'-' | b'0'..=b'9' => {
                while bytes.get(at).is_some_and(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'))
                {
                    at += 1;
                }
                let token = text.get(start..at).unwrap_or_default();
                if found.len() < 10 && loses(token) {
                    found.push((path.clone(), token));
                }
            }
            _ => {}
        }
    }
    found
}
