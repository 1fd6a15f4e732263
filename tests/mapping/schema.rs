use rest_mcp::{config, mapping};
use serde_json::{Value, json};
use std::path::Path;

fn shipped(name: &str, generated: &Value) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("mappings").join(name);
    let wanted = serde_json::to_string_pretty(generated).unwrap() + "\n";
    if std::env::var_os("WRITE_SCHEMAS").is_some() {
        std::fs::write(&file, &wanted).unwrap();
    }
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text == wanted, "{name} is not the schema of the types; run the test with WRITE_SCHEMAS=1");
}

#[test]
fn the_shipped_schemas_are_those_of_the_types() {
    shipped("mapping.schema.json", &mapping::json_schema());
    shipped("config.schema.json", &config::json_schema());
}

#[test]
fn the_shipped_references_are_those_of_the_types() {
    for (name, wanted) in [("REFERENCE.md", mapping::reference::mapping()), ("SETTINGS.md", config::reference())] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("mappings").join(name);
        if std::env::var_os("WRITE_SCHEMAS").is_some() {
            std::fs::write(&file, &wanted).unwrap();
        }
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text == wanted, "{name} is not that of the types; run the test with WRITE_SCHEMAS=1");
    }
}

/// Every key has its line in its section, every section says where it stands, and every example is one of its kind.
#[test]
fn the_reference_has_every_key_and_examples_that_hold() {
    for (schema, text) in
        [(mapping::json_schema(), mapping::reference::mapping()), (config::json_schema(), config::reference())]
    {
        let mut sections = text.split("\n## ");
        let first = sections.next().unwrap();
        let sections: Vec<(&str, &str)> = sections.map(|section| section.split_once('\n').unwrap()).collect();
        for key in schema["properties"].as_object().unwrap().keys() {
            assert!(first.contains(&format!("| `{key}`")), "{key}");
        }
        let shared = schema["$defs"].get("ToolEdits").and_then(|edits| edits["properties"].as_object());
        for (name, definition) in schema["$defs"].as_object().unwrap() {
            let own = definition["properties"].as_object();
            let branches = definition["oneOf"].as_array().into_iter().flatten();
            let keys: Vec<&String> = own
                .into_iter()
                .chain(branches.filter_map(|one| one["properties"].as_object()))
                .flat_map(|all| all.keys())
                .collect();
            if keys.is_empty() {
                continue;
            }
            let (_, section) = sections.iter().find(|(title, _)| title == name).unwrap_or_else(|| panic!("{name}"));
            assert!(section.contains("Stands at `"), "{name}");
            for key in keys {
                let elsewhere = name == "ToolRules" && shared.is_some_and(|shared| shared.contains_key(key));
                assert!(elsewhere || section.contains(&format!("| `{key}`")), "{name}.{key}");
            }
        }
        for (title, _) in &sections {
            assert!(schema["$defs"].get(title).is_some(), "{title} is no definition");
        }
    }
    let schema = mapping::json_schema();
    for (name, example) in mapping::reference::EXAMPLES {
        let mut root = schema.clone();
        assert!(root["$defs"].get(name).is_some(), "{name}");
        root["properties"] = json!({"example": {"$ref": format!("#/$defs/{name}")}});
        root["required"] = json!(["example"]);
        let text = format!("example:\n  {}", example.replace('\n', "\n  "));
        let validator = jsonschema::validator_for(&root).unwrap();
        let tree = super::document(&text).root.clone();
        let errors: Vec<String> =
            validator.iter_errors(&tree).map(|error| format!("{} {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
}

#[test]
fn the_schemas_are_valid_and_closed_everywhere() {
    for schema in [mapping::json_schema(), config::json_schema()] {
        assert!(jsonschema::meta::is_valid(&schema));
        let defs = schema["$defs"].as_object().unwrap();
        for (name, def) in defs.iter().chain([(&"root".to_owned(), &schema)]) {
            let typed = def.get("properties").is_some();
            // Free JSON Schemas are the only open objects.
            if typed && name != "ObjectSchema" {
                assert_eq!(def["additionalProperties"], json!(false), "{name}");
            }
            for (key, property) in def.get("properties").and_then(Value::as_object).into_iter().flatten() {
                let ours =
                    !matches!(name.as_str(), "ArgumentEdits" | "ParameterObject" | "ObjectSchema") && key != "type";
                let described = property.get("description").is_some() || property.get("$ref").is_some();
                assert!(!ours || described, "{name}.{key} says nothing");
            }
        }
    }
}

#[test]
fn every_key_of_the_reference_is_in_the_schema() {
    let schema = mapping::json_schema();
    let keys = |name: &str| {
        let def = if name.is_empty() { &schema } else { &schema["$defs"][name] };
        def["properties"].as_object().unwrap_or_else(|| panic!("{name}")).keys().cloned().collect::<Vec<_>>()
    };
    for (def, wanted) in [
        ("", "version sources rules tools resources prompts catalog"),
        (
            "Source",
            "spec overlays workflows base_url server_variables expose tool_prefix credentials headers forward_headers tls limits",
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
            "operation source title description annotations icons args body result success errors paginate poll stream confirm ask requires_client cache timeout tests request input steps",
        ),
        (
            "ToolEdits",
            "title description annotations icons args body result success errors paginate poll stream confirm ask requires_client cache timeout",
        ),
        ("DescriptionFrom", "from append max_chars"),
        ("AnnotationEdits", "read_only destructive idempotent open_world"),
        (
            "ArgumentEdits",
            "rename description examples minimum maximum value hide default required mirror enum pattern",
        ),
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
        ("ToolTest", "args request respond result"),
        ("TestRequest", "method path headers"),
        ("TestAnswer", "status json"),
        ("TestResult", "json"),
        ("HandRequest", "method path parameters body"),
        ("StepRules", "id call with when on_error"),
        ("ResourceRules", "operation uri mime_type"),
        ("PromptRules", "description arguments messages"),
        ("PromptArgument", "name required complete"),
        ("PromptMessage", "role text resource"),
        ("CatalogRules", "mode pinned name_style max_name schema_profile"),
    ] {
        let there = keys(def);
        for key in wanted.split(' ') {
            assert!(there.iter().any(|one| one == key), "{def}.{key}");
        }
    }
    let settings = config::json_schema();
    for key in "version mappings listen tls transports legacy_sessions state_key origins hosts access audit telemetry"
        .split(' ')
    {
        assert!(settings["properties"].get(key).is_some(), "{key}");
    }
}

#[test]
fn an_editor_accepts_what_the_program_accepts() {
    let schema = mapping::json_schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let accept = |text: &str| {
        let tree = super::document(text).root.clone();
        let errors: Vec<String> =
            validator.iter_errors(&tree).map(|error| format!("{} {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    };
    accept(super::reading::REFERENCE);
    accept("version: 1\nsources:\nrules:\ntools:\n  getPet:\nresources:\nprompts:\ncatalog:\n");
    for wrong in [
        "version: 2",
        "version: 1\ntool: {}",
        "version: 1\ntools: { a: { args: { x: { maximun: 1 } } } }",
        "version: 1\nrules: [ { match: { y-z: 1 } } ]",
    ] {
        assert!(!validator.is_valid(&super::document(wrong).root), "{wrong}");
    }
}
