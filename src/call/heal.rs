//! Schema-directed healing of what clients do to arguments on the way. Only places that the validator
//! objects to are looked at, and only two things change:
//!
//! - a text where the schema allows no text, but an array, object, number or boolean, and the text is one;
//! - null where the schema allows no null and the member is optional: it is taken for absent.

use super::{digits, parse};
use crate::catalog::Arguments;
use crate::schema::check::path::{self, Step};
use crate::schema::kinds::{Kinds, allowed};
use crate::schema::walk;
use serde_json::Value;

/// Deepest nesting that is healed; texts inside texts count too.
const DEEPEST: usize = 64;
/// Schemas looked at for one member's name.
const FUEL: usize = 200;

static ANYTHING: Value = Value::Bool(true);

/// Heals arguments in place, at the `faults` that the validator found; `healed` gets the path of each change.
pub(super) fn heal(arguments: &mut Arguments, schema: &Value, faults: &[Vec<Step>], healed: &mut Vec<String>) {
    let mut healer = Healer { root: schema, faults, path: Vec::new(), healed };
    healer.object(arguments, &[schema]);
}

/// The types that the schema allows at a path; everything where it says nothing.
pub(super) fn kinds_at(schema: &Value, path: &[Step]) -> Kinds {
    let mut here = vec![schema];
    for step in path {
        let mut next = Vec::new();
        for one in &here {
            match step {
                Step::Name(name) => member(schema, one, name, &mut FUEL.clone(), &mut next),
                Step::Index(index) => item(schema, one, *index, &mut FUEL.clone(), &mut next),
            }
        }
        here = next;
    }
    union(schema, &here)
}

struct Healer<'r, 'h> {
    root: &'r Value,
    faults: &'h [Vec<Step>],
    path: Vec<Step>,
    healed: &'h mut Vec<String>,
}

impl<'r> Healer<'r, '_> {
    /// True if a fault lies here, above or below.
    fn is_at_fault(&self) -> bool {
        self.faults.iter().any(|fault| fault.iter().zip(&self.path).all(|(a, b)| a == b))
    }

    fn object(&mut self, members: &mut Arguments, schemas: &[&'r Value]) {
        let mut absent: Vec<String> = Vec::new();
        for (name, value) in members.iter_mut() {
            if !matches!(value, Value::String(_) | Value::Null | Value::Array(_) | Value::Object(_)) {
                continue;
            }
            self.path.push(Step::Name(name.clone()));
            let mut inner = Vec::new();
            if self.is_at_fault() {
                for schema in schemas {
                    member(self.root, schema, name, &mut FUEL.clone(), &mut inner);
                }
            }
            if inner.is_empty() {
                self.path.pop();
                continue;
            }
            if value.is_null() {
                let needed = schemas.iter().any(|schema| requires(self.root, schema, name, &mut FUEL.clone()));
                if !needed && !union(self.root, &inner).meets(Kinds::NULL) {
                    absent.push(name.clone());
                    self.healed.push(path::text(&self.path));
                }
            } else {
                self.value(value, &inner);
            }
            self.path.pop();
        }
        for name in absent {
            members.shift_remove(&name);
        }
    }

    fn value(&mut self, value: &mut Value, schemas: &[&'r Value]) {
        if self.path.len() > DEEPEST {
            return;
        }
        if let Value::String(text) = value
            && let Some(read) = self.read(text, schemas)
        {
            *value = read;
            self.healed.push(path::text(&self.path));
        }
        match value {
            Value::Object(members) => self.object(members, schemas),
            Value::Array(items) => {
                for (index, value) in items.iter_mut().enumerate() {
                    self.path.push(Step::Index(index));
                    if matches!(value, Value::String(_) | Value::Array(_) | Value::Object(_)) && self.is_at_fault() {
                        let mut inner = Vec::new();
                        for schema in schemas {
                            item(self.root, schema, index, &mut FUEL.clone(), &mut inner);
                        }
                        self.value(value, &inner);
                    }
                    self.path.pop();
                }
            }
            _ => {}
        }
    }

    /// What a text holds, where the schema wants that and no text.
    fn read(&self, text: &str, schemas: &[&'r Value]) -> Option<Value> {
        let kinds = union(self.root, schemas);
        if schemas.is_empty() || kinds.meets(Kinds::STRING) || kinds == Kinds::NONE {
            return None;
        }
        let trimmed = text.trim();
        if trimmed.is_empty() || (digits::has_long_run(trimmed) && !digits::lossy(trimmed).is_empty()) {
            return None;
        }
        let value = parse::value(trimmed).ok()?;
        kinds.meets(Kinds::of(&value)).then_some(value)
    }
}

/// What any of the schemas allows.
fn union(root: &Value, schemas: &[&Value]) -> Kinds {
    if schemas.is_empty() {
        return Kinds::ALL;
    }
    schemas.iter().map(|schema| allowed(root, schema)).fold(Kinds::NONE, |all, kinds| all | kinds)
}

/// Collects every schema that may apply to a member; `true` where anything may.
fn member<'r>(root: &'r Value, schema: &'r Value, name: &str, fuel: &mut usize, out: &mut Vec<&'r Value>) {
    let Some(members) = schema.as_object() else { return };
    if *fuel == 0 {
        return out.push(&ANYTHING);
    }
    *fuel -= 1;
    if let Some(property) = members.get("properties").and_then(|properties| properties.get(name)) {
        out.push(property);
    } else if members.contains_key("patternProperties") {
        out.push(&ANYTHING);
    } else if let Some(extra @ Value::Object(_)) = members.get("additionalProperties") {
        out.push(extra);
    }
    each_part(root, schema, &mut |part| member(root, part, name, fuel, out));
}

/// Collects every schema that may apply to an item.
fn item<'r>(root: &'r Value, schema: &'r Value, index: usize, fuel: &mut usize, out: &mut Vec<&'r Value>) {
    let Some(members) = schema.as_object() else { return };
    if *fuel == 0 {
        return out.push(&ANYTHING);
    }
    *fuel -= 1;
    let first = members.get("prefixItems").and_then(Value::as_array);
    match first.and_then(|list| list.get(index)).or_else(|| members.get("items")) {
        Some(items @ Value::Object(_)) => out.push(items),
        Some(_) => out.push(&ANYTHING),
        None => {}
    }
    each_part(root, schema, &mut |part| item(root, part, index, fuel, out));
}

fn requires(root: &Value, schema: &Value, name: &str, fuel: &mut usize) -> bool {
    if *fuel == 0 {
        return true;
    }
    *fuel -= 1;
    let names = schema.get("required").and_then(Value::as_array);
    if names.is_some_and(|names| names.iter().any(|other| other == name)) {
        return true;
    }
    let mut found = false;
    each_part(root, schema, &mut |part| found |= requires(root, part, name, fuel));
    found
}

/// The schemas that apply, or may apply, to the same value as `schema`.
fn each_part<'r>(root: &'r Value, schema: &'r Value, visit: &mut dyn FnMut(&'r Value)) {
    let Some(members) = schema.as_object() else { return };
    if let Some(target) = members.get("$ref").and_then(Value::as_str).and_then(|r| walk::target(root, r)) {
        visit(target);
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        members.get(keyword).and_then(Value::as_array).into_iter().flatten().for_each(&mut *visit);
    }
    for keyword in ["then", "else"] {
        members.get(keyword).into_iter().for_each(&mut *visit);
    }
}
