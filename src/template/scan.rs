//! Cuts a template into text and tags, and finds what is wrong with the tags before the engine does,
//! with the exact place.

use super::TemplateError;

/// Deepest nesting of blocks.
const MAX_BLOCKS: usize = 32;
/// Deepest nesting of `(…)` in one tag.
const MAX_PARENTHESES: usize = 16;

/// Part of a plain template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Path(Vec<String>),
}

/// A `{{…}}`.
#[derive(Debug)]
pub(super) struct Tag<'t> {
    /// Where it starts and ends in the text, braces included.
    pub start: usize,
    pub end: usize,
    /// What stands between the braces, trimmed.
    pub inner: &'t str,
}

/// All tags of a text, in order.
#[derive(Debug)]
pub(super) struct Scanned<'t> {
    pub tags: Vec<Tag<'t>>,
    /// A `\{{` occurs: the engine must undo it.
    pub escapes: bool,
}

/// Finds the tags; refuses unclosed tags and blocks, and nesting without end.
pub(super) fn scan(text: &str) -> Result<Scanned<'_>, TemplateError> {
    let mut tags = Vec::new();
    let mut escapes = false;
    let mut open: Vec<(&str, usize)> = Vec::new();
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find("{{")) {
        let start = at + found;
        // One backslash makes the braces text; two or more are backslashes before a tag.
        let before = text.get(..start).unwrap_or_default();
        if before.ends_with('\\') {
            escapes = true;
            if !before.ends_with("\\\\") {
                at = start + 2;
                continue;
            }
        }
        if text.get(start..).is_some_and(|rest| rest.starts_with("{{{{")) {
            return Err(
                TemplateError::at(text, start, "templates have no raw blocks").fix("a literal `{{` is written `\\{{`")
            );
        }
        let end = tag_end(text, start)?;
        let braces = if text.get(start..).is_some_and(|rest| rest.starts_with("{{{")) { 3 } else { 2 };
        let inner = text.get(start + braces..end - braces).unwrap_or_default().trim();
        let inner = inner.strip_prefix('~').unwrap_or(inner);
        let inner = inner.strip_suffix('~').unwrap_or(inner).trim();
        check_tag(text, start, inner)?;
        if let Some(block) = inner.strip_prefix('#') {
            let name = word(block.trim_start());
            open.push((name, start));
            if open.len() > MAX_BLOCKS {
                return Err(TemplateError::at(text, start, format!("more than {MAX_BLOCKS} blocks inside each other")));
            }
        } else if let Some(name) = inner.strip_prefix('/') {
            let name = name.trim();
            match open.pop() {
                Some((opened, _)) if opened == name => {}
                Some((opened, _)) => {
                    return Err(TemplateError::at(
                        text,
                        start,
                        format!("`{{{{/{name}}}}}` closes a block that was opened as `{{{{#{opened}}}}}`"),
                    )
                    .fix(format!("write `{{{{/{opened}}}}}`")));
                }
                None => {
                    return Err(TemplateError::at(
                        text,
                        start,
                        format!("`{{{{/{name}}}}}` closes a block that nothing opened"),
                    )
                    .fix(format!("delete it, or open the block with `{{{{#{name} …}}}}`")));
                }
            }
        }
        tags.push(Tag { start, end, inner });
        at = end;
    }
    if let Some((name, start)) = open.last() {
        return Err(TemplateError::at(text, *start, format!("the block `{{{{#{name}}}}}` is not closed"))
            .fix(format!("write `{{{{/{name}}}}}` where it ends")));
    }
    Ok(Scanned { tags, escapes })
}

fn word(text: &str) -> &str {
    text.split(|c: char| c.is_whitespace() || c == '~').next().unwrap_or_default()
}

