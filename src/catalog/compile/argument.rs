//! The list of bindings: one argument = its schema + its exact spot and encoding in the request.

use super::operation::Making;
use super::{Compiler, problem};
use crate::catalog::{Binding, From, Spot};
use crate::diagnostic::{Diagnostic, hint::nearest};
use crate::mapping::{ArgumentEdits, CatalogRules, Resolved, SchemaProfile, Slot, ToolEdits};
use crate::openapi::{Parameter, ParameterIn, SecurityScheme};
use crate::request::{self, ParameterPlan};
use crate::schema::{Definitions, Direction, Schema, profile};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// A published argument before its schema is bundled.
pub(super) struct Property {
    pub name: String,
    pub schema: Schema,
    /// Replaces `schema` (file arguments).
    pub replaced: Option<Value>,
    pub description: Option<String>,
    pub deprecated: bool,
    pub examples: Vec<Value>,
    pub required: bool,
    pub edits: Option<ArgumentEdits>,
    /// Index of its binding.
    pub binding: usize,
}

/// Bindings and published arguments of one tool.
pub(super) struct Arguments {
    pub parameters: Vec<ParameterPlan>,
    pub bindings: Vec<Binding>,
    pub properties: Vec<Property>,
    pub mirrored: Vec<(String, String)>,
    /// `additionalProperties` of an open body: unknown arguments go into the body.
    pub additional: Option<Schema>,
    /// Root keywords of a flattened body that relate several arguments (`anyOf`, `if`, …).
    pub constraints: Option<Schema>,
    pub definitions: Arc<Definitions>,
    /// Keys of `args` that some argument took.
    pub used_edits: Vec<String>,
}

/// What `Arguments::input` makes.
pub(super) struct InputSchemas {
    pub published: Value,
    /// What calls are checked against, where that is another schema.
    pub check: Option<Value>,
    pub body_check: Option<Value>,
    pub mirrored: Vec<(String, String)>,
}

