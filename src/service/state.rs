//! What travels through the client between two rounds of one call: signed, expiring, bound to the
//! caller and the call, so that any replica with the same key can take it up.

use crate::access::Caller;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long a person may take to answer.
const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// The key that signs state; the same on all replicas.
pub struct StateKey(Vec<u8>);

impl std::fmt::Debug for StateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StateKey(***)")
    }
}

impl StateKey {
    /// From configured bytes, or random ones (then only this process can take state up again).
    pub fn new(configured: Option<&[u8]>) -> Self {
        match configured {
            Some(bytes) => StateKey(bytes.to_vec()),
            None => {
                let mut bytes = vec![0; 32];
                // Without randomness the key would be guessable: an empty key refuses everything.
                if getrandom::fill(&mut bytes).is_err() {
                    bytes.clear();
                }
                StateKey(bytes)
            }
        }
    }

    fn mac(&self, payload: &[u8]) -> Option<Hmac<Sha256>> {
        if self.0.is_empty() {
            return None;
        }
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(b"rest-mcp state 1\0");
        mac.update(payload);
        Some(mac)
    }

    /// Seals the answers given so far for one call of one caller.
    pub fn seal(&self, binding: &[u8; 32], answers: &Map<String, Value>) -> Option<String> {
        let expires = seconds_now() + LIFETIME.as_secs();
        let payload = json!({"v": 1, "exp": expires, "for": URL_SAFE_NO_PAD.encode(binding), "answers": answers});
        let payload = serde_json::to_vec(&payload).ok()?;
        let tag = self.mac(&payload)?.finalize().into_bytes();
        Some(format!("{}.{}", URL_SAFE_NO_PAD.encode(&payload), URL_SAFE_NO_PAD.encode(tag)))
    }

    /// Opens what [`StateKey::seal`] made for the same call of the same caller.
    ///
    /// # Errors
    /// A short reason: not ours, expired, or made for another call or caller.
    pub fn open(&self, binding: &[u8; 32], state: &str) -> Result<Map<String, Value>, &'static str> {
        const FORGED: &str = "requestState is not one that this server made";
        let (payload, tag) = state.split_once('.').ok_or(FORGED)?;
        let payload = URL_SAFE_NO_PAD.decode(payload).map_err(|_| FORGED)?;
        let tag = URL_SAFE_NO_PAD.decode(tag).map_err(|_| FORGED)?;
        let mac = self.mac(&payload).ok_or(FORGED)?;
        mac.verify_slice(&tag).map_err(|_| FORGED)?;
        let value: Value = serde_json::from_slice(&payload).map_err(|_| FORGED)?;
        if value.get("exp").and_then(Value::as_u64).is_none_or(|expires| expires < seconds_now()) {
            return Err("requestState has expired; call again from the start");
        }
        if value.get("for").and_then(Value::as_str) != Some(&URL_SAFE_NO_PAD.encode(binding)) {
            return Err("requestState belongs to another call");
        }
        match value.get("answers") {
            Some(Value::Object(answers)) => Ok(answers.clone()),
            _ => Err(FORGED),
        }
    }
}

/// What a state is bound to: the caller, the method, the name and the arguments.
pub fn binding(caller: &Caller, method: &str, name: &str, arguments: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in [
        caller.subject.as_deref().unwrap_or_default().as_bytes(),
        caller.tenant.as_deref().unwrap_or_default().as_bytes(),
        method.as_bytes(),
        name.as_bytes(),
        arguments,
    ] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
