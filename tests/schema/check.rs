//! Messages for a model.

use rest_mcp::schema::check::{Checker, Problem, pattern_problem};
use rest_mcp::schema::kept::Kept;
use serde_json::{Value, json};
use std::sync::Arc;

fn problems(schema: Value, value: Value) -> Vec<Problem> {
    Checker::new(Arc::new(schema)).check(&value)
}

/// Checks that there is exactly one problem, at this path, whose message holds all these words.
#[track_caller]
fn one(schema: Value, value: Value, argument: &str, words: &[&str], hint: Option<&str>) {
    let found = problems(schema, value);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].argument, argument);
    for word in words {
        assert!(found[0].message.contains(word), "`{word}` is missing in: {}", found[0].message);
    }
    assert_eq!(found[0].hint.as_deref(), hint);
}

fn pet() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["petId"],
        "properties": {
            "petId": { "type": "integer", "minimum": 1 },
            "status": { "enum": ["available", "pending", "sold"] },
            "tags": { "type": "array", "items": { "$ref": "#/$defs/Tag" }, "maxItems": 2 },
            "name": { "type": "string", "minLength": 2, "maxLength": 5, "pattern": "^[a-z]+$" }
        },
        "$defs": { "Tag": { "type": "object", "required": ["name"], "properties": { "name": { "type": "string" } }, "additionalProperties": false } }
    })
}

#[test]
fn a_valid_value_has_no_problems() {
    assert_eq!(problems(pet(), json!({ "petId": 1, "tags": [{ "name": "x" }] })), []);
}

#[test]
fn each_keyword_says_where_what_was_expected_and_what_came() {
    one(pet(), json!({ "petId": "seven" }), "petId", &["expected integer", "got string \"seven\""], None);
    one(pet(), json!({ "petId": 0 }), "petId", &["at least 1", "got 0"], None);
    one(pet(), json!({ "petId": null }), "petId", &["expected integer, got null"], None);
    one(pet(), json!({}), "petId", &["required", "integer"], None);
    one(pet(), json!({ "petId": 1, "name": "a" }), "name", &["at least 2 characters", "has 1"], None);
    one(pet(), json!({ "petId": 1, "name": "abcdefg" }), "name", &["at most 5 characters", "has 7"], None);
    one(pet(), json!({ "petId": 1, "name": "AB" }), "name", &["^[a-z]+$", "\"AB\""], None);
    one(
        pet(),
        json!({ "petId": 1, "tags": [{ "name": 7 }] }),
        "tags[0].name",
        &["expected string, got integer 7"],
        None,
    );
    one(pet(), json!({ "petId": 1, "tags": [{}] }), "tags[0].name", &["required", "string"], None);
    let three = json!([{ "name": "a" }, { "name": "b" }, { "name": "c" }]);
    one(pet(), json!({ "petId": 1, "tags": three }), "tags", &["at most 2 items", "has 3"], None);
}

#[test]
fn an_enum_lists_its_values_and_the_nearest() {
    let words = ["\"available\", \"pending\", \"sold\"", "got \"availible\""];
    one(pet(), json!({ "petId": 1, "status": "availible" }), "status", &words, Some("did you mean \"available\"?"));
}

#[test]
fn a_long_enum_is_cut_at_twenty() {
    let values: Vec<Value> = (0..50).map(|n| json!(format!("v{n}"))).collect();
    one(json!({ "enum": values }), json!(1), "", &["\"v19\", and 30 more"], None);
}

#[test]
fn an_unknown_name_gets_the_nearest_legal_one() {
    one(pet(), json!({ "petId": 1, "pet_name": "x" }), "pet_name", &["not known"], None);
    one(pet(), json!({ "petId": 1, "Name_": "x" }), "Name_", &["not known"], Some("did you mean `name`?"));
    let both = problems(pet(), json!({ "pet_id": 1 }));
    let unknown = both.iter().find(|problem| problem.argument == "pet_id").expect("told");
    assert_eq!(unknown.hint.as_deref(), Some("did you mean `petId`?"));
    assert!(both.iter().any(|problem| problem.argument == "petId" && problem.message.contains("required")));
}

#[test]
fn an_unknown_nested_name_is_told_with_the_known_ones() {
    let value = json!({ "petId": 1, "tags": [{ "name": "a", "colour": 1 }] });
    one(pet(), value, "tags[0].colour", &["not known here", "`name`"], None);
}

