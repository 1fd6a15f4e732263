//! Watches files and URLs, validates, swaps the catalog.
