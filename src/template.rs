//! Text templates (Handlebars, no HTML escaping, strict) and body trees whose single-placeholder
//! leaves keep the value's type. Compiled at load; values are never compiled.

use serde_json::Value;
use std::sync::Arc;

/// A compiled text template.
#[derive(Debug, Clone)]
pub struct Template {
    /// What the author wrote.
    pub source: Arc<str>,
}

/// A tree of templates: request bodies, step arguments, conditions.
#[derive(Debug, Clone)]
pub enum BodyTemplate {
    /// As written.
    Literal(Value),
    /// Exactly one placeholder, such as `{{customer.id}}`: the value itself, type kept.
    Value(Vec<String>),
    /// Text with placeholders.
    Text(Template),
    /// A list.
    List(Vec<BodyTemplate>),
    /// An object.
    Object(Vec<(String, BodyTemplate)>),
}
