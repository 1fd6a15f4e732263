//! The official Rust client with the real binary, as a child process and over Streamable HTTP, in both eras.

use super::binary::{Served, command};
use super::{Folder, MAPPING};
use crate::upstream::server::{Act, Server, answer, serve};
use rmcp::model::{
    CallToolRequestParams, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData,
    ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams, SubscribeRequestParams, SubscriptionFilter,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, RequestContext, RoleClient, RunningService,
};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, model::ResourceUpdatedNotificationParam};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Bytes that a client must get exactly: two spaces, an escape, characters of two to four bytes.
const PET: &str = "{\"name\":  \"Na\u{ef}ve \u{2602} \u{1f701}\", \"note\": \"a\\\"b\\\\c\"}";

/// Agrees to everything, and tells what it heard.
struct Person {
    version: Option<&'static str>,
    heard: UnboundedSender<String>,
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let mut config = ClientConfig::default();
        config.capabilities = serde_json::from_value(json!({"elicitation": {"form": {}}})).unwrap();
        if let Some(version) = self.version {
            config.protocol_version = serde_json::from_value(json!(version)).unwrap();
        }
        config
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else { panic!("{request:?}") };
        self.heard.send(message).unwrap();
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({})))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.heard.send(format!("{} of {:?}", params.progress, params.total)).unwrap();
    }

    async fn on_resource_updated(&self, params: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        self.heard.send(params.uri.to_string()).unwrap();
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.heard.send("tools".to_owned()).unwrap();
    }
}

/// A shop whose first pet can be renamed.
async fn api() -> (Server, Arc<Mutex<String>>) {
    let pet = Arc::new(Mutex::new(PET.to_owned()));
    let now = pet.clone();
    let server = serve(move |_, request| {
        let line = request.lines().next().unwrap_or_default();
        Act::Send(match line {
            "GET /orders HTTP/1.1" => answer(
                "200 OK",
                "content-type: application/x-ndjson\r\n",
                "{\"step\":1,\"of\":2}\n{\"step\":2,\"of\":2}\n{\"sum\":3}\n",
            ),
            _ if line.starts_with("DELETE ") => b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(),
            _ => answer("200 OK", "content-type: application/json\r\n", now.lock().unwrap().clone()),
        })
    })
    .await;
    (server, pet)
}

fn mapping(more: &str) -> String {
    format!(
        "{MAPPING}tools:\n  deletePet: {{ confirm: \"Delete {{{{id}}}}?\" }}\n  getOrders: {{ stream: {{ progress: {{ value: step, total: of }} }} }}\nresources:\n  pet: {{ operation: getPet, uri: \"shop://pets/{{id}}\", mime_type: application/json }}\n{more}"
    )
}

fn folder(api: &Server) -> Folder {
    let settings = "reload: { debounce: 1ms }\nsubscriptions: { every: 5ms }\n";
    let folder = Folder::new(settings, &api.url);
    folder.write("mapping.yaml", &mapping(""));
    folder
}

async fn text(client: &RunningService<RoleClient, Person>, tool: &'static str, arguments: Value) -> String {
    let params = CallToolRequestParams::new(tool).with_arguments(arguments.as_object().unwrap().clone());
    let result = serde_json::to_value(client.call_tool(params).await.unwrap()).unwrap();
    assert_ne!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

async fn names(client: &RunningService<RoleClient, Person>) -> Vec<String> {
    client.list_all_tools().await.unwrap().iter().map(|tool| tool.name.to_string()).collect()
}

struct World<'a> {
    folder: &'a Folder,
    pet: &'a Mutex<String>,
}

