//! A text, long parts of which are not copied into it.

use super::SharedText;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::Arc;

/// Parts of so many bytes are left where they are: to copy them costs as much as to send them.
const SHARED_FROM: usize = 16 * 1024;

/// A text on its way out.
#[derive(Debug, Default)]
pub struct Pieces {
    /// What was written here; more is appended.
    pub text: Vec<u8>,
    /// Parts that stand somewhere else, and how many bytes of `text` are in front of each; in their order.
    shared: Vec<(usize, Bytes)>,
    /// What the only one of these is, if others send it too.
    list: Option<Arc<SharedText>>,
}

impl Pieces {
    /// Appends a part, without copying it where it is long.
    pub fn push(&mut self, part: &Bytes) {
        if part.len() < SHARED_FROM {
            self.text.extend_from_slice(part);
        } else {
            self.shared.push((self.text.len(), part.clone()));
        }
    }

    /// Appends a text that many answers share.
    pub fn push_shared(&mut self, part: &Arc<SharedText>) {
        self.push(part.text());
        self.list = (part.text().len() >= SHARED_FROM).then(|| Arc::clone(part));
    }

    /// The long text that it shares with other answers, if that is its only long part.
    pub fn shares(&self) -> Option<&Arc<SharedText>> {
        self.list.as_ref().filter(|_| self.shared.len() == 1)
    }

    /// What stands before and after its only long part ([`Pieces::shares`]).
    pub fn around(&self) -> (&[u8], &[u8]) {
        let at = self.shared.first().map_or(self.text.len(), |(at, _)| *at);
        self.text.split_at_checked(at).unwrap_or((&self.text, &[]))
    }

    /// Bytes that [`Pieces::push`] will copy of a part.
    pub fn copied(part: &Bytes) -> usize {
        if part.len() < SHARED_FROM { part.len() } else { 0 }
    }

    /// The whole text in one buffer.
    pub fn whole(self) -> Vec<u8> {
        if self.shared.is_empty() {
            return self.text;
        }
        let mut whole =
            Vec::with_capacity(self.text.len() + self.shared.iter().map(|(_, part)| part.len()).sum::<usize>());
        self.each(|piece| whole.extend_from_slice(&piece));
        whole
    }

    /// All pieces in order, none of them empty.
    pub fn parts(self) -> VecDeque<Bytes> {
        let mut parts = VecDeque::with_capacity(2 * self.shared.len() + 1);
        self.each(|piece| parts.push_back(piece));
        parts
    }

    /// True if all of it is in `text`.
    pub fn is_one(&self) -> bool {
        self.shared.is_empty()
    }

    fn each(self, mut take: impl FnMut(Bytes)) {
        let (mut rest, mut gone) = (Bytes::from(self.text), 0);
        let mut take = |piece: Bytes| {
            if !piece.is_empty() {
                take(piece)
            }
        };
        for (at, part) in self.shared {
            take(rest.split_to((at - gone).min(rest.len())));
            take(part);
            gone = at;
        }
        take(rest);
    }
}

impl From<Vec<u8>> for Pieces {
    fn from(text: Vec<u8>) -> Self {
        Pieces { text, ..Pieces::default() }
    }
}
