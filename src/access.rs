//! Who may see and call what: a pure decision, the same for `tools/list` and `tools/call`.
//!
//! Three rules in a row, each can only take away: the tenant's `allow` and `deny` lists, the scopes
//! a tool needs, and a Rego policy. A rule that can't be evaluated takes away.

mod pattern;
pub mod rego;

pub use pattern::{Pattern, glob_matches};

use crate::catalog::{Action, Catalog, OperationRef, Tool};
use indexmap::IndexMap;
use rego::Rego;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Who calls. Made by `transport/identity`; anonymous on stdio and where configured.
#[derive(Debug, Clone, Default)]
pub struct Caller {
    /// Subject, key name or certificate subject; `None` = anonymous.
    pub subject: Option<Arc<str>>,
    /// Tenant.
    pub tenant: Option<Arc<str>>,
    /// Granted scopes.
    pub scopes: Vec<String>,
    /// Token claims.
    pub claims: Option<Arc<Value>>,
    /// The raw bearer token, for RFC 8693 exchange only.
    pub token: Option<crate::secret::Secret>,
    /// Calls over standard input: who starts the process holds its credentials, and has no scopes to show.
    pub local: bool,
    /// Request headers that some mapping asks for (forwarding, `${caller:header.x}`), lower case.
    pub headers: IndexMap<String, String>,
}

/// How deep tools may call tools.
const DEEPEST: usize = 16;

/// What the configuration says, as written.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// By tenant; `*` is for callers of every other tenant and of none. Where there are tenants but
    /// no `*`, a tenant without an entry may call nothing.
    pub tenants: IndexMap<String, TenantRules>,
    /// Scopes that tools need.
    pub scopes: Vec<ScopeRule>,
    /// Rego modules: name (for messages) and text.
    pub rego: Vec<(String, String)>,
    /// The rule that decides, such as `data.mcp.allow`; empty = that one.
    pub query: String,
}

/// What one tenant may call. A pattern is a glob over tool names (`get_*`), `tag:…`, `method:…` or
/// `source:…`.
#[derive(Debug, Clone, Default)]
pub struct TenantRules {
    /// Any of these; empty = all.
    pub allow: Vec<String>,
    /// None of these; wins over `allow`.
    pub deny: Vec<String>,
}

/// Scopes that some tools need.
#[derive(Debug, Clone, Default)]
pub struct ScopeRule {
    /// Which tools: patterns as in [`TenantRules`].
    pub tools: Vec<String>,
    /// All of these are needed.
    pub scopes: Vec<String>,
}

/// What comes of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The tool is listed and may be called.
    Allow,
    /// For this caller there is no such tool.
    Hide,
    /// The caller may ask its authorization server for these scopes (RFC 6750 §3.1
    /// `insufficient_scope`); until then the tool is not listed.
    NeedScopes(Vec<String>),
}

/// Which tools a caller may see and call: one answer for `tools/list` and `tools/call`.
#[derive(Debug, Clone)]
pub enum Visible {
    /// All of them, whoever asks (`cacheScope: public` is allowed).
    All,
    /// Some of them; depends on the caller.
    Only {
        /// Equal for callers with the same set; a cache key.
        key: Arc<str>,
        /// Indices into [`Catalog::tools`], ascending.
        tools: Arc<[usize]>,
        /// Indices into [`Catalog::resources`], ascending.
        resources: Arc<[usize]>,
    },
}

impl Visible {
    /// True if the tool at this index of [`Catalog::tools`] is seen.
    pub fn contains(&self, index: usize) -> bool {
        match self {
            Visible::All => true,
            Visible::Only { tools, .. } => tools.binary_search(&index).is_ok(),
        }
    }
}

/// The compiled rules.
#[derive(Debug, Default)]
pub struct Access {
    tenants: IndexMap<String, Lists>,
    scopes: Vec<(Vec<Pattern>, Vec<String>)>,
    rego: Option<Rego>,
}

#[derive(Debug, Default)]
struct Lists {
    allow: Vec<Pattern>,
    deny: Vec<Pattern>,
}

