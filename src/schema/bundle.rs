//! Makes schemas self-contained: only the definitions in use go along, under `$defs`; recursion and
//! sharing stay references; what does not travel in the given direction is left out.

use super::keyword::{Holds, definition_name, each_reference, holds};
use super::walk::{self, Root};
use super::{Definition, DefinitionId, Definitions, Direction, Schema};
use crate::pace;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How many schemas are looked at for the `readOnly`/`writeOnly` marks of one property or object.
pub(super) const MARK_LOOKS: usize = 64;

impl Direction {
    /// The mark of properties that do not travel this way.
    pub fn absent_mark(self) -> &'static str {
        match self {
            Direction::Input => "readOnly",
            Direction::Output => "writeOnly",
        }
    }
}

/// The definitions of a source as they are in one direction, found by name.
pub struct Directed<'d> {
    definitions: &'d Definitions,
    direction: Direction,
    places: HashMap<&'d str, DefinitionId>,
}

impl Root for Directed<'_> {
    fn target(&self, reference: &str) -> Option<&Value> {
        self.definition(&walk::definition_name(reference)?)
    }

    fn definition(&self, name: &str) -> Option<&Value> {
        let definition = self.definitions.list.get(*self.places.get(name)?)?;
        Some(&self.definitions.directed_definition(definition, self.direction).json)
    }
}

