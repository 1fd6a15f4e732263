//! One POSTed message on its way to an answer: JSON if nothing comes first, else an event stream.

use super::body::Body;
use super::replay::{At, Log};
use super::session::HttpSession;
use super::{Http, gzip, json};
use crate::content::wire::Pieces;
use crate::protocol::{Queue, Reply, Version};
use crate::transport::connection::CANCEL_GRACE;
use ::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY, WWW_AUTHENTICATE};
use ::http::{HeaderName, HeaderValue, Response, StatusCode};
use bytes::Bytes;
use futures_util::stream::unfold;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Messages that may wait in front of one response.
const MOST_WAITING: usize = 256;
/// Pause after which a client may come back, in milliseconds.
const RETRY: u32 = 1000;

/// What an answer and the stream in front of it share.
pub(super) struct Exchange {
    pub(super) queue: Arc<Queue>,
    pub(super) cancel: CancellationToken,
    /// Set by legacy requests: their clients may disconnect without cancelling.
    pub(super) legacy: OnceLock<Legacy>,
}

/// How a legacy stream is kept.
pub(super) struct Legacy {
    pub(super) session: Option<Arc<HttpSession>>,
}

impl Exchange {
    pub(super) fn new(max_bytes: usize) -> Arc<Self> {
        Arc::new(Exchange {
            queue: Arc::new(Queue::new(MOST_WAITING, max_bytes)),
            cancel: CancellationToken::new(),
            legacy: OnceLock::new(),
        })
    }
}

/// What a message came to.
#[derive(Default)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// `None`: accepted, nothing to say.
    pub(super) body: Option<Pieces>,
    pub(super) scopes: Vec<String>,
    /// The client takes gzip; only looked at where a list is long.
    pub(super) gzip: bool,
    /// Session to name in the response.
    pub(super) session: Option<Arc<str>>,
}

impl Answer {
    pub(super) fn accepted() -> Self {
        Answer { status: 202, ..Answer::default() }
    }

    pub(super) fn text(status: u16, body: Vec<u8>) -> Self {
        Answer { status, body: Some(body.into()), ..Answer::default() }
    }

    /// The whole text.
    pub(super) fn whole(self) -> Option<Vec<u8>> {
        self.body.map(Pieces::whole)
    }

    pub(super) fn into_response(self, http: &Http) -> Response<Body> {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = match self.body {
            Some(body) => list_or_json(status, body, self.gzip),
            None => super::bare(status),
        };
        if !self.scopes.is_empty()
            && let Some(Ok(challenge)) = http.settings.authenticator.challenge(&self.scopes).map(HeaderValue::try_from)
        {
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        if let Some(Ok(id)) = self.session.map(|id| HeaderValue::from_str(&id)) {
            response.headers_mut().insert(HeaderName::from_static("mcp-session-id"), id);
        }
        response
    }
}

/// A JSON body. A long list may be compressed, and says that it would be another one for another client.
fn list_or_json(status: StatusCode, text: Pieces, gzip: bool) -> Response<Body> {
    if text.shares().is_none() {
        return json(status, Body::new(text));
    }
    let packed = if gzip { gzip::member(&text) } else { None };
    let is_packed = packed.is_some();
    let mut response = json(status, packed.unwrap_or_else(|| Body::new(text)));
    response.headers_mut().insert(VARY, HeaderValue::from_static("accept-encoding"));
    if is_packed {
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Answer { status: reply.status, body: Some(reply.body), scopes: reply.scopes, ..Answer::default() }
    }
}

/// A running answer. Dropped unfinished, it is the client that went away: a modern call is
/// cancelled and gets a moment to notice, a legacy call goes on.
pub(super) struct Running {
    answer: Option<Pin<Box<dyn Future<Output = Answer> + Send>>>,
    exchange: Arc<Exchange>,
}

impl Running {
    pub(super) fn new(answer: impl Future<Output = Answer> + Send + 'static, exchange: &Arc<Exchange>) -> Self {
        Running { answer: Some(Box::pin(answer)), exchange: Arc::clone(exchange) }
    }
}

impl Future for Running {
    type Output = Answer;
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answer> {
        let Some(answer) = &mut self.answer else { return Poll::Pending };
        let done = answer.as_mut().poll(cx);
        if done.is_ready() {
            self.answer = None;
        }
        done
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(answer) = self.answer.take() else { return };
        self.exchange.queue.close();
        let modern = self.exchange.legacy.get().is_none();
        if modern {
            self.exchange.cancel.cancel();
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if modern {
                    let _ = tokio::time::timeout(CANCEL_GRACE, answer).await;
                } else {
                    answer.await;
                }
            });
        }
    }
}

