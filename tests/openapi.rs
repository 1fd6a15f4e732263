//! Tests of openapi: documents in, one `Api` out, the same whatever the version.

mod bundle;
mod corpus;
mod dialect;
mod overlay;
mod parameters;
mod reading;
mod references;
mod security;
mod servers;
mod support;
mod swagger2;
