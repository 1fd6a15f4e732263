//! POST of Streamable HTTP: one endpoint for both eras.
//!
//! The order of checks follows the texts where they say one and the official suite's probes where
//! they do not.

use super::body::Body;
use super::exchange::{Answer, Exchange, Legacy, Running, respond};
use super::session::HttpSession;
use super::{Http, Refused, gzip, listen, refusal};
use crate::access::Caller;
use crate::content::wire::Pieces;
use crate::protocol::jsonrpc::{self, Incoming, Message, Request};
use crate::protocol::{
    Admission, INVALID_REQUEST, RpcError, Scope, Session, TOO_MANY_REQUESTS, Version, header_without_claim, mirror,
};
use crate::transport::connection::{abandoned, joined, not_in_batch};
use ::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use ::http::request::Parts;
use ::http::{HeaderMap, HeaderValue, Response, StatusCode};
use bytes::{Bytes, BytesMut};
use futures_util::future::join_all;
use http_body_util::BodyExt;
use hyper::body::Body as _;
use serde_json::value::RawValue;
use std::sync::Arc;

/// The method whose requests stay open.
const LISTEN: &str = "subscriptions/listen";

/// Answers one POST.
pub(super) async fn post(
    http: &Arc<Http>,
    parts: Parts,
    body: hyper::body::Incoming,
    caller: Arc<Caller>,
) -> Response<Body> {
    if !is_json(&parts.headers) {
        return refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, "The body must be `Content-Type: application/json`");
    }
    let (accepts_json, accepts_sse) = listen::accepts(&parts);
    if !accepts_json && !accepts_sse {
        return refusal(
            StatusCode::NOT_ACCEPTABLE,
            "Answers are `application/json` or `text/event-stream`; `Accept` takes neither",
        );
    }
    let bytes = match read(http, &parts.headers, body).await {
        Ok(bytes) => bytes,
        Err(response) => return *response,
    };
    let exchange = Exchange::new(http.settings.max_frame.saturating_mul(4));
    let (headers, bytes) = if parts.headers.get(&mirror::METHOD).is_some_and(|method| method == LISTEN) {
        (detached(&parts.headers), Bytes::copy_from_slice(&bytes))
    } else {
        (parts.headers, bytes)
    };
    let post = Post { http: Arc::clone(http), headers, caller, exchange: Arc::clone(&exchange), accepts_sse };
    let running = Running::new(async move { post.packed(post.answer(&bytes).await).await }, &exchange);
    respond(http, running, exchange, accepts_json, accepts_sse).await
}

fn is_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return false };
    let kind = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// The same headers with values of their own. Those of a request are slices of what the connection read, and a request
/// that listens for hours would keep 8 kB alive with them.
fn detached(headers: &HeaderMap) -> HeaderMap {
    let own = |value: &HeaderValue| {
        let mut own = HeaderValue::from_bytes(value.as_bytes()).unwrap_or_else(|_| value.clone());
        own.set_sensitive(value.is_sensitive());
        own
    };
    headers.iter().map(|(name, value)| (name.clone(), own(value))).collect()
}

/// The whole body, within the limit and in time.
async fn read(http: &Http, headers: &HeaderMap, mut body: hyper::body::Incoming) -> Result<Bytes, Refused> {
    let limit = http.settings.max_body;
    let too_large =
        || Box::new(refusal(StatusCode::PAYLOAD_TOO_LARGE, format!("The body is longer than {limit} bytes")));
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let expected = announced.or_else(|| body.size_hint().exact()).unwrap_or(0);
    if expected > limit as u64 {
        return Err(too_large());
    }
    let reading = async {
        let mut first = Bytes::new();
        let mut all = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else {
                return Err(Box::new(refusal(StatusCode::BAD_REQUEST, "The body broke off")));
            };
            let Ok(data) = frame.into_data() else { continue };
            if first.len() + all.len() + data.len() > limit {
                return Err(too_large());
            }
            // Most bodies are one frame, which needs no copy.
            if first.is_empty() && all.is_empty() {
                first = data;
            } else {
                if all.is_empty() {
                    all.extend_from_slice(&std::mem::take(&mut first));
                }
                all.extend_from_slice(&data);
            }
        }
        Ok(if all.is_empty() { first } else { all.freeze() })
    };
    tokio::time::timeout(http.settings.body_timeout, reading)
        .await
        .unwrap_or_else(|_| Err(Box::new(refusal(StatusCode::REQUEST_TIMEOUT, "The body did not arrive in time"))))
}

