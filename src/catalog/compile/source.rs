//! A source of the mapping → [`SourcePlan`]: headers, credentials, limits.

use super::{At, Compiler, problem, token};
use crate::catalog::{CredentialPlan, CredentialValue, Placement, SecretOr, SourcePlan};
use crate::diagnostic::{Diagnostic, Severity};
use crate::mapping::{ClientCredentials, Credential, Resolved, Slot, Source, Tls, TokenExchange};
use crate::openapi::{Api, ParameterIn, SecurityScheme};
use crate::secret::Secret;
use indexmap::IndexMap;
use std::sync::Arc;

impl Compiler<'_> {
    pub(super) fn source(&mut self, name: &str, source: &Source, api: Option<&Api>, at: At<'_>) -> SourcePlan {
        let root = format!("/sources/{}", token(name));
        let base_url = self.base_url(source, &format!("{root}/base_url"), at).unwrap_or_default();
        let mut credentials = IndexMap::new();
        for (scheme_name, scheme) in api.iter().flat_map(|api| &api.security_schemes) {
            let plan = match source.credentials.get(scheme_name) {
                Some(credential) => {
                    let pointer = format!("{root}/credentials/{}", token(scheme_name));
                    self.credential(credential, placement(scheme), Some(scheme), &pointer, at)
                }
                None => self.by_convention(name, scheme_name, scheme, source),
            };
            credentials.insert(scheme_name.clone(), plan);
        }
        for (own_name, credential) in &source.credentials {
            if credentials.contains_key(own_name) {
                continue;
            }
            let pointer = format!("{root}/credentials/{}", token(own_name));
            let plan = self.credential(credential, place(credential), None, &pointer, at);
            credentials.insert(own_name.clone(), plan);
        }
        let mut headers = Vec::new();
        for (header, slot) in &source.headers {
            let pointer = format!("{root}/headers/{}", token(header));
            match http::HeaderName::from_bytes(header.as_bytes()) {
                Ok(header_name) => {
                    if let Some(value) = self.slot(slot, &pointer, at) {
                        headers.push((header_name, value));
                    }
                }
                Err(_) => {
                    self.report.push(problem("bad-header", format!("`{header}` is no header name"), at.key(&pointer)))
                }
            }
        }
        if source.tls.insecure {
            let warning = Diagnostic::warning("insecure-tls", format!("source `{name}` accepts any certificate"));
            self.report.push(match at.value(&format!("{root}/tls/insecure")) {
                Some(place) => warning.at(place),
                None => warning,
            });
        }
        SourcePlan {
            name: name.to_string(),
            base_url,
            credentials,
            headers,
            forward_headers: source.forward_headers.iter().map(|header| header.to_ascii_lowercase()).collect(),
            tls: self.tls(&source.tls),
            limits: source.limits.clone(),
            upload_dirs: source.upload_dirs.iter().map(|folder| self.path(folder)).collect(),
        }
    }

    /// TLS files are relative to the mapping's folder.
    fn tls(&self, tls: &Tls) -> Tls {
        let path = |path: &Option<String>| path.as_deref().map(|path| self.path(path));
        Tls { ca: path(&tls.ca), cert: path(&tls.cert), key: path(&tls.key), insecure: tls.insecure }
    }

    /// The base URL that replaces `servers`: the command line's, else the mapping's.
    pub(super) fn base_url(&mut self, source: &Source, pointer: &str, at: At<'_>) -> Option<String> {
        if let Some(flag) = &self.options.base_url {
            return Some(flag.trim_end_matches('/').to_string());
        }
        let slot = source.base_url.as_ref()?;
        match slot.resolve_public(&self.here()) {
            Ok(url) => Some(url.trim_end_matches('/').to_string()),
            Err(error) => {
                self.report.push(problem("unresolved-value", format!("`base_url`: {error}"), at.value(pointer)));
                None
            }
        }
    }

    fn slot(&mut self, slot: &Slot, pointer: &str, at: At<'_>) -> Option<SecretOr> {
        match slot.resolve(&self.here()) {
            Ok(Resolved::Plain(text)) => Some(SecretOr::Plain(text)),
            Ok(Resolved::Secret(secret)) => Some(SecretOr::Secret(secret)),
            Err(error) => {
                self.report.push(problem("unresolved-value", error.to_string(), at.value(pointer)));
                None
            }
        }
    }

    /// A credential's slot: missing is a warning (calls that need it fail closed), not an error.
    fn secret(&mut self, slot: &Slot, pointer: &str, at: At<'_>, wanted: &mut Vec<String>) -> Option<Secret> {
        wanted.extend(slot.wanted());
        match slot.resolve(&self.here()) {
            Ok(value) => Some(value.into_secret()).filter(|secret| !secret.is_empty()),
            Err(error) => {
                let mut diagnostic = problem("missing-credential", error.to_string(), at.value(pointer));
                diagnostic.severity = Severity::Warning;
                self.report.push(diagnostic.fix("until then, calls that need it are refused".to_string()));
                None
            }
        }
    }

    fn credential(
        &mut self,
        credential: &Credential,
        placement: Placement,
        scheme: Option<&SecurityScheme>,
        pointer: &str,
        at: At<'_>,
    ) -> CredentialPlan {
        let mut wanted = Vec::new();
        let w = &mut wanted;
        let mut placement = placement;
        let value = if let Some(slot) = &credential.value {
            self.secret(slot, &format!("{pointer}/value"), at, w).map(CredentialValue::Static)
        } else if let (Some(user), Some(password)) = (&credential.username, &credential.password) {
            let user = self.secret(user, &format!("{pointer}/username"), at, w);
            let password = self.secret(password, &format!("{pointer}/password"), at, w);
            user.zip(password).map(|(user, password)| CredentialValue::UserPassword(user, password))
        } else if credential.grant.is_some() {
            self.grant(credential, scheme, pointer, at, w)
        } else if let Some(exchange) = &credential.exchange {
            let url = exchange.token_url.resolve_public(&self.here());
            let client = exchange.client_id.as_ref().zip(exchange.client_secret.as_ref()).and_then(|(id, secret)| {
                self.secret(id, &format!("{pointer}/exchange/client_id"), at, w).zip(self.secret(
                    secret,
                    &format!("{pointer}/exchange/client_secret"),
                    at,
                    w,
                ))
            });
            match url {
                Ok(token_url) => Some(CredentialValue::Exchange(Arc::new(TokenExchange {
                    token_url,
                    audience: exchange.audience.clone(),
                    scopes: exchange.scopes.clone(),
                    client,
                }))),
                Err(error) => {
                    let place = at.value(&format!("{pointer}/exchange/token_url"));
                    self.report.push(problem("unresolved-value", error.to_string(), place));
                    None
                }
            }
        } else if let Some(forward) = &credential.forward {
            let header = forward.trim().trim_start_matches("header").trim().to_ascii_lowercase();
            placement = Placement::Header(header.clone());
            Some(CredentialValue::Forward(header))
        } else {
            None
        };
        CredentialPlan { placement, value, wanted }
    }

    fn grant(
        &mut self,
        credential: &Credential,
        scheme: Option<&SecurityScheme>,
        pointer: &str,
        at: At<'_>,
        wanted: &mut Vec<String>,
    ) -> Option<CredentialValue> {
        let declared = match scheme {
            Some(SecurityScheme::OAuth2 { token_url, .. }) => token_url.clone(),
            _ => None,
        };
        let token_url = match &credential.token_url {
            Some(slot) => match slot.resolve_public(&self.here()) {
                Ok(url) => Some(url),
                Err(error) => {
                    self.report.push(problem(
                        "unresolved-value",
                        error.to_string(),
                        at.value(&format!("{pointer}/token_url")),
                    ));
                    return None;
                }
            },
            None => declared,
        };
        let Some(token_url) = token_url else {
            let place = at.key(pointer);
            self.report.push(
                problem(
                    "missing-token-url",
                    "the grant needs a `token_url`; the document declares none".to_string(),
                    place,
                )
                .fix("add `token_url:` beside `grant:`".to_string()),
            );
            return None;
        };
        let (id, secret) = credential.client_id.as_ref().zip(credential.client_secret.as_ref())?;
        let client_id = self.secret(id, &format!("{pointer}/client_id"), at, wanted);
        let client_secret = self.secret(secret, &format!("{pointer}/client_secret"), at, wanted);
        let (client_id, client_secret) = client_id.zip(client_secret)?;
        Some(CredentialValue::ClientCredentials(Arc::new(ClientCredentials {
            token_url,
            client_id,
            client_secret,
            scopes: credential.scopes.clone(),
            audience: credential.audience.clone(),
            client_auth: credential.client_auth,
        })))
    }

    /// Without a `credentials` entry, the environment variable `SOURCE_SCHEME` is looked at (upper case,
    /// other characters as `_`); HTTP basic takes `…_USERNAME` and `…_PASSWORD`.
    fn by_convention(
        &self,
        source: &str,
        scheme_name: &str,
        scheme: &SecurityScheme,
        rules: &Source,
    ) -> CredentialPlan {
        let variable: String = format!("{source}_{scheme_name}")
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
            .collect();
        let (value, wanted) = match scheme {
            SecurityScheme::Basic => {
                let names = [format!("{variable}_USERNAME"), format!("{variable}_PASSWORD")];
                let [user, password] = names.each_ref().map(|name| self.variable(name));
                (
                    user.zip(password).map(|(user, password)| CredentialValue::UserPassword(user, password)),
                    names.to_vec(),
                )
            }
            SecurityScheme::MutualTls => {
                let value = rules.tls.cert.is_some().then(|| CredentialValue::Static(Secret::new("")));
                (value, vec!["tls.cert".to_string(), "tls.key".to_string()])
            }
            SecurityScheme::Unsupported(_) => (None, Vec::new()),
            _ => (self.variable(&variable).map(CredentialValue::Static), vec![variable]),
        };
        CredentialPlan { placement: placement(scheme), value, wanted }
    }

    fn variable(&self, name: &str) -> Option<Secret> {
        self.environment.env(name).or_else(|| self.environment.stand_in(name))
    }
}

