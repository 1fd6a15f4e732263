//! `client-config`: what a client's configuration needs to start this server, or to reach it.

use super::{Files, load, print};
use crate::app;
use crate::catalog::{Action, Catalog};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use std::path::Path;

#[derive(Debug, Args)]
pub(super) struct ClientConfig {
    /// Which client.
    #[arg(value_enum)]
    client: Client,
    #[command(flatten)]
    files: Files,
    /// For a server that runs already: its URL, such as `http://127.0.0.1:8080/mcp`.
    #[arg(long, value_name = "URL")]
    http: Option<String>,
    /// Name of the server in the client; default: the first source's.
    #[arg(long)]
    name: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Client {
    /// Claude Desktop and Claude Code.
    Claude,
    /// Visual Studio Code.
    Vscode,
    /// Cursor.
    Cursor,
    /// Codex.
    Codex,
    /// MCP Inspector.
    Inspector,
}

impl ClientConfig {
    pub(super) async fn run(self) -> u8 {
        let (_, _, loaded) = load(&self.files).await;
        if self.http.is_none() && loaded.catalog.tools.is_empty() {
            super::show(&loaded.report, false);
            eprintln!("error: these files make no tools");
            return 2;
        }
        let name = self.name.clone().or_else(|| loaded.catalog.sources.first().map(|source| source.name.clone()));
        let name = name.unwrap_or_else(|| {
            self.files.files.first().map_or_else(|| "rest".to_string(), |file| app::source_name(file))
        });
        let (text, place) = match &self.http {
            Some(url) => self.remote(&name, url),
            None => self.local(&name, &variables(&loaded.catalog)),
        };
        print(&text);
        eprintln!("{place}");
        0
    }

    fn remote(&self, name: &str, url: &str) -> (String, String) {
        let entry = |entry: Value| pretty(&json!({ "mcpServers": { name: entry } }));
        match self.client {
            Client::Claude => (
                entry(json!({ "type": "http", "url": url })),
                format!(
                    "put it into .mcp.json (Claude Code; or `claude mcp add --transport http {name} {url}`); Claude Desktop takes the URL under Settings, Connectors"
                ),
            ),
            Client::Vscode => (
                pretty(&json!({ "servers": { name: { "type": "http", "url": url } } })),
                "put it into .vscode/mcp.json".to_string(),
            ),
            Client::Cursor => {
                (entry(json!({ "url": url })), "put it into .cursor/mcp.json or ~/.cursor/mcp.json".to_string())
            }
            Client::Codex => (
                format!("[mcp_servers.{}]\nurl = {}\n", toml_key(name), toml(url)),
                "put it into ~/.codex/config.toml".to_string(),
            ),
            Client::Inspector => (entry(json!({ "type": "streamable-http", "url": url })), inspector(name)),
        }
    }

