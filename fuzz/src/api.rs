//! From text to tools in memory, and what must hold for every tool there is.

use rest_mcp::catalog::Catalog;
use rest_mcp::catalog::compile::{Options, Unit, compile};
use rest_mcp::diagnostic::Source;
use rest_mcp::document::{Document, DocumentSet, Limits, parse};
use rest_mcp::mapping::{Environment, Mapping, SchemaProfile};
use rest_mcp::openapi::{Api, ReadOptions, read};
use rest_mcp::schema::check::Checker;
use rest_mcp::schema::profile::self_check;
use rest_mcp::secret::Secret;
use serde_json::Value;
use std::sync::Arc;

/// Small enough that a run stays fast, large enough that every limit can be met.
pub const LIMITS: Limits = Limits { max_bytes: 1 << 20, max_depth: 64, max_nodes: 20_000 };

/// Neither variables nor files.
struct Nothing;

impl Environment for Nothing {
    fn env(&self, _: &str) -> Option<Secret> {
        None
    }

    fn file(&self, _: &str) -> Result<Secret, String> {
        Err("there is no such file".to_owned())
    }
}

/// Reads one file; without a document there is an error that says why.
pub fn document(name: &str, text: &str) -> Option<Arc<Document>> {
    let (document, report) = parse(Source::new(name, text.to_owned()), format!("/api/{name}"), &LIMITS);
    assert!(document.is_some() || report.has_errors(), "no document and no reason");
    document.map(Arc::new)
}

/// Reads the set as an API description; without one there is an error that says why.
pub fn api(set: &DocumentSet) -> Option<Arc<Api>> {
    let options = ReadOptions { max_schema_depth: 40, max_schemas: 20_000, max_operations: 200 };
    let (api, report) = read(set, &options);
    assert!(api.is_some() || report.has_errors(), "no API and no reason");
    api.map(Arc::new)
}

/// Every tool of an API description, published in this profile.
pub fn catalog(api: &Arc<Api>, profile: SchemaProfile) -> Catalog {
    let sources = [("api".to_owned(), rest_mcp::mapping::Source::default())].into_iter().collect();
    let mut mapping = Mapping { version: 1, sources, ..Mapping::default() };
    mapping.catalog.schema_profile = profile;
    mapped(mapping, api)
}

/// The tools of an API description that is the source `api` of a mapping; none is lost without a word.
pub fn mapped(mapping: Mapping, api: &Arc<Api>) -> Catalog {
    let apis = [("api".to_owned(), Arc::clone(api))].into_iter().collect();
    let unit = Unit { mapping, document: None, apis, workflows: Vec::new() };
    let options = Options { base_url: Some("http://127.0.0.1:9/base".to_owned()) };
    let (catalog, report) = compile(&[unit], &options, &Nothing);
    let lost = api.operations.len().saturating_sub(catalog.tools.len());
    assert!(lost <= report.diagnostics.len() + catalog.skipped.len(), "{lost} operations are gone without a word");
    catalog
}

/// What is published compiles, refers only to itself and has an object root; what calls are checked against compiles.
pub fn publishable(catalog: &Catalog, profile: SchemaProfile) {
    for tool in catalog.tools.values() {
        let published = &*tool.input.published.tree();
        if let Err(fault) = self_check(published) {
            panic!("{} publishes {published}: {fault}", tool.name);
        }
        alone(published, published);
        for combinator in ["oneOf", "anyOf", "allOf", "$ref", "not", "if"] {
            let barred = profile != SchemaProfile::Full && published.get(combinator).is_some();
            assert!(!barred, "{combinator} at the root of {published}");
        }
        compiles(&tool.input.check);
        tool.input.body_check.iter().for_each(compiles);
        if let Some(output) = &tool.output.published {
            let output = &*output.tree();
            alone(output, output);
            compiles(&Checker::new(output));
        }
        let name = &tool.name;
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        assert!((1..=64).contains(&name.len()) && name.bytes().all(legal), "the name {name:?}");
        let shown = |text: &str| !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t');
        assert!(shown(&tool.description), "control characters in {:?}", tool.description);
    }
}

fn compiles(checker: &Checker) {
    if let Err(fault) = checker.compile() {
        panic!("{}: {fault}", checker.schema());
    }
}

/// Every `$ref` of a schema points into the schema. Where a value stands instead of a schema, a member of that name
/// is data.
fn alone(root: &Value, schema: &Value) {
    let Some(members) = schema.as_object() else { return };
    if let Some(reference) = members.get("$ref") {
        let pointer = reference.as_str().and_then(|text| text.strip_prefix('#'));
        let inside = pointer.is_some_and(|pointer| {
            let plain = percent_encoding::percent_decode_str(pointer).decode_utf8_lossy();
            root.pointer(&plain).is_some()
        });
        assert!(inside, "$ref {reference} in {root}");
    }
    for (keyword, value) in members {
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "$defs" | "dependentSchemas", Value::Object(map)) => {
                map.values().for_each(|schema| alone(root, schema));
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(list)) => {
                list.iter().for_each(|schema| alone(root, schema));
            }
            (
                "items"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                schema,
            ) => alone(root, schema),
            _ => {}
        }
    }
}