#[test]
fn a_union_of_types_names_them_together() {
    let schema = json!({ "properties": { "id": { "anyOf": [{ "type": "string" }, { "type": "integer" }, { "type": "null" }] } } });
    one(schema, json!({ "id": [1] }), "id", &["expected string or integer or null", "array of 1 item"], None);
}

#[test]
fn a_nullable_union_tells_the_reason_of_the_branch_that_counts() {
    let schema =
        json!({ "properties": { "n": { "anyOf": [{ "type": "integer", "maximum": 5 }, { "type": "null" }] } } });
    let found = problems(schema, json!({ "n": 9 }));
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].argument.as_str(), found[0].message.as_str()), ("n", "must be at most 5, got 9"));
}

#[test]
fn a_discriminated_union_tells_the_reason_of_the_chosen_branch() {
    let schema = json!({ "oneOf": [
        { "type": "object", "required": ["kind", "number"], "properties": { "kind": { "const": "card" }, "number": { "type": "string" } } },
        { "type": "object", "required": ["kind", "iban"], "properties": { "kind": { "const": "bank" }, "iban": { "type": "string" } } }
    ] });
    one(schema.clone(), json!({ "kind": "bank" }), "iban", &["required"], None);
    one(schema, json!({ "kind": "bonk" }), "kind", &["\"card\", \"bank\"", "\"bonk\""], Some("did you mean \"bank\"?"));
}

#[test]
fn a_union_of_objects_tells_the_reason_of_the_nearest() {
    let schema = json!({ "anyOf": [
        { "type": "object", "required": ["a", "b", "c"] },
        { "type": "object", "required": ["a", "d"] }
    ] });
    one(schema, json!({ "a": 1 }), "d", &["required", "nearest of 2 alternatives"], None);
}

#[test]
fn fitting_two_alternatives_of_one_is_said() {
    let schema = json!({ "oneOf": [{ "required": ["a"] }, { "required": ["b"] }, { "required": ["c"] }] });
    one(schema, json!({ "a": 1, "b": 1 }), "", &["1 and 2", "exactly one of 3"], None);
}

#[test]
fn no_more_than_ten_problems_are_told_and_the_rest_counted() {
    let properties: serde_json::Map<String, Value> =
        (0..30).map(|n| (format!("p{n}"), json!({ "type": "integer" }))).collect();
    let value: serde_json::Map<String, Value> = (0..30).map(|n| (format!("p{n}"), json!("x"))).collect();
    let found = problems(json!({ "properties": properties }), Value::Object(value));
    assert_eq!(found.len(), 11);
    assert_eq!(found[10].message, "and 20 more problems");
}

#[test]
fn a_value_is_never_echoed_whole() {
    let long = "x".repeat(10_000);
    let found = problems(json!({ "properties": { "a": { "type": "integer" } } }), json!({ "a": long }));
    assert!(found[0].message.len() < 150, "{}", found[0].message.len());
    let found = problems(json!({ "additionalProperties": false }), json!({ long: 1 }));
    assert!(found[0].argument.chars().count() < 100);
}

#[test]
fn names_that_look_like_an_index_or_a_path_stay_names() {
    let schema = json!({ "additionalProperties": { "properties": { "a.b": { "type": "integer" } } } });
    one(schema.clone(), json!({ "0": { "a.b": "x" } }), "0[\"a.b\"]", &["integer"], None);
    one(
        json!({ "properties": { "a/b~c": { "type": "integer" } } }),
        json!({ "a/b~c": "x" }),
        "a/b~c",
        &["integer"],
        None,
    );
}

#[test]
fn a_schema_that_does_not_compile_refuses_every_value() {
    for schema in [json!({ "pattern": "(" }), json!({ "$ref": "#/$defs/Gone" }), json!({ "type": "nonsense" })] {
        let checker = Checker::new(Arc::new(schema.clone()));
        assert!(checker.compile().is_err(), "{schema}");
        assert!(!checker.is_valid(&json!({})));
        assert!(checker.check(&json!({}))[0].message.contains("can't be used"), "{schema}");
    }
}

#[test]
fn nothing_outside_the_schema_is_fetched() {
    let checker = Checker::new(Arc::new(json!({ "$ref": "https://example.com/schema.json" })));
    assert!(checker.compile().is_err());
}

