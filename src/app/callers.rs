//! `access:` of the settings → who is recognised, what they may do, with which credentials, how often.

use super::Setup;
use crate::access::{Access, Rules, ScopeRule, TenantRules};
use crate::catalog::{Catalog, CredentialValue};
use crate::config::{Anonymous, JwtAlgorithm, SubjectPart, TenantCredential};
use crate::diagnostic::hint::did_you_mean;
use crate::mapping::{ClientCredentials, Credential, Environment, Slot, Tls, TokenExchange};
use crate::secret::Secret;
use crate::transport::identity::jwks::{KeyPlace, KeySource, KeyTimes};
use crate::transport::identity::jwt::JwtSettings;
use crate::transport::identity::{ApiKey, CertificateRules, Resource, Settings};
use crate::upstream::auth::TenantCredentials;
use crate::upstream::fetch;
use crate::upstream::limits::TenantRates;
use crate::upstream::policy::{Gate, RemotePolicy};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Time for one answer of an issuer.
const KEYS_TIMEOUT: Duration = Duration::from_secs(10);
/// Time for one decision of a policy, where the settings say nothing.
const POLICY_TIMEOUT: Duration = Duration::from_secs(1);

/// Credentials by tenant, then source.
pub(super) type Tenants = HashMap<String, HashMap<String, TenantCredentials>>;

/// How callers are recognised. Every problem is one text.
pub(super) fn identity(setup: &Setup) -> Result<Settings, Vec<String>> {
    let (access, environment) = (&setup.config.access, setup.environment.as_ref());
    let mut problems = Vec::new();
    let mut public = |key: &str, slot: &Slot| -> String {
        slot.resolve_public(environment).unwrap_or_else(|error| {
            problems.push(format!("{key}: {error}"));
            String::new()
        })
    };
    let api_keys = access
        .api_keys
        .iter()
        .map(|key| ApiKey {
            name: key.name.clone(),
            hash: public(&format!("access.api_keys `{}`", key.name), &key.key_hash).trim().to_owned(),
            tenant: key.tenant.clone(),
            scopes: key.scopes.clone(),
        })
        .collect();
    let mut jwt = Vec::new();
    let mut resource = None;
    if let Some(rules) = &access.jwt {
        let issuer = public("access.jwt.issuer", &rules.issuer);
        let audience = public("access.jwt.audience", &rules.audience);
        let jwks = public("access.jwt.jwks", &rules.jwks);
        if audience.starts_with("https://") || audience.starts_with("http://") {
            let servers = &rules.authorization_servers;
            let authorization_servers = if servers.is_empty() { vec![issuer.clone()] } else { servers.clone() };
            resource =
                Some(Resource { url: audience.clone(), authorization_servers, scopes: rules.scopes_supported.clone() });
        }
        let place = if jwks.starts_with("https://") || jwks.starts_with("http://") {
            match fetch::Document::new("access.jwt.jwks", &jwks, Tls::default(), KEYS_TIMEOUT) {
                Ok(document) => Some(KeyPlace::Remote(Arc::new(document))),
                Err(found) => {
                    problems.extend(found);
                    None
                }
            }
        } else {
            Some(KeyPlace::File(setup.path(&jwks)))
        };
        if let Some(place) = place {
            jwt.push(JwtSettings {
                issuer,
                audiences: Some(audience).filter(|audience| !audience.is_empty()).into_iter().collect(),
                algorithms: rules.algorithms.iter().map(|one| jose(*one).to_owned()).collect(),
                keys: KeySource { place, times: KeyTimes::default() },
                tenant_claim: rules.tenant_claim.clone(),
            });
        }
    }
    let asks_certificates = setup.config.tls.as_ref().is_some_and(|tls| tls.client_ca.is_some());
    let certificates = asks_certificates.then(|| {
        let rules = access.mtls.clone().unwrap_or_default();
        let tenant_from = rules.tenant.map(|part| match part {
            SubjectPart::CommonName => "CN".to_owned(),
            SubjectPart::Organization => "O".to_owned(),
            SubjectPart::OrganizationalUnit => "OU".to_owned(),
        });
        CertificateRules { tenant_from, scopes: rules.scopes }
    });
    let anonymous = match access.anonymous {
        None if asks_certificates => false,
        _ => access.anonymous() == Anonymous::Allow,
    };
    if problems.is_empty() { Ok(Settings { api_keys, jwt, certificates, anonymous, resource }) } else { Err(problems) }
}

