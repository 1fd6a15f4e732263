//! Large or binary answers kept for `resources/read`, and local files that arguments may name.

use crate::access::Caller;
use crate::content::{LinkMaker, ResourceBody, ResourceContents};
use bytes::Bytes;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How links begin.
pub(super) const PREFIX: &str = "rest-mcp://answers/";

/// Most kept bytes, and how long.
const MOST_BYTES: usize = 64 * 1024 * 1024;
const LIFETIME: Duration = Duration::from_secs(10 * 60);

struct Kept {
    uri: String,
    owner: String,
    until: Instant,
    mime_type: Option<String>,
    body: Bytes,
}

/// Answers behind `resource_link`s.
#[derive(Default)]
pub struct Links {
    kept: Mutex<VecDeque<Kept>>,
}

/// Makes links for one caller.
pub struct Maker<'a> {
    links: &'a Links,
    caller: &'a Caller,
}

fn owner(caller: &Caller) -> String {
    format!("{}\0{}", caller.tenant.as_deref().unwrap_or_default(), caller.subject.as_deref().unwrap_or_default())
}

impl Links {
    /// Links that only this caller can read.
    pub fn maker<'a>(&'a self, caller: &'a Caller) -> Maker<'a> {
        Maker { links: self, caller }
    }

    /// The contents behind a link of this caller.
    pub fn read(&self, caller: &Caller, uri: &str) -> Option<ResourceContents> {
        let owner = owner(caller);
        let now = Instant::now();
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|one| one.uri == uri && one.owner == owner && one.until > now)?;
        let text = found.mime_type.as_deref().is_some_and(|mime| mime.starts_with("text/") || mime.contains("json"));
        let body = match std::str::from_utf8(&found.body) {
            Ok(body) if text => ResourceBody::Text(body.to_string()),
            _ => ResourceBody::Blob(found.body.clone()),
        };
        Some(ResourceContents { uri: uri.to_string(), mime_type: found.mime_type.clone(), body })
    }
}

impl LinkMaker for Maker<'_> {
    fn link(&self, body: &Bytes, mime_type: &str) -> Option<String> {
        if body.len() > MOST_BYTES {
            return None;
        }
        let mut random = [0u8; 16];
        getrandom::fill(&mut random).ok()?;
        let id: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let uri = format!("{PREFIX}{id}");
        let now = Instant::now();
        let mut kept = self.links.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|one| one.until > now);
        while kept.iter().map(|one| one.body.len()).sum::<usize>() + body.len() > MOST_BYTES {
            kept.pop_front()?;
        }
        kept.push_back(Kept {
            uri: uri.clone(),
            owner: owner(self.caller),
            until: now.checked_add(LIFETIME)?,
            mime_type: Some(mime_type.to_string()),
            body: body.clone(),
        });
        Some(uri)
    }
}

/// Reads files that arguments name.
pub type Reader = Box<dyn Fn(&str) -> Result<Bytes, String> + Send + Sync>;

/// A reader fenced into the allowed folders; `None` where no local file may be named at all.
pub fn upload_reader(local: bool, folders: &[String]) -> Option<Reader> {
    if !local || folders.is_empty() {
        return None;
    }
    let folders = folders.to_vec();
    Some(Box::new(move |path: &str| {
        const REFUSED: &str = "the file is not in a folder that `upload_dirs` allows";
        let real = Path::new(path).canonicalize().map_err(|_| REFUSED.to_string())?;
        let inside = folders
            .iter()
            .filter_map(|folder| Path::new(folder).canonicalize().ok())
            .any(|folder| real.starts_with(folder));
        if !inside || !real.is_file() {
            return Err(REFUSED.to_string());
        }
        std::fs::read(&real).map(Bytes::from).map_err(|_| "the file can't be read".to_string())
    }))
}
