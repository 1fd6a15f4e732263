//! `test`, `init`, `lint`.

use super::{Desk, FILES};
use serde_json::Value;

const MAPPING: &str = include_str!("../../examples/tests/map.yaml");

#[test]
fn tests_of_a_mapping_run_offline() {
    let desk = Desk::new(&[("files.yaml", FILES), ("map.yaml", MAPPING)]).with("URL", "https://elsewhere.example");
    let ran = desk.run(&["test", "map.yaml", "--junit", "out.xml"]);
    assert_eq!(ran.out.lines().last(), Some("8 passed, 0 failed"), "{}{}", ran.out, ran.err);
    assert_eq!(ran.code, 0);
    let xml = desk.read("out.xml");
    assert!(xml.contains(r#"<testsuites tests="8" failures="0">"#), "{xml}");
    let one = desk.run(&["test", "map.yaml", "--tool", "remove"]);
    assert_eq!(one.out.lines().last(), Some("2 passed, 0 failed"));
    assert_eq!(desk.run(&["test", "map.yaml", "--tool", "nope"]).code, 1);
}

#[test]
fn each_difference_is_named_exactly() {
    let text = MAPPING
        .replace("path: /v1/files/a%20b", "path: /v1/files/b")
        .replace("result: { json: { name: a } }", "result: { json: { name: z } }")
        .replace("query: { rev: 3 }", "query: { rev: 4 }")
        .replace("{ is_error: true }\n  remove", "{ is_error: false, text: <none> }\n  remove")
        .replace(", { json: { state: done, n: 2 } } ]", " ]");
    let desk = Desk::new(&[("files.yaml", FILES), ("map.yaml", &text)]);
    let ran = desk.run(&["test", "map.yaml", "--junit", "out.xml"]);
    assert_eq!(ran.code, 1);
    for wanted in [
        "FAIL  get_file: by name\n      at map.yaml:11:9\n",
        "request, path: expected `/v1/files/b`, got `/v1/files/a%20b`",
        r#"result, json at /name: expected "z", got "a""#,
        "request, query: expected `rev=4`, got `rev=3`",
        "result, is_error: expected false, got true",
        "`respond`: no answer for request 2 (GET /v1/jobs/1)",
    ] {
        assert!(ran.out.contains(wanted), "`{wanted}` is not in:\n{}", ran.out);
    }
    assert_eq!(ran.out.lines().last(), Some("4 passed, 4 failed"), "{}", ran.out);
    let xml = desk.read("out.xml");
    assert!(xml.contains("failures=\"4\"") && xml.contains("&lt;none&gt;"), "{xml}");
}

#[test]
fn without_a_mapping_there_is_nothing_to_test() {
    let desk = Desk::new(&[("files.yaml", FILES)]);
    assert_eq!(desk.run(&["test", "files.yaml"]).code, 2);
}

#[test]
fn a_first_mapping_can_be_checked_served_and_brought_up_to_date() {
    let desk = Desk::new(&[("specs/files.yaml", FILES)]);
    let made = desk.run(&["init", "specs/files.yaml", "-o", "mappings/files.yaml"]);
    assert_eq!(made.code, 0, "{}", made.err);
    let text = desk.read("mappings/files.yaml");
    assert!(text.contains("spec: ../specs/files.yaml\n"), "{text}");
    assert!(desk.path("mappings/mapping.schema.json").exists());
    let listed = desk.run(&["inspect", "mappings/files.yaml"]);
    assert!(listed.out.contains("3 tools, 1 skipped"), "{}{}", listed.out, listed.err);
    assert_eq!(desk.run(&["init", "specs/files.yaml", "-o", "mappings/files.yaml"]).code, 2, "it is not overwritten");

    let same = desk.run(&["init", "--update", "mappings/files.yaml"]);
    assert_eq!((same.code, desk.read("mappings/files.yaml") == text), (0, true), "{}", same.err);
    let mine = text.replace("tools:\n", "tools:\n  # mine\n  read_it: { operation: getFile }\n");
    desk.write("mappings/files.yaml", &mine);
    desk.write("specs/files.yaml", &FILES.replace("operationId: getFile", "operationId: fetchFile").replace("  /bad:", "  /new:\n    get: { operationId: brandNew, summary: It is new., responses: { \"200\": { description: ok } } }\n  /bad:"));
    let changed = desk.run(&["init", "--update", "mappings/files.yaml"]);
    assert_eq!(changed.code, 1, "something vanished");
    assert!(changed.err.contains("`getFile` is not in the document any more"), "{}", changed.err);
    assert!(changed.err.contains("new: `brandNew`"), "{}", changed.err);
    let updated = desk.read("mappings/files.yaml");
    assert!(updated.starts_with(&mine) && updated.contains("#   brandNew GET /new It is new.\n"), "{updated}");
}

#[test]
fn names_that_repeat_path_and_method_get_a_shorter_one() {
    let spec = r#"openapi: 3.1.0
info: { title: T, version: "1" }
servers: [ { url: "https://t.example" } ]
paths:
  /items/{item_id}/parts/{part_id}:
    get:
      operationId: read_part_items__item_id__parts__part_id__get
      summary: Read one part.
      parameters:
        - { name: item_id, in: path, required: true, schema: { type: string } }
        - { name: part_id, in: path, required: true, schema: { type: string } }
      responses: { "200": { description: ok } }
"#;
    let desk = Desk::new(&[("t.yaml", spec)]);
    let ran = desk.run(&["init", "t.yaml"]);
    assert!(ran.out.contains("# read_part:     # now read_part_items__item_id__parts__part_id__get"), "{}", ran.out);
}

#[test]
fn lint_finds_what_makes_tools_hard_to_use() {
    let spec = r#"openapi: 3.1.0
info: { title: T, version: "1" }
servers: [ { url: "https://t.example" } ]
paths:
  /a: { get: { operationId: get_pet, responses: { "200": { description: ok } } } }
  /b: { get: { operationId: getPet, summary: get pet, responses: { "200": { description: ok } } } }
  /c: { delete: { operationId: dropAll, summary: Removes everything there is., responses: { "200": { description: ok } } } }
  /d:
    get:
      operationId: aVeryLongNameThatNoClientWithAPrefixOfItsOwnCanTake
      summary: Has a long name and little else.
      parameters: [ { name: q, in: query, schema: { oneOf: [ { type: string }, { type: integer } ] } } ]
      responses: { "200": { description: ok } }
"#;
    let desk = Desk::new(&[("t.yaml", spec)]);
    let ran = desk.run(&["lint", "t.yaml", "--json"]);
    assert_eq!(ran.code, 1);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let found: Vec<(&str, &str)> = report["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["code"].as_str().unwrap(), one["severity"].as_str().unwrap()))
        .collect();
    for wanted in [
        ("missing-description", "warning"),
        ("vague-description", "warning"),
        ("look-alike-names", "warning"),
        ("unconfirmed-delete", "warning"),
        ("long-name", "warning"),
        ("vendor-keywords", "note"),
        ("undescribed-arguments", "note"),
    ] {
        assert!(found.contains(&wanted), "{wanted:?} is not in {found:?}");
    }
    let tight = desk.run(&["lint", "t.yaml", "--max-tokens", "5", "--client-prefix", "0"]);
    assert!(tight.out.contains("[tool-tokens]") && !tight.out.contains("[long-name]"), "{}", tight.out);
    assert!(tight.out.contains("t.yaml:5:"), "{}", tight.out);
}

#[test]
fn lint_is_silent_about_good_tools() {
    let spec = FILES.split("  /bad:").next().unwrap().to_owned()
        + "components:\n  securitySchemes: { key: { type: apiKey, in: header, name: X-Key } }\n";
    let desk = Desk::new(&[
        ("files.yaml", &spec),
        (
            "map.yaml",
            "version: 1\nsources: { files: { spec: files.yaml } }\nrules:\n  - match: { method: DELETE }\n    set: { confirm: \"Really {{path}}?\" }\n",
        ),
    ]);
    let ran = desk.run(&["lint", "map.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
}
