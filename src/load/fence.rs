//! Where references may lead: the root document's folder or origin, and what the user allows.

use crate::document::location;
use std::path::{Path, PathBuf};
use url::{Host, Origin, Url};

/// Why a reference is not followed.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: &'static str,
    /// A clause.
    pub(super) reason: String,
    pub(super) fix: Option<String>,
}

impl Refusal {
    pub(super) fn plain(reason: String) -> Self {
        Refusal { code: "missing-document", reason, fix: None }
    }

    fn outside(reason: &str, entry: &str) -> Self {
        let fix = format!("if it is meant to be read, add `{entry}` to `allow_refs`");
        Refusal { code: "ref-not-allowed", reason: reason.to_owned(), fix: Some(fix) }
    }
}

#[derive(Debug)]
pub(super) struct Fence {
    folders: Vec<Folder>,
    origins: Vec<Origin>,
    prefixes: Vec<Url>,
}

/// A folder by its name and, where it exists, by what it is after following links.
#[derive(Debug)]
struct Folder {
    name: String,
    real: Option<PathBuf>,
}

impl Folder {
    fn new(name: String) -> Self {
        let real = std::fs::canonicalize(if name.is_empty() { "." } else { &name }).ok();
        Folder { name, real }
    }

    fn has_name(&self, path: &str) -> bool {
        self.name == "/" || path.strip_prefix(self.name.as_str()).is_some_and(|rest| rest.starts_with('/'))
    }
}

impl Fence {
    /// For a root document at an absolute path.
    pub(super) fn of_file(path: &str, allowed: &[String]) -> Self {
        let folder = match path.rsplit_once('/') {
            Some(("", _)) => "/".to_owned(),
            Some((folder, _)) => folder.to_owned(),
            None => String::new(),
        };
        let mut fence = Fence { folders: Vec::new(), origins: Vec::new(), prefixes: Vec::new() };
        for entry in allowed {
            if location::is_url(entry) {
                fence.allow_url(entry);
            } else if let Some(name) = location::resolve(path, &format!("{}/", entry.trim_end_matches('/'))) {
                fence.folders.push(Folder::new(if name.is_empty() { "/".to_owned() } else { name }));
            }
        }
        fence.folders.push(Folder::new(folder));
        fence
    }

    /// For a root document at a URL; only origins can be allowed.
    pub(super) fn of_url(url: &str, allowed: &[String]) -> Self {
        let mut fence = Fence { folders: Vec::new(), origins: Vec::new(), prefixes: Vec::new() };
        fence.add_origin(url);
        for entry in allowed.iter().filter(|entry| location::is_url(entry)) {
            fence.allow_url(entry);
        }
        fence
    }

    /// The root document was found at this URL after redirects.
    pub(super) fn add_origin(&mut self, url: &str) {
        if let Ok(url) = Url::parse(url) {
            self.origins.push(url.origin());
        }
    }

    fn allow_url(&mut self, entry: &str) {
        if let Ok(url) = Url::parse(entry) {
            self.prefixes.push(url);
        }
    }

    /// Whether a reference or a redirect may lead to this URL.
    pub(super) fn permit_url(&self, target: &str) -> Result<(), Refusal> {
        let Ok(url) = Url::parse(target) else {
            return Err(Refusal::plain("it is not a URL".to_owned()));
        };
        let origin = url.origin();
        let under = |prefix: &Url| {
            let folder = prefix.path().trim_end_matches('/');
            prefix.origin() == origin
                && url.path().strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if self.origins.contains(&origin) || self.prefixes.iter().any(under) {
            return Ok(());
        }
        Err(Refusal::outside("it is on another server than the document", &origin.ascii_serialization()))
    }

    /// The path to open for a reference to this path: what links lead to, if that may be read.
    pub(super) fn permit_path(&self, target: &str) -> Result<PathBuf, Refusal> {
        if !target.starts_with('/') && target.contains(':') {
            return Err(Refusal::plain("only files, http and https can be read".to_owned()));
        }
        if self.folders.is_empty() {
            return Err(Refusal::plain("a document from a URL can't refer to files".to_owned()));
        }
        let parent = target.rsplit_once('/').map_or("", |(folder, _)| folder);
        let outside = "it is outside the folder of the document";
        let named = self.folders.iter().any(|folder| folder.has_name(target));
        // Nothing outside is touched, not even to see whether it exists; where more than the document's folder is
        // allowed, a link may be another name for it, and what is not there is refused like what is.
        if !named && self.folders.len() == 1 {
            return Err(Refusal::outside(outside, parent));
        }
        let real = match std::fs::canonicalize(target) {
            Ok(real) => real,
            Err(error) if named => return Err(Refusal::plain(super::file::reason(&error))),
            Err(_) => return Err(Refusal::outside(outside, parent)),
        };
        let inside = |folder: &Folder| folder.real.as_deref().is_some_and(|folder| real.starts_with(folder));
        if self.folders.iter().any(inside) {
            return Ok(real);
        }
        if !named {
            return Err(Refusal::outside(outside, parent));
        }
        let real_folder = real.parent().unwrap_or(Path::new("/")).to_string_lossy().into_owned();
        Err(Refusal::outside("it is a link that leads outside the folder of the document", &real_folder))
    }
}

/// True for hosts that only this machine or its network can mean.
pub(super) fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified(),
        Some(Host::Ipv6(ip)) => {
            let mapped = ip.to_ipv4_mapped();
            let local = |ip: std::net::Ipv4Addr| ip.is_loopback() || ip.is_private() || ip.is_link_local();
            ip.is_loopback()
                || ip.is_unspecified()
                || ip.is_unique_local()
                || ip.is_unicast_link_local()
                || mapped.is_some_and(local)
        }
        None => true,
    }
}
