//! What tells, without reading them, that files are others than before.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file at one moment; `None` = there is none.
type Stamp = Option<(PathBuf, Option<SystemTime>, u64, u64)>;

/// Files at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stamps(BTreeMap<PathBuf, Stamp>);

impl Stamps {
    /// Looks at files: where they really are (links swap), time, size and number.
    pub async fn take(files: BTreeSet<PathBuf>) -> Stamps {
        let look = move || {
            Stamps(files.into_iter().map(|file| (stamp(&file), file)).map(|(stamp, file)| (file, stamp)).collect())
        };
        tokio::task::spawn_blocking(look).await.unwrap_or_default()
    }

    /// The files.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.0.keys().map(PathBuf::as_path)
    }

    /// True if a file came, went or changed.
    pub fn differ(&self, before: &Stamps) -> bool {
        self.0 != before.0
    }

    /// These files, as they were in `before` where they were looked at then.
    pub fn older(mut self, before: Stamps) -> Stamps {
        for (file, stamp) in before.0 {
            if let Some(own) = self.0.get_mut(&file) {
                *own = stamp;
            }
        }
        self
    }
}

fn stamp(file: &Path) -> Stamp {
    let real = file.canonicalize().ok()?;
    let metadata = std::fs::metadata(&real).ok()?;
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&metadata);
    #[cfg(not(unix))]
    let number = 0;
    Some((real, metadata.modified().ok(), metadata.len(), number))
}
