//! `select` from text to text, for the filters that most people write: paths, `map`, `select`, what makes lists and objects
//! of constant names, comparisons, `//`, `if`. No value is built, and what is kept is copied as it stands, so that numbers
//! keep their digits.
//!
//! What such a filter does is known from its text but for its errors. So only what is in order is done here, and everything
//! else is left to the interpreter.

mod plan;
mod run;
mod scalar;
mod steps;
mod write;

use super::filter::Outputs;
use crate::content::jq::Limits;
use jaq_core::load::parse::Term;
use plan::Plan;
use run::Run;

/// Deepest nesting of a result: less than the interpreter allows.
const DEEPEST: u32 = 120;

/// A filter that is run on texts.
#[derive(Debug)]
pub(super) struct Direct {
    plan: Plan,
    outputs: Outputs,
    /// Places of its own for names that are remembered.
    places: usize,
    /// Deepest input.
    deepest: u32,
}

impl Direct {
    /// The filter, where it is simple enough.
    pub(super) fn compile(term: &Term<&str>, outputs: Outputs) -> Option<Direct> {
        if outputs == Outputs::Unknown {
            return None;
        }
        let steps = steps::steps(term)?;
        let deepest = DEEPEST.checked_sub(steps::depth(&steps))?;
        let (plan, places) = plan::plan(&steps)?;
        Some(Direct { plan, outputs, places, deepest })
    }

    /// The result for a text, which is UTF-8, as JSON text. `None` where the filter fails or has too many outputs, where the
    /// text is no JSON, is deep, or holds a lone surrogate; where a name stands twice in an object that is looked into; where
    /// values are compared whose order is not plain; and where the result is much longer than the text.
    pub(super) fn run(&self, text: &[u8]) -> Option<Vec<u8>> {
        let most = text.len().saturating_mul(4).saturating_add(64 * 1024);
        let mut out = Vec::with_capacity(text.len() / 4 + 64);
        let many = self.outputs == Outputs::Many;
        if many {
            out.push(b'[');
        }
        let mut run = Run::new(text, self.places, self.deepest, out, most);
        let count = run.plan(&self.plan)?;
        if !run.json.is_at_end() || run.json.saw_lone_surrogate() {
            return None;
        }
        let mut out = run.out;
        match (self.outputs, count) {
            (Outputs::Many, 0) => out.push(b']'),
            (Outputs::Many, count) if count <= Limits::default().outputs => *out.last_mut()? = b']',
            (Outputs::One | Outputs::Maybe, 1) => {
                out.pop();
            }
            (Outputs::Maybe, 0) => out.extend_from_slice(b"null"),
            _ => return None,
        }
        Some(out)
    }
}
