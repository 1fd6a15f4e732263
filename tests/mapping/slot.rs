use rest_mcp::mapping::{CallerValue, Environment, Resolved, Slot};
use rest_mcp::secret::Secret;
use std::collections::HashMap;

struct Fake(HashMap<&'static str, &'static str>);

impl Environment for Fake {
    fn env(&self, name: &str) -> Option<Secret> {
        self.0.get(name).map(|value| Secret::new(*value))
    }
    fn file(&self, path: &str) -> Result<Secret, String> {
        self.0.get(path).map(|value| Secret::new(*value)).ok_or_else(|| "there is no such file".to_owned())
    }
}

fn fake() -> Fake {
    Fake(HashMap::from([("KEY", "k3y"), ("EMPTY", ""), ("NESTED", "${env:KEY}"), ("secrets/pw", "p4ss")]))
}

fn slot(text: &str) -> Slot {
    Slot(text.to_owned())
}

#[test]
fn what_comes_from_outside_is_secret_and_what_is_written_is_not() {
    let plain = |text: &str| Resolved::Plain(text.to_owned());
    let secret = |text: &str| Resolved::Secret(Secret::new(text));
    for (text, wanted) in [
        ("as is", plain("as is")),
        ("", plain("")),
        ("${env:KEY}", secret("k3y")),
        ("Token ${env:KEY}!", secret("Token k3y!")),
        ("${file:secrets/pw}", secret("p4ss")),
        ("${env:UNSET:-fallback}", plain("fallback")),
        ("${env:UNSET:-}", plain("")),
        ("${env:EMPTY:-fallback}", plain("fallback")),
        ("${env:KEY:-fallback}", secret("k3y")),
        ("https://${env:UNSET:-a:b}/v1", plain("https://a:b/v1")),
        ("$${env:KEY}", plain("${env:KEY}")),
        ("a$$b $5 {x}", plain("a$$b $5 {x}")),
        ("$$${env:KEY}", plain("$${env:KEY}")),
        // A value is never read again.
        ("${env:NESTED}", secret("${env:KEY}")),
    ] {
        assert_eq!(slot(text).resolve(&fake()), Ok(wanted), "{text}");
    }
}

#[test]
fn everything_missing_is_named_at_once_without_contents() {
    let error = slot("${env:A}${env:EMPTY}${file:nope}${env:KEY}").resolve(&fake()).unwrap_err();
    assert_eq!(
        error.missing,
        [
            "environment variable `A` is not set",
            "environment variable `EMPTY` is not set",
            "file `nope`: there is no such file"
        ]
    );
    assert!(!error.to_string().contains("k3y"));
}

#[test]
fn an_address_from_the_environment_can_be_shown() {
    assert_eq!(slot("https://${env:KEY}.example").resolve_public(&fake()).as_deref(), Ok("https://k3y.example"));
}

#[test]
fn a_resolved_secret_never_prints() {
    let resolved = slot("${env:KEY}").resolve(&fake()).unwrap();
    assert!(!format!("{resolved:?}").contains("k3y"));
}

#[test]
fn wanted_lists_what_has_no_default() {
    assert_eq!(slot("${env:A} ${env:B:-x} ${file:c}").wanted(), ["A", "file c"]);
    assert!(slot("${env:A}").wanted() == ["A"] && slot("text").is_literal() && !slot("${env:A:-b}").is_literal());
}

#[test]
fn values_of_the_caller() {
    for (text, wanted) in [
        ("${caller:claims.org.id}", Some(CallerValue::Claim(vec!["org".to_owned(), "id".to_owned()]))),
        ("${caller:header.X-Tenant}", Some(CallerValue::Header("x-tenant".to_owned()))),
        ("${caller:tenant}", Some(CallerValue::Tenant)),
        ("${caller:subject}", Some(CallerValue::Subject)),
        ("${caller:claims.}", None),
        ("${caller:claims}", None),
        ("${caller:header.a b}", None),
        ("x${caller:tenant}", None),
        ("${env:A}", None),
        ("text", None),
    ] {
        assert_eq!(slot(text).caller(), wanted, "{text}");
    }
}
