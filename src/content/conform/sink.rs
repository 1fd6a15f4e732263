//! What becomes of the bytes of a JSON text while it is read: nothing, or a copy that can stand in a JSON string.
//!
//! To look for what needs an escape costs as much as to read the text. Whoever reads it knows: quotes around names and
//! strings, escapes within them, line breaks between values, and nothing else.

use crate::content::wire::escape::escaped;

/// Takes what a [`super::Reader`] passes over, in its order.
pub(in crate::content) trait Sink {
    /// What is kept of a text that comes again.
    type Kept;

    /// A byte that needs no escape.
    fn byte(&mut self, byte: u8);
    /// White space.
    fn white(&mut self, byte: u8);
    /// The quote at the beginning or end of a string.
    fn quote(&mut self);
    /// So many of the first bytes of these, which need no escape.
    fn first(&mut self, bytes: &[u8], count: usize);
    /// A string with its quotes: so many of the first bytes of these, which need no escape.
    fn string(&mut self, bytes: &[u8], count: usize);
    /// A member of an object: its name and what is around it, a value of so many bytes in which nothing but its quotes needs
    /// an escape, and the byte behind it.
    fn member(&mut self, kept: &Self::Kept, value: &[u8], count: usize, behind: u8);
    /// A backslash and the letter behind it.
    fn escape(&mut self, letter: u8);
    /// Keeps bytes that are passed over.
    fn keep(bytes: &[u8]) -> Self::Kept;
    /// Bytes that are equal to those that were kept.
    fn again(&mut self, kept: &Self::Kept);
}

/// Nothing comes of them.
#[derive(Debug, Default)]
pub(in crate::content) struct Blind;

impl Sink for Blind {
    type Kept = ();

    #[inline(always)]
    fn byte(&mut self, _: u8) {}
    #[inline(always)]
    fn white(&mut self, _: u8) {}
    #[inline(always)]
    fn quote(&mut self) {}
    #[inline(always)]
    fn first(&mut self, _: &[u8], _: usize) {}
    #[inline(always)]
    fn string(&mut self, _: &[u8], _: usize) {}
    #[inline(always)]
    fn member(&mut self, (): &(), _: &[u8], _: usize, _: u8) {}
    #[inline(always)]
    fn escape(&mut self, _: u8) {}
    #[inline(always)]
    fn keep(_: &[u8]) {}
    #[inline(always)]
    fn again(&mut self, (): &()) {}
}

/// They are escaped.
#[derive(Debug)]
pub(in crate::content) struct Escaping {
    out: Vec<u8>,
    /// What is written next, before it goes to `out`.
    desk: [u8; DESK],
    at: usize,
}

/// Most that is written in one go, whatever its length: to write too much costs less than to write a length that varies.
const CHUNK: usize = 32;
/// Two chunks, two escaped quotes, and a byte; what [`Escaping::put`] and [`Escaping::member`] may reach over.
const REACH: usize = 2 * CHUNK + 5;
const DESK: usize = 1024 + REACH;
const QUOTE: [u8; 2] = *b"\\\"";

impl Escaping {
    /// For a text of so many bytes.
    pub fn new(length: usize) -> Escaping {
        Escaping { out: Vec::with_capacity(length + length / 4 + 2 * REACH), desk: [0; DESK], at: 0 }
    }

    /// What the text is between the quotes of a JSON string (RFC 8259 §7), if all of it was read.
    pub fn into_bytes(mut self) -> Vec<u8> {
        self.clear();
        self.out
    }

    /// The place for what is written next.
    #[inline(always)]
    fn room(&mut self) -> Option<&mut [u8; REACH]> {
        if self.at > DESK - REACH {
            self.clear();
        }
        self.desk.get_mut(self.at..)?.first_chunk_mut()
    }

    /// Writes so many of the first ones of at most [`CHUNK`] bytes.
    #[inline(always)]
    fn put<const N: usize>(&mut self, bytes: [u8; N], count: usize) {
        if let Some(place) = self.room().and_then(|room| room.first_chunk_mut()) {
            *place = bytes;
            self.at += count;
        }
    }

