//! Parameters, path templates and bodies of 3.x documents.

use super::support::{codes, only, read_body};
use rest_mcp::openapi::{Api, Operation, Parameter, ParameterEncoding, ParameterIn, RoutePart, Style};
use serde_json::json;

fn read(path: &str, parameters: &str) -> (Api, Vec<&'static str>) {
    let body = format!("paths: {{ '{path}': {{ get: {{ parameters: {parameters} }} }} }}");
    let (api, report) = read_body("3.2.0", &body);
    (api, codes(&report))
}

fn style(parameter: &Parameter) -> (Style, bool) {
    match &parameter.encoding {
        ParameterEncoding::Style { style, explode, .. } => (*style, *explode),
        other => panic!("{other:?}"),
    }
}

/// The route as text: literals as they are, variables in braces.
fn route(operation: &Operation) -> String {
    let part = |it: &RoutePart| match it {
        RoutePart::Literal(text) => text.clone(),
        RoutePart::Variable(name) => format!("{{{name}}}"),
    };
    operation.route.parts.iter().map(part).collect()
}

#[test]
fn style_and_explode_default_by_place() {
    // OpenAPI 3.2, Parameter Object, fields `style` and `explode`.
    let cases = [
        ("path", "", Style::Simple, false),
        ("query", "", Style::Form, true),
        ("header", "", Style::Simple, false),
        ("cookie", "", Style::Form, true),
        ("query", ", style: form, explode: false", Style::Form, false),
        ("query", ", style: spaceDelimited", Style::SpaceDelimited, false),
        ("query", ", style: pipeDelimited", Style::PipeDelimited, false),
        ("query", ", style: deepObject", Style::DeepObject, false),
        ("path", ", style: matrix, explode: true", Style::Matrix, true),
        ("path", ", style: label", Style::Label, false),
        ("cookie", ", style: cookie", Style::Cookie, true),
    ];
    for (place, more, expected, explode) in cases {
        let path = if place == "path" { "/{p}" } else { "/" };
        let (api, codes) =
            read(path, &format!("[{{ name: p, in: {place}, required: true, schema: {{ type: array }}{more} }}]"));
        assert_eq!(style(&only(&api).parameters[0]), (expected, explode), "{place}{more}");
        assert!(codes.is_empty(), "{place}{more}: {codes:?}");
    }
}

#[test]
fn an_unknown_style_costs_the_operation_only_where_the_parameter_is_required() {
    let (api, codes) = read(
        "/",
        "[{ name: p, in: query, style: tubes, schema: { type: array } }, { name: q, in: query, schema: {} }]",
    );
    assert_eq!(only(&api).parameters.len(), 1);
    assert_eq!(codes, ["unusable-parameter"]);
    let (api, codes) = read("/", "[{ name: p, in: query, required: true, style: tubes, schema: { type: array } }]");
    assert!(api.operations.is_empty());
    assert_eq!(api.skipped[0].reason.code, "unusable-parameter");
    assert!(api.skipped[0].reason.place.is_some());
    assert_eq!(codes[0], "unusable-parameter");
    let (api, codes) = read("/", "[{ name: p, in: query, required: true, style: tubes, schema: { type: string } }]");
    assert_eq!(style(&only(&api).parameters[0]), (Style::Form, false), "one text looks the same in every style");
    assert_eq!(codes, ["unknown-style"]);
}

#[test]
fn headers_that_openapi_ignores_are_left_out() {
    let (api, codes) = read(
        "/",
        "[{ name: accept, in: header, required: true, schema: {} }, { name: Content-Type, in: header, schema: {} }, { name: Authorization, in: header, schema: {} }, { name: X-A, in: header, schema: {} }]",
    );
    assert_eq!(only(&api).parameters.len(), 1);
    assert_eq!(codes, ["ignored-header"; 3]);
}

