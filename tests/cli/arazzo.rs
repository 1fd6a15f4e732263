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
