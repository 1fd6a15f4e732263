//! Swagger 2.0: the same `Api` as from 3.x.

use super::support::{codes, only, read_text};
use rest_mcp::diagnostic::Report;
use rest_mcp::openapi::{Api, ParameterEncoding, Style};
use rest_mcp::schema::Direction;
use serde_json::json;

fn read(more: &str, operation: &str) -> (Api, Report) {
    read_text(&format!(
        "{{ swagger: '2.0', {more} paths: {{ '/a/{{id}}': {{ parameters: [{{ name: id, in: path, required: true, type: string }}], post: {operation} }} }} }}"
    ))
}

#[test]
fn collection_formats_become_styles() {
    let cases = [
        ("query", "", Style::Form, false),
        ("query", "csv", Style::Form, false),
        ("query", "multi", Style::Form, true),
        ("query", "ssv", Style::SpaceDelimited, false),
        ("query", "pipes", Style::PipeDelimited, false),
        ("query", "tsv", Style::TabDelimited, false),
        ("header", "csv", Style::Simple, false),
        ("header", "pipes", Style::PipeDelimited, false),
        ("path", "", Style::Simple, false),
    ];
    for (place, format, expected, expected_explode) in cases {
        let name = if place == "path" { "id" } else { "p" };
        let format = if format.is_empty() { String::new() } else { format!("collectionFormat: {format},") };
        let (api, report) = read(
            "",
            &format!(
                "{{ parameters: [{{ name: {name}, in: {place}, required: true, {format} type: array, items: {{ type: integer }}, maxItems: 3 }}] }}"
            ),
        );
        let parameter = only(&api).parameters.iter().find(|it| it.name == name).unwrap();
        let ParameterEncoding::Style { style, explode, .. } = parameter.encoding else { panic!() };
        assert_eq!((style, explode), (expected, expected_explode), "{place} {format}");
        assert_eq!(*parameter.schema.json, json!({"type": "array", "items": {"type": "integer"}, "maxItems": 3}));
        assert!(report.is_empty(), "{report:?}");
    }
}

/// Swagger 2.0, "Items Object": `collectionFormat` of a list in a list, csv where nothing is said.
#[test]
fn lists_in_lists_have_formats_of_their_own() {
    let lists =
        "type: array, items: { type: array, collectionFormat: pipes, items: { type: array, items: { type: string } } }";
    let (api, report) =
        read("", &format!("{{ parameters: [{{ name: p, in: query, collectionFormat: multi, {lists} }}] }}"));
    let parameter = &only(&api).parameters[1];
    assert_eq!(parameter.inner, [Style::PipeDelimited, Style::Simple]);
    let (api, _) = read("", &format!("{{ parameters: [{{ name: p, in: formData, {lists} }}] }}"));
    let body = only(&api).body.as_ref().unwrap();
    assert_eq!(body.content[0].encoding["p"].inner, [Style::PipeDelimited, Style::Simple]);
    assert!(report.is_empty(), "{report:?}");
}

#[test]
fn a_body_takes_every_type_that_is_consumed() {
    let (api, _) = read(
        "consumes: [application/json, application/xml], definitions: { P: { type: object } },",
        "{ parameters: [{ name: b, in: body, required: true, description: d, schema: { $ref: '#/definitions/P' } }] }",
    );
    let body = only(&api).body.as_ref().unwrap();
    assert!(body.required);
    assert_eq!(body.description.as_deref(), Some("d"));
    let types: Vec<_> = body.content.iter().map(|it| it.media_type.as_str()).collect();
    assert_eq!(types, ["application/json", "application/xml"]);
    assert_eq!(*body.content[0].schema.json, json!({"$ref": "#/$defs/P"}));
    let (api, _) = read("", "{ parameters: [{ name: b, in: body, schema: { type: array } }] }");
    assert_eq!(only(&api).body.as_ref().unwrap().content[0].media_type, "application/json");
}

