//! Answers that come from a script instead of a network: for the offline tests of mappings.

use super::fault::Fault;
use super::redirect::Hop;
use super::reply::Reply;
use crate::catalog::{CredentialPlan, CredentialValue, SourcePlan};
use crate::mapping::{Limits, Tls};
use crate::response::NoAnswer;
use crate::secret::Secret;
use bytes::Bytes;

/// A request as it would have gone out.
#[derive(Debug, Clone)]
pub struct CannedRequest {
    /// Method.
    pub method: http::Method,
    /// Absolute URL.
    pub url: url::Url,
    /// Headers.
    pub headers: http::HeaderMap,
    /// Body; `None` = no body at all.
    pub body: Option<Bytes>,
}

/// Who answers instead of the network.
pub trait Canned: Send + Sync {
    /// The answer to the next request; the error is a reason for the log.
    ///
    /// # Errors
    /// There is no answer for this request: the call sees a broken connection.
    fn answer(&self, request: CannedRequest) -> Result<http::Response<Bytes>, String>;
}

/// One request and its answer.
pub(super) fn exchange(canned: &dyn Canned, hop: &Hop) -> Result<Reply, Fault> {
    let request = CannedRequest {
        method: hop.method.clone(),
        url: hop.url()?.into_owned(),
        headers: hop.headers.clone(),
        body: hop.body.clone(),
    };
    match canned.answer(request) {
        Ok(response) => Ok(Reply::other(response.map(http_body_util::Full::new))),
        Err(reason) => Err(Fault::hopeless(NoAnswer::Broken(reason))),
    }
}

/// The source with nothing in it that reaches out or waits.
pub(super) fn plan(source: &SourcePlan) -> SourcePlan {
    let credential = |plan: &CredentialPlan| {
        let value = match &plan.value {
            Some(value @ (CredentialValue::Static(_) | CredentialValue::UserPassword(..))) => value.clone(),
            _ => CredentialValue::Static(Secret::new("mock")),
        };
        CredentialPlan { placement: plan.placement.clone(), value: Some(value), wanted: plan.wanted.clone() }
    };
    let limits = Limits { retries: 0, rate: None, breaker: None, ..source.limits.clone() };
    SourcePlan {
        name: source.name.clone(),
        base_url: source.base_url.clone(),
        credentials: source.credentials.iter().map(|(name, plan)| (name.clone(), credential(plan))).collect(),
        headers: source.headers.clone(),
        forward_headers: source.forward_headers.clone(),
        tls: Tls::default(),
        limits,
        upload_dirs: source.upload_dirs.clone(),
    }
}
