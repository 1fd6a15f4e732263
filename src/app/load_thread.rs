//! A thread for all loading, kept for the life of the server.
//!
//! A tree of megabytes is freed fastest by the thread that made it. A load leaves many free places between what stays,
//! which only its own thread fills again; a thread that ends has to hand over all of them, in one stretch of milliseconds.

use crate::pace;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// How long memory must have been free before the allocator gives it back, and a little.
const SETTLED: Duration = Duration::from_millis(1500);

const FAULT: &str = "loading was interrupted by a fault of its own";

/// Something to be done there.
type Job = Box<dyn FnOnce() + Send>;

/// See the module. The thread ends after the last job once this is dropped.
#[derive(Debug)]
pub struct LoadThread {
    jobs: Sender<Job>,
}

impl LoadThread {
    /// Starts it.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start() -> Result<LoadThread, String> {
        let (jobs, waiting): (_, Receiver<Job>) = channel();
        let run = move || {
            for job in waiting {
                // A fault costs its own job: whoever waits for it is told, since what would have answered is dropped.
                let _ = catch_unwind(AssertUnwindSafe(job));
            }
        };
        let started = thread::Builder::new().name("load".to_owned()).spawn(run);
        started.map(|_| LoadThread { jobs }).map_err(|error| format!("no thread can be started: {error}"))
    }

    /// Runs `work` to its end and gives what comes first of what it made. What comes second is freed after that, and goes
    /// back to the system. Needs a runtime.
    ///
    /// # Errors
    /// The work panicked.
    pub async fn first<T, R, F>(&self, work: impl FnOnce() -> F + Send + 'static) -> Result<T, String>
    where
        F: Future<Output = (T, R)>,
        T: Send + 'static,
    {
        let runtime = Handle::current();
        let (done, made) = oneshot::channel();
        self.submit(move || {
            let (first, rest) = runtime.block_on(work());
            let _ = done.send(first);
            free(rest, &runtime);
        });
        made.await.map_err(|_| FAULT.to_owned())
    }

    /// Runs `work` to its end beside calls, which go first ([`pace`]). Needs a runtime.
    ///
    /// # Errors
    /// The work panicked.
    pub(super) async fn beside_calls<T, F>(&self, work: impl FnOnce() -> F + Send + 'static) -> Result<T, String>
    where
        F: Future<Output = T>,
        T: Send + 'static,
    {
        let runtime = Handle::current();
        let (done, made) = oneshot::channel();
        self.submit(move || {
            let _ = done.send(pace::paced(|| runtime.block_on(work())));
        });
        made.await.map_err(|_| FAULT.to_owned())
    }

    /// Frees what a reload replaced, once most calls are done with it: none of them should have to free it in passing.
    /// Needs a runtime; comes back at once.
    pub(super) fn free_later<T: Send + 'static>(&self, old: T) {
        let (jobs, runtime) = (self.jobs.clone(), Handle::current());
        tokio::spawn(async move {
            tokio::time::sleep(SETTLED).await;
            let free = move || free(old, &runtime);
            let _ = jobs.send(Box::new(free));
        });
    }

    fn submit(&self, job: impl FnOnce() + Send + 'static) {
        // The thread takes jobs as long as there is somebody to send them.
        let _ = self.jobs.send(Box::new(job));
    }
}

/// Frees beside calls.
fn free<T>(old: T, runtime: &Handle) {
    pace::paced(|| drop(old));
    give_back(runtime);
}

/// Has the allocator give back what loading took, several times what is kept, as soon as it has been free for long enough.
/// It does so where a thread ends that took memory; a server that nobody calls would keep it.
fn give_back(runtime: &Handle) {
    runtime.spawn(async {
        tokio::time::sleep(SETTLED).await;
        let ends = || drop(std::hint::black_box(Vec::<u8>::with_capacity(64)));
        // Without a thread it stays as it was.
        let _ = thread::Builder::new().name("give-back".to_owned()).spawn(ends);
    });
}
