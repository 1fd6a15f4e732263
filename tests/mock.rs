//! The mock backend: finds the operation, answers with examples or samples.

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use indexmap::IndexMap;
use rest_mcp::mock::sample::sample;
use rest_mcp::mock::{Answer, Mock, serve};
use rest_mcp::openapi::{Api, MediaType, Operation, Response, Server, ServerVariable};
use rest_mcp::schema::{Definition, Definitions, Direction, Schema};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

fn schema(json: Value) -> Schema {
    Schema { json: Arc::new(json), uses: Arc::new([]) }
}

fn media(media_type: &str, json: Value) -> MediaType {
    MediaType {
        media_type: media_type.to_owned(),
        schema: schema(json),
        has_schema: true,
        item_schema: None,
        examples: std::sync::Arc::default(),
        encoding: IndexMap::new(),
    }
}

fn response(status: &str, content: Vec<MediaType>) -> Response {
    Response { status: status.to_owned(), description: None, content, headers: Vec::new() }
}

fn operation(method: &str, path: &str, responses: Vec<Response>) -> Operation {
    let source = rest_mcp::diagnostic::Source::new("test", "{}");
    let document = Arc::new(rest_mcp::document::Document::new("test", source, json!({})));
    let origin = rest_mcp::openapi::Origin { document, pointer: String::new() };
    Operation {
        method: method.to_owned(),
        path: path.to_owned(),
        operation_id: None,
        summary: None,
        description: None,
        tags: Vec::new(),
        deprecated: false,
        parameters: Vec::new(),
        body: None,
        responses,
        servers: Vec::new(),
        security: Vec::new(),
        extensions: Default::default(),
        route: Default::default(),
        origin,
    }
}

/// An operation whose answer is its own name.
fn named(method: &str, path: &str) -> Operation {
    let text = media("text/plain", json!({"const": format!("{method} {path}")}));
    operation(method, path, vec![response("200", vec![text])])
}

fn api(operations: Vec<Operation>) -> Arc<Api> {
    Arc::new(Api {
        title: "test".to_owned(),
        version: "1".to_owned(),
        description: None,
        servers: Vec::new(),
        operations,
        skipped: Vec::new(),
        security_schemes: IndexMap::new(),
        definitions: Arc::new(Definitions::default()),
    })
}

fn mock(operations: Vec<Operation>) -> Mock {
    Mock::new([(api(operations), None)])
}

fn get(mock: &Mock, target: &str, headers: &[(&'static str, &'static str)]) -> Answer {
    ask(mock, "GET", target, headers)
}

fn ask(mock: &Mock, method: &str, target: &str, headers: &[(&'static str, &'static str)]) -> Answer {
    let headers: HeaderMap =
        headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect();
    mock.answer(&Method::from_bytes(method.as_bytes()).unwrap(), target, &headers)
}

fn text(answer: &Answer) -> &str {
    std::str::from_utf8(&answer.body).unwrap()
}

fn value(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body).unwrap()
}

#[test]
fn literal_segments_win_over_variables() {
    let mock = mock(vec![
        named("GET", "/pet/{id}"),
        named("GET", "/pet/mine"),
        named("GET", "/pet/{id}.{format}"),
        named("GET", "/pet/{id}:close"),
        named("GET", "/{kind}/{id}/x"),
        named("GET", "/pet/{id}/x"),
        named("DELETE", "/pet/{id}"),
        named("GET", "/"),
        named("GET", "/q?Action=Run"),
        named("GET", "/q?Action=Stop"),
    ]);
    for (target, expected) in [
        ("/pet/7", "GET /pet/{id}"),
        ("/pet/mine", "GET /pet/mine"),
        ("/pet/7.json", "GET /pet/{id}.{format}"),
        ("/pet/7:close", "GET /pet/{id}:close"),
        ("/pet/7/x", "GET /pet/{id}/x"),
        ("/dog/7/x", "GET /{kind}/{id}/x"),
        ("/pet/a%2Fb?x=1", "GET /pet/{id}"),
        ("/pet/7/", "GET /pet/{id}"),
        ("/", "GET /"),
        ("/q?a=1&Action=Stop", "GET /q?Action=Stop"),
    ] {
        assert_eq!(text(&get(&mock, target, &[])), expected, "{target}");
    }
    assert_eq!(text(&ask(&mock, "DELETE", "/pet/7", &[])), "DELETE /pet/{id}");
}

