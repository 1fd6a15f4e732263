//! The one integration-test binary. Each module tells stories about one part; see `src/lib.rs` for the parts.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr
)]

mod access;
mod call;
mod cli;
mod content;
mod document;
mod encoding;
mod field_reports;
mod mapping;
mod mock;
mod openapi;
mod protocol;
mod refusals;
mod scenarios;
mod schema;
mod shipped;
mod sidecar;
mod structure;
mod transport;
mod upstream;
