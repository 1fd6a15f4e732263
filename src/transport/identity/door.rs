//! The transports' door: recognises callers and writes every refusal down.

use super::certificate::ClientCertificate;
use super::{Authenticator, Denied};
use crate::access::Caller;
use crate::audit::{Audit, Event, Who};
use crate::telemetry::Meters;
use crate::transport::{self, Boxed, Certificate};
use arc_swap::ArcSwap;
use http::{HeaderMap, StatusCode};
use std::sync::Arc;

/// An [`Authenticator`] as the transports want it.
pub struct Door {
    authenticator: ArcSwap<Authenticator>,
    audit: Arc<Audit>,
    meters: Meters,
}

impl Door {
    /// Refusals go to `audit` and the metrics.
    pub fn new(authenticator: Arc<Authenticator>, audit: Arc<Audit>) -> Door {
        Door { authenticator: ArcSwap::new(authenticator), audit, meters: Meters::default() }
    }

    /// Recognises callers by this from now on; requests that are in already stay in.
    pub fn replace(&self, authenticator: Arc<Authenticator>) {
        self.authenticator.store(authenticator);
    }

    /// The one in force.
    pub fn authenticator(&self) -> Arc<Authenticator> {
        self.authenticator.load_full()
    }

    fn refuse(&self, denied: Denied) -> transport::Denied {
        self.meters.denied(denied.reason);
        let random = getrandom::u64().unwrap_or_default();
        let who = Who { caller: None, request_id: &format!("{random:016x}"), trace_id: None, transport: "http" };
        let status = denied.status.as_u16();
        let event = Event::Denied { method: None, name: None, reason: denied.reason, status: Some(status) };
        self.audit.record(who, event);
        let body = match denied.status {
            StatusCode::BAD_REQUEST => "the request's credentials are malformed",
            StatusCode::FORBIDDEN => "this caller has no access here",
            StatusCode::SERVICE_UNAVAILABLE => "callers can't be recognised at the moment; try again later",
            _ => "valid credentials are required",
        };
        transport::Denied { status, www_authenticate: denied.www_authenticate, body: body.to_owned() }
    }
}

impl transport::Authenticator for Door {
    fn authenticate<'a>(
        &'a self,
        headers: &'a HeaderMap,
        certificate: Option<&'a Certificate>,
    ) -> Boxed<'a, Result<Arc<Caller>, transport::Denied>> {
        Box::pin(async move {
            let certificate = certificate.and_then(|certificate| ClientCertificate::from_der(certificate));
            let authenticator = self.authenticator.load_full();
            let recognised = authenticator.authenticate(headers, certificate.as_ref()).await;
            recognised.map_err(|denied| self.refuse(denied))
        })
    }

    fn challenge(&self, scopes: &[String]) -> Option<String> {
        Some(self.authenticator.load().insufficient_scope(scopes))
    }
}
