//! Tests of upstream.
