//! From a document to a [`Config`].

use super::{Access, Config};
use crate::diagnostic::Report;
use crate::document::Document;
use crate::document::pointer::{join, join_index};
use crate::mapping::strict::{self, Finding, Findings, Grammar, Renamed};
use crate::mapping::{self, Slot, is_scope, is_token};
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::LazyLock;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    mapping::closed::<Config>(
        "urn:rest-mcp:config:1",
        "rest-mcp settings",
        "The server's own settings (rest-mcp.yaml), version 1.",
    )
});

/// The JSON Schema (draft 2020-12) of `rest-mcp.yaml`; the same text at every call.
pub fn json_schema() -> Value {
    SCHEMA.clone()
}

/// Reads the settings; with any error in the report there are none.
pub fn read(document: &Document) -> (Option<Config>, Report) {
    let mut findings = Findings::new(document);
    let config = typed(document, &mut findings);
    if let Some(config) = &config {
        Check { findings: &mut findings }.all(config);
    }
    let usable = !findings.has_errors();
    (config.filter(|_| usable), findings.into_report())
}

fn typed(document: &Document, findings: &mut Findings<'_>) -> Option<Config> {
    let problem = match &document.root {
        Value::Object(members) if members.contains_key("openapi") || members.contains_key("swagger") => {
            Some(Finding::error("not-settings", "", "this is an OpenAPI document, not the server's settings"))
        }
        Value::Object(members) => mapping::version(members.get("version")),
        _ => Some(
            Finding::error("not-settings", "", "the settings are an object").fix("start the file with `version: 1`"),
        ),
    };
    if let Some(problem) = problem {
        findings.add(problem);
        return None;
    }
    hide_secrets(&document.root, findings);
    let tree = strict::check(Grammar { schema: &SCHEMA, renamed: RENAMED }, findings);
    mapping::deserialize(tree, findings)
}

fn hide_secrets(root: &Value, findings: &mut Findings<'_>) {
    if root.get("state_key").and_then(Value::as_str).is_some_and(|text| !text.contains("${")) {
        findings.hide("/state_key");
    }
    let keys = root.get("access").and_then(|access| access.get("api_keys")).and_then(Value::as_array);
    for (index, key) in keys.into_iter().flatten().enumerate() {
        let at = join_index("/access/api_keys", index);
        for (name, value) in key.as_object().into_iter().flatten() {
            let printable = matches!(name.as_str(), "name" | "tenant" | "scopes")
                || value.as_str().is_some_and(|text| text.starts_with("sha256:") || text.contains("${"));
            if !printable {
                mapping::hide_leaves(value, &join(&at, name), findings);
            }
        }
    }
    mapping::hide_by_name(root, "", findings);
    let tenants = root.get("access").and_then(|access| access.get("tenants")).and_then(Value::as_object);
    for (name, tenant) in tenants.into_iter().flatten() {
        let pointer = join(&join("/access/tenants", name), "credentials");
        for (source, schemes) in tenant.get("credentials").and_then(Value::as_object).into_iter().flatten() {
            for (scheme, credential) in schemes.as_object().into_iter().flatten() {
                mapping::hide_leaves(credential, &join(&join(&pointer, source), scheme), findings);
            }
        }
    }
}

struct Check<'a, 'd> {
    findings: &'a mut Findings<'d>,
}

impl Check<'_, '_> {
    fn error(&mut self, code: &'static str, pointer: &str, message: impl Into<String>, fix: impl Into<String>) {
        self.findings.add(Finding::error(code, pointer, message).fix(fix));
    }

