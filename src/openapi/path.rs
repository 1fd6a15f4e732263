//! Path templates: what is literal, what is a variable, what is really query.

use super::{Route, RoutePart};
use percent_encoding::{AsciiSet, CONTROLS};

/// Characters that can't stand literally in a path (RFC 3986 §3.3: pchar and "/" can). `%` is
/// handled apart.
const PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}')
    .add(b'?')
    .add(b'#')
    .add(b'[')
    .add(b']');

/// The same for a query (RFC 3986 §3.4).
const QUERY: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}')
    .add(b'#')
    .add(b'[')
    .add(b']');

/// A path template, taken apart.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Template {
    /// Literals and variables as written between the braces.
    pub route: Route,
    /// `key={variable}` pairs of a query in the path.
    pub query: Vec<(String, String)>,
    /// Names of an RFC 6570 `{?a,b}`.
    pub optional_query: Vec<String>,
    /// True if the leading slash was missing.
    pub slash_added: bool,
}

/// Takes `path` apart; the text says what is wrong with it.
pub(super) fn parse(path: &str) -> Result<Template, String> {
    let mut template = Template::default();
    let mut literal = String::new();
    let mut rest = path.trim();
    if !rest.starts_with('/') {
        literal.push('/');
        template.slash_added = true;
    }
    loop {
        let Some(at) = rest.find(['{', '?', '#']) else {
            literal.push_str(rest);
            break;
        };
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        literal.push_str(before);
        if let Some(query) = from.strip_prefix('?') {
            template.route.fixed_query = query_parts(query, &mut template.query)?;
            break;
        }
        if from.starts_with('#') {
            break;
        }
        let (name, after) = variable(from)?;
        rest = after;
        match name.strip_prefix(['?', '&']) {
            Some(names) => template
                .optional_query
                .extend(names.split(',').map(|it| bare(it).to_owned()).filter(|it| !it.is_empty())),
            None => {
                flush(&mut literal, &mut template.route.parts);
                template.route.parts.push(RoutePart::Variable(name.to_owned()));
            }
        }
    }
    flush(&mut literal, &mut template.route.parts);
    Ok(template)
}

fn flush(literal: &mut String, parts: &mut Vec<RoutePart>) {
    if !literal.is_empty() {
        parts.push(RoutePart::Literal(encode(literal, PATH)));
        literal.clear();
    }
}

/// The text between the braces that `text` starts with, and what follows. Braces inside (a regular
/// expression) count.
fn variable(text: &str) -> Result<(&str, &str), String> {
    let mut depth = 0usize;
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    let name = text.get(1..at).unwrap_or("");
                    let after = text.get(at + 1..).unwrap_or("");
                    return if name.trim().is_empty() {
                        Err("the path template has a variable without a name".to_owned())
                    } else {
                        Ok((name, after))
                    };
                }
            }
            _ => {}
        }
    }
    Err("the path template has a `{` that is never closed".to_owned())
}

/// `name` without what frameworks and RFC 6570 write around it: `{+name}`, `{name*}`, `{name:regex}`,
/// `{name=pattern}`.
pub(super) fn bare(name: &str) -> &str {
    let name = name.trim().trim_start_matches(['+', '/', '.', ';', '*']);
    let end = name.find(['=', ':']).unwrap_or(name.len());
    name.get(..end).unwrap_or(name).trim_end_matches(['*', '+']).trim()
}

fn query_parts(query: &str, variables: &mut Vec<(String, String)>) -> Result<Option<String>, String> {
    let query = query.split('#').next().unwrap_or("");
    let mut fixed = Vec::new();
    for pair in query.split('&').filter(|it| !it.is_empty()) {
        if !pair.contains('{') {
            fixed.push(encode(pair, QUERY));
            continue;
        }
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        match value.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
            Some(name) if !key.contains('{') && !name.contains('{') && !name.is_empty() => {
                variables.push((decode(key), name.to_owned()));
            }
            _ => return Err(format!("the query part `{pair}` of the path template mixes text and variables")),
        }
    }
    Ok((!fixed.is_empty()).then(|| fixed.join("&")))
}

fn decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Percent-encodes what may not stand literally; what is encoded already stays.
fn encode(text: &str, set: &'static AsciiSet) -> String {
    let mut out = String::with_capacity(text.len());
    for (index, piece) in text.split('%').enumerate() {
        if index > 0 {
            let mut digits = piece.bytes();
            let encoded = (0..2).all(|_| digits.next().is_some_and(|it| it.is_ascii_hexdigit()));
            out.push_str(if encoded { "%" } else { "%25" });
        }
        out.extend(percent_encoding::utf8_percent_encode(piece, set));
    }
    out
}
