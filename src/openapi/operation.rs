//! Path items and operations.

use super::finding::Finding;
use super::node::Node;
use super::parameter::{BodyField, Declared, FormField};
use super::path::{self, Template, bare};
use super::prose::prose;
use super::read::Reader;
use super::text::{clean, scalar};
use super::{Operation, Origin, Parameter, ParameterEncoding, ParameterIn, RoutePart, Skipped, Style};
use crate::diagnostic::Diagnostic;
use crate::pace;
use crate::schema::Schema;
use indexmap::IndexMap;
use serde_json::{Map, json};
use std::collections::HashSet;
use std::sync::Arc;

const METHODS: [&str; 9] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// The parameters of an operation, by place and name.
#[derive(Default)]
struct Parameters {
    plain: Vec<Parameter>,
    body: Option<BodyField>,
    form: Vec<FormField>,
}

impl<'a> Reader<'a> {
    /// A Path Item Object. What stands beside its `$ref` wins over what is there.
    pub(super) fn path_item(&mut self, path: &str, node: Node<'a>) {
        if !node.value.is_object() {
            self.findings.add(Finding::error("invalid-path-item", &node, format!("`{path}` must be an object")));
            return;
        }
        let mut layers = vec![node.clone()];
        if node.reference().is_some() {
            match self.references.follow(node) {
                Ok(followed) => layers.push(followed.node),
                Err(problem) => self.findings.add(problem),
            }
        }
        let mut seen: HashSet<String> = HashSet::new();
        for layer in layers.clone() {
            for (key, operation) in layer.members() {
                let lower = key.to_ascii_lowercase();
                if METHODS.contains(&lower.as_str()) && operation.value.is_object() {
                    let method = lower.to_ascii_uppercase();
                    if seen.insert(method.clone()) {
                        self.operation(path, &method, &layers, operation);
                    }
                } else if key == "additionalOperations" {
                    for (method, operation) in operation.members().into_iter().filter(|(_, it)| it.value.is_object()) {
                        if seen.insert(method.to_owned()) {
                            self.operation(path, method, &layers, operation);
                        }
                    }
                } else if METHODS.contains(&lower.as_str()) && !operation.value.is_null() {
                    let what = format!("`{key}` must be an operation object");
                    self.skip(
                        path,
                        &lower.to_ascii_uppercase(),
                        &operation,
                        Finding::error("invalid-operation", &operation, what),
                    );
                }
            }
        }
    }

    fn skip(&mut self, path: &str, method: &str, node: &Node<'a>, why: Finding) {
        let skipped = Skipped {
            method: method.to_owned(),
            path: path.to_owned(),
            operation_id: node.value.get("operationId").and_then(scalar),
            reason: Diagnostic::new(why.severity, why.code, why.message.clone()),
        };
        self.findings.add(why.clone());
        self.skipped.push((skipped, why));
    }

