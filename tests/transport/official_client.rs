//! The official Rust client against the server, in both eras.

use super::client::Site;
use rmcp::model::{CallToolRequestParams, ClientConfig, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt};
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::{Value, json};

async fn talk(site: &Site, mode: ClientLifecycleMode, version: Option<&str>) -> (String, usize, Value) {
    let mut info = ClientConfig::default();
    if let Some(version) = version {
        info.protocol_version = serde_json::from_value(json!(version)).unwrap();
    }
    let address = format!("http://{}/mcp", site.address);
    let transport = StreamableHttpClientTransport::from_uri(address.as_str());
    let client = info.serve_with_lifecycle(transport, mode).await.unwrap();
    let spoken = serde_json::to_value(&*client.peer_info().unwrap()).unwrap()["protocolVersion"].clone();
    let tools = client.list_all_tools().await.unwrap().len();
    let arguments = json!({"a": 1}).as_object().unwrap().clone();
    let result = client.call_tool(CallToolRequestParams::new("echo").with_arguments(arguments)).await.unwrap();
    let text = serde_json::to_value(&result).unwrap()["content"][0]["text"].clone();
    client.cancel().await.unwrap();
    (spoken.as_str().unwrap_or_default().to_owned(), tools, text)
}

#[tokio::test]
async fn the_official_client_lists_and_calls() {
    // The client's HTTP library wants one, TLS or not; another test may have been first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let site = Site::start().await;
    let tools = crate::protocol::double::catalog().tools.len();
    let modern = vec![ProtocolVersion::V_2026_07_28];
    for (mode, version, spoken) in [
        (ClientLifecycleMode::Initialize, None, "2025-11-25"),
        (ClientLifecycleMode::Initialize, Some("2025-06-18"), "2025-06-18"),
        (ClientLifecycleMode::Initialize, Some("2025-03-26"), "2025-03-26"),
        (ClientLifecycleMode::Discover { preferred_versions: modern.clone() }, None, "2026-07-28"),
        (ClientLifecycleMode::Auto { preferred_versions: modern, legacy_version: None }, None, "2026-07-28"),
    ] {
        let heard = talk(&site, mode, version).await;
        assert_eq!(heard, (spoken.to_owned(), tools, json!(r#"{"a":1}"#)));
    }
}
