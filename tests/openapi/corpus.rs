//! Every document of the corpus of real documents, where there is one.

use rest_mcp::document::{DocumentSet, Limits, decode, external_references, parse};
use rest_mcp::openapi::{Api, ReadOptions, read};
use rest_mcp::schema::keyword::{definition_name, each_reference};
use rest_mcp::schema::{Direction, Schema};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

pub fn corpus() -> Option<PathBuf> {
    let shared = std::env::var_os("REST_MCP_SHARED").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let folder = shared.into_iter().chain([beside]).map(|it| it.join("corpus")).find(|it| it.is_dir());
    if folder.is_none() {
        println!("no corpus: skipped");
    }
    folder
}

/// Root document and all files it reaches.
fn load(path: &Path) -> Result<DocumentSet, String> {
    let limits = Limits::default();
    let mut open = vec![path.to_str().unwrap().to_owned()];
    let mut documents = Vec::new();
    let mut missing = HashMap::new();
    let mut seen = Vec::new();
    while !open.is_empty() {
        let location = open.remove(0);
        if seen.contains(&location) {
            continue;
        }
        seen.push(location.clone());
        let document = if location.starts_with("http") {
            Err("not fetched".to_owned())
        } else {
            std::fs::read(&location).map_err(|it| it.to_string()).and_then(|bytes| {
                let source = decode(&location, bytes).map_err(|it| it.message)?;
                let (document, report) = parse(source, location.clone(), &limits);
                document.ok_or_else(|| format!("{:?}", report.diagnostics.first().map(|it| &it.message)))
            })
        };
        match document {
            Ok(document) => {
                open.extend(external_references(&document).into_iter().map(|(location, _)| location));
                documents.push(Arc::new(document));
            }
            Err(why) if documents.is_empty() => return Err(why),
            Err(why) => {
                missing.insert(location, why);
            }
        }
    }
    Ok(DocumentSet::new(documents).with_missing(missing))
}

#[test]
fn corpus_operations_load() {
    let Some(corpus) = corpus() else { return };
    let manifest = std::fs::read_to_string(corpus.join("MANIFEST.tsv")).unwrap();
    let mut lines = manifest.lines();
    let header: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let column = |name: &str| header.iter().position(|it| *it == name).unwrap();
    let (file, operations, kind) = (column("file"), column("operations"), column("kind"));
    let (mut expected, mut usable, mut skipped) = (0, 0, 0);
    let mut problems = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split('\t').collect();
        let wanted: usize = cells[operations].parse().unwrap_or(0);
        let set = match load(&corpus.join(cells[file])) {
            Ok(set) => set,
            Err(why) => {
                println!("{}: not parsed: {why}", cells[file]);
                if cells[kind] != "malformed" && wanted > 0 {
                    problems.push(format!("{}: {why}", cells[file]));
                }
                continue;
            }
        };
        let start = Instant::now();
        let (api, report) = read(&set, &ReadOptions::default());
        let took = start.elapsed();
        let Some(api) = api else {
            assert!(report.has_errors());
            assert_eq!(wanted, 0, "{}: {report:?}", cells[file]);
            println!("{}: no API: {}", cells[file], report.diagnostics[0].message);
            continue;
        };
        assert!(api.skipped.iter().all(|it| !it.reason.message.is_empty() && it.reason.place.is_some()));
        if cells[kind] == "malformed" {
            continue;
        }
        expected += wanted;
        usable += api.operations.len();
        skipped += api.skipped.len();
        // Some documents have Azure's `x-ms-paths` besides, which the manifest does not count.
        if api.operations.len() + api.skipped.len() < wanted {
            problems.push(format!(
                "{}: {} operations, expected {wanted}",
                cells[file],
                api.operations.len() + api.skipped.len()
            ));
        }
        for skipped in &api.skipped {
            println!("{}: {} {}: {}", cells[file], skipped.method, skipped.path, skipped.reason.message);
        }
        println!(
            "{}: {} operations, {} definitions, {} ({} notes), {took:?}",
            cells[file],
            api.operations.len(),
            api.definitions.list.len(),
            report.summary(),
            report.count(rest_mcp::diagnostic::Severity::Note),
        );
        for problem in report.diagnostics.iter().take(if std::env::var_os("VERBOSE").is_some() { 1000 } else { 0 }) {
            let at = problem.place.as_ref().map(|it| it.pointer.as_str()).unwrap_or("");
            println!("    {:?} {}: {} at {at}", problem.severity, problem.code, problem.message);
        }
        check_schemas(cells[file], &api);
    }
    println!("{usable} of {expected} operations usable, {skipped} skipped");
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(usable as f64 >= expected as f64 * 0.995, "{usable} of {expected}");
}

/// How many operations of a document are bundled one by one; the others share their definitions.
const BUNDLED: usize = 30;

/// All schemas are valid 2020-12, refer only to definitions, and compile.
fn check_schemas(file: &str, api: &Api) {
    let definitions = &api.definitions;
    let names: HashSet<&str> = definitions.list.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names.len(), definitions.list.len(), "{file}: names repeat");
    let meta = jsonschema::draft202012::meta::validator();
    let check = |what: &str, schema: &Schema| {
        each_reference(&schema.json, &mut |it| {
            assert!(definition_name(it).is_some_and(|it| names.contains(it)), "{file} {what}: {it}");
        });
        if let Some(why) = meta.iter_errors(&schema.json).next() {
            panic!("{file} {what}: {why} at {}", why.instance_path());
        }
    };
    let all: serde_json::Map<String, Value> =
        definitions.list.iter().map(|it| (it.name.clone(), Value::clone(&it.schema.json))).collect();
    let each: Vec<Value> = names.iter().map(|it| json!({ "$ref": format!("#/$defs/{it}") })).collect();
    if !each.is_empty() {
        compile(file, "definitions", &json!({ "anyOf": each, "$defs": all }));
    }
    definitions.list.iter().for_each(|it| check(&it.name, &it.schema));
    for (index, operation) in api.operations.iter().enumerate() {
        let name = format!("{} {}", operation.method, operation.path);
        let bodies = operation.body.iter().flat_map(|it| &it.content);
        let answers = operation.responses.iter().flat_map(|it| &it.content);
        operation.parameters.iter().for_each(|it| check(&name, &it.schema));
        bodies.clone().chain(answers).for_each(|it| check(&name, &it.schema));
        for media in bodies.take(if index < BUNDLED { 1 } else { 0 }) {
            definitions.object_view(&media.schema, Direction::Input);
            let bundled = definitions.bundle(&media.schema, Direction::Input);
            each_reference(&bundled, &mut |it| {
                assert!(bundled["$defs"].get(definition_name(it).unwrap()).is_some(), "{file} {name}: {it}");
            });
            compile(file, &name, &bundled);
        }
    }
}

fn compile(file: &str, what: &str, schema: &Value) {
    if let Err(why) = jsonschema::draft202012::options().build(schema) {
        panic!("{file} {what}: {why}");
    }
}