impl Compiler<'_> {
    /// True if a credential sends this parameter: documents declare API keys as parameters too. What counts
    /// is the alternative that calls will use, the first that has all its credentials.
    fn is_credential(&self, making: &Making<'_>, parameter: &Parameter) -> bool {
        let credentials = self.catalog.sources.get(making.source_index).map(|source| &source.credentials);
        let is_set =
            |scheme: &str| credentials.and_then(|all| all.get(scheme)).is_some_and(|plan| plan.value.is_some());
        let alternatives = &making.operation.security;
        let used = alternatives.iter().find(|all| all.iter().all(|it| is_set(&it.scheme))).or(alternatives.first());
        let sends = |scheme: &str| match making.api.security_schemes.get(scheme) {
            Some(SecurityScheme::ApiKey { location, name }) if *location == parameter.location => match location {
                ParameterIn::Header => name.eq_ignore_ascii_case(&parameter.name),
                _ => *name == parameter.name,
            },
            _ => false,
        };
        used.is_some_and(|all| all.iter().any(|it| sends(&it.scheme)))
    }

    pub(super) fn arguments(&mut self, making: &Making<'_>) -> Result<Arguments, Diagnostic> {
        let mut arguments = Arguments {
            parameters: Vec::new(),
            bindings: Vec::new(),
            properties: Vec::new(),
            mirrored: Vec::new(),
            additional: None,
            constraints: None,
            definitions: making.api.definitions.clone(),
            used_edits: Vec::new(),
        };
        arguments.parameters = making.operation.parameters.iter().map(request::parameter_plan).collect();
        self.bind_parameters(making, &mut arguments, |importance| importance < 2)?;
        Ok(arguments)
    }

    /// Binds the parameters that come after the body in importance: headers and cookies.
    pub(super) fn late_arguments(&mut self, making: &Making<'_>, arguments: &mut Arguments) -> Result<(), Diagnostic> {
        self.bind_parameters(making, arguments, |importance| importance >= 2)
    }

    fn bind_parameters(
        &mut self,
        making: &Making<'_>,
        arguments: &mut Arguments,
        wanted: fn(u8) -> bool,
    ) -> Result<(), Diagnostic> {
        for (index, parameter) in making.operation.parameters.iter().enumerate() {
            if !arguments.parameters.get(index).is_some_and(|plan| wanted(importance(plan))) {
                continue;
            }
            let keys = [parameter.name.clone(), format!("{}.{}", location(parameter.location), parameter.name)];
            if self.is_credential(making, parameter) && !keys.iter().any(|key| making.edits.args.contains_key(key)) {
                continue;
            }
            let property = Property {
                name: parameter.name.clone(),
                schema: parameter.schema.clone(),
                replaced: None,
                description: parameter.description.clone(),
                deprecated: parameter.deprecated,
                examples: parameter.examples.clone(),
                required: parameter.required,
                edits: None,
                binding: 0,
            };
            let fixed = parameter.extensions.get("x-mcp-fixed").cloned();
            self.bind(making, arguments, property, Spot::Parameter(index), parameter.required, false, &keys, fixed)?;
        }
        Ok(())
    }

    /// Adds one binding, and one published argument unless the mapping fixes or hides it.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn bind(
        &mut self,
        making: &Making<'_>,
        arguments: &mut Arguments,
        mut property: Property,
        spot: Spot,
        required: bool,
        keep_null: bool,
        keys: &[String],
        fixed: Option<Value>,
    ) -> Result<(), Diagnostic> {
        let key =
            keys.iter().find(|key| making.edits.args.contains_key(key.as_str()) && !arguments.used_edits.contains(key));
        let edits = key.and_then(|key| making.edits.args.get(key)).cloned();
        if let Some(key) = key {
            arguments.used_edits.push(key.clone());
        }
        let mut default = None;
        let mut from = match fixed {
            Some(value) => From::Fixed(value),
            None => From::Argument(String::new()),
        };
        if let Some(edits) = &edits {
            self.given_fits(making, arguments, &property, key.map(String::as_str).unwrap_or_default(), edits);
            default = edits.default.clone();
            if let Some(value) = &edits.value {
                let at =
                    making.place(&format!("args/{}/value", super::token(key.map(String::as_str).unwrap_or_default())));
                from = self.fixed(value).map_err(|message| problem("unresolved-value", message, at))?;
            } else if edits.hide == Some(true) {
                match default.take() {
                    Some(value) if pages_by(making, &property.name) => {
                        let from = From::Argument(property.name.clone());
                        let default = Some(value);
                        arguments.bindings.push(Binding { from, spot, required, default, keep_null: false });
                        return Ok(());
                    }
                    Some(value) => from = From::Fixed(value),
                    None if required => {
                        return Err(problem(
                            "hidden-required",
                            format!("`{}` is required and can't be hidden without a value", property.name),
                            making
                                .place(&format!("args/{}", super::token(key.map(String::as_str).unwrap_or_default()))),
                        )
                        .fix("add `value:` or `default:`".to_string()));
                    }
                    None => {
                        if pages_by(making, &property.name) {
                            // Not published, but set from page to page.
                            let from = From::Argument(property.name.clone());
                            let (required, default) = (false, None);
                            arguments.bindings.push(Binding { from, spot, required, default, keep_null: false });
                        }
                        return Ok(());
                    }
                }
            }
            if let Some(name) = &edits.rename {
                property.name = name.clone();
            }
            if let Some(wanted) = edits.required {
                property.required = wanted || (property.required && default.is_none() && required);
            }
            if default.is_some() {
                property.required = edits.required.unwrap_or(false);
            }
        }
        if let From::Argument(name) = &mut from {
            let renamed = edits.as_ref().is_some_and(|edits| edits.rename.is_some());
            if !renamed && self.profile.schema_profile != SchemaProfile::Full {
                property.name = legal(&property.name);
            }
            property.name = apart(&property.name, &spot, arguments, renamed)
                .map_err(|message| problem("name-collision", message, making.place("args")))?;
            *name = property.name.clone();
            if let Some(suffix) = edits.as_ref().and_then(|edits| edits.mirror.clone()) {
                arguments.mirrored.push((property.name.clone(), suffix));
            }
            property.edits = edits;
            property.binding = arguments.bindings.len();
            arguments.properties.push(property);
        }
        arguments.bindings.push(Binding { from, spot, required, default, keep_null });
        Ok(())
    }

    /// `value:` of an argument: a literal, or a text with `${…}`.
    pub(super) fn fixed(&self, value: &Value) -> Result<From, String> {
        let Value::String(text) = value else { return Ok(From::Fixed(value.clone())) };
        let slot = Slot(text.clone());
        if let Some(caller) = slot.caller() {
            return Ok(From::Caller(caller));
        }
        match slot.resolve(&self.here()).map_err(|error| error.to_string())? {
            Resolved::Plain(text) => Ok(From::Fixed(Value::String(text))),
            Resolved::Secret(secret) => Ok(From::Secret(secret)),
        }
    }

    /// Warns about edits of a `tools` entry that a rule leaves without effect.
    pub(super) fn merged_arguments(&mut self, making: &Making<'_>) {
        let Some(pointer) = &making.pointer else { return };
        for (key, own) in making.own.iter().flat_map(|own| &own.args) {
            let Some(all) = making.edits.args.get(key) else { continue };
            let (why, fix) = if own.value.is_none() && all.value.is_some() {
                ("fixes", "delete it, or take the argument out of the rule".to_string())
            } else if own.hide.is_none() && own.value.is_none() && all.hide == Some(true) {
                ("hides", format!("add `hide: false` to `{key}`, or delete it"))
            } else {
                continue;
            };
            let given = [
                ("rename", own.rename.is_some()),
                ("description", own.description.is_some()),
                ("required", own.required.is_some()),
                ("mirror", own.mirror.is_some()),
            ];
            if let Some((useless, _)) = given.iter().find(|(_, given)| *given) {
                let place = making.at.key(&format!("{pointer}/args/{}/{useless}", super::token(key)));
                let message = format!("tool `{}`: `{useless}` has no effect: a rule {why} `{key}`", making.name);
                let mut warning = problem("no-effect", message, place).fix(fix);
                warning.severity = crate::diagnostic::Severity::Warning;
                self.report.push(warning);
            }
        }
    }

    /// Warns about `args` keys of a `tools` entry that name no argument.
    pub(super) fn stale_arguments(&mut self, making: &Making<'_>, arguments: &Arguments, known: &[String]) {
        let Some(pointer) = &making.pointer else { return };
        for key in making.own.iter().flat_map(|own| own.args.keys()).filter(|key| !arguments.used_edits.contains(key)) {
            let place = making.at.key(&format!("{pointer}/args/{}", super::token(key)));
            let mut diagnostic =
                problem("stale-edit", format!("tool `{}` has no argument `{key}`", making.name), place);
            diagnostic.severity = crate::diagnostic::Severity::Warning;
            let names = arguments.bindings.iter().filter_map(|binding| match &binding.from {
                From::Argument(name) => Some(name.as_str()),
                _ => None,
            });
            if let Some(near) = nearest(key, names.chain(known.iter().map(String::as_str))) {
                diagnostic = diagnostic.fix(format!("did you mean `{near}`?"));
            }
            self.report.push(diagnostic);
        }
    }
}