fn placement(scheme: &SecurityScheme) -> Placement {
    match scheme {
        SecurityScheme::ApiKey { location: ParameterIn::Query, name } => Placement::Query(name.clone()),
        SecurityScheme::ApiKey { location: ParameterIn::Cookie, name } => Placement::Cookie(name.clone()),
        SecurityScheme::ApiKey { name, .. } => Placement::Header(name.clone()),
        SecurityScheme::Basic => Placement::Basic,
        SecurityScheme::MutualTls => Placement::ClientCertificate,
        SecurityScheme::Bearer
        | SecurityScheme::OAuth2 { .. }
        | SecurityScheme::OpenIdConnect { .. }
        | SecurityScheme::Unsupported(_) => Placement::Bearer,
    }
}

/// `place:` of a credential that no scheme of the document describes.
fn place(credential: &Credential) -> Placement {
    let text = credential.place.as_deref().unwrap_or(if credential.username.is_some() { "basic" } else { "bearer" });
    match text.trim().split_once(' ') {
        Some(("header", name)) => Placement::Header(name.trim().to_string()),
        Some(("query", name)) => Placement::Query(name.trim().to_string()),
        Some(("cookie", name)) => Placement::Cookie(name.trim().to_string()),
        _ if text.trim() == "basic" => Placement::Basic,
        _ => Placement::Bearer,
    }
}
