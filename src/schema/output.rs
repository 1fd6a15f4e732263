//! What is published as `outputSchema`.
//!
//! Documents promise more than APIs keep, and clients check `structuredContent` too. The relaxed form
//! therefore accepts everything that the declared schema accepts, and beyond it missing, extra and null
//! members and values outside enums, formats and bounds; it still names the members and their types.

use super::kept::size;
use super::keyword::each_reference;
use super::kinds::{Kinds, allowed};
use super::walk::{self, Root};
use crate::pace;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// The declared schema, without unused definitions. A root that is nothing but a reference says itself what it is.
pub fn strict(schema: &Value) -> Value {
    const ANNOTATIONS: [&str; 6] = ["$defs", "title", "description", "examples", "default", "deprecated"];
    let mut out = schema.clone();
    for _ in 0..32 {
        let Some(root) = out.as_object() else { break };
        let plain = root.keys().all(|key| key == "$ref" || ANNOTATIONS.contains(&key.as_str()));
        let target = root.get("$ref").and_then(Value::as_str).and_then(|reference| walk::target(schema, reference));
        let Some(Value::Object(target)) = target.filter(|_| plain).cloned() else { break };
        if let Some(root) = out.as_object_mut() {
            root.shift_remove("$ref");
            for (keyword, value) in target {
                root.entry(keyword).or_insert(value);
            }
        }
    }
    walk::drop_unused(&mut out);
    out
}

/// The relaxed form of a self-contained schema. Keeps `type` (and `null` beside it), `properties`, `items`,
/// schemas of additional members, descriptions and references; `allOf` is merged, `oneOf` becomes `anyOf`.
/// A root that only objects satisfy stays `type: object`, without null.
pub fn relaxed(schema: &Value) -> Value {
    relaxed_within(schema, usize::MAX)
}

/// As [`relaxed`], with at most about `most` bytes of definitions: those nearest to the root come first, and
/// references to the others become their type alone, which accepts more. Costs as much as what is kept.
pub fn relaxed_within(schema: &Value, most: usize) -> Value {
    within(schema, schema, most, &mut Relaxed::default())
}

/// Relaxed definitions of one source, each made once.
#[derive(Debug, Default)]
pub struct Relaxed(HashMap<String, Part>);

#[derive(Debug)]
struct Part {
    schema: Value,
    /// Bytes of its text.
    size: usize,
    /// What it refers to.
    names: Vec<String>,
}

/// Freed beside calls, one by one.
impl Drop for Part {
    fn drop(&mut self) {
        pace::breathe();
    }
}

/// As [`relaxed_within`] for a schema whose references are looked up in `root`. `made` holds what earlier
/// calls with the same root made.
pub fn within<R: Root + ?Sized>(root: &R, schema: &Value, most: usize, made: &mut Relaxed) -> Value {
    let mut relaxer = Relaxer { root, inlined: Vec::new(), left: MOST_INLINED };
    let mut out = object(relaxer.relax(schema, 0, true));
    // Alternatives that come down to one reference: the root says itself what it is.
    for _ in 0..32 {
        let target = out.get("$ref").and_then(Value::as_str).and_then(|reference| root.target(reference));
        let Some(target) = target else { break };
        out = object(relaxer.relax(target, 0, true));
    }
    out.shift_remove("$ref");
    if allowed(root, schema) == Kinds::OBJECT {
        out.shift_remove("type");
        out.shift_insert(0, "type".to_string(), Value::from("object"));
    }
    let mut out = Value::Object(out);
    let mut kept = Map::new();
    let mut cut: HashMap<String, Value> = HashMap::new();
    let mut open: VecDeque<String> = names(&out).into();
    let (mut left, mut misses) = (most, 0);
    while let Some(name) = open.pop_front() {
        if kept.contains_key(&name) || cut.contains_key(&name) {
            continue;
        }
        let Some(definition) = root.definition(&name) else { continue };
        let part = (left > 0).then(|| {
            made.0.entry(name.clone()).or_insert_with(|| {
                let schema = relaxer.relax(definition, 0, false);
                let size = if most == usize::MAX { 0 } else { size(&schema) };
                Part { names: names(&schema), size, schema }
            })
        });
        match part.filter(|part| part.size < left) {
            Some(part) => {
                left -= part.size;
                open.extend(part.names.iter().cloned());
                kept.insert(name, part.schema.clone());
            }
            None => {
                // Few of the others would fit; trying them all costs as much as keeping them.
                misses += 1;
                left = if misses > 8 { 0 } else { left };
                cut.insert(name, bare_type(allowed(root, definition) | Kinds::NULL));
            }
        }
    }
    if let (Some(out), false) = (out.as_object_mut(), kept.is_empty()) {
        out.insert("$defs".to_string(), Value::Object(kept));
    }
    if !cut.is_empty() {
        cut_references(&mut out, &cut);
        walk::drop_unused(&mut out);
    }
    out
}

