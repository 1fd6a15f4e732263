//! `doctor`: probes every API as a call would use it, and says what is wrong. No secret is printed.

use super::{Files, load, print, show};
use crate::app::{self, Settings};
use crate::catalog::{Action, Catalog, RequestAction, SourcePlan, Tool};
use crate::request::Request;
use crate::response::{NoAnswer, Response};
use crate::service::{Context, Service};
use crate::upstream::SendOptions;
use clap::Args;
use std::fmt::Write;
use std::time::Duration;
use tokio::net::TcpStream;
use url::Url;

/// Time for one probe.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
pub(super) struct Doctor {
    #[command(flatten)]
    files: Files,
}

/// What was found out, as lines.
#[derive(Default)]
struct Findings {
    text: String,
    bad: usize,
}

impl Findings {
    fn ok(&mut self, what: &str, text: &str) {
        let _ = writeln!(self.text, "  ok    {what}: {text}");
    }
    fn note(&mut self, what: &str, text: &str) {
        let _ = writeln!(self.text, "  note  {what}: {text}");
    }
    fn bad(&mut self, what: &str, text: &str, fix: &str) {
        self.bad += 1;
        let _ = writeln!(self.text, "  FAIL  {what}: {text}");
        if !fix.is_empty() {
            let _ = writeln!(self.text, "        {fix}");
        }
    }
}

impl Doctor {
    pub(super) async fn run(self) -> u8 {
        let (_, _, loaded) = load(&self.files).await;
        let report = &loaded.report;
        show(report, false);
        let wrong = report.has_errors();
        if loaded.catalog.sources.is_empty() {
            eprintln!("error: there is no API to probe");
            return 2;
        }
        let mut findings = Findings::default();
        match app::service(loaded.catalog, &Settings::default()) {
            Ok(service) => {
                let state = service.state();
                for (index, source) in state.catalog.sources.iter().enumerate() {
                    probe(&mut findings, &service, index, source).await;
                }
            }
            Err(problems) => problems.iter().for_each(|problem| findings.bad("setup", problem, "")),
        }
        let _ = match findings.bad {
            0 => writeln!(findings.text, "all well"),
            1 => writeln!(findings.text, "1 problem"),
            many => writeln!(findings.text, "{many} problems"),
        };
        print(&findings.text);
        u8::from(findings.bad > 0 || wrong)
    }
}

fn requests(catalog: &Catalog, source: usize) -> impl Iterator<Item = (&Tool, &RequestAction)> {
    catalog.tools.values().chain(catalog.hidden.values()).filter_map(move |tool| match &tool.action {
        Action::Request(action) if action.source == source => Some((tool.as_ref(), action.as_ref())),
        _ => None,
    })
}

async fn probe(findings: &mut Findings, service: &Service, index: usize, source: &SourcePlan) {
    let state = service.state();
    let _ = writeln!(findings.text, "source {}", source.name);
    let mut origins: Vec<Url> = Vec::new();
    for (_, action) in requests(&state.catalog, index) {
        if let Ok(url) = Url::parse(&action.base_url)
            && !origins.iter().any(|known| known.origin() == url.origin())
        {
            origins.push(url);
        }
    }
    if origins.is_empty() {
        findings.bad(
            "address",
            "no tool of this source has a base URL",
            "set `base_url` under the source, or give `--base-url`",
        );
        return;
    }
    let mut reachable = true;
    for origin in &origins {
        reachable &= reach(findings, origin, source).await;
    }
    credentials(findings, &state.catalog, index, source);
    if reachable {
        get(findings, service, index, &origins).await;
    }
}

/// Name and connection.
async fn reach(findings: &mut Findings, url: &Url, source: &SourcePlan) -> bool {
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else { return false };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let addresses = match tokio::time::timeout(PATIENCE, tokio::net::lookup_host((bare, port))).await {
        Ok(Ok(found)) => found.collect::<Vec<_>>(),
        Ok(Err(error)) => {
            findings.bad(
                "name",
                &format!("`{bare}` can't be resolved: {error}"),
                "check `base_url` and the DNS of this machine",
            );
            return false;
        }
        Err(_) => {
            findings.bad(
                "name",
                &format!("`{bare}` was not resolved within {} s", PATIENCE.as_secs()),
                "check the DNS of this machine",
            );
            return false;
        }
    };
    let Some(first) = addresses.first() else {
        findings.bad("name", &format!("`{bare}` has no address"), "");
        return false;
    };
    findings.ok("name", &format!("{bare} is {} ({} in all)", first.ip(), addresses.len()));
    let limit = source.limits.connect_timeout.0.min(PATIENCE);
    let mut reason = String::new();
    for address in &addresses {
        match tokio::time::timeout(limit, TcpStream::connect(address)).await {
            Ok(Ok(_)) => {
                findings.ok("connection", &format!("port {port} answers"));
                return true;
            }
            Ok(Err(error)) => reason = error.to_string(),
            Err(_) => reason = format!("nothing within {limit:?}"),
        }
    }
    findings.bad(
        "connection",
        &format!("port {port}: {reason}"),
        "is the API running, and does a firewall let this machine through?",
    );
    false
}

