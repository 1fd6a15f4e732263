//! Connections to one origin (RFC 9112 §9.3): each is either in use by one call or lies here.

use crate::gather::Gathered;
use crate::workers;
use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{Connection, SendRequest};
use hyper_util::rt::TokioIo;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;

type Stream = TokioIo<Gathered<TcpStream>>;

/// How often connections that nobody uses are looked after.
const LOOK: Duration = Duration::from_secs(5);

/// One connection with the two ends of the library's channel to it.
pub(super) struct Wire(Box<Ends>);

struct Ends {
    sender: SendRequest<Full<Bytes>>,
    /// `None` once it has ended: what still waits in the channel is told so.
    connection: Option<Connection<Stream, Full<Bytes>>>,
    _counted: Counted,
}

/// One of the connections that there are.
pub(super) struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Connections that lie on one worker.
#[derive(Default)]
// A cache line each, for they are written by different processors.
#[repr(align(64))]
struct Shelf(Mutex<Vec<(Wire, Instant)>>);

impl Shelf {
    fn idle(&self) -> MutexGuard<'_, Vec<(Wire, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Connections that no call uses.
pub(super) struct Pool {
    /// For each worker those that it made; on each the one used last is the last. Events of a connection come to the
    /// worker that made it.
    shelves: Box<[Shelf]>,
    /// Connections that there are, in use or not.
    open: Arc<AtomicUsize>,
    most: usize,
    longest: Duration,
    watched: AtomicBool,
}

impl Pool {
    /// Keeps at most `most` connections, none of them longer than `longest`.
    pub(super) fn new(most: usize, longest: Duration) -> Arc<Pool> {
        // One more for all other threads.
        let shelves = (0..=workers::wanted()).map(|_| Shelf::default()).collect();
        Arc::new(Pool { shelves, open: Arc::default(), most, longest, watched: AtomicBool::new(false) })
    }

    /// The connection that this worker used last. It may have been closed from the other side; sending finds out.
    pub(super) fn take(&self) -> Option<Wire> {
        let own = workers::shard() % self.shelves.len().max(1);
        let mut found = self.shelves.get(own)?.idle().pop();
        if found.is_none() && self.open.load(Ordering::Relaxed) >= self.most {
            // No more may be opened than calls may run: another worker has one to spare.
            found = self.shelves.iter().find_map(|shelf| shelf.idle().pop());
        }
        let (wire, since) = found?;
        (since.elapsed() < self.longest).then_some(wire)
    }

    fn put(&self, wire: Wire) {
        let own = workers::shard() % self.shelves.len().max(1);
        let Some(shelf) = self.shelves.get(own) else { return };
        let mut idle = shelf.idle();
        if idle.len() < self.most {
            idle.push((wire, Instant::now()));
        }
    }

    /// Closes from now on what has been idle for too long or was closed from the other side.
    pub(super) fn watch(self: &Arc<Self>) {
        if self.watched.swap(true, Ordering::Relaxed) {
            return;
        }
        let pool = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOOK).await;
                let Some(pool) = pool.upgrade() else { return };
                pool.look();
            }
        });
    }

    fn look(&self) {
        for shelf in &self.shelves {
            // Oldest first: while these are looked at, calls take the others.
            let mut kept = Vec::new();
            for (mut wire, since) in std::mem::take(&mut *shelf.idle()) {
                if since.elapsed() < self.longest && wire.is_open(&mut Context::from_waker(Waker::noop())) {
                    kept.push((wire, since));
                }
            }
            let mut idle = shelf.idle();
            kept.append(&mut idle);
            kept.truncate(self.most);
            *idle = kept;
        }
    }

    /// Counts a connection for as long as the guard lives.
    pub(super) fn count(&self) -> Counted {
        self.open.fetch_add(1, Ordering::Relaxed);
        Counted(Arc::clone(&self.open))
    }
}

impl Wire {
    pub(super) fn new(
        sender: SendRequest<Full<Bytes>>,
        connection: Connection<Stream, Full<Bytes>>,
        counted: Counted,
    ) -> Wire {
        Wire(Box::new(Ends { sender, connection: Some(connection), _counted: counted }))
    }

    /// Lets the connection read and write. Everything that the library would wake another task for is done by the caller
    /// himself, so only the socket needs his waker.
    fn drive(&mut self, cx: &mut Context<'_>) {
        if let Some(connection) = &mut self.0.connection
            && Pin::new(connection).poll(cx).is_ready()
        {
            // What went wrong was told to the request in hand.
            self.0.connection = None;
        }
    }

    /// True if another request can be sent.
    fn is_open(&mut self, cx: &mut Context<'_>) -> bool {
        self.drive(cx);
        self.0.connection.is_some() && self.0.sender.is_ready()
    }

    /// Sends a request and waits for the head of the answer; what was not sent comes back with the error.
    pub(super) async fn send(
        mut self,
        request: Request<Full<Bytes>>,
        pool: &Arc<Pool>,
    ) -> Result<Response<Live>, TrySendError<Request<Full<Bytes>>>> {
        let mut answer = pin!(self.0.sender.try_send_request(request));
        let (head, body) = poll_fn(|cx| {
            self.drive(cx);
            answer.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        })
        .await?
        .into_parts();
        Ok(Response::from_parts(head, Live { body, wire: Some(self), pool: Arc::clone(pool) }))
    }
}

/// The body of an answer, and the connection that it comes over. At its end the connection goes back to the pool; dropped
/// before, it is closed.
pub(in crate::upstream) struct Live {
    body: Incoming,
    wire: Option<Wire>,
    pool: Arc<Pool>,
}

impl Live {
    /// As [`Body::poll_frame`].
    pub(in crate::upstream) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let mut next = self.next();
        if next.is_pending()
            && let Some(wire) = &mut self.wire
        {
            wire.drive(cx);
            next = self.next();
        }
        match &next {
            Poll::Ready(None) => {
                if let Some(mut wire) = self.wire.take()
                    && wire.is_open(cx)
                {
                    self.pool.put(wire);
                }
            }
            Poll::Ready(Some(Err(_))) => self.wire = None,
            _ => {}
        }
        next
    }

    fn next(&mut self) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut self.body).poll_frame(&mut Context::from_waker(Waker::noop()))
    }

    pub(in crate::upstream) fn is_end(&self) -> bool {
        self.body.is_end_stream()
    }

    pub(in crate::upstream) fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
