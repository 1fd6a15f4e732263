//! Parameter Objects: location, encoding, schema.

use super::finding::Finding;
use super::node::Node;
use super::prose::prose;
use super::read::Reader;
use super::text::{clean_value, scalar};
use super::{Parameter, ParameterEncoding, ParameterIn, Style};
use crate::schema::Schema;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// What one entry of a `parameters` list declares.
#[derive(Debug, Clone)]
pub(super) enum Declared {
    /// A parameter.
    Plain(Parameter),
    /// 2.0 `in: body`: the body's schema.
    Body(BodyField),
    /// 2.0 `in: formData`: one property of a form body.
    Form(FormField),
    /// Can't be used and needn't be.
    Nothing,
}

/// 2.0 `in: body`.
#[derive(Debug, Clone)]
pub(super) struct BodyField {
    pub required: bool,
    pub description: Option<String>,
    pub schema: Schema,
    pub examples: Vec<Value>,
}

/// 2.0 `in: formData`.
#[derive(Debug, Clone)]
pub(super) struct FormField {
    pub name: String,
    pub required: bool,
    pub file: bool,
    pub schema: Schema,
    pub style: Option<(Style, bool)>,
    pub inner: Vec<Style>,
}

impl<'a> Reader<'a> {
    /// The parameter at `node` (references followed). An error costs the operation: a required
    /// parameter whose encoding isn't known can't be sent.
    pub(super) fn parameter(&mut self, node: Node<'a>) -> Result<Declared, Finding> {
        let mut followed = self.references.follow(node.clone())?;
        let named = |it: &Node<'_>| it.value.get("in").is_some() && it.value.get("name").is_some();
        if self.is_swagger2() && node.reference().is_some() && named(&node) && followed.node.value.get("in").is_none() {
            // A parameter whose `$ref` means its schema: wrong, but nothing else can be meant.
            followed.node = node;
        }
        let key = (followed.node.document, followed.node.pointer.clone());
        let known = self.parameters.get(&key).cloned();
        let mut declared = match known {
            Some(known) => known,
            None => {
                let read = self.read_parameter(&followed.node);
                self.parameters.insert(key, read.clone());
                read
            }
        }?;
        if let (Declared::Plain(parameter), Some(text)) = (&mut declared, followed.description) {
            parameter.description = Some(prose(text));
        }
        Ok(declared)
    }

    fn read_parameter(&mut self, node: &Node<'a>) -> Result<Declared, Finding> {
        if !node.value.is_object() {
            return Err(Finding::error("invalid-parameter", node, "a parameter must be an object"));
        }
        let required = node.flag("required");
        let Some(name) = node.value.get("name").and_then(scalar).filter(|it| !it.is_empty()) else {
            return self.unusable(node, required, "the parameter has no `name`");
        };
        let place = node.text("in").unwrap_or("").to_ascii_lowercase();
        let location = match place.as_str() {
            "path" => ParameterIn::Path,
            "query" => ParameterIn::Query,
            "querystring" => ParameterIn::QueryString,
            "header" => ParameterIn::Header,
            "cookie" => ParameterIn::Cookie,
            "body" | "formdata" if self.is_swagger2() => return self.body_parameter(node, &name, &place),
            other => {
                let what = format!("parameter `{name}`: `in: {other}` is no place for a parameter");
                return self.unusable(node, required, &what);
            }
        };
        if location == ParameterIn::Header && is_ignored_header(&name) {
            let what = format!("header parameter `{name}` is ignored: OpenAPI leaves it to `content` and `security`");
            self.findings.add(Finding::note("ignored-header", node, what));
            return Ok(Declared::Nothing);
        }
        let (encoding, schema, mut examples) = match self.encoding_of(node, &name, location, required)? {
            Some(found) => found,
            None => return Ok(Declared::Nothing),
        };
        examples.extend(self.examples_of(node));
        Ok(Declared::Plain(Parameter {
            required: required || location == ParameterIn::Path,
            name,
            location,
            description: node.text("description").map(prose),
            deprecated: node.flag("deprecated"),
            examples,
            encoding,
            inner: self.inner_formats(node),
            schema,
            extensions: node.extensions(),
        }))
    }

    /// A parameter that can't be sent: an error where it is required, else a warning.
    fn unusable(&mut self, node: &Node<'a>, required: bool, what: &str) -> Result<Declared, Finding> {
        if required {
            return Err(Finding::error("unusable-parameter", node, what));
        }
        let message = format!("{what}; it is left out");
        self.findings.add(Finding::warning("unusable-parameter", node, message));
        Ok(Declared::Nothing)
    }

    #[allow(clippy::type_complexity)]
    fn encoding_of(
        &mut self,
        node: &Node<'a>,
        name: &str,
        location: ParameterIn,
        required: bool,
    ) -> Result<Option<(ParameterEncoding, Schema, Vec<Value>)>, Finding> {
        if self.is_swagger2() {
            return Ok(Some(self.collection_parameter(node, location)));
        }
        if let Some(content) = node.child("content").filter(|it| it.value.is_object()) {
            let entries = self.media_types(&content, true);
            if entries.len() > 1 {
                let what = format!("parameter `{name}` has several media types; the first one is used");
                self.findings.add(Finding::warning("several-media-types", &content, what));
            }
            if let Some(media) = entries.into_iter().next() {
                let encoding = ParameterEncoding::Content { media_type: media.media_type };
                return Ok(Some((encoding, media.schema, Arc::unwrap_or_clone(media.examples))));
            }
        }
        let schema = self.parameter_schema(node, name);
        if location == ParameterIn::QueryString {
            let what = format!("parameter `{name}`: `in: querystring` needs `content`; a form is assumed");
            self.findings.add(Finding::warning("querystring-without-content", node, what));
            let media_type = "application/x-www-form-urlencoded".to_owned();
            return Ok(Some((ParameterEncoding::Content { media_type }, schema, Vec::new())));
        }
        let Some((style, fallback_explode)) = self.style_of(node, name, location, required, &schema)? else {
            return Ok(None);
        };
        let explode = match node.value.get("explode") {
            Some(Value::Bool(explode)) => *explode,
            _ => fallback_explode,
        };
        let encoding = ParameterEncoding::Style {
            style,
            explode,
            allow_reserved: node.flag("allowReserved"),
            allow_empty_value: location == ParameterIn::Query && node.flag("allowEmptyValue"),
        };
        Ok(Some((encoding, schema, Vec::new())))
    }

