//! Who may see and call what: a pure decision, the same for `tools/list` and `tools/call`.

use indexmap::IndexMap;
use serde_json::Value;
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
    /// Request headers that some mapping asks for (forwarding, `${caller:header.x}`), lower case.
    pub headers: IndexMap<String, String>,
}
