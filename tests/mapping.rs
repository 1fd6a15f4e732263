//! Tests of mapping.
