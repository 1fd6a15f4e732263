//! The service itself: one call end to end.

use super::ask::{Asked, Asking, CONFIRM, confirmation, wait};
use super::observe::{Observer, Target, note};
use super::state::StateKey;
use super::{
    Answer, Change, Completion, Context, Failure, Handler, Mark, Outcome, PromptResult, ReadResult, Round,
    TASKS_EXTENSION, Visible,
};
use crate::access::{Caller, Decision};
use crate::audit::Audit;
use crate::call;
use crate::catalog::search::Index;
use crate::catalog::{Action, Arguments, Catalog, Tool};
use crate::content::{Content, failure};
use crate::upstream::Upstream;
use crate::upstream::auth::TenantCredentials;
use crate::upstream::limits::TenantRates;
use crate::upstream::policy::Gate;
use crate::workers;
use arc_swap::ArcSwap;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use tokio::sync::{Semaphore, broadcast};

/// How deep tools may call tools.
const DEEPEST: usize = 8;

/// Everything that a reload replaces, as one.
pub struct State {
    /// The tools.
    pub catalog: Arc<Catalog>,
    /// The connections.
    pub upstream: Arc<Upstream>,
    /// Who may do what.
    pub gate: Gate,
    /// Credentials of tenants: tenant, then source name.
    pub tenants: HashMap<String, HashMap<String, TenantCredentials>>,
    /// How often tenants may call.
    pub rates: Arc<TenantRates>,
    /// Search index, made on first use.
    pub(super) index: OnceLock<Index>,
}

impl State {
    /// A state without an index yet.
    pub fn new(catalog: Arc<Catalog>, upstream: Arc<Upstream>, gate: Gate) -> Self {
        State { catalog, upstream, gate, tenants: HashMap::new(), rates: Arc::default(), index: OnceLock::new() }
    }
}

/// The service behind every transport.
pub struct Service {
    pub(super) state: ArcSwap<State>,
    changes: broadcast::Sender<Change>,
    pub(super) key: StateKey,
    pub(super) cache: super::cache::Cache,
    pub(super) links: Arc<super::links::Links>,
    /// One for each long answer that may be shaped at once.
    pub(super) long: Arc<Semaphore>,
    pub(super) observer: Option<Observer>,
}

impl Service {
    /// A service over a first state.
    pub fn new(state: State, key: StateKey) -> Self {
        let (changes, _) = broadcast::channel(64);
        Service {
            state: ArcSwap::from_pointee(state),
            changes,
            key,
            cache: super::cache::Cache::default(),
            links: Arc::default(),
            long: Arc::new(Semaphore::new(workers::wanted().min(Semaphore::MAX_PERMITS))),
            observer: None,
        }
    }

    /// Writes down, counts and traces every call from now on.
    pub fn observed(mut self, observer: Observer) -> Self {
        self.observer = Some(observer).filter(Observer::is_on);
        self
    }

    /// The state in force.
    pub fn state(&self) -> Arc<State> {
        self.state.load_full()
    }

    /// Swaps the whole state; calls in flight finish on the old one. Tells clients what changed.
    pub fn replace(&self, state: State, changes: &[Change]) {
        self.state.store(Arc::new(state));
        self.cache.clear();
        for change in changes {
            // Nobody listening is no failure.
            let _ = self.changes.send(change.clone());
        }
    }

    async fn call(
        &self,
        context: &Context,
        name: &str,
        arguments: Option<&RawValue>,
        round: Round,
    ) -> Result<Outcome<Content>, Failure> {
        let state = self.state.load_full();
        if let Err(wait) = state.rates.check(context.caller.tenant.as_deref()) {
            note(context, "rate_limited");
            return Ok(Outcome::Complete(failure::too_many_calls(wait)));
        }
        let Some(tool) = find(&state.catalog, name) else {
            note(context, "unknown_tool");
            return Err(Failure::UnknownTool(name.to_string()));
        };
        // Search mode's own tools ask for each tool that they show or call.
        let own = matches!(tool.action, Action::Search | Action::Describe | Action::CallByName);
        let decision = if own { Decision::Allow } else { state.gate.decide(&context.caller, &tool).await };
        match decision {
            Decision::Allow => {}
            // A hidden tool must look like an unknown one.
            Decision::Hide => {
                note(context, "hidden_tool");
                return Err(Failure::UnknownTool(name.to_string()));
            }
            Decision::NeedScopes(scopes) => return Err(Failure::InsufficientScope(scopes)),
        }
        lacking(&tool, context)?;
        let call = match call::prepare(&tool, arguments) {
            Ok(call) => call,
            Err(refusal) => {
                note(context, "invalid_arguments");
                return Ok(Outcome::Complete(failure::from_refusal(&tool, &refusal)));
            }
        };
        self.call_with(&state, context, &tool, call.arguments, round).await
    }

