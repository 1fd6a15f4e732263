//! Validation errors turned into problems for a model.

use super::near::{did_you_mean, nearest};
use super::path::{Step, cut, legal, legal_list, quoted, shown, type_name};
use super::{Found, MOST_PROBLEMS};
use crate::schema::walk;
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::{Location, LocationSegment};
use serde_json::Value;

/// Alternatives nested deeper than this are not taken apart any more.
const DEEPEST: usize = 8;

/// Turns errors into problems: at most [`MOST_PROBLEMS`] and one that counts the rest.
pub fn explain<'i>(schema: &Value, errors: impl Iterator<Item = ValidationError<'i>>) -> Vec<Found> {
    let mut teller = Teller { schema, found: Vec::new(), left_out: 0 };
    for error in errors {
        teller.tell(&error, 0);
    }
    let Teller { mut found, left_out, .. } = teller;
    if left_out > 0 {
        let message = format!("and {left_out} more problem{}", if left_out == 1 { "" } else { "s" });
        found.push(Found { path: Vec::new(), message, hint: None, unknown: false });
    }
    found
}

struct Teller<'s> {
    schema: &'s Value,
    found: Vec<Found>,
    left_out: usize,
}

impl Teller<'_> {
    fn push(&mut self, path: Vec<Step>, message: String, hint: Option<String>, unknown: bool) {
        if self.found.iter().any(|found| found.path == path && found.message == message) {
            return;
        }
        if self.found.len() >= MOST_PROBLEMS {
            self.left_out += 1;
        } else {
            self.found.push(Found { path, message, hint, unknown });
        }
    }

    fn say(&mut self, error: &ValidationError<'_>, message: String) {
        self.push(steps(error.instance_path()), message, None, false);
    }

    fn tell(&mut self, error: &ValidationError<'_>, depth: usize) {
        let value = error.instance();
        match error.kind() {
            Kind::Type { kind } => self.say(error, expected(&type_names(kind), value)),
            Kind::Enum { options } => self.choice(error, options.as_array().map(Vec::as_slice).unwrap_or_default()),
            Kind::Constant { expected_value } => {
                self.say(error, format!("must be {}, got {}", legal(expected_value), shown(value)));
            }
            Kind::Required { property } => self.required(error, property),
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                self.unexpected(error, unexpected);
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => self.alternatives(error, context, depth),
            Kind::OneOfMultipleValid { context } => {
                let fitting: Vec<String> = (1usize..)
                    .zip(context)
                    .filter(|(_, errors)| errors.is_empty())
                    .map(|(number, _)| number.to_string())
                    .collect();
                self.say(error, fits_several(&fitting, context.len()));
            }
            Kind::PropertyNames { error: inner } => {
                let reason = reason(inner);
                self.say(error, format!("has a member whose name is not allowed: {reason}"));
            }
            _ => self.say(error, reason(error)),
        }
    }

    fn choice(&mut self, error: &ValidationError<'_>, options: &[Value]) {
        let value = error.instance();
        let message = format!("must be one of {}, got {}", legal_list(options.iter()), shown(value));
        let hint = value
            .as_str()
            .and_then(|given| nearest(given, options.iter().filter_map(Value::as_str)))
            .map(|name| format!("did you mean {}?", quoted(name)));
        self.push(steps(error.instance_path()), message, hint, false);
    }

    fn required(&mut self, error: &ValidationError<'_>, property: &Value) {
        let Some(name) = property.as_str() else { return self.say(error, reason(error)) };
        let mut path = steps(error.instance_path());
        path.push(Step::Name(name.to_string()));
        let declared = parent(self.schema, error.schema_path(), "required")
            .and_then(|schema| schema.get("properties"))
            .and_then(|properties| properties.get(name));
        let message = match declared.and_then(|schema| wanted(self.schema, schema)) {
            Some(wanted) => format!("is required but missing; expected {wanted}"),
            None => "is required but missing".to_string(),
        };
        self.push(path, message, None, false);
    }

    fn unexpected(&mut self, error: &ValidationError<'_>, unexpected: &[String]) {
        let keyword = error.kind().keyword();
        let mut legal_names = Vec::new();
        if let Some(schema) = parent(self.schema, error.schema_path(), keyword) {
            property_names(self.schema, schema, &mut 200, &mut legal_names);
        }
        let given = error.instance();
        for name in unexpected {
            let mut path = steps(error.instance_path());
            let at_root = path.is_empty();
            path.push(Step::Name(name.clone()));
            // A name that is already given is not what was meant.
            let near = nearest(name, legal_names.iter().copied().filter(|legal| given.get(*legal).is_none()));
            let message = match near {
                None if !at_root && !legal_names.is_empty() => {
                    format!("is not known here; known: {}", listed(&legal_names))
                }
                None if !at_root => "is not known here; no member is".to_string(),
                _ => "is not known".to_string(),
            };
            self.push(path, message, near.map(did_you_mean), true);
        }
    }

    /// Tells why the nearest alternative does not fit.
    fn alternatives(&mut self, error: &ValidationError<'_>, context: &[Vec<ValidationError<'static>>], depth: usize) {
        let here = error.instance_path();
        let value = error.instance();
        if depth >= DEEPEST || context.is_empty() {
            return self.say(error, format!("fits none of {} alternatives", context.len()));
        }
        let kind_fits: Vec<&Vec<ValidationError<'static>>> =
            context.iter().filter(|branch| !branch.iter().any(|e| is_wrong_kind(e, here))).collect();
        if kind_fits.is_empty() {
            let mut names = Vec::new();
            for wrong in context.iter().flatten() {
                if let (Kind::Type { kind }, true) = (wrong.kind(), same_place(wrong, here)) {
                    for name in type_names(kind) {
                        if !names.contains(&name) {
                            names.push(name);
                        }
                    }
                }
            }
            let message = match names.is_empty() {
                true => format!("fits none of {} alternatives, got {}", context.len(), shown(value)),
                false => expected(&names, value),
            };
            return self.say(error, message);
        }
        let tag_fits: Vec<_> = kind_fits.iter().copied().filter(|branch| wrong_tag(branch, here).is_none()).collect();
        if tag_fits.is_empty() {
            // Every alternative names other values in one and the same place: a union of enums or a discriminator.
            let tags: Vec<_> = kind_fits.iter().filter_map(|branch| wrong_tag(branch, here)).collect();
            if let Some(first) = tags.first()
                && tags.iter().all(|tag| tag.instance_path().as_str() == first.instance_path().as_str())
            {
                let options: Vec<Value> = tags.iter().flat_map(|tag| allowed(tag)).collect();
                return self.choice(first, &options);
            }
        }
        let candidates = if tag_fits.is_empty() { kind_fits } else { tag_fits };
        let several = candidates.len() > 1;
        let Some(best) = candidates.into_iter().min_by_key(|branch| branch.iter().map(weight).sum::<usize>()) else {
            return;
        };
        let before = self.found.len();
        for inner in best {
            self.tell(inner, depth + 1);
        }
        if several && let Some(first) = self.found.get_mut(before) {
            first.message.push_str(&format!(" (nearest of {} alternatives)", context.len()));
        }
    }
}

