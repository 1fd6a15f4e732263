//! Audit events as JSON lines.
