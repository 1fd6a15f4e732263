//! Positions in JSON: a scanner that trusts the text, since the reader already accepted it. Comments
//! and trailing commas pass; on anything else unexpected it goes on with the next byte.

use super::super::lenient::{comment_end, string_end};
use super::{Index, Kind, Node};

/// Nodes that nesting may open at once; deeper ones the reader has refused.
const MAX_DEPTH: usize = 512;

pub(super) fn build(text: &str) -> Index {
    let bytes = text.as_bytes();
    let mut index = Index::default();
    let mut open: Vec<u32> = Vec::new();
    let mut key: Option<(Box<str>, (usize, usize))> = None;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        match byte {
            b'{' | b'[' => {
                at += 1;
                let kind = if byte == b'{' { Kind::Map } else { Kind::List };
                let id = add(&mut index, &open, key.take(), (start, at), kind);
                if open.len() < MAX_DEPTH {
                    open.push(id);
                }
            }
            b'}' | b']' => {
                at += 1;
                if let Some(node) = open.pop().and_then(|id| index.nodes.get_mut(id as usize)) {
                    node.range.1 = at;
                }
            }
            b'"' => {
                at = string_end(bytes, at);
                let in_map = open.last().and_then(|id| index.node(*id)).is_some_and(|node| node.kind == Kind::Map);
                if in_map && key.is_none() {
                    key = Some((unquoted(text.get(start..at).unwrap_or_default()), (start, at)));
                } else {
                    add(&mut index, &open, key.take(), (start, at), Kind::Scalar);
                }
            }
            b'/' => at = comment_end(bytes, at),
            b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' => at += 1,
            _ => {
                while bytes.get(at).is_some_and(|b| !b" \t\r\n,:]}[{\"/".contains(b)) {
                    at += 1;
                }
                add(&mut index, &open, key.take(), (start, at), Kind::Scalar);
            }
        }
    }
    index
}

fn add(
    index: &mut Index,
    open: &[u32],
    key: Option<(Box<str>, (usize, usize))>,
    range: (usize, usize),
    kind: Kind,
) -> u32 {
    let (key, key_range) = key.map_or((None, (0, 0)), |(key, range)| (Some(key), range));
    index.add(open.last().copied(), Node { key, key_range, range, kind, ..Node::default() })
}

fn unquoted(literal: &str) -> Box<str> {
    if literal.contains('\\') {
        serde_json::from_str::<String>(literal).unwrap_or_default().into()
    } else {
        literal.trim_matches('"').into()
    }
}
