//! Input that is no proper message: the right error each, and the next request works.

use super::double::catalog;
use super::peer::{Peer, code, modern, request, text};
use rest_mcp::protocol::{Settings, Version};
use rest_mcp::transport;
use serde_json::{Value, json};

async fn next_request_works(peer: &mut Peer) {
    let answer = peer.ask(modern(json!("next"), "tools/call", json!({"name": "text"}))).await;
    assert_eq!(text(&answer), "hello\nworld");
}

#[tokio::test]
async fn broken_lines_get_their_error_and_do_no_harm() {
    let deep_array = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{deep_array}}}}}"#);
    let open = r#"{"a":"#.repeat(100_000);
    let cases: Vec<(&[u8], i64, Value)> = vec![
        (b"{", -32700, Value::Null),
        (b"nonsense", -32700, Value::Null),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping""#, -32700, Value::Null),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping"}}"#, -32700, Value::Null),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"ping"}"#, -32700, Value::Null),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", -32700, Value::Null),
        (b"\xef\xbb\xbf{}", -32700, Value::Null),
        (b"{\"a\":\"\x01\"}", -32700, Value::Null),
        (b"5", -32600, Value::Null),
        (b"null", -32600, Value::Null),
        (b"\"text\"", -32600, Value::Null),
        (b"{}", -32600, Value::Null),
        (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, Value::Null),
        (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, Value::Null),
        (br#"{"jsonrpc":"2.0","id":1e2,"method":"ping"}"#, -32600, Value::Null),
        (br#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, -32600, Value::Null),
        (br#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, -32600, Value::Null),
        (br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600, json!(1)),
        (br#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, -32600, json!(1)),
        (br#"{"id":1,"method":"ping"}"#, -32600, json!(1)),
        (br#"{"jsonrpc":"2.0","id":1,"method":5}"#, -32600, json!(1)),
        (br#"{"jsonrpc":"2.0","id":1}"#, -32600, json!(1)),
        (br#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, -32600, json!(1)),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, -32600, json!(1)),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#, -32600, json!(1)),
        (br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32600, Value::Null),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, -32602, json!(1)),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}"#, -32602, json!(1)),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":5}}"#, -32602, json!(1)),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"text","name":"fail"}}"#, -32602, json!(1)),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":1,"progressToken":2}}}"#, -32602, json!(1)),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"text"}}"#, -32600, json!(1)),
        (br#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#, -32600, json!(1)),
        (br#"[]"#, -32600, Value::Null),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}"#, -32700, Value::Null),
        (deep.as_bytes(), -32600, Value::Null),
        (deep_array.as_bytes(), -32600, Value::Null),
        (open.as_bytes(), -32600, Value::Null),
    ];
    let mut peer = Peer::start();
    for (line, expected, id) in cases {
        peer.line(line).await;
        let answer = peer.hear().await;
        let shown = String::from_utf8_lossy(&line[..line.len().min(120)]);
        assert_eq!((code(&answer), &answer["id"]), (expected, &id), "{shown}: {answer}");
        next_request_works(&mut peer).await;
    }
}

#[tokio::test]
async fn answers_to_nothing_are_dropped() {
    let mut peer = Peer::start();
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","id":99999999999999999999999,"result":null}"#,
    ] {
        peer.line(line.as_bytes()).await;
        next_request_works(&mut peer).await;
    }
}

#[tokio::test]
async fn a_line_over_the_limit_is_skipped_not_kept() {
    let limits = transport::Settings { max_frame: 1000, ..transport::Settings::default() };
    let mut peer = Peer::with(catalog(), Settings::default(), limits);
    let padded = |length: usize| {
        let message = modern(json!(1), "tools/call", json!({"name": "text"})).to_string();
        format!("{message}{}", " ".repeat(length - message.len()))
    };
    peer.expect(json!(1), "tools/call", Version::V2026_07_28);
    peer.line(padded(1000).as_bytes()).await;
    assert_eq!(text(&peer.hear().await), "hello\nworld");
    for length in [1001, 300_000] {
        peer.line(padded(length).as_bytes()).await;
        let answer = peer.hear().await;
        assert_eq!((code(&answer), &answer["id"]), (-32600, &Value::Null));
        next_request_works(&mut peer).await;
    }
}

#[tokio::test]
async fn a_line_of_a_hundred_megabytes_gets_one_error() {
    let mut peer = Peer::start();
    let piece = vec![b'['; 1 << 20];
    for _ in 0..100 {
        peer.bytes(&piece).await;
    }
    peer.line(b"").await;
    let answer = peer.hear().await;
    assert_eq!((code(&answer), &answer["id"]), (-32600, &Value::Null));
    next_request_works(&mut peer).await;
}

#[tokio::test]
async fn batches_that_interleave_get_an_array_each() {
    let mut peer = Peer::legacy(Version::V2025_03_26, json!({})).await;
    let slow = |id: &str| request(id, "tools/call", json!({"name": "wait_then_answer"}));
    let quick = |id: &str| request(id, "tools/call", json!({"name": "text"}));
    peer.send(&json!([slow("a"), quick("b")])).await;
    // The second uses an id of the first that is still in use.
    peer.send(&json!([quick("c"), quick("a")])).await;
    let second = peer.hear().await;
    let ids: Vec<(&Value, bool)> =
        second.as_array().unwrap().iter().map(|one| (&one["id"], one.get("error").is_some())).collect();
    assert_eq!(ids, [(&json!("c"), false), (&json!("a"), true)], "{second}");
    // The refusal does not count as the answer to the first.
    peer.expect(json!("a"), "tools/call", Version::V2025_03_26);
    peer.double.release.notify_one();
    let first = peer.hear().await;
    assert_eq!(first.as_array().unwrap().iter().map(text).collect::<Vec<_>>(), ["released", "hello\nworld"]);
    next_request_works(&mut peer).await;
}

#[tokio::test]
async fn the_depth_limit_is_exact_and_brackets_in_strings_do_not_count() {
    let settings = Settings { max_depth: 6, ..Settings::default() };
    let mut peer = Peer::with(catalog(), settings, transport::Settings::default());
    let call = |arguments: Value| modern(json!(1), "tools/call", json!({"name": "echo", "arguments": arguments}));
    // Envelope, params, arguments, then three more.
    assert_eq!(text(&peer.ask(call(json!({"a": [[[]]]}))).await), r#"{"a":[[[]]]}"#);
    assert_eq!(text(&peer.ask(call(json!({"a": "[[[[[[[[\\\"{{{{"}))).await), r#"{"a":"[[[[[[[[\\\"{{{{"}"#);
    peer.line(call(json!({"a": [[[[]]]]})).to_string().as_bytes()).await;
    assert_eq!(code(&peer.hear().await), -32600);
}

#[tokio::test]
async fn error_texts_quote_no_more_than_a_little_of_the_caller() {
    let mut peer = Peer::start();
    let long = "x".repeat(100_000);
    for (method, params) in [("tools/call", json!({"name": long})), (long.as_str(), json!({}))] {
        let answer = peer.ask(modern(json!(1), method, params)).await;
        assert!(answer.to_string().len() < 1000);
    }
}
