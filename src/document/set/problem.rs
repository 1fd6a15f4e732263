//! Why a reference leads nowhere.

use super::super::{location, pointer};
use crate::diagnostic::{Diagnostic, Severity, hint};
use serde_json::Value;
use std::fmt;

/// Why a reference leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefError {
    /// The value of `$ref` is no string.
    NotAString,
    /// The reference is no URI reference.
    Malformed {
        /// As written, without credentials.
        reference: String,
        /// Why, a clause.
        reason: String,
    },
    /// It names a file or URL that is not in the set.
    NotLoaded {
        /// As written, without credentials.
        reference: String,
        /// Why it was not loaded, a clause, where that is known.
        reason: Option<String>,
    },
    /// The document has no node there.
    NoNode {
        /// As written, without credentials.
        reference: String,
        /// JSON pointer of the deepest node on the way that exists.
        deepest: String,
        /// The name that is not there.
        missing: String,
        /// The nearest name that is there.
        hint: Option<String>,
    },
    /// The document has no such `$anchor`.
    NoAnchor {
        /// As written, without credentials.
        reference: String,
        /// The nearest anchor that is there.
        hint: Option<String>,
    },
}

impl RefError {
    pub(super) fn malformed(reference: &str, reason: &str) -> Self {
        RefError::Malformed { reference: location::shown(reference), reason: reason.to_owned() }
    }

    pub(super) fn no_node(root: &Value, reference: &str, wanted: &str) -> Self {
        let mut deepest = String::new();
        let mut node = root;
        let mut missing = String::new();
        for token in pointer::parse(wanted).unwrap_or_default() {
            match pointer::child(node, &token) {
                Some(child) => {
                    node = child;
                    deepest = pointer::join(&deepest, &token);
                }
                None => {
                    missing = token.into_owned();
                    break;
                }
            }
        }
        let names = node.as_object().into_iter().flat_map(|map| map.keys().map(String::as_str));
        let hint = hint::nearest(&missing, names).map(str::to_owned);
        RefError::NoNode { reference: location::shown(reference), deepest, missing, hint }
    }

    pub(super) fn no_anchor<'a>(anchors: impl Iterator<Item = &'a str>, reference: &str, wanted: &str) -> Self {
        let hint = hint::nearest(wanted, anchors).map(str::to_owned);
        RefError::NoAnchor { reference: location::shown(reference), hint }
    }

    /// The way out, where one can be guessed.
    pub fn fix(&self) -> Option<String> {
        match self {
            RefError::NotAString => Some("write a URI reference such as '#/components/schemas/Pet'".to_owned()),
            RefError::NoNode { hint: Some(hint), .. } | RefError::NoAnchor { hint: Some(hint), .. } => {
                Some(format!("did you mean `{hint}`?"))
            }
            _ => None,
        }
    }

    /// The problem, with code `unresolved-ref`, its fix and no place.
    pub fn diagnostic(&self, severity: Severity) -> Diagnostic {
        Diagnostic::new(severity, "unresolved-ref", self.to_string()).maybe_fix(self.fix())
    }
}

impl fmt::Display for RefError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RefError::NotAString => write!(f, "the value of `$ref` is not a string"),
            RefError::Malformed { reference, reason } => write!(f, "`{reference}` can't be followed: {reason}"),
            RefError::NotLoaded { reference, reason: Some(reason) } => {
                write!(f, "`{reference}` was not loaded: {reason}")
            }
            RefError::NotLoaded { reference, reason: None } => write!(f, "`{reference}` was not loaded"),
            RefError::NoNode { reference, deepest, missing, .. } if deepest.is_empty() => {
                write!(f, "`{reference}` leads nowhere: the document has no `{missing}`")
            }
            RefError::NoNode { reference, deepest, missing, .. } => {
                write!(f, "`{reference}` leads nowhere: `{deepest}` has no `{missing}`")
            }
            RefError::NoAnchor { reference, .. } => {
                write!(f, "`{reference}` leads nowhere: no schema has this `$anchor`")
            }
        }
    }
}

impl std::error::Error for RefError {}
