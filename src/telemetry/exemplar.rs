//! Exemplars: which call a counter counted last, for those who scrape OpenMetrics 1.0. They tie a metric to the audit trail
//! and the trace of one call without making a time series of it.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Last calls by tool and outcome: as many as there are series.
static LAST: LazyLock<Mutex<HashMap<String, Vec<Last>>>> = LazyLock::new(Mutex::default);

/// The call that a counter counted last; written out only when somebody scrapes.
struct Last {
    outcome: &'static str,
    request_id: String,
    trace_id: String,
    at: SystemTime,
}

/// The ids of one call.
#[derive(Debug, Clone, Copy)]
pub struct Ids<'a> {
    /// The id in log, audit trail, span and error texts.
    pub request_id: &'a str,
    /// 32 hexadecimal digits.
    pub trace_id: Option<&'a str>,
}

/// Remembers the call that a counter counted.
pub(super) fn keep(tool: &str, outcome: &'static str, ids: Ids<'_>) {
    let mut all = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if !all.contains_key(tool) {
        all.insert(tool.to_owned(), Vec::new());
    }
    let Some(of_tool) = all.get_mut(tool) else { return };
    let at = SystemTime::now();
    match of_tool.iter_mut().find(|last| last.outcome == outcome) {
        Some(last) => {
            last.at = at;
            for (kept, id) in [(&mut last.request_id, ids.request_id), (&mut last.trace_id, ids.trace_id.unwrap_or(""))]
            {
                kept.clear();
                kept.push_str(id);
            }
        }
        None => of_tool.push(Last {
            outcome,
            request_id: ids.request_id.to_owned(),
            trace_id: ids.trace_id.unwrap_or_default().to_owned(),
            at,
        }),
    }
}

impl Last {
    fn write(&self) -> String {
        let trace = if self.trace_id.is_empty() { String::new() } else { format!(",trace_id=\"{}\"", self.trace_id) };
        let at = self.at.duration_since(UNIX_EPOCH).unwrap_or_default();
        format!("# {{request_id=\"{}\"{trace}}} 1 {}.{:03}", self.request_id, at.as_secs(), at.subsec_millis())
    }
}

/// Prometheus text as OpenMetrics: families of counters without `_total`, bounds as floating-point numbers, exemplars, the
/// end marked.
pub(super) fn open_metrics(prometheus: &str, calls: &str) -> String {
    let all = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let exemplar = |line: &str| {
        let (tool, rest) = line.strip_prefix(calls)?.strip_prefix("{tool=\"")?.split_once("\",outcome=\"")?;
        let (outcome, _) = rest.split_once("\"}")?;
        all.get(tool)?.iter().find(|last| last.outcome == outcome).map(Last::write)
    };
    let mut out = String::with_capacity(prometheus.len() + 1024);
    for line in prometheus.lines().filter(|line| !line.is_empty()) {
        let mut words = line.splitn(4, ' ');
        if let (Some("#"), Some(kind), Some(name), rest) = (words.next(), words.next(), words.next(), words.next()) {
            let family = name.strip_suffix("_total").unwrap_or(name);
            out.push_str(&format!("# {kind} {family} {}", rest.unwrap_or_default()));
        } else {
            out.push_str(&bound(line));
            if let Some(exemplar) = exemplar(line) {
                out.push(' ');
                out.push_str(&exemplar);
            }
        }
        out.push('\n');
    }
    out.push_str("# EOF\n");
    out
}

/// `le="1"` → `le="1.0"`.
fn bound(line: &str) -> String {
    let whole = || {
        let (head, rest) = line.split_once("le=\"")?;
        let (bound, tail) = rest.split_once('"')?;
        bound.bytes().all(|byte| byte.is_ascii_digit()).then(|| format!("{head}le=\"{bound}.0\"{tail}"))
    };
    whole().unwrap_or_else(|| line.to_owned())
}
