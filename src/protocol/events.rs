//! Progress and log lines of a running request, as notifications in front of its response.

use super::queue::Queue;
use super::version::Version;
use crate::service::Events;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// LoggingLevel (RFC 5424 severities), least severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// `debug`.
    Debug,
    /// `info`.
    Info,
    /// `notice`.
    Notice,
    /// `warning`.
    Warning,
    /// `error`.
    Error,
    /// `critical`.
    Critical,
    /// `alert`.
    Alert,
    /// `emergency`.
    Emergency,
}

const LEVELS: [(Level, &str); 8] = [
    (Level::Debug, "debug"),
    (Level::Info, "info"),
    (Level::Notice, "notice"),
    (Level::Warning, "warning"),
    (Level::Error, "error"),
    (Level::Critical, "critical"),
    (Level::Alert, "alert"),
    (Level::Emergency, "emergency"),
];

impl Level {
    /// Reads an MCP LoggingLevel.
    pub fn parse(text: &str) -> Option<Self> {
        LEVELS.iter().find(|(_, name)| *name == text).map(|(level, _)| *level)
    }

    /// The MCP LoggingLevel.
    pub fn as_str(self) -> &'static str {
        LEVELS.iter().find(|(level, _)| *level == self).map_or("info", |(_, name)| name)
    }

    /// An upstream's own word for a level; what nobody knows counts as `info`.
    fn lenient(text: &str) -> Self {
        let lower = text.to_ascii_lowercase();
        Level::parse(&lower).unwrap_or(match lower.as_str() {
            "trace" => Level::Debug,
            "warn" => Level::Warning,
            "err" => Level::Error,
            "fatal" | "crit" => Level::Critical,
            "emerg" | "panic" => Level::Emergency,
            _ => Level::Info,
        })
    }
}

/// What one request asked to hear, and where it goes.
pub(crate) struct RequestEvents {
    queue: Arc<Queue>,
    /// `progressToken` as JSON text.
    token: Option<Box<str>>,
    level: Option<Level>,
    version: Version,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: Option<f64>,
    left_out: u64,
    closed: bool,
}

impl RequestEvents {
    /// `None` if the request asked for neither progress nor log lines.
    pub(crate) fn new(
        queue: &Arc<Queue>,
        token: Option<&str>,
        level: Option<Level>,
        version: Version,
    ) -> Option<Arc<Self>> {
        (token.is_some() || level.is_some()).then(|| {
            Arc::new(RequestEvents {
                queue: Arc::clone(queue),
                token: token.map(Into::into),
                level,
                version,
                state: Mutex::default(),
            })
        })
    }

    /// Nothing may follow the response.
    pub(crate) fn close(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
    }

    fn message(level: Level, data: &Value) -> Vec<u8> {
        json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": level.as_str(), "data": data}})
            .to_string()
            .into_bytes()
    }
}

impl Events for RequestEvents {
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let Some(token) = &self.token else { return };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.closed || !progress.is_finite() || state.last.is_some_and(|last| progress <= last) {
            return;
        }
        let mut text = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{}"#,
            number(progress)
        );
        if let Some(total) = total.filter(|total| total.is_finite()) {
            text.push_str(&format!(r#","total":{}"#, number(total)));
        }
        if let Some(message) = message.filter(|_| self.version.knows().progress_message) {
            text.push_str(&format!(r#","message":{}"#, Value::from(message)));
        }
        text.push_str("}}");
        // A client that reads slowly gets fewer steps: the next one says more anyway.
        if self.queue.offer(text.into()).is_ok() {
            state.last = Some(progress);
        }
    }

    fn log(&self, level: &str, message: &Value) {
        let level = Level::lenient(level);
        if self.level.is_none_or(|least| level < least) {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return;
        }
        if state.left_out > 0 {
            let note = Value::from(format!("{} log lines left out: the client reads too slowly", state.left_out));
            if self.queue.offer(Self::message(Level::Warning, &note).into()).is_err() {
                state.left_out += 1;
                return;
            }
            state.left_out = 0;
        }
        if self.queue.offer(Self::message(level, message).into()).is_err() {
            state.left_out += 1;
        }
    }
}

/// An integral number without a fraction part, as people write it.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0 {
        Value::from(value as i64)
    } else {
        Value::from(value)
    }
}
