//! The request body: spread over the arguments, or one `body` argument.

use super::argument::{Arguments, Property};
use super::operation::Making;
use super::{Compiler, problem};
use crate::catalog::{Binding, From, Spot};
use crate::diagnostic::Diagnostic;
use crate::mapping::BodyStyle;
use crate::openapi::{FURTHER, MediaType};
use crate::request::{self, BodyKind, BodyPlan, BodyVariant};
use crate::schema::view::{Additional, ObjectView};
use crate::schema::{Definitions, Direction, Schema};
use serde_json::{Value, json};
use std::sync::Arc;

/// A body's plan and what the assembled value is checked against.
pub(super) struct Body {
    pub plan: BodyPlan,
    pub check: Option<Schema>,
    /// Arguments that an optional body needs as soon as one of its own is given: the published schema can't require them.
    pub needs: Vec<String>,
}

impl Compiler<'_> {
    pub(super) fn body(&mut self, making: &Making<'_>, arguments: &mut Arguments) -> Result<Option<Body>, Diagnostic> {
        let Some(body) = &making.operation.body else { return Ok(None) };
        let definitions = making.api.definitions.clone();
        let mut plan = request::body_plan(body, &definitions)
            .map_err(|reason| problem("unsupported-body", reason, making.operation_place()))?;
        if let Some(wanted) = &making.edits.media_type {
            let declared: Vec<String> = plan.variants.iter().map(|variant| variant.media_type.clone()).collect();
            plan.variants.retain(|variant| variant.media_type.eq_ignore_ascii_case(wanted));
            if plan.variants.is_empty() {
                return Err(problem(
                    "unknown-media-type",
                    format!("the body has no media type `{wanted}`"),
                    making.place("media_type"),
                )
                .fix(format!("use one of: {}", declared.join(", "))));
            }
        }
        plan.variants.truncate(1);
        let Some(variant) = plan.variants.first() else { return Ok(None) };
        let Some(media) = body.content.get(variant.declared) else {
            let reason = format!("`{}` is sent, which is not declared", variant.media_type);
            return Err(problem("unsupported-body", reason, making.operation_place()));
        };
        let spread = matches!(variant.kind, BodyKind::Json | BodyKind::Form | BodyKind::Multipart | BodyKind::Xml)
            && making.edits.body != Some(BodyStyle::Single);
        let view = if spread { definitions.object_view(&media.schema, Direction::Input) } else { None };
        let mut needs = Vec::new();
        let check = match view {
            Some(view) if !view.properties.is_empty() => {
                let check = self.spread(making, arguments, media, variant, &view, body.required, &definitions)?;
                if !body.required {
                    needs = view.required.iter().filter_map(|name| needed(arguments, name)).collect();
                }
                check
            }
            _ => {
                self.single(making, arguments, media, variant, body)?;
                None
            }
        };
        Ok(Some(Body { plan, check, needs }))
    }

    /// One `body` argument.
    fn single(
        &mut self,
        making: &Making<'_>,
        arguments: &mut Arguments,
        media: &MediaType,
        variant: &BodyVariant,
        body: &crate::openapi::RequestBody,
    ) -> Result<(), Diagnostic> {
        let replaced = match variant.kind {
            BodyKind::Binary => Some(file_schema(making, body.description.as_deref(), Some(&variant.media_type))),
            BodyKind::Text if !media.has_schema => Some(json!({"type": "string"})),
            BodyKind::JsonLines => None,
            _ => None,
        };
        let schema = match (variant.kind, &media.item_schema) {
            (BodyKind::JsonLines, Some(item)) => list_of(item),
            (BodyKind::JsonLines, None) if !is_array(&media.schema) => list_of(&media.schema),
            (BodyKind::Multipart, _) if variant.parts.contains_key(FURTHER) => parts_list(making, media, variant),
            _ => media.schema.clone(),
        };
        // Bytes are declared without any schema (OpenAPI 3.1, "Working with Binary Data"); JSON without one may be nothing.
        let said = media.has_schema
            || media.item_schema.is_some()
            || matches!(variant.kind, BodyKind::Binary | BodyKind::Text);
        let required = body.required && said;
        let property = Property {
            name: "body".to_string(),
            schema,
            replaced,
            description: body.description.clone(),
            deprecated: false,
            examples: media.examples.to_vec(),
            required,
            edits: None,
            binding: 0,
        };
        self.bind(making, arguments, property, Spot::Body, required, true, &["body".to_string()], None)
    }

    /// Properties become arguments. Returns the schema that the assembled body is checked against,
    /// where the arguments alone can't say it all.
    #[allow(clippy::too_many_arguments)]
    fn spread(
        &mut self,
        making: &Making<'_>,
        arguments: &mut Arguments,
        media: &MediaType,
        variant: &BodyVariant,
        view: &ObjectView,
        body_required: bool,
        definitions: &Definitions,
    ) -> Result<Option<Schema>, Diagnostic> {
        let mut files = false;
        for (name, schema) in &view.properties {
            let part = variant.parts.get(name).filter(|part| part.file);
            let replaced = part.map(|part| {
                files = true;
                let one = file_schema(making, None, part.content_type.as_deref());
                if part.repeated { json!({"type": "array", "items": one}) } else { one }
            });
            let required = view.required.contains(name);
            let promoted: Vec<String> = promotions(making, name);
            let mut schema = schema.clone();
            for key in &promoted {
                schema = self.promote(making, arguments, key, schema, body_required && required, definitions)?;
            }
            if !promoted.is_empty()
                && definitions.object_view(&schema, Direction::Input).is_some_and(|view| view.properties.is_empty())
            {
                continue;
            }
            let property = Property {
                name: name.clone(),
                schema,
                replaced,
                description: None,
                deprecated: false,
                examples: Vec::new(),
                required: required && body_required,
                edits: None,
                binding: 0,
            };
            let keys = [format!("body.{name}"), name.clone()];
            let spot = Spot::BodyMember(vec![name.clone()]);
            self.bind(making, arguments, property, spot, required && body_required, true, &keys, None)?;
        }
        // A required member that is declared nowhere: any value is one (JSON Schema 2020-12, validation, 6.5.3).
        if !matches!(view.additional, Additional::Closed) {
            for name in view.required.iter().filter(|name| !view.properties.contains_key(*name)) {
                let property = Property {
                    name: name.clone(),
                    schema: match &view.additional {
                        Additional::Schema(schema) => schema.clone(),
                        _ => Schema { json: Arc::new(json!({})), uses: Arc::from([]) },
                    },
                    replaced: None,
                    description: None,
                    deprecated: false,
                    examples: Vec::new(),
                    required: body_required,
                    edits: None,
                    binding: 0,
                };
                let keys = [format!("body.{name}"), name.clone()];
                let spot = Spot::BodyMember(vec![name.clone()]);
                self.bind(making, arguments, property, spot, body_required, true, &keys, None)?;
            }
        }
        match &view.additional {
            Additional::Closed => {}
            // JSON Schema's default is open; only an author who says so means it. Else a misspelt
            // argument would be sent along instead of being refused.
            Additional::Open if definitions.resolve(&media.schema).json.get("additionalProperties").is_none() => {}
            Additional::Open => self.rest(arguments, Schema { json: Arc::new(Value::Bool(true)), uses: Arc::from([]) }),
            Additional::Schema(schema) => self.rest(arguments, schema.clone()),
        }
        if view.other_constraints {
            arguments.constraints = Some(definitions.resolve(&media.schema));
        }
        let partial = !body_required && !view.required.is_empty();
        Ok(match files {
            false => (view.other_constraints || partial).then(|| media.schema.clone()),
            // The declared schema knows no file objects; which parts an optional body must have it does know.
            true => partial.then(|| Schema { json: Arc::new(json!({"required": view.required})), uses: Arc::from([]) }),
        })
    }

    fn rest(&mut self, arguments: &mut Arguments, schema: Schema) {
        arguments.bindings.push(Binding {
            from: From::Rest,
            spot: Spot::Body,
            required: false,
            default: None,
            keep_null: true,
        });
        arguments.additional = Some(schema);
    }

    /// `body.a.b`: the nested field becomes an argument of its own and leaves its parent's schema.
    fn promote(
        &mut self,
        making: &Making<'_>,
        arguments: &mut Arguments,
        key: &str,
        parent: Schema,
        parent_required: bool,
        definitions: &Definitions,
    ) -> Result<Schema, Diagnostic> {
        let path: Vec<String> = key.split('.').skip(1).map(str::to_string).collect();
        let mut field = parent.clone();
        let mut required = parent_required;
        for name in path.iter().skip(1) {
            let view = definitions.object_view(&field, Direction::Input);
            let Some((view, found)) =
                view.and_then(|view| view.properties.get(name).cloned().map(|found| (view, found)))
            else {
                return Err(problem(
                    "unknown-argument",
                    format!("the body has no field `{}`", path.join(".")),
                    making.place(&format!("args/{}", super::token(key))),
                ));
            };
            required = required && view.required.contains(name);
            field = found;
        }
        let property = Property {
            name: path.last().cloned().unwrap_or_default(),
            schema: field,
            replaced: None,
            description: None,
            deprecated: false,
            examples: Vec::new(),
            required,
            edits: None,
            binding: 0,
        };
        self.bind(
            making,
            arguments,
            property,
            Spot::BodyMember(path.clone()),
            required,
            true,
            &[key.to_string()],
            None,
        )?;
        Ok(without(parent, path.get(1..).unwrap_or_default(), definitions))
    }
}

