//! A service that does what its tool names say, without any API behind it.

pub use super::catalog::{catalog, catalog_with_jobs, tool};
use bytes::Bytes;
use rest_mcp::access::Caller;
use rest_mcp::catalog::Catalog;
use rest_mcp::content::{Block, Content, Json, ResourceBody, ResourceContents, Text};
use rest_mcp::service::{
    Answer, BoxFuture, Change, Completion, Context, Failure, Handler, Mark, Outcome, PromptResult, ReadResult, Round,
    TASKS_EXTENSION, TraceContext, Visible,
};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::{broadcast, mpsc};

/// What happened inside, for tests to wait on.
#[derive(Debug, PartialEq)]
pub enum Seen {
    Started(String),
    Cancelled(String),
    Finished(String),
    Round(Map<String, Value>, Option<String>),
    Trace(Option<TraceContext>),
    Caller(Caller2),
}

/// What tests compare of a caller.
#[derive(Debug, PartialEq)]
pub struct Caller2 {
    pub subject: Option<String>,
    pub headers: Vec<(String, String)>,
}

pub struct Double {
    catalog: Mutex<Arc<Catalog>>,
    pub changes: broadcast::Sender<Change>,
    seen: mpsc::UnboundedSender<Seen>,
    /// Tools that callers with a subject may see.
    pub visible: Mutex<Option<Vec<usize>>>,
    /// Texts of resources.
    texts: Mutex<HashMap<String, String>>,
    pub release: tokio::sync::Notify,
}

impl Double {
    pub fn new(catalog: Catalog) -> (Arc<Self>, mpsc::UnboundedReceiver<Seen>) {
        let (seen, watching) = mpsc::unbounded_channel();
        let double = Double {
            catalog: Mutex::new(Arc::new(catalog)),
            changes: broadcast::channel(16).0,
            seen,
            visible: Mutex::default(),
            texts: Mutex::new([("test://static-text".to_owned(), "static".to_owned())].into()),
            release: tokio::sync::Notify::new(),
        };
        (Arc::new(double), watching)
    }

    pub fn swap(&self, catalog: impl Into<Arc<Catalog>>) {
        *self.catalog.lock().unwrap() = catalog.into();
    }

    /// Changes the text of a resource; `None` takes it away.
    pub fn write(&self, uri: &str, text: Option<&str>) {
        let mut texts = self.texts.lock().unwrap();
        match text {
            Some(text) => texts.insert(uri.to_owned(), text.to_owned()),
            None => texts.remove(uri),
        };
    }

    fn say(&self, seen: Seen) {
        let _ = self.seen.send(seen);
    }

