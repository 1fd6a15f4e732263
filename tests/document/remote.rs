//! Documents from URLs, from a server on loopback.

use super::codes;
use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use rest_mcp::load::{LoadOptions, changed, load_set, load_set_tracked};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

type Seen = Arc<Mutex<Vec<(String, Option<String>)>>>;

/// Serves a router on loopback and records path and Authorization of each request.
async fn serve(router: Router) -> (SocketAddr, Seen) {
    let seen: Seen = Seen::default();
    let log = Arc::clone(&seen);
    let router = router.layer(axum::middleware::from_fn(move |request: Request, next: axum::middleware::Next| {
        let log = Arc::clone(&log);
        async move {
            let auth = request.headers().get(header::AUTHORIZATION).map(|v| v.to_str().unwrap().to_owned());
            log.lock().unwrap().push((request.uri().path().to_owned(), auth));
            next.run(request).await
        }
    }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (address, seen)
}

fn text(body: &'static str) -> axum::routing::MethodRouter {
    get(move || async move { body })
}

#[tokio::test]
async fn references_stay_on_the_server_of_the_root() {
    let (other, other_seen) = serve(Router::new().route("/x.yaml", text("x: 1"))).await;
    let root = format!(
        "openapi: 3.1.0\na: {{$ref: 'sub/a.yaml'}}\nb: {{$ref: 'http://{other}/x.yaml'}}\nc: {{$ref: 'file:///etc/hostname'}}\n"
    );
    let router = Router::new()
        .route("/api/root.yaml", get(move || async move { root }))
        .route("/api/sub/a.yaml", text("a: {$ref: '../b.json#/x'}"))
        .route("/api/b.json", text("{\"x\": 5}"));
    let (address, _) = serve(router).await;
    let url = format!("http://{address}/api/root.yaml");
    let (set, report) = load_set(&url, &LoadOptions::default()).await;
    let set = set.unwrap();
    assert_eq!(set.documents.len(), 3, "{}", report.render(false));
    assert_eq!(set.resolve(1, "../b.json#/x").unwrap().value, &serde_json::json!(5));
    let mut found = codes(&report);
    found.sort_unstable();
    assert_eq!(found, ["missing-document", "ref-not-allowed"]);
    assert!(other_seen.lock().unwrap().is_empty());
    let allowed = LoadOptions { allow_refs: vec![format!("http://{other}")], ..LoadOptions::default() };
    assert_eq!(load_set(&url, &allowed).await.0.unwrap().documents.len(), 4);
    let prefix = LoadOptions { allow_refs: vec![format!("http://{other}/y/")], ..LoadOptions::default() };
    assert_eq!(load_set(&url, &prefix).await.0.unwrap().documents.len(), 3);
}

#[tokio::test]
async fn redirects_are_followed_for_the_root_and_fenced_for_references() {
    let (other, _) = serve(Router::new().route("/secret.yaml", text("s: 1"))).await;
    let elsewhere = format!("http://{other}/secret.yaml");
    let router = Router::new()
        .route("/old", get(|| async { Redirect::temporary("/v2/root.yaml") }))
        .route("/v2/root.yaml", text("openapi: 3.1.0\na: {$ref: moved.yaml}\nb: {$ref: out.yaml}\nc: {$ref: /old}\n"))
        .route("/v2/moved.yaml", get(|| async { Redirect::temporary("/v3/here.yaml") }))
        .route("/v3/here.yaml", text("h: {$ref: /old}"))
        .route("/v2/out.yaml", get(move || async move { Redirect::temporary(&elsewhere) }))
        .route("/loop", get(|| async { Redirect::temporary("/loop") }));
    let (address, _) = serve(router).await;
    let (set, report) = load_set(&format!("http://{address}/old"), &LoadOptions::default()).await;
    let set = set.unwrap();
    assert_eq!(set.documents.len(), 2, "{}", report.render(false));
    assert_eq!(set.documents[0].location, format!("http://{address}/v2/root.yaml"));
    assert_eq!(set.resolve(0, "moved.yaml#/h").unwrap().document, 1);
    assert_eq!(set.resolve(1, "/old").unwrap().document, 0);
    assert_eq!(codes(&report), ["missing-document"]);
    assert!(report.diagnostics[0].message.contains("redirects to another server"));
    let (set, report) = load_set(&format!("http://{address}/loop"), &LoadOptions::default()).await;
    assert!(set.is_none() && report.diagnostics[0].message.contains("more than 5 times"));
}

#[tokio::test]
async fn credentials_of_the_url_go_to_its_server_only_and_are_never_shown() {
    let (other, other_seen) = serve(Router::new().route("/x.yaml", text("x: 1"))).await;
    let root =
        format!("openapi: 3.1.0\na: {{$ref: a.yaml}}\nb: {{$ref: 'http://{other}/x.yaml'}}\nc: {{$ref: gone.yaml}}\n");
    let router = Router::new().route("/root.yaml", get(move || async move { root })).route("/a.yaml", text("a: 010"));
    let (address, seen) = serve(router).await;
    let options = LoadOptions { allow_refs: vec![format!("http://{other}")], ..LoadOptions::default() };
    let url = format!("http://user:hunter2@{address}/root.yaml?key=topsecret");
    let (set, freshness, report) = load_set_tracked(&url, &options).await;
    assert_eq!(set.as_ref().unwrap().documents.len(), 3);
    let basic = Some("Basic dXNlcjpodW50ZXIy".to_owned());
    assert!(seen.lock().unwrap().iter().all(|(_, auth)| *auth == basic));
    assert_eq!(*other_seen.lock().unwrap(), [("/x.yaml".to_owned(), None)]);
    let said = format!("{}{}{freshness:?}", report.render(false), report.to_json());
    assert!(!said.contains("hunter2"), "{said}");
    assert!(!report.render(false).contains("topsecret"));
    let (_, report) = load_set(&format!("http://user:hunter2@{address}/nothing?key=topsecret"), &options).await;
    let said = report.render(false);
    assert!(said.contains("404") && !said.contains("hunter2") && !said.contains("topsecret"), "{said}");
}

#[tokio::test]
async fn size_and_time_are_bounded() {
    let router = Router::new()
        .route("/large", get(|| async { "x".repeat(10_000) }))
        .route("/never", get(std::future::pending::<&'static str>))
        .route("/page", get(|| async { "<!doctype html><html></html>" }));
    let (address, _) = serve(router).await;
    let options =
        LoadOptions { max_bytes: 1_000, timeout: std::time::Duration::from_millis(50), ..LoadOptions::default() };
    for (path, part) in [("large", "over 1000 bytes"), ("never", "in time"), ("page", "HTML")] {
        let (set, report) = load_set(&format!("http://{address}/{path}"), &options).await;
        assert!(set.is_none() && report.render(false).contains(part), "{}", report.render(false));
    }
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let (_, report) = load_set(&format!("http://{closed}/x"), &LoadOptions::default()).await;
    assert!(report.diagnostics[0].message.contains("no connection"), "{}", report.render(false));
}

#[tokio::test]
async fn a_server_tells_whether_a_document_changed() {
    async fn document(headers: HeaderMap) -> Response {
        match headers.get(header::IF_NONE_MATCH).and_then(|v| v.to_str().ok()) {
            Some("\"v1\"") => StatusCode::NOT_MODIFIED.into_response(),
            _ => ([(header::ETAG, "\"v1\"")], "a: 1").into_response(),
        }
    }
    let (address, _) = serve(Router::new().route("/d", get(document)).route("/plain", text("a: 1"))).await;
    let options = LoadOptions::default();
    let (_, freshness, _) = load_set_tracked(&format!("http://{address}/d"), &options).await;
    assert_eq!(freshness[0].etag.as_deref(), Some("\"v1\""));
    assert_eq!(changed(&freshness[0], &options).await, Some(false));
    let mut older = freshness[0].clone();
    older.etag = Some("\"v0\"".to_owned());
    assert_eq!(changed(&older, &options).await, Some(true));
    let (_, freshness, _) = load_set_tracked(&format!("http://{address}/plain"), &options).await;
    assert_eq!(changed(&freshness[0], &options).await, None);
}
