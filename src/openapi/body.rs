//! Request bodies, responses and the media types in them.

use super::finding::Finding;
use super::node::Node;
use super::parameter::style_named;
use super::prose::prose;
use super::read::Reader;
use super::text::scalar;
use super::{Encoding, FURTHER, MediaType, RequestBody, Response};
use crate::schema::Schema;
use indexmap::IndexMap;
use serde_json::Value;
use std::sync::Arc;

impl<'a> Reader<'a> {
    /// A Request Body Object. An error costs the operation: without its body it can't be called.
    pub(super) fn request_body(&mut self, node: Node<'a>) -> Result<Option<RequestBody>, Finding> {
        let followed = self.references.follow(node)?;
        let node = followed.node;
        if !node.value.is_object() {
            return Err(Finding::error("invalid-request-body", &node, "a request body must be an object"));
        }
        let content = self.contents_of(&node, true);
        let required = node.flag("required");
        if content.is_empty() {
            let what = "the request body has no `content`, so how to write it is unknown";
            if required {
                return Err(Finding::error("body-without-content", &node, what));
            }
            self.findings.add(Finding::warning("body-without-content", &node, format!("{what}; it is left out")));
            return Ok(None);
        }
        let description = followed.description.or_else(|| node.text("description")).map(prose);
        Ok(Some(RequestBody { required, description, content }))
    }

    /// The entries of the `content` of a request body or response, read once.
    fn contents_of(&mut self, node: &Node<'a>, examples: bool) -> Vec<MediaType> {
        let key = (node.document, node.pointer.clone(), examples);
        if let Some(known) = self.contents.get(&key) {
            return known.clone();
        }
        let read = node.child("content").map(|it| self.media_types(&it, examples)).unwrap_or_default();
        self.contents.insert(key, read.clone());
        read
    }

    /// The entries of a `content` map.
    pub(super) fn media_types(&mut self, content: &Node<'a>, examples: bool) -> Vec<MediaType> {
        let mut found = Vec::new();
        let Ok(content) = self.references.follow(content.clone()) else { return found };
        for (media_type, node) in content.node.members() {
            if media_type.starts_with("x-") && !media_type.contains('/') {
                continue;
            }
            match self.references.follow(node) {
                Ok(followed) => found.push(self.media_type(media_type.trim(), &followed.node, examples)),
                Err(problem) => {
                    self.findings.add(Finding { severity: crate::diagnostic::Severity::Warning, ..problem })
                }
            }
        }
        found
    }

    fn media_type(&mut self, media_type: &str, node: &Node<'a>, examples: bool) -> MediaType {
        let schema = node.child("schema");
        let named = node.child("encoding");
        let multipart = media_type.get(..10).is_some_and(|group| group.eq_ignore_ascii_case("multipart/"));
        for positional in ["prefixEncoding", "itemEncoding"] {
            if let Some(at) = node.child(positional).filter(|_| !multipart || named.is_some()) {
                let what = format!("`{positional}` is for multipart without `encoding`; it is left out");
                self.findings.add(Finding::warning("unsupported-encoding", &at, what));
            }
        }
        let encoding = match named {
            Some(named) => self.encodings(&named),
            None if multipart => self.encodings_by_position(node),
            None => IndexMap::new(),
        };
        MediaType {
            media_type: media_type.to_owned(),
            has_schema: schema.is_some(),
            schema: schema.map(|it| self.schema(&it)).unwrap_or_else(Schema::any),
            item_schema: node.child("itemSchema").map(|it| self.schema(&it)),
            examples: Arc::new(if examples { self.examples_of(node) } else { Vec::new() }),
            encoding,
        }
    }

    fn encodings(&mut self, node: &Node<'a>) -> IndexMap<String, Encoding> {
        let mut found = IndexMap::new();
        for (property, entry) in node.members() {
            if entry.value.is_object() {
                found.insert(property.to_owned(), self.encoding(&entry));
            }
        }
        found
    }

    /// OpenAPI 3.2, "Encoding By Position".
    fn encodings_by_position(&mut self, node: &Node<'a>) -> IndexMap<String, Encoding> {
        let mut found = IndexMap::new();
        for (position, entry) in
            node.child("prefixEncoding").map(|it| it.items()).unwrap_or_default().iter().enumerate()
        {
            found.insert(position.to_string(), self.encoding(entry));
        }
        if let Some(further) = node.child("itemEncoding") {
            found.insert(FURTHER.to_owned(), self.encoding(&further));
        }
        found
    }

