//! Who may reach the endpoints from a browser: `Host` and `Origin` (DNS rebinding), and CORS.

use super::super::Settings;
use super::body::Body;
use super::{bare, refusal};
use ::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, HOST, ORIGIN, VARY,
};
use ::http::request::Parts;
use ::http::{HeaderMap, HeaderValue, Response, StatusCode, Uri};

pub(super) struct Guard {
    /// Lower case, without port; empty = any.
    hosts: Vec<String>,
    origins: Vec<String>,
    any_origin: bool,
    loopback: bool,
}

impl Guard {
    pub(super) fn new(settings: &Settings, loopback: bool) -> Self {
        let lower = |list: &[String]| list.iter().map(|one| one.trim_end_matches('/').to_ascii_lowercase()).collect();
        Guard {
            hosts: lower(&settings.hosts),
            origins: lower(&settings.origins),
            any_origin: settings.origins.iter().any(|origin| origin == "*"),
            loopback,
        }
    }

    /// The origin to name in CORS headers, or why the request is refused.
    pub(super) fn check(&self, parts: &Parts) -> Result<Option<HeaderValue>, &'static str> {
        let mut hosts = parts.headers.get_all(HOST).iter();
        let host = match (parts.uri.authority(), hosts.next()) {
            (Some(authority), _) => Some(authority.as_str()),
            (None, Some(host)) => Some(host.to_str().map_err(|_| "Host is not allowed")?),
            (None, None) => None,
        };
        if hosts.next().is_some() {
            return Err("Host appears twice");
        }
        let restricted = self.loopback || !self.hosts.is_empty();
        if restricted && !host.is_some_and(|host| self.knows_host(host)) {
            return Err("Host is not allowed");
        }
        let mut origins = parts.headers.get_all(ORIGIN).iter();
        let Some(origin) = origins.next() else { return Ok(None) };
        if origins.next().is_some() {
            return Err("Origin appears twice");
        }
        let text = origin.to_str().map_err(|_| "Origin is not allowed")?;
        if self.knows_origin(text) { Ok(Some(origin.clone())) } else { Err("Origin is not allowed") }
    }

    fn knows_host(&self, host: &str) -> bool {
        let name = without_port(host);
        self.hosts.iter().any(|known| known.eq_ignore_ascii_case(name)) || (self.loopback && is_loopback(name))
    }

    fn knows_origin(&self, origin: &str) -> bool {
        if self.any_origin || self.origins.contains(&origin.to_ascii_lowercase()) {
            return true;
        }
        let Some(host) = origin.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_ascii_lowercase)) else {
            return false;
        };
        let same_site = self.hosts.contains(&host);
        same_site || (self.loopback && is_loopback(&host))
    }
}

fn without_port(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or(host, |(inner, _)| inner),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    }
}

fn is_loopback(name: &str) -> bool {
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Answers a CORS preflight.
pub(super) fn preflight(parts: &Parts, origin: Option<HeaderValue>) -> Response<Body> {
    if origin.is_none() {
        return refusal(StatusCode::METHOD_NOT_ALLOWED, "OPTIONS is for CORS preflights");
    }
    const FIXED: &str = "Content-Type, Accept, Authorization, MCP-Protocol-Version, Mcp-Session-Id, Last-Event-ID, Mcp-Method, Mcp-Name";
    let wanted = parts.headers.get(ACCESS_CONTROL_REQUEST_HEADERS).and_then(|value| value.to_str().ok());
    let mirrored = wanted
        .into_iter()
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .filter(|name| name.get(..10).is_some_and(|start| start.eq_ignore_ascii_case("mcp-param-")));
    let allowed = std::iter::once(FIXED).chain(mirrored).collect::<Vec<_>>().join(", ");
    let mut response = bare(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    allow_origin(headers, origin);
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST, GET, DELETE"));
    if let Ok(allowed) = HeaderValue::try_from(allowed) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

/// Lets a page of this (checked) origin read the response.
pub(super) fn allow_origin(headers: &mut HeaderMap, origin: Option<HeaderValue>) {
    if let Some(origin) = origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(VARY, HeaderValue::from_static("Origin"));
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate"));
    }
}
