//! What an OpenAPI document says, the same whatever its version (2.0, 3.0, 3.1, 3.2).
//!
//! `openapi/read` walks the document node by node; a node that can't be used costs its operation
//! (listed in [`Api::skipped`] with the reason), never the document. After this module nobody looks
//! into an OpenAPI document again.

mod body;
mod dialect;
mod finding;
mod node;
mod operation;
pub mod overlay;
mod parameter;
mod path;
mod prose;
mod read;
mod reference;
mod security;
mod server;
mod swagger2;
mod text;

use crate::diagnostic::{Diagnostic, Report};
use crate::document::{Document, DocumentSet};
use crate::pace;
use crate::schema::{Definitions, Schema};
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::sync::Arc;

/// What reading may cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// Levels of schemas within schemas; what lies deeper accepts anything (with a warning).
    pub max_schema_depth: usize,
    /// Schema Objects that are converted; those beyond accept anything (with a warning).
    pub max_schemas: usize,
    /// Operations; those beyond are skipped.
    pub max_operations: usize,
    /// Examples of answers are kept. Only a mock needs them, and they can be a fifth of a document.
    pub answer_examples: bool,
}

impl Default for ReadOptions {
    /// 100 levels, 4 million schemas, 100,000 operations, everything kept.
    fn default() -> Self {
        ReadOptions { max_schema_depth: 100, max_schemas: 4_000_000, max_operations: 100_000, answer_examples: true }
    }
}

/// Reads the root document of `set`, following references into the others.
///
/// Gives the API and everything that is wrong with the document; no API where the root is no OpenAPI
/// document (Swagger 2.0, OpenAPI 3.0, 3.1, 3.2).
pub fn read(set: &DocumentSet, options: &ReadOptions) -> (Option<Api>, Report) {
    read::read(set, options)
}

/// One API description.
#[derive(Debug)]
pub struct Api {
    /// `info.title`.
    pub title: String,
    /// `info.version`.
    pub version: String,
    /// `info.description`.
    pub description: Option<String>,
    /// The document's own servers, resolved as an operation's are; empty where it has none and came from a file.
    pub servers: Vec<Server>,
    /// Every usable operation, in document order.
    pub operations: Vec<Operation>,
    /// Every operation that can't be used, in document order, and why.
    pub skipped: Vec<Skipped>,
    /// `components.securitySchemes`, by name.
    pub security_schemes: IndexMap<String, SecurityScheme>,
    /// The schemas that operations refer to.
    pub definitions: Arc<Definitions>,
}

impl Api {
    /// The operations that `name` means: those with this `operationId` (exactly one in a correct
    /// document), else those at `METHOD /path`, the method in any case.
    pub fn find(&self, name: &str) -> Vec<&Operation> {
        let by_id: Vec<&Operation> =
            self.operations.iter().filter(|it| it.operation_id.as_deref() == Some(name)).collect();
        match name.trim().split_once(char::is_whitespace) {
            Some((method, path)) if by_id.is_empty() => {
                let path = path.trim();
                self.operations.iter().filter(|it| it.path == path && it.method.eq_ignore_ascii_case(method)).collect()
            }
            _ => by_id,
        }
    }

    /// The skipped operation that `name` means, named as for [`Api::find`].
    pub fn find_skipped(&self, name: &str) -> Option<&Skipped> {
        let by_id = self.skipped.iter().find(|it| it.operation_id.as_deref() == Some(name));
        by_id.or_else(|| {
            let (method, path) = name.trim().split_once(char::is_whitespace)?;
            self.skipped.iter().find(|it| it.path == path.trim() && it.method.eq_ignore_ascii_case(method))
        })
    }
}

/// An operation that is no tool.
#[derive(Debug, Clone)]
pub struct Skipped {
    /// Upper-case HTTP method.
    pub method: String,
    /// Path template as written.
    pub path: String,
    /// `operationId` where there is one.
    pub operation_id: Option<String>,
    /// Why, with its place. Also part of the read report.
    pub reason: Diagnostic,
}

