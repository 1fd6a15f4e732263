//! Secrets of a request, masked in what its answer says: an API that repeats its caller's key must not show it to the model.

use super::{Request, credential};
use bytes::Bytes;
use http::header::{AUTHORIZATION, COOKIE};
use http::{HeaderMap, HeaderValue};
use memchr::memmem;

/// Shorter secrets are left alone in answers: they could be any word.
const SHORTEST: usize = 8;

/// What must not come back. Each occurrence becomes as many `*`, so that lengths and JSON stay whole. Secrets of digits
/// alone and of less than eight bytes are left: they can't be told from data.
#[derive(Default)]
pub struct Masks {
    /// The longest first: one may hold another.
    needles: Vec<Vec<u8>>,
    /// The end of a stream so far, which may be the beginning of a secret.
    held: Vec<u8>,
}

impl std::fmt::Debug for Masks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Masks").field("needles", &self.needles.len()).finish_non_exhaustive()
    }
}

impl Masks {
    /// The secrets of a request, as they are and as JSON and URLs spell them.
    pub fn of(request: &Request) -> Masks {
        let mut masks = Masks::default();
        credential::to_mask(request).for_each(|secret| masks.add(secret));
        for text in request.secret_in_url.iter().filter_map(|range| request.url.get(range.clone())) {
            masks.add(text);
            masks.add(text.split_once('=').map_or("", |(_, value)| value));
        }
        // The cookie header also holds what the caller gave; its secrets are among the others.
        for (name, value) in request.headers.iter().filter(|(name, value)| value.is_sensitive() && *name != COOKIE) {
            let Ok(text) = value.to_str() else { continue };
            masks.add(match text.split_once(' ') {
                Some((_, rest)) if name == AUTHORIZATION => rest,
                _ => text,
            });
        }
        masks.needles.sort_by_key(|needle| std::cmp::Reverse(needle.len()));
        masks
    }

    fn add(&mut self, text: &str) {
        if text.len() < SHORTEST || text.bytes().all(|byte| byte.is_ascii_digit()) {
            return;
        }
        let json = serde_json::Value::String(text.to_owned()).to_string();
        let json = json.get(1..json.len() - 1).unwrap_or_default();
        let percent = percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string();
        let form: String = ::url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
        for spelling in [text, json, &percent, &form] {
            if !self.needles.iter().any(|known| known == spelling.as_bytes()) {
                self.needles.push(spelling.as_bytes().to_vec());
            }
        }
    }

    /// A whole body.
    pub fn body(&self, body: Bytes) -> Bytes {
        if !self.found_in(&body) {
            return body;
        }
        let mut masked = body.to_vec();
        self.mask(&mut masked);
        masked.into()
    }

    /// The values of headers.
    pub fn headers(&self, headers: &mut HeaderMap) {
        for value in headers.values_mut().filter(|value| self.found_in(value.as_bytes())) {
            let mut masked = value.as_bytes().to_vec();
            self.mask(&mut masked);
            if let Ok(masked) = HeaderValue::from_bytes(&masked) {
                *value = masked;
            }
        }
    }

    /// The next piece of a stream; what may be the beginning of a secret is held back until more is known.
    pub fn piece(&mut self, piece: Bytes) -> Bytes {
        if self.needles.is_empty() {
            return piece;
        }
        let mut known = std::mem::take(&mut self.held);
        known.extend_from_slice(&piece);
        self.mask(&mut known);
        let begins =
            |tail: &[u8]| self.needles.iter().any(|needle| needle.len() > tail.len() && needle.starts_with(tail));
        let longest = self.needles.first().map_or(0, Vec::len).min(known.len());
        let held = (1..=longest).rev().find(|length| known.get(known.len() - length..).is_some_and(begins));
        self.held = known.split_off(known.len() - held.unwrap_or(0));
        known.into()
    }

    /// What was held back at the end of a stream.
    pub fn rest(&mut self) -> Bytes {
        std::mem::take(&mut self.held).into()
    }

    fn found_in(&self, bytes: &[u8]) -> bool {
        self.needles.iter().any(|needle| memmem::find(bytes, needle).is_some())
    }

    fn mask(&self, bytes: &mut [u8]) {
        for needle in &self.needles {
            let found: Vec<usize> = memmem::find_iter(bytes, needle).collect();
            for start in found {
                if let Some(secret) = bytes.get_mut(start..start + needle.len()) {
                    secret.fill(b'*');
                }
            }
        }
    }
}
