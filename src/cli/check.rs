//! `check`: all diagnostics of all files.

use super::{Files, load, print, show};
use crate::app;
use crate::diagnostic::Diagnostic;
use clap::Args;
use serde_json::json;

#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    files: Files,
    /// Warnings count as problems.
    #[arg(long)]
    strict: bool,
    /// Print one JSON object on stdout.
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(super) async fn run(self) -> u8 {
        let (setup, inputs, mut loaded) = load(&self.files).await;
        if let Some(setup) = setup.filter(|setup| setup.file.is_some()) {
            for problem in app::settings_problems(&setup, &loaded.catalog) {
                loaded.report.push(Diagnostic::error("bad-settings", problem));
            }
        }
        let report = &loaded.report;
        let usable = inputs.list.iter().any(|input| input.kind != crate::app::Kind::Other);
        let code = if !usable || (loaded.catalog.tools.is_empty() && report.has_errors()) {
            2
        } else {
            report.exit_code(self.strict)
        };
        let operations = loaded.catalog.tools.values().filter(|tool| tool.operation.is_some()).count();
        let (bytes, tokens) = loaded.published_size();
        if self.json {
            let skipped: Vec<_> = loaded
                .catalog
                .skipped
                .iter()
                .map(|skipped| json!({"source": skipped.source, "operation": skipped.operation, "operationId": skipped.operation_id, "code": skipped.reason.code, "reason": skipped.reason.message}))
                .collect();
            let out = json!({
                "tools": loaded.catalog.tools.len(),
                "operations": operations + loaded.catalog.skipped.len(),
                "skipped": skipped,
                "errors": report.errors(),
                "warnings": report.warnings(),
                "bytes": bytes,
                "estimatedTokens": tokens,
                "diagnostics": report.to_json(),
            });
            print(&format!("{out}\n"));
            return code;
        }
        show(report, false);
        print(&format!(
            "{} tools, {} operations skipped, {} errors, {} warnings; about {tokens} tokens\n",
            loaded.catalog.tools.len(),
            loaded.catalog.skipped.len(),
            report.errors(),
            report.warnings(),
        ));
        code
    }
}
