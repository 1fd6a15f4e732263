//! A caller's argument is never evaluated: whatever it looks like, it arrives upstream as those characters.

use super::run::StoryEnvironment;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rest_mcp::app::{self, Inputs, Settings};
use rest_mcp::request::Request;
use rest_mcp::service::{Context, Service};
use serde_json::{Map, Value, json};
use std::path::Path;

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

async fn service() -> Service {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios/hand");
    let (inputs, _) = Inputs::read(&[folder.join("mapping.yaml").display().to_string()], None).await;
    let variables = [("TOKEN", "t"), ("KEY", "k")].map(|(name, value)| (name.to_owned(), json!(value)));
    let environment = StoryEnvironment { variables: Map::from_iter(variables), host: "upstream.invalid".to_owned() };
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
    let service = runtime.block_on(service());
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
