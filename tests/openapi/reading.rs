//! Versions, methods, what is skipped and what is found.

use super::support::{codes, only, read_body, read_text, set};
use rest_mcp::diagnostic::Severity;
use rest_mcp::openapi::{ReadOptions, read};
use serde_json::json;

#[test]
fn what_is_no_openapi_document_is_refused_with_a_way_out() {
    for (text, code) in [
        ("{}", "not-openapi"),
        ("asyncapi: 3.0.0", "not-openapi"),
        ("arazzo: 1.0.0", "not-openapi"),
        ("swaggerVersion: '1.2'", "not-openapi"),
        ("[1]", "not-openapi"),
        ("openapi: 4.0.0", "unknown-version"),
    ] {
        let (api, report) = read(&set(&[("/a.yaml", text)]), &ReadOptions::default());
        assert!(api.is_none(), "{text}");
        assert_eq!(codes(&report), [code], "{text}");
        assert!(report.diagnostics[0].fix.is_some(), "{text}");
        assert_eq!(report.diagnostics[0].severity, Severity::Error);
    }
}

#[test]
fn every_version_is_read() {
    for head in ["swagger: '2.0'", "swagger: 2.0", "openapi: 3.0.3", "openapi: 3.1.0", "openapi: 3.2.0", "openapi: 3.1"]
    {
        let (api, report) = read_text(&format!(
            "{head}\ninfo: {{ title: T, version: 1.0 }}\npaths: {{ /: {{ get: {{ operationId: a }} }} }}"
        ));
        assert_eq!(only(&api).operation_id.as_deref(), Some("a"), "{head}");
        assert_eq!((api.title.as_str(), api.version.as_str()), ("T", "1.0"), "{head}");
        assert!(report.is_empty(), "{head}: {report:?}");
    }
}

#[test]
fn all_methods_of_a_path_item_in_document_order() {
    let (api, report) = read_body(
        "3.2.0",
        r"
paths:
  /a:
    query: { operationId: q }
    trace: {}
    get: {}
    additionalOperations: { COPY: { operationId: c }, 'BAD METHOD': {} }
    delete: null
  x-ext: { get: {} }
  /b: null
webhooks: { w: { post: {} } }
",
    );
    let found: Vec<_> = api.operations.iter().map(|it| it.method.as_str()).collect();
    assert_eq!(found, ["QUERY", "TRACE", "GET", "COPY"]);
    assert_eq!(api.skipped[0].reason.code, "invalid-method");
    assert_eq!(codes(&report), ["invalid-method"]);
}

#[test]
fn one_bad_operation_costs_no_other() {
    let (api, report) = read_body(
        "3.0.0",
        r"
paths:
  /a: { get: { operationId: bad, parameters: [{ $ref: '#/components/parameters/Gone' }] }, post: { operationId: good } }
  /b: { get: { parameters: {} }, put: nonsense }
  /c: { get: { responses: { 200: { $ref: '#/gone' }, 404: { description: d } } } }
  /d: [1]
",
    );
    let usable: Vec<_> = api.operations.iter().map(|it| format!("{} {}", it.method, it.path)).collect();
    assert_eq!(usable, ["POST /a", "GET /c"]);
    let skipped: Vec<_> = api.skipped.iter().map(|it| (it.method.as_str(), it.path.as_str(), it.reason.code)).collect();
    assert_eq!(
        skipped,
        [("GET", "/a", "unresolved-ref"), ("GET", "/b", "invalid-parameters"), ("PUT", "/b", "invalid-operation"),]
    );
    assert_eq!(api.operations[1].responses.len(), 1);
    assert_eq!(
        codes(&report),
        ["unresolved-ref", "invalid-parameters", "invalid-operation", "unresolved-ref", "invalid-path-item"]
    );
}

#[test]
fn operations_are_found_by_id_or_by_method_and_path() {
    let (api, _) = read_body(
        "3.0.0",
        "paths: { /a: { get: { operationId: x }, post: { operationId: x }, put: { operationId: '' } }, /b: { get: { operationId: bad, parameters: 1 } } }",
    );
    let find = |name: &str| api.find(name).iter().map(|it| it.method.clone()).collect::<Vec<_>>();
    assert_eq!(find("x"), ["GET", "POST"]);
    assert_eq!(find("get /a"), ["GET"]);
    assert_eq!(find("PUT /a"), ["PUT"]);
    assert!(find("y").is_empty() && find("GET").is_empty() && find("").is_empty());
    assert_eq!(api.find_skipped("bad").map(|it| it.path.as_str()), Some("/b"));
    assert_eq!(api.find_skipped("GET /b").map(|it| it.path.as_str()), Some("/b"));
}

