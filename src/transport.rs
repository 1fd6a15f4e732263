//! stdio, Streamable HTTP, HTTP+SSE and WebSocket.

pub mod identity;
pub mod tls;
