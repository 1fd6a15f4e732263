//! W3C Trace Context: what came in, what goes upstream.

use http::{HeaderMap, HeaderName, HeaderValue};

const NAMES: [&str; 3] = ["traceparent", "tracestate", "baggage"];

/// Trace headers that go upstream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Propagation(Vec<(HeaderName, HeaderValue)>);

impl Propagation {
    /// Takes over `traceparent`, `tracestate` and `baggage` where they are well formed; a
    /// `tracestate` without a valid `traceparent` is dropped (W3C Trace Context §3.3).
    pub fn new(traceparent: Option<&str>, tracestate: Option<&str>, baggage: Option<&str>) -> Propagation {
        let parent = traceparent.filter(|text| parse_traceparent(text).is_some());
        let state = tracestate.filter(|_| parent.is_some());
        let texts = [parent, state, baggage];
        let headers = NAMES.iter().zip(texts).filter_map(|(name, text)| {
            let value = HeaderValue::from_str(text?).ok().filter(|value| !value.is_empty())?;
            Some((HeaderName::from_static(name), value))
        });
        Propagation(headers.collect())
    }

    /// True if there is nothing to pass on.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the headers that the request does not have itself.
    pub fn add_to(&self, headers: &mut HeaderMap) {
        for (name, value) in &self.0 {
            headers.entry(name).or_insert_with(|| value.clone());
        }
    }

    /// One of the three headers.
    pub fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(key, _)| key == name)?;
        value.to_str().ok()
    }

    /// The trace id, 32 lower-case hexadecimal digits.
    pub fn trace_id(&self) -> Option<&str> {
        Some(parse_traceparent(self.get("traceparent")?)?.trace_id)
    }
}

/// The parts of a `traceparent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceParent<'a> {
    /// 32 lower-case hexadecimal digits, not all zero.
    pub trace_id: &'a str,
    /// 16 lower-case hexadecimal digits, not all zero.
    pub parent_id: &'a str,
    /// The caller records this trace.
    pub sampled: bool,
}

/// Reads a `traceparent` (W3C Trace Context §3.2); later versions are read by their first four parts.
pub fn parse_traceparent(text: &str) -> Option<TraceParent<'_>> {
    let hex = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    let zero = |text: &str| text.bytes().all(|b| b == b'0');
    let mut parts = text.split('-');
    let (version, trace_id, parent_id, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let well_formed = hex(version, 2)
        && version != "ff"
        && hex(trace_id, 32)
        && !zero(trace_id)
        && hex(parent_id, 16)
        && !zero(parent_id)
        && hex(flags, 2)
        && (version != "00" || parts.next().is_none());
    let flags = u8::from_str_radix(flags, 16).ok()?;
    well_formed.then_some(TraceParent { trace_id, parent_id, sampled: flags & 1 == 1 })
}
