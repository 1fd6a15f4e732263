//! One upstream API: its clients, its limits, and one call with its redirects and repeats.

use super::direct::Direct;
use super::fault::{self, Fault};
use super::limits::{Breaker, Budget, Pass, Rate};
use super::redirect::{self, Hop};
use super::reply::Reply;
use super::target::Target;
use super::{Canned, SendOptions, Upstream, address, body, canned, client, coding, kind, retry};
use crate::catalog::SourcePlan;
use crate::mapping::{Limits, Redirects, Tls};
use crate::request::Request;
use crate::response::{NoAnswer, TimeoutKind};
use crate::telemetry::SourceMeters;
use bytes::Bytes;
use http::Method;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use url::Url;

/// One upstream API.
pub(super) struct Backend {
    pub(super) identity: Identity,
    origin: Option<Url>,
    pub(super) limits: Limits,
    /// For the configured origin where it is plain HTTP.
    direct: Option<Direct>,
    /// For the configured origin, which may be internal.
    trusted: reqwest::Client,
    /// For everything else.
    other: reqwest::Client,
    pub(super) permits: Arc<Semaphore>,
    rate: Option<Rate>,
    pub(super) breaker: Option<Breaker>,
    budget: Budget,
    meters: SourceMeters,
    /// Answers instead of the network.
    canned: Option<Arc<dyn Canned>>,
}

impl std::fmt::Debug for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Backend").field("name", &self.identity.name).finish_non_exhaustive()
    }
}

/// What makes a backend another one: a reload keeps pool, breaker and rates where it is equal.
#[derive(PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) name: String,
    base_url: String,
    tls: Tls,
    files: [u8; 32],
    limits: String,
}

/// An answer, whole or with its body still to come.
pub(super) struct Answer {
    pub(super) status: http::StatusCode,
    pub(super) headers: http::HeaderMap,
    pub(super) body: Bytes,
    pub(super) truncated: bool,
    pub(super) rest: Option<Reply>,
}

impl Backend {
    pub(super) fn new(
        source: &SourcePlan,
        before: Option<&Upstream>,
        canned: Option<&Arc<dyn Canned>>,
    ) -> Result<Arc<Backend>, Vec<String>> {
        let limits = &source.limits;
        let files = client::TlsFiles::read(&source.tls)?;
        let identity = Identity {
            name: source.name.clone(),
            base_url: source.base_url.clone(),
            tls: source.tls.clone(),
            files: files.fingerprint,
            limits: format!("{limits:?}"),
        };
        if let Some(same) = before.and_then(|before| before.backends.iter().find(|old| old.identity == identity)) {
            return Ok(same.clone());
        }
        let mut problems = Vec::new();
        let origin = Url::parse(&source.base_url).ok();
        if limits.concurrency == 0 || limits.concurrency > Semaphore::MAX_PERMITS {
            problems.push("limits.concurrency: must be at least 1".to_owned());
        }
        let rate = limits.rate.as_deref().map(Rate::parse).transpose().unwrap_or_else(|problem| {
            problems.push(format!("limits.rate: {problem}"));
            None
        });
        let plain = origin.as_ref().is_some_and(|url| url.scheme() == "http") && limits.redirects != Redirects::Any;
        let tls = match client::tls_config(&source.tls, files, !plain) {
            Ok(tls) => tls,
            Err(found) => {
                problems.extend(found);
                return Err(problems);
            }
        };
        let everywhere = limits.allow_private == Some(true);
        let nowhere = limits.allow_private == Some(false);
        let trusted = client::client(tls.clone(), limits, nowhere);
        let other = client::client(tls, limits, !everywhere);
        let (trusted, other) = match (trusted, other) {
            (Ok(trusted), Ok(other)) if problems.is_empty() => (trusted, other),
            (trusted, other) => {
                problems.extend(trusted.err());
                problems.extend(other.err().filter(|text| !problems.contains(text)));
                return Err(problems);
            }
        };
        let direct = origin.as_ref().filter(|url| url.scheme() == "http").map(|url| Direct::new(url, limits, nowhere));
        Ok(Arc::new(Backend {
            origin,
            direct,
            trusted,
            other,
            permits: Arc::new(Semaphore::new(limits.concurrency)),
            rate,
            breaker: limits.breaker.as_ref().map(Breaker::new),
            budget: Budget::new(),
            meters: SourceMeters::new(&source.name),
            limits: limits.clone(),
            identity,
            canned: canned.cloned(),
        }))
    }

