//! OpenAPI Arazzo 1.x: each workflow becomes a tool of steps.
//!
//! What is read: inputs, steps with `operationId`, `operationPath` or `workflowId`, parameters, request bodies with
//! replacements, outputs, and success criteria that name a 2xx status. Anything else that would change what a
//! workflow does is an error, so that no workflow runs otherwise than written.

use super::{Description, ResultRules, StepRules, ToolEdits, ToolRules};
use crate::diagnostic::{Diagnostic, Report};
use crate::document::Document;
use crate::document::pointer::{join, join_index};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// The workflows of a document as tools, by `workflowId`; a workflow with a problem is left out.
pub fn tools(document: &Document) -> (Vec<(String, ToolRules)>, Report) {
    let mut report = Report::default();
    let mut tools = Vec::new();
    let Some(workflows) = document.root.get("workflows").and_then(Value::as_array) else {
        let problem = Diagnostic::error("not-arazzo", "this is no Arazzo document: it has no `workflows`");
        report.push(problem.at(document.place("")).fix("an Arazzo document starts with `arazzo: 1.0.0`"));
        return (tools, report);
    };
    for (index, workflow) in workflows.iter().enumerate() {
        let at = join_index("/workflows", index);
        let mut reader = Reader { document, outputs: IndexMap::new() };
        match reader.workflow(workflow, &at) {
            Ok(tool) => tools.push(tool),
            Err((pointer, message)) => {
                report.push(Diagnostic::error("unsupported-workflow", message).at(document.place(&pointer)));
            }
        }
    }
    (tools, report)
}

/// Pointer and message.
type Problem = (String, String);

struct Reader<'d> {
    document: &'d Document,
    /// Outputs of the steps so far: by step and output, the path of the value among the tool's names.
    outputs: IndexMap<String, IndexMap<String, Vec<String>>>,
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

