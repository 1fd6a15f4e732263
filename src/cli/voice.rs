//! What a serving process says of itself on stderr: plain lines for people, or the log's JSON lines where those are asked
//! for, so that a collector meets nothing else.

use super::show;
use crate::diagnostic::{Report, Severity};
use crate::telemetry::log::LogFormat;

/// How it is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    /// Plain lines.
    Text,
    /// Log events.
    Json,
}

impl Voice {
    /// As the log is written.
    pub(super) fn of(format: LogFormat) -> Voice {
        match format {
            LogFormat::Text => Voice::Text,
            LogFormat::Json => Voice::Json,
        }
    }

    /// What happens.
    pub(super) fn say(self, text: &str) {
        match self {
            Voice::Text => eprintln!("{text}"),
            Voice::Json => tracing::info!("{text}"),
        }
    }

    /// What stands in the way.
    pub(super) fn complain(self, text: &str) {
        match self {
            Voice::Text => eprintln!("error: {text}"),
            Voice::Json => tracing::error!("{text}"),
        }
    }

    /// Every problem, and the exit code for them.
    pub(super) fn failed(self, problems: &[String]) -> u8 {
        problems.iter().for_each(|problem| self.complain(problem));
        2
    }

    /// Errors and warnings of a report.
    pub(super) fn show(self, report: &Report) {
        if self == Voice::Text {
            return show(report, false);
        }
        for diagnostic in report.diagnostics.iter().filter(|one| one.severity > Severity::Note) {
            let all = diagnostic.to_json();
            let text = |key: &str| all.get(key).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
            let (code, message, file, fix) = (text("code"), text("message"), text("file"), text("fix"));
            let line = all.get("line").and_then(serde_json::Value::as_u64).unwrap_or_default();
            match diagnostic.severity {
                Severity::Error => tracing::error!(code, file, line, fix, "{message}"),
                _ => tracing::warn!(code, file, line, fix, "{message}"),
            }
        }
    }
}
