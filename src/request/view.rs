//! A schema seen through `$ref`, `allOf` and the first real branch of `oneOf`/`anyOf`: which keywords apply
//! to a value, for encoding and for samples.

use crate::schema::{DefinitionId, Definitions};
use serde_json::{Map, Value};

/// What of a schema applies at one place.
pub(crate) struct View<'a> {
    /// The object schemas that apply, outermost first.
    pub(crate) parts: Vec<Part<'a>>,
}

/// One object schema with the definitions its references mean.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) json: &'a Map<String, Value>,
    pub(crate) uses: &'a [DefinitionId],
    /// The definition it stands in, if it was reached by reference.
    pub(crate) definition: Option<DefinitionId>,
}

/// Schemas nested deeper in each other than this are cut.
const MOST_PARTS: usize = 64;

impl<'a> View<'a> {
    /// Looks at `json`, whose references are to the definitions in `uses`.
    pub(crate) fn of(json: &'a Value, uses: &'a [DefinitionId], definitions: &'a Definitions) -> Self {
        let mut view = View { parts: Vec::new() };
        view.add(json, uses, None, definitions);
        view
    }

    fn add(
        &mut self,
        json: &'a Value,
        uses: &'a [DefinitionId],
        definition: Option<DefinitionId>,
        definitions: &'a Definitions,
    ) {
        let Value::Object(json) = json else { return };
        // a schema that contains itself through allOf says nothing new the second time
        if self.parts.len() >= MOST_PARTS || self.parts.iter().any(|part| std::ptr::eq(part.json, json)) {
            return;
        }
        self.parts.push(Part { json, uses, definition });
        if let Some((id, target)) = resolve(json, uses, definitions) {
            self.add(&target.json, &target.uses, Some(id), definitions);
        }
        for all in json.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.add(all, uses, definition, definitions);
        }
        for keyword in ["oneOf", "anyOf"] {
            let branches = json.get(keyword).and_then(Value::as_array);
            let real = |branch: &&Value| branch.get("type").and_then(Value::as_str) != Some("null");
            if let Some(branch) = branches.and_then(|branches| branches.iter().find(real)) {
                self.add(branch, uses, definition, definitions);
            }
        }
    }

    /// The first part's value of a keyword.
    pub(crate) fn keyword(&self, name: &str) -> Option<&'a Value> {
        self.parts.iter().find_map(|part| part.json.get(name))
    }

    /// A keyword's text.
    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        self.parts.iter().find_map(|part| part.json.get(name).and_then(Value::as_str))
    }

    /// The first type that is not `null`; guessed from structural keywords where none is declared.
    pub(crate) fn kind(&self) -> Option<&'a str> {
        let declared = self.parts.iter().find_map(|part| match part.json.get("type") {
            Some(Value::String(kind)) => Some(kind.as_str()),
            Some(Value::Array(kinds)) => {
                let mut kinds = kinds.iter().filter_map(Value::as_str);
                kinds.clone().find(|kind| *kind != "null").or_else(|| kinds.next())
            }
            _ => None,
        });
        let has = |names: &[&str]| names.iter().any(|name| self.keyword(name).is_some());
        declared.or_else(|| {
            if has(&["properties", "additionalProperties", "patternProperties", "required"]) {
                Some("object")
            } else if has(&["items", "prefixItems"]) {
                Some("array")
            } else {
                None
            }
        })
    }

    /// Every property once, in order, with the part that declares it.
    pub(crate) fn properties(&self) -> Vec<(&'a str, &'a Value, Part<'a>)> {
        let mut found: Vec<(&'a str, &'a Value, Part<'a>)> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for part in &self.parts {
            for (name, schema) in part.json.get("properties").and_then(Value::as_object).into_iter().flatten() {
                if seen.insert(name.as_str()) {
                    found.push((name, schema, *part));
                }
            }
        }
        found
    }

    /// The schema of array items, with the part that declares it.
    pub(crate) fn items(&self) -> Option<(&'a Value, Part<'a>)> {
        self.parts.iter().find_map(|part| Some((part.json.get("items")?, *part)))
    }

    /// True if a property is required.
    pub(crate) fn requires(&self, name: &str) -> bool {
        let listed = |part: &Part<'_>| {
            let required = part.json.get("required").and_then(Value::as_array);
            required.is_some_and(|names| names.iter().any(|required| required.as_str() == Some(name)))
        };
        self.parts.iter().any(listed)
    }
}

/// The definition a `$ref` of `json` means.
pub(crate) fn resolve<'a>(
    json: &Map<String, Value>,
    uses: &[DefinitionId],
    definitions: &'a Definitions,
) -> Option<(DefinitionId, &'a crate::schema::Schema)> {
    let name = json.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
    let named = |id: DefinitionId| definitions.list.get(id).filter(|definition| definition.name == name);
    let id = uses.iter().copied().find(|id| named(*id).is_some());
    let id = id.or_else(|| definitions.list.iter().position(|definition| definition.name == name))?;
    Some((id, &definitions.list.get(id)?.schema))
}

/// A schema made self-contained: itself plus every definition it reaches under `$defs`.
pub(crate) fn bundle(json: &Value, uses: &[DefinitionId], definitions: &Definitions) -> Value {
    let Value::Object(root) = json else { return json.clone() };
    let mut root = root.clone();
    let mut wanted: Vec<DefinitionId> = uses.to_vec();
    let mut done = std::collections::HashSet::new();
    let mut bundled = Map::new();
    while let Some(id) = wanted.pop() {
        let Some(definition) = definitions.list.get(id).filter(|_| done.insert(id)) else { continue };
        bundled.insert(definition.name.clone(), definition.schema.json.as_ref().clone());
        wanted.extend(definition.schema.uses.iter().copied());
    }
    if !bundled.is_empty() {
        root.insert("$defs".to_owned(), Value::Object(bundled));
    }
    Value::Object(root)
}
