//! Credentials reach their place and no other.

use super::{header_text, operation};
use rest_mcp::catalog::Placement;
use rest_mcp::request::{Credential, CredentialText};
use rest_mcp::secret::Secret;
use serde_json::json;

#[test]
fn each_placement() {
    let header = operation("GET", "/p").credential(Placement::Header("X-Api-Key".to_owned()), "k").build(json!({}));
    assert_eq!(header_text(&header, "x-api-key"), Some("k"));
    assert!(header.headers["x-api-key"].is_sensitive());

    let query = operation("GET", "/p").query("a").credential(Placement::Query("api key".to_owned()), "k&1");
    let query = query.build(json!({"a": 1}));
    assert_eq!(query.url, "https://api.example/p?a=1&api%20key=k%261");
    assert_eq!(query.secret_in_url.iter().map(|range| &query.url[range.clone()]).collect::<Vec<_>>(), ["k%261"]);

    let cookie = operation("GET", "/p").cookie("a").credential(Placement::Cookie("sid".to_owned()), "k==");
    let cookie = cookie.build(json!({"a": 1}));
    assert_eq!(header_text(&cookie, "cookie"), Some("a=1; sid=k=="));
    assert!(cookie.headers["cookie"].is_sensitive());

    let bearer = operation("GET", "/p").credential(Placement::Bearer, "t").build(json!({}));
    assert_eq!(header_text(&bearer, "authorization"), Some("Bearer t"));
    assert!(bearer.headers["authorization"].is_sensitive());
    // a forwarded header brings its scheme along
    let forwarded = operation("GET", "/p").credential(Placement::Bearer, "bearer t").build(json!({}));
    assert_eq!(header_text(&forwarded, "authorization"), Some("bearer t"));

    let certificate = operation("GET", "/p").credential(Placement::ClientCertificate, "x").build(json!({}));
    assert_eq!(certificate.headers.len(), 1, "only Accept");
}

/// RFC 7617 §2 and §2.1 (UTF-8): its examples.
#[test]
fn basic() {
    for (user, password, expected) in [
        ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
        ("test", "123£", "Basic dGVzdDoxMjPCow=="),
        ("user", "", "Basic dXNlcjo="),
    ] {
        let mut operation = operation("GET", "/p");
        let value = CredentialText::UserPassword(Secret::new(user), Secret::new(password));
        operation.credentials.push(Credential { placement: Placement::Basic, value });
        assert_eq!(header_text(&operation.build(json!({})), "authorization"), Some(expected));
    }
    let mut colon = operation("GET", "/p");
    let value = CredentialText::UserPassword(Secret::new("a:b"), Secret::new("c"));
    colon.credentials.push(Credential { placement: Placement::Basic, value });
    colon.refusal(json!({}));
}

#[test]
fn arguments_never_override_a_credential() {
    let header =
        || operation("GET", "/p").header("x-API-key").credential(Placement::Header("X-Api-Key".to_owned()), "k");
    let refused = header().refusal(json!({"x-API-key": "mine"}));
    assert_eq!(refused.argument.as_deref(), Some("x-API-key"));
    assert_eq!(header_text(&header().build(json!({})), "x-api-key"), Some("k"));
    let bearer = || operation("GET", "/p").header("Authorization").credential(Placement::Bearer, "k");
    bearer().refusal(json!({"Authorization": "Bearer mine"}));
    let query = || operation("GET", "/p").query("key").credential(Placement::Query("key".to_owned()), "k");
    query().refusal(json!({"key": "mine"}));
    let cookie = || operation("GET", "/p").cookie("sid").credential(Placement::Cookie("sid".to_owned()), "k");
    cookie().refusal(json!({"sid": "mine"}));
    let own = || operation("GET", "/p").header("X-Own").source_header("X-Own", "ours");
    own().refusal(json!({"X-Own": "mine"}));
    assert_eq!(header_text(&own().build(json!({})), "x-own"), Some("ours"));
}

