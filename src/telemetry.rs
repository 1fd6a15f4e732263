//! Logs, metrics and traces. Everything here is cheap where it is off: metric handles are no-ops
//! without a recorder, and a span without a tracer is an empty option.

mod exemplar;
pub mod log;
mod meters;
mod propagation;
pub mod trace;

pub use exemplar::Ids;
pub use meters::{InFlight, Meters, Prometheus, SourceMeters};
pub use propagation::Propagation;