/// One operation, references resolved, path-item parts merged in.
#[derive(Debug)]
pub struct Operation {
    /// Upper-case HTTP method (any token: 3.2 has `additionalOperations`).
    pub method: String,
    /// Path template as written, such as `/pet/{petId}`.
    pub path: String,
    /// The path template taken apart; its variables are names in [`Operation::parameters`].
    pub route: Route,
    /// `operationId`, if not empty.
    pub operation_id: Option<String>,
    /// `summary` (path item's where the operation has none).
    pub summary: Option<String>,
    /// `description` (path item's where the operation has none).
    pub description: Option<String>,
    /// `tags`.
    pub tags: Vec<String>,
    /// `deprecated`.
    pub deprecated: bool,
    /// Path-item and operation parameters, the operation's winning on (name, in); document order.
    /// Never contains the header names `Accept`, `Content-Type`, `Authorization` (OpenAPI ignores them).
    pub parameters: Vec<Parameter>,
    /// `requestBody`.
    pub body: Option<RequestBody>,
    /// By status: a code such as `200`, a range such as `2XX`, or `default`; document order.
    pub responses: Vec<Response>,
    /// Operation's, else path item's, else document's servers, resolved against where the document
    /// came from. Empty when none is declared and the document came from a file.
    pub servers: Vec<Server>,
    /// Alternatives (OR) of requirements that go together (AND). Empty list = no credential needed;
    /// an empty alternative = anonymous is allowed.
    pub security: Vec<Vec<SecurityRequirement>>,
    /// The `x-…` members of operation and path item.
    pub extensions: Map<String, Value>,
    /// Where the operation stands; see [`Operation::place`].
    pub origin: Origin,
}

/// A node of a document.
#[derive(Clone)]
pub struct Origin {
    /// The document.
    pub document: Arc<Document>,
    /// JSON pointer of the node.
    pub pointer: String,
}

impl std::fmt::Debug for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}#{}", self.document.source.name, self.pointer)
    }
}

/// A path template, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Route {
    /// Literals and variables in order; begins with a slash.
    pub parts: Vec<RoutePart>,
    /// The literal query that the author wrote in the path, percent-encoded, without `?`. Variables
    /// of such a query are query parameters.
    pub fixed_query: Option<String>,
}

/// One piece of a path template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoutePart {
    /// Text sent as is, percent-encoded already.
    Literal(String),
    /// Name of the path parameter in [`Operation::parameters`] that stands here.
    Variable(String),
}

/// `in` of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParameterIn {
    /// A variable of the path template.
    Path,
    /// The query.
    Query,
    /// The whole query string (3.2).
    QueryString,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
}

/// Parameter serialization styles (OpenAPI 3.2, section "Style Values").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Style {
    /// `;color=blue`
    Matrix,
    /// `.blue`
    Label,
    /// `blue,black`
    Simple,
    /// `color=blue&color=black`
    Form,
    /// `color=blue%20black`
    SpaceDelimited,
    /// `color=blue|black`
    PipeDelimited,
    /// `color[R]=100`
    DeepObject,
    /// 3.2: `form` in a Cookie header without percent-encoding.
    Cookie,
    /// Swagger 2.0 `collectionFormat: tsv`: values joined by a tab.
    TabDelimited,
}

/// One parameter.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Its name on the wire.
    pub name: String,
    /// Where it goes.
    pub location: ParameterIn,
    /// Always true for path parameters.
    pub required: bool,
    /// `description`.
    pub description: Option<String>,
    /// `deprecated`.
    pub deprecated: bool,
    /// `example` and `examples` values.
    pub examples: Vec<Value>,
    /// How a value becomes text.
    pub encoding: ParameterEncoding,
    /// Swagger 2.0: how the lists in a list are written, the outermost first (`items.collectionFormat`).
    pub inner: Vec<Style>,
    /// What a value must look like.
    pub schema: Schema,
    /// `x-…` members.
    pub extensions: Map<String, Value>,
}

/// How a parameter's value becomes text.
#[derive(Debug, Clone, PartialEq)]
pub enum ParameterEncoding {
    /// `schema` with `style` and `explode` (defaults filled in).
    Style {
        /// `style`.
        style: Style,
        /// `explode`.
        explode: bool,
        /// `allowReserved`.
        allow_reserved: bool,
        /// `allowEmptyValue`.
        allow_empty_value: bool,
    },
    /// `content`: serialized as this media type, then percent-encoded as the place needs.
    Content {
        /// Media type.
        media_type: String,
    },
}

