//! From a document to workflows.

use super::{
    Criterion, Description, Parameter, SourceDescription, Step, Target, Workflow, Wrong, actions, expression,
    reference, workflow_name,
};
use crate::diagnostic::{Diagnostic, Report};
use crate::document::{Document, pointer};
use crate::template::BodyTemplate;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Deepest nesting of references in an input schema.
const DEEPEST: usize = 64;

/// Reads an Arazzo document. A workflow that can't be run is an error in the report and left out.
pub fn read(document: &Arc<Document>) -> (Description, Report) {
    let mut report = Report::default();
    let mut description = Description::default();
    let root = &document.root;
    let version = root.get("arazzo").and_then(Value::as_str).unwrap_or_default();
    if !version.starts_with("1.") {
        report.push(
            Diagnostic::error("not-arazzo", "this is no Arazzo 1.x document")
                .at(document.place("/arazzo"))
                .fix("it starts with `arazzo: 1.0.1`"),
        );
        return (description, report);
    }
    for source in root.get("sourceDescriptions").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| source.get(key).and_then(Value::as_str).map(str::to_string);
        let arazzo = source.get("type").and_then(Value::as_str) == Some("arazzo");
        if let (Some(name), Some(url)) = (text("name"), text("url")) {
            description.sources.push(SourceDescription { name, url, arazzo });
        }
    }
    let Some(workflows) = root.get("workflows").and_then(Value::as_array) else {
        report.push(
            Diagnostic::error("not-arazzo", "an Arazzo document needs a list of `workflows`").at(document.place("")),
        );
        return (description, report);
    };
    for (index, workflow) in workflows.iter().enumerate() {
        let at = format!("/workflows/{index}");
        match (Reader { root, components: root.get("components") }).workflow(workflow, &at, document) {
            Ok(workflow) => description.workflows.push(workflow),
            Err((place, message)) => {
                let name = workflow.get("workflowId").and_then(Value::as_str).unwrap_or("?");
                report.push(
                    Diagnostic::error("unsupported-workflow", format!("workflow `{name}` is no tool: {message}"))
                        .at(document.place(&place)),
                );
            }
        }
    }
    (description, report)
}

struct Reader<'d> {
    root: &'d Value,
    components: Option<&'d Value>,
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_string)
}

impl<'d> Reader<'d> {
    fn workflow(&self, value: &Value, at: &str, document: &Arc<Document>) -> Result<Workflow, Wrong> {
        let wrong = |place: &str, message: &str| (format!("{at}{place}"), message.to_string());
        let id =
            text(value, "workflowId").filter(|id| !id.is_empty()).ok_or_else(|| wrong("", "it has no `workflowId`"))?;
        let mut depends_on = Vec::new();
        for name in value.get("dependsOn").and_then(Value::as_array).into_iter().flatten() {
            let name = name.as_str().ok_or_else(|| wrong("/dependsOn", "`dependsOn` is a list of names"))?;
            depends_on.push(workflow_name(name).map_err(|message| wrong("/dependsOn", &message))?);
        }
        let inputs = self.inputs(value.get("inputs")).map_err(|message| wrong("/inputs", &message))?;
        let list = value
            .get("steps")
            .and_then(Value::as_array)
            .filter(|list| !list.is_empty())
            .ok_or_else(|| wrong("", "it has no steps"))?;
        let mut steps = Vec::new();
        for (index, step) in list.iter().enumerate() {
            let here = format!("{at}/steps/{index}");
            let step = self.step(value, at, step, &here)?;
            if steps.iter().any(|known: &Step| known.id == step.id) {
                return Err((here, format!("there is a step `{}` already", step.id)));
            }
            steps.push(step);
        }
        let outputs = outputs(value, at)?;
        Ok(Workflow {
            id,
            summary: text(value, "summary"),
            description: text(value, "description"),
            inputs,
            depends_on,
            steps,
            outputs,
            pointer: at.to_string(),
            document: document.clone(),
        })
    }