/// Equal for settings that recognise the same callers; holds secrets, never to be printed.
pub(super) fn identity_fingerprint(setup: &Setup) -> String {
    let access = &setup.config.access;
    let hashes: Vec<_> =
        access.api_keys.iter().map(|key| key.key_hash.resolve_public(setup.environment.as_ref()).ok()).collect();
    format!("{:?}", (&access.api_keys, hashes, &access.jwt, &access.mtls, access.anonymous, &setup.config.tls))
}

fn jose(algorithm: JwtAlgorithm) -> &'static str {
    match algorithm {
        JwtAlgorithm::Rs256 => "RS256",
        JwtAlgorithm::Rs384 => "RS384",
        JwtAlgorithm::Rs512 => "RS512",
        JwtAlgorithm::Ps256 => "PS256",
        JwtAlgorithm::Ps384 => "PS384",
        JwtAlgorithm::Ps512 => "PS512",
        JwtAlgorithm::Es256 => "ES256",
        JwtAlgorithm::Es384 => "ES384",
        JwtAlgorithm::EdDsa => "EdDSA",
    }
}

/// The gate in front of a catalog: lists, policy files, a remote policy.
pub(super) fn gate(setup: &Setup) -> Result<Gate, Vec<String>> {
    let access = &setup.config.access;
    let mut problems = Vec::new();
    let mut rules = Rules::default();
    for (name, tenant) in &access.tenants {
        // An empty list means nothing here, and everything in the rules.
        let nothing = tenant.allow.as_ref().is_some_and(Vec::is_empty);
        let deny = if nothing { vec!["*".to_owned()] } else { tenant.deny.clone() };
        rules.tenants.insert(name.clone(), TenantRules { allow: tenant.allow.clone().unwrap_or_default(), deny });
    }
    for (scope, tools) in &access.scopes {
        rules.scopes.push(ScopeRule { tools: tools.clone(), scopes: vec![scope.clone()] });
    }
    let mut remote = None;
    if let Some(policy) = &access.policy {
        rules.query = policy.query.clone().unwrap_or_default();
        for pattern in &policy.rego {
            let files = setup.expand(pattern);
            if files.is_empty() {
                problems.push(format!("access.policy.rego: `{pattern}` names no file"));
            }
            for file in files {
                match std::fs::read_to_string(&file) {
                    Ok(text) => rules.rego.push((file.to_string_lossy().into_owned(), text)),
                    Err(_) => problems.push(format!("access.policy.rego: `{}` can't be read", file.display())),
                }
            }
        }
        if let Some(opa) = &policy.opa {
            let timeout = policy.timeout.map_or(POLICY_TIMEOUT, |timeout| timeout.0);
            let url = opa
                .resolve_public(setup.environment.as_ref())
                .map_err(|error| vec![format!("access.policy.opa: {error}")]);
            match url.and_then(|url| RemotePolicy::new(&url, Tls::default(), timeout)) {
                Ok(policy) => remote = Some(policy),
                Err(found) => problems.extend(found),
            }
        }
    }
    match Access::new(&rules) {
        Ok(access) if problems.is_empty() => Ok(Gate::new(access, remote)),
        Ok(_) => Err(problems),
        Err(found) => {
            problems.extend(found);
            Err(problems)
        }
    }
}

/// How often tenants may call.
pub(super) fn rates(setup: &Setup) -> Result<TenantRates, Vec<String>> {
    TenantRates::new(rate_texts(setup))
}

/// Tenants and their rates, as written.
pub(super) fn rate_texts(setup: &Setup) -> impl Iterator<Item = (&str, &str)> {
    let tenants = &setup.config.access.tenants;
    tenants.iter().filter_map(|(name, tenant)| Some((name.as_str(), tenant.rate.as_deref()?)))
}