/// Which credentials are there; values are never looked at.
fn credentials(findings: &mut Findings, catalog: &Catalog, index: usize, source: &SourcePlan) {
    let mut names: Vec<&String> = Vec::new();
    for (_, action) in requests(catalog, index) {
        for name in action.security.iter().flatten() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    if names.is_empty() {
        findings.note("credentials", "none is asked for");
    }
    for name in names {
        let blocked = requests(catalog, index)
            .filter(|(_, action)| {
                !action.security.is_empty() && action.security.iter().all(|alternative| alternative.contains(name))
            })
            .count();
        match source.credentials.get(name) {
            Some(plan) if plan.value.is_some() => findings.ok("credential", &format!("`{name}` is set")),
            Some(plan) if blocked == 0 => {
                findings.note(
                    "credential",
                    &format!("`{name}` is not set ({}); no tool depends on it alone", plan.wanted.join(", ")),
                );
            }
            Some(plan) => findings.bad(
                "credential",
                &format!("`{name}` is not set; {blocked} tools are refused until it is"),
                &if plan.wanted.is_empty() { String::new() } else { format!("set {}", plan.wanted.join(" and ")) },
            ),
            None => findings.bad(
                "credential",
                &format!("`{name}` is no security scheme of the document"),
                "declare it, or add it under `credentials:`",
            ),
        }
    }
}

/// One safe GET, as a call would send it.
async fn get(findings: &mut Findings, service: &Service, index: usize, origins: &[Url]) {
    let state = service.state();
    let context = Context::local();
    let mut refused = None;
    for (tool, action) in requests(&state.catalog, index) {
        if action.method != http::Method::GET || needs_arguments(tool) || tool.confirm.is_some() || !tool.ask.is_empty()
        {
            continue;
        }
        match service.dry_run(&context, &tool.name, None).await {
            Ok(Ok(request)) => {
                let path = tool.operation.as_ref().map(|operation| operation.path.clone()).unwrap_or_default();
                let authorized = !action.security.is_empty();
                let answer = sent(service, index, request).await;
                said(findings, &format!("GET {path} ({})", tool.name), answer, authorized);
                return;
            }
            Ok(Err(content)) => refused = refused.or(content.first_text()),
            Err(_) => {}
        }
    }
    if let Some(text) = refused {
        findings.note("GET", &format!("no operation could be tried: {}", text.lines().next().unwrap_or_default()));
    }
    for url in origins {
        let request = Request {
            method: http::Method::GET,
            url: url.to_string(),
            headers: http::HeaderMap::new(),
            body: None,
            secret_in_url: Vec::new(),
            secrets: Vec::new(),
        };
        match sent(service, index, request).await {
            Ok(response) => findings.ok(
                "GET",
                &format!(
                    "the base URL answers with status {}; no operation is safe to try without arguments",
                    response.status.as_u16()
                ),
            ),
            Err(error) => said(findings, "GET of the base URL", Err(error), false),
        }
    }
}

fn needs_arguments(tool: &Tool) -> bool {
    tool.input
        .published
        .tree()
        .get("required")
        .and_then(serde_json::Value::as_array)
        .is_some_and(|required| !required.is_empty())
}

async fn sent(service: &Service, index: usize, request: Request) -> Result<Response, NoAnswer> {
    let options = SendOptions { timeout: Some(PATIENCE), idempotent: true, ..SendOptions::default() };
    service.state().upstream.send(index, request, &options).await
}

fn said(findings: &mut Findings, what: &str, answer: Result<Response, NoAnswer>, authorized: bool) {
    match answer {
        Ok(response) => {
            let status = response.status.as_u16();
            let took = response.elapsed.as_millis();
            match status {
                200..=399 => findings.ok(what, &format!("status {status} in {took} ms")),
                401 | 403 if authorized => findings.bad(
                    what,
                    &format!("status {status}: the credential is not accepted"),
                    "check its value and its rights",
                ),
                401 | 403 => findings.bad(
                    what,
                    &format!("status {status}: the API wants a credential that the document does not declare"),
                    "add it under `credentials:` of the source, with `place:`",
                ),
                404 => findings.bad(what, &format!("status {status}"), "does `base_url` have the right path?"),
                _ => findings.bad(what, &format!("status {status} in {took} ms"), "see the log of the API"),
            }
        }
        Err(error) => {
            let (text, fix) = match &error {
                NoAnswer::Tls(reason) => {
                    (format!("TLS: {reason}"), "a private CA goes under `tls: { ca: … }` of the source")
                }
                NoAnswer::Connect(reason) | NoAnswer::Dns(reason) => (reason.clone(), ""),
                NoAnswer::Timeout(_, limit) => {
                    (format!("no answer within {limit:?}"), "is the API overloaded, or the address wrong?")
                }
                NoAnswer::Forbidden(reason) => (reason.clone(), "see `limits:` of the source"),
                other => (format!("{} ({other:?})", crate::upstream::kind(other)), ""),
            };
            findings.bad(what, &text, fix);
        }
    }
}
