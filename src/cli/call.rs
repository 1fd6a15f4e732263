//! `call`: one tool, one call; or the HTTP request that it would send.

use super::{Files, load, print, show};
use crate::app;
use crate::content::{Content, wire};
use crate::service::{Context, Failure, Handler, Outcome, Round};
use clap::Args;
use serde_json::value::RawValue;

#[derive(Debug, Args)]
pub(super) struct Call {
    /// Name of the tool.
    #[arg(value_name = "TOOL")]
    tool: String,
    #[command(flatten)]
    files: Files,
    /// Arguments as a JSON object.
    #[arg(long, value_name = "JSON", default_value = "{}")]
    args: String,
    /// Send nothing; print the HTTP request and the same as a curl command, secrets masked.
    #[arg(long)]
    dry_run: bool,
}

impl Call {
    pub(super) async fn run(self) -> u8 {
        let (_, _, loaded) = load(&self.files).await;
        show(&loaded.report, false);
        let Ok(arguments) = RawValue::from_string(self.args.clone()) else {
            eprintln!("error: `--args` is no JSON: {}", self.args);
            return 2;
        };
        let service = match app::service(loaded.catalog, &app::Settings::default()) {
            Ok(service) => service,
            Err(problems) => {
                eprintln!("error: {}", problems.join("\nerror: "));
                return 2;
            }
        };
        let context = Context::local();
        if self.dry_run {
            return match service.dry_run(&context, &self.tool, Some(&arguments)).await {
                Ok(Ok(request)) => {
                    print(&format!(
                        "{}\n\n{}\n",
                        crate::request::show::to_http(&request),
                        crate::request::show::to_curl(&request)
                    ));
                    0
                }
                Ok(Err(content)) => self.answer(&content),
                Err(failure) => self.failed(&service, &failure),
            };
        }
        match service.call_tool(&context, &self.tool, Some(&arguments), Round::default()).await {
            Ok(Outcome::Complete(content)) => self.answer(&content),
            Ok(Outcome::InputRequired { requests, .. }) => {
                eprintln!("the call asks first: {}", serde_json::Value::Object(requests));
                1
            }
            Err(failure) => self.failed(&service, &failure),
        }
    }

    fn answer(&self, content: &Content) -> u8 {
        let mut out = wire::Pieces::default();
        wire::write_result(content, &mut out, &newest());
        print(&format!("{}\n", String::from_utf8_lossy(&out.whole())));
        u8::from(content.is_error)
    }

    fn failed(&self, service: &crate::service::Service, failure: &Failure) -> u8 {
        match failure {
            Failure::UnknownTool(name) => {
                let catalog = service.catalog();
                let near = crate::diagnostic::hint::did_you_mean(name, catalog.tools.keys().map(String::as_str));
                eprintln!(
                    "error: there is no tool `{name}`{}",
                    near.map(|near| format!("; {near}")).unwrap_or_default()
                );
            }
            other => eprintln!("error: {other:?}"),
        }
        2
    }
}

/// Everything that the newest revision knows.
fn newest() -> wire::WireOptions<'static> {
    wire::WireOptions { structured: true, audio: true, links: true, ..wire::WireOptions::default() }
}
