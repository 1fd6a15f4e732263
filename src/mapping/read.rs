//! From a document to a [`Mapping`], or every reason why not.

use super::strict::{self, Finding, Findings, Grammar, Renamed};
use super::verify::{JqCheck, verify};
use super::{Mapping, schema};
use crate::diagnostic::Report;
use crate::document::Document;
use crate::document::pointer::join;
use serde_json::Value;

/// The version of the language.
const VERSION: u64 = 1;

/// Reads a mapping file. With any error in the report there is no mapping: a file half understood could publish
/// what its author left out.
pub fn read(document: &Document) -> (Option<Mapping>, Report) {
    read_with(document, None)
}

/// [`read`], with a check of jq filters (the engine lives further down the pipeline).
pub fn read_with(document: &Document, jq: Option<JqCheck<'_>>) -> (Option<Mapping>, Report) {
    let mut findings = Findings::new(document);
    let mapping = typed(document, &mut findings);
    if let Some(mapping) = &mapping {
        verify(mapping, &mut findings, jq);
    }
    let usable = !findings.has_errors();
    (mapping.filter(|_| usable), findings.into_report())
}

fn typed(document: &Document, findings: &mut Findings<'_>) -> Option<Mapping> {
    if let Some(finding) = not_a_mapping(&document.root) {
        findings.add(finding);
        return None;
    }
    hide_secrets(&document.root, findings);
    let tree = strict::check(Grammar { schema: schema::shared(), renamed: RENAMED }, findings);
    deserialize(tree, findings)
}

/// Makes a settings type of a checked tree; says what the check did not see.
pub(crate) fn deserialize<T: serde::de::DeserializeOwned>(tree: Value, findings: &mut Findings<'_>) -> Option<T> {
    match serde_path_to_error::deserialize(tree) {
        Ok(settings) => Some(settings),
        Err(error) => {
            // What was taken out may be missed; then it has been reported already.
            if !findings.has_errors() {
                let mut pointer = String::new();
                for step in error.path() {
                    use serde_path_to_error::Segment;
                    match step {
                        Segment::Seq { index } => pointer = join(&pointer, &index.to_string()),
                        Segment::Map { key } => pointer = join(&pointer, key),
                        _ => {}
                    }
                }
                findings.add(Finding::error("bad-value", pointer, error.inner().to_string()));
            }
            None
        }
    }
}

/// Problems that make all others pointless.
fn not_a_mapping(root: &Value) -> Option<Finding> {
    let Value::Object(members) = root else {
        let message = match root {
            Value::Null => "the file is empty",
            _ => "a mapping file is an object",
        };
        return Some(Finding::error("not-a-mapping", "", message).fix("start it with `version: 1`"));
    };
    for (key, what, fix) in [
        ("openapi", "an OpenAPI document", "name it as `spec:` of a source"),
        ("swagger", "a Swagger document", "name it as `spec:` of a source"),
        ("overlay", "an OpenAPI Overlay", "list it under `overlays:` of a source"),
        ("arazzo", "an Arazzo document", "list it under `workflows:` of a source"),
    ] {
        if members.get(key).is_some_and(|value| !value.is_object()) {
            let message = format!("this is {what}, not a mapping");
            return Some(Finding::error("not-a-mapping", join("", key), message).on_key().fix(fix));
        }
    }
    let settings = ["mappings", "listen", "transports", "access", "audit", "telemetry"];
    if !members.contains_key("sources")
        && !members.contains_key("tools")
        && let Some(key) = settings.iter().find(|key| members.contains_key(**key))
    {
        let finding =
            Finding::error("not-a-mapping", join("", key), "these are the server's own settings, not a mapping");
        return Some(finding.on_key().fix("give this file to the server as its settings (`rest-mcp.yaml`)"));
    }
    version(members.get("version"))
}