/// A POST whose body has been read.
struct Post {
    http: Arc<Http>,
    headers: HeaderMap,
    caller: Arc<Caller>,
    exchange: Arc<Exchange>,
    accepts_sse: bool,
}

/// Where a legacy message belongs.
enum Home {
    Session(Arc<HttpSession>),
    /// Sessions are off.
    Nowhere(Session),
}

impl Home {
    fn protocol(&self) -> &Session {
        match self {
            Home::Session(session) => &session.protocol,
            Home::Nowhere(session) => session,
        }
    }
}

fn error(id: Option<&str>, error: &RpcError) -> Answer {
    let status = if error.status == 200 && id.is_none() { 400 } else { error.status };
    Answer { scopes: error.scopes.clone(), ..Answer::text(status, error.write(id)) }
}

/// A response that refuses a whole message, as an answer.
fn refused(status: u16, id: Option<&str>, text: &'static str) -> Answer {
    Answer::text(status, RpcError::new(INVALID_REQUEST, text).write(id))
}

impl Post {
    async fn answer(&self, bytes: &[u8]) -> Answer {
        let header = match mirror::single(&self.headers, &mirror::VERSION) {
            Ok(header) => header,
            Err(wrong) => return error(None, &wrong),
        };
        match self.http.server.decode(bytes) {
            Err(rejected) => Answer::text(400, rejected.error.write(rejected.id.as_deref())),
            Ok(Incoming::Batch(items)) => self.batch(header, &items).await,
            Ok(Incoming::One(Message::Request(request))) => self.request(header, &request).await,
            Ok(Incoming::One(Message::Notification(notification))) => {
                let claimed = notification.params.meta.as_ref().is_some_and(|meta| meta.protocol_version.is_some());
                if claimed || header.and_then(Version::parse).is_some_and(Version::is_modern) {
                    return Answer::accepted();
                }
                match self.home(header, None) {
                    Ok(home) => {
                        home.protocol().notified(&notification);
                        Answer::accepted()
                    }
                    Err(answer) => answer,
                }
            }
            Ok(Incoming::One(Message::Answer(answer))) => {
                if header.and_then(Version::parse).is_some_and(Version::is_modern)
                    || !self.http.settings.sessions.enabled
                {
                    return refused(400, Some(answer.id.as_json()), "Nobody asked for a response");
                }
                match self.home(header, None) {
                    Ok(home) => {
                        home.protocol().answered(&answer);
                        Answer::accepted()
                    }
                    Err(answer) => answer,
                }
            }
        }
    }

    /// Has a long list compressed, if the client takes that.
    async fn packed(&self, mut answer: Answer) -> Answer {
        if let Some(list) = answer.body.as_ref().and_then(Pieces::shares)
            && gzip::accepted(&self.headers)
        {
            if list.begin() {
                Box::pin(gzip::deflate(Arc::clone(list))).await;
            }
            answer.gzip = true;
        }
        answer
    }

