//! Which operations become tools: `expose`, `rules`, `tools`, `x-mcp`.

use super::operation::{near_operation, place_of, tool_pointer};
use super::{At, Unit, problem};
use crate::diagnostic::{Diagnostic, Severity};
use crate::mapping::Facts;
use crate::mapping::{Description, Expose, ToolEdits, ToolRules};
use crate::openapi::{Api, Operation};
use crate::pace;
use crate::template::Template;

/// One tool to be made (or an operation left out, with the reason).
pub(super) struct Chosen<'a> {
    pub api: &'a Api,
    pub operation: &'a Operation,
    pub source: &'a str,
    /// Name the author chose.
    pub name: Option<String>,
    pub edits: ToolEdits,
    pub pointer: Option<String>,
    pub left_out: Option<Diagnostic>,
    /// What the tool's own entry says.
    pub own: Option<&'a ToolEdits>,
    /// Keys of `args` that rules bring: index of the rule, key.
    pub rule_args: Vec<(usize, String)>,
    /// Not exposed, but needed by a step, a resource or a poll.
    pub internal: bool,
}

/// A `tools` entry that points at an operation.
struct Entry<'a> {
    name: &'a str,
    rules: &'a ToolRules,
    used: bool,
}

/// Every tool that the operations of a unit become, in document order, and warnings about edits and
/// matches that hit nothing.
pub(super) fn wanted_tools<'a>(unit: &'a Unit, at: At<'_>) -> (Vec<Chosen<'a>>, Vec<Diagnostic>) {
    let mut entries: Vec<Entry<'a>> = unit
        .mapping
        .tools
        .iter()
        .filter(|(name, rules)| {
            let workflow = super::workflow::workflow_of(unit, name, rules).is_some();
            rules.request.is_none() && rules.steps.is_empty() && !workflow
        })
        .map(|(name, rules)| Entry { name, rules, used: false })
        .collect();
    let mut hits = vec![false; unit.mapping.rules.len()];
    let mut chosen = Vec::new();
    let mut stale = Vec::new();
    for (source, api) in &unit.apis {
        for operation in &api.operations {
            pace::breathe();
            let edits = by_rules(unit, source, operation, &mut hits, &mut stale, at);
            let mut named = Vec::new();
            for entry in &mut entries {
                if points_at(entry, source, operation) {
                    entry.used = true;
                    named.push((entry.name, entry.rules));
                }
            }
            tools_of(unit, source, api, operation, edits, &named, &mut chosen);
        }
    }
    for entry in entries.iter().filter(|entry| !entry.used) {
        stale.push(stale_entry(unit, entry, at));
    }
    for (index, hit) in hits.iter().enumerate() {
        if !hit && !unit.apis.is_empty() {
            let warning = Diagnostic::warning("stale-edit", format!("rule {} matches no operation", index + 1));
            stale.push(match at.value(&format!("/rules/{index}")) {
                Some(place) => warning.at(place),
                None => warning,
            });
        }
    }
    (chosen, stale)
}

fn stale_entry(unit: &Unit, entry: &Entry<'_>, at: At<'_>) -> Diagnostic {
    let wanted = entry.rules.operation.as_deref().unwrap_or(entry.name);
    let pointer = tool_pointer(entry.name);
    let place = match entry.rules.operation {
        Some(_) => at.value(&format!("{pointer}/operation")),
        None => at.key(&pointer),
    };
    let mut diagnostic =
        problem("stale-edit", format!("tool `{}`: there is no operation `{wanted}`", entry.name), place);
    diagnostic.severity = Severity::Warning;
    match near_operation(wanted, unit.apis.values().map(AsRef::as_ref)) {
        Some(near) => diagnostic.fix(format!("did you mean `{near}`?")),
        None => diagnostic.fix("name an operationId or `METHOD /path` of the document".to_string()),
    }
}

fn points_at(entry: &Entry<'_>, source: &str, operation: &Operation) -> bool {
    if entry.rules.source.as_deref().is_some_and(|wanted| wanted != source) {
        return false;
    }
    let wanted = entry.rules.operation.as_deref().unwrap_or(entry.name);
    names(wanted, operation)
}

/// True if `wanted` is the operation's id or `METHOD /path`.
pub(super) fn names(wanted: &str, operation: &Operation) -> bool {
    operation.operation_id.as_deref() == Some(wanted)
        || wanted.split_once(' ').is_some_and(|(method, path)| {
            method.eq_ignore_ascii_case(&operation.method) && path.trim() == operation.path
        })
}

/// What the rules say of an operation.
///
/// # Errors
/// It is excluded; why.
pub(super) fn rule_edits(unit: &Unit, source: &str, operation: &Operation, at: At<'_>) -> Result<ToolEdits, String> {
    // What rules hit, and problems of their templates, are told when the operations become tools.
    let (mut hits, mut problems) = (vec![false; unit.mapping.rules.len()], Vec::new());
    match by_rules(unit, source, operation, &mut hits, &mut problems, at) {
        ByRules::Edits(edits, _) => Ok(*edits),
        ByRules::Excluded(reason) => Err(reason),
    }
}

/// What rules say of an operation: edits and the keys of `args` among them, or that it is left out.
enum ByRules {
    Edits(Box<ToolEdits>, Vec<(usize, String)>),
    Excluded(String),
}

