//! From a place in a text to its place in the file, through quotes, escapes, folds and indentation.

use std::ops::Range;

/// Where the bytes `range` of `decoded` stand in `raw`, the text as the author wrote it. `None` where the two can't
/// be followed side by side.
pub(super) fn locate(raw: &str, decoded: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let mut written = raw.char_indices().peekable();
    let quoted = raw.starts_with('"');
    let single = raw.starts_with('\'');
    if quoted || single {
        written.next();
    } else if raw.starts_with(['|', '>']) {
        // The header of a block text ends with its line.
        while written.next_if(|(_, c)| *c != '\n').is_some() {}
        written.next();
    }
    let mut start = None;
    for (at, wanted) in decoded.char_indices() {
        if at >= range.end
            && let Some(start) = start
        {
            let end = written.peek().map_or(raw.len(), |(end, _)| *end);
            return Some(start..end.max(start));
        }
        let found = loop {
            let (place, c) = written.next()?;
            if quoted && c == '\\' {
                let (_, escape) = written.next()?;
                let digits = match escape {
                    'x' => 2,
                    'u' => 4,
                    'U' => 8,
                    _ => 0,
                };
                for _ in 0..digits {
                    written.next()?;
                }
                // A line that ends in a backslash goes on without a break.
                if escape == '\n' {
                    continue;
                }
                break place;
            }
            if single && c == '\'' && wanted == '\'' {
                written.next();
                break place;
            }
            if c == wanted {
                break place;
            }
            match c {
                // A fold: the line break became a blank.
                '\n' if wanted == ' ' => break place,
                ' ' | '\t' | '\r' | '\n' => {}
                _ => return None,
            }
        };
        if at >= range.start && start.is_none() {
            start = Some(found);
        }
    }
    let end = written.peek().map_or(raw.len(), |(end, _)| *end);
    start.map(|start| start..end.max(start))
}