/// What is wrong with a value that fits several alternatives of a `oneOf`.
pub(super) fn fits_several(fitting: &[String], all: usize) -> String {
    format!(
        "fits alternatives {} at once, but must fit exactly one of {all}; leave out what belongs to the others",
        fitting.join(" and ")
    )
}

fn same_place(error: &ValidationError<'_>, here: &Location) -> bool {
    error.instance_path().as_str() == here.as_str()
}

fn is_wrong_kind(error: &ValidationError<'_>, here: &Location) -> bool {
    same_place(error, here) && matches!(error.kind(), Kind::Type { .. } | Kind::FalseSchema)
}

/// The error that says that a constant or enum right here, or one member down, has another value.
fn wrong_tag<'e>(branch: &'e [ValidationError<'static>], here: &Location) -> Option<&'e ValidationError<'static>> {
    branch.iter().find(|error| {
        let place = error.instance_path().as_str();
        let below = place.strip_prefix(here.as_str());
        matches!(error.kind(), Kind::Constant { .. } | Kind::Enum { .. })
            && below.is_some_and(|rest| rest.matches('/').count() <= 1)
    })
}

fn allowed(error: &ValidationError<'_>) -> Vec<Value> {
    match error.kind() {
        Kind::Constant { expected_value } => vec![expected_value.as_ref().clone()],
        Kind::Enum { options } => options.as_array().cloned().unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn weight(error: &ValidationError<'static>) -> usize {
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => unexpected.len(),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            context.iter().map(Vec::len).min().unwrap_or(1).max(1)
        }
        _ => 1,
    }
}

fn type_names(kind: &TypeKind) -> Vec<&'static str> {
    match kind {
        TypeKind::Single(one) => vec![one.as_str()],
        TypeKind::Multiple(several) => several.iter().map(|one| one.as_str()).collect(),
    }
}

fn expected(names: &[&str], value: &Value) -> String {
    let got = match value {
        Value::Object(_) | Value::Array(_) | Value::Null => shown(value),
        scalar => format!("{} {}", type_name(scalar), shown(scalar)),
    };
    format!("expected {}, got {got}", names.join(" or "))
}

