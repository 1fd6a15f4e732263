//! JSON Schema 2020-12 as this product holds it: raw JSON, references only to a shared table of
//! definitions, bundled under `$defs` when a schema leaves the core.
//!
//! `openapi/dialect` is the only place that makes [`Schema`]s out of OpenAPI Schema Objects. Every
//! `$ref` inside [`Schema::json`] and [`Definition::schema`] has the form `#/$defs/NAME`, where NAME is
//! a [`Definition::name`] of the same [`Definitions`].

pub mod bundle;
pub mod check;
pub mod kept;
pub mod keyword;
pub mod kinds;
pub mod output;
pub mod profile;
pub mod view;
pub mod walk;

use crate::pace;
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// Index of a [`Definition`] in its [`Definitions`].
pub type DefinitionId = usize;

/// One schema in dialect 2020-12, not yet self-contained.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// The schema (an object or a boolean).
    pub json: Arc<Value>,
    /// The definitions that `json` refers to directly, without duplicates, in order of appearance.
    pub uses: Arc<[DefinitionId]>,
}

/// A named schema that others refer to.
#[derive(Debug)]
pub struct Definition {
    /// Unique in its table, matches `[A-Za-z0-9._-]+`.
    pub name: String,
    /// The schema with `readOnly`/`writeOnly` marks as the author wrote them.
    pub schema: Schema,
    /// [`Definition::schema`] without what only answers carry; made on first use.
    pub for_input: OnceLock<Schema>,
    /// [`Definition::schema`] without what only requests carry; made on first use.
    pub for_output: OnceLock<Schema>,
}

impl Schema {
    /// The schema `true`: every value.
    pub fn any() -> Schema {
        Schema { json: Arc::new(Value::Bool(true)), uses: Arc::from([]) }
    }
}

impl Definition {
    /// A definition whose directed forms are not made yet.
    pub fn new(name: String, schema: Schema) -> Definition {
        Definition { name, schema, for_input: OnceLock::new(), for_output: OnceLock::new() }
    }
}

/// All named schemas of one source, shared by its operations.
#[derive(Debug, Default)]
pub struct Definitions {
    /// In order of first use.
    pub list: Vec<Definition>,
}

/// Which way a value travels: decides between `readOnly` and `writeOnly`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Arguments and request bodies: `readOnly` properties are dropped.
    Input,
    /// Answers: `writeOnly` properties are dropped.
    Output,
}

/// As operations are.
impl Drop for Definition {
    fn drop(&mut self) {
        pace::breathe();
    }
}
