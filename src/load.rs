//! Reads documents and mappings from files and URLs, with size, time and redirect limits.
