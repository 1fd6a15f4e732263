//! Values that try to be more than a value.

use super::{header_text, operation, style};
use rest_mcp::catalog::{From, Placement};
use rest_mcp::openapi::{ParameterIn, Style};
use serde_json::json;

#[test]
fn path_value_stays_one_segment() {
    for (value, expected) in [
        ("../../admin?x=1#y", "..%2F..%2Fadmin%3Fx%3D1%23y"),
        ("%2e%2e/", "%252e%252e%2F"),
        ("%2F", "%252F"),
        ("a/b", "a%2Fb"),
        ("a\\b", "a%5Cb"),
        ("...", "..."),
        (".hidden", ".hidden"),
        ("a;b=c", "a%3Bb%3Dc"),
        ("\u{0}\r\n\t", "%00%0D%0A%09"),
        ("@evil.example", "%40evil.example"),
        ("https://evil.example/", "https%3A%2F%2Fevil.example%2F"),
        ("\u{202e}", "%E2%80%AE"),
    ] {
        let url = operation("GET", "/v1/{id}/x").path("id").url(json!({"id": value}));
        assert_eq!(url, format!("https://api.example/v1/{expected}/x"));
        assert_eq!(url::Url::parse(&url).unwrap().as_str(), url, "a URL parser must not change it");
    }
}

/// WHATWG URL §4.1: `%2e%2e` climbs like `..`, so a lone dot segment can't be sent at all.
#[test]
fn dot_segments_are_refused() {
    for value in [".", ".."] {
        let refused = operation("GET", "/v1/{id}").path("id").refusal(json!({"id": value}));
        assert_eq!(refused.argument.as_deref(), Some("id"));
        assert!(refused.message.contains("segment"), "{}", refused.message);
    }
    // put together from harmless pieces
    for (path, first, second) in [("/v1/{a}{b}/x", ".", "."), ("/v1/.{a}/{b}", ".", "b"), ("/v1/%2e{a}/{b}", ".", "b")]
    {
        operation("GET", path).path("a").path("b").refusal(json!({"a": first, "b": second}));
    }
    let label = |value| {
        operation("GET", "/v1/{id}").parameter("id", ParameterIn::Path, style(Style::Label, false)).try_build(value)
    };
    label(json!({"id": "."})).unwrap_err();
    assert_eq!(label(json!({"id": ".."})).unwrap().url, "https://api.example/v1/...");
}

#[test]
fn missing_and_empty_path_values_leave_no_hole() {
    for arguments in [json!({}), json!({"id": null}), json!({"id": ""}), json!({"id": []})] {
        let refused = operation("GET", "/v1/{id}/x").path("id").refusal(arguments);
        assert_eq!(refused.argument.as_deref(), Some("id"));
    }
}

#[test]
fn query_value_can_not_add_a_parameter() {
    let url = operation("GET", "/p").query("q").query("z").url(json!({"q": "1&admin=true#f;x=y+z", "z": "?"}));
    assert_eq!(url, "https://api.example/p?q=1%26admin%3Dtrue%23f%3Bx%3Dy%2Bz&z=%3F");
}

/// A free-form object must not set what the mapping fixed or a credential.
#[test]
fn exploded_object_can_not_take_another_parameters_name() {
    let free = || {
        operation("GET", "/p?version=2")
            .parameter("filter", ParameterIn::Query, style(Style::Form, true))
            .parameter_from("tenant", ParameterIn::Query, style(Style::Form, true), From::Fixed(json!("acme")))
            .credential(Placement::Query("key".to_owned()), "secret")
    };
    assert_eq!(
        free().url(json!({"filter": {"color": "red", "filter": "x"}})),
        "https://api.example/p?version=2&color=red&filter=x&tenant=acme&key=secret"
    );
    for name in ["tenant", "key", "version"] {
        let refused = free().refusal(json!({"filter": {name: "other"}}));
        assert_eq!(refused.argument.as_deref(), Some("filter"), "{name}");
        assert!(!refused.message.contains("secret") && !refused.message.contains("acme"));
    }
    let deep = operation("GET", "/p")
        .parameter("f", ParameterIn::Query, style(Style::DeepObject, true))
        .parameter_from("f[tenant]", ParameterIn::Query, style(Style::Form, true), From::Fixed(json!("acme")));
    assert_eq!(deep.refusal(json!({"f": {"tenant": "other"}})).argument.as_deref(), Some("f"));
}

#[test]
fn header_values_can_not_break_out() {
    for value in ["a\r\nX-Admin: 1", "a\nb", "a\rb", "a\u{0}b", "a\u{7f}b", "a\u{1}b", " a", "a ", "\ta"] {
        let refused = operation("GET", "/p").header("X-V").refusal(json!({"X-V": value}));
        assert_eq!(refused.argument.as_deref(), Some("X-V"), "{value:?}");
        assert!(!refused.message.contains("Admin"), "the value is not repeated");
    }
    operation("GET", "/p").header("X-V").refusal(json!({"X-V": ["a", "b\r\nX: 1"]}));
    let kept = operation("GET", "/p").header("X-V").build(json!({"X-V": "a\tb é"}));
    assert_eq!(header_text(&kept, "x-v"), Some("a\tb é"));
}

