//! Test results as JUnit XML, for continuous integration.

use crate::app::offline::Verdict;
use std::fmt::Write;

/// One suite a file, one case a test.
pub(super) fn xml(verdicts: &[Verdict]) -> String {
    let mut files: Vec<&str> = Vec::new();
    for verdict in verdicts {
        if !files.contains(&verdict.place.source.name.as_str()) {
            files.push(&verdict.place.source.name);
        }
    }
    let failed = |of: &[&Verdict]| of.iter().filter(|verdict| !verdict.differences.is_empty()).count();
    let all: Vec<&Verdict> = verdicts.iter().collect();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites tests=\"{}\" failures=\"{}\">", all.len(), failed(&all));
    for file in files {
        let own: Vec<&Verdict> = all.iter().copied().filter(|verdict| verdict.place.source.name == file).collect();
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">",
            escaped(file),
            own.len(),
            failed(&own)
        );
        for verdict in own {
            let line = verdict.place.position().line;
            let head = format!(
                "    <testcase classname=\"{}\" name=\"{}\" file=\"{}\" line=\"{line}\"",
                escaped(&verdict.tool),
                escaped(&verdict.name),
                escaped(file)
            );
            match verdict.differences.first() {
                None => {
                    let _ = writeln!(out, "{head}/>");
                }
                Some(first) => {
                    let text = escaped(&verdict.differences.join("\n"));
                    let _ = writeln!(
                        out,
                        "{head}>\n      <failure message=\"{}\">{text}</failure>\n    </testcase>",
                        escaped(first)
                    );
                }
            }
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

/// Text for XML 1.0; characters that XML can't hold become `?`.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('?'),
            c => out.push(c),
        }
    }
    out
}
