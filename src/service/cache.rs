//! Remembered answers of tools that say `cache:`; bounded, per caller, tenant or for all.

use super::run::{Service, State};
use super::{Context, Failure};
use crate::catalog::{Arguments, Tool};
use crate::content::Content;
use crate::mapping::CachePer;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Most answers that are kept.
const MOST: usize = 1024;

/// Digest of tool, caller and arguments.
type Key = [u8; 32];
/// Until when, and what.
type Entry = (Instant, Arc<Content>);

/// Answers by tool, caller and arguments.
#[derive(Default)]
pub struct Cache {
    entries: Mutex<HashMap<Key, Entry>>,
}

impl Cache {
    fn get(&self, key: &[u8; 32]) -> Option<Arc<Content>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.get(key).filter(|(until, _)| *until > Instant::now()).map(|(_, content)| content.clone())
    }

    fn put(&self, key: [u8; 32], ttl: Duration, content: Arc<Content>) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= MOST {
            let now = Instant::now();
            entries.retain(|_, (until, _)| *until > now);
            if entries.len() >= MOST {
                entries.clear();
            }
        }
        if let Some(until) = Instant::now().checked_add(ttl) {
            entries.insert(key, (until, content));
        }
    }

    /// Forgets everything (after a reload).
    pub fn clear(&self) {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// What must be equal for an answer to be given out again.
fn key(state: &State, context: &Context, tool: &Tool, per: CachePer, arguments: &Arguments) -> [u8; 32] {
    let caller = &context.caller;
    let tenant = caller.tenant.as_deref().unwrap_or_default();
    let mut parts: Vec<Vec<u8>> =
        vec![tool.name.clone().into_bytes(), serde_json::to_vec(arguments).unwrap_or_default()];
    // A tenant with credentials of its own sees what nobody else may see.
    if per != CachePer::All || state.tenants.contains_key(tenant) {
        parts.push(tenant.as_bytes().to_vec());
    }
    if per == CachePer::Caller {
        parts.push(caller.subject.as_deref().unwrap_or_default().as_bytes().to_vec());
        // Callers without a name are told apart by what of theirs goes upstream.
        parts.push(serde_json::to_vec(&caller.claims).unwrap_or_default());
        for (name, value) in &caller.headers {
            parts.push(format!("{name}: {value}").into_bytes());
        }
    }
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

impl Service {
    /// The remembered answer, else a new one that is remembered if it is no error.
    pub(super) async fn cached(
        &self,
        state: &Arc<State>,
        context: &Context,
        tool: &Arc<Tool>,
        arguments: Arguments,
        depth: usize,
    ) -> Result<Content, Failure> {
        let Some(hint) = &tool.cache else {
            return self.fresh(state, context, tool, arguments, depth).await;
        };
        let key = key(state, context, tool, hint.per, &arguments);
        if let Some(content) = self.cache.get(&key) {
            return Ok(content.as_ref().clone());
        }
        let content = self.fresh(state, context, tool, arguments, depth).await?;
        if !content.is_error {
            self.cache.put(key, hint.ttl.0, Arc::new(content.clone()));
        }
        Ok(content)
    }
}