    async fn run(
        &self,
        context: &Context,
        name: &str,
        arguments: Option<&RawValue>,
        round: Round,
    ) -> Result<Outcome<Content>, Failure> {
        let data = Bytes::from_static(b"\x89PNG");
        let blocks = |blocks| Ok(Outcome::Complete(Content { blocks, ..Content::default() }));
        let say = |text: &str| blocks(vec![Block::Text(Text::Plain(text.to_owned()))]);
        let ask = |requests: Value, state: Option<&str>| {
            let Value::Object(requests) = requests else { panic!("no object") };
            Ok(Outcome::InputRequired { requests, state: state.map(str::to_owned) })
        };
        let answer = |key: &str| round.answers.get(key).map(Value::to_string);
        let form = |message: &str| {
            json!({"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema":
                {"type": "object", "properties": {"name": {"type": "string"},
                 "color": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}]}}, "required": ["name"]}}})
        };
        match name {
            "text" => say("hello\nworld"),
            "thread" => say(std::thread::current().name().unwrap_or_default()),
            "image" => blocks(vec![Block::Image { data, mime_type: "image/png".to_owned() }]),
            "audio" => blocks(vec![Block::Audio { data, mime_type: "audio/wav".to_owned() }]),
            "link" => blocks(vec![Block::Link {
                uri: "test://static-text".to_owned(),
                name: "static".to_owned(),
                mime_type: Some("text/plain".to_owned()),
                size: Some(5),
            }]),
            "embedded" => blocks(vec![Block::Resource(ResourceContents {
                uri: "test://embedded".to_owned(),
                mime_type: Some("text/plain".to_owned()),
                body: ResourceBody::Text("inside".to_owned()),
            })]),
            "fail" => Ok(Outcome::Complete(Content {
                blocks: vec![Block::Text(Text::Plain("it failed".to_owned()))],
                structured: Some(Json::Tree(Arc::new(json!({"never": "shown"})))),
                is_error: true,
                meta: None,
            })),
            "echo" => say(arguments.map_or("none", RawValue::get)),
            "progress" => {
                if let Some(events) = &context.events {
                    events.progress(0.0, Some(1.0), Some("start"));
                    events.progress(0.5, Some(1.0), None);
                    events.progress(0.5, Some(1.0), Some("not further"));
                    events.progress(1.0, Some(1.0), Some("end"));
                }
                say("done")
            }
            "log" => {
                if let Some(events) = &context.events {
                    for level in ["debug", "info", "warning", "error"] {
                        events.log(level, &json!(format!("a {level} line")));
                    }
                }
                say("done")
            }
            "many_logs" => {
                if let Some(events) = &context.events {
                    for number in 0..5000 {
                        events.log("error", &json!(number));
                    }
                }
                say("done")
            }
            "ask" => match answer("user_name") {
                None => ask(json!({"user_name": form("What is your name?")}), None),
                Some(answer) => say(&answer),
            },
            "ask_url" => ask(
                json!({"sign_in": {"method": "elicitation/create", "params": {"mode": "url", "message": "Sign in",
                    "url": "https://example.com/", "elicitationId": "1"}}}),
                None,
            ),
            "ask_twice" => {
                self.say(Seen::Round(round.answers.clone(), round.state.clone()));
                match round.state.as_deref() {
                    None => ask(json!({"first": form("First?")}), Some("state-1")),
                    Some("state-1") => ask(json!({"second": form("Second?")}), Some("state-2")),
                    Some("state-2") => say("state-ok"),
                    Some(_) => Err(Failure::InvalidParams("`requestState` is not ours".to_owned())),
                }
            }
            "ask_model" => match answer("model") {
                None => ask(
                    json!({"model": {"method": "sampling/createMessage", "params": {"maxTokens": 10, "messages":
                        [{"role": "user", "content": {"type": "text", "text": "Say hi"}}]}}}),
                    None,
                ),
                Some(answer) => say(&answer),
            },
            "ask_roots" => match answer("roots") {
                None => ask(json!({"roots": {"method": "roots/list"}}), None),
                Some(answer) => say(&answer),
            },
            "wait" => {
                if let Some(events) = &context.events {
                    events.progress(1.0, None, None);
                }
                self.say(Seen::Started(name.to_owned()));
                context.cancel.cancelled().await;
                self.say(Seen::Cancelled(name.to_owned()));
                say("never heard")
            }
            "wait_then_answer" => {
                if let Some(events) = &context.events {
                    events.progress(1.0, None, None);
                }
                self.say(Seen::Started(name.to_owned()));
                self.release.notified().await;
                self.say(if context.cancel.is_cancelled() {
                    Seen::Cancelled(name.to_owned())
                } else {
                    Seen::Finished(name.to_owned())
                });
                say("released")
            }
            "object" => Ok(Outcome::Complete(Content {
                blocks: vec![Block::Text(Text::Plain("20 °C".to_owned()))],
                structured: Some(Json::Tree(Arc::new(json!({"celsius": 20})))),
                ..Content::default()
            })),
            "list" => Ok(Outcome::Complete(Content {
                blocks: vec![Block::Text(Text::Json(Json::Raw(Bytes::from_static(b"[1,2]"))))],
                structured: Some(Json::Raw(Bytes::from_static(b"[1,2]"))),
                ..Content::default()
            })),
            "raw" => Ok(Outcome::Complete(Content {
                structured: Some(Json::Raw(Bytes::from_static(b"{\n  \"a\":\r\n 1\n}"))),
                ..Content::default()
            })),
            "region" => {
                self.say(Seen::Caller(Caller2 {
                    subject: context.caller.subject.as_deref().map(str::to_owned),
                    headers: context.caller.headers.clone().into_iter().collect(),
                }));
                say("routed")
            }
            "trace" => {
                self.say(Seen::Trace(context.trace.as_deref().cloned()));
                say("traced")
            }
            "features" => {
                let known = [("elicitation", context.client.elicitation), ("sampling", context.client.sampling)];
                let known: Vec<&str> = known.into_iter().filter(|(_, known)| *known).map(|(name, _)| name).collect();
                say(&known.join(" "))
            }
            "job" | "job_fails" | "job_breaks" | "job_asks" | "job_asks_during" | "job_required" => {
                if name == "job_asks" && answer("who").is_none() {
                    return ask(json!({"who": form("Who?")}), Some("asked"));
                }
                if name == "job_required" && !context.client.tasks {
                    return Err(Failure::MissingCapability(json!({"extensions": {TASKS_EXTENSION: {}}})));
                }
                if name == "job_asks_during" {
                    self.say(Seen::Round(round.answers.clone(), round.state.clone()));
                    match (answer("who"), round.state.as_deref()) {
                        (None, None) => return ask(json!({"who": form("Who?"), "where": form("Where?")}), Some("1")),
                        (None, Some("1")) => return ask(json!({"who": form("Who then?")}), Some("2")),
                        (Some(who), _) if who.contains("decline") => {
                            return ask(json!({"who": form("Really?")}), Some("1"));
                        }
                        _ => {}
                    }
                }
                self.say(Seen::Started(name.to_owned()));
                if let Some(events) = &context.events {
                    events.waiting();
                    events.progress(0.5, Some(1.0), None);
                }
                tokio::select! {
                    () = self.release.notified() => {}
                    () = context.cancel.cancelled() => {
                        self.say(Seen::Cancelled(name.to_owned()));
                        return say("never heard");
                    }
                }
                match name {
                    "job_breaks" => Err(Failure::Internal("the job broke".to_owned())),
                    "job_fails" => Ok(Outcome::Complete(Content::error("the job failed".to_owned()))),
                    _ => say(&answer("who").unwrap_or_else(|| "the job is done".to_owned())),
                }
            }
            "job_before" => {
                self.say(Seen::Started(name.to_owned()));
                context.cancel.cancelled().await;
                self.say(Seen::Cancelled(name.to_owned()));
                say("never heard")
            }
            "job_at_once" => say("done at once"),
            "broken" => Err(Failure::Internal("something broke".to_owned())),
            "scoped" => Err(Failure::InsufficientScope(vec!["write".to_owned()])),
            "needs_sampling" if context.client.sampling => say("sampled"),
            "needs_sampling" => Err(Failure::MissingCapability(json!({"sampling": {}}))),
            _ => Err(Failure::UnknownTool(name.to_owned())),
        }
    }
}

