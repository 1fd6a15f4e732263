//! Header fields: names that may be sent, values that can't break out, in the right order of precedence.

use super::values::Target;
use super::{Credential, Fixed, Unsendable, body, credential, style};
use crate::catalog::{Placement, RequestAction, SecretOr, SourcePlan};
use crate::openapi::ParameterEncoding;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

/// Header names that no argument, mapping or caller may set: connection-level (RFC 9110 §7.6.1), framing,
/// routing, and MCP's own.
pub(super) fn is_forbidden(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "connection",
        "content-length",
        "expect",
        "host",
        "http2-settings",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ];
    NAMES.iter().any(|forbidden| name.eq_ignore_ascii_case(forbidden))
        || ["proxy-", "mcp-", ":"]
            .iter()
            .any(|prefix| name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix)))
}

/// True for headers that the media types of the operation decide.
pub(super) fn is_managed(name: &str) -> bool {
    name.eq_ignore_ascii_case("accept") || name.eq_ignore_ascii_case("content-type")
}

/// Why a header parameter of this name can never be sent.
pub(super) fn name_problem(name: &str) -> Option<String> {
    if HeaderName::from_bytes(name.as_bytes()).is_err() {
        return Some(format!("`{name}` is no legal header name"));
    }
    if is_forbidden(name) {
        return Some(format!("the header `{name}` belongs to the connection and can't be set"));
    }
    is_managed(name).then(|| format!("the header `{name}` follows from the declared media types and can't be set"))
}

/// A field value sent as it is (RFC 9110 §5.5): no control characters but tab, no white space at the
/// ends, which a recipient would strip; non-ASCII as UTF-8.
pub(super) fn value(text: &str) -> Result<HeaderValue, String> {
    if text.starts_with([' ', '\t']) || text.ends_with([' ', '\t']) {
        return Err("a header value can't start or end with white space".to_owned());
    }
    HeaderValue::from_bytes(text.as_bytes())
        .map_err(|_| "a header value can't hold line breaks or other control characters".to_owned())
}

/// The header a credential occupies.
fn occupies(credential: &Credential) -> Option<&str> {
    match &credential.placement {
        Placement::Header(name) => Some(name),
        Placement::Basic | Placement::Bearer => Some(AUTHORIZATION.as_str()),
        Placement::Query(_) | Placement::Cookie(_) | Placement::ClientCertificate => None,
    }
}

/// Headers being written.
pub(super) struct Headers<'a> {
    pub(super) map: HeaderMap,
    source: &'a SourcePlan,
    credentials: &'a [Credential],
}

impl<'a> Headers<'a> {
    /// Starts with `Accept`.
    pub(super) fn new(
        action: &RequestAction,
        source: &'a SourcePlan,
        credentials: &'a [Credential],
    ) -> Result<Self, Unsendable> {
        let mut map = HeaderMap::with_capacity(8);
        let accept = match action.accept.as_str() {
            "" | "*/*" => HeaderValue::from_static("*/*"),
            "application/json" => HeaderValue::from_static("application/json"),
            accept => value(accept)
                .map_err(|_| Unsendable::new(None, "the media types of this operation's responses can't be sent"))?,
        };
        map.insert(ACCEPT, accept);
        Ok(Headers { map, source, credentials })
    }

    /// Adds a header parameter. `from_argument` = the caller gave the value.
    pub(super) fn parameter(
        &mut self,
        at: &Target<'_>,
        given: &Value,
        from_argument: bool,
        secret: bool,
        cookies: &mut super::cookie::Cookies,
    ) -> Result<(), String> {
        let name = at.plan.name.as_str();
        let problem = || name_problem(name).unwrap_or_else(|| format!("the header `{name}` can't be set"));
        let Ok(header) = HeaderName::from_bytes(name.as_bytes()) else { return Err(problem()) };
        if is_forbidden(name) || is_managed(name) {
            return Err(problem());
        }
        if self.credentials.iter().filter_map(occupies).any(|used| used.eq_ignore_ascii_case(name)) {
            return Err(format!("the header `{name}` is sent by the server as a credential; leave it out"));
        }
        if from_argument && self.source.headers.iter().any(|(used, _)| *used == header) {
            return Err(format!("the header `{name}` is set by the server; leave it out"));
        }
        let text = match &at.plan.encoding {
            ParameterEncoding::Style { style, explode, .. } => {
                style::header(*style, *explode, at.plan.required, given)?
            }
            ParameterEncoding::Content { media_type } => Some(body::text_in(media_type, given, true)?.into_owned()),
        };
        let Some(text) = text else { return Ok(()) };
        if header == COOKIE {
            return cookies.raw(&text, secret);
        }
        let mut value = value(&text)?;
        value.set_sensitive(secret);
        self.map.append(header, value);
        Ok(())
    }

    /// Sets a credential's header; refused where another credential is there already. Documents ask for
    /// two schemes at once that are one token (`Oauth2` and `Oauth2c`): the same value counts once.
    pub(super) fn credential(&mut self, header: HeaderName, value: HeaderValue) -> Result<(), Unsendable> {
        if self.map.get(&header) == Some(&value) {
            return Ok(());
        }
        if self.map.contains_key(&header) {
            let message = "two values of the server's configuration claim the same header for a credential";
            return Err(Unsendable::new(None, message));
        }
        self.map.insert(header, value);
        Ok(())
    }

    /// Adds the source's headers, then the caller's forwarded ones; what is already set stays, except the
    /// default `Accept`.
    pub(super) fn fixed(
        &mut self,
        source: &SourcePlan,
        fixed: &Fixed<'_>,
        credentials: &[Credential],
    ) -> Result<(), Unsendable> {
        for (name, text) in &source.headers {
            let credential =
                credentials.iter().filter_map(occupies).any(|used| used.eq_ignore_ascii_case(name.as_str()));
            if is_forbidden(name.as_str()) || credential || (self.map.contains_key(name) && name != ACCEPT) {
                continue;
            }
            let value = match text {
                SecretOr::Plain(text) => value(text),
                SecretOr::Secret(secret) => credential::header_value(secret),
            };
            let value = value.map_err(|_| {
                Unsendable::new(None, format!("the server's own value of the header `{name}` can't be sent"))
            })?;
            self.map.insert(name, value);
        }
        for (name, value) in fixed.forwarded {
            let text = name.as_str();
            if is_forbidden(text) || is_managed(text) || name == COOKIE || self.map.contains_key(name) {
                continue;
            }
            self.map.insert(name, value.clone());
        }
        self.map.remove(CONTENT_TYPE);
        Ok(())
    }

    /// Adds the one `Cookie` header.
    pub(super) fn cookies(&mut self, cookies: super::cookie::Cookies) -> Result<(), Unsendable> {
        if let Some(mut value) = cookies.into_value()? {
            if let Some(own) = self.map.get(COOKIE) {
                let joined = [own.as_bytes(), b"; ", value.as_bytes()].concat();
                let sensitive = own.is_sensitive() || value.is_sensitive();
                value = HeaderValue::from_bytes(&joined)
                    .map_err(|_| Unsendable::new(None, "the cookies of this request can't be sent"))?;
                value.set_sensitive(sensitive);
            }
            self.map.insert(COOKIE, value);
        }
        Ok(())
    }
}
