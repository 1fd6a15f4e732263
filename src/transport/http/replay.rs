//! Event streams that a client may come back to: numbered messages, bounded, read by position.

use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// One stream of one session.
pub(super) struct Log {
    /// Unique in its session.
    pub(super) number: u64,
    inner: Mutex<Inner>,
    pub(super) changed: Notify,
    max_messages: usize,
    /// Bytes kept by all streams.
    total: Arc<AtomicUsize>,
    max_bytes: usize,
}

#[derive(Default)]
struct Inner {
    messages: VecDeque<Bytes>,
    /// Position of the message behind the last one; the first is 1.
    next: u64,
    finished: bool,
}

/// What stands at a position.
pub(super) enum At {
    /// This message.
    Message(Bytes),
    /// Nothing yet.
    Nothing,
    /// The end.
    End,
    /// A message that is no longer kept.
    Gone,
}

impl Log {
    pub(super) fn new(number: u64, max_messages: usize, total: &Arc<AtomicUsize>, max_bytes: usize) -> Self {
        Log {
            number,
            inner: Mutex::new(Inner { next: 1, ..Inner::default() }),
            changed: Notify::new(),
            max_messages: max_messages.max(1),
            total: Arc::clone(total),
            max_bytes,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends; the oldest messages make room.
    pub(super) fn push(&self, message: Bytes) {
        let mut inner = self.lock();
        self.total.fetch_add(message.len(), Ordering::Relaxed);
        inner.messages.push_back(message);
        inner.next += 1;
        while inner.messages.len() > self.max_messages
            || (inner.messages.len() > 1 && self.total.load(Ordering::Relaxed) > self.max_bytes)
        {
            if let Some(oldest) = inner.messages.pop_front() {
                self.total.fetch_sub(oldest.len(), Ordering::Relaxed);
            }
        }
        drop(inner);
        self.changed.notify_waiters();
    }

    /// Nothing follows.
    pub(super) fn finish(&self) {
        self.lock().finished = true;
        self.changed.notify_waiters();
    }

    pub(super) fn is_finished(&self) -> bool {
        self.lock().finished
    }

    /// The position behind the last message.
    pub(super) fn end(&self) -> u64 {
        self.lock().next
    }

    pub(super) fn at(&self, position: u64) -> At {
        let inner = self.lock();
        if position >= inner.next {
            return if inner.finished { At::End } else { At::Nothing };
        }
        let first = inner.next - inner.messages.len() as u64;
        let index = position.checked_sub(first).and_then(|index| usize::try_from(index).ok());
        index.and_then(|index| inner.messages.get(index)).map_or(At::Gone, |message| At::Message(message.clone()))
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let bytes: usize = self.lock().messages.iter().map(Bytes::len).sum();
        self.total.fetch_sub(bytes, Ordering::Relaxed);
    }
}
