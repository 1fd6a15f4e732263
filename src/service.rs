//! One call end to end, about one line a stage.
//!
//! [`Service`] knows nothing of MCP revisions: asking the person is always [`Outcome::InputRequired`];
//! `protocol/legacy` turns it into server requests and calls again with the answers.

pub mod ask;
mod cache;
mod links;
mod observe;
mod pages;
mod poll;
mod read;
mod request;
mod run;
mod search;
pub mod state;
mod steps;
mod stream;
mod watch;
mod workflow;

pub use crate::access::Visible;
pub use observe::{Observer, Record};
pub use request::wanted_headers;
pub use run::{Service, State};

use crate::access::Caller;
use crate::audit::Audit;
use crate::catalog::Catalog;
use crate::content::{Content, ResourceContents};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::pin::Pin;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What a call may use while it runs. Cheap to make.
#[derive(Clone)]
pub struct Context {
    /// Who calls.
    pub caller: Arc<Caller>,
    /// Ties log, audit, trace and error text together.
    pub request_id: Arc<str>,
    /// Fires when the client cancelled or went away.
    pub cancel: CancellationToken,
    /// Where progress and log lines go; `None` = nobody asked.
    pub events: Option<Arc<dyn Events>>,
    /// What the client can do.
    pub client: ClientFeatures,
    /// W3C trace context (`traceparent`, `tracestate`), passed upstream.
    pub trace: Option<Arc<TraceContext>>,
    /// True on stdio: local files may be named where allowed.
    pub local: bool,
    /// `stdio`, `http`, `sse` or `websocket`; for the audit trail.
    pub transport: &'static str,
    /// Where the request came from in terms of the protocol, for traces.
    pub peer: Peer,
    /// What is learnt of the call while it runs; `None` = nobody wants to know.
    pub record: Option<Arc<Record>>,
}

/// A request's place in the conversation with its client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Peer {
    /// JSON-RPC id, a string without its quotes.
    pub rpc_id: Option<Arc<str>>,
    /// `Mcp-Session-Id` of the older revisions.
    pub session_id: Option<Arc<str>>,
    /// Revision of the protocol.
    pub protocol_version: Option<&'static str>,
}

impl Context {
    /// A context for the command line: anonymous, local, nobody listens, nothing can be asked.
    pub fn local() -> Self {
        Context {
            caller: Arc::default(),
            request_id: Arc::from("local"),
            cancel: CancellationToken::new(),
            events: None,
            client: ClientFeatures::default(),
            trace: None,
            local: true,
            transport: "stdio",
            peer: Peer::default(),
            record: None,
        }
    }
}

/// Progress and log lines of a running call.
pub trait Events: Send + Sync {
    /// One step of progress; must increase.
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>);
    /// One log line; `level` is an MCP LoggingLevel.
    fn log(&self, level: &str, message: &Value);
    /// The call begins to wait for a job of the API, which may take minutes.
    fn waiting(&self) {}
}

/// Name of the tasks extension.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// What the client declared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClientFeatures {
    /// Form elicitation.
    pub elicitation: bool,
    /// Sampling.
    pub sampling: bool,
    /// Roots.
    pub roots: bool,
    /// Calls may become tasks: the extension of 2026-07-28, or `params.task` of 2025-11-25.
    pub tasks: bool,
}

/// W3C trace context.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceContext {
    /// `traceparent`.
    pub traceparent: Option<String>,
    /// `tracestate`.
    pub tracestate: Option<String>,
    /// `baggage`.
    pub baggage: Option<String>,
}

/// Answers to an earlier [`Outcome::InputRequired`].
#[derive(Debug, Clone, Default)]
pub struct Round {
    /// By key: result of `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub answers: Map<String, Value>,
    /// The opaque state handed out before.
    pub state: Option<String>,
}

/// What came of a request for a tool, resource or prompt.
#[derive(Debug)]
pub enum Outcome<T> {
    /// Done (a failed call too: `Content::is_error`).
    Complete(T),
    /// The person or the client must give something first.
    InputRequired {
        /// By key: `{method, params}`; may be empty.
        requests: Map<String, Value>,
        /// Signed, expiring, bound to the caller.
        state: Option<String>,
    },
}

