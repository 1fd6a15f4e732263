//! The request as text for people: as HTTP and as a `curl` command, secrets masked.

use super::{Request, credential};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method};
use std::fmt::Write;

/// Binary bodies longer than this are described, not shown.
const SHOWN_BINARY: usize = 4096;

/// The request as an HTTP/1.1 message, secrets as `***`, `Content-Length` left out.
pub fn to_http(request: &Request) -> String {
    let url = masked_url(request);
    let (authority, target) = split_authority(&url);
    let mut out = format!("{} {target} HTTP/1.1\nhost: {authority}\n", request.method);
    for (name, value) in &request.headers {
        let _ = writeln!(out, "{name}: {}", masked_value(name, value));
    }
    match request.body.as_ref().map(|body| (body.len(), std::str::from_utf8(body))) {
        None | Some((0, _)) => {}
        Some((_, Ok(text))) => {
            let _ = write!(out, "\n{}\n", credential::mask_body(request, text));
        }
        Some((length, Err(_))) => {
            let _ = write!(out, "\n({})\n", binary_note(request, length));
        }
    }
    out
}

/// The request as a POSIX shell command, secrets as `***`.
pub fn to_curl(request: &Request) -> String {
    let url = masked_url(request);
    let body = request.body.as_ref().filter(|body| !body.is_empty());
    let text = body.map(|body| std::str::from_utf8(body).ok().filter(|text| !text.contains('\0')));
    let mut out = String::new();
    if let (Some(body), Some(None)) = (body, text) {
        if body.len() > SHOWN_BINARY {
            let _ = writeln!(out, "# the body: {}", binary_note(request, body.len()));
            out.push_str("cat BODY | ");
        } else {
            let _ = write!(out, "printf %s {} | base64 -d | ", quoted(&STANDARD.encode(body)));
        }
    }
    out.push_str("curl");
    if url.contains(['[', ']', '{', '}']) {
        out.push_str(" --globoff");
    }
    if url.contains("/.") {
        out.push_str(" --path-as-is");
    }
    match request.method {
        Method::GET if body.is_none() => {}
        Method::HEAD => out.push_str(" --head"),
        _ => {
            let _ = write!(out, " -X {}", quoted(request.method.as_str()));
        }
    }
    let _ = write!(out, " {}", quoted(&url));
    for (name, value) in request.headers.iter().filter(|(name, _)| *name != CONTENT_LENGTH) {
        let value = masked_value(name, value);
        let line = if value.is_empty() { format!("{name};") } else { format!("{name}: {value}") };
        let _ = write!(out, " \\\n  -H {}", quoted(&line));
    }
    match text {
        Some(Some(text)) => {
            let _ = write!(out, " \\\n  --data-raw {}", quoted(&credential::mask_body(request, text)));
        }
        Some(None) => out.push_str(" \\\n  --data-binary @-"),
        None if request.headers.contains_key(CONTENT_LENGTH) => out.push_str(" \\\n  --data-raw ''"),
        None => {}
    }
    out.push('\n');
    out
}

fn binary_note(request: &Request, length: usize) -> String {
    let content_type = request.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("binary");
    let content_type = content_type.split(';').next().unwrap_or_default();
    format!("{length} bytes of {content_type}")
}

fn masked_url(request: &Request) -> String {
    let mut ranges = request.secret_in_url.clone();
    ranges.sort_by_key(|range| range.start);
    let mut out = String::with_capacity(request.url.len());
    let mut at = 0;
    for range in ranges {
        out.push_str(request.url.get(at..range.start).unwrap_or_default());
        if range.end > at {
            out.push_str("***");
        }
        at = at.max(range.end);
    }
    out.push_str(request.url.get(at..).unwrap_or_default());
    out
}

/// Host and request target of an absolute URL.
fn split_authority(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, target) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    (host, if target.is_empty() { "/" } else { target })
}

fn masked_value(name: &HeaderName, value: &HeaderValue) -> String {
    let text = String::from_utf8_lossy(value.as_bytes());
    if !value.is_sensitive() {
        return text.into_owned();
    }
    // the scheme is no secret and tells which credential was taken
    match text.split_once(' ') {
        Some((scheme @ ("Basic" | "Bearer"), _)) if name == AUTHORIZATION => format!("{scheme} ***"),
        _ => "***".to_owned(),
    }
}

/// A word for a POSIX shell: bare where it is harmless, else in single quotes.
fn quoted(text: &str) -> String {
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@%+=,".contains(&byte);
    if !text.is_empty() && text.bytes().all(harmless) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
