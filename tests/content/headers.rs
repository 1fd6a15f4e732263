//! Header fields of answers, by their RFCs.

use super::{answer, header};
use rest_mcp::response::MediaType;
use std::time::Duration;

#[test]
fn media_types_are_read_as_rfc_9110_writes_them() {
    for (text, essence, charset) in [
        ("text/html;charset=utf-8", "text/html", Some("utf-8")),
        ("Text/HTML;Charset=\"utf-8\"", "text/html", Some("utf-8")),
        ("text/html; charset=\"ut\\f-8\"", "text/html", Some("utf-8")),
        ("text/plain; a=\"x;charset=no\"; charset=iso-8859-1 ; b=c", "text/plain", Some("iso-8859-1")),
        ("application/json;", "application/json", None),
        ("application/json; flag; charset=utf-8", "application/json", Some("utf-8")),
    ] {
        let parsed = MediaType::parse(text).unwrap();
        assert_eq!((&*parsed.essence, parsed.charset().as_deref()), (essence, charset), "{text}");
    }
    for text in ["", "text", "/html", "text/", "te xt/html"] {
        assert!(MediaType::parse(text).is_none(), "{text}");
    }
}

#[test]
fn the_next_page_is_found_in_link_headers() {
    for (value, next) in [
        (
            "<https://a.example/p?page=2>; rel=\"next\", <https://a.example/p?page=9>; rel=\"last\"",
            Some("https://a.example/p?page=2"),
        ),
        ("</first>; rel=first, </p?a=1,2&b=%3E>; title=\"a, <b>; rel=next\"; rel=next", Some("/p?a=1,2&b=%3E")),
        ("<a>; rel=\"prev Next\"", Some("a")),
        ("<a>; rel=\"nextish\"", None),
        ("a; rel=next", None),
        ("<a; rel=next", None),
    ] {
        assert_eq!(header(answer(200, "", ""), "link", value).link_next(), next, "{value}");
    }
    let two = header(header(answer(200, "", ""), "link", "<a>; rel=prev"), "link", "<b>; rel=next");
    assert_eq!(two.link_next(), Some("b"));
}

#[test]
fn retry_after_is_seconds_or_a_date_against_the_answers_own_date() {
    let retry = |value: &str, date: Option<&str>| {
        let response = header(answer(503, "", ""), "retry-after", value);
        match date {
            Some(date) => header(response, "date", date),
            None => response,
        }
        .retry_after()
    };
    assert_eq!(retry("120", None), Some(Duration::from_secs(120)));
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    for later in ["Sun, 06 Nov 1994 08:51:37 GMT", "Sunday, 06-Nov-94 08:51:37 GMT", "Sun Nov  6 08:51:37 1994"] {
        assert_eq!(retry(later, Some(date)), Some(Duration::from_secs(120)), "{later}");
    }
    assert_eq!(
        retry("Tue, 29 Feb 2000 00:00:00 GMT", Some("Mon, 28 Feb 2000 00:00:00 GMT")),
        Some(Duration::from_secs(86_400))
    );
    assert_eq!(
        retry("Wed, 01 Mar 2000 00:00:00 GMT", Some("Mon, 28 Feb 2000 00:00:00 GMT")),
        Some(Duration::from_secs(2 * 86_400))
    );
    assert_eq!(retry("Sat, 05 Nov 1994 08:49:37 GMT", Some(date)), Some(Duration::ZERO));
    assert_eq!(retry("Sun, 06 Nov 1994 08:51:37 GMT", None), None);
    assert_eq!(retry("soon", Some(date)), None);
    assert_eq!(retry("-5", Some(date)), None);
}

#[test]
fn freshness_follows_cache_control() {
    for (value, age) in [
        ("max-age=60", Some(60)),
        ("public, MAX-AGE=\"60\"", Some(60)),
        ("max-age=60, no-store", Some(0)),
        ("no-cache", Some(0)),
        ("private", None),
    ] {
        assert_eq!(
            header(answer(200, "", ""), "cache-control", value).max_age(),
            age.map(Duration::from_secs),
            "{value}"
        );
    }
    let aged = header(header(answer(200, "", ""), "cache-control", "max-age=60"), "age", "45");
    assert_eq!(aged.max_age(), Some(Duration::from_secs(15)));
}

#[test]
fn file_names_never_carry_a_folder() {
    for (value, name) in [
        ("attachment; filename=\"a.pdf\"", Some("a.pdf")),
        ("attachment; filename=a.pdf", Some("a.pdf")),
        ("attachment; filename=\"old.pdf\"; filename*=UTF-8''%e2%82%ac%20rates.pdf", Some("€ rates.pdf")),
        ("attachment; filename=\"..\\\\..\\\\x.exe\"", Some("x.exe")),
        ("attachment; filename=\"../../etc/passwd\"", Some("passwd")),
        ("attachment; filename=\"/\"", None),
        ("inline", None),
    ] {
        assert_eq!(header(answer(200, "", ""), "content-disposition", value).file_name().as_deref(), name, "{value}");
    }
}
