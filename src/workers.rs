//! Threads that serve connections, each with a scheduler of its own.
//!
//! A scheduler that shares its tasks among threads lets every event of a connection run on another one: what a call touches
//! is then in another processor's cache, is freed on another thread than made it, and its timers and queues take locks that
//! others hold. Calls are far shorter than that is worth. So a connection stays where it was put, with the API's
//! connections that its calls use ([`shard`]) and with its timers.

use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tokio::runtime::{Builder, Handle};
use tokio_util::sync::CancellationToken;

/// Says how many threads there are; otherwise as many as processors.
const VARIABLE: &str = "TOKIO_WORKER_THREADS";

thread_local! {
    /// Number of this thread among the workers, from 1; 0 = none of them.
    static NUMBER: Cell<usize> = const { Cell::new(0) };
}

/// Number of the worker that runs this, from 1; 0 for all other threads.
pub(crate) fn shard() -> usize {
    NUMBER.get()
}

/// How many workers a server should have.
pub(crate) fn wanted() -> usize {
    let named = std::env::var(VARIABLE).ok().and_then(|text| text.trim().parse::<usize>().ok());
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    named.filter(|count| *count > 0).unwrap_or_else(processors)
}

/// The threads. They end when this is dropped, with whatever still runs on them.
#[derive(Debug)]
pub struct Workers {
    all: Box<[Worker]>,
    next: AtomicUsize,
    stop: CancellationToken,
}

#[derive(Debug)]
struct Worker {
    runtime: Handle,
    /// Connections that it serves.
    open: Arc<AtomicUsize>,
}

/// A place on a worker for one connection; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) runtime: Handle,
    open: Arc<AtomicUsize>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Workers {
    /// Starts as many as `TOKIO_WORKER_THREADS` says, or as there are processors.
    ///
    /// # Errors
    /// The system gives no thread or no event queue.
    pub fn start() -> io::Result<Workers> {
        Workers::of(wanted())
    }

    /// Starts so many, at least one.
    ///
    /// # Errors
    /// As [`Workers::start`].
    pub fn of(count: usize) -> io::Result<Workers> {
        let stop = CancellationToken::new();
        let start = |number: usize| {
            let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
            let worker = Worker { runtime: runtime.handle().clone(), open: Arc::default() };
            let stop = stop.clone();
            thread::Builder::new().name(format!("worker-{number}")).spawn(move || {
                NUMBER.set(number);
                runtime.block_on(stop.cancelled());
                // Without waiting for a name that is being looked up.
                runtime.shutdown_background();
            })?;
            Ok(worker)
        };
        let all = (1..=count.max(1)).map(start).collect::<io::Result<_>>();
        if all.is_err() {
            stop.cancel();
        }
        Ok(Workers { all: all?, next: AtomicUsize::new(0), stop })
    }

    /// A place where the fewest connections are.
    pub(crate) fn seat(&self) -> Option<Seat> {
        // Among equals the one after the last, so that connections which come and go are spread too.
        let first = self.next.fetch_add(1, Ordering::Relaxed) % self.all.len().max(1);
        let (before, after) = self.all.split_at_checked(first)?;
        let worker = after.iter().chain(before).min_by_key(|worker| worker.open.load(Ordering::Relaxed))?;
        worker.open.fetch_add(1, Ordering::Relaxed);
        Some(Seat { runtime: worker.runtime.clone(), open: Arc::clone(&worker.open) })
    }

    /// Where the next short piece of work goes, in turn.
    pub(crate) fn turn(&self) -> Option<&Handle> {
        let next = self.next.fetch_add(1, Ordering::Relaxed) % self.all.len().max(1);
        self.all.get(next).map(|worker| &worker.runtime)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
