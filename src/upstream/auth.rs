//! Credentials of a call, the ones included that must be fetched first. Fails closed: a credential
//! that can't be had stops the call.

mod token;

pub use token::Tokens;

use super::Upstream;
use crate::access::Caller;
use crate::catalog::{CredentialPlan, CredentialValue, Placement};
use crate::request::{Credential, CredentialText};
use crate::response::NoAnswer;
use crate::secret::Secret;
use indexmap::IndexMap;
use std::sync::Arc;

/// The credentials of one call.
#[derive(Debug, Clone, Default)]
pub struct Resolved {
    /// What goes on the wire, for `request::build`.
    pub credentials: Vec<Credential>,
    /// Tokens that were fetched, and where; for [`Upstream::rejected`].
    fetched: Vec<(Secret, Arc<token::Entry>)>,
}

/// Why a call has no credentials.
#[derive(Debug, Clone)]
pub enum NoCredential {
    /// Nothing is configured for these schemes (of the alternative that lacks least).
    Missing {
        /// Scheme names.
        names: Vec<String>,
    },
    /// A configured one could not be fetched.
    Failed(NoAnswer),
}

/// Credentials of one tenant for one source, by scheme name: they replace the source's.
pub type TenantCredentials = IndexMap<String, CredentialValue>;

impl Upstream {
    /// Finds the credentials for the first alternative in `wanted` (OR of AND of scheme names) that
    /// is configured. An empty alternative means that none is needed: taken where no other one is
    /// configured. An empty `wanted` asks for nothing.
    ///
    /// # Errors
    /// [`NoCredential::Missing`] where no alternative is configured, [`NoCredential::Failed`] where
    /// one could not be fetched: never a call without a credential that was asked for.
    pub async fn credentials(
        &self,
        source: usize,
        wanted: &[Vec<String>],
        caller: &Caller,
        tenant: Option<&TenantCredentials>,
    ) -> Result<Resolved, NoCredential> {
        if wanted.is_empty() {
            return Ok(Resolved::default());
        }
        let Some(plan) = self.plans.get(source) else {
            return Err(NoCredential::Failed(NoAnswer::Forbidden(format!("no source number {source}"))));
        };
        let value = |name: &str| -> Option<(&CredentialPlan, Option<&CredentialValue>)> {
            let credential = plan.credentials.get(name)?;
            let value = tenant.and_then(|tenant| tenant.get(name)).or(credential.value.as_ref());
            Some((credential, value))
        };
        let usable = |name: &String| match value(name) {
            Some((_, Some(CredentialValue::Exchange(_)))) => caller.token.is_some(),
            Some((_, Some(CredentialValue::Forward(header)))) => caller.headers.contains_key(header.as_str()),
            Some((_, Some(_))) => true,
            // The certificate is part of the source's TLS settings.
            Some((credential, None)) => credential.placement == Placement::ClientCertificate && plan.tls.cert.is_some(),
            None => false,
        };
        let chosen = wanted.iter().find(|names| !names.is_empty() && names.iter().all(usable));
        let Some(names) = chosen else {
            if wanted.iter().any(Vec::is_empty) {
                return Ok(Resolved::default());
            }
            let missing = |names: &Vec<String>| names.iter().filter(|name| !usable(name)).cloned().collect::<Vec<_>>();
            let names = wanted.iter().map(missing).min_by_key(Vec::len).unwrap_or_default();
            return Err(NoCredential::Missing { names });
        };
        let mut resolved = Resolved::default();
        for name in names {
            let Some((credential, value)) = value(name) else { continue };
            let value = match value {
                None => CredentialText::Secret(Secret::new("")),
                Some(CredentialValue::Static(secret)) => CredentialText::Secret(secret.clone()),
                Some(CredentialValue::UserPassword(user, password)) => {
                    CredentialText::UserPassword(user.clone(), password.clone())
                }
                Some(CredentialValue::Forward(header)) => {
                    let value = caller.headers.get(header.as_str()).map(String::as_str).unwrap_or_default();
                    CredentialText::Secret(Secret::new(forwarded(value, &credential.placement)))
                }
                Some(CredentialValue::ClientCredentials(grant)) => {
                    let (secret, entry) = Box::pin(self.tokens.client_credentials(name, grant, &plan.tls)).await?;
                    resolved.fetched.push((secret.clone(), entry));
                    CredentialText::Secret(secret)
                }
                Some(CredentialValue::Exchange(exchange)) => {
                    let Some(token) = &caller.token else {
                        return Err(NoCredential::Missing { names: vec![name.clone()] });
                    };
                    let (secret, entry) = Box::pin(self.tokens.exchange(name, exchange, token, &plan.tls)).await?;
                    resolved.fetched.push((secret.clone(), entry));
                    CredentialText::Secret(secret)
                }
            };
            resolved.credentials.push(Credential { placement: credential.placement.clone(), value });
        }
        Ok(resolved)
    }

    /// The API answered 401 to these. True if one of them was fetched and can be fetched anew: the
    /// call is then worth one more try with fresh credentials. Each token is given up like this at
    /// most once in ten seconds, so that an API which always says 401 does not become a storm of
    /// token requests.
    pub fn rejected(&self, resolved: &Resolved) -> bool {
        resolved.fetched.iter().fold(false, |any, (secret, entry)| entry.give_up(secret) || any)
    }
}

/// A forwarded `Authorization` header placed as bearer loses its scheme, which the placement adds.
fn forwarded(value: &str, placement: &Placement) -> String {
    let bare = match (placement, value.split_once(' ')) {
        (Placement::Bearer, Some((scheme, rest))) if scheme.eq_ignore_ascii_case("bearer") => rest.trim_start(),
        _ => value,
    };
    bare.to_owned()
}

impl From<NoAnswer> for NoCredential {
    fn from(error: NoAnswer) -> Self {
        NoCredential::Failed(error)
    }
}
