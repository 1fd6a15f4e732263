//! Generated schemas in every version of OpenAPI and every place of an operation: what is published compiles, stands
//! alone and has an object root; what comes out of an answer conforms to it; and where a schema means the same in plain
//! JSON Schema, a call is judged as a plain validator judges it.
#![no_main]

use common::api;
use common::generate::{DEFINITIONS, Dialect, schema, value};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use rest_mcp::document::DocumentSet;
use rest_mcp::mapping::SchemaProfile;
use rest_mcp::schema::check::Checker;
use serde_json::{Map, Value, json};

const PROFILES: [SchemaProfile; 3] = [SchemaProfile::Full, SchemaProfile::Default, SchemaProfile::StrictVendors];

fn definitions(u: &mut Unstructured<'_>, dialect: Dialect) -> Result<Value> {
    let members: Result<Map<_, _>> =
        DEFINITIONS.iter().map(|name| Ok(((*name).to_owned(), schema(u, dialect, 3)?))).collect();
    Ok(Value::Object(members?))
}

fn content(schema: &Value) -> Value {
    json!({"application/json": {"schema": schema}})
}

fn description(version: u8, operation: Value, definitions: &Value) -> Value {
    let head = json!({"title": "t", "version": "1"});
    let paths = json!({"/p": {"post": operation}});
    match version {
        0 => json!({"swagger": "2.0", "info": head, "paths": paths, "definitions": definitions}),
        1 => json!({"openapi": "3.0.3", "info": head, "paths": paths, "components": {"schemas": definitions}}),
        2 => json!({"openapi": "3.1.0", "info": head, "paths": paths, "components": {"schemas": definitions}}),
        _ => json!({"openapi": "3.2.0", "info": head, "paths": paths, "components": {"schemas": definitions}}),
    }
}

fn published(document: &Value, profile: SchemaProfile) {
    let Some(root) = api::document("root.json", &document.to_string()) else { return };
    let Some(api) = api::api(&DocumentSet::new(vec![root])) else { return };
    api::publishable(&api::catalog(&api, profile), profile);
}

/// Anything anywhere.
fn wild(u: &mut Unstructured<'_>) -> Result<()> {
    let version = u.int_in_range(0..=3u8)?;
    // One of them an input: three times as many inputs.
    let profile = *u.choose(&PROFILES)?;
    let prefix = if version == 0 { "#/definitions/" } else { "#/components/schemas/" };
    let dialect = Dialect { prefix, plain: false };
    let one = schema(u, dialect, 4)?;
    let two = schema(u, dialect, 3)?;
    let kind = *u.choose(&[
        "application/json",
        "multipart/form-data",
        "application/x-www-form-urlencoded",
        "application/xml",
        "*/*",
    ])?;
    let definitions = definitions(u, dialect)?;
    let operation = match version {
        0 => json!({"parameters": [{"name": "body", "in": "body", "schema": one}],
            "responses": {"200": {"description": "", "schema": two}}}),
        _ => json!({"parameters": [{"name": "q", "in": "query", "schema": two}],
            "requestBody": {"content": {kind: {"schema": one}}},
            "responses": {"200": {"description": "", "content": content(&two)}, "4XX": {"description": "", "content": content(&one)}}}),
    };
    published(&description(version, operation, &definitions), profile);
    Ok(())
}

/// Names of the definitions that a schema applies to the value itself.
fn applied(schema: &Value, found: &mut Vec<String>) {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        found.extend(reference.rsplit('/').next().map(str::to_owned));
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        schema[keyword].as_array().into_iter().flatten().for_each(|branch| applied(branch, found));
    }
    for keyword in ["not", "if", "then", "else"] {
        schema.get(keyword).into_iter().for_each(|branch| applied(branch, found));
    }
    schema["dependentSchemas"].as_object().into_iter().flatten().for_each(|(_, branch)| applied(branch, found));
}

fn circular(definitions: &Value) -> bool {
    DEFINITIONS.iter().any(|name| {
        let (mut open, mut seen) = (Vec::new(), Vec::new());
        applied(&definitions[*name], &mut open);
        while let Some(next) = open.pop() {
            if next == *name {
                return true;
            }
            if !seen.contains(&next) {
                applied(&definitions[&next], &mut open);
                seen.push(next);
            }
        }
        false
    })
}

/// A schema that plain JSON Schema knows.
fn plain(u: &mut Unstructured<'_>) -> Result<()> {
    let dialect = Dialect { prefix: "#/components/schemas/", plain: true };
    let one = schema(u, dialect, 4)?;
    let definitions = definitions(u, dialect)?;
    // A schema that applies itself to the same value has no meaning that two validators had to share (Core §9.4.1).
    if circular(&definitions) {
        published(
            &description(2, json!({"responses": {"200": {"description": "", "content": content(&one)}}}), &definitions),
            SchemaProfile::Default,
        );
        return Ok(());
    }
    let raw = json!({"allOf": [one], "components": {"schemas": definitions}});
    let Ok(validator) = jsonschema::draft202012::new(&raw) else { return Ok(()) };
    let operation = json!({
        "parameters": [{"name": "v", "in": "query", "required": true, "content": content(&one)}],
        "responses": {"200": {"description": "", "content": content(&one)}}
    });
    let document = description(2, operation, &definitions);
    let root = api::document("root.json", &document.to_string()).expect("well-formed");
    let api = api::api(&DocumentSet::new(vec![root])).expect("well-formed");
    let catalog = api::catalog(&api, SchemaProfile::Default);
    api::publishable(&catalog, SchemaProfile::Default);
    let Some(tool) = catalog.tools.values().next() else { return Ok(()) };
    let output = tool.output.published.as_ref().map(|published| Checker::new(&*published.tree()));
    for _ in 0..3 {
        let instance = value(u, 3)?;
        let valid = validator.is_valid(&instance);
        let ours = tool.input.check.is_valid(&json!({"v": instance}));
        assert_eq!(ours, valid, "{instance} against {raw}\nby {}", tool.input.check.schema());
        let (Some(output), Some(shape)) = (&output, &tool.output.conform) else { continue };
        let lenient = output.is_valid(&instance);
        assert!(lenient || !valid, "{instance} fits {raw}\nnot {}", output.schema());
        assert!(shape.fits(&instance) || !lenient, "{instance} fits {}\nbut is changed", output.schema());
        let (conforming, _) = shape.conform(instance.clone());
        assert!(output.is_valid(&conforming), "{instance} became {conforming}\nagainst {}", output.schema());
    }
    Ok(())
}

fuzz_target!(|input: &[u8]| {
    let mut u = Unstructured::new(input);
    // Too few bytes is no finding.
    let _ = match u.arbitrary::<u8>().unwrap_or_default() % 3 {
        0 => plain(&mut u),
        _ => wild(&mut u),
    };
});
