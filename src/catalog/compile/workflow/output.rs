//! The output schema of a workflow: where each output comes from is known, and so is mostly what it is.

use crate::catalog::{Action, Workflow, WorkflowStep};
use crate::template::BodyTemplate;
use serde_json::{Map, Value, json};

/// Most outputs that are followed to where they come from.
const DEEPEST: usize = 32;

/// Schema of what [`Workflow::outputs`] make (without any: the outputs of each step). Every member may be null: a step
/// that a jump left out has none.
pub(super) fn schema(workflow: &Workflow, inputs: &Value) -> Value {
    let mut typer = Typer { workflow, inputs, definitions: Map::new() };
    let properties: Map<String, Value> = match workflow.outputs.as_slice() {
        [] => workflow.steps.iter().map(|step| (step.id.clone(), typer.step(step))).collect(),
        outputs => outputs.iter().map(|(name, tree)| (name.clone(), typer.tree(tree, None, 0))).collect(),
    };
    let mut root = json!({"type": "object", "properties": properties});
    if let (Some(root), false) = (root.as_object_mut(), typer.definitions.is_empty()) {
        root.insert("$defs".to_string(), Value::Object(typer.definitions));
    }
    root
}

struct Typer<'a> {
    workflow: &'a Workflow,
    inputs: &'a Value,
    definitions: Map<String, Value>,
}

impl<'a> Typer<'a> {
    /// What is shown of a step where the workflow has no outputs: the step's own, else the answer.
    fn step(&mut self, step: &'a WorkflowStep) -> Value {
        if step.outputs.is_empty() {
            return match &step.tool.action {
                Action::Workflow(_) => json!({"type": ["object", "null"]}),
                _ => self.body(step, &[]),
            };
        }
        let members: Map<String, Value> =
            step.outputs.iter().map(|(name, tree)| (name.clone(), self.tree(tree, Some(step), 1))).collect();
        json!({"type": ["object", "null"], "properties": members})
    }

    fn tree(&mut self, tree: &BodyTemplate, own: Option<&'a WorkflowStep>, depth: usize) -> Value {
        match tree {
            BodyTemplate::Value(path) => self.path(path, own, depth),
            BodyTemplate::Text(_) | BodyTemplate::Joined(_) => json!({"type": ["string", "null"]}),
            BodyTemplate::List(_) => json!({"type": ["array", "null"]}),
            BodyTemplate::Object(_) => json!({"type": ["object", "null"]}),
            BodyTemplate::Literal(_) => json!({}),
        }
    }

    fn path(&mut self, path: &[String], own: Option<&'a WorkflowStep>, depth: usize) -> Value {
        if depth > DEEPEST {
            return json!({});
        }
        let part = |index: usize| path.get(index).map(String::as_str).unwrap_or_default();
        let rest = |from: usize| path.get(from..).unwrap_or_default();
        match (part(0), own) {
            ("inputs", _) => self.input(rest(1)),
            ("statusCode", Some(_)) => json!({"type": ["integer", "null"]}),
            ("method", Some(_)) => json!({"type": ["string", "null"]}),
            ("response", Some(_)) if part(1) == "header" => json!({"type": ["string", "null"]}),
            ("response", Some(step)) => match &step.tool.action {
                Action::Workflow(_) => self.called(step, rest(2)),
                _ => self.body(step, rest(2)),
            },
            ("outputs", Some(step)) => self.called(step, rest(1)),
            ("steps", _) => {
                let workflow = self.workflow;
                let Some(step) = workflow.steps.iter().find(|step| step.id == part(1)) else { return json!({}) };
                match step.outputs.iter().find(|(name, _)| name == part(3)) {
                    Some((_, BodyTemplate::Value(inner))) => {
                        let whole: Vec<String> = inner.iter().chain(rest(4)).cloned().collect();
                        self.path(&whole, Some(step), depth + 1)
                    }
                    Some((_, tree)) if rest(4).is_empty() => self.tree(tree, Some(step), depth + 1),
                    Some(_) => json!({}),
                    None => self.called(step, rest(3)),
                }
            }
            ("workflows", _) if part(2) == "outputs" => {
                let found = self.workflow.before.iter().find(|(id, _)| id == part(1));
                let published = found.and_then(|(_, tool)| tool.output.published.clone());
                published.map_or_else(|| json!({}), |schema| self.within(&schema.tree(), rest(3)))
            }
            _ => json!({}),
        }
    }

    /// A scalar input; anything else is not looked into.
    fn input(&self, path: &[String]) -> Value {
        let [name] = path else { return json!({}) };
        let kind = self.inputs.get("properties").and_then(|all| all.get(name)?.get("type")?.as_str());
        match kind {
            Some(kind @ ("string" | "integer" | "number" | "boolean")) => json!({"type": [kind, "null"]}),
            _ => json!({}),
        }
    }

    fn body(&mut self, step: &WorkflowStep, path: &[String]) -> Value {
        match step.tool.output.published.clone() {
            Some(schema) => self.within(&schema.tree(), path),
            None => json!({}),
        }
    }

    fn called(&mut self, step: &WorkflowStep, path: &[String]) -> Value {
        self.body(step, path)
    }

    /// The schema of what a path leads to, with the definitions that it refers to.
    fn within(&mut self, root: &Value, path: &[String]) -> Value {
        let mut here = root;
        for name in path {
            here = resolved(root, here);
            let next = match name.parse::<usize>() {
                Ok(_) if here.get("items").is_some() => here.get("items"),
                _ => here.get("properties").and_then(|all| all.get(name)),
            };
            let Some(next) = next else { return json!({}) };
            here = next;
        }
        let mut found = here.clone();
        if let Some(members) = found.as_object_mut() {
            members.remove("$defs");
        }
        if let Some(definitions) = root.get("$defs").and_then(Value::as_object) {
            // Two APIs may mean different things by one name: then neither is said.
            if definitions.iter().any(|(name, one)| self.definitions.get(name).is_some_and(|known| known != one)) {
                return json!({});
            }
            if found.to_string().contains("\"$ref\"") {
                self.definitions.extend(definitions.iter().map(|(name, one)| (name.clone(), one.clone())));
            }
        }
        nullable(found)
    }
}

fn resolved<'v>(root: &'v Value, schema: &'v Value) -> &'v Value {
    let mut here = schema;
    for _ in 0..DEEPEST {
        let name = here.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix("#/$defs/"));
        let Some(target) = name.and_then(|name| root.get("$defs")?.get(name)) else { break };
        here = target;
    }
    here
}

/// The same, or null.
fn nullable(mut schema: Value) -> Value {
    let Some(members) = schema.as_object_mut() else { return json!({}) };
    if members.is_empty() {
        return schema;
    }
    let plain =
        !["$ref", "enum", "const", "allOf", "anyOf", "oneOf", "not", "if"].iter().any(|key| members.contains_key(*key));
    match members.get_mut("type") {
        Some(Value::String(kind)) if plain => {
            let kind = std::mem::take(kind);
            members.insert("type".to_string(), json!([kind, "null"]));
            schema
        }
        Some(Value::Array(kinds)) if plain => {
            if !kinds.iter().any(|kind| kind == "null") {
                kinds.push(json!("null"));
            }
            schema
        }
        None if plain => schema,
        _ => json!({"anyOf": [schema, {"type": "null"}]}),
    }
}