impl Handler for Double {
    fn catalog(&self) -> Arc<Catalog> {
        self.catalog.lock().unwrap().clone()
    }

    fn visible(&self, _: &Caller) -> Visible {
        match &*self.visible.lock().unwrap() {
            None => Visible::All,
            Some(tools) => Visible::Only {
                key: format!("{tools:?}").into(),
                tools: tools.clone().into(),
                resources: Arc::default(),
            },
        }
    }

    fn call_tool<'a>(
        &'a self,
        context: &'a Context,
        name: &'a str,
        arguments: Option<&'a RawValue>,
        round: Round,
    ) -> Answer<'a, Content> {
        Box::pin(self.run(context, name, arguments, round))
    }

    fn read_resource<'a>(&'a self, _: &'a Context, uri: &'a str, _: Round) -> Answer<'a, ReadResult> {
        let body = match uri {
            "test://static-binary" => Some(ResourceBody::Blob(Bytes::from_static(b"\x00\x01"))),
            _ => self.texts.lock().unwrap().get(uri).cloned().map(ResourceBody::Text),
        };
        Box::pin(async move {
            let body = body.ok_or_else(|| Failure::UnknownResource(uri.to_owned()))?;
            let one = ResourceContents { uri: uri.to_owned(), mime_type: Some("text/plain".to_owned()), body };
            Ok(Outcome::Complete(ReadResult { contents: vec![one], ttl_ms: Some(7000) }))
        })
    }

    fn glance<'a>(&'a self, _: &'a Context, uri: &'a str, _: Option<&'a Mark>) -> BoxFuture<'a, Result<Mark, Failure>> {
        let text = self.texts.lock().unwrap().get(uri).cloned();
        Box::pin(async move {
            let text = text.ok_or_else(|| Failure::UnknownResource(uri.to_owned()))?;
            Ok(Mark { digest: Sha256::digest(text).into(), etag: None, modified: None })
        })
    }

    fn get_prompt<'a>(
        &'a self,
        _: &'a Context,
        name: &'a str,
        arguments: &'a Map<String, Value>,
        _: Round,
    ) -> Answer<'a, PromptResult> {
        Box::pin(async move {
            if name != "greet" {
                return Err(Failure::UnknownPrompt(name.to_owned()));
            }
            let Some(city) = arguments.get("city").and_then(Value::as_str) else {
                return Err(Failure::InvalidParams("Argument `city` is missing".to_owned()));
            };
            let block = Block::Text(Text::Plain(format!("Hello {city}")));
            Ok(Outcome::Complete(PromptResult {
                description: Some("A greeting".to_owned()),
                messages: vec![("user".to_owned(), block)],
            }))
        })
    }

    fn complete<'a>(
        &'a self,
        _: &'a Context,
        reference: Result<&'a str, &'a str>,
        _: &'a str,
        typed: &'a str,
        _: &'a Map<String, Value>,
    ) -> Answer<'a, Completion> {
        Box::pin(async move {
            if !matches!(reference, Ok("greet") | Err("test://template/{id}/data")) {
                return Err(Failure::InvalidParams("Unknown reference".to_owned()));
            }
            let values: Vec<String> = (0..150).map(|number| format!("{typed}{number}")).collect();
            Ok(Outcome::Complete(Completion { values, total: Some(150), has_more: false }))
        })
    }

    fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }
}