fn by_rules(
    unit: &Unit,
    source: &str,
    operation: &Operation,
    hits: &mut [bool],
    problems: &mut Vec<Diagnostic>,
    at: At<'_>,
) -> ByRules {
    let security: Vec<&str> =
        operation.security.iter().flatten().map(|requirement| requirement.scheme.as_str()).collect();
    let facts = Facts {
        source,
        method: &operation.method,
        path: &operation.path,
        tags: &operation.tags,
        operation_id: operation.operation_id.as_deref(),
        deprecated: operation.deprecated,
        security: &security,
        extensions: &operation.extensions,
    };
    let mut edits = ToolEdits::default();
    let mut excluded = None;
    let mut args = Vec::new();
    for (index, (rule, hit)) in unit.mapping.rules.iter().zip(hits).enumerate() {
        if !rule.matches.matches(&facts) {
            continue;
        }
        *hit = true;
        if rule.exclude {
            excluded = excluded.or(Some(format!("excluded by rule {}", index + 1)));
        }
        if let Some(set) = &rule.set {
            args.extend(set.args.keys().map(|key| (index, key.clone())));
            edits = edits.over(set);
            if let Some(name) = &set.name {
                edits.name = match named(name, &facts) {
                    Ok(name) => Some(name),
                    Err(message) => {
                        let place = at.value(&format!("/rules/{index}/set/name"));
                        problems.push(problem("bad-template", format!("`name`: {message}"), place));
                        None
                    }
                };
            }
        }
    }
    match excluded {
        Some(reason) => ByRules::Excluded(reason),
        None => ByRules::Edits(Box::new(edits), args),
    }
}

fn tools_of<'a>(
    unit: &'a Unit,
    source: &'a str,
    api: &'a Api,
    operation: &'a Operation,
    edits: ByRules,
    named: &[(&'a str, &'a ToolRules)],
    chosen: &mut Vec<Chosen<'a>>,
) {
    let choice =
        |name: Option<String>, edits: ToolEdits, pointer: Option<String>, left_out: Option<Diagnostic>| Chosen {
            api,
            operation,
            source,
            name,
            edits,
            pointer,
            left_out,
            own: None,
            rule_args: Vec::new(),
            internal: false,
        };
    let note = |code: &'static str, message: String| {
        let note = Diagnostic::note(code, message);
        Some(note.at(place_of(operation)))
    };
    let (edits, rule_args) = match edits {
        ByRules::Excluded(reason) => {
            chosen.push(choice(None, ToolEdits::default(), None, note("excluded", reason)));
            return;
        }
        ByRules::Edits(edits, args) => (*edits, args),
    };
    if !named.is_empty() {
        for (name, rules) in named {
            let merged = from_extension(operation).over(&edits).over(&rules.edits);
            let one = choice(Some((*name).to_string()), merged, Some(tool_pointer(name)), None);
            chosen.push(Chosen { own: Some(&rules.edits), rule_args: rule_args.clone(), ..one });
        }
        return;
    }
    if operation.extensions.get("x-mcp") == Some(&serde_json::Value::Bool(false)) {
        chosen.push(choice(None, edits, None, note("x-mcp", "the document says `x-mcp: false`".to_string())));
        return;
    }
    if unit.mapping.sources.get(source).is_some_and(|rules| rules.expose == Expose::Listed) {
        if needed(unit, source, operation) {
            let merged = from_extension(operation).over(&edits);
            chosen.push(Chosen { rule_args, internal: true, ..choice(None, merged, None, None) });
        }
        chosen.push(choice(
            None,
            edits,
            None,
            note("not-listed", "the source exposes only listed operations".to_string()),
        ));
        return;
    }
    let merged = from_extension(operation).over(&edits);
    let name = merged.name.clone();
    chosen.push(Chosen { rule_args, ..choice(name, merged, None, None) });
}

/// `name:` of a rule, filled in.
fn named(template: &str, facts: &Facts<'_>) -> Result<String, String> {
    let template = Template::compile(template).map_err(|error| error.to_string())?;
    let values = serde_json::json!({
        "operation": facts.operation_id.unwrap_or_default(), "method": facts.method.to_ascii_lowercase(),
        "path": facts.path, "tag": facts.tags.first().map(String::as_str).unwrap_or_default(), "source": facts.source,
    });
    template.render(&values)
}

/// True if a step, a resource or a poll of the unit names this operation.
fn needed(unit: &Unit, source: &str, operation: &Operation) -> bool {
    let mapping = &unit.mapping;
    let of_source = |wanted: &Option<String>| wanted.as_deref().is_none_or(|wanted| wanted == source);
    let steps = mapping.tools.values().flat_map(|rules| &rules.steps).any(|step| names(&step.call, operation));
    let resources =
        mapping.resources.values().any(|rules| of_source(&rules.source) && names(&rules.operation, operation));
    let sets = mapping
        .rules
        .iter()
        .filter_map(|rule| rule.set.as_ref())
        .chain(mapping.tools.values().map(|rules| &rules.edits));
    let mut polls = sets.filter_map(|edits| edits.poll.as_ref()?.location.as_deref()?.strip_prefix("operation "));
    steps || resources || polls.any(|name| names(name.trim(), operation))
}

/// `x-mcp: { name, description, title, annotations }` of a document.
fn from_extension(operation: &Operation) -> ToolEdits {
    let mut edits = ToolEdits::default();
    let Some(extension) = operation.extensions.get("x-mcp").and_then(|value| value.as_object()) else {
        return edits;
    };
    let text = |key: &str| extension.get(key).and_then(|value| value.as_str()).map(str::to_string);
    edits.name = text("name");
    edits.title = text("title");
    edits.description = text("description").map(Description::Text);
    edits.annotations = extension.get("annotations").and_then(|value| serde_json::from_value(value.clone()).ok());
    edits
}
