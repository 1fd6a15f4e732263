//! WebSocket: one text frame is one message; a connection is a session.

use super::body::Body;
use super::{Http, refusal};
use crate::access::Caller;
use crate::transport::connection::Connection;
use ::http::{Request, StatusCode};
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{FromRequestParts, State};
use axum::response::Response;
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

/// Checks everything, then switches protocols.
pub(super) async fn upgrade(State(http): State<Arc<Http>>, request: Request<axum::body::Body>) -> Response {
    let (mut parts, _) = request.into_parts();
    let caller = match http.admit(&parts).await {
        Ok(caller) => caller,
        Err(response) => return (*response).map(Body::into_axum),
    };
    let Ok(upgrade) = WebSocketUpgrade::from_request_parts(&mut parts, &()).await else {
        return refusal(StatusCode::UPGRADE_REQUIRED, "This endpoint is for WebSocket (subprotocol `mcp`)")
            .map(Body::into_axum);
    };
    let limit = http.settings.max_frame;
    upgrade
        .protocols(["mcp"])
        .max_message_size(limit)
        .max_frame_size(limit)
        .on_upgrade(move |socket| serve(http, caller, socket))
}

async fn serve(http: Arc<Http>, caller: Arc<Caller>, socket: WebSocket) {
    let connection = Connection::new(Arc::clone(&http.server), &http.settings, caller, &http.closing, false, true);
    let (mut sink, mut stream) = socket.split();
    let broken = CancellationToken::new();
    let writer = {
        let (connection, broken, http) = (Arc::clone(&connection), broken.clone(), Arc::clone(&http));
        tokio::spawn(async move {
            loop {
                let frame = tokio::select! {
                    message = connection.queue.next() => match message {
                        Some(message) => match String::from_utf8(message.into()) {
                            Ok(text) => Message::Text(text.into()),
                            // All messages are JSON texts that we wrote.
                            Err(_) => continue,
                        },
                        None => break,
                    },
                    () = tokio::time::sleep(http.settings.heartbeat) => Message::Ping(Bytes::new()),
                };
                let sent = tokio::time::timeout(http.settings.stall_timeout, sink.send(frame)).await;
                if !matches!(sent, Ok(Ok(()))) {
                    connection.queue.close();
                    broken.cancel();
                    break;
                }
            }
            sink
        })
    };
    let mut changes = http.server.changes();
    let mut changing = true;
    let code = loop {
        tokio::select! {
            biased;
            () = broken.cancelled() => break close_code::POLICY,
            () = http.closing.cancelled() => break close_code::AWAY,
            change = changes.recv(), if changing => {
                changing = !matches!(change, Err(RecvError::Closed));
                if !connection.announce(change) {
                    break close_code::POLICY;
                }
            }
            uri = connection.session.inbox().next() => {
                if !connection.announce_update(&uri) {
                    break close_code::POLICY;
                }
            }
            frame = stream.next() => match frame {
                Some(Ok(Message::Text(text))) => connection.receive(Bytes::from(text)).await,
                Some(Ok(Message::Binary(_))) => break close_code::UNSUPPORTED,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Close(_))) | None => break close_code::NORMAL,
                Some(Err(error)) => break code_for(&error.to_string()),
            },
        }
    };
    if code == close_code::AWAY {
        // A shutdown: what is in flight may still be answered.
        connection.finish(http.settings.grace).await;
    } else {
        connection.abort();
    }
    if let Ok(mut sink) = writer.await {
        let close = Message::Close(Some(CloseFrame { code, reason: "".into() }));
        let _ = tokio::time::timeout(http.settings.stall_timeout, sink.send(close)).await;
    }
}

/// The library tells its limits apart only in words.
fn code_for(error: &str) -> u16 {
    if error.contains("too long") || error.contains("too large") || error.contains("too big") {
        close_code::SIZE
    } else if error.to_ascii_lowercase().contains("utf-8") {
        close_code::INVALID
    } else {
        close_code::PROTOCOL
    }
}
