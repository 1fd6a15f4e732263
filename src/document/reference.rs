//! The references in a document: where they may stand, and which other documents they name.

use super::parse::looks_like_json;
use super::{Document, location, pointer};
use crate::pace;
use serde_json::{Map, Value};

/// Members whose value maps names that the author chose to objects: a key below them says nothing
/// about what its value is. (`default` under `responses` is a response, not a default.)
const NAME_MAPS: [&str; 30] = [
    "$defs",
    "additionalOperations",
    "callbacks",
    "content",
    "definitions",
    "dependentSchemas",
    "encoding",
    "headers",
    "links",
    "mapping",
    "mediaTypes",
    "parameters",
    "pathItems",
    "paths",
    "patternProperties",
    "properties",
    "requestBodies",
    "responses",
    "schemas",
    "scopes",
    "securityDefinitions",
    "securitySchemes",
    "variables",
    "webhooks",
    "x-callbacks",
    "x-definitions",
    "x-ms-parameterized-host",
    "x-ms-paths",
    "x-schemas",
    "x-webhooks",
];

/// Members whose value is data of the API, not part of its description.
const DATA: [&str; 6] = ["example", "default", "enum", "const", "x-example", "x-examples"];

/// Every document that this one refers to: its absolute location (see [`location::resolve`]) and the
/// JSON pointer of the `$ref` (or `discriminator.mapping` entry) that names it, in document order,
/// repeated as often as it is referred to.
///
/// A `$ref` counts where its value is a string and it does not stand in an example, default, enum or
/// const, nor (unless something refers there) in an `x-` extension. A schema property that is called
/// `$ref` has an object as value and does not count.
pub fn external_references(document: &Document) -> Vec<(String, String)> {
    if stays_inside(&document.source.text) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut add = |reference: &str, at: &dyn Fn() -> String| {
        let (file, _) = location::split(reference);
        if file.is_empty() {
            return;
        }
        if let Some(target) = location::resolve(&document.location, file)
            && target != document.location
        {
            found.push((target, at()));
        }
    };
    walk(document, &mut |object, at| {
        if let Some(Value::String(reference)) = object.get("$ref") {
            add(reference, &|| pointer::join(&at.pointer(), "$ref"));
        }
        let mapping = object.get("discriminator").and_then(|discriminator| discriminator.get("mapping"));
        for (name, target) in mapping.and_then(Value::as_object).into_iter().flatten() {
            if let Value::String(target) = target
                && names_file(target)
            {
                add(target, &|| pointer::join(&format!("{}/discriminator/mapping", at.pointer()), name));
            }
        }
    });
    found
}

/// True if no reference of the text can lead out of it, by a look at the text alone: most documents are one file, and
/// their trees are large. False where that would take a closer look.
fn stays_inside(text: &str) -> bool {
    let all = |word: &str, stays: &dyn Fn(&str) -> bool| {
        let mut found = occurrences(text.as_bytes(), word);
        found.all(|at| text.get(at + word.len()..).is_some_and(stays))
    };
    !spells_letters(text) && all("mapping", &maps_inside) && all("$ref", &leads_inside)
}

/// True if what follows `mapping` is no member's value, or a plain JSON object of nothing but references that begin with `#`.
fn maps_inside(behind: &str) -> bool {
    let Some(value) = after_name(behind) else { return true };
    let entries = value.strip_prefix('{').and_then(|rest| rest.split_once('}')).map(|(entries, _)| entries);
    let inside = |entry: &str| {
        let name = entry.trim_start().strip_prefix('"').and_then(|rest| rest.split_once('"'));
        name.and_then(|(_, rest)| after_name(rest)).is_some_and(|value| value.starts_with("\"#"))
    };
    entries.is_some_and(|entries| entries.split(',').all(inside))
}

/// True if what follows `$ref` is a quoted value that begins with `#`. (Without quotes that is a comment in YAML.)
fn leads_inside(behind: &str) -> bool {
    let value = after_name(behind);
    value.is_some_and(|value| value.starts_with("\"#") || value.starts_with("'#"))
}

/// The value whose member name ends where `behind` begins; `None` if that is no member name.
fn after_name(behind: &str) -> Option<&str> {
    let space = [' ', '\t', '\r', '\n'];
    let name_ended = behind.strip_prefix(['"', '\'']).unwrap_or(behind).trim_start_matches(space);
    name_ended.strip_prefix(':').map(|rest| rest.trim_start_matches(space))
}

/// True if the text may hold a member whose name ends so; false for words in its descriptions.
pub(super) fn names_member(text: &str, name: &str) -> bool {
    occurrences(text.as_bytes(), name)
        .any(|at| text.get(at + name.len()..).is_some_and(|behind| after_name(behind).is_some()))
}

