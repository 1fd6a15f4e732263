//! Rules that leave something out, where an answer has nothing that they could be kept to in.

use super::Compiled;
use crate::mapping::Format;
use serde_json::Value;

impl Compiled {
    /// The rule that an answer without JSON can't be shown by: one that leaves members out, which can't be told in other
    /// formats. With `declared`, the answer claims to be JSON; then what composes a text of its members can't be kept to either.
    pub(in crate::content) fn needs_json(&self, declared: bool) -> Option<&'static str> {
        let rules = [
            ("redact", self.redact.is_some()),
            ("drop", self.drop.is_some()),
            ("pick", self.pick.is_some()),
            ("path", self.path.is_some()),
            ("select", self.select.is_some()),
            ("template", declared && self.template.is_some()),
            ("blocks", declared && !self.blocks.is_empty()),
        ];
        rules.into_iter().find(|(_, given)| *given).map(|(rule, _)| rule)
    }

    /// Leaves out an item of a sequence that is a text: `redact` and `drop` can't be kept to in it.
    pub fn withhold_text(&self, item: &mut Value) {
        if item.is_string()
            && let Some(rule @ ("redact" | "drop")) = self.needs_json(false)
        {
            *item = Value::String(format!("(a text was left out: `{rule}` needs JSON)"));
        }
    }

    /// True if several blocks are composed.
    pub(in crate::content) fn has_blocks(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// The media type of a text that these rules make.
    pub(in crate::content) fn text_type(&self) -> &'static str {
        match self.format {
            Some(Format::Csv) => "text/csv",
            Some(Format::Markdown) => "text/markdown",
            _ => "text/plain",
        }
    }

    /// True if values are to be hidden.
    pub(in crate::content) fn redacts(&self) -> bool {
        self.redact.is_some()
    }

    /// Hides what `redact` names in an error body.
    pub(in crate::content) fn redact(&self, value: &mut Value) {
        if let Some(tree) = &self.redact {
            tree.redact(value);
        }
    }

    /// Leaves out what `drop` names.
    pub(in crate::content) fn drop(&self, value: &mut Value) {
        if let Some(tree) = &self.drop {
            tree.remove(value);
        }
    }
}
