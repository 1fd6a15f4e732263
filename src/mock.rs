//! A REST backend that answers from a document's examples and schemas.
//!
//! It checks no request: it finds the operation by method and path (the servers' base paths taken off),
//! picks a response (the first success, or what `Prefer: code=404` asks for), a media type the caller accepts,
//! and an example or a sample of the schema. Path values are echoed into members of the answer that carry
//! the same name (`petId`, or `id` for the last variable), so that answers feel real. What is unknown gets
//! `application/problem+json` (RFC 9457) with 404, 405 or 406.

mod answer;
mod pattern;
mod payload;
mod route;
pub mod sample;

pub use answer::Answer;

use crate::openapi::Api;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use http::{HeaderMap, Method};
use route::Route;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Most bytes of a request body that are read (and ignored).
const MOST_BODY: usize = 64 << 20;

/// A mock of one or more APIs.
#[derive(Debug)]
pub struct Mock {
    apis: Vec<(Arc<Api>, Vec<Route>)>,
}

impl Mock {
    /// A mock of `apis`, each with a base path of its own choice besides those of its servers.
    pub fn new(apis: impl IntoIterator<Item = (Arc<Api>, Option<String>)>) -> Self {
        let with_routes = |(api, base): (Arc<Api>, Option<String>)| {
            let routes = route::routes(&api, base.as_deref());
            (api, routes)
        };
        Mock { apis: apis.into_iter().map(with_routes).collect() }
    }

    /// The answer to one request; `target` is path and query as on the wire.
    pub fn answer(&self, method: &Method, target: &str, headers: &HeaderMap) -> Answer {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let segments = route::split(path);
        let mut best: Option<(route::Match, &Api)> = None;
        let mut allowed: Vec<&str> = Vec::new();
        for (api, routes) in &self.apis {
            for route in routes {
                let Some(operation) = api.operations.get(route.operation) else { continue };
                let Some(found) = route.find(&segments, query) else { continue };
                let same = method.as_str() == operation.method;
                let head = *method == Method::HEAD && operation.method == "GET";
                if !same && !head {
                    allowed.push(&operation.method);
                } else if best.as_ref().is_none_or(|(present, _)| found.score > present.score) {
                    best = Some((found, api));
                }
            }
        }
        match best {
            Some((found, api)) => answer::of(api, &found, headers),
            None if allowed.is_empty() => answer::problem(404, "no operation of the document has this path"),
            None => {
                allowed.sort_unstable();
                allowed.dedup();
                let mut answer = answer::problem(405, "the document has this path with other methods only");
                answer.allow = Some(allowed.join(", "));
                answer
            }
        }
    }

    /// Serves until `shutdown` fires; the error is the listener's.
    pub async fn serve(self: Arc<Self>, listener: TcpListener, shutdown: CancellationToken) -> std::io::Result<()> {
        let app = axum::Router::new().fallback(respond).with_state(self);
        axum::serve(listener, app).with_graceful_shutdown(shutdown.cancelled_owned()).await
    }
}

/// Serves one API's mock until `shutdown` fires; the error is the listener's.
pub async fn serve(api: Arc<Api>, listener: TcpListener, shutdown: CancellationToken) -> std::io::Result<()> {
    Arc::new(Mock::new([(api, None)])).serve(listener, shutdown).await
}

async fn respond(State(mock): State<Arc<Mock>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let answer = match to_bytes(body, MOST_BODY).await {
        Ok(_) => {
            let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
            mock.answer(&head.method, target, &head.headers)
        }
        Err(_) => answer::problem(413, "the request body is too large or broken"),
    };
    let mut builder = Response::builder().status(answer.status);
    if let Some(content_type) = &answer.content_type {
        builder = builder.header(http::header::CONTENT_TYPE, content_type);
    }
    if let Some(allow) = &answer.allow {
        builder = builder.header(http::header::ALLOW, allow);
    }
    builder.body(Body::from(answer.body)).unwrap_or_default()
}