#[test]
fn list_members_can_not_split_in_headers() {
    operation("GET", "/p").header("X-V").refusal(json!({"X-V": ["a,b", "c"]}));
    operation("GET", "/p").header("X-V").refusal(json!({"X-V": {"a,b": "c"}}));
    let quoted = operation("GET", "/p").header("If-Match").build(json!({"If-Match": ["\"a,b\"", "\"c\""]}));
    assert_eq!(header_text(&quoted, "if-match"), Some("\"a,b\",\"c\""));
    // no encoding tells a member's space from the delimiter (OAS appendix E)
    for (kind, member) in [(Style::SpaceDelimited, "a b"), (Style::PipeDelimited, "a|b"), (Style::TabDelimited, "a\tb")]
    {
        operation("GET", "/p").parameter("v", ParameterIn::Query, style(kind, false)).refusal(json!({"v": [member]}));
    }
}

#[test]
fn connection_headers_are_refused() {
    for name in [
        "Host",
        "Connection",
        "Content-Length",
        "Transfer-Encoding",
        "TE",
        "Trailer",
        "Upgrade",
        "Keep-Alive",
        "Proxy-Authorization",
        "Mcp-Session-Id",
        "Accept",
        "Content-Type",
        "Bad Name",
        "",
    ] {
        let refused = operation("GET", "/p").header(name).refusal(json!({name: "x"}));
        assert_eq!(refused.argument.as_deref(), Some(name));
    }
}

#[test]
fn cookie_values_can_not_add_a_cookie() {
    let request = operation("GET", "/p").cookie("a").cookie("b").build(json!({"a": "1; admin=1", "b": "x,y\r\n"}));
    assert_eq!(header_text(&request, "cookie"), Some("a=1%3B%20admin%3D1; b=x%2Cy%0D%0A"));
    assert_eq!(request.headers.get_all("cookie").iter().count(), 1);
    let raw = || operation("GET", "/p").parameter("a", ParameterIn::Cookie, style(Style::Cookie, true));
    for value in ["1; admin=1", "a b", "a,b", "a\"b", "a\\b", "a\r\nb", "ü"] {
        raw().refusal(json!({"a": value}));
    }
    assert_eq!(header_text(&raw().build(json!({"a": "aGk+/=="})), "cookie"), Some("a=aGk+/=="));
    let header = operation("GET", "/p").header("Cookie").cookie("b").build(json!({"Cookie": "x=1; y=2", "b": "3"}));
    assert_eq!(header_text(&header, "cookie"), Some("x=1; y=2; b=3"));
    operation("GET", "/p").header("Cookie").refusal(json!({"Cookie": "x=1\r\nHost: evil"}));
}

#[test]
fn base_path_and_query_stay() {
    for (base, path, expected) in [
        ("https://h.example/v3", "/pet/{id}", "https://h.example/v3/pet/7"),
        ("https://h.example/v3/", "/pet/{id}", "https://h.example/v3/pet/7"),
        ("https://h.example/v3", "pet/{id}", "https://h.example/v3/pet/7"),
        ("https://h.example", "/pet/{id}/", "https://h.example/pet/7/"),
        ("https://h.example/v3?api-version=1", "/pet/{id}", "https://h.example/v3/pet/7?api-version=1"),
        ("http://[::1]:8080/a%20b", "/p et/{id}", "http://[::1]:8080/a%20b/p%20et/7"),
        ("https://h.example/b", "/x/{id}:cancel", "https://h.example/b/x/7:cancel"),
    ] {
        assert_eq!(operation("GET", path).base(base).path("id").url(json!({"id": 7})), expected);
    }
    let fixed = operation("POST", "/?Action=Run&x={a}").query("q").url(json!({"q": 1}));
    assert_eq!(fixed, "https://api.example/?Action=Run&x={a}&q=1");
}

#[test]
fn forwarded_headers_never_override() {
    use http::{HeaderName, HeaderValue};
    let pair =
        |name: &'static str, value: &'static str| (HeaderName::from_static(name), HeaderValue::from_static(value));
    let forwarded = [
        pair("x-request-id", "from-caller"),
        pair("x-own", "from-caller"),
        pair("authorization", "Bearer caller"),
        pair("host", "evil.example"),
        pair("mcp-session-id", "s"),
        pair("cookie", "a=b"),
        pair("accept", "text/html"),
        pair("traceparent", "00-1-2-01"),
    ];
    let fixed = rest_mcp::request::Fixed { forwarded: &forwarded, ..Default::default() };
    let request = operation("GET", "/p")
        .header("X-Request-Id")
        .source_header("X-Own", "ours")
        .credential(Placement::Bearer, "token")
        .try_build_with(json!({"X-Request-Id": "argument"}), &fixed)
        .unwrap();
    assert_eq!(header_text(&request, "x-request-id"), Some("argument"));
    assert_eq!(header_text(&request, "x-own"), Some("ours"));
    assert_eq!(header_text(&request, "authorization"), Some("Bearer token"));
    assert_eq!(header_text(&request, "traceparent"), Some("00-1-2-01"));
    assert_eq!(header_text(&request, "accept"), Some("application/json"));
    for absent in ["host", "mcp-session-id", "cookie"] {
        assert_eq!(header_text(&request, absent), None, "{absent}");
    }
}