/// The argument that a caller has to give for this member of the body.
fn needed(arguments: &Arguments, member: &str) -> Option<String> {
    let of = |binding: &&Binding| matches!(&binding.spot, Spot::BodyMember(path) if path.len() == 1 && path.iter().any(|name| name == member));
    match arguments.bindings.iter().find(of) {
        Some(Binding { from: From::Argument(name), default: None, .. }) => Some(name.clone()),
        _ => None,
    }
}

/// A file argument; a path of this machine may be named where the source allows folders.
fn file_schema(making: &Making<'_>, description: Option<&str>, media: Option<&str>) -> Value {
    let mut schema = request::file_schema(description, media);
    if !making.source.upload_dirs.is_empty() {
        request::allow_path(&mut schema);
    }
    schema
}

/// Keys of `args` that name fields nested below this body property.
fn promotions(making: &Making<'_>, property: &str) -> Vec<String> {
    let start = format!("body.{property}.");
    making.edits.args.keys().filter(|key| key.starts_with(&start)).cloned().collect()
}

/// The object schema without the field at `path`.
fn without(schema: Schema, path: &[String], definitions: &Definitions) -> Schema {
    let resolved = definitions.resolve(&schema);
    let mut json = resolved.json.as_ref().clone();
    let mut uses = resolved.uses.to_vec();
    fn cut(json: &mut Value, path: &[String]) {
        let Some((name, rest)) = path.split_first() else { return };
        if rest.is_empty() {
            if let Some(properties) = json.get_mut("properties").and_then(Value::as_object_mut) {
                properties.shift_remove(name);
            }
            if let Some(required) = json.get_mut("required").and_then(Value::as_array_mut) {
                required.retain(|one| one.as_str() != Some(name));
            }
        } else if let Some(next) = json.get_mut("properties").and_then(|properties| properties.get_mut(name)) {
            cut(next, rest);
        }
    }
    // Parents behind references are resolved on the way down, so that the cut stays local to this tool.
    fn resolve(json: &mut Value, path: &[String], definitions: &Definitions, uses: &mut Vec<usize>) {
        let Some((name, rest)) = path.split_first() else { return };
        if rest.is_empty() {
            return;
        }
        if let Some(next) = json.get_mut("properties").and_then(|properties| properties.get_mut(name)) {
            let schema = definitions.resolve(&Schema { json: Arc::new(next.clone()), uses: Arc::from([]) });
            uses.extend(schema.uses.iter().filter(|id| !uses.contains(id)).copied().collect::<Vec<_>>());
            *next = schema.json.as_ref().clone();
            resolve(next, rest, definitions, uses);
        }
    }
    resolve(&mut json, path, definitions, &mut uses);
    cut(&mut json, path);
    Schema { json: Arc::new(json), uses: uses.into() }
}

