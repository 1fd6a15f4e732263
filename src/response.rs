//! Status, headers and bounded bytes of what the API answered, or the way it failed to.

use bytes::Bytes;
use std::time::Duration;

/// An answer.
#[derive(Debug, Clone)]
pub struct Response {
    /// Status code.
    pub status: http::StatusCode,
    /// Headers (`Content-Encoding` already undone and removed).
    pub headers: http::HeaderMap,
    /// At most the source's `max_response` bytes, decoded.
    pub body: Bytes,
    /// True if the body was cut at the limit.
    pub truncated: bool,
    /// Time from sending to the last byte.
    pub elapsed: Duration,
}

/// Why there is no answer. Texts for people live in `content/failure`; details go to the log only.
#[derive(Debug, Clone)]
pub enum NoAnswer {
    /// The connection could not be made.
    Connect(String),
    /// Name resolution failed.
    Dns(String),
    /// TLS failed (certificate, host name, protocol).
    Tls(String),
    /// Nothing within the limit; which limit, and how long it was.
    Timeout(TimeoutKind, Duration),
    /// The connection broke after the request was sent.
    Broken(String),
    /// The body could not be decoded (bad gzip, wrong length).
    Body(String),
    /// The address or redirect target is not allowed.
    Forbidden(String),
    /// Circuit breaker open; try again after this.
    CircuitOpen(Duration),
    /// Concurrency or rate limit reached; try again after this.
    Busy(Duration),
    /// A credential could not be had; the scheme's name.
    Credential(String),
    /// The caller went away.
    Cancelled,
}

/// Which limit ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutKind {
    /// Connecting.
    Connect,
    /// Waiting for the first byte.
    FirstByte,
    /// The whole call.
    Total,
}
