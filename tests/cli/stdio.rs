//! Raw sessions on standard input and output.

use super::{Desk, FILES};
use crate::protocol::official;
use rest_mcp::protocol::Version;
use serde_json::Value;

fn messages(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON on stdout: {line}")))
        .collect()
}

#[test]
fn three_lines_in_two_lines_out_and_nothing_else() {
    let desk = Desk::new(&[("files.yaml", FILES)]);
    let input = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"getFile","arguments":{"name":"a"}}}"#,
        "\n",
    );
    let ran = desk.fed(&["serve", "files.yaml", "--mock", "--stdio"], input);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let out = messages(&ran.out);
    assert_eq!(out.len(), 2, "{}", ran.out);
    official::check(Version::V2025_06_18, &out[0], Some("initialize"));
    official::check(Version::V2025_06_18, &out[1], Some("tools/call"));
    assert_eq!((&out[0]["id"], &out[0]["result"]["protocolVersion"]), (&1.into(), &"2025-06-18".into()));
    assert_eq!((&out[1]["id"], &out[1]["result"]["structuredContent"]["name"]), (&2.into(), &"a".into()));
}

#[test]
fn one_self_contained_line_of_the_stateless_revision() {
    let desk = Desk::new(&[("files.yaml", FILES)]);
    let input = concat!(
        r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"getFile","arguments":{"name":"a"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
        "\n",
    );
    let ran = desk.fed(&["serve", "files.yaml", "--mock", "--stdio"], input);
    let out = messages(&ran.out);
    assert_eq!(out.len(), 1, "{}", ran.out);
    official::check(Version::V2026_07_28, &out[0], Some("tools/call"));
    assert_eq!(out[0]["result"]["structuredContent"]["name"], "a", "{}", out[0]);
}
