//! The only module that knows the HTTP client: sends a finished [`Request`] to its source and brings
//! back a bounded [`Response`], or says truly why there is none.
//!
//! One client a source (pool, TLS, resolver), its limits and its breaker. A call is a plain future:
//! no task is spawned for it and no lock held while it waits; dropping it, or its cancellation token,
//! aborts what is in flight. One deadline bounds everything, waiting and repeats included.

mod address;
pub mod auth;
mod backend;
mod body;
mod canned;
mod client;
mod coding;
mod direct;
pub mod export;
mod fault;
pub mod fetch;
pub mod limits;
pub mod policy;
mod redirect;
mod reply;
mod retry;
mod target;

pub use address::is_internal;
pub use body::{BodyStream, Head};
pub use canned::{Canned, CannedRequest};
pub use retry::retry_after;

use crate::catalog::SourcePlan;
use crate::mapping::{Limits, Tls};
use crate::request::Request;
use crate::response::{NoAnswer, Response, TimeoutKind};
use crate::telemetry::Propagation;
use backend::Backend;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// All upstream APIs of a catalog.
#[derive(Debug)]
pub struct Upstream {
    backends: Vec<Arc<Backend>>,
    plans: Vec<Arc<SourcePlan>>,
    tokens: Arc<auth::Tokens>,
    canned: bool,
}

/// What one call asks for beyond its request.
#[derive(Debug, Clone, Default)]
pub struct SendOptions {
    /// Time for the whole call, where it differs from the source's.
    pub timeout: Option<Duration>,
    /// True if the request may be sent twice (RFC 9110 §9.2.2).
    pub idempotent: bool,
    /// Aborts the call.
    pub cancel: CancellationToken,
    /// Trace context that goes along, where the request has none of its own.
    pub trace: Option<Arc<Propagation>>,
}

impl Upstream {
    /// Makes clients for all sources, in catalog order.
    ///
    /// # Errors
    /// Every problem as one text with the source's name: unreadable or wrong TLS files, bad limits.
    pub fn new(sources: &[Arc<SourcePlan>]) -> Result<Upstream, Vec<String>> {
        Self::build(sources, None, None)
    }

    /// Like [`Upstream::new`] after a reload: sources that did not change keep their connections,
    /// breaker state and rates; fetched tokens stay valid.
    ///
    /// # Errors
    /// As [`Upstream::new`].
    pub fn renew(&self, sources: &[Arc<SourcePlan>]) -> Result<Upstream, Vec<String>> {
        Self::build(sources, Some(self), None)
    }

    /// Like [`Upstream::new`], but nothing is ever sent: `answers` answers every request. Credentials that
    /// would be fetched, and those that are not configured, are the text `mock`; nothing is repeated, limited
    /// or waited for.
    ///
    /// # Errors
    /// As [`Upstream::new`].
    pub fn canned(sources: &[Arc<SourcePlan>], answers: Arc<dyn Canned>) -> Result<Upstream, Vec<String>> {
        let plans: Vec<Arc<SourcePlan>> = sources.iter().map(|source| Arc::new(canned::plan(source))).collect();
        Self::build(&plans, None, Some(answers))
    }

    /// True if no request leaves this process; see [`Upstream::canned`].
    pub fn is_canned(&self) -> bool {
        self.canned
    }

