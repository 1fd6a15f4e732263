//! The one file through which a secret reaches the wire (and the masking of what it left there).

use super::cookie::Cookies;
use super::header::{self, Headers};
use super::url::Wire;
use super::{Request, Unsendable};
use crate::catalog::Placement;
use crate::secret::Secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use std::ops::Range;

/// One credential of a call: where it goes and its value, already had.
#[derive(Debug, Clone)]
pub struct Credential {
    /// Where it goes.
    pub placement: Placement,
    /// Its value.
    pub value: Value,
}

/// A credential's value.
#[derive(Debug, Clone)]
pub enum Value {
    /// An API key, a token, or (for HTTP basic) `user:password`.
    Secret(Secret),
    /// User name and password.
    UserPassword(Secret, Secret),
}

impl Credential {
    /// Adds what of it must be masked wherever it shows up.
    pub(super) fn remember(&self, secrets: &mut Vec<Secret>) {
        match &self.value {
            Value::UserPassword(_, password) => secrets.push(password.clone()),
            Value::Secret(secret) => {
                let password = secret.expose().split_once(':').filter(|_| self.placement == Placement::Basic);
                secrets.extend(password.map(|(_, password)| Secret::new(password)));
                secrets.push(secret.clone());
            }
        }
    }

    /// Writes the credential to its spot.
    pub(super) fn apply(
        &self,
        wire: &mut Wire,
        headers: &mut Headers<'_>,
        cookies: &mut Cookies,
        secret_in_url: &mut Vec<Range<usize>>,
    ) -> Result<(), Unsendable> {
        let refuse = |_| Unsendable::new(None, "a credential of this tool can't be sent in its place");
        match (&self.placement, &self.value) {
            (Placement::ClientCertificate, _) => Ok(()),
            (Placement::Basic, value) => headers.credential(AUTHORIZATION, basic(value)?),
            (Placement::Bearer, Value::Secret(token)) => {
                headers.credential(AUTHORIZATION, with_scheme("Bearer", token.expose()).map_err(refuse)?)
            }
            (Placement::Header(name), Value::Secret(key)) => {
                let name = HeaderName::from_bytes(name.as_bytes())
                    .ok()
                    .filter(|name| !header::is_forbidden(name.as_str()) && !header::is_managed(name.as_str()))
                    .ok_or_else(|| refuse(String::new()))?;
                headers.credential(name, header_value(key).map_err(refuse)?)
            }
            (Placement::Query(name), Value::Secret(key)) => {
                secret_in_url.push(wire.secret(name, key.expose()));
                Ok(())
            }
            (Placement::Cookie(name), Value::Secret(key)) => cookies.credential(name, key.expose()).map_err(refuse),
            (_, Value::UserPassword(..)) => {
                Err(Unsendable::new(None, "a user name and password can only be sent as HTTP basic"))
            }
        }
    }
}

/// RFC 7617, UTF-8.
fn basic(value: &Value) -> Result<HeaderValue, Unsendable> {
    let refuse = || Unsendable::new(None, "the user name and password of this tool can't be sent as HTTP basic");
    let pair = match value {
        Value::UserPassword(user, _) if user.expose().contains(':') => return Err(refuse()),
        Value::UserPassword(user, password) => format!("{}:{}", user.expose(), password.expose()),
        Value::Secret(pair) if pair.expose().contains(':') => pair.expose().to_owned(),
        // already encoded, with or without the scheme
        Value::Secret(encoded) => return with_scheme("Basic", encoded.expose()).map_err(|_| refuse()),
    };
    if pair.chars().any(char::is_control) {
        return Err(refuse());
    }
    with_scheme("Basic", &STANDARD.encode(pair)).map_err(|_| refuse())
}

/// `scheme value`, unless the value already begins with the scheme (a forwarded header does).
fn with_scheme(scheme: &str, value: &str) -> Result<HeaderValue, String> {
    let present = value.split_once(' ').is_some_and(|(first, _)| first.eq_ignore_ascii_case(scheme));
    let mut value = if present { header::value(value)? } else { header::value(&format!("{scheme} {value}"))? };
    value.set_sensitive(true);
    Ok(value)
}

/// A secret as a header value, marked sensitive.
pub(super) fn header_value(secret: &Secret) -> Result<HeaderValue, String> {
    let mut value = header::value(secret.expose())?;
    value.set_sensitive(true);
    Ok(value)
}

/// A fixed value of the mapping, for its binding.
pub(super) fn reveal(secret: &Secret) -> &str {
    secret.expose()
}

/// The request's secrets in clear, for masking alone.
pub(super) fn to_mask(request: &Request) -> impl Iterator<Item = &str> {
    request.secrets.iter().map(Secret::expose)
}

/// `text` with every secret of the request's body masked, in each spelling a body can hold.
pub(super) fn mask_body(request: &Request, text: &str) -> String {
    let mut masked = text.to_owned();
    for secret in &request.secrets {
        let plain = secret.expose();
        let json = serde_json::Value::String(plain.to_owned()).to_string();
        let form: String = ::url::form_urlencoded::byte_serialize(plain.as_bytes()).collect();
        let percent = percent_encoding::utf8_percent_encode(plain, percent_encoding::NON_ALPHANUMERIC).to_string();
        let base64 = STANDARD.encode(plain);
        let mut xml = String::new();
        let _ = super::xml::push_text(&mut xml, plain);
        for spelling in [json.trim_matches('"'), &form, &percent, &xml, &base64, plain] {
            if !spelling.is_empty() {
                masked = masked.replace(spelling, "***");
            }
        }
    }
    masked
}
