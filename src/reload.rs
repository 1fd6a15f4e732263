//! Watches files and URLs: what changed is read again, validated, and swapped in whole by
//! [`Reloadable::reload`]; what is wrong leaves the last good state in force.
//!
//! Folders are watched, not files: editors replace files, and Kubernetes swaps a symlink beside them. An event only
//! wakes; whether something changed is told by the files' stamps.

mod diff;
mod stamp;

pub use diff::Diff;
pub use stamp::Stamps;

use crate::load::{self, Freshness, LoadOptions};
use crate::service::BoxFuture;
use futures_util::future::join_all;
use notify::{RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Changes that do not stop are read after this many quiet times.
const MOST_WAITS: u32 = 20;

/// What is watched.
#[derive(Debug, Clone, Default)]
pub struct Watched {
    /// Files, absent ones too.
    pub files: BTreeSet<PathBuf>,
    /// Documents behind URLs.
    pub urls: Vec<Freshness>,
}

/// Something that can be read again.
pub trait Reloadable: Send + Sync {
    /// What is watched now; patterns are looked at anew.
    fn watched(&self) -> Watched;
    /// Reads everything again; false if the old state stays in force.
    fn reload(self: Arc<Self>) -> BoxFuture<'static, bool>;
}

/// When changes are looked for.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// Files are watched.
    pub watch: bool,
    /// Quiet time after an event.
    pub quiet: Duration,
    /// Time between questions about URLs, and between looks at files that give no events; zero = never.
    pub poll: Duration,
}

/// Reloads whenever something changed, until `shutdown`. A message on `asked` (SIGHUP) reloads in any case.
pub async fn run(
    target: Arc<dyn Reloadable>,
    times: Times,
    mut asked: mpsc::Receiver<()>,
    shutdown: CancellationToken,
) {
    let (wake, mut woken) = mpsc::channel(1);
    let mut watcher = times.watch.then(|| watcher(wake.clone())).flatten();
    let mut stamps = Stamps::take(target.watched().files).await;
    watch(watcher.as_mut(), stamps.files());
    let mut failed = false;
    loop {
        let pause = if times.poll.is_zero() { None } else { Some(times.poll) };
        let tick = async {
            match pause {
                Some(pause) => tokio::time::sleep(pause).await,
                None => std::future::pending().await,
            }
        };
        let (forced, poll) = tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            Some(()) = asked.recv() => (true, true),
            Some(()) = woken.recv() => {
                settle(&mut woken, times.quiet).await;
                (false, false)
            }
            () = tick => (false, true),
        };
        let watched = target.watched();
        // Taken before reading: what changes while it is read is seen next time.
        let now = Stamps::take(watched.files).await;
        let files_changed = (times.watch || forced) && now.differ(&stamps);
        let retry = failed && poll && !watched.urls.is_empty();
        if !(forced || files_changed || retry || (poll && any_changed(&watched.urls).await)) {
            if poll {
                watch(watcher.as_mut(), now.files());
            }
            continue;
        }
        failed = !target.clone().reload().await;
        stamps = Stamps::take(target.watched().files).await.older(now);
        watch(watcher.as_mut(), stamps.files());
        // A file that changed meanwhile may have given its event already.
        if Stamps::take(target.watched().files).await.differ(&stamps) {
            let _ = wake.try_send(());
        }
    }
}

/// Waits until nothing happened for a while.
async fn settle(woken: &mut mpsc::Receiver<()>, quiet: Duration) {
    for _ in 0..MOST_WAITS {
        if tokio::time::timeout(quiet, woken.recv()).await.is_err() {
            return;
        }
    }
}

/// A watcher that wakes; `None` where the system has none to give.
fn watcher(wake: mpsc::Sender<()>) -> Option<notify::RecommendedWatcher> {
    let made = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // Reading is no change; a full queue means somebody is woken already.
        if event.as_ref().map_or(true, |event| !event.kind.is_access()) {
            let _ = wake.try_send(());
        }
    });
    made.map_err(|error| tracing::warn!(%error, "files can't be watched; SIGHUP still reloads")).ok()
}

/// Watches the folders of these files, links included that lead elsewhere.
fn watch<'a>(watcher: Option<&mut notify::RecommendedWatcher>, files: impl Iterator<Item = &'a Path>) {
    let Some(watcher) = watcher else { return };
    let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
    for file in files {
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let real = file.canonicalize().ok();
        for path in [Some(&file), real.as_ref()].into_iter().flatten() {
            folders.extend(path.parent().filter(|folder| folder.is_dir()).map(Path::to_owned));
        }
    }
    for folder in folders {
        if let Err(error) = watcher.watch(&folder, RecursiveMode::NonRecursive) {
            tracing::warn!(folder = %folder.display(), %error, "a folder can't be watched; SIGHUP still reloads");
        }
    }
}

async fn any_changed(urls: &[Freshness]) -> bool {
    let options = LoadOptions::default();
    let asking: Vec<BoxFuture<'_, Option<bool>>> =
        urls.iter().map(|one| Box::pin(load::changed(one, &options)) as BoxFuture<'_, Option<bool>>).collect();
    join_all(asking).await.contains(&Some(true))
}
