//! A stream whose writes go out together with those of all other streams that have something to say.
//!
//! A write to a peer who sleeps costs more than a small call: the kernel has to wake him. Written one by one as the calls
//! come along, every write finds its peer asleep again; written one right after the other, the first wakes him and the rest
//! find him at work. So a stream waits with its first byte until the tasks that are ready now have had their turn.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// See the module.
#[derive(Debug)]
pub(crate) struct Gathered<T> {
    stream: T,
    /// The others have had their turn; holds until the next flush.
    waited: bool,
}

impl<T> Gathered<T> {
    /// Writes of `stream` are gathered from now on.
    pub(crate) fn new(stream: T) -> Self {
        Gathered { stream, waited: false }
    }

    /// Pending once, until the tasks that are ready have run.
    fn turn(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !std::mem::replace(&mut self.waited, true) {
            // A first poll hands the waker to the scheduler and does nothing else.
            ready!(pin!(tokio::task::yield_now()).poll(cx));
        }
        Poll::Ready(())
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Gathered<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(cx, buf)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Gathered<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.turn(cx));
        Pin::new(&mut this.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.turn(cx));
        Pin::new(&mut this.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(Pin::new(&mut this.stream).poll_flush(cx))?;
        this.waited = false;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
