//! Puts the parts together: settings in, a running server out.
