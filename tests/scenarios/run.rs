//! Runs one story.

use super::matching::differences;
use super::upstream::Api;
use rest_mcp::access::Caller;
use rest_mcp::app::{self, Inputs, Settings};
use rest_mcp::catalog::{Catalog, Tool};
use rest_mcp::config::ProcessEnvironment;
use rest_mcp::content::wire::{Pieces, WireOptions, write_resource, write_result};
use rest_mcp::content::{Content, ResourceContents};
use rest_mcp::diagnostic::{Severity, Source};
use rest_mcp::document::{Limits, parse};
use rest_mcp::mapping::Environment;
use rest_mcp::secret::Secret;
use rest_mcp::service::{ClientFeatures, Context, Events, Failure, Handler, Outcome, Round, Service, Visible};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Variables of the story, and the scripted API's address as `UPSTREAM` and `UPSTREAM_HOST`.
pub struct StoryEnvironment {
    pub variables: Map<String, Value>,
    pub host: String,
}

impl Environment for StoryEnvironment {
    fn env(&self, name: &str) -> Option<Secret> {
        match name {
            "UPSTREAM" => Some(Secret::new(format!("http://{}", self.host))),
            "UPSTREAM_HOST" => Some(Secret::new(self.host.clone())),
            _ => self.variables.get(name).and_then(Value::as_str).map(Secret::new),
        }
    }
    fn file(&self, path: &str) -> Result<Secret, String> {
        ProcessEnvironment::default().file(path)
    }
}

#[derive(Default)]
struct Recorder(Mutex<Vec<Value>>);

impl Events for Recorder {
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let mut event = json!({"progress": progress});
        if let Some(total) = total {
            event["total"] = json!(total);
        }
        if let Some(message) = message {
            event["message"] = json!(message);
        }
        self.0.lock().unwrap().push(event);
    }
    fn log(&self, level: &str, message: &Value) {
        self.0.lock().unwrap().push(json!({"log": level, "message": message}));
    }
}

/// A YAML file as a value.
pub fn yaml(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let name = path.display().to_string();
    let (document, report) = parse(Arc::new(Source { name: name.clone(), text }), name, &Limits::default());
    assert!(!report.has_errors(), "{}", report.render(false));
    document.expect("a document").root.clone()
}

/// Everything that did not come true.
pub async fn story(folder: &Path) -> Vec<String> {
    let here = folder.display().to_string();
    let story: Value =
        serde_json::from_str(&yaml(&folder.join("story.yaml")).to_string().replace("FOLDER", &here)).unwrap();
    let api = Api::start().await;
    let variables = story.get("env").and_then(Value::as_object).cloned().unwrap_or_default();
    let environment = StoryEnvironment { variables, host: api.host.clone() };
    let mapping = folder.join("mapping.yaml");
    let named = if mapping.exists() { vec![mapping] } else { vec![folder.join("spec.yaml")] };
    let named: Vec<String> = named.iter().map(|path| path.display().to_string()).collect();
    let base_url = story
        .get("base_url")
        .and_then(Value::as_str)
        .map(|url| url.replace("UPSTREAM", &format!("http://{}", api.host)));
    let (inputs, report) = Inputs::read(&named, base_url).await;
    let mut problems = Vec::new();
    let mut found: Vec<Value> = Vec::new();
    let loaded = app::load_all(&inputs, &environment).await;
    for one in report.diagnostics.iter().chain(&loaded.report.diagnostics).filter(|one| one.severity > Severity::Note) {
        let line = one.place.as_ref().map_or(0, |place| place.position().line);
        found.push(json!({"code": one.code, "line": line, "message": one.message}));
    }
    differences(story.get("report").unwrap_or(&json!([])), Some(&Value::Array(found)), "report", &mut problems);
    if story.get("refused") == Some(&Value::Bool(true)) {
        if !app::refused(&loaded.report, false) {
            problems.push("nothing was refused".to_owned());
        }
        return problems;
    }
    let captured = app::captured_headers(&loaded.catalog);
    if let Some(wanted) = story.get("captured_headers") {
        differences(wanted, Some(&json!(captured)), "captured_headers", &mut problems);
    }
    published(&story, &loaded.catalog, &mut problems);
    let service = app::service(loaded.catalog, &Settings::default()).expect("a service");
    for (index, step) in story.get("calls").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let name = step.get("name").and_then(Value::as_str).unwrap_or_default();
        let mut found = Vec::new();
        call(&service, &api, step, &mut found).await;
        problems.extend(found.into_iter().map(|problem| format!("call {} ({name}): {problem}", index + 1)));
    }
    problems
}

