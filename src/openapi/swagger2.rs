//! What is peculiar to Swagger 2.0: `host`, `basePath`, `schemes`; `collectionFormat`; bodies and forms as
//! parameters; `consumes` and `produces`.

use super::finding::Finding;
use super::node::Node;
use super::parameter::{BodyField, Declared, FormField, keywords_of};
use super::prose::prose;
use super::read::Reader;
use super::server::{bare_server, is_http};
use super::text::{clean_value, scalar};
use super::{Encoding, MediaType, ParameterEncoding, ParameterIn, RequestBody, Server, ServerVariable, Style};
use crate::schema::Schema;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use std::sync::Arc;

const FORM: &str = "application/x-www-form-urlencoded";
const MULTIPART: &str = "multipart/form-data";

impl<'a> Reader<'a> {
    /// Servers, `consumes` and `produces` of the document.
    pub(super) fn swagger2_root(&mut self, root: &Node<'a>) {
        self.root_servers = self.swagger2_servers(root, root);
    }

    /// An operation's own `schemes`.
    pub(super) fn swagger2_schemes(&mut self, operation: &Node<'a>) -> Option<Vec<Server>> {
        operation.child("schemes")?;
        let document = self.set.root()?;
        let root = Node { document: 0, pointer: String::new(), value: &document.root };
        Some(self.swagger2_servers(&root, operation))
    }

    fn swagger2_servers(&mut self, root: &Node<'a>, schemes_of: &Node<'a>) -> Vec<Server> {
        let base_path = root.text("basePath").unwrap_or("").trim().trim_end_matches('/');
        let base_path = if base_path.is_empty() || base_path.starts_with('/') {
            base_path.to_owned()
        } else {
            format!("/{base_path}")
        };
        let own = self.base(0).and_then(|it| it.split_once("://"));
        let hosted = root.child("x-ms-parameterized-host");
        let template = hosted.as_ref().and_then(|it| it.text("hostTemplate"));
        let host = template.or(root.text("host").map(str::trim).filter(|it| !it.is_empty()));
        let host = host.or(own.map(|(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or(rest)));
        let Some(host) = host else {
            let url = if base_path.is_empty() { "/".to_owned() } else { base_path };
            return if root.child("basePath").is_some() { vec![bare_server(url)] } else { Vec::new() };
        };
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host).trim_end_matches('/');
        let variables = hosted.as_ref().map(|it| self.host_variables(it, host)).unwrap_or_default();
        let server = |url: String| Server { variables: variables.clone(), ..bare_server(url) };
        let whole = hosted.as_ref().is_some_and(|it| it.value.get("useSchemePrefix") == Some(&Value::Bool(false)));
        if whole || is_http(host) {
            return vec![server(format!("{host}{base_path}"))];
        }
        let mut schemes: Vec<&str> = Vec::new();
        for scheme in
            schemes_of.child("schemes").or_else(|| root.child("schemes")).map(|it| it.items()).unwrap_or_default()
        {
            if let Some(scheme) = scheme.value.as_str().filter(|it| matches!(*it, "http" | "https")) {
                schemes.push(scheme);
            }
        }
        if schemes.is_empty() {
            schemes.push(own.map_or("https", |(scheme, _)| scheme));
        }
        // Credentials travel better encrypted: https first where both are there.
        schemes.sort_by_key(|it| *it != "https");
        schemes.dedup();
        schemes.into_iter().map(|scheme| server(format!("{scheme}://{host}{base_path}"))).collect()
    }

    fn host_variables(&mut self, node: &Node<'a>, template: &str) -> IndexMap<String, ServerVariable> {
        let mut found = IndexMap::new();
        for entry in node.child("parameters").map(|it| it.items()).unwrap_or_default() {
            let Ok(followed) = self.references.follow(entry) else { continue };
            let (Some(name), node) = (followed.node.text("name"), followed.node.value) else { continue };
            let allowed = node.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(scalar).collect();
            found.insert(name.to_owned(), ServerVariable { default: node.get("default").and_then(scalar), allowed });
        }
        for name in super::server::variables_in(template) {
            found.entry(name.to_owned()).or_insert(ServerVariable { default: None, allowed: Vec::new() });
        }
        found
    }

