//! What the server says, message by message, in all five revisions.
//!
//! Tests named `row_NN_…` pin the row of that number of the server checklist drawn up from the
//! specification texts; those about HTTP are in `tests/transport`. `checklist` proves that every row has
//! its test, here or elsewhere, or a reason why it does not apply.

mod any_era;
mod catalog;
mod checklist;
pub mod double;
mod hostile;
mod legacy_era;
mod lists;
mod modern_era;
pub mod official;
pub mod peer;
mod task_questions;
mod tasks;
