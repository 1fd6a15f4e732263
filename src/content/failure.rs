//! True, short texts for the model where there is no answer to show.
//!
//! Hosts, addresses and the libraries' own messages stay in the log; where the operator has to look,
//! the text carries the request id.

use super::Content;
use crate::call::Refusal;
use crate::catalog::Tool;
use crate::request::Unsendable;
use crate::response::{NoAnswer, TimeoutKind};
use std::time::Duration;

/// The content of a call that got no answer. `idempotent` tells whether asking again is harmless (RFC 9110
/// §9.2.2): if not, the text says where the outcome is unknown.
pub fn from_no_answer(failure: &NoAnswer, request_id: &str, idempotent: bool) -> Content {
    let reference = format!(" (reference {request_id})");
    let unknown = if idempotent {
        " The request is safe to repeat."
    } else {
        " Whether the API has carried out the request is unknown: check before you repeat it."
    };
    let text = match failure {
        NoAnswer::Connect(_) => {
            format!("The API can't be reached: the connection was refused or failed. Nothing was sent.{reference}")
        }
        NoAnswer::Dns(_) => {
            format!("The API can't be reached: its host name does not resolve. Nothing was sent.{reference}")
        }
        NoAnswer::Tls(_) => {
            format!("The API can't be reached: no trusted TLS connection could be made. Nothing was sent.{reference}")
        }
        NoAnswer::Timeout(TimeoutKind::Connect, limit) => {
            format!("The API can't be reached: no connection within {}. Nothing was sent.{reference}", spoken(*limit))
        }
        NoAnswer::Timeout(TimeoutKind::FirstByte, limit) => {
            format!("The API did not begin to answer within {}.{unknown}{reference}", spoken(*limit))
        }
        NoAnswer::Timeout(TimeoutKind::Total, limit) => {
            format!("The call was not finished within its time limit of {}.{unknown}{reference}", spoken(*limit))
        }
        NoAnswer::Broken(_) => {
            format!("The connection to the API broke before its answer was complete.{unknown}{reference}")
        }
        NoAnswer::Body(_) => {
            format!(
                "The API answered, but its answer can't be decoded (damaged or wrongly labelled).{unknown}{reference}"
            )
        }
        // It was sent, and what came back leads elsewhere.
        NoAnswer::Forbidden(why) if why.starts_with("redirect ") => {
            format!("The API redirects this call to an address that is not followed here.{unknown}{reference}")
        }
        NoAnswer::Forbidden(_) => format!("The request was not sent: its address is not allowed here.{reference}"),
        NoAnswer::CircuitOpen(wait) => format!(
            "The API has failed repeatedly and is left alone for now. Nothing was sent; try again in {}.",
            spoken(at_least_a_second(*wait))
        ),
        NoAnswer::Busy(wait) => format!(
            "Too many calls to this API at the moment. Nothing was sent; try again in {}.",
            spoken(at_least_a_second(*wait))
        ),
        NoAnswer::Credential(scheme) => format!(
            "The request was not sent: the credential `{scheme}` is not available. The operator of this server has to supply it.{reference}"
        ),
        NoAnswer::Cancelled if idempotent => "The call was cancelled.".to_owned(),
        NoAnswer::Cancelled => format!("The call was cancelled.{unknown}"),
    };
    Content::error(text)
}

/// The content of a call whose arguments were refused: every problem.
pub fn from_refusal(tool: &Tool, refusal: &Refusal) -> Content {
    Content::error(refusal.text(&tool.name))
}

/// What a caller is told whose tenant may not call so often.
pub fn too_many_calls_text(wait: Duration) -> String {
    format!("Too many calls by this tenant. Nothing was sent; try again in {}.", spoken(at_least_a_second(wait)))
}

/// [`too_many_calls_text`] as content.
pub fn too_many_calls(wait: Duration) -> Content {
    Content::error(too_many_calls_text(wait))
}

/// The content of a call whose request can't be sent.
pub fn from_unsendable(unsendable: &Unsendable) -> Content {
    let message = unsendable.message.trim_end_matches('.');
    Content::error(match &unsendable.argument {
        Some(argument) => format!("The request can't be sent: `{argument}`: {message}"),
        None => format!("The request can't be sent: {message}"),
    })
}

fn at_least_a_second(wait: Duration) -> Duration {
    Duration::from_secs(wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(Duration::from_secs(1))
}

/// "1 second", "30 seconds", "2 minutes", "250 ms".
pub(super) fn spoken(duration: Duration) -> String {
    let millis = duration.as_millis();
    match millis {
        0..1000 => format!("{millis} ms"),
        1000 => "1 second".to_owned(),
        _ if millis.is_multiple_of(60_000) && millis > 60_000 => format!("{} minutes", millis / 60_000),
        _ if millis.is_multiple_of(1000) => format!("{} seconds", millis / 1000),
        _ => format!("{:.1} seconds", duration.as_secs_f64()),
    }
}
