//! A caller's argument is never evaluated.
