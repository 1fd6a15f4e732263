//! `init`: a first mapping file for an API, and `init --update`: what changed in the API since.

use super::Mapping;
use crate::diagnostic::hint::nearest;
use crate::document::Document;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Up to this many operations have a line each; more are listed by name only.
const LONG_LIST: usize = 60;
/// Columns of a comment.
const WIDTH: usize = 110;

/// An operation, as `init` needs it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperationFacts {
    /// `operationId`.
    pub operation_id: Option<String>,
    /// Upper-case method.
    pub method: String,
    /// Path template.
    pub path: String,
    /// `summary`.
    pub summary: Option<String>,
    /// `tags`.
    pub tags: Vec<String>,
    /// The automatic tool name.
    pub tool_name: String,
    /// A shorter name, where the automatic one is long or had to be cut.
    pub shorter: Option<String>,
    /// It deletes or overwrites.
    pub dangerous: bool,
}

impl OperationFacts {
    /// What a mapping calls it: the `operationId`, or `GET /path`.
    pub fn reference(&self) -> String {
        self.operation_id.clone().unwrap_or_else(|| format!("{} {}", self.method, self.path))
    }

    fn is(&self, reference: &str) -> bool {
        let wanted = reference.trim();
        self.operation_id.as_deref() == Some(wanted)
            || self.tool_name == wanted
            || wanted
                .split_once(char::is_whitespace)
                .is_some_and(|(method, path)| method.eq_ignore_ascii_case(&self.method) && path.trim() == self.path)
    }
}

/// A first mapping file: one source, a confirmation before what is dangerous, and everything else as comments to
/// choose from. `schema` is what the first line names for editors.
pub fn init(source: &str, spec: &str, schema: &str, operations: &[OperationFacts]) -> String {
    let mut out = String::new();
    let mut line = |text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    line(&format!("# yaml-language-server: $schema={schema}"));
    line("# How the tools of this API differ from what its document says. Whatever is not said here stays as it is.");
    line("version: 1");
    line("");
    line("sources:");
    line(&format!("  {}:", scalar(source)));
    line(&format!("    spec: {}", scalar(spec)));
    line("    # base_url: https://api.example/v1     # replaces the document's servers");
    line("    # expose: listed                       # only the operations named under `tools`");
    line("    # credentials:                         # by the name of the document's security scheme");
    line("    #   api_key: { value: \"${env:API_KEY}\" }");
    line("");
    line("rules:");
    let dangerous: Vec<&OperationFacts> = operations.iter().filter(|one| one.dangerous).collect();
    let mut methods: Vec<&str> = Vec::new();
    for one in &dangerous {
        if !methods.contains(&one.method.as_str()) {
            methods.push(&one.method);
        }
    }
    if methods.contains(&"DELETE") {
        line("  - match: { method: DELETE }");
        line("    set: { confirm: \"Really {{method}} {{path}}?\" }");
    }
    let others: Vec<String> =
        dangerous.iter().filter(|one| one.method != "DELETE").map(|one| one.reference()).collect();
    if !others.is_empty() {
        line("  # These may overwrite; take away the `#` to be asked before each.");
        let names: Vec<String> = others.iter().filter(|name| !name.contains(' ')).map(|name| scalar(name)).collect();
        line(&format!("  # - match: {{ operation: [{}] }}", names.join(", ")));
        line("  #   set: { confirm: \"Really {{method}} {{path}}?\" }");
    }
    line("  # - match: { tag: admin }");
    line("  #   exclude: true");
    line("");
    line("tools:");
    let longer: Vec<&OperationFacts> = operations.iter().filter(|one| one.shorter.is_some()).collect();
    if !longer.is_empty() {
        line("  # Long names; shorter ones, if you like them:");
        for one in longer {
            line(&format!("  # {}:     # now {}", scalar(one.shorter.as_deref().unwrap_or_default()), one.tool_name));
            line(&format!("  #   operation: {}", scalar(&one.reference())));
        }
        line("");
    }
    line("  # get_thing:                             # a name of your own");
    line("  #   operation: getThingById              # operationId, or `GET /thing/{id}`");
    line("  #   description: Look a thing up by its number.");
    line("  #   args:");
    line("  #     verbose: { hide: true }");
    line("  #   result: { pick: [id, name] }");
    line("");
    line("  # The operations, by tag:");
    out.push_str(&groups(operations));
    out
}

