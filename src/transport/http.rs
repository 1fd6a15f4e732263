//! The HTTP server: accepts connections, checks who asks, and hands each request to its endpoint.

mod body;
mod exchange;
mod front;
mod guard;
mod gzip;
mod line;
mod listen;
mod post;
mod replay;
mod session;
mod socket;
mod sse;
mod stalled;

use super::{Certificate, Settings};
use crate::access::Caller;
use crate::protocol::{INVALID_REQUEST, RpcError, Server};
use ::http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use ::http::request::Parts;
use ::http::{HeaderValue, Method, Request, Response, StatusCode};
use axum::Router;
use axum::extract::State;
use axum::routing::{any, get};
use body::Body;
use guard::Guard;
use hyper::body::Incoming;
use session::Sessions;
use stalled::Stalled;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

/// A response that ends a request early; boxed, for it travels in many results.
type Refused = Box<Response<Body>>;

/// Everything that requests share.
pub(super) struct Http {
    server: Arc<Server>,
    settings: Settings,
    guard: Guard,
    sessions: Arc<Sessions>,
    sse: sse::Streams,
    /// One for each POST that may run.
    turns: Semaphore,
    /// Fires on shutdown.
    closing: CancellationToken,
}

/// Serves MCP over HTTP on a bound socket until `shutdown`; then answers what is in flight for at
/// most [`Settings::grace`]. Fails on paths that can't be routed.
pub async fn serve_http(
    listener: TcpListener,
    server: Arc<Server>,
    settings: Settings,
    shutdown: CancellationToken,
) -> io::Result<()> {
    check_paths(&settings)?;
    let guard = Guard::new(&settings, listener.local_addr()?.ip().is_loopback());
    let sessions = Arc::new(Sessions::new(&settings));
    let extra = settings.extra.clone();
    let turns = Semaphore::new(settings.max_requests.clamp(1, Semaphore::MAX_PERMITS));
    let sse = sse::Streams::default();
    let http = Arc::new(Http { server, settings, guard, sessions, sse, turns, closing: shutdown.clone() });
    let router = routes(&http).merge(extra);
    let connections = Arc::new(Semaphore::new(http.settings.max_connections.max(1)));
    let tasks = TaskTracker::new();
    let sweeping = tokio::spawn(session::sweep(Arc::clone(&http.sessions), http.settings.sessions.idle));
    let seats = http.settings.workers.clone();
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            accepted = async {
                let permit = Arc::clone(&connections).acquire_owned().await;
                (listener.accept().await, permit)
            } => accepted,
        };
        match accepted {
            (Ok((socket, _)), Ok(permit)) => {
                let (http, router) = (Arc::clone(&http), router.clone());
                match seats.as_ref().and_then(|workers| workers.seat()) {
                    None => drop(tasks.spawn(async move {
                        connection(http, router, socket).await;
                        drop(permit);
                    })),
                    Some(seat) => {
                        let runtime = seat.runtime.clone();
                        let socket = socket.into_std();
                        let settled = async move {
                            // From here on the events of the connection come to this worker.
                            match socket.and_then(TcpStream::from_std) {
                                Ok(socket) => connection(http, router, socket).await,
                                Err(error) => tracing::debug!(%error, "connection lost"),
                            }
                            drop((seat, permit));
                        };
                        drop(tasks.spawn_on(settled, &runtime));
                    }
                }
            }
            // Out of file handles, or the peer left already: the next one may work.
            (Err(error), _) => {
                tracing::debug!(%error, "accept failed");
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
            (_, Err(_)) => break,
        }
    }
    drop(listener);
    sweeping.abort();
    http.sessions.end_all();
    http.sse.end_all();
    tasks.close();
    let _ = tokio::time::timeout(http.settings.grace, tasks.wait()).await;
    Ok(())
}

fn check_paths(settings: &Settings) -> io::Result<()> {
    let sse = settings.sse_path.as_ref();
    let messages = sse.map(|_| &settings.messages_path);
    let fixed = [Some("/healthz"), Some("/readyz")];
    let own = [settings.mcp_path.as_ref(), sse, messages, settings.websocket_path.as_ref()];
    let paths: Vec<&str> = fixed.into_iter().chain(own.map(|path| path.map(String::as_str))).flatten().collect();
    for (index, path) in paths.iter().enumerate() {
        let routable = path.starts_with('/') && !path.contains(['{', '}', '*', ':', '?', '#', ' ']);
        if !routable || paths.iter().take(index).any(|earlier| earlier == path) {
            let text =
                format!("`{path}` can't be a path of its own: it must start with `/` and differ from the others");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
    }
    Ok(())
}

fn routes(http: &Arc<Http>) -> Router {
    let settings = &http.settings;
    let mut router = Router::new().route("/healthz", get(|| async { "ok" })).route("/readyz", get(ready));
    if let Some(path) = &settings.sse_path {
        router = router.route(path, any(sse::stream)).route(&settings.messages_path, any(sse::message));
    }
    if let Some(path) = &settings.websocket_path {
        router = router.route(path, any(socket::upgrade));
    }
    router.with_state(Arc::clone(http))
}

async fn ready(State(http): State<Arc<Http>>) -> (StatusCode, &'static str) {
    if http.settings.ready.load(Ordering::Relaxed) && !http.closing.is_cancelled() {
        (StatusCode::OK, "ready")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "not ready")
    }
}

