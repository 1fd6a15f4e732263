//! Long answers, of which parts are passed over: the result is that of reading everything.

use super::direct::plain;
use super::{Make, answer, arguments, content_of, spoken, structured};
use rest_mcp::content::conform::{Shape, Verdict};
use rest_mcp::content::jq::check_jq;
use rest_mcp::content::{Content, from_value};
use serde_json::{Value, json};

/// A list whose objects mostly look alike: members are missing, stand in another order, are of another kind.
fn pets() -> Value {
    let pets = (0..24).map(|n| match n % 7 {
        3 => json!({"name": format!("Pet \"{n}\""), "id": n, "tags": []}),
        4 => json!({"id": n, "owner": null, "a very long name of a member": [true, {"id": 1}, {"id": 2, "x": 0}]}),
        5 => json!({"id": n, "name": "é\\", "owner": {"email": "x@y"}, "tags": ["a", ["b"]], "more": {"owner": {}}}),
        _ => json!({"id": n, "name": "Rex", "owner": {"name": "Ann \u{1F600}", "email": "ann@example.com"}, "tags": ["dog"], "weight": -1.5e1}),
    });
    json!({"total": 24, "items": pets.collect::<Vec<_>>()})
}

/// The same in three spacings.
fn texts() -> [String; 3] {
    let pets = pets();
    let spaced = pets.to_string().replace("\":", "\" : ").replace(",\"", ", \"");
    [pets.to_string(), spaced, serde_json::to_string_pretty(&pets).unwrap()]
}

#[test]
fn one_wrong_byte_in_a_long_text_is_found_wherever_it_is() {
    let pet = json!({"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"},
        "owner": {"type": ["object", "null"], "properties": {"email": {"type": "string"}}}, "tags": {"type": "array"}}});
    let shape = Shape::new(&json!({"type": "object", "properties": {"items": {"type": "array", "items": pet}}}));
    let any = Shape::new(&json!({}));
    for text in texts() {
        assert_eq!(shape.accepts(text.as_bytes()), Verdict::Conforms);
        for at in (0..text.len()).step_by(89) {
            for byte in *b"\"\\,:{}[] 1x\x01\xff" {
                let mut changed = text.clone().into_bytes();
                changed[at] = byte;
                let value: Option<Value> = serde_json::from_slice(&changed).ok();
                let expected = match &value {
                    None => Verdict::NotJson,
                    Some(value) if shape.fits(value) => Verdict::Conforms,
                    Some(_) => Verdict::Differs,
                };
                let shown =
                    String::from_utf8_lossy(&changed[at.saturating_sub(20)..(at + 20).min(text.len())]).into_owned();
                assert_eq!(shape.accepts(&changed), expected, "{shown}");
                assert_eq!(any.accepts(&changed) == Verdict::NotJson, value.is_none(), "{shown}");
            }
        }
    }
}

type Seen = (Vec<String>, Option<Value>, Option<serde_json::Map<String, Value>>, bool);

fn seen(content: &Content) -> Seen {
    // Spacing and the form of numbers aside, which only what is copied keeps.
    let blocks = spoken(content).into_iter().map(|text| match serde_json::from_str::<Value>(&text) {
        Ok(value) => plain(value).to_string(),
        Err(_) => text,
    });
    (blocks.collect(), structured(content).map(plain), content.meta.clone(), content.is_error)
}

#[test]
fn picking_from_a_long_text_gives_the_same_as_from_its_value() {
    for picks in
        ["[items.name]", "[items.id, items.owner.email]", "[total]", "[items.owner]", "[items.tags, items.more.owner]"]
    {
        let tool = |more: &str| Make::new().result(&format!("{{pick: {picks}{more}}}")).tool();
        for text in texts() {
            let of = |more: &str, text: &str| {
                seen(&content_of(&tool(more), &answer(200, "application/json", text.to_owned())))
            };
            assert_eq!(of("", &text), of(", limit_items: 999", &text), "{picks}");
            // Half of a surrogate pair is told from text in what is left out too.
            let lone = text.replacen("dog", "\\udead", 1);
            assert_eq!(of("", &lone), of(", limit_items: 999", &lone), "{picks}");
            let broken = text.replacen("true", "tru", 1);
            assert_eq!(of("", &broken), of(", limit_items: 999", &broken), "{picks}");
        }
    }
}