/// True if the parameter changes from page to page.
fn pages_by(making: &Making<'_>, name: &str) -> bool {
    making.edits.paginate.as_ref().is_some_and(|rules| rules.arg.as_deref() == Some(name))
}

impl Arguments {
    /// Names of the arguments that a caller or an answer can give.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.bindings.iter().filter_map(|binding| match &binding.from {
            From::Argument(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The argument behind a parameter or body member of this name, else of this published name.
    pub(super) fn argument_of(&self, wanted: &str) -> Option<String> {
        let published = |binding: &Binding| match &binding.from {
            From::Argument(name) => Some(name.clone()),
            _ => None,
        };
        let original = self.bindings.iter().find(|binding| match &binding.spot {
            Spot::Parameter(index) => self.parameters.get(*index).is_some_and(|plan| plan.name == wanted),
            Spot::BodyMember(path) => {
                path.join(".") == wanted || path.last().is_some_and(|last| path.len() == 1 && last == wanted)
            }
            _ => false,
        });
        original.and_then(published).or_else(|| {
            let same = |binding: &&Binding| published(binding).as_deref() == Some(wanted);
            self.bindings.iter().find(same).and_then(published)
        })
    }

    /// The published schema, and what calls are checked against.
    pub(super) fn input(&self, rules: &CatalogRules, edits: &ToolEdits, body_check: Option<Schema>) -> InputSchemas {
        let schemas =
            self.properties.iter().map(|property| &property.schema).chain(&self.additional).chain(&self.constraints);
        let (mut values, definitions) = self.definitions.bundle_parts(schemas, Direction::Input);
        let constraints = self.constraints.as_ref().and_then(|_| values.pop());
        let additional = self.additional.as_ref().and_then(|_| values.pop());
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (property, schema) in self.properties.iter().zip(values) {
            if property.required {
                required.push(Value::String(property.name.clone()));
            }
            properties.insert(property.name.clone(), finished(property, schema));
        }
        let mut root = Map::new();
        root.insert("type".to_string(), json!("object"));
        root.insert("properties".to_string(), Value::Object(properties));
        if !required.is_empty() {
            root.insert("required".to_string(), Value::Array(required));
        }
        root.insert("additionalProperties".to_string(), additional.unwrap_or(Value::Bool(false)));
        let full = rules.schema_profile == SchemaProfile::Full;
        let mut check = (full || constraints.is_some()).then(|| root.clone());
        let mut published = root;
        if let Some(Value::Object(constraints)) = constraints {
            for (key, value) in constraints {
                if !matches!(
                    key.as_str(),
                    "type"
                        | "properties"
                        | "required"
                        | "additionalProperties"
                        | "title"
                        | "examples"
                        | "default"
                        | "$defs"
                ) {
                    published.entry(key).or_insert(value);
                }
            }
        }
        for target in check.iter_mut().chain([&mut published]).filter(|_| !definitions.is_empty()) {
            target.insert("$defs".to_string(), Value::Object(definitions.clone()));
        }
        if full {
            published.insert("$schema".to_string(), json!("https://json-schema.org/draft/2020-12/schema"));
        }
        let (mut published, mut check) = (Value::Object(published), check.map(Value::Object));
        super::person::amend(&mut published, edits);
        if let Some(check) = &mut check {
            super::person::amend(check, edits);
        }
        let (published, whole) = profile::publish_or_keep(published, rules.schema_profile);
        // What is only for the reader is no part of what is checked.
        let check = check.or(whole);
        InputSchemas {
            published,
            check,
            body_check: body_check.map(|schema| self.definitions.bundle(&schema, Direction::Input)),
            mirrored: self.mirrored.clone(),
        }
    }
}

/// A property's schema with description, examples and the author's edits.
fn finished(property: &Property, schema: Value) -> Value {
    let schema = property.replaced.clone().unwrap_or(schema);
    let mut object = match schema {
        Value::Object(object) => object,
        Value::Bool(false) => Map::from_iter([("not".to_string(), json!({}))]),
        _ => Map::new(),
    };
    if let Some(description) = &property.description {
        // The parameter's own words are closer to the call than the schema's.
        object.insert("description".to_string(), Value::String(description.clone()));
    }
    if !property.examples.is_empty() && !object.contains_key("examples") {
        object.insert("examples".to_string(), Value::Array(property.examples.clone()));
    }
    if property.deprecated {
        object.insert("deprecated".to_string(), Value::Bool(true));
    }
    if let Some(edits) = &property.edits {
        if let Some(description) = &edits.description {
            object.insert("description".to_string(), Value::String(description.clone()));
        }
        for (keyword, value) in &edits.schema {
            object.insert(keyword.clone(), value.clone());
        }
        if let Some(default) = &edits.default {
            object.insert("default".to_string(), default.clone());
        }
        if let Some(suffix) = &edits.mirror {
            object.insert("x-mcp-header".to_string(), Value::String(suffix.clone()));
        }
    }
    Value::Object(object)
}

/// Property names that every model vendor takes: `[A-Za-z0-9_.-]{1,64}`.
fn legal(name: &str) -> String {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if !name.is_empty() && name.len() <= 64 && name.chars().all(fine) {
        return name.to_string();
    }
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            c if fine(c) => out.push(c),
            _ if out.ends_with('_') || out.is_empty() => {}
            _ => out.push('_'),
        }
    }
    let trimmed = out.trim_end_matches('_');
    let cut: String = trimmed.chars().take(64).collect();
    if cut.is_empty() { "value".to_string() } else { cut }
}

