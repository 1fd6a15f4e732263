//! What the schema can't say: formats, exactly-one-of, names that must exist, templates and filters that must
//! compile. Only what one mapping file shows by itself; what needs the API is checked when the catalog is compiled.

mod edits;
mod offer;
mod poll;
mod source;
mod steps;
mod tool;

use super::Mapping;
use super::strict::{Finding, Findings, spoken};
use crate::diagnostic::hint::did_you_mean;
use crate::document::pointer::join;
use crate::template::{BodyTemplate, Template, TemplateError};
use serde_json::Value;

/// Compiles a jq filter; the error is a short reason.
pub type JqCheck<'a> = &'a dyn Fn(&str) -> Result<(), String>;

pub(super) struct Verifier<'a, 'd> {
    pub mapping: &'a Mapping,
    pub findings: &'a mut Findings<'d>,
    pub jq: Option<JqCheck<'a>>,
}

/// Checks everything; adds to the findings.
pub(super) fn verify(mapping: &Mapping, findings: &mut Findings<'_>, jq: Option<JqCheck<'_>>) {
    let mut verifier = Verifier { mapping, findings, jq };
    for (name, source) in &mapping.sources {
        verifier.source(source, &join("/sources", name));
    }
    verifier.rules();
    for (name, tool) in &mapping.tools {
        verifier.tool(name, tool, &join("/tools", name));
    }
    verifier.resources();
    verifier.prompts();
    verifier.catalog();
}

impl Verifier<'_, '_> {
    fn error(&mut self, code: &'static str, pointer: &str, message: impl Into<String>, fix: impl Into<String>) {
        self.findings.add(Finding::error(code, pointer, message).fix(fix));
    }

    fn key_error(&mut self, code: &'static str, pointer: &str, message: impl Into<String>, fix: impl Into<String>) {
        self.findings.add(Finding::error(code, pointer, message).fix(fix).on_key());
    }

    fn template_error(&mut self, pointer: &str, text: &str, wrong: TemplateError) {
        let rest = text.get(wrong.offset..).unwrap_or_default();
        let end = rest.find("}}").map_or(rest.find('\n').unwrap_or(rest.len()), |at| at + 2);
        let finding = Finding::error("bad-template", format!("{pointer}{}", wrong.pointer), wrong.message);
        self.findings.add(finding.maybe_fix(wrong.fix).inside(wrong.offset..wrong.offset + end));
    }

    /// Compiles a text template.
    fn template(&mut self, pointer: &str, text: &str) -> Option<Template> {
        match Template::compile(text) {
            Ok(template) => Some(template),
            Err(wrong) => {
                self.template_error(pointer, text, wrong);
                None
            }
        }
    }

    /// Compiles a tree of templates.
    fn tree(&mut self, pointer: &str, tree: &Value) -> Option<BodyTemplate> {
        match BodyTemplate::compile(tree) {
            Ok(compiled) => Some(compiled),
            Err(errors) => {
                for wrong in errors {
                    let text = crate::document::pointer::get(tree, &wrong.pointer).and_then(Value::as_str);
                    self.template_error(pointer, text.unwrap_or_default(), wrong);
                }
                None
            }
        }
    }

    /// Refuses placeholders that start with a name nobody has.
    fn known_names(&mut self, pointer: &str, used: &[Vec<String>], known: &[&str], what: &str) {
        for path in used {
            let Some(first) = path.first().filter(|first| !known.contains(&first.as_str())) else { continue };
            let text = self.findings.document().get(pointer).and_then(Value::as_str).unwrap_or_default();
            let range = text.find("{{").and_then(|open| {
                let start = open + text.get(open..)?.find(first.as_str())?;
                Some(start..start + first.len())
            });
            let fix = did_you_mean(first, known.iter().copied()).unwrap_or_else(|| {
                let list: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                if list.is_empty() { format!("there are no {what}") } else { format!("{what}: {}", list.join(", ")) }
            });
            let message = format!("`{{{{{}}}}}` has no value here", path.join("."));
            let finding = Finding::error("unknown-name", pointer, message).fix(fix);
            self.findings.add(match range {
                Some(range) => finding.inside(range),
                None => finding,
            });
        }
    }