/// Everything that one connection can do.
async fn story(
    client: RunningService<RoleClient, Person>,
    mut heard: UnboundedReceiver<String>,
    spoken: &str,
    world: &World<'_>,
) {
    let peer = serde_json::to_value(&*client.peer_info().unwrap()).unwrap();
    assert_eq!(peer["protocolVersion"], spoken);
    assert_eq!(names(&client).await, ["findPets", "addPet", "getPet", "deletePet", "getOrders"]);
    assert_eq!(text(&client, "getPet", json!({"id": "7"})).await, PET);
    assert_eq!(text(&client, "getOrders", json!({})).await, r#"{"sum":3}"#);
    let mut steps = vec![heard.recv().await.unwrap(), heard.recv().await.unwrap()];
    steps.sort();
    assert_eq!(steps, ["1 of Some(2.0)", "2 of Some(2.0)"]);
    // 2025-03-26 knows no questions: there the model confirms.
    if spoken > "2025-06" {
        assert_eq!(text(&client, "deletePet", json!({"id": "7"})).await, "OK (204 No Content)");
        assert_eq!(heard.recv().await.as_deref(), Some("Delete 7?"));
    }
    let read = client.read_resource(ReadResourceRequestParams::new("shop://pets/7")).await.unwrap();
    let read = serde_json::to_value(read).unwrap();
    assert_eq!((&read["contents"][0]["uri"], &read["contents"][0]["text"]), (&json!("shop://pets/7"), &json!(PET)));

    // A resource and the list of tools change.
    let changed = mapping("rules: [{ match: { method: DELETE }, exclude: true }]\n")
        .replace("  deletePet: { confirm: \"Delete {{id}}?\" }\n", "");
    if spoken == "2026-07-28" {
        let filter = SubscriptionFilter::builder().resource_subscriptions(["shop://pets/7"]).build();
        let mut updates = client.listen(filter).await.unwrap();
        assert_eq!(updates.acknowledged().resource_subscriptions.as_deref(), Some(&["shop://pets/7".to_owned()][..]));
        *world.pet.lock().unwrap() = "{}".to_owned();
        let update = serde_json::to_value(updates.next().await.unwrap().unwrap()).unwrap();
        assert_eq!(update["method"], "notifications/resources/updated", "{update}");
        assert_eq!(update["params"]["uri"], "shop://pets/7");
        let mut lists = client.listen(SubscriptionFilter::builder().tools_list_changed().build()).await.unwrap();
        world.folder.write("mapping.yaml", &changed);
        let change = serde_json::to_value(lists.next().await.unwrap().unwrap()).unwrap();
        assert_eq!(change["method"], "notifications/tools/list_changed", "{change}");
    } else {
        #[allow(deprecated)]
        client.subscribe(SubscribeRequestParams::new("shop://pets/7")).await.unwrap();
        *world.pet.lock().unwrap() = "{}".to_owned();
        assert_eq!(heard.recv().await.as_deref(), Some("shop://pets/7"));
        world.folder.write("mapping.yaml", &changed);
        assert_eq!(heard.recv().await.as_deref(), Some("tools"));
    }
    assert_eq!(names(&client).await, ["findPets", "addPet", "getPet", "getOrders"]);
    assert_eq!(text(&client, "getPet", json!({"id": "7"})).await, "{}");
    client.cancel().await.unwrap();
    *world.pet.lock().unwrap() = PET.to_owned();
    world.folder.write("mapping.yaml", &mapping(""));
}

fn modes() -> Vec<(ClientLifecycleMode, Option<&'static str>, &'static str)> {
    let modern = vec![ProtocolVersion::V_2026_07_28];
    vec![
        (ClientLifecycleMode::Initialize, None, "2025-11-25"),
        (ClientLifecycleMode::Initialize, Some("2025-06-18"), "2025-06-18"),
        (ClientLifecycleMode::Initialize, Some("2025-03-26"), "2025-03-26"),
        (ClientLifecycleMode::Discover { preferred_versions: modern.clone() }, None, "2026-07-28"),
        (ClientLifecycleMode::Auto { preferred_versions: modern, legacy_version: None }, None, "2026-07-28"),
    ]
}

#[tokio::test]
async fn the_official_client_drives_the_binary_as_its_child() {
    let (api, pet) = api().await;
    for (mode, version, spoken) in modes() {
        let folder = folder(&api);
        let mut child = command(&folder);
        child.args(["serve", "--stdio"]);
        let (sender, heard) = unbounded_channel();
        let transport = TokioChildProcess::new(child).unwrap();
        let client = Person { version, heard: sender }.serve_with_lifecycle(transport, mode).await.unwrap();
        story(client, heard, spoken, &World { folder: &folder, pet: &pet }).await;
    }
}

#[tokio::test]
async fn the_official_client_drives_the_binary_over_http() {
    let (api, pet) = api().await;
    for (mode, version, spoken) in modes() {
        let folder = folder(&api);
        let served = Served::start(&folder, &[]).await;
        let (sender, heard) = unbounded_channel();
        let address = format!("{}/mcp", served.url);
        let transport = StreamableHttpClientTransport::from_uri(address.as_str());
        let client = Person { version, heard: sender }.serve_with_lifecycle(transport, mode).await.unwrap();
        story(client, heard, spoken, &World { folder: &folder, pet: &pet }).await;
    }
}
