//! The YAML scanner counts characters; places count bytes.

/// One entry every so many characters.
const STEP: usize = 128;

/// Maps character indices of one text to byte offsets.
pub(in crate::document) struct Offsets<'t> {
    text: &'t str,
    /// Byte offset of every [`STEP`]th character; empty where all characters are one byte.
    table: Vec<usize>,
}

impl<'t> Offsets<'t> {
    pub(in crate::document) fn new(text: &'t str) -> Self {
        let table =
            if text.is_ascii() { Vec::new() } else { text.char_indices().step_by(STEP).map(|(at, _)| at).collect() };
        Offsets { text, table }
    }

    /// The byte offset of a character; the text's length past its end.
    pub(in crate::document) fn byte(&self, index: usize) -> usize {
        if self.table.is_empty() {
            return index.min(self.text.len());
        }
        let Some(&start) = self.table.get(index / STEP) else { return self.text.len() };
        let rest = self.text.get(start..).unwrap_or_default();
        rest.char_indices().nth(index % STEP).map_or(self.text.len(), |(at, _)| start + at)
    }

    /// Byte range of a span.
    pub(in crate::document) fn range(&self, span: saphyr_parser::Span) -> (usize, usize) {
        let start = self.byte(span.start.index());
        let end = if span.end.index() <= span.start.index() { start } else { self.byte(span.end.index()) };
        (start, end)
    }
}
