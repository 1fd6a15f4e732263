//! HTTP+SSE of revision 2024-11-05: a GET opens the stream and is told where to POST; every message
//! of ours travels on the stream. Closing the stream ends the session.

use super::body::Body;
use super::exchange::{event, event_stream};
use super::{Http, bare, not_allowed, refusal};
use crate::access::Caller;
use crate::transport::connection::Connection;
use ::http::{Method, Request, StatusCode};
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::unfold;
use http_body_util::{BodyExt, Limited};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

/// Open streams by session id.
#[derive(Default)]
pub(super) struct Streams(Mutex<HashMap<String, Stream>>);

#[derive(Clone)]
struct Stream {
    connection: Arc<Connection>,
    subject: Option<Arc<str>>,
    tenant: Option<Arc<str>>,
    ended: CancellationToken,
}

impl Streams {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Stream>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn end_all(&self) {
        for stream in self.lock().values() {
            stream.ended.cancel();
        }
    }
}

/// Removes the session when the stream is dropped, however that comes.
struct Open {
    http: Arc<Http>,
    id: String,
    stream: Stream,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.http.sse.lock().remove(&self.id);
        self.stream.ended.cancel();
        self.stream.connection.abort();
    }
}

/// GET: opens a session.
pub(super) async fn stream(State(http): State<Arc<Http>>, request: Request<axum::body::Body>) -> Response {
    let (parts, _) = request.into_parts();
    let caller = match http.admit(&parts).await {
        Ok(caller) => caller,
        Err(response) => return (*response).map(Body::into_axum),
    };
    let response = if parts.method != Method::GET {
        not_allowed("GET")
    } else if !super::listen::accepts(&parts).1 {
        refusal(StatusCode::NOT_ACCEPTABLE, "This endpoint needs `Accept: text/event-stream`")
    } else {
        open(&http, caller)
    };
    response.map(Body::into_axum)
}

fn open(http: &Arc<Http>, caller: Arc<Caller>) -> ::http::Response<Body> {
    let mut random = [0u8; 16];
    if getrandom::fill(&mut random).is_err() || http.sse.lock().len() >= http.settings.sessions.max {
        return refusal(StatusCode::SERVICE_UNAVAILABLE, "Too many sessions");
    }
    let id: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let (subject, tenant) = (caller.subject.clone(), caller.tenant.clone());
    let connection = Connection::new(Arc::clone(&http.server), &http.settings, caller, &http.closing, false, false);
    let stream = Stream { connection, subject, tenant, ended: CancellationToken::new() };
    http.sse.lock().insert(id.clone(), stream.clone());
    tokio::spawn(announce(Arc::clone(http), stream.clone()));
    let endpoint = format!("event: endpoint\ndata: {}?sessionId={id}\n\n", http.settings.messages_path);
    let state = (Some(Bytes::from(endpoint)), Open { http: Arc::clone(http), id, stream });
    event_stream(unfold(state, |(first, open)| async move {
        if let Some(first) = first {
            return Some((first, (None, open)));
        }
        let frame = tokio::select! {
            message = open.stream.connection.queue.next() => event(None, &message?),
            () = open.stream.ended.cancelled() => return None,
            () = tokio::time::sleep(open.http.settings.heartbeat) => Bytes::from_static(b": \n\n"),
        };
        Some((frame, (None, open)))
    }))
}

async fn announce(http: Arc<Http>, stream: Stream) {
    let mut changes = http.server.changes();
    loop {
        let change = tokio::select! {
            () = stream.ended.cancelled() => return,
            uri = stream.connection.session.inbox().next() => {
                if !stream.connection.announce_update(&uri) {
                    return stream.ended.cancel();
                }
                continue;
            }
            change = changes.recv() => change,
        };
        if matches!(change, Err(RecvError::Closed)) {
            return;
        }
        if !stream.connection.announce(change) {
            return stream.ended.cancel();
        }
    }
}

/// POST: one message of the client.
pub(super) async fn message(State(http): State<Arc<Http>>, request: Request<axum::body::Body>) -> Response {
    let (parts, body) = request.into_parts();
    let caller = match http.admit(&parts).await {
        Ok(caller) => caller,
        Err(response) => return (*response).map(Body::into_axum),
    };
    if parts.method != Method::POST {
        return not_allowed("POST").map(Body::into_axum);
    }
    let id = parts.uri.query().and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix("sessionId=")));
    let Some(id) = id else {
        return refusal(StatusCode::BAD_REQUEST, "`sessionId` is missing").map(Body::into_axum);
    };
    let found = http.sse.lock().get(id).cloned();
    let found = found.filter(|stream| stream.subject == caller.subject && stream.tenant == caller.tenant);
    let Some(stream) = found else {
        return refusal(StatusCode::NOT_FOUND, "No such session").map(Body::into_axum);
    };
    let collected = Limited::new(body, http.settings.max_body).collect();
    let response = match tokio::time::timeout(http.settings.body_timeout, collected).await {
        Ok(Ok(body)) => {
            stream.connection.receive(body.to_bytes()).await;
            bare(StatusCode::ACCEPTED)
        }
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            refusal(StatusCode::PAYLOAD_TOO_LARGE, format!("The body is longer than {} bytes", http.settings.max_body))
        }
        Ok(Err(_)) => refusal(StatusCode::BAD_REQUEST, "The body broke off"),
        Err(_) => refusal(StatusCode::REQUEST_TIMEOUT, "The body did not arrive in time"),
    };
    response.map(Body::into_axum)
}