    fn encoding(&mut self, node: &Node<'a>) -> Encoding {
        for nested in ["encoding", "prefixEncoding", "itemEncoding"] {
            if let Some(at) = node.child(nested) {
                let what = format!("`{nested}` of a part that has parts itself is not supported; it is left out");
                self.findings.add(Finding::warning("unsupported-encoding", &at, what));
            }
        }
        let style = node.text("style").and_then(style_named);
        if let (Some(text), None) = (node.text("style"), style) {
            let what = format!("encoding style `{text}` is unknown; `form` is used");
            self.findings.add(Finding::warning("unknown-style", node, what));
        }
        let mut headers = IndexMap::new();
        for (name, header) in node.child("headers").map(|it| it.members()).unwrap_or_default() {
            if name.eq_ignore_ascii_case("content-type") {
                continue;
            }
            let Ok(followed) = self.references.follow(header) else { continue };
            match fixed_value(&followed.node) {
                Some(value) => {
                    headers.insert(name.to_owned(), value);
                }
                None => {
                    let what = format!(
                        "part header `{name}` has no fixed value (`const`, `default` or `example`); it is not sent"
                    );
                    self.findings.add(Finding::note("part-header", &followed.node, what));
                }
            }
        }
        Encoding {
            content_type: node.text("contentType").map(str::to_owned),
            headers,
            style,
            explode: node.value.get("explode").and_then(Value::as_bool),
            allow_reserved: node.flag("allowReserved"),
            inner: Vec::new(),
        }
    }

    /// A Responses Object.
    pub(super) fn responses(&mut self, node: Node<'a>) -> Vec<Response> {
        let mut found = Vec::new();
        let responses = match self.references.follow(node) {
            Ok(followed) => followed.node,
            Err(problem) => {
                self.findings.add(Finding { severity: crate::diagnostic::Severity::Warning, ..problem });
                return found;
            }
        };
        for (status, entry) in responses.members() {
            if status.starts_with("x-") || entry.value.is_null() {
                continue;
            }
            let Some(code) = status_of(status) else {
                let what = format!("`{status}` is no response status; the response is left out");
                self.findings.add(Finding::warning("invalid-status", &entry, what));
                continue;
            };
            match self.references.follow(entry) {
                Ok(followed) => {
                    let mut response = self.response(&followed.node);
                    response.status = code;
                    if let Some(text) = followed.description {
                        response.description = Some(prose(text));
                    }
                    found.push(response);
                }
                Err(problem) => {
                    self.findings.add(Finding { severity: crate::diagnostic::Severity::Warning, ..problem });
                }
            }
        }
        found
    }

    fn response(&mut self, node: &Node<'a>) -> Response {
        let content =
            if self.is_swagger2() { self.produced(node) } else { self.contents_of(node, self.options.answer_examples) };
        let headers = node.child("headers").map(|it| it.members()).unwrap_or_default();
        Response {
            status: String::new(),
            description: node.text("description").map(prose),
            content,
            headers: headers.into_iter().map(|(name, _)| name.to_owned()).collect(),
        }
    }
}

/// A status code, range or `default`, in the spelling of the specification.
fn status_of(text: &str) -> Option<String> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("default") {
        return Some("default".to_owned());
    }
    let bytes = text.as_bytes();
    let (first, rest) = bytes.split_first()?;
    let code = bytes.len() == 3 && (b'1'..=b'5').contains(first);
    let digits = rest.iter().all(u8::is_ascii_digit);
    let range = rest.iter().all(|it| it.eq_ignore_ascii_case(&b'x'));
    (code && (digits || range)).then(|| text.to_ascii_uppercase())
}

/// The one value that a header of a part can have.
fn fixed_value(header: &Node<'_>) -> Option<String> {
    let schema = header.value.get("schema").unwrap_or(&Value::Null);
    let only = schema.get("enum").and_then(Value::as_array).and_then(|it| match it.as_slice() {
        [only] => Some(only),
        _ => None,
    });
    let candidates =
        [schema.get("const"), only, schema.get("default"), header.value.get("example"), schema.get("example")];
    candidates.into_iter().flatten().find_map(scalar)
}
