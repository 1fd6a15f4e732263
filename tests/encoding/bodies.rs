//! Bodies by kind.

use super::{Operation, body_text, header_text, operation};
use base64::{Engine, engine::general_purpose::STANDARD, engine::general_purpose::URL_SAFE_NO_PAD};
use indexmap::IndexMap;
use rest_mcp::catalog::{From, Spot};
use rest_mcp::openapi::{Encoding, Style};
use rest_mcp::request::{BodyKind, BodyPlan, BodyVariant, Fixed, PartPlan, Request};
use serde_json::{Value, json};
use std::sync::Arc;

fn variant(media_type: &str, kind: BodyKind) -> BodyVariant {
    BodyVariant {
        declared: 0,
        media_type: media_type.to_owned(),
        kind,
        encoding: IndexMap::new(),
        parts: IndexMap::new(),
        xml: None,
        transfer: None,
    }
}

fn plan(variant: BodyVariant) -> BodyPlan {
    BodyPlan { variants: vec![variant], required: true }
}

fn post(variant: BodyVariant) -> Operation {
    operation("POST", "/p").body(plan(variant))
}

fn file_part() -> PartPlan {
    PartPlan { content_type: Some("application/octet-stream".to_owned()), file: true, ..PartPlan::default() }
}

fn form() -> BodyVariant {
    variant("application/x-www-form-urlencoded", BodyKind::Form)
}

fn multipart() -> BodyVariant {
    variant("multipart/form-data", BodyKind::Multipart)
}

/// Parts of a multipart body as (head, content), cut by RFC 2046 §5.1.1.
fn parts(request: &Request) -> Vec<(String, Vec<u8>)> {
    let content_type = header_text(request, "content-type").unwrap();
    let (_, boundary) = content_type.split_once("boundary=").unwrap();
    let body = request.body.as_deref().unwrap();
    let find = |from: usize, needle: &[u8]| {
        body[from..].windows(needle.len()).position(|window| window == needle).map(|at| at + from)
    };
    let delimiter = format!("--{boundary}");
    assert!(body.starts_with(delimiter.as_bytes()));
    let mut found = Vec::new();
    let mut at = delimiter.len();
    while &body[at..at + 2] == b"\r\n" {
        let head_end = find(at, b"\r\n\r\n").unwrap();
        let next = find(head_end, format!("\r\n{delimiter}").as_bytes()).unwrap();
        found.push((String::from_utf8(body[at + 2..head_end].to_vec()).unwrap(), body[head_end + 4..next].to_vec()));
        at = next + 2 + delimiter.len();
    }
    assert_eq!(&body[at..], b"--\r\n");
    found
}