    fn all(&mut self, config: &Config) {
        let address = self.listen(&config.listen);
        if address.is_some_and(|address| !address.ip().is_loopback()) && config.is_open() && !config.allow_public {
            let message = "anyone who reaches this address could call every tool";
            self.error(
                "open-server",
                "/listen",
                message,
                "add `access:`, listen on 127.0.0.1, or say `allow_public: true`",
            );
        }
        self.paths(config);
        self.origins(config);
        self.access(&config.access, config);
        if let Some(key) = config.state_key.as_ref().filter(|key| key.is_literal()) {
            let finding = Finding::warning("secret-in-file", "/state_key", "`state_key` is written in the clear");
            self.findings.add(finding.on_key().fix("write `${env:NAME}` or `${file:PATH}`"));
            if key.0.len() < 32 {
                let message = "`state_key` is too short to be safe";
                self.error("out-of-range", "/state_key", message, "32 random characters or more");
            }
        }
        if config.legacy_sessions.idle.0.is_zero() {
            self.error(
                "out-of-range",
                "/legacy_sessions/idle",
                "sessions would end at once",
                "write a duration such as `30m`, or `enabled: false`",
            );
        }
        if let Some(audit) = &config.audit
            && audit.to.0 == "stderr"
            && audit.rotate.is_some()
        {
            let finding = Finding::error("no-effect", "/audit/rotate", "`rotate` has no effect on stderr");
            self.findings.add(finding.on_key().fix("name a file under `to`, or delete `rotate`"));
        }
        if let Some(otlp) = &config.telemetry.otlp {
            self.http_url("/telemetry/otlp", otlp);
        }
        for (pointer, size) in
            [("/limits/max_body", config.limits.max_body), ("/limits/max_frame", config.limits.max_frame)]
        {
            if size.0 < 1024 {
                self.error("out-of-range", pointer, "no request would fit", "write a size such as `4MiB`");
            }
        }
        if config.limits.stall.0.is_zero() {
            let message = "every client would be too slow";
            self.error("out-of-range", "/limits/stall", message, "write a duration such as `60s`");
        }
    }

    fn listen(&mut self, listen: &Slot) -> Option<SocketAddr> {
        if !listen.is_literal() {
            return None;
        }
        let text = listen.0.trim();
        let address = match text.strip_prefix("localhost:") {
            Some(port) => format!("127.0.0.1:{port}").parse().ok(),
            None => text.parse().ok(),
        };
        if address.is_none() {
            let fix = match text.parse::<u16>() {
                Ok(port) => format!("write `127.0.0.1:{port}`"),
                Err(_) => "write an IP address and a port, such as `127.0.0.1:8080` or `[::1]:8080`".to_owned(),
            };
            self.error("bad-value", "/listen", format!("`{text}` is no address to listen on"), fix);
        }
        address
    }

    fn paths(&mut self, config: &Config) {
        let transports = &config.transports;
        let all = [
            ("/transports/streamable_http", Some(&transports.streamable_http)),
            ("/transports/sse", transports.sse.as_ref()),
            ("/transports/websocket", transports.websocket.as_ref()),
            ("/telemetry/metrics", config.telemetry.metrics.as_ref()),
        ];
        let mut taken: Vec<(&str, &str)> = vec![("/healthz", "the health check"), ("/readyz", "the readiness check")];
        for (pointer, path) in all {
            let Some(path) = path else { continue };
            if !path.starts_with('/') || path.contains(['?', '#', '{', ' ', '*']) {
                self.error("bad-path", pointer, format!("`{path}` is no path"), "write it as `/mcp`");
            } else if let Some((_, other)) = taken.iter().find(|(used, _)| used == path) {
                self.error(
                    "name-collision",
                    pointer,
                    format!("`{path}` is {other} already"),
                    "give one of them another path",
                );
            }
            taken.push((path, pointer.rsplit('/').next().unwrap_or_default()));
        }
    }

