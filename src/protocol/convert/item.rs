//! One tool, resource, template or prompt as a revision shows it.

use super::schema;
use crate::catalog::{Annotations, Prompt, Resource, Tool};
use crate::protocol::text;
use crate::protocol::version::{Structured, Version};
use serde::Serialize;
use serde_json::{Map, Value, json};

fn put(object: &mut Map<String, Value>, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        object.insert(key.to_owned(), value.into());
    }
}

/// How a tool is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    pub(super) version: Version,
    /// Leaves out what says nothing new: titles that the description begins with, and hints that are MCP's
    /// defaults.
    pub(super) compact: bool,
}

/// Appends a tool. `tasks` says whether calls of it can become tasks.
pub(super) fn tool(out: &mut Vec<u8>, tool: &Tool, tasks: bool, style: Style) {
    let knows = style.version.knows();
    out.extend_from_slice(b"{\"name\":");
    text::put(out, &tool.name);
    let title = tool.title.as_deref().filter(|title| {
        // Whole lines only: the title may be the beginning of a longer sentence.
        !style.compact || tool.description.lines().next().is_none_or(|line| line != *title)
    });
    if let Some(title) = title.filter(|_| knows.title) {
        member(out, "title", title);
    }
    member(out, "description", &tool.description);
    out.extend_from_slice(b",\"inputSchema\":");
    out.extend_from_slice(schema::input(&tool.input.published, &tool.input.mirrored, style.version).as_bytes());
    if let (Some(output), true) = (&tool.output.published, knows.structured != Structured::Unknown) {
        out.extend_from_slice(b",\"outputSchema\":");
        out.extend_from_slice(schema::output(output, knows.structured == Structured::Any).as_bytes());
    }
    if knows.annotations {
        // 2025-03-26 has no other place for a display name.
        let hints = hints(&tool.annotations, title.filter(|_| !knows.title), style.compact);
        if !hints.is_empty() {
            member(out, "annotations", &hints);
        }
    }
    if knows.tasks && tasks {
        let required = tool.requires_client.iter().any(|name| name == "tasks");
        out.extend_from_slice(b",\"execution\":{\"taskSupport\":\"");
        out.extend_from_slice(if required { b"required".as_slice() } else { b"optional" });
        out.extend_from_slice(b"\"}");
    }
    if knows.icons && !tool.icons.is_empty() {
        member(out, "icons", &tool.icons);
    }
    out.push(b'}');
}

fn member<T: Serialize + ?Sized>(out: &mut Vec<u8>, name: &str, value: &T) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    text::put(out, value);
}

/// ToolAnnotations. In the compact form without those that equal MCP's defaults, and without `idempotentHint` of a
/// tool that only reads, where MCP gives it no meaning.
fn hints(annotations: &Annotations, title: Option<&str>, compact: bool) -> Map<String, Value> {
    let mut hints = Map::new();
    put(&mut hints, "title", title);
    let told = |hint: bool, default: bool| Some(hint).filter(|_| !compact || hint != default);
    let idempotent = told(annotations.idempotent, false).filter(|_| !compact || !annotations.read_only);
    put(&mut hints, "readOnlyHint", told(annotations.read_only, false));
    put(&mut hints, "destructiveHint", told(annotations.destructive, true));
    put(&mut hints, "idempotentHint", idempotent);
    put(&mut hints, "openWorldHint", told(annotations.open_world, true));
    hints
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
