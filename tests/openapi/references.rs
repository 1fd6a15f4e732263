//! `$ref` to every kind of component, through chains and files, never in circles.

use super::support::{codes, only, read_body, read_files};
use rest_mcp::openapi::SecurityScheme;
use rest_mcp::schema::Direction;
use serde_json::json;

#[test]
fn every_kind_of_component_can_be_referred_to() {
    let (api, report) = read_body(
        "3.2.0",
        r"
paths:
  /a/{id}: { $ref: '#/components/pathItems/Item' }
components:
  pathItems:
    Item:
      parameters: [{ $ref: '#/components/parameters/Alias', description: mine }]
      post:
        requestBody: { $ref: '#/components/requestBodies/Body' }
        responses: { 200: { $ref: '#/components/responses/Ok', description: mine } }
  parameters:
    Alias: { $ref: '#/components/parameters/Id' }
    Id: { name: id, in: path, required: true, schema: { $ref: '#/components/schemas/Id' }, examples: { e: { $ref: '#/components/examples/E' } } }
  requestBodies: { Body: { content: { application/json: { $ref: '#/components/mediaTypes/M' } } } }
  mediaTypes: { M: { schema: { $ref: '#/components/schemas/Id' } } }
  responses: { Ok: { description: theirs, content: { application/json: { $ref: '#/components/mediaTypes/M' } }, headers: { X: { $ref: '#/components/headers/X' } } } }
  headers: { X: { schema: {} } }
  examples: { E: { value: 5 } }
  schemas: { Id: { $ref: '#/components/schemas/Real' }, Real: { type: integer } }
  securitySchemes: { s: { $ref: '#/components/securitySchemes/t' }, t: { type: http, scheme: Bearer } }
security: [{ s: [] }]
",
    );
    assert!(report.is_empty(), "{report:?}");
    let operation = only(&api);
    assert_eq!(operation.parameters[0].description.as_deref(), Some("mine"));
    assert_eq!(operation.parameters[0].examples, [json!(5)]);
    assert_eq!(operation.responses[0].description.as_deref(), Some("mine"));
    assert_eq!(api.security_schemes["s"], SecurityScheme::Bearer);
    let schema = &operation.body.as_ref().unwrap().content[0].schema;
    let expected = json!({"$ref": "#/$defs/Id", "$defs": {"Id": {"type": "integer"}}});
    assert_eq!(api.definitions.bundle(schema, Direction::Input), expected, "a chain of references is one definition");
}

#[test]
fn what_stands_beside_a_path_items_reference_wins() {
    let (api, _) = read_body(
        "3.1.0",
        "paths: { /a: { $ref: '#/components/pathItems/I', summary: mine, get: { operationId: mine } } }\ncomponents: { pathItems: { I: { summary: theirs, get: { operationId: theirs }, put: { operationId: theirs } } } }",
    );
    let found: Vec<_> = api
        .operations
        .iter()
        .map(|it| (it.method.as_str(), it.operation_id.as_deref().unwrap(), it.summary.as_deref().unwrap()))
        .collect();
    assert_eq!(found, [("GET", "mine", "mine"), ("PUT", "theirs", "mine")]);
}

#[test]
fn references_reach_other_files_and_come_back() {
    let root = "openapi: 3.0.0\npaths:\n  /a: { $ref: 'paths/a.yaml' }\n  /b: { get: { $ref: 'ops.yaml#/b' } }\ncomponents: { schemas: { $ref: 'schemas.yaml' } }";
    let path = "get: { responses: { 200: { description: d, content: { application/json: { schema: { $ref: '../pet.json' } } } } } }";
    let pet = r##"{"type": "object", "properties": {"friend": {"$ref": "#"}, "owner": {"$ref": "api.yaml#/components/schemas/Owner"}}}"##;
    let ops = "b: { operationId: b }";
    let schemas = "Owner: { type: string }";
    let (api, report) = read_files(&[
        ("/s/api.yaml", root),
        ("/s/paths/a.yaml", path),
        ("/s/pet.json", pet),
        ("/s/ops.yaml", ops),
        ("/s/schemas.yaml", schemas),
    ]);
    assert!(report.is_empty(), "{report:?}");
    assert_eq!(api.operations.len(), 2);
    let schema = &api.operations[0].responses[0].content[0].schema;
    let bundled = api.definitions.bundle(schema, Direction::Output);
    let name = bundled["$ref"].as_str().unwrap().strip_prefix("#/$defs/").unwrap();
    assert_eq!(bundled["$defs"][name]["properties"]["friend"], json!({"$ref": format!("#/$defs/{name}")}));
    assert_eq!(bundled["$defs"]["Owner"], json!({"type": "string"}), "through a reference that stands in the way");
}

#[test]
fn circles_of_references_are_told_not_followed() {
    let (api, report) = read_body(
        "3.0.0",
        "paths: { /a: { get: { parameters: [{ $ref: '#/components/parameters/A' }] } }, /b: { $ref: '#/paths/~1b' } }\ncomponents: { parameters: { A: { $ref: '#/components/parameters/B' }, B: { $ref: '#/components/parameters/A' } } }",
    );
    assert!(api.operations.is_empty());
    assert_eq!(codes(&report), ["circular-ref", "circular-ref"]);
}

#[test]
fn a_schema_reference_that_leads_nowhere_accepts_anything() {
    let (api, report) = read_body(
        "3.0.0",
        "paths: { /a: { post: { requestBody: { content: { application/json: { schema: { properties: { a: { $ref: '#/components/schemas/Pat' } } } } } } } } }\ncomponents: { schemas: { Pet: {} } }",
    );
    let schema = &only(&api).body.as_ref().unwrap().content[0].schema;
    assert_eq!(*schema.json, json!({"properties": {"a": {}}}));
    assert_eq!(codes(&report), ["unresolved-ref"]);
    assert!(report.diagnostics[0].fix.as_deref().unwrap().contains("Pet"));
}
