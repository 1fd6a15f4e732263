//! Values that must never be seen.
//!
//! A [`Secret`] prints as `***` whatever the formatter, is not serializable, and is read only by
//! [`Secret::expose`], which `tests/structure.rs` allows in `request/credential`, `upstream/auth`
//! and the modules that make or compare one.

use std::fmt;
use std::sync::Arc;

/// A credential or another value that must not be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<Arc<str>>) -> Self {
        Secret(value.into())
    }

    /// True for the empty text, which is no credential.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value itself: only for the wire and for comparing.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
