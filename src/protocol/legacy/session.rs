//! What a handshake left behind: version, client features, log level, subscriptions, requests in
//! flight in both directions.

use crate::protocol::calls::Features;
use crate::protocol::events::Level;
use crate::protocol::jsonrpc::{Answer, Id, Notification};
use crate::protocol::version::Version;
use crate::protocol::watch::{Inbox, Subscription};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// Most resources one session watches.
const MOST_SUBSCRIPTIONS: usize = 1000;

type Waiting = HashMap<u64, oneshot::Sender<Result<Value, ()>>>;

/// One legacy session, or one stdio or WebSocket connection of either era.
#[derive(Debug, Default)]
pub(crate) struct Session {
    opened: OnceLock<(Version, Features)>,
    ready: AtomicBool,
    level: Mutex<Option<Level>>,
    subscriptions: Mutex<HashMap<String, Subscription>>,
    inbox: Arc<Inbox>,
    waiting: Mutex<Waiting>,
    asked: AtomicU64,
    in_flight: Mutex<HashMap<String, CancellationToken>>,
    stateless: bool,
}

/// Whether a request may run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Granted,
    /// The id is still in use.
    Duplicate,
    /// Too many requests in flight.
    Full,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// For one HTTP request without session: nothing is known of the client, it can't be asked.
    pub(crate) fn stateless(version: Version) -> Self {
        let session = Session { stateless: true, ..Session::default() };
        session.open(version, Features::default());
        session
    }

    /// False if it was open already.
    pub(crate) fn open(&self, version: Version, features: Features) -> bool {
        self.opened.set((version, features)).is_ok()
    }

    pub(crate) fn version(&self) -> Option<Version> {
        self.opened.get().map(|(version, _)| *version)
    }

    pub(crate) fn features(&self) -> Features {
        self.opened.get().map(|(_, features)| *features).unwrap_or_default()
    }

    pub(crate) fn can_ask(&self) -> bool {
        !self.stateless
    }

    /// The client is past the handshake: changes may be announced.
    pub(crate) fn ready(&self) {
        self.ready.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Relaxed) && self.version().is_some()
    }

    pub(crate) fn set_level(&self, level: Level) {
        *lock(&self.level) = Some(level);
    }

    pub(crate) fn level(&self) -> Option<Level> {
        *lock(&self.level)
    }

    /// Keeps a subscription of this session's inbox; false if there are too many.
    pub(crate) fn subscribe(&self, uri: &str, subscription: Subscription) -> bool {
        let mut subscriptions = lock(&self.subscriptions);
        if subscriptions.len() >= MOST_SUBSCRIPTIONS && !subscriptions.contains_key(uri) {
            return false;
        }
        subscriptions.insert(uri.to_owned(), subscription);
        true
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        lock(&self.subscriptions).remove(uri);
    }

    pub(crate) fn is_subscribed(&self, uri: &str) -> bool {
        lock(&self.subscriptions).contains_key(uri)
    }

    /// Where news of the resources that it is subscribed to arrive.
    pub(crate) fn inbox(&self) -> &Arc<Inbox> {
        &self.inbox
    }

    /// Registers a request of the client so that it can be cancelled.
    pub(crate) fn admit(&self, id: &Id<'_>, token: &CancellationToken, most: usize) -> Admission {
        let mut in_flight = lock(&self.in_flight);
        if in_flight.contains_key(id.as_json()) {
            return Admission::Duplicate;
        }
        if in_flight.len() >= most {
            return Admission::Full;
        }
        in_flight.insert(id.as_json().to_owned(), token.clone());
        Admission::Granted
    }

    /// The request is answered or given up.
    pub(crate) fn release(&self, id: &str) {
        lock(&self.in_flight).remove(id);
    }

    /// Handles a notification; unknown ones are ignored.
    pub(crate) fn notified(&self, notification: &Notification<'_>) {
        match notification.method.as_ref() {
            "notifications/initialized" => self.ready(),
            "notifications/cancelled" => {
                if let Some(id) = notification.params.request_id.and_then(Id::read)
                    && let Some(token) = lock(&self.in_flight).get(id.as_json())
                {
                    token.cancel();
                }
            }
            _ => {}
        }
    }

    /// A number for a request of ours and where its answer arrives.
    pub(super) fn expect_answer(&self) -> (Expected<'_>, oneshot::Receiver<Result<Value, ()>>) {
        let number = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, receiver) = oneshot::channel();
        lock(&self.waiting).insert(number, sender);
        (Expected { session: self, number }, receiver)
    }

    /// Handles a client's answer to a request of ours; answers to nothing are dropped.
    pub(crate) fn answered(&self, answer: &Answer<'_>) {
        let Some(sender) = answer.id.as_json().parse().ok().and_then(|number: u64| lock(&self.waiting).remove(&number))
        else {
            return;
        };
        let outcome = match answer.outcome {
            Ok(result) => serde_json::from_str(result.get()).ok().filter(Value::is_object).ok_or(()),
            Err(_) => Err(()),
        };
        // The asking call may just have been cancelled.
        let _ = sender.send(outcome);
    }

    /// The client can't answer any more.
    pub(crate) fn forget_questions(&self) {
        lock(&self.waiting).clear();
    }

    /// The connection is gone: everything in flight is cancelled.
    pub(crate) fn cancel_all(&self) {
        self.forget_questions();
        for token in lock(&self.in_flight).values() {
            token.cancel();
        }
    }
}

/// An unanswered request of ours; dropping it stops waiting.
pub(super) struct Expected<'a> {
    session: &'a Session,
    number: u64,
}

impl Expected<'_> {
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}

impl Drop for Expected<'_> {
    fn drop(&mut self) {
        lock(&self.session.waiting).remove(&self.number);
    }
}
