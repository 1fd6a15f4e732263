//! `inspect`: each operation, tool or not and why, and what a call would do.

use super::{Files, load, print, show};
use crate::catalog::{Action, Catalog, From, RequestAction, Spot, Tool, hints};
use crate::request::PathPart;
use clap::Args;
use std::fmt::Write;

#[derive(Debug, Args)]
pub(super) struct Inspect {
    #[command(flatten)]
    files: Files,
    /// Only this tool, with its schemas.
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
}

impl Inspect {
    pub(super) async fn run(self) -> u8 {
        let (_, _, loaded) = load(&self.files).await;
        show(&loaded.report, false);
        let catalog = &loaded.catalog;
        let mut out = String::new();
        match &self.tool {
            Some(name) => match catalog.tools.get(name).or_else(|| catalog.hidden.get(name)) {
                Some(tool) => {
                    describe(&mut out, catalog, tool);
                    let _ = writeln!(out, "  input schema: {}", pretty(&tool.input.published.tree()));
                    if let Some(schema) = &tool.output.published {
                        let _ = writeln!(out, "  output schema: {}", pretty(&schema.tree()));
                    }
                }
                None => {
                    let near = crate::diagnostic::hint::did_you_mean(name, catalog.tools.keys().map(String::as_str));
                    let skipped = catalog
                        .skipped
                        .iter()
                        .find(|skipped| skipped.operation_id.as_deref() == Some(name) || skipped.operation == *name);
                    match skipped {
                        Some(skipped) => out.push_str(&format!("`{name}` is no tool: {}\n", skipped.reason.message)),
                        None => out.push_str(&format!(
                            "there is no tool `{name}`{}\n",
                            near.map(|near| format!("; {near}")).unwrap_or_default()
                        )),
                    }
                    print(&out);
                    return 1;
                }
            },
            None => {
                for tool in catalog.tools.values() {
                    describe(&mut out, catalog, tool);
                }
                for skipped in &catalog.skipped {
                    let id = skipped.operation_id.as_deref().map(|id| format!(" ({id})")).unwrap_or_default();
                    let _ = writeln!(
                        out,
                        "no tool  {}{id}: {} [{}]",
                        skipped.operation, skipped.reason.message, skipped.reason.code
                    );
                }
                let (bytes, tokens) = loaded.published_size();
                let _ = writeln!(
                    out,
                    "{} tools, {} skipped; {bytes} bytes, about {tokens} tokens",
                    catalog.tools.len(),
                    catalog.skipped.len()
                );
            }
        }
        print(&out);
        loaded.report.exit_code(false)
    }
}

fn pretty(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn describe(out: &mut String, catalog: &Catalog, tool: &Tool) {
    let size = tool.input.published.text().len() + tool.description.len();
    let _ = writeln!(out, "tool  {}  (about {} tokens)", tool.name, hints::estimated_tokens(size));
    if let Some(operation) = &tool.operation {
        let id = operation.operation_id.as_deref().map(|id| format!(" ({id})")).unwrap_or_default();
        let _ = writeln!(out, "  operation: {} {}{id} of {}", operation.method, operation.path, operation.source);
    }
    match &tool.action {
        Action::Request(action) => request(out, catalog, action),
        Action::Steps(steps) => {
            for step in steps {
                let _ = writeln!(out, "  step {}: {}", step.id, step.tool.name);
            }
        }
        Action::Workflow(workflow) => {
            for step in &workflow.steps {
                let operation = step.tool.operation.as_ref().map(|of| format!("{} {}", of.method, of.path));
                let _ = writeln!(out, "  step {}: {}", step.id, operation.unwrap_or_else(|| step.tool.name.clone()));
            }
        }
        _ => {}
    }
}

fn request(out: &mut String, catalog: &Catalog, action: &RequestAction) {
    let mut url = action.base_url.clone();
    for part in &action.path {
        match part {
            PathPart::Literal(text) => url.push_str(text),
            PathPart::Parameter(index) => {
                let name = action.parameters.get(*index).map(|plan| plan.name.as_str()).unwrap_or_default();
                let _ = write!(url, "{{{name}}}");
            }
        }
    }
    let _ = writeln!(out, "  request: {} {url}", action.method);
    for binding in &action.bindings {
        let from = match &binding.from {
            From::Argument(name) => name.clone(),
            From::Fixed(value) => format!("(fixed {value})"),
            From::Secret(_) => "(fixed, secret)".to_string(),
            From::Caller(value) => format!("(of the caller: {value:?})"),
            From::Template(_) => "(body template)".to_string(),
            From::Rest => "(any other argument)".to_string(),
        };
        let spot = match &binding.spot {
            Spot::Parameter(index) => match action.parameters.get(*index) {
                Some(plan) => format!("{} `{}`", crate::catalog::compile::location(plan.location), plan.name),
                None => String::new(),
            },
            Spot::Body => "body".to_string(),
            Spot::BodyMember(path) => format!("body `{}`", path.join(".")),
            Spot::MediaType => "media type of the body".to_string(),
        };
        let must = if binding.required { ", required" } else { "" };
        let _ = writeln!(out, "    {from} -> {spot}{must}");
    }
    if let Some(variant) = action.body.as_ref().and_then(|body| body.variants.first()) {
        let _ = writeln!(out, "  body: {}", variant.media_type);
    }
    let Some(source) = catalog.sources.get(action.source) else { return };
    if action.security.is_empty() {
        return;
    }
    let alternatives: Vec<String> = action
        .security
        .iter()
        .map(|alternative| {
            if alternative.is_empty() {
                return "none (anonymous)".to_string();
            }
            let each = alternative.iter().map(|name| match source.credentials.get(name) {
                Some(plan) if plan.value.is_some() => format!("{name} (set)"),
                Some(plan) if !plan.wanted.is_empty() => format!("{name} (missing: set {})", plan.wanted.join(" and ")),
                Some(_) => format!("{name} (missing)"),
                None => format!("{name} (unknown scheme)"),
            });
            each.collect::<Vec<_>>().join(" and ")
        })
        .collect();
    let _ = writeln!(out, "  credential: {}", alternatives.join(", or "));
}
