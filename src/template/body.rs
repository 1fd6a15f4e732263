//! Trees of templates: request bodies, step arguments, conditions.

use super::{Scope, Template, TemplateError, lookup, missing, scan};
use serde_json::{Map, Value};

/// Deepest tree.
const MAX_DEPTH: usize = 128;

/// A tree of templates: request bodies, step arguments, conditions.
///
/// A leaf that is exactly one `{{placeholder}}` keeps the value's type. Where such a leaf is a member of
/// an object and there is no value, the member is left out; anywhere else a missing value is an error.
#[derive(Debug, Clone)]
pub enum BodyTemplate {
    /// As written.
    Literal(Value),
    /// Exactly one placeholder, such as `{{customer.id}}`: the value itself, type kept.
    Value(Vec<String>),
    /// Text with placeholders.
    Text(Template),
    /// Several pieces as one text; `null` is nothing, lists and objects are compact JSON.
    Joined(Vec<BodyTemplate>),
    /// A list.
    List(Vec<BodyTemplate>),
    /// An object.
    Object(Vec<(String, BodyTemplate)>),
}

impl BodyTemplate {
    /// Compiles a tree; member names are never templates. All errors, with their pointers.
    pub fn compile(tree: &Value) -> Result<BodyTemplate, Vec<TemplateError>> {
        let mut errors = Vec::new();
        let compiled = compile(tree, &mut String::new(), 0, &mut errors);
        if errors.is_empty() { Ok(compiled) } else { Err(errors) }
    }

    /// Renders; the error names the value that is missing. Values are put in as they are and never read
    /// as templates.
    pub fn render(&self, value: &Value) -> Result<Value, String> {
        self.render_in(&Scope::new(value))
    }

    /// [`BodyTemplate::render`] with values that several templates share.
    pub fn render_in(&self, scope: &Scope<'_>) -> Result<Value, String> {
        match self {
            BodyTemplate::Literal(literal) => Ok(literal.clone()),
            BodyTemplate::Value(path) => lookup(scope.value(), path).cloned().ok_or_else(|| missing(path)),
            BodyTemplate::Text(template) => template.render_in(scope).map(Value::String),
            BodyTemplate::Joined(pieces) => {
                let mut text = String::new();
                for piece in pieces {
                    super::write_value(&mut text, &piece.render_in(scope)?);
                    if text.len() > super::MAX_OUTPUT {
                        return Err(super::too_long());
                    }
                }
                Ok(Value::String(text))
            }
            BodyTemplate::List(items) => items.iter().map(|item| item.render_in(scope)).collect(),
            BodyTemplate::Object(members) => {
                let mut object = Map::with_capacity(members.len());
                for (name, member) in members {
                    let rendered = match member {
                        BodyTemplate::Value(path) => match lookup(scope.value(), path) {
                            Some(found) => found.clone(),
                            None => continue,
                        },
                        other => other.render_in(scope)?,
                    };
                    object.insert(name.clone(), rendered);
                }
                Ok(Value::Object(object))
            }
        }
    }

    /// Every path the tree looks up, in order, without duplicates.
    pub fn placeholders(&self) -> Vec<Vec<String>> {
        let mut list = Vec::new();
        self.collect(&mut list);
        list
    }

    fn collect(&self, list: &mut Vec<Vec<String>>) {
        let mut add = |path: Vec<String>| {
            if !list.contains(&path) {
                list.push(path);
            }
        };
        match self {
            BodyTemplate::Literal(_) => {}
            BodyTemplate::Value(path) => add(path.clone()),
            BodyTemplate::Text(template) => template.placeholders().into_iter().for_each(add),
            BodyTemplate::List(items) | BodyTemplate::Joined(items) => items.iter().for_each(|item| item.collect(list)),
            BodyTemplate::Object(members) => members.iter().for_each(|(_, member)| member.collect(list)),
        }
    }
}

fn compile(tree: &Value, pointer: &mut String, depth: usize, errors: &mut Vec<TemplateError>) -> BodyTemplate {
    if depth > MAX_DEPTH {
        let mut error = TemplateError::at("", 0, format!("more than {MAX_DEPTH} levels inside each other"));
        error.pointer.clone_from(pointer);
        errors.push(error);
        return BodyTemplate::Literal(Value::Null);
    }
    let mut inside = |step: &str, child: &Value| {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
        let compiled = compile(child, pointer, depth + 1, errors);
        pointer.truncate(length);
        compiled
    };
    match tree {
        Value::String(text) if text.contains("{{") => match leaf(text) {
            Ok(compiled) => compiled,
            Err(mut error) => {
                error.pointer.clone_from(pointer);
                errors.push(error);
                BodyTemplate::Literal(Value::Null)
            }
        },
        Value::Array(items) => {
            let items: Vec<_> = items.iter().enumerate().map(|(at, item)| inside(&at.to_string(), item)).collect();
            if items.iter().all(|item| matches!(item, BodyTemplate::Literal(_))) {
                return BodyTemplate::Literal(tree.clone());
            }
            BodyTemplate::List(items)
        }
        Value::Object(members) => {
            let members: Vec<_> = members.iter().map(|(name, child)| (name.clone(), inside(name, child))).collect();
            if members.iter().all(|(_, member)| matches!(member, BodyTemplate::Literal(_))) {
                return BodyTemplate::Literal(tree.clone());
            }
            BodyTemplate::Object(members)
        }
        other => BodyTemplate::Literal(other.clone()),
    }
}

fn leaf(text: &str) -> Result<BodyTemplate, TemplateError> {
    let only = text.trim().strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    if let Some(path) = only.and_then(|inner| scan::path(inner.trim())) {
        return Ok(BodyTemplate::Value(path));
    }
    let template = Template::compile(text)?;
    // Without tags (only escaped braces) the text is rendered by the engine all the same, to undo the escapes.
    Ok(BodyTemplate::Text(template))
}
