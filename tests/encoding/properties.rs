//! Any text at all: it arrives as the same text in the same place, or not at all.

use super::{body_text, operation, style};
use percent_encoding::percent_decode_str;
use proptest::prelude::*;
use rest_mcp::openapi::{ParameterEncoding, ParameterIn, Style};
use rest_mcp::request::{BodyKind, BodyPlan, BodyVariant};
use serde_json::json;

/// Mostly hostile characters.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::collection::vec(
            prop_oneof![
                Just('.'),
                Just('/'),
                Just('%'),
                Just('2'),
                Just('e'),
                Just('\\'),
                Just('?'),
                Just('#'),
                Just('&'),
                Just('='),
                Just('+'),
                Just(' '),
                Just('\''),
                Just('"'),
                Just(';'),
                Just('\r'),
                Just('\n'),
                Just('\0'),
                any::<char>()
            ],
            0..12
        )
        .prop_map(|characters| characters.into_iter().collect::<String>()),
        ".*",
    ]
}

fn encodings() -> impl Strategy<Value = (Style, bool, bool)> {
    (prop_oneof![Just(Style::Simple), Just(Style::Label), Just(Style::Matrix)], any::<bool>(), any::<bool>())
}

proptest! {
    #[test]
    fn path_values(value in text(), (kind, explode, allow_reserved) in encodings()) {
        let encoding = ParameterEncoding::Style { style: kind, explode, allow_reserved, allow_empty_value: false };
        let built = operation("GET", "/base/{v}/tail").parameter("v", ParameterIn::Path, encoding).try_build(json!({"v": value}));
        let Ok(request) = built else {
            // only a hole or a dot segment is a reason to refuse
            let prefixed = match kind { Style::Label => format!(".{value}"), _ => value.clone() };
            prop_assert!(value.is_empty() || prefixed == "." || prefixed == "..", "{value:?} refused");
            return Ok(());
        };
        let url = url::Url::parse(&request.url).unwrap();
        prop_assert_eq!(url.as_str(), request.url.as_str());
        prop_assert_eq!(url.host_str(), Some("api.example"));
        prop_assert_eq!(url.query(), None);
        prop_assert_eq!(url.fragment(), None);
        let segments: Vec<&str> = url.path_segments().unwrap().collect();
        prop_assert_eq!(segments.len(), 3);
        prop_assert_eq!((segments[0], segments[2]), ("base", "tail"));
        let decoded = percent_decode_str(segments[1]).decode_utf8().unwrap();
        let expected = match kind {
            Style::Label => format!(".{value}"),
            Style::Matrix if value.is_empty() => ";v".to_owned(),
            Style::Matrix => format!(";v={value}"),
            _ => value.clone(),
        };
        prop_assert_eq!(decoded.as_ref(), expected.as_str());
    }

    #[test]
    fn query_values(name in text(), value in text()) {
        prop_assume!(!name.is_empty());
        let request = operation("GET", "/p").query("first").parameter(&name, ParameterIn::Query, style(Style::Form, true));
        prop_assume!(name != "first");
        let request = request.build(json!({"first": 1, name.clone(): value}));
        let url = url::Url::parse(&request.url).unwrap();
        prop_assert_eq!(url.as_str(), request.url.as_str());
        prop_assert_eq!(url.path(), "/p");
        let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        prop_assert_eq!(pairs, vec![("first".to_owned(), "1".to_owned()), (name, value)]);
    }

    #[test]
    fn form_values(value in text(), other in text()) {
        let variant = BodyVariant {
            declared: 0,
            media_type: "application/x-www-form-urlencoded".to_owned(),
            kind: BodyKind::Form,
            encoding: Default::default(),
            parts: Default::default(),
            xml: None,
            transfer: None,
        };
        let request = operation("POST", "/p").body(BodyPlan { variants: vec![variant], required: true });
        let request = request.build(json!({"body": {"a": value, "b": [other, "x"]}}));
        let pairs: Vec<(String, String)> = url::form_urlencoded::parse(body_text(&request).as_bytes()).into_owned().collect();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        prop_assert_eq!(pairs, vec![pair("a", &value), pair("b", &other), pair("b", "x")]);
    }

    #[test]
    fn header_and_cookie_values(value in text()) {
        let built = operation("GET", "/p").header("X-V").try_build(json!({"X-V": value}));
        if let Ok(request) = built {
            prop_assert_eq!(request.headers.get("x-v").unwrap().as_bytes(), value.as_bytes());
            prop_assert!(!value.contains(['\r', '\n', '\0']));
        }
        let request = operation("GET", "/p").cookie("v").build(json!({"v": value}));
        let cookie = request.headers.get("cookie").unwrap().to_str().unwrap().to_owned();
        prop_assert!(!cookie.contains([';', ',', ' ', '"']));
        let decoded = percent_decode_str(cookie.strip_prefix("v=").unwrap()).decode_utf8().unwrap();
        prop_assert_eq!(decoded.as_ref(), value.as_str());
    }
}
