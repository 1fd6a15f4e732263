//! Remembered answers of tools that say `cache:`; bounded, per caller, tenant or for all.

use super::run::{Service, State};
use super::{Context, Failure};
use crate::catalog::{Arguments, RequestAction, Tool};
use crate::content::Content;
use crate::mapping::CachePer;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Most answers that are kept.
const MOST: usize = 1024;

/// Answers by tool, caller and arguments.
#[derive(Default)]
pub struct Cache {
    entries: Mutex<HashMap<[u8; 32], (Instant, Arc<Content>)>>,
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

impl Service {
    /// The remembered answer, else a new one that is remembered if it is no error.
    pub(super) async fn cached(
        &self,
        state: &Arc<State>,
        context: &Context,
        tool: &Arc<Tool>,
        action: &RequestAction,
        arguments: Arguments,
    ) -> Result<Content, Failure> {
        let Some(hint) = &tool.cache else {
            return Ok(self.request(state, context, tool, action, arguments).await);
        };
        let mut hash = Sha256::new();
        let who = match hint.per {
            CachePer::All => "",
            CachePer::Tenant => context.caller.tenant.as_deref().unwrap_or_default(),
            CachePer::Caller => context.caller.subject.as_deref().unwrap_or_default(),
        };
        let text = serde_json::to_vec(&arguments).unwrap_or_default();
        for part in [tool.name.as_bytes(), who.as_bytes(), context.caller.tenant.as_deref().unwrap_or_default().as_bytes(), &text] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let key = hash.finalize().into();
        if let Some(content) = self.cache.get(&key) {
            return Ok(content.as_ref().clone());
        }
        let content = self.request(state, context, tool, action, arguments).await;
        if !content.is_error {
            self.cache.put(key, hint.ttl.0, Arc::new(content.clone()));
        }
        Ok(content)
    }
}
