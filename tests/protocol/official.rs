//! The one hook through which every message of the server goes: it must satisfy the official schema
//! of the revision spoken.

use jsonschema::Validator;
use rest_mcp::protocol::Version;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};

type Validators = HashMap<(Version, &'static str), Arc<Validator>>;
static DOCUMENTS: LazyLock<Mutex<HashMap<Version, Arc<Value>>>> = LazyLock::new(Mutex::default);
static VALIDATORS: LazyLock<Mutex<Validators>> = LazyLock::new(Mutex::default);

/// `REST_MCP_SHARED`, else `../shared` beside the crate.
fn shared() -> PathBuf {
    std::env::var_os("REST_MCP_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from)
}

fn document(version: Version) -> Arc<Value> {
    let mut documents = DOCUMENTS.lock().unwrap();
    documents.entry(version).or_insert_with(|| Arc::new(read(version))).clone()
}

/// True if the official schemas are there. A newcomer's checkout has none beside it: then messages are
/// still compared with what each test expects, but not validated. The gate always has them.
fn available() -> bool {
    static AVAILABLE: LazyLock<bool> = LazyLock::new(|| {
        let there = shared().join("protocol/schema").is_dir();
        assert!(there || std::env::var_os("CI").is_none(), "the official schemas are not in {}", shared().display());
        if !there {
            eprintln!("no official schemas beside this checkout: messages are not validated against them");
        }
        there
    });
    *AVAILABLE
}

fn read(version: Version) -> Value {
    let path = shared().join("protocol/schema").join(format!("{}.json", version.as_str()));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; set REST_MCP_SHARED to the shared material", path.display()));
    serde_json::from_str(&text).unwrap()
}

fn definitions(version: Version) -> &'static str {
    if version >= Version::V2025_11_25 { "$defs" } else { "definitions" }
}

/// Names of the members that a definition of the revision lists.
pub fn known_members(version: Version, definition: &str) -> Option<Vec<String>> {
    if !available() {
        return None;
    }
    let document = document(version);
    let Some(properties) = document[definitions(version)][definition]["properties"].as_object() else {
        panic!("{} has no {definition}", version.as_str());
    };
    Some(properties.keys().cloned().collect())
}

fn validator(version: Version, definition: &'static str) -> Arc<Validator> {
    let mut validators = VALIDATORS.lock().unwrap();
    let made = validators.entry((version, definition)).or_insert_with(|| {
        let document = document(version);
        let key = definitions(version);
        let schema = json!({
            "$schema": document["$schema"],
            "allOf": [{"$ref": format!("#/{key}/{definition}")}],
            key: document[key]
        });
        Arc::new(jsonschema::validator_for(&schema).unwrap())
    });
    made.clone()
}

/// Panics unless `value` satisfies the definition.
pub fn satisfies(version: Version, definition: &'static str, value: &Value) {
    if !available() {
        return;
    }
    let problems: Vec<String> = validator(version, definition)
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(problems.is_empty(), "{} {definition}: {problems:#?}\nin {value:#}", version.as_str());
}

/// What the extension `io.modelcontextprotocol/tasks` says of its results; the core's schema does not know them.
fn extension(method: &str, result: &Value) {
    if matches!(method, "tasks/update" | "tasks/cancel") {
        let members: Vec<&String> = result.as_object().unwrap().keys().collect();
        assert_eq!(members, ["resultType", "_meta"], "{result}");
        return;
    }
    assert_eq!(result["resultType"], if method == "tools/call" { "task" } else { "complete" });
    if method == "tools/call" {
        for member in ["result", "error", "inputRequests"] {
            assert!(result.get(member).is_none(), "{member} in {result}");
        }
    }
    detailed_task(result, method == "tasks/get");
}

/// A Task, and what a DetailedTask of its status has beside it.
fn detailed_task(result: &Value, detailed: bool) {
    for member in ["taskId", "createdAt", "lastUpdatedAt"] {
        assert!(result[member].is_string(), "{member} in {result}");
    }
    assert!(result["ttlMs"].is_u64() && result["pollIntervalMs"].is_u64(), "{result}");
    for member in ["ttl", "pollInterval", "task", "requestState"] {
        assert!(result.get(member).is_none(), "{member} in {result}");
    }
    let status = result["status"].as_str().unwrap();
    assert!(["working", "input_required", "completed", "failed", "cancelled"].contains(&status), "{result}");
    if detailed {
        assert_eq!(result.get("result").is_some(), status == "completed", "{result}");
        assert_eq!(result.get("error").is_some(), status == "failed", "{result}");
        assert_eq!(result.get("inputRequests").is_some(), status == "input_required", "{result}");
        // "SHOULD include a statusMessage field with diagnostic information about the failure".
        assert!(status != "failed" || result["statusMessage"].is_string(), "{result}");
    }
    if let Some(requests) = result.get("inputRequests") {
        assert!(!requests.as_object().unwrap().is_empty(), "{result}");
        satisfies(Version::V2026_07_28, "InputRequests", requests);
    }
    if let Some(inner) = result.get("result") {
        satisfies(Version::V2026_07_28, "CallToolResult", inner);
    }
}

fn result_definition(version: Version, method: &str, result: &Value) -> &'static str {
    if version.is_modern() && (result["resultType"] == "task" || method.starts_with("tasks/")) {
        extension(method, result);
        return "Result";
    }
    if result["resultType"] == "input_required" {
        assert!(matches!(method, "tools/call" | "prompts/get" | "resources/read"), "input_required for {method}");
        assert!(result.get("inputRequests").or(result.get("requestState")).is_some());
        return "InputRequiredResult";
    }
    match method {
        "initialize" => "InitializeResult",
        "server/discover" => "DiscoverResult",
        "tools/list" => "ListToolsResult",
        "tools/call" if result.get("task").is_some() => "CreateTaskResult",
        "tools/call" | "tasks/result" => "CallToolResult",
        "tasks/get" => "GetTaskResult",
        "tasks/cancel" => "CancelTaskResult",
        "resources/list" => "ListResourcesResult",
        "resources/templates/list" => "ListResourceTemplatesResult",
        "resources/read" => "ReadResourceResult",
        "prompts/list" => "ListPromptsResult",
        "prompts/get" => "GetPromptResult",
        "completion/complete" => "CompleteResult",
        "subscriptions/listen" => "SubscriptionsListenResult",
        "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => "EmptyResult",
        other => panic!("a result for {other}"),
    }
}

