//! Plain HTTP to the configured origin: connections and nothing else, no layers for TLS, proxies and redirects. The API
//! behind a sidecar is mostly on the same host, where they cost more than the rest of a small call.
//!
//! A connection belongs to the call that uses it and is driven by that call's own task: nobody has to be woken to pass a
//! request on or an answer back. In between it lies in the pool.

mod pool;

use super::address::Resolver;
use super::client::{IDLE, USER_AGENT};
use super::redirect::Hop;
use super::reply::Reply;
use crate::gather::Gathered;
use crate::mapping::Limits;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Uri, header};
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use pool::{Pool, Wire};
use std::error::Error;
use std::sync::Arc;
use tower::ServiceExt;
use url::{Position, Url};

pub(super) use pool::Live;

/// Codings that [`super::coding`] undoes.
const CODINGS: HeaderValue = HeaderValue::from_static("zstd,gzip,deflate,br");

/// Why there is no answer.
pub(super) enum Failed {
    /// The URL is none for this client.
    Url,
    /// No connection.
    Connect(Box<dyn Error + Send + Sync>),
    /// The connection broke, or what came over it is no HTTP.
    Exchange(hyper::Error),
}

/// A client of one origin.
pub(super) struct Direct {
    pool: Arc<Pool>,
    connector: HttpConnector<Resolver>,
    /// The origin as the connector wants it; `None` where it is no URI.
    origin: Option<Uri>,
    /// `Host` of the origin.
    host: Option<HeaderValue>,
}

impl Direct {
    /// A client with the time limits of the general one. At most as many connections wait in the pool as calls may run.
    pub(super) fn new(origin: &Url, limits: &Limits, public_only: bool) -> Direct {
        let mut connector = HttpConnector::new_with_resolver(Resolver { public_only });
        connector.set_nodelay(true);
        connector.set_keepalive(Some(IDLE));
        connector.set_connect_timeout(Some(limits.connect_timeout.0));
        let host = origin.host_str().map(|host| match origin.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        });
        let host = host.and_then(|host| HeaderValue::try_from(host).ok());
        let origin = Uri::try_from(&origin[..Position::AfterPort]).ok();
        Direct { pool: Pool::new(limits.concurrency.max(1), IDLE), connector, origin, host }
    }

    /// Sends one request and waits for the head of the answer.
    ///
    /// A connection of the pool may have been closed by the other side just now; as long as nothing of the request was
    /// sent over it, the next one is taken.
    pub(super) async fn send(&self, hop: &Hop) -> Result<Reply, Failed> {
        let mut request = self.request(hop)?;
        loop {
            let (wire, used) = match self.pool.take() {
                Some(wire) => (wire, true),
                None => (self.connect().await?, false),
            };
            match wire.send(request, &self.pool).await {
                Ok(response) => return Ok(Reply::new(response)),
                Err(mut failed) => match failed.take_message() {
                    Some(unsent) if used => request = unsent,
                    _ => return Err(Failed::Exchange(failed.into_error())),
                },
            }
        }
    }

    fn request(&self, hop: &Hop) -> Result<Request<Full<Bytes>>, Failed> {
        let mut request = Request::new(Full::new(hop.body.clone().unwrap_or_default()));
        *request.method_mut() = hop.method.clone();
        *request.uri_mut() = hop.target.origin_form().map_err(|_| Failed::Url)?;
        let mut headers = hop.headers.clone();
        if let Some(host) = &self.host {
            add(&mut headers, header::HOST, host);
        }
        add(&mut headers, header::USER_AGENT, &HeaderValue::from_static(USER_AGENT));
        add(&mut headers, header::ACCEPT, &HeaderValue::from_static("*/*"));
        // A part of something encoded can't be decoded.
        if !headers.contains_key(header::RANGE) {
            add(&mut headers, header::ACCEPT_ENCODING, &CODINGS);
        }
        *request.headers_mut() = headers;
        Ok(request)
    }

    async fn connect(&self) -> Result<Wire, Failed> {
        let origin = self.origin.clone().ok_or(Failed::Url)?;
        let connector = self.connector.clone();
        let counted = self.pool.count();
        let stream = connector.oneshot(origin).await.map_err(|error| Failed::Connect(error.into()))?;
        let stream = TokioIo::new(Gathered::new(stream.into_inner()));
        let (sender, connection) = http1::handshake(stream).await.map_err(Failed::Exchange)?;
        self.pool.watch();
        Ok(Wire::new(sender, connection, counted))
    }
}

/// Adds a header where the request has none of the name.
fn add(headers: &mut HeaderMap, name: header::HeaderName, value: &HeaderValue) {
    if let header::Entry::Vacant(place) = headers.entry(name) {
        place.insert(value.clone());
    }
}
