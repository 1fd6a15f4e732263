//! JSON texts of single values: their order, length and words, as the filter language has them.

use super::steps::Search;
use std::borrow::Cow;
use std::cmp::Ordering;

/// Neither null nor false.
pub(super) fn is_true(json: &[u8]) -> bool {
    !matches!(json.first(), Some(b'n' | b'f'))
}

/// The name of the kind.
pub(super) fn kind(json: &[u8]) -> &'static [u8] {
    match json.first() {
        Some(b'n') => b"\"null\"",
        Some(b't' | b'f') => b"\"boolean\"",
        Some(b'"') => b"\"string\"",
        Some(b'[') => b"\"array\"",
        Some(b'{') => b"\"object\"",
        _ => b"\"number\"",
    }
}

/// Kinds in their order; false comes before true.
fn rank(json: &[u8]) -> u8 {
    match json.first() {
        Some(b'n') => 0,
        Some(b'f') => 1,
        Some(b't') => 2,
        Some(b'"') => 4,
        Some(b'[') => 5,
        Some(b'{') => 6,
        _ => 3,
    }
}

/// Which of two values comes first. `None` where that is not told here: lists and objects that both have content, and
/// long numbers that are almost equal.
pub(super) fn compare(left: &[u8], right: &[u8]) -> Option<Ordering> {
    let (rank, other) = (rank(left), rank(right));
    if rank != other {
        return Some(rank.cmp(&other));
    }
    match rank {
        0..=2 => Some(Ordering::Equal),
        3 => numbers(left, right),
        4 => Some(text(left)?.cmp(&text(right)?)),
        _ => match (is_empty(left), is_empty(right)) {
            (false, false) => None,
            (left, right) => Some(right.cmp(&left)),
        },
    }
}

/// Whether a list or object has no content.
fn is_empty(json: &[u8]) -> bool {
    json.iter().skip(1).find(|byte| !byte.is_ascii_whitespace()).is_none_or(|byte| matches!(byte, b']' | b'}'))
}

fn numbers(left: &[u8], right: &[u8]) -> Option<Ordering> {
    let (left_number, right_number) = (number(left)?, number(right)?);
    if let (Number::Whole(left), Number::Whole(right)) = (&left_number, &right_number) {
        return Some(left.cmp(right));
    }
    let (left, right) = (left_number.float(), right_number.float());
    // Readers may differ in the last bit of a long number.
    let doubtful = (left - right).abs() <= left.abs().max(right.abs()) * 1e-12;
    let short = left_number.is_short() && right_number.is_short();
    if doubtful && !short { None } else { left.partial_cmp(&right) }
}

enum Number {
    /// Of 64 bits, with a sign or without.
    Whole(i128),
    /// True for one of so few digits that every reader makes the same of it.
    Float(f64, bool),
}

impl Number {
    fn float(&self) -> f64 {
        match self {
            Number::Whole(whole) => *whole as f64,
            Number::Float(float, _) => *float,
        }
    }

    fn is_short(&self) -> bool {
        matches!(self, Number::Whole(_) | Number::Float(_, true))
    }
}

fn number(json: &[u8]) -> Option<Number> {
    let text = std::str::from_utf8(json).ok()?;
    if let Ok(whole) = text.parse::<i128>()
        && whole >= i128::from(i64::MIN)
        && whole <= i128::from(u64::MAX)
    {
        return Some(Number::Whole(whole));
    }
    let short = json.len() <= 16 && !json.iter().any(|byte| matches!(byte, b'e' | b'E'));
    Some(Number::Float(text.parse().ok()?, short))
}

/// What stands between the quotes of a string.
fn inner(json: &[u8]) -> Option<&[u8]> {
    json.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// The bytes that a string spells.
fn text(json: &[u8]) -> Option<Cow<'_, [u8]>> {
    let inner = inner(json)?;
    if inner.contains(&b'\\') {
        return Some(Cow::Owned(serde_json::from_slice::<String>(json).ok()?.into_bytes()));
    }
    Some(Cow::Borrowed(inner))
}

/// Code points of a string.
pub(super) fn length(json: &[u8]) -> Option<usize> {
    let text = text(json)?;
    Some(std::str::from_utf8(&text).ok()?.chars().count())
}

/// Whether a string begins with another, ends with it or holds it; `None` for what is no string.
pub(super) fn found(json: &[u8], search: Search, wanted: &str) -> Option<bool> {
    let text = text(json)?;
    Some(match search {
        Search::Start => text.starts_with(wanted.as_bytes()),
        Search::End => text.ends_with(wanted.as_bytes()),
        Search::Anywhere => std::str::from_utf8(&text).ok()?.contains(wanted),
    })
}

/// A value within a string: what a string holds, or words and whole numbers as they stand. The JSON text between quotes.
/// `None` where it would be written in another way.
pub(super) fn spoken(json: &[u8]) -> Option<&[u8]> {
    match json.first()? {
        b'"' => inner(json),
        b'n' | b't' | b'f' => Some(json),
        b'-' | b'0'..=b'9' if json != b"-0" && std::str::from_utf8(json).ok()?.parse::<i64>().is_ok() => Some(json),
        _ => None,
    }
}