/// Filters that look at parts, at everything, at nothing, and where they fail.
const FILTERS: &[&str] = &[
    ".",
    "1",
    "\"x\"",
    "[]",
    "empty",
    ".total",
    ".items",
    ".items[]",
    ".items[0]",
    ".items[-1].name",
    ".items[1:3]",
    ".[\"items\"][0][\"id\"]",
    "[.items[] | {id, name}]",
    "[.items[] | {id, mail: .owner.email}]",
    "[.items[].owner.name]",
    ".items | map(.name)",
    ".items | map(.owner) | map(.email)",
    ".items | length",
    ".items | map(length)",
    ".items | map(select(.id < 5))",
    "[.items[] | select(.id < 5) | .name]",
    "[.items[] | select(.owner) | .id]",
    "[.items[] | select(.name == \"Rex\" and (.tags | length) > 0) | .id]",
    "[.items[] | .owner // \"none\" | .email?]",
    "[.items[] | .owner.email // .name]",
    "[.items[] | if .owner then .owner.name else .name end]",
    "[.items[] | if .id > 3 then . else empty end | .tags[]?]",
    ".items | map(keys)",
    ".items[0] | keys",
    "keys",
    "to_entries",
    ".items | map(has(\"owner\"))",
    ".items | sort_by(.name) | map(.id)",
    ".items | group_by(.name) | map(length)",
    ".items | map(.id) | add",
    "[.items[].id] | max",
    ".items | max_by(.id).name",
    "[.items[] | .tags | .[0]?]",
    "[.. | numbers] | add",
    "del(.items)",
    "del(.items[].owner) | .items[0]",
    "[paths] | length",
    ".items[0] | with_entries(.value |= tostring)",
    "[.items[] | \"\\(.id): \\(.name)\"]",
    "@json",
    "[.items[] | @json \"x\\(.owner)\"]",
    "[.items[] | .name | @uri]",
    "reduce .items[] as $i (0; . + $i.id)",
    "[foreach .items[] as $i (0; . + 1; {n: ., name: $i.name})]",
    ".total as $t | [.items[] | {id, $t}]",
    ".items[0] as {$id, $name} | [$id, $name]",
    "first(.items[].id)",
    "last(.items[].id)",
    "[limit(2; .items[].name)]",
    ".items | first | .name",
    ".items | last.id",
    "[.items[] | objects | .id]",
    "[.items[].owner | values | .email]",
    "[.items[].owner | nulls]",
    "[.items[][] | scalars]",
    "any(.items[]; .id == 3)",
    ".items | any(.id == 3)",
    ".items | all(.id < 100)",
    "[.items[].tags[]]",
    "[.items[].tags | arrays | .[]]",
    "-.total",
    ".total * 2",
    ".items == 1",
    ".items == .items",
    "{a: .items[0]} | .a.name",
    "[.items] | .[0][0].id",
    "def name: .id; .items | map(name)",
    "def map(f): 7; map(.x)",
    ".items[.total - 23].name",
    ".items[.items[0].id].name",
    ".items | to_entries | map(.key) | length",
    "label $out | .items[] | if .id == 2 then ., break $out else empty end",
    "[.items[] | try .name.x catch .]",
    "[.items[] | try error(.) catch .id]",
    "[.items[] | .name.x?]",
    "try error(.items[0]) catch .name",
    "(.items[].id) |= . + 1 | .items[0].id",
    ".total = 3 | .total",
    ".items |= length",
    "path(.items[0].id)",
    "getpath([\"items\", 0, \"name\"])",
    "[.items[] | (.id, .name)]",
    "[.items[] | (.owner, .more) | .email?]",
    "[.items[] | {(.name // \"n\"): .id}] | add",
    ".items | map({id, \"name\", \"x y\": .tags})",
    ".items | map(.\"a very long name of a member\"[1]?)",
    "[recurse | .id?]",
    "walk(.)",
    ".items | map(tojson)",
    ".items | map(type)",
    "[.items[] | .name | not]",
    "[.items[] | .owner == null]",
    "[.items[] | .owner < {}]",
    // These fail, and tell why with values.
    ".total.x",
    ".items.x",
    ".items[].name.x",
    ".items[].owner[0]",
    ".items[\"0\"]",
    ".total[]",
    ".items[] | .[0]",
    ".items + 1",
    ".items[].tags[].x",
    "error(.)",
    ".items[] | error",
    ".items | map(.id.x)",
    ".items | map(.weight | length) | .[0].x",
    ".[0]",
    ".[]",
    "[.[] | .[0]?]",
    "map(.id?)",
    ".[].id",
];

#[test]
fn a_filter_on_what_it_looks_at_gives_the_same_as_on_the_whole() {
    let long = pets();
    let bodies = [
        long.clone(),
        long["items"].clone(),
        json!({"items": {"a": {"id": 1, "name": "x", "owner": {"email": 1}}, "b": {"id": 2}}, "total": "t"}),
        json!({"items": [[{"id": 1}], 2, null, "x", {"id": {"x": 1}, "owner": [1], "name": {"x": 2}}], "total": null}),
        json!({"items": null, "errors": [{"message": "no"}]}),
        json!([]),
        json!({}),
        json!([{"id": 12345678901234567890u64, "name": 1.50, "owner": {"email": 1e300}}, 1, null, [[]]]),
    ];
    let mut wrong = Vec::new();
    for filter in FILTERS {
        if let Err(error) = check_jq(filter) {
            wrong.push(format!("{filter}: {error}"));
            continue;
        }
        let tool = Make::new().result(&json!({"select": filter}).to_string()).tool();
        for body in &bodies {
            let part = content_of(&tool, &answer(200, "application/json", body.to_string()));
            let arguments = arguments(json!({"id": 7}));
            let whole = from_value(&tool, &arguments, body.clone(), Vec::new(), "rest-mcp:get_order", None);
            if seen(&part) != seen(&whole) {
                wrong.push(format!("{filter} on {body}: {:?}, {:?}", seen(&part), seen(&whole)));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_filter_sees_the_last_of_members_that_stand_twice_and_escaped_names() {
    let tool = Make::new().result(r#"{select: "[.items[] | {id, name}]"}"#).tool();
    let body = r#"{"x": [1, 2], "\u0069tems": 5, "items": [{"id": 1, "id": 2, "n\u0061me": "x", "y": {}}]}"#;
    let content = content_of(&tool, &answer(200, "application/json", body));
    assert_eq!(structured(&content), Some(json!([{"id": 2, "name": "x"}])));
    // What is broken in what it does not look at is no JSON all the same.
    let broken = r#"{"items": [{"id": 1, "x": [1,]}]}"#;
    let told = &spoken(&content_of(&tool, &answer(200, "application/json", broken)))[0];
    assert!(told.contains("`select` needs JSON") && told.ends_with("line 1 column 30."), "{told}");
}
