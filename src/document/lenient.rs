//! JSON as people write it: comments and trailing commas, blanked out so that every other byte
//! keeps its place.

/// The first thing that strict JSON forbids.
pub(super) struct First {
    pub(super) what: &'static str,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The text with comments and trailing commas replaced by blanks, and the first of them; `None`
/// where it has neither.
pub(super) fn blank(text: &str) -> Option<(String, First)> {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut first: Option<First> = None;
    let mut comma: Option<usize> = None;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        match byte {
            b'"' => {
                at = string_end(bytes, at);
                comma = None;
                continue;
            }
            b'/' if matches!(bytes.get(at + 1), Some(b'/' | b'*')) => {
                at = comment_end(bytes, at);
                wipe(&mut out, start, at);
                first.get_or_insert(First { what: "a comment", start, end: at });
                continue;
            }
            b',' => comma = Some(at),
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    wipe(&mut out, comma, comma + 1);
                    first.get_or_insert(First { what: "a trailing comma", start: comma, end: comma + 1 });
                }
            }
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => comma = None,
        }
        at += 1;
    }
    let first = first?;
    String::from_utf8(out).ok().map(|text| (text, first))
}

/// One past the closing quote of the string that opens at `at`, or the end.
pub(super) fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// One past the comment that opens at `at`, or the end; a line comment's line end stays.
pub(super) fn comment_end(bytes: &[u8], at: usize) -> usize {
    let block = bytes.get(at + 1) == Some(&b'*');
    let mut at = at + 2;
    while let Some(&byte) = bytes.get(at) {
        if block && byte == b'*' && bytes.get(at + 1) == Some(&b'/') {
            return at + 2;
        }
        if !block && matches!(byte, b'\n' | b'\r') {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

fn wipe(out: &mut [u8], start: usize, end: usize) {
    for byte in out.iter_mut().take(end).skip(start) {
        // Line ends stay, so that lines keep their numbers.
        if !matches!(*byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}