#[test]
fn path_item_parameters_are_merged_and_the_operations_own_win() {
    let (api, _) = read_body(
        "3.0.0",
        r"
paths:
  /{id}:
    summary: of the path
    description: of the path
    x-a: 1
    x-b: 1
    parameters:
      - { name: id, in: path, required: true, schema: { type: integer } }
      - { name: q, in: query, schema: { type: integer } }
      - { name: x-h, in: header, schema: { type: integer } }
    get:
      description: of the operation
      x-b: 2
      parameters:
        - { name: q, in: query, schema: { type: string } }
        - { name: X-H, in: header, schema: { type: string } }
        - { name: id, in: query, schema: { type: string } }
",
    );
    let operation = only(&api);
    let found: Vec<_> =
        operation.parameters.iter().map(|it| (it.name.as_str(), it.location, it.schema.json["type"].clone())).collect();
    assert_eq!(
        found,
        [
            ("id", ParameterIn::Path, json!("integer")),
            ("q", ParameterIn::Query, json!("string")),
            ("X-H", ParameterIn::Header, json!("string")),
            ("id", ParameterIn::Query, json!("string")),
        ]
    );
    assert_eq!(operation.summary.as_deref(), Some("of the path"));
    assert_eq!(operation.description.as_deref(), Some("of the operation"));
    assert_eq!(json!(operation.extensions), json!({"x-a": 1, "x-b": 2}));
}

#[test]
fn a_parameter_declared_twice_is_told() {
    let (api, codes) = read(
        "/",
        "[{ name: p, in: query, schema: { type: integer } }, { name: p, in: query, schema: { type: string } }]",
    );
    assert_eq!(only(&api).parameters.len(), 1);
    assert_eq!(codes, ["duplicate-parameter"]);
}

#[test]
fn path_templates_of_every_kind() {
    let path = |name: &str| format!("{{ name: '{name}', in: path, required: true, schema: {{ type: string }} }}");
    let cases = [
        ("/a/{b}", vec!["b"], "/a/{b}", None),
        ("/a/{b}.{c}", vec!["b", "c"], "/a/{b}.{c}", None),
        ("/a/{b},{c}", vec!["b", "c"], "/a/{b},{c}", None),
        ("/a/{b}{c}", vec!["b", "c"], "/a/{b}{c}", None),
        ("/a/{b}:cancel", vec!["b"], "/a/{b}:cancel", None),
        ("/a/{b}/c/{b}", vec!["b"], "/a/{b}/c/{b}", None),
        ("//a//{b}", vec!["b"], "//a//{b}", None),
        ("/a/{b+}", vec!["b"], "/a/{b}", None),
        ("/a/{+b}", vec!["b"], "/a/{b}", None),
        ("/a/{b=x/*}", vec!["b"], "/a/{b}", None),
        ("/a/{b:[0-9]{3}}", vec!["b"], "/a/{b}", None),
        ("/a/{B}", vec!["b"], "/a/{b}", None),
        ("/a b/é%20%", vec![], "/a%20b/%C3%A9%20%25", None),
        ("/a#fragment", vec![], "/a", None),
        ("/a?x=1&y", vec![], "/a", Some("x=1&y")),
    ];
    for (template, names, expected, query) in cases {
        let parameters = names.iter().map(|it| path(it)).collect::<Vec<_>>().join(",");
        let (api, codes) = read(template, &format!("[{parameters}]"));
        let operation = only(&api);
        assert_eq!(route(operation), expected, "{template}");
        assert_eq!(operation.route.fixed_query.as_deref(), query, "{template}");
        assert_eq!(operation.path, template);
        assert!(codes.is_empty(), "{template}: {codes:?}");
    }
}

