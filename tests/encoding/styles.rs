//! All styles × explode × kinds of value.
//!
//! Where an expectation comes from:
//! - "OAS": table "Style Examples" of OpenAPI 3.1.1/3.2 (`color` = `blue`, `[blue, black, brown]`,
//!   `{R: 100, G: 200, B: 150}`; the 3.0 table has the empty string in its `empty` column).
//! - "6570": RFC 6570 §3.2.2 to §3.2.8: percent-encoding of everything but unreserved characters, `;name`
//!   without `=` for an empty value, undefined values left out.
//! - "3.2": style `cookie`, `in: querystring`, no percent-encoding of headers.
//! - "ours": where the tables say n/a; see the head of `src/request.rs`.

use super::{content, header_text, operation, style};
use rest_mcp::openapi::{ParameterEncoding, ParameterIn, Style};
use serde_json::{Value, json};

/// The values of the table's columns.
fn value(column: &str) -> Value {
    match column {
        "primitive" => json!("blue"),
        "number" => json!(-12.5),
        "boolean" => json!(true),
        "empty" => json!(""),
        "array" => json!(["blue", "black", "brown"]),
        "object" => json!({"R": 100, "G": 200, "B": 150}),
        "empty array" => json!([]),
        "empty object" => json!({}),
        "null" => json!(null),
        "null members" => json!(["blue", null, "brown"]),
        "unicode" => json!("köln→"),
        "reserved" => json!("a b/c?d#e&f=g+h%41:@!$'()*,;[]"),
        "nested" => json!({"a": {"b": [1, {"c": "x y"}]}}),
        "array of objects" => json!([{"a": 1}]),
        _ => panic!("unknown column {column}"),
    }
}

/// `a b/c?d#e&f=g+h%41:@!$'()*,;[]` with everything but unreserved characters encoded (6570 §3.2.1).
const RESERVED: &str = "a%20b%2Fc%3Fd%23e%26f%3Dg%2Bh%2541%3A%40%21%24%27%28%29%2A%2C%3B%5B%5D";
const UNICODE: &str = "k%C3%B6ln%E2%86%92";

/// No cell of the table is left out: style × explode × kind of value.
fn assert_complete(styles: &[Style], judged: &[(Style, bool, &str)]) {
    for kind in styles {
        for explode in [false, true] {
            for column in ["primitive", "array", "object", "empty", "null", "unicode", "reserved"] {
                assert!(judged.contains(&(*kind, explode, column)), "{kind:?} explode {explode} {column}");
            }
        }
    }
}

