//! Which characters stay as they are, by place.

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};

/// Everything but the unreserved characters of RFC 3986 §2.3.
const STRICT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Reserved expansion in a query: without `# [ ]` (RFC 3986 §3.4), `& = +` (OpenAPI 3.2 appendix E) and
/// `'`, which URL parsers encode anyway.
const QUERY: &AsciiSet = &STRICT
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b';');
const QUERY_MEMBER: &AsciiSet = &QUERY.add(b',');

/// Reserved expansion in a path segment: `pchar` of RFC 3986 §3.3 without `%`.
const SEGMENT: &AsciiSet = &STRICT
    .remove(b':')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=');
const SEGMENT_MEMBER: &AsciiSet = &SEGMENT.add(b',');

/// What an author's path text may not hold unencoded; `\` is a slash to URL parsers.
const LITERAL: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}')
    .add(b'%');

/// What an author's query text may not hold unencoded.
const LITERAL_QUERY: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'\'').add(b'<').add(b'>').add(b'[').add(b']').add(b'%');

/// How text becomes part of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escape {
    /// Percent-encoded but for unreserved characters.
    Strict,
    /// `allowReserved` in a query or form.
    Query,
    /// `allowReserved` in a path.
    Segment,
    /// As it is: headers, multipart, `style: cookie`.
    Raw,
}

impl Escape {
    /// Appends `text`; `member` = inside a list, where a comma would split it.
    pub(super) fn push(self, out: &mut String, text: &str, member: bool) {
        match self {
            Escape::Raw => out.push_str(text),
            Escape::Strict => out.extend(utf8_percent_encode(text, STRICT)),
            Escape::Query => push_keeping_triplets(out, text, if member { QUERY_MEMBER } else { QUERY }),
            Escape::Segment => {
                out.extend(utf8_percent_encode(text, if member { SEGMENT_MEMBER } else { SEGMENT }));
            }
        }
    }
}

/// Appends path text of the document's author: reserved characters and `%XX` stay.
pub(super) fn push_literal(out: &mut String, text: &str) {
    push_keeping_triplets(out, text, LITERAL);
}

/// Appends query text of the document's author: reserved characters and `%XX` stay.
pub(super) fn push_literal_query(out: &mut String, text: &str) {
    push_keeping_triplets(out, text, LITERAL_QUERY);
}

/// RFC 6570 §3.2.3: `%` followed by two hex digits passes, any other `%` is encoded.
fn push_keeping_triplets(out: &mut String, text: &str, set: &'static AsciiSet) {
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let (before, from) = rest.split_at(at);
        out.extend(utf8_percent_encode(before, set));
        let triplet = from.get(..3).filter(|t| t.bytes().skip(1).all(|b| b.is_ascii_hexdigit()));
        match triplet {
            Some(triplet) => out.push_str(triplet),
            None => out.push_str("%25"),
        }
        rest = from.get(triplet.map_or(1, str::len)..).unwrap_or_default();
    }
    out.extend(utf8_percent_encode(rest, set));
}
