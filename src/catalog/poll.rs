//! `poll`, compiled.

use crate::content::jq::Jq;
use crate::mapping::Poll;

/// How a long-running job is waited for.
#[derive(Debug)]
pub struct PollPlan {
    /// What the author wrote.
    pub rules: Poll,
    /// Filter of the status.
    pub status: Option<Jq>,
    /// Filter of the progress, 0 to 1.
    pub progress: Option<Jq>,
}

impl PollPlan {
    /// Compiles the filters; the error is the key and what is wrong with its value.
    pub fn compile(rules: &Poll) -> Result<Self, (&'static str, String)> {
        let filter = |key: &'static str, text: &Option<String>| {
            text.as_deref().map(Jq::compile).transpose().map_err(|message| (key, message))
        };
        let (status, progress) = (filter("status", &rules.status)?, filter("progress", &rules.progress)?);
        Ok(PollPlan { rules: rules.clone(), status, progress })
    }
}
