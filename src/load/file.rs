//! Files.

use super::{Fetched, Freshness};
use crate::diagnostic::Diagnostic;
use crate::document::location;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// A path as given, without `file:`.
pub(super) fn plain(location: &str) -> String {
    let is_file_url = location.get(..5).is_some_and(|head| head.eq_ignore_ascii_case("file:"));
    if is_file_url { location::file_url_path(location) } else { location.replace('\\', "/") }
}

/// A location as people are shown it: below the current folder without that folder, URLs without credentials.
pub(super) fn shown(location: &str) -> String {
    let here = std::env::current_dir().ok().and_then(|here| here.to_str().map(plain));
    let below =
        here.as_deref().filter(|here| here.len() > 1).and_then(|here| location.strip_prefix(here)?.strip_prefix('/'));
    location::shown(below.unwrap_or(location))
}

/// The absolute path of what the user named, with `/` between its parts.
pub(super) fn absolute(given: &str) -> Result<String, Diagnostic> {
    let given = plain(given);
    let refuse = |reason: &str| Diagnostic::error("unreadable-document", format!("`{given}` can't be read: {reason}"));
    let path = std::path::absolute(&given).map_err(|error| refuse(&reason(&error)))?;
    // `..` behind a link means the link's target; only the file system knows.
    let climbs = path.components().any(|part| part == std::path::Component::ParentDir);
    let path = match (climbs, path.parent(), path.file_name()) {
        (true, Some(folder), Some(name)) => std::fs::canonicalize(folder).map_or(path.clone(), |real| real.join(name)),
        _ => path,
    };
    match path.to_str() {
        Some(path) => Ok(location::clean_path(&path.replace('\\', "/"))),
        None => Err(refuse("its path is not UTF-8")),
    }
}

/// Reads a file. Only the one that the user named may be something else than a regular file (a pipe).
pub(super) async fn read(path: PathBuf, location: String, limit: usize, named: bool) -> Result<Fetched, String> {
    let work = move || read_now(&path, location, limit, named);
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err("reading was interrupted".to_owned()))
}

fn read_now(path: &Path, location: String, limit: usize, named: bool) -> Result<Fetched, String> {
    let metadata = std::fs::metadata(path).map_err(|error| reason(&error))?;
    if metadata.is_dir() {
        return Err("it is a folder".to_owned());
    }
    if !metadata.is_file() && !named {
        return Err("it is not a regular file".to_owned());
    }
    let too_large = || format!("it has over {limit} bytes");
    if metadata.is_file() && metadata.len() > limit as u64 {
        return Err(too_large());
    }
    let file = File::open(path).map_err(|error| reason(&error))?;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0).min(limit));
    let mut file = file.take(limit as u64 + 1);
    // In pieces, between which calls go on.
    while file.by_ref().take(1 << 18).read_to_end(&mut bytes).map_err(|error| reason(&error))? > 0 {
        std::thread::yield_now();
    }
    if bytes.len() > limit {
        return Err(too_large());
    }
    let freshness = Freshness::of_file(location.clone(), stamp(&metadata));
    Ok(Fetched { location, bytes, freshness })
}

/// Whether time or size of a file changed; `None` where it can't be seen.
pub(super) async fn changed(freshness: &Freshness) -> Option<bool> {
    let before = freshness.stamp?;
    let now = stamp(&tokio::fs::metadata(&freshness.location).await.ok()?)?;
    Some(now != before)
}

fn stamp(metadata: &Metadata) -> Option<(std::time::SystemTime, u64)> {
    if !metadata.is_file() {
        return None;
    }
    Some((metadata.modified().ok()?, metadata.len()))
}

/// An error as a clause.
pub(super) fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "there is no permission to read it".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        kind => kind.to_string(),
    }
}