#[test]
fn a_definition_that_is_only_itself_neither_hangs_nor_overflows() {
    let schema =
        json!({ "$ref": "#/$defs/A", "$defs": { "A": { "$ref": "#/$defs/B" }, "B": { "$ref": "#/$defs/A" } } });
    let checker = Checker::new(Arc::new(schema));
    let _ = checker.compile();
    let _ = checker.check(&json!(1));
}

#[test]
fn a_pattern_that_backtracks_without_end_is_cut_off_and_does_not_pass() {
    let checker = Checker::new(Arc::new(json!({ "type": "string", "pattern": "^(a+)+(?=b)$" })));
    let value = json!("a".repeat(200));
    assert!(!checker.is_valid(&value));
    assert!(!checker.check(&value).is_empty());
}

#[test]
fn formats_are_annotations() {
    assert_eq!(problems(json!({ "type": "string", "format": "date-time" }), json!("yesterday")), []);
    assert_eq!(problems(json!({ "type": "integer", "format": "int32" }), json!(9_000_000_000i64)), []);
}

#[test]
fn alternatives_that_only_formats_tell_apart_do_not_refuse_what_fits_them() {
    // Validation 7.2.1: a format annotates, so both alternatives accept each of these texts.
    let when =
        json!({ "oneOf": [{ "type": "string", "format": "date" }, { "type": "string", "format": "date-time" }] });
    for value in ["2024-01-02", "2024-01-02T03:04:05Z"] {
        assert!(problems(when.clone(), json!(value)).is_empty(), "{value}");
    }
    assert!(!problems(when, json!(7)).is_empty());
    // Behind a reference, in a member, and beside an `anyOf` that still holds.
    let range = json!({
        "anyOf": [{ "required": ["first"] }],
        "oneOf": [{ "$ref": "#/$defs/four" }, { "$ref": "#/$defs/six" }],
        "$defs": {
            "four": { "properties": { "first": { "type": "string", "format": "ipv4" } } },
            "six": { "properties": { "first": { "type": "string", "format": "ipv6" } } },
        }
    });
    assert!(problems(range.clone(), json!({ "first": "10.0.0.1" })).is_empty());
    assert!(!problems(range, json!({})).is_empty());
    // Without formats exactly one alternative has to fit.
    let either = json!({ "oneOf": [{ "required": ["a"] }, { "required": ["b"] }] });
    assert!(!problems(either, json!({ "a": 1, "b": 2 })).is_empty());
}

#[test]
fn what_fits_several_alternatives_and_their_formats_is_refused() {
    // Core 10.2.1.3: exactly one. DigitalOcean's "assign to a droplet, or reserve in a region".
    let reserve = json!({ "type": "object", "properties": { "body": { "oneOf": [
        { "required": ["droplet_id"], "properties": { "droplet_id": { "type": "integer" } } },
        { "required": ["region"], "properties": {
            "region": { "type": "string" }, "project_id": { "type": "string", "format": "uuid" } } },
    ] } } });
    let id = "746c6152-2fa2-11ed-92d3-27aaa54e4988";
    for one in [json!({ "droplet_id": 1 }), json!({ "region": "nyc3", "project_id": id }), json!({ "region": "nyc3" })]
    {
        assert_eq!(problems(reserve.clone(), json!({ "body": one })), []);
    }
    // A format that is not kept to does not refuse what fits nothing else.
    assert_eq!(problems(reserve.clone(), json!({ "body": { "region": "nyc3", "project_id": "mine" } })), []);
    let both = problems(reserve.clone(), json!({ "body": { "droplet_id": 1, "region": "nyc3", "project_id": id } }));
    assert_eq!(both.len(), 1, "{both:?}");
    assert_eq!(both[0].argument, "body");
    assert!(both[0].message.contains("fits alternatives 1 and 2 at once"), "{both:?}");
    assert!(!problems(reserve, json!({ "body": {} })).is_empty());
}

#[test]
fn a_value_is_held_against_formats_only_where_several_alternatives_fit() {
    let address = json!({ "oneOf": [
        { "type": "string", "format": "ipv4" },
        { "type": "string", "format": "ipv6" },
        { "type": "string", "pattern": "^[a-z]+$" },
    ] });
    // The last is the format of none; the one before fits a pattern besides, and the format of none.
    for value in ["10.0.0.1", "::1", "localhost", "10.0.0.999"] {
        assert_eq!(problems(address.clone(), json!(value)), [], "{value}");
    }
    // RFC 4122 text and a name that is one, too.
    let either = json!({ "oneOf": [{ "$ref": "#/$defs/id" }, { "$ref": "#/$defs/name" }], "$defs": {
        "id": { "type": "string", "format": "uuid" }, "name": { "type": "string", "minLength": 3 } } });
    assert_eq!(problems(either.clone(), json!("disk")), []);
    assert!(!problems(either, json!("746c6152-2fa2-11ed-92d3-27aaa54e4988")).is_empty());
}

