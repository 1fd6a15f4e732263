//! What a tool says about itself beside its schema: annotations, description, size.

use super::Annotations;
use crate::mapping::DescriptionFrom;
use http::StatusCode;
use std::borrow::Cow;

/// Longest description that is made without the mapping asking for one, in characters.
const MOST_CHARS: usize = 4_000;
/// Errors named in a description.
const MOST_ERRORS: usize = 6;
/// Longest text of one error, in characters.
const MOST_ERROR_CHARS: usize = 80;

/// MCP annotations by method, from its safety and idempotence (RFC 9110 §9.2): GET, HEAD, OPTIONS and QUERY
/// only read; PUT and DELETE are idempotent and destroy what was there; PATCH destroys; of POST nothing is
/// known. Every tool reaches an open world.
pub fn annotations(method: &str) -> Annotations {
    let (read_only, destructive, idempotent) = match method.to_ascii_uppercase().as_str() {
        "GET" | "HEAD" | "OPTIONS" | "TRACE" | "QUERY" => (true, false, true),
        "PUT" | "DELETE" => (false, true, true),
        "PATCH" => (false, true, false),
        _ => (false, false, false),
    };
    Annotations { read_only, destructive, idempotent, open_world: true }
}

/// About how many tokens a JSON text of this many bytes costs a model: a quarter. An estimate; vendors differ.
pub fn estimated_tokens(bytes: usize) -> usize {
    bytes.div_ceil(4)
}

/// Makes a tool's description: never empty, without control and invisible characters, and without the
/// summary where the description repeats it.
///
/// Without `from`: summary, description and, where `errors` names some, a line on errors. With it: the parts
/// it lists (`summary`, `description`, `responses`, `path`), its `prepend` and `append`, cut to `max_chars`.
/// `errors` are (status, text) of declared answers that are no success.
pub fn describe(
    summary: Option<&str>,
    description: Option<&str>,
    method: &str,
    path: &str,
    from: Option<&DescriptionFrom>,
    errors: &[(String, String)],
) -> String {
    let call = format!("{method} {path}");
    let usual = ["summary".to_string(), "description".to_string(), "responses".to_string()];
    let wanted = match from {
        Some(from) if !from.from.is_empty() => from.from.as_slice(),
        Some(_) => usual.get(..2).unwrap_or_default(),
        None => &usual,
    };
    let mut parts: Vec<String> = Vec::new();
    for part in wanted {
        let text = match part.as_str() {
            "summary" => sanitized(summary.unwrap_or_default()),
            "description" => sanitized(description.unwrap_or_default()),
            "responses" => errors_line(errors),
            "path" => sanitized(&call),
            _ => continue,
        };
        add(&mut parts, text);
    }
    if parts.iter().all(|part| part.starts_with("Errors: ")) {
        parts.insert(0, sanitized(&call));
    }
    parts.retain(|part| !part.is_empty());
    let extra = |text: Option<&String>| text.map(|text| sanitized(text)).filter(|text| !text.is_empty());
    let before = extra(from.and_then(|from| from.prepend.as_ref()));
    let after = extra(from.and_then(|from| from.append.as_ref()));
    let most = from.and_then(|from| from.max_chars).unwrap_or(MOST_CHARS).max(1);
    // What the author added stays whole; what the document says gives way.
    let around = [&before, &after].into_iter().flatten().map(|text| text.chars().count() + 2).sum::<usize>();
    let middle = most.saturating_sub(around);
    let middle = if middle == 0 { String::new() } else { cut_at_word(&parts.join("\n\n"), middle) };
    let whole: Vec<String> =
        [before, Some(middle), after].into_iter().flatten().filter(|text| !text.is_empty()).collect();
    cut_at_word(&whole.join("\n\n"), most)
}

