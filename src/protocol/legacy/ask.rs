//! Requests to the client during one of its own: what the service wants to know becomes
//! `elicitation/create`, `sampling/createMessage` and `roots/list` on the stream of that request.

use super::session::Session;
use crate::protocol::error::missing_capability;
use crate::protocol::version::Version;
use crate::protocol::{Scope, Server, elicit};
use futures_util::future::try_join_all;
use serde_json::{Map, Value, json};

/// Asks everything at once; the answers by key, or in words why there are none.
pub(super) async fn all(
    server: &Server,
    session: &Session,
    scope: &Scope<'_>,
    version: Version,
    requests: &Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    let asked = requests.iter().map(|(key, ask)| async move {
        let (method, params) = elicit::parts(ask);
        one(server, session, scope, version, &method, &params).await.map(|answer| (key.clone(), answer))
    });
    Ok(try_join_all(asked).await?.into_iter().collect())
}

async fn one(
    server: &Server,
    session: &Session,
    scope: &Scope<'_>,
    version: Version,
    method: &str,
    params: &Value,
) -> Result<Value, String> {
    if let Some(needed) = session.features().lacks(method, params) {
        return Err(missing_capability(&needed));
    }
    let params = elicit::for_peer(method, params, version)
        .map_err(|why| format!("This needs the client's answer, but {why}"))?;
    let Some(queue) = scope.queue.filter(|_| session.can_ask()) else {
        return Err("This needs the client's answer, but this connection can't carry a question".to_owned());
    };
    let (id, answer) = session.expect_answer();
    let mut message = json!({"jsonrpc": "2.0", "id": id.number(), "method": method});
    if let Some(message) = message.as_object_mut()
        && params.as_object().is_some_and(|params| !params.is_empty())
    {
        message.insert("params".to_owned(), params);
    }
    if !queue.send(message.to_string().into()).await {
        return Err("The client went away".to_owned());
    }
    let (why, notify) = tokio::select! {
        biased;
        answer = answer => match answer {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(())) => (format!("The client refused `{method}`"), false),
            Err(_) => ("The client went away".to_owned(), false),
        },
        () = scope.cancel.cancelled() => ("Cancelled".to_owned(), true),
        () = tokio::time::sleep(server.settings.ask_timeout) => (format!("The client did not answer `{method}`"), true),
    };
    if notify {
        let params = json!({"requestId": id.number(), "reason": why});
        let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        // A client whose queue is full will notice by the end of the stream.
        let _ = queue.offer(cancelled.to_string().into());
    }
    Err(why)
}
