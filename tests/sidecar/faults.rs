//! What the model hears when the API fails, over real sockets: true, short, nothing of the inside; what was sent again and
//! what was not is counted at the API; and the next call works.

use super::{Folder, MAPPING, Reply, Running, STILL, echo, run};
use crate::upstream::bodies::zeros_in_gzip;
use crate::upstream::server::{Act, answer, serve};
use crate::upstream::tls::{Authority, serve_tls};
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

async fn world(limits: &str, more: &str, api: &str) -> Running {
    let folder = Folder::new("", api);
    let source = format!("{more}limits: {{ {limits} }}, credentials");
    folder.write("mapping.yaml", &MAPPING.replace("credentials", &source));
    run(folder, STILL).await
}

/// Calls a tool; the text of its answer, which must not hang, is short and says nothing of the inside.
async fn said(what: &str, world: &Running, tool: &str) -> (bool, String) {
    let call = world.call(&[], tool, json!(if tool == "getPet" { json!({"id": "7"}) } else { json!({"name": "Rex"}) }));
    let reply: Reply =
        tokio::time::timeout(Duration::from_secs(60), call).await.unwrap_or_else(|_| panic!("{what} hangs"));
    let result = &reply.body["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{what}: {reply:?}")).to_owned();
    for inside in ["127.0.0.1", "localhost", "invalid", "http://", "https://", "os error", "rustls", "hyper", "src/"] {
        assert!(!text.contains(inside), "{what} shows `{inside}`: {text}");
    }
    assert!(text.len() < 300 || result["isError"] != true, "{what} is long: {text}");
    (result["isError"] == true, text)
}

#[tokio::test]
async fn each_fault_is_told_truly_and_repeated_only_where_that_is_harmless() {
    let ok = || Act::Send(answer("200 OK", "content-type: application/json\r\n", "{\"fine\":true}"));
    let short = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 10\r\n\r\nabc".to_vec();
    let long = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100000\r\n\r\n".to_vec();
    let status = |status: &str, headers: &str| answer(status, headers, "");
    type Fault = Box<dyn Fn() -> Act + Send + Sync>;
    type Case<'a> = (&'a str, Fault, &'a str, [&'a str; 2], [usize; 2]);
    let act = |bytes: Vec<u8>, make: fn(Vec<u8>) -> Act| -> Fault { Box::new(move || make(bytes.clone())) };
    // The fault, the limits, what is said, how often a GET and a POST are sent.
    let patient = "retries: 2";
    let hasty = "retries: 2, timeout: 400ms";
    let unknown = "Whether the API has carried out the request is unknown";
    let cases: Vec<Case<'_>> = vec![
        (
            "reset before the answer",
            act(Vec::new(), Act::SendAndReset),
            patient,
            ["broke before its answer was complete", unknown],
            [3, 1],
        ),
        ("reset in the body", act(short.clone(), Act::SendAndReset), patient, ["safe to repeat", unknown], [3, 1]),
        (
            "never answering",
            act(Vec::new(), Act::SendAndHang),
            hasty,
            ["not finished within its time limit of 400 ms", unknown],
            [1, 1],
        ),
        (
            "a byte now and then",
            act(long.clone(), Act::Trickle),
            hasty,
            ["not finished within its time limit of 400 ms", unknown],
            [1, 1],
        ),
        ("shorter than announced", act(short, Act::SendAndClose), patient, ["can't be decoded", unknown], [3, 1]),
        (
            "no gzip",
            act(answer("200 OK", "content-encoding: gzip\r\n", "plain"), Act::Send),
            patient,
            ["can't be decoded", unknown],
            [1, 1],
        ),
        (
            "429, soon",
            act(status("429 Too Many Requests", "retry-after: 0\r\n"), Act::Send),
            patient,
            ["429", "429"],
            [3, 1],
        ),
        (
            "429, much later",
            act(status("429 Too Many Requests", "retry-after: 86400\r\n"), Act::Send),
            patient,
            ["429", "429"],
            [1, 1],
        ),
        ("503 storm", act(status("503 Service Unavailable", ""), Act::Send), patient, ["503", "503"], [3, 1]),
        (
            "no HTTP",
            act(b"SSH-2.0-OpenSSH\r\n\r\n".to_vec(), Act::SendAndClose),
            patient,
            ["can't be decoded", unknown],
            [1, 1],
        ),
    ];
    for (what, fault, limits, wanted, sent) in cases {
        let bad = sent[0] + sent[1];
        let api = serve(move |number, _| if number < bad { fault() } else { ok() }).await;
        let world = world(limits, "", &api.url).await;
        let mut before = 0;
        for ((tool, wanted), sent) in ["getPet", "addPet"].into_iter().zip(wanted).zip(sent) {
            let (error, text) = said(what, &world, tool).await;
            assert!(error && text.contains(wanted), "{what}: {text}");
            assert_eq!(api.count() - before, sent, "{what}: {tool}");
            before = api.count();
        }
        let (error, text) = said(what, &world, "getPet").await;
        assert!(!error && text.contains("fine"), "after {what}: {text}");
    }
}

