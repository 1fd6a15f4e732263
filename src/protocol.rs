//! MCP: JSON-RPC 2.0 messages in five revisions, over any transport.
//!
//! A [`Server`] answers one decoded message at a time and knows no sockets. Two eras share it:
//! *modern* requests (2026-07-28) describe themselves in `params._meta` and touch no state; *legacy*
//! ones (2024-11-05 to 2025-11-25) live in a session that an `initialize` handshake opened. The
//! presence of the version claim in `_meta` decides, message by message.
//!
//! Whatever is sent is shaped by one table of what each revision knows (`protocol/version`).

mod calls;
mod convert;
mod cursor;
mod elicit;
mod error;
mod events;
pub(crate) mod jsonrpc;
mod legacy;
pub(crate) mod mirror;
mod modern;
mod queue;
mod reply;
mod subscribe;
mod tasks;
mod text;
mod version;
mod watch;

pub(crate) use error::{INVALID_REQUEST, RpcError, TOO_MANY_REQUESTS};
pub use events::Level;
pub(crate) use legacy::{Admission, Session};
pub(crate) use modern::header_without_claim;
pub(crate) use queue::Queue;
pub(crate) use reply::Reply;
pub(crate) use subscribe::{EVERYTHING, list_changed, updated};
pub use version::Version;

use crate::access::Caller;
use crate::audit::{Event, Who};
use crate::catalog::{Catalog, Tool};
use crate::content::wire::WireOptions;
use crate::service::{Handler, Visible};
use arc_swap::ArcSwap;
use convert::View;
use cursor::Kind;
use error::INVALID_PARAMS;
use jsonrpc::{Id, Request};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use version::Structured;

/// Reloads during one request after which it gives up.
const MOST_RELOADS: usize = 8;

/// How the server presents itself and what it allows, whatever the transport.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `serverInfo.name`.
    pub name: String,
    /// `serverInfo.version`.
    pub version: String,
    /// `serverInfo.title`.
    pub title: Option<String>,
    /// `serverInfo.description`.
    pub description: Option<String>,
    /// `serverInfo.websiteUrl`.
    pub website_url: Option<String>,
    /// `serverInfo.icons`.
    pub icons: Vec<Value>,
    /// `instructions` for the model.
    pub instructions: Option<String>,
    /// Items on one page of a list; `None` = all.
    pub page_size: Option<usize>,
    /// `ttlMs` of lists and `server/discover`, in milliseconds.
    pub ttl_ms: u64,
    /// True if every `cacheScope` is `private`, also of lists that are the same for everybody.
    pub private_lists: bool,
    /// Announce changes of lists (`listChanged`).
    pub list_changed: bool,
    /// How often a resource that a client subscribed to is asked whether it changed; zero = none can be subscribed to.
    pub watch_every: Duration,
    /// Most resources watched at a time.
    pub max_watched: usize,
    /// Signs cursors; the same on all replicas. Empty = random.
    pub state_key: Vec<u8>,
    /// Deepest nesting of a message.
    pub max_depth: usize,
    /// Most requests in flight per connection or session.
    pub max_in_flight: usize,
    /// Most rounds of asking the client during one legacy call.
    pub max_rounds: usize,
    /// Most calls that go on as tasks at once; zero = none. Tasks are known to this process only.
    pub max_tasks: usize,
    /// How long a task is kept after its longest wait.
    pub task_retention: Duration,
    /// Longest wait for a client's answer to a request of ours.
    pub ask_timeout: Duration,
    /// Least severe log line for legacy peers that did not set a level.
    pub log_level: Level,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            title: None,
            description: None,
            website_url: None,
            icons: Vec::new(),
            instructions: None,
            page_size: None,
            ttl_ms: 0,
            private_lists: false,
            list_changed: true,
            watch_every: Duration::from_secs(30),
            max_watched: 1000,
            state_key: Vec::new(),
            max_depth: 100,
            max_in_flight: 128,
            max_rounds: 16,
            max_tasks: 256,
            task_retention: Duration::from_secs(600),
            ask_timeout: Duration::from_secs(600),
            log_level: Level::Info,
        }
    }
}

