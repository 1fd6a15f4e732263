//! What a mapping leaves out is left out of every answer, whatever that is made of.

use super::{Make, answer, arguments, content_of, spoken, structured};
use rest_mcp::content::from_value;
use serde_json::json;

const SECRET: &str = "hunter2";

/// Media type and body: the same record in every notation, right and broken.
const NO_JSON: [(&str, &str); 13] = [
    ("application/json", r#"{"id": 7, "password": "hunter2""#),
    ("application/json", "{'id': 7, 'password': 'hunter2'}"),
    ("application/problem+json", "password=hunter2"),
    ("text/plain", "id 7, password hunter2"),
    ("text/plain", r#"{"id": 7, "password": "hunter2",}"#),
    ("text/html", "<p>hunter2</p>"),
    ("application/xml", "<user><password>hunter2</password></user>"),
    ("text/csv", "id,password\n7,hunter2\n"),
    ("application/yaml", "id: 7\npassword: hunter2\n"),
    ("application/x-www-form-urlencoded", "id=7&password=hunter2"),
    ("application/octet-stream", "\u{0}\u{1}hunter2"),
    ("application/pdf", "%PDF-hunter2"),
    ("image/png", "\u{89}PNGhunter2"),
];
const RULES: [&str; 5] = ["redact: [password]", "drop: [password]", "pick: [id]", "path: id", "select: .id"];
const FORMS: [&str; 7] = [
    "as: auto",
    "as: text",
    "as: resource, uri: 'x:y'",
    "format: csv",
    "max_bytes: 300",
    "template: '{{result}}'",
    "blocks: [{type: text}]",
];

#[test]
fn a_body_without_json_is_not_shown_where_something_is_to_be_left_out() {
    for rule in RULES {
        for form in FORMS {
            let tool = Make::new().result(&format!("{{{rule}, {form}}}")).output(json!({"type": "object"})).tool();
            for (media_type, body) in NO_JSON {
                let content = content_of(&tool, &answer(200, media_type, body));
                let told = format!("{rule}, {form}, {media_type} {body}: {content:?}");
                assert!(!told.replace(body, "").contains(SECRET), "{told}");
                assert!(content.is_error && content.structured.is_none(), "{told}");
                let named = format!("`{}` needs JSON", rule.split(':').next().unwrap());
                assert!(spoken(&content)[0].contains(&named), "{told}");
            }
        }
    }
}

#[test]
fn the_error_says_what_came_and_which_rule_it_does_not_fit() {
    let tool = Make::new().result("{redact: [password]}").tool();
    let told = |media_type, body: &'static str| spoken(&content_of(&tool, &answer(201, media_type, body))).join("|");
    let start = "The API answered (HTTP 201 Created, 8 bytes), but the answer can't be shown as the mapping of `get_order` says";
    assert_eq!(told("text/csv", "a,b\n1,2\n"), format!("{start}: `redact` needs JSON, and this is text/csv."));
    assert_eq!(
        told("application/json", "{\"a\": 1,"),
        format!(
            "{start}: `redact` needs JSON, and what is declared as application/json can't be read as such: EOF while \
             parsing a value at line 1 column 8."
        )
    );
    // Nothing came, or nothing that has members.
    assert_eq!(told("text/plain", ""), "OK (201 Created)");
    assert_eq!(told("image/gif", "GIF89a.."), "image image/gif 8");
}

#[test]
fn json_is_shown_without_what_is_left_out_in_every_form() {
    let bodies = [
        ("application/json", r#"{"id": 7, "password": "hunter2"}"#),
        ("text/plain", r#"{"id": 7, "password": "hunter2"}"#),
        ("application/octet-stream", r#"{"id": 7, "password": "hunter2"}"#),
        ("application/json", r#"[{"id": 7, "password": "hunter2"}]"#),
        ("application/x-ndjson", "{\"id\": 7, \"password\": \"hunter2\"}\n{\"id\": 8, \"password\": \"hunter2\"}\n"),
        ("application/x-ndjson", "{\"id\": 7, \"password\": \"hunter2\"}\n{'id': 8, 'password': 'hunter2'}\n"),
        ("text/event-stream", "data: {\"id\": 7, \"password\": \"hunter2\"}\n\ndata: password=hunter2\n\n"),
    ];
    for rule in ["redact: [password]", "drop: [password]", "pick: [id]"] {
        for form in FORMS {
            let tool = Make::new().result(&format!("{{{rule}, {form}}}")).tool();
            for (media_type, body) in bodies {
                let content = content_of(&tool, &answer(200, media_type, body));
                let told = format!("{rule}, {form}, {media_type} {body}: {content:?}");
                assert!(!told.replace(body, "").contains(SECRET), "{told}");
                assert!(!content.is_error && spoken(&content)[0].contains('7'), "{told}");
            }
        }
    }
}

#[test]
fn a_resource_holds_what_the_rules_make_of_the_answer() {
    let body = r#"[{"id": 7, "password": "hunter2"}]"#;
    let value = json!([{"id": 7, "password": "hunter2"}]);
    for (rules, expected) in [
        ("redact: [password]", r#"application/json [{"id":7,"password":"***"}]"#),
        ("pick: [id]", r#"application/json [{"id":7}]"#),
        ("select: '.[0].id'", "application/json 7"),
        ("pick: [id], format: csv", "text/csv id\r\n7\r\n"),
        ("template: 'n {{result.[0].id}}'", "text/plain n 7"),
        ("pick: [id], mime_type: text/x-id", r#"text/x-id [{"id":7}]"#),
    ] {
        let tool = Make::new().result(&format!("{{as: resource, uri: 'x:{{{{id}}}}', {rules}}}")).tool();
        let content = content_of(&tool, &answer(200, "application/json", body));
        assert_eq!(spoken(&content), [format!("resource x:7 {expected}")], "{rules}");
        let content = from_value(&tool, &arguments(json!({"id": 7})), value.clone(), Vec::new(), "", None);
        assert_eq!(spoken(&content), [format!("resource x:7 {expected}")], "{rules}");
    }
}

#[test]
fn errors_of_the_api_hide_it_too() {
    let told = |rules: &str, media_type, body: &'static str| {
        spoken(&content_of(&Make::new().result(rules).tool(), &answer(400, media_type, body))).join("|")
    };
    let record = r#"{"code": 3, "password": "hunter2"}"#;
    let hidden = r#"HTTP 400 Bad Request: {"code":3,"password":"***"}"#;
    assert_eq!(told("{redact: [password]}", "application/json", record), hidden);
    assert_eq!(told("{drop: [password]}", "application/json", record), r#"HTTP 400 Bad Request: {"code":3}"#);
    assert_eq!(told("{redact: [password]}", "text/plain", "hunter2"), "HTTP 400 Bad Request");
    assert_eq!(
        told("{redact: [message]}", "application/json", r#"{"message": "hunter2"}"#),
        "HTTP 400 Bad Request: ***"
    );
    // `drop` leaves out what is the same in all results; the reason of an error is no such thing.
    let taken = r#"{"message": "The name is taken", "ok": false}"#;
    assert_eq!(told("{drop: [message, ok]}", "application/json", taken), "HTTP 400 Bad Request: The name is taken");
    assert_eq!(told("{drop: [message]}", "text/plain", "The name is taken"), "HTTP 400 Bad Request: The name is taken");
}

#[test]
fn a_filter_that_fails_tells_types_and_no_values() {
    for (filter, body, expected) in [
        (".id", r#"[{"password": "hunter2"}]"#, "cannot index a list with \"id\""),
        (".id.x", r#"{"id": "hunter2 with x"}"#, "cannot index a text with \"x\""),
        (".[\"id\"]", "4711", "cannot index a number with \"id\""),
        (".id - 1", r#"{"id": "hunter2 - 3"}"#, "cannot calculate a text - a number"),
        (". - {a: 1}", r#"{"id": "hunter2"}"#, "cannot calculate an object - an object"),
        (".id | .[]", r#"{"id": 4711}"#, "cannot use a number as iterable (array or object)"),
        (".list[.id]", r#"{"list": [1], "id": "hunter2"}"#, "cannot index a list with a text"),
        (".id | error", r#"{"id": "own words"}"#, "own words"),
    ] {
        let tool = Make::new().result(&format!("{{select: '{filter}'}}")).tool();
        let content = content_of(&tool, &answer(200, "application/json", body));
        let start = "The API answered, but the answer can't be shown as the mapping of `get_order` says: `select`: ";
        assert_eq!(spoken(&content), [format!("{start}{expected}.")], "{filter} on {body}");
    }
    let long = format!(r#"{{"id": "hunter2 {}"}}"#, "x".repeat(5000));
    let tool = Make::new().result("{select: '.id.x'}").tool();
    let told = spoken(&content_of(&tool, &answer(200, "application/json", long))).join("");
    assert!(told.ends_with("cannot index a text with \"x\"."), "{told}");
}

#[test]
fn what_is_declared_as_json_and_is_none_is_shown_with_a_remark() {
    for result in [None, Some("{limit_items: 3}"), Some("{as: text}")] {
        let tool = match result {
            Some(result) => Make::new().result(result).tool(),
            None => Make::new().tool(),
        };
        let content = content_of(&tool, &answer(200, "application/json", "Created"));
        let remark = "The API calls this JSON, but it can't be read as such: expected value at line 1 column 1.";
        assert_eq!(spoken(&content), ["Created", remark]);
        assert!(!content.is_error && structured(&content).is_none());
    }
    // Of a text that was never called JSON a template is made as before.
    let tool = Make::new().result("{template: 'said: {{result}}'}").tool();
    assert_eq!(spoken(&content_of(&tool, &answer(200, "text/plain", "hi"))), ["said: hi"]);
    let content = content_of(&tool, &answer(200, "application/json", "hi"));
    assert!(content.is_error && spoken(&content)[0].contains("`template` needs JSON"), "{content:?}");
}

#[test]
fn no_function_of_a_filter_tells_a_value_when_it_fails() {
    let functions = [
        "tonumber",
        "fromjson",
        "fromdate",
        "todate",
        "mktime",
        "gmtime",
        "strptime(\"%Y\")",
        "strftime(\"%Y\")",
        "@base64d",
        "[{a: .}] | @sh",
        "keys",
        "length | keys",
        "map(.)",
        "has(\"a\")",
        "has(0)",
        "implode",
        "[.] | implode",
        "join(\",\")",
        "[.] | join(1)",
        "flatten",
        "min_by(.)",
        "sort",
        "sort_by(.a)",
        "group_by(.x)",
        "from_entries",
        "[.] | from_entries",
        "to_entries",
        "range(.)",
        "test(\"(\")",
        "test(.; .)",
        "[.] | test(\"a\")",
        "sub(\"[\"; \"\")",
        "splits(1)",
        "split(1)",
        "capture(1)",
        "ltrimstr(1) | keys",
        "floor",
        "sqrt",
        "-.",
        ". * {}",
        ". / 0",
        "1 - .",
        "{} - .",
        "add",
        "transpose",
        "in({})",
        "inside([])",
        "contains(1)",
        "{(tonumber): 1}",
        "{([.]): 1}",
        "[1] | .[{}]",
        ". as $p | [1] | .[$p]",
        ". as $p | {a: 1} | getpath([$p, $p, $p])",
        ". as $p | [] | setpath([$p]; 1)",
        ". as $p | {a: [1]} | delpaths([[\"a\", $p]])",
        ".[0:\"a\"] ",
        ".[\"a\":]",
        "first | .[]",
        "limit(.; 1)",
        "@uri | tonumber",
        "tojson | tonumber",
        "explode | tojson | fromdate",
        "ascii_downcase | fromjson",
        "[.] | tojson | fromjson | .a",
        "try error({p: .}) catch .p | tonumber",
        "path(1)",
    ];
    let body = r#"{"password": "hunter2"}"#;
    let mut failed = 0;
    for function in functions {
        let select = format!(".password | {function}");
        let tool = Make::new().result(&json!({"select": select}).to_string()).tool();
        let content = content_of(&tool, &answer(200, "application/json", body));
        let told = spoken(&content).join("|");
        assert!(!content.is_error || !told.contains(SECRET), "{select}: {told}");
        failed += usize::from(content.is_error);
    }
    // Some of them can be applied to a text after all.
    assert!(failed > 50, "{failed}");
}

#[test]
fn empty_huge_and_hostile_answers_are_not_shown_either() {
    let tool = Make::new().result("{redact: [password]}").tool();
    let told = |body: String| spoken(&content_of(&tool, &answer(200, "application/json", body))).join("|");
    for empty in ["", " \n\t ", "\u{feff}"] {
        assert_eq!(told(empty.to_owned()), "OK (200 OK)", "{empty:?}");
    }
    let record = r#"{"password": "hunter2"},"#;
    for hostile in [
        format!("[{}", record.repeat(400_000)),
        format!("{}{record}{}", "[".repeat(100_000), "]".repeat(100_000)),
        format!("{{\"a\": {}}} {record}", record.trim_end_matches(',')),
        format!("\u{0}{record}"),
        "{\"password\": \"hunter2\", \"password\": hunter2}".to_owned(),
        "{\"password\": NaN, \"x\": \"hunter2\"}".to_owned(),
    ] {
        let told = told(hostile);
        assert!(told.len() < 400 && told.contains("`redact` needs JSON") && !told.contains(SECRET), "{told:.500}");
    }
}