/// True if the text may spell `$` or a letter as an escape (RFC 8259 §7, YAML 1.2 §5.7), which hides names from a search.
fn spells_letters(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut escapes = occurrences(bytes, "\\u00");
    let spelled = |at: usize| matches!(bytes.get(at + 4..at + 6), Some(b"24" | [b'6' | b'7', _]) | None);
    // JSON knows no others.
    escapes.any(spelled) || !looks_like_json(text) && (mentions(text, "\\x") || mentions(text, "\\U0"))
}

/// A `discriminator.mapping` value is a schema name or a URI reference; which one only its look tells.
fn names_file(target: &str) -> bool {
    let (file, _) = location::split(target);
    let lower = file.to_ascii_lowercase();
    file.contains('/') || [".json", ".yaml", ".yml"].iter().any(|end| lower.ends_with(end))
}

/// True if the text holds the word: of megabytes, many times quicker than the standard library's search.
pub(crate) fn mentions(text: &str, word: &str) -> bool {
    occurrences(text.as_bytes(), word).next().is_some()
}

/// Where a word stands that can't overlap itself, in steps ([`pace`]).
fn occurrences<'t>(text: &'t [u8], word: &'t str) -> impl Iterator<Item = usize> + 't {
    const STEP: usize = 1 << 18;
    (0..text.len()).step_by(STEP).flat_map(move |start| {
        pace::breathe();
        // A word that begins in a step may end in the next.
        let end = (start + STEP + word.len() - 1).min(text.len());
        memchr::memmem::find_iter(text.get(start..end).unwrap_or_default(), word).map(move |at| start + at)
    })
}

/// Where a visited object stands; written out only for those who ask.
#[derive(Default)]
pub(super) struct Place<'d>(Vec<Token<'d>>);

enum Token<'d> {
    Member(&'d str),
    Item(usize),
}

impl Place<'_> {
    /// The JSON pointer (RFC 6901).
    pub(super) fn pointer(&self) -> String {
        self.0.iter().fold(String::new(), |at, token| match token {
            Token::Member(name) => pointer::join(&at, name),
            Token::Item(number) => pointer::join_index(&at, *number),
        })
    }
}

/// Visits every object of a document that is part of the description (not data), with its place.
pub(super) fn walk<'d>(document: &'d Document, visit: &mut dyn FnMut(&'d Map<String, Value>, &Place<'d>)) {
    let root = &document.root;
    let text = &document.source.text;
    let whole = ["openapi", "swagger"].iter().any(|key| root.get(key).is_some());
    let mut walker =
        Walker { visit, at: Place::default(), extensions: mentions(text, "#/x-") || mentions(text, "#/components/x-") };
    if whole {
        walker.node(root, false);
        return;
    }
    // A fragment file: one object of unknown kind, or a map of names.
    let names = root.as_object().is_some_and(|map| {
        map.values().all(|value| value.is_object() || value.is_string())
            && map.values().any(Value::is_object)
            && !map.keys().any(|key| NAME_MAPS.contains(&key.as_str()) || key == "type" || key == "schema")
    });
    walker.extensions = true;
    walker.node(root, names);
}

struct Walker<'w, 'd> {
    visit: &'w mut dyn FnMut(&'d Map<String, Value>, &Place<'d>),
    at: Place<'d>,
    extensions: bool,
}

impl<'d> Walker<'_, 'd> {
    /// Documents have bounded depth, so has the recursion.
    fn node(&mut self, node: &'d Value, names: bool) {
        match node {
            Value::Object(map) => {
                (self.visit)(map, &self.at);
                for (key, value) in map {
                    if names {
                        self.below(Token::Member(key), value, false);
                    } else {
                        self.member(key, value);
                    }
                }
            }
            Value::Array(items) => {
                for (n, item) in items.iter().enumerate() {
                    self.below(Token::Item(n), item, false);
                }
            }
            _ => {}
        }
    }

    fn member(&mut self, key: &'d str, value: &'d Value) {
        let names = NAME_MAPS.contains(&key);
        if DATA.contains(&key) || !(self.extensions || names) && key.starts_with("x-") {
            return;
        }
        if key == "examples" {
            self.examples(value);
        } else {
            self.below(Token::Member(key), value, names);
        }
    }

    /// `examples`: Example Objects may be references, their `value`s are data; a list (JSON Schema) is data.
    fn examples(&mut self, value: &'d Value) {
        self.at.0.push(Token::Member("examples"));
        for (name, example) in value.as_object().into_iter().flatten() {
            if let Value::Object(example) = example
                && example.len() <= 3
                && example.contains_key("$ref")
            {
                self.at.0.push(Token::Member(name));
                (self.visit)(example, &self.at);
                self.at.0.pop();
            }
        }
        self.at.0.pop();
    }

    fn below(&mut self, token: Token<'d>, value: &'d Value, names: bool) {
        if !(value.is_object() || value.is_array()) {
            return;
        }
        self.at.0.push(token);
        self.node(value, names);
        self.at.0.pop();
    }
}
