//! The catalog of the service's double.

use rest_mcp::catalog::{Action, Annotations, Catalog, Input, Output, PollPlan, Prompt, RequestAction, Resource, Tool};
use rest_mcp::mapping::{Poll, PromptArgument, PromptRules, Questions};
use rest_mcp::schema::check::Checker;
use rest_mcp::schema::kept::Kept;
use serde_json::{Value, json};
use std::sync::Arc;

pub fn tool(name: &str) -> Tool {
    tool_of(name, json!({"type": "object", "properties": {}}), None)
}

pub fn tool_of(name: &str, input: Value, output: Option<Value>) -> Tool {
    let published = Kept::from(input);
    Tool {
        name: name.to_owned(),
        title: Some(format!("The {name} tool")),
        description: format!("Does {name}"),
        annotations: Annotations { read_only: true, destructive: false, idempotent: true, open_world: true },
        icons: vec![json!({"src": "https://example.com/icon.png", "mimeType": "image/png"})],
        tags: Vec::new(),
        operation: None,
        input: Input {
            published: published.clone(),
            check: Checker::new(published),
            body_check: None,
            mirrored: Vec::new(),
        },
        output: Output { published: output.map(Kept::from), conform: None, strict: None },
        action: Action::Steps(Vec::new()),
        ask: Vec::new(),
        confirm: None,
        requires_client: Vec::new(),
        result: None,
        cache: None,
    }
}

/// The tools that tests call, and some that wait for a job.
pub fn catalog_with_jobs() -> Catalog {
    let mut catalog = catalog();
    let names =
        ["job", "job_fails", "job_breaks", "job_asks", "job_before", "job_at_once", "job_asks_during", "job_required"];
    for name in names {
        let mut job = tool(name);
        if name == "job_required" {
            job.requires_client.push("tasks".to_owned());
        }
        let questions = if name == "job_asks_during" { Questions::During } else { Questions::Before };
        job.action = Action::Request(Box::new(RequestAction {
            source: 0,
            method: http::Method::POST,
            base_url: "http://127.0.0.1:9".to_owned(),
            path: Vec::new(),
            fixed_query: None,
            parameters: Vec::new(),
            body: None,
            accept: "*/*".to_owned(),
            bindings: Vec::new(),
            security: Vec::new(),
            success: Default::default(),
            errors: None,
            timeout: None,
            paginate: None,
            poll: Some(PollPlan::compile(&Poll { questions, ..Poll::default() }).unwrap()),
            stream: None,
            idempotent: false,
            own: Vec::new(),
            aliases: Vec::new(),
        }));
        catalog.tools.insert(name.to_owned(), Arc::new(job));
    }
    catalog
}

/// The tools that tests call, the first callable without arguments.
pub fn catalog() -> Catalog {
    let mut catalog = Catalog::default();
    let names = [
        "text",
        "image",
        "audio",
        "link",
        "embedded",
        "fail",
        "echo",
        "progress",
        "log",
        "ask",
        "ask_url",
        "ask_twice",
        "ask_model",
        "ask_roots",
        "wait",
        "wait_then_answer",
        "broken",
        "scoped",
        "needs_sampling",
        "trace",
        "raw",
        "many_logs",
    ];
    for name in names {
        catalog.tools.insert(name.to_owned(), Arc::new(tool(name)));
    }
    let object = json!({"type": "object", "properties": {"celsius": {"type": "number"}}, "required": ["celsius"]});
    catalog.tools.insert(
        "object".to_owned(),
        Arc::new(tool_of("object", json!({"type": "object", "properties": {}}), Some(object))),
    );
    let list = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "array",
        "items": {"anyOf": [{"$ref": "#/$defs/item"}, {"$ref": "#"}]},
        "$defs": {"item": {"type": "integer", "default": {"$ref": "#"}}}
    });
    catalog.tools.insert("list".to_owned(), Arc::new(tool_of("list", json!({"type": "object"}), Some(list))));
    let mut region = tool_of(
        "region",
        json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"}, "count": {"type": "integer"}, "flag": {"type": "boolean"},
            "anything": true, "other": {"type": "string"}
        }}),
        None,
    );
    region.input.mirrored = vec![
        ("region".to_owned(), "Region".to_owned()),
        ("count".to_owned(), "Count".to_owned()),
        ("flag".to_owned(), "Flag".to_owned()),
    ];
    catalog.tools.insert("region".to_owned(), Arc::new(region));
    for (name, uri, is_template) in [
        ("static", "test://static-text", false),
        ("binary", "test://static-binary", false),
        ("data", "test://template/{id}/data", true),
    ] {
        catalog.resources.push(Arc::new(Resource {
            arguments: Default::default(),
            name: name.to_owned(),
            title: Some(format!("The {name} resource")),
            description: Some(format!("Holds {name}")),
            mime_type: Some("text/plain".to_owned()),
            uri: uri.to_owned(),
            is_template,
            tool: Arc::new(tool("hidden")),
        }));
    }
    let argument = PromptArgument {
        name: "city".to_owned(),
        title: Some("City".to_owned()),
        description: Some("Where".to_owned()),
        required: true,
        ..PromptArgument::default()
    };
    let rules = PromptRules {
        title: Some("Greeting".to_owned()),
        description: Some("Greets".to_owned()),
        arguments: vec![argument],
        ..PromptRules::default()
    };
    catalog
        .prompts
        .insert("greet".to_owned(), Arc::new(Prompt { name: "greet".to_owned(), rules, messages: Vec::new() }));
    catalog
}
