//! A value of a document together with where it stands.

use crate::document::pointer::escape;
use serde_json::Value;

/// A value in one of the documents of a set.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    /// Index of the document.
    pub document: usize,
    /// JSON pointer in it.
    pub pointer: String,
    /// The value there.
    pub value: &'a Value,
}

/// Appends one reference token to a JSON pointer (RFC 6901 §3).
pub(super) fn push_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    pointer.push_str(&escape(token));
}

impl<'a> Node<'a> {
    fn at(&self, token: &str, value: &'a Value) -> Node<'a> {
        let mut pointer = String::with_capacity(self.pointer.len() + token.len() + 1);
        pointer.push_str(&self.pointer);
        push_token(&mut pointer, token);
        Node { document: self.document, pointer, value }
    }

    /// The member `key`; null counts as absent (YAML authors leave keys empty).
    pub fn child(&self, key: &str) -> Option<Node<'a>> {
        self.value.get(key).filter(|it| !it.is_null()).map(|value| self.at(key, value))
    }

    /// The member `key`, or this node itself where there is none: for diagnostics.
    pub fn child_or_self(&self, key: &str) -> Node<'a> {
        self.child(key).unwrap_or_else(|| self.clone())
    }

    /// The items of a list; nothing for other values.
    pub fn items(&self) -> Vec<Node<'a>> {
        let items = self.value.as_array().map(Vec::as_slice).unwrap_or_default();
        items.iter().enumerate().map(|(index, value)| self.at(&index.to_string(), value)).collect()
    }

    /// The members of an object; nothing for other values.
    pub fn members(&self) -> Vec<(&'a str, Node<'a>)> {
        let members = self.value.as_object().into_iter().flatten();
        members.map(|(key, value)| (key.as_str(), self.at(key, value))).collect()
    }

    /// The text of member `key`.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.value.get(key).and_then(Value::as_str)
    }

    /// True if member `key` is true, or the text `true`.
    pub fn flag(&self, key: &str) -> bool {
        match self.value.get(key) {
            Some(Value::Bool(flag)) => *flag,
            Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
            _ => false,
        }
    }

    /// The `x-…` members.
    pub fn extensions(&self) -> serde_json::Map<String, Value> {
        let members = self.value.as_object().into_iter().flatten();
        members.filter(|(key, _)| key.starts_with("x-")).map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// The `$ref` of a Reference Object.
    pub fn reference(&self) -> Option<&'a str> {
        self.text("$ref")
    }
}
