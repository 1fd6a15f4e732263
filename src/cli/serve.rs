//! `serve`: the tools over stdio or HTTP.

use super::{Files, show};
use crate::app::{self, Inputs, Loaded, MockEnvironment, Settings, load_all};
use crate::config::ProcessEnvironment;
use crate::diagnostic::Report;
use crate::mapping::Slot;
use crate::protocol::Server;
use crate::transport::{self, serve_http, serve_stdio};
use clap::Args;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Args)]
pub(super) struct Serve {
    #[command(flatten)]
    files: Files,
    /// Serve one client on standard input and output.
    #[arg(long, conflicts_with = "listen")]
    stdio: bool,
    /// Serve HTTP on this address (default 127.0.0.1:8080).
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Answer from the documents' examples and schemas; no API is needed.
    #[arg(long)]
    mock: bool,
    /// Warnings count as errors: nothing is served where something is left out.
    #[arg(long)]
    strict: bool,
}

impl Serve {
    pub(super) async fn run(self) -> u8 {
        let _ = crate::telemetry::log::install(crate::telemetry::log::LogFormat::Text, "warn");
        let shutdown = CancellationToken::new();
        let environment = ProcessEnvironment::new(".");
        let (inputs, read) = Inputs::read(&self.files.files, self.files.base_url.clone()).await;
        let loaded = if self.mock {
            let environment = MockEnvironment(&environment);
            let first = load_all(&inputs, &environment).await;
            match mocks(&first, &shutdown).await {
                Ok(urls) => app::load_with(&inputs, &environment, &urls).await,
                Err(error) => {
                    eprintln!("error: the mock can't listen: {error}");
                    return 2;
                }
            }
        } else {
            load_all(&inputs, &environment).await
        };
        let mut report = read;
        report.merge(loaded.report.clone());
        show(&report, false);
        if report.exit_code(self.strict) != 0 && app::refused(&report, self.strict) {
            eprintln!("error: nothing is served: {}", report.summary());
            return if inputs.list.is_empty() { 2 } else { 1 };
        }
        self.banner(&loaded, &report);
        let settings = Settings::default();
        let captured = app::captured_headers(&loaded.catalog);
        let protocol = app::protocol_settings(&loaded.catalog);
        let service = match app::service(loaded.catalog, &settings) {
            Ok(service) => Arc::new(service),
            Err(problems) => {
                eprintln!("error: {}", problems.join("\nerror: "));
                return 1;
            }
        };
        let server = match Server::new(service, protocol) {
            Ok(server) => Arc::new(server),
            Err(error) => {
                eprintln!("error: {error}");
                return 2;
            }
        };
        let stop = shutdown.clone();
        tokio::spawn(async move {
            interrupted().await;
            stop.cancel();
        });
        let transport = transport::Settings { capture_headers: captured, ..transport::Settings::default() };
        if self.stdio {
            eprintln!("serving on standard input and output");
            let ended = serve_stdio(server, &transport, tokio::io::stdin(), tokio::io::stdout(), shutdown).await;
            return u8::from(ended.is_err());
        }
        let address = self.listen.clone().unwrap_or_else(|| "127.0.0.1:8080".to_string());
        let listener = match TcpListener::bind(&address).await {
            Ok(listener) => listener,
            Err(error) => {
                eprintln!("error: can't listen on {address}: {error}");
                return 2;
            }
        };
        let local = listener.local_addr().map_or(address, |address| address.to_string());
        if !listener.local_addr().is_ok_and(|address| address.ip().is_loopback()) {
            eprintln!(
                "error: {local} is reachable from other machines and no access rules are set; listen on a loopback address"
            );
            return 2;
        }
        eprintln!("serving MCP on http://{local}/mcp (older clients: http://{local}/sse, ws://{local}/ws)");
        match serve_http(listener, server, transport, shutdown).await {
            Ok(()) => 0,
            Err(error) => {
                eprintln!("error: {error}");
                1
            }
        }
    }

    fn banner(&self, loaded: &Loaded, report: &Report) {
        for source in &loaded.catalog.sources {
            let tools = loaded
                .catalog
                .tools
                .values()
                .filter(|tool| tool.operation.as_ref().is_some_and(|o| o.source == source.name))
                .count();
            let skipped = loaded.catalog.skipped.iter().filter(|skipped| skipped.source == source.name).count();
            let mocked = if self.mock { ", mocked" } else { "" };
            let left = if skipped == 0 { String::new() } else { format!(", {skipped} operations skipped") };
            eprintln!("source {}: {tools} tools{left}{mocked}", source.name);
        }
        let (bytes, tokens) = loaded.published_size();
        eprintln!("{} tools, {bytes} bytes, about {tokens} tokens", loaded.catalog.tools.len());
        if tokens > 20_000 && !loaded.catalog.search_mode {
            eprintln!(
                "that is a lot for a model; `catalog: {{ mode: search }}` in a mapping publishes three tools that find the others"
            );
        }
        if report.warnings() > 0 {
            eprintln!("{} warnings; `rest-mcp check` shows them again", report.warnings());
        }
    }
}

/// One mock a source; its URL by source name.
async fn mocks(loaded: &Loaded, shutdown: &CancellationToken) -> std::io::Result<Vec<(String, Slot)>> {
    let mut urls = Vec::new();
    for (name, api) in &loaded.apis {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        urls.push((name.clone(), Slot(format!("http://{}", listener.local_addr()?))));
        tokio::spawn(crate::mock::serve(api.clone(), listener, shutdown.clone()));
    }
    Ok(urls)
}

/// Ends on SIGINT or SIGTERM.
pub(super) async fn interrupted() {
    let terminate = async {
        #[cfg(unix)]
        if let Ok(mut signal) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            signal.recv().await;
            return;
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminate => {}
    }
}
