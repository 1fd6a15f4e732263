//! A cursor over one JSON text (RFC 8259) that builds nothing. Every method gives `None` where the text
//! is no JSON; the cursor is not used after that.

use super::sink::{Blind, Sink};
use crate::schema::kinds::Kinds;

/// Deepest nesting that is read; the same as everywhere else in this crate.
const DEEPEST: u32 = 127;

pub(in crate::content) struct Reader<'j, S = Blind> {
    bytes: &'j [u8],
    at: usize,
    depth: u32,
    deepest: u32,
    lone: bool,
    sink: S,
}

mod short;

/// A byte that no JSON text holds outside strings: what is read past the end.
const END: u8 = 0;

impl<'j> Reader<'j> {
    /// Bytes that are not UTF-8 are read too: whoever wants that looks.
    pub fn new(text: &'j [u8]) -> Reader<'j> {
        Reader::with(text, Blind)
    }

    /// The same for another text.
    pub fn anew<'o>(&self, text: &'o [u8]) -> Reader<'o> {
        Reader::new(text).no_deeper(self.deepest)
    }

    /// Reads nothing that is nested deeper than this.
    pub fn no_deeper(self, deepest: u32) -> Reader<'j> {
        Reader { deepest: deepest.min(DEEPEST), ..self }
    }

    /// Goes back to where a value begins, behind which the cursor stands, or to where it ends.
    pub fn go_to(&mut self, at: usize) {
        self.at = at;
    }
}

impl<'j, S: Sink> Reader<'j, S> {
    /// Gives all that is read to a sink.
    pub fn with(text: &'j [u8], sink: S) -> Self {
        Reader { bytes: text, at: 0, depth: 0, deepest: DEEPEST, lone: false, sink }
    }

    /// The sink, with all that was read.
    pub fn into_sink(self) -> S {
        self.sink
    }