#[tokio::test]
async fn a_body_without_end_and_a_bomb_are_cut_and_said_to_be() {
    let endless = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n".to_vec();
    let packed = answer("200 OK", "content-type: text/plain\r\ncontent-encoding: gzip\r\n", zeros_in_gzip(4000));
    let api = serve(move |number, _| match number {
        0 => Act::Endless(endless.clone(), vec![b'x'; 4096]),
        1 => Act::SendAndClose(packed.clone()),
        _ => Act::Send(answer("200 OK", "content-type: application/json\r\n", "{\"fine\":true}")),
    })
    .await;
    let world = world("max_response: 1KiB", "", &api.url).await;
    for what in ["endless", "bomb"] {
        let reply = world.call(&[], "getPet", json!({"id": "7"})).await;
        assert!(reply.text.len() < 8192, "{what}: {} bytes", reply.text.len());
        let text = reply.body["result"]["content"].to_string();
        assert!(
            text.contains("The API's answer was longer than what is read of it; this is its beginning."),
            "{what}: {text}"
        );
    }
    assert_eq!(api.count(), 2);
    let (error, text) = said("after", &world, "getPet").await;
    assert!(!error && text.contains("fine"), "{text}");
}

/// Points the source at an API that works and reads the files again, as an operator does.
async fn repaired(what: &str, world: &Running) {
    let api = echo().await;
    world.folder.write("api.yaml", &super::API.replace("BACKEND", &api.url));
    world.folder.write("mapping.yaml", MAPPING);
    assert!(world.reload().await, "{what}");
    let (error, text) = said(what, world, "getPet").await;
    assert!(!error && text.contains("/pets/7"), "after {what}: {text}");
    assert_eq!(api.count(), 1, "after {what}");
}

#[tokio::test]
async fn who_can_t_be_reached_is_said_to_be_and_nothing_was_sent() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let refused = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let authority = Authority::new();
    let trust = format!("tls: {{ ca: \"{}\" }}, ", authority.path("ca.pem"));
    let elsewhere = serve_tls(&authority, "elsewhere.test", false, false).await;
    let expired = serve_tls(&authority, "localhost", true, false).await;
    let stranger = serve_tls(&Authority::new(), "localhost", false, false).await;
    for (what, url, more, wanted) in [
        ("refused", refused.as_str(), "", "the connection was refused or failed"),
        ("a name that is gone", "http://gone.invalid", "", "its host name does not resolve"),
        ("a certificate of another host", &elsewhere, &trust, "no trusted TLS connection"),
        ("an expired certificate", &expired, &trust, "no trusted TLS connection"),
        ("a certificate of a stranger", &stranger, &trust, "no trusted TLS connection"),
    ] {
        let world = world("retries: 1", more, url).await;
        for tool in ["getPet", "addPet"] {
            let (error, text) = said(what, &world, tool).await;
            assert!(error && text.contains(wanted) && text.contains("Nothing was sent"), "{what}: {text}");
        }
        repaired(what, &world).await;
    }
}

#[tokio::test]
async fn a_port_that_swallows_connections_costs_the_connect_limit_and_no_more() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    // The queue of connections nobody takes is full now: further ones are not answered at all.
    let _held = [TcpStream::connect(address).await.unwrap(), TcpStream::connect(address).await.unwrap()];
    let limits = "connect_timeout: 150ms, timeout: 60s, retries: 1";
    let world = world(limits, "", &format!("http://{address}")).await;
    for tool in ["getPet", "addPet"] {
        let (error, text) = said("black hole", &world, tool).await;
        assert!(error && text.contains("no connection within 150 ms. Nothing was sent"), "{text}");
    }
    // Somebody takes them again.
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut part = [0; 4096];
                while socket.read(&mut part).await.is_ok_and(|count| count > 0) {
                    let fine = answer("200 OK", "content-type: application/json\r\n", "{\"fine\":true}");
                    let _ = socket.write_all(&fine).await;
                }
            });
        }
    });
    repaired("black hole", &world).await;
}
