//! Filters that run from text to text: the result is that of the interpreter, and what is copied keeps its digits.

use super::{Make, answer, content_of, spoken, structured};
use rest_mcp::content::Content;
use rest_mcp::content::jq::check_jq;
use serde_json::{Map, Value, json};

/// What a filter gives, by jq's manual. The results are compared as text: no other way than from text to text keeps `1.50`.
#[test]
fn common_filters_copy_what_they_keep() {
    let body = r#"{"total": 1.50, "owner": {"name": "Ann", "e-mail": "a@x"}, "none": null, "no": false, "tags": ["a", "é"],
        "items": [{"id": 1.0, "name": "Rex", "size": {"w": 2}}, {"id": 12345678901234567890123, "name": null, "size": {}},
        {"name": "\u0041\n", "id": -0}], "by": {"x": {"id": 1}, "y": {"id": 2.0}}}"#;
    let all = r#"[{"id": 1.0, "name": "Rex", "size": {"w": 2}}, {"id": 12345678901234567890123, "name": null, "size": {}},
        {"name": "\u0041\n", "id": -0}]"#;
    for (filter, expected) in [
        (".", body),
        (".total", "1.50"),
        (".owner.name", r#""Ann""#),
        (".owner.\"e-mail\"", r#""a@x""#),
        (".owner[\"e-mail\"]", r#""a@x""#),
        (".missing", "null"),
        (".none.x.y", "null"),
        (".total.x?", "null"),
        (".items", all),
        (".items[]", &all.replace("}, {", "},{").replace("},\n        {", "},{")),
        (".items[].id", "[1.0,12345678901234567890123,-0]"),
        (".items | map(.id)", "[1.0,12345678901234567890123,-0]"),
        (
            ".items | map({id, n: .name})",
            r#"[{"id":1.0,"n":"Rex"},{"id":12345678901234567890123,"n":null},{"id":-0,"n":"\u0041\n"}]"#,
        ),
        (
            "[.items[] | {id, w: .size.w}]",
            r#"[{"id":1.0,"w":2},{"id":12345678901234567890123,"w":null},{"id":-0,"w":null}]"#,
        ),
        (
            "{total, ids: [.items[].id], n: (.items | length)}",
            r#"{"total":1.50,"ids":[1.0,12345678901234567890123,-0],"n":3}"#,
        ),
        (
            "{total, items: [.items[] | {id}]}",
            r#"{"total":1.50,"items":[{"id":1.0},{"id":12345678901234567890123},{"id":-0}]}"#,
        ),
        (".items[0].id", "1.0"),
        (".items[-1].id", "-0"),
        (".items[7].id", "null"),
        (".items[:2] | map(.id)", "[1.0,12345678901234567890123]"),
        (".items[1:][].id", "[12345678901234567890123,-0]"),
        (".items[-2:-1] | map(.name)", "[null]"),
        (".tags[1:]", r#"["é"]"#),
        (".tags[5:]", "[]"),
        (".items | first.id", "1.0"),
        (".items | last | .id", "-0"),
        ("first(.items[].id)", "1.0"),
        ("first(.items[] | select(.id < 1)) | .id", "-0"),
        (".items | map(select(.id > 0.5) | .id)", "[1.0,12345678901234567890123]"),
        (".items | map(select(.name == \"A\\n\")) | map(.id)", "[-0]"),
        ("[.items[] | select(.name != null and (.size | not)) | .id]", "[-0]"),
        ("[.items[] | select(.size.w or .id == 0) | .id]", "[1.0,-0]"),
        ("[.items[] | select(.name) | .id]", "[1.0,-0]"),
        ("[.items[] | select(.name | strings | startswith(\"R\")) | .id]", "[1.0]"),
        ("[.items[] | select(has(\"size\") | not) | .id]", "[-0]"),
        ("[.items[] | if .name == \"Rex\" then .id elif .size then .size else \"-\" end]", r#"[1.0,{},"-"]"#),
        (".total, .owner.name", r#"[1.50,"Ann"]"#),
        ("[.total, .none, true, 1.50, \"x\"]", r#"[1.50,null,true,1.5,"x"]"#),
        (".none // .total", "1.50"),
        (".no // .none // .total", "1.50"),
        ("(.none // .items) | map(.id)", "[1.0,12345678901234567890123,-0]"),
        ("(.none // []) | map(.id)", "[]"),
        (".by[].id", "[1,2.0]"),
        (".by | map(.id)", "[1,2.0]"),
        (".by | length", "2"),
        ("[.owner.name, .tags, .none] | map(length)", "[3,2,0]"),
        (".items | map(.id) | {all: ., n: length}", r#"{"all":[1.0,12345678901234567890123,-0],"n":3}"#),
        ("[.[] | numbers]", "[1.50]"),
        ("[.[] | type]", r#"["number","object","null","boolean","array","array","object"]"#),
        ("\"\\(.owner.name): \\(.by.x.id), \\(.no)\"", r#""Ann: 1, false""#),
        ("[.items[] | empty]", "[]"),
        ("[.items[].name | values]", r#"["Rex","\u0041\n"]"#),
    ] {
        assert_eq!(check_jq(filter), Ok(()), "{filter}");
        let tool = Make::new().result(&json!({"select": filter}).to_string()).tool();
        let content = content_of(&tool, &answer(200, "application/json", body));
        assert_eq!(spoken(&content), [expected], "{filter}");
        assert!(!content.is_error && content.structured.is_some(), "{filter}");
    }
}

/// Filters within what is run directly, at its edges, and outside.
const FILTERS: &[&str] = &[
    ".",
    ".a",
    ".a.b",
    ".a?",
    ".a?.b",
    ".a.b?",
    ".a?.b?",
    ".[\"a\"]?",
    ".[]",
    ".[]?",
    ".a[]",
    ".a[]?",
    ".a?[]?",
    ".[].a",
    ".[].a?",
    ".[]?.a?",
    ".[][]?",
    "[.[]?[]?]",
    ".[0]",
    ".[0]?",
    ".[-1]?.a?",
    ".[1].a",
    ".a[0]",
    ".a[-2]",
    ".a[0]?.b?",
    ".a[0:1]",
    ".a[-1:]",
    ".a[:-1]?",
    ".a[1:0]?[]?",
    ".[1:]? | map(.a?)",
    ".[1:3]?[1:]?",
    "first",
    "last?",
    ".a | first?",
    "first(.[]?)",
    "[first(.[]?), first(.a?)]",
    "length",
    ".a | length",
    "[.[]? | length?]",
    "[.a, .b] | length",
    "map(length)",
    "map(.a)",
    "map(.a?)",
    "map({a, b})",
    "map({a: .a?, x: 1})",
    "[.[]? | {a: .a?}]",
    "[.[]? | .a?]",
    // What follows does not look at what is an error or has no output.
    ".a | 1",
    ".a? | {}",
    "[.[]? | .a? | [.b?]]",
    "[.[]? | .a? | .b? // 1]",
    "map(.a | {b: 1})",
    "[.[]? | .a.b? | (1, 2)]",
    "[.[]? | .a? | if true then 1 else 2 end]",
    "[.[]? | .a? | \"x\"]",
    "[.a?, .b?, .c?]",
    "{a, b: .b.c}",
    "{a: .a, \"b c\": .b, n: null}",
    "{a: [.a[]?], n: (.a | length)}",
    "{a: (.a[]? | .b?)}",
    "{a, b} | .a",
    "{a, b} | [.a, .b]",
    "{a} | .[]",
    "[.a, .b] | .[]",
    "[.a, .b] | map(.c?) | .[0]",
    "[.a, [.b, [.c]]]",
    "[[.a]] | .[0][0]",
    ".a, .b",
    "(.a, .b) | .c?",
    "(.a?, .b?) | (.c?, .d?)",
    ".a // .b",
    ".a // empty",
    ".a? // \"none\"",
    "(.a // []) | map(.b?)",
    "(.a // {}) | .b",
    "(.a.b? // .c?) | .d?",
    "[.[]? | .a? // .b? // 0]",
    "if .a then .b else .c end",
    "if .a? == 1 then 2 elif .b? then 3 else . end",
    "if . then 1 end",
    "select(.a)",
    "select(.a?)",
    "[.[]? | select(.a?)]",
    "[.[]? | select(.a? == 1)]",
    "[.[]? | select(.a? == \"x\") | .b]",
    "[.[]? | select(.a? != null) | .a]",
    "[.[]? | select(.a? < 1.5)]",
    "[.[]? | select(.a? >= 100)]",
    "[.[]? | select(.a? == .b?)]",
    "[.[]? | . < \"x\", . > [], . <= {}, . == null, . == true, . == []]",
    "[.[]? | . == 1, . != 1.0, . < 100, . == 12345678901234567890, . == -0, . > 0.5, . == 1e2]",
    "[.[]? | select(.a? and .b? | not)]",
    "[.[]? | select(.a? or (.b? | not))]",
    "[.[]? | (.a? and .b?), (.a? or .b?), (.a? == null | not)]",
    "[.[]? | values, nulls, booleans, numbers, strings, arrays, objects, iterables, scalars]",
    "[.[]? | type]",
    "map(type) | first",
    "[.[]? | has(\"a\")?]",
    "[.[]? | objects | has(\"a\")]",
    "has(\"a\")",
    "[.[]? | strings | startswith(\"a\"), endswith(\"x\"), contains(\"\\\\\")]",
    "[.[]? | strings | contains(\"é\"), length]",
    ".a | startswith(\"x\")",
    "\"<\\(.a)>\"",
    "[.[]? | \"\\(.)\\n\"]",
    "[.[]? | tostring]",
    "[.[]? | strings, numbers | \"\\(.) \\\"\\(.)\"]",
    "\"x\"",
    "1, -1, 1.50, -0, 1e1000, 1e3, 100000000000000000000, -1.5, 3.0",
    "true, false, null, [], {}, \"é\\u0000\"",
    "empty",
    "[.[]? | select(empty)]",
    "[.[]? | empty // 1]",
    "{a: empty}",
    "[.[]? | {a: first(.[]?)}]",
    ".[]? | .[]? | .a?",
    "[.[]? | [.[]?] | length]",
    "[.. | .a?]",
    "[.[]? as $x | $x]",
    "def map(f): 7; map(.a)",
    "map(.a) | add",
    "try .a catch .",
    "(.a)?",
    "{(.a?): 1}",
    "{a: 1, a: 2}",
    "{a: .[]?}",
    "[limit(1; .[]?)]",
    ".a += 1",
    "sort",
    "@json \"x\\(.a)\"",
];

fn bodies() -> Vec<String> {
    let plain = [
        "null",
        "true",
        "false",
        "1",
        "-0",
        "-0.0",
        "1.0",
        "1e2",
        "1E-400",
        "12345678901234567890",
        "123456789012345678901234567890",
        "\"a\"",
        "\"\"",
        "\"\\ud83d\\ude00 a\\\\x\"",
        " [ ] ",
        "{ }",
        "[[], {}, [[]], [1, [2]]]",
        r#"{"a": 1}"#,
        r#"{"a": {"b": 1.50}, "b": {"c": {"d": [1]}}}"#,
        r#"{"a": [{"b": 1}, {"b": [2]}, 3, null], "b": null}"#,
        r#"{"b": "x", "a": "x\/\u0041\"\\"}"#,
        r#"{"\u0061": 2, "a\u0000": 3, "c": {"a": 1, "\u0062": 2}}"#,
        r#"[{"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": null}, {"a": false, "c": {"a": 3}}, {}]"#,
        r#"[{"a": "x", "b": 1}, {"a": 100, "b": 100.0}, {"a": 1.0, "b": 1}, {"a": [1], "b": [1]}, {"a": [], "b": {}}]"#,
        r#"[null, false, true, 0, -0.0, 1, 1.0, 0.5, 1e2, 100, 12345678901234567890, 1.7976931348623157e308, "a", "aéx", "\u0061x", "x\\", [], [1], {}, {"a": 1}]"#,
        "[1, 2, 3, 4]",
        "[[1, 2], [3], [[4, {\"a\": 5}]]]",
        // Half of a surrogate pair, a name that stands twice, no JSON.
        r#"[{"a": "\udead"}]"#,
        r#"{"a": 1, "b": "\ud800\u0041"}"#,
        r#"{"a": 1, "a": 2, "b": {"c": 1, "c": {"d": 2}}}"#,
        r#"{"a": [{"b": 1, "b": 2}], "a\u0062": 1, "ab": 2}"#,
        r#"[{"a": 1, "\u0061": 2}]"#,
        r#"{"a": [1, 2"#,
        r#"{"a": [1, 2]} x"#,
        r#"[{"a": 1},]"#,
        r#"[{"a": 01}]"#,
        r#"[{"a": 1e999}]"#,
        "[\"\u{0}\"]",
        "",
        r#"{"a": 1, "errors": [{"message": "The API says no."}]}"#,
    ];
    let mut all: Vec<String> = plain.iter().map(|body| (*body).to_owned()).collect();
    for deep in [100, 118, 119, 120, 121, 122, 127, 128, 5000] {
        all.push(format!("{}1{}", "[".repeat(deep), "]".repeat(deep)));
        all.push(format!("{}1{}", "{\"a\":".repeat(deep), "}".repeat(deep)));
    }
    let long = |item: &str| format!("[{}]", vec![item; 60].join(", "));
    all.push(long(r#"{"x": "0123456789", "a": {"b": 7}, "b": [1, 2, {"c": 1}]}, {"a": 1.5, "b": null}"#));
    all.push(format!(r#"{{"b": {}, "a": {}}}"#, long(r#"{"c": 1, "b": 2}, {"b": 3}"#), long("[1, 2], 3, {\"b\": 1}")));
    all
}

/// Numbers as the interpreter writes them: a whole one without fraction.
pub fn plain(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 9e15 => json!(float as i64),
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(plain).collect(),
        Value::Object(members) => members.into_iter().map(|(name, value)| (name, plain(value))).collect(),
        other => other,
    }
}

type Seen = (Vec<Value>, Option<Value>, Option<Map<String, Value>>, bool);

fn seen(content: &Content) -> Seen {
    let blocks =
        spoken(content).iter().map(|text| serde_json::from_str(text).map_or_else(|_| json!(text), plain)).collect();
    (blocks, structured(content).map(plain), content.meta.clone(), content.is_error)
}

#[test]
fn a_filter_gives_the_same_from_text_to_text_as_from_value_to_value() {
    let mut wrong = Vec::new();
    let further = [json!({"as": "text"}), json!({"limit_items": 2}), json!({"path": "a"}), json!({"pick": ["a"]})];
    for (number, filter) in FILTERS.iter().enumerate() {
        assert_eq!(check_jq(filter), Ok(()), "{filter}");
        for rest in [&json!({}), &further[number % further.len()]] {
            let tool = |select: String| {
                let mut result = json!({"select": select});
                result.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
                Make::new().result(&result.to_string()).tool()
            };
            // What binds a variable is left to the interpreter, on all of the input.
            let (direct, interpreted) = (tool((*filter).to_owned()), tool(format!(". as $all | {filter}")));
            for body in bodies() {
                let of = |tool| seen(&content_of(tool, &answer(200, "application/json", body.clone())));
                let (direct, interpreted) = (of(&direct), of(&interpreted));
                if direct != interpreted {
                    let body: String = body.chars().take(200).collect();
                    wrong.push(format!("{filter} {rest} on {body}: {direct:?}, {interpreted:?}"));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of them:\n{}",
        wrong.len(),
        wrong.into_iter().take(12).collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn what_is_copied_goes_through_schemas_and_further_steps() {
    let body = r#"{"items": [{"id": 1.50, "name": "x"}, {"id": "no", "name": "y"}]}"#;
    let schema =
        json!({"type": "array", "items": {"type": "object", "properties": {"id": {"type": ["number", "null"]}}}});
    let select = r#"{select: "[.items[] | {id}]"}"#;
    let content =
        content_of(&Make::new().result(select).output(schema.clone()).tool(), &answer(200, "application/json", body));
    assert_eq!(spoken(&content), [r#"[{"id":1.50},{"id":"no"}]"#]);
    assert_eq!(structured(&content), Some(json!([{"id": 1.5}, {"id": null}])));
    let strict = Make::new().result(select).output(schema).strict().tool();
    let content = content_of(&strict, &answer(200, "application/json", body));
    assert!(content.is_error && spoken(&content)[0].contains("not with what is declared"));
    for (rules, expected) in [
        (json!({"select": ".items", "pick": ["id"], "limit_items": 1}), r#"[{"id":1.5}]"#),
        (json!({"select": ".items[0]", "template": "{{name}}!"}), "x!"),
        (json!({"select": ".items[1]", "path": "name", "as": "text"}), "y"),
        (json!({"select": ".items[1].name", "as": "text"}), "y"),
        (json!({"select": ".items[1].name"}), "\"y\""),
    ] {
        let content =
            content_of(&Make::new().result(&rules.to_string()).tool(), &answer(200, "application/json", body));
        assert_eq!(spoken(&content)[0], expected, "{rules}");
    }
}

#[test]
fn results_that_grow_and_filters_that_branch_are_left_to_the_interpreter() {
    let doubled = |times: usize| vec!["[., .]"; times].join(" | ");
    let branches = vec!["(.a?, .b?)"; 14].join(" | ");
    for filter in [doubled(6), doubled(12), branches, vec!["[.[]?]"; 40].join(", "), vec!["map(.)"; 60].join(" | ")] {
        let (direct, interpreted) = (filter.clone(), format!(". as $all | {filter}"));
        let of = |filter: &str| {
            let tool = Make::new().result(&json!({"select": filter}).to_string()).tool();
            seen(&content_of(&tool, &answer(200, "application/json", json!([vec!["x"; 100]]).to_string())))
        };
        assert_eq!(of(&direct), of(&interpreted), "{filter}");
    }
    // No more outputs than the interpreter may have.
    let many = format!("[{}]", vec!["1"; 100_001].join(","));
    let tool = Make::new().result(r#"{select: ".[]"}"#).tool();
    let content = content_of(&tool, &answer(200, "application/json", many.clone()));
    assert!(content.is_error && spoken(&content)[0].contains("more than 100000 outputs"));
    let tool = Make::new().result(r#"{select: "map(.)"}"#).tool();
    assert_eq!(spoken(&content_of(&tool, &answer(200, "application/json", many.clone()))), [many]);
}

#[test]
fn a_limit_met_on_the_part_that_is_looked_at_is_told_and_the_api_s_own_errors_before_it() {
    let tool = Make::new().result(r#"{select: ".items | map(.id) | last(range(1000000000))"}"#).tool();
    let said = |more: &str| {
        let body = format!(r#"{{"items": [{{"id": 1, "name": "x"}}]{more}}}"#);
        spoken(&content_of(&tool, &answer(200, "application/json", body)))[0].clone()
    };
    let limit = said("");
    assert!(limit.contains("`select`: the filter"), "{limit}");
    assert_eq!(said(r#", "errors": [{"message": "The API says no."}]"#), "The API reported: The API says no.");
}