enum First {
    Answer(Answer),
    Message(Bytes),
    Slow,
}

/// Runs an answer to the response, deciding between JSON and an event stream as late as possible.
///
/// `json`, `sse`: what the client accepts.
pub(super) async fn respond(
    http: &Arc<Http>,
    mut running: Running,
    exchange: Arc<Exchange>,
    accepts_json: bool,
    accepts_sse: bool,
) -> Response<Body> {
    let first = if !accepts_sse {
        First::Answer((&mut running).await)
    } else {
        tokio::select! {
            biased;
            answer = &mut running => First::Answer(answer),
            Some(message) = exchange.queue.next() => First::Message(message),
            () = tokio::time::sleep(http.settings.heartbeat) => First::Slow,
        }
    };
    match first {
        First::Answer(answer) if (accepts_json && exchange.queue.is_empty()) || answer.body.is_none() => {
            answer.into_response(http)
        }
        First::Answer(answer) if !accepts_sse || answer.status != 200 && exchange.queue.is_empty() => {
            answer.into_response(http)
        }
        First::Answer(answer) => events(http, &exchange, Source::Done(answer.whole())),
        First::Message(message) => events(http, &exchange, Source::Running(Some(message), running)),
        First::Slow => events(http, &exchange, Source::Running(None, running)),
    }
}

enum Source {
    Done(Option<Vec<u8>>),
    Running(Option<Bytes>, Running),
}

fn events(http: &Arc<Http>, exchange: &Arc<Exchange>, source: Source) -> Response<Body> {
    let session = exchange.legacy.get().and_then(|legacy| legacy.session.clone());
    match session {
        Some(session) => {
            let log = session.open_stream();
            match source {
                Source::Done(body) => {
                    while let Some(message) = exchange.queue.take() {
                        log.push(message);
                    }
                    if let Some(body) = body {
                        log.push(body.into());
                    }
                    log.finish();
                }
                Source::Running(first, running) => {
                    tokio::spawn(record(Arc::clone(&log), first, running, Arc::clone(exchange)));
                }
            }
            replay(http, &session, log, 1, None)
        }
        None => {
            let state = match source {
                Source::Done(body) => Direct { first: None, running: None, last: body.map(Bytes::from) },
                Source::Running(first, running) => Direct { first, running: Some(running), last: None },
            };
            event_stream(direct(Arc::clone(exchange), state, http.settings.heartbeat))
        }
    }
}

/// Drives a legacy call whoever listens.
async fn record(log: Arc<Log>, first: Option<Bytes>, mut running: Running, exchange: Arc<Exchange>) {
    first.into_iter().for_each(|message| log.push(message));
    loop {
        tokio::select! {
            biased;
            Some(message) = exchange.queue.next() => log.push(message),
            answer = &mut running => {
                while let Some(message) = exchange.queue.take() {
                    log.push(message);
                }
                answer.whole().into_iter().for_each(|body| log.push(body.into()));
                break log.finish();
            }
        }
    }
}

struct Direct {
    first: Option<Bytes>,
    running: Option<Running>,
    last: Option<Bytes>,
}

