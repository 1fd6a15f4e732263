//! stdio, Streamable HTTP, HTTP+SSE and WebSocket.
