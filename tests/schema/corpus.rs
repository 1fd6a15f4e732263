//! The schemas of real documents, where the corpus is there: every one is published, checked and relaxed.

use rest_mcp::content::conform::Shape;
use rest_mcp::document::{DocumentSet, Limits, decode, parse};
use rest_mcp::mapping::SchemaProfile;
use rest_mcp::openapi::{ReadOptions, read};
use rest_mcp::schema::check::Checker;
use rest_mcp::schema::output::{has_object_root, relaxed, wrap_for_object_root};
use rest_mcp::schema::profile::{publish, quick_check, self_check};
use rest_mcp::schema::{Direction, Schema};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

fn documents() -> Vec<PathBuf> {
    let shared = std::env::var_os("REST_MCP_SHARED").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let Some(corpus) = shared.into_iter().chain([beside]).map(|it| it.join("corpus")).find(|it| it.is_dir()) else {
        println!("no corpus: skipped");
        return Vec::new();
    };
    let folders = ["real-2.0", "real-3.0", "real-3.1", "official-examples", "quirks"];
    let mut files: Vec<PathBuf> = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(corpus.join(folder)).ok())
        .flat_map(|entries| entries.flatten().map(|entry| entry.path()))
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
}

/// What a value may look like that an API answers, whatever it promised.
fn surprises() -> Vec<Value> {
    vec![
        json!(null),
        json!({}),
        json!([]),
        json!("x"),
        json!(7),
        json!({ "id": [], "name": { "x": 1 }, "data": [{ "id": null }], "type": 5 }),
    ]
}

#[test]
fn schemas_of_real_documents_are_published_checked_and_relaxed() {
    // Every operation where asked for; else some of each document, so that a debug build stays quick.
    let most: usize = std::env::var("CORPUS_OPERATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
    let (mut inputs, mut outputs, mut uncompiled) = (0, 0, Vec::new());
    for path in documents() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_string();
        let Ok(source) = decode(&name, std::fs::read(&path).expect("readable")) else { continue };
        let (Some(document), _) = parse(source, path.display().to_string(), &Limits::default()) else { continue };
        let (Some(api), _) = read(&DocumentSet::new(vec![Arc::new(document)]), &ReadOptions::default()) else {
            continue;
        };
        let step = (api.operations.len() / most).max(1);
        let start = Instant::now();
        for operation in api.operations.iter().step_by(step) {
            let at = format!("{name}: {} {}", operation.method, operation.path);
            let mut parts: Vec<(String, &Schema)> =
                operation.parameters.iter().map(|it| (it.name.clone(), &it.schema)).collect();
            let body = operation.body.iter().flat_map(|body| &body.content).next();
            parts.extend(body.map(|media| ("body".to_string(), &media.schema)));
            let (schemas, definitions) =
                api.definitions.bundle_parts(parts.iter().map(|(_, schema)| *schema), Direction::Input);
            let properties: serde_json::Map<String, Value> =
                parts.iter().map(|(name, _)| name.clone()).zip(schemas).collect();
            let mut fulls = vec![
                json!({ "type": "object", "properties": properties, "additionalProperties": false, "$defs": definitions }),
            ];
            fulls.extend(body.map(|media| api.definitions.bundle(&media.schema, Direction::Input)));
            for full in fulls {
                inputs += 1;
                let checker = Checker::new(Arc::new(full.clone()));
                if let Err(reason) = checker.compile() {
                    uncompiled.push(format!("{at}: {reason}"));
                    continue;
                }
                for value in surprises() {
                    assert_eq!(checker.check(&value).is_empty(), checker.is_valid(&value), "{at}");
                }
                let published = publish(&full, SchemaProfile::Default);
                self_check(&published).unwrap_or_else(|reason| panic!("{at}: {reason}"));
                let strict = publish(&full, SchemaProfile::StrictVendors);
                self_check(&strict).unwrap_or_else(|reason| panic!("{at}: {reason}"));
                for name in full.get("properties").and_then(Value::as_object).into_iter().flat_map(|it| it.keys()) {
                    assert!(
                        published["properties"].get(name).is_some() && strict["properties"].get(name).is_some(),
                        "{at}: {name}"
                    );
                }
            }
            for media in operation.responses.iter().flat_map(|response| &response.content) {
                outputs += 1;
                let full = api.definitions.bundle(&media.schema, Direction::Output);
                let out = relaxed(&full);
                let shape = Shape::new(&out);
                let checker = Checker::new(Arc::new(out.clone()));
                checker.compile().unwrap_or_else(|reason| panic!("{at}: {reason}"));
                for value in surprises() {
                    let text = value.to_string();
                    let (conforming, nulled) = shape.conform(value);
                    assert!(checker.is_valid(&conforming), "{at}: {conforming} from {text}");
                    assert_eq!(
                        nulled == 0,
                        shape.accepts(text.as_bytes()) == rest_mcp::content::conform::Verdict::Conforms,
                        "{at}: {text}"
                    );
                }
                if !has_object_root(&out) {
                    quick_check(&wrap_for_object_root(&out)).unwrap_or_else(|reason| panic!("{at}: {reason}"));
                }
            }
        }
        println!("{name}: {} operations, {:?}", api.operations.len(), start.elapsed());
    }
    println!("{inputs} inputs, {outputs} outputs");
    for line in &uncompiled {
        println!("does not compile: {line}");
    }
    assert!(uncompiled.len() * 50 <= inputs, "too many schemas do not compile: {}", uncompiled.len());
}
