//! Problems of one document, so many of a kind: a file with a million of them must not become a
//! million reports.

use crate::diagnostic::{Diagnostic, Report, Severity};

/// At most this many problems of one code are kept; the last one says how many more there are.
const PER_CODE: usize = 20;

/// A report that counts.
#[derive(Debug, Default)]
pub(super) struct Problems {
    kept: Vec<Diagnostic>,
    counts: Vec<(&'static str, Severity, usize)>,
}

impl Problems {
    /// Adds a problem that is there already.
    pub(super) fn push(&mut self, problem: Diagnostic) {
        if self.count(problem.severity, problem.code, 1) {
            self.kept.push(problem);
        }
    }

    /// Adds a problem that [`Problems::count`] found room for.
    pub(super) fn keep(&mut self, problem: Diagnostic) {
        self.kept.push(problem);
    }

    /// Adds those of a later step.
    pub(super) fn merge(&mut self, other: Problems) {
        let mut left = other.counts;
        for problem in other.kept {
            if let Some((.., number)) = left.iter_mut().find(|(code, ..)| *code == problem.code) {
                *number = number.saturating_sub(1);
            }
            self.push(problem);
        }
        for (code, severity, number) in left {
            self.count(severity, code, number);
        }
    }

    /// What is reported.
    pub(super) fn report(self) -> Report {
        let mut report = Report { diagnostics: self.kept };
        for (code, severity, number) in self.counts {
            let kept = report.diagnostics.iter().filter(|problem| problem.code == code).count();
            if number > kept {
                let message = format!("{} more of these in this document", number - kept);
                report.push(Diagnostic::new(severity, code, message));
            }
        }
        report
    }

    /// Counts problems, and says whether one that is described is to be kept.
    pub(super) fn count(&mut self, severity: Severity, code: &'static str, number: usize) -> bool {
        let known = self.counts.iter_mut().find(|(known, ..)| *known == code);
        let Some((_, _, count)) = known else {
            self.counts.push((code, severity, number));
            return true;
        };
        *count += number;
        *count <= PER_CODE
    }
}