/// Adds a part unless another one says it already.
fn add(parts: &mut Vec<String>, text: String) {
    if text.is_empty() {
        return;
    }
    let plain = |text: &str| text.trim_end_matches('.').to_lowercase();
    let new = plain(&text);
    if parts.iter().any(|part| plain(part).starts_with(&new)) {
        return;
    }
    parts.retain(|part| !new.starts_with(&plain(part)));
    parts.push(text);
}

/// True for a text that says no more than the status itself (RFC 9110 §15.5, §15.6).
fn is_known(status: &str, text: &str) -> bool {
    let Some(reason) = StatusCode::from_bytes(status.as_bytes()).ok().and_then(|status| status.canonical_reason())
    else {
        return false;
    };
    let others: &[&str] = match status {
        "401" => &["requires authentication", "authentication required", "not authenticated", "unauthenticated"],
        "403" => &["access denied", "permission denied"],
        "404" => &["resource not found"],
        "422" => &["validation failed", "validation error"],
        "500" => &["internal error", "server error"],
        _ => &[],
    };
    text.eq_ignore_ascii_case(reason) || others.iter().any(|other| text.eq_ignore_ascii_case(other))
}

/// `Errors: 404 no such pet; 409 name taken`; empty where nothing is declared that a status does not say itself.
fn errors_line(errors: &[(String, String)]) -> String {
    let mut told: Vec<String> = Vec::new();
    for (status, text) in errors {
        let text = sanitized(text);
        let first = text.lines().next().unwrap_or_default().trim_end_matches('.');
        if first.is_empty() || is_known(status, first) {
            continue;
        }
        let one = format!("{} {}", sanitized(status), cut_at_word(first, MOST_ERROR_CHARS));
        if told.len() < MOST_ERRORS && !told.contains(&one) {
            told.push(one);
        }
    }
    if told.is_empty() { String::new() } else { format!("Errors: {}", told.join("; ")) }
}

/// The text without control characters (but line feeds and tabs), without characters that are invisible or
/// change the direction of others (Unicode bidirectional controls, zero-width and tag characters), its lines
/// trimmed at the end and no more than one empty line in a row.
pub fn sanitized(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut empty_lines = 0usize;
    for line in text.lines() {
        // Nearly every line; looked at as a whole, which costs a fraction of looking at characters.
        let plain = line.bytes().fold(true, |plain, byte| plain & (matches!(byte, b' '..=b'~') | (byte == b'\t')));
        let line: Cow<'_, str> =
            if plain { line.into() } else { line.chars().filter(|c| !is_unsafe(*c)).collect::<String>().into() };
        let line = line.trim_end();
        if line.is_empty() {
            empty_lines += 1;
            continue;
        }
        if !out.is_empty() {
            out.push_str(if empty_lines > 0 { "\n\n" } else { "\n" });
        }
        empty_lines = 0;
        out.push_str(line);
    }
    out.trim().to_string()
}

fn is_unsafe(c: char) -> bool {
    (c.is_control() && c != '\t')
        || matches!(c,
            '\u{00AD}' | '\u{061C}' | '\u{180E}' | '\u{200B}' | '\u{200E}' | '\u{200F}'
            | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}'
            | '\u{E0000}'..='\u{E007F}')
}

/// At most `most` characters, cut after a whole word where there is one, with an ellipsis.
pub fn cut_at_word(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_string();
    }
    let Some((limit, _)) = text.char_indices().nth(most) else { return text.to_string() };
    let room = text.char_indices().nth(most.saturating_sub(1)).map_or(0, |(at, _)| at);
    let head = text.get(..room).unwrap_or_default();
    let at_border = text.get(room..limit).is_some_and(|c| c.starts_with(char::is_whitespace));
    let end = match head.rfind(char::is_whitespace) {
        _ if at_border => head.len(),
        // A word longer than half of the text is cut inside.
        Some(space) if space >= head.len() / 2 => space,
        _ => head.len(),
    };
    format!("{}…", head.get(..end).unwrap_or_default().trim_end())
}
