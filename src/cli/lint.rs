//! `lint`: what makes tools hard to use for a model or a client.

use super::{Files, load, print};
use crate::app::{Inputs, Kind, Loaded};
use crate::catalog::name::{LONGEST, look_alikes};
use crate::catalog::{Tool, hints};
use crate::diagnostic::{Diagnostic, Place, Report};
use crate::document::pointer;
use crate::schema::profile;
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Published catalogs larger than this, in tokens, are better searched.
const CATALOG_TOKENS: usize = 20_000;

#[derive(Debug, Args)]
pub(super) struct Lint {
    #[command(flatten)]
    files: Files,
    /// Print one JSON object on stdout.
    #[arg(long)]
    json: bool,
    /// Characters that clients put in front of a name, such as `mcp__petstore__` (15).
    #[arg(long, value_name = "N", default_value_t = 15)]
    client_prefix: usize,
    /// Tokens that one tool may cost.
    #[arg(long, value_name = "N", default_value_t = 1500)]
    max_tokens: usize,
}

impl Lint {
    pub(super) async fn run(self) -> u8 {
        let (_, inputs, loaded) = load(&self.files).await;
        if loaded.catalog.tools.is_empty() {
            super::show(&loaded.report, false);
            eprintln!("error: these files make no tools");
            return 2;
        }
        let errors: Report = loaded
            .report
            .diagnostics
            .iter()
            .filter(|one| one.severity == crate::diagnostic::Severity::Error)
            .cloned()
            .collect();
        let mut found = errors;
        found.merge(self.look(&inputs, &loaded));
        let code = found.exit_code(true);
        let (_, tokens) = loaded.published_size();
        if self.json {
            let out = json!({
                "tools": loaded.catalog.tools.len(),
                "estimatedTokens": tokens,
                "warnings": found.warnings() + found.errors(),
                "diagnostics": found.to_json(),
            });
            print(&format!("{out}\n"));
            return code;
        }
        let mut out = String::new();
        for one in &found.diagnostics {
            let place = one.place.as_ref().map(|place| format!("{}: ", place.label())).unwrap_or_default();
            let _ = writeln!(out, "{place}{}: {} [{}]", one.severity.label(), one.message, one.code);
            if let Some(fix) = &one.fix {
                let _ = writeln!(out, "    {fix}");
            }
        }
        let _ = writeln!(
            out,
            "{} tools, about {tokens} tokens; {} warnings",
            loaded.catalog.tools.len(),
            found.warnings() + found.errors()
        );
        print(&out);
        code
    }

    fn look(&self, inputs: &Inputs, loaded: &Loaded) -> Report {
        let mut report = Report::default();
        for tool in loaded.catalog.tools.values() {
            let place = place(inputs, loaded, tool);
            report.extend(self.tool(tool).into_iter().map(|problem| problem.at(place.clone())));
        }
        let names: Vec<&str> = loaded.catalog.tools.keys().map(String::as_str).collect();
        for (first, second) in look_alikes(&names) {
            let (Some(first), Some(second)) = (names.get(first), names.get(second)) else { continue };
            let place = loaded.catalog.tools.get(*second).and_then(|tool| place(inputs, loaded, tool));
            report.push(
                Diagnostic::warning("look-alike-names", format!("`{second}` and `{first}` are easily mixed up"))
                    .at(place)
                    .fix("rename one of them under `tools:`"),
            );
        }
        let (_, tokens) = loaded.published_size();
        if tokens > CATALOG_TOKENS && !loaded.catalog.search_mode {
            report.push(
                Diagnostic::warning("catalog-tokens", format!("all tools together cost about {tokens} tokens"))
                    .fix("`catalog: { mode: search }` publishes three tools that find the others; `expose: listed` publishes those you name"),
            );
        }
        report
    }

