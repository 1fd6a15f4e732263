use super::{document, mapping, read};
use proptest::prelude::*;
use rest_mcp::mapping::{
    AskKind, BlockRules, BodyStyle, CachePer, CatalogMode, Description, Expose, Format, OnError, PageStyle, Redirects,
    ResultKind, Role, StreamMode,
};
use serde_json::json;

/// Every key of the reference, with its value there or one of its kind.
pub const REFERENCE: &str = r#"
version: 1
sources:
  petstore:
    spec: ../specs/petstore.yaml
    overlays: [petstore.overlay.yaml]
    workflows: [petstore.arazzo.yaml]
    base_url: ${env:PETSTORE_URL:-https://petstore.example/v3}
    server_variables: { region: eu, port: 8443 }
    expose: all
    tool_prefix: ""
    credentials:
      api_key:  { value: "${env:PETSTORE_KEY}" }
      basic:    { username: joe, password: "${file:secrets/pw}" }
      oauth:    { grant: client_credentials, token_url: https://auth.example/token, client_id: a, client_secret: "${env:S}", scopes: [read] }
      caller:   { exchange: { token_url: https://auth.example/token, audience: pets } }
      caller2:  { forward: header authorization }
    headers: { X-Client: rest-mcp }
    forward_headers: [x-request-id, traceparent]
    tls: { ca: ca.pem, cert: cert.pem, key: key.pem, insecure: false }
    limits: { connect_timeout: 5s, timeout: 30s, max_response: 10MiB, concurrency: 64, rate: 50/s,
              retries: 2, breaker: { failures: 10, cooldown: 15s }, redirects: same-origin, allow_private: true }
  tracker: { base_url: https://tracker.example }
rules:
  - match: { method: [GET], tag: [pet, store], path: /pet/**, operation: find*, deprecated: false, security: api_key, x-internal: true }
    set: { annotations: { read_only: true } }
  - match: { tag: admin }
    exclude: true
  - match: { method: DELETE }
    set: { confirm: "Really {{method}} {{path}}?" }
tools:
  get_pet:
    operation: getPetById
    source: petstore
    title: Pet by id
    description: Look a pet up by its number.
    annotations: { read_only: true, destructive: false, idempotent: true, open_world: true }
    icons: [ { src: "https://pets.example/icon.png", mimeType: image/png, sizes: [48x48] } ]
    args:
      petId:     { rename: id, description: The number., examples: [7], minimum: 1 }
      tenant:    { value: "${caller:claims.tenant}" }
      verbose:   { hide: true, value: false }
      limit:     { default: 20, maximum: 50, required: false }
      body.note: { rename: note }
      region:    { mirror: Region }
      nothing:   { value: null }
    body: flatten
    result:
      path: items
      pick: [id, name]
      drop: [secret, "*.internal"]
      rename: { petName: name }
      redact: [owner.email]
      limit_items: 50
      max_bytes: 64KiB
      format: table
      as: auto
      binary: link
      output_schema: relaxed
    success: [200-299, 404, 5XX]
    errors: { path: error.message, hints: { 404: "No such pet; use find_pets first." } }
    paginate: { style: cursor, items: data, cursor: meta.next, arg: cursor, max_pages: 5, max_items: 500 }
    confirm: "Delete pet {{id}}?"
    ask:
      user: { kind: elicit, message: "Who is it for?", schema: { type: object, required: [email], properties: { email: { type: string, format: email } } }, into: email }
      then: { kind: sample, message: Sum up., after: user }
    requires_client: [elicitation]
    cache: { ttl: 60s, per: caller }
    timeout: 5s
    tests:
      - args: { id: 7 }
        request: { method: GET, path: /v3/pet/7, headers: { accept: application/json } }
        respond: { status: 200, json: { id: 7, name: Rex } }
        result: { json: { id: 7, name: Rex } }
  list_pets:
    operation: GET /pet
    description: { from: [summary, description], append: More., max_chars: 400 }
    body: single
    result:
      select: ".items[] | {id, name, tags: [.tags[].name]}"
      template: "{{#each items}}- {{name}} ({{id}})\n{{/each}}"
    poll: { status: ".state", until: [done, failed], location: header location, every: 2s, at_most: 10m, progress: ".percent / 100" }
  watch_pets:
    operation: watchPets
    stream: { mode: collect, progress: { value: progress, total: total, message: note }, log: { level: level, message: log } }
    result:
      blocks:
        - { type: text, path: summary }
        - { type: image, data: image.base64, mime_type: image.mimeType }
        - { type: resource, uri: "shop://order/{{id}}", path: order, mime_type: application/json }
  get_photo:
    result: { as: resource, uri: "photo://{{id}}" }
  search_issues:
    source: tracker
    request:
      method: POST
      path: /graphql
      parameters: [ { in: header, name: X-Trace, schema: { type: string } } ]
      body:
        query: "query($q:String!){ issues(q:$q){ id title } }"
        variables: { q: "{{q}}", first: "{{first}}" }
    input:
      type: object
      required: [q]
      properties: { q: { type: string }, first: { type: integer, default: 20 } }
    result: { path: data.issues }
  onboard_customer:
    description: Create a customer and their first project.
    input: { type: object, required: [email], properties: { email: { type: string, format: email } } }
    steps:
      - id: customer
        call: createCustomer
        with: { email: "{{input.email}}" }
      - id: project
        call: createProject
        with: { owner: "{{customer.id}}" }
        when: "{{customer.active}}"
        on_error: continue
    result: { template: "Customer {{customer.id}}, project {{project.id}}" }
resources:
  pet: { operation: getPetById, uri: "pets://{petId}", mime_type: application/json }
prompts:
  triage: { description: Triage., arguments: [ { name: id, required: true, complete: find_pets } ],
            messages: [ { role: user, text: "Triage pet {{id}}." }, { role: user, resource: "pets://{{id}}" } ] }
catalog: { mode: search, pinned: [get_pet], name_style: keep, max_name: 64, schema_profile: strict-vendors }
"#;

#[test]
fn every_key_of_the_reference_is_read_with_its_meaning() {
    let (mapping, report) = read(REFERENCE);
    let codes: Vec<&str> = report.diagnostics.iter().map(|one| one.code).collect();
    assert_eq!(codes, ["forwarded-credential"], "{}", report.render(false));
    let mapping = mapping.unwrap();

    let source = &mapping.sources["petstore"];
    assert_eq!(source.server_variables["port"].0, "8443");
    assert_eq!(source.expose, Expose::All);
    assert_eq!(source.limits.timeout.0.as_secs(), 30);
    assert_eq!(source.limits.max_response.0, 10 * 1024 * 1024);
    assert_eq!(source.limits.breaker.as_ref().unwrap().cooldown.0.as_secs(), 15);
    assert_eq!((source.limits.redirects, source.limits.allow_private), (Redirects::SameOrigin, Some(true)));
    assert_eq!(mapping.rules[0].matches.extensions["x-internal"], json!(true));
    assert!(mapping.rules[1].exclude);

    let tool = &mapping.tools["get_pet"];
    assert_eq!(tool.edits.args["petId"].rename.as_deref(), Some("id"));
    assert_eq!(tool.edits.args["petId"].schema["examples"], json!([7]));
    assert_eq!(tool.edits.args["nothing"].value, Some(json!(null)));
    assert_eq!(tool.edits.args["limit"].value, None);
    assert_eq!(tool.edits.args["limit"].required, Some(false));
    assert_eq!(tool.edits.body, Some(BodyStyle::Flatten));
    let result = tool.edits.result.as_ref().unwrap();
    assert_eq!(
        (result.max_bytes.unwrap().0, result.format, result.kind),
        (65536, Some(Format::Table), Some(ResultKind::Auto))
    );
    let success = tool.edits.success.as_ref().unwrap();
    assert!([200, 299, 404, 503].iter().all(|status| success.contains(*status)) && !success.contains(403));
    assert_eq!(tool.edits.errors.as_ref().unwrap().hints["404"], "No such pet; use find_pets first.");
    assert_eq!(tool.edits.paginate.as_ref().unwrap().style, PageStyle::Cursor);
    assert_eq!((tool.edits.ask["user"].kind, tool.edits.ask["then"].kind), (AskKind::Elicit, AskKind::Sample));
    assert_eq!(tool.edits.cache.as_ref().unwrap().per, CachePer::Caller);
    let test = &tool.tests[0];
    assert_eq!(test.request.as_ref().unwrap().as_slice()[0].path.as_deref(), Some("/v3/pet/7"));
    assert_eq!(test.respond.as_ref().unwrap().as_slice()[0].status, Some(200));

    assert!(
        matches!(&mapping.tools["list_pets"].edits.description, Some(Description::From(from)) if from.max_chars == Some(400))
    );
    assert_eq!(mapping.tools["watch_pets"].edits.stream.as_ref().unwrap().mode, StreamMode::Collect);
    let blocks = &mapping.tools["watch_pets"].edits.result.as_ref().unwrap().blocks.as_ref().unwrap();
    assert!(matches!(&blocks[1], BlockRules::Image { data, .. } if data == "image.base64"));
    assert_eq!(mapping.tools["onboard_customer"].steps[1].on_error, OnError::Continue);
    assert_eq!(mapping.prompts["triage"].messages[0].role, Role::User);
    assert_eq!(mapping.catalog.mode, CatalogMode::Search);
}

#[test]
fn empty_sections_and_tools_are_what_they_look_like() {
    let mapping = mapping(
        "version: 1\nsources: { a: { spec: a } }\nrules:\ntools:\n  getPet:\n  listPets: {}\nprompts:\ncatalog:\n",
    );
    assert_eq!(mapping.tools.keys().collect::<Vec<_>>(), ["getPet", "listPets"]);
    assert!(mapping.rules.is_empty() && mapping.prompts.is_empty());
}

#[test]
fn no_mapping_comes_of_a_file_with_an_error_anywhere() {
    let (mapping, report) =
        read("version: 1\nsources: { a: { spec: a } }\nrules: [ { match: { tag: admin }, exlude: true } ]\n");
    assert!(mapping.is_none() && report.has_errors());
}

#[test]
fn jq_filters_are_checked_where_the_engine_is_at_hand() {
    let check = |filter: &str| if filter.contains("bad") { Err("unexpected `bad`".to_owned()) } else { Ok(()) };
    let text = "version: 1\nsources: { a: { spec: a } }\ntools:\n  t: { result: { select: .bad }, poll: { status: .ok, until: [x], progress: bad } }\n";
    let (_, report) = rest_mcp::mapping::read_with(&document(text), Some(&check));
    let places: Vec<String> =
        report.diagnostics.iter().map(|one| one.place.as_ref().unwrap().pointer.clone()).collect();
    assert_eq!(places, ["/tools/t/result/select", "/tools/t/poll/progress"]);
}

#[test]
fn a_template_error_is_placed_inside_block_folded_and_quoted_texts() {
    for (text, line, column) in [
        ("version: 1\ntools:\n  t:\n    confirm: |\n      one\n      two {{#if a}}\n", 6, 11),
        ("version: 1\ntools:\n  t:\n    confirm: >-\n      one\n      two {{#if a}}\n", 6, 11),
        ("version: 1\ntools:\n  t:\n    confirm: \"\\u00fc\\n{{#if a}}\"\n", 4, 23),
        ("version: 1\ntools:\n  t:\n    confirm: 'it''s {{#if a}}'\n", 4, 21),
        ("version: 1\ntools:\n  t:\n    confirm: ü {{#if a}}\n", 4, 16),
        ("{\"version\": 1, \"tools\": {\"t\": {\"confirm\": \"a\\tb {{#if a}}\"}}}", 1, 49),
    ] {
        let (_, report) = read(text);
        let found = report.diagnostics.iter().find(|one| one.code == "bad-template").expect(text);
        let position = found.place.as_ref().unwrap().position();
        assert_eq!((position.line, position.column), (line, column), "{text}");
    }
}

#[test]
fn a_secret_in_the_file_is_in_no_text_about_the_file() {
    let text = "version: 1\nsources:\n  a:\n    spec: a\n    credentials:\n      k: { value: s3cr3t, plaec: x }\n      l: { value: [ s3cr3t ] }\n      m: s3cr3t\n      n: { password: 's3cr3t', username: x }\n      o: { grant: nope, client_secret: s3cr3t }\n    auth: { token: s3cr3t }\n";
    let (_, report) = read(text);
    assert!(report.errors() >= 4);
    assert!(!report.render(false).contains("s3cr3t"), "{}", report.render(false));
    assert!(!report.to_json().to_string().contains("s3cr3t"));
    for one in &report.diagnostics {
        assert!(!one.place.as_ref().unwrap().source.text.contains("s3cr3t"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn reading_any_tree_never_panics(cut in 0usize..6000, insert in "[a-z{}\\[\\]:,\"'$ \n-]{0,12}") {
        let mut text: String = REFERENCE.chars().take(cut).collect();
        text.push_str(&insert);
        text.extend(REFERENCE.chars().skip(cut + insert.len()));
        let source = std::sync::Arc::new(rest_mcp::diagnostic::Source { name: "m".to_owned(), text });
        let (document, _) = rest_mcp::document::parse(source, "m".to_owned(), &rest_mcp::document::Limits::default());
        if let Some(document) = document {
            let (mapping, report) = rest_mcp::mapping::read(&document);
            prop_assert_eq!(mapping.is_some(), !report.has_errors());
            let _ = report.render(false);
            let _ = rest_mcp::config::read(&document);
        }
    }
}