    /// The request that a call would send, without sending it; `Ok(Err)` is content instead of a request.
    ///
    /// # Errors
    /// As [`Handler::call_tool`].
    pub async fn dry_run(
        &self,
        context: &Context,
        name: &str,
        arguments: Option<&RawValue>,
    ) -> Result<Result<crate::request::Request, Content>, Failure> {
        let state = self.state.load_full();
        let Some(tool) = find(&state.catalog, name).or_else(|| state.catalog.hidden.get(name).cloned()) else {
            return Err(Failure::UnknownTool(name.to_string()));
        };
        let mut call = match call::prepare(&tool, arguments) {
            Ok(call) => call,
            Err(refusal) => return Ok(Err(failure::from_refusal(&tool, &refusal))),
        };
        call.arguments.shift_remove(CONFIRM);
        match &tool.action {
            Action::Request(action) => {
                Ok(self.built(&state, context, action, &call.arguments).await.map(|(request, _)| request))
            }
            _ => Ok(Err(Content::error("This tool sends no request of its own; its steps do."))),
        }
    }

    async fn call_with(
        &self,
        state: &Arc<State>,
        context: &Context,
        tool: &Arc<Tool>,
        arguments: Arguments,
        round: Round,
    ) -> Result<Outcome<Content>, Failure> {
        if let Action::CallByName = tool.action {
            return Box::pin(self.call_by_name(state, context, &arguments, round)).await;
        }
        let asking = Asking {
            context,
            key: &self.key,
            method: "tools/call",
            name: &tool.name,
            asks: &tool.ask,
            confirm: confirmation(tool, &arguments)?,
        };
        let mut arguments = match asking.round(arguments, &round)? {
            Asked::Ready(arguments) => arguments,
            Asked::Wait { requests, state } => return Ok(wait(requests, state)),
            Asked::Refused(text) => return Ok(Outcome::Complete(Content::error(text))),
        };
        if tool.confirm.is_some() {
            arguments.shift_remove(CONFIRM);
        }
        self.execute(state, context, tool, arguments, 0).await.map(Outcome::Complete)
    }

    /// Does what a tool does, without asking anybody. Also runs steps, resources and prompts.
    pub(super) async fn execute(
        &self,
        state: &Arc<State>,
        context: &Context,
        tool: &Arc<Tool>,
        arguments: Arguments,
        depth: usize,
    ) -> Result<Content, Failure> {
        if depth > DEEPEST {
            return Ok(Content::error("Steps call each other too deeply.".to_string()));
        }
        self.cached(state, context, tool, arguments, depth).await
    }

    /// [`Service::execute`] without looking at what is remembered.
    pub(super) async fn fresh(
        &self,
        state: &Arc<State>,
        context: &Context,
        tool: &Arc<Tool>,
        arguments: Arguments,
        depth: usize,
    ) -> Result<Content, Failure> {
        match &tool.action {
            Action::Request(action) => self.request(state, context, tool, action, arguments).await,
            Action::Steps(steps) => Box::pin(self.steps(state, context, tool, steps, arguments, depth)).await,
            Action::Workflow(workflow) => {
                Box::pin(self.workflow(state, context, tool, workflow, arguments, depth)).await
            }
            Action::Search => Ok(Box::pin(self.search(state, &context.caller, &arguments)).await),
            Action::Describe => Box::pin(self.describe(state, &context.caller, &arguments)).await,
            Action::CallByName => Ok(Content::error("`call_tool` can't be a step; name the tool itself.".to_string())),
        }
    }

    /// Search mode: calls another tool by its name.
    async fn call_by_name(
        &self,
        state: &Arc<State>,
        context: &Context,
        arguments: &Arguments,
        round: Round,
    ) -> Result<Outcome<Content>, Failure> {
        let name = arguments.get("name").and_then(Value::as_str).unwrap_or_default();
        let inner = arguments.get("arguments").cloned().unwrap_or_else(|| json!({}));
        let tool = reachable(&state.catalog, name)
            .filter(|tool| matches!(tool.action, Action::Request(_) | Action::Steps(_) | Action::Workflow(_)));
        let decision = match tool {
            Some(tool) => state.gate.decide(&context.caller, tool).await,
            None => Decision::Hide,
        };
        if let Decision::NeedScopes(scopes) = decision {
            return Err(Failure::InsufficientScope(scopes));
        }
        let Some(tool) = tool.filter(|_| decision == Decision::Allow) else {
            note(context, if tool.is_some() { "hidden_tool" } else { "unknown_tool" });
            // Only what this caller sees is offered: a hidden tool must look like an unknown one.
            let visible = state.gate.visible(&context.caller, &state.catalog).await;
            let names = state.catalog.tools.keys().enumerate();
            let seen = names.filter(|(index, _)| visible.contains(*index)).map(|(_, name)| name.as_str());
            let hint = crate::diagnostic::hint::nearest(name, seen)
                .map_or_else(|| "Use search_tools to find one.".to_string(), |near| format!("Did you mean `{near}`?"));
            return Ok(Outcome::Complete(Content::error(format!("There is no tool `{name}`. {hint}"))));
        };
        lacking(tool, context)?;
        let raw = serde_json::value::to_raw_value(&inner).map_err(|error| Failure::Internal(error.to_string()))?;
        match call::prepare(tool, Some(&raw)) {
            Ok(call) => Box::pin(self.call_with(state, context, tool, call.arguments, round)).await,
            Err(refusal) => Ok(Outcome::Complete(failure::from_refusal(tool, &refusal))),
        }
    }
}

