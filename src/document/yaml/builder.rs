//! From YAML events to a tree.

use super::super::problems::Problems;
use super::super::{Limits, parse, pointer};
use super::offsets::Offsets;
use super::scalar::{self, Scalar};
use crate::diagnostic::{Diagnostic, Place, Severity, Source};
use saphyr_parser::{Event, ScalarStyle, Span, Tag};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Whether more events are wanted.
#[derive(PartialEq)]
pub(super) enum Flow {
    More,
    Done,
}

/// Builds the tree of the first document that is not empty.
pub(super) struct Builder<'b> {
    source: &'b Arc<Source>,
    offsets: Offsets<'b>,
    limits: &'b Limits,
    problems: &'b mut Problems,
    stack: Vec<Frame>,
    /// False where the text has no `*`: anchored values need not be kept.
    aliases: bool,
    anchors: HashMap<usize, Anchored>,
    /// Values made so far, copies included.
    nodes: usize,
    root: Option<Value>,
    duplicates: bool,
    /// Where a further document starts.
    further: Option<Span>,
    /// True once a further document was met: nothing after it counts.
    done: bool,
}

/// A value that aliases may repeat.
struct Anchored {
    value: Value,
    weight: usize,
    depth: usize,
}

struct Frame {
    open: Open,
    anchor: usize,
    start: usize,
}

enum Open {
    List(Vec<Value>),
    Map(OpenMap),
}

#[derive(Default)]
struct OpenMap {
    map: Map<String, Value>,
    key: Key,
    /// Keys that so far only a merge brought: an explicit one replaces them without a warning.
    merged: HashSet<String>,
}

#[derive(Default)]
enum Key {
    /// The next value is a key.
    #[default]
    Missing,
    Named(String),
    /// `<<`
    Merge,
    /// A key that can't be one; its value is dropped.
    Unusable,
}

impl<'b> Builder<'b> {
    /// `text` has the places of `source.text`.
    pub(super) fn new(source: &'b Arc<Source>, text: &'b str, limits: &'b Limits, problems: &'b mut Problems) -> Self {
        Builder {
            source,
            offsets: Offsets::new(text),
            limits,
            problems,
            stack: Vec::new(),
            aliases: text.contains('*'),
            anchors: HashMap::new(),
            nodes: 0,
            root: None,
            duplicates: false,
            further: None,
            done: false,
        }
    }

    /// The tree, and whether some map has a key twice; `None` where there was no document.
    pub(super) fn result(self) -> Option<(Value, bool)> {
        self.root.map(|root| (root, self.duplicates))
    }

    /// Byte offset of a character.
    pub(super) fn byte(&self, index: usize) -> usize {
        self.offsets.byte(index)
    }

    /// A mistake ends the text: true if it stands in a further document, which does not count.
    pub(super) fn forgives(&mut self) -> bool {
        let further = self.further.is_some();
        if further {
            self.finish(Value::Bool(true));
        }
        further
    }

