//! Cookies, joined into one `Cookie` header (RFC 6265 §4.2).

use super::escape::Escape;
use super::style::{self, Joined, Name, Sink};
use super::values::Target;
use super::{BodyKind, Unsendable, body, media};
use crate::openapi::{ParameterEncoding, ParameterIn, Style};
use http::HeaderValue;
use serde_json::Value;

/// The `Cookie` header being written.
#[derive(Default)]
pub(super) struct Cookies {
    text: String,
    sensitive: bool,
}

/// `cookie-octet` of RFC 6265 §4.1.1.
fn is_octet(byte: u8) -> bool {
    matches!(byte, 0x21 | 0x23..=0x2b | 0x2d..=0x3a | 0x3c..=0x5b | 0x5d..=0x7e)
}

const ILLEGAL: &str = "a cookie value can't hold spaces, quotes, `,`, `;`, `\\`, control or non-ASCII characters";

impl Cookies {
    fn separate(&mut self) {
        if !self.text.is_empty() {
            self.text.push_str("; ");
        }
    }

    /// Adds a cookie parameter: `form` percent-encodes (RFC 6570), `cookie` and text content don't.
    pub(super) fn parameter(&mut self, at: &Target<'_>, value: &Value, secret: bool) -> Result<(), String> {
        self.sensitive |= secret;
        let name = at.plan.name.as_str();
        match &at.plan.encoding {
            ParameterEncoding::Style { style, explode, allow_reserved, allow_empty_value } => {
                let escape = if *style == Style::Cookie || *allow_reserved { Escape::Raw } else { Escape::Strict };
                let keep_empty = at.plan.required || *allow_empty_value;
                style::named(name, *style, *explode, keep_empty, value, &mut Pairs { cookies: self, at, escape })
            }
            ParameterEncoding::Content { media_type } => {
                at.check_name(ParameterIn::Cookie, name, false)?;
                let content = body::text_in(media_type, value, true)?;
                self.separate();
                push_name(&mut self.text, name, Escape::Strict)?;
                self.text.push('=');
                if media::kind(media_type) == Some(BodyKind::Text) {
                    push_raw(&mut self.text, &content)
                } else {
                    // what a cookie can't hold is percent-encoded, and `%` with it so that it reads back
                    for character in content.chars() {
                        let mut buffer = [0; 4];
                        let text = character.encode_utf8(&mut buffer);
                        let plain = text.bytes().all(is_octet) && character != '%';
                        let escape = if plain { Escape::Raw } else { Escape::Strict };
                        escape.push(&mut self.text, text, false);
                    }
                    Ok(())
                }
            }
        }
    }

    /// Adds a ready text of one or more cookies.
    pub(super) fn raw(&mut self, text: &str, secret: bool) -> Result<(), String> {
        self.sensitive |= secret;
        if !text.bytes().all(|byte| is_octet(byte) || b" ;,\"".contains(&byte)) {
            return Err(ILLEGAL.to_owned());
        }
        self.separate();
        self.text.push_str(text);
        Ok(())
    }

    /// Adds a credential.
    pub(super) fn credential(&mut self, name: &str, value: &str) -> Result<(), String> {
        self.sensitive = true;
        self.separate();
        push_name(&mut self.text, name, Escape::Raw)?;
        self.text.push('=');
        push_raw(&mut self.text, value)
    }

    /// The header's value, if there is any cookie.
    pub(super) fn into_value(self) -> Result<Option<HeaderValue>, Unsendable> {
        if self.text.is_empty() {
            return Ok(None);
        }
        let sensitive = self.sensitive;
        let value = HeaderValue::from_maybe_shared(bytes::Bytes::from(self.text));
        let mut value = value.map_err(|_| Unsendable::new(None, "the cookies of this request can't be sent"))?;
        value.set_sensitive(sensitive);
        Ok(Some(value))
    }
}

/// A cookie's name is a token (RFC 6265 §4.1.1); percent-encoding makes one of any text.
fn push_name(out: &mut String, name: &str, escape: Escape) -> Result<(), String> {
    let is_token = !name.is_empty() && name.bytes().all(media::is_token_byte);
    if is_token {
        out.push_str(name);
    } else if escape == Escape::Raw || name.is_empty() {
        return Err("a cookie's name can't hold spaces, separators, control or non-ASCII characters".to_owned());
    } else {
        escape.push(out, name, false);
    }
    Ok(())
}

fn push_raw(out: &mut String, value: &str) -> Result<(), String> {
    if !value.bytes().all(is_octet) {
        return Err(ILLEGAL.to_owned());
    }
    out.push_str(value);
    Ok(())
}

struct Pairs<'w> {
    cookies: &'w mut Cookies,
    at: &'w Target<'w>,
    escape: Escape,
}

impl Sink for Pairs<'_> {
    fn pair(&mut self, name: Name<'_>, value: Joined<'_>) -> Result<(), String> {
        let plain = name.plain();
        self.at.check_name(ParameterIn::Cookie, &plain, name.chosen)?;
        self.cookies.separate();
        push_name(&mut self.cookies.text, &plain, self.escape)?;
        self.cookies.text.push('=');
        let start = self.cookies.text.len();
        value.push(&mut self.cookies.text, self.escape)?;
        // the comma is the delimiter of OpenAPI's own table; members can't hold one
        let is_list = !matches!(value, Joined::One(_));
        let written = self.cookies.text.get(start..).unwrap_or_default();
        if written.bytes().all(|byte| is_octet(byte) || (is_list && byte == b',')) {
            Ok(())
        } else {
            Err(ILLEGAL.to_owned())
        }
    }
}
