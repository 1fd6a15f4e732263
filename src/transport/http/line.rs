//! One connection: tells HTTP/1 and HTTP/2 apart, and writes event streams itself.
//!
//! An event stream may stay open for hours and say nothing. All that time the HTTP library would hold two buffers of 8 kB and
//! its own state for it. So with HTTP/1 the library is let go once the head of such a stream is known: the stream is written
//! here, in chunks (RFC 9112 §7.1), and afterwards a fresh state serves the connection on. Streams of HTTP/2 share a
//! connection and stay where they are.

use super::Http;
use super::body::Body;
use super::front::Front;
use super::stalled::Stalled;
use crate::gather::Gathered;
use crate::transport::Certificate;
use crate::workers::Workers;
use ::http::header::{CONNECTION, CONTENT_TYPE, DATE, TRANSFER_ENCODING};
use ::http::{HeaderName, HeaderValue, Method, Request, Response, Version};
use axum::Router;
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::poll_fn;
use std::io::{self, Write};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::SystemTime;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

/// Events are gathered up to this many bytes before they are written.
const GATHERED: usize = 16 * 1024;

/// What the HTTP library's side of a connection and this side tell each other.
#[derive(Default)]
pub(super) struct Handover {
    events: Mutex<Option<Events>>,
    /// The library still has bytes of earlier answers to write.
    unsent: AtomicBool,
}

/// An event stream that is to be written here.
struct Events {
    /// Status line and header fields, ready to be sent.
    head: Vec<u8>,
    body: Body,
    /// The client will use the connection again.
    keep: bool,
}

impl Events {
    /// Writes status line and header fields (RFC 9112 §4, §5).
    fn new(response: Response<Body>, keep: bool) -> Self {
        let (parts, body) = response.into_parts();
        let date = httpdate::fmt_http_date(SystemTime::now());
        let mut head = Vec::with_capacity(512);
        let status = parts.status;
        head.extend_from_slice(b"HTTP/1.1 ");
        head.extend_from_slice(status.as_str().as_bytes());
        head.extend_from_slice(b" ");
        head.extend_from_slice(status.canonical_reason().unwrap_or_default().as_bytes());
        head.extend_from_slice(b"\r\n");
        let mut field = |name: &HeaderName, value: &[u8]| {
            for piece in [name.as_str().as_bytes(), b": ", value, b"\r\n"] {
                head.extend_from_slice(piece);
            }
        };
        parts.headers.iter().for_each(|(name, value)| field(name, value.as_bytes()));
        field(&TRANSFER_ENCODING, b"chunked");
        field(&DATE, date.as_bytes());
        if !keep {
            field(&CONNECTION, b"close");
        }
        head.extend_from_slice(b"\r\n");
        Events { head, body, keep }
    }
}

impl Handover {
    pub(super) fn set_unsent(&self, unsent: bool) {
        self.unsent.store(unsent, Ordering::Relaxed);
    }

    fn put(&self, events: Events) {
        *self.events.lock().unwrap_or_else(PoisonError::into_inner) = Some(events);
    }

    fn take(&self) -> Option<Events> {
        if self.unsent.load(Ordering::Relaxed) {
            return None;
        }
        self.events.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Serves one connection to its end.
pub(super) async fn serve<T>(http: &Arc<Http>, router: Router, stream: Stalled<T>, certificate: Option<Certificate>)
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let certificate = certificate.map(Arc::new);
    let handover = Arc::new(Handover::default());
    let mut front = Front::new(Gathered::new(stream), Arc::clone(&handover));
    let ended = match front.is_http2().await {
        Ok(true) => Box::pin(second(http, &router, front, certificate)).await,
        Ok(false) => first(http, &router, front, certificate, &handover).await,
        Err(error) => Err(error.into()),
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended");
    }
}

type Ended = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// HTTP/1: the library and the event streams take turns.
async fn first<T>(
    http: &Arc<Http>,
    router: &Router,
    mut front: Front<T>,
    certificate: Option<Arc<Certificate>>,
    handover: &Arc<Handover>,
) -> Ended
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    // Its own token, for each look at one takes its lock.
    let closing_here = http.closing.child_token();
    loop {
        let service = service_fn(|request: Request<Incoming>| {
            let (http, router, certificate) = (Arc::clone(http), router.clone(), certificate.clone());
            let (handover, takes) = (Arc::clone(handover), takes_events(&request));
            async move {
                let response = http.route(router, request, certificate).await;
                match takes {
                    Some(keep) if is_events(&response) => handover.put(Events::new(response, keep)),
                    _ => return Ok::<_, Infallible>(response),
                }
                // The library is let go as soon as it has written what came before.
                std::future::pending().await
            }
        });
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(http.settings.header_timeout);
        // In a box, which is given back while an event stream runs.
        let mut connection = Box::new(builder.serve_connection(TokioIo::new(front), service).with_upgrades());
        let mut closing = false;
        let events = {
            let mut closed = pin!(closing_here.cancelled());
            poll_fn(|cx| {
                if !closing && closed.as_mut().poll(cx).is_ready() {
                    closing = true;
                    Pin::new(&mut *connection).graceful_shutdown();
                }
                match Pin::new(&mut *connection).poll(cx) {
                    Poll::Ready(ended) => Poll::Ready(ended.map(|()| None)),
                    Poll::Pending => handover.take().map_or(Poll::Pending, |events| Poll::Ready(Ok(Some(events)))),
                }
            })
            .await?
        };
        let Some(Events { head, body, keep }) = events else { return Ok(()) };
        front = {
            // The library's memory is free at the end of this block, before the stream begins.
            let library = connection;
            let Some(parts) = (*library).into_parts() else { return Ok(()) };
            let mut front = parts.io.into_inner();
            front.put_back(&parts.read_buf);
            front
        };
        write(&mut front, head, body).await?;
        if !keep || http.closing.is_cancelled() {
            return Ok(front.shutdown().await?);
        }
    }
}

