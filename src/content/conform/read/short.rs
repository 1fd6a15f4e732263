//! Members of objects whose values are short scalars, which most are: read at once, without a look at what is rare.

use super::{Reader, special_bytes};
use crate::content::conform::sink::Sink;
use crate::schema::kinds::Kinds;

/// Most digits of a number.
const DIGITS: usize = 15;

impl<S: Sink> Reader<'_, S> {
    /// Goes over so many bytes, kept for the sink, over a value behind them, and over the comma or brace right behind that;
    /// true where it was the brace. `None`, and nothing is read, where the value is none of the wanted kinds or anything
    /// but a string without escapes, a short number without exponent, `true`, `false` or `null`.
    #[inline(always)]
    pub fn short(&mut self, length: usize, kept: &S::Kept, wanted: Kinds) -> Option<bool> {
        let value = self.bytes.get(self.at + length..)?;
        let count = match *value.first()? {
            b'"' if wanted.meets(Kinds::STRING) => plain_string(value)?,
            b'-' | b'0'..=b'9' => number(value, wanted)?,
            b't' if wanted.meets(Kinds::BOOLEAN) && value.starts_with(b"true") => 4,
            b'f' if wanted.meets(Kinds::BOOLEAN) && value.starts_with(b"false") => 5,
            b'n' if wanted.meets(Kinds::NULL) && value.starts_with(b"null") => 4,
            _ => return None,
        };
        let behind = *value.get(count)?;
        let ended = match behind {
            b',' => false,
            b'}' => true,
            _ => return None,
        };
        self.at += length + count + 1;
        self.depth -= u32::from(ended);
        self.sink.member(kept, value, count, behind);
        Some(ended)
    }
}

/// Length of the string that begins here, with its quotes.
#[inline(always)]
fn plain_string(value: &[u8]) -> Option<usize> {
    let mut length = 1;
    loop {
        let word = u64::from_le_bytes(*value.get(length..)?.first_chunk()?);
        let marks = special_bytes(word);
        if marks == 0 {
            length += 8;
            continue;
        }
        let plain = marks.trailing_zeros() & 0x38;
        return ((word >> plain) as u8 == b'"').then_some(length + plain as usize / 8 + 1);
    }
}

#[inline(always)]
fn number(value: &[u8], wanted: Kinds) -> Option<usize> {
    let digits =
        |from: usize| value.iter().skip(from).take(DIGITS + 1).take_while(|byte| byte.is_ascii_digit()).count();
    let start = usize::from(value.first() == Some(&b'-'));
    let whole = digits(start);
    let padded = whole > 1 && value.get(start) == Some(&b'0');
    if whole == 0 || whole > DIGITS || padded || !wanted.meets(Kinds::INTEGER) {
        return None;
    }
    let end = start + whole;
    match value.get(end)? {
        // Whether it has a fraction matters only where just one of both is wanted.
        b'.' if wanted.meets(Kinds::FRACTION) => {
            let fraction = digits(end + 1);
            (1..=DIGITS).contains(&fraction).then_some(end + 1 + fraction)
        }
        _ => Some(end),
    }
}
