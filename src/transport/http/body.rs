//! Response bodies: one buffer without a box, or a stream.

use crate::content::wire::Pieces;
use bytes::Bytes;
use futures_util::Stream;
use http_body::{Frame, SizeHint};
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A response body.
pub(crate) enum Body {
    /// All of it.
    Full(Option<Bytes>),
    /// All of it in some pieces, none of them empty.
    Pieces(VecDeque<Bytes>),
    /// An event stream.
    Stream(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
    /// From the router.
    Axum(axum::body::Body),
}

impl Body {
    pub(super) fn new(text: Pieces) -> Self {
        if text.is_one() { Body::Full(Some(text.text.into())) } else { Body::Pieces(text.parts()) }
    }

    pub(super) fn empty() -> Self {
        Body::Full(None)
    }

    pub(super) fn into_axum(self) -> axum::body::Body {
        match self {
            Body::Axum(body) => body,
            other => axum::body::Body::new(other),
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match self.get_mut() {
            Body::Full(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Body::Pieces(pieces) => Poll::Ready(pieces.pop_front().map(|bytes| Ok(Frame::data(bytes)))),
            Body::Stream(stream) => stream.as_mut().poll_next(cx).map(|next| next.map(|bytes| Ok(Frame::data(bytes)))),
            Body::Axum(body) => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Body::Full(bytes) => bytes.is_none(),
            Body::Pieces(pieces) => pieces.is_empty(),
            Body::Stream(_) => false,
            Body::Axum(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Full(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Body::Pieces(pieces) => SizeHint::with_exact(pieces.iter().map(|bytes| bytes.len() as u64).sum()),
            Body::Stream(_) => SizeHint::default(),
            Body::Axum(body) => body.size_hint(),
        }
    }
}
