//! URLs: one client, redirects followed by hand so that each hop is checked, bounded bytes and time.

use super::fence::{Fence, is_local};
use super::{Fetched, LoadOptions};
use crate::document::location;
use reqwest::header::{ACCEPT, ETAG, HeaderMap, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, LOCATION};
use reqwest::{Client, Response, StatusCode, redirect};
use std::fmt;
use std::time::SystemTime;
use tokio::time::{Instant, timeout_at};
use url::{Origin, Url};

const ACCEPTED: &str = "application/json, application/yaml, application/vnd.oai.openapi+json, \
                        application/vnd.oai.openapi, text/yaml;q=0.9, */*;q=0.5";

/// What tells whether a document changed since it was read.
#[derive(Debug, Clone, Default)]
pub struct Freshness {
    /// Absolute path or URL (as asked for, before redirects; without credentials).
    pub location: String,
    /// `ETag` of the answer.
    pub etag: Option<String>,
    /// `Last-Modified` of the answer.
    pub last_modified: Option<String>,
    /// Time and size of a file.
    pub(super) stamp: Option<(SystemTime, u64)>,
    login: Option<Login>,
}

impl Freshness {
    pub(super) fn of_file(location: String, stamp: Option<(SystemTime, u64)>) -> Self {
        Freshness { location, stamp, ..Self::default() }
    }
}

/// User and password from the root's URL: sent to its origin and nowhere else, never shown.
#[derive(Clone)]
struct Login {
    origin: Origin,
    user: String,
    password: Option<String>,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Login {
    fn of(url: &Url) -> Option<Self> {
        let decode = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
        (!url.username().is_empty() || url.password().is_some()).then(|| Login {
            origin: url.origin(),
            user: decode(url.username()),
            password: url.password().map(decode),
        })
    }
}

pub(super) struct Fetcher {
    client: Option<Client>,
    login: Option<Login>,
    max_bytes: usize,
    max_redirects: usize,
    timeout: std::time::Duration,
}

/// Whether a redirect may lead to a URL; else why not.
type Permit<'p> = &'p (dyn Fn(&Url) -> Result<(), String> + Sync);

impl Fetcher {
    pub(super) fn new(root: &str, options: &LoadOptions) -> Self {
        Fetcher {
            client: None,
            login: Url::parse(root).ok().filter(|_| location::is_url(root)).and_then(|url| Login::of(&url)),
            max_bytes: options.max_bytes,
            max_redirects: options.max_redirects,
            timeout: options.timeout,
        }
    }

    /// The root document. Redirects may lead to another server, as those of code hosts do, but not
    /// from a public one into the local network.
    pub(super) async fn root(&mut self, url: &str, fence: &mut Fence, deadline: Instant) -> Result<Fetched, String> {
        let first = Url::parse(url).map_err(|_| "it is not a URL".to_owned())?;
        let public = !is_local(&first);
        let permit = move |next: &Url| match public && is_local(next) {
            true => Err("the server redirects into the local network".to_owned()),
            false => Ok(()),
        };
        let fetched = self.fetch(first, &permit, self.max_bytes, deadline).await?;
        fence.add_origin(&fetched.location);
        Ok(fetched)
    }

    /// A document that a `$ref` names; the fence holds for each redirect.
    pub(super) async fn reference(
        &mut self,
        url: &str,
        fence: &Fence,
        limit: usize,
        deadline: Instant,
    ) -> Result<Fetched, String> {
        let first = Url::parse(url).map_err(|_| "it is not a URL".to_owned())?;
        let permit = |next: &Url| match fence.permit_url(next.as_str()) {
            Ok(()) => Ok(()),
            Err(_) => Err("the server redirects to another server".to_owned()),
        };
        self.fetch(first, &permit, limit, deadline).await
    }

    async fn fetch(
        &mut self,
        url: Url,
        permit: Permit<'_>,
        limit: usize,
        deadline: Instant,
    ) -> Result<Fetched, String> {
        let asked = bare(&url);
        let deadline = deadline.min(Instant::now() + self.timeout);
        let client = self.client()?;
        let work = async {
            let (url, response) = self.follow(&client, url, permit, &HeaderMap::new()).await?;
            let status = response.status();
            if !status.is_success() {
                return Err(refused(status));
            }
            let header = |name| response.headers().get(name).and_then(|v| v.to_str().ok()).map(str::to_owned);
            let freshness = Freshness {
                location: asked,
                etag: header(ETAG),
                last_modified: header(LAST_MODIFIED),
                stamp: None,
                login: self.login.clone(),
            };
            let bytes = read(response, limit).await?;
            Ok(Fetched { location: bare(&url), bytes, freshness })
        };
        timeout_at(deadline, work).await.unwrap_or_else(|_| Err("the server did not answer in time".to_owned()))
    }

