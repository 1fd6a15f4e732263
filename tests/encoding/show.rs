//! The request as people see it.

use super::{operation, style};
use indexmap::IndexMap;
use rest_mcp::catalog::{From, Placement, Spot};
use rest_mcp::openapi::{ParameterIn, Style};
use rest_mcp::request::{BodyKind, BodyPlan, BodyVariant, to_curl, to_http};
use rest_mcp::secret::Secret;
use serde_json::json;

fn plan(media_type: &str, kind: BodyKind) -> BodyPlan {
    let variant = BodyVariant {
        declared: 0,
        media_type: media_type.to_owned(),
        kind,
        encoding: IndexMap::new(),
        parts: IndexMap::new(),
        xml: None,
        transfer: None,
    };
    BodyPlan { variants: vec![variant], required: true }
}

#[test]
fn as_http_and_curl() {
    let get = operation("GET", "/pet/{id}")
        .base("https://api.example:8443/v3")
        .path("id")
        .query("q")
        .build(json!({"id": "a b", "q": 1}));
    assert_eq!(to_http(&get), "GET /v3/pet/a%20b?q=1 HTTP/1.1\nhost: api.example:8443\naccept: application/json\n");
    assert_eq!(
        to_curl(&get),
        "curl https://api.example:8443/v3/pet/a%20b?q=1 \\\n  -H 'accept: application/json'\n"
            .replace("https://api.example:8443/v3/pet/a%20b?q=1", "'https://api.example:8443/v3/pet/a%20b?q=1'")
    );
    let post =
        operation("POST", "/p").body(plan("application/json", BodyKind::Json)).build(json!({"body": {"a": "it's"}}));
    assert_eq!(
        to_http(&post),
        "POST /p HTTP/1.1\nhost: api.example\naccept: application/json\ncontent-type: application/json\n\n{\"a\":\"it's\"}\n"
    );
    assert_eq!(
        to_curl(&post),
        "curl -X POST https://api.example/p \\\n  -H 'accept: application/json' \\\n  -H 'content-type: application/json' \\\n  --data-raw '{\"a\":\"it'\\''s\"}'\n"
    );
    let binary =
        operation("PUT", "/p").body(plan("image/png", BodyKind::Binary)).build(json!({"body": {"data": "/wA="}}));
    assert!(to_http(&binary).ends_with("\n(2 bytes of image/png)\n"));
    assert!(to_curl(&binary).starts_with("printf %s /wA= | base64 -d | curl -X PUT "));
    assert!(to_curl(&binary).ends_with("--data-binary @-\n"));
    let empty = operation("GET", "/p").header("X-E").build(json!({"X-E": ""}));
    assert!(to_curl(&empty).contains("-H 'X-E;'") || to_curl(&empty).contains("-H 'x-e;'"));
}

/// `$(…)`, backticks and quotes of a value stay text in a shell.
#[test]
fn curl_is_safe_to_paste() {
    let value = "$(touch /tmp/x)`id`'\"\\;|&\n";
    let request = operation("POST", "/p").query("q").body(plan("text/plain", BodyKind::Text));
    let command = to_curl(&request.build(json!({"q": value, "body": value})));
    let words = shell_words(&command);
    assert_eq!(words.last().unwrap(), value);
    assert_eq!(words[3], "https://api.example/p?q=%24%28touch%20%2Ftmp%2Fx%29%60id%60%27%22%5C%3B%7C%26%0A");
}

/// POSIX quoting, as far as the commands use it: anything active outside quotes fails.
fn shell_words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut characters = command.chars();
    let mut quoted = false;
    while let Some(character) = characters.next() {
        let word = words.last_mut().unwrap();
        match (quoted, character) {
            (_, '\'') => quoted = !quoted,
            (true, other) => word.push(other),
            (false, '\\') => match characters.next() {
                Some('\n') | None => {}
                Some(other) => word.push(other),
            },
            (false, ' ' | '\n') => {
                if !word.is_empty() {
                    words.push(String::new());
                }
            }
            (false, other) => {
                assert!(!"$`\"|&;<>()*?[#~{".contains(other), "active {other:?} in {command}");
                word.push(other);
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn no_secret_is_shown() {
    let secret = "S3cr\"t &ü/1";
    let request = operation("POST", "/p/{t}")
        .parameter_from("t", ParameterIn::Path, style(Style::Simple, false), From::Secret(Secret::new(secret)))
        .parameter_from("X-K", ParameterIn::Header, style(Style::Simple, false), From::Secret(Secret::new(secret)))
        .credential(Placement::Bearer, "T0ken")
        .credential(Placement::Query("key".to_owned()), secret)
        .credential(Placement::Cookie("sid".to_owned()), "C00kie")
        .body_from(
            plan("application/json", BodyKind::Json),
            From::Argument("a".to_owned()),
            Spot::BodyMember(vec!["a".to_owned()]),
        )
        .bind(From::Secret(Secret::new(secret)), Spot::BodyMember(vec!["s".to_owned()]))
        .build(json!({"a": 1}));
    for shown in [to_http(&request), to_curl(&request)] {
        assert!(!shown.contains("S3cr") && !shown.contains("T0ken") && !shown.contains("C00kie"), "{shown}");
        assert!(shown.contains("Bearer ***") && shown.contains("key=***") && shown.contains("/p/***"));
        assert!(shown.contains(r#"{"a":1,"s":"***"}"#));
    }
    for (media_type, kind) in [
        ("application/x-www-form-urlencoded", BodyKind::Form),
        ("multipart/form-data", BodyKind::Multipart),
        ("application/xml", BodyKind::Xml),
    ] {
        let from = From::Secret(Secret::new(secret));
        let request =
            operation("POST", "/p").body_from(plan(media_type, kind), from, Spot::BodyMember(vec!["s".to_owned()]));
        let request = request.build(json!({}));
        assert!(!to_http(&request).contains("S3cr") && !to_curl(&request).contains("S3cr"), "{media_type}");
    }
    assert!(!format!("{request:?}").contains("T0ken"), "HeaderValue hides what is marked");
}
