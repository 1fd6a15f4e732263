//! `Link` header fields (RFC 8288 §3).

use super::media_type::{parameters, unquote};

/// The target of the first link whose `rel` holds `wanted` (case-insensitive, space separated).
pub(super) fn find<'a>(value: &'a str, wanted: &str) -> Option<&'a str> {
    let mut rest = value;
    loop {
        rest = rest.trim_start_matches([',', ' ', '\t']);
        let (target, after) = rest.strip_prefix('<')?.split_once('>')?;
        let end = end_of_link(after);
        let (attributes, next) = after.split_at(end);
        let matches = parameters(attributes)
            .find(|(name, _)| name.eq_ignore_ascii_case("rel"))
            .is_some_and(|(_, rel)| rel.split_ascii_whitespace().any(|one| one.eq_ignore_ascii_case(wanted)));
        if matches && !target.trim().is_empty() {
            return Some(target.trim());
        }
        rest = next;
    }
}

/// Where the attributes of one link end: at a comma outside quotes.
fn end_of_link(text: &str) -> usize {
    let mut rest = text;
    loop {
        match rest.find([',', '"']) {
            None => return text.len(),
            Some(at) => {
                let (_, tail) = rest.split_at(at);
                match tail.strip_prefix('"') {
                    None => return text.len() - tail.len(),
                    Some(quoted) => rest = unquote(quoted).1,
                }
            }
        }
    }
}
