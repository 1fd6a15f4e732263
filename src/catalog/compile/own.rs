//! Edits of arguments that the mapping itself declares: hand-written tools and tools of steps.

use super::hand::declare;
use super::{At, Compiler, problem};
use crate::catalog::{Binding, From};
use crate::diagnostic::{Diagnostic, hint::nearest};
use crate::mapping::{Paginate, ToolEdits, ToolRules};
use serde_json::{Value, json};

impl Compiler<'_> {
    /// `args` edits on a hand-written input schema. Returns what the body's templates call by other names.
    pub(super) fn edit_input(
        &mut self,
        input: &mut Value,
        bindings: &mut [Binding],
        edits: &ToolEdits,
        tool: &str,
        pointer: &str,
        at: At<'_>,
    ) -> Result<Vec<(String, From)>, Diagnostic> {
        let mut aliases = Vec::new();
        for (key, edit) in &edits.args {
            let here = format!("{pointer}/args/{}", super::token(key));
            let place = || at.key(&here);
            let properties = input.get_mut("properties").and_then(Value::as_object_mut);
            let known: Vec<String> = properties.iter().flat_map(|properties| properties.keys().cloned()).collect();
            let Some(mut schema) = properties.and_then(|properties| properties.shift_remove(key)) else {
                let diagnostic = problem("unknown-argument", format!("tool `{tool}` has no argument `{key}`"), place());
                return Err(match nearest(key, known.iter().map(String::as_str)) {
                    Some(near) => diagnostic.fix(format!("did you mean `{near}`?")),
                    None => diagnostic,
                });
            };
            let name = edit.rename.clone().unwrap_or_else(|| key.clone());
            if name != *key && known.contains(&name) {
                let place = at.value(&format!("{here}/rename"));
                return Err(problem(
                    "name-collision",
                    format!("tool `{tool}` has an argument `{name}` already"),
                    place,
                ));
            }
            if let Value::Object(object) = &mut schema {
                object.extend(edit.schema.iter().map(|(keyword, value)| (keyword.clone(), value.clone())));
                if let Some(description) = &edit.description {
                    object.insert("description".to_string(), json!(description));
                }
                if let Some(default) = &edit.default {
                    object.insert("default".to_string(), default.clone());
                }
                if let Some(suffix) = &edit.mirror {
                    object.insert("x-mcp-header".to_string(), json!(suffix));
                }
            }
            let was_required = unrequire(input, key);
            let pages = edits.paginate.as_ref().is_some_and(|rules| rules.arg.as_ref() == Some(key));
            let hidden = edit.hide == Some(true);
            let fixed = match &edit.value {
                Some(value) => {
                    let place = at.value(&format!("{here}/value"));
                    Some(self.fixed(value).map_err(|message| problem("unresolved-value", message, place))?)
                }
                None if hidden && !pages => {
                    edit.default.clone().or_else(|| schema.get("default").cloned()).map(From::Fixed)
                }
                None => None,
            };
            if hidden && fixed.is_none() && was_required && !pages {
                let diagnostic = problem(
                    "hidden-required",
                    format!("`{key}` is required and can't be hidden without a value"),
                    place(),
                );
                return Err(diagnostic.fix("add `value:` or `default:`".to_string()));
            }
            let in_body = bindings.iter().any(|binding| match &binding.from {
                From::Template(template) => template.placeholders().iter().any(|path| path.first() == Some(key)),
                _ => false,
            });
            if in_body && matches!(fixed, Some(From::Secret(_))) {
                let place = at.value(&format!("{here}/value"));
                return Err(problem(
                    "secret-in-body",
                    format!("`{key}` stands in a body template, which takes no `${{env:}}` or `${{file:}}`"),
                    place,
                )
                .fix("send secrets as `credentials` or `headers` of the source, or as a parameter".to_string()));
            }
            let from = fixed.clone().unwrap_or_else(|| From::Argument(name.clone()));
            for binding in
                bindings.iter_mut().filter(|binding| matches!(&binding.from, From::Argument(name) if name == key))
            {
                binding.from = from.clone();
                binding.default = edit.default.clone().filter(|_| fixed.is_none());
            }
            if fixed.is_some() || name != *key {
                aliases.push((key.clone(), from));
            }
            if fixed.is_none() && !hidden {
                let required = edit.required.unwrap_or(was_required && edit.default.is_none());
                declare(input, &name, &schema, None, required);
            }
        }
        Ok(aliases)
    }
}

/// Takes a name out of `required`; says whether it was there.
fn unrequire(input: &mut Value, name: &str) -> bool {
    let Some(list) = input.get_mut("required").and_then(Value::as_array_mut) else { return false };
    let before = list.len();
    list.retain(|one| one.as_str() != Some(name));
    list.len() != before
}

/// `paginate` of a hand-written tool, with the names under which its arguments are published.
pub(super) fn hand_pages(
    rules: &ToolRules,
    aliases: &[(String, From)],
    input: &Value,
    pointer: &str,
    at: At<'_>,
) -> Result<Option<Paginate>, Diagnostic> {
    let Some(mut paginate) = rules.edits.paginate.clone() else { return Ok(None) };
    for (key, name) in [("arg", &mut paginate.arg), ("size_arg", &mut paginate.size_arg)] {
        let Some(wanted) = name else { continue };
        if let Some((_, From::Argument(renamed))) = aliases.iter().find(|(old, _)| old == wanted) {
            *wanted = renamed.clone();
        }
        let hidden =
            rules.edits.args.get(wanted.as_str()).is_some_and(|edit| edit.hide == Some(true) && edit.value.is_none());
        let properties = input.get("properties").and_then(Value::as_object);
        if !hidden && !properties.is_some_and(|properties| properties.contains_key(wanted.as_str())) {
            let known: Vec<&str> =
                properties.into_iter().flat_map(|properties| properties.keys().map(String::as_str)).collect();
            let place = at.value(&format!("{pointer}/paginate/{key}"));
            let diagnostic =
                problem("unknown-argument", format!("`paginate.{key}`: the tool has no argument `{wanted}`"), place);
            return Err(match nearest(wanted, known.iter().copied()) {
                Some(near) => diagnostic.fix(format!("did you mean `{near}`?")),
                None => diagnostic.fix(format!("declare `{wanted}` under `input.properties`")),
            });
        }
    }
    Ok(Some(paginate))
}
