//! Tests of mock.