impl Definitions {
    /// A table for looking up what schemas of this source refer to.
    pub fn table(&self, direction: Direction) -> Directed<'_> {
        let places = self.list.iter().enumerate().map(|(id, definition)| (definition.name.as_str(), id)).collect();
        Directed { definitions: self, direction, places }
    }

    /// The definition behind a reference that stands in a schema with these `uses`.
    pub fn target(&self, uses: &[DefinitionId], reference: &str) -> Option<(DefinitionId, &Definition)> {
        let name = definition_name(reference)?;
        uses.iter().find_map(|&id| self.list.get(id).filter(|it| it.name == name).map(|it| (id, it)))
    }

    /// `ids` and everything they refer to, without repeats, in order of appearance.
    pub fn closure(&self, ids: &[DefinitionId]) -> Vec<DefinitionId> {
        self.closure_by(ids, |it| &it.schema)
    }

    /// `schema` as one self-contained JSON Schema 2020-12 document.
    pub fn bundle(&self, schema: &Schema, direction: Direction) -> Value {
        let (mut roots, definitions) = self.bundle_parts(std::iter::once(schema), direction);
        self_contained(roots.pop().unwrap_or(Value::Bool(true)), definitions)
    }

    /// Like [`Definitions::bundle`] with the `xml` marks kept, for encoding XML.
    pub fn bundle_for_xml(&self, schema: &Schema, direction: Direction) -> Value {
        let keep = Strip { definitions: self, direction, xml: false };
        let list = self.closure(&schema.uses).into_iter().filter_map(|id| self.list.get(id));
        let definitions = list.map(|it| (it.name.clone(), keep.schema(&it.schema.json, &it.schema.uses))).collect();
        self_contained(keep.schema(&schema.json, &schema.uses), definitions)
    }

    /// Several schemas that will share one document: the schemas, in order, and the `$defs` they
    /// need together. References in them stay `#/$defs/NAME`.
    pub fn bundle_parts<'s>(
        &self,
        parts: impl Iterator<Item = &'s Schema>,
        direction: Direction,
    ) -> (Vec<Value>, Map<String, Value>) {
        let directed: Vec<Schema> = parts.map(|part| self.directed(part, direction)).collect();
        let ids: Vec<DefinitionId> = directed.iter().flat_map(|it| it.uses.iter().copied()).collect();
        let mut definitions = Map::new();
        for id in self.closure_by(&ids, |it| self.directed_definition(it, direction)) {
            if let Some(definition) = self.list.get(id) {
                let json = &self.directed_definition(definition, direction).json;
                definitions.insert(definition.name.clone(), Value::clone(json));
            }
        }
        let values = directed.into_iter().map(|it| Arc::try_unwrap(it.json).unwrap_or_else(|json| Value::clone(&json)));
        (values.collect(), definitions)
    }

    /// `schema` with a reference at its root (alone, or as the only member of `allOf`) replaced by
    /// what it refers to; annotations beside the reference win. Nested references stay.
    pub fn resolve(&self, schema: &Schema) -> Schema {
        let mut now = schema.clone();
        let mut seen = Vec::new();
        while let Some((id, next)) = self.step(&now, &seen) {
            seen.push(id);
            now = next;
        }
        now
    }

    /// [`Definitions::resolve`], then [`Definitions::bundle`].
    pub fn inline(&self, schema: &Schema, direction: Direction) -> Value {
        self.bundle(&self.resolve(schema), direction)
    }

    /// `schema` without the properties that do not travel in `direction` and without `xml`; its
    /// references stay.
    pub fn directed(&self, schema: &Schema, direction: Direction) -> Schema {
        let strip = Strip { definitions: self, direction, xml: true };
        if !strip.changes(&schema.json, &schema.uses) {
            return schema.clone();
        }
        let json = strip.schema(&schema.json, &schema.uses);
        self.part(json, &schema.uses)
    }

    /// A schema cut out of one with these `uses`.
    pub fn part(&self, json: Value, uses: &[DefinitionId]) -> Schema {
        let mut own = Vec::new();
        each_reference(&json, &mut |reference| {
            if let Some((id, _)) = self.target(uses, reference)
                && !own.contains(&id)
            {
                own.push(id);
            }
        });
        Schema { json: Arc::new(json), uses: Arc::from(own) }
    }

    fn directed_definition<'a>(&'a self, definition: &'a Definition, direction: Direction) -> &'a Schema {
        let cell = match direction {
            Direction::Input => &definition.for_input,
            Direction::Output => &definition.for_output,
        };
        cell.get_or_init(|| self.directed(&definition.schema, direction))
    }

    fn closure_by<'a>(&'a self, ids: &[DefinitionId], of: impl Fn(&'a Definition) -> &'a Schema) -> Vec<DefinitionId> {
        let mut found: Vec<DefinitionId> = Vec::new();
        let mut seen = HashSet::new();
        let mut open: Vec<DefinitionId> = ids.iter().rev().copied().collect();
        while let Some(id) = open.pop() {
            let Some(definition) = self.list.get(id) else { continue };
            if seen.insert(id) {
                found.push(id);
                open.extend(of(definition).uses.iter().rev().copied());
            }
        }
        found
    }

    fn step(&self, schema: &Schema, seen: &[DefinitionId]) -> Option<(DefinitionId, Schema)> {
        let object = schema.json.as_object()?;
        let (reference, siblings) = match object.get("$ref").and_then(Value::as_str) {
            Some(reference) => (reference, "$ref"),
            None => {
                let [only] = object.get("allOf")?.as_array()?.as_slice() else { return None };
                let member = only.as_object().filter(|it| it.len() == 1)?;
                (member.get("$ref")?.as_str()?, "allOf")
            }
        };
        let annotated = |key: &String| key == siblings || super::keyword::is_annotation(key);
        if !object.keys().all(annotated) {
            return None;
        }
        let (id, definition) = self.target(&schema.uses, reference).filter(|(id, _)| !seen.contains(id))?;
        let extra = object.iter().filter(|(key, _)| *key != siblings);
        let anchored = definition.schema.json.get("$anchor").is_some();
        if extra.clone().next().is_none() && !anchored {
            return Some((id, definition.schema.clone()));
        }
        let mut merged = definition.schema.json.as_object()?.clone();
        // The definition may go along too, and an anchor may stand only once.
        merged.shift_remove("$anchor");
        merged.extend(extra.map(|(key, value)| (key.clone(), value.clone())));
        Some((id, Schema { json: Arc::new(Value::Object(merged)), uses: definition.schema.uses.clone() }))
    }

    /// True if a property with this schema carries `mark` itself or behind references and `allOf`.
    pub(super) fn marked(&self, json: &Value, uses: &[DefinitionId], mark: &str) -> bool {
        self.marked_within(json, uses, mark, &mut { MARK_LOOKS })
    }

    fn marked_within(&self, json: &Value, uses: &[DefinitionId], mark: &str, looks: &mut usize) -> bool {
        let (Some(object), Some(left)) = (json.as_object(), looks.checked_sub(1)) else { return false };
        *looks = left;
        if object.get(mark) == Some(&Value::Bool(true)) {
            return true;
        }
        let target = object.get("$ref").and_then(Value::as_str).and_then(|it| self.target(uses, it));
        if target.is_some_and(|(_, it)| self.marked_within(&it.schema.json, &it.schema.uses, mark, looks)) {
            return true;
        }
        let members = object.get("allOf").and_then(Value::as_array);
        members.into_iter().flatten().any(|it| self.marked_within(it, uses, mark, looks))
    }

    /// Adds the names of properties with `mark` that `json`, and what it is composed of, declares.
    pub(super) fn collect_marked(
        &self,
        json: &Value,
        uses: &[DefinitionId],
        mark: &str,
        into: &mut HashSet<String>,
        looks: &mut usize,
    ) {
        let (Some(object), Some(left)) = (json.as_object(), looks.checked_sub(1)) else { return };
        *looks = left;
        for (name, property) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if self.marked(property, uses, mark) {
                into.insert(name.clone());
            }
        }
        for member in object.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.collect_marked(member, uses, mark, into, looks);
        }
        let target = object.get("$ref").and_then(Value::as_str).and_then(|it| self.target(uses, it));
        if let Some((_, definition)) = target {
            self.collect_marked(&definition.schema.json, &definition.schema.uses, mark, into, looks);
        }
    }
}

