//! `healthcheck`: asks a running server whether it is alive, for images that hold nothing but this binary.

use super::Files;
use crate::app::{SETTINGS_FILE, Setup};
use crate::config::address;
use crate::mapping::{self, Limits, Redirects, Tls};
use crate::request::Request;
use crate::upstream::{SendOptions, Upstream};
use clap::Args;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

#[derive(Debug, Args)]
pub(super) struct Healthcheck {
    /// What to ask (default: `/healthz` of the server that the settings describe, else http://127.0.0.1:8080/healthz).
    #[arg(value_name = "URL")]
    url: Option<String>,
    /// The server's settings.
    #[arg(long, value_name = "FILE", default_value = SETTINGS_FILE)]
    config: String,
    /// Time for the answer, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 3)]
    timeout: u64,
}

impl Healthcheck {
    pub(super) async fn run(self) -> u8 {
        let url = match &self.url {
            Some(url) => url.clone(),
            None => self.described().await,
        };
        match ask(&url, Duration::from_secs(self.timeout.max(1))).await {
            Ok(status) if status.is_success() => 0,
            Ok(status) => {
                eprintln!("{url}: {status}");
                1
            }
            Err(problem) => {
                eprintln!("{url}: {problem}");
                1
            }
        }
    }

    /// Where the settings say that health is served, as seen from this machine.
    async fn described(&self) -> String {
        let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, 8080));
        let files = Files { files: Vec::new(), base_url: None, config: Some(self.config.clone()) };
        let known = std::path::Path::new(&self.config).is_file();
        let setup = if known { Setup::read(&files.named()).await.0 } else { None };
        let Some(setup) = setup else { return format!("http://{usual}/healthz") };
        let environment = setup.environment.as_ref();
        let (scheme, found) = match &setup.config.telemetry.listen {
            Some(slot) => ("http", address("telemetry.listen", slot, environment)),
            None => (if setup.config.tls.is_some() { "https" } else { "http" }, setup.config.address(environment)),
        };
        let mut found = found.unwrap_or(usual);
        if found.ip().is_unspecified() {
            found.set_ip(match found.ip() {
                IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        format!("{scheme}://{found}/healthz")
    }
}

async fn ask(url: &str, timeout: Duration) -> Result<http::StatusCode, String> {
    let parsed = url::Url::parse(url).map_err(|_| "no URL".to_owned())?;
    // The certificate names the server's public name, not this machine; nothing is sent that must be kept.
    let local = parsed.host().is_some_and(|host| match host {
        url::Host::Ipv4(ip) => ip.is_loopback(),
        url::Host::Ipv6(ip) => ip.is_loopback(),
        url::Host::Domain(name) => name == "localhost",
    });
    let tls = Tls { insecure: local, ..Tls::default() };
    let limits = Limits {
        connect_timeout: mapping::Duration(timeout),
        timeout: mapping::Duration(timeout),
        max_response: mapping::Bytes(64 * 1024),
        retries: 0,
        redirects: Redirects::None,
        ..Limits::default()
    };
    let upstream = Upstream::for_url("healthcheck", url, tls, limits).map_err(|problems| problems.join("; "))?;
    let request = Request {
        method: http::Method::GET,
        url: url.to_owned(),
        headers: http::HeaderMap::new(),
        body: None,
        secret_in_url: Vec::new(),
        secrets: Vec::new(),
    };
    let answer = upstream.send(0, request, &SendOptions::default()).await;
    answer.map(|answer| answer.status).map_err(|error| crate::upstream::kind(&error).to_owned())
}
