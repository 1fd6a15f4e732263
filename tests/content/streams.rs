//! Upstream streams that arrive in pieces.

use rest_mcp::content::sequence::{Classified, Classifier, Decoder, Item};
use rest_mcp::mapping::StreamRules;
use rest_mcp::response::MediaType;
use serde_json::{Value, json};

fn decoder(media_type: &str) -> Decoder {
    Decoder::for_media_type(&MediaType::parse(media_type).unwrap()).unwrap()
}

fn all(media_type: &str, bytes: &[u8], piece: usize) -> Vec<(Option<String>, Value)> {
    let mut decoder = decoder(media_type);
    let mut items: Vec<Item> = bytes.chunks(piece).flat_map(|piece| decoder.push(piece)).collect();
    items.extend(decoder.finish());
    items
        .into_iter()
        .map(|item| match item {
            Item::Value { event, data } => (event, data),
            Item::TooLong(bytes) => (None, json!({"too long": bytes})),
        })
        .collect()
}

#[test]
fn event_streams_follow_the_html_standard_however_they_are_cut() {
    // WHATWG HTML §9.2.6: the examples of the section on interpreting an event stream, and line ends of each kind.
    type Events = Vec<(Option<&'static str>, Value)>;
    let cases: [(&str, Events); 7] = [
        ("data: YHOO\ndata: +2\ndata: 10\n\n", vec![(None, json!("YHOO\n+2\n10"))]),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            vec![(None, json!("first event")), (None, json!("second event")), (None, json!(" third event"))],
        ),
        ("data\n\ndata\ndata\n\n", vec![(None, json!("")), (None, json!("\n"))]),
        (
            "event: add\r\ndata: 73857293\r\n\r\nevent: remove\rdata: {\"a\":1}\r\r",
            vec![(Some("add"), json!(73857293)), (Some("remove"), json!({"a": 1}))],
        ),
        ("\u{feff}data: 1\n\nevent: lonely\n\ndata: 2\n\n", vec![(None, json!(1)), (None, json!(2))]),
        ("data: 1\n\ndata: [DONE]\n\n", vec![(None, json!(1))]),
        ("data: last without an empty line", vec![(None, json!("last without an empty line"))]),
    ];
    for (stream, expected) in cases {
        let expected: Vec<_> = expected.into_iter().map(|(event, data)| (event.map(str::to_owned), data)).collect();
        for piece in [1, 2, 3, 1000] {
            assert_eq!(all("text/event-stream", stream.as_bytes(), piece), expected, "{stream:?} in pieces of {piece}");
        }
    }
}

#[test]
fn lines_and_records_are_items() {
    let lines = all("application/x-ndjson", b"{\"a\":\r\n1}\n", 1);
    assert_eq!(lines.iter().map(|(_, data)| data.clone()).collect::<Vec<_>>(), [json!("{\"a\":"), json!("1}")]);
    for piece in [1, 7, 100] {
        let lines = all("application/jsonl", "{\"a\":\"é\"}\r\n\n[2]\n3".as_bytes(), piece);
        assert_eq!(
            lines.into_iter().map(|(_, data)| data).collect::<Vec<_>>(),
            [json!({"a": "é"}), json!([2]), json!(3)]
        );
        // RFC 7464: a record separator before, a line feed behind each text.
        let records = all("application/json-seq", b"\x1e{\"a\":\n1}\n\x1e2\n", piece);
        assert_eq!(records.into_iter().map(|(_, data)| data).collect::<Vec<_>>(), [json!({"a": 1}), json!(2)]);
    }
}

#[test]
fn an_endless_item_is_left_out_and_counted_and_the_next_one_is_read() {
    let mut decoder = decoder("application/x-ndjson");
    let long = vec![b'x'; 5 << 20];
    assert!(decoder.push(&long).is_empty());
    assert_eq!(decoder.push(b"\n1\n"), [Item::TooLong(5 << 20), Item::Value { event: None, data: json!(1) }]);
    let mut events = self::decoder("text/event-stream");
    for _ in 0..6 {
        events.push(format!("data: {}\n", "y".repeat(1 << 20)).as_bytes());
    }
    assert!(matches!(events.push(b"\ndata: 2\n\n").last(), Some(Item::Value { data, .. }) if *data == json!(2)));
}

#[test]
fn items_are_progress_log_or_part_of_the_result() {
    let rules: StreamRules = serde_yaml::from_str(
        "{progress: {value: done.n, total: done.of, message: note}, log: {level: level, message: log}}",
    )
    .unwrap();
    let classifier = Classifier::new(&rules).unwrap();
    let classify = |data: Value| classifier.classify(Item::Value { event: None, data });
    assert_eq!(
        classify(json!({"done": {"n": 1, "of": "4"}, "note": "x"})),
        Classified::Progress { progress: 1.0, total: Some(4.0), message: Some("x".into()) }
    );
    assert_eq!(
        classify(json!({"done": {"n": 0.5}})),
        Classified::Progress { progress: 0.5, total: None, message: None }
    );
    assert_eq!(
        classify(json!({"log": {"a": 1}, "level": "WARN"})),
        Classified::Log { level: "warning", message: json!({"a": 1}) }
    );
    assert_eq!(classify(json!({"log": "x"})), Classified::Log { level: "info", message: json!("x") });
    assert_eq!(classify(json!({"done": {"n": "soon"}})), Classified::Value(json!({"done": {"n": "soon"}})));
    let bad: StreamRules = serde_yaml::from_str("{progress: {value: .n}}").unwrap();
    assert!(Classifier::new(&bad).unwrap_err().starts_with("progress.value: "));
}