/// Runs the requests of a connection of HTTP/2: it may be the only one of a busy client, so they are spread over all workers.
#[derive(Clone)]
struct Spread(Option<Arc<Workers>>);

impl<F: Future<Output: Send> + Send + 'static> Executor<F> for Spread {
    fn execute(&self, request: F) {
        match self.0.as_ref().and_then(|workers| workers.turn()) {
            Some(runtime) => drop(runtime.spawn(request)),
            None => drop(tokio::spawn(request)),
        }
    }
}

/// HTTP/2, and nothing else.
async fn second<T>(http: &Arc<Http>, router: &Router, front: Front<T>, certificate: Option<Arc<Certificate>>) -> Ended
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let service = service_fn(|request: Request<Incoming>| {
        let (http, router, certificate) = (Arc::clone(http), router.clone(), certificate.clone());
        async move { Ok::<_, Infallible>(http.route(router, request, certificate).await) }
    });
    let streams = u32::try_from(http.server.settings().max_in_flight).unwrap_or(u32::MAX);
    let mut builder = http2::Builder::new(Spread(http.settings.workers.clone()));
    builder.timer(TokioTimer::new()).max_concurrent_streams(streams.max(1));
    let mut connection = pin!(builder.serve_connection(TokioIo::new(front), service));
    tokio::select! {
        ended = connection.as_mut() => return Ok(ended?),
        () = http.closing.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    Ok(connection.await?)
}

/// Whether an event stream may answer this request outside the library, and if so whether the client will use the
/// connection again. Not while bytes of the request may be unread: they would pass for the next one.
fn takes_events(request: &Request<Incoming>) -> Option<bool> {
    let read = match *request.method() {
        // POSTs are read to their end before anything answers them with events.
        Method::POST => true,
        Method::GET => request.body().is_end_stream(),
        _ => false,
    };
    let close = || {
        let values = request.headers().get_all(CONNECTION).into_iter().filter_map(|value| value.to_str().ok());
        values.flat_map(|value| value.split(',')).any(|option| option.trim().eq_ignore_ascii_case("close"))
    };
    (read && request.version() == Version::HTTP_11).then(|| !close())
}

fn is_events(response: &Response<Body>) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    response.status() == 200 && kind == Some(b"text/event-stream") && response.body().size_hint().exact().is_none()
}

enum Next {
    Frame(Option<Result<http_body::Frame<bytes::Bytes>, axum::Error>>),
    /// Nothing more for now: what has been gathered goes out.
    Send,
    Gone(io::Error),
}

/// Writes head and events. Fails where the client goes away, or takes nothing for too long.
async fn write<T: AsyncRead + AsyncWrite + Unpin>(
    front: &mut Front<T>,
    mut out: Vec<u8>,
    mut body: Body,
) -> io::Result<()> {
    loop {
        let next = poll_fn(|cx| match Pin::new(&mut body).poll_frame(cx) {
            Poll::Ready(frame) => Poll::Ready(Next::Frame(frame)),
            Poll::Pending if !out.is_empty() => Poll::Ready(Next::Send),
            Poll::Pending => front.poll_gone(cx).map(Next::Gone),
        });
        let ended = match next.await {
            Next::Frame(Some(Ok(frame))) => {
                // An empty chunk would be the last one.
                if let Some(data) = frame.data_ref().filter(|data| !data.is_empty()) {
                    write!(out, "{:X}\r\n", data.len())?;
                    out.extend_from_slice(data);
                    out.extend_from_slice(b"\r\n");
                }
                if out.len() < GATHERED {
                    continue;
                }
                false
            }
            Next::Frame(Some(Err(error))) => return Err(io::Error::other(error)),
            Next::Frame(None) => {
                out.extend_from_slice(b"0\r\n\r\n");
                true
            }
            Next::Send => false,
            Next::Gone(error) => return Err(error),
        };
        front.write_all(&std::mem::take(&mut out)).await?;
        front.flush().await?;
        if ended {
            return Ok(());
        }
    }
}