    /// Takes the next event; fails where a limit is reached.
    pub(super) fn event(&mut self, event: Event<'_>, span: Span) -> Result<Flow, Diagnostic> {
        match event {
            Event::Scalar(text, style, anchor, tag) => self.scalar(&text, style, anchor, tag.as_deref(), span)?,
            Event::Alias(id) => self.alias(id, span)?,
            Event::SequenceStart(anchor, tag) => {
                self.tag_of_collection(tag.as_deref(), span, "seq");
                self.open(Open::List(Vec::new()), anchor, span)?;
            }
            Event::MappingStart(anchor, tag) => {
                self.tag_of_collection(tag.as_deref(), span, "map");
                self.open(Open::Map(OpenMap::default()), anchor, span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span)?,
            Event::DocumentStart(_) => {
                // Anchors end with their document.
                self.anchors.clear();
                match &self.root {
                    Some(Value::Null) => self.root = None,
                    Some(_) => self.further = Some(span),
                    None => {}
                }
            }
            Event::StreamEnd => return Ok(Flow::Done),
            Event::Nothing | Event::StreamStart | Event::DocumentEnd => {}
        }
        if self.done { Ok(Flow::Done) } else { Ok(Flow::More) }
    }

    fn place(&self, span: Span) -> Place {
        let (start, end) = self.offsets.range(span);
        Place::new(Arc::clone(self.source), start, end, self.pointer())
    }

    /// Where the next value goes.
    fn pointer(&self) -> String {
        let mut out = String::new();
        for frame in &self.stack {
            match &frame.open {
                Open::List(items) => out = pointer::join_index(&out, items.len()),
                Open::Map(OpenMap { key: Key::Named(name), .. }) => out = pointer::join(&out, name),
                Open::Map(OpenMap { key: Key::Merge, .. }) => out = pointer::join(&out, "<<"),
                Open::Map(_) => {}
            }
        }
        out
    }

    /// Where the innermost flow collection that is open starts.
    pub(super) fn open_bracket(&self) -> Option<usize> {
        let bytes = self.source.text.as_bytes();
        let starts = self.stack.iter().rev().map(|frame| self.offsets.byte(frame.start));
        starts.into_iter().find(|at| matches!(bytes.get(*at), Some(b'[' | b'{')))
    }

    fn spend(&mut self, nodes: usize, span: Span) -> Result<(), Diagnostic> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > self.limits.max_nodes { Err(too_many(self.limits).at(self.place(span))) } else { Ok(()) }
    }

    fn open(&mut self, open: Open, anchor: usize, span: Span) -> Result<(), Diagnostic> {
        self.spend(1, span)?;
        if self.stack.len() >= self.limits.max_depth {
            return Err(too_deep(self.limits).at(self.place(span)));
        }
        self.stack.push(Frame { open, anchor, start: span.start.index() });
        Ok(())
    }

    fn close(&mut self, span: Span) -> Result<(), Diagnostic> {
        let Some(frame) = self.stack.pop() else { return Ok(()) };
        let value = match frame.open {
            Open::List(items) => Value::Array(items),
            Open::Map(open) => Value::Object(open.map),
        };
        self.keep(frame.anchor, &value, span)?;
        self.attach(value, span);
        Ok(())
    }

    fn keep(&mut self, anchor: usize, value: &Value, span: Span) -> Result<(), Diagnostic> {
        if anchor == 0 || !self.aliases {
            return Ok(());
        }
        let weight = weight(value);
        self.spend(weight, span)?;
        let anchored = Anchored { value: value.clone(), weight, depth: depth(value) };
        self.anchors.insert(anchor, anchored);
        Ok(())
    }

    fn alias(&mut self, id: usize, span: Span) -> Result<(), Diagnostic> {
        let Some((weight, depth)) = self.anchors.get(&id).map(|anchored| (anchored.weight, anchored.depth)) else {
            let problem = Diagnostic::error("alias-cycle", "this alias stands inside the value that it repeats");
            return Err(problem.at(self.place(span)).fix("use `$ref` for recursion"));
        };
        if self.stack.len() + depth > self.limits.max_depth {
            return Err(too_deep(self.limits).at(self.place(span)));
        }
        if self.nodes.saturating_add(weight) > self.limits.max_nodes {
            let message =
                format!("aliases repeat more than the {} values that a document may have", self.limits.max_nodes);
            return Err(Diagnostic::error("alias-limit", message).at(self.place(span)));
        }
        self.spend(weight, span)?;
        let value = self.anchors.get(&id).map_or(Value::Null, |anchored| anchored.value.clone());
        self.attach(value, span);
        Ok(())
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        span: Span,
    ) -> Result<(), Diagnostic> {
        self.spend(1, span)?;
        if let Some(Frame { open: Open::Map(open), .. }) = self.stack.last_mut()
            && matches!(open.key, Key::Missing)
        {
            let merge = text == "<<" && style == ScalarStyle::Plain && tag.is_none_or(|tag| tag.suffix == "merge");
            open.key = if merge { Key::Merge } else { Key::Named(text.to_owned()) };
            return self.keep(anchor, &Value::String(text.to_owned()), span);
        }
        let value = match tag {
            None if style == ScalarStyle::Plain => self.plain(text, span),
            None => Value::String(text.to_owned()),
            Some(tag) => self.tagged(tag, text, style, span),
        };
        self.keep(anchor, &value, span)?;
        self.attach(value, span);
        Ok(())
    }

