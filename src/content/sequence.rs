//! Upstream streams, item by item: NDJSON, JSON text sequences (RFC 7464), `text/event-stream`.

use super::shape::Selector;
use crate::mapping::StreamRules;
use crate::response::MediaType;
use serde_json::Value;

/// Longest single item; a longer one becomes [`Item::TooLong`].
const MAX_ITEM: usize = 4 << 20;

/// One item of a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A JSON value; text that is no JSON is a string.
    Value {
        /// SSE `event`, where one is given.
        event: Option<String>,
        /// The data.
        data: Value,
    },
    /// An item that was left out because it is too long; its bytes.
    TooLong(usize),
}

impl Item {
    /// The data; of an item that was left out, a text that says so.
    pub fn into_value(self) -> Value {
        match self {
            Item::Value { data, .. } => data,
            Item::TooLong(bytes) => Value::String(format!("(an item of {bytes} bytes was left out)")),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// One JSON text a line.
    Lines,
    /// Each text begins with a record separator.
    Records,
    /// Server-sent events.
    Events,
}

/// Splits a stream that arrives in pieces into items. Holds at most one item.
#[derive(Debug)]
pub struct Decoder {
    format: Format,
    line: Vec<u8>,
    skipped: usize,
    after_return: bool,
    started: bool,
    event: Option<String>,
    data: Option<Vec<u8>>,
}

impl Decoder {
    /// The decoder for a media type; `None` if it is no stream of items.
    pub fn for_media_type(media_type: &MediaType<'_>) -> Option<Self> {
        Some(Self::new(match &*media_type.essence {
            "text/event-stream" => Format::Events,
            "application/json-seq" => Format::Records,
            "application/x-ndjson"
            | "application/ndjson"
            | "application/jsonl"
            | "application/x-jsonl"
            | "application/x-jsonlines"
            | "application/jsonlines"
            | "application/stream+json" => Format::Lines,
            _ => return None,
        }))
    }

    /// A decoder of JSON lines, whatever the media type says.
    pub fn lines() -> Self {
        Self::new(Format::Lines)
    }

    fn new(format: Format) -> Self {
        let (line, skipped, after_return, started, event, data) = (Vec::new(), 0, false, false, None, None);
        Decoder { format, line, skipped, after_return, started, event, data }
    }

    /// Takes the next bytes and gives the items that they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Item> {
        let mut items = Vec::new();
        for byte in bytes {
            let after_return = std::mem::replace(&mut self.after_return, false);
            match (self.format, byte) {
                (Format::Records, b'\x1e') | (Format::Lines, b'\n') => self.end_line(&mut items),
                (Format::Events, b'\n') if after_return => {}
                (Format::Events, b'\n') => self.end_line(&mut items),
                (Format::Events, b'\r') => {
                    self.after_return = true;
                    self.end_line(&mut items);
                }
                _ if self.line.len() < MAX_ITEM => self.line.push(*byte),
                _ => self.skipped += 1,
            }
        }
        items
    }

    /// Ends the stream and gives what was still incomplete: a last line without its end is an item too.
    pub fn finish(mut self) -> Vec<Item> {
        let mut items = Vec::new();
        if !self.line.is_empty() {
            self.end_line(&mut items);
        }
        if self.format == Format::Events {
            self.dispatch(&mut items);
        }
        items
    }

    fn end_line(&mut self, items: &mut Vec<Item>) {
        let mut line = std::mem::take(&mut self.line);
        let skipped = std::mem::take(&mut self.skipped);
        if !std::mem::replace(&mut self.started, true) && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        if skipped > 0 {
            self.data = None;
            items.push(Item::TooLong(line.len() + skipped));
        } else if self.format == Format::Events {
            self.event_line(&line, items);
        } else if !line.trim_ascii().is_empty() {
            items.push(Item::Value { event: None, data: value(line.trim_ascii()) });
        }
    }

    /// One line of an event stream (WHATWG HTML §9.2.6).
    fn event_line(&mut self, line: &[u8], items: &mut Vec<Item>) {
        if line.is_empty() {
            return self.dispatch(items);
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, rest) = line.split_at(colon.unwrap_or(line.len()));
        let rest = rest.strip_prefix(b":").unwrap_or(rest);
        let rest = rest.strip_prefix(b" ").unwrap_or(rest);
        match field {
            b"event" => self.event = Some(String::from_utf8_lossy(rest).into_owned()),
            b"data" => match &mut self.data {
                Some(data) if data.len() + rest.len() < MAX_ITEM => {
                    data.push(b'\n');
                    data.extend_from_slice(rest);
                }
                Some(data) => {
                    items.push(Item::TooLong(data.len() + rest.len()));
                    self.data = None;
                }
                None => self.data = Some(rest.to_vec()),
            },
            // Comments, `id`, `retry` and unknown fields carry no data.
            _ => {}
        }
    }

    fn dispatch(&mut self, items: &mut Vec<Item>) {
        let event = self.event.take();
        let Some(data) = self.data.take() else { return };
        // The end mark of several model APIs.
        if data.trim_ascii() != b"[DONE]" {
            items.push(Item::Value { event, data: value(&data) });
        }
    }
}

fn value(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(text).into_owned()))
}

