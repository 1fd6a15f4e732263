//! Long work beside calls.
//!
//! A scheduler lets a thread finish its slice, mostly some milliseconds, before another that has become ready gets the
//! processor, however low the first one's priority. A reload takes a thousand times as long as a call: where both share a
//! processor, calls would wait such a slice again and again. So the thread that loads offers the processor every so often:
//! whatever goes over all of a large document, or frees it, takes a [`breathe`] on the way.

use serde_json::Value;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// How long work goes on before the processor is offered: less than its caller waits for a call under load.
const STRETCH: Duration = Duration::from_micros(100);

thread_local! {
    /// When this thread last offered the processor, if it does so.
    static OFFERED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Runs `work`, offering the processor on the way.
pub(crate) fn paced<T>(work: impl FnOnce() -> T) -> T {
    let before = OFFERED.replace(Some(Instant::now()));
    let made = work();
    OFFERED.set(before);
    made
}

/// True if this thread offers the processor.
pub(crate) fn is_on() -> bool {
    OFFERED.get().is_some()
}

/// Offers the processor, if this thread does so ([`paced`]) and has not for a while. Costs nothing else.
#[inline]
pub(crate) fn breathe() {
    if let Some(offered) = OFFERED.get() {
        offer(offered);
    }
}

#[inline(never)]
fn offer(offered: Instant) {
    if offered.elapsed() >= STRETCH {
        std::thread::yield_now();
        OFFERED.set(Some(Instant::now()));
    }
}

/// Frees a tree, breathing.
pub(crate) fn free(tree: Value) {
    breathe();
    match tree {
        Value::Array(items) => items.into_iter().for_each(free),
        Value::Object(members) => members.into_iter().for_each(|(_, value)| free(value)),
        _ => {}
    }
}
