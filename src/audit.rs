//! Who did what, as JSON lines. A call never waits for the trail: events go through a bounded queue
//! to a thread of their own. What does not fit is counted, and the count becomes an event.

mod redact;
mod write;

pub use redact::{ArgumentsMode, Redaction};

use crate::access::Caller;
use crate::telemetry::Meters;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Events waiting to be written.
const QUEUE: usize = 8192;
/// How long the first of several events waits for the others.
const PAUSE: Duration = Duration::from_millis(5);

/// Where the trail goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Standard error, between the log lines.
    Stderr,
    /// A file; at `max_bytes` it becomes `<path>.1`, the older ones move up, `keep` of them stay.
    File {
        /// The file.
        path: PathBuf,
        /// Size at which it is rotated.
        max_bytes: u64,
        /// Rotated files that are kept.
        keep: u32,
    },
}

/// What is written and where.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where.
    pub target: Target,
    /// How much of the arguments.
    pub arguments: ArgumentsMode,
    /// Argument names (globs) that are redacted beside the built-in ones.
    pub redact: Vec<String>,
}

/// The trail. Without a writer it takes events and does nothing.
pub struct Audit {
    writer: Option<Writer>,
    redaction: Redaction,
    meters: Meters,
}

struct Writer {
    /// Taken when the trail is closed.
    queue: Option<SyncSender<Line>>,
    lost: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

enum Line {
    Event(String),
    Flush(SyncSender<()>),
}

/// Who and in which request; the same in every event.
#[derive(Clone, Copy)]
pub struct Who<'a> {
    /// The caller; `None` = not recognised.
    pub caller: Option<&'a Caller>,
    /// Ties log, trace, audit trail and error text together.
    pub request_id: &'a str,
    /// 32 hexadecimal digits.
    pub trace_id: Option<&'a str>,
    /// `stdio`, `http`, `sse`, `websocket`.
    pub transport: &'static str,
}

/// What happened.
#[derive(Clone, Copy)]
pub enum Event<'a> {
    /// `initialize` or `server/discover`.
    Start {
        /// The method.
        method: &'static str,
        /// Name and version the client gave itself.
        client: Option<(&'a str, &'a str)>,
        /// Revision of the protocol.
        protocol_version: &'a str,
    },
    /// `tools/list`.
    List {
        /// Tools shown.
        count: usize,
    },
    /// `tools/call`, `resources/read` or `prompts/get`, done.
    Call {
        /// The method.
        method: &'static str,
        /// Tool or prompt name, resource URI.
        name: &'a str,
        /// The arguments as the caller sent them.
        arguments: Option<&'a Map<String, Value>>,
        /// `ok`, `error`, `input_required`, `cancelled`, …
        outcome: &'static str,
        /// Status of the API's answer.
        status: Option<u16>,
        /// Kind of failure.
        error: Option<&'static str>,
        /// Time from request to result.
        duration: Duration,
    },
    /// Somebody or something was refused.
    Denied {
        /// The method, where it is known.
        method: Option<&'a str>,
        /// The tool, where it is known.
        name: Option<&'a str>,
        /// Why; one of a fixed set.
        reason: &'static str,
        /// HTTP status or none on stdio.
        status: Option<u16>,
    },
}

impl Audit {
    /// No trail.
    pub fn off() -> Audit {
        Audit { writer: None, redaction: Redaction::default(), meters: Meters::default() }
    }

    /// Opens the trail and starts its thread.
    ///
    /// # Errors
    /// The file can't be opened, or the thread can't be started.
    pub fn start(settings: Settings) -> std::io::Result<Audit> {
        let sink = write::Sink::open(&settings.target)?;
        let (queue, events) = sync_channel(QUEUE);
        let lost = Arc::new(AtomicU64::new(0));
        let count = lost.clone();
        let thread = std::thread::Builder::new().name("audit".to_owned()).spawn(move || drain(events, sink, &count))?;
        let writer = Writer { queue: Some(queue), lost, thread: Some(thread) };
        let redaction = Redaction::new(settings.arguments, &settings.redact);
        Ok(Audit { writer: Some(writer), redaction, meters: Meters::default() })
    }

    /// True if there is a trail.
    pub fn is_on(&self) -> bool {
        self.writer.is_some()
    }

    /// Takes an event; never waits.
    pub fn record(&self, who: Who<'_>, event: Event<'_>) {
        let Some(writer) = &self.writer else { return };
        let line = self.line(SystemTime::now(), who, event);
        let sent = writer.queue.as_ref().map(|queue| queue.try_send(Line::Event(line)));
        if !matches!(sent, Some(Ok(()))) {
            writer.lost.fetch_add(1, Relaxed);
            self.meters.audit_lost();
        }
    }