    fn tool(&self, tool: &Tool) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let name = &tool.name;
        let tokens = tokens(tool);
        if tokens > self.max_tokens {
            found.push(
                Diagnostic::warning("tool-tokens", format!("`{name}` costs about {tokens} tokens, more than {}", self.max_tokens))
                    .fix("hide arguments (`args: { x: { hide: true } }`), shorten the description, or set `result: { output_schema: none }`"),
            );
        }
        if let Some(problem) = described(tool) {
            found.push(problem.fix(format!("add `description:` under `tools: {{ {name}: … }}`")));
        }
        let bare = undescribed(tool);
        if !bare.is_empty() {
            found.push(
                Diagnostic::note(
                    "undescribed-arguments",
                    format!("`{name}`: arguments without a description: {}", bare.join(", ")),
                )
                .fix("add `args: { x: { description: … } }`"),
            );
        }
        let deletes = tool.operation.as_ref().is_some_and(|operation| operation.method == "DELETE");
        if deletes && tool.confirm.is_none() {
            found.push(
                Diagnostic::warning("unconfirmed-delete", format!("`{name}` deletes without asking the person"))
                    .fix("add `confirm:`, or a rule: `{ match: { method: DELETE }, set: { confirm: \"Really {{method}} {{path}}?\" } }`"),
            );
        }
        let length = name.len() + self.client_prefix;
        if length > LONGEST {
            found.push(
                Diagnostic::warning(
                    "long-name",
                    format!(
                        "`{name}` has {} characters; with {} in front, clients refuse or cut it",
                        name.len(),
                        self.client_prefix
                    ),
                )
                .fix("give it a shorter name under `tools:`"),
            );
        }
        let keywords = beyond_vendors(&tool.input.published.tree());
        if !keywords.is_empty() {
            found.push(
                Diagnostic::note("vendor-keywords", format!("`{name}`: some model vendors refuse or ignore {}", keywords.join(", ")))
                    .fix("`catalog: { schema_profile: strict-vendors }` publishes without them; calls are checked all the same"),
            );
        }
        found
    }
}

fn tokens(tool: &Tool) -> usize {
    let output = tool.output.published.as_ref().map_or(0, |schema| schema.text().len());
    hints::estimated_tokens(tool.input.published.text().len() + output + tool.name.len() + tool.description.len())
}

/// A description that is missing or says no more than the name.
fn described(tool: &Tool) -> Option<Diagnostic> {
    let text = tool.description.trim();
    let call = tool.operation.as_ref().map(|operation| format!("{} {}", operation.method, operation.path));
    let stand_in =
        call.is_some_and(|call| text == call || text.strip_prefix(&call).is_some_and(|rest| rest.len() < 30));
    if stand_in {
        return Some(Diagnostic::warning("missing-description", format!("`{}` has no description", tool.name)));
    }
    let fold =
        |text: &str| text.chars().filter(char::is_ascii_alphanumeric).flat_map(char::to_lowercase).collect::<String>();
    let first = text.lines().next().unwrap_or_default();
    let words = text.split_whitespace().count();
    let empty_words = ["todo", "tbd", "fixme", "nodescription", "description", "na", "none"];
    if words < 3 || fold(first) == fold(&tool.name) && words < 6 || empty_words.contains(&fold(text).as_str()) {
        return Some(Diagnostic::warning(
            "vague-description",
            format!("`{}`: `{first}` tells a model little", tool.name),
        ));
    }
    None
}

fn undescribed(tool: &Tool) -> Vec<String> {
    let schema = tool.input.published.tree();
    let properties = schema.get("properties").and_then(Value::as_object);
    let bare = |schema: &Value| match schema.get("$ref") {
        // The definition speaks.
        Some(_) => false,
        None => schema.get("description").is_none() && schema.get("enum").is_none() && schema.get("title").is_none(),
    };
    properties.into_iter().flatten().filter(|(_, schema)| bare(schema)).map(|(name, _)| name.clone()).collect()
}

/// Keywords of a published schema that the profile `strict-vendors` does without.
fn beyond_vendors(published: &Value) -> Vec<String> {
    let mut used = BTreeSet::new();
    keywords(published, &mut used);
    let reduced = profile::publish(published, crate::mapping::SchemaProfile::StrictVendors);
    let mut kept = BTreeSet::new();
    keywords(&reduced, &mut kept);
    // Harmless everywhere: vendors pass over them.
    let harmless =
        ["default", "examples", "title", "deprecated", "format", "additionalProperties", "$defs", "x-mcp-header"];
    used.difference(&kept).filter(|keyword| !harmless.contains(keyword)).map(|keyword| format!("`{keyword}`")).collect()
}

fn keywords<'s>(schema: &'s Value, out: &mut BTreeSet<&'s str>) {
    if let Some(members) = schema.as_object() {
        out.extend(members.keys().map(String::as_str));
    }
    crate::schema::walk::each_child(schema, &mut |child| keywords(child, out));
}

/// Where a tool stands: in a mapping, else in its document.
fn place(inputs: &Inputs, loaded: &Loaded, tool: &Tool) -> Option<Place> {
    let entry = format!("/tools/{}", pointer::escape(&tool.name));
    let mapped = inputs
        .list
        .iter()
        .filter(|input| input.kind == Kind::Mapping)
        .find(|input| input.document.get(&entry).is_some());
    if let Some(input) = mapped {
        return Some(input.document.key_place(&entry));
    }
    let of = tool.operation.as_ref()?;
    let (_, api) = loaded.apis.iter().find(|(source, _)| *source == of.source)?;
    let operation =
        api.operations.iter().find(|operation| operation.method == of.method && operation.path == of.path)?;
    Some(operation.origin.document.place(&operation.origin.pointer))
}