/// Several JSON texts one a line; `None` if any line is none, or there is only one.
pub(super) fn strict_lines(text: &[u8]) -> Option<Vec<Value>> {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let items = lines.map(|line| serde_json::from_slice(line).ok()).collect::<Option<Vec<Value>>>()?;
    (items.len() > 1).then_some(items)
}

/// What an item of a stream is to the mapping's `stream` rules.
#[derive(Debug, Clone, PartialEq)]
pub enum Classified {
    /// A step of progress.
    Progress {
        /// How far.
        progress: f64,
        /// Of how much.
        total: Option<f64>,
        /// In words.
        message: Option<String>,
    },
    /// A log line.
    Log {
        /// An MCP LoggingLevel.
        level: &'static str,
        /// The line.
        message: Value,
    },
    /// Part of the result.
    Value(Value),
}

/// The selectors of `stream` rules.
#[derive(Debug, Clone)]
pub struct Classifier {
    progress: Option<(Selector, Option<Selector>, Option<Selector>)>,
    log: Option<(Selector, Option<Selector>)>,
}

impl Classifier {
    /// Compiles the rules; the error names the key and what is wrong with its path.
    pub fn new(rules: &StreamRules) -> Result<Self, String> {
        let one = |key: &str, path: &str| Selector::parse(path).map_err(|error| format!("{key}: {error}"));
        let maybe = |key: &str, path: &Option<String>| path.as_deref().map(|path| one(key, path)).transpose();
        let progress = match &rules.progress {
            Some(rules) => Some((
                one("progress.value", &rules.value)?,
                maybe("progress.total", &rules.total)?,
                maybe("progress.message", &rules.message)?,
            )),
            None => None,
        };
        let log = match &rules.log {
            Some(rules) => Some((one("log.message", &rules.message)?, maybe("log.level", &rules.level)?)),
            None => None,
        };
        Ok(Classifier { progress, log })
    }

    /// Decides what an item is.
    pub fn classify(&self, item: Item) -> Classified {
        let data = item.into_value();
        if let Some((value, total, message)) = &self.progress
            && let Some(progress) = value.get(&data).and_then(|found| number(&found))
        {
            let total = total.as_ref().and_then(|path| path.get(&data)).and_then(|found| number(&found));
            let message = message.as_ref().and_then(|path| path.get(&data)).map(|found| match &*found {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            return Classified::Progress { progress, total, message };
        }
        if let Some((message, level)) = &self.log
            && let Some(found) = message.get(&data)
        {
            let level = level.as_ref().and_then(|path| path.get(&data));
            let level = level.as_deref().and_then(Value::as_str).map_or("info", logging_level);
            return Classified::Log { level, message: found.into_owned() };
        }
        Classified::Value(data)
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        other => other.as_f64(),
    }
}

/// The MCP LoggingLevel (RFC 5424 severities) that a level of another logger stands for.
fn logging_level(level: &str) -> &'static str {
    match level.to_ascii_lowercase().as_str() {
        "trace" | "debug" | "verbose" | "fine" => "debug",
        "notice" => "notice",
        "warn" | "warning" => "warning",
        "err" | "error" | "severe" => "error",
        "crit" | "critical" | "fatal" => "critical",
        "alert" => "alert",
        "emerg" | "emergency" | "panic" => "emergency",
        _ => "info",
    }
}
