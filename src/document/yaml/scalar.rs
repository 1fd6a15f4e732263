//! Plain scalars by the YAML 1.2 core schema (YAML 1.2.2, section 10.3.2), nothing more: `no`, `on`,
//! dates, `1_000` and `12:30` are text.

use serde_json::{Number, Value};

/// What a plain scalar is.
#[derive(Debug, PartialEq)]
pub(super) enum Scalar {
    /// A value without loss.
    Value(Value),
    /// An integer past 64 bits: the nearest float.
    Inexact(Value),
    /// An integer with leading zeros: the number without them.
    LeadingZeros(Value),
    /// `.inf` and `.nan`, or a float out of range: JSON has no such number, the text is kept.
    NotFinite(Value),
}

/// Resolves an untagged plain scalar.
pub(super) fn resolve(text: &str) -> Scalar {
    let literal = |value: Value| Scalar::Value(value);
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return literal(Value::Null),
        "true" | "True" | "TRUE" => return literal(Value::Bool(true)),
        "false" | "False" | "FALSE" => return literal(Value::Bool(false)),
        _ => {}
    }
    // Most scalars are words: numbers start with a digit, a sign or a dot.
    match text.as_bytes().first() {
        Some(b'0'..=b'9' | b'+' | b'-' | b'.') => number(text).unwrap_or_else(|| literal(Value::String(text.into()))),
        _ => literal(Value::String(text.into())),
    }
}

/// A number of the core schema; `None` where the text is none.
pub(super) fn number(text: &str) -> Option<Scalar> {
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(Scalar::NotFinite(Value::String(text.into())));
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return decimal(text, unsigned);
    }
    if is_float(unsigned) {
        return Some(float(text));
    }
    None
}

fn radix(digits: &str, base: u32) -> Option<Scalar> {
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(base)) {
        return None;
    }
    if let Ok(value) = u64::from_str_radix(digits, base) {
        return Some(Scalar::Value(value.into()));
    }
    let value =
        digits.chars().filter_map(|c| c.to_digit(base)).fold(0.0, |sum: f64, d| sum * f64::from(base) + f64::from(d));
    Some(Number::from_f64(value).map_or_else(
        || Scalar::NotFinite(Value::String(digits.into())),
        |number| Scalar::Inexact(Value::Number(number)),
    ))
}

fn decimal(text: &str, digits: &str) -> Option<Scalar> {
    let bare = text.strip_prefix('+').unwrap_or(text);
    let value = match (bare.parse::<u64>(), bare.parse::<i64>()) {
        (Ok(value), _) => Value::from(value),
        // JSON has no negative zero among its integers.
        (_, Ok(value)) => Value::from(value),
        _ => {
            return Some(match float(text) {
                Scalar::Value(value) => Scalar::Inexact(value),
                other => other,
            });
        }
    };
    if digits.len() > 1 && digits.starts_with('0') {
        Some(Scalar::LeadingZeros(value))
    } else {
        Some(Scalar::Value(value))
    }
}

/// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let mantissa_ok = match mantissa.split_once('.') {
        Some(("", fraction)) => !fraction.is_empty() && digits(fraction),
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => !mantissa.is_empty() && digits(mantissa),
    };
    let exponent_ok = exponent.is_none_or(|e| {
        let e = e.strip_prefix(['+', '-']).unwrap_or(e);
        !e.is_empty() && digits(e)
    });
    mantissa_ok && exponent_ok
}

fn float(text: &str) -> Scalar {
    match text.parse::<f64>().ok().and_then(Number::from_f64) {
        Some(number) => Scalar::Value(Value::Number(number)),
        None => Scalar::NotFinite(Value::String(text.into())),
    }
}
