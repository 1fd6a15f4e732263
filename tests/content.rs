//! Tests of content: what the model sees of an answer.

mod bodies;
mod direct;
mod errors;
mod escaping;
mod filters;
mod headers;
mod hiding;
mod large;
mod schemas;
mod shaping;
mod streams;
mod wire;

use bytes::Bytes;
use rest_mcp::catalog::{
    Action, Annotations, Arguments, Binding, From, Input, OperationRef, Output, RequestAction, ResultPlan, Spot, Tool,
};
use rest_mcp::content::conform::Shape;
use rest_mcp::content::shape::Compiled;
use rest_mcp::content::{Block, Content, ResourceBody, Text, from_response};
use rest_mcp::mapping::{ErrorRules, ResultRules, StatusSet};
use rest_mcp::openapi::{ParameterEncoding, ParameterIn, Style};
use rest_mcp::request::ParameterPlan;
use rest_mcp::response::Response;
use rest_mcp::schema::check::Checker;
use rest_mcp::schema::kept::Kept;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

pub const BASE: &str = "http://orders.internal.corp:8443/v1";

/// A tool by hand.
pub struct Make {
    rules: Option<ResultRules>,
    output: Option<Value>,
    strict: bool,
    errors: Option<ErrorRules>,
    success: StatusSet,
    bindings: Vec<Binding>,
    parameters: Vec<ParameterPlan>,
    method: http::Method,
    input: Value,
}

impl Make {
    pub fn new() -> Self {
        Make {
            rules: None,
            output: None,
            strict: false,
            errors: None,
            success: StatusSet::default(),
            bindings: Vec::new(),
            parameters: Vec::new(),
            method: http::Method::GET,
            input: json!({"type": "object", "properties": {"id": {"type": "integer"}, "page": {"type": "integer"}}, "required": ["id"]}),
        }
    }
    /// `result` as an author writes it.
    pub fn result(mut self, yaml: &str) -> Self {
        self.rules = Some(rules(yaml));
        self
    }
    pub fn output(mut self, schema: Value) -> Self {
        self.output = Some(schema);
        self
    }
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }
    pub fn errors(mut self, yaml: &str) -> Self {
        self.errors = Some(serde_yaml::from_str(yaml).unwrap());
        self
    }
    pub fn success(mut self, yaml: &str) -> Self {
        self.success = serde_yaml::from_str(yaml).unwrap();
        self
    }
    pub fn method(mut self, method: http::Method) -> Self {
        self.method = method;
        self
    }
    pub fn parameter(mut self, argument: &str, location: ParameterIn, name: &str) -> Self {
        let spot = Spot::Parameter(self.parameters.len());
        let encoding = ParameterEncoding::Style {
            style: Style::Form,
            explode: true,
            allow_reserved: false,
            allow_empty_value: false,
        };
        self.parameters.push(ParameterPlan {
            name: name.to_owned(),
            location,
            encoding,
            inner: Vec::new(),
            required: false,
        });
        self.bind(argument, spot)
    }
    pub fn member(self, argument: &str, path: &[&str]) -> Self {
        self.bind(argument, Spot::BodyMember(path.iter().map(|part| (*part).to_owned()).collect()))
    }
    pub fn bind(mut self, argument: &str, spot: Spot) -> Self {
        let from = From::Argument(argument.to_owned());
        self.bindings.push(Binding { from, spot, required: false, default: None, keep_null: false });
        self
    }
    pub fn tool(self) -> Tool {
        let output = Output {
            conform: self.output.as_ref().map(|schema| Arc::new(Shape::new(schema))),
            strict: self.output.clone().filter(|_| self.strict).map(|schema| Arc::new(Checker::new(schema))),
            published: self.output.map(Kept::from),
        };
        Tool {
            name: "get_order".to_owned(),
            title: None,
            description: "An order.".to_owned(),
            annotations: Annotations { read_only: true, destructive: false, idempotent: true, open_world: true },
            icons: Vec::new(),
            tags: Vec::new(),
            operation: None::<OperationRef>,
            input: Input {
                check: Checker::new(&self.input),
                published: Kept::from(self.input),
                body_check: None,
                mirrored: Vec::new(),
            },
            output,
            action: Action::Request(Box::new(RequestAction {
                source: 0,
                method: self.method,
                base_url: BASE.to_owned(),
                path: Vec::new(),
                fixed_query: None,
                parameters: self.parameters,
                body: None,
                accept: "*/*".to_owned(),
                bindings: self.bindings,
                security: Vec::new(),
                success: self.success,
                errors: self.errors,
                timeout: None,
                paginate: None,
                poll: None,
                stream: None,
                idempotent: true,
                own: Vec::new(),
                aliases: Vec::new(),
            })),
            ask: Vec::new(),
            confirm: None,
            requires_client: Vec::new(),
            result: self.rules.map(|rules| {
                let compiled = Compiled::new(&rules).unwrap();
                Arc::new(ResultPlan { rules, compiled })
            }),
            cache: None,
        }
    }
}

pub fn rules(yaml: &str) -> ResultRules {
    serde_yaml::from_str(yaml).unwrap()
}

pub fn compiled(yaml: &str) -> Compiled {
    Compiled::new(&rules(yaml)).unwrap()
}

pub fn answer(status: u16, content_type: &str, body: impl Into<Bytes>) -> Response {
    let mut headers = http::HeaderMap::new();
    if !content_type.is_empty() {
        headers.insert("content-type", content_type.parse().unwrap());
    }
    let status = http::StatusCode::from_u16(status).unwrap();
    Response { status, headers, body: body.into(), truncated: false, elapsed: Duration::ZERO }
}

pub fn header(mut response: Response, name: &'static str, value: &str) -> Response {
    response.headers.append(name, value.parse().unwrap());
    response
}

pub fn arguments(value: Value) -> Arguments {
    value.as_object().unwrap().clone()
}

pub fn content_of(tool: &Tool, response: &Response) -> Content {
    from_response(tool, &arguments(json!({"id": 7})), response, "rest-mcp:get_order", None)
}

/// The content of a JSON answer through a `result` mapping.
pub fn shaped(yaml: &str, body: Value) -> Content {
    content_of(&Make::new().result(yaml).tool(), &answer(200, "application/json", body.to_string()))
}

/// All blocks in short words.
pub fn spoken(content: &Content) -> Vec<String> {
    content
        .blocks
        .iter()
        .map(|block| match block {
            Block::Text(Text::Plain(text)) => text.clone(),
            Block::Text(Text::Json(json)) => json.to_text(),
            Block::Text(Text::Read { json, .. }) => String::from_utf8_lossy(json).into_owned(),
            Block::Image { data, mime_type } => format!("image {mime_type} {}", data.len()),
            Block::Audio { data, mime_type } => format!("audio {mime_type} {}", data.len()),
            Block::Resource(resource) => {
                let mime_type = resource.mime_type.as_deref().unwrap_or("?");
                match &resource.body {
                    ResourceBody::Text(text) => format!("resource {} {mime_type} {text}", resource.uri),
                    ResourceBody::Blob(data) => format!("resource {} {mime_type} {} bytes", resource.uri, data.len()),
                }
            }
            Block::Link { uri, name, mime_type, size } => {
                format!("link {uri} {name} {} {size:?}", mime_type.as_deref().unwrap_or("?"))
            }
        })
        .collect()
}

pub fn structured(content: &Content) -> Option<Value> {
    content.structured.as_ref().map(rest_mcp::content::Json::to_value)
}