#[test]
fn query_styles() {
    use Style::*;
    let rows: &[(Style, bool, &str, &str)] = &[
        // OAS
        (Form, false, "primitive", "color=blue"),
        (Form, true, "primitive", "color=blue"),
        (Form, false, "empty", "color="),
        (Form, true, "empty", "color="),
        (Form, false, "array", "color=blue,black,brown"),
        (Form, true, "array", "color=blue&color=black&color=brown"),
        (Form, false, "object", "color=R,100,G,200,B,150"),
        (Form, true, "object", "R=100&G=200&B=150"),
        (SpaceDelimited, false, "array", "color=blue%20black%20brown"),
        (SpaceDelimited, false, "object", "color=R%20100%20G%20200%20B%20150"),
        (PipeDelimited, false, "array", "color=blue%7Cblack%7Cbrown"),
        (PipeDelimited, false, "object", "color=R%7C100%7CG%7C200%7CB%7C150"),
        (DeepObject, true, "object", "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
        // Swagger 2.0 collectionFormat tsv
        (TabDelimited, false, "array", "color=blue%09black%09brown"),
        // 6570 §2.3: undefined
        (Form, false, "null", ""),
        (Form, true, "null", ""),
        (Form, false, "empty array", ""),
        (Form, true, "empty array", ""),
        (Form, false, "empty object", ""),
        (Form, true, "empty object", ""),
        (DeepObject, true, "empty object", ""),
        (DeepObject, true, "null", ""),
        (SpaceDelimited, false, "empty array", ""),
        (PipeDelimited, false, "null", ""),
        (Form, false, "null members", "color=blue,brown"),
        (Form, true, "null members", "color=blue&color=brown"),
        // OAS appendix B leaves numbers and booleans to us: JSON's words, no exponent
        (Form, true, "number", "color=-12.5"),
        (Form, true, "boolean", "color=true"),
        // ours: n/a in the table
        (SpaceDelimited, false, "primitive", "color=blue"),
        (SpaceDelimited, true, "primitive", "color=blue"),
        (SpaceDelimited, false, "empty", "color="),
        (SpaceDelimited, true, "empty", "color="),
        (SpaceDelimited, false, "null", ""),
        (SpaceDelimited, true, "null", ""),
        (PipeDelimited, false, "primitive", "color=blue"),
        (PipeDelimited, true, "primitive", "color=blue"),
        (PipeDelimited, true, "empty", "color="),
        (PipeDelimited, true, "object", "R=100&G=200&B=150"),
        (PipeDelimited, true, "null", ""),
        (DeepObject, false, "primitive", "color=blue"),
        (DeepObject, false, "empty", "color="),
        (DeepObject, true, "empty", "color="),
        (DeepObject, false, "null", ""),
        (DeepObject, false, "array", "color%5B0%5D=blue&color%5B1%5D=black&color%5B2%5D=brown"),
        (SpaceDelimited, true, "array", "color=blue&color=black&color=brown"),
        (SpaceDelimited, true, "object", "R=100&G=200&B=150"),
        (PipeDelimited, true, "array", "color=blue&color=black&color=brown"),
        (PipeDelimited, false, "empty", "color="),
        (DeepObject, true, "primitive", "color=blue"),
        (DeepObject, false, "object", "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
        (DeepObject, true, "array", "color%5B0%5D=blue&color%5B1%5D=black&color%5B2%5D=brown"),
        (DeepObject, true, "nested", "color%5Ba%5D%5Bb%5D%5B0%5D=1&color%5Ba%5D%5Bb%5D%5B1%5D%5Bc%5D=x%20y"),
        (Form, false, "array of objects", "color=%7B%22a%22%3A1%7D"),
        (Form, true, "array of objects", "color=%7B%22a%22%3A1%7D"),
        (Form, true, "nested", "a=%7B%22b%22%3A%5B1%2C%7B%22c%22%3A%22x%20y%22%7D%5D%7D"),
    ];
    for (kind, explode, column, expected) in rows {
        let url = operation("GET", "/p").parameter("color", ParameterIn::Query, style(*kind, *explode));
        let expected = if expected.is_empty() { String::new() } else { format!("?{expected}") };
        let url = url.url(json!({"color": value(column)}));
        assert_eq!(url, format!("https://api.example/p{expected}"), "{kind:?} explode {explode} {column}");
    }
    let mut judged: Vec<_> = rows.iter().map(|(kind, explode, column, _)| (*kind, *explode, *column)).collect();
    // 6570 §3.2.8: unicode and reserved characters are the same in every style
    for kind in [Form, SpaceDelimited, PipeDelimited, TabDelimited, DeepObject] {
        for explode in [false, true] {
            for (column, expected) in [("unicode", UNICODE), ("reserved", RESERVED)] {
                let url = operation("GET", "/p").parameter("color", ParameterIn::Query, style(kind, explode));
                assert_eq!(
                    url.url(json!({"color": value(column)})),
                    format!("https://api.example/p?color={expected}"),
                    "{kind:?} explode {explode} {column}"
                );
                judged.push((kind, explode, column));
            }
        }
    }
    assert_complete(&[Form, SpaceDelimited, PipeDelimited, DeepObject], &judged);
}

#[test]
fn path_styles() {
    use Style::*;
    let rows: &[(Style, bool, &str, &str)] = &[
        // OAS
        (Simple, false, "primitive", "blue"),
        (Simple, true, "primitive", "blue"),
        (Simple, false, "array", "blue,black,brown"),
        (Simple, true, "array", "blue,black,brown"),
        (Simple, false, "object", "R,100,G,200,B,150"),
        (Simple, true, "object", "R=100,G=200,B=150"),
        (Label, false, "primitive", ".blue"),
        (Label, true, "primitive", ".blue"),
        (Label, false, "array", ".blue,black,brown"),
        (Label, true, "array", ".blue.black.brown"),
        (Label, false, "object", ".R,100,G,200,B,150"),
        (Label, true, "object", ".R=100.G=200.B=150"),
        (Matrix, false, "primitive", ";color=blue"),
        (Matrix, true, "primitive", ";color=blue"),
        (Matrix, false, "empty", ";color"),
        (Matrix, true, "empty", ";color"),
        (Matrix, false, "array", ";color=blue,black,brown"),
        (Matrix, true, "array", ";color=blue;color=black;color=brown"),
        (Matrix, false, "object", ";color=R,100,G,200,B,150"),
        (Matrix, true, "object", ";R=100;G=200;B=150"),
        // 6570
        (Simple, false, "unicode", UNICODE),
        (Simple, true, "unicode", UNICODE),
        (Simple, false, "reserved", RESERVED),
        (Simple, true, "reserved", RESERVED),
        (Simple, false, "null members", "blue,brown"),
        (Matrix, true, "null members", ";color=blue;color=brown"),
        (Label, true, "null members", ".blue.brown"),
        // Swagger 2.0 collectionFormat in a path
        (SpaceDelimited, false, "array", "blue%20black%20brown"),
        (PipeDelimited, false, "array", "blue%7Cblack%7Cbrown"),
        (TabDelimited, false, "array", "blue%09black%09brown"),
        (Simple, false, "number", "-12.5"),
        (Simple, false, "boolean", "true"),
    ];
    for (kind, explode, column, expected) in rows {
        let url = operation("GET", "/p/{color}/q").parameter("color", ParameterIn::Path, style(*kind, *explode));
        let url = url.url(json!({"color": value(column)}));
        assert_eq!(url, format!("https://api.example/p/{expected}/q"), "{kind:?} explode {explode} {column}");
    }
    let mut judged: Vec<_> = rows.iter().map(|(kind, explode, column, _)| (*kind, *explode, *column)).collect();
    for (kind, prefix) in [(Label, "."), (Matrix, ";color=")] {
        for (column, expected) in [("unicode", UNICODE), ("reserved", RESERVED)] {
            for explode in [false, true] {
                let url = operation("GET", "/p/{color}").parameter("color", ParameterIn::Path, style(kind, explode));
                let url = url.url(json!({"color": value(column)}));
                assert_eq!(url, format!("https://api.example/p/{prefix}{expected}"), "{kind:?} explode {explode}");
                judged.push((kind, explode, column));
            }
        }
    }
    // a path can't have a hole, nor a segment that is a lone dot (what 6570 makes of a label that is empty)
    for kind in [Simple, Label, Matrix] {
        for column in ["null", "empty array", "empty object", "empty"] {
            if kind == Matrix && column == "empty" {
                continue;
            }
            for explode in [false, true] {
                let refused =
                    operation("GET", "/p/{color}").parameter("color", ParameterIn::Path, style(kind, explode));
                let refused = refused.refusal(json!({"color": value(column)}));
                assert_eq!(refused.argument.as_deref(), Some("color"), "{kind:?} explode {explode} {column}");
                judged.push((kind, explode, column));
            }
        }
    }
    assert_complete(&[Simple, Label, Matrix], &judged);
}

#[test]
fn header_styles() {
    use Style::*;
    let rows: &[(Style, bool, &str, Option<&str>)] = &[
        // OAS
        (Simple, false, "primitive", Some("blue")),
        (Simple, true, "primitive", Some("blue")),
        (Simple, false, "empty", Some("")),
        (Simple, false, "array", Some("blue,black,brown")),
        (Simple, true, "array", Some("blue,black,brown")),
        (Simple, false, "object", Some("R,100,G,200,B,150")),
        (Simple, true, "object", Some("R=100,G=200,B=150")),
        // 6570 §2.3
        (Simple, true, "empty", Some("")),
        (Simple, false, "null", None),
        (Simple, true, "null", None),
        (Simple, false, "empty array", None),
        (Simple, true, "empty object", None),
        (Simple, false, "null members", Some("blue,brown")),
        // 3.2: nothing is percent-encoded in a header
        (Simple, false, "unicode", Some("köln→")),
        (Simple, true, "unicode", Some("köln→")),
        (Simple, false, "reserved", Some("a b/c?d#e&f=g+h%41:@!$'()*,;[]")),
        (Simple, true, "reserved", Some("a b/c?d#e&f=g+h%41:@!$'()*,;[]")),
        (Simple, false, "number", Some("-12.5")),
        (Simple, false, "boolean", Some("true")),
        // Swagger 2.0 collectionFormat
        (SpaceDelimited, false, "array", Some("blue black brown")),
        (PipeDelimited, false, "array", Some("blue|black|brown")),
        (TabDelimited, false, "array", Some("blue\tblack\tbrown")),
    ];
    for (kind, explode, column, expected) in rows {
        let request = operation("GET", "/p").parameter("X-Color", ParameterIn::Header, style(*kind, *explode));
        let request = request.build(json!({"X-Color": value(column)}));
        assert_eq!(header_text(&request, "x-color"), *expected, "{kind:?} explode {explode} {column}");
    }
    let judged: Vec<_> = rows.iter().map(|(kind, explode, column, _)| (*kind, *explode, *column)).collect();
    assert_complete(&[Simple], &judged);
}

#[test]
fn cookie_styles() {
    use Style::*;
    let rows: &[(Style, bool, &str, Option<&str>)] = &[
        // OAS; several cookies stand apart with "; " (3.2, appendix D), never with "&"
        (Form, false, "primitive", Some("color=blue")),
        (Form, true, "primitive", Some("color=blue")),
        (Form, false, "empty", Some("color=")),
        (Form, true, "empty", Some("color=")),
        (Form, false, "array", Some("color=blue,black,brown")),
        (Form, true, "array", Some("color=blue; color=black; color=brown")),
        (Form, false, "object", Some("color=R,100,G,200,B,150")),
        (Form, true, "object", Some("R=100; G=200; B=150")),
        (Form, false, "unicode", Some("color=k%C3%B6ln%E2%86%92")),
        (Form, true, "unicode", Some("color=k%C3%B6ln%E2%86%92")),
        (Form, false, "null", None),
        (Form, true, "null", None),
        (Form, false, "empty array", None),
        // 3.2 style cookie
        (Cookie, false, "primitive", Some("color=blue")),
        (Cookie, true, "primitive", Some("color=blue")),
        (Cookie, false, "null", None),
        (Cookie, true, "null", None),
        (Cookie, false, "empty", Some("color=")),
        (Cookie, false, "array", Some("color=blue,black,brown")),
        (Cookie, true, "array", Some("color=blue; color=black; color=brown")),
        (Cookie, false, "object", Some("color=R,100,G,200,B,150")),
        (Cookie, true, "object", Some("R=100; G=200; B=150")),
        (Cookie, true, "empty", Some("color=")),
    ];
    for (kind, explode, column, expected) in rows {
        let request = operation("GET", "/p").parameter("color", ParameterIn::Cookie, style(*kind, *explode));
        let request = request.build(json!({"color": value(column)}));
        assert_eq!(header_text(&request, "cookie"), *expected, "{kind:?} explode {explode} {column}");
    }
    let mut judged: Vec<_> = rows.iter().map(|(kind, explode, column, _)| (*kind, *explode, *column)).collect();
    for explode in [false, true] {
        let reserved = operation("GET", "/p").parameter("color", ParameterIn::Cookie, style(Form, explode));
        let reserved = reserved.build(json!({"color": value("reserved")}));
        assert_eq!(header_text(&reserved, "cookie"), Some(format!("color={RESERVED}").as_str()));
        judged.push((Form, explode, "reserved"));
        // RFC 6265 §4.1.1: what is no cookie-octet can't be sent as it is
        for column in ["unicode", "reserved"] {
            let refused = operation("GET", "/p").parameter("color", ParameterIn::Cookie, style(Cookie, explode));
            assert_eq!(refused.refusal(json!({"color": value(column)})).argument.as_deref(), Some("color"), "{column}");
            judged.push((Cookie, explode, column));
        }
    }
    assert_complete(&[Form, Cookie], &judged);
}

/// OpenAPI 3.2, appendix C: `formulas` exploded and `words` not, first expanded plainly, then with
/// `allowReserved` and `spaceDelimited`.
#[test]
fn appendix_c_example() {
    let arguments = json!({"formulas": {"a": "x+y", "b": "x/y", "c": "x^y"}, "words": ["math", "is", "fun"]});
    let plain = operation("GET", "/p").parameter("formulas", ParameterIn::Query, style(Style::Form, true)).parameter(
        "words",
        ParameterIn::Query,
        style(Style::Form, false),
    );
    assert_eq!(plain.url(arguments.clone()), "https://api.example/p?a=x%2By&b=x%2Fy&c=x%5Ey&words=math,is,fun");
    let reserved =
        ParameterEncoding::Style { style: Style::Form, explode: true, allow_reserved: true, allow_empty_value: false };
    let special = operation("GET", "/p").parameter("formulas", ParameterIn::Query, reserved).parameter(
        "words",
        ParameterIn::Query,
        style(Style::SpaceDelimited, false),
    );
    assert_eq!(special.url(arguments), "https://api.example/p?a=x%2By&b=x/y&c=x%5Ey&words=math%20is%20fun");
}

/// Swagger 2.0, "Items Object" `collectionFormat`: csv `foo,bar`, ssv `foo bar`, tsv `foo\tbar`, pipes `foo|bar`, here
/// of the lists in a list.
#[test]
fn lists_in_lists() {
    use Style::*;
    let value = json!([["a", 1], ["b", null, true], "c d", []]);
    let rows: &[(ParameterIn, Style, bool, Style, &str)] = &[
        (ParameterIn::Query, Form, false, PipeDelimited, "a%7C1,b%7Ctrue,c%20d,"),
        (ParameterIn::Query, Form, true, Simple, "a%2C1&v=b%2Ctrue&v=c%20d&v="),
        (ParameterIn::Query, PipeDelimited, false, Simple, "a%2C1%7Cb%2Ctrue%7Cc%20d%7C"),
        (ParameterIn::Query, PipeDelimited, false, TabDelimited, "a%091%7Cb%09true%7Cc%20d%7C"),
        (ParameterIn::Path, Simple, false, SpaceDelimited, "a%201,b%20true,c%20d,"),
        (ParameterIn::Header, PipeDelimited, false, Simple, "a,1|b,true|c d|"),
    ];
    for (location, kind, explode, inner, expected) in rows {
        let path = if *location == ParameterIn::Path { "/p/{v}" } else { "/p" };
        let mut operation = operation("GET", path).parameter("v", *location, style(*kind, *explode));
        operation.action.parameters[0].inner = vec![*inner];
        let request = operation.build(json!({"v": value}));
        let got = match location {
            ParameterIn::Query => request.url.strip_prefix("https://api.example/p?v=").unwrap(),
            ParameterIn::Path => request.url.strip_prefix("https://api.example/p/").unwrap(),
            _ => header_text(&request, "v").unwrap(),
        };
        assert_eq!(got, *expected, "{location:?} {kind:?} of {inner:?}");
    }
    let mut deep = operation("GET", "/p").parameter("v", ParameterIn::Query, style(PipeDelimited, false));
    deep.action.parameters[0].inner = vec![SpaceDelimited, Simple];
    assert_eq!(deep.url(json!({"v": [[["a", "b"], ["c"]]]})), "https://api.example/p?v=a%2Cb%20c");
    // what the separators would tear apart is refused
    for (value, kind, inner) in
        [("a|b", Form, PipeDelimited), ("a,b", PipeDelimited, Simple), ("a|b", PipeDelimited, Simple)]
    {
        let mut torn = operation("GET", "/p").parameter("v", ParameterIn::Query, style(kind, false));
        torn.action.parameters[0].inner = vec![inner];
        assert_eq!(torn.refusal(json!({"v": [[value]]})).argument.as_deref(), Some("v"), "{value}");
    }
}

#[test]
fn allow_reserved() {
    let reserved = |kind, explode| ParameterEncoding::Style {
        style: kind,
        explode,
        allow_reserved: true,
        allow_empty_value: false,
    };
    let rows: &[(ParameterIn, &str, &str)] = &[
        // 6570 §3.2.3: reserved characters and triplets pass; `# [ ] & = +` and, for URL parsers, `'` do not
        (ParameterIn::Query, "a b/c?d:@!$()*,;", "a%20b/c?d:@!$()*,;"),
        (ParameterIn::Query, "100%", "100%25"),
        (ParameterIn::Query, "%41%zz%4", "%41%25zz%254"),
        (ParameterIn::Query, "x&admin=1#[]+'", "x%26admin%3D1%23%5B%5D%2B%27"),
        (ParameterIn::Query, "ü%C3%BC", "%C3%BC%C3%BC"),
        // a path keeps its segments, and decoding gives back the value
        (ParameterIn::Path, "a:b@c=d;e", "a:b@c=d;e"),
        (ParameterIn::Path, "a/../b?c#d%2Fe", "a%2F..%2Fb%3Fc%23d%252Fe"),
    ];
    for (location, value, expected) in rows {
        let (path, kind, url) = match location {
            ParameterIn::Path => ("/p/{v}", Style::Simple, "https://api.example/p/"),
            _ => ("/p", Style::Form, "https://api.example/p?v="),
        };
        let request = operation("GET", path).parameter("v", *location, reserved(kind, false));
        assert_eq!(request.url(json!({"v": value})), format!("{url}{expected}"), "{location:?} {value}");
    }
    // inside a list a comma separates, so a member's own is encoded
    let list = operation("GET", "/p").parameter("v", ParameterIn::Query, reserved(Style::Form, false));
    assert_eq!(list.url(json!({"v": ["a,b", "c/d"]})), "https://api.example/p?v=a%2Cb,c/d");
}

/// OAS `undefined` column: a parameter that must be there, or may be empty, is sent empty.
#[test]
fn required_and_allow_empty_value_send_an_empty_list() {
    let empty =
        ParameterEncoding::Style { style: Style::Form, explode: true, allow_reserved: false, allow_empty_value: true };
    let allowed = operation("GET", "/p").parameter("v", ParameterIn::Query, empty);
    assert_eq!(allowed.url(json!({"v": []})), "https://api.example/p?v=");
    for kind in [Style::Form, Style::SpaceDelimited, Style::PipeDelimited] {
        let required = operation("GET", "/p").parameter("v", ParameterIn::Query, style(kind, false)).required();
        assert_eq!(required.url(json!({"v": []})), "https://api.example/p?v=", "{kind:?}");
    }
    let header = operation("GET", "/p").header("X-V").required().build(json!({"X-V": []}));
    assert_eq!(header_text(&header, "x-v"), Some(""));
    let cookie = operation("GET", "/p").cookie("v").required().build(json!({"v": []}));
    assert_eq!(header_text(&cookie, "cookie"), Some("v="));
}

/// Numbers: integers exact to 64 bits, no exponent (1e+06 breaks servers), no `.0` behind whole numbers.
#[test]
fn numbers_have_no_exponent() {
    for (given, expected) in [
        (json!(1e6), "1000000"),
        (json!(1e21), "1000000000000000000000"),
        (json!(1e-7), "0.0000001"),
        (json!(0.1), "0.1"),
        (json!(9007199254740993i64), "9007199254740993"),
        (json!(-9223372036854775808i64), "-9223372036854775808"),
        (json!(18446744073709551615u64), "18446744073709551615"),
        (json!(2.0), "2"),
        (json!(false), "false"),
    ] {
        let url = operation("GET", "/p/{a}").path("a").query("b").url(json!({"a": given, "b": given}));
        assert_eq!(url, format!("https://api.example/p/{expected}?b={expected}"));
    }
}

#[test]
fn content_parameters() {
    let value = json!({"lat": 1.5, "name": "Zürich, \"A\""});
    let rows: &[(ParameterIn, &str, &str)] = &[
        (
            ParameterIn::Query,
            "application/json",
            "%7B%22lat%22%3A1.5%2C%22name%22%3A%22Z%C3%BCrich%2C%20%5C%22A%5C%22%22%7D",
        ),
        (
            ParameterIn::Path,
            "application/vnd.x+json",
            "%7B%22lat%22%3A1.5%2C%22name%22%3A%22Z%C3%BCrich%2C%20%5C%22A%5C%22%22%7D",
        ),
        // JSON has its own way to write non-ASCII characters, so a header needs none
        (ParameterIn::Header, "application/json", r#"{"lat":1.5,"name":"Z\u00fcrich, \"A\""}"#),
        // RFC 6265: what is no cookie-octet is percent-encoded
        (
            ParameterIn::Cookie,
            "application/json",
            "v={%22lat%22:1.5%2C%22name%22:%22Z%5Cu00fcrich%2C%20%5C%22A%5C%22%22}",
        ),
    ];
    for (location, media_type, expected) in rows {
        let path = if *location == ParameterIn::Path { "/p/{v}" } else { "/p" };
        let request = operation("GET", path).parameter("v", *location, content(media_type)).build(json!({"v": value}));
        let got = match location {
            ParameterIn::Query => request.url.strip_prefix("https://api.example/p?v=").unwrap(),
            ParameterIn::Path => request.url.strip_prefix("https://api.example/p/").unwrap(),
            ParameterIn::Header => header_text(&request, "v").unwrap(),
            _ => header_text(&request, "cookie").unwrap(),
        };
        assert_eq!(got, *expected, "{location:?}");
    }
    let text = operation("GET", "/p").parameter("v", ParameterIn::Query, content("text/plain"));
    assert_eq!(text.url(json!({"v": "a b"})), "https://api.example/p?v=a%20b");
}

/// OpenAPI 3.2 `in: querystring`.
#[test]
fn whole_query_string() {
    let form = || content("application/x-www-form-urlencoded");
    let query = |encoding| operation("GET", "/p").parameter("q", ParameterIn::QueryString, encoding);
    assert_eq!(
        query(form()).url(json!({"q": {"foo": "a + b", "bar": true, "list": [1, 2]}})),
        "https://api.example/p?foo=a+%2B+b&bar=true&list=1&list=2"
    );
    assert_eq!(
        query(content("application/json")).url(json!({"q": {"numbers": [1, 2], "flag": null}})),
        "https://api.example/p?%7B%22numbers%22%3A%5B1%2C2%5D%2C%22flag%22%3Anull%7D"
    );
    assert_eq!(
        query(content("application/jsonpath")).url(json!({"q": "$.a.b[1:1]"})),
        "https://api.example/p?%24.a.b%5B1%3A1%5D"
    );
    assert_eq!(query(form()).url(json!({})), "https://api.example/p");
}

/// Names are percent-encoded too (OAS appendix C, "Illegal Variable Names").
#[test]
fn parameter_names_are_encoded() {
    let url = operation("GET", "/p").query("❤️").query("filter[name]").query("ids[]");
    assert_eq!(
        url.url(json!({"❤️": "love!", "filter[name]": "x", "ids[]": [1, 2]})),
        "https://api.example/p?%E2%9D%A4%EF%B8%8F=love%21&filter%5Bname%5D=x&ids%5B%5D=1&ids%5B%5D=2"
    );
}