    /// Waits until everything taken so far is written, at most `limit`; true if it is.
    pub fn flush(&self, limit: Duration) -> bool {
        let Some(writer) = &self.writer else { return true };
        let Some(queue) = &writer.queue else { return true };
        let (done, written) = sync_channel(1);
        match queue.try_send(Line::Flush(done)) {
            Ok(()) => written.recv_timeout(limit).is_ok(),
            Err(TrySendError::Full(line)) => queue.send(line).is_ok() && written.recv_timeout(limit).is_ok(),
            Err(TrySendError::Disconnected(_)) => false,
        }
    }

    fn line(&self, now: SystemTime, who: Who<'_>, event: Event<'_>) -> String {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| {
            if !value.is_null() {
                object.insert(key.to_owned(), value);
            }
        };
        let text = |text: Option<&str>| text.map_or(Value::Null, |text| Value::String(shorten(text)));
        put("time", Value::String(timestamp(now)));
        put("audit", Value::String(event.name().to_owned()));
        put("request_id", text(Some(who.request_id)));
        put("trace_id", text(who.trace_id));
        put("transport", text(Some(who.transport)));
        put("subject", text(who.caller.and_then(|caller| caller.subject.as_deref())));
        put("tenant", text(who.caller.and_then(|caller| caller.tenant.as_deref())));
        match event {
            Event::Start { method, client, protocol_version } => {
                put("method", text(Some(method)));
                put("client", text(client.map(|(name, _)| name)));
                put("client_version", text(client.map(|(_, version)| version)));
                put("protocol_version", text(Some(protocol_version)));
            }
            Event::List { count } => put("count", Value::from(count)),
            Event::Call { method, name, arguments, outcome, status, error, duration } => {
                put("method", text(Some(method)));
                put("name", text(Some(name)));
                put("arguments", arguments.map_or(Value::Null, |arguments| self.redaction.apply(arguments)));
                put("outcome", text(Some(outcome)));
                put("status", status.map_or(Value::Null, Value::from));
                put("error", text(error));
                let milliseconds = (duration.as_secs_f64() * 1_000_000.0).round() / 1000.0;
                put("duration_ms", Value::from(milliseconds));
            }
            Event::Denied { method, name, reason, status } => {
                put("method", text(method));
                put("name", text(name));
                put("reason", text(Some(reason)));
                put("status", status.map_or(Value::Null, Value::from));
            }
        }
        Value::Object(object).to_string()
    }
}

impl Event<'_> {
    fn name(&self) -> &'static str {
        match self {
            Event::Start { .. } => "start",
            Event::List { .. } => "tools_list",
            Event::Call { .. } => "call",
            Event::Denied { .. } => "denied",
        }
    }
}

impl Drop for Audit {
    fn drop(&mut self) {
        let Some(writer) = &mut self.writer else { return };
        drop(writer.queue.take());
        if let Some(thread) = writer.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Writes events as they come, many at once where many come: a wake-up and a system call for each would cost as much
/// as the calls themselves.
fn drain(events: Receiver<Line>, mut sink: write::Sink, lost: &AtomicU64) {
    let (mut failing, mut room) = (false, sink.room());
    let mut write = |lines: &str, count: u64| match sink.write(lines) {
        Ok(()) => {
            failing = false;
            sink.room()
        }
        Err(error) => {
            lost.fetch_add(count, Relaxed);
            if !failing {
                tracing::error!(%error, "the audit trail can't be written: events are being lost");
            }
            failing = true;
            sink.room()
        }
    };
    let (mut lines, mut count) = (String::new(), 0);
    while let Ok(first) = events.recv() {
        let mut next = Some(first);
        if matches!(next, Some(Line::Event(_))) {
            std::thread::sleep(PAUSE);
        }
        let mut flushed = None;
        while let Some(line) = next.take().or_else(|| events.try_recv().ok()) {
            match line {
                Line::Event(line) => {
                    if count > 0 && lines.len() + line.len() >= room {
                        room = write(&lines, std::mem::take(&mut count));
                        lines.clear();
                    }
                    lines.push_str(&line);
                    lines.push('\n');
                    count += 1;
                }
                Line::Flush(done) => {
                    flushed = Some(done);
                    break;
                }
            }
        }
        if count > 0 {
            room = write(&lines, std::mem::take(&mut count));
            lines.clear();
        }
        if let Some(done) = flushed {
            let _ = done.try_send(());
        }
        let missing = lost.swap(0, Relaxed);
        if missing > 0 {
            tracing::error!(missing, "audit events were lost");
            let now = timestamp(SystemTime::now());
            room = write(&format!("{{\"time\":\"{now}\",\"audit\":\"lost\",\"count\":{missing}}}\n"), missing);
        }
    }
}

/// Names that callers choose can't make a line long.
fn shorten(text: &str) -> String {
    const LONGEST: usize = 512;
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// RFC 3339, UTC, milliseconds.
pub(crate) fn timestamp(now: SystemTime) -> String {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    // Days to a date: shift the year to begin in March, count in eras of 400 years.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", since.subsec_millis())
}
