//! How the server is reached, what it may be asked, and what it tells the operator.

use crate::mapping::{Bytes, Duration, Slot};
use schemars::JsonSchema;
use serde::Deserialize;

/// TLS of the server.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerTls {
    /// PEM file with the certificate chain.
    pub cert: Slot,
    /// PEM file with the private key.
    pub key: Slot,
    /// PEM file with the CAs of client certificates; turns mutual TLS on.
    #[serde(default)]
    pub client_ca: Option<Slot>,
}

/// Which transports are served over HTTP, each at its path.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Transports {
    /// Streamable HTTP (default `/mcp`).
    pub streamable_http: String,
    /// HTTP with SSE of revision 2024-11-05; absent = off.
    pub sse: Option<String>,
    /// WebSocket; absent = off.
    pub websocket: Option<String>,
}

impl Default for Transports {
    fn default() -> Self {
        Transports { streamable_http: "/mcp".to_owned(), sse: None, websocket: None }
    }
}

/// Sessions for clients of the handshake revisions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LegacySessions {
    /// Give them out (default true).
    pub enabled: bool,
    /// Forgotten after this time without a request (default 30m).
    pub idle: Duration,
    /// Most at a time (default 10000).
    #[schemars(range(min = 1))]
    pub max: usize,
}

impl Default for LegacySessions {
    fn default() -> Self {
        LegacySessions { enabled: true, idle: Duration(std::time::Duration::from_secs(30 * 60)), max: 10_000 }
    }
}

/// Resources that clients subscribe to: asked now and then whether they changed, in the subscriber's own name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Subscriptions {
    /// How often (default 30s; 0s = resources can't be subscribed to).
    pub every: Duration,
    /// Most resources watched at a time (default 1000).
    #[schemars(range(min = 1))]
    pub max: usize,
}

impl Default for Subscriptions {
    fn default() -> Self {
        Subscriptions { every: Duration(std::time::Duration::from_secs(30)), max: 1000 }
    }
}

/// Calls that go on after their request was answered. They live in this process: with `legacy_sessions` off, where any
/// replica may get the next request, there are none.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tasks {
    /// Most at a time, of which one caller may hold a quarter (default 256; 0 = none).
    pub max: usize,
    /// How long one is kept after its job's longest wait (default 10m).
    pub retention: Duration,
}

impl Default for Tasks {
    fn default() -> Self {
        Tasks { max: 256, retention: Duration(std::time::Duration::from_secs(10 * 60)) }
    }
}

/// Audit events, one JSON line each.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Audit {
    /// `stderr` or the path of a file.
    pub to: Slot,
    /// What is written of arguments.
    #[serde(default)]
    pub arguments: AuditArguments,
    /// When a new file is begun.
    #[serde(default)]
    pub rotate: Option<Rotate>,
}

/// `audit.arguments`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AuditArguments {
    /// Names and types.
    #[default]
    Redacted,
    /// Everything.
    Full,
    /// Nothing.
    None,
}

/// `audit.rotate`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rotate {
    /// Size at which a new file is begun (default 100MiB).
    pub max_size: Bytes,
    /// Old files that are kept (default 5).
    pub keep: usize,
}

impl Default for Rotate {
    fn default() -> Self {
        Rotate { max_size: Bytes(100 * 1024 * 1024), keep: 5 }
    }
}

/// Metrics, traces and logs.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Telemetry {
    /// Path of the Prometheus metrics; absent = off.
    pub metrics: Option<String>,
    /// Address of a listener of its own for metrics, `/healthz` and `/readyz`, which then need no credential (default:
    /// they are served with the transports, metrics to callers that are let in).
    pub listen: Option<Slot>,
    /// OTLP/HTTP endpoint for traces and metrics; absent = off.
    pub otlp: Option<Slot>,
    /// Form of the log on stderr.
    pub log: LogFormat,
}

/// `telemetry.log`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// JSON lines.
    Json,
}

/// What callers may cost this server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServerLimits {
    /// Largest request body (default 4MiB).
    pub max_body: Bytes,
    /// Longest stdio line or WebSocket message (default 16MiB).
    pub max_frame: Bytes,
    /// Connections at the same time; more wait to be accepted (default 10000).
    #[schemars(range(min = 1))]
    pub connections: usize,
    /// A client that takes no bytes for this long is disconnected (default 60s).
    pub stall: Duration,
    /// Requests at the same time; more are answered with 503 (default 1024).
    #[schemars(range(min = 1))]
    pub in_flight: usize,
    /// Time for calls in flight at shutdown (default 30s).
    pub drain: Duration,
    /// Time between not being ready any more and not accepting any more (default 0s), so that load balancers notice.
    pub drain_delay: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        ServerLimits {
            max_body: Bytes(4 * 1024 * 1024),
            max_frame: Bytes(16 * 1024 * 1024),
            connections: 10_000,
            stall: Duration(std::time::Duration::from_secs(60)),
            in_flight: 1024,
            drain: Duration(std::time::Duration::from_secs(30)),
            drain_delay: Duration(std::time::Duration::ZERO),
        }
    }
}

/// When files and documents are read again. SIGHUP always does it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Reload {
    /// Files are watched (default true).
    pub watch: bool,
    /// Quiet time after a change before files are read (default 500ms).
    pub debounce: Duration,
    /// How often document URLs are asked whether they changed (default 60s; 0s = never).
    pub poll: Duration,
}

impl Default for Reload {
    fn default() -> Self {
        Reload {
            watch: true,
            debounce: Duration(std::time::Duration::from_millis(500)),
            poll: Duration(std::time::Duration::from_secs(60)),
        }
    }
}
