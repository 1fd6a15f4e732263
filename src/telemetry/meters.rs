//! Metrics, as Prometheus text. Handles are made once; a call touches atomics only.

use super::exemplar::{self, Ids};
use metrics::{
    Counter, Gauge, Histogram, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

const CALLS: &str = "rest_mcp_calls_total";
const ERRORS: &str = "rest_mcp_errors_total";
const CALL_SECONDS: &str = "rest_mcp_call_seconds";
const INSIDE_SECONDS: &str = "rest_mcp_inside_seconds";
const IN_FLIGHT: &str = "rest_mcp_calls_in_flight";
const RELOADS: &str = "rest_mcp_reloads_total";
const MISMATCHES: &str = "rest_mcp_schema_mismatches_total";
const AUDIT_LOST: &str = "rest_mcp_audit_events_lost_total";
const DENIED: &str = "rest_mcp_denied_total";
const UPSTREAM_ANSWERS: &str = "rest_mcp_upstream_answers_total";
const UPSTREAM_ERRORS: &str = "rest_mcp_upstream_errors_total";
const UPSTREAM_REPEATS: &str = "rest_mcp_upstream_repeats_total";
const UPSTREAM_SECONDS: &str = "rest_mcp_upstream_seconds";
const UPSTREAM_BREAKER: &str = "rest_mcp_upstream_breaker";

/// From half a millisecond to half a minute.
const BUCKETS: [f64; 15] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// The recorder's other end: gives the text for `/metrics`.
#[derive(Clone)]
pub struct Prometheus(PrometheusHandle);

impl Prometheus {
    /// A recorder and its other end.
    ///
    /// # Errors
    /// Never in practice: the buckets are fixed.
    pub fn build() -> Result<(PrometheusRecorder, Prometheus), String> {
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &BUCKETS)
            .map_err(|error| error.to_string())?
            .build_recorder();
        let handle = recorder.handle();
        Ok((recorder, Prometheus(handle)))
    }

    /// Installs a recorder for the process. Do it before anything makes handles.
    ///
    /// # Errors
    /// A text, if a recorder is installed already.
    pub fn install() -> Result<Prometheus, String> {
        let (recorder, prometheus) = Self::build()?;
        metrics::set_global_recorder(recorder).map_err(|error| error.to_string())?;
        describe();
        Ok(prometheus)
    }

    /// The exposition text (`text/plain; version=0.0.4`).
    pub fn render(&self) -> String {
        self.upkeep();
        self.0.render()
    }

    /// The same as OpenMetrics (`application/openmetrics-text; version=1.0.0`), with exemplars.
    pub fn render_open(&self) -> String {
        exemplar::open_metrics(&self.render(), CALLS)
    }

    /// Sums up what was measured since the last time. Between two calls every measurement takes memory of its own:
    /// call it every few seconds, whether somebody asks for metrics or not.
    pub fn upkeep(&self) {
        self.0.run_upkeep();
    }
}

fn describe() {
    describe_counter!(CALLS, "Calls by tool and outcome");
    describe_counter!(ERRORS, "Failed calls by kind of failure");
    describe_histogram!(CALL_SECONDS, "Time of a whole call");
    describe_histogram!(INSIDE_SECONDS, "Time of a call without waiting for the API");
    describe_gauge!(IN_FLIGHT, "Calls in flight");
    describe_counter!(RELOADS, "Reloads by outcome");
    describe_counter!(MISMATCHES, "Answers that did not match the documented schema, by tool");
    describe_counter!(AUDIT_LOST, "Audit events that could not be written");
    describe_counter!(DENIED, "Requests refused, by reason");
    describe_counter!(UPSTREAM_ANSWERS, "Answers of an API by source and status class");
    describe_counter!(UPSTREAM_ERRORS, "Calls without an answer by source and kind");
    describe_counter!(UPSTREAM_REPEATS, "Repeated requests by source");
    describe_histogram!(UPSTREAM_SECONDS, "Time until an API answered, by source");
    describe_gauge!(UPSTREAM_BREAKER, "Circuit breaker by source: 0 closed, 1 open, 2 trying");
}

