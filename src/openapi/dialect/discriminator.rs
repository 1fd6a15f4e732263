//! `discriminator`: the keyword goes, its meaning stays where `mapping` says which value belongs to
//! which branch, or, where it says nothing, the name of the branch's schema does (OpenAPI 3.0 to 3.2,
//! "Discriminator Object": implicit mapping).

use super::{At, Reader};
use crate::openapi::node::Node;
use crate::schema::DefinitionId;
use crate::schema::keyword::definition_name;
use serde_json::{Map, Value, json};

/// How many schemas of a branch are searched for its own idea of the property.
const LOOKS: usize = 64;

impl<'a> Reader<'a> {
    /// Gives every mapped branch of `oneOf`/`anyOf` its value of the discriminating property,
    /// unless the branch says so itself or says otherwise.
    pub(super) fn discriminate(&mut self, at: &mut At, source: &Map<String, Value>, out: &mut Map<String, Value>) {
        let Some(discriminator) = source.get("discriminator").and_then(Value::as_object) else { return };
        let Some(property) = discriminator.get("propertyName").and_then(Value::as_str) else { return };
        let mut values: Vec<(DefinitionId, String)> = Vec::new();
        for (value, target) in discriminator.get("mapping").and_then(Value::as_object).into_iter().flatten() {
            let Some(target) = target.as_str() else { continue };
            match self.mapped(at, target) {
                Some(id) => values.push((id, value.clone())),
                None => {
                    self.warn(at, "unresolved-ref", format!("discriminator mapping `{value}`: {target} points nowhere"))
                }
            }
        }
        self.add_names(at, source, property, &mut values);
        for key in ["oneOf", "anyOf"] {
            for branch in out.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten() {
                let Some(object) = branch.as_object_mut().filter(|it| it.len() == 1) else { continue };
                let name = object.get("$ref").and_then(Value::as_str).and_then(definition_name);
                let Some(name) = name.map(str::to_owned) else { continue };
                let own: Vec<(DefinitionId, &str)> = values
                    .iter()
                    .filter(|(id, _)| self.table.name(*id) == Some(name.as_str()))
                    .map(|(id, value)| (*id, value.as_str()))
                    .collect();
                let Some((id, _)) = own.first() else { continue };
                let texts: Vec<&str> = own.iter().map(|(_, value)| *value).collect();
                if !self.may_add(*id, property, &texts) {
                    continue;
                }
                let says = match texts.as_slice() {
                    [one] => json!({ "const": one }),
                    several => json!({ "enum": several }),
                };
                object.insert("properties".to_owned(), json!({ property: says }));
                object.insert("required".to_owned(), json!([property]));
            }
        }
    }

    /// The names of branches that `mapping` says nothing of. Documents often discriminate by a property that
    /// has other values than these names, so a name counts only for a branch that declares the property as a
    /// text and shows no other value of it.
    fn add_names(
        &mut self,
        at: &mut At,
        source: &Map<String, Value>,
        property: &str,
        values: &mut Vec<(DefinitionId, String)>,
    ) {
        let branches = ["oneOf", "anyOf"].into_iter().filter_map(|key| source.get(key).and_then(Value::as_array));
        for reference in branches.flatten().filter_map(|branch| branch.get("$ref").and_then(Value::as_str)) {
            let Some(name) = reference.strip_prefix("#/components/schemas/").filter(|it| !it.contains('/')) else {
                continue;
            };
            let Ok(id) = self.definition(at, reference) else { continue };
            let name = percent_encoding::percent_decode_str(name).decode_utf8_lossy();
            let name = crate::document::pointer::unescape(&name).into_owned();
            let is_name = self.table.node(id).and_then(|node| self.takes(node, property, &name, &mut { LOOKS }));
            if is_name == Some(true) && !values.iter().any(|(known, _)| *known == id) {
                values.push((id, name));
            }
        }
    }

    /// Whether the schema at `node`, or what it extends, leaves `property` to any text and shows no value but
    /// `name`; `None` where it does not declare it.
    fn takes(&self, node: &Node<'a>, property: &str, name: &str, looks: &mut usize) -> Option<bool> {
        *looks = looks.checked_sub(1)?;
        let here = self.references.follow(node.clone()).ok()?.node;
        let declared = here.child("properties").and_then(|it| it.child(property));
        if let Some(declared) = declared.and_then(|it| self.references.follow(it).ok()) {
            let schema = declared.node.value;
            let is_text = schema.get("type").is_some_and(|kind| kind == "string");
            let list = schema.get("examples").and_then(Value::as_array).into_iter().flatten();
            let mut shown = ["example", "default"].into_iter().filter_map(|key| schema.get(key)).chain(list);
            let free = !["enum", "const", "pattern", "format"].iter().any(|key| schema.get(key).is_some());
            return Some(is_text && free && shown.all(|value| value == name));
        }
        let members = here.child("allOf").map(|it| it.items()).unwrap_or_default();
        members.iter().find_map(|it| self.takes(it, property, name, looks))
    }

    /// The definition that a mapping's value names: a schema name or a reference.
    fn mapped(&mut self, at: &At, target: &str) -> Option<DefinitionId> {
        let is_name = !target.contains(['/', '#']);
        if is_name {
            let named = self.definition(at, &format!("#/components/schemas/{}", target.replace('~', "~0")));
            if let Ok(id) = named {
                return Some(id);
            }
        }
        self.definition(at, target).ok()
    }

    /// False if the branch fixes the property already, or to something else.
    fn may_add(&self, id: DefinitionId, property: &str, values: &[&str]) -> bool {
        let Some(node) = self.table.node(id) else { return false };
        match self.allowed(node, property, &mut { LOOKS }) {
            None => true,
            Some(allowed) => allowed.len() > 1 && values.iter().all(|it| allowed.iter().any(|own| own == it)),
        }
    }

    /// The values that the schema at `node` leaves to `property`; `None` = any text.
    fn allowed(&self, node: &Node<'a>, property: &str, looks: &mut usize) -> Option<Vec<Value>> {
        *looks = looks.checked_sub(1)?;
        let here = self.references.follow(node.clone()).ok()?.node;
        let declared = here.child("properties").and_then(|it| it.child(property));
        if let Some(declared) = declared.and_then(|it| self.references.follow(it).ok())
            && let Some(values) = fixed(declared.node.value)
        {
            return Some(values);
        }
        let members = here.child("allOf").map(|it| it.items()).unwrap_or_default();
        members.iter().find_map(|it| self.allowed(it, property, looks))
    }
}

fn fixed(schema: &Value) -> Option<Vec<Value>> {
    if let Some(value) = schema.get("const") {
        return Some(vec![value.clone()]);
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Some(values.clone());
    }
    let types = schema.get("type")?;
    let text = types == "string" || types.as_array().is_some_and(|it| it.iter().any(|it| it == "string"));
    (!text).then(Vec::new)
}
