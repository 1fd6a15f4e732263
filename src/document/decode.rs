//! From bytes to text: UTF-8, or UTF-16 with a byte order mark. Nothing else is guessed.

use crate::diagnostic::{Diagnostic, Place, Source};
use std::sync::Arc;

/// The text of a file. A UTF-8 byte order mark is dropped, UTF-16 (with its mark, either byte order,
/// or without one where every other byte of the start is zero) is decoded. Anything else is refused
/// with the place of the first bad byte.
///
/// `name` is what the author calls the file.
pub fn decode(name: &str, bytes: Vec<u8>) -> Result<Arc<Source>, Diagnostic> {
    match bytes.as_slice() {
        [0xef, 0xbb, 0xbf, rest @ ..] => utf8(name, rest.to_vec()),
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => {
            Err(Diagnostic::error("encoding", format!("`{name}` is UTF-32 text")).fix("save the file as UTF-8"))
        }
        [0xff, 0xfe, rest @ ..] => utf16(name, rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(name, rest, u16::from_be_bytes),
        [a, 0, b, 0, ..] if *a != 0 && *b != 0 => utf16(name, &bytes, u16::from_le_bytes),
        [0, a, 0, b, ..] if *a != 0 && *b != 0 => utf16(name, &bytes, u16::from_be_bytes),
        _ => utf8(name, bytes),
    }
}

fn utf8(name: &str, bytes: Vec<u8>) -> Result<Arc<Source>, Diagnostic> {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return Ok(Source::new(name, text)),
        Err(error) => error,
    };
    let offset = error.utf8_error().valid_up_to();
    let bytes = error.as_bytes();
    let byte = bytes.get(offset).copied().unwrap_or_default();
    let binary = bytes.iter().take(4096).any(|b| *b == 0);
    // Shown with the bad bytes replaced; what stands before them is unchanged, so the offset holds.
    let source = Source::new(name, String::from_utf8_lossy(bytes));
    let end = offset + char::REPLACEMENT_CHARACTER.len_utf8();
    let place = Place::new(source, offset, end, "");
    let message = format!("this is not UTF-8 text: byte 0x{byte:02x} at offset {offset}");
    let fix = if binary {
        "this looks like a binary or compressed file; give the document itself".to_owned()
    } else {
        "save the file as UTF-8 (it may be ISO-8859-1 or Windows-1252 now)".to_owned()
    };
    Err(Diagnostic::error("encoding", message).at(place).fix(fix))
}

fn utf16(name: &str, bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<Arc<Source>, Diagnostic> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let text = char::decode_utf16(pairs.iter().map(|pair| unit(*pair))).collect::<Result<String, _>>();
    match text {
        Ok(text) if rest.is_empty() => Ok(Source::new(name, text)),
        _ => {
            Err(Diagnostic::error("encoding", format!("`{name}` is damaged UTF-16 text")).fix("save the file as UTF-8"))
        }
    }
}
