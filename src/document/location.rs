//! Where documents come from and where their relative references lead (RFC 3986, section 5), for
//! URLs and for files. Pure text: nothing is opened here.

use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use url::Url;

/// A reference cut at its first `#`: the part that names a document (may be empty) and the fragment.
pub fn split(reference: &str) -> (&str, Option<&str>) {
    match reference.split_once('#') {
        Some((file, fragment)) => (file, Some(fragment)),
        None => (reference, None),
    }
}

/// True for `http://…` and `https://…`.
pub fn is_url(location: &str) -> bool {
    let head = |scheme: &str| location.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    head("http://") || head("https://")
}

/// The absolute location that the document part of a reference names, seen from a document at
/// `base`: a URL without fragment and credentials, or a path without `.` and `..`. Percent-encoded
/// characters of a file name are decoded; backslashes count as slashes. `None` where it is no
/// location (`http://` without host and the like).
pub fn resolve(base: &str, file: &str) -> Option<String> {
    let file = file.trim();
    if file.is_empty() {
        return Some(base.to_owned());
    }
    if let Some(scheme) = scheme(file) {
        return match scheme.to_ascii_lowercase().as_str() {
            "http" | "https" => Url::parse(file).ok().map(plain_url),
            "file" => Some(file_url_path(file)),
            _ => Some(file.to_owned()),
        };
    }
    if scheme(base).is_some() {
        return Url::parse(base).ok()?.join(file).ok().map(plain_url);
    }
    let file = file.split_once('?').map_or(file, |(path, _)| path);
    let path = percent_decode_str(file).decode_utf8().unwrap_or(Cow::Borrowed(file)).replace('\\', "/");
    if path.starts_with('/') {
        return Some(clean_path(&path));
    }
    let folder = base.rfind('/').and_then(|at| base.get(..=at)).unwrap_or("");
    Some(clean_path(&format!("{folder}{path}")))
}

/// A location as authors may see it in messages: a URL without credentials, query and fragment.
pub fn shown(location: &str) -> String {
    if !location.contains("://") {
        return location.to_owned();
    }
    match Url::parse(location) {
        Ok(url) if url.has_host() => {
            let mut url = url;
            let query = url.query().is_some();
            // Both fail only for URLs that can't have credentials.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.set_query(None);
            url.set_fragment(None);
            if query { format!("{url}?...") } else { url.to_string() }
        }
        _ => match location.split_once("://") {
            // Not a URL, but what stands before an `@` may still be a password.
            Some((scheme, rest)) => {
                let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
                format!("{scheme}://{}", rest.split(['?', '#']).next().unwrap_or_default())
            }
            None => location.to_owned(),
        },
    }
}

/// The path of a `file:` URL, decoded.
pub fn file_url_path(url: &str) -> String {
    let rest = url.split_once(':').map_or(url, |(_, rest)| rest);
    let rest = rest.strip_prefix("//localhost/").map_or(rest, |_| rest.get("//localhost".len()..).unwrap_or(rest));
    let path = rest.strip_prefix("//").unwrap_or(rest);
    clean_path(&percent_decode_str(path).decode_utf8_lossy())
}

/// A path without empty, `.` and `..` segments; `..` at the root stays there.
pub fn clean_path(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
            }
            ".." if absolute => {}
            other => kept.push(other),
        }
    }
    let joined = kept.join("/");
    if absolute { format!("/{joined}") } else { joined }
}

/// The scheme of an absolute URI. One letter is a drive, not a scheme.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let plain = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    plain.then_some(scheme)
}

fn plain_url(mut url: Url) -> String {
    url.set_fragment(None);
    // Credentials written into a reference are never used. Fails only for URLs that can't have any.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.to_string()
}