/// Names of the definitions that a schema refers to, in order.
fn names(schema: &Value) -> Vec<String> {
    let mut names = Vec::new();
    each_reference(schema, &mut |reference| names.extend(walk::definition_name(reference).map(Cow::into_owned)));
    names
}

fn bare_type(kinds: Kinds) -> Value {
    if kinds == Kinds::ALL { json!({}) } else { json!({ "type": kinds.names() }) }
}

/// The value of `type`.
fn written(kinds: Kinds) -> Value {
    match kinds.names().as_slice() {
        [single] => Value::from(*single),
        several => Value::Array(several.iter().map(|name| Value::from(*name)).collect()),
    }
}

fn cut_references(schema: &mut Value, cut: &HashMap<String, Value>) {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(walk::definition_name);
    if let Some(Value::Object(bare)) = name.and_then(|name| cut.get(name.as_ref()))
        && let Some(members) = schema.as_object_mut()
    {
        members.shift_remove("$ref");
        for (keyword, value) in bare {
            members.insert(keyword.clone(), value.clone());
        }
    }
    walk::each_child_mut(schema, &mut |child| cut_references(child, cut));
}

fn object(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// True if a schema can be published to clients of revisions up to 2025-11-25, whose `outputSchema` is
/// an object schema; any other is wrapped by [`wrap_for_object_root`].
pub fn has_object_root(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}

/// `{"type":"object","properties":{"result":…},"required":["result"]}` around a schema; `$defs` stay at
/// the root and references to the old root follow it.
pub fn wrap_for_object_root(schema: &Value) -> Value {
    let mut inner = schema.clone();
    let definitions = inner.as_object_mut().and_then(|members| members.shift_remove("$defs"));
    let mut wrapped = json!({ "type": "object", "properties": { "result": inner }, "required": ["result"] });
    if let (Some(members), Some(definitions)) = (wrapped.as_object_mut(), definitions) {
        members.insert("$defs".to_string(), definitions);
    }
    move_references(&mut wrapped);
    wrapped
}

fn move_references(schema: &mut Value) {
    if let Some(reference) = schema.get_mut("$ref")
        && let Some(text) = reference.as_str()
        && let Some(rest) = text.strip_prefix('#')
        && (rest.is_empty() || (rest.starts_with('/') && !rest.starts_with("/$defs/")))
    {
        *reference = Value::from(format!("#/properties/result{rest}"));
    }
    walk::each_child_mut(schema, &mut move_references);
}

/// Deepest nesting of combinators and subschemas that is followed.
const DEEPEST: usize = 100;
/// References that are merged into their place, a schema; further ones are left out there.
const MOST_INLINED: usize = 20_000;

/// The keywords that matter here, found in one walk.
#[derive(Default)]
struct Keywords<'r> {
    reference: Option<&'r Value>,
    kind: Option<&'r Value>,
    constant: Option<&'r Value>,
    values: Option<&'r Value>,
    description: Option<&'r Value>,
    properties: Option<&'r Value>,
    pattern_properties: Option<&'r Value>,
    additional_properties: Option<&'r Value>,
    items: Option<&'r Value>,
    prefix_items: Option<&'r Value>,
    all_of: Option<&'r Value>,
    any_of: Option<&'r Value>,
    one_of: Option<&'r Value>,
}

impl<'r> Keywords<'r> {
    fn of(schema: &'r Map<String, Value>) -> Self {
        let mut found = Keywords::default();
        for (keyword, value) in schema {
            let place = match keyword.as_str() {
                "$ref" => &mut found.reference,
                "type" => &mut found.kind,
                "const" => &mut found.constant,
                "enum" => &mut found.values,
                "description" => &mut found.description,
                "properties" => &mut found.properties,
                "patternProperties" => &mut found.pattern_properties,
                "additionalProperties" => &mut found.additional_properties,
                "items" => &mut found.items,
                "prefixItems" => &mut found.prefix_items,
                "allOf" => &mut found.all_of,
                "anyOf" => &mut found.any_of,
                "oneOf" => &mut found.one_of,
                _ => continue,
            };
            *place = Some(value);
        }
        found
    }

