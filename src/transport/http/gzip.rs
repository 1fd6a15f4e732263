//! Long lists go out compressed to whoever accepts that: GitHub's is 1.7 MB, and a tenth of it as gzip.
//!
//! A list is compressed once ([`SharedText`]) and put between what is the answer's own, which is stored as it is. So an answer costs
//! nothing but its bytes, and nothing that a caller sends is compressed together with something else: lengths tell nobody
//! anything.

use super::body::Body;
use crate::content::wire::{Pieces, SharedText};
use crate::pace;
use ::http::HeaderMap;
use ::http::header::ACCEPT_ENCODING;
use bytes::Bytes;
use flate2::Crc;
use std::collections::VecDeque;
use std::sync::Arc;

/// Head of a member (RFC 1952 §2.3.1): deflate, no time, no name, no system.
const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
/// Longest stored block (RFC 1951 §3.2.4).
const LONGEST: usize = 0xffff;

/// True if the client takes `gzip` (RFC 9110 §12.5.3). Nothing said: it was not asked for.
pub(super) fn accepted(headers: &HeaderMap) -> bool {
    let (mut named, mut any) = (None, false);
    for value in headers.get_all(ACCEPT_ENCODING) {
        for range in value.to_str().unwrap_or_default().split(',') {
            let mut pieces = range.split(';').map(str::trim);
            let coding = pieces.next().unwrap_or_default();
            let weight = pieces.find_map(|one| one.strip_prefix("q=").or_else(|| one.strip_prefix("Q=")));
            // A weight that can't be read is none: then the answer goes out as it is.
            let taken = weight.is_none_or(|weight| weight.trim().parse::<f32>().is_ok_and(|weight| weight > 0.0));
            if ["gzip", "x-gzip"].iter().any(|name| coding.eq_ignore_ascii_case(name)) {
                named = Some(named.unwrap_or(false) || taken);
            } else if coding == "*" {
                any = taken;
            }
        }
    }
    named.unwrap_or(any)
}

/// Compresses a list on another thread. Whoever asks for it meanwhile gets it as it is.
pub(super) async fn deflate(list: Arc<SharedText>) {
    // It fails only where the process ends.
    let _ = tokio::task::spawn_blocking(move || pace::paced(|| list.deflate())).await;
}

/// The text as one gzip member (RFC 1952), if the list in it is compressed already.
pub(super) fn member(text: &Pieces) -> Option<Body> {
    let list = text.shares()?.deflated()?;
    let (before, after) = text.around();
    let mut crc = Crc::new();
    crc.update(before);
    crc.combine(&list.crc);
    crc.update(after);
    let mut first = Vec::with_capacity(HEAD.len() + before.len() + 16);
    first.extend_from_slice(&HEAD);
    stored(&mut first, before, false);
    let mut last = Vec::with_capacity(after.len() + 16);
    stored(&mut last, after, true);
    last.extend_from_slice(&crc.sum().to_le_bytes());
    last.extend_from_slice(&crc.amount().to_le_bytes());
    Some(Body::Pieces(VecDeque::from([first.into(), list.blocks.clone(), Bytes::from(last)])))
}

/// Appends `text` in stored blocks; the last of them ends the stream if it is `last`.
fn stored(out: &mut Vec<u8>, text: &[u8], last: bool) {
    let mut rest = text;
    loop {
        let (block, more) = rest.split_at_checked(LONGEST).unwrap_or((rest, &[]));
        let ends = last && more.is_empty();
        let length = block.len() as u16;
        out.push(u8::from(ends));
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&(!length).to_le_bytes());
        out.extend_from_slice(block);
        if more.is_empty() {
            return;
        }
        rest = more;
    }
}