fn self_contained(root: Value, definitions: Map<String, Value>) -> Value {
    match root {
        Value::Object(mut object) if !definitions.is_empty() => {
            object.insert("$defs".to_owned(), Value::Object(definitions));
            Value::Object(object)
        }
        other => other,
    }
}

/// Leaves out what does not travel in a direction.
struct Strip<'a> {
    definitions: &'a Definitions,
    direction: Direction,
    /// Whether `xml` goes too.
    xml: bool,
}

impl Strip<'_> {
    /// True if [`Strip::schema`] would change anything.
    fn changes(&self, json: &Value, uses: &[DefinitionId]) -> bool {
        let Some(object) = json.as_object() else { return false };
        object.iter().any(|(key, value)| match holds(key) {
            Holds::One => self.changes(value, uses),
            Holds::List => value.as_array().into_iter().flatten().any(|it| self.changes(it, uses)),
            Holds::Map => (value.as_object().into_iter().flatten())
                .any(|(_, it)| (key == "properties" && self.absent(it, uses)) || self.changes(it, uses)),
            Holds::Data => self.xml && key == "xml",
        })
    }

    fn schema(&self, json: &Value, uses: &[DefinitionId]) -> Value {
        pace::breathe();
        self.with_dropped(json, uses, &HashSet::new())
    }

    /// `outer` are properties dropped by schemas that apply to the same object.
    fn with_dropped(&self, json: &Value, uses: &[DefinitionId], outer: &HashSet<String>) -> Value {
        let Some(object) = json.as_object() else { return json.clone() };
        let mut dropped = outer.clone();
        let mark = self.direction.absent_mark();
        self.definitions.collect_marked(json, uses, mark, &mut dropped, &mut { MARK_LOOKS });
        let mut out = Map::new();
        for (key, value) in object {
            let kept = match (key.as_str(), holds(key)) {
                ("xml", _) if self.xml => continue,
                ("required", _) => match self.required(value, &dropped) {
                    Some(required) => required,
                    None => continue,
                },
                ("properties", _) => {
                    let members = value.as_object().into_iter().flatten();
                    let kept = members.filter(|(_, it)| !self.absent(it, uses));
                    Value::Object(kept.map(|(name, it)| (name.clone(), self.schema(it, uses))).collect())
                }
                ("allOf" | "anyOf" | "oneOf", _) => {
                    let members = value.as_array().into_iter().flatten();
                    Value::Array(members.map(|it| self.with_dropped(it, uses, &dropped)).collect())
                }
                ("if" | "then" | "else" | "not", _) => self.with_dropped(value, uses, &dropped),
                (_, Holds::One) => self.schema(value, uses),
                (_, Holds::List) => {
                    Value::Array(value.as_array().into_iter().flatten().map(|it| self.schema(it, uses)).collect())
                }
                (_, Holds::Map) => {
                    let members = value.as_object().into_iter().flatten();
                    Value::Object(members.map(|(name, it)| (name.clone(), self.schema(it, uses))).collect())
                }
                (_, Holds::Data) => value.clone(),
            };
            out.insert(key.clone(), kept);
        }
        Value::Object(out)
    }

    fn absent(&self, property: &Value, uses: &[DefinitionId]) -> bool {
        self.definitions.marked(property, uses, self.direction.absent_mark())
    }

    fn required(&self, value: &Value, dropped: &HashSet<String>) -> Option<Value> {
        let names = value.as_array()?;
        let kept: Vec<Value> =
            names.iter().filter(|it| it.as_str().is_none_or(|name| !dropped.contains(name))).cloned().collect();
        (!kept.is_empty() || names.is_empty()).then_some(Value::Array(kept))
    }
}
