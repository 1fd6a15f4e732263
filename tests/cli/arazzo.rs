//! Workflows of Arazzo documents as tools.

use super::Desk;

const SPEC: &str = r#"openapi: 3.1.0
info: { title: Shop, version: "1" }
servers: [ { url: "https://shop.example/v1" } ]
paths:
  /login:
    post:
      operationId: login
      requestBody:
        required: true
        content: { application/json: { schema: { type: object, properties: { user: { type: string }, scopes: { type: array, items: { type: string } } } } } }
      responses: { "200": { description: ok } }
  /pets:
    get:
      operationId: findPets
      parameters:
        - { name: status, in: query, schema: { type: string } }
        - { name: X-Session, in: header, schema: { type: string } }
      responses: { "200": { description: ok } }
  /pets/{petId}:
    get:
      operationId: getPet
      parameters: [ { name: petId, in: path, required: true, schema: { type: integer } } ]
      responses: { "200": { description: ok } }
    delete:
      operationId: deletePet
      parameters: [ { name: petId, in: path, required: true, schema: { type: integer } } ]
      responses: { "204": { description: gone } }
"#;

const WORKFLOWS: &str = r##"arazzo: 1.0.1
info: { title: Buying, version: "1" }
sourceDescriptions: [ { name: shopApi, url: spec.yaml, type: openapi } ]
components:
  inputs:
    who: { type: string, minLength: 1 }
  parameters:
    session: { name: X-Session, in: header, value: $steps.signIn.outputs.session }
