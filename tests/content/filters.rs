//! jq filters: what they give, where they fail, and that none takes the process down.

use rest_mcp::content::jq::{Jq, check_jq};
use serde_json::{Value, json};

fn run(filter: &str, input: &Value) -> Result<Vec<Value>, String> {
    Jq::compile(filter).unwrap_or_else(|error| panic!("{filter}: {error}")).all(input)
}

#[test]
fn filters_give_what_jq_gives() {
    let input = json!({"items": [{"id": 2, "name": "b", "tags": [{"name": "x"}]}, {"id": 1, "name": "a", "tags": []}], "n": 3, "s": "a,b"});
    let cases = [
        (".n", json!([3])),
        (".items[].id", json!([2, 1])),
        (
            ".items[] | {id, name, tags: [.tags[].name]}",
            json!([{"id": 2, "name": "b", "tags": ["x"]}, {"id": 1, "name": "a", "tags": []}]),
        ),
        ("[.items | sort_by(.id)[] | .name] | join(\"-\")", json!(["a-b"])),
        (".items | map(select(.id > 1)) | length", json!([1])),
        (".missing // \"none\"", json!(["none"])),
        ("reduce .items[] as $i (0; . + $i.id)", json!([3])),
        ("[limit(3; range(10))]", json!([[0, 1, 2]])),
        (".s | split(\",\")", json!([["a", "b"]])),
        (".n * 2, \"ab\" * 2", json!([6, "abab"])),
        (".n *= 2 | .n", json!([6])),
        (".items |= map(.id) | .items", json!([[2, 1]])),
        ("del(.items) | keys", json!([["n", "s"]])),
        ("def f($x): . + $x; .n | f(1) | f(2)", json!([6])),
        ("[.items[] | .name as $n | .tags | length | {($n): .}] | add", json!([{"b": 1, "a": 0}])),
        ("try error(\"x\") catch .", json!(["x"])),
        ("first(.items[].id), last(.items[].id)", json!([2, 1])),
        ("[.. | numbers] | add", json!([6])),
        ("\"\\(.n)!\" | test(\"^3\")", json!([true])),
        ("\"{\\\"a\\\": [1]}\" | fromjson | .a", json!([[1]])),
        ("[.items[] | .id as $id | {id: $id}] | @json", json!(["[{\"id\":2},{\"id\":1}]"])),
        ("to_entries | map(.key)", json!([["items", "n", "s"]])),
        ("[paths(type == \"number\")] | length", json!([3])),
        ("with_entries(select(.key == \"n\"))", json!([{"n": 3}])),
        ("path(.items[0].id)", json!([["items", 0, "id"]])),
        ("label $out | .items[] | .id, break $out", json!([2])),
        ("[foreach .items[] as $i (0; . + $i.id)]", json!([[2, 3]])),
        ("if .n > 2 then \"big\" elif .n > 1 then \"mid\" else \"small\" end", json!(["big"])),
        ("2.5, 1e3, -0.5, 3.0", json!([2.5, 1000, -0.5, 3])),
        (".items[1:] | .[0].name", json!(["a"])),
        ("\"x\" | ascii_upcase | @base64", json!(["WA=="])),
        ("12345678901234567890 | tostring", json!(["12345678901234567890"])),
    ];
    for (filter, expected) in cases {
        assert_eq!(run(filter, &input).map(Value::Array), Ok(expected), "{filter}");
    }
    assert_eq!(
        run(".", &json!([u64::MAX, i64::MIN, 1.5, "é\u{0}", null])),
        Ok(vec![json!([u64::MAX, i64::MIN, 1.5, "é\u{0}", null])])
    );
}

#[test]
fn first_output_and_errors_are_told() {
    assert_eq!(Jq::compile(".a[]").unwrap().first(&json!({"a": [1, 2]})), Ok(Some(json!(1))));
    assert_eq!(Jq::compile(".a[]").unwrap().first(&json!({"a": []})), Ok(None));
    assert!(run(".a", &json!([1])).unwrap_err().contains("cannot index"));
    assert_eq!(run("error(\"my words\")", &json!(1)), Err("my words".to_owned()));
    assert!(run("{(1): 2}", &json!(1)).is_err());
}

#[test]
fn a_wrong_filter_says_where_and_what() {
    for (filter, said) in [
        (".items[", "at the end: expected closing bracket"),
        (".a | ", "at the end: expected term"),
        (".a | frobnicate", "at character 6: there is no filter `frobnicate`"),
        (".a | map(.b; .c)", "at character 6: there is no filter `map` with 2 argument(s)"),
        ("\"é\" | $x", "at character 7: there is no variable `$x`"),
        (".a | §", "at character 6: expected token"),
        (".a } .b", "at character 4: "),
        ("if . then 1", "at the end: "),
        ("import \"x\" as x; .", "at character 8: "),
        ("", "at the end: expected term"),
    ] {
        let error = check_jq(filter).unwrap_err();
        assert!(error.starts_with(said), "{filter}: {error}");
    }
    assert_eq!(check_jq(".a | map(.b)"), Ok(()));
}

