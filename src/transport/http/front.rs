//! A connection's bytes as the HTTP library sees them: some may have been read before it came.

use super::line::Handover;
use super::stalled::Stalled;
use crate::gather::Gathered;
use bytes::{Buf, BytesMut};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What every HTTP/2 connection begins with (RFC 9113 §3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Bytes read at once by ourselves.
const PIECE: usize = 1024;

/// See the module.
pub(super) struct Front<T> {
    stream: Gathered<Stalled<T>>,
    /// Read already.
    ahead: BytesMut,
    handover: Arc<Handover>,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Front<T> {
    pub(super) fn new(stream: Gathered<Stalled<T>>, handover: Arc<Handover>) -> Self {
        Front { stream, ahead: BytesMut::new(), handover }
    }

    /// Reads until HTTP/1 and HTTP/2 can be told apart. The library's own way of doing so reads 24 bytes first, after
    /// which its buffer of 8 kB is too small for another 8 kB, and grows to 16.
    pub(super) async fn is_http2(&mut self) -> io::Result<bool> {
        poll_fn(|cx| {
            loop {
                if ready!(self.poll_fill(cx))? == 0
                    || self.ahead.iter().zip(PREFACE).any(|(read, preface)| read != preface)
                {
                    return Poll::Ready(Ok(false));
                }
                if self.ahead.len() >= PREFACE.len() {
                    return Poll::Ready(Ok(true));
                }
            }
        })
        .await
    }

    /// Reads a piece; 0 at the end.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut piece = [0; PIECE];
        let mut piece = ReadBuf::new(&mut piece);
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut piece))?;
        self.ahead.extend_from_slice(piece.filled());
        Poll::Ready(Ok(piece.filled().len()))
    }

    /// Ready once the peer is gone. What it says while an event stream runs is its next request, and waits; one piece
    /// of it, so that no client can fill the memory.
    pub(super) fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        if !self.ahead.is_empty() {
            return Poll::Pending;
        }
        match ready!(self.poll_fill(cx)) {
            Err(error) => Poll::Ready(error),
            Ok(0) => Poll::Ready(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => Poll::Pending,
        }
    }

    /// Bytes that the library has read but not used.
    pub(super) fn put_back(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            let after = std::mem::replace(&mut self.ahead, BytesMut::from(bytes));
            self.ahead.extend_from_slice(&after);
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Front<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.ahead.is_empty() {
            return Pin::new(&mut this.stream).poll_read(cx, buf);
        }
        let taken = this.ahead.len().min(buf.remaining());
        buf.put_slice(&this.ahead.split_to(taken));
        if !this.ahead.has_remaining() {
            this.ahead = BytesMut::new();
            // What has come since belongs to the same read: the fewer reads for one head, the smaller the buffer.
            if let Poll::Ready(Err(error)) = Pin::new(&mut this.stream).poll_read(cx, buf) {
                return Poll::Ready(Err(error));
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<T> Front<T> {
    fn noted<R>(&self, result: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if result.is_pending() {
            self.handover.set_unsent(true);
        }
        result
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Front<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.stream).poll_write(cx, buf);
        this.noted(result)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.stream).poll_write_vectored(cx, bufs);
        this.noted(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.stream).poll_flush(cx);
        this.handover.set_unsent(result.is_pending());
        result
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
