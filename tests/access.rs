//! Who gets in, and what they see and may call: the matrix of callers.

mod audit;
mod certificates;
pub mod identity;
pub mod jwt;
mod keys;
mod remote;
mod rules;

use indexmap::IndexMap;
use rest_mcp::catalog::{Action, Annotations, Catalog, Input, OperationRef, Output, Tool};
use rest_mcp::schema::check::Checker;
use serde_json::json;
use std::sync::Arc;

/// A tool of a name, tags and method; the method decides the annotations.
fn tool(name: &str, tags: &[&str], method: &str) -> Arc<Tool> {
    let safe = method == "GET";
    let schema = Arc::new(json!({"type": "object"}));
    Arc::new(Tool {
        name: name.to_owned(),
        title: None,
        description: name.to_owned(),
        annotations: Annotations {
            read_only: safe,
            destructive: method == "DELETE",
            idempotent: method != "POST",
            open_world: true,
        },
        icons: Vec::new(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        operation: Some(OperationRef {
            source: "shop".to_owned(),
            method: method.to_owned(),
            path: format!("/{name}"),
            operation_id: Some(name.to_owned()),
            deprecated: false,
        }),
        input: Input {
            published: schema.clone().into(),
            check: Checker::new(schema),
            body_check: None,
            mirrored: Vec::new(),
        },
        output: Output::default(),
        action: Action::Search,
        ask: Vec::new(),
        confirm: None,
        requires_client: Vec::new(),
        result: None,
        cache: None,
    })
}

fn catalog() -> Catalog {
    let tools = [
        tool("get_pet", &["pet"], "GET"),
        tool("find_pets", &["pet", "search"], "GET"),
        tool("create_pet", &["pet"], "POST"),
        tool("delete_pet", &["pet", "admin"], "DELETE"),
        tool("get_order", &["store"], "GET"),
        tool("purge", &["admin"], "POST"),
    ];
    Catalog { tools: tools.into_iter().map(|tool| (tool.name.clone(), tool)).collect(), ..Catalog::default() }
}

fn names(catalog: &Catalog, visible: &rest_mcp::service::Visible) -> Vec<String> {
    match visible {
        rest_mcp::service::Visible::All => catalog.tools.keys().cloned().collect(),
        rest_mcp::service::Visible::Only { tools, .. } => {
            tools.iter().map(|index| catalog.tools.get_index(*index).unwrap().0.clone()).collect()
        }
    }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn tenants(rules: &[(&str, &[&str], &[&str])]) -> IndexMap<String, rest_mcp::access::TenantRules> {
    rules
        .iter()
        .map(|(name, allow, deny)| {
            let rules = rest_mcp::access::TenantRules { allow: strings(allow), deny: strings(deny) };
            ((*name).to_owned(), rules)
        })
        .collect()
}