    #[inline(never)]
    fn clear(&mut self) {
        self.out.extend_from_slice(self.desk.get(..self.at).unwrap_or_default());
        self.at = 0;
    }

    #[inline(never)]
    fn long_member(&mut self, kept: &Kept, inner: &[u8], length: usize, quoted: bool, behind: u8) {
        self.again(kept);
        if quoted {
            self.string(inner, length);
        } else {
            self.first(inner, length);
        }
        self.byte(behind);
    }

    #[inline(never)]
    fn all(&mut self, bytes: &[u8]) {
        self.clear();
        self.out.extend_from_slice(bytes);
    }
}

/// Writes bytes at a place, which is less than [`REACH`] takes.
#[inline(always)]
fn put<const N: usize>(room: &mut [u8; REACH], at: usize, bytes: [u8; N]) {
    if let Some(place) = room.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *place = bytes;
    }
}

/// An escaped text.
pub(in crate::content) struct Kept {
    short: [u8; CHUNK],
    length: usize,
    /// All of it, where it is longer.
    long: Box<[u8]>,
}

impl Sink for Escaping {
    type Kept = Kept;

    #[inline(always)]
    fn byte(&mut self, byte: u8) {
        self.put([byte], 1);
    }

    #[inline(always)]
    fn white(&mut self, byte: u8) {
        let letter = match byte {
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            byte => return self.byte(byte),
        };
        self.put([b'\\', letter], 2);
    }

    #[inline(always)]
    fn quote(&mut self) {
        self.put(QUOTE, 2);
    }

    #[inline(always)]
    fn first(&mut self, bytes: &[u8], count: usize) {
        match bytes.first_chunk::<CHUNK>() {
            Some(chunk) if count <= CHUNK => self.put(*chunk, count),
            _ => self.all(bytes.get(..count).unwrap_or_default()),
        }
    }

    #[inline(always)]
    fn string(&mut self, bytes: &[u8], count: usize) {
        self.quote();
        self.first(bytes, count);
        self.quote();
    }

    #[inline(always)]
    fn member(&mut self, kept: &Kept, value: &[u8], count: usize, behind: u8) {
        let quoted = value.first() == Some(&b'"');
        let Some(inner) = (if quoted { value.get(1..) } else { Some(value) }) else { return };
        let length = if quoted { count - 2 } else { count };
        let Some(chunk) = inner.first_chunk::<CHUNK>().filter(|_| length <= CHUNK && kept.length <= CHUNK) else {
            return self.long_member(kept, inner, length, quoted, behind);
        };
        let mark = usize::from(quoted) * 2;
        let Some(room) = self.room() else { return };
        put(room, 0, kept.short);
        put(room, kept.length, QUOTE);
        put(room, kept.length + mark, *chunk);
        put(room, kept.length + mark + length, QUOTE);
        put(room, kept.length + 2 * mark + length, [behind]);
        self.at += kept.length + 2 * mark + length + 1;
    }

    #[inline]
    fn escape(&mut self, letter: u8) {
        let doubled = matches!(letter, b'"' | b'\\');
        let bytes = if doubled { [b'\\', b'\\', b'\\', letter] } else { [b'\\', b'\\', letter, 0] };
        self.put(bytes, 3 + usize::from(doubled));
    }

    fn keep(bytes: &[u8]) -> Kept {
        let mut long = Vec::with_capacity(2 * bytes.len());
        escaped(bytes, &mut long);
        let (mut short, length) = ([0; CHUNK], long.len());
        for (place, byte) in short.iter_mut().zip(&long) {
            *place = *byte;
        }
        Kept { short, length, long: if length > CHUNK { long.into() } else { Box::default() } }
    }

    #[inline(always)]
    fn again(&mut self, kept: &Kept) {
        if kept.length <= CHUNK { self.put(kept.short, kept.length) } else { self.all(&kept.long) }
    }
}
