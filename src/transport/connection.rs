//! What stdio, WebSocket and HTTP+SSE share: one peer, frames in, one ordered queue of messages out.

use super::Settings;
use crate::access::Caller;
use crate::protocol::jsonrpc::{self, Incoming, Message, Request};
use crate::protocol::{
    Admission, EVERYTHING, INVALID_REQUEST, Queue, Reply, RpcError, Scope, Server, Session, TOO_MANY_REQUESTS, Version,
    list_changed, updated,
};
use crate::service::Change;
use bytes::Bytes;
use futures_util::future::join_all;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Requests that may wait for each one that may run.
const WAITING_PER_RUNNING: usize = 8;
/// Messages on their way out before the peer counts as slow.
const MOST_OUTGOING: usize = 1024;
/// How long a cancelled call may take to notice.
pub(super) const CANCEL_GRACE: Duration = Duration::from_secs(2);

/// One peer.
pub(super) struct Connection {
    server: Arc<Server>,
    pub(super) session: Session,
    /// Messages to the peer.
    pub(super) queue: Arc<Queue>,
    caller: Arc<Caller>,
    /// Ends listening requests with a result.
    closing: CancellationToken,
    running: Semaphore,
    held_bytes: AtomicUsize,
    max_held_bytes: usize,
    tasks: TaskTracker,
    local: bool,
    modern: bool,
}

impl Connection {
    /// `modern`: requests that describe themselves are served too.
    pub(super) fn new(
        server: Arc<Server>,
        settings: &Settings,
        caller: Arc<Caller>,
        closing: &CancellationToken,
        local: bool,
        modern: bool,
    ) -> Arc<Self> {
        let running = server.settings().max_in_flight.max(1);
        Arc::new(Connection {
            server,
            session: Session::default(),
            queue: Arc::new(Queue::new(MOST_OUTGOING, settings.max_frame.saturating_mul(4))),
            caller,
            closing: closing.child_token(),
            running: Semaphore::new(running),
            held_bytes: AtomicUsize::new(0),
            max_held_bytes: settings.max_frame.saturating_mul(4),
            tasks: TaskTracker::new(),
            local,
            modern,
        })
    }

