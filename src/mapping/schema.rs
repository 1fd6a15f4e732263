//! The JSON Schema of the language, for editors and for the check of unknown keys: generated from the
//! types, then closed everywhere.

use super::Mapping;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::LazyLock;

static MAPPING: LazyLock<Value> = LazyLock::new(|| {
    let mut schema = closed::<Mapping>(
        "urn:rest-mcp:mapping:1",
        "rest-mcp mapping",
        "What the tools of an API differ in from what its OpenAPI document says, version 1.",
    );
    let defs = schema.get_mut("$defs").and_then(Value::as_object_mut);
    if let Some(defs) = defs {
        for name in ["ToolRules", "ToolEdits"] {
            set(defs, name, "additionalProperties", json!(false));
        }
        set(defs, "Match", "additionalProperties", json!(false));
        set(defs, "Match", "patternProperties", json!({"^x-": {"description": "Value of the extension."}}));
        set(defs, "ArgumentEdits", "additionalProperties", json!(false));
        if let Some(properties) = defs.get_mut("ArgumentEdits").and_then(|def| def.get_mut("properties")) {
            for (keyword, schema) in keywords() {
                if let Some(properties) = properties.as_object_mut() {
                    properties.entry(keyword).or_insert(schema);
                }
            }
        }
    }
    schema
});

/// The JSON Schema (draft 2020-12) of mapping files; the same text at every call.
pub fn json_schema() -> Value {
    MAPPING.clone()
}

pub(super) fn shared() -> &'static Value {
    &MAPPING
}

/// The schema of a settings type: `$id` and title set, no nulls but where an empty YAML value means an empty
/// section.
pub(crate) fn closed<T: JsonSchema>(id: &str, title: &str, description: &str) -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    let mut root = Map::new();
    root.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    root.insert("$id".to_owned(), json!(id));
    root.insert("title".to_owned(), json!(title));
    root.insert("description".to_owned(), json!(description));
    if let Value::Object(members) = schema {
        for (name, member) in members {
            root.entry(name).or_insert(member);
        }
    }
    // Editors complete the key from here.
    root.insert("type".to_owned(), json!("object"));
    Value::Object(root)
}

fn set(defs: &mut Map<String, Value>, name: &str, keyword: &str, value: Value) {
    if let Some(def) = defs.get_mut(name).and_then(Value::as_object_mut) {
        def.insert(keyword.to_owned(), value);
    }
}

/// Takes out the nulls that optional Rust fields bring, and lets lists and objects be written empty (`rules:`).
fn tidy(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Object(members) => {
            members.values_mut().for_each(tidy);
            drop_null_branch(members);
            if let Some(kind) = members.get_mut("type") {
                if let Value::Array(kinds) = kind {
                    let is_container = kinds.iter().any(|kind| kind == "object" || kind == "array");
                    if !is_container {
                        kinds.retain(|kind| kind != "null");
                    }
                    if let [one] = kinds.as_slice() {
                        *kind = one.clone();
                    }
                } else if kind == "object" || kind == "array" {
                    *kind = json!([kind.clone(), "null"]);
                }
            }
            // Widths of Rust's numbers say nothing to an author.
            for format in ["uint", "uint8", "uint16", "uint32", "uint64", "int64", "double", "float"] {
                if members.get("format").is_some_and(|found| found == format) {
                    members.remove("format");
                }
            }
        }
        _ => {}
    }
}

fn drop_null_branch(members: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = members.get_mut("anyOf") else { return };
    branches.retain(|branch| branch != &json!({"type": "null"}));
    let [Value::Object(only)] = branches.as_slice() else { return };
    let only = only.clone();
    members.remove("anyOf");
    for (name, member) in only {
        members.entry(name).or_insert(member);
    }
}

