//! A text that many answers share, and its compressed form.

use crate::pace;
use bytes::Bytes;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// How much is compressed between two looks at the clock, in bytes.
const STEP: usize = 8 * 1024;
/// Lists are compressed once and sent often.
const LEVEL: Compression = Compression::new(6);

/// See the module. The compressed form is made when it is first asked for.
#[derive(Debug)]
pub struct SharedText {
    text: Bytes,
    deflated: OnceLock<Deflated>,
    begun: AtomicBool,
}

/// A text in the DEFLATE format (RFC 1951): whole blocks that refer to nothing before them, none of them the last,
/// ending with a byte. So it can stand between other blocks.
#[derive(Debug)]
pub struct Deflated {
    /// The blocks.
    pub blocks: Bytes,
    /// Checksum and length of the text.
    pub crc: Crc,
}

impl From<Bytes> for SharedText {
    fn from(text: Bytes) -> Self {
        SharedText { text, deflated: OnceLock::new(), begun: AtomicBool::new(false) }
    }
}

impl SharedText {
    /// As it is.
    pub fn text(&self) -> &Bytes {
        &self.text
    }

    /// Compressed, if somebody asked for that before.
    pub fn deflated(&self) -> Option<&Deflated> {
        self.deflated.get()
    }

    /// True for the first who asks: he is to see to it that it is compressed.
    pub fn begin(&self) -> bool {
        !self.begun.swap(true, Ordering::Relaxed)
    }

    /// Compresses it here and now.
    pub fn deflate(&self) {
        self.begun.store(true, Ordering::Relaxed);
        if self.deflated.get().is_none()
            && let Some(made) = deflate(&self.text)
        {
            // Whoever was faster made the same.
            let _ = self.deflated.set(made);
        }
    }
}

fn deflate(text: &[u8]) -> Option<Deflated> {
    let mut crc = Crc::new();
    let mut encoder = DeflateEncoder::new(Vec::with_capacity(text.len() / 8 + 1024), LEVEL);
    for step in text.chunks(STEP) {
        pace::breathe();
        crc.update(step);
        encoder.write_all(step).ok()?;
    }
    // A flush ends the block, with an empty one behind it that ends the byte.
    encoder.flush().ok()?;
    let blocks = std::mem::take(encoder.get_mut()).into_boxed_slice().into();
    Some(Deflated { blocks, crc })
}
