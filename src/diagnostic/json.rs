//! Problems for programs.

use super::place::{Lines, Position};
use super::{Diagnostic, Report, Source};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Line starts of every source met so far, so that many problems in one large file stay cheap.
#[derive(Default)]
pub(super) struct LineCache {
    known: HashMap<*const Source, Lines>,
}

impl LineCache {
    /// The lines of this source.
    pub(super) fn lines(&mut self, source: &std::sync::Arc<Source>) -> &Lines {
        self.known.entry(std::sync::Arc::as_ptr(source)).or_insert_with(|| Lines::new(&source.text))
    }
}

impl Diagnostic {
    /// An object with `code`, `severity`, `message`, and where known `file`, `line`, `column`,
    /// `end` (`line`, `column`; exclusive), `pointer` (RFC 6901) and `fix`.
    pub fn to_json(&self) -> Value {
        to_json(self, &mut LineCache::default())
    }
}

impl Report {
    /// All problems as a JSON array, see [`Diagnostic::to_json`].
    pub fn to_json(&self) -> Value {
        let mut cache = LineCache::default();
        self.diagnostics.iter().map(|diagnostic| to_json(diagnostic, &mut cache)).collect()
    }
}

fn to_json(diagnostic: &Diagnostic, cache: &mut LineCache) -> Value {
    let mut object = serde_json::Map::new();
    object.insert("code".into(), diagnostic.code.into());
    object.insert("severity".into(), diagnostic.severity.label().into());
    object.insert("message".into(), diagnostic.message.as_str().into());
    if let Some(place) = &diagnostic.place {
        let lines = cache.lines(&place.source);
        let Position { line, column } = lines.position(&place.source.text, place.start);
        let end = lines.position(&place.source.text, place.end);
        object.insert("file".into(), place.source.name.as_str().into());
        object.insert("line".into(), line.into());
        object.insert("column".into(), column.into());
        object.insert("end".into(), json!({ "line": end.line, "column": end.column }));
        object.insert("pointer".into(), place.pointer.as_str().into());
    }
    if let Some(fix) = &diagnostic.fix {
        object.insert("fix".into(), fix.as_str().into());
    }
    Value::Object(object)
}
