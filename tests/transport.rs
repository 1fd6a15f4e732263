//! HTTP as bytes on a socket: Streamable HTTP in both eras, HTTP+SSE, WebSocket.
//!
//! Tests named `row_NN_…` pin rows of the server checklist; see `tests/protocol.rs` for those that
//! do not depend on the transport.

mod client;
mod decisions;
mod doors;
mod gzip;
mod limits;
mod lines;
mod official_client;
mod other_transports;
mod sessions;
mod streams;
mod tasks;
mod workers;
