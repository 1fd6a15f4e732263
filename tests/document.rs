//! Tests of document.
