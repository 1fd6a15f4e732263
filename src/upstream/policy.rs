//! The one gate in front of the catalog: the embedded rules, then a remote Open Policy Agent where
//! one is configured. `tools/list` and `tools/call` ask the same question here.

use super::{SendOptions, Upstream};
use crate::access::{Access, Caller, Decision, Visible, policy_input, read_policy_answer, visible_where};
use crate::catalog::{Catalog, Tool};
use crate::mapping::{self, Limits, Redirects, Tls};
use crate::request::Request;
use bytes::Bytes;
use futures_util::StreamExt;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How long an answer of a policy is taken for still true.
const POLICY_TTL: Duration = Duration::from_secs(5);
/// Answers kept; when there are more, all are asked again.
const MOST_ENTRIES: usize = 10_000;
/// Questions asked at once of a remote policy.
const AT_ONCE: usize = 16;

/// Decides for one catalog. Make a new one for every load.
pub struct Gate {
    access: Access,
    remote: Option<RemotePolicy>,
    visible: Mutex<HashMap<[u8; 32], (Instant, Visible)>>,
    ttl: Duration,
}

impl Gate {
    /// A gate of compiled rules and, perhaps, a remote policy.
    pub fn new(access: Access, remote: Option<RemotePolicy>) -> Gate {
        Gate { access, remote, visible: Mutex::default(), ttl: POLICY_TTL }
    }

    /// Like [`Gate::new`], remembering what a caller sees only for `ttl` where a policy decides.
    pub fn with_ttl(access: Access, remote: Option<RemotePolicy>, ttl: Duration) -> Gate {
        let remote = remote.map(|remote| RemotePolicy { ttl, ..remote });
        Gate { access, remote, visible: Mutex::default(), ttl }
    }

    /// True if every caller may see and call everything.
    pub fn is_open(&self) -> bool {
        self.access.is_open() && self.remote.is_none()
    }

    /// May this caller see and call this tool? Embedded rules are remembered only where nothing but the
    /// caller and the tool decides; a remote answer is a few seconds old at most. A remote policy that
    /// does not answer hides.
    pub async fn decide(&self, caller: &Caller, tool: &Tool) -> Decision {
        match (self.access.decide(caller, tool), &self.remote) {
            (Decision::Allow, Some(remote)) => Box::pin(remote.decide(caller, tool)).await,
            (decision, _) => decision,
        }
    }

    /// What this caller sees: the tools that [`Gate::decide`] allows.
    pub async fn visible(&self, caller: &Caller, catalog: &Catalog) -> Visible {
        if self.is_open() {
            return Visible::All;
        }
        let key = self.key(caller);
        if let Some(known) = self.remembered(&key) {
            return known;
        }
        let visible = match &self.remote {
            None => self.access.visible(caller, catalog),
            Some(remote) => {
                // In the order in which `visible_where` asks.
                let mut all: Vec<Arc<Tool>> = catalog.tools.values().cloned().collect();
                all.extend(catalog.resources.iter().map(|resource| resource.tool.clone()));
                let questions = futures_util::stream::iter(all.into_iter().map(|tool: Arc<Tool>| async move {
                    let tool = tool.as_ref();
                    if self.access.decide(caller, tool) != Decision::Allow {
                        return false;
                    }
                    remote.decide(caller, tool).await == Decision::Allow
                }));
                let mut answers = questions.buffered(AT_ONCE).collect::<Vec<bool>>().await.into_iter();
                visible_where(catalog, |_| answers.next().unwrap_or(false))
            }
        };
        let mut cache = self.visible.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() >= MOST_ENTRIES {
            cache.clear();
        }
        cache.insert(key, (Instant::now(), visible.clone()));
        visible
    }

    /// [`Gate::visible`] without waiting: with a remote policy, only what [`Gate::visible`] found a
    /// moment ago; nothing if it was not asked.
    pub fn visible_now(&self, caller: &Caller, catalog: &Catalog) -> Visible {
        if self.is_open() {
            return Visible::All;
        }
        match self.remembered(&self.key(caller)) {
            Some(known) => known,
            None if self.remote.is_none() => self.access.visible(caller, catalog),
            None => visible_where(catalog, |_| false),
        }
    }

