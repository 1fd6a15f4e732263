//! Exemplars: which call a counter counted last, for those who scrape OpenMetrics 1.0. They tie a metric to the audit trail
//! and the trace of one call without making a time series of it.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Series, as written in the exposition, and its last exemplar. As many as there are series: tools and outcomes.
static LAST: LazyLock<Mutex<HashMap<String, String>>> = LazyLock::new(Mutex::default);

/// The ids of one call.
#[derive(Debug, Clone, Copy)]
pub struct Ids<'a> {
    /// The id in log, audit trail, span and error texts.
    pub request_id: &'a str,
    /// 32 hexadecimal digits.
    pub trace_id: Option<&'a str>,
}

/// Remembers the call that a counter counted.
pub(super) fn keep(series: String, ids: Ids<'_>) {
    let trace = ids.trace_id.map(|id| format!(",trace_id=\"{id}\"")).unwrap_or_default();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let exemplar =
        format!("# {{request_id=\"{}\"{trace}}} 1 {}.{:03}", ids.request_id, now.as_secs(), now.subsec_millis());
    LAST.lock().unwrap_or_else(PoisonError::into_inner).insert(series, exemplar);
}

/// Prometheus text as OpenMetrics: families of counters without `_total`, bounds as floating-point numbers, exemplars, the
/// end marked.
pub(super) fn open_metrics(prometheus: &str) -> String {
    let last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let mut out = String::with_capacity(prometheus.len() + 1024);
    for line in prometheus.lines().filter(|line| !line.is_empty()) {
        let mut words = line.splitn(4, ' ');
        if let (Some("#"), Some(kind), Some(name), rest) = (words.next(), words.next(), words.next(), words.next()) {
            let family = name.strip_suffix("_total").unwrap_or(name);
            out.push_str(&format!("# {kind} {family} {}", rest.unwrap_or_default()));
        } else {
            out.push_str(&bound(line));
            let series = line.split_once('}').map(|(series, _)| format!("{series}}}"));
            if let Some(exemplar) = series.and_then(|series| last.get(&series)) {
                out.push(' ');
                out.push_str(exemplar);
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
