//! An answer whose body is still to come, from whichever client.

use super::direct::Live;
use super::fault::{self, Fault};
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Why a body broke off.
pub(super) type Broken = Box<dyn std::error::Error + Send + Sync>;

/// Status, headers and the body to be read.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Body,
}

/// A body on its way. Dropped unread, its connection is closed.
pub(super) enum Body {
    /// Of the bare pool.
    Live(Live),
    /// Of the general client, or behind a decoder.
    Other(UnsyncBoxBody<Bytes, Broken>),
}

impl Reply {
    pub(super) fn new(response: http::Response<Live>) -> Reply {
        let (head, body) = response.into_parts();
        Reply { status: head.status, headers: head.headers, body: Body::Live(body) }
    }

    /// An answer whose body comes from elsewhere.
    pub(super) fn other<B>(response: http::Response<B>) -> Reply
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Broken>,
    {
        let (head, body) = response.into_parts();
        let body = body.map_err(Into::into).boxed_unsync();
        Reply { status: head.status, headers: head.headers, body: Body::Other(body) }
    }

    /// Bytes of the body, where they are known.
    pub(super) fn length(&self) -> Option<u64> {
        self.body.size_hint().exact()
    }

    /// The next non-empty piece of the body.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, Fault> {
        while let Some(frame) = self.body.frame().await {
            match frame.map_err(fault::of_body)?.into_data() {
                Ok(data) if !data.is_empty() => return Ok(Some(data)),
                // Trailers, or nothing.
                _ => {}
            }
        }
        Ok(None)
    }
}

impl From<reqwest::Response> for Reply {
    fn from(response: reqwest::Response) -> Reply {
        Reply::other(http::Response::<reqwest::Body>::from(response))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        match self.get_mut() {
            Body::Live(body) => body.poll_frame(cx).map_err(Into::into),
            Body::Other(body) => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Body::Live(body) => body.is_end(),
            Body::Other(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Live(body) => body.size_hint(),
            Body::Other(body) => body.size_hint(),
        }
    }
}
