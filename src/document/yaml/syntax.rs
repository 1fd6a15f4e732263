//! What the YAML scanner complains about, in words that say what to do.

use crate::diagnostic::{Diagnostic, Place, Source};
use std::sync::Arc;

/// The code of all YAML syntax errors.
pub(in crate::document) const SYNTAX: &str = "yaml-syntax";

/// `offset` is where the scanner stopped; `open` is where the innermost `[` or `{` that is still
/// open stands.
pub(super) fn problem(source: &Arc<Source>, info: &str, offset: usize, open: Option<usize>) -> Diagnostic {
    let text = &source.text;
    if let Some(open) = open
        && text.get(offset..).is_none_or(|rest| rest.trim().is_empty())
    {
        let bracket = text.get(open..=open).unwrap_or("[");
        let place = Place::new(Arc::clone(source), open, open + 1, "");
        return Diagnostic::error(SYNTAX, format!("this `{bracket}` is never closed"))
            .at(place)
            .fix("close it, or quote the text if it is no list or map");
    }
    let offset = match text.get(..offset) {
        // The scanner stops behind the tabs that it does not like.
        Some(before) if info.contains("tab") && before.ends_with('\t') => before.trim_end_matches('\t').len(),
        _ => offset,
    };
    let length = text.get(offset..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    let place = Place::new(Arc::clone(source), offset, offset + length, "");
    let (message, fix) = words(info);
    Diagnostic::error(SYNTAX, format!("this is not YAML: {message}")).at(place).maybe_fix(fix.map(str::to_owned))
}

fn words(info: &str) -> (&str, Option<&'static str>) {
    let lower = info.to_ascii_lowercase();
    let has = |part: &str| lower.contains(part);
    if has("mapping values are not allowed") || has("':' must be followed") {
        return (
            "a `key: value` pair is not allowed here",
            Some("quote a text that contains `: `, or check the indentation"),
        );
    }
    if has("unknown anchor") {
        return ("this alias names an anchor that is not defined before it", Some("quote a text that starts with `*`"));
    }
    if has("tab") {
        return (info, Some("indent with blanks, not with tabs"));
    }
    if has("simple key expect") || has("expected ':'") {
        return (
            "a `:` is missing after a key, or the indentation is wrong",
            Some("write `key: value`; lines of one map start in one column"),
        );
    }
    if has("block collections are not allowed") || has("block sequence entries are not allowed") {
        return ("a list item is not allowed here", Some("put the `-` on a line of its own, below the key"));
    }
    if has("did not find expected <document start>")
        || has("did not find expected key")
        || has("did not find expected '-'")
    {
        return (
            "the indentation does not fit what stands above",
            Some("lines of one map or list start in one column"),
        );
    }
    if has("unexpected end of stream") || has("unexpected eof") || has("while scanning a quoted scalar") {
        return (info, Some("a quote may be missing"));
    }
    if has("unexpected character") || has("cannot start any token") {
        return (info, Some("quote a text that starts with a special character"));
    }
    if has("escape") {
        return (info, Some("use single quotes for a text with backslashes"));
    }
    (info, None)
}
