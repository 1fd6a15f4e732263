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

/// The two-character escapes as they are stored; 0 for all other bytes.
const PAIR: [u16; 256] = pairs();

const fn pairs() -> [u16; 256] {
    let mut table = [0; 256];
    let pairs = [(b'"', b'"'), (b'\\', b'\\'), (b'\n', b'n'), (b'\r', b'r'), (b'\t', b't'), (8, b'b'), (12, b'f')];
    let mut at = 0;
    while at < pairs.len() {
        // Runs at compile time only, where there is no iterator.
        #[allow(clippy::indexing_slicing)]
        let (byte, letter) = pairs[at];
        #[allow(clippy::indexing_slicing)]
        {
            table[byte as usize] = u16::from_le_bytes([b'\\', letter]);
        }
        at += 1;
    }
    table
}

/// Bytes that are escaped in one go; each becomes six at most.
const BLOCK: usize = 256;
/// More than a block becomes, and a power of two: a place below it needs no further check.
const ROOM: usize = 2048;
/// Stores of eight bytes may reach further than what they are for.
type Buffer = [u8; ROOM + 8];

/// Appends UTF-8 bytes as what stands between the quotes of a JSON string.
pub(in crate::content) fn escaped(bytes: &[u8], out: &mut Vec<u8>) {
    let mut buffer: Buffer = [0; ROOM + 8];
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
    store(word.to_le_bytes(), buffer, at);
    while marks != 0 {
        let plain = marks.trailing_zeros() & 0x38;
        (word, marks) = (word >> plain, marks >> plain);
        let skipped = (plain / 8) as usize;
        at = put_byte(word as u8, buffer, at + skipped);
        left -= skipped + 1;
        (word, marks) = (word >> 8, marks >> 8);
        store(word.to_le_bytes(), buffer, at);
    }
    at + left
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
    !(differs(b'"') & differs(b'\\') & printable | word) & TOPS
}

#[inline(always)]
fn store<const N: usize>(bytes: [u8; N], buffer: &mut Buffer, at: usize) {
    if let Some(place) = buffer.get_mut(at % ROOM..).and_then(<[u8]>::first_chunk_mut) {
        *place = bytes;
    }
}

#[inline(always)]
fn put_byte(byte: u8, buffer: &mut Buffer, at: usize) -> usize {
    let pair = PAIR.get(usize::from(byte)).copied().unwrap_or(0);
    if pair == 0 {
        return put_other(byte, buffer, at);
    }
    store(pair.to_le_bytes(), buffer, at);
    at + 2
}

#[inline(never)]
fn put_other(byte: u8, buffer: &mut Buffer, at: usize) -> usize {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| HEX.get(usize::from(half)).copied().unwrap_or_default();
    if byte < 0x20 {
        store([b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 15)], buffer, at);
        return at + 6;
    }
    store([byte], buffer, at);
    at + 1
}
