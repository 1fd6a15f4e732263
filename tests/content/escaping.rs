//! Answers that go through whole: the text block is the body, however it is spelled, and so is the structured value.

use super::{Make, answer, content_of};
use proptest::prelude::*;
use rest_mcp::content::conform::{Shape, Verdict};
use rest_mcp::content::wire::{Pieces, WireOptions, write_result};
use rest_mcp::content::{Block, Content, Text};
use serde_json::{Value, json};

/// Writes JSON in every way that RFC 8259 allows, as `choices` say.
struct Speller<'c> {
    choices: &'c [u8],
    at: usize,
    out: String,
}

impl Speller<'_> {
    fn choice(&mut self, of: u8) -> u8 {
        self.at += 1;
        self.choices[self.at % self.choices.len()] % of
    }

    fn white(&mut self) {
        let white = ["", "", "", " ", "\n", "\t", "\r\n", "  "][usize::from(self.choice(8))];
        self.out.push_str(white);
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for letter in text.chars() {
            let short = match letter {
                '"' | '\\' | '/' => Some(letter),
                '\u{8}' => Some('b'),
                '\u{c}' => Some('f'),
                '\n' => Some('n'),
                '\r' => Some('r'),
                '\t' => Some('t'),
                _ => None,
            };
            let must = matches!(letter, '"' | '\\' | '\0'..='\u{1f}');
            match (self.choice(5), short) {
                (0, _) => self.units(letter),
                (1, Some(short)) => self.out.extend(['\\', short]),
                (_, Some(short)) if must => self.out.extend(['\\', short]),
                _ if must => self.units(letter),
                _ => self.out.push(letter),
            }
        }
        self.out.push('"');
    }

    fn units(&mut self, letter: char) {
        for unit in letter.encode_utf16(&mut [0; 2]) {
            let small = self.choice(2) == 0;
            self.out.push_str(&if small { format!("\\u{unit:04x}") } else { format!("\\u{unit:04X}") });
        }
    }

    fn value(&mut self, value: &Value) {
        self.white();
        match value {
            Value::Null => {
                let word = ["null", "true", "false"][usize::from(self.choice(3))];
                self.out.push_str(word);
            }
            Value::String(text) => self.string(text),
            Value::Array(items) => {
                self.out.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.out.push_str(if index > 0 { "," } else { "" });
                    self.value(item);
                }
                self.white();
                self.out.push(']');
            }
            Value::Object(members) => {
                self.out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    self.out.push_str(if index > 0 { "," } else { "" });
                    self.white();
                    self.string(name);
                    self.white();
                    self.out.push(':');
                    self.value(value);
                }
                self.white();
                self.out.push('}');
            }
            _ => {
                let long = "1".repeat(40);
                let numbers = ["0", "-0", "7", "12.75", "-1.25E-7", "1e+30", "12345678901234567", &long];
                let number = numbers[usize::from(self.choice(8))];
                self.out.push_str(number);
            }
        }
        self.white();
    }
}

fn spelled(value: &Value, choices: &[u8]) -> String {
    let mut speller = Speller { choices, at: 0, out: String::new() };
    speller.value(value);
    speller.out
}

/// A long list of a few objects again and again, each spelled in its own way.
fn list(objects: &[Value], choices: &[Vec<u8>]) -> String {
    let objects: Vec<String> = objects.iter().zip(choices).map(|(object, choices)| spelled(object, choices)).collect();
    let times = 2 + 3000 / objects.iter().map(String::len).sum::<usize>();
    format!("[{}]", vec![objects.join(","); times].join(","))
}

