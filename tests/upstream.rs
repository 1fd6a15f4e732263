//! Faults of an API against real sockets: each gives a true answer, the counts show what was sent again.

mod auth;
pub mod bodies;
mod faults;
mod redirects;
pub mod server;
mod telemetry;
pub mod tls;
