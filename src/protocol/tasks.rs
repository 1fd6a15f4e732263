//! Calls that go on after their request was answered: core tasks (2025-11-25) and the extension
//! `io.modelcontextprotocol/tasks` (2026-07-28).
//!
//! A call becomes a task when it begins to wait for a job of the API (`poll`): whatever must be asked
//! is asked before, and what is done at once is answered at once. Where the mapping says so, a client of
//! the extension is asked during the task instead. Tasks live in this process, bound to their caller,
//! bounded in number and age.

mod answer;
mod questions;

pub(crate) use answer::{create, notification, serve};

use super::Server;
use super::calls::{Done, Features};
use super::error::RpcError;
use super::version::Version;
use crate::access::Caller;
use crate::catalog::{Action, Catalog, Tool};
use crate::content::Content;
use crate::mapping::{Poll, Questions};
use crate::service::{Context, Events, Failure, Outcome, Round, TASKS_EXTENSION, state};
use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::{Notify, broadcast, oneshot};
use tokio_util::sync::CancellationToken;

/// The extension's name.
pub(crate) const EXTENSION: &str = TASKS_EXTENSION;
/// `_meta` key that ties a result to its task (2025-11-25).
const RELATED: &str = "io.modelcontextprotocol/related-task";
/// Share of all tasks that one caller may hold, as a divisor.
const SHARE: usize = 4;
/// Changes that a slow listener may be behind before it is told of every task anew.
const KEPT_CHANGES: usize = 256;
/// How much longer a task lives that may have to wait for a person.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How the tool waits for its job; `None` = its calls never become tasks.
pub(crate) fn waits(tool: &Tool) -> Option<&Poll> {
    match &tool.action {
        Action::Request(action) => action.poll.as_ref().map(|plan| &plan.rules),
        _ => None,
    }
}

/// True if some tool's calls can become tasks.
pub(crate) fn any(catalog: &Catalog) -> bool {
    catalog.tools.values().any(|tool| waits(tool).is_some())
}

/// All tasks of the process.
#[derive(Debug)]
pub(crate) struct Tasks {
    table: Mutex<IndexMap<Arc<str>, Arc<Task>>>,
    most: usize,
    retention: Duration,
    /// Ids of tasks that changed.
    changes: broadcast::Sender<Arc<str>>,
}

/// How long one task may live and how often it is worth asking.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    ttl: Duration,
    every: Duration,
    /// Questions are asked during the task.
    asks: bool,
}

/// One call that outlives its request.
#[derive(Debug)]
pub(crate) struct Task {
    id: Arc<str>,
    owner: [u8; 32],
    tool: Box<str>,
    version: Version,
    created: SystemTime,
    born: Instant,
    plan: Plan,
    /// Stops the call.
    cancel: CancellationToken,
    /// Fires once there is an end.
    ended: CancellationToken,
    /// Every question is answered.
    answered: Notify,
    changes: broadcast::Sender<Arc<str>>,
    progress: Mutex<Progress>,
}

#[derive(Debug)]
struct Progress {
    updated: SystemTime,
    message: Option<String>,
    asked: questions::Asked,
    end: Option<End>,
}

#[derive(Debug)]
enum End {
    Done(Done),
    Error(RpcError),
    Cancelled,
}

fn owner(caller: &Caller) -> [u8; 32] {
    state::binding(caller, "tasks", "", b"")
}

/// 128 random bits as hexadecimal digits.
fn new_id() -> Option<Arc<str>> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("{:032x}", u128::from_be_bytes(bytes)).into())
}

impl Tasks {
    /// At most `most` at once; kept for `retention` after their longest wait.
    pub(crate) fn new(most: usize, retention: Duration) -> Self {
        Tasks { table: Mutex::default(), most, retention, changes: broadcast::channel(KEPT_CHANGES).0 }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.most > 0
    }

    /// Ids of tasks that change from now on.
    pub(crate) fn changes(&self) -> broadcast::Receiver<Arc<str>> {
        self.changes.subscribe()
    }

