//! Routes beside the transports: metrics, metadata for OAuth clients, health on a listener of its own.

use crate::telemetry::Prometheus;
use crate::transport::identity::Authenticator;
use crate::transport::{Authenticator as _, Certificate, identity::door::Door};
use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::{ACCEPT, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE, VARY, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const PROMETHEUS_TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

const OPEN_METRICS_TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Prometheus text, or OpenMetrics for those who take it: only that has exemplars.
fn exposition(prometheus: &Prometheus, headers: &HeaderMap) -> Response {
    let accepts = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let (kind, text) = match accepts.into_iter().any(|value| value.contains("application/openmetrics-text")) {
        true => (OPEN_METRICS_TEXT, prometheus.render_open()),
        false => (PROMETHEUS_TEXT, prometheus.render()),
    };
    ([(CONTENT_TYPE, kind), (VARY, "accept")], text).into_response()
}

/// Metrics for callers that the door lets in: names of tools are not everybody's business.
pub(super) fn guarded_metrics(path: &str, prometheus: Prometheus, door: Arc<Door>) -> Router {
    let answer = move |request: Request| {
        let (prometheus, door) = (prometheus.clone(), door.clone());
        async move {
            let certificate = request.extensions().get::<Arc<Certificate>>().cloned();
            match door.authenticate(request.headers(), certificate.as_deref()).await {
                Ok(_) => exposition(&prometheus, request.headers()),
                Err(denied) => {
                    let status = StatusCode::from_u16(denied.status).unwrap_or(StatusCode::UNAUTHORIZED);
                    let mut response = (status, denied.body).into_response();
                    if let Some(Ok(value)) = denied.www_authenticate.map(HeaderValue::try_from) {
                        response.headers_mut().insert(WWW_AUTHENTICATE, value);
                    }
                    response
                }
            }
        }
    };
    Router::new().route(path, get(answer))
}

/// Metrics and health for whoever reaches the listener.
pub(super) fn open(path: Option<&str>, prometheus: Option<Prometheus>, ready: Arc<AtomicBool>) -> Router {
    let readiness = move || {
        let ready = ready.load(Ordering::Relaxed);
        async move { if ready { (StatusCode::OK, "ready") } else { (StatusCode::SERVICE_UNAVAILABLE, "not ready") } }
    };
    let router = Router::new().route("/healthz", get(|| async { "ok" })).route("/readyz", get(readiness));
    match (path, prometheus) {
        (Some(path), Some(prometheus)) => {
            router.route(path, get(move |headers: HeaderMap| async move { exposition(&prometheus, &headers) }))
        }
        _ => router,
    }
}

/// The protected resource's metadata (RFC 9728 §3), readable by pages of any origin.
pub(super) fn metadata(authenticator: &Authenticator) -> Router {
    let Some(document) = authenticator.metadata() else { return Router::new() };
    let text: Arc<str> = document.to_string().into();
    authenticator.metadata_paths().into_iter().fold(Router::new(), |router, path| {
        let text = text.clone();
        let answer = move || {
            let text = text.to_string();
            async move {
                let headers = [
                    (CONTENT_TYPE, "application/json"),
                    (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
                    (CACHE_CONTROL, "max-age=3600"),
                ];
                (headers, text).into_response()
            }
        };
        router.route(&path, get(answer))
    })
}