fn any_value() -> impl Strategy<Value = Value> {
    let text = "[ -~]{0,20}|[\\x00-\\x24\\x5c/]{0,4}|\\PC{0,9}";
    let leaf = prop_oneof![Just(json!(null)), Just(json!(1)), text.prop_map(Value::from)];
    leaf.prop_recursive(3, 12, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((text, inner), 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_object() -> impl Strategy<Value = Value> {
    (any_value(), any_value(), "[a-z\"\\\\]{0,40}")
        .prop_map(|(a, b, name)| json!({"id": 1, "name": a, name: b, "owner": {"email": "x"}}))
}

/// Says what is wrong with an answer's content, if anything.
fn checked(body: &str, content: &Content) -> Result<(), TestCaseError> {
    let [Block::Text(Text::Read { json, escaped })] = content.blocks.as_slice() else {
        return Err(TestCaseError::fail(format!("{content:?}")));
    };
    prop_assert_eq!(json, body);
    // What another writer makes of the text.
    let expected = serde_json::to_string(body).unwrap();
    prop_assert_eq!(format!("\"{}\"", String::from_utf8_lossy(escaped)), expected);
    let options = WireOptions { structured: true, ..WireOptions::default() };
    let whole = || {
        let mut pieces = Pieces::from(b" ".to_vec());
        write_result(content, &mut pieces, &options);
        pieces.text.push(b' ');
        pieces
    };
    let sent = whole().whole();
    prop_assert_eq!(Vec::from(whole().parts()).concat(), sent.clone());
    prop_assert!(!sent.contains(&b'\n'));
    let sent: Value = serde_json::from_slice(&sent).unwrap();
    prop_assert_eq!(&sent["content"][0]["text"], body);
    Ok(())
}

fn tools() -> [rest_mcp::catalog::Tool; 3] {
    let declared = json!({"type": "array", "items": {"type": "object", "properties": {
        "id": {"type": "number"}, "name": {"type": ["string", "null"]},
        "owner": {"type": "object", "properties": {"email": {"type": "string"}}}}}});
    let either = json!({"type": "array", "items": {"anyOf": [{"type": "object", "properties": {"name": {"type": "string"}}},
        {"type": "object", "properties": {"name": {"type": "array"}}}, {"type": "null"}]}});
    [Make::new().tool(), Make::new().output(declared).tool(), Make::new().output(either).tool()]
}

proptest! {
    #[test]
    fn the_text_is_the_body_however_it_is_spelled(
        objects in prop::collection::vec(any_object(), 1..4),
        choices in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 3..4),
        single in any_value(),
    ) {
        for tool in tools() {
            for body in [list(&objects, &choices), spelled(&single, &choices[0])] {
                checked(&body, &content_of(&tool, &answer(200, "application/json", body.clone())))?;
            }
        }
    }

    #[test]
    fn one_other_byte_makes_another_text_or_none(
        objects in prop::collection::vec(any_object(), 1..3),
        choices in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 3..4),
        place in any::<prop::sample::Index>(),
        byte in prop::sample::select(b"\"\\,:{}[] 1xu\n\t\x01".to_vec()),
    ) {
        let mut body = list(&objects, &choices).into_bytes();
        let place = place.index(body.len());
        body[place] = byte;
        let Ok(body) = String::from_utf8(body) else { return Ok(()) };
        let good = serde_json::from_str::<Value>(&body).is_ok();
        for tool in tools() {
            let content = content_of(&tool, &answer(200, "application/json", body.clone()));
            if good {
                checked(&body, &content)?;
            }
        }
    }
}

#[test]
fn long_parts_are_not_copied_and_short_ones_are() {
    let options = WireOptions { structured: true, ..WireOptions::default() };
    for (length, parts) in [(100, 1), (16 * 1024, 5)] {
        let body = format!("[\"{}\"]", "x".repeat(length));
        let content = content_of(&Make::new().tool(), &answer(200, "application/json", body.clone()));
        let mut pieces = Pieces::default();
        write_result(&content, &mut pieces, &options);
        let pieces = Vec::from(pieces.parts());
        assert_eq!(pieces.len(), parts, "{length}");
        let expected = json!({"content": [{"type": "text", "text": body}], "structuredContent": ["x".repeat(length)]});
        assert_eq!(serde_json::from_slice::<Value>(&pieces.concat()).unwrap(), expected);
        assert_eq!(pieces.get(3), (parts > 1).then(|| bytes::Bytes::from(body)).as_ref(), "the API's own bytes");
    }
}

/// What stands where members are read at once if they are short and plain, at the edges of both: every one is told right
/// and written whole.
#[test]
fn members_at_the_edges_of_what_is_read_at_once() {
    let mut values: Vec<String> = [
        "0",
        "-0",
        "01",
        "-",
        "-1",
        "--1",
        "+1",
        "1.",
        "1.5",
        ".5",
        "1.0",
        "1.5.1",
        "1e5",
        "1E",
        "1e400",
        "123456789012345",
        "1234567890123456",
        "12345678901234567890",
        "0.123456789012345",
        "0.1234567890123456",
        "-123456789012345.5",
        "true",
        "tru",
        "trues",
        "True",
        "false",
        "fals",
        "null",
        "nul",
        "nulll",
        "",
        "\"",
        "\"\"",
        "\"é\"",
        "\"\u{1}\"",
        "\"\t\"",
        "\"\\\"",
        "\"\\\"\"",
        "\"\\u00e9\"",
        "\"a\"b\"",
        "[]",
        "[1]",
        "{}",
        "{\"b\":\"c\"}",
    ]
    .map(str::to_owned)
    .to_vec();
    values.extend((27..37).flat_map(|length| {
        let plain = "x".repeat(length);
        [format!("\"{plain}\""), format!("\"{plain}\\n\""), format!("\"{plain}é\""), format!("\"{plain}")]
    }));
    let types = ["integer", "number", "string", "boolean", "null", "object", "array"];
    for value in &values {
        for name in [1, 12, 22, 23, 24, 25, 26, 27, 28, 29, 60].map(|length| "n".repeat(length)) {
            for (separator, behind) in [(":", ""), (": ", ""), (":", " ")] {
                let object =
                    format!("{{\"id\":7,\"{name}\"{separator}{value}{behind},\"z\":\"end\",\"{name}2\":{value}}}");
                let body = format!("[{}]", vec![object; 12 + 1000 / value.len().max(20)].join(","));
                let read: Option<Value> = serde_json::from_str(&body).ok();
                let content = content_of(&Make::new().tool(), &answer(200, "application/json", body.clone()));
                if read.is_some() {
                    checked(&body, &content).unwrap();
                }
                let wanted = types.iter().step_by(if name.len() == 12 { 1 } else { 3 });
                for kind in wanted {
                    let member = json!({"type": kind});
                    let shape = Shape::new(&json!({"type": "array", "items": {"type": "object", "properties": {
                        "id": {"type": "integer"}, &name: member, format!("{name}2"): member, "z": {"type": "string"}}}}));
                    let expected = match &read {
                        None => Verdict::NotJson,
                        Some(read) if shape.fits(read) => Verdict::Conforms,
                        Some(_) => Verdict::Differs,
                    };
                    assert_eq!(
                        shape.accepts(body.as_bytes()),
                        expected,
                        "{kind}: {object}",
                        object = &body[..body.len().min(120)]
                    );
                }
            }
        }
    }
}
