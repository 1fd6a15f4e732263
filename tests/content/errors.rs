//! What the model reads when a call fails.

use super::{Make, answer, content_of, header, spoken};
use rest_mcp::call::{Problem, Refusal};
use rest_mcp::catalog::Spot;
use rest_mcp::content::failure::{from_no_answer, from_refusal, from_unsendable};
use rest_mcp::openapi::ParameterIn;
use rest_mcp::request::Unsendable;
use rest_mcp::response::{NoAnswer, TimeoutKind};
use serde_json::{Value, json};
use std::time::Duration;

fn said(make: Make, status: u16, media_type: &str, body: &str) -> String {
    let content = content_of(&make.tool(), &answer(status, media_type, body.to_owned()));
    assert!(content.is_error && content.structured.is_none());
    assert_eq!(content.blocks.len(), 1);
    spoken(&content).remove(0)
}

fn said_json(body: Value) -> String {
    said(Make::new(), 400, "application/json", &body.to_string())
}

#[test]
fn the_useful_part_of_common_error_bodies_is_told() {
    let head = "HTTP 400 Bad Request: ";
    for (body, part) in [
        // RFC 9457 §3.
        (
            json!({"type": "https://example.com/probs/out-of-credit", "title": "You do not have enough credit.", "detail": "Your balance is 30.", "instance": "/a"}),
            "You do not have enough credit.: Your balance is 30.",
        ),
        // RFC 9457 §3, the `errors` extension with JSON pointers.
        (
            json!({"title": "Your request is not valid.", "errors": [{"detail": "must be a positive integer", "pointer": "#/age"}]}),
            "Your request is not valid.: `age`: must be a positive integer",
        ),
        (json!({"message": "Not Found", "documentation_url": "https://docs.example"}), "Not Found"),
        (
            json!({"message": "Validation Failed", "errors": [{"resource": "Issue", "field": "title", "code": "missing_field"}]}),
            "Validation Failed: `title`: missing_field Issue",
        ),
        (
            json!({"error": {"code": 403, "message": "Quota", "status": "X", "errors": [{"message": "Quota", "domain": "global"}]}}),
            "Quota",
        ),
        // RFC 6749 §5.2.
        (
            json!({"error": "invalid_scope", "error_description": "The scope is unknown"}),
            "The scope is unknown: invalid_scope",
        ),
        (json!({"error": "nope"}), "nope"),
        (
            json!({"errors": [{"status": "422", "source": {"pointer": "/data/attributes/firstName"}, "title": "Invalid", "detail": "too short"}]}),
            "`data.attributes.firstName`: Invalid: too short",
        ),
        (json!({"errors": ["first", "second"]}), "first; second"),
        (
            json!({"detail": [{"loc": ["body", "petName"], "msg": "field required", "type": "value_error.missing"}]}),
            "`body.petName`: field required",
        ),
        (
            json!({"name": ["This field is required."], "non_field_errors": ["Too late."]}),
            "`name`: This field is required.; Too late.",
        ),
        (
            json!({"message": "The given data was invalid.", "errors": {"email": ["taken", "short"]}}),
            "The given data was invalid.: `email`: taken, short",
        ),
        (json!([{"message": "a"}, {"message": "b"}]), "a; b"),
        (json!("words"), "words"),
        (json!({"code": 17, "stackTrace": "at x"}), r#"{"code":17}"#),
        (json!({"fault": {"faultstring": "Invalid key", "detail": {"errorcode": "x"}}}), "Invalid key: `errorcode`: x"),
    ] {
        assert_eq!(said_json(body.clone()), format!("{head}{part}"), "{body}");
    }
    assert_eq!(said(Make::new(), 404, "", ""), "HTTP 404 Not Found");
    assert_eq!(said(Make::new(), 404, "application/json", "null"), "HTTP 404 Not Found");
    assert_eq!(said(Make::new(), 599, "text/plain", "odd"), "HTTP 599: odd");
}

#[test]
fn html_pages_are_reduced_to_what_one_would_read() {
    let page = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title><style>p { color: red }</style><script>if (a < b) {}</script></head>\
        <body><!-- <p>hidden</p> --><center><h1 class='a>b'>502&nbsp;Bad Gateway</h1></center>\n<hr><p>Try <b>again</b> later &amp; wait&#33; 1 < 2</p></body></html>";
    assert_eq!(
        said(Make::new(), 502, "text/html", page),
        "HTTP 502 Bad Gateway: 502 Bad Gateway\n502 Bad Gateway\nTry again later & wait! 1 < 2"
    );
    assert_eq!(
        said(Make::new(), 500, "application/xml", "<error><message>No</message></error>"),
        "HTTP 500 Internal Server Error: No"
    );
}

#[test]
fn places_come_back_as_the_tools_own_argument_names() {
    let make = || {
        Make::new()
            .parameter("max", ParameterIn::Query, "limit")
            .parameter("id", ParameterIn::Path, "pet_id")
            .parameter("token", ParameterIn::Header, "X-Token")
            .member("name", &["petName"])
            .member("street", &["owner", "address", "street"])
            .member("keeper", &["owner"])
    };
    for (place, argument) in [
        (json!({"loc": ["body", "petName"]}), "name"),
        (json!({"loc": ["body", "owner", "address", "street"]}), "street"),
        (json!({"loc": ["body", "owner", "phones", 0]}), "keeper.phones.0"),
        (json!({"loc": ["query", "limit"]}), "max"),
        (json!({"loc": ["path", "pet_id"]}), "id"),
        (json!({"loc": ["header", "x-token"]}), "token"),
        (json!({"instancePath": "/petName"}), "name"),
        (json!({"pointer": "#/owner/address/street"}), "street"),
        (json!({"source": {"pointer": "/data/attributes/petName"}}), "name"),
        (json!({"source": {"parameter": "limit"}}), "max"),
        (json!({"field": "petName"}), "name"),
        (json!({"path": ["owner", "x"]}), "keeper.x"),
        (json!({"property": "pet_id"}), "id"),
        (json!({"path": ".body.petName"}), "name"),
        (json!({"dataPath": "$.owner.address['street']"}), "street"),
        (json!({"field": "unheardOf"}), "unheardOf"),
    ] {
        let mut problem = place.clone();
        problem["message"] = json!("is wrong");
        let text = said(make(), 422, "application/json", &json!({"errors": [problem]}).to_string());
        assert_eq!(text, format!("HTTP 422 Unprocessable Entity: `{argument}`: is wrong"), "{place}");
    }
    let single = Make::new().bind("body", Spot::Body);
    let text = said(
        single,
        422,
        "application/json",
        &json!({"detail": [{"loc": ["body", "a", "b"], "msg": "m"}]}).to_string(),
    );
    assert_eq!(text, "HTTP 422 Unprocessable Entity: `body.a.b`: m");
    let fields = said(make(), 400, "application/json", &json!({"petName": ["required"]}).to_string());
    assert_eq!(fields, "HTTP 400 Bad Request: `name`: required");
}

#[test]
fn our_address_of_the_api_and_stack_traces_stay_inside() {
    let text = said(
        Make::new(),
        500,
        "text/plain",
        "Boom at http://orders.internal.corp:8443/v1/orders?x=1 (orders.internal.corp:8443, orders.internal.corp), not https://orders.internal.corp.example/\n\
         java.lang.IllegalStateException: no stock\n\tat com.acme.Orders.take(Orders.java:12)\n\tat com.acme.Main.main(Main.java:1)\n\t... 12 more\n\
         Caused by: x\u{7}",
    );
    assert_eq!(
        text,
        "HTTP 500 Internal Server Error: Boom at /v1/orders?x=1 (the API, the API), not https://orders.internal.corp.example/\n\
         java.lang.IllegalStateException: no stock\nCaused by: x"
    );
    let python = said(
        Make::new(),
        500,
        "text/plain",
        "Traceback (most recent call last):\n  File \"/srv/app/main.py\", line 3, in <module>\n    run()\nValueError: bad id",
    );
    assert_eq!(python, "HTTP 500 Internal Server Error: ValueError: bad id");
    let node = said_json(json!({"message": "bad", "stack": "Error: bad\n    at x (/srv/a.js:1:2)"}));
    assert_eq!(node, "HTTP 400 Bad Request: bad");
    assert_eq!(said(Make::new(), 400, "text/plain", "Meet at noon."), "HTTP 400 Bad Request: Meet at noon.");
}

#[test]
fn long_bodies_are_cut_between_characters() {
    let text = said(Make::new(), 500, "text/plain", &"ä".repeat(5000));
    assert!(text.len() < 2200 && text.ends_with("ä…"));
}

#[test]
fn hints_and_waits_follow() {
    let make = || {
        Make::new().errors(
            "{path: reason.text, hints: {404: Use find_pets first., 4XX: Check it., default: Ask the operator.}}",
        )
    };
    assert_eq!(
        said(make(), 404, "application/json", r#"{"reason":{"text":"gone"},"message":"other"}"#),
        "HTTP 404 Not Found: gone\nUse find_pets first."
    );
    assert_eq!(said(make(), 409, "application/json", r#"{"message":"other"}"#), "HTTP 409 Conflict: other\nCheck it.");
    assert_eq!(said(make(), 500, "", ""), "HTTP 500 Internal Server Error\nAsk the operator.");
    let busy = header(answer(429, "text/plain", "slow down"), "retry-after", "30");
    assert_eq!(
        spoken(&content_of(&Make::new().tool(), &busy)),
        ["HTTP 429 Too Many Requests: slow down\nTry again in 30 seconds."]
    );
    assert!(said(Make::new(), 401, "", "").contains("did not accept the credential"));
    assert!(said(Make::new(), 403, "", "").contains("may not do this"));
}

#[test]
fn the_mapping_decides_what_success_is() {
    let tool = Make::new().success("[200-299, 404]").tool();
    assert!(!content_of(&tool, &answer(404, "application/json", "{}")).is_error);
    let tool = Make::new().success("[201]").tool();
    assert!(content_of(&tool, &answer(200, "application/json", "{}")).is_error);
}

#[test]
fn redirects_never_name_another_address() {
    for (location, text) in [
        (Some("/v1/other?x=1"), "HTTP 302 Found: redirect to `/v1/other?x=1`, not followed"),
        (Some("http://orders.internal.corp:8443/v2"), "HTTP 302 Found: redirect to `/v2`, not followed"),
        (
            Some("https://login.internal.corp/sso?token=abc"),
            "HTTP 302 Found: redirect to another address, not followed",
        ),
        (Some("//evil.example/x"), "HTTP 302 Found: redirect to another address, not followed"),
        (None, "HTTP 302 Found: redirect without an address"),
    ] {
        let response = answer(302, "text/html", "<a href='https://login.internal.corp/sso'>moved</a>");
        let response = match location {
            Some(location) => header(response, "location", location),
            None => response,
        };
        let content = content_of(&Make::new().tool(), &response);
        assert_eq!((content.is_error, spoken(&content)), (true, vec![text.to_owned()]));
    }
}

#[test]
fn failures_without_an_answer_are_true_short_and_name_no_host() {
    let secret = || "tcp connect error: 10.1.2.3:8443 orders.internal.corp".to_owned();
    let seconds = Duration::from_secs;
    let cases = [
        (NoAnswer::Connect(secret()), "Nothing was sent"),
        (NoAnswer::Dns(secret()), "does not resolve"),
        (NoAnswer::Tls(secret()), "TLS"),
        (NoAnswer::Timeout(TimeoutKind::Connect, seconds(5)), "no connection within 5 seconds. Nothing was sent"),
        (
            NoAnswer::Timeout(TimeoutKind::FirstByte, Duration::from_millis(1500)),
            "did not begin to answer within 1.5 seconds",
        ),
        (NoAnswer::Timeout(TimeoutKind::Total, seconds(120)), "time limit of 2 minutes"),
        (NoAnswer::Broken(secret()), "broke before"),
        (NoAnswer::Body(secret()), "can't be decoded"),
        (NoAnswer::Forbidden(secret()), "not allowed"),
        (NoAnswer::CircuitOpen(Duration::from_millis(2400)), "try again in 3 seconds"),
        (NoAnswer::Busy(Duration::from_millis(10)), "try again in 1 second."),
        (NoAnswer::Credential("api_key".to_owned()), "`api_key`"),
        (NoAnswer::Cancelled, "cancelled"),
    ];
    for (failure, part) in cases {
        let content = from_no_answer(&failure, "abc123", true);
        let text = spoken(&content).remove(0);
        assert!(content.is_error && text.contains(part), "{text}");
        assert!(!text.contains("10.1.2.3") && !text.contains("internal.corp") && text.len() < 250, "{text}");
    }
    let lost = NoAnswer::Broken(String::new());
    assert!(
        spoken(&from_no_answer(&lost, "abc123", false))[0]
            .contains("is unknown: check before you repeat it. (reference abc123)")
    );
    assert!(!spoken(&from_no_answer(&lost, "abc123", true))[0].contains("unknown"));
}

#[test]
fn refused_arguments_are_all_told() {
    let refusal = Refusal {
        problems: vec![
            Problem {
                argument: "petid".into(),
                message: "unknown argument".into(),
                hint: Some("did you mean `id`?".into()),
            },
            Problem { argument: "page".into(), message: "expected integer, got string.".into(), hint: None },
            Problem { argument: String::new(), message: "`id` is missing".into(), hint: None },
        ],
        legal: Vec::new(),
    };
    let text = spoken(&from_refusal(&Make::new().tool(), &refusal)).remove(0);
    for part in ["`get_order`", "petid", "did you mean `id`?", "expected integer, got string", "`id` is missing"] {
        assert!(text.contains(part), "{text}");
    }
    let unsendable = Unsendable { argument: Some("token".into()), message: "a header can't hold a line break.".into() };
    assert_eq!(
        spoken(&from_unsendable(&unsendable)),
        ["The request can't be sent: `token`: a header can't hold a line break"]
    );
}