/// JSON Schema 2020-12 keywords that tighten an argument.
fn keywords() -> Vec<(&'static str, Value)> {
    let text = || json!({"type": "string"});
    let number = || json!({"type": "number"});
    let count = || json!({"type": "integer", "minimum": 0});
    let flag = || json!({"type": "boolean"});
    let schema = || json!({"type": ["object", "boolean"], "description": "A JSON Schema."});
    let list = || json!({"type": "array", "minItems": 1});
    let schemas = || json!({"type": "array", "minItems": 1, "items": {"type": ["object", "boolean"]}});
    let named = || json!({"type": "object", "additionalProperties": {"type": ["object", "boolean"]}});
    let kinds = json!({"enum": ["string", "number", "integer", "boolean", "array", "object", "null"]});
    vec![
        ("title", text()),
        ("type", json!({"anyOf": [kinds, {"type": "array", "minItems": 1, "items": kinds}]})),
        ("enum", list()),
        ("const", json!({})),
        ("examples", list()),
        ("format", text()),
        ("minimum", number()),
        ("maximum", number()),
        ("exclusiveMinimum", number()),
        ("exclusiveMaximum", number()),
        ("multipleOf", json!({"type": "number", "exclusiveMinimum": 0})),
        ("minLength", count()),
        ("maxLength", count()),
        ("pattern", text()),
        ("minItems", count()),
        ("maxItems", count()),
        ("uniqueItems", flag()),
        ("items", schema()),
        ("prefixItems", schemas()),
        ("contains", schema()),
        ("minContains", count()),
        ("maxContains", count()),
        ("unevaluatedItems", schema()),
        ("properties", named()),
        ("patternProperties", named()),
        ("additionalProperties", schema()),
        ("propertyNames", schema()),
        ("unevaluatedProperties", schema()),
        ("minProperties", count()),
        ("maxProperties", count()),
        ("dependentRequired", json!({"type": "object", "additionalProperties": {"type": "array", "items": text()}})),
        ("dependentSchemas", named()),
        ("allOf", schemas()),
        ("anyOf", schemas()),
        ("oneOf", schemas()),
        ("not", schema()),
        ("if", schema()),
        ("then", schema()),
        ("else", schema()),
        ("contentEncoding", text()),
        ("contentMediaType", text()),
        ("contentSchema", schema()),
        ("deprecated", flag()),
        ("readOnly", flag()),
        ("writeOnly", flag()),
        ("$comment", text()),
    ]
}

/// Types that stand for free JSON in the generated schema; never values.
macro_rules! free {
    ($($(#[$doc:meta])* $name:ident = $schema:tt;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )*};
}

free! {
    /// `args.<name>.value`.
    FixedValue = {
        "description": "Any value; a text may hold `${env:NAME}`, `${file:PATH}`, or be one `${caller:claims.NAME}`, `${caller:header.NAME}`, `${caller:tenant}`, `${caller:subject}`."
    };
    /// A tree whose texts may hold `{{placeholders}}`.
    Tree = {
        "description": "Any value; texts may hold `{{placeholders}}`, and a text that is exactly one keeps the value's type."
    };
    /// `steps[].when`.
    Condition = {
        "title": "a placeholder such as `{{customer.active}}`, or true or false",
        "type": ["string", "boolean"]
    };
    /// `description.from`.
    DescriptionPart = {
        "oneOf": [
            {"const": "summary", "description": "`summary`."},
            {"const": "description", "description": "`description`."},
            {"const": "responses", "description": "The descriptions of the declared responses."},
            {"const": "path", "description": "Method and path."}
        ]
    };
    /// `50/s`.
    RateText = {
        "title": "a rate such as `50/s`, `100/m` or `1000/h`",
        "type": "string",
        "pattern": "^[1-9][0-9]{0,8} ?/ ?(s|sec|second|m|min|minute|h|hour)$"
    };
    /// `input`, `ask.<name>.schema`.
    ObjectSchema = {
        "description": "A JSON Schema (2020-12) of an object.",
        "type": "object",
        "properties": {
            "type": {"const": "object"},
            "properties": {"type": "object", "additionalProperties": {"type": ["object", "boolean"]}},
            "required": {"type": "array", "items": {"type": "string"}}
        }
    };
    /// MCP Icon.
    Icon = {
        "description": "An icon as MCP has it.",
        "type": "object",
        "required": ["src"],
        "properties": {
            "src": {"type": "string", "description": "An https: or data: URI."},
            "mimeType": {"type": "string", "description": "MIME type."},
            "sizes": {"type": "array", "items": {"type": "string"}, "description": "Such as `48x48` or `any`."},
            "theme": {"enum": ["light", "dark"], "description": "Background it is made for."}
        },
        "additionalProperties": false
    };
    /// OpenAPI Parameter Object.
    ParameterObject = {
        "description": "An OpenAPI Parameter Object.",
        "type": "object",
        "required": ["name", "in"],
        "properties": {
            "name": {"type": "string", "minLength": 1, "description": "Name on the wire."},
            "in": {"enum": ["path", "query", "querystring", "header", "cookie"], "description": "Where it goes."},
            "description": {"type": "string"},
            "required": {"type": "boolean"},
            "deprecated": {"type": "boolean"},
            "style": {"enum": ["matrix", "label", "simple", "form", "spaceDelimited", "pipeDelimited", "deepObject", "cookie"]},
            "explode": {"type": "boolean"},
            "allowReserved": {"type": "boolean"},
            "allowEmptyValue": {"type": "boolean"},
            "schema": {"type": ["object", "boolean"], "description": "A JSON Schema."},
            "content": {"type": "object", "description": "By media type."},
            "example": {},
            "examples": {"type": "object"}
        },
        "patternProperties": {"^x-": {}},
        "additionalProperties": false
    };
}