impl Access {
    /// Compiles the rules.
    ///
    /// # Errors
    /// Every problem as one text: patterns of unknown kind, Rego that does not compile, a query that
    /// no module defines.
    pub fn new(rules: &Rules) -> Result<Access, Vec<String>> {
        let mut problems = Vec::new();
        let mut patterns = |place: &str, texts: &[String]| -> Vec<Pattern> {
            let mut read = Vec::with_capacity(texts.len());
            for text in texts {
                match Pattern::parse(text) {
                    Ok(pattern) => read.push(pattern),
                    Err(problem) => problems.push(format!("{place}: {problem}")),
                }
            }
            read
        };
        let tenants = rules
            .tenants
            .iter()
            .map(|(name, lists)| {
                let allow = patterns(&format!("access.tenants.{name}.allow"), &lists.allow);
                let deny = patterns(&format!("access.tenants.{name}.deny"), &lists.deny);
                (name.clone(), Lists { allow, deny })
            })
            .collect();
        let scopes =
            rules.scopes.iter().map(|rule| (patterns("access.scopes", &rule.tools), rule.scopes.clone())).collect();
        let query = if rules.query.is_empty() { "data.mcp.allow" } else { rules.query.as_str() };
        let rego = match rules.rego.is_empty() {
            true => None,
            false => match Rego::new(&rules.rego, query) {
                Ok(rego) => Some(rego),
                Err(problem) => {
                    problems.push(format!("access.policy: {problem}"));
                    None
                }
            },
        };
        if problems.is_empty() { Ok(Access { tenants, scopes, rego }) } else { Err(problems) }
    }

    /// True if every caller gets the same answer.
    pub fn is_open(&self) -> bool {
        self.tenants.is_empty() && self.scopes.is_empty() && self.rego.is_none()
    }

    /// True if answers may differ from one moment to the next or depend on more than tenant and
    /// scopes.
    pub fn has_policy(&self) -> bool {
        self.rego.is_some()
    }

    /// May this caller see and call this tool?
    pub fn decide(&self, caller: &Caller, tool: &Tool) -> Decision {
        if !self.tenant_allows(caller.tenant.as_deref(), tool) {
            return Decision::Hide;
        }
        // The policy comes before the scopes: what it hides must not be told apart by a challenge.
        if let Some(rego) = &self.rego {
            match rego.decide(caller, tool) {
                Decision::Allow => {}
                other => return other,
            }
        }
        let missing = self.missing_scopes(caller, tool);
        if missing.is_empty() { Decision::Allow } else { Decision::NeedScopes(missing) }
    }

    fn tenant_allows(&self, tenant: Option<&str>, tool: &Tool) -> bool {
        if self.tenants.is_empty() {
            return true;
        }
        let named = tenant.filter(|name| *name != "*").and_then(|name| self.tenants.get(name));
        match (named.or_else(|| self.tenants.get("*")), tenant) {
            (Some(lists), _) => {
                (lists.allow.is_empty() || lists.allow.iter().any(|pattern| pattern.matches(tool)))
                    // What may not be called may not be called by way of another tool either.
                    && !reaches(tool, &|tool| lists.deny.iter().any(|pattern| pattern.matches(tool)), 0)
            }
            (None, Some(_)) => false,
            // Whoever belongs to no tenant was let in without one by the configuration itself.
            (None, None) => true,
        }
    }

    fn missing_scopes(&self, caller: &Caller, tool: &Tool) -> Vec<String> {
        let mut missing: Vec<String> = Vec::new();
        if caller.local {
            return missing;
        }
        for (patterns, scopes) in &self.scopes {
            if reaches(tool, &|tool| patterns.iter().any(|pattern| pattern.matches(tool)), 0) {
                for scope in scopes {
                    if !caller.scopes.contains(scope) && !missing.contains(scope) {
                        missing.push(scope.clone());
                    }
                }
            }
        }
        missing
    }

    /// What this caller sees of a catalog: exactly what [`Access::decide`] allows.
    pub fn visible(&self, caller: &Caller, catalog: &Catalog) -> Visible {
        if self.is_open() {
            return Visible::All;
        }
        visible_where(catalog, |tool| self.decide(caller, tool) == Decision::Allow)
    }

    /// Callers with equal keys get equal decisions from tenants and scopes; a policy may look at
    /// more, so with one the whole identity goes in.
    pub fn caller_key(&self, caller: &Caller) -> [u8; 32] {
        let mut hash = Sha256::new();
        let mut add = |part: Option<&str>| {
            let part = part.map_or(&[] as &[u8], |text| text.as_bytes());
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        };
        add(caller.tenant.as_deref());
        add(caller.tenant.as_ref().map(|_| "tenant"));
        add(caller.local.then_some("local"));
        for scope in &caller.scopes {
            add(Some(scope));
        }
        if self.has_policy() {
            add(caller.subject.as_deref());
            add(caller.claims.as_ref().map(|claims| claims.to_string()).as_deref());
        }
        hash.finalize().into()
    }
}

