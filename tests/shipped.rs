//! Tests of shipped.
