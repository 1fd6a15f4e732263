//! Runs the `tests:` of mappings: each builds its requests, is given canned answers and is compared with what
//! it expects. Nothing is sent, nothing of the process's environment is read.

mod compare;
mod script;

use super::{Inputs, Kind, Loaded, load_with};
use crate::access::{Access, Rules};
use crate::catalog::Catalog;
use crate::content::{Content, wire};
use crate::diagnostic::{Place, Report};
use crate::document::{Document, pointer};
use crate::mapping::{Environment, TestAnswer, TestRequest, ToolTest};
use crate::secret::Secret;
use crate::service::state::StateKey;
use crate::service::{ClientFeatures, Context, Failure, Handler, Outcome, Round, Service, State};
use crate::upstream::Upstream;
use crate::upstream::policy::Gate;
use script::Script;
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Most times that one test is asked something.
const ROUNDS: usize = 16;

/// How one test ended.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The tool.
    pub tool: String,
    /// The test's name, or its number.
    pub name: String,
    /// Where the test stands.
    pub place: Place,
    /// Every difference, one line each; empty = passed.
    pub differences: Vec<String>,
}

/// All tests of all mappings.
pub struct Verdicts {
    /// Problems of the files.
    pub report: Report,
    /// In the order of the files.
    pub list: Vec<Verdict>,
    /// How many mappings were read.
    pub mappings: usize,
}

/// No variable is set and no file is read: whatever has no default is `mock`.
pub struct OfflineEnvironment;

impl Environment for OfflineEnvironment {
    fn env(&self, _: &str) -> Option<Secret> {
        None
    }
    fn stand_in(&self, _: &str) -> Option<Secret> {
        Some(Secret::new("mock"))
    }
    fn file(&self, _: &str) -> Result<Secret, String> {
        Ok(Secret::new("mock"))
    }
}

/// Runs the tests of one tool, or of all.
pub async fn run(inputs: &Inputs, only: Option<&str>) -> Verdicts {
    let Loaded { mut catalog, report, .. } = load_with(inputs, &OfflineEnvironment, &[]).await;
    // A test is about one tool, listed or not.
    catalog.tools.extend(std::mem::take(&mut catalog.hidden));
    let catalog = Arc::new(catalog);
    let mut verdicts = Verdicts { report, list: Vec::new(), mappings: 0 };
    for input in inputs.list.iter().filter(|input| input.kind == Kind::Mapping) {
        verdicts.mappings += 1;
        // Its problems are in the load's report already.
        let (Some(mapping), _) = crate::mapping::read(&input.document) else { continue };
        for (tool, rules) in mapping.tools.iter().filter(|(tool, _)| only.is_none_or(|only| only == tool.as_str())) {
            for (index, test) in rules.tests.iter().enumerate() {
                let differences = one(&catalog, tool, test).await;
                verdicts.list.push(Verdict {
                    tool: tool.clone(),
                    name: test.name.clone().unwrap_or_else(|| format!("test {}", index + 1)),
                    place: place(&input.document, tool, index),
                    differences,
                });
            }
        }
    }
    verdicts
}

fn place(document: &Document, tool: &str, index: usize) -> Place {
    document.place(&format!("/tools/{}/tests/{index}", pointer::escape(tool)))
}

async fn one(catalog: &Arc<Catalog>, tool: &str, test: &ToolTest) -> Vec<String> {
    if !catalog.tools.contains_key(tool) {
        return vec!["the tool could not be made; see the problems above".to_string()];
    }
    let answers: Vec<TestAnswer> = test.respond.as_ref().map_or_else(Vec::new, |list| list.as_slice().to_vec());
    let script = Arc::new(Script::new(answers));
    let upstream = match Upstream::canned(&catalog.sources, script.clone()) {
        Ok(upstream) => upstream,
        Err(problems) => return problems,
    };
    let access = match Access::new(&Rules::default()) {
        Ok(access) => access,
        Err(problems) => return problems,
    };
    let state = State::new(catalog.clone(), Arc::new(upstream), Gate::new(access, None));
    let service = Service::new(state, StateKey::new(None));
    let result = called(&service, tool, test).await;
    let mut differences = Vec::new();
    let sent = script.sent();
    if let Some(expected) = &test.request {
        requests(expected.as_slice(), &sent, &mut differences);
    }
    differences.extend(script.problems());
    match result {
        Ok(content) => {
            let shown = shown(&content);
            if let Some(expected) = &test.result {
                compare::result(expected, &shown, &mut differences);
            }
            if !differences.is_empty() && content.is_error {
                differences.push(format!("the tool said: {}", compare::text_of(&shown)));
            }
        }
        Err(reason) => differences.push(reason),
    }
    differences
}

