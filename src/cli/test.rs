//! `test`: the mappings' own tests, offline.

use super::{Files, junit, print, show};
use crate::app::offline::{self, Verdict};
use crate::app::{Inputs, Setup};
use crate::diagnostic::{Report, Severity};
use clap::Args;
use std::fmt::Write;

#[derive(Debug, Args)]
pub(super) struct Test {
    #[command(flatten)]
    files: Files,
    /// Only the tests of this tool.
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Also write the results to this file as JUnit XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<String>,
}

impl Test {
    pub(super) async fn run(self) -> u8 {
        let (setup, mut report) = Setup::read(&self.files.named()).await;
        let inputs = match setup {
            Some(setup) => {
                let (inputs, problems) = setup.inputs().await;
                report.merge(problems);
                inputs
            }
            None => Inputs::default(),
        };
        let verdicts = offline::run(&inputs, self.tool.as_deref()).await;
        report.merge(verdicts.report);
        let errors: Report = report.into_iter().filter(|one| one.severity == Severity::Error).collect();
        show(&errors, false);
        if verdicts.mappings == 0 {
            eprintln!("error: there is no mapping to test");
            return 2;
        }
        let mut out = String::new();
        for verdict in &verdicts.list {
            line(&mut out, verdict);
        }
        let failed = verdicts.list.iter().filter(|verdict| !verdict.differences.is_empty()).count();
        if verdicts.list.is_empty() {
            match &self.tool {
                Some(tool) => eprintln!("there is no test of a tool `{tool}`"),
                None => eprintln!("no tool has `tests:`"),
            }
        }
        let _ = writeln!(out, "{} passed, {failed} failed", verdicts.list.len() - failed);
        print(&out);
        if let Some(file) = &self.junit
            && let Err(error) = std::fs::write(file, junit::xml(&verdicts.list))
        {
            eprintln!("error: can't write `{file}`: {error}");
            return 2;
        }
        let named = self.tool.is_some() && verdicts.list.is_empty();
        u8::from(failed > 0 || errors.has_errors() || named)
    }
}

fn line(out: &mut String, verdict: &Verdict) {
    let mark = if verdict.differences.is_empty() { "ok  " } else { "FAIL" };
    let _ = writeln!(out, "{mark}  {}: {}", verdict.tool, verdict.name);
    if !verdict.differences.is_empty() {
        let _ = writeln!(out, "      at {}", verdict.place.label());
    }
    for difference in &verdict.differences {
        let _ = writeln!(out, "      {}", difference.replace('\n', "\n        "));
    }
}