    fn remembered(&self, key: &[u8; 32]) -> Option<Visible> {
        let cache = self.visible.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, visible) = cache.get(key)?;
        let lasting = !self.access.has_policy() && self.remote.is_none();
        (lasting || since.elapsed() < self.ttl).then(|| visible.clone())
    }

    fn key(&self, caller: &Caller) -> [u8; 32] {
        match self.remote {
            None => self.access.caller_key(caller),
            Some(_) => whole_key(caller, ""),
        }
    }
}

/// An Open Policy Agent reached over HTTP: `POST {"input": …}`, answer `{"result": …}` (OPA REST
/// API, "Get a Document with Input").
pub struct RemotePolicy {
    url: String,
    upstream: Upstream,
    answers: Mutex<HashMap<[u8; 32], (Instant, Decision)>>,
    ttl: Duration,
}

impl RemotePolicy {
    /// `url` is the rule's document, such as `http://127.0.0.1:8181/v1/data/mcp/allow`; `timeout`
    /// bounds one question.
    ///
    /// # Errors
    /// Problems with the URL or TLS files.
    pub fn new(url: &str, tls: Tls, timeout: Duration) -> Result<RemotePolicy, Vec<String>> {
        match url::Url::parse(url) {
            Ok(parsed) if matches!(parsed.scheme(), "http" | "https") => {}
            _ => return Err(vec![format!("access.policy.opa: `{url}` is no HTTP URL")]),
        }
        let limits = Limits {
            connect_timeout: mapping::Duration(timeout),
            timeout: mapping::Duration(timeout),
            max_response: mapping::Bytes(64 * 1024),
            retries: 1,
            redirects: Redirects::None,
            ..Limits::default()
        };
        let upstream = Upstream::for_url("access.policy.opa", url, tls, limits)?;
        Ok(RemotePolicy { url: url.to_owned(), upstream, answers: Mutex::default(), ttl: POLICY_TTL })
    }

    /// Asks about one tool; whatever is no clear yes hides.
    pub async fn decide(&self, caller: &Caller, tool: &Tool) -> Decision {
        let key = whole_key(caller, &tool.name);
        {
            let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((since, decision)) = answers.get(&key)
                && since.elapsed() < self.ttl
            {
                return decision.clone();
            }
        }
        let Some(decision) = self.ask(caller, tool).await else {
            tracing::error!("the policy server did not answer: access denied");
            return Decision::Hide;
        };
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.len() >= MOST_ENTRIES {
            answers.clear();
        }
        answers.insert(key, (Instant::now(), decision.clone()));
        decision
    }

    async fn ask(&self, caller: &Caller, tool: &Tool) -> Option<Decision> {
        let mut headers = http::HeaderMap::new();
        headers.insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
        headers.insert(http::header::ACCEPT, http::HeaderValue::from_static("application/json"));
        let body = serde_json::json!({ "input": policy_input(caller, tool) }).to_string();
        let request = Request {
            method: http::Method::POST,
            url: self.url.clone(),
            headers,
            body: Some(Bytes::from(body)),
            secret_in_url: Vec::new(),
            secrets: Vec::new(),
        };
        let options = SendOptions { idempotent: true, cancel: CancellationToken::new(), ..SendOptions::default() };
        let response = self.upstream.send(0, request, &options).await.ok()?;
        if response.status != http::StatusCode::OK || response.truncated {
            return None;
        }
        let answer: serde_json::Value = serde_json::from_slice(&response.body).ok()?;
        // Without `result` the document is undefined: a clear no.
        Some(answer.get("result").map_or(Decision::Hide, read_policy_answer))
    }
}

/// Everything a policy may look at.
fn whole_key(caller: &Caller, tool: &str) -> [u8; 32] {
    let seen = serde_json::json!([
        caller.subject.as_deref(),
        caller.tenant.as_deref(),
        caller.scopes,
        caller.claims.as_deref(),
        caller.local,
        tool,
    ]);
    Sha256::digest(seen.to_string()).into()
}
