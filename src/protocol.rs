//! MCP: JSON-RPC 2.0 messages in five revisions, over any transport.
