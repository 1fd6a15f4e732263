//! When a request may be sent again, and after how long.

use super::fault::Reached;
use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use std::time::{Duration, SystemTime};

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// `Retry-After` (RFC 9110 §10.2.3): seconds or an HTTP date.
pub fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    match text.parse::<u64>() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => Some(httpdate::parse_http_date(text).ok()?.duration_since(now).unwrap_or(Duration::ZERO)),
    }
}

/// The pause before repeat number `repeat` (from 0): between half and all of a time that doubles.
pub(super) fn pause(repeat: u32) -> Duration {
    let whole = FIRST_PAUSE.saturating_mul(1 << repeat.min(10)).min(LONGEST_PAUSE);
    // Without randomness (never on a working system) the full pause is kept.
    let random = getrandom::u32().unwrap_or(u32::MAX);
    let half = whole / 2;
    half + half.mul_f64(f64::from(random) / f64::from(u32::MAX))
}

/// The pause that a status asks for before the request is repeated, if it may be at all.
pub(super) fn after_status(
    status: StatusCode,
    headers: &HeaderMap,
    idempotent: bool,
    repeat: u32,
    now: SystemTime,
) -> Option<Duration> {
    if !idempotent {
        return None;
    }
    let asked = retry_after(headers, now);
    match status.as_u16() {
        502..=504 => Some(asked.unwrap_or_else(|| pause(repeat))),
        429 => asked,
        _ => None,
    }
}

/// True if a request that failed on its way may be sent again.
pub(super) fn after_fault(reached: Reached, idempotent: bool) -> bool {
    match reached {
        Reached::Hopeless => false,
        Reached::Nowhere => true,
        Reached::Perhaps => idempotent,
    }
}