/// Checks one message of the server. `method` is that of the request it answers.
pub fn check(version: Version, message: &Value, method: Option<&str>) {
    assert_eq!(message["jsonrpc"], "2.0", "{message}");
    let late = version >= Version::V2025_11_25;
    if let Some(result) = message.get("result") {
        satisfies(version, if late { "JSONRPCResultResponse" } else { "JSONRPCResponse" }, message);
        let method = method.unwrap_or_else(|| panic!("a result that nobody waits for: {message}"));
        satisfies(version, result_definition(version, method, result), result);
        if version.is_modern() {
            assert!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"].is_string(), "{message}");
        } else {
            for member in ["resultType", "ttlMs", "cacheScope"] {
                assert!(result.get(member).is_none(), "{member} in {message}");
            }
        }
    } else if let Some(error) = message.get("error") {
        let mut message = message.clone();
        if message["id"].is_null() {
            // No revision has a form for an unreadable id; clients tolerate null.
            message["id"] = json!(0);
        }
        satisfies(version, if late { "JSONRPCErrorResponse" } else { "JSONRPCError" }, &message);
        let code = error["code"].as_i64().unwrap();
        if version.is_modern() {
            let spec = [-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022];
            assert!(spec.contains(&code) || !(-32768..=-32000).contains(&code), "{code}");
        } else {
            assert!(!(-32099..=-32020).contains(&code) || code == -32022, "{code}");
        }
    } else {
        let method = message["method"].as_str().unwrap_or_else(|| panic!("no message: {message}"));
        let request = message.get("id").is_some();
        assert!(!(request && version.is_modern()), "a request to a modern client: {message}");
        let definition = match (method, request) {
            ("notifications/message", false) => "LoggingMessageNotification",
            ("notifications/progress", false) => "ProgressNotification",
            ("notifications/tasks", false) if version.is_modern() => {
                let params = &message["params"];
                assert!(params.get("resultType").is_none(), "{message}");
                assert!(params["_meta"]["io.modelcontextprotocol/subscriptionId"].as_str().is_some(), "{message}");
                return detailed_task(params, true);
            }
            ("notifications/cancelled", false) => "CancelledNotification",
            ("notifications/tools/list_changed", false) => "ToolListChangedNotification",
            ("notifications/prompts/list_changed", false) => "PromptListChangedNotification",
            ("notifications/resources/list_changed", false) => "ResourceListChangedNotification",
            ("notifications/resources/updated", false) => "ResourceUpdatedNotification",
            ("notifications/subscriptions/acknowledged", false) => "SubscriptionsAcknowledgedNotification",
            ("elicitation/create", true) => "ElicitRequest",
            ("sampling/createMessage", true) => "CreateMessageRequest",
            ("roots/list", true) => "ListRootsRequest",
            other => panic!("{other:?} from a server"),
        };
        satisfies(version, definition, message);
    }
}
