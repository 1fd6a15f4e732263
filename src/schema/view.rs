//! A schema seen as one object: `$ref` and `allOf` merged, so that its properties can become
//! arguments of their own.

use super::keyword::is_annotation;
use super::{Definition, DefinitionId, Definitions, Direction, Schema};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// How deep compositions are followed.
const DEPTH: usize = 64;

/// Whether an object may hold members beyond its properties.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Additional {
    /// Anything.
    #[default]
    Open,
    /// Nothing.
    Closed,
    /// Members that match this.
    Schema(Schema),
}

/// The merged members of an object schema.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ObjectView {
    /// By name, in order of first appearance.
    pub properties: IndexMap<String, Schema>,
    /// Names that every valid object has, in order of appearance.
    pub required: Vec<String>,
    /// Members beyond `properties`.
    pub additional: Additional,
    /// `description` of the outermost schema that has one.
    pub description: Option<String>,
    /// True if null is valid too.
    pub nullable: bool,
    /// True if the schema says more than this view can (`oneOf`, `anyOf`, `not`, `patternProperties`,
    /// `minProperties`, …): an object built from the view must still be checked against the schema.
    pub other_constraints: bool,
}

impl Definitions {
    /// `schema` as one object, or `None` if it isn't known to be an object (or also allows other
    /// types than null). `allOf` and references are merged; the branches of `oneOf`/`anyOf` give
    /// their properties as optional where all are objects. Properties that do not travel in
    /// `direction` are left out.
    pub fn object_view(&self, schema: &Schema, direction: Direction) -> Option<ObjectView> {
        let mut walk = Walk { definitions: self, direction, stack: Vec::new(), depth: 0 };
        let mut view = ObjectView::default();
        let schema = self.resolve(schema);
        match walk.merge(&schema.json, &schema.uses, &mut view) {
            Kind::Object => Some(view),
            Kind::Unknown | Kind::Other => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Object,
    Unknown,
    Other,
}

impl Kind {
    fn and(self, other: Kind) -> Kind {
        match (self, other) {
            (Kind::Other, _) | (_, Kind::Other) => Kind::Other,
            (Kind::Object, _) | (_, Kind::Object) => Kind::Object,
            (Kind::Unknown, Kind::Unknown) => Kind::Unknown,
        }
    }
}

struct Walk<'a> {
    definitions: &'a Definitions,
    direction: Direction,
    /// The definitions being merged: a reference back into them adds nothing. A definition that is
    /// reached twice side by side is no cycle.
    stack: Vec<DefinitionId>,
    depth: usize,
}

impl Walk<'_> {
    fn merge(&mut self, json: &Value, uses: &[DefinitionId], view: &mut ObjectView) -> Kind {
        let Some(object) = json.as_object() else {
            view.other_constraints |= json == &Value::Bool(false);
            return Kind::Unknown;
        };
        if self.depth >= DEPTH {
            view.other_constraints = true;
            return Kind::Unknown;
        }
        self.depth += 1;
        let kind = self.merge_object(object, uses, view);
        self.depth -= 1;
        kind
    }

    fn merge_object(&mut self, object: &Map<String, Value>, uses: &[DefinitionId], view: &mut ObjectView) -> Kind {
        let (mut kind, nullable) = declared_kind(object.get("type"));
        view.nullable |= nullable;
        if view.description.is_none() {
            view.description = object.get("description").and_then(Value::as_str).map(str::to_owned);
        }
        for (key, value) in object {
            match key.as_str() {
                "type" => {}
                "properties" => {
                    kind = kind.and(Kind::Object);
                    self.properties(value, uses, view);
                }
                "required" => {
                    for name in value.as_array().into_iter().flatten().filter_map(Value::as_str) {
                        if !view.required.iter().any(|it| it == name) {
                            view.required.push(name.to_owned());
                        }
                    }
                }
                "additionalProperties" => {
                    if value != &Value::Bool(true) {
                        kind = kind.and(Kind::Object);
                    }
                    self.additional(value, uses, view);
                }
                "$ref" => {
                    let target = value.as_str().and_then(|it| self.definitions.target(uses, it));
                    kind = kind.and(self.enter(target, view));
                }
                "allOf" => {
                    for member in value.as_array().into_iter().flatten() {
                        kind = kind.and(self.merge(member, uses, view));
                    }
                }
                "oneOf" | "anyOf" => kind = kind.and(self.branches(value, uses, view)),
                _ if is_annotation(key) => {}
                _ => view.other_constraints = true,
            }
        }
        let dropped = |name: &String| self.is_dropped(object, uses, name);
        view.required.retain(|name| !dropped(name));
        kind
    }

    fn enter(&mut self, target: Option<(DefinitionId, &Definition)>, view: &mut ObjectView) -> Kind {
        match target {
            Some((id, definition)) if !self.stack.contains(&id) => {
                self.stack.push(id);
                let kind = self.merge(&definition.schema.json, &definition.schema.uses, view);
                self.stack.pop();
                kind
            }
            _ => Kind::Unknown,
        }
    }