    /// Notes the operation's `consumes` and `produces`, else the document's.
    pub(super) fn swagger2_operation(&mut self, operation: &Node<'a>) {
        let root = self.set.root().map(|it| &it.root);
        let list = |key: &str| {
            let own = operation.value.get(key).or_else(|| root.and_then(|it| it.get(key)));
            own.and_then(Value::as_array).into_iter().flatten().filter_map(scalar).collect::<Vec<String>>()
        };
        self.consumes = list("consumes");
        self.produces = list("produces");
    }

    /// Encoding, schema and examples of a parameter that is no body.
    pub(super) fn collection_parameter(
        &mut self,
        node: &Node<'a>,
        location: ParameterIn,
    ) -> (ParameterEncoding, Schema, Vec<Value>) {
        let schema = match node.child("schema") {
            // Wrong in 2.0, but nothing else can be meant.
            Some(schema) if node.value.get("type").is_none() => self.schema(&schema),
            _ => {
                let mut own = keywords_of(node.value);
                own.extend(node.reference().map(|it| ("$ref".to_owned(), json!(it))));
                self.schema_of(node, &Value::Object(own))
            }
        };
        let (style, explode) = self.collection_format(node, location);
        let allow_empty_value = location == ParameterIn::Query && node.flag("allowEmptyValue");
        let encoding = ParameterEncoding::Style { style, explode, allow_reserved: false, allow_empty_value };
        let examples = node.value.get("x-example").map(clean_value).into_iter().collect();
        (encoding, schema, examples)
    }

    /// Swagger 2.0, "Parameter Object", `collectionFormat`: csv where nothing is said; `multi` only in
    /// query and formData.
    fn collection_format(&mut self, node: &Node<'a>, location: ParameterIn) -> (Style, bool) {
        let plain = match location {
            ParameterIn::Path | ParameterIn::Header => Style::Simple,
            _ => Style::Form,
        };
        match node.text("collectionFormat").unwrap_or("csv") {
            "ssv" => (Style::SpaceDelimited, false),
            "pipes" => (Style::PipeDelimited, false),
            "tsv" => (Style::TabDelimited, false),
            "multi" if plain == Style::Form => (Style::Form, true),
            "csv" => (plain, false),
            other => {
                let what = format!("`collectionFormat: {other}` is not for this place; `csv` is used");
                self.findings.add(Finding::warning("unknown-style", node, what));
                (plain, false)
            }
        }
    }

    /// Swagger 2.0, "Items Object", `collectionFormat` of lists in lists, the outermost first.
    pub(super) fn inner_formats(&mut self, node: &Node<'a>) -> Vec<Style> {
        let mut found = Vec::new();
        let mut items = node.child("items").filter(|_| self.is_swagger2());
        while let Some(list) = items.filter(|it| it.text("type") == Some("array")) {
            // The place is one where `multi` can't be; csv is the comma of `simple`.
            found.push(self.collection_format(&list, ParameterIn::Path).0);
            items = list.child("items");
        }
        found
    }

    /// `in: body` and `in: formData`.
    pub(super) fn body_parameter(&mut self, node: &Node<'a>, name: &str, place: &str) -> Result<Declared, Finding> {
        let required = node.flag("required");
        if place == "body" {
            let schema = match node.child("schema") {
                Some(schema) => self.schema(&schema),
                None => self.schema_of(node, &Value::Object(keywords_of(node.value))),
            };
            let examples = self.examples_of(node);
            let description = node.text("description").map(prose);
            return Ok(Declared::Body(BodyField { required, description, schema, examples }));
        }
        let mut own = keywords_of(node.value);
        let file = node.text("type").is_some_and(|it| it.eq_ignore_ascii_case("file"));
        if let Some(text) = node.text("description") {
            own.insert("description".to_owned(), json!(text));
        }
        let schema = self.schema_of(node, &Value::Object(own));
        let style = match node.text("type") {
            Some("array") => Some(self.collection_format(node, ParameterIn::Query)),
            _ => None,
        };
        let inner = self.inner_formats(node);
        Ok(Declared::Form(FormField { name: name.to_owned(), required, file, schema, style, inner }))
    }

