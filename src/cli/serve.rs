//! `serve`: the tools over stdio or HTTP.

use super::Files;
use super::voice::Voice;
use crate::app::{self, Inputs, LoadThread, Loaded, MockEnvironment, Setup, Sidecar, Telemetry, load_all};
use crate::config;
use crate::diagnostic::Report;
use crate::mapping::Slot;
use crate::openapi::Api;
use crate::reload;
use crate::telemetry::log::{self, LogFormat};
use crate::transport::{serve_http, serve_stdio};
use crate::workers::Workers;
use clap::Args;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Says what is logged, such as `rest_mcp=debug,warn`.
const LOG_VARIABLE: &str = "REST_MCP_LOG";
const USUAL_LOG: &str = "rest_mcp=info,warn";

#[derive(Debug, Args)]
pub(super) struct Serve {
    #[command(flatten)]
    files: Files,
    /// Serve one client on standard input and output.
    #[arg(long, conflicts_with = "listen")]
    stdio: bool,
    /// Serve HTTP on this address (default: that of the settings, else 127.0.0.1:8080).
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
    /// True if the process serves connections rather than its own input.
    pub(super) fn is_http(&self) -> bool {
        !self.stdio
    }

    pub(super) async fn run(self) -> u8 {
        let (setup, mut report) = Setup::read(&self.files.named()).await;
        let Some(setup) = setup else {
            Voice::Text.show(&report);
            Voice::Text.complain(&format!("nothing is served: {}", report.summary()));
            return 2;
        };
        let format = match setup.config.telemetry.log {
            config::LogFormat::Text => LogFormat::Text,
            config::LogFormat::Json => LogFormat::Json,
        };
        let filter = std::env::var(LOG_VARIABLE).unwrap_or_else(|_| USUAL_LOG.to_string());
        if let Err(problem) = log::install(format, &filter) {
            Voice::Text.complain(&problem);
            return 2;
        }
        let voice = Voice::of(format);
        // Before the sources are made: they take their metrics with them.
        let telemetry = match Telemetry::start(&setup) {
            Ok(telemetry) => telemetry,
            Err(problems) => return voice.failed(&problems),
        };
        let shutdown = CancellationToken::new();
        let (mocked, stop) = (self.mock, shutdown.clone());
        let work = move || async move {
            let (made, rest) = read(&setup, mocked, &stop).await;
            ((setup, rest.0.list.is_empty(), made), rest)
        };
        let loader = match LoadThread::start() {
            Ok(loader) => loader,
            Err(problem) => return voice.failed(&[problem]),
        };
        let (setup, nothing, loaded, urls) = match loader.first(work).await {
            Ok((setup, nothing, Ok((loaded, urls)))) => (setup, nothing, loaded, urls),
            Ok((_, _, Err(error))) => {
                voice.complain(&format!("the mock can't listen: {error}"));
                return 2;
            }
            Err(problem) => return voice.failed(&[problem]),
        };
        report.merge(loaded.report.clone());
        voice.show(&report);
        if report.exit_code(self.strict) != 0 && app::refused(&report, self.strict) {
            voice.complain(&format!("nothing is served: {}", report.summary()));
            return if nothing { 2 } else { 1 };
        }
        self.banner(voice, &loaded, &report);
        let address = match app::reachable(&setup, self.listen.as_deref()) {
            Ok(address) => address,
            Err(problem) if !self.stdio => return voice.failed(&[problem]),
            Err(_) => SocketAddr::from(([127, 0, 0, 1], 0)),
        };
        let sidecar = match Sidecar::new(setup, loaded, telemetry, urls, self.strict, loader) {
            Ok(sidecar) => sidecar,
            Err(problems) => return voice.failed(&problems),
        };
        drop(report);
        tokio::spawn(reload::run(sidecar.clone(), sidecar.times(), hangups(), shutdown.clone()));
        let observing = CancellationToken::new();
        match sidecar.observe(observing.clone()).await {
            Ok(None) => {}
            Ok(Some(address)) => voice.say(&format!("metrics and health on http://{address}")),
            Err(problem) => return voice.failed(&[problem]),
        }
        let code = self.until_stopped(voice, &sidecar, address, shutdown).await;
        observing.cancel();
        sidecar.finish().await;
        code
    }

