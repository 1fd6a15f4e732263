//! A remote policy, against a stub of OPA's REST API.

use super::{catalog, names, tool};
use crate::upstream::server::{Act, answer, serve};
use rest_mcp::access::{Access, Caller, Decision, Rules};
use rest_mcp::mapping::Tls;
use rest_mcp::upstream::policy::{Gate, RemotePolicy};
use std::time::Duration;

fn remote(url: &str) -> RemotePolicy {
    RemotePolicy::new(&format!("{url}/v1/data/mcp/allow"), Tls::default(), Duration::from_millis(2000)).unwrap()
}

fn gate(url: &str) -> Gate {
    Gate::new(Access::new(&Rules::default()).unwrap(), Some(remote(url)))
}

#[tokio::test]
async fn the_remote_policy_gets_the_same_input_and_its_answer_counts() {
    let server = serve(|_, request| {
        let yes = request.contains("\"method\":\"GET\"");
        Act::Send(answer("200 OK", "content-type: application/json\r\n", format!("{{\"result\":{yes}}}")))
    })
    .await;
    let (gate, catalog, caller) = (gate(&server.url), catalog(), Caller::default());
    let visible = gate.visible(&caller, &catalog).await;
    assert_eq!(names(&catalog, &visible), ["get_pet", "find_pets", "get_order"]);
    for (name, tool) in &catalog.tools {
        let allowed = gate.decide(&caller, tool).await == Decision::Allow;
        assert_eq!(allowed, names(&catalog, &visible).contains(name), "{name}");
    }
    assert_eq!(server.count(), 6);
    assert_eq!(names(&catalog, &gate.visible_now(&caller, &catalog)), names(&catalog, &visible));
    let first = &server.requests()[0];
    assert!(first.starts_with("POST /v1/data/mcp/allow "), "{first}");
    let body: serde_json::Value = serde_json::from_str(first.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert!(body["input"]["tool"]["name"].is_string() && body["input"]["caller"]["scopes"].is_array());
}

#[tokio::test]
async fn a_remote_policy_that_gives_no_clear_yes_hides() {
    for (status, body) in [
        ("200 OK", "{}"),
        ("200 OK", "{\"result\":\"true\"}"),
        ("200 OK", "true"),
        ("200 OK", "<html>"),
        ("200 OK", "{\"result\":{\"allow\":1}}"),
        ("404 Not Found", "{\"result\":true}"),
        ("500 Internal Server Error", "{\"result\":true}"),
        ("302 Found", "{\"result\":true}"),
    ] {
        let server = serve(move |_, _| Act::Send(answer(status, "location: /x\r\n", body))).await;
        let decision = gate(&server.url).decide(&Caller::default(), &tool("x", &[], "GET")).await;
        assert_eq!(decision, Decision::Hide, "{status} {body}");
    }
    let silent = serve(|_, _| Act::SendAndHang(Vec::new())).await;
    let remote = RemotePolicy::new(&silent.url, Tls::default(), Duration::from_millis(30)).unwrap();
    let gate = Gate::new(Access::new(&Rules::default()).unwrap(), Some(remote));
    assert_eq!(gate.decide(&Caller::default(), &tool("x", &[], "GET")).await, Decision::Hide);
    assert!(names(&catalog(), &gate.visible(&Caller::default(), &catalog()).await).is_empty());
}

#[tokio::test]
async fn a_failure_is_not_remembered_as_an_answer() {
    let server = serve(|number, _| match number {
        0 => Act::Send(answer("500 Internal Server Error", "", "")),
        _ => Act::Send(answer("200 OK", "", "{\"result\":{\"allow\":true}}")),
    })
    .await;
    let gate = gate(&server.url);
    let tool = tool("x", &[], "GET");
    assert_eq!(gate.decide(&Caller::default(), &tool).await, Decision::Hide);
    assert_eq!(gate.decide(&Caller::default(), &tool).await, Decision::Allow);
    assert_eq!(gate.decide(&Caller::default(), &tool).await, Decision::Allow);
    assert_eq!(server.count(), 2);
}

#[tokio::test]
async fn callers_do_not_share_answers() {
    let server = serve(|_, request| {
        let yes = request.contains("\"subject\":\"ann\"");
        Act::Send(answer("200 OK", "", format!("{{\"result\":{yes}}}")))
    })
    .await;
    let gate = gate(&server.url);
    let caller = |name: &str| Caller { subject: Some(name.into()), ..Caller::default() };
    let tool = tool("x", &[], "GET");
    assert_eq!(gate.decide(&caller("ann"), &tool).await, Decision::Allow);
    assert_eq!(gate.decide(&caller("bob"), &tool).await, Decision::Hide);
}
