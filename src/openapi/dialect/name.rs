//! Names of definitions: what the author called the schema, made legal.

use crate::openapi::node::unescape_token;

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

/// A name for the schema at `pointer`.
pub(super) fn propose(pointer: &str) -> String {
    let tokens: Vec<String> = pointer.split('/').skip(1).map(unescape_token).collect();
    let telling: Vec<&String> = tokens.iter().filter(|it| !is_structure(it)).collect();
    let name = match telling.as_slice() {
        [] => "Schema".to_owned(),
        [one] => (*one).clone(),
        [.., first, last] => format!("{first}_{last}"),
    };
    legal(name.trim_matches('/'))
}

fn is_structure(token: &str) -> bool {
    matches!(
        token,
        "components" | "schemas" | "definitions" | "$defs" | "schema" | "items" | "properties" | "content"
            | "paths" | "responses" | "parameters" | "requestBody" | "allOf" | "anyOf" | "oneOf"
            | "additionalProperties" | "prefixItems"
    )
}
