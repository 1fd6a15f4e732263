//! From declared media types and templates to plans.

use indexmap::IndexMap;
use rest_mcp::openapi::{Encoding, MediaType, ParameterIn, RequestBody, Style};
use rest_mcp::request::{
    BodyKind, ParameterPlan, PathPart, allow_path, body_plan, file_schema, join_base, parameter_problem, parse_path,
    split_query,
};
use rest_mcp::schema::{Definition, Definitions, Schema};
use serde_json::{Value, json};
use std::sync::Arc;

fn schema(json: Value) -> Schema {
    Schema { json: Arc::new(json), uses: Arc::new([]) }
}

fn media(media_type: &str, schema_json: Option<Value>) -> MediaType {
    MediaType {
        media_type: media_type.to_owned(),
        has_schema: schema_json.is_some(),
        schema: schema(schema_json.unwrap_or(json!(true))),
        item_schema: None,
        examples: std::sync::Arc::default(),
        encoding: IndexMap::new(),
    }
}

fn body(content: Vec<MediaType>) -> RequestBody {
    RequestBody { required: true, description: None, content }
}

fn kinds(content: Vec<MediaType>) -> Vec<(String, BodyKind)> {
    let plan = body_plan(&body(content), &Definitions::default()).unwrap();
    plan.variants.into_iter().map(|variant| (variant.media_type, variant.kind)).collect()
}

#[test]
fn kind_by_media_type_and_schema() {
    use BodyKind::*;
    let object = || Some(json!({"type": "object"}));
    let binary = || Some(json!({"type": "string", "format": "binary"}));
    let rows = [
        ("application/json", object(), Json),
        ("application/json; charset=utf-8", None, Json),
        ("application/merge-patch+json", object(), Json),
        ("text/json", object(), Json),
        ("application/x-www-form-urlencoded", object(), Form),
        ("multipart/form-data", object(), Multipart),
        ("multipart/mixed", object(), Multipart),
        ("application/xml", object(), Xml),
        ("application/atom+xml", object(), Xml),
        ("text/plain", Some(json!({"type": "string"})), Text),
        ("text/plain", binary(), Binary),
        ("application/graphql", Some(json!({"type": "string"})), Text),
        ("application/yaml", object(), Text),
        ("application/x-ndjson", Some(json!({"type": "array"})), JsonLines),
        ("application/json-seq", None, JsonLines),
        ("application/octet-stream", binary(), Binary),
        ("application/octet-stream", None, Binary),
        ("image/*", binary(), Binary),
        ("application/pdf", Some(json!({"type": "string"})), Binary),
        ("application/zip", None, Binary),
        ("application/vnd.acme.v1", object(), Json),
        ("application/vnd.acme.v1", Some(json!({"type": ["array", "null"]})), Json),
    ];
    for (media_type, schema, kind) in rows {
        assert_eq!(kinds(vec![media(media_type, schema)]), [(media_type.to_owned(), kind)]);
    }
    // a range with a structured schema is JSON in all but name
    assert_eq!(kinds(vec![media("*/*", object())]), [("application/json".to_owned(), Json)]);
    assert_eq!(kinds(vec![media("*/*", None)]), [("*/*".to_owned(), Binary)]);
}

