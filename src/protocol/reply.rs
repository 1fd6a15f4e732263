//! A response on its way to the transport.

use super::error::RpcError;
use bytes::Bytes;

/// A response.
#[derive(Debug)]
pub(crate) struct Reply {
    /// One JSON text without newlines, but for what is shared.
    pub(crate) body: Vec<u8>,
    /// A part of the text that many replies have in common.
    pub(crate) shared: Option<Shared>,
    /// HTTP status while nothing has been sent.
    pub(crate) status: u16,
    /// Scopes the caller lacks (with status 403).
    pub(crate) scopes: Vec<String>,
}

/// A text that stands somewhere in another one. Long lists are some megabytes: to copy them costs as much as to send
/// them.
#[derive(Debug)]
pub(crate) struct Shared {
    /// How many bytes of the other text stand in front of it.
    pub(crate) at: usize,
    pub(crate) text: Bytes,
}

impl Shared {
    /// The whole in one piece.
    pub(crate) fn join(shared: Option<Shared>, mut body: Vec<u8>) -> Vec<u8> {
        if let Some(Shared { at, text }) = shared {
            let behind = body.split_off(at.min(body.len()));
            body.reserve_exact(text.len() + behind.len());
            body.extend_from_slice(&text);
            body.extend_from_slice(&behind);
        }
        body
    }
}

impl Reply {
    pub(crate) fn error(id: &str, error: &RpcError) -> Self {
        Reply { body: error.write(Some(id)), shared: None, status: error.status, scopes: error.scopes.clone() }
    }

    /// The whole text.
    pub(crate) fn whole(self) -> Vec<u8> {
        Shared::join(self.shared, self.body)
    }

    /// `write` appends the result.
    pub(crate) fn result(id: &str, write: impl FnOnce(&mut Vec<u8>)) -> Self {
        let mut body = Vec::with_capacity(512);
        body.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        body.extend_from_slice(id.as_bytes());
        body.extend_from_slice(b",\"result\":");
        write(&mut body);
        body.push(b'}');
        Reply { body, shared: None, status: 200, scopes: Vec::new() }
    }
}
