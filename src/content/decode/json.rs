//! JSON texts whose bytes may go through untouched.

use crate::content::conform::{Blind, Escaping, Shape, Verdict, is_utf8};
use crate::content::shape::{Compiled, Part};
use bytes::Bytes;
use encoding_rs::Encoding;

/// What is asked of a JSON text.
#[derive(Clone, Copy)]
pub(in crate::content) enum Look<'a> {
    /// Whether it is JSON at all.
    Json,
    /// The text as it goes out escaped, and whether it conforms; without a schema, whether it is JSON at all.
    Whole(Option<&'a Shape>),
    /// The part of it that the mapping is about, where that can be told while reading; else whether it is JSON at all.
    Part(&'a Compiled),
}

/// What is found.
pub(super) enum Found {
    /// What the text is to the schema.
    Verdict(Verdict),
    /// The same, and the text as it stands between the quotes of a JSON string.
    Whole(Verdict, Bytes),
    /// The part of it that was asked for.
    Part(Part),
}

/// The text in UTF-8 without byte order mark, the same bytes where they are that already; and what is found in it.
pub(super) fn read(body: &Bytes, declared: Option<&str>, look: Look<'_>) -> (Bytes, Found) {
    let text = match Encoding::for_bom(body) {
        Some((encoding, mark)) if encoding == encoding_rs::UTF_8 => body.slice(mark..),
        Some((encoding, _)) => Bytes::from(encoding.decode(body).0.into_owned()),
        None if is_utf8(body) => {
            let found = found(body, look);
            return (body.clone(), found);
        }
        None => Bytes::from(super::charset::text(body, declared, false)),
    };
    let found = judge(&text, look);
    (text, found)
}

/// What is found in a text that need not be UTF-8.
pub(super) fn judge(text: &[u8], look: Look<'_>) -> Found {
    if is_utf8(text) { found(text, look) } else { Found::Verdict(Verdict::NotJson) }
}

fn found(text: &[u8], look: Look<'_>) -> Found {
    match look {
        Look::Part(plan) => match plan.part(text) {
            Some(part) => Found::Part(part),
            None => found(text, Look::Json),
        },
        Look::Json => Found::Verdict(Shape::judge(None, text, Blind).0),
        Look::Whole(shape) => {
            let (verdict, escaped) = Shape::judge(shape, text, Escaping::new(text.len()));
            Found::Whole(verdict, escaped.into_bytes().into())
        }
    }
}

/// Where the first `\uD800`–`\uDFFF` stands that is not half of a pair.
fn lone_surrogate(text: &[u8]) -> Option<usize> {
    // Chunk by chunk without leaving early, which the compiler turns into a few instructions for 16 bytes.
    let marks = text.chunks(256).zip(text.get(1..).unwrap_or_default().chunks(256));
    let mut escapes = marks
        .map(|(here, next)| here.iter().zip(next).fold(false, |found, (a, b)| found | ((*a == b'\\') & (*b == b'u'))));
    if !escapes.any(|found| found) {
        return None;
    }
    let mut at = 0;
    while let Some(found) = text.get(at..)?.iter().position(|byte| *byte == b'\\') {
        let start = at + found;
        match unit(text, start) {
            Some(0xd800..=0xdbff) => match unit(text, start + 6) {
                Some(0xdc00..=0xdfff) => at = start + 12,
                _ => return Some(start),
            },
            Some(0xdc00..=0xdfff) => return Some(start),
            Some(_) => at = start + 6,
            None => at = start + 2,
        }
    }
    None
}

/// The code unit of `\uXXXX` at this place.
fn unit(text: &[u8], at: usize) -> Option<u32> {
    let escape = text.get(at..at + 6)?;
    let digits = std::str::from_utf8(escape.strip_prefix(b"\\u")?).ok()?;
    u32::from_str_radix(digits, 16).ok()
}

/// What clients can read where the text is right by the grammar and they still refuse it: U+FFFD for each lone
/// surrogate, a text of its digits for each number that no double holds. `None` where there is neither.
pub(super) fn readable(text: &[u8]) -> Option<Vec<u8>> {
    let whole = without_lone_surrogates(text);
    with_small_numbers(whole.as_deref().unwrap_or(text)).or(whole)
}

fn with_small_numbers(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(byte) = text.get(at) {
        let length = match byte {
            b'"' => string_length(text.get(at..)?),
            b'-' | b'0'..=b'9' => {
                let rest = text.get(at..)?;
                let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
                let number = rest.get(..length)?;
                if std::str::from_utf8(number).ok()?.parse().is_ok_and(f64::is_infinite) {
                    out.extend_from_slice(text.get(kept..at)?);
                    out.push(b'"');
                    out.extend_from_slice(number);
                    out.push(b'"');
                    kept = at + length;
                }
                length
            }
            _ => 1,
        };
        at += length;
    }
    if kept == 0 {
        return None;
    }
    out.extend_from_slice(text.get(kept..)?);
    Some(out)
}

/// Bytes of the string that begins here, quotes included.
fn string_length(text: &[u8]) -> usize {
    let mut escaped = false;
    let end = text.iter().skip(1).position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

/// The text with each lone surrogate replaced by U+FFFD; `None` where there is none.
fn without_lone_surrogates(text: &[u8]) -> Option<Vec<u8>> {
    let mut rest = text;
    let mut repaired = Vec::new();
    while let Some(at) = lone_surrogate(rest) {
        repaired.extend_from_slice(rest.get(..at)?);
        repaired.extend_from_slice(b"\\ufffd");
        rest = rest.get(at + 6..)?;
    }
    if repaired.is_empty() {
        return None;
    }
    repaired.extend_from_slice(rest);
    Some(repaired)
}
