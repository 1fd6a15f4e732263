//! A stream that gives up on peers who take no bytes, or send too little to tell what they speak.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// Bytes after which HTTP/1 and HTTP/2 are told apart, and the HTTP library's own limits hold.
const PREFACE: usize = 24;

pub(super) struct Stalled<T> {
    stream: T,
    stall: Duration,
    writing: Option<Pin<Box<Sleep>>>,
    opening: Option<Pin<Box<Sleep>>>,
    received: usize,
}

impl<T> Stalled<T> {
    /// `stall`: longest wait for the peer to take bytes. `opening`: longest wait for its first ones.
    pub(super) fn new(stream: T, stall: Duration, opening: Duration) -> Self {
        Stalled { stream, stall, writing: None, opening: Some(Box::pin(sleep(opening))), received: 0 }
    }

    fn watch<R>(&mut self, cx: &mut Context<'_>, result: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if result.is_ready() {
            self.writing = None;
            return result;
        }
        let stall = self.stall;
        let timer = self.writing.get_or_insert_with(|| Box::pin(sleep(stall)));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Stalled<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        match Pin::new(&mut this.stream).poll_read(cx, buf) {
            Poll::Ready(result) => {
                if this.opening.is_some() {
                    this.received += buf.filled().len() - before;
                    if this.received >= PREFACE {
                        this.opening = None;
                    }
                }
                Poll::Ready(result)
            }
            Poll::Pending => {
                if let Some(timer) = &mut this.opening {
                    ready!(timer.as_mut().poll(cx));
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
                Poll::Pending
            }
        }
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Stalled<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.stream).poll_write(cx, buf);
        this.watch(cx, result)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.stream).poll_write_vectored(cx, bufs);
        this.watch(cx, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.stream).poll_flush(cx);
        this.watch(cx, result)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.stream).poll_shutdown(cx);
        this.watch(cx, result)
    }
}
