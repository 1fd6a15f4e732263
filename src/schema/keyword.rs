//! Which JSON Schema 2020-12 keywords hold schemas, and a walk over a schema's references.

use serde_json::Value;

/// What the value of a keyword holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// One schema.
    One,
    /// A list of schemas.
    List,
    /// A map from names (property names, patterns) to schemas. The names are no keywords: a
    /// property may be called `$ref`.
    Map,
    /// No schema; anything in it is data.
    Data,
}

/// What `keyword` holds (JSON Schema 2020-12 Core §10, §11, Validation §8.5).
pub fn holds(keyword: &str) -> Holds {
    match keyword {
        "items"
        | "additionalProperties"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames"
        | "unevaluatedProperties"
        | "unevaluatedItems"
        | "contentSchema" => Holds::One,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Holds::List,
        "properties" | "patternProperties" | "dependentSchemas" | "$defs" => Holds::Map,
        _ => Holds::Data,
    }
}

/// True for keywords that neither assert nor apply: they only describe (Validation §9).
pub fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "title"
            | "description"
            | "default"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "examples"
            | "xml"
            | "format"
            | "contentMediaType"
            | "contentEncoding"
            | "$comment"
            | "$anchor"
    )
}

/// The definition's name in a reference of the form `#/$defs/NAME`.
pub fn definition_name(reference: &str) -> Option<&str> {
    reference.strip_prefix("#/$defs/")
}

/// Calls `visit` with every `$ref` in `schema`, in document order, repeats included.
pub fn each_reference<'a>(schema: &'a Value, visit: &mut dyn FnMut(&'a str)) {
    let Some(object) = schema.as_object() else { return };
    for (key, value) in object {
        match holds(key) {
            Holds::One => each_reference(value, visit),
            Holds::List => value.as_array().into_iter().flatten().for_each(|item| each_reference(item, visit)),
            Holds::Map => value.as_object().into_iter().flatten().for_each(|(_, item)| each_reference(item, visit)),
            Holds::Data => {
                if let ("$ref", Some(reference)) = (key.as_str(), value.as_str()) {
                    visit(reference);
                }
            }
        }
    }
}