#[test]
fn json_is_sent_with_the_declared_media_type() {
    for media_type in [
        "application/json",
        "application/json; charset=utf-8",
        "application/merge-patch+json",
        "application/vnd.x.v1+json",
    ] {
        let body = json!({"a": [1, null, "ü"], "b": {"c": true}});
        let request = post(variant(media_type, BodyKind::Json)).build(json!({"body": body}));
        assert_eq!(header_text(&request, "content-type"), Some(media_type));
        assert_eq!(body_text(&request), r#"{"a":[1,null,"ü"],"b":{"c":true}}"#);
    }
    for body in [json!([1, 2]), json!("text"), json!(7), json!(false), json!(null)] {
        let request = post(variant("application/json", BodyKind::Json)).build(json!({"body": body}));
        assert_eq!(body_text(&request), body.to_string(), "array, scalar and null bodies");
    }
    let latin = post(variant("application/json; charset=iso-8859-1", BodyKind::Json)).build(json!({"body": "ü"}));
    assert_eq!(body_text(&latin), r#""\u00fc""#);
}

#[test]
fn required_bodies_without_value_are_sent_empty() {
    let rows = [
        (variant("application/json", BodyKind::Json), "{}", None),
        (form(), "", Some("0")),
        (variant("text/plain", BodyKind::Text), "", Some("0")),
        // XML 1.0, section 2.1: a document has a root element.
        (variant("application/xml", BodyKind::Xml), "<?xml version=\"1.0\" encoding=\"UTF-8\"?><root></root>", None),
        (variant("application/octet-stream", BodyKind::Binary), "", Some("0")),
    ];
    for (variant, expected, length) in rows {
        let request = post(variant).build(json!({}));
        assert_eq!(body_text(&request), expected);
        assert_eq!(header_text(&request, "content-length"), length);
        assert!(header_text(&request, "content-type").is_some());
    }
    assert_eq!(parts(&post(multipart()).build(json!({}))).len(), 0);
    let optional = BodyPlan { variants: vec![variant("application/json", BodyKind::Json)], required: false };
    let request = operation("DELETE", "/p").body(optional.clone()).build(json!({}));
    assert_eq!((request.body.clone(), header_text(&request, "content-type")), (None, None));
    assert_eq!(
        body_text(&operation("DELETE", "/p").body(optional.clone()).build(json!({"body": {"a": 1}}))),
        r#"{"a":1}"#
    );
    assert_eq!(body_text(&operation("GET", "/p").body(optional).build(json!({"body": []}))), "[]");
    // RFC 9110 §8.6: a POST without content says so
    assert_eq!(header_text(&operation("POST", "/p").build(json!({})), "content-length"), Some("0"));
    assert_eq!(header_text(&operation("GET", "/p").build(json!({})), "content-length"), None);
}

/// OpenAPI 3.1, "URL Encoded Form with JSON Values"; the two differ in `:` and `,`, which WHATWG encodes.
#[test]
fn form_with_json_values() {
    let body = json!({
        "id": "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "address": {"streetAddress": "123 Example Dr.", "city": "Somewhere", "state": "CA", "zip": "99999+1234"}
    });
    let request = post(form()).build(json!({"body": body}));
    let oas = "id=f81d4fae-7dec-11d0-a765-00a0c91e6bf6&address=%7B%22streetAddress%22:%22123+Example+Dr.%22,%22city%22:%22Somewhere%22,%22state%22:%22CA%22,%22zip%22:%2299999%2B1234%22%7D";
    assert_eq!(body_text(&request), oas.replace(':', "%3A").replace(',', "%2C"));
    assert_eq!(header_text(&request, "content-type"), Some("application/x-www-form-urlencoded"));
}

#[test]
fn form_fields() {
    let mut encoded = form();
    let encoding = |style, explode, content_type: Option<&str>| Encoding {
        style,
        explode,
        content_type: content_type.map(str::to_owned),
        ..Encoding::default()
    };
    encoded.encoding.insert("csv".to_owned(), encoding(Some(Style::Form), Some(false), None));
    encoded.encoding.insert("pipe".to_owned(), encoding(Some(Style::PipeDelimited), None, None));
    encoded.encoding.insert("deep".to_owned(), encoding(Some(Style::DeepObject), Some(true), None));
    encoded.encoding.insert("spread".to_owned(), encoding(None, Some(true), None));
    encoded.encoding.insert("json".to_owned(), encoding(None, None, Some("application/json")));
    let rows = [
        (json!({"a": "x y&z=1", "b": 1e6, "c": true}), "a=x+y%26z%3D1&b=1000000&c=true"),
        (json!({"a": ["x", "y"]}), "a=x&a=y"),
        (json!({"a": null, "b": ""}), "a=&b="),
        (json!({"csv": ["a,b", "c"]}), "csv=a%2Cb,c"),
        (json!({"pipe": ["a", "b"]}), "pipe=a%7Cb"),
        (json!({"deep": {"x": {"y": [1, 2]}}}), "deep%5Bx%5D%5By%5D%5B0%5D=1&deep%5Bx%5D%5By%5D%5B1%5D=2"),
        (json!({"spread": {"k": "v", "l": 2}}), "k=v&l=2"),
        (json!({"json": "text"}), "json=%22text%22"),
    ];
    for (body, expected) in rows {
        assert_eq!(body_text(&post(encoded.clone()).build(json!({"body": body}))), expected);
    }
    post(encoded.clone()).refusal(json!({"body": {"k": 1, "spread": {"k": 2}}}));
    post(encoded).refusal(json!({"body": [1]}));
    let mut icon = form();
    icon.parts.insert("icon".to_owned(), file_part());
    let bytes = [0x89u8, 0x50, 0xff];
    let request = post(icon).build(json!({"body": {"icon": {"data": STANDARD.encode(bytes)}}}));
    assert_eq!(body_text(&request), "icon=iVD%2F", "binary fields travel as base64");
}

#[test]
fn multipart_parts() {
    let mut variant = multipart();
    variant.parts.insert("file".to_owned(), file_part());
    variant.parts.insert("files".to_owned(), PartPlan { repeated: true, ..file_part() });
    variant.parts.insert(
        "meta".to_owned(),
        PartPlan { content_type: Some("application/json".to_owned()), ..PartPlan::default() },
    );
    variant
        .parts
        .insert("note".to_owned(), PartPlan { content_type: Some("text/plain".to_owned()), ..PartPlan::default() });
    let mut headers = IndexMap::new();
    headers.insert("X-Part".to_owned(), "1".to_owned());
    headers.insert("Content-Type".to_owned(), "evil/evil".to_owned());
    variant.encoding.insert(
        "meta".to_owned(),
        Encoding { content_type: Some("application/merge-patch+json".to_owned()), headers, ..Encoding::default() },
    );
    let png = [0x89u8, b'P', b'N', b'G', 0, 0xff];
    let body = json!({
        "note": "hello\r\nworld",
        "meta": {"a": 1},
        "count": 3,
        "tags": ["a", {"b": 1}],
        "file": {"data": STANDARD.encode(png), "filename": "a.png", "content_type": "image/png"},
        "files": ["plain text", {"text": "more"}, format!("data:image/gif;base64,{}", STANDARD.encode(b"GIF"))]
    });
    let request = post(variant.clone()).build(json!({"body": body}));
    let expected: Vec<(&str, Vec<u8>)> = vec![
        ("Content-Disposition: form-data; name=\"note\"", b"hello\r\nworld".to_vec()),
        (
            "Content-Disposition: form-data; name=\"meta\"\r\nContent-Type: application/merge-patch+json\r\nX-Part: 1",
            b"{\"a\":1}".to_vec(),
        ),
        ("Content-Disposition: form-data; name=\"count\"", b"3".to_vec()),
        ("Content-Disposition: form-data; name=\"tags\"", b"a".to_vec()),
        ("Content-Disposition: form-data; name=\"tags\"\r\nContent-Type: application/json", b"{\"b\":1}".to_vec()),
        ("Content-Disposition: form-data; name=\"file\"; filename=\"a.png\"\r\nContent-Type: image/png", png.to_vec()),
        (
            "Content-Disposition: form-data; name=\"files\"; filename=\"files\"\r\nContent-Type: application/octet-stream",
            b"plain text".to_vec(),
        ),
        (
            "Content-Disposition: form-data; name=\"files\"; filename=\"files\"\r\nContent-Type: application/octet-stream",
            b"more".to_vec(),
        ),
        (
            "Content-Disposition: form-data; name=\"files\"; filename=\"files\"\r\nContent-Type: image/gif",
            b"GIF".to_vec(),
        ),
    ];
    let got = parts(&request);
    let got: Vec<(&str, Vec<u8>)> = got.iter().map(|(head, content)| (head.as_str(), content.clone())).collect();
    assert_eq!(got, expected);
    let again = post(variant).build(json!({"body": body}));
    assert_eq!(again.body, request.body, "equal calls give equal bytes");
}

/// WHATWG HTML §4.10.21.8: `"`, CR and LF in names are percent-encoded.
/// OpenAPI 3.2, "Encoding By Position": the parts of a list have no names; `prefixEncoding` goes before `itemEncoding`.
#[test]
fn multipart_lists() {
    let mut listed = variant("multipart/mixed", BodyKind::Multipart);
    let encoding = |content_type: &str| Encoding { content_type: Some(content_type.to_owned()), ..Encoding::default() };
    listed.encoding.insert("0".to_owned(), encoding("application/problem+json"));
    let mut further = encoding("image/png, image/jpeg");
    further.headers.insert("Content-Disposition".to_owned(), "inline".to_owned());
    further.headers.insert("X-Kind".to_owned(), "scan".to_owned());
    listed.encoding.insert("*".to_owned(), further);
    listed
        .parts
        .insert("0".to_owned(), PartPlan { content_type: Some("application/json".to_owned()), ..PartPlan::default() });
    listed.parts.insert("*".to_owned(), file_part());
    let body = json!([{"a": 1}, "hi", {"data": "aGk=", "filename": "b.jpg", "content_type": "image/jpeg"}]);
    let request = post(listed.clone()).build(json!({"body": body}));
    assert!(header_text(&request, "content-type").unwrap().starts_with("multipart/mixed; boundary="));
    let found = parts(&request);
    let heads: Vec<&str> = found.iter().map(|(head, _)| head.as_str()).collect();
    assert_eq!(
        heads,
        [
            "Content-Type: application/problem+json",
            "Content-Type: image/png\r\nContent-Disposition: inline\r\nX-Kind: scan",
            "Content-Disposition: attachment; filename=\"b.jpg\"\r\nContent-Type: image/jpeg\r\nX-Kind: scan",
        ]
    );
    assert_eq!(found.into_iter().map(|(_, content)| content).collect::<Vec<_>>(), [&b"{\"a\":1}"[..], b"hi", b"hi"]);
    let refused = post(listed).refusal(json!({"body": [{}, {"data": "aGk=", "content_type": "text/html"}]}));
    assert!(refused.message.contains("item 1") && refused.message.contains("image/png"), "{}", refused.message);
}

#[test]
fn multipart_names_can_not_break_out() {
    let mut variant = multipart();
    variant.parts.insert("file".to_owned(), file_part());
    let request = post(variant.clone()).build(json!({"body": {
        "a\"; x=\"\r\nX-Evil: 1": "v",
        "file": {"text": "t", "filename": "a\"\r\nContent-Type: text/html\r\n\r\n<b>ü\u{0}.txt"}
    }}));
    let heads: Vec<String> = parts(&request).into_iter().map(|(head, _)| head).collect();
    assert_eq!(heads[0], "Content-Disposition: form-data; name=\"a%22; x=%22%0D%0AX-Evil: 1\"");
    assert_eq!(
        heads[1],
        "Content-Disposition: form-data; name=\"file\"; filename=\"a%22%0D%0AContent-Type: text/html%0D%0A%0D%0A<b>ü%00.txt\"\r\nContent-Type: application/octet-stream"
    );
    for content_type in ["text/html\r\nX: 1", "text", "text/ html", "*/*", "a/b; x=\u{7f}"] {
        post(variant.clone()).refusal(json!({"body": {"file": {"text": "t", "content_type": content_type}}}));
    }
}

/// A part that holds the boundary of an earlier, equal request must not end early.
#[test]
fn multipart_boundary_occurs_in_no_part() {
    let mut seen = String::from("start");
    for _ in 0..3 {
        let request = post(multipart()).build(json!({"body": {"a": seen, "b": "--\r\n--part-"}}));
        let got = parts(&request);
        assert_eq!(got.len(), 2);
        assert_eq!(got[0].1, seen.as_bytes());
        seen = body_text(&request).to_owned();
    }
}

#[test]
fn encoded_parts_travel_as_text() {
    let mut variant = multipart();
    variant.parts.insert("f".to_owned(), PartPlan { transfer: Some("base64".to_owned()), ..file_part() });
    let request = post(variant).build(json!({"body": {"f": {"data": URL_SAFE_NO_PAD.encode([0xfbu8, 0xff])}}}));
    let got = parts(&request);
    assert_eq!(got[0].1, b"+/8=");
    assert!(got[0].0.contains("Content-Transfer-Encoding: base64"));
}

#[test]
fn file_arguments() {
    let send =
        |body: Value| post(variant("application/octet-stream", BodyKind::Binary)).try_build(json!({"body": body}));
    let bytes = |body: Value| send(body).unwrap().body.unwrap().to_vec();
    assert_eq!(bytes(json!("plain")), b"plain");
    assert_eq!(bytes(json!({"text": "aGk="})), b"aGk=");
    assert_eq!(bytes(json!({"data": "aGk="})), b"hi");
    assert_eq!(bytes(json!({"data": "aGk"})), b"hi");
    assert_eq!(bytes(json!({"data": "_-8"})), [0xff, 0xef]);
    assert_eq!(bytes(json!({"data": "aG\n  k="})), b"hi");
    assert_eq!(bytes(json!("data:;base64,aGk=")), b"hi");
    assert_eq!(bytes(json!({"data": "data:text/plain;charset=utf-8,a%20b"})), b"a b");
    assert_eq!(bytes(json!("data: not, a URI")), b"data: not, a URI");
    assert_eq!(bytes(json!({"data": ""})), b"");
    for wrong in [
        json!({"data": "not base64!"}),
        json!({}),
        json!({"filename": "x"}),
        json!({"data": "aGk=", "text": "x"}),
        json!({"data": 1}),
        json!({"data": "aGk=", "unknown": "x"}),
        json!([{"data": "aGk="}]),
        json!({"path": "/etc/passwd"}),
    ] {
        let refused = send(wrong.clone()).unwrap_err();
        assert_eq!(refused.argument.as_deref(), Some("body"), "{wrong}");
    }
    let request = send(json!({"data": "aGk=", "content_type": "image/png"})).unwrap();
    assert_eq!(header_text(&request, "content-type"), Some("image/png"));
}

#[test]
fn declared_media_type_ranges_take_the_files_type() {
    let image = || post(variant("image/*", BodyKind::Binary));
    let request = image().build(json!({"body": "data:image/png;base64,aGk="}));
    assert_eq!(header_text(&request, "content-type"), Some("image/png"));
    image().refusal(json!({"body": {"data": "aGk="}}));
    image().refusal(json!({"body": {"data": "aGk=", "content_type": "text/html"}}));
    let any = post(variant("*/*", BodyKind::Binary)).build(json!({"body": {"data": "aGk="}}));
    assert_eq!(header_text(&any, "content-type"), Some("application/octet-stream"));
}

#[test]
fn local_files_only_where_allowed() {
    let read = |path: &str| {
        if path == "/up/a.txt" { Ok(bytes::Bytes::from_static(b"local")) } else { Err("not allowed".to_owned()) }
    };
    let fixed = Fixed { local_files: Some(&read), ..Fixed::default() };
    let mut variant = multipart();
    variant.parts.insert("f".to_owned(), file_part());
    let request = post(variant.clone()).try_build_with(json!({"body": {"f": {"path": "/up/a.txt"}}}), &fixed).unwrap();
    let got = parts(&request);
    assert!(got[0].0.contains("filename=\"a.txt\""));
    assert_eq!(got[0].1, b"local");
    let refused = post(variant).try_build_with(json!({"body": {"f": {"path": "/etc/passwd"}}}), &fixed).unwrap_err();
    assert!(refused.message.contains("not allowed"));
}

#[test]
fn bodies_beyond_the_limit_are_refused() {
    let fixed = Fixed { max_body: 1000, ..Fixed::default() };
    let long = "x".repeat(1001);
    for (variant, body) in [
        (variant("application/json", BodyKind::Json), json!(long)),
        (variant("application/octet-stream", BodyKind::Binary), json!({"data": STANDARD.encode(&long)})),
        (variant("application/octet-stream", BodyKind::Binary), json!(long)),
        (multipart(), json!({"a": long})),
        (form(), json!({"a": long})),
    ] {
        let refused = post(variant).try_build_with(json!({"body": body}), &fixed).unwrap_err();
        assert!(refused.message.contains("1000"), "{refused}");
    }
}

#[test]
fn text_in_its_charset() {
    let rows: &[(&str, Value, &[u8])] = &[
        ("text/plain", json!("grün"), "grün".as_bytes()),
        ("text/plain; charset=utf-8", json!("grün"), "grün".as_bytes()),
        ("text/plain; charset=iso-8859-1", json!("grün"), b"gr\xfcn"),
        ("text/plain; charset=\"windows-1252\"", json!("€"), b"\x80"),
        ("text/csv", json!("a,b\n1,2\n"), b"a,b\n1,2\n"),
        ("text/plain", json!(12), b"12"),
        ("text/plain", json!(true), b"true"),
        ("application/yaml", json!({"a": 1}), br#"{"a":1}"#),
    ];
    for (media_type, value, expected) in rows {
        let request = post(variant(media_type, BodyKind::Text)).build(json!({"body": value}));
        assert_eq!(request.body.as_deref(), Some(*expected), "{media_type}");
        assert_eq!(header_text(&request, "content-type"), Some(*media_type));
    }
    post(variant("text/plain; charset=iso-8859-1", BodyKind::Text)).refusal(json!({"body": "日本"}));
}

#[test]
fn lines_of_json() {
    let body = json!([{"a": 1}, "x\ny", null]);
    let request = post(variant("application/x-ndjson", BodyKind::JsonLines)).build(json!({"body": body}));
    assert_eq!(body_text(&request), "{\"a\":1}\n\"x\\ny\"\nnull\n");
    // RFC 7464 §2.2
    let sequence = post(variant("application/json-seq", BodyKind::JsonLines)).build(json!({"body": [1, 2]}));
    assert_eq!(body_text(&sequence), "\u{1e}1\n\u{1e}2\n");
}

/// OpenAPI "XML Object Examples".
#[test]
fn xml_by_its_hints() {
    const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
    let pet = |schema: Value| json!({"$ref": "#/$defs/Pet", "$defs": {"Pet": schema}});
    let animals = |array_xml: Value, item_xml: Value| {
        pet(json!({"type": "object", "properties": {
            "animals": {"type": "array", "xml": array_xml, "items": {"type": "string", "xml": item_xml}}
        }}))
    };
    let rows: Vec<(Value, Value, &str)> = vec![
        (
            pet(json!({"type": "object"})),
            json!({"id": 1, "name": "a<b&\"c\""}),
            "<Pet><id>1</id><name>a&lt;b&amp;&quot;c&quot;</name></Pet>",
        ),
        (
            pet(json!({"xml": {"name": "pet"}, "properties": {
                "id": {"type": "integer", "xml": {"attribute": true}},
                "name": {"type": "string", "xml": {"namespace": "https://example.com/schema/sample", "prefix": "sample"}}
            }})),
            json!({"id": 1, "name": "x"}),
            "<pet id=\"1\"><sample:name xmlns:sample=\"https://example.com/schema/sample\">x</sample:name></pet>",
        ),
        (
            animals(json!({}), json!({})),
            json!({"animals": ["a", "b"]}),
            "<Pet><animals>a</animals><animals>b</animals></Pet>",
        ),
        (animals(json!({}), json!({"name": "animal"})), json!({"animals": ["a"]}), "<Pet><animal>a</animal></Pet>"),
        // the name of an unwrapped array has no effect
        (
            animals(json!({"name": "aliens"}), json!({"name": "animal"})),
            json!({"animals": ["a"]}),
            "<Pet><animal>a</animal></Pet>",
        ),
        (
            animals(json!({"wrapped": true}), json!({})),
            json!({"animals": ["a", "b"]}),
            "<Pet><animals><animals>a</animals><animals>b</animals></animals></Pet>",
        ),
        (
            animals(json!({"name": "aliens", "wrapped": true}), json!({"name": "animal"})),
            json!({"animals": ["a"]}),
            "<Pet><aliens><animal>a</animal></aliens></Pet>",
        ),
        (
            animals(json!({"name": "aliens", "wrapped": true}), json!({})),
            json!({"animals": ["a"]}),
            "<Pet><aliens><aliens>a</aliens></aliens></Pet>",
        ),
        // OpenAPI 3.2
        (
            pet(
                json!({"properties": {"text": {"xml": {"nodeType": "text"}}, "id": {"xml": {"nodeType": "attribute"}}}}),
            ),
            json!({"id": "7", "text": "hello"}),
            "<Pet id=\"7\">hello</Pet>",
        ),
        (
            pet(json!({"properties": {"t": {"xml": {"nodeType": "cdata"}}}})),
            json!({"t": "a]]>b"}),
            "<Pet><![CDATA[a]]]]><![CDATA[>b]]></Pet>",
        ),
        (json!({"type": "string"}), json!("x"), "<root>x</root>"),
        (
            json!({"type": "array", "items": {"$ref": "#/$defs/Pet"}, "$defs": {"Pet": {}}}),
            json!([{"a": 1}]),
            "<root><Pet><a>1</a></Pet></root>",
        ),
    ];
    for (schema, body, expected) in rows {
        let mut variant = variant("application/xml", BodyKind::Xml);
        variant.xml = Some(Arc::new(schema.clone()));
        let request = post(variant).build(json!({"body": body}));
        assert_eq!(body_text(&request), format!("{HEAD}{expected}"), "{schema}");
    }
    for body in [json!({"a b": 1}), json!({"a><b": 1}), json!({"": 1}), json!({"a": "\u{1}"})] {
        post(variant("application/xml", BodyKind::Xml)).refusal(json!({"body": body}));
    }
}

#[test]
fn an_argument_chooses_the_media_type() {
    let body = || BodyPlan {
        variants: vec![variant("application/json", BodyKind::Json), variant("text/csv; charset=utf-8", BodyKind::Text)],
        required: true,
    };
    let choose = || operation("POST", "/p").body(body()).bind(From::Argument("type".to_owned()), Spot::MediaType);
    let sent = |arguments: Value| header_text(&choose().build(arguments), "content-type").map(str::to_owned);
    assert_eq!(sent(json!({"body": "a"})).as_deref(), Some("application/json"));
    assert_eq!(sent(json!({"body": "a", "type": "Text/CSV"})).as_deref(), Some("text/csv; charset=utf-8"));
    let refused = choose().refusal(json!({"body": "a", "type": "image/png"}));
    assert!(refused.argument.as_deref() == Some("type") && refused.message.contains("application/json"));
}