    /// `wanted` is the client's own wish for the lifetime.
    pub(crate) fn plan(&self, rules: &Poll, wanted: Option<Duration>, version: Version) -> Plan {
        let at_most = rules.at_most.map_or(Duration::from_secs(600), |limit| limit.0);
        let asks = version.is_modern() && rules.questions == Questions::During;
        let longest =
            at_most.saturating_add(self.retention).saturating_add(if asks { PATIENCE } else { Duration::ZERO });
        let every = rules.every.map_or(Duration::from_secs(2), |every| every.0).max(Duration::from_millis(1));
        Plan { ttl: wanted.map_or(longest, |wanted| wanted.clamp(Duration::from_secs(1), longest)), every, asks }
    }

    /// A new task; `None` if there is no room for it.
    pub(crate) fn add(
        &self,
        caller: &Caller,
        tool: &str,
        version: Version,
        plan: Plan,
        cancel: CancellationToken,
    ) -> Option<Arc<Task>> {
        let owner = owner(caller);
        let now = SystemTime::now();
        let task = Arc::new(Task {
            id: new_id()?,
            owner,
            tool: tool.into(),
            version,
            created: now,
            born: Instant::now(),
            plan,
            cancel,
            ended: CancellationToken::new(),
            answered: Notify::new(),
            changes: self.changes.clone(),
            progress: Mutex::new(Progress { updated: now, message: None, asked: Default::default(), end: None }),
        });
        let mut table = lock(&self.table);
        sweep(&mut table);
        let own = table.values().filter(|task| task.owner == owner).count();
        if table.len() >= self.most || own >= (self.most / SHARE).max(1) {
            return None;
        }
        table.insert(task.id.clone(), Arc::clone(&task));
        Some(task)
    }

    fn remove(&self, task: &Task) {
        lock(&self.table).swap_remove(&task.id);
    }

    /// The caller's own task of that id and era.
    pub(crate) fn get(&self, caller: &Caller, id: &str, version: Version) -> Option<Arc<Task>> {
        let mut table = lock(&self.table);
        sweep(&mut table);
        let task = table.get(id)?;
        (task.owner == owner(caller) && task.version == version).then(|| Arc::clone(task))
    }
}

/// Removes what is too old.
fn sweep(table: &mut IndexMap<Arc<str>, Arc<Task>>) {
    table.retain(|_, task| {
        let keep = task.born.elapsed() < task.plan.ttl;
        if !keep {
            task.stop();
        }
        keep
    });
}

impl Task {
    pub(crate) fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Changes what is known of a task that has not ended; false if it has.
    fn change(&self, change: impl FnOnce(&mut Progress)) -> bool {
        let mut progress = lock(&self.progress);
        if progress.end.is_some() {
            return false;
        }
        change(&mut progress);
        progress.updated = SystemTime::now();
        drop(progress);
        // Nobody listening is no failure.
        let _ = self.changes.send(Arc::clone(&self.id));
        true
    }

    /// Sets the end unless there is one; false if there was.
    fn finish(&self, end: End) -> bool {
        let set = self.change(|progress| {
            // The extension: a failed task SHOULD say in words why.
            progress.message = match &end {
                End::Error(error) if self.version.is_modern() => Some(error.message.to_string()),
                _ => None,
            };
            progress.end = Some(end);
        });
        self.ended.cancel();
        set
    }

    /// The call came to an end.
    fn came_to(&self, outcome: Result<Outcome<Content>, Failure>) {
        let failure = match outcome {
            Ok(Outcome::Complete(content)) => return self.done(Done::Tool(content)),
            // Questions come before the request to the API, waiting after it.
            Ok(Outcome::InputRequired { .. }) => Failure::Internal("Asked too late".to_owned()),
            Err(failure) => failure,
        };
        self.finish(End::Error(RpcError::from_failure(failure, self.version)));
    }

    /// The call came to this.
    pub(crate) fn done(&self, mut done: Done) {
        if let Done::Tool(content) = &mut done
            && !self.version.is_modern()
        {
            let related = serde_json::json!({"taskId": self.id});
            content.meta.get_or_insert_default().insert(RELATED.to_owned(), related);
        }
        self.finish(End::Done(done));
    }

    /// Stops the call; false if it had ended already.
    fn stop(&self) -> bool {
        let running = self.finish(End::Cancelled);
        self.cancel.cancel();
        running
    }

