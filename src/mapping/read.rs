//! From a document to a [`Mapping`], or every reason why not.

use super::renamed::RENAMED;
use super::strict::{self, Finding, Findings, Grammar};
use super::verify::{JqCheck, verify};
use super::{Mapping, schema};
use crate::diagnostic::Report;
use crate::document::Document;
use crate::document::pointer::join;
use serde_json::Value;

/// The version of the language.
const VERSION: u64 = 1;

/// Reads a mapping file. With any error in the report there is no mapping: a file half understood could publish
/// what its author left out.
pub fn read(document: &Document) -> (Option<Mapping>, Report) {
    read_with(document, None)
}

/// [`read`], with a check of jq filters (the engine lives further down the pipeline).
pub fn read_with(document: &Document, jq: Option<JqCheck<'_>>) -> (Option<Mapping>, Report) {
    let mut findings = Findings::new(document);
    let mapping = typed(document, &mut findings);
    if let Some(mapping) = &mapping {
        verify(mapping, &mut findings, jq);
    }
    let usable = !findings.has_errors();
    (mapping.filter(|_| usable), findings.into_report())
}

fn typed(document: &Document, findings: &mut Findings<'_>) -> Option<Mapping> {
    if let Some(finding) = not_a_mapping(&document.root) {
        findings.add(finding);
        return None;
    }
    hide_secrets(&document.root, findings);
    let tree = strict::check(Grammar { schema: schema::shared(), renamed: RENAMED }, findings);
    deserialize(tree, findings)
}

/// Makes a settings type of a checked tree; says what the check did not see.
pub(crate) fn deserialize<T: serde::de::DeserializeOwned>(tree: Value, findings: &mut Findings<'_>) -> Option<T> {
    match serde_path_to_error::deserialize(tree) {
        Ok(settings) => Some(settings),
        Err(error) => {
            // What was taken out may be missed; then it has been reported already.
            if !findings.has_errors() {
                let mut pointer = String::new();
                for step in error.path() {
                    use serde_path_to_error::Segment;
                    match step {
                        Segment::Seq { index } => pointer = join(&pointer, &index.to_string()),
                        Segment::Map { key } => pointer = join(&pointer, key),
                        _ => {}
                    }
                }
                findings.add(Finding::error("bad-value", pointer, error.inner().to_string()));
            }
            None
        }
    }
}

/// Problems that make all others pointless.
fn not_a_mapping(root: &Value) -> Option<Finding> {
    let Value::Object(members) = root else {
        let message = match root {
            Value::Null => "the file is empty",
            _ => "a mapping file is an object",
        };
        return Some(Finding::error("not-a-mapping", "", message).fix("start it with `version: 1`"));
    };
    for (key, what, fix) in [
        ("openapi", "an OpenAPI document", "name it as `spec:` of a source"),
        ("swagger", "a Swagger document", "name it as `spec:` of a source"),
        ("overlay", "an OpenAPI Overlay", "list it under `overlays:` of a source"),
        ("arazzo", "an Arazzo document", "list it under `workflows:` of a source"),
    ] {
        if members.get(key).is_some_and(|value| !value.is_object()) {
            let message = format!("this is {what}, not a mapping");
            return Some(Finding::error("not-a-mapping", join("", key), message).on_key().fix(fix));
        }
    }
    let settings = ["mappings", "listen", "transports", "access", "audit", "telemetry"];
    if !members.contains_key("sources")
        && !members.contains_key("tools")
        && let Some(key) = settings.iter().find(|key| members.contains_key(**key))
    {
        let finding =
            Finding::error("not-a-mapping", join("", key), "these are the server's own settings, not a mapping");
        return Some(finding.on_key().fix("give this file to the server as its settings (`rest-mcp.yaml`)"));
    }
    version(members.get("version"))
}

/// Refuses a file of another version before its keys are judged.
pub(crate) fn version(given: Option<&Value>) -> Option<Finding> {
    match given {
        None => Some(Finding::error("missing-key", "", "the file does not say its version").fix("add `version: 1`")),
        Some(Value::Number(number)) if number.as_u64() == Some(VERSION) => None,
        Some(Value::String(text)) if text.trim() == "1" || text.trim() == "1.0" => Some(
            Finding::error("wrong-type", "/version", "`version` must be a number, found text")
                .fix("write `version: 1`"),
        ),
        Some(other) => {
            let message = format!("version {other} of this file is not understood");
            Some(Finding::error("unsupported-version", "/version", message).fix("this program reads `version: 1`"))
        }
    }
}

/// Keeps credentials that stand in the file out of the excerpts of whatever is wrong there.
fn hide_secrets(root: &Value, findings: &mut Findings<'_>) {
    let sources = root.get("sources").and_then(Value::as_object);
    for (name, source) in sources.into_iter().flatten() {
        let pointer = join(&join("/sources", name), "credentials");
        for (scheme, credential) in source.get("credentials").and_then(Value::as_object).into_iter().flatten() {
            hide_leaves(credential, &join(&pointer, scheme), findings);
        }
    }
    hide_by_name(root, "", findings);
}

/// Keys that say how a credential is had, not what it is.
const PRINTABLE: &[&str] = &[
    "name",
    "tenant",
    "username",
    "grant",
    "token_url",
    "client_id",
    "client_auth",
    "scopes",
    "audience",
    "forward",
    "place",
    "rename",
    "description",
    "title",
    "mirror",
    "type",
    "in",
];

/// Hides every text of a credential but those that say how, not what.
pub(crate) fn hide_leaves(credential: &Value, pointer: &str, findings: &mut Findings<'_>) {
    match credential {
        Value::Object(members) => {
            for (name, member) in members.iter().filter(|(name, _)| !PRINTABLE.contains(&name.as_str())) {
                hide_leaves(member, &join(pointer, name), findings);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                hide_leaves(item, &join(pointer, &index.to_string()), findings);
            }
        }
        Value::String(text) if text.contains("${") => {}
        Value::String(_) | Value::Number(_) => findings.hide(pointer),
        _ => {}
    }
}

/// Hides what stands under a key that is named like a secret, wherever that is (`auth: { token: … }` of another tool).
pub(crate) fn hide_by_name(root: &Value, pointer: &str, findings: &mut Findings<'_>) {
    const NAMES: &[&str] = &["password", "passwort", "passwd", "secret", "token", "authorization", "apikey", "bearer"];
    match root {
        Value::Object(members) => {
            for (name, member) in members {
                let below = join(pointer, name);
                let plain = name.to_ascii_lowercase().replace(['_', '-'], "");
                let is_secret = NAMES.iter().any(|one| plain.contains(one)) && !PRINTABLE.contains(&name.as_str());
                if is_secret && !plain.ends_with("url") {
                    hide_leaves(member, &below, findings);
                } else {
                    hide_by_name(member, &below, findings);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                hide_by_name(item, &join(pointer, &index.to_string()), findings);
            }
        }
        _ => {}
    }
}