/// A tool as `tools/list` shows it.
pub fn shown(tool: &Tool) -> Value {
    let hints = tool.annotations;
    let mut all = json!({
        "name": tool.name, "description": tool.description, "inputSchema": tool.input.published.tree(),
        "annotations": {
            "readOnlyHint": hints.read_only, "destructiveHint": hints.destructive,
            "idempotentHint": hints.idempotent, "openWorldHint": hints.open_world
        },
    });
    if let Some(title) = &tool.title {
        all["title"] = json!(title);
    }
    if let Some(output) = &tool.output.published {
        all["outputSchema"] = output.tree().into_owned();
    }
    if !tool.icons.is_empty() {
        all["icons"] = json!(tool.icons);
    }
    all
}

fn published(story: &Value, catalog: &Catalog, problems: &mut Vec<String>) {
    for (name, wanted) in story.get("tools").and_then(Value::as_object).into_iter().flatten() {
        let tool = catalog.tools.get(name);
        match tool {
            Some(tool) => differences(wanted, Some(&shown(tool)), name, problems),
            None => {
                let names: Vec<&String> = catalog.tools.keys().collect();
                problems.push(format!("no tool {name}; there are {names:?}"));
            }
        }
    }
    let names: Vec<&String> = catalog.tools.keys().collect();
    for (key, got) in [
        ("names", json!(names)),
        ("own", json!(catalog.own.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>())),
        ("pinned", json!(catalog.pinned)),
        ("page_size", json!(catalog.page_size)),
        ("ttl_ms", json!(catalog.ttl.map(|ttl| ttl.as_millis() as u64))),
        (
            "resources",
            json!(
                catalog
                    .resources
                    .iter()
                    .map(|one| json!({
                        "name": one.name, "uri": one.uri, "title": one.title, "description": one.description,
                        "mimeType": one.mime_type, "template": one.is_template
                    }))
                    .collect::<Vec<_>>()
            ),
        ),
        (
            "prompts",
            json!(
                catalog
                    .prompts
                    .values()
                    .map(|one| json!({
                        "name": one.name, "title": one.rules.title, "description": one.rules.description,
                        "arguments": one.rules.arguments.iter().map(|argument| json!({
                            "name": argument.name, "title": argument.title, "description": argument.description,
                            "required": argument.required
                        })).collect::<Vec<_>>()
                    }))
                    .collect::<Vec<_>>()
            ),
        ),
    ] {
        if let Some(wanted) = story.get(key) {
            differences(wanted, Some(&got), key, problems);
        }
    }
    for (name, wanted) in story.get("mirrored").and_then(Value::as_object).into_iter().flatten() {
        let got = catalog.tools.get(name).map(|tool| json!(tool.input.mirrored));
        differences(wanted, got.as_ref(), "mirrored", problems);
    }
}

fn caller(given: &Value) -> Caller {
    let text = |key: &str| given.get(key).and_then(Value::as_str);
    Caller {
        subject: text("subject").map(Arc::from),
        tenant: text("tenant").map(Arc::from),
        claims: given.get("claims").cloned().map(Arc::new),
        token: text("token").map(Secret::new),
        headers: given
            .get("headers")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()))
            .collect(),
        ..Caller::default()
    }
}

fn context(step: &Value, recorder: &Arc<Recorder>) -> Context {
    let can = |name: &str| step.pointer(&format!("/client/{name}")) == Some(&Value::Bool(true));
    Context {
        caller: Arc::new(caller(step.get("caller").unwrap_or(&Value::Null))),
        client: ClientFeatures {
            elicitation: can("elicitation"),
            sampling: can("sampling"),
            roots: can("roots"),
            tasks: false,
        },
        events: Some(recorder.clone()),
        request_id: Arc::from("r1"),
        local: step.get("local") == Some(&Value::Bool(true)),
        ..Context::local()
    }
}