/// The operations that a call may reach, each once: the tool's own, or those of its steps, however deep.
fn operations<'a>(tool: &'a Tool, found: &mut Vec<(&'a OperationRef, &'a [String])>, depth: usize) {
    if let Some(operation) = &tool.operation
        && !found.iter().any(|(known, _)| known.place() == operation.place())
    {
        found.push((operation, &tool.tags));
    }
    if depth > DEEPEST {
        return;
    }
    match &tool.action {
        Action::Steps(steps) => steps.iter().for_each(|step| operations(&step.tool, found, depth + 1)),
        Action::Workflow(workflow) => workflow.tools().for_each(|tool| operations(tool, found, depth + 1)),
        _ => {}
    }
}

/// True if the test holds for the tool or for one that its steps call, however deep.
fn reaches(tool: &Tool, test: &dyn Fn(&Tool) -> bool, depth: usize) -> bool {
    // Deeper than any call may go counts as reached: the rule can only take away.
    if test(tool) || depth > DEEPEST {
        return true;
    }
    match &tool.action {
        Action::Steps(steps) => steps.iter().any(|step| reaches(&step.tool, test, depth + 1)),
        Action::Workflow(workflow) => workflow.tools().any(|tool| reaches(tool, test, depth + 1)),
        _ => false,
    }
}

/// The tools that pass, and the resources whose tools do, with a key that depends on nothing but the two sets.
pub fn visible_where(catalog: &Catalog, mut passes: impl FnMut(&Tool) -> bool) -> Visible {
    let mut hash = Sha256::new();
    let mut tools = Vec::new();
    let mut resources = Vec::new();
    for (index, (name, tool)) in catalog.tools.iter().enumerate() {
        if passes(tool) {
            hash.update(name.as_bytes());
            hash.update([0]);
            tools.push(index);
        }
    }
    for (index, resource) in catalog.resources.iter().enumerate() {
        if passes(&resource.tool) {
            hash.update([1]);
            hash.update(resource.uri.as_bytes());
            hash.update([0]);
            resources.push(index);
        }
    }
    let digest = hash.finalize();
    let key: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    Visible::Only { key: key.into(), tools: tools.into(), resources: resources.into() }
}

/// What a policy gets as `input`, embedded or remote, at discovery and at invocation: the caller
/// (never the token itself) and the tool (never its arguments). `method` to `deprecated` are those of a tool with one
/// operation; `operations` are all that a call may reach, by way of steps and workflows too.
pub fn policy_input(caller: &Caller, tool: &Tool) -> Value {
    let annotations = &tool.annotations;
    let operation = tool.operation.as_ref();
    let mut reached = Vec::new();
    operations(tool, &mut reached, 0);
    let reached: Vec<Value> = reached
        .into_iter()
        .map(|(operation, tags)| {
            json!({
                "source": operation.source,
                "method": operation.method,
                "path": operation.path,
                "operation_id": operation.operation_id,
                "deprecated": operation.deprecated,
                "tags": tags,
            })
        })
        .collect();
    json!({
        "caller": {
            "subject": caller.subject.as_deref(),
            "tenant": caller.tenant.as_deref(),
            "scopes": caller.scopes,
            "claims": caller.claims.as_deref(),
            "local": caller.local,
        },
        "tool": {
            "name": tool.name,
            "tags": tool.tags,
            "method": operation.map(|operation| operation.method.as_str()),
            "path": operation.map(|operation| operation.path.as_str()),
            "source": operation.map(|operation| operation.source.as_str()),
            "operation_id": operation.and_then(|operation| operation.operation_id.as_deref()),
            "deprecated": operation.is_some_and(|operation| operation.deprecated),
            "operations": reached,
            "annotations": {
                "read_only": annotations.read_only,
                "destructive": annotations.destructive,
                "idempotent": annotations.idempotent,
                "open_world": annotations.open_world,
            },
        },
    })
}

/// Reads a policy's answer: `true`, or `{"allow": true}`, or `{"allow": false, "scopes": [...]}`.
/// Everything else, an undefined answer too, hides.
pub fn read_policy_answer(answer: &Value) -> Decision {
    match answer {
        Value::Bool(true) => Decision::Allow,
        Value::Object(object) => match object.get("allow") {
            Some(Value::Bool(true)) => Decision::Allow,
            Some(Value::Bool(false)) => {
                let scopes: Vec<String> = match object.get("scopes") {
                    Some(Value::Array(scopes)) => {
                        scopes.iter().filter_map(|scope| scope.as_str().map(str::to_owned)).collect()
                    }
                    _ => Vec::new(),
                };
                if scopes.is_empty() { Decision::Hide } else { Decision::NeedScopes(scopes) }
            }
            _ => Decision::Hide,
        },
        _ => Decision::Hide,
    }
}
