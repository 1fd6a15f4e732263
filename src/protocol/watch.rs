//! Resources that somebody waits for: asked now and then whether they changed, in the name of who waits
//! and only while somebody does.
//!
//! Whoever waits has an [`Inbox`]. Equal callers that wait for the same resource share one watch; callers
//! that differ in anything the API could tell apart never do.

use super::{Scope, Server};
use crate::access::Caller;
use crate::service::{Context, Failure, Handler, Mark};
use indexmap::IndexSet;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Resources asked about at the same time.
pub(crate) const AT_ONCE: usize = 16;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Digest of who waits, and the URI.
type Key = ([u8; 32], String);

/// All watches of the process.
#[derive(Debug)]
pub(crate) struct Watches {
    table: Mutex<HashMap<Key, Weak<Watch>>>,
    every: Duration,
    most: usize,
    turns: Arc<Semaphore>,
}

/// One resource, watched for callers that are alike.
#[derive(Debug)]
struct Watch {
    uri: Arc<str>,
    inboxes: Mutex<Vec<Weak<Inbox>>>,
    _stop: DropGuard,
}

/// Where news of watched resources arrive: each resource once, however often it changed. For one reader.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    changed: Mutex<IndexSet<Arc<str>>>,
    news: Notify,
}

impl Inbox {
    fn put(&self, uri: &Arc<str>) {
        lock(&self.changed).insert(Arc::clone(uri));
        self.news.notify_one();
    }

    /// The URI of a resource that changed. Loses nothing if dropped while waiting.
    pub(crate) async fn next(&self) -> Arc<str> {
        loop {
            if let Some(uri) = lock(&self.changed).shift_remove_index(0) {
                return uri;
            }
            self.news.notified().await;
        }
    }
}

/// Watching for one inbox; ends when dropped.
#[derive(Debug)]
pub(crate) struct Subscription {
    watch: Arc<Watch>,
    inbox: Arc<Inbox>,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        lock(&self.watch.inboxes).retain(|inbox| inbox.as_ptr() != Arc::as_ptr(&self.inbox));
    }
}

/// What a resource looked like when it was last asked for.
enum Last {
    /// It could not be read.
    Unknown,
    /// It is not there.
    Gone,
    Seen(Mark),
}

impl Watches {
    /// Asks every `every` (zero = never: nothing is watched) about at most `most` resources.
    pub(crate) fn new(every: Duration, most: usize) -> Self {
        Watches { table: Mutex::default(), every, most, turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    pub(crate) fn is_on(&self) -> bool {
        !self.every.is_zero() && self.most > 0
    }
}

impl Server {
    /// Watches a resource for an inbox, after asking whether the caller may read it.
    ///
    /// # Errors
    /// [`Failure::UnknownResource`] and bad arguments in the URI; too many watches.
    pub(crate) async fn watch(
        &self,
        scope: &Scope<'_>,
        uri: &str,
        inbox: &Arc<Inbox>,
    ) -> Result<Subscription, Failure> {
        let watches = &self.watches;
        let stop = CancellationToken::new();
        let context = Context {
            caller: Arc::clone(&scope.caller),
            request_id: self.next_request_id(),
            cancel: scope.cancel.clone(),
            local: scope.local,
            transport: scope.transport,
            ..Context::local()
        };
        let turn = watches.turns.acquire().await;
        let last = match self.handler.glance(&context, uri, None).await {
            Ok(mark) => Last::Seen(mark),
            // An API that does not answer now may answer later.
            Err(Failure::Internal(_)) => Last::Unknown,
            Err(failure) => return Err(failure),
        };
        drop(turn);
        let mut table = lock(&watches.table);
        let key = (identity(&scope.caller), uri.to_owned());
        if let Some(watch) = table.get(&key).and_then(Weak::upgrade) {
            lock(&watch.inboxes).push(Arc::downgrade(inbox));
            return Ok(Subscription { watch, inbox: Arc::clone(inbox) });
        }
        if table.len() >= watches.most {
            table.retain(|_, watch| watch.strong_count() > 0);
        }
        if table.len() >= watches.most {
            return Err(Failure::InvalidParams("Too many resources are watched".to_owned()));
        }
        let watch = Arc::new(Watch {
            uri: Arc::from(uri),
            inboxes: Mutex::new(vec![Arc::downgrade(inbox)]),
            _stop: stop.clone().drop_guard(),
        });
        table.insert(key, Arc::downgrade(&watch));
        drop(table);
        let context = Context { cancel: stop, ..context };
        let (handler, turns) = (Arc::clone(&self.handler), Arc::clone(&watches.turns));
        tokio::spawn(keep_asking(
            handler,
            turns,
            Arc::downgrade(&watch),
            Arc::clone(&watch.uri),
            context,
            watches.every,
            last,
        ));
        Ok(Subscription { watch, inbox: Arc::clone(inbox) })
    }
}

async fn keep_asking(
    handler: Arc<dyn Handler>,
    turns: Arc<Semaphore>,
    watch: Weak<Watch>,
    uri: Arc<str>,
    context: Context,
    every: Duration,
    mut last: Last,
) {
    let stop = context.cancel.clone();
    loop {
        tokio::select! {
            () = tokio::time::sleep(every) => {}
            () = stop.cancelled() => return,
        }
        let found = {
            let _turn = turns.acquire().await;
            let before = match &last {
                Last::Seen(mark) => Some(mark),
                Last::Unknown | Last::Gone => None,
            };
            tokio::select! {
                found = handler.glance(&context, &uri, before) => found,
                () = stop.cancelled() => return,
            }
        };
        let (now, changed) = match found {
            Ok(mark) => {
                let changed = !matches!(&last, Last::Seen(before) if before.digest == mark.digest);
                (Last::Seen(mark), changed)
            }
            Err(Failure::UnknownResource(_)) => (Last::Gone, !matches!(last, Last::Gone)),
            // It is not known whether it changed: asked again later.
            Err(_) => continue,
        };
        last = now;
        if changed {
            let Some(watch) = watch.upgrade() else { return };
            for inbox in lock(&watch.inboxes).iter().filter_map(Weak::upgrade) {
                inbox.put(&uri);
            }
        }
    }
}

/// Equal for callers that no API could tell apart.
fn identity(caller: &Caller) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut add = |part: &[u8]| {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    };
    let texts = [&caller.subject, &caller.tenant];
    for text in texts {
        add(&[u8::from(text.is_some())]);
        add(text.as_deref().unwrap_or_default().as_bytes());
    }
    add(&serde_json::to_vec(&caller.scopes).unwrap_or_default());
    add(&serde_json::to_vec(&caller.claims).unwrap_or_default());
    add(&serde_json::to_vec(&caller.headers).unwrap_or_default());
    // Two tokens with the same claims are as good as one.
    hash.finalize().into()
}
