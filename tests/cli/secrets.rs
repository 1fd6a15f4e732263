//! A secret appears in no output, searched by its value.

use super::{Desk, FILES, Ran};

const SECRET: &str = "s3cr3t-Value-0815";

const MAPPING: &str = r#"version: 1
sources:
  files:
    spec: files.yaml
    base_url: http://127.0.0.1:1/v1
    credentials:
      key: { value: "${env:THE_KEY}" }
    headers: { X-Tenant: "${env:THE_KEY}" }
tools:
  search:
    source: files
    request:
      method: POST
      path: /search
      parameters: [ { in: query, name: token, schema: { type: string } } ]
      body: { q: "{{q}}" }
    input: { type: object, required: [q], properties: { q: { type: string } } }
    args: { token: { value: "${env:THE_KEY}" } }
  get_file:
    operation: getFile
    args: { rev: { value: "${env:THE_KEY}" } }
"#;

fn clean(what: &str, ran: &Ran) {
    for text in [&ran.out, &ran.err] {
        assert!(!text.contains(SECRET), "{what} shows the secret:\n{text}");
    }
}

#[test]
fn no_command_shows_a_secret() {
    let desk =
        Desk::new(&[("files.yaml", FILES), ("map.yaml", MAPPING)]).with("THE_KEY", SECRET).with("RUST_LOG", "trace");
    let runs: &[&[&str]] = &[
        &["check", "map.yaml"],
        &["check", "map.yaml", "--json"],
        &["inspect", "map.yaml"],
        &["inspect", "map.yaml", "--tool", "search"],
        &["inspect", "map.yaml", "--tool", "get_file"],
        &["lint", "map.yaml"],
        &["test", "map.yaml"],
        &["doctor", "map.yaml"],
        &["client-config", "claude", "map.yaml"],
        &["call", "listFiles", "map.yaml", "--dry-run"],
        &["call", "deleteFile", "map.yaml", "--args", r#"{"name":"a"}"#, "--dry-run"],
        &["call", "search", "map.yaml", "--args", r#"{"q":"a"}"#, "--dry-run"],
        &["call", "get_file", "map.yaml", "--args", r#"{"name":"a"}"#, "--dry-run"],
        // Nothing listens there: the error content.
        &["call", "listFiles", "map.yaml"],
        &["call", "search", "map.yaml", "--args", r#"{"q":"a"}"#],
    ];
    for arguments in runs {
        clean(&arguments.join(" "), &desk.run(arguments));
    }
    let call = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"listFiles","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let ran = desk.fed(&["serve", "map.yaml", "--stdio"], &format!("{call}\n"));
    assert!(ran.out.contains("isError"), "{}{}", ran.out, ran.err);
    clean("serve --stdio", &ran);
}

#[test]
fn the_dry_run_masks_what_it_would_send() {
    let desk = Desk::new(&[("files.yaml", FILES), ("map.yaml", MAPPING)]).with("THE_KEY", SECRET);
    let ran = desk.run(&["call", "listFiles", "map.yaml", "--dry-run"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("x-key: ***") && ran.out.contains("x-tenant: ***"), "{}", ran.out);
    assert!(ran.out.contains("-H 'x-key: ***'"), "{}", ran.out);
}