#[test]
fn unknown_paths_and_methods_are_problems() {
    let mock = mock(vec![named("GET", "/pet/{id}"), named("PUT", "/pet/{id}")]);
    for target in ["/", "/pets", "/pet/7/x", "/pet//", "/q"] {
        let answer = get(&mock, target, &[]);
        assert_eq!(
            (answer.status, answer.content_type.as_deref()),
            (404, Some("application/problem+json")),
            "{target}"
        );
        assert_eq!(value(&answer)["status"], json!(404));
    }
    let answer = ask(&mock, "POST", "/pet/7", &[]);
    assert_eq!((answer.status, answer.allow.as_deref()), (405, Some("GET, PUT")));
    assert_eq!(ask(&mock, "HEAD", "/pet/7", &[]).status, 200, "HEAD is GET without body");
}

#[test]
fn base_paths_of_servers_are_taken_off() {
    let mut pet = named("GET", "/pet/{id}");
    let server = |url: &str| Server { url: url.to_owned(), description: None, name: None, variables: IndexMap::new() };
    let mut templated = server("https://{region}.example/{version}/api/");
    templated
        .variables
        .insert("version".to_owned(), ServerVariable { default: Some("v2".to_owned()), allowed: Vec::new() });
    pet.servers = vec![server("https://api.example/v3"), templated, server("/relative")];
    let mock = Mock::new([(api(vec![pet]), Some("/own".to_owned()))]);
    for target in ["/v3/pet/7", "/v2/api/pet/7", "/relative/pet/7", "/own/pet/7", "/pet/7"] {
        assert_eq!(get(&mock, target, &[]).status, 200, "{target}");
    }
    assert_eq!(get(&mock, "/other/pet/7", &[]).status, 404);
}

