//! Values that the mapping gives, seen against what the document says of their argument.

use super::argument::{Arguments, Property};
use super::operation::Making;
use super::{Compiler, problem};
use crate::diagnostic::Severity;
use crate::mapping::ArgumentEdits;
use crate::schema::Direction;
use crate::schema::check::Checker;
use serde_json::Value;

impl Compiler<'_> {
    /// Warns where `default` or a literal `value` does not fit: the author may know better than the document, but
    /// mostly it is a slip. Texts with `${…}` are left alone, and so is a text for anything that is written as text.
    pub(super) fn given_fits(
        &mut self,
        making: &Making<'_>,
        arguments: &Arguments,
        property: &Property,
        key: &str,
        edits: &ArgumentEdits,
    ) {
        for (what, value) in [("value", &edits.value), ("default", &edits.default)] {
            let Some(value) = value else { continue };
            // A text may be a number for the API; one with `${…}` is not known yet.
            let open = value.as_str().is_some_and(|text| text.contains("${") || what == "value");
            if open || value.is_null() {
                continue;
            }
            let mut schema = match &property.replaced {
                Some(replaced) => replaced.clone(),
                None => arguments.definitions.bundle(&property.schema, Direction::Input),
            };
            if let Value::Object(members) = &mut schema {
                members.extend(edits.schema.iter().map(|(keyword, value)| (keyword.clone(), value.clone())));
            }
            let checker = Checker::new(schema);
            if checker.compile().is_err() {
                continue;
            }
            let found = checker.check(value);
            let Some(first) = found.first() else { continue };
            let at = if first.argument.is_empty() { String::new() } else { format!(" at `{}`", first.argument) };
            let place = making.place(&format!("args/{}/{what}", super::token(key)));
            let message = format!("tool `{}`: `{what}` of `{key}` does not fit{at}: {}", making.name, first.message);
            let mut warning = problem("type-mismatch", message, place)
                .fix("change it, or say under the same key what the argument really takes".to_string());
            warning.severity = Severity::Warning;
            self.report.push(warning);
        }
    }
}