    fn build(
        sources: &[Arc<SourcePlan>],
        before: Option<&Upstream>,
        canned: Option<Arc<dyn Canned>>,
    ) -> Result<Upstream, Vec<String>> {
        let mut problems = Vec::new();
        let mut backends = Vec::with_capacity(sources.len());
        for source in sources {
            match Backend::new(source, before, canned.as_ref()) {
                Ok(backend) => backends.push(backend),
                Err(found) => {
                    problems.extend(found.into_iter().map(|text| format!("source `{}`: {text}", source.name)))
                }
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let tokens = before.map_or_else(Arc::default, |before| before.tokens.clone());
        Ok(Upstream { backends, plans: sources.to_vec(), tokens, canned: canned.is_some() })
    }

    fn backend(&self, source: usize) -> Result<&Arc<Backend>, NoAnswer> {
        self.backends.get(source).ok_or_else(|| NoAnswer::Forbidden(format!("no source number {source}")))
    }

    /// Sends a request and reads the whole answer, at most `max_response` bytes of it.
    ///
    /// Any status is an answer. Redirects are followed as the source says; what may be repeated is,
    /// within the deadline and the retry budget.
    ///
    /// # Errors
    /// The reason why there is no answer; its texts are for the log only.
    pub async fn send(&self, source: usize, request: Request, options: &SendOptions) -> Result<Response, NoAnswer> {
        let backend = self.backend(source)?;
        let started = Instant::now();
        let limit = options.timeout.unwrap_or(backend.limits.timeout.0);
        let deadline = started + limit;
        let pass = backend.enter()?;
        let work = pin!(async {
            backend.take_rate(deadline).await?;
            let _permit = match backend.permits.try_acquire() {
                Ok(permit) => permit,
                Err(_) => backend.queue(deadline, backend.permits.acquire()).await?,
            };
            backend.run(request, options, deadline, true).await
        });
        let result = bounded(work, options, deadline, limit).await;
        backend.finish(pass, result.as_ref().map(|answer| answer.status.as_u16()), started.elapsed());
        result.map(|answer| Response {
            status: answer.status,
            headers: answer.headers,
            body: answer.body,
            truncated: answer.truncated,
            elapsed: started.elapsed(),
        })
    }

    /// Sends a request and hands the answer over as soon as its head is there, for answers that are
    /// streams. The deadline bounds the body too.
    ///
    /// # Errors
    /// As [`Upstream::send`].
    pub async fn open(
        &self,
        source: usize,
        request: Request,
        options: &SendOptions,
    ) -> Result<(Head, BodyStream), NoAnswer> {
        let backend = self.backend(source)?;
        let started = Instant::now();
        let limit = options.timeout.unwrap_or(backend.limits.timeout.0);
        let deadline = started + limit;
        let pass = backend.enter()?;
        let work = pin!(async {
            backend.take_rate(deadline).await?;
            let permit = match backend.permits.clone().try_acquire_owned() {
                Ok(permit) => permit,
                Err(_) => backend.queue(deadline, backend.permits.clone().acquire_owned()).await?,
            };
            Ok((backend.run(request, options, deadline, false).await?, permit))
        });
        let result = bounded(work, options, deadline, limit).await;
        backend.finish(pass, result.as_ref().map(|(answer, _)| answer.status.as_u16()), started.elapsed());
        let (answer, permit) = result?;
        let Some(response) = answer.rest else {
            return Err(NoAnswer::Broken("the answer has no body to read".to_owned()));
        };
        let head = Head { status: answer.status, headers: answer.headers };
        let stream = BodyStream {
            response,
            left: backend.limits.max_response.0,
            truncated: false,
            over: false,
            deadline,
            limit,
            cancel: options.cancel.clone(),
            _permit: permit,
        };
        Ok((head, stream))
    }

    /// One upstream made of a single URL, for what is not a source of the catalog: token endpoints,
    /// key sets, policy servers.
    ///
    /// # Errors
    /// As [`Upstream::new`].
    pub fn for_url(name: &str, url: &str, tls: Tls, limits: Limits) -> Result<Upstream, Vec<String>> {
        let plan = SourcePlan {
            name: name.to_owned(),
            base_url: url.to_owned(),
            credentials: indexmap::IndexMap::new(),
            headers: Vec::new(),
            forward_headers: Vec::new(),
            tls,
            limits,
            upload_dirs: Vec::new(),
        };
        Upstream::new(&[Arc::new(plan)])
    }

    /// 0 closed, 1 open, 2 trying, by source name; sources without a breaker are left out.
    pub fn breakers(&self) -> Vec<(&str, u8)> {
        self.backends
            .iter()
            .filter_map(|backend| Some((backend.identity.name.as_str(), backend.breaker.as_ref()?.state())))
            .collect()
    }
}

/// Runs `work` until it is done, cancelled or out of time. Pinned: a future that takes another by value holds it twice.
async fn bounded<T>(
    work: Pin<&mut impl Future<Output = Result<T, NoAnswer>>>,
    options: &SendOptions,
    deadline: Instant,
    limit: Duration,
) -> Result<T, NoAnswer> {
    tokio::select! {
        biased;
        () = options.cancel.cancelled() => Err(NoAnswer::Cancelled),
        result = work => result,
        () = tokio::time::sleep_until(deadline) => Err(NoAnswer::Timeout(TimeoutKind::Total, limit)),
    }
}

/// The kind of a failure, for metrics and the audit trail.
pub fn kind(error: &NoAnswer) -> &'static str {
    match error {
        NoAnswer::Connect(_) => "connect",
        NoAnswer::Dns(_) => "dns",
        NoAnswer::Tls(_) => "tls",
        NoAnswer::Timeout(TimeoutKind::Connect, _) => "timeout_connect",
        NoAnswer::Timeout(TimeoutKind::FirstByte, _) => "timeout_first_byte",
        NoAnswer::Timeout(TimeoutKind::Total, _) => "timeout",
        NoAnswer::Broken(_) => "broken",
        NoAnswer::Body(_) => "body",
        NoAnswer::Forbidden(_) => "forbidden",
        NoAnswer::CircuitOpen(_) => "circuit_open",
        NoAnswer::Busy(_) => "busy",
        NoAnswer::Credential(_) => "credential",
        NoAnswer::Cancelled => "cancelled",
    }
}
