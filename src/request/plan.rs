//! From what the document declares to what the encoder needs; once, at load.

use super::view::{View, bundle};
use super::{BodyKind, BodyPlan, BodyVariant, ParameterPlan, PartPlan, header, media};
use crate::openapi::{FURTHER, MediaType, Parameter, ParameterEncoding, ParameterIn, RequestBody};
use crate::schema::Definitions;
use indexmap::IndexMap;
use std::sync::Arc;

/// A parameter, ready to be encoded.
pub fn parameter_plan(parameter: &Parameter) -> ParameterPlan {
    ParameterPlan {
        name: parameter.name.clone(),
        location: parameter.location,
        encoding: parameter.encoding.clone(),
        inner: parameter.inner.clone(),
        required: parameter.required,
    }
}

/// Why a parameter can never be sent, whatever its value; `None` if it can.
pub fn parameter_problem(plan: &ParameterPlan) -> Option<String> {
    match plan.location {
        ParameterIn::Header => header::name_problem(&plan.name),
        ParameterIn::Path | ParameterIn::Query | ParameterIn::Cookie if plan.name.is_empty() => {
            Some("a parameter without a name can't be sent".to_owned())
        }
        ParameterIn::QueryString if !matches!(plan.encoding, ParameterEncoding::Content { .. }) => {
            Some("a parameter in `querystring` needs `content`".to_owned())
        }
        _ => None,
    }
}

/// The encodings of a body, the preferred one first: JSON, `+json`, form, multipart, text, XML, lines of
/// JSON, binary; multipart before JSON and form where there are files.
///
/// A media type that can't be encoded is left out; the error says why none is left.
pub fn body_plan(body: &RequestBody, definitions: &Definitions) -> Result<BodyPlan, String> {
    let mut variants = Vec::new();
    let mut reasons = Vec::new();
    for (index, declared) in body.content.iter().enumerate() {
        match variant(declared, definitions) {
            Ok((rank, variant)) => variants.push((rank, BodyVariant { declared: index, ..variant })),
            Err(reason) => reasons.push(reason),
        }
    }
    if variants.is_empty() {
        reasons.dedup();
        let reason = if reasons.is_empty() { "no media type is declared".to_owned() } else { reasons.join("; ") };
        return Err(format!("the request body can't be encoded: {reason}"));
    }
    variants.sort_by_key(|(rank, _)| *rank);
    Ok(BodyPlan { variants: variants.into_iter().map(|(_, variant)| variant).collect(), required: body.required })
}

fn variant(declared: &MediaType, definitions: &Definitions) -> Result<(u8, BodyVariant), String> {
    let media_type = declared.media_type.trim();
    if !media::is_valid(media_type, true) {
        return Err(format!("`{media_type}` is no media type"));
    }
    let schema = &declared.schema;
    let view = View::of(&schema.json, &schema.uses, definitions);
    let kind = kind(declared, &view);
    let mut parts = IndexMap::new();
    let list = kind == BodyKind::Multipart
        && !media::essence(media_type).eq_ignore_ascii_case("multipart/form-data")
        && (view.kind() == Some("array") || !declared.has_schema && declared.item_schema.is_some());
    if list {
        parts = parts_by_position(declared, &view, definitions);
    } else if matches!(kind, BodyKind::Form | BodyKind::Multipart | BodyKind::Json) {
        for (name, schemas) in view.properties() {
            parts.insert(name.to_owned(), part_plan(&View::of_all(&schemas, definitions), definitions));
        }
    }
    if matches!(kind, BodyKind::Form | BodyKind::Multipart) && !list {
        let fits =
            matches!(view.kind(), None | Some("object")) || (kind == BodyKind::Form && view.kind() == Some("string"));
        if !fits {
            return Err(format!("{media_type} needs an object"));
        }
    }
    if matches!(kind, BodyKind::Xml | BodyKind::Text | BodyKind::Multipart)
        && media::charset(media_type).is_some_and(|charset| {
            let known = encoding_rs::Encoding::for_label(charset.as_bytes());
            !charset.eq_ignore_ascii_case("us-ascii") && known.is_none_or(|known| known != known.output_encoding())
        })
    {
        return Err(format!("the charset of {media_type} can't be written"));
    }
    let files = parts.values().any(|part| part.file && part.transfer.is_none());
    let rank = rank(kind, media_type, files);
    let needs_xml =
        kind == BodyKind::Xml
            || declared.encoding.values().filter_map(|encoding| encoding.content_type.as_deref()).any(|content_type| {
                media::kind(content_type.split(',').next().unwrap_or_default()) == Some(BodyKind::Xml)
            });
    let xml = needs_xml.then(|| Arc::new(bundle(&schema.json, &schema.uses, definitions)));
    if kind == BodyKind::Json {
        parts.clear();
    }
    let sent_as = if kind == BodyKind::Json && media::is_range(media_type) { "application/json" } else { media_type };
    let encoding = declared.encoding.clone();
    let transfer = (kind == BodyKind::Binary).then(|| transfer(media_type, &view)).flatten().map(str::to_owned);
    Ok((rank, BodyVariant { declared: 0, media_type: sent_as.to_owned(), kind, encoding, parts, xml, transfer }))
}