    /// A dotted path of property names.
    fn dotted(&mut self, pointer: &str, path: &str, wildcard: bool) {
        let (message, fix) = if path.is_empty() {
            ("an empty path".to_owned(), "name a property, such as `data.items`".to_owned())
        } else if path.starts_with('$') {
            (format!("`{path}` is a JSONPath"), "write property names with dots, such as `data.items`".to_owned())
        } else if path.starts_with('.') || path.contains('|') || path.contains("[]") {
            let plain = path.trim_start_matches('.');
            let fix = if plain.contains(['|', '[', '(', ' ']) {
                "a dotted path names properties only; filters go to `select`".to_owned()
            } else {
                format!("write `{plain}`")
            };
            (format!("`{path}` is a jq filter"), fix)
        } else if path.split('.').any(str::is_empty) {
            (format!("`{path}` has an empty step"), "write one name between two dots".to_owned())
        } else if !wildcard && path.split('.').any(|step| step == "*") {
            (format!("`{path}` names several properties"), "`*` works in `drop` and `redact` only".to_owned())
        } else {
            return;
        };
        self.error("bad-path", pointer, message, fix);
    }

    /// A jq filter.
    fn filter(&mut self, pointer: &str, filter: &str) {
        if filter.trim().is_empty() {
            self.error("bad-filter", pointer, "an empty jq filter", "delete the line, or write `.`");
        } else if let Some(Err(reason)) = self.jq.map(|check| check(filter)) {
            let finding = Finding::error("bad-filter", pointer, format!("this jq filter can't be read: {reason}"));
            self.findings.add(finding);
        }
    }

    /// A list or name that must be among others.
    fn must_exist<'n>(&mut self, pointer: &str, name: &str, known: impl Iterator<Item = &'n str>, what: &str) {
        let known: Vec<&str> = known.collect();
        if known.contains(&name) {
            return;
        }
        let fix = did_you_mean(name, known.iter().copied()).unwrap_or_else(|| {
            let list: Vec<String> = known.iter().take(12).map(|name| format!("`{name}`")).collect();
            match list.as_slice() {
                [] => format!("there is no {what} at all"),
                [one] => format!("there is {one}"),
                several => format!("there are {}", several.join(", ")),
            }
        });
        self.error("unknown-name", pointer, format!("there is no {what} `{name}`"), fix);
    }

    /// `source:` of a tool or resource.
    fn source_name(&mut self, pointer: &str, name: Option<&str>) {
        if let Some(name) = name {
            let mapping = self.mapping;
            self.must_exist(pointer, name, mapping.sources.keys().map(String::as_str), "source");
        }
    }

    /// `operationId` or `METHOD /path`.
    fn operation(&mut self, pointer: &str, text: &str) {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            self.error("bad-operation", pointer, "no operation is named", "write an operationId, or `GET /path`");
        } else if trimmed.starts_with('/') {
            let fix = format!("write the method too, such as `GET {trimmed}`");
            self.error("bad-operation", pointer, format!("`{trimmed}` is a path without a method"), fix);
        } else if let Some((method, path)) = trimmed.split_once(char::is_whitespace)
            && (!is_token(method) || !path.trim_start().starts_with('/'))
        {
            let message = format!("`{trimmed}` is neither an operationId nor a method with a path");
            self.error("bad-operation", pointer, message, "write an operationId, or `GET /path`");
        }
    }

    fn catalog(&mut self) {
        let names: Vec<&str> = self.mapping.catalog.pinned.iter().map(String::as_str).collect();
        for (index, name) in names.iter().enumerate() {
            if !is_tool_name(name) {
                let pointer = format!("/catalog/pinned/{index}");
                self.error("bad-name", &pointer, format!("`{name}` can't be a tool's name"), NAME_RULE);
            }
        }
        if !names.is_empty() && self.mapping.catalog.mode == super::CatalogMode::Tools {
            let finding =
                Finding::warning("no-effect", "/catalog/pinned", "`pinned` has no effect: every tool is listed");
            self.findings.add(finding.on_key().fix("set `mode: search`, or delete the line"));
        }
    }
}

const NAME_RULE: &str = "a name has 1 to 64 letters, digits, `_` and `-`";

/// RFC 9110 §5.6.2.
pub(crate) fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// A scope (RFC 6749 §3.3): no quotes, backslashes, spaces or control characters.
pub(crate) fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b == b'!' || (b'#'..=b'[').contains(&b) || (b']'..=b'~').contains(&b))
}

fn is_tool_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// Names that large model vendors accept for properties.
fn is_argument_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
}

/// `a legal name made of this one`, for fixes.
fn legal_name(name: &str) -> String {
    let mut legal: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    legal.truncate(64);
    legal
}

/// True where the author wrote this key; defaults can't be told from written values otherwise.
fn written(findings: &Findings<'_>, pointer: &str, key: &str) -> bool {
    findings.document().get(&join(pointer, key)).is_some_and(|value| !value.is_null())
}

/// The keys out of `keys` that the author wrote.
fn written_of<'k>(findings: &Findings<'_>, pointer: &str, keys: &[&'k str]) -> Vec<&'k str> {
    keys.iter().copied().filter(|key| written(findings, pointer, key)).collect()
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn title(pointer: &str) -> String {
    format!("`{}`", spoken(pointer))
}
