//! Logs, metrics and traces. Everything here is cheap where it is off: metric handles are no-ops
//! without a recorder, and a span without a tracer is an empty option.

pub mod log;
mod meters;
mod propagation;
pub mod trace;

pub use meters::{InFlight, Meters, Prometheus, SourceMeters};
pub use propagation::Propagation;