/// The operations as comment lines.
fn groups(operations: &[OperationFacts]) -> String {
    let mut by_tag: BTreeMap<usize, (&str, Vec<&OperationFacts>)> = BTreeMap::new();
    for one in operations {
        let tag = one.tags.first().map_or("without a tag", String::as_str);
        let known = by_tag.iter().find(|(_, (name, _))| *name == tag).map(|(index, _)| *index);
        let index = known.unwrap_or(by_tag.len());
        by_tag.entry(index).or_insert((tag, Vec::new())).1.push(one);
    }
    let mut out = String::new();
    for (tag, members) in by_tag.values() {
        let _ = writeln!(out, "  # {} ({})", plain(tag), members.len());
        if operations.len() <= LONG_LIST {
            for one in members {
                let place = format!("{} {}", one.method, one.path);
                let name = one.operation_id.as_deref().map(|id| format!("{id}  ")).unwrap_or_default();
                let summary = one.summary.as_deref().map(|text| format!("  {text}")).unwrap_or_default();
                let _ = writeln!(out, "  #   {}", cut(&plain(&format!("{name}{place}{summary}"))));
            }
        } else {
            let mut text = String::from("  #  ");
            for one in members {
                let name = plain(&one.reference());
                if text.len() + name.len() > WIDTH && text.len() > 5 {
                    let _ = writeln!(out, "{text}");
                    text = String::from("  #  ");
                }
                text.push(' ');
                text.push_str(&name);
                text.push(',');
            }
            let _ = writeln!(out, "{}", text.trim_end_matches(','));
        }
    }
    out
}

/// The author's text, verbatim, with comments about what is new in the document appended; and a report, one line
/// each, of what the mapping names and the document no longer has, and of what is new.
pub fn init_update(
    existing: &Document,
    mapping: &Mapping,
    source: &str,
    operations: &[OperationFacts],
) -> (String, Vec<String>) {
    let mut report = Vec::new();
    let only = mapping.sources.len() <= 1;
    let known = |reference: &str| {
        operations.iter().any(|one| one.is(reference)) || mapping.tools.contains_key(reference.trim())
    };
    let ours = |named: Option<&str>| named.map_or(only, |name| name == source);
    let mut gone = |place: String, reference: &str| {
        let names: Vec<String> = operations.iter().map(OperationFacts::reference).collect();
        let near = nearest(reference, names.iter().map(String::as_str)).map(|near| format!(" (now `{near}`?)"));
        report.push(format!("{place}: `{reference}` is not in the document any more{}", near.unwrap_or_default()));
    };
    for (name, tool) in &mapping.tools {
        if ours(tool.source.as_deref()) {
            match &tool.operation {
                Some(operation) if !operations.iter().any(|one| one.is(operation)) => {
                    gone(format!("tools.{name}.operation"), operation);
                }
                None if tool.request.is_none()
                    && tool.steps.is_empty()
                    && !operations.iter().any(|one| one.is(name)) =>
                {
                    gone(format!("tools.{name}"), name);
                }
                _ => {}
            }
        }
        for step in tool.steps.iter().filter(|step| only && !known(&step.call)) {
            gone(format!("tools.{name}.steps.{}", step.id), &step.call);
        }
    }
    for (name, resource) in &mapping.resources {
        if ours(resource.source.as_deref()) && !known(&resource.operation) {
            gone(format!("resources.{name}.operation"), &resource.operation);
        }
    }
    let text = &existing.source.text;
    let new: Vec<&OperationFacts> = operations.iter().filter(|one| !mentions(text, one)).collect();
    let mut updated = text.clone();
    if !new.is_empty() {
        if !updated.is_empty() && !updated.ends_with('\n') {
            updated.push('\n');
        }
        updated.push_str("\n# New in the document:\n");
        for one in new {
            let name = one.operation_id.as_deref().map(|id| format!("{id}  ")).unwrap_or_default();
            let summary = one.summary.as_deref().map(|text| format!("  {text}")).unwrap_or_default();
            let _ = writeln!(updated, "#   {}", cut(&plain(&format!("{name}{} {}{summary}", one.method, one.path))));
            report.push(format!("new: `{}`", one.reference()));
        }
    }
    (updated, report)
}

/// True if the text names the operation anywhere, comments included.
fn mentions(text: &str, operation: &OperationFacts) -> bool {
    let place = format!("{} {}", operation.method, operation.path);
    operation.operation_id.iter().any(|id| has_word(text, id)) || has_word(text, &place)
}

fn has_word(text: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '{');
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(inside) && !after.is_some_and(inside)
    })
}

fn cut(text: &str) -> String {
    if text.chars().count() <= WIDTH {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(WIDTH - 1).collect();
    short.push('…');
    short
}

/// Text of a document that can't leave its comment line.
fn plain(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    one_line
        .chars()
        .filter(|c| !c.is_control() && !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
        .collect()
}

/// A YAML scalar: plain where that can't be misread.
fn scalar(text: &str) -> String {
    let first_ok = text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '.' | '/'));
    let all_ok = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'));
    let word = matches!(
        text.to_ascii_lowercase().as_str(),
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | ".inf" | ".nan"
    );
    if first_ok && all_ok && !word { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}
