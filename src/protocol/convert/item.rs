//! One tool, resource, template or prompt as a revision shows it.

use super::schema;
use crate::catalog::{Prompt, Resource, Tool};
use crate::protocol::version::{Structured, Version};
use serde_json::{Map, Value, json};

fn put(object: &mut Map<String, Value>, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        object.insert(key.to_owned(), value.into());
    }
}

/// `tasks` says whether calls of this tool can become tasks.
pub(super) fn tool(tool: &Tool, tasks: bool, version: Version) -> Value {
    let knows = version.knows();
    let mut object = Map::new();
    put(&mut object, "name", Some(tool.name.as_str()));
    put(&mut object, "title", tool.title.as_deref().filter(|_| knows.title));
    put(&mut object, "description", Some(tool.description.as_str()));
    put(&mut object, "inputSchema", Some(schema::input(&tool.input.published, &tool.input.mirrored, version)));
    if let (Some(output), true) = (&tool.output.published, knows.structured != Structured::Unknown) {
        let published = if knows.structured == Structured::Any || schema::is_object_schema(output) {
            (**output).clone()
        } else {
            schema::wrapped(output)
        };
        put(&mut object, "outputSchema", Some(published));
    }
    if knows.annotations {
        let mut hints = Map::new();
        // 2025-03-26 has no other place for a display name.
        put(&mut hints, "title", tool.title.as_deref().filter(|_| !knows.title));
        put(&mut hints, "readOnlyHint", Some(tool.annotations.read_only));
        put(&mut hints, "destructiveHint", Some(tool.annotations.destructive));
        put(&mut hints, "idempotentHint", Some(tool.annotations.idempotent));
        put(&mut hints, "openWorldHint", Some(tool.annotations.open_world));
        put(&mut object, "annotations", Some(hints));
    }
    if knows.tasks && tasks {
        let required = tool.requires_client.iter().any(|name| name == "tasks");
        let support = if required { "required" } else { "optional" };
        put(&mut object, "execution", Some(json!({"taskSupport": support})));
    }
    if knows.icons && !tool.icons.is_empty() {
        put(&mut object, "icons", Some(tool.icons.clone()));
    }
    Value::Object(object)
}

pub(super) fn resource(resource: &Resource, version: Version) -> Value {
    let mut object = Map::new();
    let address = if resource.is_template { "uriTemplate" } else { "uri" };
    put(&mut object, address, Some(resource.uri.as_str()));
    put(&mut object, "name", Some(resource.name.as_str()));
    put(&mut object, "title", resource.title.as_deref().filter(|_| version.knows().title));
    put(&mut object, "description", resource.description.as_deref());
    put(&mut object, "mimeType", resource.mime_type.as_deref());
    Value::Object(object)
}

pub(super) fn prompt(prompt: &Prompt, version: Version) -> Value {
    let titles = version.knows().title;
    let mut object = Map::new();
    put(&mut object, "name", Some(prompt.name.as_str()));
    put(&mut object, "title", prompt.rules.title.as_deref().filter(|_| titles));
    put(&mut object, "description", prompt.rules.description.as_deref());
    let arguments: Vec<Value> = prompt
        .rules
        .arguments
        .iter()
        .map(|argument| {
            let mut one = json!({"name": argument.name, "required": argument.required});
            if let Some(one) = one.as_object_mut() {
                put(one, "title", argument.title.as_deref().filter(|_| titles));
                put(one, "description", argument.description.as_deref());
            }
            one
        })
        .collect();
    put(&mut object, "arguments", Some(arguments).filter(|list| !list.is_empty()));
    Value::Object(object)
}