    /// How many of those are there that say what a value looks like.
    fn structural(&self) -> usize {
        let looks = [
            self.kind,
            self.properties,
            self.items,
            self.additional_properties,
            self.all_of,
            self.any_of,
            self.one_of,
            self.values,
            self.constant,
        ];
        looks.iter().flatten().count()
    }

    /// What `type`, `enum` and `const` allow, null included.
    fn own_kinds(&self) -> Kinds {
        let declared = Kinds::declared(self.kind);
        let mut kinds = declared;
        if let Some(value) = self.constant {
            kinds = kinds & Kinds::of(value);
        }
        if let Some(values) = self.values.and_then(Value::as_array) {
            kinds = kinds & values.iter().map(Kinds::of).fold(Kinds::NONE, |all, kind| all | kind);
        }
        // `type: number` with whole values in its enum stays `number`.
        if kinds.meets(Kinds::NUMBER) && declared.meets(Kinds::FRACTION) {
            kinds = kinds | Kinds::NUMBER;
        }
        if kinds == Kinds::ALL { kinds } else { kinds | Kinds::NULL }
    }
}

struct Relaxer<'r, R: Root + ?Sized> {
    root: &'r R,
    /// References whose targets are being merged: a definition is never merged into itself.
    inlined: Vec<&'r str>,
    left: usize,
}

/// A schema on its way: what holds for sure, and one set of alternatives.
#[derive(Default)]
struct Merged {
    kinds: Option<Kinds>,
    properties: Map<String, Value>,
    items: Option<Value>,
    extra: Option<Value>,
    alternatives: Option<Vec<Value>>,
    description: Option<String>,
}

impl<'r, R: Root + ?Sized> Relaxer<'r, R> {
    /// Relaxes one schema; with `inline`, a reference is replaced by what it refers to.
    fn relax(&mut self, schema: &'r Value, depth: usize, inline: bool) -> Value {
        pace::breathe();
        let Some(members) = schema.as_object() else { return json!({}) };
        if depth > DEEPEST {
            return json!({});
        }
        let keywords = Keywords::of(members);
        if !inline && let Some(reference) = self.plain_reference(&keywords) {
            let mut out = Map::new();
            out.insert("$ref".to_string(), Value::from(reference));
            if let Some(text) = keywords.description {
                out.insert("description".to_string(), text.clone());
            }
            return Value::Object(out);
        }
        let mut merged = Merged::default();
        self.merge(&keywords, &mut merged, depth);
        write(merged)
    }

    /// The reference that a schema is nothing but.
    fn plain_reference(&self, schema: &Keywords<'r>) -> Option<&'r str> {
        let rest = schema.structural();
        if let Some(reference) = schema.reference.and_then(Value::as_str) {
            return Some(reference).filter(|reference| rest == 0 && self.root.target(reference).is_some());
        }
        let parts = [schema.all_of, schema.any_of, schema.one_of].into_iter().find_map(|parts| parts?.as_array())?;
        let mut parts = parts.iter().filter(|part| !only_null(self.root, part));
        match (parts.next(), parts.next(), rest) {
            (Some(only), None, 1) => self.plain_reference(&Keywords::of(only.as_object()?)),
            _ => None,
        }
    }

    fn merge_part(&mut self, part: &'r Value, out: &mut Merged, depth: usize) {
        if let Some(members) = part.as_object() {
            self.merge(&Keywords::of(members), out, depth);
        }
    }

    fn merge(&mut self, schema: &Keywords<'r>, out: &mut Merged, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        if out.description.is_none() {
            out.description = schema.description.and_then(Value::as_str).map(str::to_string);
        }
        let kinds = schema.own_kinds();
        if kinds != Kinds::ALL {
            let both = out.kinds.map_or(kinds, |before| before & kinds);
            // Parts that contradict each other allow nothing; the first one is kept then.
            if both.without(Kinds::NULL) != Kinds::NONE || out.kinds.is_none() {
                out.kinds = Some(both);
            }
        }
        for (name, property) in schema.properties.and_then(Value::as_object).into_iter().flatten() {
            let property = self.relax(property, depth + 1, false);
            let says_something = property.as_object().is_some_and(|members| !members.is_empty());
            if says_something || !out.properties.contains_key(name) {
                out.properties.insert(name.clone(), property);
            }
        }
        if let (Some(items @ Value::Object(_)), None) = (schema.items, schema.prefix_items) {
            out.items = Some(self.relax(items, depth + 1, false)).filter(|items| *items != json!({}));
        }
        if let (Some(extra @ Value::Object(_)), None) = (schema.additional_properties, schema.pattern_properties) {
            out.extra = Some(self.relax(extra, depth + 1, false)).filter(|extra| *extra != json!({}));
        }
        if let Some(reference) = schema.reference.and_then(Value::as_str)
            && self.left > 0
            && !self.inlined.contains(&reference)
            && let Some(target) = self.root.target(reference)
        {
            self.left -= 1;
            self.inlined.push(reference);
            self.merge_part(target, out, depth + 1);
            self.inlined.pop();
        }
        for part in schema.all_of.and_then(Value::as_array).into_iter().flatten() {
            self.merge_part(part, out, depth + 1);
        }
        for branches in [schema.one_of, schema.any_of].into_iter().flatten().filter_map(Value::as_array) {
            self.alternatives(branches, out, depth);
        }
    }