    fn origins(&mut self, config: &Config) {
        for (index, origin) in config.origins.iter().enumerate() {
            let pointer = join_index("/origins", index);
            let legal = origin == "null"
                || url::Url::parse(origin).is_ok_and(|url| url.origin().ascii_serialization() == *origin);
            if origin == "*" {
                self.error(
                    "bad-value",
                    &pointer,
                    "any web page could call this server",
                    "name the origins, such as `https://app.example`",
                );
            } else if !legal {
                let fix = url::Url::parse(origin)
                    .ok()
                    .map(|url| url.origin().ascii_serialization())
                    .filter(|one| one != "null");
                let fix = fix.map_or("write scheme and host, such as `https://app.example`".to_owned(), |one| {
                    format!("write `{one}`")
                });
                self.error("bad-value", &pointer, format!("`{origin}` is no origin"), fix);
            }
        }
        for (index, host) in config.hosts.iter().enumerate() {
            if host.is_empty() || host.contains(['/', '*', ' ', '@']) {
                let pointer = join_index("/hosts", index);
                self.error(
                    "bad-value",
                    &pointer,
                    format!("`{host}` is no host name"),
                    "write the name alone, such as `mcp.example`, with its port if clients send one",
                );
            }
        }
    }

    fn access(&mut self, access: &Access, config: &Config) {
        let mut names: Vec<&str> = Vec::new();
        for (index, key) in access.api_keys.iter().enumerate() {
            let at = join_index("/access/api_keys", index);
            if names.contains(&key.name.as_str()) {
                self.error(
                    "name-collision",
                    &join(&at, "name"),
                    format!("there is a key `{}` already", key.name),
                    "give one of them another name",
                );
            }
            names.push(&key.name);
            let hash = key.key_hash.0.strip_prefix("sha256:").unwrap_or_default();
            let legal = hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit());
            if key.key_hash.is_literal() && !legal {
                self.findings.hide(join(&at, "key_hash"));
                let fix = "write `sha256:` and 64 hexadecimal digits, from `printf %s \"$KEY\" | sha256sum`";
                self.error(
                    "bad-value",
                    &join(&at, "key_hash"),
                    "this is no SHA-256 hash; a key itself does not belong here",
                    fix,
                );
            }
        }
        if let Some(jwt) = &access.jwt {
            self.http_url("/access/jwt/issuer", &jwt.issuer);
            if jwt.jwks.is_literal() && jwt.jwks.0.starts_with("http:") {
                let local = url::Url::parse(&jwt.jwks.0)
                    .ok()
                    .and_then(|url| url.host_str().map(|host| host == "localhost" || host.starts_with("127.")));
                if local != Some(true) {
                    self.error(
                        "bad-url",
                        "/access/jwt/jwks",
                        "keys fetched over plain HTTP can be exchanged on the way",
                        "use `https:`, or a file",
                    );
                }
            }
        }
        if access.mtls.is_some() && config.tls.as_ref().is_none_or(|tls| tls.client_ca.is_none()) {
            let finding = Finding::error("no-effect", "/access/mtls", "no client certificate is asked for");
            self.findings.add(finding.on_key().fix("add `client_ca:` under `tls:`"));
        }
        for (name, tenant) in &access.tenants {
            let at = join("/access/tenants", name);
            for (key, list) in [("allow", tenant.allow.as_deref().unwrap_or_default()), ("deny", &tenant.deny)] {
                for (index, text) in list.iter().enumerate() {
                    self.pattern(&join_index(&join(&at, key), index), text);
                }
            }
        }
        for (scope, tools) in &access.scopes {
            let at = join("/access/scopes", scope);
            if !is_scope(scope) {
                let finding = Finding::error("bad-value", &at, format!("`{scope}` is no scope")).on_key();
                self.findings.add(finding.fix("a scope has no blanks, quotes or backslashes (RFC 6749, section 3.3)"));
            }
            if tools.is_empty() {
                self.error("empty-list", &at, "no tool needs this scope", "name tools, or leave the scope out");
            }
            for (index, text) in tools.iter().enumerate() {
                self.pattern(&join_index(&at, index), text);
            }
        }
        if let Some(policy) = &access.policy {
            match (policy.rego.is_empty(), &policy.opa) {
                (true, None) => self.error(
                    "missing-key",
                    "/access/policy",
                    "there is no policy to ask",
                    "add `rego:` with files, or `opa:` with a URL",
                ),
                (false, Some(_)) => self.error(
                    "conflict",
                    "/access/policy/opa",
                    "`rego` and `opa` exclude each other",
                    "keep one of them",
                ),
                _ => {}
            }
            if let Some(opa) = &policy.opa {
                self.http_url("/access/policy/opa", opa);
            }
            if policy.query.as_ref().is_some_and(|query| !query.starts_with("data.")) {
                self.error(
                    "bad-value",
                    "/access/policy/query",
                    "a query starts with `data.`",
                    "write it as `data.mcp.allow`",
                );
            }
        }
    }

    /// `get_*`, `tag:NAME`, `method:NAME`.
    fn pattern(&mut self, pointer: &str, text: &str) {
        let fix = "there are tool names with `*`, `tag:NAME` and `method:NAME`";
        match text.split_once(':') {
            Some(("tag", name)) if !name.is_empty() => {}
            Some(("method", name)) if is_token(name) => {}
            None if !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-*".contains(&b)) => {}
            _ => self.error("bad-value", pointer, format!("`{text}` names no tools"), fix),
        }
    }

    fn http_url(&mut self, pointer: &str, slot: &Slot) {
        let legal = url::Url::parse(&slot.0).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        if slot.is_literal() && !legal {
            self.error("bad-url", pointer, format!("`{}` is no HTTP URL", slot.0), "write it as `https://host/path`");
        }
    }
}

