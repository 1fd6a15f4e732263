//! What went wrong, read from the client's error chain.

use super::address::Refused;
use super::direct::Failed;
use super::reply::Broken;
use crate::response::{NoAnswer, TimeoutKind};
use std::error::Error;
use std::io;
use std::time::Duration;

/// A failed exchange.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) answer: NoAnswer,
    /// How far the request can have got.
    pub(super) reached: Reached,
}

/// How far a failed request can have got: decides whether it may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reached {
    /// Sending it again can't help.
    Hopeless,
    /// Nothing was sent: any method may be repeated.
    Nowhere,
    /// It may have been acted upon: only idempotent methods (RFC 9110 §9.2.2).
    Perhaps,
}

impl Fault {
    pub(super) fn hopeless(answer: NoAnswer) -> Fault {
        Fault { answer, reached: Reached::Hopeless }
    }
}

/// The errors of a chain, the ones that `std::io::Error` wraps included (its `source` skips them).
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let current = next?;
        next = match current.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner as &(dyn Error + 'static)),
            None => current.source(),
        };
        Some(current)
    })
    .take(32)
}

fn text(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    for one in chain(error) {
        let one = one.to_string();
        if text.ends_with(&one) {
            continue;
        }
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&one);
    }
    text
}

/// Sorts an error of sending or of waiting for the head.
pub(super) fn of_head(error: reqwest::Error, connect_limit: Duration) -> Fault {
    let error = error.without_url();
    if error.is_builder() {
        return Fault::hopeless(NoAnswer::Forbidden(text(&error)));
    }
    let stage = if error.is_dns() {
        Stage::Name
    } else if error.is_connect() {
        Stage::Connect { timeout: error.is_timeout() }
    } else {
        Stage::Exchange
    };
    sorted(&error, stage, connect_limit)
}

/// As [`of_head`], of the client for plain HTTP.
pub(super) fn of_direct(error: &Failed, connect_limit: Duration) -> Fault {
    let error = match error {
        Failed::Url => return Fault::hopeless(NoAnswer::Forbidden("request URL: no URL".to_owned())),
        Failed::Exchange(error) => return sorted(error, Stage::Exchange, connect_limit),
        Failed::Connect(error) => error.as_ref() as &(dyn Error + 'static),
    };
    let timed_out = |one: &(dyn Error + 'static)| {
        one.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::TimedOut)
    };
    let stage = if chain(error).any(|one| one.to_string().starts_with("dns error")) {
        Stage::Name
    } else {
        Stage::Connect { timeout: chain(error).any(timed_out) }
    };
    sorted(error, stage, connect_limit)
}

/// Where an exchange failed.
enum Stage {
    Name,
    Connect { timeout: bool },
    Exchange,
}

fn sorted(error: &(dyn Error + 'static), stage: Stage, connect_limit: Duration) -> Fault {
    let detail = text(error);
    if let Some(refused) = chain(error).find_map(|one| one.downcast_ref::<Refused>()) {
        return Fault::hopeless(NoAnswer::Forbidden(refused.to_string()));
    }
    if let Some(tls) = chain(error).find_map(|one| one.downcast_ref::<rustls::Error>()) {
        let reached = match tls {
            rustls::Error::InvalidCertificate(_)
            | rustls::Error::AlertReceived(_)
            | rustls::Error::NoCertificatesPresented
            | rustls::Error::PeerIncompatible(_)
            | rustls::Error::UnsupportedNameType => Reached::Hopeless,
            _ if matches!(stage, Stage::Connect { .. }) => Reached::Nowhere,
            _ => Reached::Perhaps,
        };
        return Fault { answer: NoAnswer::Tls(detail), reached };
    }
    let answer = match stage {
        Stage::Name => NoAnswer::Dns(detail),
        Stage::Connect { timeout: true } => NoAnswer::Timeout(TimeoutKind::Connect, connect_limit),
        // A TLS server that hangs up or answers in plain text during the handshake.
        Stage::Connect { .. } if detail.contains("tls handshake") => NoAnswer::Tls(detail),
        Stage::Connect { .. } => NoAnswer::Connect(detail),
        Stage::Exchange => {
            let of_hyper = || chain(error).filter_map(|one| one.downcast_ref::<hyper::Error>());
            if of_hyper().any(hyper::Error::is_parse) {
                return Fault { answer: NoAnswer::Body(detail), reached: Reached::Hopeless };
            }
            let canceled = of_hyper().any(hyper::Error::is_canceled);
            let reached = if canceled { Reached::Nowhere } else { Reached::Perhaps };
            return Fault { answer: NoAnswer::Broken(detail), reached };
        }
    };
    Fault { answer, reached: Reached::Nowhere }
}

/// Sorts an error met while reading the body.
pub(super) fn of_body(error: Broken) -> Fault {
    let error: Broken = match error.downcast::<reqwest::Error>() {
        Ok(error) => error.without_url().into(),
        Err(error) => error,
    };
    let error = error.as_ref() as &(dyn Error + 'static);
    let detail = text(error);
    let from_connection = |one: &(dyn Error + 'static)| {
        one.downcast_ref::<io::Error>().is_some_and(|io| {
            matches!(
                io.kind(),
                io::ErrorKind::ConnectionReset
                    | io::ErrorKind::ConnectionAborted
                    | io::ErrorKind::BrokenPipe
                    | io::ErrorKind::NotConnected
            )
        })
    };
    if chain(error).any(from_connection) {
        return Fault { answer: NoAnswer::Broken(detail), reached: Reached::Perhaps };
    }
    // The connection ended before the announced length: a fault of framing, not of the coding.
    let cut = chain(error).any(|one| match one.downcast_ref::<hyper::Error>() {
        Some(hyper) => hyper.is_incomplete_message() || hyper.is_closed() || hyper.is_canceled(),
        None => false,
    });
    let reached =
        if cut || chain(error).any(|one| one.is::<hyper::Error>()) { Reached::Perhaps } else { Reached::Hopeless };
    Fault { answer: NoAnswer::Body(detail), reached }
}
