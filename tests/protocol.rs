//! What the server says, message by message, in all five revisions.
//!
//! Tests named `row_NN_…` pin the row of that number of the server checklist drawn up from the
//! specification texts; those about HTTP are in `tests/transport`. Rows without a test here:
//!
//! - 20 (a modern-only configuration): there is none; both eras are always served.
//! - 25 (cacheScope is no access control): the service checks every call (tests of access).
//! - 28, 29, 35 (structured values conform and are mirrored as text; failures become results): tests of content.
//! - 30, 31, 32 (JSON Schema dialect, network references, complexity): tests of schema and openapi.
//! - 33 (tool names): tests of the catalog.
//! - 36 (inputs, access, rates, outputs): tests of call, access and upstream.
//! - 47 (no secrets in log messages), 54 (no secrets asked for in forms): tests of the service and the mapping.
//! - 53 (requestState bound to caller, time and request): the service signs it; here it passes through.
//! - 58 (loopback by default): configuration; Host and Origin in row 57.
//! - 75, 76, 78 to 82 (OAuth resource server): tests of the identity part; 77 is in `tests/transport`.
//! - 85 (nothing deprecated newly adopted): a decision, not a behaviour.

mod any_era;
mod catalog;
pub mod double;
mod hostile;
mod legacy_era;
mod lists;
mod modern_era;
pub mod official;
pub mod peer;
mod task_questions;
mod tasks;