    /// The request body that body and form parameters make.
    pub(super) fn swagger2_body(
        &mut self,
        node: &Node<'a>,
        body: Option<BodyField>,
        form: Vec<FormField>,
    ) -> Result<Option<RequestBody>, Finding> {
        let Some(body) = body else { return Ok(self.form_body(form)) };
        if !form.is_empty() {
            let what = "an operation can't have both a body and form parameters";
            if form.iter().any(|it| it.required) {
                return Err(Finding::error("body-and-form", node, what));
            }
            self.findings.add(Finding::warning("body-and-form", node, format!("{what}; the form is left out")));
        }
        let types = if self.consumes.is_empty() { vec!["application/json".to_owned()] } else { self.consumes.clone() };
        let content = types.into_iter().map(|media_type| MediaType {
            examples: Arc::new(body.examples.clone()),
            ..media(media_type, body.schema.clone())
        });
        Ok(Some(RequestBody { required: body.required, description: body.description, content: content.collect() }))
    }

    fn form_body(&mut self, form: Vec<FormField>) -> Option<RequestBody> {
        if form.is_empty() {
            return None;
        }
        let has_file = form.iter().any(|it| it.file);
        let mut types: Vec<String> = self
            .consumes
            .iter()
            .filter(|it| is_type(it, MULTIPART) || (!has_file && is_type(it, FORM)))
            .cloned()
            .collect();
        if types.is_empty() {
            types.push(if has_file { MULTIPART } else { FORM }.to_owned());
        }
        let (mut properties, mut required, mut uses) = (Map::new(), Vec::new(), Vec::new());
        let mut encoding = IndexMap::new();
        for field in &form {
            properties.insert(field.name.clone(), Value::clone(&field.schema.json));
            uses.extend(field.schema.uses.iter().filter(|it| !uses.contains(*it)).copied().collect::<Vec<_>>());
            if field.required {
                required.push(json!(field.name));
            }
            if let Some((style, explode)) = field.style {
                let inner = field.inner.clone();
                let entry = Encoding { style: Some(style), explode: Some(explode), inner, ..Encoding::default() };
                encoding.insert(field.name.clone(), entry);
            }
        }
        let is_required = !required.is_empty();
        let mut object = Map::new();
        object.insert("type".to_owned(), json!("object"));
        object.insert("properties".to_owned(), Value::Object(properties));
        if is_required {
            object.insert("required".to_owned(), Value::Array(required));
        }
        let schema = Schema { json: Arc::new(Value::Object(object)), uses: Arc::from(uses) };
        let content = types.into_iter().map(|it| MediaType { encoding: encoding.clone(), ..media(it, schema.clone()) });
        Some(RequestBody { required: is_required, description: None, content: content.collect() })
    }

    /// The content of a response: its schema in every media type that the operation produces.
    pub(super) fn produced(&mut self, response: &Node<'a>) -> Vec<MediaType> {
        let Some(schema) = response.child("schema") else { return Vec::new() };
        let file = schema.text("type").is_some_and(|it| it.eq_ignore_ascii_case("file"));
        let key = (schema.document, schema.pointer.clone(), false);
        let converted = match self.contents.get(&key).and_then(|it| it.first()) {
            Some(known) => known.schema.clone(),
            None => {
                let converted = self.schema(&schema);
                self.contents.insert(key, vec![media(String::new(), converted.clone())]);
                converted
            }
        };
        let mut types = self.produces.clone();
        if types.is_empty() {
            types.push(if file { "application/octet-stream" } else { "application/json" }.to_owned());
        }
        let examples = response.child("examples").filter(|_| self.options.answer_examples);
        types
            .into_iter()
            .map(|media_type| {
                let example = examples.as_ref().and_then(|it| it.value.get(&media_type)).map(clean_value);
                MediaType { examples: Arc::new(example.into_iter().collect()), ..media(media_type, converted.clone()) }
            })
            .collect()
    }
}

fn media(media_type: String, schema: Schema) -> MediaType {
    MediaType {
        media_type,
        schema,
        has_schema: true,
        item_schema: None,
        examples: Arc::default(),
        encoding: IndexMap::new(),
    }
}

fn is_type(declared: &str, wanted: &str) -> bool {
    declared.split(';').next().is_some_and(|it| it.trim().eq_ignore_ascii_case(wanted))
}