workflows:
  - workflowId: firstPet
    summary: Log in and fetch the first pet of a status.
    inputs:
      type: object
      required: [user]
      properties:
        user: { $ref: "#/components/inputs/who" }
        status: { type: string, default: available }
        note: { type: string }
    steps:
      - stepId: signIn
        operationId: login
        requestBody:
          contentType: application/json
          payload: { user: "{$inputs.user}", scopes: [read, "pets:{$inputs.status}"] }
          replacements: [ { target: /scopes/0, value: write } ]
        successCriteria:
          - condition: $statusCode == 200 && $response.body#/state != 'LOCKED'
        outputs:
          session: $response.header.X-Session
          rate: $response.body#/limits/perHour
      - stepId: find
        operationPath: "{$sourceDescriptions.shopApi.url}#/paths/~1pets/get"
        parameters:
          - { name: status, in: query, value: $inputs.status }
          - reference: $components.parameters.session
        successCriteria:
          - condition: $statusCode == 200
          - { context: $response.body, type: jsonpath, condition: "$[?@.id > 0]" }
        onSuccess: [ { name: on, type: goto, stepId: read } ]
        outputs: { id: "$response.body#/0/id" }
      - stepId: read
        operationId: $sourceDescriptions.shopApi.getPet
        parameters: [ { name: petId, in: path, value: $steps.find.outputs.id } ]
        successCriteria:
          - { context: $response.body#/name, type: regex, condition: "^[A-Z]" }
        outputs: { pet: $response.body }
    outputs:
      pet: $steps.read.outputs.pet
      text: "{$inputs.user} gets {$steps.read.outputs.pet#/name}"
      rate: $steps.signIn.outputs.rate
  - workflowId: removeFirst
    inputs: { type: object, required: [user], properties: { user: { type: string } } }
    steps:
      - stepId: first
        workflowId: firstPet
        parameters: [ { name: user, value: $inputs.user } ]
        outputs: { id: "$response.body#/pet/id" }
      - stepId: remove
        operationId: deletePet
        parameters: [ { name: petId, in: path, value: $steps.first.outputs.id } ]
"##;

const MAPPING: &str = r##"version: 1
sources:
  shop: { spec: spec.yaml, workflows: [flow.yaml] }
rules:
  - match: { method: DELETE }
    set: { confirm: "Really {{path}}?" }
tools:
  firstPet:
    description: Fetches the first pet for somebody.
    tests:
      - name: three calls, data flowing on
        args: { user: Ann }
        request:
          - { method: POST, path: /v1/login, json: { user: Ann, scopes: [write, "pets:available"] } }
          - { method: GET, path: "/v1/pets?status=available", headers: { x-session: s1 } }
          - { method: GET, path: /v1/pets/7 }
        respond:
          - { json: { state: open, limits: { perHour: 5 } }, headers: { x-session: s1 } }
          - { json: [ { id: 7 }, { id: 8 } ] }
          - { json: { id: 7, name: Rex } }
        result: { json: { pet: { id: 7, name: Rex }, text: Ann gets Rex, rate: 5 } }
      - name: a criterion that does not hold ends it
        args: { user: Ann }
        request: [ {}, {} ]
        respond:
          - { json: { state: open }, headers: { x-session: s1 } }
          - { json: [] }
        result:
          is_error: true
          text: "Step `find` failed: status 200; `$[?@.id > 0]` does not hold. The answer: []\n- `signIn` (login) already happened: {\"session\":\"s1\",\"rate\":null}\n- `read` was not started"
      - name: texts are compared without regard to case
        args: { user: Ann }
        request: {}
        respond: { json: { state: locked } }
        result: { is_error: true }
      - name: arguments are checked
        args: { user: "" }
        request: []
        result: { is_error: true }
  removeFirst:
    tests:
      - name: asks, because one of its calls asks
        args: { user: Ann }
        answers: { confirm: true }
        request: [ {}, {}, {}, { method: DELETE, path: /v1/pets/7 } ]
        respond:
          - { json: {}, headers: { x-session: s1 } }
          - { json: [ { id: 7 } ] }
          - { json: { id: 7, name: Rex } }
          - { status: 204 }
        result: { is_error: false }
      - name: declined
        args: { user: Ann }
        answers: { confirm: false }
        request: []
        result: { is_error: true }
"##;

fn desk(workflows: &str) -> Desk {
    Desk::new(&[("spec.yaml", SPEC), ("flow.yaml", workflows), ("map.yaml", MAPPING)])
}

#[test]
fn a_workflow_is_a_tool_and_runs_as_written() {
    let ran = desk(WORKFLOWS).run(&["test", "map.yaml"]);
    assert_eq!(ran.out.lines().last(), Some("6 passed, 0 failed"), "{}{}", ran.out, ran.err);
    let checked = desk(WORKFLOWS).run(&["check", "map.yaml", "--strict"]);
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    let shown = desk(WORKFLOWS).run(&["inspect", "map.yaml", "--tool", "firstPet"]);
    assert!(shown.out.contains("step find: GET /pets") && shown.out.contains("\"minLength\": 1"), "{}", shown.out);
}

#[test]
fn what_is_not_supported_leaves_the_workflow_out_with_its_place() {
    let cases = [
        (
            "        onSuccess: [ { name: on, type: goto, stepId: read } ]",
            "        onFailure: [ { name: again, type: retry, retryLimit: 3 } ]",
            "`onFailure` with `retry` is not supported",
        ),
        ("stepId: read } ]", "stepId: signIn } ]", "`onSuccess` with `goto` is not supported"),
        ("operationId: login", "operationId: logon", "did you mean `login`?"),
        (
            "{ name: status, in: query",
            "{ name: statuss, in: query",
            "no query parameter `statuss`; did you mean `status`?",
        ),
        ("{ name: status, in: query", "{ name: Authorization, in: header", "put it under `credentials:`"),
        ("value: $inputs.status", "value: $inputs.state", "`$inputs.state` is not declared"),
        ("$steps.find.outputs.id", "$steps.find.outputs.key", "step `find` has no output `key`"),
        ("$steps.find.outputs.id", "$steps.later.outputs.id", "`$steps.later` is no earlier step"),
        ("$statusCode == 200 &&", "$statusCode == 200 && (", "lacks a `)`"),
        ("type: regex", "type: xpath", "criteria of type `xpath` are not supported"),
        ("$response.header.X-Session", "$request.header.X-Session", "is no expression that is supported"),
        (
            "parameters: [ { name: petId, in: path, value: $steps.find.outputs.id } ]",
            "parameters: []",
            "gives no value for `petId`",
        ),
        (
            "    summary: Log in",
            "    dependsOn: [removeFirst]\n    summary: Log in",
            "`dependsOn` other workflows is not supported",
        ),
        ("#/components/inputs/who", "#/components/inputs/whom", "points to nothing"),
    ];
    for (from, to, wanted) in cases {
        let broken = WORKFLOWS.replacen(from, to, 1);
        assert_ne!(broken, WORKFLOWS, "{from}");
        let ran = desk(&broken).run(&["check", "map.yaml"]);
        assert_eq!(ran.code, 1, "{to}");
        assert!(ran.err.contains("error[unsupported-workflow]: workflow `firstPet` is no tool: "), "{}", ran.err);
        assert!(ran.err.contains(wanted) && ran.err.contains("flow.yaml:"), "`{wanted}` is not in:\n{}", ran.err);
        let listed = desk(&broken).run(&["inspect", "map.yaml"]);
        assert!(!listed.out.contains("tool  firstPet") && listed.out.contains("tool  findPets"), "{}", listed.out);
    }
}

#[test]
fn a_file_that_is_no_arazzo_document_is_named() {
    let ran = desk("openapi: 3.1.0\n").run(&["check", "map.yaml"]);
    assert!(ran.err.contains("this is no Arazzo 1.x document"), "{}", ran.err);
}