#[test]
fn variables_in_the_query_of_a_path_are_query_parameters() {
    let query = "{ name: b, in: query, required: true, schema: { type: string } }";
    let path = "{ name: c, in: path, required: true, schema: { type: integer } }";
    for (template, parameters, name, fixed) in [
        ("/a?b={b}", query, "b", None),
        ("/a?b={c}", path, "b", None),
        ("/a?x=1&b={c}", path, "b", Some("x=1")),
        ("/a?key={b}", query, "key", None),
    ] {
        let (api, codes) = read(template, &format!("[{parameters}]"));
        let operation = only(&api);
        assert_eq!(route(operation), "/a", "{template}");
        assert_eq!(operation.route.fixed_query.as_deref(), fixed, "{template}");
        assert_eq!(operation.parameters.len(), 1, "{template}");
        let parameter = &operation.parameters[0];
        assert_eq!((parameter.name.as_str(), parameter.location), (name, ParameterIn::Query), "{template}");
        assert_eq!(style(parameter).0, Style::Form);
        assert!(parameter.required);
        assert!(codes.is_empty(), "{template}: {codes:?}");
    }
    let (api, codes) = read("/a{?b,c}", &format!("[{query}]"));
    let names: Vec<_> = only(&api).parameters.iter().map(|it| (it.name.as_str(), it.required)).collect();
    assert_eq!(names, [("b", true), ("c", false)]);
    assert_eq!(codes, ["undeclared-path-parameter"]);
}

#[test]
fn template_and_declarations_that_disagree() {
    let (api, codes) = read("/a/{id}", "[]");
    let parameter = &only(&api).parameters[0];
    assert_eq!((parameter.name.as_str(), parameter.location, parameter.required), ("id", ParameterIn::Path, true));
    assert_eq!(*parameter.schema.json, json!({"type": "string"}));
    assert_eq!(codes, ["undeclared-path-parameter"]);
    let (api, codes) = read("/a", "[{ name: id, in: path, required: true, schema: {} }]");
    assert!(only(&api).parameters.is_empty());
    assert_eq!(codes, ["unused-path-parameter"]);
    let (api, codes) = read("a", "[]");
    assert_eq!(route(only(&api)), "/a");
    assert_eq!(codes, ["path-without-slash"]);
    for broken in ["/a/{id", "/a/{}", "/a?b=x{c}y"] {
        let (api, _) = read(broken, "[]");
        assert_eq!(api.skipped[0].reason.code, "invalid-path", "{broken}");
    }
}

#[test]
fn parameters_with_content_and_flags() {
    let (api, codes) = read(
        "/",
        "[{ name: filter, in: query, allowReserved: true, content: { application/json: { schema: { type: object }, example: { a: 1 } } } }, { name: q, in: query, allowReserved: true, allowEmptyValue: true, deprecated: true, description: d, x-a: 1, examples: { one: { value: 1 } }, schema: {} }, { name: all, in: querystring, content: { application/x-www-form-urlencoded: { schema: { type: object } } } }]",
    );
    let [filter, q, all] = only(&api).parameters.as_slice() else { panic!() };
    assert_eq!(filter.encoding, ParameterEncoding::Content { media_type: "application/json".to_owned() });
    assert_eq!(filter.examples, [json!({"a": 1})]);
    assert_eq!(
        q.encoding,
        ParameterEncoding::Style { style: Style::Form, explode: true, allow_reserved: true, allow_empty_value: true }
    );
    assert_eq!(
        (q.deprecated, q.description.as_deref(), q.examples.as_slice()),
        (true, Some("d"), [json!(1)].as_slice())
    );
    assert_eq!(json!(q.extensions), json!({"x-a": 1}));
    assert_eq!(all.location, ParameterIn::QueryString);
    assert!(codes.is_empty(), "{codes:?}");
}

#[test]
fn a_parameter_without_a_usable_place_costs_the_operation_only_where_required() {
    for broken in
        ["{ in: query, schema: {} }", "{ name: a, in: nowhere, schema: {} }", "{ name: a, in: body, schema: {} }"]
    {
        let (api, codes) = read("/", &format!("[{broken}]"));
        assert!(only(&api).parameters.is_empty());
        assert_eq!(codes, ["unusable-parameter"], "{broken}");
        let (api, _) = read("/", &format!("[{}]", broken.replace("schema", "required: true, schema")));
        assert_eq!(api.skipped.len(), 1, "{broken}");
    }
}

