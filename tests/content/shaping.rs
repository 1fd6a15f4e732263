//! The result pipeline of a mapping, step by step and in its forms.

use super::{Make, answer, arguments, compiled, content_of, rules, shaped, spoken, structured};
use rest_mcp::content::shape::{Compiled, Selector};
use rest_mcp::content::{META_CUT, from_value};
use serde_json::{Value, json};

fn order() -> Value {
    json!({"meta": {"total": 2}, "items": [
        {"id": 1, "name": "Rex", "secret": "s", "owner": {"email": "r@x", "internal": 1}, "a.b": true},
        {"id": 2, "name": "Max", "owner": {"email": null}},
    ]})
}

#[test]
fn paths_go_through_objects_lists_and_odd_names() {
    let value = order();
    for (path, found) in [
        ("meta.total", Some(json!(2))),
        ("items.id", Some(json!([1, 2]))),
        ("items.owner.email", Some(json!(["r@x", null]))),
        ("items.secret", Some(json!(["s"]))),
        ("items.0.name", Some(json!("Rex"))),
        ("items.7.name", None),
        ("items.a\\.b", Some(json!([true]))),
        ("meta.*", Some(json!([2]))),
        ("items.owner.*", Some(json!([["r@x", 1], [null]]))),
        ("missing", None),
        ("meta.total.deeper", None),
        ("items.missing", Some(json!([]))),
    ] {
        let selector = Selector::parse(path).unwrap();
        assert_eq!(selector.get(&value).map(|found| found.into_owned()), found, "{path}");
        assert_eq!(selector.take(value.clone()), found, "{path} taken");
    }
    for path in ["", ".items", "a..b", "a.", "a\\"] {
        assert!(Selector::parse(path).is_err(), "{path:?}");
    }
}

#[test]
fn steps_run_in_their_order_and_text_and_structured_agree() {
    let cases = [
        (
            "{path: items, pick: [id, owner.email]}",
            json!([{"id": 1, "owner": {"email": "r@x"}}, {"id": 2, "owner": {"email": null}}]),
        ),
        ("{pick: [meta.total]}", json!({"meta": {"total": 2}})),
        ("{pick: ['items.*.email']}", json!({"items": [{"owner": {"email": "r@x"}}, {"owner": {"email": null}}]})),
        (
            "{path: items, drop: [secret, '*.internal', 'a\\.b']}",
            json!([{"id": 1, "name": "Rex", "owner": {"email": "r@x"}}, {"id": 2, "name": "Max", "owner": {"email": null}}]),
        ),
        (
            "{path: items, pick: [id, name], rename: {name: id, id: name}}",
            json!([{"name": 1, "id": "Rex"}, {"name": 2, "id": "Max"}]),
        ),
        (
            "{path: items, pick: [owner], rename: {owner.email: mail, owner: keeper}, redact: [keeper.mail]}",
            json!([{"keeper": {"mail": "***", "internal": 1}}, {"keeper": {"mail": "***"}}])
                .pointer("")
                .cloned()
                .map(|_| json!([{"keeper": {"mail": "***"}}, {"keeper": {"mail": "***"}}]))
                .unwrap(),
        ),
        ("{path: items.name}", json!(["Rex", "Max"])),
        ("{select: '.items[] | {id}'}", json!([{"id": 1}, {"id": 2}])),
        ("{select: '.items[0]', pick: [name]}", json!({"name": "Rex"})),
        ("{select: '.items[] | select(.id > 9)'}", json!([])),
        ("{select: 'first(.items[])', path: owner.email}", json!("r@x")),
        ("{select: '.nothing'}", Value::Null),
        ("{path: items.id, limit_items: 1}", json!([1])),
    ];
    for (yaml, expected) in cases {
        let yaml = yaml.replace("pick: [owner],", "pick: [owner.email],");
        let content = shaped(&yaml, order());
        assert_eq!(structured(&content), Some(expected.clone()), "{yaml}");
        assert_eq!(spoken(&content)[0], expected.to_string(), "{yaml}");
        assert!(!content.is_error);
    }
}