/// A tool that search mode describes and calls by name: listed ones, and hidden ones that the author made.
pub(super) fn reachable<'a>(catalog: &'a Catalog, name: &str) -> Option<&'a Arc<Tool>> {
    let hidden = || catalog.hidden.get(name).filter(|_| !catalog.internal.iter().any(|internal| internal == name));
    catalog.tools.get(name).or_else(hidden)
}

/// A tool that clients may call by name: listed ones, and search mode's own.
fn find(catalog: &Catalog, name: &str) -> Option<Arc<Tool>> {
    catalog.tools.get(name).or_else(|| catalog.own.iter().find(|tool| tool.name == name)).cloned()
}

fn lacking(tool: &Tool, context: &Context) -> Result<(), Failure> {
    let has = |name: &str| match name {
        "elicitation" => context.client.elicitation,
        "sampling" => context.client.sampling,
        "roots" => context.client.roots,
        "tasks" => context.client.tasks,
        _ => false,
    };
    let named = |name: &String| match name.as_str() {
        "tasks" => ("extensions".to_owned(), json!({TASKS_EXTENSION: {}})),
        _ => (name.clone(), json!({})),
    };
    let missing: Map<String, Value> = tool.requires_client.iter().filter(|name| !has(name)).map(named).collect();
    if missing.is_empty() { Ok(()) } else { Err(Failure::MissingCapability(Value::Object(missing))) }
}

impl Handler for Service {
    fn catalog(&self) -> Arc<Catalog> {
        self.state.load().catalog.clone()
    }

    fn visible(&self, caller: &Caller) -> Visible {
        let state = self.state.load();
        state.gate.visible_now(caller, &state.catalog)
    }

    fn look<'a>(&'a self, caller: &'a Caller) -> Option<super::BoxFuture<'a, ()>> {
        let state = self.state.load_full();
        if state.gate.is_open() {
            return None;
        }
        Some(Box::pin(async move {
            state.gate.visible(caller, &state.catalog).await;
        }))
    }

    fn audit(&self) -> Option<&Audit> {
        self.observer.as_ref()?.audit()
    }

    fn call_tool<'a>(
        &'a self,
        context: &'a Context,
        name: &'a str,
        arguments: Option<&'a RawValue>,
        round: Round,
    ) -> Answer<'a, Content> {
        let Some(observer) = &self.observer else { return Box::pin(self.call(context, name, arguments, round)) };
        Box::pin(async move {
            let running = observer.begin(context, Target::tool(name, arguments));
            let result = self.call(running.context(), name, arguments, round).await;
            running.end(&result, |content| Some(content));
            result
        })
    }

    fn read_resource<'a>(&'a self, context: &'a Context, uri: &'a str, round: Round) -> Answer<'a, ReadResult> {
        let Some(observer) = &self.observer else { return Box::pin(self.read(context, uri, round)) };
        Box::pin(async move {
            let running = observer.begin(context, Target::resource(uri));
            let result = self.read(running.context(), uri, round).await;
            running.end(&result, |_| None);
            result
        })
    }

    fn glance<'a>(
        &'a self,
        context: &'a Context,
        uri: &'a str,
        last: Option<&'a Mark>,
    ) -> super::BoxFuture<'a, Result<Mark, Failure>> {
        Box::pin(self.glance(context, uri, last))
    }

    fn get_prompt<'a>(
        &'a self,
        context: &'a Context,
        name: &'a str,
        arguments: &'a Map<String, Value>,
        round: Round,
    ) -> Answer<'a, PromptResult> {
        let Some(observer) = &self.observer else { return Box::pin(self.prompt(context, name, arguments, round)) };
        Box::pin(async move {
            let running = observer.begin(context, Target::prompt(name, arguments));
            let result = self.prompt(running.context(), name, arguments, round).await;
            running.end(&result, |_| None);
            result
        })
    }

    fn complete<'a>(
        &'a self,
        context: &'a Context,
        reference: Result<&'a str, &'a str>,
        argument: &'a str,
        typed: &'a str,
        given: &'a Map<String, Value>,
    ) -> Answer<'a, Completion> {
        Box::pin(self.completion(context, reference, argument, typed, given))
    }

    fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }
}
