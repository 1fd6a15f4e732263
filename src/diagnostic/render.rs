//! Problems for people: code, message, place, the line with a caret below it, the way out.
//!
//! ```text
//! error[unresolved-ref]: `#/components/schemas/Pett` is not in this document
//!   --> petstore.yaml:12:17
//!    |
//! 12 |           $ref: '#/components/schemas/Pett'
//!    |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^
//!    = help: did you mean `Pet`?
//! ```

use super::json::LineCache;
use super::place::floor_boundary;
use super::{Diagnostic, Place, Report, Severity};
use std::fmt::Write as _;

/// Columns of the excerpt; longer lines are cut around the caret.
const WIDTH: usize = 110;
/// Columns kept before the caret in a cut line.
const LEAD: usize = 40;
/// A tab is shown as this many blanks.
const TAB: usize = 4;
/// Bytes of a line that are looked at on either side of the caret: enough for [`WIDTH`] characters.
const REACH: usize = 8 * WIDTH;
const CUT: &str = "...";

impl Diagnostic {
    /// The problem as text, with a line feed at the end; `colour` adds ANSI colours.
    pub fn render(&self, colour: bool) -> String {
        let mut out = String::new();
        render(self, colour, &mut LineCache::default(), &mut out);
        out
    }
}

impl Report {
    /// All problems as text, an empty line between two; `colour` adds ANSI colours.
    pub fn render(&self, colour: bool) -> String {
        let mut cache = LineCache::default();
        let mut out = String::new();
        for (n, diagnostic) in self.diagnostics.iter().enumerate() {
            if n > 0 {
                out.push('\n');
            }
            render(diagnostic, colour, &mut cache, &mut out);
        }
        out
    }
}

struct Paint {
    on: bool,
}

impl Paint {
    const BOLD: &'static str = "1";
    const FRAME: &'static str = "1;34";

    fn severity(severity: Severity) -> &'static str {
        match severity {
            Severity::Error => "1;31",
            Severity::Warning => "1;33",
            Severity::Note => "1;36",
        }
    }

    fn with(&self, code: &str, text: &str) -> String {
        if self.on && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

fn render(diagnostic: &Diagnostic, colour: bool, cache: &mut LineCache, out: &mut String) {
    let paint = Paint { on: colour };
    let tone = Paint::severity(diagnostic.severity);
    let head = format!("{}[{}]", diagnostic.severity.label(), diagnostic.code);
    let message = format!(": {}", visible(&diagnostic.message));
    let _ = writeln!(out, "{}{}", paint.with(tone, &head), paint.with(Paint::BOLD, &message));
    let mut margin = 1;
    if let Some(place) = &diagnostic.place {
        margin = excerpt(place, tone, &paint, cache, out);
    }
    if let Some(fix) = &diagnostic.fix {
        let bar = paint.with(Paint::FRAME, "=");
        let mut lines = fix.lines();
        let first = visible(lines.next().unwrap_or_default());
        let _ = writeln!(out, "{:margin$} {bar} {}: {first}", "", paint.with(Paint::BOLD, "help"));
        for line in lines {
            let _ = writeln!(out, "{:margin$}         {}", "", visible(line));
        }
    }
}

/// Writes place, line and caret; returns the width of the line-number column.
fn excerpt(place: &Place, tone: &str, paint: &Paint, cache: &mut LineCache, out: &mut String) -> usize {
    let source = &place.source;
    let lines = cache.lines(source);
    let at = lines.position(&source.text, place.start);
    let margin = at.line.to_string().len();
    let arrow = paint.with(Paint::FRAME, "-->");
    let _ = writeln!(out, "{:margin$}{arrow} {}:{}:{}", "", visible(&source.name), at.line, at.column);
    if source.text.is_empty() {
        return margin;
    }
    let start = lines.start(at.line).unwrap_or(0);
    let text = lines.text(&source.text, at.line);
    let from = floor_boundary(text, place.start.saturating_sub(start));
    let to = floor_boundary(text, place.end.saturating_sub(start)).max(from);
    let (shown, indent, marked) = window(text, from, to);
    let bar = paint.with(Paint::FRAME, "|");
    let number = paint.with(Paint::FRAME, &at.line.to_string());
    let carets = paint.with(tone, &"^".repeat(marked));
    let _ = writeln!(out, "{:margin$} {bar}", "");
    let _ = writeln!(out, "{number} {bar} {shown}");
    let _ = writeln!(out, "{:margin$} {bar} {:indent$}{carets}", "", "");
    margin
}

/// The part of a line to show, the columns before the caret, and the columns to mark (at least one).
fn window(line: &str, from: usize, to: usize) -> (String, usize, usize) {
    // What is far from the caret is not shown, nor looked at: a line can be a whole document.
    let near = floor_boundary(line, from.saturating_sub(REACH));
    let far = floor_boundary(line, from.saturating_add(REACH));
    let (cut_before, cut_behind) = (near > 0, far < line.len());
    let line = line.get(near..far).unwrap_or_default();
    let (from, to) = (from - near, to.saturating_sub(near));
    let cells: Vec<(usize, String, usize)> = line
        .char_indices()
        .map(|(at, c)| {
            let shown = if c == '\t' { " ".repeat(TAB) } else { shown_char(c).to_string() };
            let width = if c == '\t' { TAB } else { width(c) };
            (at, shown, width)
        })
        .collect();
    let total: usize = cells.iter().map(|cell| cell.2).sum();
    let caret: usize = cells.iter().take_while(|cell| cell.0 < from).map(|cell| cell.2).sum();
    let first = if total <= WIDTH || caret <= LEAD { 0 } else { caret - LEAD };
    let last = if total <= WIDTH { total } else { first + WIDTH };

    let mut shown = String::new();
    let (mut column, mut indent, mut marked) = (0, 0, 0);
    if first > 0 || cut_before {
        shown.push_str(CUT);
        indent += CUT.len();
    }
    for (at, text, width) in &cells {
        if column >= first && column + width <= last {
            shown.push_str(text);
            if *at < from {
                indent += width;
            } else if *at < to {
                marked += width;
            }
        }
        column += width;
    }
    if last < total || cut_behind {
        shown.push_str(CUT);
    }
    (shown.trim_end().to_owned(), indent, marked.max(1))
}

/// Text with control and direction characters made visible: what an author (or a server) wrote
/// must not move the cursor or reorder the line.
fn visible(text: &str) -> String {
    text.chars().map(shown_char).collect()
}

fn shown_char(c: char) -> char {
    match c {
        '\u{7f}' => '\u{2421}',
        c if (c as u32) < 0x20 => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\u{80}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}' => '\u{fffd}',
        c => c,
    }
}

/// Columns a character takes in a terminal: 2 for East Asian wide ones, 0 for combining marks.
fn width(c: char) -> usize {
    match c as u32 {
        0x300..=0x36f | 0x483..=0x489 | 0x591..=0x5bd | 0x610..=0x61a | 0x64b..=0x65f | 0x20d0..=0x20ff => 0,
        0xfe00..=0xfe0f | 0xfe20..=0xfe2f => 0,
        0x1100..=0x115f | 0x2e80..=0x303e | 0x3041..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff => 2,
        0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1f64f | 0x1f900..=0x1f9ff => 2,
        0x20000..=0x3fffd => 2,
        _ => 1,
    }
}