impl Reader<'_> {
    fn workflow(&mut self, workflow: &Value, at: &str) -> Result<(String, ToolRules), Problem> {
        let name = text(workflow, "workflowId").ok_or((at.to_owned(), "a workflow needs a `workflowId`".to_owned()))?;
        for key in ["dependsOn", "successActions", "failureActions"] {
            if workflow.get(key).and_then(Value::as_array).is_some_and(|list| !list.is_empty()) {
                return Err((join(at, key), format!("`{key}` of a workflow is not supported")));
            }
        }
        let input = match workflow.get("inputs") {
            Some(inputs) => self.referred(inputs, &join(at, "inputs"))?.clone(),
            None => json!({"type": "object", "properties": {}}),
        };
        let shared = workflow.get("parameters").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut steps: Vec<StepRules> = Vec::new();
        let list = workflow.get("steps").and_then(Value::as_array).filter(|list| !list.is_empty());
        let list = list.ok_or((at.to_owned(), "a workflow needs `steps`".to_owned()))?;
        for (index, step) in list.iter().enumerate() {
            let here = join_index(&join(at, "steps"), index);
            let mut rules = self.step(step, shared, &here)?;
            // Arazzo's steps run one after another.
            rules.after = steps.last().map(|before| before.id.clone()).into_iter().collect();
            steps.push(rules);
        }
        let result = self.result(workflow, at)?;
        let words = [text(workflow, "description"), text(workflow, "summary")];
        let edits = ToolEdits {
            title: text(workflow, "summary").map(str::to_owned),
            description: words.into_iter().flatten().next().map(|text| Description::Text(text.to_owned())),
            result,
            ..ToolEdits::default()
        };
        Ok((name.to_owned(), ToolRules { input: Some(input), steps, edits, ..ToolRules::default() }))
    }

    /// `outputs` of a workflow as a jq filter over the steps' answers.
    fn result(&self, workflow: &Value, at: &str) -> Result<Option<ResultRules>, Problem> {
        let Some(outputs) = workflow.get("outputs").and_then(Value::as_object).filter(|all| !all.is_empty()) else {
            return Ok(None);
        };
        let mut members = Vec::new();
        for (name, expression) in outputs {
            let place = join(&join(at, "outputs"), name);
            let path = self.path(expression.as_str().unwrap_or_default()).map_err(|message| (place, message))?;
            let path: Vec<String> = path.iter().map(|step| Value::String(step.clone()).to_string()).collect();
            members.push(format!("{}: getpath([{}])", Value::String(name.clone()), path.join(", ")));
        }
        let select = format!("{{{}}}", members.join(", "));
        Ok(Some(ResultRules { select: Some(select), ..ResultRules::default() }))
    }

    fn step(&mut self, step: &Value, shared: &[Value], at: &str) -> Result<StepRules, Problem> {
        let id = text(step, "stepId").ok_or((at.to_owned(), "a step needs a `stepId`".to_owned()))?.to_owned();
        for key in ["onSuccess", "onFailure"] {
            let actions = step.get(key).and_then(Value::as_array).into_iter().flatten();
            if actions.into_iter().any(|action| text(action, "type") != Some("end")) {
                return Err((join(at, key), format!("`{key}` of a step is not supported, but for `type: end`")));
            }
        }
        for (index, criterion) in
            step.get("successCriteria").and_then(Value::as_array).into_iter().flatten().enumerate()
        {
            let condition: String = text(criterion, "condition").unwrap_or_default().split_whitespace().collect();
            let status = condition.strip_prefix("$statusCode==").and_then(|status| status.parse::<u16>().ok());
            if criterion.get("type").is_some() || !status.is_some_and(|status| (200..300).contains(&status)) {
                let place = join_index(&join(at, "successCriteria"), index);
                return Err((place, "only `$statusCode == 2xx` is supported as a criterion".to_owned()));
            }
        }
        let mut with = IndexMap::new();
        let own = step.get("parameters").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (index, parameter) in shared.iter().chain(own).enumerate() {
            let place = join_index(&join(at, "parameters"), index.saturating_sub(shared.len()));
            let parameter = self.referred(parameter, &place)?;
            let name = text(parameter, "name").ok_or((place.clone(), "a parameter needs a `name`".to_owned()))?;
            let value = parameter.get("value").cloned().unwrap_or_default();
            with.insert(name.to_owned(), self.tree(&value).map_err(|message| (place, message))?);
        }
        if let Some(body) = step.get("requestBody") {
            let place = join(at, "requestBody");
            match self.payload(body).map_err(|message| (place, message))? {
                Value::Object(members) => with.extend(members),
                other => drop(with.insert("body".to_owned(), other)),
            }
        }
        let call = called(step)
            .ok_or((at.to_owned(), "a step needs an `operationId`, `operationPath` or `workflowId`".to_owned()))?;
        let mut outputs = IndexMap::new();
        for (name, expression) in step.get("outputs").and_then(Value::as_object).into_iter().flatten() {
            let place = join(&join(at, "outputs"), name);
            let expression = expression.as_str().unwrap_or_default();
            let rest = expression
                .strip_prefix("$response.body")
                .ok_or_else(|| (place.clone(), format!("`{expression}`: outputs come from `$response.body`")))?;
            let mut path = vec![id.clone()];
            path.extend(pointed(rest).map_err(|message| (place, message))?);
            outputs.insert(name.clone(), path);
        }
        self.outputs.insert(id.clone(), outputs);
        Ok(StepRules { id, call, with, ..StepRules::default() })
    }

    /// A request body with its replacements.
    fn payload(&self, body: &Value) -> Result<Value, String> {
        let mut payload = match body.get("payload") {
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(value @ (Value::Object(_) | Value::Array(_))) => self.tree(&value)?,
                _ => self.tree(&Value::String(text.clone()))?,
            },
            Some(other) => self.tree(other)?,
            None => Value::Object(Map::new()),
        };
        for replacement in body.get("replacements").and_then(Value::as_array).into_iter().flatten() {
            let target = text(replacement, "target").unwrap_or_default();
            let value = self.tree(replacement.get("value").unwrap_or(&Value::Null))?;
            match payload.pointer_mut(target) {
                Some(slot) => *slot = value,
                None => return Err(format!("the payload has nothing at `{target}`")),
            }
        }
        Ok(payload)
    }

    /// A component that is referred to, or the value itself.
    fn referred<'v>(&'v self, value: &'v Value, at: &str) -> Result<&'v Value, Problem> {
        let pointer = match (text(value, "reference"), text(value, "$ref")) {
            (Some(reference), _) => {
                reference.strip_prefix("$components.").map(|rest| format!("/components/{}", rest.replace('.', "/")))
            }
            (None, Some(reference)) => reference.strip_prefix('#').map(str::to_owned),
            (None, None) => return Ok(value),
        };
        let found = pointer.and_then(|pointer| self.document.root.pointer(&pointer));
        found.ok_or((at.to_owned(), "this reference leads nowhere".to_owned()))
    }

    /// A value with its expressions as placeholders.
    fn tree(&self, value: &Value) -> Result<Value, String> {
        Ok(match value {
            Value::String(text) if text.starts_with('$') => Value::String(placeholder(&self.path(text)?)),
            Value::String(text) => Value::String(self.embedded(text)?),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.tree(item)).collect::<Result<_, _>>()?),
            Value::Object(members) => {
                let mut out = Map::new();
                for (name, member) in members {
                    out.insert(name.clone(), self.tree(member)?);
                }
                Value::Object(out)
            }
            other => other.clone(),
        })
    }

    /// A text with `{$…}` in it.
    fn embedded(&self, text: &str) -> Result<String, String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{$") {
            let (expression, tail) = after.split_once('}').ok_or_else(|| format!("`{text}`: `{{$` is not closed"))?;
            out.push_str(&before.replace("{{", "\\{{"));
            out.push_str(&placeholder(&self.path(&format!("${expression}"))?));
            rest = tail;
        }
        out.push_str(&rest.replace("{{", "\\{{"));
        Ok(out)
    }

    /// A runtime expression as a path among the tool's names.
    fn path(&self, expression: &str) -> Result<Vec<String>, String> {
        let unknown = || format!("the expression `{expression}` is not supported");
        let (expression_path, pointer) =
            expression.split_once('#').map_or((expression, ""), |(path, pointer)| (path, pointer));
        let mut names = expression_path.split('.');
        let mut path = match names.next() {
            Some("$inputs") => std::iter::once("input").chain(names).map(str::to_owned).collect::<Vec<_>>(),
            Some("$steps") => {
                let step = names.next().and_then(|step| self.outputs.get(step));
                let step = step.ok_or_else(|| format!("`{expression}` names no earlier step"))?;
                if names.next() != Some("outputs") {
                    return Err(unknown());
                }
                let output = names.next().and_then(|output| step.get(output));
                let mut path = output.cloned().ok_or_else(|| format!("`{expression}` names no output of that step"))?;
                path.extend(names.map(str::to_owned));
                path
            }
            _ => return Err(unknown()),
        };
        path.extend(pointed(&format!("{}{pointer}", if pointer.is_empty() { "" } else { "#" }))?);
        Ok(path)
    }
}

