//! The HTTP client of the telemetry exporter. Its batches come from threads of their own; the
//! requests run on the runtime this was made on.

use super::{SendOptions, Upstream, kind};
use crate::mapping::{self, Limits, Redirects, Tls};
use bytes::Bytes;
use opentelemetry_http::{HttpClient, HttpError};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Sends OTLP batches.
pub struct OtlpClient {
    upstream: Arc<Upstream>,
    runtime: tokio::runtime::Handle,
}

impl std::fmt::Debug for OtlpClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OtlpClient")
    }
}

impl OtlpClient {
    /// A client for a collector; must be called on a runtime.
    ///
    /// # Errors
    /// Problems with TLS files, or no runtime.
    pub fn new(endpoint: &str, tls: Tls) -> Result<Arc<OtlpClient>, Vec<String>> {
        let runtime = tokio::runtime::Handle::try_current().map_err(|error| vec![error.to_string()])?;
        let limits = Limits {
            timeout: mapping::Duration(Duration::from_secs(10)),
            max_response: mapping::Bytes(1024 * 1024),
            retries: 2,
            redirects: Redirects::None,
            ..Limits::default()
        };
        let upstream = Arc::new(Upstream::for_url("telemetry.otlp", endpoint, tls, limits)?);
        Ok(Arc::new(OtlpClient { upstream, runtime }))
    }
}

type Sending<'a> = Pin<Box<dyn Future<Output = Result<http::Response<Bytes>, HttpError>> + Send + 'a>>;

impl HttpClient for OtlpClient {
    fn send_bytes<'life0, 'async_trait>(&'life0 self, request: http::Request<Bytes>) -> Sending<'async_trait>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        let upstream = self.upstream.clone();
        let sending = self.runtime.spawn(async move {
            let (parts, body) = request.into_parts();
            let request = crate::request::Request {
                method: parts.method,
                url: parts.uri.to_string(),
                headers: parts.headers,
                body: Some(body),
                secret_in_url: Vec::new(),
                secrets: Vec::new(),
            };
            // The protocol lets a batch be sent again (OTLP 1.x, "OTLP/HTTP Throttling").
            let options = SendOptions { idempotent: true, ..SendOptions::default() };
            upstream.send(0, request, &options).await
        });
        Box::pin(async move {
            let answer = sending.await?.map_err(|error| kind(&error))?;
            let mut response = http::Response::new(answer.body);
            *response.status_mut() = answer.status;
            *response.headers_mut() = answer.headers;
            Ok(response)
        })
    }
}
