//! Plain HTTP to the configured origin: pool and connection of the general client without its layers for
//! TLS, proxies and redirects. They cost more than the rest of a small call, and the API behind a sidecar
//! is mostly on the same host.

use super::address::Resolver;
use super::client::{IDLE, USER_AGENT};
use super::redirect::Hop;
use crate::mapping::Limits;
use bytes::Bytes;
use http::{HeaderValue, Uri, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use reqwest::ResponseBuilderExt;
use tower::Service;
use tower_http::decompression::{Decompression, DecompressionBody};
use url::Url;

type Pool = Client<HttpConnector<Resolver>, Full<Bytes>>;

/// Why there is no answer.
pub(super) enum Failed {
    /// The URL is none for this client.
    Url,
    /// See the error's chain.
    Exchange(hyper_util::client::legacy::Error),
}

/// A client of one origin.
#[derive(Clone)]
pub(super) struct Direct {
    pool: Decompression<Pool>,
    /// `Host` of the origin.
    host: Option<HeaderValue>,
}

impl Direct {
    /// A client with the pool and the time limits of the general one.
    pub(super) fn new(origin: &Url, limits: &Limits, public_only: bool) -> Direct {
        let mut connector = HttpConnector::new_with_resolver(Resolver { public_only });
        connector.set_nodelay(true);
        connector.set_keepalive(Some(IDLE));
        connector.set_connect_timeout(Some(limits.connect_timeout.0));
        let pool = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(limits.concurrency.max(1))
            .build(connector);
        let host = origin.host_str().map(|host| match origin.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        });
        let host = host.and_then(|host| HeaderValue::try_from(host).ok());
        Direct { pool: Decompression::new(pool), host }
    }

    /// Sends one request and waits for the head of the answer.
    pub(super) async fn send(&self, hop: &Hop) -> Result<reqwest::Response, Failed> {
        let mut request = http::Request::new(Full::new(hop.body.clone().unwrap_or_default()));
        *request.method_mut() = hop.method.clone();
        *request.uri_mut() = Uri::try_from(hop.url.as_str()).map_err(|_| Failed::Url)?;
        let headers = request.headers_mut();
        *headers = hop.headers.clone();
        // The pool would make it anew for each request.
        if let (Some(host), header::Entry::Vacant(place)) = (&self.host, headers.entry(header::HOST)) {
            place.insert(host.clone());
        }
        headers.entry(header::USER_AGENT).or_insert(HeaderValue::from_static(USER_AGENT));
        headers.entry(header::ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        let answer: http::Response<DecompressionBody<Incoming>> =
            self.pool.clone().call(request).await.map_err(Failed::Exchange)?;
        // Without an URL of ours the general client's type parses one for each answer.
        let (mut head, body) = answer.into_parts();
        let known =
            http::Response::builder().url(hop.url.clone()).body(()).map(|empty| empty.into_parts().0.extensions);
        head.extensions = known.unwrap_or_default();
        Ok(http::Response::from_parts(head, reqwest::Body::wrap(body)).into())
    }
}
