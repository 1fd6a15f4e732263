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
use tower::Service;
use tower_http::decompression::{Decompression, DecompressionBody};

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
}

impl Direct {
    /// A client with the pool and the time limits of the general one.
    pub(super) fn new(limits: &Limits, public_only: bool) -> Direct {
        let mut connector = HttpConnector::new_with_resolver(Resolver { public_only });
        connector.set_nodelay(true);
        connector.set_keepalive(Some(IDLE));
        connector.set_connect_timeout(Some(limits.connect_timeout.0));
        let pool = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(limits.concurrency.max(1))
            .build(connector);
        Direct { pool: Decompression::new(pool) }
    }

    /// Sends one request and waits for the head of the answer.
    pub(super) async fn send(&self, hop: &Hop) -> Result<reqwest::Response, Failed> {
        let mut request = http::Request::new(Full::new(hop.body.clone().unwrap_or_default()));
        *request.method_mut() = hop.method.clone();
        *request.uri_mut() = Uri::try_from(hop.url.as_str()).map_err(|_| Failed::Url)?;
        let headers = request.headers_mut();
        *headers = hop.headers.clone();
        headers.entry(header::USER_AGENT).or_insert(HeaderValue::from_static(USER_AGENT));
        headers.entry(header::ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        let answer: http::Response<DecompressionBody<Incoming>> =
            self.pool.clone().call(request).await.map_err(Failed::Exchange)?;
        Ok(answer.map(reqwest::Body::wrap).into())
    }
}