#[test]
fn reading_only_what_is_picked_gives_the_same_as_picking_afterwards() {
    let bodies = [
        order(),
        json!([]),
        json!({"items": []}),
        json!({"items": {"id": 1.5, "name": "\u{1F600}\\\"", "owner": [{"email": 1}, 2, null]}}),
        json!({"items": [[{"id": u64::MAX}], "scalar", null, {"owner": null}]}),
        json!("text"),
        json!({"items": 3}),
    ];
    for yaml in [
        "{path: items}",
        "{pick: [items.id, items.owner.email]}",
        "{path: items, pick: [id, owner.email]}",
        "{path: items.owner}",
        "{pick: ['*.name']}",
    ] {
        let compiled = compiled(yaml);
        for body in &bodies {
            let read = compiled.apply_text(body.to_string().as_bytes(), &arguments(json!({}))).unwrap();
            let built = compiled.apply(body.clone(), &arguments(json!({}))).unwrap();
            assert_eq!(read.value, built.value, "{yaml} on {body}");
            assert_eq!(read.notes, built.notes);
        }
    }
}

#[test]
fn picking_from_text_to_text_gives_the_same_as_from_value_to_value() {
    let bodies = [
        order().to_string(),
        serde_json::to_string_pretty(&order()).unwrap(),
        "[]".to_owned(),
        r#"{"items": []}"#.to_owned(),
        r#"{"items": [ ], "meta": {}}"#.to_owned(),
        r#"{"items": {"id": 1.50, "name": "\ud83d\ude00\"", "owner": [{"email": 1}, 2, null, {}]}}"#.to_owned(),
        r#"{"items": [[{"id": 18446744073709551615}], "scalar", null, {"owner": null}, {"id": [1, {"a": 2}]}]}"#
            .to_owned(),
        // Escaped names, names that stand twice (the last one counts), names in another order.
        r#"{"\u0069tems": [{"owner": {"email": 1}, "id": 2}, {"id": 3, "id": 4}, {"x": 1, "x": 2, "id": 5}]}"#
            .to_owned(),
        r#"{"items": 1, "items": [{"id": 6}]}"#.to_owned(),
        r#""text""#.to_owned(),
        r#"{"items": 3}"#.to_owned(),
        "null".to_owned(),
    ];
    for picks in
        ["[items.id, items.owner.email]", "[meta]", "[id]", "[items]", "['*.name', items.id]", "[id, owner.email]"]
    {
        for path in ["", "path: items, ", "path: meta, "] {
            let (text, value) =
                (format!("{{{path}pick: {picks}}}"), format!("{{{path}pick: {picks}, limit_items: 999}}"));
            for body in &bodies {
                let of = |yaml: &str| {
                    let schema = json!({"properties": {"items": {"items": {"properties": {"id": {"type": ["integer", "null"]}}}}}});
                    let content = content_of(
                        &Make::new().result(yaml).output(schema).tool(),
                        &answer(200, "application/json", body.clone()),
                    );
                    let blocks: Vec<Value> =
                        spoken(&content).iter().map(|text| serde_json::from_str(text).unwrap_or(json!(text))).collect();
                    (blocks, structured(&content), content.meta, content.is_error)
                };
                assert_eq!(of(&text), of(&value), "{text} on {body}");
            }
        }
    }
    // Copied, not read: a number keeps all its digits.
    let content = content_of(
        &Make::new().result("{pick: [id]}").tool(),
        &answer(200, "application/json", r#"{"id": 123456789012345678901234567890.10, "name": "x"}"#),
    );
    assert_eq!(spoken(&content), [r#"{"id":123456789012345678901234567890.10}"#]);
}

#[test]
fn picking_from_nothing_from_a_tower_and_from_megabytes() {
    let tool = Make::new().result("{pick: [id]}").tool();
    let of = |body: String| content_of(&tool, &answer(200, "application/json", body));
    assert!(!of(String::new()).is_error);
    // Deeper than clients read: it can't be picked from, so it isn't shown.
    let tower = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(spoken(&of(tower))[0].contains("recursion limit exceeded at line 1 column 128."));
    // Broken in its last byte, and in what is left out.
    for broken in [r#"{"id": 1, "x": 2"#, r#"{"id": 1, "x": [1,]}"#] {
        assert!(spoken(&of(broken.to_owned()))[0].contains("`pick` needs JSON"));
    }
    let many = format!("[{}]", vec![r#"{"x": "0123456789", "id": 7}"#; 200_000].join(","));
    assert_eq!(structured(&of(many)).unwrap().as_array().unwrap().len(), 200_000);
}

#[test]
fn a_member_that_gives_way_to_a_renamed_one_is_told() {
    let content = shaped("{rename: {a: b}}", json!({"a": 1, "b": 2, "c": 3}));
    assert_eq!(structured(&content), Some(json!({"b": 1, "c": 3})));
    assert_eq!(spoken(&content)[1], "The API's own `b` gave way to a renamed member.");
}

#[test]
fn a_path_that_leads_nowhere_is_told_and_shows_nothing_else() {
    let content = shaped("{path: data.issues, drop: [secret]}", json!({"other": {"secret": "s"}}));
    assert_eq!(
        (content.is_error, spoken(&content)),
        (false, vec!["null".to_owned(), "The answer has nothing at `data.issues`.".to_owned()])
    );
}

#[test]
fn graphql_errors_under_status_200_are_errors() {
    for (yaml, body) in [
        ("{path: data.issues}", json!({"data": null, "errors": [{"message": "No such field", "path": ["issues"]}]})),
        ("{path: data.issues}", json!({"data": {"issues": null}, "errors": [{"message": "No such field"}]})),
        ("{select: '.data.issues[]'}", json!({"errors": [{"message": "No such field"}]})),
    ] {
        let content = shaped(yaml, body);
        assert!(content.is_error && content.structured.is_none());
        assert!(spoken(&content)[0].contains("No such field"), "{:?}", spoken(&content));
    }
    assert!(!shaped("{path: data.issues}", json!({"data": {"issues": [1]}, "errors": []})).is_error);
}

#[test]
fn long_lists_say_how_many_there_are_and_how_to_get_them() {
    let body = json!({"items": (0..640).collect::<Vec<_>>(), "tags": [1]});
    let content = shaped("limit_items: 50", body);
    assert_eq!(structured(&content).unwrap()["items"].as_array().unwrap().len(), 50);
    assert_eq!(spoken(&content)[1], "Shortened: showing 50 of 640 items of `items`. Get the rest with `page`.");
    assert_eq!(content.meta.unwrap()[META_CUT], json!([{"path": "items", "kept": 50, "total": 640}]));
}

#[test]
fn max_bytes_keeps_json_valid_and_the_small_members_whole() {
    let body = json!({"next": "cursor-1", "items": (0..1000).map(|id| json!({"id": id, "t": "ä\"\n"})).collect::<Vec<_>>(), "total": 1000});
    for budget in [64, 100, 1000, 5000] {
        let content = shaped(&format!("max_bytes: {budget}"), body.clone());
        let text = spoken(&content).remove(0);
        assert!(text.len() <= budget, "{budget}: {}", text.len());
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(structured(&content), Some(value.clone()));
        assert_eq!((&value["next"], &value["total"]), (&json!("cursor-1"), &json!(1000)), "{budget}");
        let kept = value["items"].as_array().unwrap().len();
        assert!(spoken(&content)[1].contains(&format!("{kept} of 1000 items of `items`")), "{:?}", spoken(&content)[1]);
        assert!(budget < 1000 || kept > budget / 40, "{budget}: only {kept}");
    }
    let one = shaped("max_bytes: 100", json!([{"id": 1, "text": "x".repeat(5000)}]));
    let text = spoken(&one).remove(0);
    assert!(text.len() <= 100 && text.starts_with("[{\"id\":1,\"text\":\"xxx") && text.ends_with("…\"}]"), "{text}");
    let fits = shaped("max_bytes: 64KiB", json!({"a": [1]}));
    assert_eq!(spoken(&fits), ["{\"a\":[1]}"]);
}

#[test]
fn formats_have_their_exact_texts() {
    let rows = json!([{"id": 1, "name": "a|b", "t": ["x"]}, {"id": 20, "note": "two\nlines, \"q\""}]);
    let text = |format: &str, value: Value| spoken(&shaped(&format!("format: {format}"), value)).remove(0);
    assert_eq!(text("json", rows.clone()), rows.to_string());
    assert_eq!(
        text("table", rows.clone()),
        "id  name  t      note\n--  ----  -----  --------------\n1   a|b   [\"x\"]\n20               two lines, \"q\""
    );
    // RFC 4180 §2: CRLF, a header line, quotes doubled.
    assert_eq!(
        text("csv", rows.clone()),
        "id,name,t,note\r\n1,a|b,\"[\"\"x\"\"]\",\r\n20,,,\"two\nlines, \"\"q\"\"\"\r\n"
    );
    assert_eq!(
        text("markdown", rows.clone()),
        "| id | name | t | note |\n| --- | --- | --- | --- |\n| 1 | a\\|b | [\"x\"] |  |\n| 20 |  |  | two<br>lines, \"q\" |"
    );
    assert_eq!(text("text", rows), "id: 1\nname: a|b\nt: x\n\nid: 20\nnote: two\nlines, \"q\"");
    assert_eq!(text("markdown", json!(["a", 1, null])), "- a\n- 1\n- ");
    assert_eq!(text("markdown", json!({"a": 1, "b": [{"x": 1}]})), "- **a**: 1\n\n**b**\n\n| x |\n| --- |\n| 1 |");
    assert_eq!(text("text", json!({"a": {"b": [1, 2], "c": [{"d": 1}]}})), "a:\n  b: 1, 2\n  c:\n    d: 1");
    assert_eq!(text("csv", json!([1, "x,y"])), "value\r\n1\r\n\"x,y\"\r\n");
    assert_eq!(structured(&shaped("format: csv", json!([1]))), Some(json!([1])), "the structured value stays");
}

#[test]
fn templates_see_the_answer_before_the_arguments_and_evaluate_neither() {
    let text = |template: &str, value: Value| {
        let content = shaped(&format!("template: {}", json!(template)), value);
        assert!(content.structured.is_none());
        (content.is_error, spoken(&content).remove(0))
    };
    assert_eq!(
        text("{{#each items}}- {{name}} ({{id}})\n{{/each}}", order()),
        (false, "- Rex (1)\n- Max (2)\n".to_owned())
    );
    assert_eq!(text("{{id}}/{{args.id}}", json!({"id": 1})), (false, "1/7".to_owned()));
    assert_eq!(text("{{id}}: {{#each items}}{{this}},{{/each}}", json!([1, 2])), (false, "7: 1,2,".to_owned()));
    assert_eq!(text("{{result}}", json!("plain")), (false, "plain".to_owned()));
    assert_eq!(text("[{{missing.deeper}}]", json!({})), (false, "[]".to_owned()));
    assert_eq!(text("{{a}}", json!({"a": "{{id}} ${env:HOME} <b>&"})), (false, "{{id}} ${env:HOME} <b>&".to_owned()));
    // Text answers too.
    let tool = Make::new().result("template: 'said: {{result}}'").tool();
    assert_eq!(spoken(&content_of(&tool, &answer(200, "text/plain", "hi"))), ["said: hi"]);
}

#[test]
fn blocks_are_composed_out_of_one_answer() {
    let yaml = "
blocks:
  - { type: text, path: text }
  - { type: image, data: image.base64, mime_type: image.mimeType }
  - { type: image, data: image.url }
  - { type: audio, data: sound, mime_type: audio/ogg }
  - { type: resource, uri: 'shop://order/{{id}}/{name}', path: resource, mime_type: application/json }
  - { type: link, uri: 'shop://list?after={name}', name: 'More of {{name}}' }
  - { type: text, template: 'For {{name}}' }
  - { type: image, data: nothing.here }
  - { type: text, path: nor.here }
";
    let body = json!({"text": "Multiple content types test:", "name": "a/b", "image": {"mimeType": "image/png", "base64": "iVBORw0KGgo=", "url": "data:image/gif;base64,R0lGODlh"},
        "sound": "T2dnUwA", "resource": {"test": "data", "value": 123}});
    let content = shaped(yaml, body);
    assert_eq!(
        spoken(&content),
        [
            "Multiple content types test:",
            "image image/png 8",
            "image image/gif 6",
            "audio audio/ogg 5",
            r#"resource shop://order/7/a%2Fb application/json {"test":"data","value":123}"#,
            "link shop://list?after=a%2Fb More of a/b ? None",
            "For a/b",
            "The answer has no base64 image at `nothing.here`.\nThe answer has nothing at `nor.here`.",
        ]
    );
    assert!(content.structured.is_none());
}

#[test]
fn as_text_has_no_structured_value() {
    let content = shaped("{as: text, path: a}", json!({"a": "words"}));
    assert_eq!((spoken(&content), structured(&content)), (vec!["words".to_owned()], None));
}

#[test]
fn a_filter_that_fails_on_an_answer_is_a_failed_call_in_words() {
    let content = shaped("select: '.items[] | .id'", json!({"items": 3}));
    assert!(content.is_error && content.structured.is_none());
    assert!(
        spoken(&content)[0].contains("`get_order`") && spoken(&content)[0].contains("`select`"),
        "{:?}",
        spoken(&content)
    );
}

#[test]
fn values_of_several_answers_are_shaped_alike() {
    let tool = Make::new().result("{limit_items: 2}").tool();
    let notes = vec!["More: `cursor` abc.".to_owned()];
    let content = from_value(&tool, &arguments(json!({})), json!([1, 2, 3]), notes, "x:y", None);
    assert_eq!(
        spoken(&content),
        ["[1,2]", "More: `cursor` abc.\nShortened: showing 2 of 3 items. Get the rest with `page`."]
    );
    let resource = Make::new().result("{as: resource, uri: 'a:{n}'}").tool();
    let content = from_value(&resource, &arguments(json!({"n": 5})), json!({"x": 1}), Vec::new(), "x:y", None);
    assert_eq!(spoken(&content), [r#"resource a:5 application/json {"x":1}"#]);
}

#[test]
fn every_fault_of_a_mapping_is_told_with_its_key() {
    let faults = Compiled::new(&rules(
        "
select: '.a | frob'
path: .a
pick: [ok, 'a..b']
rename: { 'x.': y, z: '' }
template: '{{#if a}}'
uri: no-scheme
max_bytes: 3
blocks:
  - { type: text, template: '{{> partial}}' }
  - { type: image, data: '' }
  - { type: link, uri: 'x:{a' }
",
    ))
    .unwrap_err();
    let keys: Vec<&str> = faults.iter().map(|fault| fault.key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "select",
            "path",
            "pick[1]",
            "rename.x.",
            "rename.z",
            "template",
            "uri",
            "blocks[0].template",
            "blocks[1].data",
            "blocks[2].uri",
            "blocks",
            "max_bytes"
        ]
    );
    assert!(faults[0].message.starts_with("at character 6"), "{}", faults[0].message);
    assert_eq!(faults[1].message, "`.a` begins with a dot; a path is written `a`");
}
