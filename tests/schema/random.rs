//! Properties that hold for any schema and value.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rest_mcp::catalog::name::{NameCandidate, tool_names};
use rest_mcp::content::conform::{Shape, Verdict};
use rest_mcp::mapping::{NameStyle, SchemaProfile};
use rest_mcp::schema::check::Checker;
use rest_mcp::schema::output::relaxed;
use rest_mcp::schema::profile::{publish, self_check};
use serde_json::{Map, Value, json};
use std::sync::Arc;

fn name() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("b"), Just("c"), Just("$ref"), Just("0")].prop_map(str::to_string)
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-3i64..10).prop_map(Value::from),
        prop_oneof![Just(json!(1.0)), Just(json!(0.5)), Just(json!(1e30))],
        prop_oneof![Just(json!("")), Just(json!("x")), Just(json!("5")), Just(json!("[1]")), Just(json!("{\"a\":1}"))],
    ]
}

pub fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..4).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn leaf_schema() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({})),
        Just(json!(true)),
        Just(json!({ "type": "null" })),
        Just(json!({ "type": "string", "minLength": 1 })),
        Just(json!({ "type": "integer", "minimum": 0 })),
        Just(json!({ "type": "number", "description": "n" })),
        Just(json!({ "type": ["boolean", "string"] })),
        Just(json!({ "enum": ["x", 5, null] })),
        Just(json!({ "const": "x" })),
        Just(json!({ "type": "object" })),
        Just(json!({ "$ref": "#/$defs/Node" })),
        Just(json!({ "$ref": "#/$defs/Union", "description": "u" })),
    ]
}

fn part() -> impl Strategy<Value = Value> {
    leaf_schema().prop_recursive(3, 24, 4, |inner| {
        let properties = prop::collection::vec((name(), inner.clone()), 0..4);
        prop_oneof![
            (
                properties,
                prop::collection::vec(name(), 0..2),
                prop_oneof![Just(None), Just(Some(json!(false))), inner.clone().prop_map(Some)],
                any::<bool>()
            )
                .prop_map(|(properties, mut required, extra, typed)| {
                    required.sort();
                    required.dedup();
                    let properties: Map<String, Value> = properties.into_iter().collect();
                    let mut schema = json!({ "properties": properties, "required": required });
                    if let Some(extra) = extra {
                        schema["additionalProperties"] = extra;
                    }
                    if typed {
                        schema["type"] = json!("object");
                    }
                    schema
                }),
            inner.clone().prop_map(|items| json!({ "type": "array", "items": items, "maxItems": 3 })),
            inner.clone().prop_map(|not| json!({ "type": "object", "not": not })),
            (prop_oneof![Just("allOf"), Just("anyOf"), Just("oneOf")], prop::collection::vec(inner.clone(), 1..4))
                .prop_map(|(keyword, parts)| json!({ keyword: parts })),
            (
                prop_oneof![Just("allOf"), Just("anyOf"), Just("oneOf")],
                prop::collection::vec(inner.clone(), 1..3),
                name(),
                inner
            )
                .prop_map(
                    |(keyword, parts, name, property)| json!({ keyword: parts, "properties": { name: property } })
                ),
        ]
    })
}

pub fn schema() -> impl Strategy<Value = Value> {
    (part(), part(), part()).prop_map(|(root, node, union)| {
        let mut root = if root.is_boolean() { json!({}) } else { root };
        root["$defs"] = json!({
            "Node": { "type": "object", "properties": { "a": { "$ref": "#/$defs/Node" }, "b": node } },
            "Union": { "oneOf": [{ "type": "string" }, { "type": "object", "properties": { "c": union } }] }
        });
        root
    })
}

fn checker(schema: &Value) -> Checker {
    Checker::new(Arc::new(schema.clone()))
}

/// Every property name that a published root must still have.
fn names(root: &Value, schema: &Value, depth: usize, out: &mut Vec<String>) {
    if depth > 6 {
        return;
    }
    out.extend(schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys).cloned());
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        names(root, root.pointer(&reference[1..]).expect("there"), depth + 1, out);
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for branch in schema.get(keyword).and_then(Value::as_array).into_iter().flatten() {
            let may = rest_mcp::schema::kinds::allowed(root, branch);
            if may.meets(rest_mcp::schema::kinds::Kinds::OBJECT) {
                names(root, branch, depth + 1, out);
            }
        }
    }
}