#[test]
fn places_are_those_of_the_text() {
    let text = "openapi: 3.0.0\npaths:\n  /a/{id}:\n    get: {}\n";
    let (api, report) = read_text(text);
    let place = report.diagnostics[0].place.as_ref().unwrap();
    assert_eq!(place.pointer, "/paths/~1a~1{id}/get");
    assert_eq!(only(&api).place().pointer, "/paths/~1a~1{id}/get");
    assert_eq!(&text[place.start..place.end], "{}");
}

#[test]
fn a_document_without_operations_says_why() {
    let (_, report) = read_body("3.1.0", "webhooks: { w: { post: {} } }");
    assert_eq!(codes(&report), ["no-operations"]);
    assert!(report.diagnostics[0].message.contains("webhooks"));
}

#[test]
fn many_problems_of_a_kind_are_counted_not_listed() {
    let paths: String = (0..200).map(|n| format!("  /a{n}/{{id}}: {{ get: {{}} }}\n")).collect();
    let (api, report) = read_body("3.0.0", &format!("paths:\n{paths}"));
    assert_eq!(api.operations.len(), 200);
    assert_eq!(report.diagnostics.len(), 51);
    assert!(report.diagnostics[50].message.starts_with("150 more"));
}

#[test]
fn descriptions_lose_web_links_but_not_their_words() {
    let cases = [
        ("See [Media types](https://docs.example/a#b) for all.", "See Media types for all."),
        ("Made. For more information, see \"[Paging](https://docs.example/paging).\"", "Made."),
        ("First.\nLearn more about [ids](https://docs.example/ids).\nLast.", "First.\n\nLast."),
        ("Click [here](https://docs.example).", "Click [here](https://docs.example)."),
        ("Write `[label](https://docs.example)`.", "Write `[label](https://docs.example)`."),
        ("For more information, see [all](https://docs.example).", "For more information, see all."),
        ("For more information, ask.", "For more information, ask."),
        (
            "An ![icon](https://docs.example/i.png) and [a](#b) and [c](mailto:d@example.org).",
            "An icon and [a](#b) and [c](mailto:d@example.org).",
        ),
        ("[one](https://a.example) [two](https://b.example", "one [two](https://b.example"),
    ];
    for (written, read) in cases {
        let body = json!({"/": {"get": {"operationId": "a", "description": written, "parameters": [
            {"name": "q", "in": "query", "description": written, "schema": {"type": "object", "properties": {"x": {"description": written}}}}
        ]}}});
        let (api, report) = read_body("3.1.0", &format!("paths: {body}"));
        assert!(report.is_empty(), "{report:?}");
        let operation = only(&api);
        assert_eq!(operation.description.as_deref(), Some(read));
        assert_eq!(operation.parameters[0].description.as_deref(), Some(read));
        assert_eq!(operation.parameters[0].schema.json["properties"]["x"]["description"], read);
    }
}

#[test]
fn examples_of_answers_are_left_out_where_nobody_asks_for_them() {
    let text = "openapi: 3.1.0
info: { title: T, version: '1' }
paths:
  /a:
    post:
      requestBody: { $ref: '#/components/requestBodies/A' }
      responses:
        '200': { description: its body, $ref: '#/components/requestBodies/A' }
        '400': { description: no, content: { text/plain: { schema: { type: string }, example: two } } }
components:
  requestBodies:
    A: { content: { text/plain: { schema: { type: string }, example: one } } }
";
    for (kept, answers) in [(true, [1, 1]), (false, [0, 0])] {
        let (api, _) = read(&set(&[("/a.yaml", text)]), &ReadOptions { answer_examples: kept, ..Default::default() });
        let operation = api.unwrap().operations.remove(0);
        assert_eq!(operation.body.as_ref().unwrap().content[0].examples[..], [json!("one")], "{kept}");
        let counts: Vec<usize> = operation.responses.iter().map(|it| it.content[0].examples.len()).collect();
        assert_eq!(counts, answers, "{kept}");
    }
}
