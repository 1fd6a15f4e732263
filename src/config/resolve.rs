//! Settings whose values come from the environment or a file.

use super::Config;
use crate::mapping::{Environment, Slot};
use std::net::SocketAddr;

/// Shorter keys can be guessed.
const SHORTEST_KEY: usize = 32;

impl Config {
    /// True if nothing says who may call: neither rules nor client certificates.
    pub fn is_open(&self) -> bool {
        self.access.is_open() && self.tls.as_ref().is_none_or(|tls| tls.client_ca.is_none())
    }

    /// The address to listen on.
    ///
    /// # Errors
    /// One text.
    pub fn address(&self, environment: &dyn Environment) -> Result<SocketAddr, String> {
        address("listen", &self.listen, environment)
    }

    /// The key that signs what travels through clients; `None` = a random one.
    ///
    /// # Errors
    /// One text: it can't be had, or is too short.
    pub fn state_key(&self, environment: &dyn Environment) -> Result<Option<Vec<u8>>, String> {
        let Some(slot) = &self.state_key else { return Ok(None) };
        let key = slot.resolve(environment).map_err(|error| format!("state_key: {error}"))?.into_secret();
        let key = key.expose().as_bytes();
        if key.len() < SHORTEST_KEY {
            return Err(format!("state_key: it is too short to be safe; {SHORTEST_KEY} random characters or more"));
        }
        Ok(Some(key.to_vec()))
    }
}

/// Reads `IP:PORT` or `localhost:PORT`; `key` is for the error.
///
/// # Errors
/// One text.
pub fn address(key: &str, slot: &Slot, environment: &dyn Environment) -> Result<SocketAddr, String> {
    let text = slot.resolve_public(environment).map_err(|error| format!("{key}: {error}"))?;
    let text = text.trim();
    let text = text.strip_prefix("localhost:").map_or(text.to_owned(), |port| format!("127.0.0.1:{port}"));
    text.parse().map_err(|_| format!("{key}: `{text}` is no address such as `127.0.0.1:8080`"))
}