    fn plain(&mut self, text: &str, span: Span) -> Value {
        match scalar::resolve(text) {
            Scalar::Value(value) => value,
            Scalar::Inexact(value) => {
                self.say(Severity::Warning, parse::INEXACT, span, || parse::inexact(text));
                value
            }
            Scalar::LeadingZeros(value) => {
                let fix = "quote it to keep the zeros; write 0o for an octal number";
                let words = || (format!("`{text}` is the decimal number {value} in YAML 1.2"), fix);
                self.say(Severity::Note, "leading-zeros", span, words);
                value
            }
            Scalar::NotFinite(value) => {
                let words = || (format!("JSON has no number for `{text}`; it is kept as text"), "quote it");
                self.say(Severity::Note, "number-not-finite", span, words);
                value
            }
        }
    }

    fn say(
        &mut self,
        severity: Severity,
        code: &'static str,
        span: Span,
        words: impl FnOnce() -> (String, &'static str),
    ) {
        if self.problems.count(severity, code, 1) {
            let (message, fix) = words();
            let problem = Diagnostic::new(severity, code, message).at(self.place(span));
            self.problems.keep(if fix.is_empty() { problem } else { problem.fix(fix) });
        }
    }

    fn tagged(&mut self, tag: &Tag, text: &str, style: ScalarStyle, span: Span) -> Value {
        let written = || Value::String(text.to_owned());
        // `!` alone: not resolved, so a string (section 6.9.1).
        if tag.handle.is_empty() && tag.suffix == "!" || tag.handle == "!" && tag.suffix.is_empty() {
            return written();
        }
        if !tag.is_yaml_core_schema() {
            self.unknown_tag(tag, span);
            return if style == ScalarStyle::Plain { self.plain(text, span) } else { written() };
        }
        match tag.suffix.as_str() {
            "str" | "timestamp" | "binary" => return written(),
            "int" | "float" | "bool" | "null" => {}
            _ => {
                self.unknown_tag(tag, span);
                return written();
            }
        }
        let value = self.plain(text, span);
        let fits = match tag.suffix.as_str() {
            "int" => value.is_i64() || value.is_u64() || value.is_f64() && !text.contains(['.', 'e', 'E']),
            "float" => value.is_number(),
            "bool" => value.is_boolean(),
            _ => value.is_null(),
        };
        if fits {
            return match (tag.suffix.as_str(), value.as_f64().and_then(serde_json::Number::from_f64)) {
                ("float", Some(number)) => Value::Number(number),
                _ => value,
            };
        }
        let words = || (format!("`{text}` is no value of the tag `!!{}`; it is kept as text", tag.suffix), "");
        self.say(Severity::Warning, "tag-mismatch", span, words);
        written()
    }

    fn tag_of_collection(&mut self, tag: Option<&Tag>, span: Span, kind: &str) {
        if let Some(tag) = tag
            && !(tag.is_yaml_core_schema() && tag.suffix == kind)
        {
            self.unknown_tag(tag, span);
        }
    }

    fn unknown_tag(&mut self, tag: &Tag, span: Span) {
        self.say(Severity::Note, "unknown-tag", span, || {
            let shown = if tag.is_yaml_core_schema() { format!("!!{}", tag.suffix) } else { tag.to_string() };
            (format!("the tag `{shown}` is ignored"), "")
        });
    }

    /// Puts a finished value where it belongs.
    fn attach(&mut self, value: Value, span: Span) {
        if self.stack.is_empty() {
            self.finish(value);
            return;
        }
        if let Some(Frame { open: Open::Map(open), .. }) = self.stack.last_mut() {
            match std::mem::replace(&mut open.key, Key::Missing) {
                Key::Missing => self.key(value, span),
                Key::Unusable => {}
                Key::Merge => self.merge(value, span),
                Key::Named(name) => {
                    if open.map.contains_key(&name) && !open.merged.remove(&name) {
                        self.duplicates = true;
                    }
                    open.map.insert(name, value);
                }
            }
        } else if let Some(Frame { open: Open::List(items), .. }) = self.stack.last_mut() {
            items.push(value);
        }
    }

    /// A key that is no plain scalar: an alias, a list or a map.
    fn key(&mut self, value: Value, span: Span) {
        let key = match value {
            Value::String(text) => Key::Named(text),
            Value::Array(_) | Value::Object(_) => {
                let message = "a list or map can't be a key; the entry is left out";
                let words = || (message.to_owned(), "quote the text, as in \"{{name}}\"");
                self.say(Severity::Error, "yaml-key", span, words);
                Key::Unusable
            }
            other => Key::Named(other.to_string()),
        };
        if let Some(Frame { open: Open::Map(open), .. }) = self.stack.last_mut() {
            open.key = key;
        }
    }

    fn merge(&mut self, value: Value, span: Span) {
        let maps: Vec<Map<String, Value>> = match value {
            Value::Object(map) => vec![map],
            Value::Array(list) if list.iter().all(Value::is_object) => list
                .into_iter()
                .filter_map(|item| if let Value::Object(map) = item { Some(map) } else { None })
                .collect(),
            other => {
                let message = "`<<` wants a map or a list of maps; it is kept as a key";
                let words = || (message.to_owned(), "write `<<: *anchor`, or quote the key");
                self.say(Severity::Warning, "merge-key", span, words);
                if let Some(Frame { open: Open::Map(open), .. }) = self.stack.last_mut() {
                    open.map.insert("<<".to_owned(), other);
                }
                return;
            }
        };
        let Some(Frame { open: Open::Map(open), .. }) = self.stack.last_mut() else { return };
        for (name, value) in maps.into_iter().flatten() {
            if !open.map.contains_key(&name) {
                open.merged.insert(name.clone());
                open.map.insert(name, value);
            }
        }
    }

    /// Takes the whole of a document.
    fn finish(&mut self, value: Value) {
        if self.root.is_none() {
            self.root = Some(value);
        } else if let (false, Some(span)) = (value.is_null(), self.further) {
            self.stack.clear();
            let message = "the file holds several YAML documents; the first is used";
            let words = || (message.to_owned(), "keep one document in a file");
            self.say(Severity::Warning, "multiple-documents", span, words);
            self.done = true;
        }
    }
}

/// The refusal for too many values.
pub(super) fn too_many(limits: &Limits) -> Diagnostic {
    Diagnostic::error("document-too-large", format!("the document has more than {} values", limits.max_nodes))
}

fn too_deep(limits: &Limits) -> Diagnostic {
    Diagnostic::error("document-too-deep", format!("the document is nested deeper than {} levels", limits.max_depth))
}

/// What a copy of a value costs, in values: each counts one, and one more for every 64 bytes of text.
fn weight(value: &Value) -> usize {
    let text = |text: &str| text.len() / 64;
    1 + match value {
        Value::String(written) => text(written),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(map) => map.iter().map(|(key, value)| text(key) + weight(value)).sum(),
        _ => 0,
    }
}

/// Levels of nesting below a value, itself not counted for scalars. Values here are at most
/// `max_depth` deep, so is the recursion.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
