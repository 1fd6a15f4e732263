//! What is read again: only whole and valid states come into force, and clients hear of it once.

use super::{API, Folder, MAPPING, Running, STILL, echo, hash, modern, run, start};
use crate::upstream::server::{Act, answer, serve};
use futures_util::StreamExt;
use rest_mcp::reload::Times;
use rest_mcp::service::{Change, Handler};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::broadcast::Receiver;

const ONE_LESS: &str = "rules: [{ match: { method: DELETE }, exclude: true }]\n";

fn heard(changes: &mut Receiver<Change>) -> Vec<Change> {
    std::iter::from_fn(|| changes.try_recv().ok()).collect()
}

#[tokio::test]
async fn a_new_mapping_comes_into_force_and_is_told_once() {
    let api = echo().await;
    let world = start("", &api.url).await;
    let mut changes = world.sidecar.service().changes();
    assert_eq!(world.tools(&[]).await.len(), 5);
    world.folder.write("mapping.yaml", &format!("{MAPPING}{ONE_LESS}"));
    assert!(world.reload().await);
    assert_eq!(world.tools(&[]).await.len(), 4);
    assert_eq!(heard(&mut changes), [Change::Tools]);
    // Nothing changed: nothing is said.
    assert!(world.reload().await);
    assert_eq!(heard(&mut changes), []);
    // What a call does may change without a word: the list is the same.
    world.folder.write("secrets/key", "another-key");
    assert!(world.reload().await);
    assert_eq!(heard(&mut changes), []);
    world.call(&[], "getPet", json!({"id": "7"})).await;
    assert!(api.requests().last().unwrap().to_lowercase().contains("x-key: another-key\r\n"));
}

#[tokio::test]
async fn a_bad_file_keeps_the_last_good_state() {
    let api = echo().await;
    let world = start("", &api.url).await;
    let mut changes = world.sidecar.service().changes();
    let before = world.sidecar.service().state();
    for (file, text) in [
        ("mapping.yaml", "version: 1\nsuorces: {}\n"),
        ("mapping.yaml", "version: [\n"),
        ("mapping.yaml", "version: 1\nsources: { shop: { spec: gone.yaml } }\n"),
        ("api.yaml", "openapi: 3.1.0\npaths: ["),
        ("rest-mcp.yaml", "version: 1\nlisten: nowhere\n"),
        ("rest-mcp.yaml", "version: 1\nmappings: [mapping.yaml]\naccess: { tenants: { a: { rate: fast } } }\n"),
        ("rest-mcp.yaml", "version: 1\nmappings: [gone/*.yaml]\n"),
        ("rest-mcp.yaml", "version: 1\nmappings: [mapping.yaml]\naccess: { policy: { rego: [gone.rego] } }\n"),
    ] {
        let good = world.folder.read(file);
        world.folder.write(file, text);
        assert!(!world.reload().await, "{text}");
        assert!(Arc::ptr_eq(&before, &world.sidecar.service().state()), "{text}");
        assert_eq!(world.tools(&[]).await.len(), 5, "{text}");
        world.folder.write(file, &good);
    }
    assert_eq!(heard(&mut changes), []);
    assert!(world.reload().await);
}

#[tokio::test]
async fn rules_and_keys_are_read_again_too() {
    let api = echo().await;
    let settings = |key: &str, deny: &str| {
        format!(
            "access:\n  api_keys: [{{ name: a, key_hash: \"{}\", tenant: t }}]\n  tenants: {{ t: {{ deny: [{deny}] }} }}\n",
            hash(key)
        )
    };
    let world = start(&settings("old-key", ""), &api.url).await;
    let mut changes = world.sidecar.service().changes();
    let (old, new) = ([("x-api-key", "old-key")], [("x-api-key", "new-key")]);
    assert_eq!(world.tools(&old).await.len(), 5);
    assert_eq!(world.post(&new, &modern("tools/list", json!({}))).await.status, 401);
    let head = "version: 1\nmappings: [mapping.yaml]\nlisten: 127.0.0.1:0\n";
    world.folder.write("rest-mcp.yaml", &format!("{head}{}", settings("new-key", "\"tag:pet\"")));
    assert!(world.reload().await);
    assert_eq!(world.post(&old, &modern("tools/list", json!({}))).await.status, 401);
    assert_eq!(world.tools(&new).await, ["getOrders"]);
    assert_eq!(heard(&mut changes), [Change::Tools]);
}