fn requests(expected: &[TestRequest], sent: &[crate::upstream::CannedRequest], differences: &mut Vec<String>) {
    for (index, wanted) in expected.iter().enumerate() {
        let name = if expected.len() == 1 { "request".to_string() } else { format!("request {}", index + 1) };
        match sent.get(index) {
            Some(request) => compare::request(&name, wanted, request, differences),
            None => differences.push(format!("{name}: expected, but nothing was sent")),
        }
    }
    for extra in sent.iter().skip(expected.len()) {
        differences.push(format!("one request too many: {} {}", extra.method, compare::target(&extra.url)));
    }
}

/// Calls the tool, answering what it asks.
async fn called(service: &Service, tool: &str, test: &ToolTest) -> Result<Content, String> {
    let able = !test.answers.is_empty();
    let client = ClientFeatures { elicitation: able, sampling: able, roots: able, ..ClientFeatures::default() };
    let context = Context { client, request_id: Arc::from("test"), ..Context::local() };
    let arguments = match &test.args {
        Value::Null => json!({}),
        given => given.clone(),
    };
    let arguments = to_raw_value(&arguments).map_err(|error| error.to_string())?;
    let mut round = Round::default();
    for _ in 0..ROUNDS {
        match service.call_tool(&context, tool, Some(&arguments), round).await {
            Ok(Outcome::Complete(content)) => return Ok(content),
            Ok(Outcome::InputRequired { requests, state }) => {
                round = Round { answers: answered(&requests, &test.answers)?, state };
            }
            Err(Failure::MissingCapability(_)) => {
                return Err("the call asks the person or the client: give `answers:`".to_string());
            }
            Err(failure) => return Err(format!("the call was refused: {}", failure_text(&failure))),
        }
    }
    Err(format!("the call still asks after {ROUNDS} rounds"))
}

fn failure_text(failure: &Failure) -> String {
    match failure {
        Failure::InvalidParams(text) | Failure::Internal(text) => text.clone(),
        other => format!("{other:?}"),
    }
}

/// The test's answers to these questions, as a client would give them.
fn answered(requests: &Map<String, Value>, answers: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let mut given = Map::new();
    for (key, request) in requests {
        let Some(answer) = answers.get(key) else {
            return Err(format!("the call asks for `{key}`; `answers:` has none"));
        };
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
        let answer = match (method, answer) {
            ("sampling/createMessage", text) => {
                json!({"role": "assistant", "model": "test", "content": {"type": "text", "text": text}})
            }
            ("roots/list", Value::Array(uris)) => {
                json!({"roots": uris.iter().map(|uri| if uri.is_string() { json!({"uri": uri}) } else { uri.clone() }).collect::<Vec<_>>()})
            }
            (_, Value::Bool(false) | Value::Null) => json!({"action": "decline"}),
            (_, Value::Bool(true)) => json!({"action": "accept", "content": {}}),
            (_, content) => json!({"action": "accept", "content": content}),
        };
        given.insert(key.clone(), answer);
    }
    Ok(given)
}

/// The result as the newest revision writes it.
fn shown(content: &Content) -> Value {
    let mut out = wire::Pieces::default();
    let options = wire::WireOptions { structured: true, audio: true, links: true, ..wire::WireOptions::default() };
    wire::write_result(content, &mut out, &options);
    serde_json::from_slice(&out.whole()).unwrap_or(Value::Null)
}