    fn local(&self, name: &str, variables: &[String]) -> (String, String) {
        let command =
            std::env::current_exe().map_or_else(|_| "rest-mcp".to_string(), |path| path.to_string_lossy().into_owned());
        let mut args = vec!["serve".to_string()];
        if let Some(config) = &self.files.config {
            args.extend(["--config".to_string(), absolute(config.clone())]);
        }
        args.extend(self.inputs());
        if let Some(base_url) = &self.files.base_url {
            args.extend(["--base-url".to_string(), base_url.clone()]);
        }
        args.push("--stdio".to_string());
        let mut entry = Map::from_iter([("command".to_string(), json!(command)), ("args".to_string(), json!(args))]);
        let env = |value: &dyn Fn(&str) -> String| -> Value {
            variables.iter().map(|name| (name.clone(), json!(value(name)))).collect::<Map<_, _>>().into()
        };
        let plain = |name: &str| format!("<{name}>");
        match self.client {
            Client::Claude => {
                with_env(&mut entry, env(&plain));
                let hint = "put it into claude_desktop_config.json (Claude Desktop: Settings, Developer, Edit Config) or .mcp.json (Claude Code)";
                (pretty(&json!({ "mcpServers": { name: entry } })), filled(hint, variables))
            }
            Client::Vscode => {
                entry.insert("type".to_string(), json!("stdio"));
                with_env(&mut entry, env(&|name| format!("${{input:{name}}}")));
                let inputs: Vec<Value> = variables
                    .iter()
                    .map(|name| json!({ "type": "promptString", "id": name, "description": name, "password": true }))
                    .collect();
                let mut root = json!({ "servers": { name: entry } });
                if let (Value::Object(root), false) = (&mut root, inputs.is_empty()) {
                    root.insert("inputs".to_string(), json!(inputs));
                }
                (pretty(&root), "put it into .vscode/mcp.json".to_string())
            }
            Client::Cursor => {
                with_env(&mut entry, env(&|name| format!("${{env:{name}}}")));
                (
                    pretty(&json!({ "mcpServers": { name: entry } })),
                    "put it into .cursor/mcp.json or ~/.cursor/mcp.json".to_string(),
                )
            }
            Client::Codex => {
                let list: Vec<String> = args.iter().map(|arg| toml(arg)).collect();
                let mut text = format!(
                    "[mcp_servers.{}]\ncommand = {}\nargs = [{}]\n",
                    toml_key(name),
                    toml(&command),
                    list.join(", ")
                );
                if !variables.is_empty() {
                    let names: Vec<String> = variables.iter().map(|name| toml(name)).collect();
                    text.push_str(&format!("env_vars = [{}]\n", names.join(", ")));
                }
                (text, "put it into ~/.codex/config.toml".to_string())
            }
            Client::Inspector => {
                entry.insert("type".to_string(), json!("stdio"));
                with_env(&mut entry, env(&plain));
                (pretty(&json!({ "mcpServers": { name: entry } })), filled(&inspector(name), variables))
            }
        }
    }

    /// The files with absolute paths: a client starts the program in a folder of its own.
    fn inputs(&self) -> Vec<String> {
        let defaults = ["mappings".to_string(), "specs".to_string()];
        let named = match self.files.files.is_empty() {
            true if self.files.config.is_some() => Vec::new(),
            true => defaults.iter().filter(|folder| Path::new(folder).is_dir()).cloned().collect(),
            false => self.files.files.clone(),
        };
        named.into_iter().map(absolute).collect()
    }
}

fn absolute(file: String) -> String {
    match crate::document::location::is_url(&file) {
        true => file,
        false => std::path::absolute(&file).map_or(file, |path| path.to_string_lossy().into_owned()),
    }
}

fn with_env(entry: &mut Map<String, Value>, env: Value) {
    if env.as_object().is_some_and(|env| !env.is_empty()) {
        entry.insert("env".to_string(), env);
    }
}

fn filled(hint: &str, variables: &[String]) -> String {
    match variables {
        [] => hint.to_string(),
        some => format!("{hint}; fill in {}", some.join(", ")),
    }
}

fn inspector(name: &str) -> String {
    format!("save it as mcp.json, then: npx @modelcontextprotocol/inspector --config mcp.json --server {name}")
}

/// Environment variables of the credentials that some tool needs.
fn variables(catalog: &Catalog) -> Vec<String> {
    let mut names = Vec::new();
    for tool in catalog.tools.values().chain(catalog.hidden.values()) {
        let Action::Request(action) = &tool.action else { continue };
        let Some(source) = catalog.sources.get(action.source) else { continue };
        let wanted = action
            .security
            .iter()
            .flatten()
            .filter_map(|name| source.credentials.get(name))
            .flat_map(|plan| &plan.wanted);
        for name in wanted {
            let variable = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if variable && !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    names
}

fn pretty(value: &Value) -> String {
    format!("{}\n", serde_json::to_string_pretty(value).unwrap_or_default())
}

/// A TOML basic string: JSON's escapes are TOML's.
fn toml(text: &str) -> String {
    json!(text).to_string()
}

fn toml_key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { name.to_string() } else { toml(name) }
}