/// The list of a multipart body's parts, with file arguments where the parts are files.
fn parts_list(making: &Making<'_>, media: &MediaType, variant: &BodyVariant) -> Schema {
    let declared = match &media.item_schema {
        Some(item) if !media.has_schema => list_of(item),
        _ => making.api.definitions.resolve(&media.schema),
    };
    let file = |position: &str| {
        let part = variant.parts.get(position).filter(|part| part.file)?;
        Some(file_schema(making, None, part.content_type.as_deref()))
    };
    let mut json = declared.json.as_ref().clone();
    let Some(list) = json.as_object_mut() else { return declared };
    let prefix = list.get_mut("prefixItems").and_then(Value::as_array_mut);
    for (position, item) in prefix.into_iter().flatten().enumerate() {
        if let Some(file) = file(&position.to_string()) {
            *item = file;
        }
    }
    if let Some(file) = file(FURTHER).filter(|_| list.get("items") != Some(&Value::Bool(false))) {
        list.insert("items".to_owned(), file);
    }
    Schema { json: Arc::new(json), uses: declared.uses }
}

fn is_array(schema: &Schema) -> bool {
    schema.json.get("type").and_then(Value::as_str) == Some("array")
}

fn list_of(item: &Schema) -> Schema {
    Schema { json: Arc::new(json!({"type": "array", "items": item.json.as_ref()})), uses: item.uses.clone() }
}
