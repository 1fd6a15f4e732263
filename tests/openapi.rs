//! Tests of openapi.

mod corpus;
mod support;
