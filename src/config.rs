//! `rest-mcp.yaml`: the server's own settings. Read like a mapping: unknown keys are refused, every problem has
//! its place and a way out. Values are resolved (`${env:}`, `${file:}`) by who uses them, through [`Environment`].
//!
//! [`Environment`]: crate::mapping::Environment

mod access;
pub mod environment;
mod read;
mod resolve;
mod serving;

pub use access::*;
pub use environment::ProcessEnvironment;
pub use read::{json_schema, read};
pub use resolve::address;
pub use serving::*;

use crate::mapping::Slot;
use schemars::JsonSchema;
use serde::Deserialize;

/// The server's own settings.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Version of the settings: 1.
    #[schemars(range(min = 1, max = 1))]
    pub version: u32,
    /// Mapping files and OpenAPI documents: paths or globs, relative to this file.
    #[serde(default)]
    pub mappings: Vec<Slot>,
    /// Address to listen on (default `127.0.0.1:8080`).
    #[serde(default = "default_listen")]
    pub listen: Slot,
    /// TLS of the server.
    #[serde(default)]
    pub tls: Option<ServerTls>,
    /// Which transports are served, each at its path.
    #[serde(default)]
    pub transports: Transports,
    /// Sessions for clients of the handshake revisions; off = every replica answers every request.
    #[serde(default)]
    pub legacy_sessions: LegacySessions,
    /// Resources that clients subscribe to.
    #[serde(default)]
    pub subscriptions: Subscriptions,
    /// Calls that go on after their request was answered.
    #[serde(default)]
    pub tasks: Tasks,
    /// Signs what travels through the client; the same on all replicas. Absent = a new one at every start.
    #[serde(default)]
    pub state_key: Option<Slot>,
    /// Browser origins that may call.
    #[serde(default)]
    pub origins: Vec<String>,
    /// `Host` names that are answered; absent = those of the listen address.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Who may call, and what.
    #[serde(default)]
    pub access: Access,
    /// Listen beyond this machine without any access rule.
    #[serde(default)]
    pub allow_public: bool,
    /// Audit events.
    #[serde(default)]
    pub audit: Option<Audit>,
    /// Metrics, traces and logs.
    #[serde(default)]
    pub telemetry: Telemetry,
    /// What callers may cost this server.
    #[serde(default)]
    pub limits: ServerLimits,
    /// When files and documents are read again.
    #[serde(default)]
    pub reload: Reload,
}

/// Markdown of every key of `rest-mcp.yaml`, out of its JSON Schema.
pub fn reference() -> String {
    crate::mapping::reference::markdown("The settings file", "rest-mcp schema config --markdown", &json_schema(), &[])
}

fn default_listen() -> Slot {
    Slot("127.0.0.1:8080".to_owned())
}

impl Default for Config {
    fn default() -> Self {
        Config {
            version: 1,
            mappings: Vec::new(),
            listen: default_listen(),
            tls: None,
            transports: Transports::default(),
            legacy_sessions: LegacySessions::default(),
            subscriptions: Subscriptions::default(),
            tasks: Tasks::default(),
            state_key: None,
            origins: Vec::new(),
            hosts: Vec::new(),
            access: Access::default(),
            allow_public: false,
            audit: None,
            telemetry: Telemetry::default(),
            limits: ServerLimits::default(),
            reload: Reload::default(),
        }
    }
}
