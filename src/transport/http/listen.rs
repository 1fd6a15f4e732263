//! GET and DELETE of Streamable HTTP: both belong to legacy sessions.

use super::body::Body;
use super::exchange::replay;
use super::replay::At;
use super::session::HttpSession;
use super::{Http, Refused, bare, not_allowed, refusal};
use crate::access::Caller;
use crate::protocol::{RpcError, Version, mirror};
use ::http::request::Parts;
use ::http::{Response, StatusCode};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What the client accepts, by `Accept`: (JSON, event stream). Nothing said = everything.
pub(super) fn accepts(parts: &Parts) -> (bool, bool) {
    let mut said = false;
    let (mut json, mut sse) = (false, false);
    for value in parts.headers.get_all(::http::header::ACCEPT) {
        said = true;
        for range in value.to_str().unwrap_or_default().split(',') {
            let mut pieces = range.split(';').map(str::trim);
            let kind = pieces.next().unwrap_or_default();
            let refused = pieces.any(|parameter| {
                let value = parameter.strip_prefix("q=").or_else(|| parameter.strip_prefix("Q="));
                value.and_then(|q| q.parse::<f32>().ok()) == Some(0.0)
            });
            if refused {
                continue;
            }
            let is = |one: &&str| kind.eq_ignore_ascii_case(one);
            json |= ["application/json", "application/*", "*/*"].iter().any(is);
            sse |= ["text/event-stream", "text/*", "*/*"].iter().any(is);
        }
    }
    if said { (json, sse) } else { (true, true) }
}

/// The session that a request names, or why it can't have one.
pub(super) fn session(http: &Http, parts: &Parts, caller: &Caller) -> Result<Arc<HttpSession>, Refused> {
    let id = match mirror::single(&parts.headers, &mirror::SESSION) {
        Ok(id) => id,
        Err(_) => {
            return Err(Box::new(refusal(StatusCode::BAD_REQUEST, "Mcp-Session-Id must be one visible ASCII text")));
        }
    };
    let Some(id) = id else {
        return Err(Box::new(refusal(StatusCode::BAD_REQUEST, "Mcp-Session-Id is missing: send `initialize` first")));
    };
    http.sessions
        .find(id, caller)
        .ok_or_else(|| Box::new(refusal(StatusCode::NOT_FOUND, "No such session: send `initialize` again")))
}

/// A legacy session for GET and DELETE, whose version header must be one we speak.
fn legacy_session(http: &Http, parts: &Parts, caller: &Caller) -> Result<Arc<HttpSession>, Refused> {
    let version = match mirror::single(&parts.headers, &mirror::VERSION) {
        Ok(version) => version,
        Err(error) => return Err(Box::new(super::json(StatusCode::BAD_REQUEST, Body::new(error.write(None).into())))),
    };
    match version.map(|text| (text, Version::parse(text))) {
        Some((_, Some(version))) if version.is_modern() => return Err(Box::new(not_allowed("POST"))),
        Some((text, None)) => {
            return Err(Box::new(super::json(
                StatusCode::BAD_REQUEST,
                Body::new(RpcError::unsupported_version(text).write(None).into()),
            )));
        }
        _ => {}
    }
    if !http.settings.sessions.enabled {
        return Err(Box::new(not_allowed("POST")));
    }
    session(http, parts, caller)
}

/// Opens the stream of messages that belong to no request, or resumes any stream.
pub(super) fn get(http: &Arc<Http>, parts: &Parts, caller: &Caller) -> Response<Body> {
    let session = match legacy_session(http, parts, caller) {
        Ok(session) => session,
        Err(response) => return *response,
    };
    if !accepts(parts).1 {
        return refusal(StatusCode::NOT_ACCEPTABLE, "GET needs `Accept: text/event-stream`");
    }
    let resume = match parts.headers.get("last-event-id") {
        None => None,
        Some(value) => match value.to_str().ok().and_then(place) {
            Some(place) => Some(place),
            None => return refusal(StatusCode::BAD_REQUEST, "Last-Event-ID is none of ours"),
        },
    };
    session.announce_changes(&http.server);
    let (log, position) = match resume {
        None => (Arc::clone(&session.general), session.general.end()),
        Some((number, last)) => match session.stream(number) {
            Some(log) if last < log.end() && !matches!(log.at(last + 1), At::Gone) => (log, last + 1),
            _ => return refusal(StatusCode::BAD_REQUEST, "The stream of Last-Event-ID is no longer kept"),
        },
    };
    // One message must not go out on two streams: the newest reader of the general one gets it.
    let turn = (log.number == 0).then(|| session.listeners.fetch_add(1, Ordering::Relaxed) + 1);
    if turn.is_some() {
        log.changed.notify_waiters();
    }
    replay(http, &session, log, position, turn)
}

fn place(id: &str) -> Option<(u64, u64)> {
    let (stream, position) = id.split_once('-')?;
    Some((stream.parse().ok()?, position.parse().ok()?))
}

/// Ends a session.
pub(super) fn delete(http: &Http, parts: &Parts, caller: &Caller) -> Response<Body> {
    match legacy_session(http, parts, caller) {
        Ok(session) => {
            http.sessions.end(&session);
            bare(StatusCode::NO_CONTENT)
        }
        Err(response) => *response,
    }
}