    pub(super) fn enter(&self) -> Result<Option<Pass<'_>>, NoAnswer> {
        match &self.breaker {
            None => Ok(None),
            Some(breaker) => breaker.enter().map(Some).map_err(|left| {
                self.meters.failed("circuit_open");
                NoAnswer::CircuitOpen(left)
            }),
        }
    }

    /// Tells breaker and meters how a call ended.
    pub(super) fn finish(&self, pass: Option<Pass<'_>>, result: Result<u16, &NoAnswer>, elapsed: Duration) {
        let good = match result {
            Ok(status) => {
                self.meters.answered(status, elapsed);
                Some(!(502..=504).contains(&status))
            }
            Err(error) => {
                self.meters.failed(kind(error));
                match error {
                    NoAnswer::Cancelled | NoAnswer::Busy(_) | NoAnswer::Forbidden(_) | NoAnswer::Credential(_) => None,
                    _ => Some(false),
                }
            }
        };
        if let (Some(pass), Some(good)) = (pass, good) {
            pass.done(good);
        }
        if let Some(breaker) = &self.breaker {
            self.meters.breaker(breaker.state());
        }
    }

    /// The longest time a call waits for its turn.
    fn patience(deadline: Instant) -> Duration {
        (deadline.saturating_duration_since(Instant::now()) / 4).min(Duration::from_secs(1))
    }

    pub(super) async fn take_rate(&self, deadline: Instant) -> Result<(), NoAnswer> {
        let Some(rate) = &self.rate else { return Ok(()) };
        let until = Instant::now() + Self::patience(deadline);
        while let Err(wait) = rate.check() {
            if Instant::now() + wait > until {
                return Err(NoAnswer::Busy(wait));
            }
            tokio::time::sleep(wait).await;
        }
        Ok(())
    }

    pub(super) async fn queue<P>(
        &self,
        deadline: Instant,
        turn: impl Future<Output = Result<P, tokio::sync::AcquireError>>,
    ) -> Result<P, NoAnswer> {
        match tokio::time::timeout(Self::patience(deadline), turn).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(NoAnswer::Busy(Duration::from_secs(1))),
        }
    }

    /// Sends, follows redirects, repeats.
    pub(super) async fn run(
        &self,
        request: Request,
        options: &SendOptions,
        deadline: Instant,
        whole: bool,
    ) -> Result<Answer, NoAnswer> {
        self.budget.call();
        let mut hop = first_hop(request, options, self.origin.as_ref())?;
        let mut redirects = 0;
        let mut repeats = 0;
        loop {
            let (fault, pause) = match self.exchange(&hop, deadline).await {
                Ok(response) => {
                    let (status, headers) = (response.status, &response.headers);
                    if redirect::asked(status, headers, self.limits.redirects) {
                        redirects += 1;
                        if redirects > redirect::MOST {
                            return Err(NoAnswer::Forbidden("too many redirects".to_owned()));
                        }
                        redirect::follow(&mut hop, status, headers, self.limits.redirects)?;
                        body::drain(response).await;
                        continue;
                    }
                    let pause = retry::after_status(status, headers, hop.idempotent, repeats, SystemTime::now());
                    match pause.filter(|pause| self.may_repeat(repeats, *pause, deadline)) {
                        Some(pause) => {
                            body::drain(response).await;
                            (None, pause)
                        }
                        None => match self.answer(&hop.method, response, whole).await {
                            Ok(answer) => return Ok(answer),
                            Err(fault) => (Some(fault), retry::pause(repeats)),
                        },
                    }
                }
                Err(fault) => (Some(fault), retry::pause(repeats)),
            };
            if let Some(fault) = fault {
                let again = retry::after_fault(fault.reached, hop.idempotent);
                if !again || !self.may_repeat(repeats, pause, deadline) {
                    return Err(fault.answer);
                }
                tracing::debug!(source = %self.identity.name, reason = ?fault.answer, "repeating a request");
            }
            self.meters.repeated();
            repeats += 1;
            tokio::time::sleep(pause).await;
        }
    }

    fn may_repeat(&self, repeats: u32, pause: Duration, deadline: Instant) -> bool {
        repeats < self.limits.retries && Instant::now() + pause < deadline && self.budget.retry()
    }

    /// One request on the wire and the head of its answer.
    async fn exchange(&self, hop: &Hop, deadline: Instant) -> Result<Reply, Fault> {
        if let Some(canned) = &self.canned {
            return canned::exchange(canned.as_ref(), hop);
        }
        let trusted = self.may_reach(hop)?;
        match self.direct.as_ref().filter(|_| trusted) {
            Some(direct) => {
                let sent = self.first_byte(pin!(direct.send(hop)), deadline).await?;
                sent.map_err(|error| fault::of_direct(&error, self.limits.connect_timeout.0))
            }
            None => {
                let client = if trusted { &self.trusted } else { &self.other };
                let mut request = reqwest::Request::new(hop.method.clone(), hop.url()?.into_owned());
                *request.headers_mut() = hop.headers.clone();
                *request.body_mut() = hop.body.clone().map(reqwest::Body::from);
                let sent = self.first_byte(pin!(client.execute(request)), deadline).await?;
                sent.map(Reply::from).map_err(|error| fault::of_head(error, self.limits.connect_timeout.0))
            }
        }
    }

    /// Waits for the head of an answer, within the source's limit for that.
    async fn first_byte<T>(&self, sent: Pin<&mut impl Future<Output = T>>, deadline: Instant) -> Result<T, Fault> {
        match self.limits.first_byte_timeout.map(|limit| limit.0) {
            Some(limit) if Instant::now() + limit < deadline => tokio::time::timeout(limit, sent)
                .await
                .map_err(|_| Fault::hopeless(NoAnswer::Timeout(TimeoutKind::FirstByte, limit))),
            _ => Ok(sent.await),
        }
    }

    /// Whether this URL is at the configured origin; a fault where it must not be reached.
    fn may_reach(&self, hop: &Hop) -> Result<bool, Fault> {
        let trusted = self.origin.as_ref().is_some_and(|origin| hop.target.is_at(origin));
        let internal_allowed = match self.limits.allow_private {
            Some(allowed) => allowed,
            None => trusted,
        };
        if !internal_allowed && let Some(address) = address::internal_literal(hop.url()?.as_ref()) {
            let refused = address::Refused(address.to_string());
            return Err(Fault::hopeless(NoAnswer::Forbidden(refused.to_string())));
        }
        Ok(trusted)
    }

    async fn answer(&self, method: &Method, mut response: Reply, whole: bool) -> Result<Answer, Fault> {
        let status = response.status;
        let bodiless = body::is_bodiless(method, status);
        if bodiless {
            response.headers.remove(http::header::CONTENT_ENCODING);
        } else {
            response = coding::undo(response).await?;
        }
        let headers = std::mem::take(&mut response.headers);
        let mut answer = Answer { status, headers, body: Bytes::new(), truncated: false, rest: None };
        if whole && !bodiless {
            (answer.body, answer.truncated) = body::read(&mut response, self.limits.max_response.0).await?;
        }
        answer.rest = (!whole).then_some(response);
        Ok(answer)
    }
}

/// The request as its first hop.
fn first_hop(request: Request, options: &SendOptions, origin: Option<&Url>) -> Result<Hop, NoAnswer> {
    let refuse = |why: &str| NoAnswer::Forbidden(format!("request URL: {why}"));
    let target = Target::read(request.url, origin).map_err(refuse)?;
    let mut headers = request.headers;
    if let Some(trace) = &options.trace {
        trace.add_to(&mut headers);
    }
    Ok(Hop { method: request.method, target, headers, body: request.body, idempotent: options.idempotent })
}
