//! Content codings of answers; the general client undoes a single one by itself.

use super::fault::Fault;
use super::reply::Reply;
use crate::response::NoAnswer;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderValue, Request};
use std::future::ready;
use tower::Service;
use tower_http::decompression::Decompression;

/// More in a row are a way to waste our time.
const MOST: usize = 3;

/// The codings in the order in which they were applied (RFC 9110 §8.4), without `identity`; the general client
/// has already undone and removed a single one that it knows.
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
pub(super) async fn undo(reply: Reply) -> Result<Reply, Fault> {
    if !reply.headers.contains_key(CONTENT_ENCODING) {
        return Ok(reply);
    }
    let mut left = codings(&reply.headers)?;
    let mut reply = reply;
    reply.headers.remove(CONTENT_ENCODING);
    while let Some(coding) = left.pop() {
        reply.headers.insert(CONTENT_ENCODING, coding);
        let mut response = http::Response::new(reply.body);
        *response.status_mut() = reply.status;
        *response.headers_mut() = reply.headers;
        let mut coded = Some(response);
        let mut once = Decompression::new(tower::service_fn(move |_: Request<()>| ready(coded.take().ok_or(()))));
        reply = match once.call(Request::new(())).await {
            Ok(decoded) => Reply::other(decoded),
            // Asked once, it answers.
            Err(()) => return Err(Fault::hopeless(NoAnswer::Body("nothing to decode".to_owned()))),
        };
    }
    Ok(reply)
}