    /// Asks, following redirects, until an answer that is none.
    async fn follow(
        &self,
        client: &Client,
        mut url: Url,
        permit: Permit<'_>,
        headers: &HeaderMap,
    ) -> Result<(Url, Response), String> {
        for _ in 0..=self.max_redirects {
            let mut request = client.get(bare(&url)).header(ACCEPT, ACCEPTED).headers(headers.clone());
            if let Some(login) = self.login.as_ref().filter(|login| login.origin == url.origin()) {
                request = request.basic_auth(&login.user, login.password.as_ref());
            }
            let response = request.send().await.map_err(|error| failed(&error))?;
            let target = response.headers().get(LOCATION).filter(|_| response.status().is_redirection());
            let Some(target) = target else { return Ok((url, response)) };
            let next = target.to_str().ok().and_then(|target| url.join(target).ok());
            let Some(next) = next.filter(|next| matches!(next.scheme(), "http" | "https")) else {
                return Err("the server redirects to something that is no http URL".to_owned());
            };
            if url.scheme() == "https" && next.scheme() == "http" {
                return Err("the server redirects from https to http".to_owned());
            }
            permit(&next)?;
            url = next;
        }
        Err(format!("the server redirects more than {} times", self.max_redirects))
    }

    fn client(&mut self) -> Result<Client, String> {
        if let Some(client) = &self.client {
            return Ok(client.clone());
        }
        // Does nothing where the program has installed it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let built = Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .user_agent(concat!("rest-mcp/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|_| "no TLS root certificates could be loaded".to_owned())?;
        self.client = Some(built.clone());
        Ok(built)
    }
}

/// Whether the server has another document now.
pub(super) async fn changed(freshness: &Freshness, options: &LoadOptions) -> Option<bool> {
    let mut headers = HeaderMap::new();
    if let Some(etag) = &freshness.etag {
        headers.insert(IF_NONE_MATCH, etag.parse().ok()?);
    }
    if let Some(date) = &freshness.last_modified {
        headers.insert(IF_MODIFIED_SINCE, date.parse().ok()?);
    }
    if headers.is_empty() {
        return None;
    }
    let mut fetcher = Fetcher::new(&freshness.location, options);
    fetcher.login = freshness.login.clone();
    let client = fetcher.client().ok()?;
    let url = Url::parse(&freshness.location).ok()?;
    let public = !is_local(&url);
    let permit = move |next: &Url| if public && is_local(next) { Err(String::new()) } else { Ok(()) };
    let asking = fetcher.follow(&client, url, &permit, &headers);
    let (_, response) = tokio::time::timeout(options.timeout, asking).await.ok()?.ok()?;
    match response.status() {
        StatusCode::NOT_MODIFIED => Some(false),
        status if status.is_success() => {
            let etag = response.headers().get(ETAG).and_then(|etag| etag.to_str().ok());
            Some(etag.is_none() || etag != freshness.etag.as_deref())
        }
        _ => None,
    }
}

async fn read(mut response: Response, limit: usize) -> Result<Vec<u8>, String> {
    let too_large = || format!("it has over {limit} bytes");
    if response.content_length().is_some_and(|length| length > limit as u64) {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(&error))? {
        if bytes.len() + chunk.len() > limit {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// A URL without credentials and fragment.
fn bare(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    // Fails only for URLs that can't have credentials.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.to_string()
}

fn refused(status: StatusCode) -> String {
    match status.as_u16() {
        401 | 403 => format!("the server answered {}: it wants other credentials", status.as_u16()),
        404 | 410 => format!("the server answered {}: there is no such document", status.as_u16()),
        code => format!("the server answered {code}"),
    }
}

/// Without the URL: it may carry credentials.
fn failed(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        "the server did not answer in time".to_owned()
    } else if error.is_connect() {
        "no connection to the server".to_owned()
    } else if error.is_decode() {
        "the answer is damaged".to_owned()
    } else {
        "the request failed".to_owned()
    }
}
