//! `client-config`, `schema`, usage.

use super::{Desk, FILES};
use serde_json::Value;

#[test]
fn each_client_gets_its_own_form() {
    let desk = Desk::new(&[("files.yaml", FILES)]).with("FILES_KEY", "never-shown");
    let run = |arguments: &[&str]| {
        let ran = desk.run(&[&["client-config"], arguments].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(!ran.out.contains("never-shown") && !ran.err.contains("never-shown"));
        ran.out
    };
    let json = |arguments: &[&str]| -> Value { serde_json::from_str(&run(arguments)).unwrap() };
    let file = desk.path("files.yaml").to_string_lossy().into_owned();
    let claude = json(&["claude", "files.yaml"]);
    let entry = &claude["mcpServers"]["files"];
    assert_eq!(entry["args"], serde_json::json!(["serve", file, "--stdio"]));
    assert!(entry["command"].as_str().unwrap().ends_with("rest-mcp"));
    assert_eq!(entry["env"]["FILES_KEY"], "<FILES_KEY>");
    let vscode = json(&["vscode", "files.yaml"]);
    assert_eq!(vscode["servers"]["files"]["type"], "stdio");
    assert_eq!(vscode["servers"]["files"]["env"]["FILES_KEY"], "${input:FILES_KEY}");
    assert_eq!(vscode["inputs"][0]["password"], true);
    assert_eq!(json(&["cursor", "files.yaml"])["mcpServers"]["files"]["env"]["FILES_KEY"], "${env:FILES_KEY}");
    assert_eq!(json(&["inspector", "files.yaml"])["mcpServers"]["files"]["type"], "stdio");
    let codex = run(&["codex", "files.yaml"]);
    assert!(
        codex.starts_with("[mcp_servers.files]\ncommand = \"") && codex.contains("env_vars = [\"FILES_KEY\"]"),
        "{codex}"
    );
    let url = "http://127.0.0.1:8080/mcp";
    assert_eq!(
        json(&["claude", "files.yaml", "--http", url])["mcpServers"]["files"],
        serde_json::json!({"type": "http", "url": url})
    );
    assert_eq!(json(&["vscode", "--http", url, "--name", "x"])["servers"]["x"]["type"], "http");
    assert_eq!(json(&["cursor", "files.yaml", "--http", url])["mcpServers"]["files"]["url"], url);
    assert_eq!(json(&["inspector", "files.yaml", "--http", url])["mcpServers"]["files"]["type"], "streamable-http");
    assert_eq!(run(&["codex", "files.yaml", "--http", url]), format!("[mcp_servers.files]\nurl = \"{url}\"\n"));
}

#[test]
fn schemas_are_json() {
    let desk = Desk::new(&[]);
    for of in ["mapping", "config"] {
        let schema: Value = serde_json::from_str(&desk.run(&["schema", of]).out).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    }
}

#[test]
fn help_names_every_command() {
    let help = Desk::new(&[]).run(&["--help"]).out;
    for command in
        ["serve", "check", "inspect", "call", "mock", "test", "lint", "init", "doctor", "client-config", "schema"]
    {
        assert!(help.contains(&format!("\n  {command} ")), "`{command}` is not in:\n{help}");
    }
}