/// What the transport knows about one message.
pub(crate) struct Scope<'a> {
    pub(crate) caller: Arc<Caller>,
    /// Fires when this request is cancelled.
    pub(crate) cancel: CancellationToken,
    /// Fires when the server ends.
    pub(crate) closing: &'a CancellationToken,
    /// Where messages in front of the response go; `None` = the client can't take any.
    pub(crate) queue: Option<&'a Arc<Queue>>,
    /// HTTP only.
    pub(crate) headers: Option<&'a http::HeaderMap>,
    /// True on stdio.
    pub(crate) local: bool,
    /// `stdio`, `http`, `sse` or `websocket`.
    pub(crate) transport: &'static str,
}

/// Answers MCP messages out of a [`Handler`].
pub struct Server {
    handler: Arc<dyn Handler>,
    settings: Settings,
    view: ArcSwap<View>,
    /// The view of a catalog that the handler will have next.
    next: Mutex<Option<Arc<View>>>,
    tasks: tasks::Tasks,
    watches: watch::Watches,
    state_key: Vec<u8>,
    /// `serverInfo` of modern results, as JSON text and as a member of `_meta`.
    info_text: String,
    info_member: String,
    seed: u64,
    counter: AtomicU64,
}

impl Server {
    /// Fails only if the system has no randomness to give.
    pub fn new(handler: Arc<dyn Handler>, settings: Settings) -> std::io::Result<Self> {
        let mut random = [0u8; 40];
        getrandom::fill(&mut random).map_err(|error| std::io::Error::other(error.to_string()))?;
        let (key, seed) = random.split_at(32);
        let state_key = if settings.state_key.is_empty() { key.to_vec() } else { settings.state_key.clone() };
        let seed = seed.first_chunk::<8>().copied().map_or(0, u64::from_le_bytes);
        let tasks = tasks::Tasks::new(settings.max_tasks, settings.task_retention);
        let watches = watch::Watches::new(settings.watch_every, settings.max_watched);
        let view = ArcSwap::from_pointee(View::new(handler.catalog(), tasks.is_on()));
        let mut server = Server {
            handler,
            settings,
            view,
            next: Mutex::default(),
            tasks,
            watches,
            state_key,
            info_text: String::new(),
            info_member: String::new(),
            seed,
            counter: AtomicU64::new(0),
        };
        server.info_text = server.info(Version::V2026_07_28).to_string();
        server.info_member = format!(r#""io.modelcontextprotocol/serverInfo":{}"#, server.info_text);
        Ok(server)
    }

    /// What the server was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Fires on reload.
    pub(crate) fn changes(&self) -> tokio::sync::broadcast::Receiver<crate::service::Change> {
        self.handler.changes()
    }

    /// Decodes a message within the configured depth.
    pub(crate) fn decode<'a>(&self, bytes: &'a [u8]) -> Result<jsonrpc::Incoming<'a>, jsonrpc::Rejected> {
        jsonrpc::decode(bytes, self.settings.max_depth)
    }

    /// Answers a request that claims a revision in `_meta`.
    pub(crate) async fn serve_modern(&self, request: &Request<'_>, scope: &Scope<'_>) -> Reply {
        modern::serve(self, request, scope).await
    }

    /// Answers a request that claims none, in its session.
    pub(crate) async fn serve_legacy(&self, session: &Session, request: &Request<'_>, scope: &Scope<'_>) -> Reply {
        legacy::serve(self, session, request, scope).await
    }

    /// Makes the lists of the catalog that the handler will have next, in the revisions that were asked for so far: who asks
    /// first after a reload need not wait for them.
    pub fn prepare(&self, catalog: Arc<Catalog>) {
        let next = View::new(catalog, self.tasks.is_on());
        next.make_as(&self.view.load());
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(next));
    }

    fn view(&self) -> Arc<View> {
        let catalog = self.handler.catalog();
        let current = self.view.load();
        if Arc::ptr_eq(&current.catalog, &catalog) {
            return Arc::clone(&current);
        }
        let next = self.next.lock().unwrap_or_else(PoisonError::into_inner).take();
        let fresh = next
            .filter(|next| Arc::ptr_eq(&next.catalog, &catalog))
            .unwrap_or_else(|| Arc::new(View::new(catalog, self.tasks.is_on())));
        self.view.store(Arc::clone(&fresh));
        fresh
    }

    /// A catalog together with what the caller may see of this very catalog: a reload in between
    /// would make indices of one point into the other.
    fn view_for(&self, caller: &Caller) -> Result<(Arc<View>, Visible), RpcError> {
        for _ in 0..MOST_RELOADS {
            let view = self.view();
            let visible = self.handler.visible(caller);
            if matches!(visible, Visible::All) || Arc::ptr_eq(&view.catalog, &self.handler.catalog()) {
                return Ok((view, visible));
            }
        }
        Err(RpcError::new(error::INTERNAL_ERROR, "The catalog is being reloaded"))
    }

    /// `Implementation` as the revision knows it.
    fn info(&self, version: Version) -> Value {
        let (settings, knows) = (&self.settings, version.knows());
        let mut info = json!({"name": settings.name, "version": settings.version});
        if let Some(info) = info.as_object_mut() {
            let mut put = |key: &str, known: bool, value: &Option<String>| {
                if let (true, Some(value)) = (known, value) {
                    info.insert(key.to_owned(), value.as_str().into());
                }
            };
            put("title", knows.title, &settings.title);
            put("description", knows.icons, &settings.description);
            put("websiteUrl", knows.icons, &settings.website_url);
            if knows.icons && !settings.icons.is_empty() {
                info.insert("icons".to_owned(), settings.icons.clone().into());
            }
        }
        info
    }

    /// Members of `_meta` on every result of this revision.
    fn result_meta(&self, version: Version) -> Option<&str> {
        version.is_modern().then_some(self.info_member.as_str())
    }

    /// How content of this revision is written.
    fn wire_options(&self, version: Version, wrap_objects: bool) -> WireOptions<'_> {
        let knows = version.knows();
        WireOptions {
            structured: knows.structured != Structured::Unknown,
            wrap_structured: knows.structured == Structured::Object,
            wrap_objects,
            audio: knows.audio,
            links: knows.links,
            result_type: knows.modern,
            server_info: knows.modern.then_some(self.info_text.as_str()),
        }
    }

    fn capabilities(&self, version: Version) -> Value {
        let catalog = self.handler.catalog();
        let (changed, modern) = (self.settings.list_changed, version.is_modern());
        let mut capabilities = json!({"logging": {}, "tools": {"listChanged": changed}});
        if let Some(object) = capabilities.as_object_mut() {
            if !catalog.resources.is_empty() {
                object
                    .insert("resources".to_owned(), json!({"subscribe": self.watches.is_on(), "listChanged": changed}));
            }
            if !catalog.prompts.is_empty() {
                object.insert("prompts".to_owned(), json!({"listChanged": changed}));
            }
            if version.knows().completions && completes(&catalog) {
                object.insert("completions".to_owned(), json!({}));
            }
            if version.knows().tasks && self.view().tasks {
                // No list: without authentication it would tell one client of another's tasks.
                object.insert("tasks".to_owned(), json!({"cancel": {}, "requests": {"tools": {"call": {}}}}));
            }
            if modern && self.view().tasks {
                object.insert("extensions".to_owned(), json!({tasks::EXTENSION: {}}));
            }
        }
        capabilities
    }

    /// True if the revision has the method and the capability behind it is declared.
    fn offers(&self, method: &str, version: Version) -> bool {
        let modern = version.is_modern();
        match method {
            "tools/call" | "tools/list" => true,
            "server/discover" => modern,
            "initialize" | "ping" | "logging/setLevel" => !modern,
            "resources/list" | "resources/read" | "resources/templates/list" => {
                !self.handler.catalog().resources.is_empty()
            }
            "resources/subscribe" | "resources/unsubscribe" => {
                !modern && self.watches.is_on() && !self.handler.catalog().resources.is_empty()
            }
            "prompts/list" | "prompts/get" => !self.handler.catalog().prompts.is_empty(),
            "completion/complete" => completes(&self.handler.catalog()),
            "tasks/get" | "tasks/cancel" => (modern || version.knows().tasks) && self.view().tasks,
            "tasks/result" => version.knows().tasks && self.view().tasks,
            "tasks/update" => modern && self.view().tasks,
            "subscriptions/listen" => {
                modern && (self.settings.list_changed || self.watches.is_on() || self.view().tasks)
            }
            _ => false,
        }
    }

    /// How long a call of this tool lives as a task; `None` = it never becomes one.
    fn task_plan(&self, name: &str, wanted: Option<Duration>, version: Version) -> Option<tasks::Plan> {
        let view = self.view();
        let rules = tasks::waits(view.catalog.tools.get(name).filter(|_| view.tasks)?)?;
        Some(self.tasks.plan(rules, wanted, version))
    }

    /// Asks what a remote policy must be asked before [`Handler::visible`] can answer.
    pub(crate) async fn look(&self, scope: &Scope<'_>) {
        if let Some(look) = self.handler.look(&scope.caller) {
            look.await;
        }
    }

    /// Writes down what was answered without the service.
    fn record(&self, scope: &Scope<'_>, meta: Option<&jsonrpc::Meta<'_>>, event: Event<'_>) {
        let Some(audit) = self.handler.audit() else { return };
        let trace = calls::trace(scope, meta);
        let parent = trace.as_ref().and_then(|trace| trace.traceparent.as_deref());
        let who = Who {
            caller: Some(&scope.caller),
            request_id: &self.next_request_id(),
            trace_id: parent.and_then(|parent| parent.split('-').nth(1)),
            transport: scope.transport,
        };
        audit.record(who, event);
    }

    /// Writes down that a client began.
    fn record_start(
        &self,
        scope: &Scope<'_>,
        meta: Option<&jsonrpc::Meta<'_>>,
        method: &'static str,
        client: Option<&RawValue>,
        version: Version,
    ) {
        if self.handler.audit().is_none() {
            return;
        }
        let client: Value = client.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
        let member = |name: &str| client.get(name).and_then(Value::as_str);
        let client = member("name").map(|name| (name, member("version").unwrap_or_default()));
        self.record(scope, meta, Event::Start { method, client, protocol_version: version.as_str() });
    }

    /// The tool, if the caller may see it.
    fn seen_tool(&self, name: &str, caller: &Caller) -> Option<Arc<Tool>> {
        let (view, visible) = self.view_for(caller).ok()?;
        let (index, _, tool) = view.catalog.tools.get_full(name)?;
        let seen = match &visible {
            Visible::All => true,
            Visible::Only { tools, .. } => tools.binary_search(&index).is_ok(),
        };
        seen.then(|| Arc::clone(tool))
    }

    /// One page of a list.
    fn list(
        &self,
        kind: Kind,
        version: Version,
        id: &Id<'_>,
        params: &jsonrpc::Params<'_>,
        scope: &Scope<'_>,
    ) -> Result<Reply, RpcError> {
        let cursor = params.cursor;
        let (view, visible) = self.view_for(&scope.caller)?;
        let place = |start| view.cursor(kind, version, &visible, start);
        let invalid = || RpcError::new(INVALID_PARAMS, "Invalid cursor");
        let start = match cursor.filter(|raw| raw.get() != "null") {
            None => 0,
            Some(raw) => {
                jsonrpc::string(raw).and_then(|text| place(0).open(&text, &self.state_key)).ok_or_else(invalid)?
            }
        };
        let part = view.page(kind, version, &visible, start, self.settings.page_size).ok_or_else(invalid)?;
        let next = part.next.and_then(|next| place(next).seal(&self.state_key));
        if kind == Kind::Tools {
            self.record(scope, params.meta.as_ref(), Event::List { count: part.count });
        }
        Ok(Reply::in_pieces(id.as_json(), |pieces| {
            let out = &mut pieces.text;
            out.extend_from_slice(if version.is_modern() { b"{\"resultType\":\"complete\",\"" } else { b"{\"" });
            out.extend_from_slice(kind.member().as_bytes());
            out.extend_from_slice(b"\":");
            pieces.push_shared(&part.items);
            let out = &mut pieces.text;
            if let Some(next) = next {
                out.extend_from_slice(format!(r#","nextCursor":"{next}""#).as_bytes());
            }
            if version.is_modern() {
                let public = matches!(visible, Visible::All) && !self.settings.private_lists;
                let scope = if public { "public" } else { "private" };
                let ttl = self.settings.ttl_ms;
                out.extend_from_slice(format!(r#","ttlMs":{ttl},"cacheScope":"{scope}""#).as_bytes());
            }
            text::put_meta(out, self.result_meta(version), None);
            out.push(b'}');
        }))
    }

    /// Unique per process, and not to be guessed from another.
    fn next_request_id(&self) -> Arc<str> {
        // SplitMix64 over a random start: a bijection, so no two are equal.
        let count = self.counter.fetch_add(1, Ordering::Relaxed);
        let mut z = self.seed.wrapping_add(count.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let digits = (z ^ (z >> 31)).to_be_bytes();
        let hex = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
        Arc::from(digits.iter().flat_map(|byte| [hex(byte >> 4), hex(byte & 15)]).collect::<String>())
    }
}

/// True if something in the catalog can be completed.
fn completes(catalog: &Catalog) -> bool {
    !catalog.prompts.is_empty() || catalog.resources.iter().any(|resource| resource.is_template)
}