/// Reads an event stream until something holds `text`.
async fn until(response: reqwest::Response, text: &str) -> String {
    let mut seen = String::new();
    let mut stream = response.bytes_stream();
    while !seen.contains(text) {
        let chunk = stream.next().await.unwrap_or_else(|| panic!("the stream ended: {seen}")).unwrap();
        seen.push_str(&String::from_utf8_lossy(&chunk));
    }
    seen
}

async fn listen(world: &Running) -> reqwest::Response {
    let message = modern(
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}}),
    );
    let request = world.http.post(format!("{}/mcp", world.url)).header("content-type", "application/json");
    let request = request.header("accept", "text/event-stream").header("mcp-protocol-version", super::REVISION);
    request.header("mcp-method", "subscriptions/listen").body(message.to_string()).send().await.unwrap()
}

/// Files are watched, in real folders: only that the change arrives is tested, not when.
const WATCHING: Times = Times { watch: true, quiet: Duration::from_millis(20), poll: Duration::ZERO };

#[tokio::test]
async fn a_written_file_reaches_the_clients_that_listen() {
    let api = echo().await;
    let world = run(Folder::new("", &api.url), WATCHING).await;
    let stream = listen(&world).await;
    let folder = world.folder.path("mapping.yaml");
    let writer = tokio::spawn(async move {
        // Watching begins a moment after serving: write until it is seen.
        for number in 0.. {
            let text = format!("{MAPPING}{ONE_LESS}# {number}\n");
            std::fs::write(&folder, text).unwrap();
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    });
    let seen = until(stream, "list_changed").await;
    writer.abort();
    assert!(seen.contains("notifications/tools/list_changed"), "{seen}");
    assert_eq!(world.tools(&[]).await.len(), 4);
}

#[cfg(unix)]
#[tokio::test]
async fn a_swapped_config_map_is_seen() {
    // As the kubelet does it: files are links into `..data`, itself a link that is replaced by renaming.
    use std::os::unix::fs::symlink;
    let api = echo().await;
    let folder = Folder::new("", &api.url);
    let version = |name: &str, text: &str| {
        std::fs::create_dir(folder.path(name)).unwrap();
        folder.write(&format!("{name}/mapping.yaml"), text);
    };
    std::fs::remove_file(folder.path("mapping.yaml")).unwrap();
    version("..1", MAPPING);
    version("..2", &format!("{MAPPING}{ONE_LESS}"));
    symlink("..1", folder.path("..data")).unwrap();
    symlink("..data/mapping.yaml", folder.path("mapping.yaml")).unwrap();
    let world = run(folder, WATCHING).await;
    assert_eq!(world.tools(&[]).await.len(), 5);
    let stream = listen(&world).await;
    let root = world.folder.0.path().to_owned();
    let swapper = tokio::spawn(async move {
        for number in 0.. {
            let target = if number % 2 == 0 { "..2" } else { "..1" };
            symlink(target, root.join("..data_tmp")).unwrap();
            std::fs::rename(root.join("..data_tmp"), root.join("..data")).unwrap();
            tokio::time::sleep(Duration::from_millis(400)).await;
        }
    });
    let seen = until(stream, "list_changed").await;
    swapper.abort();
    assert!(seen.contains("notifications/tools/list_changed"), "{seen}");
}

#[tokio::test]
async fn a_document_behind_a_url_is_asked_by_its_etag() {
    let api = echo().await;
    let state = Arc::new(Mutex::new((1, API.replace("BACKEND", &api.url))));
    let (shared, fetched) = (state.clone(), Arc::new(AtomicUsize::new(0)));
    let count = fetched.clone();
    let documents = serve(move |_, request| {
        let (version, text) = shared.lock().unwrap().clone();
        if request.to_lowercase().contains(&format!("if-none-match: \"v{version}\"")) {
            return Act::Send(answer("304 Not Modified", &format!("etag: \"v{version}\"\r\n"), ""));
        }
        count.fetch_add(1, Ordering::SeqCst);
        Act::Send(answer("200 OK", &format!("content-type: application/yaml\r\netag: \"v{version}\"\r\n"), text))
    })
    .await;
    let folder = Folder::new("", &api.url);
    folder.write("mapping.yaml", &MAPPING.replace("spec: api.yaml", &format!("spec: \"{}/api.yaml\"", documents.url)));
    let times = Times { poll: Duration::from_millis(30), ..STILL };
    let world = run(folder, times).await;
    let stream = listen(&world).await;
    let asked = documents.count();
    while documents.count() < asked + 3 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let before = fetched.load(Ordering::SeqCst);
    assert_eq!(world.tools(&[]).await.len(), 5);
    {
        let mut state = state.lock().unwrap();
        *state = (2, state.1.replace("operationId: findPets", "operationId: listPets"));
    }
    let seen = until(stream, "list_changed").await;
    assert!(seen.contains("notifications/tools/list_changed"), "{seen}");
    assert!(world.tools(&[]).await.contains(&"listPets".to_owned()));
    assert!(fetched.load(Ordering::SeqCst) > before, "only a changed document is fetched again");
}

#[tokio::test]
async fn calls_in_flight_finish_on_the_old_state() {
    let (release, gate) = tokio::sync::watch::channel(false);
    let entered = Arc::new(tokio::sync::Notify::new());
    let router = {
        let entered = entered.clone();
        axum::Router::new().fallback(move || {
            let (entered, mut gate) = (entered.clone(), gate.clone());
            async move {
                entered.notify_one();
                gate.wait_for(|open| *open).await.unwrap();
                ([("content-type", "application/json")], "{\"done\":true}")
            }
        })
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let world = Arc::new(start("", &url).await);
    let calling = tokio::spawn({
        let world = world.clone();
        async move { world.call(&[], "deletePet", json!({"id": "7"})).await }
    });
    entered.notified().await;
    world.folder.write("mapping.yaml", &format!("{MAPPING}{ONE_LESS}"));
    assert!(world.reload().await);
    assert!(world.call(&[], "deletePet", json!({"id": "7"})).await.text.contains("Unknown tool"));
    release.send(true).unwrap();
    let reply = calling.await.unwrap();
    assert_eq!(reply.body["result"]["structuredContent"], json!({"done": true}), "{reply:?}");
}

#[tokio::test]
async fn asking_by_signal_reloads_even_where_nothing_is_watched() {
    let api = echo().await;
    let world = start("", &api.url).await;
    let mut changes = world.sidecar.service().changes();
    world.folder.write("mapping.yaml", &format!("{MAPPING}{ONE_LESS}"));
    world.ask.send(()).await.unwrap();
    assert_eq!(changes.recv().await.unwrap(), Change::Tools);
    assert_eq!(world.tools(&[]).await.len(), 4);
}

#[tokio::test]
async fn a_cursor_of_the_old_list_is_refused_rather_than_misread() {
    let api = echo().await;
    let folder = Folder::new("", &api.url);
    folder.write("mapping.yaml", &format!("{MAPPING}catalog: {{ page_size: 2 }}\n"));
    let world = run(folder, STILL).await;
    let first = world.post(&[], &modern("tools/list", json!({}))).await;
    let cursor: Value = first.body["result"]["nextCursor"].clone();
    assert!(cursor.is_string(), "{first:?}");
    world.folder.write("mapping.yaml", &format!("{MAPPING}catalog: {{ page_size: 2 }}\n{ONE_LESS}"));
    assert!(world.reload().await);
    let next = world.post(&[], &modern("tools/list", json!({"cursor": cursor}))).await;
    assert_eq!(next.body["error"]["code"], -32602, "{next:?}");
}

#[tokio::test]
async fn a_fault_while_loading_costs_that_load_and_no_later_one() {
    let loader = rest_mcp::app::LoadThread::start().unwrap();
    let failed: Result<(), String> = loader.first(|| async { panic!("a fault") as ((), ()) }).await;
    assert_eq!(failed, Err("loading was interrupted by a fault of its own".to_owned()));
    assert_eq!(loader.first(|| async { (1, "freed later") }).await, Ok(1));
}