    fn parameter_schema(&mut self, node: &Node<'a>, name: &str) -> Schema {
        if let Some(schema) = node.child("schema") {
            return self.schema(&schema);
        }
        let own = keywords_of(node.value);
        let what = if own.is_empty() {
            format!("parameter `{name}` has neither `schema` nor `content`; any text is accepted")
        } else {
            format!("parameter `{name}` has its schema beside it, as in Swagger 2.0; it belongs under `schema`")
        };
        self.findings.add(Finding::warning("parameter-without-schema", node, what));
        if own.is_empty() {
            return self.schema_of(node, &json!({ "type": "string" }));
        }
        self.schema_of(node, &Value::Object(own))
    }

    /// Style and the default of `explode` (OpenAPI 3.2 §4.12.2).
    fn style_of(
        &mut self,
        node: &Node<'a>,
        name: &str,
        location: ParameterIn,
        required: bool,
        schema: &Schema,
    ) -> Result<Option<(Style, bool)>, Finding> {
        let default = match location {
            ParameterIn::Query | ParameterIn::QueryString | ParameterIn::Cookie => Style::Form,
            ParameterIn::Path | ParameterIn::Header => Style::Simple,
        };
        let Some(written) = node.value.get("style").filter(|it| !it.is_null()) else {
            return Ok(Some((default, default == Style::Form)));
        };
        let text = written.as_str().unwrap_or("");
        let style = style_named(text);
        if let Some(style) = style.filter(|it| fits(*it, location)) {
            return Ok(Some((style, matches!(style, Style::Form | Style::Cookie))));
        }
        let at = node.child_or_self("style");
        // A single value looks the same in `simple` and `form`; a list without `explode` is comma
        // separated in both.
        let same = matches!(style, Some(Style::Simple | Style::Form));
        if same || is_scalar(schema) {
            let what =
                format!("parameter `{name}`: style `{text}` is not for this place; `{}` is used", style_name(default));
            self.findings.add(Finding::warning("unknown-style", &at, what));
            return Ok(Some((default, style == Some(Style::Form))));
        }
        let what = format!("parameter `{name}`: style `{text}` is unknown here, so how to write the value is unknown");
        self.unusable(&at, required, &what).map(|_| None)
    }

    /// `example` and `examples` of a parameter or media type.
    pub(super) fn examples_of(&mut self, node: &Node<'a>) -> Vec<Value> {
        let mut found: Vec<Value> = node.value.get("example").map(clean_value).into_iter().collect();
        let Some(examples) = node.child("examples") else { return found };
        for item in examples.items() {
            found.push(clean_value(item.value));
        }
        for (_, example) in examples.members() {
            let Ok(followed) = self.references.follow(example) else { continue };
            let value = followed.node.value.get("value").or_else(|| followed.node.value.get("dataValue"));
            found.extend(value.map(clean_value));
        }
        found
    }
}

/// Header parameters that OpenAPI ignores (3.2 §4.12.1).
fn is_ignored_header(name: &str) -> bool {
    ["accept", "content-type", "authorization"].iter().any(|it| name.eq_ignore_ascii_case(it))
}

/// The style with this name.
pub(super) fn style_named(name: &str) -> Option<Style> {
    Some(match name {
        "matrix" => Style::Matrix,
        "label" => Style::Label,
        "simple" => Style::Simple,
        "form" => Style::Form,
        "spaceDelimited" => Style::SpaceDelimited,
        "pipeDelimited" => Style::PipeDelimited,
        "deepObject" => Style::DeepObject,
        "cookie" => Style::Cookie,
        _ => return None,
    })
}

fn style_name(style: Style) -> &'static str {
    match style {
        Style::Simple => "simple",
        _ => "form",
    }
}

fn fits(style: Style, location: ParameterIn) -> bool {
    match location {
        ParameterIn::Path => matches!(style, Style::Matrix | Style::Label | Style::Simple),
        ParameterIn::Header => style == Style::Simple,
        ParameterIn::Cookie => matches!(style, Style::Form | Style::Cookie),
        ParameterIn::Query | ParameterIn::QueryString => {
            matches!(style, Style::Form | Style::SpaceDelimited | Style::PipeDelimited | Style::DeepObject)
        }
    }
}

/// True if only single values are valid.
fn is_scalar(schema: &Schema) -> bool {
    matches!(schema.json.get("type").and_then(Value::as_str), Some("string" | "number" | "integer" | "boolean"))
}

/// The schema keywords that stand in a parameter itself (2.0, and by mistake in 3.x).
pub(super) fn keywords_of(parameter: &Value) -> Map<String, Value> {
    const KEYWORDS: [&str; 22] = [
        "type",
        "format",
        "items",
        "default",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "maxItems",
        "minItems",
        "uniqueItems",
        "enum",
        "multipleOf",
        "properties",
        "additionalProperties",
        "allOf",
        "oneOf",
        "anyOf",
        "nullable",
    ];
    let members = parameter.as_object().into_iter().flatten();
    members
        .filter(|(key, _)| KEYWORDS.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}
