//! Workflows of Arazzo documents as tools.

use super::Desk;

const SPEC: &str = include_str!("../../examples/workflows/spec.yaml");

const WORKFLOWS: &str = include_str!("../../examples/workflows/flow.yaml");

const MAPPING: &str = include_str!("../../examples/workflows/map.yaml");

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
            "        onFailure: [ { name: again, type: retry, retryLimit: often } ]",
            "`retryLimit` is a whole number of attempts",
        ),
        ("type: goto, stepId: read", "type: retry, stepId: read", "the `type` of action `on` is `end` or `goto`"),
        ("stepId: read } ]", "stepId: reed } ]", "action `on`: there is no step `reed`"),
        ("stepId: read } ]", "workflowId: removeFirst } ]", "the workflow `firstPet` leads back here"),
        ("stepId: read } ]", "workflowId: $sourceDescriptions.shopApi.x } ]", "it needs `type: arazzo`"),
        ("operationId: login", "operationId: logon", "did you mean `login`?"),
        (
            "{ name: status, in: query",
            "{ name: statuss, in: query",
            "no query parameter `statuss`; did you mean `status`?",
        ),
        ("{ name: status, in: query", "{ name: Authorization, in: header", "put it under `credentials:`"),
        ("value: $inputs.status", "value: $inputs.state", "`$inputs.state` is not declared"),
        ("$steps.find.outputs.id", "$steps.find.outputs.key", "step `find` has no output `key`"),
        ("$steps.find.outputs.id", "$steps.later.outputs.id", "`$steps.later` is no step"),
        ("$statusCode == 200 &&", "$statusCode == 200 && (", "lacks a `)`"),
        ("type: regex", "type: xpath", "criteria of type `xpath` are not supported"),
        ("$response.header.X-Session", "$url", "it may hold credentials"),
        ("$response.header.X-Session", "$request.body.x", "is no expression that is supported"),
        ("$response.header.X-Session", "$outputs.x", "is no output of a workflow that this step calls"),
        ("value: $inputs.status", "value: $workflows.other.outputs.x", "`$workflows.other` is none of `dependsOn`"),
        (
            "parameters: [ { name: petId, in: path, value: $steps.find.outputs.id } ]",
            "parameters: []",
            "gives no value for `petId`",
        ),
        (
            "    summary: Log in",
            "    dependsOn: [removeFirst]\n    summary: Log in",
            "the workflow `firstPet` leads back here",
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
fn a_workflow_that_jumps_back_for_ever_ends() {
    let flow = r#"arazzo: 1.0.1
info: { title: T, version: "1" }
sourceDescriptions: [ { name: shop, url: spec.yaml, type: openapi } ]
workflows:
  - workflowId: round
    steps:
      - stepId: find
        operationId: findPets
        onSuccess: [ { name: on, type: goto, stepId: find } ]
"#;
    let answers = "          - { json: [] }\n".repeat(200);
    let test = format!(
        "version: 1\nsources: {{ shop: {{ spec: spec.yaml, workflows: [flow.yaml] }} }}\ntools:\n  round:\n    tests:\n      - respond:\n{answers}        result: {{ is_error: true, text: \"Stopped before step `find`: 200 calls were made, and the workflow still goes on.\\nLINES\" }}\n"
    );
    let lines = "- `find` (findPets) already happened\\n".repeat(20);
    let test = test.replace("LINES", &format!("- 180 earlier calls\\n{}", lines.trim_end_matches("\\n")));
    let desk = Desk::new(&[("spec.yaml", SPEC), ("flow.yaml", flow), ("map.yaml", &test)]);
    let ran = desk.run(&["test", "map.yaml"]);
    assert_eq!(ran.out.lines().last(), Some("1 passed, 0 failed"), "{}{}", ran.out, ran.err);
}

#[test]
fn edits_that_a_workflow_can_not_have_are_refused_with_their_place() {
    let cases = [
        (
            "    description: Fetches",
            "    poll: { status: .state, until: [done] }\n    description: Fetches",
            "error[no-effect]",
        ),
        (
            "    description: Fetches",
            "    args: { user: { value: \"${env:USER_NAME}\" } }\n    description: Fetches",
            "error[secret-in-workflow]",
        ),
        (
            "    description: Fetches",
            "    args: { usr: { rename: name } }\n    description: Fetches",
            "did you mean `user`?",
        ),
        ("    description: Fetches", "    confirm: \"For {{usr}}?\"\n    description: Fetches", "did you mean `user`?"),
        ("  removeFirst:\n", "  lost: { workflow: fristPet }\n  removeFirst:\n", "did you mean `firstPet`?"),
        ("  removeFirst:\n", "  both: { workflow: firstPet, operation: getPet }\n  removeFirst:\n", "error[conflict]"),
    ];
    for (from, to, wanted) in cases {
        let mapping = MAPPING.replacen(from, to, 1);
        assert_ne!(mapping, MAPPING, "{from}");
        let desk =
            Desk::new(&[("spec.yaml", SPEC), ("flow.yaml", WORKFLOWS), ("map.yaml", &mapping)]).with("USER_NAME", "x");
        let ran = desk.run(&["check", "map.yaml", "--strict"]);
        assert_ne!(ran.code, 0, "{to}");
        assert!(ran.err.contains(wanted) && ran.err.contains("map.yaml:"), "`{wanted}` is not in:\n{}", ran.err);
    }
}

#[test]
fn a_file_that_is_no_arazzo_document_is_named() {
    let ran = desk("openapi: 3.1.0\n").run(&["check", "map.yaml"]);
    assert!(ran.err.contains("this is no Arazzo 1.x document"), "{}", ran.err);
}