#[test]
fn nothing_outside_can_be_reached() {
    for filter in [
        "env",
        "$ENV",
        "env.HOME",
        "input",
        "[inputs]",
        "halt",
        "halt_error",
        "halt(1)",
        "now",
        "debug",
        "debug(.)",
        "stderr",
        "input_filename",
        "localtime",
        "strflocaltime(\"%H\")",
        "get_search_list",
        "$__prog_args",
    ] {
        assert!(check_jq(filter).is_err(), "{filter}");
    }
    assert!(check_jq("env").unwrap_err().contains("`env` is not available here"));
    assert!(check_jq(".a | $ENV.HOME").unwrap_err().contains("`$ENV` is not available here"));
}

#[test]
fn a_filter_that_runs_away_is_stopped_and_can_not_catch_that() {
    let filters = [
        "def f: f; f",
        "def f: 1 + f; f",
        "def f: [f]; f",
        "def f: 1, f; [f] | length",
        "def f: try f catch f; f",
        "def f: (f // f); f",
        "def f: f | f; f",
        "[repeat(1)]",
        "repeat(1)",
        "[range(1e12)]",
        "last(range(1e12))",
        "reduce range(1e12) as $x (0; . + $x)",
        "[foreach range(1e12) as $x (0; $x; empty)]",
        "until(false; .)",
        "[while(true; .)] | length",
        "[limit(1e9; repeat(1))]",
        "first(range(1e12) | select(false))",
        "any(range(1e12); false)",
        "(range(1e12) | false) // 1",
        "[range(1e12) == -1] | length",
        "[range(1e12) as $x | empty]",
        "\"x\" * 3e9",
        "3e9 as $n | \"x\" | . *= $n",
        "\"ab\" as $s | [range(40)] | reduce .[] as $i ($s; . + .) | length",
        "[range(10)] as $a | [$a | combinations(20)]",
        "reduce range(64) as $i (3; . * .)",
        "reduce range(100000) as $i (null; [.])",
        "reduce range(100000) as $i (null; {a: .})",
        "reduce range(100000) as $i ({}; {a: .} | .)",
        "[recurse([., .])] | length",
        "[range(1000)] | map(. as $x | [range(1000)] | map(. as $y | [range(1000)] | map($x + $y + .)))",
        "[.[] = range(1e12)]",
        "(.. |= [.])",
        "walk([.])",
        "[splits(\"\"; null)] | until(false; .)",
    ];
    let input = json!([1, [2, 3], {"a": 4}]);
    for filter in filters {
        let filter = Jq::compile(filter).unwrap_or_else(|error| panic!("{filter}: {error}"));
        // A worker thread has 2 MiB of stack; a test thread too.
        let result = filter.all(&input);
        assert!(
            result.is_err() || ["(.. |= [.])", "walk([.])"].contains(&filter.text()),
            "{}: {result:?}",
            filter.text()
        );
    }
    // The next run is not harmed.
    assert_eq!(run("length", &input), Ok(vec![json!(3)]));
}

#[test]
fn text_of_the_api_can_not_take_the_process_down() {
    let deep = "[".repeat(200_000);
    assert!(run("fromjson", &json!(deep)).is_err());
    assert!(
        run("tonumber", &json!("9".repeat(200_000))).is_ok_and(|all| all.len() == 1)
            || run("tonumber", &json!("9".repeat(200_000))).is_err()
    );
    assert!(run("try fromjson catch \"bad\"", &json!("{")).is_ok_and(|all| all == [json!("bad")]));
}

#[test]
fn filters_that_would_overflow_the_parser_are_refused() {
    for filter in [
        "(".repeat(10_000) + "." + &")".repeat(10_000),
        "[".repeat(5_000),
        "-".repeat(10_000) + "1",
        ".".to_owned() + &"+1".repeat(10_000),
        ".".to_owned() + &"|.".repeat(7_000),
        "\"\\(".repeat(3_000),
    ] {
        assert!(check_jq(&filter).is_err());
    }
}

#[test]
fn a_large_answer_is_within_the_limits() {
    let items: Vec<Value> = (0..20_000)
        .map(|id| json!({"id": id, "name": format!("n{id}"), "owner": {"email": "e"}, "tags": ["a", "b"]}))
        .collect();
    let input = json!({"items": items});
    let limits = rest_mcp::content::jq::Limits { time: std::time::Duration::from_secs(600), ..Default::default() };
    let filter =
        Jq::compile("[.items[] | {id, name, owner: .owner.email, tags: [.tags[] | ascii_upcase]}] | length").unwrap();
    assert_eq!(filter.run(&input, &limits, 1), Ok(vec![json!(20_000)]));
}