/// A request body.
#[derive(Debug, Clone)]
pub struct RequestBody {
    /// `required`.
    pub required: bool,
    /// `description`.
    pub description: Option<String>,
    /// By media type; document order; never empty.
    pub content: Vec<MediaType>,
}

/// Stands for the items of a list that have no position of their own in [`MediaType::encoding`].
pub const FURTHER: &str = "*";

/// One entry of a `content` map.
#[derive(Debug, Clone)]
pub struct MediaType {
    /// As declared, such as `application/json; charset=utf-8` or `image/*`.
    pub media_type: String,
    /// The schema; `true` where none is declared.
    pub schema: Schema,
    /// True where the author declared a schema.
    pub has_schema: bool,
    /// 3.2 `itemSchema`: the media type is a sequence (NDJSON, SSE, …) of such items.
    pub item_schema: Option<Schema>,
    /// `example` and `examples` values.
    pub examples: Arc<Vec<Value>>,
    /// `encoding`, by property name; of a list (3.2 `prefixEncoding` and `itemEncoding`) by position from 0, with
    /// [`FURTHER`] for all other items.
    pub encoding: IndexMap<String, Encoding>,
}

/// Encoding Object of one property of a form or multipart body.
#[derive(Debug, Clone, Default)]
pub struct Encoding {
    /// `contentType` (may be a comma-separated list or a range).
    pub content_type: Option<String>,
    /// `headers` that have a fixed value (`const`, single `enum`, `default` or example), by name.
    pub headers: IndexMap<String, String>,
    /// `style`, where given.
    pub style: Option<Style>,
    /// `explode`, where given.
    pub explode: Option<bool>,
    /// `allowReserved`.
    pub allow_reserved: bool,
    /// As [`Parameter::inner`].
    pub inner: Vec<Style>,
}

/// One response.
#[derive(Debug, Clone)]
pub struct Response {
    /// `200`, `2XX` or `default`.
    pub status: String,
    /// `description`.
    pub description: Option<String>,
    /// By media type; may be empty.
    pub content: Vec<MediaType>,
    /// Names of declared headers.
    pub headers: Vec<String>,
}

/// A server, variables not yet filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// URL template, made absolute against the document's location where possible.
    pub url: String,
    /// `description`.
    pub description: Option<String>,
    /// 3.2 `name`.
    pub name: Option<String>,
    /// Variables by name: default (text) and allowed values.
    pub variables: IndexMap<String, ServerVariable>,
}

/// A server variable.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerVariable {
    /// `default`; absent where the author forgot it.
    pub default: Option<String>,
    /// `enum`.
    pub allowed: Vec<String>,
}

/// One scheme that a call must satisfy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityRequirement {
    /// Name in [`Api::security_schemes`].
    pub scheme: String,
    /// Scopes or roles.
    pub scopes: Vec<String>,
}

/// A security scheme.
#[derive(Debug, Clone, PartialEq)]
pub enum SecurityScheme {
    /// `apiKey`.
    ApiKey {
        /// Header, Query or Cookie.
        location: ParameterIn,
        /// Header, query parameter or cookie name.
        name: String,
    },
    /// `http` with scheme `basic`.
    Basic,
    /// `http` with scheme `bearer`.
    Bearer,
    /// `oauth2`: a bearer slot; what the document says of client credentials.
    OAuth2 {
        /// `flows.clientCredentials.tokenUrl`.
        token_url: Option<String>,
        /// All scopes of all flows.
        scopes: Vec<String>,
    },
    /// `openIdConnect`: a bearer slot.
    OpenIdConnect {
        /// `openIdConnectUrl`.
        url: String,
    },
    /// `mutualTLS`: satisfied by a client certificate of the source.
    MutualTls,
    /// A kind that can't be satisfied; the text says which.
    Unsupported(String),
}

/// Large APIs are freed beside calls, operation by operation.
impl Drop for Operation {
    fn drop(&mut self) {
        pace::breathe();
    }
}
