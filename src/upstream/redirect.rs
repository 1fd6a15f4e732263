//! Redirects (RFC 9110 §15.4), followed by us so that every target is checked like the first URL and
//! credentials never leave their origin.

use super::fault::Fault;
use super::target::Target;
use crate::mapping::Redirects;
use crate::response::NoAnswer;
use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName};
use http::{Method, StatusCode};
use std::borrow::Cow;
use url::Url;

/// Hops that are followed for one call.
pub(super) const MOST: u32 = 5;

/// A request on its way.
pub(super) struct Hop {
    pub(super) method: Method,
    pub(super) target: Target,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Bytes>,
    pub(super) idempotent: bool,
}

impl Hop {
    /// Where it goes.
    pub(super) fn url(&self) -> Result<Cow<'_, Url>, Fault> {
        let none = || Fault::hopeless(NoAnswer::Forbidden("request URL: no URL".to_owned()));
        self.target.url().ok_or_else(none)
    }
}

/// Headers that describe a body (RFC 9110 §15.4: removed where the body is).
const BODY_HEADERS: [HeaderName; 7] = [
    header::CONTENT_TYPE,
    header::CONTENT_LENGTH,
    header::CONTENT_ENCODING,
    header::CONTENT_LANGUAGE,
    header::CONTENT_LOCATION,
    header::TRANSFER_ENCODING,
    header::EXPECT,
];

/// True if the status asks to go elsewhere and `rules` let us.
pub(super) fn asked(status: StatusCode, headers: &HeaderMap, rules: Redirects) -> bool {
    rules != Redirects::None
        && matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
        && headers.contains_key(header::LOCATION)
}

/// True if scheme, host and port are the same (RFC 6454 §5).
pub(super) fn same_origin(a: &Url, b: &Url) -> bool {
    a.scheme() == b.scheme() && a.host() == b.host() && a.port_or_known_default() == b.port_or_known_default()
}

/// Turns `hop` towards `Location`.
pub(super) fn follow(hop: &mut Hop, status: StatusCode, headers: &HeaderMap, rules: Redirects) -> Result<(), NoAnswer> {
    let refuse = |why: &str| Err(NoAnswer::Forbidden(format!("redirect {status}: {why}")));
    let location = headers.get(header::LOCATION).and_then(|value| std::str::from_utf8(value.as_bytes()).ok());
    let Some(from) = hop.target.url().map(Cow::into_owned) else { return refuse("the request has no URL") };
    let Some(mut target) = location.and_then(|location| from.join(location).ok()) else {
        return refuse("Location is no URL");
    };
    target.set_fragment(None);
    if !matches!(target.scheme(), "http" | "https") || target.host().is_none() {
        return refuse("Location is no HTTP URL");
    }
    if !target.username().is_empty() || target.password().is_some() {
        return refuse("Location holds credentials");
    }
    if from.scheme() == "https" && target.scheme() == "http" {
        return refuse("Location leaves HTTPS");
    }
    if !same_origin(&from, &target) {
        if rules != Redirects::Any {
            return refuse("Location is another origin");
        }
        let secret: Vec<HeaderName> = hop
            .headers
            .iter()
            .filter(|(name, value)| {
                value.is_sensitive()
                    || **name == header::AUTHORIZATION
                    || **name == header::COOKIE
                    || **name == header::PROXY_AUTHORIZATION
                    || **name == header::HOST
            })
            .map(|(name, _)| name.clone())
            .collect();
        for name in secret {
            hop.headers.remove(name);
        }
    }
    let becomes_get = match status.as_u16() {
        303 => hop.method != Method::HEAD && hop.method != Method::GET,
        301 | 302 => hop.method == Method::POST,
        _ => false,
    };
    if becomes_get {
        hop.method = Method::GET;
        hop.idempotent = true;
        hop.body = None;
        for name in BODY_HEADERS {
            hop.headers.remove(name);
        }
    }
    hop.target = Target::Url(target);
    Ok(())
}