    fn step(&self, workflow: &Value, workflow_at: &str, value: &Value, at: &str) -> Result<Step, Wrong> {
        let here = |message: String| (at.to_string(), message);
        let id = text(value, "stepId")
            .filter(|id| !id.is_empty())
            .ok_or_else(|| here("a step has no `stepId`".to_string()))?;
        let after = |success: bool| {
            actions::read((workflow, workflow_at), (value, at), self.components, success)
                .map_err(|(place, message)| (place, format!("step `{id}`: {message}")))
        };
        let (on_success, on_failure) = (after(true)?, after(false)?);
        let target = target(value).map_err(|message| here(format!("step `{id}`: {message}")))?;
        let called = matches!(target, Target::Workflow(..));
        let mut parameters =
            parameters(workflow.get("parameters"), self.components, &format!("{workflow_at}/parameters"))?;
        // A workflow's parameters are those of operations, unless they name no place.
        parameters.retain(|common| !called || common.location.is_none());
        for own in self::parameters(value.get("parameters"), self.components, &format!("{at}/parameters"))? {
            parameters.retain(|known| known.name != own.name || known.location != own.location);
            parameters.push(own);
        }
        let body = value
            .get("requestBody")
            .map(body)
            .transpose()
            .map_err(|message| (format!("{at}/requestBody"), format!("step `{id}`: {message}")))?;
        let mut criteria = Vec::new();
        for (index, criterion) in
            value.get("successCriteria").and_then(Value::as_array).into_iter().flatten().enumerate()
        {
            criteria.push(
                Criterion::read(criterion)
                    .map_err(|message| (format!("{at}/successCriteria/{index}"), format!("step `{id}`: {message}")))?,
            );
        }
        let outputs = outputs(value, at)?;
        Ok(Step { id, target, parameters, body, criteria, on_success, on_failure, outputs, pointer: at.to_string() })
    }

    /// The input schema with its references into `components` replaced.
    fn inputs(&self, schema: Option<&Value>) -> Result<Value, String> {
        let mut schema = match schema {
            None => json!({}),
            Some(schema) => self.inlined(schema, 0)?,
        };
        let root = schema.as_object_mut().ok_or("`inputs` is an object schema")?;
        match root.get("type").and_then(Value::as_str) {
            None => drop(root.insert("type".to_string(), json!("object"))),
            Some("object") => {}
            Some(other) => return Err(format!("`inputs` has the type `{other}`; only `object` can be arguments")),
        }
        root.entry("properties").or_insert_with(|| json!({}));
        root.entry("additionalProperties").or_insert(Value::Bool(false));
        Ok(schema)
    }

    fn inlined(&self, schema: &Value, depth: usize) -> Result<Value, String> {
        if depth > DEEPEST {
            return Err("the schema is recursive or too deep".to_string());
        }
        match schema {
            Value::Object(members) => {
                if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
                    let target = reference.strip_prefix('#').and_then(|fragment| pointer::get(self.root, fragment));
                    let target =
                        target.ok_or_else(|| format!("`$ref: {reference}` points to nothing in this document"))?;
                    let mut target = self.inlined(target, depth + 1)?;
                    if let Value::Object(target) = &mut target {
                        target.extend(
                            members
                                .iter()
                                .filter(|(key, _)| *key != "$ref")
                                .map(|(key, value)| (key.clone(), value.clone())),
                        );
                    }
                    return Ok(target);
                }
                let members = members.iter().map(|(key, value)| Ok((key.clone(), self.inlined(value, depth + 1)?)));
                members.collect::<Result<Map<_, _>, String>>().map(Value::Object)
            }
            Value::Array(items) => items.iter().map(|item| self.inlined(item, depth + 1)).collect(),
            other => Ok(other.clone()),
        }
    }
}

/// A list of Parameter Objects or references to them.
pub(super) fn parameters(list: Option<&Value>, components: Option<&Value>, at: &str) -> Result<Vec<Parameter>, Wrong> {
    let mut found = Vec::new();
    for (index, parameter) in list.and_then(Value::as_array).into_iter().flatten().enumerate() {
        let place = format!("{at}/{index}");
        let wrong = |message: String| (place.clone(), message);
        let target = reference(parameter, components, "parameters").map_err(wrong)?;
        let name = text(target, "name").ok_or_else(|| wrong("a parameter has no `name`".to_string()))?;
        let value = parameter
            .get("value")
            .or_else(|| target.get("value"))
            .ok_or_else(|| wrong(format!("parameter `{name}` has no `value`")))?;
        let value = expression::tree(value).map_err(|message| wrong(format!("parameter `{name}`: {message}")))?;
        found.push(Parameter { name, location: text(target, "in"), value, pointer: place.clone() });
    }
    Ok(found)
}

