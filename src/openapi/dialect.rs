//! The one conversion of Schema Objects (2.0, 3.0, 3.1, 3.2, and what people write instead) to JSON
//! Schema 2020-12. Whatever comes in, what goes out is valid by the 2020-12 metaschema and refers
//! only to definitions of its table.

mod assertion;
mod cycle;
mod discriminator;
mod finish;
mod name;
mod pattern;
mod table;

pub(super) use table::Table;

use super::finding::Finding;
use super::node::{Node, push_token};
use super::prose::prose;
use super::read::Reader;
use super::text::{clean, clean_value, scalar};
use crate::diagnostic::Severity;
use crate::pace;
use crate::schema::keyword::{Holds, holds, is_annotation};
use crate::schema::{DefinitionId, Schema};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Where the conversion stands.
pub(super) struct At {
    document: usize,
    pointer: String,
    depth: usize,
    /// Root of the definition or inline schema being converted.
    root: String,
    uses: Vec<DefinitionId>,
}

impl At {
    fn new(node: &Node<'_>) -> At {
        At {
            document: node.document,
            pointer: node.pointer.clone(),
            depth: 0,
            root: node.pointer.clone(),
            uses: Vec::new(),
        }
    }

    /// Steps into a member and gives the length to return to.
    fn enter(&mut self, token: &str) -> usize {
        let length = self.pointer.len();
        push_token(&mut self.pointer, token);
        length
    }

    fn leave(&mut self, length: usize) {
        self.pointer.truncate(length);
    }
}

/// What the keywords of one schema say that can only be applied when all are read.
#[derive(Default)]
struct Marks {
    nullable: bool,
    file: bool,
    exclusive_minimum: bool,
    exclusive_maximum: bool,
    example: Option<Value>,
    additional_items: Option<Value>,
    /// Properties that carry `required: true` themselves.
    required: Vec<String>,
    /// `$ref`, `$dynamicRef` or `$recursiveRef`, resolved.
    reference: Option<String>,
}

impl<'a> Reader<'a> {
    /// The schema at `node` in dialect 2020-12.
    pub(super) fn schema(&mut self, node: &Node<'a>) -> Schema {
        self.schema_of(node, node.value)
    }

    /// `value`, made up from parts of `node`, as a schema.
    pub(super) fn schema_of(&mut self, node: &Node<'a>, value: &Value) -> Schema {
        let mut at = At::new(node);
        let json = self.convert(&mut at, value);
        Schema { json: Arc::new(json), uses: Arc::from(at.uses) }
    }

    fn find(&mut self, at: &At, severity: Severity, code: &'static str, message: impl Into<String>) {
        self.findings.add(Finding {
            code,
            severity,
            message: message.into(),
            fix: None,
            document: at.document,
            pointer: at.pointer.clone(),
        });
    }

    fn warn(&mut self, at: &At, code: &'static str, message: impl Into<String>) {
        self.find(at, Severity::Warning, code, message);
    }

    fn convert(&mut self, at: &mut At, schema: &Value) -> Value {
        pace::breathe();
        match schema {
            Value::Bool(_) => schema.clone(),
            Value::Object(object) => {
                if at.depth >= self.options.max_schema_depth {
                    self.warn(at, "schema-too-deep", "the schema is nested too deep; what lies deeper is not checked");
                    return Value::Bool(true);
                }
                let Some(left) = self.schemas_left.checked_sub(1) else {
                    self.warn(at, "too-many-schemas", "the document has too many schemas; this one is not checked");
                    return Value::Bool(true);
                };
                self.schemas_left = left;
                at.depth += 1;
                let out = self.convert_object(at, object);
                at.depth -= 1;
                out
            }
            Value::String(text) if text == "true" || text == "false" => Value::Bool(text == "true"),
            Value::Null => Value::Bool(true),
            _ => {
                self.warn(at, "invalid-schema", "a schema must be an object or a boolean; anything is accepted here");
                Value::Bool(true)
            }
        }
    }

