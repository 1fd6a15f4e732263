use super::mapping;
use rest_mcp::mapping::{Format, ResultKind, ToolEdits};
use serde_json::json;

fn edits(first: &str, second: &str) -> ToolEdits {
    let text = format!("version: 1\nsources: {{ pets: {{ spec: a }} }}\nrules:\n  - set: {first}\n  - set: {second}\n");
    let rules = mapping(&text).rules;
    rules[0].set.clone().unwrap().over(rules[1].set.as_ref().unwrap())
}

#[test]
fn later_edits_win_key_by_key() {
    let merged = edits("{ title: A, timeout: 5s, hidden: true }", "{ title: B, hidden: false }");
    assert_eq!(merged.title.as_deref(), Some("B"));
    assert_eq!(merged.timeout.unwrap().0.as_secs(), 5);
    assert_eq!(merged.hidden, Some(false));
}

#[test]
fn annotations_merge_by_member() {
    let merged =
        edits("{ annotations: { read_only: true, destructive: true } }", "{ annotations: { destructive: false } }");
    let annotations = merged.annotations.unwrap();
    assert_eq!(
        (annotations.read_only, annotations.destructive, annotations.idempotent),
        (Some(true), Some(false), None)
    );
}

#[test]
fn arguments_merge_by_name_and_key() {
    let merged = edits(
        "{ args: { limit: { maximum: 100, default: 20 }, verbose: { hide: true } } }",
        "{ args: { limit: { maximum: 50, minimum: 1 }, verbose: { hide: false }, id: { rename: pet } } }",
    );
    assert_eq!(merged.args["limit"].schema["maximum"], json!(50));
    assert_eq!(merged.args["limit"].schema["minimum"], json!(1));
    assert_eq!(merged.args["limit"].default, Some(json!(20)));
    assert_eq!(merged.args["verbose"].hide, Some(false));
    assert_eq!(merged.args.keys().collect::<Vec<_>>(), ["limit", "verbose", "id"]);
}

#[test]
fn results_merge_by_key_and_a_later_form_replaces_the_earlier() {
    let merged = edits(
        "{ result: { pick: [id], limit_items: 5, format: table } }",
        "{ result: { limit_items: 9, template: '{{id}}' } }",
    )
    .result
    .unwrap();
    assert_eq!((merged.pick, merged.limit_items), (Some(vec!["id".to_owned()]), Some(9)));
    assert_eq!((merged.format, merged.template.as_deref()), (None, Some("{{id}}")));
    let merged = edits(
        "{ result: { path: items, pick: [id], drop: [x], as: text } }",
        "{ result: { select: '.[]', format: csv, as: auto } }",
    )
    .result
    .unwrap();
    assert_eq!((merged.path, merged.pick, merged.drop), (None, None, Some(vec!["x".to_owned()])));
    assert_eq!((merged.format, merged.kind), (Some(Format::Csv), Some(ResultKind::Auto)));
}

#[test]
fn hints_of_errors_and_questions_merge_by_name() {
    let merged = edits(
        "{ errors: { path: message, hints: { 404: a, 409: b } }, ask: { x: { kind: roots }, y: { kind: roots } } }",
        "{ errors: { hints: { 404: c } }, ask: { y: { kind: sample, message: m } } }",
    );
    let errors = merged.errors.unwrap();
    assert_eq!(
        (errors.path.as_deref(), errors.hints["404"].as_str(), errors.hints["409"].as_str()),
        (Some("message"), "c", "b")
    );
    assert_eq!(merged.ask["y"].message.as_deref(), Some("m"));
    assert_eq!(merged.ask.len(), 2);
}
