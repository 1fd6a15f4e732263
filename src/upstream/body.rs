//! Reading answers with a bound on the decoded size.

use super::fault::Fault;
use super::reply::Reply;
use crate::response::{NoAnswer, TimeoutKind};
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode};
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// What is kept of a large announced length before it has been seen.
const FIRST_CAPACITY: u64 = 256 * 1024;
/// What is read of an answer nobody wants, so that its connection can be used again.
const DRAIN: u64 = 64 * 1024;

/// True where the standard leaves no room for content (RFC 9110 §6.4.1).
pub(super) fn is_bodiless(method: &http::Method, status: StatusCode) -> bool {
    method == http::Method::HEAD || matches!(status.as_u16(), 204 | 304)
}

/// Reads at most `limit` decoded bytes; true if there was more. The rest is never read: dropping the
/// response closes its connection.
pub(super) async fn read(response: &mut Reply, limit: u64) -> Result<(Bytes, bool), Fault> {
    let Some(first) = response.chunk().await? else {
        return Ok((Bytes::new(), false));
    };
    if let Some(cut) = cut(&first, limit) {
        return Ok((cut, true));
    }
    let Some(second) = response.chunk().await? else {
        return Ok((first, false));
    };
    let announced = response.length().unwrap_or(0).min(limit).min(FIRST_CAPACITY);
    let seen = first.len().saturating_add(second.len());
    let mut body = BytesMut::with_capacity(usize::try_from(announced).unwrap_or(0).max(seen));
    body.extend_from_slice(&first);
    let mut next = Some(second);
    while let Some(part) = next {
        let left = limit.saturating_sub(body.len() as u64);
        if let Some(part) = cut(&part, left) {
            body.extend_from_slice(&part);
            return Ok((body.freeze(), true));
        }
        body.extend_from_slice(&part);
        next = response.chunk().await?;
    }
    Ok((body.freeze(), false))
}

fn cut(part: &Bytes, limit: u64) -> Option<Bytes> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    (part.len() > limit).then(|| part.slice(..limit))
}

/// Reads a short rest so that the connection can be used again.
pub(super) async fn drain(mut response: Reply) {
    if response.length().is_some_and(|length| length <= DRAIN) {
        let _ = read(&mut response, DRAIN).await;
    }
}

/// Status and headers of an answer whose body is still on its way.
#[derive(Debug, Clone)]
pub struct Head {
    /// Status code.
    pub status: StatusCode,
    /// Headers; `Content-Encoding` is already undone and removed.
    pub headers: HeaderMap,
}

/// The body of an answer, chunk by chunk, decoded. Dropping it aborts the upstream request.
pub struct BodyStream {
    pub(super) response: Reply,
    pub(super) left: u64,
    pub(super) truncated: bool,
    pub(super) over: bool,
    pub(super) deadline: Instant,
    pub(super) limit: Duration,
    pub(super) cancel: CancellationToken,
    pub(super) _permit: OwnedSemaphorePermit,
}

impl BodyStream {
    /// The next chunk, as it comes; `None` at the end or at the source's `max_response`.
    ///
    /// # Errors
    /// [`NoAnswer::Timeout`] when the call's time is up, [`NoAnswer::Cancelled`],
    /// [`NoAnswer::Broken`] or [`NoAnswer::Body`] when the connection or the coding breaks.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, NoAnswer> {
        if self.over {
            return Ok(None);
        }
        let next = tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(NoAnswer::Cancelled),
            next = self.response.chunk() => next.map_err(|fault| fault.answer),
            () = tokio::time::sleep_until(self.deadline) => Err(NoAnswer::Timeout(TimeoutKind::Total, self.limit)),
        };
        match next {
            Ok(Some(part)) => {
                let kept = match cut(&part, self.left) {
                    Some(kept) => {
                        self.truncated = true;
                        self.over = true;
                        kept
                    }
                    None => part,
                };
                self.left = self.left.saturating_sub(kept.len() as u64);
                Ok(if kept.is_empty() { None } else { Some(kept) })
            }
            Ok(None) => {
                self.over = true;
                Ok(None)
            }
            Err(error) => {
                self.over = true;
                Err(error)
            }
        }
    }

    /// True if the body was cut at the source's `max_response`.
    pub fn truncated(&self) -> bool {
        self.truncated
    }
}
