//! `rest-mcp.yaml`: the server's own settings.
