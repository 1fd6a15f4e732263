//! Tests of structure.
