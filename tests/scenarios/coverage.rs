//! Every key of the mapping language is used by a story, an example or a refusal, and every key of the reference is
//! in the schema.

use super::run::yaml;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Where a key stands: the definition's name and the key.
type Key = (String, String);

/// Every key that the reference names, by the definition of the published schema that has it.
const REFERENCE: &[(&str, &str)] = &[
    ("", "version sources rules tools resources prompts catalog"),
    (
        "Source",
        "spec overlays workflows base_url expose tool_prefix credentials headers forward_headers tls limits server_variables",
    ),
    ("Credential", "value username password grant token_url client_id client_secret scopes exchange forward"),
    ("Exchange", "token_url audience"),
    ("Tls", "ca cert key insecure"),
    ("Limits", "connect_timeout timeout max_response concurrency rate retries breaker redirects allow_private"),
    ("Breaker", "failures cooldown"),
    ("Rule", "match set exclude"),
    ("Match", "method tag path operation deprecated security"),
    (
        "ToolRules",
        "operation source title description annotations icons args body result success errors paginate poll stream \
         confirm ask requires_client cache timeout tests request input steps",
    ),
    ("DescriptionFrom", "from append max_chars"),
    ("AnnotationEdits", "read_only destructive idempotent open_world"),
    ("ArgumentEdits", "rename description examples minimum maximum value hide default required mirror"),
    (
        "ResultRules",
        "select path pick drop rename redact limit_items max_bytes format template blocks as uri binary output_schema",
    ),
    ("ErrorRules", "path hints"),
    ("Paginate", "style items cursor arg max_pages max_items"),
    ("Poll", "status until location every at_most progress"),
    ("StreamRules", "mode progress log"),
    ("StreamProgress", "value total message"),
    ("StreamLog", "level message"),
    ("Ask", "kind message schema into after"),
    ("CacheHint", "ttl per"),
    ("HandRequest", "method path parameters body"),
    ("StepRules", "id call with when on_error"),
    ("ToolTest", "args request respond result"),
    ("TestRequest", "method path headers"),
    ("TestAnswer", "status json"),
    ("TestResult", "json"),
    ("ResourceRules", "operation uri mime_type"),
    ("PromptRules", "description arguments messages"),
    ("PromptArgument", "name required complete"),
    ("PromptMessage", "role text resource"),
    ("CatalogRules", "mode pinned name_style max_name schema_profile"),
];

/// Definitions of other standards, whose keys are not ours.
const OTHERS: &[&str] = &["ParameterObject", "ObjectSchema", "AnySchema", "Tree", "FixedValue", "Icon"];

fn schema() -> Value {
    rest_mcp::mapping::json_schema()
}

/// The definition's own name; edits of a tool are the same under `rules[].set` and `tools`.
fn canonical(schema: &Value, definition: &str, key: &str) -> Key {
    let shared = definition == "ToolRules" && schema["$defs"]["ToolEdits"]["properties"].get(key).is_some();
    (if shared { "ToolEdits".to_owned() } else { definition.to_owned() }, key.to_owned())
}

fn all_keys(schema: &Value) -> BTreeSet<Key> {
    fn walk(root: &Value, definition: &str, node: &Value, out: &mut BTreeSet<Key>) {
        match node {
            Value::Object(members) => {
                for key in members.get("properties").and_then(Value::as_object).into_iter().flat_map(|all| all.keys()) {
                    out.insert(canonical(root, definition, key));
                }
                for (name, child) in members.iter().filter(|(name, _)| *name != "$defs" && *name != "default") {
                    let _ = name;
                    walk(root, definition, child, out);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(root, definition, item, out)),
            _ => {}
        }
    }
    let mut out = BTreeSet::new();
    walk(schema, "", schema, &mut out);
    for (name, node) in schema["$defs"].as_object().unwrap() {
        if !OTHERS.contains(&name.as_str()) {
            walk(schema, name, node, &mut out);
        }
    }
    out
}

/// Notes the keys that a value uses.
fn used(root: &Value, definition: &str, node: &Value, value: &Value, out: &mut BTreeSet<Key>) {
    if let Some(reference) = node.get("$ref").and_then(Value::as_str) {
        let name = reference.trim_start_matches("#/$defs/");
        if !OTHERS.contains(&name) {
            used(root, name, &root["$defs"][name], value, out);
        }
    }
    for branches in ["oneOf", "anyOf", "allOf"] {
        for branch in node.get(branches).and_then(Value::as_array).into_iter().flatten() {
            let kind = branch.pointer("/properties/type/const");
            if kind.is_none_or(|kind| value.get("type") == Some(kind)) {
                used(root, definition, branch, value, out);
            }
        }
    }
    match value {
        Value::Object(members) => {
            let properties = node.get("properties").and_then(Value::as_object);
            for (key, member) in members {
                match properties.and_then(|properties| properties.get(key)) {
                    Some(property) => {
                        out.insert(canonical(root, definition, key));
                        used(root, definition, property, member, out);
                    }
                    None => {
                        if let Some(other) = node.get("additionalProperties").filter(|other| other.is_object()) {
                            used(root, definition, other, member, out);
                        }
                    }
                }
            }
        }
        Value::Array(items) => {
            if let Some(node) = node.get("items") {
                items.iter().for_each(|item| used(root, definition, node, item, out));
            }
        }
        _ => {}
    }
}

/// Mapping files of stories, refusals, examples and the shipped ones.
pub fn mappings() -> Vec<PathBuf> {
    fn walk(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|ending| ending == "yaml")
                && std::fs::read_to_string(&path).unwrap().contains("version: 1\n")
            {
                out.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    for folder in ["tests/scenarios", "examples", "mappings"] {
        walk(&root.join(folder), &mut all);
    }
    all
}

#[test]
fn every_key_of_the_schema_is_exercised() {
    let schema = schema();
    let mut seen = BTreeSet::new();
    for path in mappings() {
        used(&schema, "", &schema, &yaml(&path), &mut seen);
    }
    // A key that can only be refused (`name` under `tools`) or needs TLS files counts where a refusal shows it.
    let refusals = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refusals");
    for entry in std::fs::read_dir(refusals).unwrap() {
        let path = entry.unwrap().path().join("mapping.yaml");
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let name = path.display().to_string();
        let source = std::sync::Arc::new(rest_mcp::diagnostic::Source { name: name.clone(), text });
        let (document, _) = rest_mcp::document::parse(source, name, &rest_mcp::document::Limits::default());
        if let Some(document) = document {
            used(&schema, "", &schema, &document.root, &mut seen);
        }
    }
    // JSON Schema's own keywords under an argument are merged in as they are: one of them stands for all.
    let ours = "rename description value hide default required mirror";
    let own = |key: &&Key| key.0 != "ArgumentEdits" || ours.split(' ').any(|name| name == key.1);
    let missing: Vec<String> = all_keys(&schema)
        .difference(&seen)
        .filter(own)
        .map(|(definition, key)| format!("{definition}.{key}"))
        .collect();
    assert!(missing.is_empty(), "keys that nothing uses: {}", missing.join(", "));
}

#[test]
fn every_key_of_the_reference_is_in_the_schema() {
    let schema = schema();
    let all = all_keys(&schema);
    let mut missing = Vec::new();
    for (definition, keys) in REFERENCE {
        for key in keys.split_whitespace() {
            if !all.contains(&canonical(&schema, definition, key)) {
                missing.push(format!("{definition}.{key}"));
            }
        }
    }
    assert!(missing.is_empty(), "keys that the schema lacks: {}", missing.join(", "));
}
