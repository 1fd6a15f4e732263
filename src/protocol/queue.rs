//! Messages on their way to one client: bounded in number and bytes, first in, first out.

use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// A bounded queue with any number of senders and one reader.
#[derive(Debug)]
pub struct Queue {
    inner: Mutex<Inner>,
    readable: Notify,
    writable: Notify,
    max_messages: usize,
    max_bytes: usize,
}

#[derive(Debug, Default)]
struct Inner {
    messages: VecDeque<Bytes>,
    bytes: usize,
    closed: bool,
}

impl Queue {
    /// Takes messages while fewer than `max_messages` and less than `max_bytes` wait (one message is
    /// always taken, whatever its size).
    pub fn new(max_messages: usize, max_bytes: usize) -> Self {
        Queue {
            inner: Mutex::default(),
            readable: Notify::new(),
            writable: Notify::new(),
            max_messages: max_messages.max(1),
            max_bytes,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a message if there is room; gives it back if there is none or the reader is gone.
    pub fn offer(&self, message: Bytes) -> Result<(), Bytes> {
        let mut inner = self.lock();
        let full = inner.messages.len() >= self.max_messages
            || (!inner.messages.is_empty() && inner.bytes.saturating_add(message.len()) > self.max_bytes);
        if inner.closed || full {
            return Err(message);
        }
        inner.bytes += message.len();
        inner.messages.push_back(message);
        drop(inner);
        self.readable.notify_one();
        Ok(())
    }

    /// Appends a message, waiting for room; false if the reader is gone.
    pub async fn send(&self, mut message: Bytes) -> bool {
        loop {
            let room = self.writable.notified();
            tokio::pin!(room);
            room.as_mut().enable();
            match self.offer(message) {
                Ok(()) => return true,
                Err(back) => message = back,
            }
            if self.is_closed() {
                return false;
            }
            room.await;
        }
    }

    /// The next message; `None` once the queue is closed and empty. For one reader at a time.
    pub async fn next(&self) -> Option<Bytes> {
        loop {
            match self.take() {
                Some(message) => return Some(message),
                None if self.is_closed() => return None,
                None => self.readable.notified().await,
            }
        }
    }

    /// The next message if one waits.
    pub fn take(&self) -> Option<Bytes> {
        let mut inner = self.lock();
        let message = inner.messages.pop_front()?;
        inner.bytes = inner.bytes.saturating_sub(message.len());
        drop(inner);
        self.writable.notify_waiters();
        Some(message)
    }

    /// True if nothing waits.
    pub fn is_empty(&self) -> bool {
        self.lock().messages.is_empty()
    }

    /// Takes no more messages; what waits can still be read.
    pub fn close(&self) {
        self.lock().closed = true;
        self.readable.notify_one();
        self.writable.notify_waiters();
    }

    /// True after [`Queue::close`].
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }
}
