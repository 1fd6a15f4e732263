//! The writer's end: standard error, or a file that is rotated by size.

use super::Target;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where lines go.
pub(super) enum Sink {
    Stderr,
    File(Rotating),
}

pub(super) struct Rotating {
    path: PathBuf,
    max_bytes: u64,
    keep: u32,
    file: File,
    size: u64,
}

impl Sink {
    pub(super) fn open(target: &Target) -> io::Result<Sink> {
        match target {
            Target::Stderr => Ok(Sink::Stderr),
            Target::File { path, max_bytes, keep } => {
                let (file, size) = open(path)?;
                Ok(Sink::File(Rotating { path: path.clone(), max_bytes: (*max_bytes).max(1), keep: *keep, file, size }))
            }
        }
    }

    /// Writes lines, each ending in a line feed, whole; all of them into one file.
    pub(super) fn write(&mut self, lines: &str) -> io::Result<()> {
        match self {
            Sink::Stderr => io::stderr().lock().write_all(lines.as_bytes()),
            Sink::File(rotating) => rotating.write(lines.as_bytes()),
        }
    }

    /// Lines of at most this many bytes may be written at once: a file is rotated between two writes only.
    pub(super) fn room(&self) -> usize {
        let most = 256 * 1024;
        match self {
            Sink::Stderr => most,
            Sink::File(rotating) => {
                let left = rotating.max_bytes.saturating_sub(rotating.size);
                usize::try_from(left).map_or(most, |left| left.min(most))
            }
        }
    }
}

impl Rotating {
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let after = self.size.saturating_add(line.len() as u64);
        if self.size > 0 && after > self.max_bytes {
            self.rotate()?;
        }
        self.file.write_all(line)?;
        self.size = self.size.saturating_add(line.len() as u64);
        Ok(())
    }

    fn rotate(&mut self) -> io::Result<()> {
        if self.keep == 0 {
            self.file.set_len(0)?;
            self.size = 0;
            return Ok(());
        }
        for number in (1..self.keep).rev() {
            let from = numbered(&self.path, number);
            if from.exists() {
                std::fs::rename(from, numbered(&self.path, number + 1))?;
            }
        }
        std::fs::rename(&self.path, numbered(&self.path, 1))?;
        (self.file, self.size) = open(&self.path)?;
        Ok(())
    }
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!(".{number}"));
    PathBuf::from(name)
}

/// Opened for appending; readable by its owner only.
fn open(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    let size = file.metadata()?.len();
    Ok((file, size))
}