    fn convert_object(&mut self, at: &mut At, object: &Map<String, Value>) -> Value {
        let mut out = Map::new();
        let mut marks = Marks::default();
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            marks.reference = self.reference(at, reference);
        }
        let only_annotations = object.contains_key("$ref") && self.is_legacy(at.document);
        for (key, value) in object {
            let ignored = only_annotations && !is_annotation(key) && !matches!(key.as_str(), "nullable" | "example");
            let empty = value.is_null() && !matches!(key.as_str(), "default" | "example" | "const" | "type");
            if ignored || empty {
                continue;
            }
            let length = at.enter(key);
            if let Some(kept) = self.keyword(at, key, value, &mut marks) {
                let key = if key == "items" && value.is_array() { "prefixItems" } else { key };
                out.insert(key.to_owned(), kept);
            }
            at.leave(length);
        }
        self.dependencies(at, object, &mut out);
        self.finish(at, object, marks, out)
    }

    /// The value of one keyword, or `None` where it is left out or goes elsewhere.
    fn keyword(&mut self, at: &mut At, key: &str, value: &Value, marks: &mut Marks) -> Option<Value> {
        match key {
            "title" | "description" | "$comment" => {
                if let Some(text) = scalar(value) {
                    return Some(Value::String(if key == "description" { prose(&text) } else { clean(&text) }));
                }
                self.warn(at, "invalid-keyword", format!("`{key}` must be text; it is left out"));
                None
            }
            "default" | "const" => Some(value.clone()),
            "nullable" => {
                marks.nullable = value == &Value::Bool(true) || value == "true";
                None
            }
            "example" => {
                marks.example = Some(clean_value(value));
                None
            }
            "examples" => self.examples(value),
            "type" => self.types(at, value, marks),
            "items" => match value {
                Value::Array(items) if items.is_empty() => None,
                Value::Array(items) => Some(self.convert_list(at, items)),
                one => Some(self.convert(at, one)),
            },
            "additionalItems" => {
                marks.additional_items = Some(self.convert(at, value));
                None
            }
            "properties" => {
                let members = self.convert_map(at, value)?;
                self.hoist_required(at, value, marks);
                Some(members)
            }
            "$dynamicRef" | "$recursiveRef" => {
                marks.reference = marks.reference.take().or_else(|| self.dynamic_reference(at, value));
                None
            }
            "xml" => value.is_object().then(|| value.clone()),
            "$ref" | "$id" | "id" | "$schema" | "$anchor" | "$dynamicAnchor" | "$recursiveAnchor" | "$vocabulary"
            | "$defs" | "definitions" | "discriminator" | "externalDocs" | "dependencies" | "collectionFormat"
            | "allowEmptyValue" => None,
            _ if key.starts_with("x-") => None,
            "patternProperties" => {
                let members = self.convert_map(at, value)?;
                Some(self.legal_patterns(at, members))
            }
            _ => match holds(key) {
                Holds::One => Some(self.convert(at, value)),
                Holds::List => self.composition(at, key, value),
                Holds::Map => self.convert_map(at, value),
                Holds::Data => self.assertion(at, key, value, marks),
            },
        }
    }

    fn convert_list(&mut self, at: &mut At, items: &[Value]) -> Value {
        let convert = |(index, item): (usize, &Value)| {
            let length = at.enter(&index.to_string());
            let out = self.convert(at, item);
            at.leave(length);
            out
        };
        Value::Array(items.iter().enumerate().map(convert).collect())
    }

    fn convert_map(&mut self, at: &mut At, value: &Value) -> Option<Value> {
        let Some(members) = value.as_object() else {
            let empty = value.as_array().is_some_and(Vec::is_empty);
            if !empty {
                self.warn(at, "invalid-keyword", "this must be an object of schemas; it is left out");
            }
            return None;
        };
        if let (1, Some(reference)) = (members.len(), members.get("$ref").and_then(Value::as_str)) {
            // A member called `$ref` holds a schema, not text: this is the whole map elsewhere.
            return self.map_elsewhere(at, reference);
        }
        let convert = |(name, schema): (&String, &Value)| {
            let length = at.enter(name);
            let out = self.convert(at, schema);
            at.leave(length);
            (name.clone(), out)
        };
        Some(Value::Object(members.iter().map(convert).collect()))
    }

    fn map_elsewhere(&mut self, at: &mut At, reference: &str) -> Option<Value> {
        let target = match self.references.resolve(at.document, &at.pointer, reference) {
            Ok(target) => target,
            Err(why) => {
                self.warn(at, "unresolved-ref", why.to_string());
                return None;
            }
        };
        if at.depth >= self.options.max_schema_depth {
            return None;
        }
        let here = (at.document, std::mem::replace(&mut at.pointer, target.pointer));
        at.document = target.document;
        at.depth += 1;
        let out = self.convert_map(at, target.value);
        at.depth -= 1;
        (at.document, at.pointer) = here;
        out
    }

    fn composition(&mut self, at: &mut At, key: &str, value: &Value) -> Option<Value> {
        match value {
            Value::Array(items) if items.is_empty() => None,
            Value::Array(items) => Some(self.convert_list(at, items)),
            one => {
                self.warn(at, "invalid-keyword", format!("`{key}` must be a list of schemas"));
                Some(Value::Array(vec![self.convert(at, one)]))
            }
        }
    }

    fn examples(&mut self, value: &Value) -> Option<Value> {
        let list: Vec<Value> = match value {
            Value::Array(items) => items.iter().map(clean_value).collect(),
            Value::Object(members) => members.values().map(|it| clean_value(it.get("value").unwrap_or(it))).collect(),
            other => vec![clean_value(other)],
        };
        (!list.is_empty()).then_some(Value::Array(list))
    }

    /// Draft-04 to draft-07 `dependencies`.
    fn dependencies(&mut self, at: &mut At, object: &Map<String, Value>, out: &mut Map<String, Value>) {
        let Some(members) = object.get("dependencies").and_then(Value::as_object) else { return };
        let length = at.enter("dependencies");
        for (name, dependency) in members {
            let (key, value) = match dependency {
                Value::Array(_) => ("dependentRequired", dependency.clone()),
                schema => ("dependentSchemas", self.convert(at, schema)),
            };
            let entry = out.entry(key).or_insert_with(|| Value::Object(Map::new()));
            if let Some(entry) = entry.as_object_mut() {
                entry.entry(name.clone()).or_insert(value);
            }
        }
        at.leave(length);
    }

    /// Draft-03 habit: `required: true` on the property itself.
    fn hoist_required(&mut self, at: &At, properties: &Value, marks: &mut Marks) {
        for (name, property) in properties.as_object().into_iter().flatten() {
            if property.get("required") == Some(&Value::Bool(true)) {
                marks.required.push(name.clone());
                self.warn(
                    at,
                    "required-on-property",
                    format!(
                        "`required: true` on property `{name}` is taken as an entry of the object's `required` list"
                    ),
                );
            }
        }
    }

    /// The reference of `$ref` in the output's form; `None` where it points nowhere.
    fn reference(&mut self, at: &mut At, reference: &str) -> Option<String> {
        match self.definition(at, reference) {
            Ok(id) => self.refer(at, id),
            Err(why) => {
                self.findings.add(Finding {
                    code: "unresolved-ref",
                    severity: Severity::Warning,
                    message: format!("{}; anything is accepted here", why.message),
                    fix: why.fix,
                    document: at.document,
                    pointer: crate::document::pointer::join(&at.pointer, "$ref"),
                });
                None
            }
        }
    }

    fn refer(&mut self, at: &mut At, id: DefinitionId) -> Option<String> {
        if !at.uses.contains(&id) {
            at.uses.push(id);
        }
        self.table.name(id).map(|name| format!("#/$defs/{name}"))
    }

    /// `$dynamicRef` and `$recursiveRef`, taken statically: the schema that they name in their own
    /// document, without looking at the dynamic scope.
    fn dynamic_reference(&mut self, at: &mut At, value: &Value) -> Option<String> {
        let reference = value.as_str()?;
        let target = match reference {
            "#" => self.set.documents.get(at.document).and_then(|it| it.get(&at.root)).map(|value| Node {
                document: at.document,
                pointer: at.root.clone(),
                value,
            }),
            _ => self.references.resolve(at.document, &at.pointer, reference).ok(),
        };
        let Some(target) = target else {
            self.warn(
                at,
                "unresolved-ref",
                format!("dynamic reference {reference} points nowhere; anything is accepted here"),
            );
            return None;
        };
        let id = self.table.id_of(target);
        self.refer(at, id)
    }
}
