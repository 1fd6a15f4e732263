//! Time of each stage of a start and of a call, in nanoseconds.
//!
//! `cargo bench --bench stages [PART]` prints, for every stage whose name holds PART, the best and the median
//! of 15 batches: the best moves least with other work on the machine. With `STAGES_FILE=PATH` it also times what
//! parsers of others need for that file (`file: `).

use rest_mcp::app::{self, Settings};
use rest_mcp::catalog::compile::{Options, Unit, compile};
use rest_mcp::catalog::{Action, Tool};
use rest_mcp::config::ProcessEnvironment;
use rest_mcp::content::wire::{Pieces, WireOptions, write_result};
use rest_mcp::content::{Content, conform::Shape, from_response};
use rest_mcp::document::{self, DocumentSet, Limits};
use rest_mcp::mapping::{Mapping, Source};
use rest_mcp::openapi::{self, Api};
use rest_mcp::request::{self, Fixed};
use rest_mcp::response::Response;
use rest_mcp::service::{Context, Handler, Round};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::hint::black_box;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const BATCHES: usize = 15;
const BATCH: Duration = Duration::from_millis(40);

struct Stages {
    wanted: String,
}

impl Stages {
    fn time<T>(&self, name: &str, mut stage: impl FnMut() -> T) {
        if !name.contains(&self.wanted) {
            return;
        }
        let mut rounds = 0u32;
        let start = Instant::now();
        while start.elapsed() < BATCH {
            black_box(stage());
            rounds += 1;
        }
        let mut batches: Vec<u128> = (0..BATCHES)
            .map(|_| {
                let start = Instant::now();
                (0..rounds).for_each(|_| drop(black_box(stage())));
                start.elapsed().as_nanos() / u128::from(rounds)
            })
            .collect();
        batches.sort_unstable();
        let best = batches.first().copied().unwrap_or_default();
        let median = batches.get(BATCHES / 2).copied().unwrap_or_default();
        let _ = writeln!(std::io::stdout(), "{name:<44} {best:>12} {median:>12}");
    }
}

fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let stages = Stages { wanted };
    let _ = writeln!(std::io::stdout(), "{:<44} {:>12} {:>12}", "stage", "best ns", "median ns");
    let small = description(1);
    let large = description(400);
    for (size, text) in [("3 operations", &small), ("1200 operations", &large)] {
        stages.time(&format!("serde_json to Value, {size}"), || serde_json::from_str::<Value>(text).ok());
        stages.time(&format!("document::parse, {size}"), || parsed(text));
        let document = parsed(text);
        let set = DocumentSet::new(vec![document]);
        stages.time(&format!("openapi::read, {size}"), || openapi::read(&set, &openapi::ReadOptions::default()));
        let Some(api) = openapi::read(&set, &openapi::ReadOptions::default()).0 else { continue };
        let unit = unit(Arc::new(api));
        let environment = ProcessEnvironment::new(".");
        stages.time(&format!("catalog::compile, {size}"), || {
            compile(std::slice::from_ref(&unit), &Options::default(), &environment)
        });
    }
    calls(&stages, &small);
    if let Some(path) = std::env::var_os("STAGES_FILE") {
        file(&stages, std::path::Path::new(&path));
    }
}

/// What others need to parse a file: JSON with `serde_json`, YAML with the two YAML crates that are built in (events
/// alone for one of them: it makes no values).
fn file(stages: &Stages, path: &std::path::Path) {
    let Ok(text) = std::fs::read_to_string(path) else { return };
    if path.extension().is_some_and(|extension| extension == "json") {
        stages.time("file: serde_json", || serde_json::from_str::<Value>(&text).is_ok());
        return;
    }
    stages.time("file: yaml_serde", || serde_yaml::from_str::<serde_yaml::Value>(&text).is_ok());
    stages.time("file: saphyr_events", || saphyr_parser::Parser::new_from_str(&text).filter(Result::is_ok).count());
}

/// Get one, list all, create, `repeats` times.
fn description(repeats: usize) -> String {
    let mut paths = serde_json::Map::new();
    let pet = json!({"$ref": "#/components/schemas/Pet"});
    let answer =
        |schema: Value| json!({"200": {"description": "Good", "content": {"application/json": {"schema": schema}}}});
    for n in 0..repeats {
        paths.insert(
            format!("/{n}/pets/{{petId}}"),
            json!({"get": {"operationId": format!("getPet{n}"), "summary": "Get one pet", "responses": answer(pet.clone()), "parameters": [
                {"name": "petId", "in": "path", "required": true, "description": "The id of the pet", "schema": {"type": "integer"}},
                {"name": "fields", "in": "query", "schema": {"type": "array", "items": {"type": "string", "enum": ["id", "name"]}}}
            ]}}),
        );
        paths.insert(
            format!("/{n}/pets"),
            json!({
                "get": {"operationId": format!("listPets{n}"), "summary": "List pets", "responses": answer(json!({"type": "array", "items": pet}))},
                "post": {"operationId": format!("createPet{n}"), "summary": "Create a pet", "responses": answer(pet.clone()),
                    "requestBody": {"required": true, "content": {"application/json": {"schema": pet}}}}
            }),
        );
    }
    let text = |description: &str| json!({"type": "string", "description": description});
    let owner = json!({"type": "object", "properties": {"name": text("Full name"), "email": text("Address")}});
    let status = json!({"type": "string", "enum": ["available", "pending", "sold"]});
    json!({"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "servers": [{"url": "http://127.0.0.1:9"}], "paths": paths,
        "components": {"schemas": {"Owner": owner, "Pet": {"type": "object", "required": ["name"], "properties": {
            "id": {"type": "integer", "readOnly": true}, "name": text("What it is called"), "tag": text("Kind"),
            "status": status, "vaccinated": {"type": "boolean"}, "weightKg": {"type": "number"}, "owner": {"$ref": "#/components/schemas/Owner"}
        }}}}})
    .to_string()
}

