//! What an OpenAPI document says, the same whatever its version (2.0, 3.0, 3.1, 3.2).
//!
//! `openapi/read` walks the document node by node; a node that can't be used costs its operation
//! (listed in [`Api::skipped`] with the reason), never the document. After this module nobody looks
//! into an OpenAPI document again.

use crate::diagnostic::{Diagnostic, Place};
use crate::schema::{Definitions, Schema};
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::sync::Arc;

/// One API description.
#[derive(Debug)]
pub struct Api {
    /// `info.title`.
    pub title: String,
    /// `info.version`.
    pub version: String,
    /// `info.description`.
    pub description: Option<String>,
    /// Every usable operation, in document order.
    pub operations: Vec<Operation>,
    /// Every operation that can't be used, in document order, and why.
    pub skipped: Vec<Skipped>,
    /// `components.securitySchemes`, by name.
    pub security_schemes: IndexMap<String, SecurityScheme>,
    /// The schemas that operations refer to.
    pub definitions: Arc<Definitions>,
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
    /// Where the operation stands.
    pub place: Option<Place>,
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
    pub examples: Vec<Value>,
    /// `encoding`, by property name.
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
