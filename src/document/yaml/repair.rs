//! Lines of a list, map or quoted text in brackets or quotes that are indented too little.
//!
//! YAML wants them indented more than the key they belong to (YAML 1.2.2, sections 7.3.1 and 7.4), and
//! a closing bracket straight below its key is the most frequent mistake in hand-written documents;
//! the common readers let it pass. Only when the scanner has refused a text is it brought into a form
//! that means the same and keeps every other byte in its place: such lines are joined to the one before.

/// The repaired text and where the first repair is; `None` where there is nothing to repair.
pub(in crate::document) fn repair(text: &str) -> Option<(String, usize)> {
    let mut repair = Repair { bytes: text.as_bytes(), out: text.as_bytes().to_vec(), first: None };
    repair.run()?;
    let first = repair.first?;
    String::from_utf8(repair.out).ok().map(|text| (text, first))
}

struct Repair<'t> {
    bytes: &'t [u8],
    out: Vec<u8>,
    first: Option<usize>,
}

impl Repair<'_> {
    /// `None` where the text ends inside brackets or quotes.
    fn run(&mut self) -> Option<()> {
        let mut line = 0;
        // Column of the key or dash whose value may start on a later line; the root has none.
        let mut pending: Option<usize> = None;
        while line < self.bytes.len() {
            let mut at = self.blanks(line);
            let mut owner = None;
            while self.byte(at) == Some(b'-') && self.ends_token(at + 1) {
                owner = Some(at - line);
                at = self.blanks(at + 1);
            }
            if matches!(self.byte(at), Some(b'#' | b'\n' | b'\r') | None) {
                pending = owner.or(pending);
                line = self.next_line(at);
                continue;
            }
            let key = self.after_key(at)?;
            if key.is_some() {
                owner = Some(at - line);
            }
            let owner = owner.or(pending.take());
            pending = None;
            let value = self.after_properties(key.unwrap_or(at));
            line = match self.byte(value) {
                Some(b'[' | b'{') => self.flow(value, owner).map(|end| self.next_line(end))?,
                Some(b'"' | b'\'') => self.quoted(value, owner).map(|end| self.next_line(end))?,
                Some(b'#' | b'\n' | b'\r') | None => {
                    pending = owner;
                    self.next_line(value)
                }
                // Plain or block text: what is indented more belongs to it.
                Some(_) => self.skip_deeper(self.next_line(value), owner),
            };
        }
        Some(())
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn blanks(&self, mut at: usize) -> usize {
        while matches!(self.byte(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        at
    }

    fn next_line(&self, at: usize) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        rest.iter().position(|b| *b == b'\n').map_or(self.bytes.len(), |n| at + n + 1)
    }

    /// The start of the first line from `at` on that is not indented more than `owner`.
    fn skip_deeper(&self, mut at: usize, owner: Option<usize>) -> usize {
        let Some(owner) = owner else { return at };
        while at < self.bytes.len() {
            let text = self.blanks(at);
            let empty = matches!(self.byte(text), Some(b'\n' | b'\r') | None);
            if !empty && text - at <= owner {
                return at;
            }
            at = self.next_line(at);
        }
        at
    }

    /// Where the value starts, if a key stands at `at`. The outer `None`: the text ends in quotes.
    fn after_key(&mut self, at: usize) -> Option<Option<usize>> {
        let mut end = at;
        if matches!(self.byte(at), Some(b'"' | b'\'')) {
            end = self.quote_end(at)?;
            end = self.blanks(end);
            let key = self.byte(end) == Some(b':') && self.ends_token(end + 1);
            return Some(key.then(|| self.blanks(end + 1)));
        }
        if matches!(self.byte(at), Some(b'[' | b'{')) {
            return Some(None);
        }
        loop {
            match self.byte(end) {
                None | Some(b'\n' | b'\r') => return Some(None),
                Some(b'#') if end > at && matches!(self.byte(end - 1), Some(b' ' | b'\t')) => return Some(None),
                Some(b':') if self.ends_token(end + 1) => return Some(Some(self.blanks(end + 1))),
                Some(_) => end += 1,
            }
        }
    }

    fn ends_token(&self, at: usize) -> bool {
        matches!(self.byte(at), Some(b' ' | b'\t' | b'\n' | b'\r') | None)
    }

    /// Past an anchor and a tag.
    fn after_properties(&self, mut at: usize) -> usize {
        while matches!(self.byte(at), Some(b'&' | b'!')) {
            while !self.ends_token(at) {
                at += 1;
            }
            at = self.blanks(at);
        }
        at
    }

    /// Goes through a flow collection and joins lines; returns one past its end.
    fn flow(&mut self, start: usize, owner: Option<usize>) -> Option<usize> {
        let mut depth = 0_usize;
        let mut at = start;
        let mut token_start = true;
        // Where a comment began that the next line end closes.
        let mut comment: Option<usize> = None;
        loop {
            let byte = self.byte(at)?;
            match byte {
                b'\n' | b'\r' => {
                    let next = self.next_text(at);
                    if self.is_short(next, owner) {
                        self.blank(comment.unwrap_or(at), next);
                    }
                    comment = None;
                    at = next;
                    continue;
                }
                _ if comment.is_some() => {}
                b'#' if matches!(self.byte(at.saturating_sub(1)), Some(b' ' | b'\t' | b'\n' | b'\r')) => {
                    comment = Some(at)
                }
                b'"' | b'\'' if token_start => {
                    at = self.quoted(at, owner)?;
                    token_start = false;
                    continue;
                }
                b'[' | b'{' => {
                    depth += 1;
                    token_start = true;
                }
                b']' | b'}' => {
                    depth = depth.saturating_sub(1);
                    token_start = false;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                b',' => token_start = true,
                b':' if self.ends_token(at + 1) || self.byte(at + 1).is_some_and(|b| b"\"'[{".contains(&b)) => {
                    token_start = true
                }
                b'&' | b'!' if token_start => {
                    at = self.after_properties(at);
                    continue;
                }
                b' ' | b'\t' => {}
                _ => token_start = false,
            }
            at += 1;
        }
    }

    /// The first byte after line ends and blanks.
    fn next_text(&self, mut at: usize) -> usize {
        while matches!(self.byte(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            at += 1;
        }
        at
    }

    /// True if the line of `at` is not indented more than `owner`.
    fn is_short(&self, at: usize, owner: Option<usize>) -> bool {
        let before = self.bytes.get(..at).unwrap_or_default();
        let column = before.iter().rev().take_while(|b| **b != b'\n').count();
        owner.is_some_and(|owner| column <= owner)
    }

    fn blank(&mut self, start: usize, end: usize) {
        self.first.get_or_insert(end);
        if let Some(part) = self.out.get_mut(start..end) {
            part.fill(b' ');
        }
    }

    /// One past the closing quote of the text that opens at `at`.
    fn quote_end(&self, at: usize) -> Option<usize> {
        let quote = self.byte(at)?;
        let mut at = at + 1;
        loop {
            match self.byte(at)? {
                b'\\' if quote == b'"' => at += 2,
                b'\'' if quote == b'\'' && self.byte(at + 1) == Some(b'\'') => at += 2,
                byte if byte == quote => return Some(at + 1),
                _ => at += 1,
            }
        }
    }

    /// Goes through a quoted text; puts it on one line if one of its lines is too short.
    fn quoted(&mut self, start: usize, owner: Option<usize>) -> Option<usize> {
        let end = self.quote_end(start)?;
        let bytes = self.bytes;
        let inner = bytes.get(start..end)?;
        let mut short = false;
        for (n, _) in inner.iter().enumerate().filter(|(_, b)| **b == b'\n') {
            short |= self.is_short(self.next_text(start + n), owner);
        }
        if short && let Some(folded) = fold(inner) {
            self.first.get_or_insert(start);
            let length = folded.len();
            if let Some(part) = self.out.get_mut(start..start + length) {
                part.copy_from_slice(&folded);
            }
            if let Some(part) = self.out.get_mut(start + length..end) {
                part.fill(b' ');
            }
        }
        Some(end)
    }
}

/// A quoted text with its line ends folded (section 6.5); `None` where that takes more room than there is.
fn fold(quoted: &[u8]) -> Option<Vec<u8>> {
    let double = quoted.first() == Some(&b'"');
    let mut out: Vec<u8> = Vec::with_capacity(quoted.len());
    let mut at = 0;
    while let Some(&byte) = quoted.get(at) {
        if byte == b'\\' && double {
            let escaped = quoted.get(at + 1).copied()?;
            let line_end = matches!(escaped, b'\n' | b'\r');
            at += 2;
            if line_end {
                while matches!(quoted.get(at), Some(b' ' | b'\t' | b'\n')) {
                    at += 1;
                }
            } else {
                out.extend([byte, escaped]);
            }
            continue;
        }
        if matches!(byte, b'\n' | b'\r') {
            while matches!(out.last(), Some(b' ' | b'\t')) {
                out.pop();
            }
            let mut ends = 0_usize;
            while let Some(b' ' | b'\t' | b'\n' | b'\r') = quoted.get(at) {
                ends += usize::from(quoted.get(at) == Some(&b'\n'));
                at += 1;
            }
            match ends {
                0 | 1 => out.push(b' '),
                _ if double => (1..ends).for_each(|_| out.extend(b"\\n")),
                _ => return None,
            }
            continue;
        }
        out.push(byte);
        at += 1;
    }
    (out.len() <= quoted.len()).then_some(out)
}