/// The plain name if it is free; else the name with its location in front, else numbered.
fn apart(name: &str, spot: &Spot, arguments: &Arguments, renamed: bool) -> Result<String, String> {
    let taken = |candidate: &str| arguments.properties.iter().any(|property| property.name == candidate);
    if !taken(name) {
        return Ok(name.to_string());
    }
    if renamed {
        return Err(format!("two arguments would be called `{name}`"));
    }
    let place = match spot {
        Spot::Parameter(index) => arguments.parameters.get(*index).map_or("parameter", |plan| location(plan.location)),
        Spot::Body | Spot::BodyMember(_) => "body",
        Spot::MediaType => "media",
    };
    let prefixed = format!("{place}_{name}");
    (0..)
        .map(|number| if number == 0 { prefixed.clone() } else { format!("{prefixed}_{}", number + 1) })
        .find(|candidate| !taken(candidate))
        .ok_or_else(|| format!("no free name for `{name}`"))
}

/// `in` as written.
pub fn location(location: ParameterIn) -> &'static str {
    match location {
        ParameterIn::Path => "path",
        ParameterIn::Query => "query",
        ParameterIn::QueryString => "querystring",
        ParameterIn::Header => "header",
        ParameterIn::Cookie => "cookie",
    }
}

/// Order of importance for the plain name: path, query, body, header, cookie.
fn importance(plan: &ParameterPlan) -> u8 {
    match plan.location {
        ParameterIn::Path => 0,
        ParameterIn::Query | ParameterIn::QueryString => 1,
        ParameterIn::Header => 3,
        ParameterIn::Cookie => 4,
    }
}