    fn operation(&mut self, path: &str, method: &str, layers: &[Node<'a>], node: Node<'a>) {
        pace::breathe();
        let followed = match self.references.follow(node.clone()) {
            Ok(followed) => followed.node,
            Err(problem) => return self.skip(path, method, &node, problem),
        };
        if self.operations.len() >= self.options.max_operations {
            let problem = Finding::error("too-many-operations", &node, "the document has too many operations");
            return self.skip(path, method, &followed, problem);
        }
        match self.read_operation(path, method, layers, &followed) {
            Ok(operation) => self.operations.push(operation),
            Err(problem) => self.skip(path, method, &followed, problem),
        }
    }

    fn read_operation(
        &mut self,
        path: &str,
        method: &str,
        layers: &[Node<'a>],
        node: &Node<'a>,
    ) -> Result<Operation, Finding> {
        if http::Method::from_bytes(method.as_bytes()).is_err() {
            return Err(Finding::error("invalid-method", node, format!("`{method}` is no HTTP method")));
        }
        let template = path::parse(path).map_err(|what| Finding::error("invalid-path", node, what))?;
        if template.slash_added {
            self.findings.add(Finding::warning(
                "path-without-slash",
                node,
                format!("path `{path}` should begin with `/`; it is read so"),
            ));
        }
        let mut parameters = self.parameters_of(layers, node)?;
        let route = self.route(path, node, template, &mut parameters.plain);
        let body = if self.is_swagger2() {
            self.swagger2_operation(node);
            self.swagger2_body(node, parameters.body, parameters.form)?
        } else {
            match node.child("requestBody") {
                Some(body) => self.request_body(body)?,
                None => None,
            }
        };
        let responses = node.child("responses").map(|it| self.responses(it)).unwrap_or_default();
        let item = |key: &str| layers.iter().find_map(|it| it.text(key));
        let text = |key: &str| node.text(key).or_else(|| item(key)).filter(|it| !it.trim().is_empty()).map(prose);
        let mut extensions = Map::new();
        for layer in layers.iter().rev().chain([node]) {
            extensions.extend(layer.extensions());
        }
        let tags = node.value.get("tags").and_then(|it| it.as_array()).into_iter().flatten();
        let operation_id = node.value.get("operationId").and_then(scalar).filter(|it| !it.trim().is_empty());
        let document = self.set.documents.get(node.document).or_else(|| self.set.root());
        let Some(document) = document.map(Arc::clone) else {
            return Err(Finding::error("no-document", node, "there is no document to read"));
        };
        let servers = match self.operation_servers(node) {
            Some(own) => own,
            None => layers.iter().find_map(|it| self.servers(it)).unwrap_or_else(|| self.root_servers.clone()),
        };
        Ok(Operation {
            method: method.to_owned(),
            path: path.to_owned(),
            route,
            operation_id,
            summary: text("summary"),
            description: text("description"),
            tags: tags.filter_map(scalar).map(|it| clean(&it)).collect(),
            deprecated: node.flag("deprecated"),
            parameters: parameters.plain,
            body,
            responses,
            servers,
            security: self.security(node).unwrap_or_else(|| self.root_security.clone()),
            extensions,
            origin: Origin { document, pointer: node.pointer.clone() },
        })
    }

    fn operation_servers(&mut self, node: &Node<'a>) -> Option<Vec<super::Server>> {
        if self.is_swagger2() { self.swagger2_schemes(node) } else { self.servers(node) }
    }

    /// Path-item and operation parameters; the operation's wins where name and place are the same.
    fn parameters_of(&mut self, layers: &[Node<'a>], node: &Node<'a>) -> Result<Parameters, Finding> {
        let mut merged: IndexMap<(ParameterIn, String), Parameter> = IndexMap::new();
        let mut parameters = Parameters::default();
        let shared = layers.iter().find_map(|it| it.child("parameters"));
        for list in [shared, node.child("parameters")].into_iter().flatten() {
            let list = self.references.follow(list)?.node;
            if !list.value.is_array() {
                return Err(Finding::error("invalid-parameters", &list, "`parameters` must be a list"));
            }
            let mut own: HashSet<(ParameterIn, String)> = HashSet::new();
            for entry in list.items() {
                match self.parameter(entry.clone())? {
                    Declared::Plain(parameter) => {
                        let key = key_of(&parameter);
                        if own.insert(key.clone()) {
                            merged.insert(key, parameter);
                        } else {
                            let what = format!("parameter `{}` is declared twice; the first counts", parameter.name);
                            self.findings.add(Finding::warning("duplicate-parameter", &entry, what));
                        }
                    }
                    Declared::Body(body) => parameters.body = Some(body),
                    Declared::Form(field) => {
                        parameters.form.retain(|it| it.name != field.name);
                        parameters.form.push(field);
                    }
                    Declared::Nothing => {}
                }
            }
        }
        parameters.plain = merged.into_values().collect();
        Ok(parameters)
    }

    /// Joins the template's variables and the declared parameters.
    fn route(&mut self, path: &str, node: &Node<'a>, template: Template, list: &mut Vec<Parameter>) -> super::Route {
        let mut route = template.route;
        let mut used: HashSet<String> = HashSet::new();
        for part in &mut route.parts {
            let RoutePart::Variable(name) = part else { continue };
            let found = find_path(list, name).map(|it| it.name.clone());
            let wire = match found {
                Some(wire) => wire,
                None => {
                    let wire = bare(name).to_owned();
                    let what = format!(
                        "`{{{name}}}` in path `{path}` is not declared as a path parameter; a string is assumed"
                    );
                    self.findings.add(Finding::warning("undeclared-path-parameter", node, what));
                    list.push(text_parameter(&wire, ParameterIn::Path, true));
                    wire
                }
            };
            used.insert(wire.clone());
            *name = wire;
        }
        for (key, variable) in &template.query {
            self.query_variable(node, list, key, variable, true);
        }
        for name in &template.optional_query {
            self.query_variable(node, list, name, name, false);
        }
        list.retain(|it| {
            let unused = it.location == ParameterIn::Path && !used.contains(&it.name);
            if unused {
                let what = format!(
                    "path parameter `{}` is not in the path template `{path}`, so it can't be sent; it is left out",
                    it.name
                );
                self.findings.add(Finding::warning("unused-path-parameter", node, what));
            }
            !unused
        });
        route
    }

    /// `?key={variable}` in a path template is a query parameter, however it is declared.
    fn query_variable(
        &mut self,
        node: &Node<'a>,
        list: &mut Vec<Parameter>,
        key: &str,
        variable: &str,
        required: bool,
    ) {
        if list.iter().any(|it| it.location == ParameterIn::Query && it.name == key) {
            list.retain(|it| it.location != ParameterIn::Path || it.name != variable);
            return;
        }
        let name = bare(variable);
        let own = list.iter_mut().find(|it| {
            matches!(it.location, ParameterIn::Path | ParameterIn::Query) && (it.name == variable || it.name == name)
        });
        match own {
            Some(parameter) => {
                if parameter.location == ParameterIn::Path {
                    parameter.required = required;
                    if let ParameterEncoding::Style { style, .. } = &mut parameter.encoding {
                        *style = Style::Form;
                    }
                }
                parameter.location = ParameterIn::Query;
                parameter.name = key.to_owned();
            }
            None => {
                let what = format!(
                    "`{{{variable}}}` in the query of the path is not declared as a parameter; a string is assumed"
                );
                self.findings.add(Finding::warning("undeclared-path-parameter", node, what));
                list.push(text_parameter(key, ParameterIn::Query, required));
            }
        }
    }
}

/// Header names do not care for case (RFC 9110 §5.1).
fn key_of(parameter: &Parameter) -> (ParameterIn, String) {
    match parameter.location {
        ParameterIn::Header => (parameter.location, parameter.name.to_ascii_lowercase()),
        other => (other, parameter.name.clone()),
    }
}

fn find_path<'p>(list: &'p [Parameter], variable: &str) -> Option<&'p Parameter> {
    let paths = || list.iter().filter(|it| it.location == ParameterIn::Path);
    let plain = bare(variable);
    paths()
        .find(|it| it.name == variable)
        .or_else(|| paths().find(|it| bare(&it.name) == plain))
        .or_else(|| paths().find(|it| it.name.eq_ignore_ascii_case(plain)))
}

fn text_parameter(name: &str, location: ParameterIn, required: bool) -> Parameter {
    let style = if location == ParameterIn::Path { Style::Simple } else { Style::Form };
    Parameter {
        name: name.to_owned(),
        location,
        required,
        description: None,
        deprecated: false,
        examples: Vec::new(),
        encoding: ParameterEncoding::Style {
            style,
            explode: style == Style::Form,
            allow_reserved: false,
            allow_empty_value: false,
        },
        inner: Vec::new(),
        schema: Schema { json: Arc::new(json!({ "type": "string" })), uses: Arc::from([]) },
        extensions: Map::new(),
    }
}

impl Operation {
    /// Where the operation stands. Reads the document's text, so it is for diagnostics only.
    pub fn place(&self) -> crate::diagnostic::Place {
        self.origin.document.place(&self.origin.pointer)
    }
}
