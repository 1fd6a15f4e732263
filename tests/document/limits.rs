//! Documents made to hurt. Sizes are such that a reader without limits would not come back.

use super::{clean, codes, refused};
use rest_mcp::diagnostic::Source;
use rest_mcp::document::{Limits, parse};

fn small(text: String, limits: Limits) -> Vec<&'static str> {
    let (document, report) = parse(Source::new("d", text), "/d".to_owned(), &limits);
    assert!(document.is_none());
    codes(&report)
}

/// As a document with fewer values than are allowed by default, so that refusing is quick.
fn bomb(text: String) -> Vec<&'static str> {
    small(text, Limits { max_nodes: 100_000, ..Limits::default() })
}

#[test]
fn billion_laughs_are_refused() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..40 {
        let list = vec![format!("*a{}", n - 1); 9].join(", ");
        text.push_str(&format!("a{n}: &a{n} [{list}]\n"));
    }
    assert_eq!(codes(&refused(&text)), ["alias-limit"]);
}

#[test]
fn quadratic_alias_bombs_are_refused() {
    let big = vec!["x"; 2_000].join(", ");
    let text = format!("a: &a [{big}]\nb:\n{}", "- *a\n".repeat(2_000));
    assert_eq!(bomb(text), ["alias-limit"]);
}

#[test]
fn long_texts_repeated_by_aliases_are_refused() {
    let text = format!("a: &a '{}'\nb:\n{}", "x".repeat(1_000_000), "- *a\n".repeat(10_000));
    assert_eq!(bomb(text), ["alias-limit"]);
}

#[test]
fn a_chain_of_merges_costs_what_it_makes() {
    let mut text = "a0: &a0 { x: 1 }\n".to_owned();
    for n in 1..10_000 {
        text.push_str(&format!("a{n}: &a{n} {{ <<: *a{} }}\n", n - 1));
    }
    assert_eq!(clean(&text)["a9999"]["x"], 1);
}

#[test]
fn merge_key_bombs_are_refused() {
    let big: String = (0..1_000).map(|n| format!("  k{n}: 1\n")).collect();
    let text = format!("a: &a\n{big}b:\n{}", "- { <<: *a }\n".repeat(1_000));
    assert_eq!(bomb(text), ["alias-limit"]);
}

#[test]
fn anchors_in_anchors_are_bounded() {
    // Each level is kept for its alias: together quadratic.
    let text =
        format!("{}x{}\nz: *a0\n", (0..100).map(|n| format!("a: &a{n} {{ ")).collect::<String>(), " }".repeat(100));
    let limits = Limits { max_nodes: 1_000, ..Limits::default() };
    assert!(!small(text, limits).is_empty());
}

#[test]
fn an_alias_inside_its_own_value_is_refused() {
    assert_eq!(codes(&refused("a: &a\n  b: *a\n")), ["alias-cycle"]);
    assert_eq!(codes(&refused("&a [*a]")), ["alias-cycle"]);
}

#[test]
fn nesting_is_bounded_in_json_and_yaml() {
    for text in [
        "[".repeat(100_000),
        "{\"a\":".repeat(100_000),
        format!("{}1{}", "[".repeat(200), "]".repeat(200)),
        "- ".repeat(10_000),
        format!("a: {}", "[".repeat(100_000)),
        (0..1_000).map(|n| format!("{}a:\n", " ".repeat(n))).collect(),
        "? ".repeat(10_000),
    ] {
        let codes = codes(&refused(&text));
        assert!(
            codes == ["document-too-deep"] || codes == ["yaml-syntax"] || codes == ["json-syntax"],
            "{codes:?} for {:?}",
            &text[..20]
        );
    }
    let deep = format!("{}1{}", "[".repeat(120), "]".repeat(120));
    clean(&deep);
    clean(&format!("a: {deep}"));
}

#[test]
fn aliases_do_not_get_around_the_nesting_limit() {
    let mut text = format!("a0: &a0 {}x{}\n", "[".repeat(60), "]".repeat(60));
    for n in 1..10 {
        text.push_str(&format!("a{n}: &a{n} {}*a{}{}\n", "[".repeat(60), n - 1, "]".repeat(60)));
    }
    assert_eq!(codes(&refused(&text)), ["document-too-deep"]);
}

#[test]
fn size_and_number_of_values_are_bounded() {
    let limits = Limits { max_bytes: 100, max_nodes: 10, ..Limits::default() };
    assert_eq!(small("x".repeat(101), limits), ["document-too-large"]);
    assert_eq!(small(format!("[{}1]", "1,".repeat(20)), limits), ["document-too-large"]);
    assert_eq!(small("- 1\n".repeat(20), limits), ["document-too-large"]);
    assert_eq!(small(format!("a: [{}1]", "1,".repeat(20)), limits), ["document-too-large"]);
}

#[test]
fn odd_input_neither_panics_nor_hangs() {
    let pieces = [
        "a", ":", " ", "\n", "-", "?", "[", "]", "{", "}", ",", "&x", "*x", "!", "!!str", "|", ">", "'", "\"", "#",
        "%", "@", "`", "\\", "\t", "\r\n", "\u{feff}", "\u{0}", "é", "---", "...", "<<", "\u{85}", "\u{2028}", "0x",
        "~",
    ];
    let mut seed: u64 = 1;
    let mut next = |bound: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % bound
    };
    for _ in 0..6_000 {
        let text: String = (0..next(24)).map(|_| pieces[next(pieces.len())]).collect();
        let (document, report) = parse(Source::new("d", text.as_str()), "/d".to_owned(), &Limits::default());
        assert!(document.is_some() || report.has_errors(), "{text:?}");
        report.render(false);
        report.to_json();
        if let Some(document) = document {
            document.place("/a/0");
            document.key_place("");
        }
    }
}
