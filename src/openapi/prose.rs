//! Descriptions without their web links. A model that picks a tool can't follow them, and in documents that link
//! a lot they are a tenth of all that it has to read.

use super::text::clean;

/// Labels that say nothing without their target.
const BARE_LABELS: [&str; 10] =
    ["here", "this", "link", "this link", "this page", "docs", "documentation", "the docs", "read more", "more"];
/// How sentences begin that only say where to read on.
const POINTERS: [&str; 6] = [
    "For more information",
    "For further information",
    "For additional information",
    "For more details",
    "For details",
    "Learn more",
];

/// A description as it is published: [`clean`]ed, `[label](https://…)` as its label alone, without the sentences
/// that only point to a web page ("For more information, see [Pagination](https://…)."). What stands in
/// backquotes, links whose label says nothing ("here") and texts of nothing else stay as they are.
pub(super) fn prose(text: &str) -> String {
    let text = clean(text);
    if !text.contains("](http") {
        return text;
    }
    let kept = without_pointers(&text);
    let kept = if kept.trim().is_empty() { text } else { kept };
    without_targets(&kept)
}

/// A Markdown link at the start of `text`: its label, its target and its length.
fn link(text: &str) -> Option<(&str, &str, usize)> {
    let inner = text.strip_prefix('[')?;
    let (label, rest) = inner.split_once("](")?;
    if label.is_empty() || label.len() > 200 || label.contains(['[', ']', '\n']) {
        return None;
    }
    let target = rest.split_once(')')?.0;
    let is_web = target.starts_with("http://") || target.starts_with("https://");
    (is_web && !target.contains(char::is_whitespace)).then_some((label, target, label.len() + target.len() + 4))
}

fn says_something(label: &str) -> bool {
    let plain = label.trim().to_ascii_lowercase();
    !plain.starts_with("http") && !BARE_LABELS.contains(&plain.as_str())
}

fn without_targets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut code) = (text, false);
    while let Some(at) = rest.find(['[', '`']) {
        let (before, here) = rest.split_at(at);
        out.push_str(before);
        if here.starts_with('`') {
            code = !code;
        } else if let (Some((label, _, length)), false) = (link(here), code)
            && says_something(label)
        {
            if out.ends_with('!') {
                out.pop();
            }
            out.push_str(label);
            rest = here.get(length..).unwrap_or_default();
            continue;
        }
        // Both are one byte.
        out.push_str(here.get(..1).unwrap_or_default());
        rest = here.get(1..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

fn without_pointers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let found = POINTERS.iter().filter_map(|pointer| rest.find(pointer)).min();
        let Some(at) = found else { break };
        let (before, here) = rest.split_at(at);
        out.push_str(before);
        let starts = out.trim_end_matches(' ').chars().next_back().is_none_or(|c| matches!(c, '.' | '\n' | '!' | '?'));
        let end = sentence_end(here);
        let sentence = here.get(..end).unwrap_or(here);
        if starts && sentence.contains("](http") {
            let kept = out.trim_end_matches(' ').len();
            out.truncate(kept);
        } else {
            out.push_str(sentence);
        }
        rest = here.get(end..).unwrap_or_default();
    }
    out.push_str(rest);
    out.truncate(out.trim_end().len());
    out
}

/// Where the sentence that `text` begins with ends: after its full stop and a closing quote, or at the line's end.
fn sentence_end(text: &str) -> usize {
    let line = text.find('\n').unwrap_or(text.len());
    let mut from = 0;
    while let Some(at) = text.get(from..line).and_then(|part| part.find('.')) {
        let mut end = from + at + 1;
        let after = text.get(end..line).unwrap_or_default();
        if let Some(quote) = after.chars().next().filter(|c| matches!(c, '"' | '”' | ')')) {
            end += quote.len_utf8();
        }
        if text.get(end..line).unwrap_or_default().chars().next().is_none_or(char::is_whitespace) {
            return end;
        }
        from += at + 1;
    }
    line
}
