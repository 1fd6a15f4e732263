//! Exactly one alternative of a `oneOf` that formats decide.
//!
//! A value may keep to the format of no alternative (real APIs do not), or to that of one. What fits several alternatives
//! and the formats of each of them is what `oneOf` forbids (Core §10.2.1.3). Alternatives that are the same but for
//! formats and annotations count as one: no value could be told to belong to only one of them.

use super::undecided::MARK;
use jsonschema::{Draft, Keyword, Registry, ValidationError, ValidationOptions, Validator};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock, OnceLock};

/// Where the whole schema lies for the schemas of single alternatives; nothing is ever fetched.
const ROOT: &str = "rest-mcp:/schema";

/// What is escaped in a pointer that is a fragment: more than RFC 6901 §6 wants, but for what divides it.
const FRAGMENT: AsciiSet = NON_ALPHANUMERIC.remove(b'/');

/// True if values can be held against a format of this name; all others only annotate.
pub(super) fn is_asserted(format: &str) -> bool {
    static OPTIONS: LazyLock<ValidationOptions<'static>> = LazyLock::new(jsonschema::options);
    OPTIONS.is_known_format(Draft::Draft202012, format)
}

/// Options that know the mark. `root` is the schema as it was before it was marked.
pub(super) fn marked<'o>(options: ValidationOptions<'o>, root: &Value) -> ValidationOptions<'o> {
    let root = Arc::new(root.clone());
    options.with_keyword(MARK, move |_, mark, _| {
        let at = mark.get("at").and_then(Value::as_str).unwrap_or_default().to_string();
        let kinds = mark.get("kinds").and_then(Value::as_array).into_iter().flatten();
        let kinds = kinds.filter_map(Value::as_u64).collect();
        Ok(Box::new(Distinct { root: Arc::clone(&root), at, kinds, compiled: OnceLock::new() }))
    })
}

struct Distinct {
    root: Arc<Value>,
    at: String,
    kinds: Vec<u64>,
    /// Built when the first value comes. `None` for what does not compile.
    compiled: OnceLock<Vec<Option<Validator>>>,
}

impl Distinct {
    fn compiled(&self) -> &[Option<Validator>] {
        self.compiled.get_or_init(|| {
            let registry = Registry::new().draft(Draft::Draft202012).add(ROOT, &*self.root).and_then(|it| it.prepare());
            let Ok(registry) = registry else { return self.kinds.iter().map(|_| None).collect() };
            let options = super::options().should_validate_formats(true).with_registry(&registry);
            let fragment = utf8_percent_encode(&self.at, &FRAGMENT);
            let one = |index: usize| json!({ "$ref": format!("{ROOT}#{fragment}/{index}") });
            (0..self.kinds.len()).map(|index| options.build(&one(index)).ok()).collect()
        })
    }

    /// Two alternatives that differ and that the value fits with its formats, counted from one.
    fn several(&self, value: &Value) -> Option<(usize, usize)> {
        let mut first: Option<(usize, u64)> = None;
        for (index, (validator, kind)) in self.compiled().iter().zip(&self.kinds).enumerate() {
            if first.is_some_and(|(_, before)| before == *kind) {
                continue;
            }
            // What can't be asked is not taken for a way through.
            if !validator.as_ref().is_none_or(|validator| validator.is_valid(value)) {
                continue;
            }
            match first {
                Some((before, _)) => return Some((before + 1, index + 1)),
                None => first = Some((index, *kind)),
            }
        }
        None
    }
}

impl<'i> Keyword<'i> for Distinct {
    fn validate(&self, value: &'i Value) -> Result<(), ValidationError<'i>> {
        match self.several(value) {
            Some((one, other)) => Err(ValidationError::custom(super::explain::fits_several(
                &[one.to_string(), other.to_string()],
                self.kinds.len(),
            ))),
            None => Ok(()),
        }
    }

    fn is_valid(&self, value: &'i Value) -> bool {
        self.several(value).is_none()
    }
}