fn outputs(value: &Value, at: &str) -> Result<Vec<(String, BodyTemplate)>, Wrong> {
    let members = value.get("outputs").and_then(Value::as_object);
    members
        .into_iter()
        .flatten()
        .map(|(name, value)| match expression::tree(value) {
            Ok(tree) => Ok((name.clone(), tree)),
            Err(message) => Err((pointer::join(&format!("{at}/outputs"), name), format!("output `{name}`: {message}"))),
        })
        .collect()
}

fn target(step: &Value) -> Result<Target, String> {
    let named = ["operationId", "operationPath", "workflowId"].map(|key| text(step, key));
    match named {
        [Some(id), None, None] => match id.strip_prefix("$sourceDescriptions.") {
            None => Ok(Target::Operation(None, id)),
            Some(rest) => {
                let (source, id) = rest.split_once('.').ok_or_else(|| format!("`{id}` names no operation"))?;
                Ok(Target::Operation(Some(source.to_string()), id.to_string()))
            }
        },
        [None, Some(path), None] => operation_path(&path)
            .ok_or_else(|| format!("`{path}` must read `{{$sourceDescriptions.NAME.url}}#/paths/~1path/method`")),
        [None, None, Some(id)] => workflow_name(&id).map(|(source, id)| Target::Workflow(source, id)),
        _ => Err("it has exactly one of `operationId`, `operationPath`, `workflowId`".to_string()),
    }
}

fn operation_path(text: &str) -> Option<Target> {
    let (head, fragment) = text.split_once('#')?;
    let source = match head.trim().trim_start_matches('{').trim_end_matches('}') {
        "" => None,
        inner => Some(inner.strip_prefix("$sourceDescriptions.")?.strip_suffix(".url")?.to_string()),
    };
    match pointer::parse(fragment)?.as_slice() {
        [paths, path, method] if paths == "paths" => {
            Some(Target::Path(source, method.to_ascii_uppercase(), path.to_string()))
        }
        _ => None,
    }
}

/// `requestBody`: content type and payload with its replacements.
fn body(value: &Value) -> Result<(Option<String>, BodyTemplate), String> {
    let content_type = text(value, "contentType");
    let json = content_type.as_deref().is_none_or(|kind| kind.contains("json"));
    let mut payload = match value.get("payload") {
        // JSON as a text with expressions in it.
        Some(Value::String(written))
            if json && written.trim_start().starts_with(['{', '[']) && !written.trim_start().starts_with("{$") =>
        {
            serde_json::from_str(&quoted(written)).map_err(|error| format!("the payload is no JSON: {error}"))?
        }
        Some(payload) => payload.clone(),
        None => json!({}),
    };
    for replacement in value.get("replacements").and_then(Value::as_array).into_iter().flatten() {
        let target = text(replacement, "target")
            .filter(|target| target.starts_with('/'))
            .ok_or("a replacement's `target` must be a JSON pointer")?;
        let value = replacement.get("value").ok_or("a replacement has no `value`")?;
        place(&mut payload, &target, value.clone()).ok_or_else(|| format!("the payload has no `{target}`"))?;
    }
    Ok((content_type, expression::tree(&payload)?))
}

/// JSON with expressions: one that stands outside of a text, such as `{"n": {$inputs.n}}`, becomes a text that is the
/// expression and nothing else, which keeps the value's type.
fn quoted(written: &str) -> String {
    let mut out = String::with_capacity(written.len());
    let (mut in_text, mut escaped, mut in_expression) = (false, false, false);
    let mut characters = written.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            _ if escaped => escaped = false,
            '\\' if in_text => escaped = true,
            '"' if !in_expression => in_text = !in_text,
            '{' if !in_text && characters.peek() == Some(&'$') => {
                in_expression = true;
                out.push('"');
            }
            '}' if in_expression => {
                in_expression = false;
                out.push_str("}\"");
                continue;
            }
            _ => {}
        }
        out.push(character);
    }
    out
}

/// Puts a value at a pointer; the last member may be new.
fn place(root: &mut Value, at: &str, value: Value) -> Option<()> {
    let parent = root.pointer_mut(pointer::parent(at)?)?;
    let last = pointer::last(at)?.into_owned();
    match parent {
        Value::Object(members) => {
            members.insert(last, value);
        }
        Value::Array(items) => *items.get_mut(pointer::index(&last)?)? = value,
        _ => return None,
    }
    Some(())
}