#[test]
fn first_success_or_what_prefer_asks_for() {
    let json_media = |name: &str| vec![media("application/json", json!({"const": name}))];
    let mock = mock(vec![
        operation(
            "POST",
            "/a",
            vec![
                response("400", json_media("400")),
                response("201", json_media("201")),
                response("200", json_media("200")),
                response("5XX", json_media("5XX")),
                response("default", json_media("default")),
            ],
        ),
        operation(
            "POST",
            "/default",
            vec![response("404", json_media("404")), response("default", json_media("default"))],
        ),
        operation("POST", "/range", vec![response("2XX", json_media("2XX"))]),
        operation("POST", "/error", vec![response("418", json_media("418"))]),
        operation("POST", "/none", vec![]),
        operation("POST", "/empty", vec![response("204", vec![])]),
    ]);
    let rows: &[(&str, Option<&'static str>, u16, Option<&str>)] = &[
        ("/a", None, 201, Some("201")),
        ("/a", Some("code=200"), 200, Some("200")),
        ("/a", Some("foo, code=\"400\"; x=y"), 400, Some("400")),
        ("/a", Some("code=503"), 503, Some("5XX")),
        ("/a", Some("code=404"), 404, Some("default")),
        ("/default", None, 200, Some("default")),
        ("/range", None, 200, Some("2XX")),
        ("/error", None, 418, Some("418")),
        ("/none", None, 204, None),
        ("/empty", None, 204, None),
    ];
    for (target, prefer, status, body) in rows {
        let headers: Vec<_> = prefer.iter().map(|prefer| ("prefer", *prefer)).collect();
        let answer = ask(&mock, "POST", target, &headers);
        assert_eq!(answer.status, *status, "{target} {prefer:?}");
        match body {
            Some(body) => assert_eq!(value(&answer), json!(body), "{target} {prefer:?}"),
            None => assert!(answer.body.is_empty()),
        }
    }
    let unknown = ask(&mock, "POST", "/range", &[("prefer", "code=404")]);
    assert_eq!((unknown.status, unknown.content_type.as_deref()), (404, Some("application/problem+json")));
}

#[test]
fn media_types_are_negotiated() {
    let kinds = ["application/json", "text/csv", "image/*"].map(|kind| media(kind, json!({"const": "x"})));
    let mock = mock(vec![operation("GET", "/a", vec![response("200", kinds.to_vec())])]);
    for (accept, expected) in [
        ("", Some("application/json")),
        ("*/*", Some("application/json")),
        ("text/csv", Some("text/csv")),
        ("text/*;q=0.9, application/json;q=0.1", Some("text/csv")),
        ("application/json;q=0, */*;q=0.1", Some("text/csv")),
        ("image/webp, text/html", Some("image/png")),
        ("audio/mpeg", None),
    ] {
        let answer = get(&mock, "/a", &[("accept", accept)]);
        match expected {
            Some(expected) => assert_eq!(answer.content_type.as_deref(), Some(expected), "{accept}"),
            None => assert_eq!(answer.status, 406),
        }
    }
}

#[test]
fn examples_come_before_samples_and_path_values_are_echoed() {
    let mut pet = media("application/json", json!({"type": "object"}));
    pet.examples =
        vec![json!({"id": 10, "name": "Rex", "shop_id": "s", "tags": []}), json!({"id": 11, "name": "Bo"})].into();
    let mut text_example = media("application/json", json!({"type": "object"}));
    text_example.examples = vec![json!("{\"a\": 1}")].into();
    let mock = mock(vec![
        operation("GET", "/shop/{shopId}/pet/{petId}", vec![response("200", vec![pet])]),
        operation("GET", "/text", vec![response("200", vec![text_example])]),
    ]);
    let target = "/shop/main/pet/7";
    assert_eq!(value(&get(&mock, target, &[])), json!({"id": 7, "name": "Rex", "shop_id": "main", "tags": []}));
    // a value that does not fit the type is not echoed
    assert_eq!(value(&get(&mock, "/shop/main/pet/x", &[]))["id"], json!(10));
    assert_eq!(value(&get(&mock, target, &[("prefer", "example=2")])), json!({"id": 11, "name": "Bo"}));
    assert_eq!(value(&get(&mock, "/text", &[])), json!({"a": 1}), "an example written as JSON text");
}

#[test]
fn bodies_of_other_media_types() {
    let item = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let mut lines = media("application/x-ndjson", json!(true));
    (lines.has_schema, lines.item_schema) = (false, Some(schema(item.clone())));
    let mut events = media("text/event-stream", json!(true));
    (events.has_schema, events.item_schema) = (false, Some(schema(item)));
    let named = json!({"type": "object", "xml": {"name": "pet"}, "properties": {"name": {"type": "string"}}});
    let rows: Vec<(MediaType, &[u8])> = vec![
        (lines, b"{\"a\":1}\n"),
        (events, b"data: {\"a\":1}\n\n"),
        (media("application/xml", named), b"<?xml version=\"1.0\" encoding=\"UTF-8\"?><pet><name>string</name></pet>"),
        (media("text/plain", json!({"type": "string"})), b"string"),
        (media("text/csv", json!({"type": "string"})), b"id,name\n1,sample\n"),
        (media("image/gif", json!({"format": "binary"})), b"GIF89a"),
        (media("image/png", json!({"format": "binary"})), b"\x89PNG\r\n\x1a\n"),
        (media("application/pdf", json!({"format": "binary"})), b"%PDF-1.4"),
        (media("audio/wav", json!({"format": "binary"})), b"RIFF"),
        (media("application/zip", json!({"format": "binary"})), b"PK"),
        (media("application/octet-stream", json!({"format": "binary"})), b"sample"),
    ];
    for (content, start) in rows {
        let media_type = content.media_type.clone();
        let mock = mock(vec![operation("GET", "/a", vec![response("200", vec![content])])]);
        let answer = get(&mock, "/a", &[]);
        assert_eq!(answer.content_type.as_deref(), Some(media_type.as_str()));
        assert!(answer.body.starts_with(start), "{media_type}: {:?}", answer.body);
    }
}

/// Every sample must satisfy its own schema: an independent validator judges.
#[test]
fn samples_satisfy_their_schema() {
    let rows = [
        json!({"type": "string"}),
        json!({"type": "string", "minLength": 10, "maxLength": 12}),
        json!({"type": "string", "maxLength": 2}),
        json!({"type": "string", "enum": ["b", "a"]}),
        json!({"type": ["null", "string"]}),
        json!({"type": "string", "pattern": "^[A-Z]{3}-\\d{4}$"}),
        json!({"type": "string", "pattern": "^(?:cus|acct)_[a-zA-Z0-9]+$", "minLength": 20}),
        json!({"type": "string", "pattern": "^\\p{L}+ ?x*$"}),
        json!({"type": "string", "pattern": "[^a-z/]{2,}|never"}),
        json!({"type": "string", "pattern": "^https?://.*\\.png$"}),
        json!({"type": "string", "format": "date-time"}),
        json!({"type": "string", "format": "uuid"}),
        json!({"type": "string", "format": "email"}),
        json!({"type": "string", "format": "ipv6"}),
        json!({"type": "integer"}),
        json!({"type": "integer", "minimum": 18, "maximum": 20}),
        json!({"type": "integer", "exclusiveMinimum": 5, "multipleOf": 4}),
        json!({"type": "integer", "maximum": -3}),
        json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
        json!({"type": "number", "minimum": 2.5}),
        json!({"type": "number", "multipleOf": 0.25, "minimum": 1.1}),
        json!({"type": "boolean"}),
        json!({"const": {"a": [1]}}),
        json!({"type": "integer", "default": 7}),
        json!({"type": "integer", "example": "not one"}),
        json!({"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": true}),
        json!({"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 3, "uniqueItems": true}),
        json!({"type": "array", "items": {"type": "string"}, "maxItems": 0}),
        json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false}),
        json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}),
        json!({"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 2}),
        json!({"allOf": [{"required": ["a"], "properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "integer"}}, "required": ["b"]}]}),
        json!({"oneOf": [{"type": "null"}, {"type": "object", "required": ["x"], "properties": {"x": {"const": 1}}}]}),
        json!({"anyOf": [{"type": "integer", "minimum": 3}, {"type": "string"}]}),
        json!(true),
        json!({}),
    ];
    for json in rows {
        let made = sample(&schema(json.clone()), &Definitions::default(), Direction::Output);
        let validator = jsonschema::options().should_validate_formats(true).build(&json).unwrap();
        assert!(validator.is_valid(&made), "{json} → {made}");
        let again = sample(&schema(json), &Definitions::default(), Direction::Output);
        assert_eq!(made, again, "deterministic");
    }
}

fn definitions(list: &[(&str, Value, &[usize])]) -> Definitions {
    let definition = |(name, json, uses): &(&str, Value, &[usize])| Definition {
        name: (*name).to_owned(),
        schema: Schema { json: Arc::new(json.clone()), uses: (*uses).into() },
        for_input: Default::default(),
        for_output: Default::default(),
    };
    Definitions { list: list.iter().map(definition).collect() }
}

#[test]
fn recursion_is_cut_and_diamonds_are_not() {
    let node = json!({"type": "object", "required": ["value", "twin"], "properties": {
        "value": {"type": "integer"},
        "next": {"$ref": "#/$defs/Node"},
        "twin": {"allOf": [{"$ref": "#/$defs/Node"}]},
        "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}
    }});
    let definitions = definitions(&[
        ("Node", node, &[0]),
        ("Loop", json!({"allOf": [{"$ref": "#/$defs/Loop"}], "properties": {"a": {"type": "string"}}}), &[1]),
        ("Base", json!({"type": "object", "properties": {"id": {"type": "integer"}}}), &[]),
        ("Inner", json!({"allOf": [{"$ref": "#/$defs/Base"}], "properties": {"inner": {"type": "string"}}}), &[2]),
        (
            "Outer",
            json!({"allOf": [{"$ref": "#/$defs/Base"}], "properties": {"a": {"$ref": "#/$defs/Inner"}, "b": {"$ref": "#/$defs/Inner"}}}),
            &[2, 3],
        ),
    ]);
    let of = |name: &str, id: usize| {
        let schema = Schema { json: Arc::new(json!({"$ref": format!("#/$defs/{name}")})), uses: Arc::new([id]) };
        sample(&schema, &definitions, Direction::Output)
    };
    assert_eq!(of("Node", 0), json!({"value": 1, "twin": {}, "children": []}));
    assert_eq!(of("Loop", 1), json!({"a": "string"}));
    let inner = json!({"inner": "string", "id": 1});
    assert_eq!(of("Outer", 4), json!({"a": inner, "b": inner, "id": 1}));
}

#[test]
fn properties_travel_in_their_direction() {
    let json = json!({"type": "object", "properties": {
        "id": {"type": "integer", "readOnly": true},
        "password": {"type": "string", "writeOnly": true},
        "name": {"type": "string"}
    }});
    let of = |direction| sample(&schema(json.clone()), &Definitions::default(), direction);
    assert_eq!(of(Direction::Output), json!({"id": 1, "name": "string"}));
    assert_eq!(of(Direction::Input), json!({"password": "string", "name": "string"}));
}

/// A schema that multiplies must not take the mock down.
#[test]
fn huge_samples_are_cut() {
    let list: Vec<(String, Value, Vec<usize>)> = (0..30)
        .map(|level| {
            let next = format!("#/$defs/L{}", level + 1);
            let properties: serde_json::Map<String, Value> =
                (0..4).map(|index| (format!("p{index}"), json!({"$ref": next}))).collect();
            (format!("L{level}"), json!({"type": "object", "properties": properties}), vec![level + 1])
        })
        .chain([("L30".to_owned(), json!({"type": "string"}), vec![])])
        .collect();
    let list: Vec<(&str, Value, &[usize])> =
        list.iter().map(|(name, json, uses)| (name.as_str(), json.clone(), uses.as_slice())).collect();
    let definitions = definitions(&list);
    let schema = Schema { json: Arc::new(json!({"$ref": "#/$defs/L0"})), uses: Arc::new([0]) };
    let made = sample(&schema, &definitions, Direction::Output);
    assert!(made.to_string().len() < 200_000);
}

#[tokio::test]
async fn serves_until_told_to_stop() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let shutdown = CancellationToken::new();
    let pet = media("application/json", json!({"type": "object", "properties": {"petId": {"type": "integer"}}}));
    let api = api(vec![operation("POST", "/pet/{petId}", vec![response("201", vec![pet])])]);
    let server = tokio::spawn(serve(api, listener, shutdown.clone()));
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let answer = client.post(format!("http://{address}/pet/42?x=1")).body("ignored").send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::CREATED);
    assert_eq!(answer.headers()["content-type"], "application/json");
    assert_eq!(answer.text().await.unwrap(), r#"{"petId":42}"#);
    let unknown = client.get(format!("http://{address}/pet/42")).send().await.unwrap();
    assert_eq!(
        (unknown.status(), unknown.headers()["allow"].to_str().unwrap()),
        (StatusCode::METHOD_NOT_ALLOWED, "POST")
    );
    drop(client);
    shutdown.cancel();
    server.await.unwrap().unwrap();
}