async fn connection(http: Arc<Http>, router: Router, socket: TcpStream) {
    // Without it, small answers wait for the peer's delayed acknowledgement.
    let _ = socket.set_nodelay(true);
    let settings = &http.settings;
    match &settings.tls {
        None => {
            line::serve(&http, router, Stalled::new(socket, settings.stall_timeout, settings.header_timeout), None)
                .await
        }
        Some(tls) => match tokio::time::timeout(settings.header_timeout, tls.accept(socket)).await {
            Ok(Ok((stream, certificate))) => {
                let stream = Stalled::new(stream, settings.stall_timeout, settings.header_timeout);
                line::serve(&http, router, stream, certificate).await;
            }
            Ok(Err(error)) => tracing::debug!(%error, "TLS handshake failed"),
            Err(_) => tracing::debug!("TLS handshake timed out"),
        },
    }
}

impl Http {
    async fn route(
        self: &Arc<Self>,
        router: Router,
        mut request: Request<Incoming>,
        certificate: Option<Arc<Certificate>>,
    ) -> Response<Body> {
        if self.settings.mcp_path.as_deref() == Some(request.uri().path()) {
            let (parts, body) = request.into_parts();
            return self.endpoint(parts, body, certificate.as_deref()).await;
        }
        if let Some(certificate) = certificate {
            request.extensions_mut().insert(certificate);
        }
        match router.oneshot(request.map(axum::body::Body::new)).await {
            Ok(response) => response.map(Body::Axum),
            Err(never) => match never {},
        }
    }

    /// Streamable HTTP.
    async fn endpoint(
        self: &Arc<Self>,
        parts: Parts,
        body: Incoming,
        certificate: Option<&Certificate>,
    ) -> Response<Body> {
        let origin = match self.guard.check(&parts) {
            Ok(origin) => origin,
            Err(text) => return refusal(StatusCode::FORBIDDEN, text),
        };
        if parts.method == Method::OPTIONS {
            return guard::preflight(&parts, origin);
        }
        let mut response = match self.identify(&parts, certificate).await {
            Err(response) => *response,
            Ok(caller) => match parts.method {
                Method::POST => match self.turns.try_acquire() {
                    Ok(_turn) => post::post(self, parts, body, caller).await,
                    Err(_) => crowded(),
                },
                Method::GET => listen::get(self, &parts, &caller),
                Method::DELETE => listen::delete(self, &parts, &caller),
                _ => not_allowed("POST, GET, DELETE, OPTIONS"),
            },
        };
        guard::allow_origin(response.headers_mut(), origin);
        response
    }

    /// The caller, with the headers that mappings want.
    async fn identify(&self, parts: &Parts, certificate: Option<&Certificate>) -> Result<Arc<Caller>, Refused> {
        let caller = match self.settings.authenticator.authenticate(&parts.headers, certificate).await {
            Ok(caller) => caller,
            Err(denied) => {
                let status = StatusCode::from_u16(denied.status).unwrap_or(StatusCode::UNAUTHORIZED);
                let mut response = refusal(status, denied.body);
                if let Some(Ok(value)) = denied.www_authenticate.map(HeaderValue::try_from) {
                    response.headers_mut().insert(WWW_AUTHENTICATE, value);
                }
                return Err(Box::new(response));
            }
        };
        let captured = || {
            self.settings
                .capture_headers
                .iter()
                .filter_map(|name| Some((name, parts.headers.get(name.as_str())?.to_str().ok()?)))
        };
        if captured().next().is_none() {
            return Ok(caller);
        }
        let mut caller = Arc::unwrap_or_clone(caller);
        caller.headers.extend(captured().map(|(name, value)| (name.clone(), value.to_owned())));
        Ok(Arc::new(caller))
    }

    /// The same checks for endpoints served through the router.
    async fn admit(&self, parts: &Parts) -> Result<Arc<Caller>, Refused> {
        if let Err(text) = self.guard.check(parts) {
            return Err(Box::new(refusal(StatusCode::FORBIDDEN, text)));
        }
        let certificate = parts.extensions.get::<Arc<Certificate>>().cloned();
        self.identify(parts, certificate.as_deref()).await
    }
}

/// A response with one JSON text.
fn json(status: StatusCode, text: Body) -> Response<Body> {
    let mut response = Response::new(text);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A response without body.
fn bare(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// A refusal for a reason of the transport's own; always with a JSON-RPC body, so that no client
/// mistakes it for an older kind of server.
fn refusal(status: StatusCode, text: impl Into<std::borrow::Cow<'static, str>>) -> Response<Body> {
    json(status, Body::new(RpcError::new(INVALID_REQUEST, text).write(None).into()))
}

fn crowded() -> Response<Body> {
    let mut response = refusal(StatusCode::SERVICE_UNAVAILABLE, "Too many requests at the moment; try again later");
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

fn not_allowed(methods: &'static str) -> Response<Body> {
    let mut response = refusal(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed");
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
    response
}