/// What a schema asks for, in a few words.
fn wanted(root: &Value, schema: &Value) -> Option<String> {
    let mut schema = schema;
    for _ in 0..DEEPEST {
        match schema.get("$ref").and_then(Value::as_str) {
            Some(reference) => schema = walk::target(root, reference)?,
            None => break,
        }
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Some(format!("one of {}", legal_list(values.iter())));
    }
    if let Some(value) = schema.get("const") {
        return Some(legal(value));
    }
    match schema.get("type")? {
        Value::String(name) => Some(name.clone()),
        Value::Array(names) => Some(names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")),
        _ => None,
    }
}

/// The remaining keywords: what is wrong, without the whole value.
fn reason(error: &ValidationError<'_>) -> String {
    let value = error.instance();
    let got = || shown(value);
    let length = || value.as_str().map_or(0, |text| text.chars().count());
    let size = || value.as_array().map(Vec::len).or_else(|| value.as_object().map(serde_json::Map::len)).unwrap_or(0);
    match error.kind() {
        Kind::Minimum { limit } => format!("must be at least {limit}, got {}", got()),
        Kind::Maximum { limit } => format!("must be at most {limit}, got {}", got()),
        Kind::ExclusiveMinimum { limit } => format!("must be greater than {limit}, got {}", got()),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}, got {}", got()),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}, got {}", got()),
        Kind::MinLength { limit } => format!("must have at least {limit} characters, has {}", length()),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters, has {}", length()),
        Kind::Pattern { pattern } => format!("must match the pattern `{}`, got {}", cut(pattern, 160), got()),
        Kind::MinItems { limit } => format!("must have at least {limit} items, has {}", size()),
        Kind::MaxItems { limit } => format!("must have at most {limit} items, has {}", size()),
        Kind::AdditionalItems { limit } => format!("must have at most {limit} items, has {}", size()),
        Kind::UnevaluatedItems { .. } => "has more items than are known".to_string(),
        Kind::UniqueItems => "must not hold the same item twice".to_string(),
        Kind::Contains => "holds no item of the kind it must hold".to_string(),
        Kind::MinProperties { limit } => format!("must have at least {limit} members, has {}", size()),
        Kind::MaxProperties { limit } => format!("must have at most {limit} members, has {}", size()),
        Kind::FalseSchema => "must not be given".to_string(),
        Kind::Not { schema } => format!("must not satisfy {}", cut(&schema.to_string(), 160)),
        Kind::Type { kind } => expected(&type_names(kind), value),
        Kind::Enum { options } => {
            let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
            format!("must be one of {}, got {}", legal_list(options.iter()), got())
        }
        Kind::Constant { expected_value } => format!("must be {}, got {}", legal(expected_value), got()),
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            "could not be checked against its pattern: it takes too long".to_string()
        }
        Kind::Custom { message, .. } => message.clone(),
        other => format!("does not satisfy `{}`", other.keyword()),
    }
}

/// False for errors that no other value in the same place would mend: missing and unknown members.
pub(super) fn is_about_value(error: &ValidationError<'_>) -> bool {
    !matches!(
        error.kind(),
        Kind::Required { .. } | Kind::AdditionalProperties { .. } | Kind::UnevaluatedProperties { .. }
    )
}

pub(super) fn steps(location: &Location) -> Vec<Step> {
    location
        .segments()
        .map(|segment| match segment {
            LocationSegment::Property(name) => Step::Name(name.into_owned()),
            LocationSegment::Index(index) => Step::Index(index),
        })
        .collect()
}

/// The schema object in which `keyword`, the last step of `location`, stands.
fn parent<'s>(schema: &'s Value, location: &Location, keyword: &str) -> Option<&'s Value> {
    let (above, _) = location.as_str().rsplit_once(&format!("/{keyword}"))?;
    let decoded = percent_encoding::percent_decode_str(above).decode_utf8().ok()?;
    schema.pointer(above).or_else(|| schema.pointer(&decoded))
}

/// Every property that a schema knows, through references and combinators; looks at `fuel` schemas at most.
fn property_names<'s>(root: &'s Value, schema: &'s Value, fuel: &mut usize, names: &mut Vec<&'s str>) {
    if *fuel == 0 {
        return;
    }
    *fuel -= 1;
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        for (name, _) in properties.iter().filter(|(_, property)| **property != Value::Bool(false)) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|r| walk::target(root, r)) {
        property_names(root, target, fuel, names);
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for branch in schema.get(keyword).and_then(Value::as_array).into_iter().flatten() {
            property_names(root, branch, fuel, names);
        }
    }
    for keyword in ["then", "else"] {
        if let Some(branch) = schema.get(keyword) {
            property_names(root, branch, fuel, names);
        }
    }
}

/// Names for a message, at most twenty.
pub fn listed(names: &[&str]) -> String {
    let mut out = names.iter().take(20).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > 20 {
        out.push_str(&format!(" and {} more", names.len() - 20));
    }
    out
}
