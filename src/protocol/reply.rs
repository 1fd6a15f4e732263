//! A response on its way to the transport.

use super::error::RpcError;
use crate::content::wire::Pieces;

/// A response.
#[derive(Debug)]
pub(crate) struct Reply {
    /// One JSON text without newlines.
    pub(crate) body: Pieces,
    /// HTTP status while nothing has been sent.
    pub(crate) status: u16,
    /// Scopes the caller lacks (with status 403).
    pub(crate) scopes: Vec<String>,
}

impl Reply {
    pub(crate) fn error(id: &str, error: &RpcError) -> Self {
        Reply { body: error.write(Some(id)).into(), status: error.status, scopes: error.scopes.clone() }
    }

    /// `write` appends the result.
    pub(crate) fn result(id: &str, write: impl FnOnce(&mut Vec<u8>)) -> Self {
        Reply::in_pieces(id, |pieces| write(&mut pieces.text))
    }

    /// The same for a result that may have long parts.
    pub(crate) fn in_pieces(id: &str, write: impl FnOnce(&mut Pieces)) -> Self {
        let mut body = Pieces::from(Vec::with_capacity(512));
        body.text.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        body.text.extend_from_slice(id.as_bytes());
        body.text.extend_from_slice(b",\"result\":");
        write(&mut body);
        body.text.push(b'}');
        Reply { body, status: 200, scopes: Vec::new() }
    }
}