async fn call(service: &Service, api: &Api, step: &Value, problems: &mut Vec<String>) {
    let exchanges = step.get("exchanges").and_then(Value::as_array).cloned().unwrap_or_default();
    api.expect(&exchanges);
    let recorder = Arc::new(Recorder::default());
    let context = context(step, &recorder);
    if let Some(after) = step.get("cancel_after_ms").and_then(Value::as_u64) {
        let cancel = context.cancel.clone();
        tokio::spawn(async move {
            tokio::time::sleep(std::time::Duration::from_millis(after)).await;
            cancel.cancel();
        });
    }
    let mut round = Round::default();
    let rounds = step.get("rounds").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut rounds = rounds.iter();
    let got = loop {
        let (got, wait) = once(service, &context, step, round).await;
        let Some((requests, state)) = wait else { break got };
        let Some(wanted) = rounds.next() else {
            problems.push(format!("an unexpected round of questions: {}", Value::Object(requests)));
            return;
        };
        let keys: Vec<&String> = requests.keys().collect();
        if let Some(asked) = wanted.get("asks") {
            differences(asked, Some(&json!(keys)), "asks", problems);
        }
        if let Some(asked) = wanted.get("requests") {
            differences(asked, Some(&Value::Object(requests.clone())), "requests", problems);
        }
        if wanted.get("answers").is_none() && wanted.get("state").is_none() {
            break Ok(json!({"waiting": true}));
        }
        let state = match wanted.get("state").and_then(Value::as_str) {
            Some("tampered") => state.map(|state| {
                // One character of the payload changed: the signature no longer fits.
                let mut text = state.into_bytes();
                text[10] = if text[10] == b'A' { b'B' } else { b'A' };
                String::from_utf8(text).unwrap()
            }),
            Some(other) => Some(other.to_owned()),
            None => state,
        };
        round = Round { answers: wanted.get("answers").and_then(Value::as_object).cloned().unwrap_or_default(), state };
    };
    if rounds.next().is_some() {
        problems.push("a round of questions never came".to_owned());
    }
    problems.extend(api.problems());
    let expect = step.get("expect").cloned().unwrap_or(Value::Null);
    match got {
        Ok(value) => {
            let mut wanted = expect.as_object().cloned().unwrap_or_default();
            if wanted.shift_remove("failure").is_some() {
                problems.push(format!("must fail, gave {value}"));
            }
            if !wanted.contains_key("isError") && step.get("call").is_some() {
                wanted.insert("isError".to_owned(), json!(false));
            }
            differences(&Value::Object(wanted), Some(&value), "expect", problems);
        }
        Err(failure) => match expect.get("failure") {
            Some(wanted) => differences(wanted, Some(&json!(format!("{failure:?}"))), "failure", problems),
            None => problems.push(format!("failed: {failure:?}")),
        },
    }
    if let Some(wanted) = step.get("events") {
        let events = Value::Array(recorder.0.lock().unwrap().clone());
        differences(wanted, Some(&events), "events", problems);
    }
}

type Waiting = Option<(Map<String, Value>, Option<String>)>;

