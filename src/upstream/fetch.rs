//! One document by URL: key sets of token issuers.

use super::{SendOptions, Upstream, kind};
use crate::mapping::{self, Limits, Redirects, Tls};
use crate::request::Request;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use std::pin::Pin;
use std::time::Duration;

/// A document being fetched; the error is for the log.
pub type Fetching<'a> = Pin<Box<dyn Future<Output = Result<Bytes, String>> + Send + 'a>>;

/// Fetches one document.
pub trait Fetch: Send + Sync {
    /// The document, whole and bounded.
    fn fetch(&self) -> Fetching<'_>;
}

/// A document that is fetched again and again.
pub struct Document {
    upstream: Upstream,
    url: String,
}

impl Document {
    /// `name` is for problems and metrics.
    ///
    /// # Errors
    /// Problems with TLS files.
    pub fn new(name: &str, url: &str, tls: Tls, timeout: Duration) -> Result<Document, Vec<String>> {
        let limits = Limits {
            timeout: mapping::Duration(timeout),
            max_response: mapping::Bytes(1024 * 1024),
            retries: 1,
            redirects: Redirects::SameOrigin,
            ..Limits::default()
        };
        Ok(Document { upstream: Upstream::for_url(name, url, tls, limits)?, url: url.to_owned() })
    }
}

impl Fetch for Document {
    fn fetch(&self) -> Fetching<'_> {
        Box::pin(async move {
            let mut headers = HeaderMap::new();
            headers.insert(http::header::ACCEPT, HeaderValue::from_static("application/json"));
            let request = Request {
                method: Method::GET,
                url: self.url.clone(),
                headers,
                body: None,
                secret_in_url: Vec::new(),
                secrets: Vec::new(),
            };
            let options = SendOptions { idempotent: true, ..SendOptions::default() };
            let answer = self.upstream.send(0, request, &options).await.map_err(|error| kind(&error).to_owned())?;
            match answer.status {
                StatusCode::OK if !answer.truncated => Ok(answer.body),
                StatusCode::OK => Err("the document is too large".to_owned()),
                other => Err(format!("status {}", other.as_u16())),
            }
        })
    }
}
