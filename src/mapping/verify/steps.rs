//! `steps`: each sees the input and what came before.

use super::tool::properties;
use super::{Verifier, list, title};
use crate::document::pointer::join;
use crate::mapping::{StepRules, ToolRules};
use crate::template::{BodyTemplate, Template};
use serde_json::Value;

/// Names that mean something else in a template.
const TAKEN: &[&str] = &["input", "this", "true", "false", "null", "else", "as"];

impl Verifier<'_, '_> {
    pub(super) fn steps(&mut self, tool: &ToolRules, pointer: &str) {
        let at = join(pointer, "steps");
        if tool.steps.is_empty() {
            self.error("empty-list", &at, format!("{} has no steps", title(pointer)), "list at least one step");
            return;
        }
        // Answers to questions are arguments or names of their own.
        let asked: Vec<&str> = tool
            .edits
            .ask
            .values()
            .filter_map(|ask| ask.into.as_deref())
            .map(|into| into.split('.').next().unwrap_or(into))
            .collect();
        let mut known: Vec<&str> = std::iter::once("input").chain(asked).collect();
        let later: Vec<&str> = tool.steps.iter().map(|step| step.id.as_str()).collect();
        for (index, step) in tool.steps.iter().enumerate() {
            let at = format!("{at}/{index}");
            self.step(step, &at, &known, &later, tool.input.as_ref());
            let id = step.id.as_str();
            if TAKEN.contains(&id) {
                self.error(
                    "bad-name",
                    &join(&at, "id"),
                    format!("a step can't be called `{id}`"),
                    "give it another name",
                );
            } else if known.contains(&id) {
                self.error(
                    "name-collision",
                    &join(&at, "id"),
                    format!("there is a step `{id}` already"),
                    "give one of them another name",
                );
            } else if id.is_empty()
                || !id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
                || id.starts_with(|c: char| !c.is_ascii_alphabetic())
            {
                self.error(
                    "bad-name",
                    &join(&at, "id"),
                    format!("`{id}` can't be a step's name"),
                    "a letter, then letters, digits, `_` and `-`",
                );
            }
            known.push(id);
        }
        if let Some(text) = tool.edits.result.as_ref().and_then(|result| result.template.as_ref())
            && let Ok(template) = Template::compile(text)
        {
            self.known_names(&join(&join(pointer, "result"), "template"), &template.placeholders(), &known, "names");
        }
    }

    fn step(&mut self, step: &StepRules, pointer: &str, known: &[&str], all: &[&str], input: Option<&Value>) {
        self.operation(&join(pointer, "call"), &step.call);
        for (name, tree) in &step.with {
            let at = join(&join(pointer, "with"), name);
            if let Some(compiled) = self.tree(&at, tree) {
                self.step_names(&at, tree, &compiled, known, all, input);
            }
        }
        for (index, before) in step.after.iter().enumerate() {
            if !known.contains(&before.as_str()) || before == "input" {
                let at = format!("{}/{index}", join(pointer, "after"));
                let earlier = known.iter().copied().filter(|name| *name != "input");
                let fix = crate::diagnostic::hint::did_you_mean(before, earlier)
                    .unwrap_or_else(|| "name a step that stands further up".to_owned());
                self.error("unknown-name", &at, format!("there is no step `{before}` before this one"), fix);
            }
        }
        if let Some(when) = &step.when {
            let at = join(pointer, "when");
            if let Some(compiled) = self.tree(&at, when) {
                if let (BodyTemplate::Literal(Value::String(text)), Value::String(_)) = (&compiled, when) {
                    self.error(
                        "bad-value",
                        &at,
                        format!("`{text}` is always the same"),
                        "write a placeholder, such as `{{customer.active}}`",
                    );
                }
                self.step_names(&at, when, &compiled, known, all, input);
            }
        }
    }

    fn step_names(
        &mut self,
        pointer: &str,
        tree: &Value,
        compiled: &BodyTemplate,
        known: &[&str],
        all: &[&str],
        input: Option<&Value>,
    ) {
        for path in compiled.placeholders() {
            let Some(first) = path.first() else { continue };
            if !known.contains(&first.as_str()) && all.contains(&first.as_str()) {
                let (at, _) = find(tree, &path, pointer);
                let message = format!("`{{{{{}}}}}` is not known yet: step `{first}` comes later", path.join("."));
                self.error("unknown-name", &at, message, "move that step before this one");
            }
            let declared = properties(input);
            if first == "input"
                && let Some(name) = path.get(1)
                && !declared.is_empty()
                && !declared.contains(&name.as_str())
            {
                let (at, _) = find(tree, &path, pointer);
                let fix = crate::diagnostic::hint::did_you_mean(name, declared.iter().copied())
                    .unwrap_or_else(|| format!("arguments: {}", list(&declared)));
                self.error("unknown-name", &at, format!("the tool has no argument `{name}`"), fix);
            }
        }
        let mut every: Vec<&str> = known.to_vec();
        every.extend(all);
        self.tree_names(pointer, tree, compiled, &every, "names");
    }

    /// [`Verifier::known_names`] for every text of a tree, at its own place.
    pub(super) fn tree_names(
        &mut self,
        pointer: &str,
        tree: &Value,
        compiled: &BodyTemplate,
        known: &[&str],
        what: &str,
    ) {
        for path in compiled.placeholders() {
            if path.first().is_some_and(|first| !known.contains(&first.as_str())) {
                let (at, _) = find(tree, &path, pointer);
                self.known_names(&at, &[path], known, what);
            }
        }
    }
}

/// The text in a tree that holds a placeholder: its pointer.
fn find(tree: &Value, path: &[String], pointer: &str) -> (String, bool) {
    let inside = |child: &Value, step: &str| {
        let (at, found) = find(child, path, &join(pointer, step));
        found.then_some((at, true))
    };
    let found = match tree {
        Value::String(text) => {
            let holds =
                Template::compile(text).is_ok_and(|template| template.placeholders().iter().any(|one| one == path));
            return (pointer.to_owned(), holds);
        }
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| inside(item, &index.to_string())),
        Value::Object(members) => members.iter().find_map(|(name, member)| inside(member, name)),
        _ => None,
    };
    found.unwrap_or((pointer.to_owned(), false))
}