#[test]
fn the_best_media_type_comes_first() {
    let object = || Some(json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    let with_file = || Some(json!({"type": "object", "properties": {"f": {"type": "string", "format": "binary"}}}));
    let order =
        |content: Vec<MediaType>| kinds(content).into_iter().map(|(media_type, _)| media_type).collect::<Vec<_>>();
    assert_eq!(
        order(vec![
            media("application/octet-stream", None),
            media("application/xml", object()),
            media("text/plain", None),
            media("multipart/form-data", object()),
            media("application/x-www-form-urlencoded", object()),
            media("application/vnd.x+json", object()),
            media("application/json", object()),
        ]),
        [
            "application/json",
            "application/vnd.x+json",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            "text/plain",
            "application/xml",
            "application/octet-stream"
        ]
    );
    assert_eq!(
        order(vec![
            media("application/json", with_file()),
            media("application/x-www-form-urlencoded", with_file()),
            media("multipart/form-data", with_file()),
        ])[0],
        "multipart/form-data",
        "files need parts"
    );
}

/// OpenAPI 3.1 table of default `contentType`s.
#[test]
fn part_plans_follow_the_schema() {
    let definitions = Definitions {
        list: vec![Definition {
            name: "File".to_owned(),
            schema: schema(json!({"type": "string", "format": "binary"})),
            for_input: Default::default(),
            for_output: Default::default(),
        }],
    };
    let properties = json!({"type": "object", "properties": {
        "text": {"type": "string", "format": "uuid"},
        "number": {"type": ["integer", "null"]},
        "object": {"type": "object"},
        "untyped": {},
        "binary": {"type": "string", "format": "binary"},
        "byte": {"type": "string", "format": "byte"},
        "encoded": {"type": "string", "contentEncoding": "base64url", "contentMediaType": "image/png"},
        "media": {"contentMediaType": "image/png"},
        "markup": {"type": "string", "contentMediaType": "text/html"},
        "files": {"type": "array", "items": {"$ref": "#/$defs/File"}},
        "objects": {"type": "array", "items": {"type": "object"}},
        "strings": {"type": "array", "items": {"type": "string"}},
        "anything": {"type": "array", "items": {}},
        "referenced": {"allOf": [{"$ref": "#/$defs/File"}], "description": "x"}
    }});
    let mut content = media("multipart/form-data", Some(properties));
    content.schema.uses = Arc::new([0]);
    let plan = body_plan(&body(vec![content]), &definitions).unwrap();
    let parts = &plan.variants[0].parts;
    let octets = "application/octet-stream";
    let rows = [
        ("text", "text/plain", false, false, None),
        ("number", "text/plain", false, false, None),
        ("object", "application/json", false, false, None),
        ("untyped", octets, true, false, None),
        ("binary", octets, true, false, None),
        ("byte", octets, true, false, Some("base64")),
        ("encoded", "image/png", true, false, Some("base64url")),
        ("media", "image/png", true, false, None),
        ("markup", "text/html", false, false, None),
        ("files", octets, true, true, None),
        ("objects", "application/json", false, true, None),
        ("strings", "text/plain", false, true, None),
        ("anything", octets, true, true, None),
        ("referenced", octets, true, false, None),
    ];
    for (name, content_type, file, repeated, transfer) in rows {
        let part = &parts[name];
        assert_eq!(
            (part.content_type.as_deref(), part.file, part.repeated, part.transfer.as_deref()),
            (Some(content_type), file, repeated, transfer),
            "{name}"
        );
    }
}

/// OpenAPI 3.2: the defaults of named parts count for positions too.
#[test]
fn parts_of_a_list_follow_their_positions() {
    let binary = json!({"type": "string", "format": "binary"});
    let object = json!({"type": "object"});
    for (schema, expected) in [
        (
            json!({"type": "array", "prefixItems": [object, {"type": "string"}], "items": binary}),
            "0 application/json|1 text/plain|* file",
        ),
        (json!({"type": "array", "items": object}), "* application/json"),
        (json!({"type": "array"}), "* file"),
    ] {
        let plan = body_plan(&body(vec![media("multipart/related", Some(schema))]), &Definitions::default()).unwrap();
        let shown = |(position, part): (&String, &rest_mcp::request::PartPlan)| match part.file {
            true => format!("{position} file"),
            false => format!("{position} {}", part.content_type.as_deref().unwrap_or_default()),
        };
        let parts = plan.variants[0].parts.iter().map(shown).collect::<Vec<_>>().join("|");
        assert_eq!(parts, expected);
    }
    let streamed = MediaType { item_schema: Some(schema(json!({"type": "object"}))), ..media("multipart/mixed", None) };
    let plan = body_plan(&body(vec![streamed]), &Definitions::default()).unwrap();
    assert_eq!(plan.variants[0].parts["*"].content_type.as_deref(), Some("application/json"));
}

#[test]
fn what_can_not_be_encoded_has_a_reason() {
    let none = Definitions::default();
    for content in [
        vec![media("nonsense", None)],
        vec![media("multipart/form-data", Some(json!({"type": "array"})))],
        vec![media("multipart/mixed", Some(json!({"type": "string"})))],
        vec![media("application/x-www-form-urlencoded", Some(json!({"type": "integer"})))],
        vec![media("text/plain; charset=utf-16", None)],
        vec![],
    ] {
        let reason = body_plan(&body(content), &none).unwrap_err();
        assert!(reason.starts_with("the request body can't be encoded: "), "{reason}");
    }
    let mixed = vec![media("nonsense", None), media("application/json", None)];
    assert_eq!(body_plan(&body(mixed), &none).unwrap().variants.len(), 1);
}

#[test]
fn xml_schemas_are_self_contained() {
    let definition = |name: &str, json: Value, uses: &[usize]| Definition {
        name: name.to_owned(),
        schema: Schema { json: Arc::new(json), uses: uses.into() },
        for_input: Default::default(),
        for_output: Default::default(),
    };
    let definitions = Definitions {
        list: vec![
            definition("Pet", json!({"properties": {"owner": {"$ref": "#/$defs/Owner"}}}), &[1]),
            definition("Owner", json!({"properties": {"pet": {"$ref": "#/$defs/Pet"}}}), &[0]),
            definition("Unused", json!({}), &[]),
        ],
    };
    let mut content = media("application/xml", Some(json!({"$ref": "#/$defs/Pet"})));
    content.schema.uses = Arc::new([0]);
    content.encoding.insert("x".to_owned(), Encoding { style: Some(Style::Form), ..Encoding::default() });
    let plan = body_plan(&body(vec![content]), &definitions).unwrap();
    let xml = plan.variants[0].xml.clone().unwrap();
    let mut names: Vec<&String> = xml["$defs"].as_object().unwrap().keys().collect();
    names.sort();
    assert_eq!(names, ["Owner", "Pet"]);
}

fn path_parameters(names: &[&str]) -> Vec<ParameterPlan> {
    let plan = |name: &&str| ParameterPlan {
        name: (*name).to_owned(),
        inner: Vec::new(),
        location: ParameterIn::Path,
        encoding: super::style(Style::Simple, false),
        required: true,
    };
    names.iter().map(plan).collect()
}

#[test]
fn path_templates() {
    let literal = |text: &str| PathPart::Literal(text.to_owned());
    let variable = PathPart::Parameter;
    let rows: Vec<(&str, &[&str], Vec<PathPart>)> = vec![
        ("/pet", &[], vec![literal("/pet")]),
        ("/", &[], vec![literal("/")]),
        ("", &[], vec![literal("/")]),
        ("/pet/{id}", &["id"], vec![literal("/pet/"), variable(0)]),
        ("/{a}{b}/x", &["b", "a"], vec![literal("/"), variable(1), variable(0), literal("/x")]),
        ("/x/{id}.{ext}", &["id", "ext"], vec![literal("/x/"), variable(0), literal("."), variable(1)]),
        ("/{id}/{id}", &["id"], vec![literal("/"), variable(0), literal("/"), variable(0)]),
        ("/a b/ü/%41/{id}:go", &["id"], vec![literal("/a%20b/%C3%BC/%41/"), variable(0), literal(":go")]),
        ("/{+name}", &["name"], vec![literal("/"), variable(0)]),
        ("/{ id }/{path:[0-9]{2}}", &["id", "path"], vec![literal("/"), variable(0), literal("/"), variable(1)]),
        ("/p?x={y}&z=1#f", &[], vec![literal("/p")]),
    ];
    for (template, names, expected) in rows {
        assert_eq!(parse_path(template, &path_parameters(names)).unwrap(), expected, "{template}");
    }
    assert!(parse_path("/{id}", &[]).unwrap_err().contains("`id`"));
    assert!(parse_path("/{id", &path_parameters(&["id"])).is_err());
    assert_eq!(split_query("/p?a=b&c#f"), ("/p", Some("a=b&c")));
    assert_eq!(split_query("/p#f?x"), ("/p", None));
    assert_eq!(split_query("/{x?}/p"), ("/{x?}/p", None));
}

/// RFC 3986 §5.2 resolution would lose the base path and follow dots; concatenation does neither.
#[test]
fn base_and_path_are_concatenated() {
    for (base, path, expected) in [
        ("https://h/v1", "/p", "https://h/v1/p"),
        ("https://h/v1/", "/p", "https://h/v1/p"),
        ("https://h/v1//", "p", "https://h/v1/p"),
        ("https://h", "/../p", "https://h/../p"),
        ("https://h/v1?a=b", "/p?c=d", "https://h/v1/p?a=b&c=d"),
        ("https://h/v1", "/p?c=d", "https://h/v1/p?c=d"),
        ("https://h/v1", "/", "https://h/v1/"),
    ] {
        assert_eq!(join_base(base, path), expected);
    }
}

#[test]
fn parameters_that_can_never_be_sent() {
    let plan = |name: &str, location| ParameterPlan {
        name: name.to_owned(),
        inner: Vec::new(),
        location,
        encoding: super::style(Style::Simple, false),
        required: false,
    };
    for (name, location) in [
        ("Host", ParameterIn::Header),
        ("content-length", ParameterIn::Header),
        ("a b", ParameterIn::Header),
        ("Mcp-Name", ParameterIn::Header),
        ("", ParameterIn::Query),
        ("q", ParameterIn::QueryString),
    ] {
        assert!(parameter_problem(&plan(name, location)).is_some(), "{name} {location:?}");
    }
    assert_eq!(parameter_problem(&plan("X-Ok", ParameterIn::Header)), None);
}

#[test]
fn published_file_schema() {
    let mut schema = file_schema(Some("The picture"), Some("image/png"));
    let object = &schema["anyOf"][1];
    let names: Vec<&String> = object["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["data", "text", "filename", "content_type"]);
    assert_eq!(object["additionalProperties"], json!(false));
    let description = schema["description"].as_str().unwrap();
    assert!(description.starts_with("The picture") && description.contains("image/png"));
    allow_path(&mut schema);
    assert!(schema["anyOf"][1]["properties"]["path"].is_object());
}