fn rank(kind: BodyKind, media_type: &str, files: bool) -> u8 {
    match kind {
        BodyKind::Json if files => 5,
        BodyKind::Json if media::essence(media_type).eq_ignore_ascii_case("application/json") => 0,
        BodyKind::Json => 1,
        BodyKind::Form if files => 6,
        BodyKind::Form => 3,
        BodyKind::Multipart => 4,
        BodyKind::Text => 7,
        BodyKind::Xml => 8,
        BodyKind::JsonLines => 9,
        BodyKind::Binary => 10,
    }
}

/// How a body is encoded: by its media type, and where that says nothing by its schema.
fn kind(declared: &MediaType, view: &View<'_>) -> BodyKind {
    let essence = media::essence(&declared.media_type);
    match media::kind(essence) {
        // text with a binary schema is a file all the same
        Some(BodyKind::Text) if is_binary(view) => BodyKind::Binary,
        Some(kind) => kind,
        None if declared.item_schema.is_some() && !declared.has_schema => BodyKind::JsonLines,
        None if !declared.has_schema || is_binary(view) => BodyKind::Binary,
        None => match view.kind() {
            Some("object" | "array" | "number" | "integer" | "boolean") => BodyKind::Json,
            Some(_) if media::is_range(essence) => BodyKind::Text,
            _ => BodyKind::Binary,
        },
    }
}

fn is_binary(view: &View<'_>) -> bool {
    matches!(view.text("format"), Some("binary" | "base64" | "byte"))
        || view.text("type") == Some("file")
        || view.keyword("contentEncoding").is_some()
}

/// What the items of a list are, each a part without a name (OpenAPI 3.2, "Encoding By Position").
fn parts_by_position(declared: &MediaType, view: &View<'_>, definitions: &Definitions) -> IndexMap<String, PartPlan> {
    let mut parts = IndexMap::new();
    let prefix = view.parts.iter().find_map(|part| Some((part.json.get("prefixItems")?.as_array()?, part.uses)));
    if let Some((items, uses)) = prefix {
        for (position, item) in items.iter().enumerate() {
            parts.insert(position.to_string(), item_plan(&View::of(item, uses, definitions)));
        }
    }
    let further = match (view.items(), &declared.item_schema) {
        (Some((items, part)), _) => View::of(items, part.uses, definitions),
        (None, Some(item)) => View::of(&item.json, &item.uses, definitions),
        (None, None) => View::of_all(&[], definitions),
    };
    parts.insert(FURTHER.to_owned(), item_plan(&further));
    parts
}

/// The text form in which a body of bytes is declared to travel ("Considerations for File Uploads" of OpenAPI 3.0,
/// "Working with Binary Data" of 3.1). Other encodings of RFC 2045 leave the bytes as they are, and so does text,
/// where documents say it of what is plain on the wire.
fn transfer<'v>(media_type: &str, view: &'v View<'_>) -> Option<&'v str> {
    if media::kind(media::essence(media_type)) == Some(BodyKind::Text) {
        return None;
    }
    let declared = view.text("contentEncoding");
    declared
        .filter(|name| matches!(*name, "base64" | "base64url"))
        .or_else(|| (declared.is_none() && matches!(view.text("format"), Some("byte" | "base64"))).then_some("base64"))
}

/// What a form or multipart property is by its schema (OpenAPI 3.1, default `contentType`).
fn part_plan(view: &View<'_>, definitions: &Definitions) -> PartPlan {
    if view.kind() == Some("array") {
        let item = match view.items() {
            Some((items, part)) => item_plan(&View::of(items, part.uses, definitions)),
            None => PartPlan { content_type: Some("application/json".to_owned()), ..PartPlan::default() },
        };
        return PartPlan { repeated: true, ..item };
    }
    item_plan(view)
}

fn item_plan(view: &View<'_>) -> PartPlan {
    let content_media = view.text("contentMediaType");
    let text_media = content_media.is_some_and(|media_type| {
        !matches!(media::kind(media_type), None | Some(BodyKind::Binary)) && view.kind() == Some("string")
    });
    let transfer = view.text("contentEncoding").or_else(|| (view.text("format") == Some("byte")).then_some("base64"));
    let untyped = view.kind().is_none()
        && !["enum", "const", "oneOf", "anyOf", "allOf", "$ref", "not", "if"]
            .iter()
            .any(|keyword| view.keyword(keyword).is_some());
    let content_type = |text: &str| Some(text.to_owned());
    if is_binary(view) || (content_media.is_some() && !text_media) || untyped {
        return PartPlan {
            content_type: content_type(content_media.unwrap_or("application/octet-stream")),
            file: true,
            repeated: false,
            transfer: transfer.map(str::to_owned),
        };
    }
    let default = match view.kind() {
        Some("object" | "array") => "application/json",
        _ => content_media.unwrap_or("text/plain"),
    };
    PartPlan { content_type: content_type(default), ..PartPlan::default() }
}
