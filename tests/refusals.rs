//! Tests of refusals.
