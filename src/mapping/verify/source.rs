//! `sources` and `credentials`.

use super::{Verifier, is_token, list, title, written, written_of};
use crate::document::pointer::join;
use crate::mapping::strict::Finding;
use crate::mapping::{Credential, Slot, Source};

/// Headers that belong to the connection (RFC 9110 §7.6.1) or to the body, and are written by the client itself.
const CONNECTION: &[&str] = &[
    "connection",
    "content-length",
    "content-type",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl Verifier<'_, '_> {
    pub(super) fn source(&mut self, source: &Source, pointer: &str) {
        if let Some(base_url) = &source.base_url {
            self.http_url(&join(pointer, "base_url"), base_url);
        }
        if source.spec.is_none() {
            let needs = written_of(self.findings, pointer, &["overlays", "server_variables", "expose", "tool_prefix"]);
            if let Some(first) = needs.first() {
                let at = join(pointer, first);
                self.key_error(
                    "no-effect",
                    &at,
                    format!("`{first}` has no effect without `spec`"),
                    "add `spec:` with the OpenAPI document",
                );
            }
            if source.base_url.is_none() && source.workflows.is_empty() {
                let message = format!("{} has neither `spec` nor `base_url`", title(pointer));
                self.key_error(
                    "missing-key",
                    pointer,
                    message,
                    "add `spec:` with the OpenAPI document, or `base_url:` for hand-written tools",
                );
            }
        }
        let prefix_ok = source.tool_prefix.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        if !prefix_ok || source.tool_prefix.len() > 32 {
            let at = join(pointer, "tool_prefix");
            let message = format!("`{}` can't start a tool's name", source.tool_prefix);
            self.error("bad-name", &at, message, "a prefix has up to 32 letters, digits, `_` and `-`");
        }
        for (name, credential) in &source.credentials {
            self.credential(credential, &join(&join(pointer, "credentials"), name));
        }
        for (name, value) in &source.headers {
            self.header(name, value, &join(&join(pointer, "headers"), name));
        }
        for (index, name) in source.forward_headers.iter().enumerate() {
            self.forwarded(name, &format!("{pointer}/forward_headers/{index}"));
        }
        self.tls(source, &join(pointer, "tls"));
        self.limits(source, &join(pointer, "limits"));
    }

    fn http_url(&mut self, pointer: &str, slot: &Slot) {
        if !slot.is_literal() {
            return;
        }
        let fix = "write it as `https://host/path`, without query and fragment";
        match url::Url::parse(&slot.0) {
            Err(_) => self.error("bad-url", pointer, format!("`{}` is no absolute URL", slot.0), fix),
            Ok(url) if !matches!(url.scheme(), "http" | "https") => {
                self.error("bad-url", pointer, format!("`{}` is no HTTP URL", slot.0), fix);
            }
            Ok(url) if url.query().is_some() || url.fragment().is_some() => {
                self.error("bad-url", pointer, format!("`{}` has a query or fragment", slot.0), fix);
            }
            Ok(url) if !url.username().is_empty() || url.password().is_some() => {
                self.findings.hide(pointer);
                self.error("bad-url", pointer, "the URL holds a user name or password", "put them under `credentials`");
            }
            Ok(_) => {}
        }
    }

    fn credential(&mut self, credential: &Credential, pointer: &str) {
        let ways: &[&str] = &["value", "username", "password", "grant", "exchange", "forward"];
        let mut given = written_of(self.findings, pointer, ways);
        if given.contains(&"username") && given.contains(&"password") {
            given.retain(|way| *way != "password");
        }
        match given.as_slice() {
            [] => {
                let fix = "write one of `value`, `username` with `password`, `grant`, `exchange`, `forward`";
                self.key_error("missing-key", pointer, format!("{} says no way to have it", title(pointer)), fix);
            }
            ["username"] if credential.password.is_none() => {
                self.key_error(
                    "missing-key",
                    pointer,
                    format!("{} has a user name and no password", title(pointer)),
                    "add `password:`",
                );
            }
            ["password"] => {
                self.key_error(
                    "missing-key",
                    pointer,
                    format!("{} has a password and no user name", title(pointer)),
                    "add `username:`",
                );
            }
            [_] => {}
            several => {
                let message = format!("{} says {} ways to have it: {}", title(pointer), several.len(), list(several));
                self.key_error("conflict", pointer, message, "keep one of them");
            }
        }
        let of_grant = written_of(
            self.findings,
            pointer,
            &["token_url", "client_id", "client_secret", "scopes", "audience", "client_auth"],
        );
        if credential.grant.is_some() {
            for needed in ["client_id", "client_secret"] {
                if !of_grant.contains(&needed) {
                    self.key_error(
                        "missing-key",
                        pointer,
                        format!("{} needs `{needed}` for its grant", title(pointer)),
                        format!("add `{needed}:`"),
                    );
                }
            }
        } else if let Some(first) = of_grant.first()
            && !given.is_empty()
        {
            let at = join(pointer, first);
            let fix = if credential.exchange.is_some() {
                "put it under `exchange`"
            } else {
                "add `grant: client_credentials`, or delete the line"
            };
            self.key_error("no-effect", &at, format!("`{first}` has no effect without `grant`"), fix);
        }
        if let Some(forward) = &credential.forward {
            let at = join(pointer, "forward");
            match forward.split_once(' ') {
                Some(("header", name)) if is_token(name.trim()) => {
                    let message =
                        "passing a caller's header on gives the API a credential that was meant for this server";
                    self.findings.add(
                        Finding::warning("forwarded-credential", at, message)
                            .fix("prefer `exchange` (RFC 8693) where the API's authorization server has it"),
                    );
                }
                _ => self.error(
                    "bad-value",
                    &at,
                    format!("`{forward}` names no header"),
                    "write `header NAME`, such as `header authorization`",
                ),
            }
        }
        if let Some(place) = &credential.place {
            let legal = matches!(place.as_str(), "bearer" | "basic")
                || place
                    .split_once(' ')
                    .is_some_and(|(kind, name)| matches!(kind, "header" | "query" | "cookie") && is_token(name.trim()));
            if !legal {
                let at = join(pointer, "place");
                self.error(
                    "bad-value",
                    &at,
                    format!("`{place}` is no place for a credential"),
                    "there are `bearer`, `basic`, `header NAME`, `query NAME`, `cookie NAME`",
                );
            }
        }
        for (key, slot) in [
            ("value", &credential.value),
            ("password", &credential.password),
            ("client_secret", &credential.client_secret),
        ] {
            self.in_the_clear(&join(pointer, key), slot.as_ref());
        }
        if let Some(exchange) = &credential.exchange {
            self.in_the_clear(&join(&join(pointer, "exchange"), "client_secret"), exchange.client_secret.as_ref());
        }
    }

    fn in_the_clear(&mut self, pointer: &str, slot: Option<&Slot>) {
        if slot.is_some_and(|slot| slot.is_literal() && !slot.0.is_empty()) {
            self.findings.hide(pointer);
            let message = format!("{} is written in the clear", title(pointer));
            self.findings.add(
                Finding::warning("secret-in-file", pointer, message)
                    .on_key()
                    .fix("write `${env:NAME}` or `${file:PATH}`"),
            );
        }
    }

    fn header(&mut self, name: &str, value: &Slot, pointer: &str) {
        let lower = name.to_ascii_lowercase();
        if !is_token(name) {
            self.key_error(
                "bad-header",
                pointer,
                format!("`{name}` can't be a header's name"),
                "letters, digits and `-`, such as `X-Client`",
            );
        } else if CONNECTION.contains(&lower.as_str()) {
            self.key_error(
                "bad-header",
                pointer,
                format!("`{name}` is written by the HTTP client itself"),
                "delete the line",
            );
        } else if value.0.chars().any(|c| c.is_control() && c != '\t') {
            self.error(
                "bad-header",
                pointer,
                format!("the value of `{name}` has a control character"),
                "write it in one line",
            );
        }
        if matches!(lower.as_str(), "authorization" | "cookie" | "x-api-key" | "api-key") && value.is_literal() {
            self.in_the_clear(pointer, Some(value));
        }
    }

    fn forwarded(&mut self, name: &str, pointer: &str) {
        let lower = name.to_ascii_lowercase();
        if !is_token(name) {
            self.error(
                "bad-header",
                pointer,
                format!("`{name}` can't be a header's name"),
                "letters, digits and `-`, such as `x-request-id`",
            );
        } else if matches!(lower.as_str(), "authorization" | "cookie") {
            let fix = "a caller's credential goes on with `forward: header NAME` or `exchange` under `credentials`";
            self.error("bad-header", pointer, format!("`{name}` holds the caller's credential"), fix);
        } else if CONNECTION.contains(&lower.as_str()) || lower.starts_with("mcp-") {
            self.error("bad-header", pointer, format!("`{name}` belongs to the caller's own connection"), "delete it");
        }
    }

    fn tls(&mut self, source: &Source, pointer: &str) {
        match (&source.tls.cert, &source.tls.key) {
            (Some(_), None) => self.key_error(
                "missing-key",
                &join(pointer, "cert"),
                "a client certificate needs its key",
                "add `key:`",
            ),
            (None, Some(_)) => self.key_error(
                "missing-key",
                &join(pointer, "key"),
                "a client key needs its certificate",
                "add `cert:`",
            ),
            _ => {}
        }
        if source.tls.insecure {
            let finding = Finding::warning(
                "insecure-tls",
                join(pointer, "insecure"),
                "any certificate is accepted: anyone between can read and change calls",
            );
            self.findings.add(finding.fix("name the API's own CA under `ca`"));
        }
    }

    fn limits(&mut self, source: &Source, pointer: &str) {
        for key in ["connect_timeout", "first_byte_timeout", "timeout"] {
            let given = match key {
                "connect_timeout" => Some(source.limits.connect_timeout),
                "timeout" => Some(source.limits.timeout),
                _ => source.limits.first_byte_timeout,
            };
            self.not_zero(&join(pointer, key), given);
        }
        if written(self.findings, pointer, "max_response") && source.limits.max_response.0 == 0 {
            self.error(
                "out-of-range",
                &join(pointer, "max_response"),
                "no answer would fit",
                "write a size such as `10MiB`",
            );
        }
    }

    /// A time limit that is none.
    pub(super) fn not_zero(&mut self, pointer: &str, given: Option<crate::mapping::Duration>) {
        if given.is_some_and(|given| given.0.is_zero()) {
            self.error(
                "out-of-range",
                pointer,
                format!("{} is no time at all", title(pointer)),
                "write a duration such as `5s`",
            );
        }
    }
}