/// Refuses a file of another version before its keys are judged.
pub(crate) fn version(given: Option<&Value>) -> Option<Finding> {
    match given {
        None => Some(Finding::error("missing-key", "", "the file does not say its version").fix("add `version: 1`")),
        Some(Value::Number(number)) if number.as_u64() == Some(VERSION) => None,
        Some(Value::String(text)) if text.trim() == "1" || text.trim() == "1.0" => Some(
            Finding::error("wrong-type", "/version", "`version` must be a number, found text")
                .fix("write `version: 1`"),
        ),
        Some(other) => {
            let message = format!("version {other} of this file is not understood");
            Some(Finding::error("unsupported-version", "/version", message).fix("this program reads `version: 1`"))
        }
    }
}

/// Keeps credentials that stand in the file out of the excerpts of whatever else is wrong there.
pub(crate) fn hide_secrets(root: &Value, findings: &mut Findings<'_>) {
    const PRINTABLE: &[&str] =
        &["username", "grant", "token_url", "client_id", "client_auth", "scopes", "audience", "forward", "place"];
    fn leaves(value: &Value, pointer: &str, key: &str, findings: &mut Findings<'_>) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    leaves(member, &join(pointer, name), name, findings);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    leaves(item, &join(pointer, &index.to_string()), key, findings);
                }
            }
            Value::String(text) if text.contains("${") => {}
            Value::String(_) | Value::Number(_) if !PRINTABLE.contains(&key) => findings.hide(pointer),
            _ => {}
        }
    }
    let sources = root.get("sources").and_then(Value::as_object);
    for (name, source) in sources.into_iter().flatten() {
        let pointer = join(&join("/sources", name), "credentials");
        if let Some(credentials) = source.get("credentials") {
            leaves(credentials, &pointer, "", findings);
        }
    }
}