/// What a step calls: an operation by id or path, or another workflow.
fn called(step: &Value) -> Option<String> {
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    if let Some(id) = text(step, "operationId") {
        return Some(if id.starts_with("$sourceDescriptions.") { last(id) } else { id.to_owned() });
    }
    if let Some(path) = text(step, "operationPath") {
        let (_, pointer) = path.split_once("#/paths/")?;
        let (path, method) = pointer.rsplit_once('/')?;
        return Some(format!("{} {}", method.to_ascii_uppercase(), path.replace("~1", "/").replace("~0", "~")));
    }
    text(step, "workflowId").map(|id| if id.starts_with("$sourceDescriptions.") { last(id) } else { id.to_owned() })
}

/// The tokens of `#/a/b`; none for nothing.
fn pointed(pointer: &str) -> Result<Vec<String>, String> {
    if pointer.is_empty() {
        return Ok(Vec::new());
    }
    let tokens = pointer.strip_prefix("#/").ok_or_else(|| format!("`{pointer}` is no JSON pointer"))?;
    Ok(tokens.split('/').map(|token| token.replace("~1", "/").replace("~0", "~")).collect())
}

fn placeholder(path: &[String]) -> String {
    let plain = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let steps: Vec<String> =
        path.iter().map(|name| if plain(name) { name.clone() } else { format!("[{name}]") }).collect();
    format!("{{{{{}}}}}", steps.join("."))
}