/// One past the closing braces of the tag at `start`.
fn tag_end(text: &str, start: usize) -> Result<usize, TemplateError> {
    let rest = text.get(start..).unwrap_or_default();
    if rest.starts_with("{{!--") || rest.starts_with("{{~!--") {
        let close = rest.find("--}}").map(|at| at + 4).or_else(|| rest.find("--~}}").map(|at| at + 5));
        return close
            .map(|length| start + length)
            .ok_or_else(|| TemplateError::at(text, start, "the comment is not closed by `--}}`"));
    }
    let close = if rest.starts_with("{{{") { "}}}" } else { "}}" };
    let mut quote = None;
    let mut escaped = false;
    let mut parentheses = 0_usize;
    for (at, c) in rest.char_indices().skip(2) {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(mark) if c == mark => quote = None,
            Some(_) => {}
            None if rest.get(at..).is_some_and(|rest| rest.starts_with(close)) => return Ok(start + at + close.len()),
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '(' => {
                parentheses += 1;
                if parentheses > MAX_PARENTHESES {
                    return Err(TemplateError::at(text, start + at, "too many parentheses inside each other"));
                }
            }
            None if c == ')' => parentheses = parentheses.saturating_sub(1),
            None if c == '{' && at > 2 && rest.get(at..).is_some_and(|rest| rest.starts_with("{{")) => break,
            None => {}
        }
    }
    Err(TemplateError::at(text, start, format!("`{}` is not closed", close.replace('}', "{")))
        .fix(format!("write `{close}` where the placeholder ends; a literal `{{{{` is written `\\{{{{`")))
}

fn check_tag(text: &str, start: usize, inner: &str) -> Result<(), TemplateError> {
    let refuse = |message: &str, fix: &str| Err(TemplateError::at(text, start, message).fix(fix));
    if inner.is_empty() {
        return refuse("an empty placeholder", "name a value between the braces, such as `{{id}}`");
    }
    if inner.starts_with('>') || inner.starts_with("#>") {
        return refuse("templates have no partials", "write the text out");
    }
    if inner.starts_with('*') || inner.starts_with("#*") {
        return refuse("templates have no decorators", "write the text out");
    }
    Ok(())
}

/// The pieces of a template that needs no engine; `None` where it does.
pub(super) fn plain(text: &str, scanned: &Scanned<'_>) -> Option<Vec<Piece>> {
    if scanned.escapes {
        return None;
    }
    let mut pieces = Vec::new();
    let mut at = 0;
    for tag in &scanned.tags {
        let path = path(tag.inner)?;
        // `~` eats white space around the tag.
        let outer = text.get(tag.start..tag.end)?;
        if outer.starts_with("{{~") || outer.ends_with("~}}") {
            return None;
        }
        let before = text.get(at..tag.start)?;
        if !before.is_empty() {
            pieces.push(Piece::Text(before.to_owned()));
        }
        pieces.push(Piece::Path(path));
        at = tag.end;
    }
    let rest = text.get(at..)?;
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    Some(pieces)
}

/// `a.b-c.0.[any name]` as names; `None` for everything with a meaning of its own.
pub(super) fn path(inner: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = inner;
    loop {
        let name = if let Some(bracketed) = rest.strip_prefix('[') {
            let (name, after) = bracketed.split_once(']')?;
            rest = after;
            name
        } else {
            let end = rest.find('.').unwrap_or(rest.len());
            let (name, after) = (rest.get(..end)?, rest.get(end..)?);
            rest = after;
            let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '$') || !c.is_ascii();
            if !name.chars().all(legal) {
                return None;
            }
            let is_literal = matches!(name, "true" | "false" | "null" | "this" | "else" | "as")
                || name.starts_with(|c: char| c.is_ascii_digit() || c == '-');
            if names.is_empty() && is_literal {
                return None;
            }
            name
        };
        if name.is_empty() {
            return None;
        }
        names.push(name.to_owned());
        match rest.strip_prefix('.') {
            Some(after) => rest = after,
            None => return rest.is_empty().then_some(names),
        }
    }
}
