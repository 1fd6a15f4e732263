//! Page cursors that any replica can take up: what they say is in them, signed with the state key.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use std::time::{SystemTime, UNIX_EPOCH};

/// Which list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl Kind {
    /// Every list.
    pub(crate) const ALL: [Kind; 4] = [Kind::Tools, Kind::Resources, Kind::Templates, Kind::Prompts];

    /// The member of the result that holds the items.
    pub(crate) fn member(self) -> &'static str {
        match self {
            Kind::Tools => "tools",
            Kind::Resources => "resources",
            Kind::Templates => "resourceTemplates",
            Kind::Prompts => "prompts",
        }
    }
}

/// Where a page starts, and in which list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    /// Digest of the published lists: a cursor of another catalog is refused.
    pub(crate) catalog: [u8; 8],
    /// Digest of the set of visible tools.
    pub(crate) shown: [u8; 8],
}

const FORMAT: u8 = 1;
const LIFETIME: u64 = 24 * 3600;
const MAC_LENGTH: usize = 16;

/// First eight bytes of SHA-256 over the pieces.
pub(crate) fn digest8<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> [u8; 8] {
    let mut hash = Sha256::new();
    for piece in pieces {
        hash.update((piece.len() as u64).to_be_bytes());
        hash.update(piece);
    }
    hash.finalize().first_chunk::<8>().copied().unwrap_or_default()
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

impl Cursor {
    fn mac(&self, expires: u64, key: &[u8]) -> Option<(Vec<u8>, Hmac<Sha256>)> {
        let mut text = vec![FORMAT, self.kind as u8];
        text.extend((self.start as u64).to_be_bytes());
        text.extend(expires.to_be_bytes());
        text.extend(self.catalog);
        text.extend(self.shown);
        let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
        mac.update(b"cursor");
        mac.update(&text);
        Some((text, mac))
    }

    /// The text for the client.
    pub(crate) fn seal(&self, key: &[u8]) -> Option<String> {
        let (mut text, mac) = self.mac(now() + LIFETIME, key)?;
        text.extend(mac.finalize().into_bytes().iter().take(MAC_LENGTH));
        Some(URL_SAFE_NO_PAD.encode(text))
    }

    /// The start that a client's text names, if it is ours, fresh, and for the list that `self`
    /// describes.
    pub(crate) fn open(&self, text: &str, key: &[u8]) -> Option<usize> {
        if text.len() > 128 {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let number = |from: usize| Some(u64::from_be_bytes(*bytes.get(from..)?.first_chunk::<8>()?));
        let (start, expires) = (number(2)?, number(10)?);
        let claimed = Cursor { start: usize::try_from(start).ok()?, ..*self };
        let (text, mac) = claimed.mac(expires, key)?;
        let (head, tail) = bytes.split_at_checked(text.len())?;
        let genuine = tail.len() == MAC_LENGTH && mac.verify_truncated_left(tail).is_ok();
        (genuine && head == text && expires > now()).then_some(claimed.start)
    }
}
