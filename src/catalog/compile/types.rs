//! Types of placeholders: what a step gives an argument must be able to be what the argument takes.

use crate::catalog::Step;
use crate::schema::kept::Kept;
use crate::schema::kinds::{Kinds, allowed};
use crate::schema::walk;
use crate::template::BodyTemplate;
use serde_json::Value;

/// What is wrong with giving this template to an argument of this schema; `None` where it may fit.
///
/// `root` is the schema of all arguments of the called tool. Texts that hold a number are read as one, and
/// numbers become texts, at the call; only what can never fit is said.
pub(super) fn mismatch(
    template: &BodyTemplate,
    input: &Value,
    steps: &[Step],
    root: &Value,
    argument: &Value,
) -> Option<String> {
    let wanted = allowed(root, argument).without(Kinds::NULL);
    let scalars = Kinds::NUMBER | Kinds::BOOLEAN;
    let (given, what) = match template {
        BodyTemplate::Literal(Value::String(text)) => {
            let read = text.trim().parse::<f64>().is_ok() && wanted.meets(Kinds::NUMBER);
            let read = read || matches!(text.trim(), "true" | "false") && wanted.meets(Kinds::BOOLEAN);
            (if read { wanted } else { Kinds::STRING }, "a text".to_string())
        }
        BodyTemplate::Literal(value) => (Kinds::of(value), spoken(Kinds::of(value))),
        BodyTemplate::Text(_) | BodyTemplate::Joined(_) => {
            (Kinds::STRING, "a text with more than one placeholder in it".to_string())
        }
        BodyTemplate::List(_) => (Kinds::ARRAY, "a list".to_string()),
        BodyTemplate::Object(_) => (Kinds::OBJECT, "an object".to_string()),
        BodyTemplate::Value(path) => {
            let kinds = kinds_at(path, input, steps).without(Kinds::NULL);
            // An API may write its numbers as texts.
            let kinds = if kinds.meets(Kinds::STRING) { kinds | scalars } else { kinds };
            (kinds, format!("`{{{{{}}}}}` is {}", path.join("."), spoken(kinds)))
        }
    };
    let given = if given.meets(scalars) { given | Kinds::STRING } else { given };
    if wanted == Kinds::NONE || given == Kinds::NONE || given.meets(wanted) {
        return None;
    }
    Some(format!("{what}, and the argument takes {}", spoken(wanted)))
}

fn spoken(kinds: Kinds) -> String {
    let names: Vec<String> = kinds
        .without(Kinds::NULL)
        .names()
        .iter()
        .map(|name| match *name {
            "object" => "an object".to_string(),
            "array" => "a list".to_string(),
            "string" => "a text".to_string(),
            "number" => "a number".to_string(),
            "integer" => "a whole number".to_string(),
            other => format!("a {other}"),
        })
        .collect();
    names.join(" or ")
}

/// What a placeholder may be; everything where the schemas do not say.
fn kinds_at(path: &[String], input: &Value, steps: &[Step]) -> Kinds {
    let Some((first, rest)) = path.split_first() else { return Kinds::ALL };
    let published = |step: &Step| step.tool.output.published.clone();
    let step = steps.iter().find(|step| &step.id == first).and_then(published);
    let tree = step.as_ref().map(Kept::tree);
    let root = match &tree {
        Some(schema) => schema,
        None if first == "input" => input,
        None => return Kinds::ALL,
    };
    let mut here = root;
    for name in rest {
        while let Some(target) =
            here.get("$ref").and_then(Value::as_str).and_then(|reference| walk::target(root, reference))
        {
            here = target;
        }
        let next = match name.parse::<usize>() {
            Ok(_) if here.get("items").is_some() => here.get("items"),
            _ => here.get("properties").and_then(|properties| properties.get(name)),
        };
        let Some(next) = next else { return Kinds::ALL };
        here = next;
    }
    allowed(root, here)
}
