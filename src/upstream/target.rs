//! Where a request goes.

use super::redirect::same_origin;
use bytes::Bytes;
use http::Uri;
use std::borrow::Cow;
use url::{Position, Url};

/// An absolute URL that means what the request's text means.
#[derive(Debug)]
pub(super) enum Target {
    /// At the configured origin, and of characters that no URL parser touches: path and query begin at `path`.
    Plain { text: Bytes, path: usize },
    /// Any other.
    Url(Url),
}

impl Target {
    /// Reads the URL of a request. It must come out of the URL parser meaning what went in; the error says why it is none
    /// that can be sent.
    pub(super) fn read(text: String, origin: Option<&Url>) -> Result<Target, &'static str> {
        if let Some(path) = origin.and_then(head).and_then(|head| text.strip_prefix(head))
            && is_plain(path)
        {
            let path = text.len() - path.len();
            return Ok(Target::Plain { text: text.into(), path });
        }
        let url = Url::parse(&text).map_err(|_| "no URL")?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err("no HTTP URL");
        }
        if url.fragment().is_some() {
            return Err("a fragment would be cut off");
        }
        if !keeps_path(&text, &url) {
            return Err("the path or query would be changed on the way");
        }
        Ok(Target::Url(url))
    }

    /// True if it is at this origin.
    pub(super) fn is_at(&self, origin: &Url) -> bool {
        match self {
            Target::Plain { .. } => true,
            Target::Url(url) => same_origin(origin, url),
        }
    }

    /// The URL; `None` never, but for a fault of ours.
    pub(super) fn url(&self) -> Option<Cow<'_, Url>> {
        match self {
            Target::Plain { text, .. } => {
                std::str::from_utf8(text).ok().and_then(|text| Url::parse(text).ok()).map(Cow::Owned)
            }
            Target::Url(url) => Some(Cow::Borrowed(url)),
        }
    }

    /// Path and query (origin form, RFC 9112 §3.2.1).
    pub(super) fn origin_form(&self) -> Result<Uri, http::uri::InvalidUri> {
        match self {
            Target::Plain { text, path } => Uri::from_maybe_shared(text.slice(*path..)),
            Target::Url(url) => Uri::try_from(&url[Position::BeforePath..Position::AfterQuery]),
        }
    }
}

/// What stands before the path in the text of an URL; `None` where credentials are in it.
fn head(origin: &Url) -> Option<&str> {
    let known = origin.username().is_empty() && origin.password().is_none();
    known.then(|| &origin[..Position::BeforePath])
}

/// True for a path and query that the URL standard's parser leaves as they are: unreserved characters and delimiters, no
/// empty first segment, no segment that begins with a dot, escaped or not.
fn is_plain(path: &str) -> bool {
    let mut query = false;
    let mut bytes = path.bytes();
    if bytes.next() != Some(b'/') || path.starts_with("//") {
        return false;
    }
    let mut before = b'/';
    bytes.all(|byte| {
        query |= byte == b'?';
        let dot = !query && before == b'/' && matches!(byte, b'.' | b'%');
        before = byte;
        !dot && matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'%' | b'/' | b'?' | b'!' | b'$' | b'&' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' | b':' | b'@')
    })
}

/// True if parsing changed at most the escaping of path and query, never their structure (dot
/// segments, backslashes, control characters).
fn keeps_path(text: &str, url: &Url) -> bool {
    let Some((_, rest)) = text.split_once("://") else { return false };
    let tail = rest.find(['/', '?', '#', '\\']).and_then(|start| rest.get(start..)).unwrap_or("");
    let (path, query) = match tail.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (tail, None),
    };
    let path = if path.is_empty() { "/" } else { path };
    same_text(path, url.path()) && same_text(query.unwrap_or(""), url.query().unwrap_or(""))
}

/// True if two texts are equal up to needless escaping.
fn same_text(meant: &str, sent: &str) -> bool {
    let decode = |text: &str| percent_encoding::percent_decode_str(text).collect::<Vec<u8>>();
    meant == sent || (decode(meant) == decode(sent) && meant.matches('/').count() == sent.matches('/').count())
}
