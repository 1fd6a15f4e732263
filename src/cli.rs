//! The command line. Only this module prints.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod call;
mod check;
mod client_config;
mod doctor;
mod init;
mod healthcheck;
mod inspect;
mod junit;
mod lint;
mod mock;
mod schema;
mod serve;
mod test;
mod voice;

use crate::app::{Inputs, Loaded, Named, Setup, load_all};
use crate::config::ProcessEnvironment;
use crate::diagnostic::Report;
use clap::{Args, Parser, Subcommand};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

/// Puts an existing REST API in front of AI agents: OpenAPI documents and YAML mappings in, MCP tools out.
#[derive(Debug, Parser)]
#[command(name = "rest-mcp", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the tools over stdio or HTTP.
    Serve(serve::Serve),
    /// Read everything and report every problem: exit 0 fine, 1 problems, 2 nothing usable.
    Check(check::Check),
    /// Show each operation: tool or not and why, final URL, arguments, credentials, tokens.
    Inspect(inspect::Inspect),
    /// Call one tool, or show the HTTP request that the call would send.
    Call(call::Call),
    /// A REST backend that answers from a document's examples and schemas.
    Mock(mock::Mock),
    /// Run the `tests:` of the mappings offline: exit 0 all pass, 1 some fail, 2 nothing usable.
    Test(test::Test),
    /// Report what makes tools hard to use: size, descriptions, names, unconfirmed deletions, vendor limits.
    Lint(lint::Lint),
    /// Write a first mapping for a document, or bring one up to date.
    Init(init::Init),
    /// Probe every API: name, connection, TLS, credentials, one safe GET.
    Doctor(doctor::Doctor),
    /// Print what a client's configuration needs.
    ClientConfig(client_config::ClientConfig),
    /// Ask a running server whether it is alive; exit 0 if so. For container health checks.
    Healthcheck(healthcheck::Healthcheck),
    /// Print the JSON Schema of the mapping language or of the settings file.
    Schema(schema::Schema),
}

/// The files a command works on.
#[derive(Debug, Args)]
struct Files {
    /// OpenAPI documents and mappings (paths, folders or URLs); default: `mappings/` and `specs/`.
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// Replaces the base URL of every source.
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The server's settings; `rest-mcp.yaml` is picked up where no FILE is named.
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
}

impl Files {
    fn named(&self) -> Named {
        Named { config: self.config.clone(), files: self.files.clone(), base_url: self.base_url.clone() }
    }
}

/// Runs the command line; the exit code is 0 (fine), 1 (problems) or 2 (unusable input or usage).
pub fn main() -> ExitCode {
    small_pages();
    let cli = Cli::parse();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if matches!(&cli.command, Command::Serve(serve) if serve.is_http()) {
        // Connections have threads of their own; here is what goes on beside them.
        builder.worker_threads(1);
    }
    let runtime = match builder.enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: the runtime can't start: {error}");
            return ExitCode::from(2);
        }
    };
    let code = runtime.block_on(async {
        match cli.command {
            Command::Serve(command) => command.run().await,
            Command::Check(command) => command.run().await,
            Command::Inspect(command) => command.run().await,
            Command::Call(command) => command.run().await,
            Command::Mock(command) => command.run().await,
            Command::Test(command) => command.run().await,
            Command::Lint(command) => command.run().await,
            Command::Init(command) => command.run().await,
            Command::Doctor(command) => command.run().await,
            Command::ClientConfig(command) => command.run().await,
            Command::Healthcheck(command) => command.run().await,
            Command::Schema(command) => command.run(),
        }
    });
    runtime.shutdown_background();
    ExitCode::from(code)
}

/// Where a system gives huge pages to everybody, a heap of 1 MB would take 8. Without effect elsewhere.
fn small_pages() {
    #[cfg(target_os = "linux")]
    // Refused by some sandboxes: then it is as it is.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// Reads and compiles what the command line or the settings name; the report holds the problems of reading too.
async fn load(files: &Files) -> (Option<Setup>, Inputs, Loaded) {
    let (setup, mut report) = Setup::read(&files.named()).await;
    let Some(setup) = setup else {
        let loaded = load_all(&Inputs::default(), &ProcessEnvironment::new(".")).await;
        return (None, Inputs::default(), Loaded { report, ..loaded });
    };
    let (inputs, problems) = setup.inputs().await;
    report.merge(problems);
    let mut loaded = load_all(&inputs, setup.environment.as_ref()).await;
    report.merge(std::mem::take(&mut loaded.report));
    loaded.report = report;
    (Some(setup), inputs, loaded)
}

/// Problems on stderr, worst included; notes only where asked.
fn show(report: &Report, notes: bool) {
    let colour = std::io::stderr().is_terminal();
    let mut text = String::new();
    for diagnostic in &report.diagnostics {
        if notes || diagnostic.severity > crate::diagnostic::Severity::Note {
            text.push_str(&diagnostic.render(colour));
            text.push('\n');
        }
    }
    eprint!("{text}");
}

/// Writes to stdout; a closed pipe is no failure.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