fn has_branches(root: &Value, schema: &Value, depth: usize) -> bool {
    if depth > 10 || schema.get("anyOf").is_some() || schema.get("oneOf").is_some() {
        return true;
    }
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|reference| root.pointer(&reference[1..]));
    let parts = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
    target.into_iter().chain(parts).any(|part| has_branches(root, part, depth + 1))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn relaxed_accepts_what_the_declared_schema_accepts(schema in schema(), value in value()) {
        let full = checker(&schema);
        if full.is_valid(&value) {
            let out = relaxed(&schema);
            let problems = checker(&out).check(&value);
            prop_assert!(problems.is_empty(), "{value} against {out}: {problems:?}");
        }
    }

    #[test]
    fn what_conform_gives_satisfies_the_relaxed_schema(schema in schema(), value in value()) {
        let out = relaxed(&schema);
        let shape = Shape::new(&out);
        let text = value.to_string();
        let verdict = shape.accepts(text.as_bytes());
        let checker = checker(&out);
        checker.compile().expect("relaxed schemas compile");
        prop_assert_eq!(verdict == Verdict::Conforms, checker.is_valid(&value), "{} {}", text, out);
        let (conforming, nulled) = shape.conform(value.clone());
        prop_assert_eq!(nulled == 0, verdict == Verdict::Conforms, "{} {}", text, out);
        prop_assert_eq!(nulled == 0, conforming == value);
        let problems = checker.check(&conforming);
        prop_assert!(problems.is_empty(), "{text} became {conforming} against {out}: {problems:?}");
    }

    #[test]
    fn the_published_schema_is_sound_loses_no_name_and_allows_what_the_full_one_allows(schema in schema(), value in value()) {
        for profile in [SchemaProfile::Default, SchemaProfile::StrictVendors] {
            let published = publish(&schema, profile);
            self_check(&published).expect("sound");
            let mut all = Vec::new();
            names(&schema, &schema, 0, &mut all);
            for name in all {
                prop_assert!(published["properties"].get(&name).is_some(), "{name} is lost: {schema} {published}");
            }
        }
        let full = checker(&schema);
        // A branch's property is published with that branch's type, though another branch may leave it open.
        if value.is_object() && full.is_valid(&value) && !has_branches(&schema, &schema, 0) {
            let published = publish(&schema, SchemaProfile::Default);
            let problems = checker(&published).check(&value);
            prop_assert!(problems.is_empty(), "{value} against {published} from {schema}: {problems:?}");
        }
    }

    #[test]
    fn every_problem_has_a_message_of_bounded_length(schema in schema(), value in value()) {
        let checker = checker(&schema);
        let found = checker.check(&value);
        prop_assert_eq!(found.is_empty(), checker.is_valid(&value));
        prop_assert!(found.len() <= 11);
        prop_assert!(found.iter().all(|problem| !problem.message.is_empty() && problem.message.len() < 2_000));
    }

    #[test]
    fn names_are_legal_unique_and_independent_of_order(
        ids in prop::collection::vec((prop::option::of("[a-zA-Z_./ é-]{0,90}|get|get_x"), "/[a-z{}/]{0,12}"), 1..20),
        max in 8usize..70,
        snake in any::<bool>(),
    ) {
        let mut candidates: Vec<NameCandidate> = ids
            .into_iter()
            .map(|(operation_id, path)| (operation_id.filter(|id| !id.is_empty()), path))
            .map(|(operation_id, path)| NameCandidate { operation_id, method: "GET".into(), path, ..NameCandidate::default() })
            .collect();
        candidates.sort_by(|a, b| (&a.path, &a.operation_id).cmp(&(&b.path, &b.operation_id)));
        candidates.dedup_by(|a, b| a.path == b.path && a.operation_id == b.operation_id);
        let style = if snake { NameStyle::Snake } else { NameStyle::Keep };
        let made = tool_names(&candidates, style, max);
        for name in &made {
            prop_assert!(!name.is_empty() && name.len() <= max.min(64), "{name}");
            prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'), "{name}");
        }
        let mut unique = made.clone();
        unique.sort();
        unique.dedup();
        prop_assert_eq!(unique.len(), made.len(), "{:?}", made);
        candidates.reverse();
        let mut reversed = tool_names(&candidates, style, max);
        reversed.reverse();
        prop_assert_eq!(reversed, made);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, rng_seed: RngSeed::Fixed(2), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_are_json_for_the_shape_exactly_where_they_are_for_the_parser(
        value in value(), at in any::<prop::sample::Index>(), with in "[\\[\\]{},:\"\\\\0-9a-e.tfn \\-]{0,2}", cut in 0usize..3,
    ) {
        let text = value.to_string();
        let start = at.index(text.len() + 1);
        prop_assume!(text.is_char_boundary(start));
        let end = (start + cut).min(text.len());
        let changed = format!("{}{with}{}", &text[..start], text.get(end..).unwrap_or_default());
        let parsed = serde_json::from_str::<Value>(&changed).is_ok();
        for shape in [json!({}), json!({ "type": "array", "items": { "type": "object" } }), json!({ "anyOf": [{ "type": "array" }, { "properties": { "a": { "type": "null" } } }] })] {
            let verdict = Shape::new(&shape).accepts(changed.as_bytes());
            prop_assert_eq!(verdict != Verdict::NotJson, parsed, "{}", changed);
        }
    }
}
