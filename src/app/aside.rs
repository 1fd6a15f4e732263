//! Loading on a thread of its own.
//!
//! A tree of megabytes is freed fastest by the thread that made it, what loading took goes back to the system when
//! that thread ends, and the thread can step back behind those that answer calls.

use super::SETTLED;
use std::future::Future;
use std::thread;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// What a thread takes beside busy others: about a tenth of one processor, and next to nothing.
const BEHIND: i32 = 10;
const LAST: i32 = 19;

const FAULT: &str = "loading was interrupted by a fault of its own";

/// Runs `work` to its end on a thread of its own and gives what comes first of what it made. What comes second is freed
/// there, after the first was handed over and when nothing else wants the processor, and goes back to the system. Needs a
/// runtime. Errors: there is no thread to be had, or the work panicked.
pub async fn aside<T, R, F>(work: impl FnOnce() -> F + Send + 'static) -> Result<T, String>
where
    F: Future<Output = (T, R)>,
    T: Send + 'static,
{
    let runtime = Handle::current();
    let (done, made) = oneshot::channel();
    let run = move || {
        let (first, rest) = runtime.block_on(work());
        let _ = done.send(first);
        nice(LAST);
        drop(rest);
        // The allocator gives back where a thread ends what has been free for a while.
        thread::sleep(SETTLED);
    };
    thread::Builder::new().name("load".to_owned()).spawn(run).map_err(refused)?;
    made.await.map_err(|_| FAULT.to_owned())
}

/// Runs `work` on a thread of its own that lets others go first, and waits for it. Errors: as [`aside`].
pub(super) fn behind<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    let run = || {
        nice(BEHIND);
        work()
    };
    thread::scope(|threads| {
        let started = thread::Builder::new().name("load".to_owned()).spawn_scoped(threads, run).map_err(refused)?;
        started.join().map_err(|_| FAULT.to_owned())
    })
}

fn refused(error: std::io::Error) -> String {
    format!("no thread can be started: {error}")
}

/// Of the calling thread alone: Linux keeps a priority for each. Elsewhere it would be that of the process.
fn nice(by: i32) {
    #[cfg(target_os = "linux")]
    // Refused: then it is as it is.
    let _ = rustix::process::nice(by);
    #[cfg(not(target_os = "linux"))]
    let _ = by;
}