/// Why a request has no outcome: becomes a JSON-RPC error.
#[derive(Debug, Clone)]
pub enum Failure {
    /// No such tool (or none this caller may know of).
    UnknownTool(String),
    /// No such resource.
    UnknownResource(String),
    /// No such prompt.
    UnknownPrompt(String),
    /// Bad parameters; the text says which.
    InvalidParams(String),
    /// The client lacks these capabilities (a ClientCapabilities object).
    MissingCapability(Value),
    /// The caller lacks scopes for this tool.
    InsufficientScope(Vec<String>),
    /// Our fault; the text is for the client, details are in the log.
    Internal(String),
}

/// Result of `resources/read`.
#[derive(Debug)]
pub struct ReadResult {
    /// At least one.
    pub contents: Vec<ResourceContents>,
    /// From the upstream's `Cache-Control: max-age`.
    pub ttl_ms: Option<u64>,
}

/// Result of `prompts/get`.
#[derive(Debug)]
pub struct PromptResult {
    /// `description`.
    pub description: Option<String>,
    /// Role and content.
    pub messages: Vec<(String, crate::content::Block)>,
}

/// Result of `completion/complete`.
#[derive(Debug, Default)]
pub struct Completion {
    /// At most 100.
    pub values: Vec<String>,
    /// How many there are.
    pub total: Option<usize>,
    /// True if there are more.
    pub has_more: bool,
}

/// What changed by a reload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The tool list.
    Tools,
    /// The prompt list.
    Prompts,
    /// The resource list.
    Resources,
}

/// What a resource looked like: after a change, its digest is another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// SHA-256 of what was read.
    pub digest: [u8; 32],
    /// The API's `ETag`.
    pub etag: Option<String>,
    /// The API's `Last-Modified`.
    pub modified: Option<String>,
}

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A running request.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<Outcome<T>, Failure>> + Send + 'a>>;

/// What `protocol` drives: the service, or a double in tests.
pub trait Handler: Send + Sync {
    /// The catalog in force.
    fn catalog(&self) -> Arc<Catalog>;
    /// What this caller may see and call.
    fn visible(&self, caller: &Caller) -> Visible;
    /// Asks what must be asked elsewhere (a remote policy) so that [`Handler::visible`] can answer at once;
    /// `None` where nothing must be.
    fn look<'a>(&'a self, caller: &'a Caller) -> Option<BoxFuture<'a, ()>> {
        let _ = caller;
        None
    }
    /// The audit trail, for what is answered without the service; `None` = off.
    fn audit(&self) -> Option<&Audit> {
        None
    }
    /// `tools/call`. `arguments` is the caller's JSON text (an object) or absent.
    fn call_tool<'a>(
        &'a self,
        context: &'a Context,
        name: &'a str,
        arguments: Option<&'a RawValue>,
        round: Round,
    ) -> Answer<'a, Content>;
    /// `resources/read`.
    fn read_resource<'a>(&'a self, context: &'a Context, uri: &'a str, round: Round) -> Answer<'a, ReadResult>;
    /// What a resource looks like now, asked in the caller's own name; `last` is what was seen before. The error is
    /// [`Failure::UnknownResource`] where the caller may not read it.
    fn glance<'a>(
        &'a self,
        context: &'a Context,
        uri: &'a str,
        last: Option<&'a Mark>,
    ) -> BoxFuture<'a, Result<Mark, Failure>>;
    /// `prompts/get`.
    fn get_prompt<'a>(
        &'a self,
        context: &'a Context,
        name: &'a str,
        arguments: &'a Map<String, Value>,
        round: Round,
    ) -> Answer<'a, PromptResult>;
    /// `completion/complete` for argument `argument` of a prompt (`Ok(name)`) or a resource template (`Err(uri)`),
    /// with what the person typed so far and the arguments already given.
    fn complete<'a>(
        &'a self,
        context: &'a Context,
        reference: Result<&'a str, &'a str>,
        argument: &'a str,
        typed: &'a str,
        given: &'a Map<String, Value>,
    ) -> Answer<'a, Completion>;
    /// Fires on reload.
    fn changes(&self) -> tokio::sync::broadcast::Receiver<Change>;
}