    fn properties(&mut self, value: &Value, uses: &[DefinitionId], view: &mut ObjectView) {
        for (name, property) in value.as_object().into_iter().flatten() {
            if self.definitions.marked(property, uses, self.direction.absent_mark(), 0) {
                continue;
            }
            let part = self.definitions.part(property.clone(), uses);
            match view.properties.get_mut(name) {
                Some(known) => *known = both(known, &part, "allOf"),
                None => {
                    view.properties.insert(name.clone(), part);
                }
            }
        }
    }

    fn additional(&mut self, value: &Value, uses: &[DefinitionId], view: &mut ObjectView) {
        let found = match value {
            Value::Bool(true) => return,
            Value::Bool(false) => Additional::Closed,
            Value::Object(object) if object.is_empty() => return,
            other => Additional::Schema(self.definitions.part(other.clone(), uses)),
        };
        // `additionalProperties` sees only the properties beside it, so inside a composition it
        // says less (or more) than the merged view.
        view.other_constraints |= self.depth > 1 || view.additional != Additional::Open;
        if view.additional != Additional::Closed {
            view.additional = found;
        }
    }

    /// One level of `oneOf`/`anyOf`.
    fn branches(&mut self, value: &Value, uses: &[DefinitionId], view: &mut ObjectView) -> Kind {
        let all = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let branches: Vec<&Value> = all.iter().filter(|it| !is_null(it)).collect();
        view.nullable |= branches.len() < all.len();
        if let [only] = branches.as_slice() {
            return self.merge(only, uses, view);
        }
        view.other_constraints = true;
        let mut merged: Option<ObjectView> = None;
        let mut kind = Kind::Unknown;
        for branch in branches {
            let mut part = ObjectView::default();
            match self.merge(branch, uses, &mut part) {
                Kind::Other => return Kind::Other,
                Kind::Object => kind = Kind::Object,
                Kind::Unknown => {}
            }
            view.nullable |= part.nullable;
            merged = Some(match merged {
                None => part,
                Some(mut so_far) => {
                    so_far.required.retain(|name| part.required.contains(name));
                    for (name, schema) in part.properties {
                        match so_far.properties.get_mut(&name) {
                            Some(known) => *known = both(known, &schema, "anyOf"),
                            None => {
                                so_far.properties.insert(name, schema);
                            }
                        }
                    }
                    so_far
                }
            });
        }
        let merged = merged.unwrap_or_default();
        for (name, schema) in merged.properties {
            match view.properties.get_mut(&name) {
                Some(known) => *known = both(known, &schema, "allOf"),
                None => {
                    view.properties.insert(name, schema);
                }
            }
        }
        for name in merged.required {
            if !view.required.contains(&name) {
                view.required.push(name);
            }
        }
        kind
    }

    /// True if `name` is a property of `object` that does not travel in this direction.
    fn is_dropped(&self, object: &Map<String, Value>, uses: &[DefinitionId], name: &str) -> bool {
        self.dropped_in(object, uses, name, 0)
    }

    fn dropped_in(&self, object: &Map<String, Value>, uses: &[DefinitionId], name: &str, depth: usize) -> bool {
        let mark = self.direction.absent_mark();
        if depth > 8 {
            return false;
        }
        let own = object.get("properties").and_then(|it| it.get(name));
        if own.is_some_and(|it| self.definitions.marked(it, uses, mark, 0)) {
            return true;
        }
        let target = object.get("$ref").and_then(Value::as_str).and_then(|it| self.definitions.target(uses, it));
        let behind = target.and_then(|(_, it)| it.schema.json.as_object().map(|json| (json, &it.schema.uses)));
        behind.is_some_and(|(json, uses)| self.dropped_in(json, uses, name, depth + 1))
            || (object.get("allOf").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object))
                .any(|it| self.dropped_in(it, uses, name, depth + 1))
    }
}

/// What `type` says, and whether it allows null.
fn declared_kind(types: Option<&Value>) -> (Kind, bool) {
    match types {
        None => (Kind::Unknown, false),
        Some(Value::String(name)) if name == "object" => (Kind::Object, false),
        Some(Value::Array(names)) => {
            let nullable = names.iter().any(|it| it == "null");
            let others = names.iter().filter(|it| *it != "null");
            let object = others.clone().count() == 1 && others.clone().all(|it| it == "object");
            (if object { Kind::Object } else { Kind::Other }, nullable && object)
        }
        Some(_) => (Kind::Other, false),
    }
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|it| it == "null" || it == &json!(["null"]))
}

/// The combination of two schemas under `keyword`.
fn both(first: &Schema, second: &Schema, keyword: &str) -> Schema {
    if first == second {
        return first.clone();
    }
    let mut members = match first.json.as_object() {
        Some(object) if object.len() == 1 => object.get(keyword).and_then(Value::as_array).cloned(),
        _ => None,
    }
    .unwrap_or_else(|| vec![Value::clone(&first.json)]);
    if !members.contains(&second.json) {
        members.push(Value::clone(&second.json));
    }
    let mut uses = first.uses.to_vec();
    uses.extend(second.uses.iter().filter(|id| !first.uses.contains(id)));
    let mut object = Map::new();
    object.insert(keyword.to_owned(), Value::Array(members));
    Schema { json: Arc::new(Value::Object(object)), uses: Arc::from(uses) }
}