#[test]
fn alternatives_that_are_the_same_without_formats_count_as_one() {
    // OpenAPI's own formats restrict nothing, and a text with a format beside a text without one says no more.
    for (alternatives, value) in [
        (json!([{ "type": "integer", "format": "int32" }, { "type": "integer", "format": "int64" }]), json!(5)),
        (json!([{ "type": "string", "format": "password" }, { "type": "string", "title": "key" }]), json!("secret")),
        (json!([{ "type": "string" }, { "type": "string", "format": "date" }]), json!("2024-01-02")),
        (json!([{ "$ref": "#/$defs/a" }, { "$ref": "#/$defs/b" }]), json!({ "n": [{ "n": [] }] })),
    ] {
        let schema = json!({ "oneOf": alternatives, "$defs": {
            "a": { "properties": { "n": { "items": { "$ref": "#/$defs/a" } }, "m": { "format": "int32" } } },
            "b": { "properties": { "n": { "items": { "$ref": "#/$defs/a" } }, "m": { "format": "int64" } } },
        } });
        assert_eq!(problems(schema, value.clone()), [], "{value}");
    }
    // Without any format they are two, as the standard says.
    assert!(!problems(json!({ "oneOf": [{ "type": "string" }, { "type": "string" }] }), json!("a")).is_empty());
}

#[test]
fn alternatives_are_told_apart_wherever_they_stand() {
    // Names that need escaping in a pointer, a property called like a keyword, a list, a circle through the root.
    let choice = json!({ "oneOf": [
        { "required": ["at"], "properties": { "at": { "format": "date" } } },
        { "required": ["until"], "properties": { "until": { "format": "date" }, "more": { "$ref": "#" } } },
    ] });
    let schema = json!({ "properties": {
        "a/b~c %": choice, "enum": choice, "list": { "items": choice }, "both": { "allOf": [choice] } } });
    let (one, both) = (json!({ "until": "2024-01-02" }), json!({ "until": "2024-01-02", "at": "2024-01-02" }));
    for name in ["a/b~c %", "enum", "both"] {
        assert_eq!(problems(schema.clone(), json!({ name: one })), [], "{name}");
        assert_eq!(problems(schema.clone(), json!({ name: both })).len(), 1, "{name}");
        let inner = json!({ "until": "2024-01-02", "more": { "list": [one, both] } });
        assert!(!problems(schema.clone(), json!({ name: inner })).is_empty(), "{name}");
    }
}

#[test]
fn a_whole_number_written_with_a_point_is_an_integer() {
    assert_eq!(problems(json!({ "type": "integer" }), json!(1.0)), []);
    assert_eq!(problems(json!({ "type": "integer" }), json!(1.5)).len(), 1);
}

#[test]
fn unusable_patterns_are_told_from_usable_ones() {
    assert_eq!(pattern_problem("^[a-z]{2,}$"), None);
    assert_eq!(pattern_problem("^(?!x)\\d+$"), None);
    assert!(pattern_problem("(unclosed").is_some());
}

#[test]
fn a_kept_schema_is_the_schema_that_was_given() {
    let mut deep = json!({"type": "string"});
    for level in 0..200 {
        let schema =
            json!({"type": "object", "properties": {"a": deep, "b": true, "n": {"maximum": 0.1 + f64::from(level)}}});
        let kept = Kept::new(&schema);
        assert_eq!(*kept.tree(), schema, "{level}");
        assert_eq!(kept.text(), schema.to_string(), "{level}");
        assert_eq!(kept.property_names(), ["a", "b", "n"], "{level}");
        assert!(kept.has_object_root() && !kept.is_plain());
        assert_eq!(kept, Kept::from(schema.clone()));
        deep = schema;
    }
    assert!(Kept::new(&json!({"type": "object", "properties": {"a": {}}})).is_plain());
    assert!(!Kept::new(&json!({"type": "object", "properties": {"a": {"x-mcp-header": "A"}}})).is_plain());
    assert!(!Kept::new(&json!({"type": ["object", "null"]})).has_object_root());
}
