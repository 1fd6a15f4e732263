//! A cursor over one JSON text (RFC 8259) that builds nothing. Every method gives `None` where the text
//! is no JSON; the cursor is not used after that.

use crate::schema::kinds::Kinds;

/// Deepest nesting that is read; the same as everywhere else in this crate.
const DEEPEST: u32 = 127;

pub(in crate::content) struct Reader<'j> {
    text: &'j str,
    bytes: &'j [u8],
    at: usize,
    depth: u32,
}

/// A byte that no JSON text holds outside strings: what is read past the end.
const END: u8 = 0;

impl<'j> Reader<'j> {
    pub fn new(text: &'j str) -> Reader<'j> {
        Reader { text, bytes: text.as_bytes(), at: 0, depth: 0 }
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
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return byte,
            }
        }
    }

    /// Takes the byte if it is the next one.
    #[inline]
    pub fn take(&mut self, byte: u8) -> bool {
        let found = self.next() == byte;
        self.at += usize::from(found);
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
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let empty = self.take(close);
        self.depth -= u32::from(empty);
        Some(!empty)
    }

    /// After an item or member: true if another follows, false if the container ended.
    #[inline]
    pub fn more(&mut self, close: u8) -> Option<bool> {
        let byte = self.next();
        self.at += 1;
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
            let name: Option<String> = serde_json::from_str(self.text.get(start..self.at)?).ok();
            look(&name.unwrap_or_default())
        } else {
            look(self.text.get(start + 1..self.at - 1)?)
        };
        self.colon()?;
        Some(seen)
    }

    /// Takes a member's name if it is this one, given with its quotes and without anything that needs an escape.
    #[inline]
    pub fn take_name(&mut self, quoted: &str) -> bool {
        self.next();
        let Some(rest) = self.bytes.get(self.at..) else { return false };
        let found = rest.get(..quoted.len()).is_some_and(|here| same(here, quoted.as_bytes()));
        self.at += if found { quoted.len() } else { 0 };
        found
    }

    /// Takes the colon between a member's name and its value.
    #[inline]
    pub fn colon(&mut self) -> Option<()> {
        self.take(b':').then_some(())
    }

    /// Reads a value that is no container. A number with a fraction or exponent is told apart from whole
    /// ones only where `wanted` allows one and not the other.
    #[inline]
    pub fn scalar(&mut self, wanted: Kinds) -> Option<Kinds> {
        match self.next() {
            b'"' => self.string().map(|_| Kinds::STRING),
            b'-' | b'0'..=b'9' => self.number(wanted),
            b't' => self.word("true").map(|()| Kinds::BOOLEAN),
            b'f' => self.word("false").map(|()| Kinds::BOOLEAN),
            b'n' => self.word("null").map(|()| Kinds::NULL),
            _ => None,
        }
    }

    /// Reads over a value.
    pub fn skip(&mut self) -> Option<()> {
        match self.next() {
            b'{' => {
                if self.enter(b'}')? {
                    self.member()?;
                    self.skip_rest(b'}')?;
                }
                Some(())
            }
            b'[' => {
                if self.enter(b']')? {
                    self.skip()?;
                    self.skip_rest(b']')?;
                }
                Some(())
            }
            _ => self.scalar(Kinds::NUMBER).map(|_| ()),
        }
    }

    /// Reads over what is left of the container after an item or member.
    pub fn skip_rest(&mut self, close: u8) -> Option<()> {
        while self.more(close)? {
            if close == b'}' { self.member()? } else { self.skip()? }
        }
        Some(())
    }

    fn member(&mut self) -> Option<()> {
        if self.next() != b'"' {
            return None;
        }
        self.string()?;
        if self.take(b':') { self.skip() } else { None }
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let found = self.bytes.get(self.at..)?.starts_with(word.as_bytes());
        self.at += word.len();
        found.then_some(())
    }

    /// Reads a string, quotes included; true if it holds escapes.
    #[inline]
    fn string(&mut self) -> Option<bool> {
        self.at += 1;
        let mut escaped = false;
        loop {
            // Most strings end within the first window: a branch that goes the same way every time costs nothing.
            while let Some(window) = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<16>) {
                let (special, plain) = window_of(window);
                self.at += plain;
                if special {
                    break;
                }
            }
            match self.peek() {
                b'"' => {
                    self.at += 1;
                    return Some(escaped);
                }
                b'\\' => {
                    escaped = true;
                    self.escape()?;
                }
                // Control characters, and the end of the text.
                0x00..=0x1f => return None,
                _ => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        self.at += 2;
        match self.bytes.get(self.at - 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(()),
            b'u' => {
                let digits = self.bytes.get(self.at..self.at + 4)?;
                self.at += 4;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(())
            }
            _ => None,
        }
    }

    #[inline]
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
            let value: f64 = self.text.get(start..self.at)?.parse().ok()?;
            if value.is_infinite() {
                return None;
            }
        }
        if whole {
            return Some(Kinds::INTEGER);
        }
        if wanted.meets(Kinds::INTEGER) == wanted.meets(Kinds::FRACTION) {
            return Some(Kinds::FRACTION);
        }
        self.text.get(start..self.at)?.parse().ok().map(Kinds::of_float)
    }

    #[inline]
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

/// Whether one of 16 bytes ends a plain run in a string, and how many come before it.
#[inline]
fn window_of(window: &[u8; 16]) -> (bool, usize) {
    let both = u128::from_le_bytes(*window);
    let (low, high) = (special_bytes(both as u64), special_bytes((both >> 64) as u64));
    let plain = if low != 0 { low.trailing_zeros() } else { 64 + high.trailing_zeros() };
    (low | high != 0, (plain / 8) as usize)
}

/// Marks (in the top bit of each byte, exact up to the first one from the low end) the bytes that end a plain
/// run in a string: quote, backslash, control character.
#[inline]
fn special_bytes(chunk: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const TOPS: u64 = ONES << 7;
    let quote = chunk ^ (ONES * b'"' as u64);
    let backslash = chunk ^ (ONES * b'\\' as u64);
    let zero = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes;
    let control = chunk.wrapping_sub(ONES * 0x20) & !chunk;
    (zero(quote) | zero(backslash) | control) & TOPS
}