    fn transport(&self) -> &'static str {
        match (self.local, self.modern) {
            (true, _) => "stdio",
            (false, true) => "websocket",
            (false, false) => "sse",
        }
    }

    async fn send(&self, message: Vec<u8>) {
        // False only if the peer is gone, which the reading side notices too.
        let _ = self.queue.send(message.into()).await;
    }

    /// A frame that is no message for a reason of the transport's own.
    pub(super) async fn refuse(&self, text: String) {
        self.send(RpcError::new(INVALID_REQUEST, text).write(None)).await;
    }

    /// Takes one frame. What changes the session is done before this returns, so that the next frame
    /// finds it done; calls go on in the background.
    pub(super) async fn receive(self: &Arc<Self>, frame: Bytes) {
        match self.server.decode(&frame) {
            Err(rejected) => self.send(rejected.error.write(rejected.id.as_deref())).await,
            Ok(Incoming::One(Message::Notification(notification))) => self.session.notified(&notification),
            Ok(Incoming::One(Message::Answer(answer))) => self.session.answered(&answer),
            Ok(Incoming::One(Message::Request(request))) if is_long(&request.method) => {
                self.start(&request, frame.clone()).await;
            }
            Ok(Incoming::One(Message::Request(request))) => {
                let reply = self.answer(&request, &CancellationToken::new()).await;
                self.send(reply.body.whole()).await;
            }
            Ok(Incoming::Batch(items)) => {
                if let Some(error) = self.batch_problem(items.len(), frame.len()) {
                    self.send(error.write(None)).await;
                    return;
                }
                let (this, hold) = (Arc::clone(self), Hold::new(self, frame.len()));
                let frame = frame.clone();
                self.tasks.spawn(async move {
                    if let Some(replies) = this.batch(&frame).await {
                        this.send(replies).await;
                    }
                    drop(hold);
                });
            }
        }
    }

    /// Runs a request in the background.
    async fn start(self: &Arc<Self>, request: &Request<'_>, frame: Bytes) {
        let id = request.id.as_json().to_owned();
        let token = CancellationToken::new();
        let most = self.server.settings().max_in_flight.max(1).saturating_mul(WAITING_PER_RUNNING);
        let crowded = self.held_bytes.load(Ordering::Relaxed).saturating_add(frame.len()) > self.max_held_bytes;
        let admission = if crowded { Admission::Full } else { self.session.admit(&request.id, &token, most) };
        match admission {
            Admission::Granted => {}
            Admission::Duplicate => {
                let error = RpcError::new(INVALID_REQUEST, "This id is still in use");
                return self.send(error.write(Some(&id))).await;
            }
            Admission::Full => {
                let error = RpcError::new(TOO_MANY_REQUESTS, "Too many requests in flight");
                return self.send(error.write(Some(&id))).await;
            }
        }
        let hold = Hold::new(self, frame.len());
        let this = Arc::clone(self);
        let listens = request.method == "subscriptions/listen";
        self.tasks.spawn(async move {
            // Listening is waiting: it takes nobody's turn.
            let turn = async { if listens { None } else { this.running.acquire().await.ok() } };
            let reply = tokio::select! {
                biased;
                () = abandoned(&token) => None,
                reply = async {
                    let _turn = turn.await;
                    if token.is_cancelled() { None } else { this.again(&frame, &token).await }
                } => reply,
            };
            this.session.release(&id);
            if let Some(reply) = reply.filter(|_| !token.is_cancelled()) {
                this.send(reply.body.whole()).await;
            }
            drop(hold);
        });
    }

    /// Decodes a frame that decoded before, and answers it.
    async fn again(&self, frame: &[u8], token: &CancellationToken) -> Option<Reply> {
        match self.server.decode(frame) {
            Ok(Incoming::One(Message::Request(request))) => Some(self.answer(&request, token).await),
            _ => None,
        }
    }

    async fn answer(&self, request: &Request<'_>, token: &CancellationToken) -> Reply {
        let scope = Scope {
            caller: Arc::clone(&self.caller),
            cancel: token.clone(),
            closing: &self.closing,
            queue: Some(&self.queue),
            headers: None,
            local: self.local,
            transport: self.transport(),
        };
        match request.claim() {
            None => self.server.serve_legacy(&self.session, request, &scope).await,
            Some(_) if self.modern => self.server.serve_modern(request, &scope).await,
            Some(_) => {
                let text = "HTTP+SSE serves revisions up to 2025-11-25; use Streamable HTTP for newer ones";
                Reply::error(request.id.as_json(), &RpcError::new(INVALID_REQUEST, text))
            }
        }
    }

    fn batch_problem(&self, items: usize, bytes: usize) -> Option<RpcError> {
        if self.session.version().is_none_or(|version: Version| !version.knows().batches) {
            return Some(RpcError::new(INVALID_REQUEST, "Batches belong to revision 2025-03-26 only"));
        }
        if items == 0 {
            return Some(RpcError::new(INVALID_REQUEST, "Empty batch"));
        }
        let crowded = self.held_bytes.load(Ordering::Relaxed).saturating_add(bytes) > self.max_held_bytes;
        if items > self.server.settings().max_in_flight || crowded {
            return Some(RpcError::new(TOO_MANY_REQUESTS, "Too many requests in flight"));
        }
        None
    }

    /// Answers to a batch as one array; `None` if nothing in it wants one.
    async fn batch(&self, frame: &[u8]) -> Option<Vec<u8>> {
        let Ok(Incoming::Batch(items)) = self.server.decode(frame) else { return None };
        let _turn = self.running.acquire().await.ok();
        let replies = join_all(items.into_iter().map(|item| self.element(item.get()))).await;
        joined(replies.into_iter().flatten())
    }

    async fn element(&self, text: &str) -> Option<Vec<u8>> {
        let request = match jsonrpc::decode_one(text) {
            Err(rejected) => return Some(rejected.error.write(rejected.id.as_deref())),
            Ok(Message::Notification(notification)) => {
                self.session.notified(&notification);
                return None;
            }
            Ok(Message::Answer(answer)) => {
                self.session.answered(&answer);
                return None;
            }
            Ok(Message::Request(request)) => request,
        };
        if let Some(error) = not_in_batch(&request) {
            return Some(error.write(Some(request.id.as_json())));
        }
        let token = CancellationToken::new();
        if self.session.admit(&request.id, &token, usize::MAX) != Admission::Granted {
            return Some(RpcError::new(INVALID_REQUEST, "This id is still in use").write(Some(request.id.as_json())));
        }
        let reply = tokio::select! {
            biased;
            () = abandoned(&token) => None,
            reply = self.answer(&request, &token) => Some(reply),
        };
        self.session.release(request.id.as_json());
        reply.filter(|_| !token.is_cancelled()).map(|reply| reply.body.whole())
    }

    /// Tells the peer of a change, if its session is past the handshake. False: the peer reads too
    /// slowly and must go.
    pub(super) fn announce(&self, change: Result<Change, RecvError>) -> bool {
        if !self.session.is_ready() || !self.server.settings().list_changed {
            return true;
        }
        let changes = match &change {
            Ok(change) => std::slice::from_ref(change),
            Err(RecvError::Lagged(_)) => &EVERYTHING,
            Err(RecvError::Closed) => &[],
        };
        changes.iter().all(|change| self.queue.offer(list_changed(change)).is_ok())
    }

    /// Tells the peer that a resource it is subscribed to changed. False: the peer reads too slowly and must go.
    pub(super) fn announce_update(&self, uri: &str) -> bool {
        !self.session.is_ready() || !self.session.is_subscribed(uri) || self.queue.offer(updated(uri)).is_ok()
    }

    /// No more frames will come: waits for what is in flight, then cancels it.
    pub(super) async fn finish(&self, grace: Duration) {
        self.session.forget_questions();
        self.closing.cancel();
        self.tasks.close();
        if tokio::time::timeout(grace, self.tasks.wait()).await.is_err() {
            self.session.cancel_all();
            let _ = tokio::time::timeout(CANCEL_GRACE * 2, self.tasks.wait()).await;
        }
        self.queue.close();
    }

    /// The peer is gone: cancels everything at once.
    pub(super) fn abort(&self) {
        self.queue.close();
        self.closing.cancel();
        self.session.cancel_all();
    }
}

