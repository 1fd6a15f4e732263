//! How values become requests: the style table, bodies, credentials, and what must never get through.

mod bodies;
mod credentials;
mod injection;
mod plans;
mod properties;
mod show;
mod styles;
mod values;

use http::Method;
use indexmap::IndexMap;
use rest_mcp::catalog::{Arguments, Binding, From, Placement, RequestAction, SecretOr, SourcePlan, Spot};
use rest_mcp::mapping::StatusSet;
use rest_mcp::openapi::{ParameterEncoding, ParameterIn, Style};
use rest_mcp::request::{
    BodyPlan, Credential, CredentialText, Fixed, ParameterPlan, Request, Unsendable, build, parse_path, split_query,
};
use rest_mcp::secret::Secret;
use serde_json::Value;

/// An operation built by hand.
struct Operation {
    action: RequestAction,
    template: String,
    source: SourcePlan,
    credentials: Vec<Credential>,
}

fn operation(method: &str, path: &str) -> Operation {
    Operation {
        action: RequestAction {
            source: 0,
            method: Method::from_bytes(method.as_bytes()).unwrap(),
            base_url: "https://api.example".to_owned(),
            path: Vec::new(),
            fixed_query: split_query(path).1.map(str::to_owned),
            parameters: Vec::new(),
            body: None,
            accept: "application/json".to_owned(),
            bindings: Vec::new(),
            security: Vec::new(),
            success: StatusSet(vec![200..=299]),
            errors: None,
            timeout: None,
            paginate: None,
            poll: None,
            stream: None,
            idempotent: true,
            own: Vec::new(),
            aliases: Vec::new(),
        },
        template: path.to_owned(),
        source: SourcePlan {
            name: "api".to_owned(),
            base_url: "https://api.example".to_owned(),
            credentials: IndexMap::new(),
            headers: Vec::new(),
            forward_headers: Vec::new(),
            tls: Default::default(),
            limits: Default::default(),
            upload_dirs: Vec::new(),
        },
        credentials: Vec::new(),
    }
}

fn style(style: Style, explode: bool) -> ParameterEncoding {
    ParameterEncoding::Style { style, explode, allow_reserved: false, allow_empty_value: false }
}

fn content(media_type: &str) -> ParameterEncoding {
    ParameterEncoding::Content { media_type: media_type.to_owned() }
}

fn binding(from: From, spot: Spot) -> Binding {
    Binding { from, spot, required: false, default: None, keep_null: false }
}

impl Operation {
    fn base(mut self, base: &str) -> Self {
        self.action.base_url = base.to_owned();
        self
    }

    fn parameter_from(mut self, name: &str, location: ParameterIn, encoding: ParameterEncoding, from: From) -> Self {
        let required = location == ParameterIn::Path;
        let index = self.action.parameters.len();
        self.action.parameters.push(ParameterPlan {
            name: name.to_owned(),
            location,
            encoding,
            inner: Vec::new(),
            required,
        });
        let mut binding = binding(from, Spot::Parameter(index));
        binding.required = required;
        self.action.bindings.push(binding);
        self
    }

    /// A parameter whose argument has the same name.
    fn parameter(self, name: &str, location: ParameterIn, encoding: ParameterEncoding) -> Self {
        self.parameter_from(name, location, encoding, From::Argument(name.to_owned()))
    }

    fn path(self, name: &str) -> Self {
        self.parameter(name, ParameterIn::Path, style(Style::Simple, false))
    }

    fn query(self, name: &str) -> Self {
        self.parameter(name, ParameterIn::Query, style(Style::Form, true))
    }

    fn header(self, name: &str) -> Self {
        self.parameter(name, ParameterIn::Header, style(Style::Simple, false))
    }

    fn cookie(self, name: &str) -> Self {
        self.parameter(name, ParameterIn::Cookie, style(Style::Form, true))
    }

    /// The last parameter is required.
    fn required(mut self) -> Self {
        self.action.parameters.last_mut().unwrap().required = true;
        self.action.bindings.last_mut().unwrap().required = true;
        self
    }

    /// A body taken whole from the argument `body`.
    fn body(self, plan: BodyPlan) -> Self {
        self.body_from(plan, From::Argument("body".to_owned()), Spot::Body)
    }

    fn body_from(mut self, plan: BodyPlan, from: From, spot: Spot) -> Self {
        self.action.body = Some(plan);
        let mut binding = binding(from, spot);
        binding.keep_null = true;
        self.action.bindings.push(binding);
        self
    }

    fn bind(mut self, from: From, spot: Spot) -> Self {
        self.action.bindings.push(binding(from, spot));
        self
    }

    fn credential(mut self, placement: Placement, value: &str) -> Self {
        self.credentials.push(Credential { placement, value: CredentialText::Secret(Secret::new(value)) });
        self
    }

    fn source_header(mut self, name: &str, value: &str) -> Self {
        let name = http::HeaderName::from_bytes(name.as_bytes()).unwrap();
        self.source.headers.push((name, SecretOr::Plain(value.to_owned())));
        self
    }

    fn try_build_with(mut self, arguments: Value, fixed: &Fixed<'_>) -> Result<Request, Unsendable> {
        self.action.path = parse_path(&self.template, &self.action.parameters).unwrap();
        let Value::Object(arguments): Value = arguments else { panic!("arguments must be an object") };
        let arguments: Arguments = arguments;
        build(&self.action, &self.source, &arguments, fixed, &self.credentials)
    }

    fn try_build(self, arguments: Value) -> Result<Request, Unsendable> {
        self.try_build_with(arguments, &Fixed::default())
    }

    fn build(self, arguments: Value) -> Request {
        let shown = arguments.to_string();
        self.try_build(arguments).unwrap_or_else(|refused| panic!("{shown}: {refused}"))
    }

    fn url(self, arguments: Value) -> String {
        self.build(arguments).url
    }

    fn refusal(self, arguments: Value) -> Unsendable {
        let shown = arguments.to_string();
        match self.try_build(arguments) {
            Ok(request) => panic!("{shown}: sent as {request:?}"),
            Err(refused) => refused,
        }
    }
}

fn header_text<'r>(request: &'r Request, name: &str) -> Option<&'r str> {
    request.headers.get(name).map(|value| std::str::from_utf8(value.as_bytes()).unwrap())
}

fn body_text(request: &Request) -> &str {
    std::str::from_utf8(request.body.as_deref().expect("a body")).unwrap()
}
