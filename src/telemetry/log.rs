//! Logs go to stderr, as text or JSON lines; never to stdout, which may be a transport.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

/// How log lines look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Installs the logger for the process. `filter` is a directive such as `info` or
/// `rest_mcp=debug,warn`; a bad one is an error. HTTP client internals stay silent below warnings:
/// their lines may hold headers.
///
/// # Errors
/// A text: the filter is wrong, or a logger is installed already.
pub fn install(format: LogFormat, filter: &str) -> Result<(), String> {
    let quiet = ["hyper", "hyper_util", "h2", "reqwest", "rustls", "tower", "opentelemetry_sdk", "opentelemetry"];
    let mut env = EnvFilter::try_new(filter).map_err(|error| format!("log filter `{filter}`: {error}"))?;
    for name in quiet {
        if let Ok(directive) = format!("{name}=warn").parse() {
            env = env.add_directive(directive);
        }
    }
    let builder = tracing_subscriber::fmt()
        .with_env_filter(env)
        .with_writer(std::io::stderr)
        .with_span_events(FmtSpan::NONE)
        .with_target(true);
    let installed = match format {
        LogFormat::Text => builder.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).with_ansi(false).try_init(),
    };
    installed.map_err(|error| error.to_string())
}
