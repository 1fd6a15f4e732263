//! Status, headers and bounded bytes of what the API answered, or the way it failed to.

mod date;
mod link;
mod media_type;
pub use media_type::MediaType;

use bytes::Bytes;
use http::header::{AGE, CACHE_CONTROL, CONTENT_TYPE, HeaderName};
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

impl Response {
    /// The first value of a header, if it is visible ASCII. `name` in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok().map(str::trim)
    }

    /// [`Response::header`] by a name that need not be read first.
    fn text_of(&self, name: &HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok().map(str::trim)
    }

    /// The declared `Content-Type`; `None` where it is missing or has no `type/subtype`.
    pub fn media_type(&self) -> Option<MediaType<'_>> {
        MediaType::parse(self.text_of(&CONTENT_TYPE)?)
    }

    /// `Retry-After` (RFC 9110 §10.2.3): seconds, or a date counted from the answer's own `Date`,
    /// so that no clock is needed. A date in the past is zero; a date without `Date` is `None`.
    pub fn retry_after(&self) -> Option<Duration> {
        let text = self.header("retry-after")?;
        if let Ok(seconds) = text.parse::<u64>() {
            return Some(Duration::from_secs(seconds));
        }
        let at = date::seconds(text)?;
        let now = date::seconds(self.header("date")?)?;
        Some(Duration::from_secs(u64::try_from(at.saturating_sub(now)).unwrap_or(0)))
    }

    /// The target of the first `Link` with `rel="next"` (RFC 8288), as written: absolute or relative.
    pub fn link_next(&self) -> Option<&str> {
        self.headers
            .get_all("link")
            .iter()
            .filter_map(|value| value.to_str().ok())
            .find_map(|value| link::find(value, "next"))
    }

    /// How long the answer stays fresh for one caller (RFC 9111 §5.2.2): `max-age` less `Age`;
    /// zero with `no-store` or `no-cache`; `None` where nothing is said.
    pub fn max_age(&self) -> Option<Duration> {
        let mut age = None;
        for value in self.headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok()) {
            for directive in value.split(',') {
                let (name, argument) = directive.split_once('=').unwrap_or((directive, ""));
                match name.trim().to_ascii_lowercase().as_str() {
                    "no-store" | "no-cache" => return Some(Duration::ZERO),
                    "max-age" if age.is_none() => age = argument.trim().trim_matches('"').parse::<u64>().ok(),
                    _ => {}
                }
            }
        }
        let seconds = age?;
        let spent = self.text_of(&AGE).and_then(|text| text.parse().ok()).unwrap_or(0);
        Some(Duration::from_secs(seconds.saturating_sub(spent)))
    }

    /// The file name of `Content-Disposition` (RFC 6266; `filename*` wins), without any folder.
    pub fn file_name(&self) -> Option<String> {
        let (_, parameters) = self.header("content-disposition")?.split_once(';')?;
        let mut plain = None;
        for (name, value) in media_type::parameters(parameters) {
            if name.eq_ignore_ascii_case("filename*") {
                let encoded = value.splitn(3, '\'').nth(2)?;
                plain = Some(percent_encoding::percent_decode_str(encoded).decode_utf8_lossy().into_owned());
                break;
            }
            if name.eq_ignore_ascii_case("filename") {
                plain = Some(value.into_owned());
            }
        }
        let name = plain?;
        let last = name.rsplit(['/', '\\']).next().unwrap_or_default().trim();
        (!last.is_empty() && !last.chars().any(char::is_control)).then(|| last.to_owned())
    }
}
