//! An operation by hand, and what must hold for every URL it builds.

use http::Method;
use rest_mcp::catalog::{Binding, From, RequestAction, SourcePlan, Spot};
use rest_mcp::mapping::StatusSet;
use rest_mcp::openapi::{ParameterEncoding, ParameterIn, Style};
use rest_mcp::request::{Fixed, ParameterPlan, build, parse_path, split_query};
use serde_json::Value;
use url::Url;

/// An operation on `api.example`.
pub struct Site {
    action: RequestAction,
    template: String,
}

/// `schema` with this style.
pub fn style(style: Style, explode: bool, allow_reserved: bool) -> ParameterEncoding {
    ParameterEncoding::Style { style, explode, allow_reserved, allow_empty_value: false }
}

impl Site {
    /// GET on a path template.
    pub fn new(template: &str) -> Site {
        let action = RequestAction {
            source: 0,
            method: Method::GET,
            base_url: "https://api.example".to_owned(),
            path: Vec::new(),
            fixed_query: split_query(template).1.map(str::to_owned),
            parameters: Vec::new(),
            body: None,
            accept: "*/*".to_owned(),
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
        };
        Site { action, template: template.to_owned() }
    }

    /// With another base URL.
    pub fn base(mut self, base: &str) -> Site {
        self.action.base_url = base.to_owned();
        self
    }

    /// With a parameter whose argument has the same name.
    pub fn parameter(mut self, name: &str, location: ParameterIn, encoding: ParameterEncoding) -> Site {
        let required = location == ParameterIn::Path;
        let spot = Spot::Parameter(self.action.parameters.len());
        self.action.parameters.push(ParameterPlan {
            name: name.to_owned(),
            location,
            encoding,
            inner: Vec::new(),
            required,
        });
        let from = From::Argument(name.to_owned());
        self.action.bindings.push(Binding { from, spot, required, default: None, keep_null: false });
        self
    }

    /// The URL as a URL parser reads it, which is to the letter what was built; `None` where it was refused.
    pub fn build(mut self, arguments: Value) -> Option<Url> {
        self.action.path = parse_path(&self.template, &self.action.parameters).ok()?;
        let source = SourcePlan {
            name: "api".to_owned(),
            base_url: self.action.base_url.clone(),
            credentials: Default::default(),
            headers: Vec::new(),
            forward_headers: Vec::new(),
            tls: Default::default(),
            limits: Default::default(),
            upload_dirs: Vec::new(),
        };
        let built = build(&self.action, &source, arguments.as_object()?, &Fixed::default(), &[]);
        let request = match built {
            Ok(request) => request,
            Err(refusal) => {
                assert!(!refusal.message.is_empty());
                return None;
            }
        };
        // An author's own dot segment is refused where the request is sent.
        let path = self.template.split(['?', '#']).next().unwrap_or_default();
        if path
            .split('/')
            .any(|segment| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | ".."))
        {
            return None;
        }
        let url = Url::parse(&request.url).unwrap_or_else(|error| panic!("{}: {error}", request.url));
        assert_eq!(url.as_str(), request.url, "{arguments} in {}", self.template);
        assert_eq!((url.scheme(), url.host_str(), url.port()), ("https", Some("api.example"), None), "{}", request.url);
        assert_eq!((url.username(), url.password(), url.fragment()), ("", None, None), "{}", request.url);
        request.url.parse::<http::Uri>().unwrap_or_else(|error| panic!("{}: {error}", request.url));
        Some(url)
    }
}