#[test]
fn bodies_keep_their_media_types_in_order_with_encodings() {
    let (api, codes) = {
        let (api, report) = read_body(
            "3.2.0",
            r"
paths:
  /:
    post:
      requestBody:
        required: true
        description: d
        content:
          application/json; charset=utf-8: { schema: { type: object }, examples: { a: { value: 1 }, b: { $ref: '#/components/examples/B' } } }
          multipart/form-data:
            schema: { type: object, properties: { f: { type: string, format: binary } } }
            encoding:
              f: { contentType: 'image/png, image/jpeg', style: spaceDelimited, explode: true, allowReserved: true, headers: { X-A: { schema: { const: 7 } }, X-B: { schema: { type: string } }, Content-Type: { schema: { const: no } } } }
          application/jsonl: { itemSchema: { type: integer } }
          image/*: {}
components:
  examples: { B: { value: 2 } }
",
        );
        (api, codes(&report))
    };
    let body = only(&api).body.as_ref().unwrap();
    assert!(body.required);
    let types: Vec<_> = body.content.iter().map(|it| (it.media_type.as_str(), it.has_schema)).collect();
    assert_eq!(
        types,
        [
            ("application/json; charset=utf-8", true),
            ("multipart/form-data", true),
            ("application/jsonl", false),
            ("image/*", false)
        ]
    );
    assert_eq!(*body.content[0].examples, [json!(1), json!(2)]);
    let encoding = &body.content[1].encoding["f"];
    assert_eq!(encoding.content_type.as_deref(), Some("image/png, image/jpeg"));
    assert_eq!(
        (encoding.style, encoding.explode, encoding.allow_reserved),
        (Some(Style::SpaceDelimited), Some(true), true)
    );
    assert_eq!(encoding.headers.iter().collect::<Vec<_>>(), [(&"X-A".to_owned(), &"7".to_owned())]);
    assert_eq!(*body.content[2].item_schema.as_ref().unwrap().json, json!({"type": "integer"}));
    assert_eq!(codes, ["part-header"]);
}

/// OpenAPI 3.2, "Encoding By Position".
#[test]
fn encodings_of_a_list_are_kept_by_position() {
    let list = "schema: { type: array }, prefixEncoding: [{ contentType: text/plain }, {}], itemEncoding: { contentType: image/png }";
    for (media_type, more, expected, told) in [
        ("multipart/mixed", "", vec!["0", "1", "*"], 0),
        ("Multipart/Related; type=a/b", "", vec!["0", "1", "*"], 0),
        ("multipart/mixed", ", encoding: { a: {} }", vec!["a"], 2),
        ("application/json", "", vec![], 2),
    ] {
        let (api, report) = read_body(
            "3.2.0",
            &format!(
                "paths: {{ /: {{ post: {{ requestBody: {{ content: {{ '{media_type}': {{ {list}{more} }} }} }} }} }} }}"
            ),
        );
        let encoding = &only(&api).body.as_ref().unwrap().content[0].encoding;
        assert_eq!(encoding.keys().collect::<Vec<_>>(), expected, "{media_type}{more}");
        assert_eq!(codes(&report), vec!["unsupported-encoding"; told], "{media_type}{more}");
        if told == 0 {
            assert_eq!(encoding["*"].content_type.as_deref(), Some("image/png"));
        }
    }
}

#[test]
fn a_body_that_can_not_be_written_costs_the_operation_only_where_required() {
    let (api, report) = read_body("3.0.0", "paths: { /: { post: { requestBody: { content: {} } } } }");
    assert!(only(&api).body.is_none());
    assert_eq!(codes(&report), ["body-without-content"]);
    let (api, _) = read_body("3.0.0", "paths: { /: { post: { requestBody: { required: true } } } }");
    assert_eq!(api.skipped[0].reason.code, "body-without-content");
}

#[test]
fn responses_by_status_range_and_default() {
    let (api, report) = read_body(
        "3.0.0",
        "paths: { /: { get: { responses: { 200: { description: d, content: { application/json: { schema: { type: string } } }, headers: { X-A: {} } }, 4xx: { description: e }, default: { description: f }, x-a: {}, abc: {} } } } }",
    );
    let found: Vec<_> = only(&api).responses.iter().map(|it| it.status.as_str()).collect();
    assert_eq!(found, ["200", "4XX", "default"]);
    assert_eq!(only(&api).responses[0].headers, ["X-A"]);
    assert_eq!(codes(&report), ["invalid-status"]);
}
