//! Where operations are sent: the base URL of each, and `server_variables`.

use super::operation::Making;
use super::{At, Compiler, Unit, problem, token};
use crate::diagnostic::{Diagnostic, hint::nearest};
use crate::mapping::Source;
use crate::openapi::Server;

impl Compiler<'_> {
    /// `server_variables` that no server of the document has.
    pub(super) fn stale_variables(&mut self, unit: &Unit, at: At<'_>) {
        for (source, rules) in &unit.mapping.sources {
            let Some(api) = unit.apis.get(source) else { continue };
            let servers = api.operations.iter().flat_map(|operation| &operation.servers);
            let known: std::collections::BTreeSet<&str> =
                servers.flat_map(|server| server.variables.keys().map(String::as_str)).collect();
            let in_urls = |name: &str| {
                let slot = format!("{{{name}}}");
                api.operations.iter().flat_map(|operation| &operation.servers).any(|server| server.url.contains(&slot))
            };
            for name in rules.server_variables.keys().filter(|name| !known.contains(name.as_str()) && !in_urls(name)) {
                let place = at.key(&format!("/sources/{}/server_variables/{}", token(source), token(name)));
                let mut warning =
                    problem("stale-edit", format!("no server of `{source}` has a variable `{name}`"), place);
                warning.severity = crate::diagnostic::Severity::Warning;
                self.report.push(match nearest(name, known.iter().copied()) {
                    Some(near) => warning.fix(format!("did you mean `{near}`?")),
                    None => warning,
                });
            }
        }
    }

    /// The final base URL: flag or mapping in place of the document's servers, else the first usable server of the
    /// operation.
    pub(super) fn operation_base(&mut self, making: &Making<'_>) -> Result<String, Diagnostic> {
        if let Some(flag) = &self.options.base_url {
            return Ok(self.in_place(flag.trim_end_matches('/'), making));
        }
        if making.source.base_url.is_some() {
            let known =
                self.catalog.sources.get(making.source_index).map(|plan| plan.base_url.clone()).unwrap_or_default();
            return if known.is_empty() {
                Err(problem(
                    "no-base-url",
                    "the source's `base_url` could not be resolved".to_string(),
                    making.operation_place(),
                ))
            } else {
                Ok(self.in_place(&known, making))
            };
        }
        let mut reason = None;
        for server in &making.operation.servers {
            match self.server_url(server, making.source) {
                Ok(url) => return Ok(url),
                Err(error) => reason = reason.or(Some(error)),
            }
        }
        let reason = reason.unwrap_or_else(|| "the document declares no server".to_string());
        let mut urls = making.api.servers.iter().chain(&making.operation.servers).map(|server| server.url.as_str());
        let path = urls.find(|url| url.starts_with('/') && !url.starts_with("//") && url.len() > 1);
        let fix = "give `--base-url URL`, or `base_url:` under the source in a mapping".to_string();
        Err(problem("no-base-url", format!("no base URL for this operation: {reason}"), making.operation_place()).fix(
            match path {
                // What is given replaces the whole server URL.
                Some(path) => format!("{fix}; it ends in `{path}`, such as `http://localhost:8080{path}`"),
                None => fix,
            },
        ))
    }

    /// What is given stands for the first server of the document. An operation with a server of its own beside that one
    /// (relative, or on its origin) keeps its place: `/api/v2` is given as `http://localhost/api/v2`, so `/` is
    /// `http://localhost`. All else goes to what is given.
    fn in_place(&self, given: &str, making: &Making<'_>) -> String {
        let path = |server: &Server| {
            let url = self.filled(server, making.source).ok().filter(|url| !url.contains('{'))?;
            let (origin, path) = match url.starts_with('/') && !url.starts_with("//") {
                true => (None, url.as_str()),
                false => {
                    let origin = url::Url::parse(&url).ok()?.origin();
                    let rest = url.split_once("//")?.1;
                    (Some(origin), rest.find('/').and_then(|at| rest.get(at..)).unwrap_or_default())
                }
            };
            Some((origin, path.trim_end_matches('/').to_string()))
        };
        let moved = || {
            let (own_origin, own) = path(making.operation.servers.first()?)?;
            let (origin, main) = match making.api.servers.first() {
                Some(server) => path(server)?,
                None => (None, String::new()),
            };
            if own == main || (own_origin.is_some() && own_origin != origin) {
                return None;
            }
            let (before, query) = given.split_at(given.find('?').unwrap_or(given.len()));
            let before = before.trim_end_matches('/').strip_suffix(&main)?;
            // Never into the host: `/x` is no path of `http://x`.
            url::Url::parse(before).ok().filter(url::Url::has_host)?;
            Some(format!("{before}{own}{query}"))
        };
        moved().unwrap_or_else(|| given.to_string())
    }

    fn server_url(&self, server: &Server, source: &Source) -> Result<String, String> {
        let url = self.filled(server, source)?;
        if let Some(open) = url.find('{') {
            return Err(format!(
                "server URL has a variable without a value: `{}`",
                url.get(open..).unwrap_or_default()
            ));
        }
        match url::Url::parse(&url) {
            Ok(parsed) if matches!(parsed.scheme(), "http" | "https") && parsed.has_host() => {
                Ok(url.trim_end_matches('/').to_string())
            }
            Ok(parsed) if !matches!(parsed.scheme(), "http" | "https") => {
                Err(format!("server URL has the scheme `{}`", parsed.scheme()))
            }
            _ => Err(format!("server URL `{url}` is relative and the document came from a file")),
        }
    }

    /// A server's URL with the values of its variables.
    fn filled(&self, server: &Server, source: &Source) -> Result<String, String> {
        let mut url = server.url.clone();
        for (name, variable) in &server.variables {
            let slot = format!("{{{name}}}");
            if !url.contains(&slot) {
                continue;
            }
            let value = match source.server_variables.get(name) {
                Some(text) => text.resolve_public(&self.here()).map_err(|error| error.to_string())?,
                None => variable.default.clone().or_else(|| variable.allowed.first().cloned()).ok_or_else(|| {
                    format!("server variable `{name}` has no default; set it under `server_variables`")
                })?,
            };
            if !variable.allowed.is_empty()
                && !variable.allowed.contains(&value)
                && source.server_variables.contains_key(name)
            {
                return Err(format!(
                    "`{value}` is not among the allowed values of server variable `{name}`: {}",
                    variable.allowed.join(", ")
                ));
            }
            url = url.replace(&slot, &value);
        }
        for (name, text) in &source.server_variables {
            let slot = format!("{{{name}}}");
            if url.contains(&slot) {
                url = url.replace(&slot, &text.resolve_public(&self.here()).map_err(|error| error.to_string())?);
            }
        }
        Ok(url)
    }
}
