//! A caller's argument is never evaluated: whatever it looks like, it arrives upstream as those characters.

use super::run::StoryEnvironment;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rest_mcp::app::{self, Inputs, Settings};
use rest_mcp::content::wire::{Pieces, WireOptions, write_result};
use rest_mcp::request::Request;
use rest_mcp::service::{ClientFeatures, Context, Handler, Outcome, Round, Service};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Pieces that mean something to one of the languages inside.
const PIECES: &[&str] = &[
    "{{name}}",
    "{{{q}}}",
    "{{#each q}}",
    "{{/each}}",
    "{{> x}}",
    "${env:HOME}",
    "${file:/etc/passwd}",
    "${caller:tenant}",
    ".[] | env",
    "$ENV",
    "input",
    "\\(.q)",
    "{itemId}",
    "{+x}",
    "%7B",
    "..",
    "/",
    "?",
    "#",
    "&",
    "=",
    " ",
    "\"",
    "\\",
    "\n",
    "é",
    "😀",
    "a",
];

async fn service_of(story: &str, host: &str) -> Service {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios").join(story);
    let (inputs, _) = Inputs::read(&[folder.join("mapping.yaml").display().to_string()], None).await;
    let variables = [("TOKEN", "t"), ("KEY", "k")].map(|(name, value)| (name.to_owned(), json!(value)));
    let environment = StoryEnvironment { variables: Map::from_iter(variables), host: host.to_owned() };
    let loaded = app::load_all(&inputs, &environment).await;
    app::service(loaded.catalog, &Settings::default()).expect("a service")
}

async fn sent(service: &Service, tool: &str, args: Value) -> Request {
    let raw = serde_json::value::to_raw_value(&args).unwrap();
    service.dry_run(&Context::local(), tool, Some(&raw)).await.unwrap().expect("a request")
}

#[test]
fn arguments_arrive_as_they_are() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let service = runtime.block_on(service_of("hand", "upstream.invalid"));
    let text = prop::collection::vec(prop::sample::select(PIECES), 0..8).prop_map(|pieces| pieces.concat());
    let mut runner = TestRunner::new(Config { cases: 300, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&text, |text| {
        runtime.block_on(async {
            // In a body, alone and inside other text.
            let request = sent(&service, "search_issues", json!({"q": text, "dry": true})).await;
            let body: Value = serde_json::from_slice(&request.body.expect("a body")).unwrap();
            prop_assert_eq!(&body["variables"]["q"], &json!(text));
            prop_assert_eq!(&body["variables"]["text"], &json!(format!("first 20 of {text}")));
            // In a form.
            let request = sent(&service, "form", json!({"a": text})).await;
            let body = request.body.expect("a body");
            let pairs: Vec<(String, String)> = url::form_urlencoded::parse(&body).into_owned().collect();
            prop_assert_eq!(&pairs[0], &("a".to_owned(), text.clone()));
            // In a path: one segment, decoded to the same text.
            if !text.is_empty() && text != "." && text != ".." {
                let request = sent(&service, "one", json!({"id": text})).await;
                let url = url::Url::parse(&request.url).unwrap();
                let segments: Vec<&str> = url.path_segments().unwrap().collect();
                prop_assert_eq!(segments.len(), 3, "{}", request.url);
                let decoded = percent_encoding::percent_decode_str(segments[2]).decode_utf8().unwrap().into_owned();
                prop_assert_eq!(decoded, text);
            }
            Ok(())
        })
    });
    outcome.unwrap();
}

/// An API that answers each request with its JSON member `b` as `text`, and keeps the last body.
async fn echo() -> (String, Arc<Mutex<Vec<Value>>>) {
    let kept: Arc<Mutex<Vec<Value>>> = Arc::default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let seen = kept.clone();
    let router = axum::Router::new().fallback(move |body: axum::body::Bytes| {
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let text = body["b"].clone();
        seen.lock().unwrap().push(body);
        async move { ([("content-type", "application/json")], json!({"text": text}).to_string()) }
    });
    tokio::spawn(async move { axum::serve(listener, router).await });
    (host, kept)
}

async fn called(service: &Service, tool: &str, args: Value) -> Value {
    let raw = serde_json::value::to_raw_value(&args).unwrap();
    let outcome = service.call_tool(&Context::local(), tool, Some(&raw), Round::default()).await.unwrap();
    let Outcome::Complete(content) = outcome else { panic!("{tool} asks") };
    let mut out = Pieces::default();
    let options = WireOptions { structured: true, audio: true, links: true, ..WireOptions::default() };
    write_result(&content, &mut out, &options);
    serde_json::from_slice(&out.whole()).unwrap()
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8().unwrap().into_owned()
}

