//! Any bytes under any Content-Type, status and way of shaping: every revision's result is one line of JSON, and
//! `structuredContent` conforms to the output schema that was published.
//!
//! The first byte is the tool, the second the status; a line with the Content-Type follows, then the body.
#![no_main]

use bytes::Bytes;
use common::api;
use libfuzzer_sys::fuzz_target;
use rest_mcp::catalog::{Arguments, Catalog};
use rest_mcp::content::from_response;
use rest_mcp::content::wire::{Pieces, WireOptions, write_result};
use rest_mcp::document::DocumentSet;
use rest_mcp::mapping::Mapping;
use rest_mcp::response::Response;
use rest_mcp::schema::check::Checker;
use serde_json::{Value, json};
use std::sync::LazyLock;
use std::time::Duration;

const MAPPING: &str = r"
version: 1
sources: {api: {spec: api.json}}
tools:
  lenient: {source: api, operation: lenient}
  strict: {source: api, operation: strict, result: {output_schema: strict}}
  none: {source: api, operation: none, result: {output_schema: none}}
  path: {source: api, operation: path, result: {path: items, limit_items: 2}}
  pick: {source: api, operation: pick, result: {path: items, pick: [id, owner.name], rename: {id: number}}}
  drop: {source: api, operation: drop, result: {drop: ['*.owner', total], redact: [items.id]}}
  cut: {source: api, operation: cut, result: {max_bytes: 256}}
  jq: {source: api, operation: jq, result: {select: '.items[] | {id, name: .owner.name}'}}
  free: {source: api, operation: free, result: {select: '.. | .id?'}}
  text: {source: api, operation: text, result: {as: text}}
  table: {source: api, operation: table, result: {format: table}}
  csv: {source: api, operation: csv, result: {format: csv}}
  template: {source: api, operation: template, result: {template: '{{total}} {{#each items}}{{id}}{{/each}}'}}
  union: {source: api, operation: union}
  list: {source: api, operation: list}
  scalar: {source: api, operation: scalar}
  file: {source: api, operation: file, result: {as: resource, uri: 'rest-mcp:file'}}
";

struct Site {
    catalog: Catalog,
    checks: Vec<Option<Checker>>,
}

static SITE: LazyLock<Site> = LazyLock::new(|| {
    let item = json!({"type": "object", "required": ["id"], "additionalProperties": false, "properties": {
        "id": {"type": "integer"}, "owner": {"$ref": "#/components/schemas/Owner"}, "when": {"type": "string", "format": "date"}}});
    let owner = json!({"type": "object", "properties": {"name": {"type": "string", "minLength": 1},
        "friends": {"type": "array", "items": {"$ref": "#/components/schemas/Owner"}}}});
    let object = json!({"type": "object", "required": ["items", "total"], "properties": {
        "total": {"type": "integer", "minimum": 0}, "items": {"type": "array", "items": item}}});
    let mapping = api::document("mapping.yaml", MAPPING).expect("YAML");
    let (mapping, report) = rest_mcp::mapping::read(&mapping);
    let mapping: Mapping = mapping.unwrap_or_else(|| panic!("{report:?}"));
    let mut paths = serde_json::Map::new();
    for name in mapping.tools.keys() {
        let schema = match name.as_str() {
            "union" => json!({"oneOf": [{"type": "string"}, {"type": "integer"}, object]}),
            "list" => json!({"type": "array", "items": item, "uniqueItems": true}),
            "scalar" => json!({"enum": ["a", 1, null]}),
            _ => object.clone(),
        };
        let answer = json!({"description": "", "content": {"application/json": {"schema": schema}}});
        paths.insert(format!("/{name}"), json!({"get": {"operationId": name, "responses": {"200": answer}}}));
    }
    let document = json!({"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": paths, "components": {"schemas": {"Owner": owner}}});
    let root = api::document("root.json", &document.to_string()).expect("JSON");
    let read = api::api(&DocumentSet::new(vec![root])).expect("OpenAPI");
    let catalog = api::mapped(mapping, &read);
    let checks = catalog
        .tools
        .values()
        .map(|tool| tool.output.published.as_ref().map(|published| Checker::new(&*published.tree())))
        .collect::<Vec<_>>();
    assert_eq!(checks.len(), paths_of(MAPPING), "{:?}", catalog.tools.keys());
    Site { catalog, checks }
});

fn paths_of(mapping: &str) -> usize {
    mapping.lines().filter(|line| line.contains("operation:")).count()
}

fuzz_target!(|input: &[u8]| {
    let [tool, status, rest @ ..] = input else { return };
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let (declared, body) = rest.split_at(end);
    let index = usize::from(*tool) % SITE.checks.len();
    let (_, tool) = SITE.catalog.tools.get_index(index).expect("counted");
    let mut headers = http::HeaderMap::new();
    if let Ok(declared) = http::HeaderValue::from_bytes(declared)
        && !declared.is_empty()
    {
        headers.insert("content-type", declared);
    }
    let codes = [200, 200, 200, 200, 201, 204, 206, 304, 400, 404, 500, 503];
    let status = http::StatusCode::from_u16(codes[usize::from(*status) % codes.len()]).expect("a status");
    let body = Bytes::copy_from_slice(body.get(1..).unwrap_or_default());
    let response = Response { status, headers, body, truncated: false, elapsed: Duration::ZERO };
    let content = from_response(tool, &Arguments::default(), &response, "rest-mcp:it", None);
    if status.is_client_error() || status.is_server_error() {
        assert!(content.is_error, "{status} is no error");
    }
    assert!(!content.is_error || !content.blocks.is_empty());
    if let (false, Some(structured)) = (content.is_error, &content.structured) {
        let value = structured.to_value();
        assert_eq!(serde_json::from_str::<Value>(&structured.to_text()).expect("JSON"), value);
        // A tool that publishes nothing may give a structured value all the same.
        if let Some(check) = SITE.checks[index].as_ref() {
            assert!(check.is_valid(&value), "{}: {value}\nagainst {}", tool.name, check.schema());
        }
    }
    let published = SITE.checks[index].is_some();
    assert!(content.is_error || !published || content.structured.is_some(), "{} has no structured content", tool.name);
    for known in [false, true] {
        let options = WireOptions {
            structured: known,
            wrap_structured: known && !tool.name.starts_with('l'),
            wrap_objects: false,
            audio: known,
            links: known,
            result_type: known,
            server_info: None,
        };
        let mut out = Pieces::default();
        write_result(&content, &mut out, &options);
        let out = out.whole();
        assert!(!out.contains(&b'\n') && !out.contains(&b'\r'));
        let result: Value = serde_json::from_slice(&out).expect("JSON");
        assert!(result["content"].is_array());
    }
});
