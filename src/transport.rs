//! stdio, Streamable HTTP, HTTP+SSE and WebSocket.
//!
//! - **stdio** ([`serve_stdio`]): one message a line; requests run concurrently, answers come out of
//!   order; the end of input ends the server after the requests in flight.
//! - **Streamable HTTP** ([`serve_http`]): one endpoint. Modern requests (2026-07-28) are POSTs without
//!   any state; a client that disconnects cancels. Legacy requests live in a session
//!   (`Mcp-Session-Id`), or, with sessions off, stand alone. An answer is JSON unless something must be
//!   said before it; then it becomes an event stream.
//! - **HTTP+SSE** (2024-11-05) on its own two paths.
//! - **WebSocket**: no revision defines it. Subprotocol `mcp`; one text frame is one message; a binary
//!   frame closes with 1003; a frame over the limit closes with 1009. A connection behaves like stdio:
//!   both eras, `notifications/cancelled` cancels, closing cancels everything. Origin, Host and
//!   credentials are checked before the upgrade.

mod connection;
mod http;
pub mod identity;
mod stdio;
pub mod tls;

pub use self::http::serve_http;
pub use self::stdio::serve_stdio;

use crate::access::Caller;
use crate::workers::Workers;
use ::http::HeaderMap;
use axum::Router;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// A client's leaf certificate (DER), verified by the TLS layer.
pub type Certificate = rustls::pki_types::CertificateDer<'static>;

/// A boxed future.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Tells who calls; asked once for every HTTP request and WebSocket upgrade.
pub trait Authenticator: Send + Sync {
    /// The caller behind these headers and this client certificate, or why there is none.
    fn authenticate<'a>(
        &'a self,
        headers: &'a HeaderMap,
        certificate: Option<&'a Certificate>,
    ) -> Boxed<'a, Result<Arc<Caller>, Denied>>;

    /// The `WWW-Authenticate` value of a 403 for missing scopes (RFC 6750 §3.1).
    fn challenge(&self, scopes: &[String]) -> Option<String> {
        let _ = scopes;
        None
    }
}

/// Why a request is refused before its message is read.
#[derive(Debug, Clone)]
pub struct Denied {
    /// 401, 403, 400 or 429.
    pub status: u16,
    /// `WWW-Authenticate`.
    pub www_authenticate: Option<String>,
    /// One sentence for the client; becomes the message of a JSON-RPC error.
    pub body: String,
}

/// Everybody is let in, nameless.
#[derive(Debug, Clone, Copy, Default)]
pub struct Open;

impl Authenticator for Open {
    fn authenticate<'a>(
        &'a self,
        _: &'a HeaderMap,
        _: Option<&'a Certificate>,
    ) -> Boxed<'a, Result<Arc<Caller>, Denied>> {
        Box::pin(std::future::ready(Ok(Arc::default())))
    }
}

/// Bytes in both directions.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A TLS stream and the client's certificate, if it showed one.
pub type Secured = (Box<dyn Duplex>, Option<Certificate>);

/// Turns an accepted socket into a TLS stream.
pub trait Handshake: Send + Sync {
    /// Shakes hands; an error closes the connection.
    fn accept(&self, socket: TcpStream) -> Boxed<'static, io::Result<Secured>>;
}

/// Sessions of revisions before 2026-07-28 over Streamable HTTP.
#[derive(Debug, Clone)]
pub struct Sessions {
    /// Off: every replica answers every request, but clients can't be asked and hear no changes.
    pub enabled: bool,
    /// A session unused for this long ends.
    pub idle: Duration,
    /// Most sessions at once.
    pub max: usize,
}

/// What the transports allow.
#[derive(Clone)]
pub struct Settings {
    /// Path of Streamable HTTP; `None` = off.
    pub mcp_path: Option<String>,
    /// Path of the event stream of HTTP+SSE; `None` = off.
    pub sse_path: Option<String>,
    /// Path where HTTP+SSE clients POST.
    pub messages_path: String,
    /// Path of WebSocket; `None` = off.
    pub websocket_path: Option<String>,
    /// Longest HTTP body, in bytes.
    pub max_body: usize,
    /// Longest stdio line or WebSocket message, in bytes.
    pub max_frame: usize,
    /// Legacy sessions.
    pub sessions: Sessions,
    /// Pause between comments on an idle event stream, and between WebSocket pings.
    pub heartbeat: Duration,
    /// Accepted `Origin` values (`https://app.example`, or `*`). Loopback origins are accepted where
    /// the server listens on a loopback address.
    pub origins: Vec<String>,
    /// Accepted `Host` names without port. Empty: any, or loopback names where the server listens on
    /// a loopback address.
    pub hosts: Vec<String>,
    /// Lower-case names of headers copied into [`Caller::headers`].
    pub capture_headers: Vec<String>,
    /// Longest wait for a complete request head.
    pub header_timeout: Duration,
    /// Longest wait for a complete request body.
    pub body_timeout: Duration,
    /// A client that takes no bytes for this long is disconnected.
    pub stall_timeout: Duration,
    /// How long requests in flight may go on after the end of input or a shutdown.
    pub grace: Duration,
    /// Most connections at once.
    pub max_connections: usize,
    /// Most POSTs of Streamable HTTP at once; more are answered with 503.
    pub max_requests: usize,
    /// Most messages kept on one stream for clients that come back.
    pub replay_messages: usize,
    /// Most bytes kept on all streams for clients that come back.
    pub replay_bytes: usize,
    /// Tells who calls.
    pub authenticator: Arc<dyn Authenticator>,
    /// TLS; `None` = plain.
    pub tls: Option<Arc<dyn Handshake>>,
    /// Further routes (metrics, well-known documents); they must not repeat the paths above,
    /// `/healthz` or `/readyz`.
    pub extra: Router,
    /// What `/readyz` says.
    pub ready: Arc<AtomicBool>,
    /// Threads that connections are spread over; `None` = they run where [`serve_http`] does.
    pub workers: Option<Arc<Workers>>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            mcp_path: Some("/mcp".to_owned()),
            sse_path: Some("/sse".to_owned()),
            messages_path: "/messages".to_owned(),
            websocket_path: Some("/ws".to_owned()),
            max_body: 4 * 1024 * 1024,
            max_frame: 16 * 1024 * 1024,
            sessions: Sessions { enabled: true, idle: Duration::from_secs(30 * 60), max: 10_000 },
            heartbeat: Duration::from_secs(15),
            origins: Vec::new(),
            hosts: Vec::new(),
            capture_headers: Vec::new(),
            header_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(30),
            stall_timeout: Duration::from_secs(60),
            grace: Duration::from_secs(10),
            max_connections: 10_000,
            max_requests: 10_000,
            replay_messages: 256,
            replay_bytes: 64 * 1024 * 1024,
            authenticator: Arc::new(Open),
            tls: None,
            extra: Router::new(),
            ready: Arc::new(AtomicBool::new(true)),
            workers: None,
        }
    }
}
