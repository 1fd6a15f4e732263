//! Key sets (RFC 7517) from a URL or a file: fetched by one caller at a time, again when a key id is
//! unknown (but not too often), kept for a while when the issuer does not answer.

use crate::upstream::fetch::Fetch;
use arc_swap::ArcSwapOption;
use bytes::Bytes;
use jsonwebtoken::jwk::{Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Keys that are kept of one set.
const MOST_KEYS: usize = 64;

/// Where a key set is.
pub struct KeySource {
    /// File or URL.
    pub place: KeyPlace,
    /// When it is asked again.
    pub times: KeyTimes,
}

/// File or URL.
pub enum KeyPlace {
    /// A file, read again like a URL.
    File(std::path::PathBuf),
    /// A URL, through this.
    Remote(Arc<dyn Fetch>),
}

/// When a key set is asked again.
#[derive(Debug, Clone, Copy)]
pub struct KeyTimes {
    /// Age at which it is renewed.
    pub refresh: Duration,
    /// Least time between two requests, whatever tokens say.
    pub pause: Duration,
    /// Age up to which it is used while it can't be renewed.
    pub stale: Duration,
}

impl Default for KeyTimes {
    fn default() -> Self {
        KeyTimes {
            refresh: Duration::from_secs(600),
            pause: Duration::from_secs(30),
            stale: Duration::from_secs(4 * 3600),
        }
    }
}

/// A key set that renews itself.
pub(super) struct Keys {
    source: KeySource,
    current: ArcSwapOption<KeySet>,
    asking: tokio::sync::Mutex<()>,
    asked: Mutex<Option<Instant>>,
}

/// The keys of one answer.
pub(super) struct KeySet {
    keys: Vec<Key>,
    since: Instant,
}

struct Key {
    id: Option<String>,
    algorithm: Option<Algorithm>,
    key: DecodingKey,
}

impl KeySet {
    /// The keys that may have signed a token with this key id and algorithm.
    pub(super) fn fitting(&self, id: Option<&str>, algorithm: Algorithm) -> impl Iterator<Item = &DecodingKey> {
        let fitting = self.keys.iter().filter(move |key| {
            (id.is_none() || key.id.as_deref() == id)
                && key.key.family() == algorithm.family()
                && key.algorithm.is_none_or(|only| only == algorithm)
        });
        fitting.map(|key| &key.key)
    }

    fn has(&self, id: Option<&str>, algorithm: Algorithm) -> bool {
        self.fitting(id, algorithm).next().is_some()
    }
}

impl Keys {
    pub(super) fn new(source: KeySource) -> Keys {
        Keys { source, current: ArcSwapOption::empty(), asking: tokio::sync::Mutex::default(), asked: Mutex::default() }
    }

    /// A set with a key that may have signed a token with this key id and algorithm.
    pub(super) async fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Result<Arc<KeySet>, &'static str> {
        let known = self.usable();
        if let Some(set) = &known {
            let has = set.has(id, algorithm);
            let fresh = set.since.elapsed() < self.source.times.refresh;
            if has && (fresh || self.asking.try_lock().is_err()) {
                return Ok(set.clone());
            }
            if self.asked_lately() {
                return if has { Ok(set.clone()) } else { Err("token_key_unknown") };
            }
        }
        let _turn = self.asking.lock().await;
        // Somebody else may have asked while this call waited for its turn.
        let renewed = match (&known, self.usable()) {
            (Some(before), Some(now)) => !Arc::ptr_eq(before, &now),
            (None, now) => now.is_some(),
            (Some(_), None) => false,
        };
        if !renewed && !self.asked_lately() {
            *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
            match self.ask().await {
                Ok(keys) => self.current.store(Some(Arc::new(KeySet { keys, since: Instant::now() }))),
                Err(problem) => tracing::warn!(%problem, "the key set for tokens can't be read"),
            }
        }
        match self.usable() {
            None => Err("keys_unavailable"),
            Some(set) if set.has(id, algorithm) => Ok(set),
            Some(_) => Err("token_key_unknown"),
        }
    }

    /// The set, if it need not be renewed yet.
    pub(super) fn fresh(&self) -> Option<Arc<KeySet>> {
        self.current.load_full().filter(|set| set.since.elapsed() < self.source.times.refresh)
    }

    fn usable(&self) -> Option<Arc<KeySet>> {
        self.current.load_full().filter(|set| set.since.elapsed() < self.source.times.stale)
    }

    fn asked_lately(&self) -> bool {
        let asked = *self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.is_some_and(|when| when.elapsed() < self.source.times.pause)
    }

    async fn ask(&self) -> Result<Vec<Key>, String> {
        let bytes = match &self.source.place {
            KeyPlace::File(path) => Bytes::from(tokio::fs::read(path).await.map_err(|error| error.to_string())?),
            KeyPlace::Remote(fetch) => fetch.fetch().await?,
        };
        let document: Value = serde_json::from_slice(&bytes).map_err(|_| "no JSON".to_owned())?;
        let Some(Value::Array(list)) = document.get("keys") else {
            return Err("no `keys`".to_owned());
        };
        let keys: Vec<Key> = list.iter().filter_map(read_key).take(MOST_KEYS).collect();
        if keys.is_empty() { Err("no usable key".to_owned()) } else { Ok(keys) }
    }
}

/// Keys of unknown kinds and keys for other uses are left out (RFC 7517 §5).
fn read_key(value: &Value) -> Option<Key> {
    let jwk: Jwk = serde_json::from_value(value.clone()).ok()?;
    let for_signatures = matches!(jwk.common.public_key_use, None | Some(PublicKeyUse::Signature));
    let verifies =
        jwk.common.key_operations.as_ref().is_none_or(|operations| operations.contains(&KeyOperations::Verify));
    if !for_signatures || !verifies {
        return None;
    }
    let algorithm = match jwk.common.key_algorithm {
        None => None,
        Some(name) => Some(name.to_string().parse().ok()?),
    };
    let key = DecodingKey::from_jwk(&jwk).ok()?;
    Some(Key { id: jwk.common.key_id, algorithm, key })
}