/// The tenants' own credentials. One that can't be had is an error: the call must not go out with another's.
pub(super) fn tenants(setup: &Setup, catalog: &Catalog) -> Result<Tenants, Vec<String>> {
    let mut problems = Vec::new();
    let mut all = Tenants::new();
    for (tenant, rules) in &setup.config.access.tenants {
        for (source, credentials) in &rules.credentials {
            let at = format!("access.tenants.{tenant}.credentials.{source}");
            let Some(plan) = catalog.sources.iter().find(|plan| plan.name == *source) else {
                let hint = did_you_mean(source, catalog.sources.iter().map(|plan| plan.name.as_str()));
                problems.push(format!("{at}: there is no source `{source}`{}", tail(hint)));
                continue;
            };
            for (name, credential) in credentials {
                if !plan.credentials.contains_key(name) {
                    let hint = did_you_mean(name, plan.credentials.keys().map(String::as_str));
                    problems.push(format!("{at}: source `{source}` has no credential `{name}`{}", tail(hint)));
                    continue;
                }
                match value(credential, setup.environment.as_ref()) {
                    Ok(value) => {
                        let sources = all.entry(tenant.clone()).or_default();
                        sources.entry(source.clone()).or_default().insert(name.clone(), value);
                    }
                    Err(problem) => problems.push(format!("{at}.{name}: {problem}")),
                }
            }
        }
    }
    if problems.is_empty() { Ok(all) } else { Err(problems) }
}

fn tail(hint: Option<String>) -> String {
    hint.map(|hint| format!("; {hint}")).unwrap_or_default()
}

fn value(credential: &TenantCredential, environment: &dyn Environment) -> Result<CredentialValue, String> {
    let secret = |slot: &Slot| -> Result<Secret, String> {
        let secret = slot.resolve(environment).map_err(|error| error.to_string())?.into_secret();
        if secret.is_empty() { Err("it is empty".to_owned()) } else { Ok(secret) }
    };
    let credential: &Credential = match credential {
        TenantCredential::Value(slot) => return Ok(CredentialValue::Static(secret(slot)?)),
        TenantCredential::Credential(credential) => credential,
    };
    let public = |slot: &Slot| slot.resolve_public(environment).map_err(|error| error.to_string());
    if let Some(slot) = &credential.value {
        return Ok(CredentialValue::Static(secret(slot)?));
    }
    if let (Some(user), Some(password)) = (&credential.username, &credential.password) {
        return Ok(CredentialValue::UserPassword(secret(user)?, secret(password)?));
    }
    if credential.grant.is_some() {
        let missing = |key: &str| format!("`{key}` is missing");
        return Ok(CredentialValue::ClientCredentials(Arc::new(ClientCredentials {
            token_url: public(credential.token_url.as_ref().ok_or_else(|| missing("token_url"))?)?,
            client_id: secret(credential.client_id.as_ref().ok_or_else(|| missing("client_id"))?)?,
            client_secret: secret(credential.client_secret.as_ref().ok_or_else(|| missing("client_secret"))?)?,
            scopes: credential.scopes.clone(),
            audience: credential.audience.clone(),
            client_auth: credential.client_auth,
        })));
    }
    if let Some(exchange) = &credential.exchange {
        let client = match (&exchange.client_id, &exchange.client_secret) {
            (Some(id), Some(key)) => Some((secret(id)?, secret(key)?)),
            _ => None,
        };
        return Ok(CredentialValue::Exchange(Arc::new(TokenExchange {
            token_url: public(&exchange.token_url)?,
            audience: exchange.audience.clone(),
            scopes: exchange.scopes.clone(),
            client,
        })));
    }
    if let Some(forward) = &credential.forward {
        let header = forward.trim().trim_start_matches("header").trim().to_ascii_lowercase();
        return Ok(CredentialValue::Forward(header));
    }
    Err("it says no way to be had: `value`, `username` and `password`, `grant`, `exchange` or `forward`".to_owned())
}