/// Counters of tools by outcome.
type Calls = HashMap<String, Vec<(&'static str, Counter)>>;

/// Metrics of the server as a whole.
#[derive(Clone)]
pub struct Meters {
    /// Kept: making a handle anew costs more than counting.
    calls: Arc<RwLock<Calls>>,
    in_flight: Gauge,
    seconds: Histogram,
    inside: Histogram,
    audit_lost: Counter,
}

impl Default for Meters {
    fn default() -> Self {
        Meters {
            calls: Arc::default(),
            in_flight: gauge!(IN_FLIGHT),
            seconds: histogram!(CALL_SECONDS),
            inside: histogram!(INSIDE_SECONDS),
            audit_lost: counter!(AUDIT_LOST),
        }
    }
}

/// Counts as one call in flight until dropped.
pub struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

impl Meters {
    /// A call begins.
    pub fn begin(&self) -> InFlight {
        self.in_flight.increment(1.0);
        InFlight(self.in_flight.clone())
    }

    /// A call of a known tool is over. `outcome` is `ok`, `error` (told to the model), `denied`,
    /// `invalid`, `input_required` or `failed`; `upstream` is the part of `elapsed` spent waiting for
    /// the API; `ids` become the series' exemplar.
    pub fn end(&self, tool: &str, outcome: &'static str, elapsed: Duration, upstream: Duration, ids: Ids<'_>) {
        exemplar::keep(tool, outcome, ids);
        self.call(tool, outcome).increment(1);
        self.seconds.record(elapsed.as_secs_f64());
        self.inside.record(elapsed.saturating_sub(upstream).as_secs_f64());
    }

    fn call(&self, tool: &str, outcome: &'static str) -> Counter {
        let known = |calls: &Calls| {
            calls.get(tool)?.iter().find(|(known, _)| *known == outcome).map(|(_, counter)| counter.clone())
        };
        if let Some(counter) = known(&self.calls.read().unwrap_or_else(PoisonError::into_inner)) {
            return counter;
        }
        let counter = counter!(CALLS, "tool" => tool.to_owned(), "outcome" => outcome);
        let mut calls = self.calls.write().unwrap_or_else(PoisonError::into_inner);
        calls.entry(tool.to_owned()).or_default().push((outcome, counter.clone()));
        counter
    }

    /// A call failed; `kind` is one of a fixed set.
    pub fn error(&self, kind: &'static str) {
        counter!(ERRORS, "kind" => kind).increment(1);
    }

    /// A request was refused; `reason` is one of a fixed set.
    pub fn denied(&self, reason: &'static str) {
        counter!(DENIED, "reason" => reason).increment(1);
    }

    /// A reload was `ok`, `unchanged` or `failed`.
    pub fn reload(&self, outcome: &'static str) {
        counter!(RELOADS, "outcome" => outcome).increment(1);
    }

    /// An answer did not match the documented schema.
    pub fn mismatch(&self, tool: &str) {
        counter!(MISMATCHES, "tool" => tool.to_owned()).increment(1);
    }

    /// An audit event could not be written.
    pub fn audit_lost(&self) {
        self.audit_lost.increment(1);
    }
}

/// Metrics of one source.
#[derive(Clone)]
pub struct SourceMeters {
    name: Arc<str>,
    classes: [Counter; 4],
    repeats: Counter,
    seconds: Histogram,
    breaker: Gauge,
}

impl SourceMeters {
    /// Makes the handles of a source.
    pub fn new(name: &str) -> SourceMeters {
        let answers = |class: &'static str| counter!(UPSTREAM_ANSWERS, "source" => name.to_owned(), "class" => class);
        SourceMeters {
            name: name.into(),
            classes: [answers("2xx"), answers("3xx"), answers("4xx"), answers("5xx")],
            repeats: counter!(UPSTREAM_REPEATS, "source" => name.to_owned()),
            seconds: histogram!(UPSTREAM_SECONDS, "source" => name.to_owned()),
            breaker: gauge!(UPSTREAM_BREAKER, "source" => name.to_owned()),
        }
    }

    /// The API answered.
    pub fn answered(&self, status: u16, elapsed: Duration) {
        let class = usize::from(status / 100).saturating_sub(2).min(3);
        if let Some(counter) = self.classes.get(class) {
            counter.increment(1);
        }
        self.seconds.record(elapsed.as_secs_f64());
    }

    /// There was no answer.
    pub fn failed(&self, kind: &'static str) {
        counter!(UPSTREAM_ERRORS, "source" => self.name.to_string(), "kind" => kind).increment(1);
    }

    /// A request is sent again.
    pub fn repeated(&self) {
        self.repeats.increment(1);
    }

    /// State of the circuit breaker: 0 closed, 1 open, 2 trying.
    pub fn breaker(&self, state: u8) {
        self.breaker.set(f64::from(state));
    }
}