#[test]
fn form_parameters_become_one_body() {
    let fields = "{ name: a, in: formData, type: array, items: { type: string }, collectionFormat: pipes, required: true }, { name: b, in: formData, type: string, description: d }";
    let file = "{ name: f, in: formData, type: file }";
    let cases = [
        ("", fields.to_owned(), vec!["application/x-www-form-urlencoded"]),
        (
            "consumes: [application/x-www-form-urlencoded, multipart/form-data],",
            fields.to_owned(),
            vec!["application/x-www-form-urlencoded", "multipart/form-data"],
        ),
        ("consumes: [application/json],", fields.to_owned(), vec!["application/x-www-form-urlencoded"]),
        (
            "consumes: [application/x-www-form-urlencoded, multipart/form-data],",
            format!("{fields}, {file}"),
            vec!["multipart/form-data"],
        ),
        ("", format!("{fields}, {file}"), vec!["multipart/form-data"]),
    ];
    for (consumes, fields, expected) in cases {
        let (api, report) = read(consumes, &format!("{{ parameters: [{fields}] }}"));
        let body = only(&api).body.as_ref().unwrap();
        let types: Vec<_> = body.content.iter().map(|it| it.media_type.as_str()).collect();
        assert_eq!(types, expected, "{consumes}");
        assert!(body.required);
        let schema = &body.content[0].schema.json;
        assert_eq!(schema["required"], json!(["a"]));
        assert_eq!(schema["properties"]["b"], json!({"type": "string", "description": "d"}));
        if fields.contains("file") {
            assert_eq!(
                schema["properties"]["f"],
                json!({"type": "string", "format": "binary", "contentMediaType": "application/octet-stream"})
            );
        }
        assert_eq!(body.content[0].encoding["a"].style, Some(Style::PipeDelimited));
        assert_eq!(body.content[0].encoding.len(), 1);
        assert!(report.is_empty(), "{report:?}");
    }
}

#[test]
fn a_body_beside_a_form_is_a_fault() {
    let (api, _) = read(
        "",
        "{ parameters: [{ name: b, in: body, schema: {} }, { name: f, in: formData, type: string, required: true }] }",
    );
    assert_eq!(api.skipped[0].reason.code, "body-and-form");
}

#[test]
fn responses_have_the_types_that_are_produced() {
    let (api, report) = read(
        "produces: [application/json, text/csv], responses: { Ok: { description: ok, schema: { type: object }, examples: { text/csv: 'a,b' } } },",
        "{ responses: { 200: { $ref: '#/responses/Ok' }, 204: { description: none } } }",
    );
    let responses = &only(&api).responses;
    let types: Vec<_> = responses[0].content.iter().map(|it| (it.media_type.as_str(), it.examples.len())).collect();
    assert_eq!(types, [("application/json", 0), ("text/csv", 1)]);
    assert!(responses[1].content.is_empty());
    let (api, _) = read("", "{ responses: { 200: { description: d, schema: { type: file } } } }");
    let media = &only(&api).responses[0].content[0];
    assert_eq!(media.media_type, "application/octet-stream");
    assert_eq!(media.schema.json["format"], json!("binary"));
    assert!(report.is_empty());
}

#[test]
fn azures_paths_with_a_query_are_paths() {
    let (api, report) = read_text("{ swagger: '2.0', paths: {}, x-ms-paths: { '/a?op=list': { get: {} } } }");
    assert_eq!(only(&api).route.fixed_query.as_deref(), Some("op=list"));
    assert_eq!(codes(&report), Vec::<&str>::new());
}

#[test]
fn a_parameter_whose_reference_means_its_schema_is_that_parameter() {
    let (api, report) = read(
        "definitions: { Names: { type: array, items: { type: string } } },",
        "{ parameters: [{ name: q, in: query, required: true, $ref: '#/definitions/Names' }] }",
    );
    let parameter = &api.operations[0].parameters[1];
    assert_eq!((parameter.name.as_str(), parameter.required), ("q", true), "{report:?}");
    let schema = api.definitions.inline(&parameter.schema, Direction::Input);
    assert_eq!(schema, serde_json::json!({ "type": "array", "items": { "type": "string" } }));
}