/// Keys of other tools, of OpenAPI and MCP, and what they are called here.
const RENAMED: &[Renamed] = &[
    Renamed {
        within: "",
        keys: &["apis", "api", "servers", "upstreams", "backends", "services", "specs", "spec", "openapi_url"],
        fix: "APIs stand under `sources:`, each by a name of its own",
    },
    Renamed {
        within: "",
        keys: &["operations", "overrides", "endpoints", "routes", "paths", "functions", "commands"],
        fix: "tools stand under `tools:`, each by its name, with `operation:` naming the operation",
    },
    Renamed {
        within: "",
        keys: &[
            "filters",
            "filter",
            "route_maps",
            "include",
            "exclude",
            "include_tags",
            "exclude_tags",
            "include_operations",
            "exclude_operations",
        ],
        fix: "choose operations under `rules:`, as in `- match: { tag: admin }` with `exclude: true`; for an allow-list set `expose: listed` on the source",
    },
    Renamed {
        within: "",
        keys: &[
            "server",
            "listen",
            "access",
            "audit",
            "telemetry",
            "transports",
            "auth",
            "log",
            "port",
            "host",
            "origins",
            "hosts",
            "mappings",
        ],
        fix: "the server's own settings stand in `rest-mcp.yaml`",
    },
    Renamed {
        within: "",
        keys: &["credentials", "base_url"],
        fix: "it belongs to a source: `sources: { NAME: { … } }`",
    },
    Renamed {
        within: "Source",
        keys: &["openapi", "swagger", "schema", "document", "file", "path", "definition", "openapi_url", "spec_url"],
        fix: "the OpenAPI document is `spec`",
    },
    Renamed {
        within: "Source",
        keys: &["url"],
        fix: "the API's address is `base_url`, its OpenAPI document is `spec`",
    },
    Renamed {
        within: "Source",
        keys: &["server", "servers", "host", "base", "endpoint", "address"],
        fix: "the API's address is `base_url`",
    },
    Renamed {
        within: "Source",
        keys: &["auth", "authentication", "security", "secrets", "api_key", "token", "bearer", "security_schemes"],
        fix: "credentials stand under `credentials:`, by the name of the document's security scheme",
    },
    Renamed {
        within: "Source",
        keys: &["prefix", "namespace", "name_prefix"],
        fix: "the prefix of tool names is `tool_prefix`",
    },
    Renamed {
        within: "Source",
        keys: &[
            "include",
            "exclude",
            "include_tags",
            "exclude_tags",
            "include_operations",
            "exclude_operations",
            "filter",
            "filters",
            "tags",
            "only",
        ],
        fix: "choose operations under `rules:` at the top, as in `- match: { tag: admin }` with `exclude: true`; for an allow-list set `expose: listed`",
    },
    Renamed {
        within: "Source",
        keys: &["variables", "server_vars"],
        fix: "server variables stand under `server_variables:`",
    },
    Renamed {
        within: "Source",
        keys: &["pass_headers", "forward", "passthrough_headers", "headers_to_forward"],
        fix: "the list is `forward_headers`",
    },
    Renamed {
        within: "Source",
        keys: &["verify_ssl", "verify", "insecure_skip_verify", "skip_tls_verify"],
        fix: "write `tls: { insecure: true }`; better name the CA with `tls: { ca: … }`",
    },
    Renamed {
        within: "Credential",
        keys: &["token", "api_key", "key", "bearer", "secret", "apikey"],
        fix: "an API key or bearer token is `value`",
    },
    Renamed { within: "Credential", keys: &["user", "login", "name"], fix: "the user name is `username`" },
    Renamed { within: "Credential", keys: &["pass", "pw", "passwd"], fix: "it is called `password`" },
    Renamed {
        within: "Credential",
        keys: &["type", "scheme"],
        fix: "the kind comes from the document's security scheme; for a name of your own write `place: bearer` or `place: header NAME`",
    },
    Renamed {
        within: "Credential",
        keys: &["in", "header", "location"],
        fix: "where it goes is `place: header NAME`, only for a name that is no scheme of the document",
    },
    Renamed {
        within: "Credential",
        keys: &["env", "file", "from_env"],
        fix: "write `value: ${env:NAME}` or `value: ${file:PATH}`",
    },
    Renamed {
        within: "Rule",
        keys: &["when", "where", "select", "if", "target"],
        fix: "conditions stand under `match:`",
    },
    Renamed {
        within: "Rule",
        keys: &["edit", "edits", "update", "apply", "then", "overrides"],
        fix: "edits stand under `set:`",
    },
    Renamed {
        within: "Rule",
        keys: &["remove", "skip", "drop", "disabled", "enabled", "ignore", "mcp_type"],
        fix: "to leave operations out write `exclude: true`",
    },
    Renamed {
        within: "Rule",
        keys: &["method", "methods", "tag", "tags", "path", "paths", "operation", "security", "deprecated"],
        fix: "it is a condition: put it under `match:`",
    },
    Renamed {
        within: "Match",
        keys: &["methods", "verb", "http_method"],
        fix: "it is called `method`; a list means any of it",
    },
    Renamed { within: "Match", keys: &["tags"], fix: "it is called `tag`; a list means any of it" },
    Renamed {
        within: "Match",
        keys: &["paths", "pattern", "url", "route"],
        fix: "it is called `path`, a glob such as `/pet/**`",
    },
    Renamed {
        within: "Match",
        keys: &["operation_id", "operationId", "operations", "name"],
        fix: "it is called `operation`, a glob such as `find*`",
    },
    Renamed {
        within: "ToolRules",
        keys: &["endpoint", "route", "path", "operation_id", "operationId", "call", "target", "url"],
        fix: "which operation it is says `operation:` (an operationId, or `GET /path`)",
    },
    Renamed {
        within: "ToolRules",
        keys: &["params", "parameters", "arguments", "argument", "properties", "query"],
        fix: "arguments stand under `args:`",
    },
    Renamed {
        within: "ToolRules",
        keys: &["input_schema", "inputs", "schema"],
        fix: "the schema of a hand-written tool is `input`; edits of arguments stand under `args:`",
    },
    Renamed {
        within: "ToolRules",
        keys: &["response", "output", "outputs", "response_template", "transform", "response_transform"],
        fix: "shape the answer under `result:`",
    },
    Renamed { within: "ToolRules", keys: &["output_schema"], fix: "write it under `result:`" },
    Renamed {
        within: "ToolRules",
        keys: &[
            "read_only",
            "read_only_hint",
            "destructive",
            "destructive_hint",
            "idempotent",
            "idempotent_hint",
            "open_world",
            "open_world_hint",
            "hints",
        ],
        fix: "write it under `annotations:`, as `read_only`, `destructive`, `idempotent`, `open_world`",
    },
    Renamed {
        within: "ToolRules",
        keys: &["enabled", "disabled", "exclude", "skip", "remove"],
        fix: "leave an operation out under `rules:`, as in `- match: { operation: NAME }` with `exclude: true`; `hidden: true` only keeps the tool off the list",
    },
    Renamed {
        within: "ToolRules",
        keys: &["rename", "tool_name"],
        fix: "the key itself is the tool's name; say `operation:` for where it comes from",
    },
    Renamed {
        within: "ToolRules",
        keys: &["summary"],
        fix: "the text for the model is `description`, the display name `title`",
    },
    Renamed {
        within: "ToolRules",
        keys: &["method"],
        fix: "write `operation: GET /path`, or a `request:` of your own",
    },
    Renamed {
        within: "ToolRules",
        keys: &["retry", "retries", "rate", "rate_limit", "max_response"],
        fix: "it belongs to the source: `sources: { NAME: { limits: { … } } }`",
    },
    Renamed {
        within: "ToolRules",
        keys: &["headers", "auth", "credentials", "base_url"],
        fix: "it belongs to the source; a header that is a parameter can be set with `args: { NAME: { value: … } }`",
    },
    Renamed { within: "ToolRules", keys: &["pagination", "paging"], fix: "it is called `paginate`" },
    Renamed {
        within: "ToolRules",
        keys: &["workflow", "pipeline", "calls"],
        fix: "several calls in one tool stand under `steps:`",
    },
    Renamed {
        within: "ToolRules",
        keys: &["confirmation", "require_confirmation", "approval"],
        fix: "it is called `confirm`, the text of the question",
    },
    Renamed {
        within: "ToolEdits",
        keys: &["exclude", "enabled", "disabled", "skip"],
        fix: "write `exclude: true` beside `match`, not under `set`",
    },
    Renamed {
        within: "ToolEdits",
        keys: &["params", "parameters", "arguments", "properties"],
        fix: "arguments stand under `args:`",
    },
    Renamed {
        within: "ToolEdits",
        keys: &["operation", "request", "steps", "input", "tests", "source"],
        fix: "a rule edits many tools; it belongs under `tools: { NAME: { … } }`",
    },
    Renamed { within: "ArgumentEdits", keys: &["name", "to", "alias", "as"], fix: "a new name is `rename`" },
    Renamed { within: "ArgumentEdits", keys: &["hidden", "exclude", "remove", "internal"], fix: "write `hide: true`" },
    Renamed { within: "ArgumentEdits", keys: &["fixed", "constant", "set", "static"], fix: "a fixed value is `value`" },
    Renamed { within: "ArgumentEdits", keys: &["optional"], fix: "write `required: false`" },
    Renamed { within: "ArgumentEdits", keys: &["example"], fix: "write `examples:` with a list" },
    Renamed {
        within: "ArgumentEdits",
        keys: &["in", "location", "position", "style", "explode"],
        fix: "where an argument goes is the document's to say; for a document that is wrong use an overlay",
    },
    Renamed { within: "ArgumentEdits", keys: &["min", "ge"], fix: "write `minimum`" },
    Renamed { within: "ArgumentEdits", keys: &["max", "le"], fix: "write `maximum`" },
    Renamed { within: "ArgumentEdits", keys: &["nullable"], fix: "write `type: [string, \"null\"]`" },
    Renamed {
        within: "ArgumentEdits",
        keys: &["$ref", "$defs", "$id", "$schema", "$anchor", "definitions"],
        fix: "an argument's keywords stand for themselves; write the schema out",
    },
    Renamed { within: "ArgumentEdits", keys: &["env"], fix: "write `value: ${env:NAME}`" },
    Renamed { within: "ResultRules", keys: &["jq", "filter", "query", "transform"], fix: "a jq filter is `select`" },
    Renamed {
        within: "ResultRules",
        keys: &["fields", "include", "only", "keep"],
        fix: "properties to keep are `pick`",
    },
    Renamed {
        within: "ResultRules",
        keys: &["omit", "exclude", "remove", "hide"],
        fix: "properties to leave out are `drop`",
    },
    Renamed {
        within: "ResultRules",
        keys: &["limit", "max_items", "top", "first"],
        fix: "the longest list is `limit_items`",
    },
    Renamed {
        within: "ResultRules",
        keys: &["max_size", "truncate", "max_length", "max_chars"],
        fix: "the longest text is `max_bytes`",
    },
    Renamed { within: "ResultRules", keys: &["mask"], fix: "it is called `redact`" },
    Renamed { within: "ResultRules", keys: &["text", "body"], fix: "a text of your own is `template`" },
    Renamed {
        within: "ResultRules",
        keys: &["schema", "output"],
        fix: "what is published is `output_schema: relaxed`, `strict` or `none`",
    },
    Renamed { within: "ErrorRules", keys: &["message"], fix: "where the message stands in the error body is `path`" },
    Renamed { within: "ErrorRules", keys: &["messages", "map", "texts"], fix: "texts by status stand under `hints:`" },
    Renamed { within: "StepRules", keys: &["name"], fix: "a step's name is `id`" },
    Renamed {
        within: "StepRules",
        keys: &["operation", "tool", "operation_id", "use"],
        fix: "what a step calls is `call`",
    },
    Renamed {
        within: "StepRules",
        keys: &["args", "arguments", "params", "parameters", "input", "inputs", "body"],
        fix: "a step's arguments stand under `with:`",
    },
    Renamed { within: "StepRules", keys: &["if", "condition"], fix: "a condition is `when`" },
    Renamed {
        within: "StepRules",
        keys: &["on_failure", "on_fail", "continue_on_error", "ignore_errors"],
        fix: "write `on_error: stop` or `on_error: continue`",
    },
    Renamed {
        within: "StepRules",
        keys: &["after", "depends_on", "needs"],
        fix: "delete it: a step waits for the steps whose answers it uses",
    },
    Renamed {
        within: "HandRequest",
        keys: &["url"],
        fix: "the address is the source's `base_url`; here stands the `path`",
    },
    Renamed {
        within: "HandRequest",
        keys: &["headers", "query", "params"],
        fix: "list them under `parameters:`, as OpenAPI Parameter Objects; fixed headers stand under `headers:` of the source",
    },
    Renamed {
        within: "HandRequest",
        keys: &["json", "data", "payload", "form"],
        fix: "the body is `body`, its media type `content_type`",
    },
    Renamed { within: "PromptMessage", keys: &["content", "template"], fix: "a message's text is `text`" },
    Renamed {
        within: "PromptRules",
        keys: &["template", "text", "prompt", "content"],
        fix: "write `messages: [ { role: user, text: … } ]`",
    },
    Renamed {
        within: "PromptRules",
        keys: &["args", "params", "parameters"],
        fix: "they are called `arguments`, a list",
    },
    Renamed { within: "ToolTest", keys: &["response", "mock", "answer"], fix: "the canned answer is `respond`" },
    Renamed {
        within: "ToolTest",
        keys: &["expect", "expected", "output"],
        fix: "what is expected stands under `request:` and `result:`",
    },
    Renamed { within: "ToolTest", keys: &["arguments", "input", "with"], fix: "a test's arguments are `args`" },
    Renamed {
        within: "Limits",
        keys: &["rps", "rate_limit", "requests_per_second"],
        fix: "it is called `rate`, as in `50/s`",
    },
    Renamed {
        within: "Limits",
        keys: &["max_concurrency", "max_connections", "parallel"],
        fix: "it is called `concurrency`",
    },
    Renamed { within: "Limits", keys: &["retry", "max_retries"], fix: "it is called `retries`" },
    Renamed { within: "CacheHint", keys: &["max_age", "expires", "duration"], fix: "how long is `ttl`" },
    Renamed {
        within: "CacheHint",
        keys: &["scope", "key", "by"],
        fix: "whose answers are shared is `per`: `caller`, `tenant` or `all`",
    },
];