/// Messages as they come; nothing is kept.
fn direct(
    exchange: Arc<Exchange>,
    state: Direct,
    heartbeat: Duration,
) -> impl futures_util::Stream<Item = Bytes> + Send {
    unfold((exchange, state), move |(exchange, mut state)| async move {
        if let Some(first) = state.first.take() {
            return Some((event(None, &first), (exchange, state)));
        }
        let frame = match &mut state.running {
            None => match exchange.queue.take() {
                Some(message) => event(None, &message),
                None => event(None, &state.last.take()?),
            },
            Some(running) => tokio::select! {
                biased;
                Some(message) = exchange.queue.next() => event(None, &message),
                answer = running => {
                    state.running = None;
                    state.last = answer.whole().map(Bytes::from);
                    match exchange.queue.take() {
                        Some(message) => event(None, &message),
                        None => event(None, &state.last.take()?),
                    }
                }
                () = tokio::time::sleep(heartbeat) => Bytes::from_static(b": \n\n"),
            },
        };
        Some((frame, (exchange, state)))
    })
}

struct Reader {
    http: Arc<Http>,
    session: Arc<HttpSession>,
    log: Arc<Log>,
    position: u64,
    priming: bool,
    /// For the general stream: this reader's turn.
    turn: Option<u64>,
}

/// A kept stream from a position on. `turn`: ends when another reader of the general stream came.
pub(super) fn replay(
    http: &Arc<Http>,
    session: &Arc<HttpSession>,
    log: Arc<Log>,
    position: u64,
    turn: Option<u64>,
) -> Response<Body> {
    let resumable = session.protocol.version().is_some_and(|version: Version| version.knows().resumable);
    let reader =
        Reader { http: Arc::clone(http), session: Arc::clone(session), log, position, priming: resumable, turn };
    event_stream(unfold(reader, move |mut reader| async move {
        if std::mem::take(&mut reader.priming) {
            let id = format!("{}-{}", reader.log.number, reader.position.saturating_sub(1));
            return Some((Bytes::from(format!("id: {id}\nretry: {RETRY}\ndata: \n\n")), reader));
        }
        loop {
            let log = Arc::clone(&reader.log);
            let changed = log.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if reader.turn.is_some_and(|turn| turn != reader.session.listeners.load(Ordering::Relaxed)) {
                return None;
            }
            match log.at(reader.position) {
                At::Message(message) => {
                    let id = resumable.then_some((log.number, reader.position));
                    reader.position += 1;
                    return Some((event(id, &message), reader));
                }
                // Gone: the client read too slowly to be told everything.
                At::End | At::Gone => return None,
                At::Nothing => {}
            }
            tokio::select! {
                () = changed => {}
                () = reader.session.closed.cancelled() => {
                    if reader.log.number == 0 || !reader.http.closing.is_cancelled() {
                        return None;
                    }
                    // On shutdown a running request may still be answered.
                    changed_or_end(&log, reader.position).await;
                }
                () = tokio::time::sleep(reader.http.settings.heartbeat) => {
                    reader.http.sessions.touch(&reader.session);
                    return Some((Bytes::from_static(b": \n\n"), reader));
                }
            }
        }
    }))
}

async fn changed_or_end(log: &Log, position: u64) {
    let changed = log.changed.notified();
    tokio::pin!(changed);
    changed.as_mut().enable();
    if matches!(log.at(position), At::Nothing) {
        changed.await;
    }
}

/// One event. Messages hold no newline, so one `data` line is enough.
pub(super) fn event(id: Option<(u64, u64)>, message: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(message.len() + 48);
    out.extend_from_slice(b"event: message\n");
    if let Some((stream, position)) = id {
        out.extend_from_slice(format!("id: {stream}-{position}\n").as_bytes());
    }
    out.extend_from_slice(b"data: ");
    out.extend_from_slice(message);
    out.extend_from_slice(b"\n\n");
    out.into()
}

pub(super) fn event_stream(stream: impl futures_util::Stream<Item = Bytes> + Send + 'static) -> Response<Body> {
    let mut response = Response::new(Body::Stream(Box::pin(stream)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies that buffer would hold events back.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}