/// Counts the bytes of a frame while its request waits or runs.
struct Hold(Arc<Connection>, usize);

impl Hold {
    fn new(connection: &Arc<Connection>, bytes: usize) -> Self {
        connection.held_bytes.fetch_add(bytes, Ordering::Relaxed);
        Hold(Arc::clone(connection), bytes)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.held_bytes.fetch_sub(self.1, Ordering::Relaxed);
    }
}

/// Requests that may take their time; all others are answered in order.
fn is_long(method: &str) -> bool {
    matches!(
        method,
        "tools/call"
            | "resources/read"
            | "prompts/get"
            | "completion/complete"
            | "resources/subscribe"
            | "subscriptions/listen"
            | "tasks/result"
    )
}

/// Resolves when a cancelled call has had its time to notice.
pub(super) async fn abandoned(token: &CancellationToken) {
    token.cancelled().await;
    tokio::time::sleep(CANCEL_GRACE).await;
}

/// Why a request may not stand in an array.
pub(super) fn not_in_batch(request: &Request<'_>) -> Option<RpcError> {
    if request.method == "initialize" {
        Some(RpcError::new(INVALID_REQUEST, "`initialize` must not be part of a batch"))
    } else if request.claim().is_some() {
        Some(RpcError::new(INVALID_REQUEST, "Revision 2026-07-28 has no batches"))
    } else {
        None
    }
}

/// A JSON array of responses; `None` if there are none.
pub(super) fn joined(replies: impl Iterator<Item = Vec<u8>>) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for reply in replies {
        out.push(if out.is_empty() { b'[' } else { b',' });
        out.extend(reply);
    }
    if out.is_empty() {
        return None;
    }
    out.push(b']');
    Some(out)
}