    fn report(&self, message: String) {
        self.change(|progress| progress.message = Some(message));
    }
}

/// Listens to a call that may become a task.
struct Listener {
    inner: Option<Arc<dyn Events>>,
    waiting: Notify,
    task: OnceLock<Arc<Task>>,
}

impl Events for Listener {
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        if let Some(inner) = &self.inner {
            inner.progress(progress, total, message);
        }
        if let Some(task) = self.task.get() {
            task.report(match (message, total) {
                (Some(message), _) => message.to_owned(),
                (None, Some(total)) if total > 0.0 => format!("{:.0} %", progress / total * 100.0),
                (None, _) => progress.to_string(),
            });
        }
    }

    fn log(&self, level: &str, message: &Value) {
        if let Some(inner) = &self.inner {
            inner.log(level, message);
        }
    }

    fn waiting(&self) {
        self.waiting.notify_one();
    }
}

/// What a call that may become a task came to.
pub(crate) enum Started {
    /// It ended, or something must be asked.
    Outcome(Result<Outcome<Content>, Failure>),
    /// It goes on.
    Task(Arc<Task>),
}

#[allow(clippy::too_many_arguments)]
/// Runs one round of a call; returns as soon as it ends or begins to wait. `context.cancel` stops it
/// until it is a task; so does dropping the future.
pub(crate) async fn start(
    server: &Server,
    name: &str,
    arguments: Option<&RawValue>,
    mut context: Context,
    round: Round,
    version: Version,
    features: Features,
    plan: Plan,
) -> Started {
    let given_up = context.cancel.clone();
    let cancel = CancellationToken::new();
    let guard = cancel.clone().drop_guard();
    let listener = Arc::new(Listener { inner: context.events.take(), waiting: Notify::new(), task: OnceLock::new() });
    context.events = Some(listener.clone());
    context.cancel = cancel.clone();
    let caller = Arc::clone(&context.caller);
    let (sender, mut receiver) = oneshot::channel();
    let (handler, tool, owned) = (Arc::clone(&server.handler), name.to_owned(), arguments.map(ToOwned::to_owned));
    let own = Arc::clone(&listener);
    let asking = plan.asks.then(|| context.clone());
    tokio::spawn(async move {
        let outcome = handler.call_tool(&context, &tool, owned.as_deref(), round).await;
        // Nobody waits any more: then there is a task.
        if let Err(outcome) = sender.send(outcome)
            && let Some(task) = own.task.get()
        {
            task.came_to(outcome);
        }
    });
    let lost = |_| Err(Failure::Internal("The call ended without an answer".to_owned()));
    tokio::select! {
        biased;
        outcome = &mut receiver => match (outcome.unwrap_or_else(lost), asking) {
            (Ok(Outcome::InputRequired { requests, state }), Some(context)) if questions::can_ask(features, &requests) => {
                let Some(task) = server.tasks.add(&caller, name, version, plan, cancel) else {
                    return Started::Outcome(Ok(Outcome::InputRequired { requests, state }));
                };
                let _ = listener.task.set(Arc::clone(&task));
                guard.disarm();
                let arguments = arguments.map(ToOwned::to_owned);
                questions::drive(server, Arc::clone(&task), context, arguments, features, (requests, state));
                return Started::Task(task);
            }
            (outcome, _) => return Started::Outcome(outcome),
        },
        () = given_up.cancelled() => cancel.cancel(),
        () = listener.waiting.notified() => {
            if let Some(task) = server.tasks.add(&caller, name, version, plan, cancel.clone()) {
                // In this order nothing is lost that ends in between.
                let _ = listener.task.set(Arc::clone(&task));
                receiver.close();
                if let Ok(outcome) = receiver.try_recv() {
                    server.tasks.remove(&task);
                    return Started::Outcome(outcome);
                }
                guard.disarm();
                return Started::Task(task);
            }
        }
    }
    // Cancelled, or no room for a task: it ends as any other call.
    let outcome = tokio::select! {
        biased;
        outcome = &mut receiver => outcome,
        () = given_up.cancelled() => {
            cancel.cancel();
            receiver.await
        }
    };
    Started::Outcome(outcome.unwrap_or_else(lost))
}
