//! Long lists as gzip (RFC 9110 §12.5.3, RFC 1952), read by another implementation than wrote them.

use super::client::{Response, Site};
use crate::protocol::double::{catalog, tool};
use crate::protocol::peer::modern;
use flate2::read::GzDecoder;
use rest_mcp::catalog::Catalog;
use rest_mcp::protocol::{self, Version};
use rest_mcp::transport::Settings;
use serde_json::{Value, json};
use std::io::Read;
use std::sync::Arc;

/// So many tools that their list is long.
fn long() -> Catalog {
    let mut all = catalog();
    for number in 0..200 {
        let name = format!("tool_{number:03}");
        all.tools.insert(name.clone(), Arc::new(tool(&name)));
    }
    all
}

async fn site() -> Site {
    Site::serving(long(), protocol::Settings::default(), Settings::default()).await
}

/// The list in 2026-07-28, to a client that accepts these codings.
async fn listed(site: &Site, id: &Value, accepted: Option<&str>) -> Response {
    let coding = format!("Accept-Encoding: {}", accepted.unwrap_or_default());
    let mut headers = vec!["Content-Type: application/json", "Accept: application/json, text/event-stream"];
    headers.extend(["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/list"]);
    headers.extend(accepted.map(|_| coding.as_str()));
    let body = modern(id.clone(), "tools/list", json!({})).to_string();
    site.send("POST", "/mcp", &headers, body.as_bytes()).await
}

/// The text of a body; the decoder checks the member's checksum and length, and nothing may follow it.
fn text(response: &Response) -> Vec<u8> {
    match response.header("content-encoding") {
        None => response.body.clone(),
        Some(coding) => {
            assert_eq!(coding, "gzip");
            let (mut text, mut decoder) = (Vec::new(), GzDecoder::new(response.body.as_slice()));
            decoder.read_to_end(&mut text).unwrap();
            assert!(decoder.into_inner().is_empty(), "something follows the member");
            text
        }
    }
}

#[tokio::test]
async fn who_accepts_gzip_gets_the_same_text_in_it() {
    const CASES: &[(Option<&str>, bool)] = &[
        (None, false),
        (Some(""), false),
        (Some("identity"), false),
        (Some("br, zstd"), false),
        (Some("gzip"), true),
        (Some("GZip"), true),
        (Some("x-gzip"), true),
        (Some("gzip, deflate, br, zstd"), true),
        (Some("br;q=1.0, gzip;q=0.5, *;q=0"), true),
        (Some("gzip;q=0.001"), true),
        (Some("*"), true),
        (Some("*;q=0.1, gzip;q=0"), false),
        (Some("gzip;q=0"), false),
        (Some("gzip; q=0.000"), false),
        (Some("gzip;Q=0, *"), false),
        (Some("*;q=0"), false),
        (Some("gzip;q=much"), false),
        (Some("identity;q=1, *;q=0.5"), true),
    ];
    let site = site().await;
    let plain = listed(&site, &json!(1), None).await;
    let tools = plain.json()["result"]["tools"].as_array().unwrap().len();
    assert!(tools > 200 && plain.body.len() > 16_384, "{tools} tools in {} bytes", plain.body.len());
    for (accepted, expected) in CASES {
        let response = listed(&site, &json!(1), *accepted).await;
        assert_eq!(response.status, 200, "{accepted:?}");
        assert_eq!(response.header("content-encoding"), expected.then_some("gzip"), "{accepted:?}");
        assert_eq!(response.header("vary"), Some("accept-encoding"), "{accepted:?}");
        assert_eq!(text(&response), plain.body, "{accepted:?}");
        if *expected {
            assert!(response.body.len() * 5 < plain.body.len(), "{} bytes", response.body.len());
        }
    }
}

#[tokio::test]
async fn what_is_the_answers_own_may_be_of_any_length() {
    let site = site().await;
    // Stored blocks hold 65,535 bytes: at the limit, around it, and over several.
    for length in [0, 1, 65_535 - 60, 65_535, 65_536, 131_070, 200_000] {
        let id = json!("x".repeat(length));
        let (plain, coded) = (listed(&site, &id, None).await, listed(&site, &id, Some("gzip")).await);
        assert_eq!(coded.header("content-encoding"), Some("gzip"));
        assert_eq!(text(&coded), plain.body, "an id of {length}");
        assert_eq!(plain.json()["id"], id);
    }
}

#[tokio::test]
async fn every_revision_has_its_own_and_another_catalog_too() {
    let site = site().await;
    let session = site.session(Version::V2025_11_25).await;
    let session = format!("Mcp-Session-Id: {session}");
    let legacy = async |accepted: &str| {
        let headers =
            ["Content-Type: application/json", "Accept: application/json, text/event-stream", accepted, &session];
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
        site.send("POST", "/mcp", &headers, body.as_bytes()).await
    };
    let (plain, coded) = (legacy("Accept-Encoding: identity").await, legacy("Accept-Encoding: gzip").await);
    assert_eq!(coded.header("content-encoding"), Some("gzip"));
    assert_eq!(text(&coded), plain.body);
    assert_ne!(plain.body, text(&listed(&site, &json!(1), Some("gzip")).await), "2026-07-28 has other members");

    let before = plain.json()["result"]["tools"].as_array().unwrap().len();
    let mut more = long();
    more.tools.insert("one_more".to_owned(), Arc::new(tool("one_more")));
    site.double.swap(more);
    let coded = legacy("Accept-Encoding: gzip").await;
    let after: Value = serde_json::from_slice(&text(&coded)).unwrap();
    assert_eq!(after["result"]["tools"].as_array().unwrap().len(), before + 1);
}

#[tokio::test]
async fn short_answers_and_event_streams_stay_as_they_are() {
    let few = Site::start().await;
    let response = listed(&few, &json!(1), Some("gzip")).await;
    assert_eq!((response.header("content-encoding"), response.header("vary")), (None, None));
    let many = site().await;
    let headers = [
        "Content-Type: application/json",
        "Accept: text/event-stream",
        "Accept-Encoding: gzip",
        "MCP-Protocol-Version: 2026-07-28",
        "Mcp-Method: tools/list",
    ];
    let body = modern(json!(1), "tools/list", json!({})).to_string();
    let response = many.send("POST", "/mcp", &headers, body.as_bytes()).await;
    assert_eq!(
        (response.header("content-type"), response.header("content-encoding")),
        (Some("text/event-stream"), None)
    );
    assert!(response.body.starts_with(b"event: message\ndata: {"), "{:?}", response.body.get(..40));
}
