//! JSON string escaping (RFC 8259 §7) of bytes that are UTF-8 already.

use serde_json::Value;
use std::io;

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

/// Bytes that are escaped in one go; each becomes six at most.
const BLOCK: usize = 256;
/// Stores of eight bytes may reach further than what they are for.
type Buffer = [u8; BLOCK * 6 + 8];

fn escaped(bytes: &[u8], out: &mut Vec<u8>) {
    let mut buffer: Buffer = [0; BLOCK * 6 + 8];
    for block in bytes.chunks(BLOCK) {
        let (words, rest) = block.as_chunks::<8>();
        let mut at = 0;
        for word in words {
            at = put_word(u64::from_le_bytes(*word), &mut buffer, at);
        }
        for byte in rest {
            at = put_byte(*byte, &mut buffer, at);
        }
        out.extend_from_slice(buffer.get(..at).unwrap_or_default());
    }
}

/// Writes eight bytes and gives the end of what is written: all of them at once, and after each one that needs an escape
/// the rest again.
#[inline(always)]
fn put_word(mut word: u64, buffer: &mut Buffer, mut at: usize) -> usize {
    let mut marks = marked(word);
    let mut left = 8;
    loop {
        store(word.to_le_bytes(), buffer, at);
        if marks == 0 {
            return at + left;
        }
        let plain = (marks.trailing_zeros() / 8) as usize;
        at = put_byte((word >> (plain * 8)) as u8, buffer, at + plain);
        let gone = plain + 1;
        left -= gone;
        if left == 0 {
            return at;
        }
        word >>= gone * 8;
        marks >>= gone * 8;
    }
}

/// Marks, in the top bit of each byte, what needs an escape: quote, backslash, control character. No carry goes from one
/// byte to the next.
#[inline(always)]
fn marked(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const TOPS: u64 = ONES << 7;
    let low = word & !TOPS;
    let differs = |byte: u8| (low ^ (ONES * u64::from(byte))) + ONES * 0x7f;
    let printable = low + ONES * (0x80 - 0x20);
    !(differs(b'"') & differs(b'\\') & printable) & TOPS & !word
}

#[inline(always)]
fn store<const N: usize>(bytes: [u8; N], buffer: &mut Buffer, at: usize) {
    if let Some(place) = buffer.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *place = bytes;
    }
}

#[inline(always)]
fn put_byte(byte: u8, buffer: &mut Buffer, at: usize) -> usize {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| HEX.get(usize::from(half)).copied().unwrap_or_default();
    match (LETTER.get(usize::from(byte)).copied().unwrap_or(0), byte) {
        (0, 0..0x20) => {
            store([b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 15)], buffer, at);
            at + 6
        }
        (0, _) => {
            store([byte], buffer, at);
            at + 1
        }
        (letter, _) => {
            store([b'\\', letter], buffer, at);
            at + 2
        }
    }
}