    fn alternatives(&mut self, branches: &'r [Value], out: &mut Merged, depth: usize) {
        // Everything relaxed is nullable: an alternative for null adds nothing.
        let root = self.root;
        let mut some = branches.iter().filter(|branch| !only_null(root, branch));
        let (first, second) = (some.next(), some.next());
        match (first, second) {
            (Some(only), None) => self.merge_part(only, out, depth + 1),
            // A second set of alternatives is left out: the result accepts more, never less.
            (Some(first), Some(second)) if out.alternatives.is_none() => {
                let mut relaxed: Vec<Value> = Vec::new();
                for branch in [first, second].into_iter().chain(some) {
                    let branch = self.relax(branch, depth + 1, false);
                    if !relaxed.contains(&branch) {
                        relaxed.push(branch);
                    }
                }
                let any = relaxed
                    .iter()
                    .any(|branch| branch.as_object().is_none_or(|m| m.keys().all(|k| k == "description")));
                if !any {
                    out.alternatives = Some(relaxed);
                }
            }
            _ => {}
        }
    }
}

/// True for an alternative that only null satisfies, if any.
fn only_null<R: Root + ?Sized>(root: &R, schema: &Value) -> bool {
    match schema.get("type") {
        // What nearly every alternative says at once.
        Some(Value::String(name)) if name != "null" => schema.get("enum").is_some() && null_at_most(root, schema),
        Some(Value::String(_)) => true,
        _ => null_at_most(root, schema),
    }
}

fn null_at_most<R: Root + ?Sized>(root: &R, schema: &Value) -> bool {
    allowed(root, schema).without(Kinds::NULL) == Kinds::NONE
}

fn write(merged: Merged) -> Value {
    let mut out = Map::new();
    let mut kinds = merged.kinds;
    let mut alternatives = merged.alternatives.unwrap_or_default();
    // One alternative is no choice.
    if let (Some(single), true) = (alternatives.first().cloned(), alternatives.len() == 1) {
        let bare = kinds.is_none() && merged.properties.is_empty() && merged.items.is_none() && merged.extra.is_none();
        if let (true, Value::Object(mut single)) = (bare, single) {
            if let Some(text) = merged.description {
                single.insert("description".to_string(), Value::from(text));
            }
            return Value::Object(single);
        }
    }
    // Alternatives of bare types are one `type`.
    if !alternatives.is_empty() && alternatives.iter().all(is_bare_type) {
        let any = alternatives.iter().map(|a| Kinds::declared(a.get("type"))).fold(Kinds::NONE, |all, kind| all | kind);
        let both = kinds.map_or(any, |kinds| kinds & any);
        kinds = Some(both).filter(|both| both.without(Kinds::NULL) != Kinds::NONE).or(kinds);
        alternatives.clear();
    }
    if let Some(kinds) = kinds {
        out.insert("type".to_string(), written(kinds));
    }
    if let Some(text) = merged.description {
        out.insert("description".to_string(), Value::from(text));
    }
    if !merged.properties.is_empty() {
        out.insert("properties".to_string(), Value::Object(merged.properties));
    }
    if let Some(items) = merged.items {
        out.insert("items".to_string(), items);
    }
    if let Some(extra) = merged.extra {
        out.insert("additionalProperties".to_string(), extra);
    }
    if !alternatives.is_empty() {
        out.insert("anyOf".to_string(), Value::Array(alternatives));
    }
    Value::Object(out)
}

fn is_bare_type(schema: &Value) -> bool {
    schema.as_object().is_some_and(|m| m.contains_key("type") && m.keys().all(|k| k == "type" || k == "description"))
}
