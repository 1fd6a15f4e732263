//! Schemas at rest. A tree of JSON values takes some twenty times the memory of its text, and a catalog of
//! a thousand tools is read once a tool if at all: so schemas are kept as text and read where they are needed.

use crate::pace;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;

/// Nesting that a reader of JSON text follows for sure; deeper schemas stay trees.
const DEEPEST: usize = 120;

/// Annotation of an argument that clients repeat in an HTTP header (MCP 2026-07-28).
pub const HEADER_MARK: &str = "x-mcp-header";

/// A schema that is kept. Cloning shares it.
#[derive(Debug, Clone)]
pub struct Kept(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    form: Form,
    object: bool,
    plain: bool,
}

#[derive(Debug)]
enum Form {
    Text(Box<str>),
    Tree(Value),
}

/// Catalogs are freed beside calls, tool by tool.
impl Drop for Inner {
    fn drop(&mut self) {
        pace::breathe();
    }
}

/// Compact JSON. (What `Display` writes, at half the cost.)
fn text(schema: &Value) -> String {
    serde_json::to_string(schema).unwrap_or_else(|_| schema.to_string())
}

/// Bytes of a schema as compact JSON.
pub(crate) fn size(schema: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting can't fail, nor can writing a tree of JSON values.
    let _ = serde_json::to_writer(&mut count, schema);
    count.0
}

impl Kept {
    /// Keeps a schema.
    pub fn new(schema: &Value) -> Kept {
        pace::breathe();
        let object = schema.get("type").and_then(Value::as_str) == Some("object");
        let mut properties = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::values);
        let plain = object
            && properties
                .all(|property| property.as_object().is_some_and(|members| !members.contains_key(HEADER_MARK)));
        let form = if is_shallow(schema, DEEPEST) {
            Form::Text(text(schema).into_boxed_str())
        } else {
            Form::Tree(schema.clone())
        };
        Kept(Arc::new(Inner { form, object, plain }))
    }

    /// The schema as a tree, read anew where it is kept as text.
    pub fn tree(&self) -> Cow<'_, Value> {
        match &self.0.form {
            // Text that was written from a tree of this depth can be read.
            Form::Text(text) => Cow::Owned(serde_json::from_str(text).unwrap_or_default()),
            Form::Tree(tree) => Cow::Borrowed(tree),
        }
    }

    /// The schema as compact JSON text.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.0.form {
            Form::Text(text) => Cow::Borrowed(text),
            Form::Tree(tree) => Cow::Owned(text(tree)),
        }
    }

    /// True if the root says `type: object` and nothing else.
    pub fn has_object_root(&self) -> bool {
        self.0.object
    }

    /// True if besides every property of the root is an object schema without [`HEADER_MARK`].
    pub fn is_plain(&self) -> bool {
        self.0.plain
    }

    /// True if both are one schema in memory: clones of what was kept once.
    pub fn is_same(&self, other: &Kept) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The names of the root's `properties`, in order.
    pub fn property_names(&self) -> Vec<String> {
        let tree = self.tree();
        let properties = tree.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(|properties| properties.keys().cloned()).collect()
    }
}

fn is_shallow(value: &Value, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    match value {
        Value::Array(items) => items.iter().all(|item| is_shallow(item, left)),
        Value::Object(members) => members.values().all(|member| is_shallow(member, left)),
        _ => true,
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Kept) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.text() == other.text()
    }
}

impl From<Value> for Kept {
    fn from(schema: Value) -> Kept {
        Kept::new(&schema)
    }
}

impl From<&Value> for Kept {
    fn from(schema: &Value) -> Kept {
        Kept::new(schema)
    }
}

impl From<Arc<Value>> for Kept {
    fn from(schema: Arc<Value>) -> Kept {
        Kept::new(&schema)
    }
}