    #[inline]
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(END)
    }

    /// The next byte that is no white space; the cursor stays on it.
    #[inline]
    pub fn next(&mut self) -> u8 {
        loop {
            match self.peek() {
                byte @ (b' ' | b'\n' | b'\r' | b'\t') => {
                    self.at += 1;
                    self.sink.white(byte);
                }
                byte => return byte,
            }
        }
    }

    /// The next 16 bytes; `None` where there are fewer.
    #[inline]
    pub fn ahead(&self) -> Option<u128> {
        self.bytes.get(self.at..)?.first_chunk().map(|chunk| u128::from_le_bytes(*chunk))
    }

    /// True if so many bytes from here on are those that stand at `from`.
    pub fn repeats(&self, from: usize, length: usize) -> bool {
        let here = self.bytes.get(self.at..).and_then(|rest| rest.get(..length));
        here.is_some() && here == self.bytes.get(from..from + length)
    }

    /// Goes on by so many bytes, which were read before in another place and kept for the sink.
    #[inline]
    pub fn pass(&mut self, length: usize, kept: &S::Kept) {
        self.at += length;
        self.sink.again(kept);
    }

    /// What was read from `start` on.
    pub fn from(&self, start: usize) -> &'j [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    /// True if an escape stood for half of a surrogate pair without the other one: legal in the grammar, but no text.
    pub fn saw_lone_surrogate(&self) -> bool {
        self.lone
    }

    /// Takes the byte if it is the next one.
    #[inline]
    pub fn take(&mut self, byte: u8) -> bool {
        let found = self.next() == byte;
        if found {
            self.at += 1;
            self.sink.byte(byte);
        }
        found
    }

    /// Bytes read so far.
    pub fn at(&self) -> usize {
        self.at
    }

    /// True if nothing but white space is left.
    pub fn is_at_end(&mut self) -> bool {
        self.next() == END && self.at >= self.bytes.len()
    }

    /// Goes into an array or object: takes its first byte; the value says whether it has any content.
    #[inline]
    pub fn enter(&mut self, close: u8) -> Option<bool> {
        self.at += 1;
        self.sink.byte(if close == b'}' { b'{' } else { b'[' });
        self.depth += 1;
        if self.depth > self.deepest {
            return None;
        }
        let empty = self.take(close);
        self.depth -= u32::from(empty);
        Some(!empty)
    }

    /// After an item or member: true if another follows, false if the container ended.
    #[inline]
    pub fn more(&mut self, close: u8) -> Option<bool> {
        if self.peek() == b',' {
            self.at += 1;
            self.sink.byte(b',');
            return Some(true);
        }
        let byte = self.next();
        self.at += 1;
        self.sink.byte(byte);
        if byte == b',' {
            Some(true)
        } else if byte == close {
            self.depth -= 1;
            Some(false)
        } else {
            None
        }
    }

    /// Reads a member's name and its colon.
    #[inline]
    pub fn name<T>(&mut self, look: impl FnOnce(&str) -> T) -> Option<T> {
        if self.next() != b'"' {
            return None;
        }
        let start = self.at;
        let escaped = self.string()?;
        let seen = if escaped {
            // Two halves of a surrogate pair that are not a pair spell no name.
            let name: Option<String> = serde_json::from_slice(self.from(start)).ok();
            look(&name.unwrap_or_default())
        } else {
            look(std::str::from_utf8(self.bytes.get(start + 1..self.at - 1)?).ok()?)
        };
        self.colon()?;
        Some(seen)
    }

    /// Reads over a member's name and its colon.
    pub fn any_name(&mut self) -> Option<()> {
        if self.next() != b'"' {
            return None;
        }
        self.string()?;
        self.colon()
    }

    /// Takes a member's name if it is this one, given with its quotes and without anything that needs an escape.
    #[inline]
    pub fn take_name(&mut self, quoted: &str) -> bool {
        self.next();
        let Some(rest) = self.bytes.get(self.at..) else { return false };
        let found = rest.get(..quoted.len()).is_some_and(|here| same(here, quoted.as_bytes()));
        if found {
            self.at += quoted.len();
            self.sink.string(rest.get(1..).unwrap_or_default(), quoted.len() - 2);
        }
        found
    }

    /// Takes the colon between a member's name and its value.
    #[inline]
    pub fn colon(&mut self) -> Option<()> {
        self.take(b':').then_some(())
    }

    /// Reads a value that is no container and begins with this byte, the next one. A number with a fraction or exponent is
    /// told apart from whole ones only where `wanted` allows one and not the other.
    #[inline]
    pub fn scalar(&mut self, first: u8, wanted: Kinds) -> Option<Kinds> {
        if first == b'"' {
            return self.string().map(|_| Kinds::STRING);
        }
        self.bare(first, wanted)
    }

    #[inline(never)]
    fn bare(&mut self, first: u8, wanted: Kinds) -> Option<Kinds> {
        match first {
            b'-' | b'0'..=b'9' => self.number(wanted),
            b't' => self.word("true").map(|()| Kinds::BOOLEAN),
            b'f' => self.word("false").map(|()| Kinds::BOOLEAN),
            b'n' => self.word("null").map(|()| Kinds::NULL),
            _ => None,
        }
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let rest = self.bytes.get(self.at..)?;
        let found = rest.starts_with(word.as_bytes());
        self.at += word.len();
        self.sink.first(rest, word.len());
        found.then_some(())
    }

    /// Reads a string, quotes included; true if it holds escapes.
    #[inline]
    fn string(&mut self) -> Option<bool> {
        let start = self.at + 1;
        let rest = self.bytes.get(start..)?;
        let mut length = 0;
        while let Some(window) = rest.get(length..).and_then(<[u8]>::first_chunk::<8>) {
            let word = u64::from_le_bytes(*window);
            let marks = special_bytes(word);
            if marks == 0 {
                length += 8;
                continue;
            }
            let plain = marks.trailing_zeros() & 0x38;
            length += plain as usize / 8;
            if (word >> plain) as u8 == b'"' {
                self.at = start + length + 1;
                self.sink.string(rest, length);
                return Some(false);
            }
            break;
        }
        self.long_string(start, length)
    }

    /// Reads on in a string in which so much is plain.
    #[inline(never)]
    fn long_string(&mut self, start: usize, length: usize) -> Option<bool> {
        self.sink.quote();
        self.sink.first(self.bytes.get(start..)?, length);
        self.at = start + length;
        let mut escaped = false;
        while let Some(rest) = self.bytes.get(self.at..)
            && let Some(window) = rest.first_chunk::<8>()
        {
            let word = u64::from_le_bytes(*window);
            let marks = special_bytes(word);
            let plain = if marks == 0 { 8 } else { marks.trailing_zeros() as usize / 8 };
            self.at += plain;
            self.sink.first(rest, plain);
            match rest.get(plain) {
                _ if marks == 0 => {}
                Some(b'"') => {
                    self.at += 1;
                    self.sink.quote();
                    return Some(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                _ => return None,
            }
        }
        self.last_string(escaped)
    }

    /// Reads on in a string near the end of the text.
    #[inline(never)]
    fn last_string(&mut self, escaped: bool) -> Option<bool> {
        let mut escaped = escaped;
        loop {
            match self.peek() {
                b'"' => {
                    self.at += 1;
                    self.sink.quote();
                    return Some(escaped);
                }
                b'\\' => {
                    escaped = true;
                    self.escape()?;
                }
                // Control characters, and the end of the text.
                0x00..=0x1f => return None,
                byte => {
                    self.at += 1;
                    self.sink.byte(byte);
                }
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        self.at += 2;
        let letter = *self.bytes.get(self.at - 1)?;
        self.sink.escape(letter);
        match letter {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(()),
            b'u' => self.code_unit(),
            _ => None,
        }
    }

    #[inline(never)]
    fn code_unit(&mut self) -> Option<()> {
        let rest = self.bytes.get(self.at..)?;
        let first = unit(rest.get(..4)?)?;
        self.at += 4;
        self.sink.first(rest, 4);
        match first {
            0xd800..=0xdbff => {
                let next = self.bytes.get(self.at..self.at + 6).and_then(|next| unit(next.strip_prefix(b"\\u")?));
                match next {
                    Some(0xdc00..=0xdfff) => {
                        self.sink.escape(b'u');
                        self.sink.first(self.bytes.get(self.at + 2..)?, 4);
                        self.at += 6;
                    }
                    _ => self.lone = true,
                }
            }
            0xdc00..=0xdfff => self.lone = true,
            _ => {}
        }
        Some(())
    }

    fn number(&mut self, wanted: Kinds) -> Option<Kinds> {
        let start = self.at;
        self.at += usize::from(self.peek() == b'-');
        match self.peek() {
            b'0' => self.at += 1,
            b'1'..=b'9' => self.digits()?,
            _ => return None,
        }
        let mut whole = true;
        let mut exponent = 0;
        if self.peek() == b'.' {
            whole = false;
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            whole = false;
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), b'+' | b'-'));
            exponent = self.at;
            self.digits()?;
            exponent = self.at - exponent;
        }
        // Only these can be past the largest double (about 1.8e308).
        if exponent > 2 || self.at - start > 200 {
            let value: f64 = self.parsed(start)?;
            if value.is_infinite() {
                return None;
            }
        }
        self.sink.first(self.bytes.get(start..)?, self.at - start);
        if whole {
            return Some(Kinds::INTEGER);
        }
        if wanted.meets(Kinds::INTEGER) == wanted.meets(Kinds::FRACTION) {
            return Some(Kinds::FRACTION);
        }
        self.parsed(start).map(Kinds::of_float)
    }

    fn parsed(&self, start: usize) -> Option<f64> {
        std::str::from_utf8(self.from(start)).ok()?.parse().ok()
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }
}

/// Whether two texts of one length are equal: the usual lengths without a call, as two halves that may overlap.
#[inline]
fn same(here: &[u8], wanted: &[u8]) -> bool {
    #[inline]
    fn halves<const N: usize>(here: &[u8], wanted: &[u8]) -> bool {
        here.first_chunk::<N>() == wanted.first_chunk::<N>() && here.last_chunk::<N>() == wanted.last_chunk::<N>()
    }
    match wanted.len() {
        4..=8 => halves::<4>(here, wanted),
        9..=16 => halves::<8>(here, wanted),
        _ => here == wanted,
    }
}

/// Marks (in the top bit of each byte, exact up to the first one from the low end) the bytes that end a plain
/// run in a string: quote, backslash, control character.
#[inline]
fn special_bytes(chunk: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const TOPS: u64 = ONES << 7;
    // Of a byte below 0x80 each difference has its top bit only where the byte is meant.
    let quote = (chunk ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
    let backslash = (chunk ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    let control = chunk.wrapping_sub(ONES * 0x20);
    (quote | backslash | control) & !chunk & TOPS
}

/// The code unit of four hexadecimal digits.
fn unit(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
}
