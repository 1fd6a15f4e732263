//! From byte offsets to lines and columns.

use super::{Place, Source};
use std::sync::Arc;

/// A position people can go to: both numbers start at 1, columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// Where the lines of one text start; built once, then every lookup is a binary search.
/// A line ends at LF, CR LF, or a CR that stands alone.
#[derive(Debug, Clone)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Source {
    /// A source from its name (path as given, or a URL without credentials) and its text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Source { name: name.into(), text: text.into() })
    }

    /// Line and column of a byte offset; past the end means the end. Reads the text up to there:
    /// callers with many offsets build [`Lines`] once.
    pub fn position(&self, offset: usize) -> Position {
        let end = floor_boundary(&self.text, offset);
        let head = self.text.get(..end).unwrap_or_default();
        Lines::new(head).position(head, end)
    }
}

impl Place {
    /// A range in a source; `end` before `start` counts as empty.
    pub fn new(source: Arc<Source>, start: usize, end: usize, pointer: impl Into<String>) -> Self {
        Place { source, start, end: end.max(start), pointer: pointer.into() }
    }

    /// Line and column of the first byte.
    pub fn position(&self) -> Position {
        self.source.position(self.start)
    }

    /// `name:line:column`.
    pub fn label(&self) -> String {
        let at = self.position();
        format!("{}:{}:{}", self.source.name, at.line, at.column)
    }
}

impl Lines {
    /// Finds the line starts of a text.
    pub fn new(text: &str) -> Self {
        let mut starts = vec![0];
        let bytes = text.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            let ends_here = match byte {
                b'\n' => true,
                b'\r' => bytes.get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            if ends_here {
                starts.push(at + 1);
            }
        }
        Lines { starts }
    }

    /// Line and column of a byte offset in the text this was built from.
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let offset = floor_boundary(text, offset);
        let line = self.starts.partition_point(|&start| start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let column = text.get(start..offset).map_or(0, |part| part.chars().count()) + 1;
        Position { line, column }
    }

    /// Byte offset where a line (from 1) starts.
    pub fn start(&self, line: usize) -> Option<usize> {
        self.starts.get(line.checked_sub(1)?).copied()
    }

    /// The text of a line (from 1) without its line end.
    pub fn text<'t>(&self, text: &'t str, line: usize) -> &'t str {
        let Some(start) = self.start(line) else { return "" };
        let end = self.start(line + 1).unwrap_or(text.len());
        text.get(start..end).unwrap_or_default().trim_end_matches(['\n', '\r'])
    }
}

/// The nearest character border at or before `offset`.
pub(crate) fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