    fn scope<'a>(&'a self, stream: bool) -> Scope<'a> {
        Scope {
            caller: Arc::clone(&self.caller),
            cancel: self.exchange.cancel.clone(),
            closing: &self.http.closing,
            queue: (stream && self.accepts_sse).then_some(&self.exchange.queue),
            headers: Some(&self.headers),
            local: false,
            transport: "http",
        }
    }

    async fn request(&self, header: Option<&str>, request: &Request<'_>) -> Answer {
        let id = Some(request.id.as_json());
        if request.claim().is_some() {
            return self.http.server.serve_modern(request, &self.scope(true)).await.into();
        }
        match header.map(|text| (text, Version::parse(text))) {
            Some((_, Some(version))) if version.is_modern() => return error(id, &header_without_claim(request)),
            // The body says what `initialize` speaks.
            Some((text, None)) if request.method != "initialize" => {
                return error(id, &RpcError::unsupported_version(text));
            }
            _ => {}
        }
        if request.method == "initialize" {
            return self.initialize(request).await;
        }
        let home = match self.home(header, id) {
            Ok(home) => home,
            Err(answer) => return answer,
        };
        let session = match &home {
            Home::Session(session) => Some(Arc::clone(session)),
            Home::Nowhere(_) => None,
        };
        let _ = self.exchange.legacy.set(Legacy { session });
        self.legacy(home.protocol(), request, true).await
    }

    /// One legacy request in its session.
    async fn legacy(&self, session: &Session, request: &Request<'_>, stream: bool) -> Answer {
        let id = request.id.as_json();
        let token = &self.exchange.cancel;
        let scope = self.scope(stream);
        // In a batch each request can be cancelled alone.
        let token = if stream { token.clone() } else { token.child_token() };
        let scope = Scope { cancel: token.clone(), ..scope };
        match session.admit(&request.id, &token, self.http.server.settings().max_in_flight) {
            Admission::Granted => {}
            Admission::Duplicate => return refused(200, Some(id), "This id is still in use"),
            Admission::Full => {
                return error(Some(id), &RpcError::new(TOO_MANY_REQUESTS, "Too many requests in flight"));
            }
        }
        let reply = tokio::select! {
            biased;
            () = abandoned(&token) => None,
            reply = self.http.server.serve_legacy(session, request, &scope) => Some(reply),
        };
        session.release(id);
        match reply {
            Some(reply) if !token.is_cancelled() => reply.into(),
            _ => Answer::accepted(),
        }
    }

    async fn initialize(&self, request: &Request<'_>) -> Answer {
        let sessions = &self.http.sessions;
        if !self.http.settings.sessions.enabled {
            return self.http.server.serve_legacy(&Session::default(), request, &self.scope(false)).await.into();
        }
        let id = Some(request.id.as_json());
        let Some(session) = sessions.create(&self.caller) else {
            return refused(503, id, "No session can be opened now");
        };
        let mut answer: Answer =
            self.http.server.serve_legacy(&session.protocol, request, &self.scope(false)).await.into();
        if session.protocol.version().is_some() {
            if !sessions.insert(&session) {
                return refused(503, id, "Too many sessions");
            }
            answer.session = Some(Arc::clone(&session.id));
        }
        answer
    }

    /// The session of a legacy message that is not `initialize`.
    fn home(&self, header: Option<&str>, id: Option<&str>) -> Result<Home, Answer> {
        let version = match header.map(|text| (text, Version::parse(text))) {
            None => Version::HEADERLESS,
            Some((_, Some(version))) => version,
            Some((text, None)) => return Err(error(id, &RpcError::unsupported_version(text))),
        };
        if !self.http.settings.sessions.enabled {
            return Ok(Home::Nowhere(Session::stateless(version)));
        }
        let session = match mirror::single(&self.headers, &mirror::SESSION) {
            Err(_) => return Err(refused(400, id, "Mcp-Session-Id must be one visible ASCII text")),
            Ok(None) => return Err(refused(400, id, "Mcp-Session-Id is missing: send `initialize` first")),
            Ok(Some(session)) => session,
        };
        match self.http.sessions.find(session, &self.caller) {
            Some(session) => Ok(Home::Session(session)),
            None => Err(refused(404, id, "No such session: send `initialize` again")),
        }
    }

    /// An array of messages, which only revision 2025-03-26 has.
    async fn batch(&self, header: Option<&str>, items: &[&RawValue]) -> Answer {
        let messages: Vec<_> = items.iter().map(|item| jsonrpc::decode_one(item.get())).collect();
        let claims =
            messages.iter().any(|message| matches!(message, Ok(Message::Request(one)) if one.claim().is_some()));
        if claims || header.and_then(Version::parse).is_some_and(Version::is_modern) {
            return refused(400, None, "Revision 2026-07-28 has no batches");
        }
        let home = match self.home(header, None) {
            Ok(home) => home,
            Err(answer) => return answer,
        };
        let session = home.protocol();
        if session.version().is_none_or(|version| !version.knows().batches) {
            return refused(400, None, "Batches belong to revision 2025-03-26 only");
        }
        if items.is_empty() || items.len() > self.http.server.settings().max_in_flight {
            return refused(400, None, "A batch must hold at least one message, and not too many");
        }
        let _ = self.exchange.legacy.set(Legacy { session: None });
        let replies = join_all(messages.iter().map(|message| async move {
            match message {
                Err(rejected) => Some(rejected.error.write(rejected.id.as_deref())),
                Ok(Message::Notification(notification)) => {
                    session.notified(notification);
                    None
                }
                Ok(Message::Answer(answer)) => {
                    session.answered(answer);
                    None
                }
                Ok(Message::Request(request)) => match not_in_batch(request) {
                    Some(wrong) => Some(wrong.write(Some(request.id.as_json()))),
                    None => self.legacy(session, request, false).await.whole(),
                },
            }
        }))
        .await;
        match joined(replies.into_iter().flatten()) {
            Some(body) => Answer::text(200, body),
            None => Answer::accepted(),
        }
    }
}