#[test]
fn every_place_of_an_argument_takes_it_as_it_is() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (host, kept) = runtime.block_on(echo());
    let service = runtime.block_on(service_of("characters", &host));
    let text = prop::collection::vec(prop::sample::select(PIECES), 1..8).prop_map(|pieces| pieces.concat());
    let mut runner = TestRunner::new(Config { cases: 100, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&text, |text| {
        runtime.block_on(async {
            // Query, cookie, body, list in a body.
            let args = json!({"p": "x", "q": text, "deep": {text.clone(): text}, "c": text, "b": text, "list": [text]});
            let request = sent(&service, "everywhere", args).await;
            let url = url::Url::parse(&request.url).unwrap();
            let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
            prop_assert_eq!(&pairs[0], &("q".to_owned(), text.clone()));
            prop_assert_eq!(&pairs[1], &(format!("deep[{text}]"), text.clone()));
            let cookie = request.headers["cookie"].to_str().unwrap();
            prop_assert_eq!(decoded(cookie.strip_prefix("c=").unwrap()), text.clone());
            let body: Value = serde_json::from_slice(&request.body.expect("a body")).unwrap();
            prop_assert_eq!(&body, &json!({"b": text, "list": [text]}));
            // A header takes no control characters and no white space at its ends; all else as it is.
            if !text.contains('\n') && text.trim() == text {
                let request = sent(&service, "everywhere", json!({"p": "x", "X-H": text, "b": "x"})).await;
                prop_assert_eq!(request.headers["x-h"].as_bytes(), text.as_bytes());
            }
            // The name of a body's member.
            let request = sent(&service, "open", json!({text.clone(): "v"})).await;
            let body: Value = serde_json::from_slice(&request.body.expect("a body")).unwrap();
            prop_assert_eq!(&body, &json!({text.clone(): "v"}));
            // A part's value, and its name as HTML writes it.
            let request = sent(&service, "parts", json!({"known": text, text.clone(): "v"})).await;
            let body = String::from_utf8(request.body.expect("a body").to_vec()).unwrap();
            prop_assert!(body.contains(&format!("\r\n\r\n{text}\r\n--")), "{}", body);
            let name = text.replace('"', "%22").replace('\n', "%0A");
            prop_assert!(body.contains(&format!("; name=\"{name}\"\r\n")), "{}", body);
            // Hand-written bodies: GraphQL variables, a form.
            let request = sent(&service, "by_hand", json!({"q": text})).await;
            let body: Value = serde_json::from_slice(&request.body.expect("a body")).unwrap();
            let wanted = json!({"q": text, "all": {"text": format!("<{text}>"), "list": [text]}});
            prop_assert_eq!(&body["variables"], &wanted);
            prop_assert_eq!(&body["query"], "query($q:String!){ a(q:$q) }");
            let request = sent(&service, "form", json!({"q": text})).await;
            let body = request.body.expect("a body");
            let pairs: Vec<(String, String)> = url::form_urlencoded::parse(&body).into_owned().collect();
            prop_assert_eq!(pairs, vec![("a".to_owned(), text.clone()), ("b".to_owned(), format!("<{text}>"))]);
            // From step to step, and into a template.
            kept.lock().unwrap().clear();
            let result = called(&service, "flow", json!({"b": text})).await;
            prop_assert_eq!(&result["content"][0]["text"], &json!(text));
            let bodies = kept.lock().unwrap().clone();
            prop_assert_eq!(
                &bodies,
                &vec![json!({"b": text}), json!({"b": text, "list": [format!("<{text}>"), text]})]
            );
            // Templates, URIs and jq of a result.
            let result = called(&service, "shown", json!({"p": "x", "b": text})).await;
            prop_assert_eq!(&result["content"][0]["text"], &json!(format!("{text}|{text}|{text}")));
            prop_assert_eq!(&result["content"][1]["resource"]["text"], &json!(text));
            let uri = result["content"][1]["resource"]["uri"].as_str().unwrap().to_owned();
            prop_assert_eq!(decoded(uri.strip_prefix("echo:").unwrap()), text.clone());
            let result = called(&service, "filtered", json!({"p": "x", "b": text})).await;
            prop_assert_eq!(&result["structuredContent"], &json!({"got": text, "twice": format!("{text}{text}")}));
            // The question that a person reads.
            let raw = serde_json::value::to_raw_value(&json!({"p": "x", "b": text})).unwrap();
            let client = ClientFeatures { elicitation: true, ..ClientFeatures::default() };
            let context = Context { client, ..Context::local() };
            let outcome = service.call_tool(&context, "asked", Some(&raw), Round::default()).await.unwrap();
            let Outcome::InputRequired { requests, .. } = outcome else { panic!("nothing is asked") };
            let asked = requests.values().next().unwrap();
            prop_assert_eq!(&asked["params"]["message"], &json!(format!("Send {text}?")));
            Ok(())
        })
    });
    outcome.unwrap();
}
