//! One message a line on standard input and output.

use super::Settings;
use super::connection::Connection;
use crate::access::Caller;
use crate::protocol::{Queue, Server};
use bytes::{Bytes, BytesMut};
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio_util::sync::CancellationToken;

/// Serves one peer until the end of input (then waits at most [`Settings::grace`] for what is in
/// flight), an output error, or `shutdown`. Nothing but MCP messages is written to `output`.
pub async fn serve_stdio<R, W>(
    server: Arc<Server>,
    settings: &Settings,
    input: R,
    output: W,
    shutdown: CancellationToken,
) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let mut changes = server.changes();
    let mut changing = true;
    let connection =
        Connection::new(server, settings, Arc::new(Caller { local: true, ..Caller::default() }), &shutdown, true, true);
    let broken = CancellationToken::new();
    let writer = tokio::spawn(write(Arc::clone(&connection.queue), output, broken.clone()));
    let mut lines = Lines::new(input, settings.max_frame);
    let mut failed = None;
    loop {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            () = broken.cancelled() => break,
            change = changes.recv(), if changing => {
                changing = !matches!(change, Err(tokio::sync::broadcast::error::RecvError::Closed));
                if !connection.announce(change) {
                    broken.cancel();
                }
            }
            uri = connection.session.inbox().next() => {
                if !connection.announce_update(&uri) {
                    broken.cancel();
                }
            }
            line = lines.next() => match line {
                Ok(Some(Line::Whole(line))) => connection.receive(line).await,
                Ok(Some(Line::TooLong)) => {
                    connection.refuse(format!("Line longer than {} bytes", settings.max_frame)).await;
                }
                Ok(None) => break,
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            },
        }
    }
    if broken.is_cancelled() {
        connection.abort();
    }
    connection.finish(settings.grace).await;
    // A reader that stopped reading must not keep the process.
    let written = tokio::time::timeout(settings.grace, writer).await;
    match (failed, written) {
        (Some(error), _) => Err(error),
        (None, Ok(Ok(result))) => result,
        (None, _) => Err(io::Error::new(io::ErrorKind::TimedOut, "standard output takes no more bytes")),
    }
}

async fn write<W: AsyncWrite + Unpin>(queue: Arc<Queue>, mut output: W, broken: CancellationToken) -> io::Result<()> {
    let result = async {
        while let Some(message) = queue.next().await {
            let mut next = Some(message);
            while let Some(message) = next {
                output.write_all(&message).await?;
                output.write_all(b"\n").await?;
                next = queue.take();
            }
            output.flush().await?;
        }
        Ok(())
    }
    .await;
    if result.is_err() {
        queue.close();
        broken.cancel();
    }
    result
}

enum Line {
    Whole(Bytes),
    TooLong,
}

/// Lines up to a limit; the rest of a longer one is skipped, not kept.
struct Lines<R> {
    input: BufReader<R>,
    part: BytesMut,
    skipping: bool,
    limit: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    fn new(input: R, limit: usize) -> Self {
        Lines { input: BufReader::with_capacity(64 * 1024, input), part: BytesMut::new(), skipping: false, limit }
    }

    /// The next line that is not blank; `None` at the end. Loses nothing if dropped while waiting.
    async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let chunk = self.input.fill_buf().await?;
            let end_of_input = chunk.is_empty();
            let newline = chunk.iter().position(|byte| *byte == b'\n');
            let piece = chunk.get(..newline.unwrap_or(chunk.len())).unwrap_or_default();
            if !self.skipping {
                if self.part.len() + piece.len() > self.limit {
                    self.skipping = true;
                    self.part = BytesMut::new();
                } else {
                    self.part.extend_from_slice(piece);
                }
            }
            let used = piece.len() + usize::from(newline.is_some());
            self.input.consume(used);
            if newline.is_none() && !end_of_input {
                continue;
            }
            if std::mem::take(&mut self.skipping) {
                return Ok(Some(Line::TooLong));
            }
            let line = self.part.split().freeze();
            if !line.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some(Line::Whole(line)));
            }
            if end_of_input {
                return Ok(None);
            }
        }
    }
}
