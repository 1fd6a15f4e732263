//! `${env:NAME}` and `${file:PATH}` from the process.

use crate::mapping::Environment;
use crate::secret::Secret;
use std::io::Read;
use std::path::PathBuf;

/// Largest file that is read for a `${file:PATH}`: a key or certificate, no data.
const MAX_FILE: u64 = 1024 * 1024;

/// The process's variables, and files relative to the folder of the file that names them (by default the current
/// folder).
#[derive(Debug, Clone, Default)]
pub struct ProcessEnvironment {
    folder: PathBuf,
}

impl ProcessEnvironment {
    /// For a settings or mapping file in this folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        ProcessEnvironment { folder: folder.into() }
    }
}

impl Environment for ProcessEnvironment {
    fn env(&self, name: &str) -> Option<Secret> {
        std::env::var(name).ok().map(Secret::new)
    }

    fn file(&self, path: &str) -> Result<Secret, String> {
        let path = self.folder.join(path);
        let file = std::fs::File::open(path).map_err(|error| reason(&error))?;
        if file.metadata().map_err(|error| reason(&error))?.is_dir() {
            return Err("it is a folder".to_owned());
        }
        let mut text = String::new();
        let mut limited = file.take(MAX_FILE + 1);
        limited.read_to_string(&mut text).map_err(|error| reason(&error))?;
        if text.len() as u64 > MAX_FILE {
            return Err(format!("it has more than {MAX_FILE} bytes"));
        }
        // Editors and `echo` end files with a line break that is no part of a key.
        let end = text.strip_suffix('\n').map_or(text.as_str(), |rest| rest.strip_suffix('\r').unwrap_or(rest)).len();
        text.truncate(end);
        Ok(Secret::new(text))
    }
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "it may not be read".to_owned(),
        std::io::ErrorKind::InvalidData => "it is not UTF-8 text".to_owned(),
        _ => "it can't be read".to_owned(),
    }
}
