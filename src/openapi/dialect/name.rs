//! Names of definitions: what the author called the schema, made legal.

use crate::document::pointer;

/// Longest name.
const LONGEST: usize = 100;

/// `name` with every character outside `[A-Za-z0-9._-]` replaced by `_`.
pub(super) fn legal(name: &str) -> String {
    let legal: String = name
        .chars()
        .map(|it| if it.is_ascii_alphanumeric() || matches!(it, '.' | '_' | '-') { it } else { '_' })
        .take(LONGEST)
        .collect();
    if legal.is_empty() { "Schema".to_owned() } else { legal }
}

/// A name for the schema at the JSON pointer `at`.
pub(super) fn propose(at: &str) -> String {
    let tokens = pointer::parse(at).unwrap_or_default();
    let telling: Vec<&str> = tokens.iter().map(|it| it.as_ref()).filter(|it| !is_structure(it)).collect();
    let name = match telling.as_slice() {
        [] => "Schema".to_owned(),
        [one] => (*one).to_owned(),
        [.., first, last] => format!("{first}_{last}"),
    };
    legal(name.trim_matches('/'))
}

fn is_structure(token: &str) -> bool {
    matches!(
        token,
        "components"
            | "schemas"
            | "definitions"
            | "$defs"
            | "schema"
            | "items"
            | "properties"
            | "content"
            | "paths"
            | "responses"
            | "parameters"
            | "requestBody"
            | "allOf"
            | "anyOf"
            | "oneOf"
            | "additionalProperties"
            | "prefixItems"
    )
}
