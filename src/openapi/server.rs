//! Servers: relative URLs made absolute, variables collected.

use super::finding::Finding;
use super::node::Node;
use super::read::Reader;
use super::text::{clean, scalar};
use super::{Server, ServerVariable};
use indexmap::IndexMap;
use serde_json::{Map, Value};

impl<'a> Reader<'a> {
    /// The `servers` list of the document, a path item or an operation; `None` where there is none.
    pub(super) fn servers(&mut self, owner: &Node<'a>) -> Option<Vec<Server>> {
        let list = owner.child("servers")?;
        let servers: Vec<Server> = list.items().into_iter().filter_map(|it| self.server(&it)).collect();
        (!servers.is_empty()).then_some(servers)
    }

    fn server(&mut self, node: &Node<'a>) -> Option<Server> {
        let typed: openapiv3::Server = match serde_path_to_error::deserialize(plain_server(node.value)) {
            Ok(typed) => typed,
            Err(problem) => {
                let what = format!("the server can't be used: {}", problem.into_inner());
                self.findings.add(Finding::warning("invalid-server", node, what));
                return None;
            }
        };
        let mut variables: IndexMap<String, ServerVariable> = IndexMap::new();
        for (name, variable) in typed.variables.unwrap_or_default() {
            let declared = node.value.get("variables").and_then(|it| it.get(&name)).and_then(|it| it.get("default"));
            let default = declared.filter(|it| !it.is_null()).map(|_| variable.default);
            if default.is_none() {
                let what = format!("server variable `{name}` has no default; a value must be configured");
                self.findings.add(Finding::warning("server-variable", node, what));
            }
            variables.insert(name, ServerVariable { default, allowed: variable.enumeration });
        }
        for name in variables_in(&typed.url) {
            if !variables.contains_key(name) {
                let what = format!("server variable `{name}` is not declared; a value must be configured");
                self.findings.add(Finding::warning("server-variable", node, what));
                variables.insert(name.to_owned(), ServerVariable { default: None, allowed: Vec::new() });
            }
        }
        Some(Server {
            url: resolve(self.base(node.document), &typed.url),
            description: typed.description.as_deref().map(clean),
            name: node.text("name").map(clean),
            variables,
        })
    }

    /// Where the document came from, if that is a URL: its `$self` (3.2), else its address.
    pub(super) fn base(&self, document: usize) -> Option<&'a str> {
        let document = self.set.documents.get(document)?;
        let own = document.root.get("$self").and_then(Value::as_str);
        [own, Some(document.location.as_str())].into_iter().flatten().find(|it| is_http(it))
    }

    /// The server of a document that names none: where it came from (3.2 §4.5: default `/`).
    pub(super) fn default_servers(&self) -> Vec<Server> {
        match self.base(0) {
            Some(base) => vec![bare_server(resolve(Some(base), "/"))],
            None => Vec::new(),
        }
    }
}

/// A server that is nothing but a URL.
pub(super) fn bare_server(url: String) -> Server {
    Server { url, description: None, name: None, variables: IndexMap::new() }
}

/// The Server Object with scalars as text and without what the typed form can't hold.
fn plain_server(value: &Value) -> Value {
    let Some(object) = value.as_object() else { return value.clone() };
    let mut out = Map::new();
    let url = object.get("url").and_then(scalar).unwrap_or_default();
    out.insert("url".to_owned(), Value::String(url.trim().to_owned()));
    if let Some(text) = object.get("description").and_then(scalar) {
        out.insert("description".to_owned(), Value::String(text));
    }
    let mut variables = Map::new();
    for (name, variable) in object.get("variables").and_then(Value::as_object).into_iter().flatten() {
        let default = variable.get("default").and_then(scalar).unwrap_or_default();
        let allowed = variable.get("enum").and_then(Value::as_array).into_iter().flatten();
        let allowed = allowed.filter_map(scalar).map(Value::String).collect::<Vec<_>>();
        let entry = [("default".to_owned(), Value::String(default)), ("enum".to_owned(), Value::Array(allowed))];
        variables.insert(name.clone(), Value::Object(entry.into_iter().collect()));
    }
    out.insert("variables".to_owned(), Value::Object(variables));
    Value::Object(out)
}

/// Names between braces.
pub(super) fn variables_in(url: &str) -> Vec<&str> {
    url.split('{').skip(1).filter_map(|it| it.split_once('}')).map(|(name, _)| name).collect()
}

pub(super) fn is_http(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

/// `url` (perhaps a template) against `base` (RFC 3986 §5.2, on text: braces must survive). Without
/// a base a relative URL stays as it is; an empty one is `/`.
pub(super) fn resolve(base: Option<&str>, url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or("");
    if url.starts_with('{') || has_scheme(url) {
        return url.to_owned();
    }
    let Some((scheme, rest)) = base.and_then(|it| it.split_once("://")) else {
        return if url.is_empty() { "/".to_owned() } else { url.to_owned() };
    };
    if url.starts_with("//") {
        return format!("{scheme}:{url}");
    }
    let rest = rest.split(['?', '#']).next().unwrap_or("");
    let (authority, path) = match rest.find('/') {
        Some(at) => (rest.get(..at).unwrap_or(rest), rest.get(at..).unwrap_or("/")),
        None => (rest, "/"),
    };
    // Credentials of the document's own address belong to the document.
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let merged = match url {
        "" => "/".to_owned(),
        absolute if absolute.starts_with('/') => absolute.to_owned(),
        relative => {
            let folder = path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or("/");
            format!("{folder}{relative}")
        }
    };
    format!("{scheme}://{authority}{}", without_dots(&merged))
}

fn has_scheme(url: &str) -> bool {
    let Some((scheme, _)) = url.split_once("://") else { return false };
    scheme.starts_with(|it: char| it.is_ascii_alphabetic() || it == '{') && !scheme.contains('/')
}

/// RFC 3986 §5.2.4.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            other => kept.push(other),
        }
    }
    format!("/{}", kept.join("/"))
}
