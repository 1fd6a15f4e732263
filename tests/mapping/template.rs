use proptest::prelude::*;
use rest_mcp::template::{BodyTemplate, MAX_OUTPUT, Template};
use serde_json::{Value, json};

fn render(text: &str, value: &Value) -> Result<String, String> {
    Template::compile(text).unwrap_or_else(|error| panic!("{text}: {error}")).render(value)
}

#[test]
fn text_with_plain_paths() {
    let value = json!({
        "name": "Rex", "age": 7, "ratio": 0.5, "good": true, "none": null, "tags": ["a", {"b": 1}],
        "owner": {"e-mail": "a@b.example", "first name": "Jo"}, "list": [{"id": 3}],
        "html": "<b>&\"'</b>", "unicode": "Zoë 🐕"
    });
    for (template, wanted) in [
        ("no tags", "no tags"),
        ("", ""),
        ("{{name}} is {{age}}", "Rex is 7"),
        ("{{ name }}", "Rex"),
        ("{{{name}}}", "Rex"),
        ("{{ratio}} {{good}} [{{none}}]", "0.5 true []"),
        ("{{tags}}", r#"["a",{"b":1}]"#),
        ("{{owner.e-mail}}", "a@b.example"),
        ("{{owner.[first name]}}", "Jo"),
        ("{{list.0.id}}", "3"),
        ("{{html}}", "<b>&\"'</b>"),
        ("{{unicode}}!", "Zoë 🐕!"),
        ("query($q:String!){ a(q:$q){ id { b }} }", "query($q:String!){ a(q:$q){ id { b }} }"),
    ] {
        assert_eq!(render(template, &value).as_deref(), Ok(wanted), "{template}");
    }
}

#[test]
fn engine_and_plain_rendering_agree() {
    let value = json!({"a": "x", "n": null, "l": [1, "two", null], "o": {"k": 1.0}, "t": true, "z": 0});
    for name in ["a", "n", "l", "o", "t", "z", "o.k", "l.1"] {
        let plain = render(&format!("[{{{{{name}}}}}]"), &value).unwrap();
        let engine = render(&format!("[{{{{{name}}}}}]{{{{#if t}}}}{{{{/if}}}}"), &value).unwrap();
        assert_eq!(plain, engine, "{name}");
    }
}

#[test]
fn blocks_and_helpers() {
    let value = json!({"items": [{"id": 1, "name": "A"}, {"id": 2, "name": "B"}], "q": "a b/ü?&", "empty": "", "no": false, "zero": 0});
    for (template, wanted) in [
        ("{{#each items}}- {{name}} ({{id}})\n{{/each}}", "- A (1)\n- B (2)\n"),
        ("{{#each items}}{{@index}}{{#unless @last}},{{/unless}}{{/each}}", "0,1"),
        ("{{#if items}}yes{{else}}no{{/if}}", "yes"),
        ("{{#if missing}}yes{{else}}no{{/if}}", "no"),
        ("{{#with items.0}}{{name}}{{/with}}", "A"),
        ("{{#each items as |item|}}{{item.name}}{{/each}}", "AB"),
        ("{{json items.0}}", r#"{"id":1,"name":"A"}"#),
        ("{{json q}}", "\"a b/ü?&\""),
        ("{{urlencode q}}", "a%20b%2F%C3%BC%3F%26"),
        ("{{default missing \"none\"}}", "none"),
        ("{{default empty \"none\"}}", "none"),
        ("{{default no \"none\"}} {{default zero \"none\"}}", "false 0"),
        ("{{join items.0.name \"-\"}}", "A"),
        ("{{len items}}", "2"),
        ("{{#if (gt (len items) 1)}}many{{/if}}", "many"),
        ("{{! a comment }}x{{!-- }} --}}y", "xy"),
        ("a \\{{name}} b", "a {{name}} b"),
    ] {
        assert_eq!(render(template, &value).as_deref(), Ok(wanted), "{template}");
    }
    assert_eq!(render("{{join l \"; \"}}", &json!({"l": ["a", 2, null, true]})).as_deref(), Ok("a; 2; ; true"));
}

#[test]
fn a_missing_value_is_an_error_that_names_it() {
    for template in
        ["Hi {{user.name}}", "{{#if true}}{{user.name}}{{/if}}", "{{json user.name}}", "{{urlencode user.name}}"]
    {
        assert_eq!(render(template, &json!({"user": {}})), Err("`user.name` has no value".to_owned()), "{template}");
    }
}

#[test]
fn what_does_not_compile_says_where() {
    for (text, line, column, part) in [
        ("a {{b", 1, 3, "not closed"),
        ("a\nbc {{#if x}}y", 2, 4, "`{{#if}}` is not closed"),
        ("{{#if x}}y{{/each}}", 1, 11, "opened as `{{#if}}`"),
        ("ü {{/if}}", 1, 3, "nothing opened"),
        ("x {{}}", 1, 3, "empty"),
        ("x\n\n  {{> p}}", 3, 3, "partials"),
        ("{{* d}}", 1, 1, "decorators"),
        ("{{shout name}}", 1, 1, "no helper `shout`"),
        ("{{#items}}{{/items}}", 1, 1, "no block `items`"),
        ("{{#if (shout a)}}{{/if}}", 1, 8, "no helper `shout`"),
        ("{{log name}}", 1, 1, "no helper `log`"),
        ("{{{{raw}}}}", 1, 1, "raw blocks"),
        ("ok {{a b c", 1, 4, "not closed"),
        ("ok {{a..b}}", 1, 4, "can't be read"),
    ] {
        let error = Template::compile(text).expect_err(text);
        assert_eq!((error.line, error.column), (line, column), "{text}: {error}");
        assert!(error.message.contains(part), "{text}: {}", error.message);
    }
}

#[test]
fn nesting_and_output_are_bounded() {
    let deep = format!("{}{}", "{{#if a}}".repeat(5000), "{{/if}}".repeat(5000));
    assert!(Template::compile(&deep).is_err());
    let parentheses = format!("{{{{json {}a{}}}}}", "(json ".repeat(5000), ")".repeat(5000));
    assert!(Template::compile(&parentheses).is_err());
    assert!(Template::compile(&"x".repeat(100_000)).is_err());
    let items: Vec<u32> = (0..2000).collect();
    let error = render("{{#each l}}{{#each ../l}}{{this}},{{/each}}{{/each}}", &json!({ "l": items })).unwrap_err();
    assert!(error.contains("longer than"), "{error}");
    assert!(render("{{a}}{{a}}", &json!({"a": "x".repeat(MAX_OUTPUT - 1)})).is_err());
}

#[test]
fn placeholders_are_the_names_looked_up_in_the_values() {
    let paths = |text: &str| {
        Template::compile(text).unwrap().placeholders().iter().map(|path| path.join(".")).collect::<Vec<_>>()
    };
    assert_eq!(paths("{{a.b}} {{c}} {{a.b}}"), ["a.b", "c"]);
    assert_eq!(paths("{{#each items}}{{name}}{{../shop}}{{/each}}{{json x}}"), ["items", "shop", "x"]);
    assert_eq!(paths("{{#if (eq a.b \"x\")}}{{c}}{{else}}{{d}}{{/if}}"), ["a.b", "c", "d"]);
    assert_eq!(paths("{{#each items as |item|}}{{item.name}}{{/each}}"), ["items"]);
}

#[test]
fn a_leaf_that_is_one_placeholder_keeps_its_type() {
    let body = BodyTemplate::compile(&json!({
        "query": "query { a }", "text": "n={{n}}", "variables": {"n": "{{n}}", "list": ["{{ l }}", 1], "gone": "{{missing}}", "null": "{{none}}"}
    }))
    .unwrap();
    let value = json!({"n": 5, "l": [true], "none": null});
    assert_eq!(
        body.render(&value).unwrap(),
        json!({"query": "query { a }", "text": "n=5", "variables": {"n": 5, "list": [[true], 1], "null": null}})
    );
    assert_eq!(body.placeholders().len(), 4);
}

#[test]
fn a_missing_value_leaves_a_member_out_but_fails_a_list_and_a_text() {
    let render = |tree: Value| BodyTemplate::compile(&tree).unwrap().render(&json!({}));
    assert_eq!(render(json!({"a": "{{x}}"})), Ok(json!({})));
    assert_eq!(render(json!(["{{x.y}}"])), Err("`x.y` has no value".to_owned()));
    assert_eq!(render(json!({"a": "is {{x}}"})), Err("`x` has no value".to_owned()));
    assert_eq!(render(json!("{{x}}")), Err("`x` has no value".to_owned()));
}

#[test]
fn errors_in_a_tree_have_their_pointers() {
    let errors = BodyTemplate::compile(&json!({"a": ["{{x", "{{y}}"], "b/c": "{{shout z}}"})).unwrap_err();
    assert_eq!(errors.iter().map(|error| error.pointer.as_str()).collect::<Vec<_>>(), ["/a/0", "/b~1c"]);
}

fn hostile() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("{{secret}}".to_owned()),
        Just("${env:HOME}".to_owned()),
        Just("{{#each this}}{{this}}{{/each}}".to_owned()),
        Just("\\{{".to_owned()),
        Just(".[] | env".to_owned()),
        Just("{{{".to_owned()),
        any::<String>(),
    ];
    proptest::collection::vec(part, 0..5).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn values_of_a_caller_arrive_as_their_own_characters(text in hostile()) {
        let value = json!({"q": text, "secret": "hidden"});
        prop_assert_eq!(render("{{q}}", &value).unwrap(), text.clone());
        prop_assert_eq!(render("{{#if true}}{{q}}{{/if}}", &value).unwrap(), text.clone());
        let body = BodyTemplate::compile(&json!({"a": "{{q}}", "b": "<{{q}}>", "c": ["{{#if true}}{{q}}{{/if}}"]})).unwrap();
        prop_assert_eq!(body.render(&value).unwrap(), json!({"a": text, "b": format!("<{text}>"), "c": [text]}));
    }

    #[test]
    fn compiling_and_rendering_any_text_never_panics(text in "[a{}#/.|~!>&*()\"'\\\\\\[\\] \n-]{0,60}") {
        if let Ok(template) = Template::compile(&text) {
            let _ = template.render(&json!({"a": {"a": [1]}}));
            let _ = template.placeholders();
        }
        let _ = BodyTemplate::compile(&json!([text]));
    }
}
