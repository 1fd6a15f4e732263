//! Content codings that the clients leave: several in a row, and the older name of gzip.

use super::fault::Fault;
use crate::response::NoAnswer;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderValue, Request};
use std::convert::Infallible;
use std::future::ready;
use tower::Service;
use tower_http::decompression::Decompression;

/// More in a row are a way to waste our time.
const MOST: usize = 3;

/// The codings in the order in which they were applied (RFC 9110 §8.4), without `identity`; the clients have already
/// undone and removed a single one that they know.
fn codings(headers: &HeaderMap) -> Result<Vec<HeaderValue>, Fault> {
    let unknown = |coding: &dyn std::fmt::Debug| {
        Fault::hopeless(NoAnswer::Body(format!("Content-Encoding {coding:?} is not known")))
    };
    let mut found = Vec::new();
    for value in headers.get_all(CONTENT_ENCODING) {
        let text = value.to_str().map_err(|_| unknown(&value))?;
        for coding in text.split(',').map(|coding| coding.trim().to_ascii_lowercase()) {
            found.push(HeaderValue::from_static(match coding.as_str() {
                "" | "identity" => continue,
                // RFC 9110 §8.4.1.3.
                "gzip" | "x-gzip" => "gzip",
                "deflate" => "deflate",
                "br" => "br",
                "zstd" => "zstd",
                _ => return Err(unknown(&coding)),
            }));
        }
    }
    match found.len() {
        0..=MOST => Ok(found),
        count => Err(Fault::hopeless(NoAnswer::Body(format!("{count} content codings in a row")))),
    }
}

/// The answer with every coding undone, as its body is read. A coding that nobody knows leaves bytes that mean nothing: it is
/// a fault.
pub(super) async fn undo(response: reqwest::Response) -> Result<reqwest::Response, Fault> {
    if !response.headers().contains_key(CONTENT_ENCODING) {
        return Ok(response);
    }
    let mut left = codings(response.headers())?;
    let mut response: http::Response<reqwest::Body> = response.into();
    response.headers_mut().remove(CONTENT_ENCODING);
    while let Some(coding) = left.pop() {
        response.headers_mut().insert(CONTENT_ENCODING, coding);
        let mut coded = Some(response);
        let mut once = Decompression::new(tower::service_fn(move |_: Request<()>| {
            ready(Ok::<_, Infallible>(coded.take().unwrap_or_default()))
        }));
        response = match once.call(Request::new(())).await {
            Ok(decoded) => decoded.map(reqwest::Body::wrap),
            Err(never) => match never {},
        };
    }
    Ok(response.into())
}