    /// Serves until a signal, then finishes what is in flight.
    async fn until_stopped(
        &self,
        voice: Voice,
        sidecar: &Arc<Sidecar>,
        address: SocketAddr,
        shutdown: CancellationToken,
    ) -> u8 {
        let (stop, retiring) = (shutdown.clone(), sidecar.clone());
        let stdio = self.stdio;
        tokio::spawn(async move {
            interrupted().await;
            if !stdio {
                voice.say("stopping");
                retiring.retire().await;
            }
            stop.cancel();
        });
        let mut settings = sidecar.transport();
        if self.stdio {
            voice.say("serving on standard input and output");
            let ended =
                serve_stdio(sidecar.server(), &settings, tokio::io::stdin(), tokio::io::stdout(), shutdown).await;
            return u8::from(ended.is_err());
        }
        let listener = match TcpListener::bind(&address).await {
            Ok(listener) => listener,
            Err(error) => {
                voice.complain(&format!("can't listen on {address}: {error}"));
                return 2;
            }
        };
        let local = listener.local_addr().unwrap_or(address);
        let (http, ws) = if sidecar.is_tls() { ("https", "wss") } else { ("http", "ws") };
        let mut served = String::new();
        if let Some(path) = &settings.mcp_path {
            served.push_str(&format!("{http}://{local}{path}"));
        }
        let older = [
            settings.sse_path.as_ref().map(|path| (http, path)),
            settings.websocket_path.as_ref().map(|path| (ws, path)),
        ];
        let older: Vec<String> =
            older.into_iter().flatten().map(|(scheme, path)| format!("{scheme}://{local}{path}")).collect();
        if !older.is_empty() {
            served.push_str(&format!(" (older clients: {})", older.join(", ")));
        }
        voice.say(&format!("serving MCP on {served}"));
        settings.workers = match Workers::start() {
            Ok(workers) => Some(Arc::new(workers)),
            Err(error) => {
                voice.complain(&format!("the threads for connections can't start: {error}"));
                return 2;
            }
        };
        match serve_http(listener, sidecar.server(), settings, shutdown).await {
            Ok(()) => 0,
            Err(error) => {
                voice.complain(&error.to_string());
                1
            }
        }
    }

    fn banner(&self, voice: Voice, loaded: &Loaded, report: &Report) {
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
            voice.say(&format!("source {}: {tools} tools{left}{mocked}", source.name));
        }
        let (bytes, tokens) = loaded.published_size();
        voice.say(&format!("{} tools, {bytes} bytes, about {tokens} tokens", loaded.catalog.tools.len()));
        if tokens > 20_000 && !loaded.catalog.search_mode {
            voice.say(
                "that is a lot for a model; `catalog: { mode: search }` in a mapping publishes three tools that find the others",
            );
        }
        if report.warnings() > 0 {
            voice.say(&format!("{} warnings; `rest-mcp check` shows them again", report.warnings()));
        }
    }
}

/// What is served and where the mocks of its sources listen; texts and trees of the documents, which are of no use then.
async fn read(setup: &Setup, mocked: bool, shutdown: &CancellationToken) -> (std::io::Result<(Loaded, Urls)>, Rest) {
    let (mut inputs, problems) = setup.inputs().await;
    inputs.unmocked = !mocked;
    let environment = setup.environment.as_ref();
    let (mut loaded, urls) = if mocked {
        let environment = MockEnvironment(environment);
        let first = load_all(&inputs, &environment).await;
        match mocks(&first, shutdown).await {
            Ok(urls) => (app::load_with(&inputs, &environment, &urls).await, urls),
            Err(error) => return (Err(error), (inputs, first.apis)),
        }
    } else {
        (load_all(&inputs, environment).await, Vec::new())
    };
    let mut report = problems;
    report.merge(std::mem::take(&mut loaded.report));
    let apis = std::mem::take(&mut loaded.apis);
    (Ok((Loaded { report, ..loaded }, urls)), (inputs, apis))
}

type Rest = (Inputs, Vec<(String, Arc<Api>)>);

/// Base URLs by the name of the source.
type Urls = Vec<(String, Slot)>;

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

/// A message for each SIGHUP.
fn hangups() -> mpsc::Receiver<()> {
    let (asked, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        #[cfg(unix)]
        if let Ok(mut signal) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()) {
            while signal.recv().await.is_some() && asked.send(()).await.is_ok() {}
        }
        // Held, so that the receiver waits rather than ends.
        std::future::pending::<()>().await;
        drop(asked);
    });
    receiver
}