async fn once(service: &Service, context: &Context, step: &Value, round: Round) -> (Result<Value, Failure>, Waiting) {
    let text = |key: &str| step.get(key).and_then(Value::as_str);
    let args = step.get("args").cloned().unwrap_or_else(|| json!({}));
    let members = args.as_object().cloned().unwrap_or_default();
    if let (Some(name), true) = (text("call"), step.get("continues").is_some()) {
        // Calls again with what the first answer gave to go on.
        let raw = serde_json::value::to_raw_value(&args).unwrap();
        let (got, _) = ended(service.call_tool(context, name, Some(raw.as_ref() as &RawValue), round).await, result);
        let got = got.unwrap();
        let mut members = members;
        let token = got["_meta"]["io.github.rest-mcp/next"].clone();
        assert!(token.is_string(), "nothing to go on with: {got}");
        members.insert("continue_from".to_owned(), token);
        let raw = serde_json::value::to_raw_value(&members).unwrap();
        return ended(
            service.call_tool(context, name, Some(raw.as_ref() as &RawValue), Round::default()).await,
            result,
        );
    }
    if let Some(name) = text("call") {
        let raw = serde_json::value::to_raw_value(&args).unwrap();
        return ended(service.call_tool(context, name, Some(raw.as_ref() as &RawValue), round).await, result);
    }
    if let Some(uri) = text("read") {
        return ended(
            service.read_resource(context, uri, round).await,
            |read| json!({"contents": read.contents.iter().map(resource).collect::<Vec<_>>(), "ttl_ms": read.ttl_ms}),
        );
    }
    if let Some(uri) = text("read_link_of") {
        // Reads the link that a call gave.
        let raw = serde_json::value::to_raw_value(&args).unwrap();
        let (got, _) = ended(service.call_tool(context, uri, Some(raw.as_ref() as &RawValue), round).await, result);
        let got = got.unwrap();
        let uri = got["content"][0]["uri"].as_str().unwrap_or_else(|| panic!("no link: {got}")).to_owned();
        return ended(
            service.read_resource(context, &uri, Round::default()).await,
            |read| json!({"link": got["content"][0], "contents": read.contents.iter().map(resource).collect::<Vec<_>>()}),
        );
    }
    if let Some(name) = text("prompt") {
        return ended(service.get_prompt(context, name, &members, round).await, |prompt| {
            let messages: Vec<Value> = prompt
                .messages
                .iter()
                .map(|(role, block)| {
                    let content = result(Content { blocks: vec![block.clone()], ..Content::default() });
                    json!({"role": role, "content": content["content"][0]})
                })
                .collect();
            json!({"description": prompt.description, "messages": messages})
        });
    }
    if step.get("visible").is_some() {
        let visible = service.visible(&context.caller);
        let catalog = service.catalog();
        let names: Vec<String> = match visible {
            Visible::All => catalog.tools.keys().cloned().collect(),
            Visible::Only { tools, .. } => {
                tools.iter().filter_map(|at| catalog.tools.get_index(*at)).map(|(name, _)| name.clone()).collect()
            }
        };
        return (Ok(json!({"names": names})), None);
    }
    let reference = match (text("complete_prompt"), text("complete_resource")) {
        (Some(name), _) => Ok(name),
        (_, Some(uri)) => Err(uri),
        _ => panic!("a step of no known kind: {step}"),
    };
    let (argument, typed) = (text("argument").unwrap(), text("typed").unwrap_or_default());
    ended(
        service.complete(context, reference, argument, typed, &members).await,
        |found| json!({"values": found.values, "total": found.total, "has_more": found.has_more}),
    )
}

fn ended<T>(outcome: Result<Outcome<T>, Failure>, show: impl FnOnce(T) -> Value) -> (Result<Value, Failure>, Waiting) {
    match outcome {
        Ok(Outcome::Complete(value)) => (Ok(show(value)), None),
        Ok(Outcome::InputRequired { requests, state }) => (Ok(Value::Null), Some((requests, state))),
        Err(failure) => (Err(failure), None),
    }
}

/// A result as it goes over the wire, with `text` (all text blocks, joined by line feeds) and `json` for short.
fn result(content: Content) -> Value {
    let options = WireOptions { structured: true, audio: true, links: true, ..WireOptions::default() };
    let mut out = Pieces::default();
    write_result(&content, &mut out, &options);
    let mut value: Value = serde_json::from_slice(&out.whole()).unwrap();
    let texts: Vec<String> = value["content"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|block| block.get("text").and_then(Value::as_str).map(str::to_owned))
        .collect();
    if value.get("isError").is_none() {
        value["isError"] = json!(false);
    }
    let first = texts.first().and_then(|text| serde_json::from_str::<Value>(text).ok());
    if let Some(json) = value.get("structuredContent").cloned().or(first) {
        value["json"] = json;
    }
    value["text"] = json!(texts.join("\n"));
    value
}

fn resource(contents: &ResourceContents) -> Value {
    let mut out = Vec::new();
    write_resource(contents, &mut out);
    serde_json::from_slice(&out).unwrap()
}
