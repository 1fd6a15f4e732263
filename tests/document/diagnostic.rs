//! How problems look.

use rest_mcp::diagnostic::hint::nearest;
use rest_mcp::diagnostic::{Diagnostic, Place, Report, Source};
use serde_json::json;

fn sample() -> Diagnostic {
    let text = "info:\n  title: x\n      $ref: '#/components/schemas/Pett'\n";
    let start = text.find("'#").unwrap();
    let end = text.rfind('\'').unwrap() + 1;
    let place = Place::new(Source::new("petstore.yaml", text), start, end, "/info/$ref");
    Diagnostic::error("unresolved-ref", "`Pett` is not there").at(place).fix("did you mean `Pet`?")
}

#[test]
fn text_shows_line_caret_and_help() {
    let expected = "\
error[unresolved-ref]: `Pett` is not there
 --> petstore.yaml:3:13
  |
3 |       $ref: '#/components/schemas/Pett'
  |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = help: did you mean `Pet`?
";
    assert_eq!(sample().render(false), expected);
}

#[test]
fn without_a_place_there_is_no_excerpt() {
    assert_eq!(Diagnostic::warning("w", "m").render(false), "warning[w]: m\n");
    let mut report = Report::new();
    report.push(Diagnostic::note("n", "m").fix("f"));
    report.push(Diagnostic::warning("w", "m"));
    assert_eq!(report.render(false), "note[n]: m\n  = help: f\n\nwarning[w]: m\n");
}

#[test]
fn colour_is_only_there_on_request_and_changes_no_text() {
    let coloured = sample().render(true);
    assert!(coloured.contains("\x1b[1;31merror"));
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some(at) = rest.find('\x1b') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + rest[at..].find('m').unwrap() + 1..];
    }
    plain.push_str(rest);
    assert_eq!(plain, sample().render(false));
}

fn excerpt(text: &str, start: usize, end: usize) -> (String, String) {
    let place = Place::new(Source::new("f", text), start, end, "");
    let out = Diagnostic::error("c", "m").at(place).render(false);
    let lines: Vec<&str> = out.lines().collect();
    (lines[3].to_owned(), lines[4].to_owned())
}

#[test]
fn long_lines_are_cut_around_the_caret() {
    let text = format!("{}HERE{}", "a".repeat(5_000), "b".repeat(5_000));
    let (line, caret) = excerpt(&text, 5_000, 5_004);
    assert!(line.len() < 140 && line.starts_with("1 | ...aaa") && line.ends_with("bbb..."), "{line}");
    let at = line.find("HERE").unwrap();
    assert_eq!(caret.find("^^^^"), Some(at));
    assert_eq!(caret.trim_end().len(), at + 4);
    // A mark longer than the window ends with it.
    let (line, caret) = excerpt(&text, 0, 9_000);
    assert!(caret.len() <= line.len());
}

#[test]
fn tabs_and_wide_characters_keep_the_caret_in_place() {
    let text = "\tkey: x";
    let (line, caret) = excerpt(text, 1, 4);
    assert_eq!((line.as_str(), caret.as_str()), ("1 |     key: x", "  |     ^^^"));
    let text = "日本: x";
    let (_, caret) = excerpt(text, 8, 9);
    assert_eq!(caret, "  |       ^");
}

#[test]
fn what_an_author_wrote_can_not_steer_the_terminal() {
    let place = Place::new(Source::new("f", "a: \x1b[31mred\u{202e}x"), 0, 1, "");
    let out = Diagnostic::error("c", "bad \x1b]0;title\x07").at(place).fix("x\x08y").render(false);
    assert!(!out.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{out:?}");
}

#[test]
fn places_at_the_end_or_past_it_are_shown() {
    for (text, start) in [("abc", 3), ("abc\n", 4), ("", 0), ("abc", 99), ("é", 1)] {
        let place = Place::new(Source::new("f", text), start, start, "");
        let out = Diagnostic::error("c", "m").at(place).render(false);
        assert!(out.contains("--> f:"), "{out}");
    }
}

#[test]
fn programs_get_every_field() {
    assert_eq!(
        sample().to_json(),
        json!({
            "code": "unresolved-ref", "severity": "error", "message": "`Pett` is not there",
            "file": "petstore.yaml", "line": 3, "column": 13, "end": { "line": 3, "column": 40 },
            "pointer": "/info/$ref", "fix": "did you mean `Pet`?"
        })
    );
    let report: Report = [Diagnostic::note("n", "m")].into_iter().collect();
    assert_eq!(report.to_json(), json!([{ "code": "n", "severity": "note", "message": "m" }]));
}

#[test]
fn exit_codes() {
    let report = |list: Vec<Diagnostic>| list.into_iter().collect::<Report>();
    let note = || Diagnostic::note("n", "");
    let warning = || Diagnostic::warning("w", "");
    let error = || Diagnostic::error("e", "");
    let table = [
        (report(vec![]), 0, 0),
        (report(vec![note()]), 0, 0),
        (report(vec![warning(), note()]), 0, 1),
        (report(vec![warning(), error()]), 1, 1),
    ];
    for (report, lax, strict) in table {
        assert_eq!((report.exit_code(false), report.exit_code(true)), (lax, strict));
    }
    assert_eq!(report(vec![error(), warning(), warning()]).summary(), "1 error, 2 warnings");
}

#[test]
fn the_nearest_name_is_the_one_meant() {
    let names = ["operation", "operationId", "base_url", "description", "id", "x"];
    let table = [
        ("opertion", Some("operation")),
        ("operation_id", Some("operationId")),
        ("BaseURL", Some("base_url")),
        ("base-url", Some("base_url")),
        ("descripton", Some("description")),
        ("di", Some("id")),
        ("zzz", None),
        ("y", None),
        ("", None),
        ("title", None),
    ];
    for (word, expected) in table {
        assert_eq!(nearest(word, names), expected, "{word}");
    }
    assert_eq!(nearest(&"a".repeat(100_000), names), None);
}
