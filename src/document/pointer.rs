//! JSON Pointer (RFC 6901), also as a percent-encoded URI fragment (section 6).

use percent_encoding::percent_decode_str;
use serde_json::Value;
use std::borrow::Cow;

/// A reference token as it stands in a pointer: `~` becomes `~0`, `/` becomes `~1`.
pub fn escape(token: &str) -> Cow<'_, str> {
    if token.contains(['~', '/']) {
        Cow::Owned(token.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(token)
    }
}

/// A token of a pointer as the name it stands for. `~1` is replaced before `~0` (section 4).
pub fn unescape(token: &str) -> Cow<'_, str> {
    if token.contains('~') { Cow::Owned(token.replace("~1", "/").replace("~0", "~")) } else { Cow::Borrowed(token) }
}

/// The names of a pointer, outermost first; `None` if it is neither empty nor starts with `/`.
pub fn parse(pointer: &str) -> Option<Vec<Cow<'_, str>>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    Some(pointer.strip_prefix('/')?.split('/').map(unescape).collect())
}

/// `pointer` one level deeper.
pub fn join(pointer: &str, token: &str) -> String {
    let token = escape(token);
    let mut out = String::with_capacity(pointer.len() + 1 + token.len());
    out.push_str(pointer);
    out.push('/');
    out.push_str(&token);
    out
}

/// `pointer` one level deeper, into a list.
pub fn join_index(pointer: &str, index: usize) -> String {
    format!("{pointer}/{index}")
}

/// The pointer one level up; `None` for the root.
pub fn parent(pointer: &str) -> Option<&str> {
    pointer.rfind('/').and_then(|at| pointer.get(..at))
}

/// The last name of a pointer; `None` for the root.
pub fn last(pointer: &str) -> Option<Cow<'_, str>> {
    pointer.rfind('/').and_then(|at| pointer.get(at + 1..)).map(unescape)
}

/// The pointer that a URI fragment (without `#`) encodes; `None` if its bytes are no UTF-8 text.
pub fn from_fragment(fragment: &str) -> Option<Cow<'_, str>> {
    if fragment.contains('%') { percent_decode_str(fragment).decode_utf8().ok() } else { Some(Cow::Borrowed(fragment)) }
}

/// The node a pointer names; list indices without leading zeros, as section 4 wants.
pub fn get<'v>(root: &'v Value, pointer: &str) -> Option<&'v Value> {
    if pointer.is_empty() {
        return Some(root);
    }
    pointer.strip_prefix('/')?.split('/').try_fold(root, |node, token| child(node, &unescape(token)))
}

/// The member or item of a node.
pub fn child<'v>(node: &'v Value, name: &str) -> Option<&'v Value> {
    match node {
        Value::Object(map) => map.get(name),
        Value::Array(list) => list.get(index(name)?),
        _ => None,
    }
}

/// A list index as RFC 6901 writes it: digits, no leading zero.
pub fn index(name: &str) -> Option<usize> {
    let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit()) && (name == "0" || !name.starts_with('0'));
    if plain { name.parse().ok() } else { None }
}
