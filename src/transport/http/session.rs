//! Legacy sessions over Streamable HTTP.

use super::super::Settings;
use super::replay::Log;
use crate::access::Caller;
use crate::protocol::{EVERYTHING, Server, Session, list_changed, updated};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

/// Finished streams that one session keeps for clients that come back.
const KEPT_STREAMS: usize = 8;

/// One session.
pub(super) struct HttpSession {
    pub(super) id: Arc<str>,
    pub(super) protocol: Session,
    subject: Option<Arc<str>>,
    tenant: Option<Arc<str>>,
    last_used: AtomicU64,
    /// Fires when the session ends.
    pub(super) closed: CancellationToken,
    streams: Mutex<VecDeque<Arc<Log>>>,
    numbers: AtomicU64,
    /// The stream of messages that belong to no request (GET).
    pub(super) general: Arc<Log>,
    announcing: AtomicBool,
    /// Counts GET streams: the newest gets the messages.
    pub(super) listeners: AtomicU64,
    max_messages: usize,
    total: Arc<AtomicUsize>,
    max_bytes: usize,
}

/// All sessions of one server.
pub(super) struct Sessions {
    map: RwLock<HashMap<Arc<str>, Arc<HttpSession>>>,
    start: Instant,
    idle: Duration,
    max: usize,
    max_messages: usize,
    total: Arc<AtomicUsize>,
    max_bytes: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sessions {
    pub(super) fn new(settings: &Settings) -> Self {
        Sessions {
            map: RwLock::default(),
            start: Instant::now(),
            idle: settings.sessions.idle,
            max: settings.sessions.max,
            max_messages: settings.replay_messages,
            total: Arc::default(),
            max_bytes: settings.replay_bytes,
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// A session that only clients who know its id can name; not yet reachable. `None` if the
    /// system has no randomness to give.
    pub(super) fn create(&self, caller: &Caller) -> Option<Arc<HttpSession>> {
        let mut random = [0u8; 16];
        getrandom::fill(&mut random).ok()?;
        let id: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(Arc::new(HttpSession {
            id: id.into(),
            protocol: Session::default(),
            subject: caller.subject.clone(),
            tenant: caller.tenant.clone(),
            last_used: AtomicU64::new(self.now()),
            closed: CancellationToken::new(),
            streams: Mutex::default(),
            numbers: AtomicU64::new(1),
            general: Arc::new(Log::new(0, self.max_messages, &self.total, self.max_bytes)),
            announcing: AtomicBool::new(false),
            listeners: AtomicU64::new(0),
            max_messages: self.max_messages,
            total: Arc::clone(&self.total),
            max_bytes: self.max_bytes,
        }))
    }

    /// Makes a session reachable; false if there are too many.
    pub(super) fn insert(&self, session: &Arc<HttpSession>) -> bool {
        if self.map.read().unwrap_or_else(PoisonError::into_inner).len() >= self.max {
            self.sweep();
        }
        let mut map = self.map.write().unwrap_or_else(PoisonError::into_inner);
        if map.len() >= self.max {
            return false;
        }
        map.insert(Arc::clone(&session.id), Arc::clone(session));
        true
    }

    /// The session, if it lives and belongs to this caller.
    pub(super) fn find(&self, id: &str, caller: &Caller) -> Option<Arc<HttpSession>> {
        let session = self.map.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()?;
        if self.is_idle(&session) {
            self.end(&session);
            return None;
        }
        if session.subject != caller.subject || session.tenant != caller.tenant {
            return None;
        }
        self.touch(&session);
        Some(session)
    }

    pub(super) fn touch(&self, session: &HttpSession) {
        session.last_used.store(self.now(), Ordering::Relaxed);
    }

    fn is_idle(&self, session: &HttpSession) -> bool {
        let unused = self.now().saturating_sub(session.last_used.load(Ordering::Relaxed));
        u128::from(unused) > self.idle.as_millis()
    }

    /// Ends a session: its streams close, its requests are cancelled.
    pub(super) fn end(&self, session: &HttpSession) {
        self.map.write().unwrap_or_else(PoisonError::into_inner).remove(&session.id);
        session.closed.cancel();
        session.protocol.cancel_all();
    }

    pub(super) fn end_all(&self) {
        let all: Vec<_> = self.map.write().unwrap_or_else(PoisonError::into_inner).drain().collect();
        for (_, session) in all {
            // Requests in flight may still be answered within the grace of the shutdown.
            session.closed.cancel();
        }
    }

    fn sweep(&self) {
        let map = self.map.read().unwrap_or_else(PoisonError::into_inner);
        let idle: Vec<_> = map.values().filter(|session| self.is_idle(session)).cloned().collect();
        drop(map);
        for session in idle {
            self.end(&session);
        }
    }
}

/// Ends idle sessions, so that they free their memory without being asked for.
pub(super) async fn sweep(sessions: Arc<Sessions>, idle: Duration) {
    let pause = (idle / 4).clamp(Duration::from_secs(1), Duration::from_secs(60));
    loop {
        tokio::time::sleep(pause).await;
        sessions.sweep();
    }
}

impl HttpSession {
    /// A new stream for one request's messages.
    pub(super) fn open_stream(&self) -> Arc<Log> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let log = Arc::new(Log::new(number, self.max_messages, &self.total, self.max_bytes));
        let mut streams = lock(&self.streams);
        let surplus = streams.iter().filter(|log| log.is_finished()).count().saturating_sub(KEPT_STREAMS - 1);
        for _ in 0..surplus {
            if let Some(oldest) = streams.iter().position(|log| log.is_finished()) {
                streams.remove(oldest);
            }
        }
        streams.push_back(Arc::clone(&log));
        log
    }

    /// The stream of this number.
    pub(super) fn stream(&self, number: u64) -> Option<Arc<Log>> {
        if number == 0 {
            return Some(Arc::clone(&self.general));
        }
        lock(&self.streams).iter().find(|log| log.number == number).cloned()
    }

    /// Starts putting changes on the general stream, once.
    pub(super) fn announce_changes(self: &Arc<Self>, server: &Server) {
        if self.announcing.swap(true, Ordering::Relaxed) {
            return;
        }
        let lists = server.settings().list_changed;
        let mut changes = server.changes();
        let this = Arc::clone(self);
        tokio::spawn(async move {
            loop {
                let change = tokio::select! {
                    () = this.closed.cancelled() => break,
                    uri = this.protocol.inbox().next() => {
                        if this.protocol.is_subscribed(&uri) {
                            this.general.push(updated(&uri));
                        }
                        continue;
                    }
                    change = changes.recv() => change,
                };
                let changes = match &change {
                    Ok(change) => std::slice::from_ref(change),
                    Err(RecvError::Lagged(_)) => &EVERYTHING,
                    Err(RecvError::Closed) => break,
                };
                if lists {
                    changes.iter().for_each(|change| this.general.push(list_changed(change)));
                }
            }
        });
    }
}