/// Keys that people bring from elsewhere.
const RENAMED: &[Renamed] = &[
    Renamed {
        within: "",
        keys: &["sources", "tools", "rules", "resources", "prompts", "catalog"],
        fix: "it belongs to a mapping file; name that file under `mappings:`",
    },
    Renamed { within: "", keys: &["port", "address", "bind", "host"], fix: "write `listen: ADDRESS:PORT`" },
    Renamed {
        within: "",
        keys: &["specs", "files", "mapping"],
        fix: "files stand under `mappings:`, a list of paths or globs",
    },
    Renamed {
        within: "",
        keys: &["auth", "authentication", "api_keys", "jwt", "tenants", "policy", "anonymous"],
        fix: "it stands under `access:`",
    },
    Renamed { within: "", keys: &["cors", "allowed_origins", "allow_origins"], fix: "the list is `origins`" },
    Renamed { within: "", keys: &["allowed_hosts"], fix: "the list is `hosts`" },
    Renamed {
        within: "",
        keys: &["metrics", "otlp", "log", "logging", "tracing"],
        fix: "it stands under `telemetry:`",
    },
    Renamed { within: "", keys: &["sessions"], fix: "it is called `legacy_sessions`" },
    Renamed { within: "Transports", keys: &["http", "streamable"], fix: "it is called `streamable_http`" },
    Renamed { within: "Transports", keys: &["ws"], fix: "it is called `websocket`" },
    Renamed {
        within: "Transports",
        keys: &["stdio"],
        fix: "stdio is chosen on the command line: `rest-mcp serve --stdio`",
    },
    Renamed {
        within: "ApiKey",
        keys: &["key", "value", "hash", "secret"],
        fix: "write `key_hash: \"sha256:…\"`, from `printf %s \"$KEY\" | sha256sum`",
    },
    Renamed { within: "Jwt", keys: &["iss"], fix: "it is called `issuer`" },
    Renamed { within: "Jwt", keys: &["aud"], fix: "it is called `audience`" },
    Renamed { within: "Jwt", keys: &["jwks_url", "jwks_uri", "keys"], fix: "it is called `jwks`, a URL or a file" },
    Renamed { within: "Tenant", keys: &["tools", "include", "allowed"], fix: "it is called `allow`" },
    Renamed { within: "Tenant", keys: &["exclude", "denied"], fix: "it is called `deny`" },
    Renamed { within: "ServerTls", keys: &["certificate"], fix: "it is called `cert`" },
    Renamed { within: "ServerTls", keys: &["ca"], fix: "the CA of client certificates is `client_ca`" },
];