#[test]
fn secrets_that_can_not_be_sent_are_not_repeated() {
    for placement in [
        Placement::Bearer,
        Placement::Header("X-Key".to_owned()),
        Placement::Cookie("sid".to_owned()),
        Placement::Basic,
    ] {
        let refused = operation("GET", "/p").credential(placement.clone(), "s3cret\r\nX: 1").refusal(json!({}));
        assert!(!refused.message.contains("s3cret"), "{placement:?}");
        assert_eq!(refused.argument, None);
    }
    let shown = format!("{:?}", operation("GET", "/p").credential(Placement::Bearer, "s3cret").credentials);
    assert!(!shown.contains("s3cret"));
    // one token that the document calls by two names
    let same = operation("GET", "/p").credential(Placement::Bearer, "a").credential(Placement::Bearer, "a");
    assert_eq!(header_text(&same.build(json!({})), "authorization"), Some("Bearer a"));
    // two credentials for one header
    let both = operation("GET", "/p").credential(Placement::Bearer, "a").credential(Placement::Bearer, "b");
    both.refusal(json!({}));
}

mod masks {
    //! What an API repeats of a request's secrets.
    use super::*;
    use rest_mcp::request::Masks;

    fn request(secrets: &[&str]) -> rest_mcp::request::Request {
        let mut headers = http::HeaderMap::new();
        let mut value = http::HeaderValue::from_static("Bearer token-of-a-header");
        value.set_sensitive(true);
        headers.insert("authorization", value);
        headers.insert("x-open", http::HeaderValue::from_static("an open header"));
        rest_mcp::request::Request {
            method: http::Method::GET,
            url: "http://127.0.0.1/x?key=in%20the-url".to_owned(),
            headers,
            body: None,
            secret_in_url: std::iter::once(23..35).collect(),
            secrets: secrets.iter().map(|secret| Secret::new(*secret)).collect(),
        }
    }

    #[test]
    fn secrets_become_stars_in_every_spelling_and_nothing_else_changes() {
        let masks = Masks::of(&request(&["a \"quoted\" one", "short", "12345678", "gr\u{fc}n-gr\u{fc}n"]));
        for (body, expected) in [
            (r#"{"a":"a \"quoted\" one"}"#, r#"{"a":"****************"}"#),
            (
                "a \"quoted\" one, a%20%22quoted%22%20one, a+%22quoted%22+one",
                &format!("{}, {}, {}", "*".repeat(14), "*".repeat(22), "*".repeat(18)),
            ),
            ("Bearer token-of-a-header!", "Bearer *****************!"),
            ("in%20the-url", "************"),
            ("short 12345678 an open header", "short 12345678 an open header"),
            ("gr\u{fc}n-gr\u{fc}n", "***********"),
        ] {
            assert_eq!(masks.body(body.as_bytes().to_vec().into()), expected.as_bytes(), "{body}");
        }
        let mut headers = http::HeaderMap::new();
        headers.insert("link", http::HeaderValue::from_static("</y?key=in%20the-url>; rel=next"));
        masks.headers(&mut headers);
        assert_eq!(headers["link"], "</y?key=************>; rel=next");
    }

    #[test]
    fn a_secret_in_pieces_is_masked_wherever_it_is_cut() {
        let text = b"one secret-value-1 and secret-value again secret-value-1";
        let expected = b"one ************** and secret-value again **************";
        for first in 0..text.len() {
            for second in first..text.len() {
                let mut masks = Masks::of(&request(&["secret-value-1"]));
                let mut out = Vec::new();
                for piece in [&text[..first], &text[first..second], &text[second..]] {
                    out.extend_from_slice(&masks.piece(piece.to_vec().into()));
                }
                out.extend_from_slice(&masks.rest());
                assert_eq!(out, expected, "{first} {second}");
            }
        }
    }
}
