//! JSON string escaping (RFC 8259 §7) of bytes that are UTF-8 already.

use serde_json::Value;
use std::io;

/// How many bytes are looked at together: one pass finds out whether any needs care, and a chunk
/// with only quotes and backslashes is written without a branch per byte.
const CHUNK: usize = 32;

/// Appends a text as a JSON string, quotes included.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    quoted(text.as_bytes(), out);
}

/// Appends UTF-8 bytes as a JSON string, quotes included.
pub(super) fn quoted(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    escaped(bytes, out);
    out.push(b'"');
}

/// Appends the serialization of a value as a JSON string, quotes included.
pub(super) fn quoted_value(value: &Value, out: &mut Vec<u8>) {
    out.push(b'"');
    let start = out.len();
    if serde_json::to_writer(Escaper(out), value).is_err() {
        out.truncate(start);
        out.extend_from_slice(b"null");
    }
    out.push(b'"');
}

struct Escaper<'a>(&'a mut Vec<u8>);

impl io::Write for Escaper<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        escaped(bytes, self.0);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The letter behind the backslash of the two-character escapes; 0 for all other bytes.
const LETTER: [u8; 256] = letters();

const fn letters() -> [u8; 256] {
    let mut table = [0; 256];
    let pairs = [(b'"', b'"'), (b'\\', b'\\'), (b'\n', b'n'), (b'\r', b'r'), (b'\t', b't'), (8, b'b'), (12, b'f')];
    let mut at = 0;
    while at < pairs.len() {
        // Runs at compile time only, where there is no iterator.
        #[allow(clippy::indexing_slicing)]
        let (byte, letter) = pairs[at];
        #[allow(clippy::indexing_slicing)]
        {
            table[byte as usize] = letter;
        }
        at += 1;
    }
    table
}

fn letter(byte: u8) -> u8 {
    LETTER.get(usize::from(byte)).copied().unwrap_or(0)
}

fn escaped(bytes: &[u8], out: &mut Vec<u8>) {
    let (chunks, rest) = bytes.as_chunks::<CHUNK>();
    for chunk in chunks {
        let mut control = false;
        let mut marked = false;
        for byte in chunk {
            let line = matches!(*byte, b'\n' | b'\r' | b'\t');
            control |= (*byte < 0x20) & !line;
            marked |= line | matches!(*byte, b'"' | b'\\');
        }
        if control {
            one_by_one(chunk, out);
        } else if marked {
            two_by_two(chunk, out);
        } else {
            out.extend_from_slice(chunk);
        }
    }
    one_by_one(rest, out);
}

/// What each byte is written as, in one store of two bytes: itself and one byte that the next one covers, or
/// its two-character escape. And how many of the two count.
static PAIR: [([u8; 2], u8); 256] = pairs();

const fn pairs() -> [([u8; 2], u8); 256] {
    let mut table = [([0; 2], 1); 256];
    let mut at = 0;
    while at < 256 {
        // Runs at compile time only, where there is no iterator.
        #[allow(clippy::indexing_slicing, clippy::cast_possible_truncation)]
        {
            table[at] = if LETTER[at] == 0 { ([at as u8, 0], 1) } else { ([b'\\', LETTER[at]], 2) };
        }
        at += 1;
    }
    table
}

/// A chunk that needs two-character escapes only. No branch depends on the data.
fn two_by_two(chunk: &[u8; CHUNK], out: &mut Vec<u8>) {
    // The last byte's store may reach one byte further than it counts.
    let mut buffer = [0u8; 2 * CHUNK];
    let mut at = 0usize;
    for byte in chunk {
        let (pair, length) = PAIR.get(usize::from(*byte)).copied().unwrap_or_default();
        if let Some(slot) = buffer.get_mut(at..at + 2) {
            slot.copy_from_slice(&pair);
        }
        at += usize::from(length);
    }
    let length = out.len() + at;
    out.extend_from_slice(&buffer);
    out.truncate(length);
}

fn one_by_one(bytes: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        match (letter(*byte), byte) {
            (0, 0..0x20) => {
                out.extend_from_slice(b"\\u00");
                out.extend([byte >> 4, byte & 15].iter().filter_map(|digit| HEX.get(usize::from(*digit))));
            }
            (0, _) => out.push(*byte),
            (letter, _) => out.extend_from_slice(&[b'\\', letter]),
        }
    }
}