fn parsed(text: &str) -> Arc<document::Document> {
    let source = rest_mcp::diagnostic::Source::new("pets.json", text.to_owned());
    let (document, _) = document::parse(source, "/pets.json".to_owned(), &Limits::default());
    Arc::new(document.unwrap_or_else(|| std::process::abort()))
}

fn unit(api: Arc<Api>) -> Unit {
    let sources = [("pets".to_owned(), Source::default())].into_iter().collect();
    let mapping = Mapping { version: 1, sources, ..Mapping::default() };
    Unit { mapping, document: None, apis: [("pets".to_owned(), api)].into_iter().collect(), workflows: Vec::new() }
}

fn pet(id: usize) -> Value {
    json!({"id": id, "name": "Rex", "tag": "dog", "status": "available", "vaccinated": true, "weightKg": 12.5,
        "owner": {"name": "Ann \"the vet\" Lee", "email": "ann@example.com"}})
}

fn response(body: &str) -> Response {
    let mut headers = http::HeaderMap::new();
    headers.insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    let body = bytes::Bytes::copy_from_slice(body.as_bytes());
    Response { status: http::StatusCode::OK, headers, body, truncated: false, elapsed: Duration::ZERO }
}

fn calls(stages: &Stages, text: &str) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let small = pet(7).to_string();
    let large = Value::Array((0..700).map(pet).collect()).to_string();
    let base = runtime.block_on(echo(small.clone(), large.clone()));
    let set = DocumentSet::new(vec![parsed(text)]);
    let Some(api) = openapi::read(&set, &openapi::ReadOptions::default()).0 else { return };
    let options = Options { base_url: Some(base) };
    let (catalog, _) = compile(&[unit(Arc::new(api))], &options, &ProcessEnvironment::new("."));
    let tool = |name: &str| catalog.tools.get(name).cloned();
    let (Some(get), Some(list), Some(create)) = (tool("getPet0"), tool("listPets0"), tool("createPet0")) else {
        return;
    };
    let source = catalog.sources.first().cloned();
    let raw = |value: Value| RawValue::from_string(value.to_string()).ok();
    let get_arguments = raw(json!({"petId": 7, "fields": ["id", "name"]}));
    let create_arguments = raw(json!({"name": "Rex", "tag": "dog", "owner": {"name": "Ann"}}));
    for (name, tool, arguments) in [("get", &get, &get_arguments), ("create", &create, &create_arguments)] {
        stages.time(&format!("call::prepare, {name}"), || rest_mcp::call::prepare(tool, arguments.as_deref()));
        let (Ok(call), Action::Request(action), Some(source)) =
            (rest_mcp::call::prepare(tool, arguments.as_deref()), &tool.action, &source)
        else {
            continue;
        };
        stages.time(&format!("request::build, {name}"), || {
            request::build(action, source, &call.arguments, &Fixed::default(), &[])
        });
    }
    for (name, tool, body) in [("150 bytes", &get, &small), ("100 kB", &list, &large)] {
        contents(stages, name, tool, body);
    }
    let service = match app::service(catalog, &Settings::default()) {
        Ok(service) => service,
        Err(_) => return,
    };
    let context = Context::local();
    for (name, tool, arguments) in [("150 bytes", "getPet0", get_arguments.as_deref()), ("100 kB", "listPets0", None)] {
        stages.time(&format!("whole call over loopback, {name}"), || {
            runtime.block_on(service.call_tool(&context, tool, arguments, Round::default()))
        });
    }
}

fn contents(stages: &Stages, name: &str, tool: &Tool, body: &str) {
    if let Some(published) = &tool.output.published {
        let shape = Shape::new(&published.tree());
        stages.time(&format!("conform::accepts, {name}"), || shape.accepts(body.as_bytes()));
    }
    let response = response(body);
    let arguments = rest_mcp::catalog::Arguments::default();
    let content = || from_response(tool, &arguments, &response, "uri", None);
    stages.time(&format!("content::from_response, {name}"), content);
    let options = WireOptions { structured: true, ..WireOptions::default() };
    let done: Content = content();
    stages.time(&format!("wire::write_result, {name}"), || {
        let mut out = Pieces::default();
        write_result(&done, &mut out, &options);
        out
    });
}

/// A server on loopback that knows two answers: one for paths that end in a number, one for the others.
async fn echo(small: String, large: String) -> String {
    let Ok(listener) = tokio::net::TcpListener::bind("127.0.0.1:0").await else { return String::new() };
    let address = listener.local_addr().map(|address| address.to_string()).unwrap_or_default();
    let answer = |body: &str| {
        format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())
    };
    let (small, large) = (Arc::new(answer(&small)), Arc::new(answer(&large)));
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let (small, large) = (small.clone(), large.clone());
            tokio::spawn(async move {
                let mut buffer = vec![0u8; 16 * 1024];
                while let Ok(read) = socket.read(&mut buffer).await {
                    let head = buffer.get(..read).unwrap_or_default();
                    if read == 0 {
                        break;
                    }
                    let one = head.windows(5).any(|part| part == b"pets/");
                    if socket.write_all(if one { small.as_bytes() } else { large.as_bytes() }).await.is_err() {
                        break;
                    }
                }
            });
        }
    });
    format!("http://{address}")
}
