//! The audit trail: what is written, what is not, and what happens when it can't be.

use rest_mcp::access::Caller;
use rest_mcp::audit::{ArgumentsMode, Audit, Event, Settings, Target, Who};
use rest_mcp::secret::Secret;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::time::Duration;

fn start(path: &Path, arguments: ArgumentsMode, max_bytes: u64, keep: u32) -> Audit {
    let target = Target::File { path: path.to_owned(), max_bytes, keep };
    Audit::start(Settings { target, arguments, redact: vec!["pet-*".to_owned()] }).unwrap()
}

fn lines(path: &Path) -> Vec<Value> {
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn caller() -> Caller {
    Caller {
        subject: Some("ann".into()),
        tenant: Some("acme".into()),
        token: Some(Secret::new("t0ken")),
        ..Caller::default()
    }
}

fn who(caller: &Caller) -> Who<'_> {
    Who {
        caller: Some(caller),
        request_id: "r-1",
        trace_id: Some("4bf92f3577b34da6a3ce929d0e0e4736"),
        transport: "http",
    }
}

fn call(arguments: &Map<String, Value>) -> Event<'_> {
    Event::Call {
        method: "tools/call",
        name: "get_pet",
        arguments: Some(arguments),
        outcome: "ok",
        status: Some(200),
        error: None,
        duration: Duration::from_micros(1500),
    }
}

#[test]
fn each_event_is_one_line_with_the_same_identity() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.log");
    let (audit, caller) = (start(&path, ArgumentsMode::Redacted, u64::MAX, 1), caller());
    let arguments = Map::from_iter([("id".to_owned(), json!(7)), ("note".to_owned(), json!("two\nlines"))]);
    let events = [
        Event::Start { method: "initialize", client: Some(("cli", "1")), protocol_version: "2025-11-25" },
        Event::List { count: 3 },
        call(&arguments),
        Event::Denied { method: Some("tools/call"), name: Some("purge"), reason: "hidden", status: None },
    ];
    for event in events {
        audit.record(who(&caller), event);
    }
    let stranger = Who { caller: None, request_id: "r-2", trace_id: None, transport: "http" };
    audit.record(stranger, Event::Denied { method: None, name: None, reason: "no_credential", status: Some(401) });
    assert!(audit.flush(Duration::from_secs(10)));
    let lines = lines(&path);
    assert_eq!(lines.len(), 5);
    for line in &lines[..4] {
        assert_eq!(line["request_id"], "r-1");
        assert_eq!(line["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!((&line["subject"], &line["tenant"]), (&json!("ann"), &json!("acme")));
        let time = line["time"].as_str().unwrap();
        assert!(time.len() == 24 && time.starts_with("20") && time.ends_with('Z'), "{time}");
    }
    assert_eq!((&lines[0]["audit"], &lines[0]["client"]), (&json!("start"), &json!("cli")));
    assert_eq!((&lines[1]["audit"], &lines[1]["count"]), (&json!("tools_list"), &json!(3)));
    assert_eq!(
        (&lines[2]["audit"], &lines[2]["status"], &lines[2]["duration_ms"]),
        (&json!("call"), &json!(200), &json!(1.5))
    );
    assert_eq!(lines[2]["arguments"], json!({"id": 7, "note": "two\nlines"}));
    assert_eq!((&lines[3]["audit"], &lines[3]["reason"]), (&json!("denied"), &json!("hidden")));
    assert_eq!((&lines[4]["reason"], lines[4].get("subject")), (&json!("no_credential"), None));
    assert!(!std::fs::read_to_string(&path).unwrap().contains("t0ken"));
}

#[test]
fn arguments_are_redacted_by_name_and_by_form() {
    let arguments = json!({
        "id": 7,
        "password": "p1",
        "newPassWord": {"deep": "p2"},
        "X-Api-Key": ["p3"],
        "user": {"name": "Ann", "access_token": "p4", "list": [{"client-secret": "p5"}]},
        "pet_name": "p6",
        "header": "Bearer p7",
        "jwt_like": "eyJhbGciOiJub25lIn0.eyJzdWIiOiJwOCJ9.",
        "odd": "eyJhbGciOiJub25lIn0.eyJzdWIiOiJwOCJ9.p8",
        "url": "postgres://ann:p9@db/x",
        "key_file": "-----BEGIN PRIVATE KEY-----p10",
        "plain": "eyJust text",
        "mail": "mailto:ann@acme.test",
        "long": "x".repeat(300),
    });
    let folder = tempfile::tempdir().unwrap();
    let caller = caller();
    let written = |mode: ArgumentsMode, name: &str| {
        let path = folder.path().join(name);
        let audit = start(&path, mode, u64::MAX, 1);
        audit.record(who(&caller), call(arguments.as_object().unwrap()));
        drop(audit);
        lines(&path).remove(0)
    };
    let redacted = &written(ArgumentsMode::Redacted, "redacted")["arguments"];
    let text = redacted.to_string();
    for secret in 1..=10 {
        assert!(!text.contains(&format!("p{secret}\"")), "p{secret}: {text}");
    }
    assert!(!text.contains("eyJz") && !text.contains("p10") && !text.contains("p9@"), "{text}");
    assert_eq!(redacted["id"], 7);
    assert_eq!(redacted["user"]["name"], "Ann");
    assert_eq!((&redacted["plain"], &redacted["mail"]), (&json!("eyJust text"), &json!("mailto:ann@acme.test")));
    assert!(redacted["long"].as_str().unwrap().ends_with("… (300 bytes)"), "{text}");
    assert_eq!(written(ArgumentsMode::Full, "full")["arguments"], arguments);
    assert!(written(ArgumentsMode::None, "none").get("arguments").is_none());
}

#[test]
fn arguments_of_any_size_and_depth_make_a_short_line() {
    let mut deep = json!("bottom");
    for _ in 0..100 {
        deep = json!({"x": [deep]});
    }
    let mut wide = Map::new();
    for number in 0..10_000 {
        wide.insert(format!("n{number}"), json!(vec![number; 100]));
    }
    let arguments = Map::from_iter([("deep".to_owned(), deep), ("wide".to_owned(), Value::Object(wide))]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.log");
    let audit = start(&path, ArgumentsMode::Redacted, u64::MAX, 1);
    audit.record(who(&caller()), call(&arguments));
    drop(audit);
    assert!(std::fs::metadata(&path).unwrap().len() < 100_000);
    assert_eq!(lines(&path).len(), 1);
}

#[test]
fn a_file_is_rotated_by_size_and_no_line_is_lost_or_split() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.log");
    let audit = start(&path, ArgumentsMode::None, 1000, 3);
    let caller = caller();
    for count in 0..12 {
        audit.record(who(&caller), Event::List { count });
    }
    drop(audit);
    let mut counts = Vec::new();
    for name in ["audit.log.3", "audit.log.2", "audit.log.1", "audit.log"] {
        let file = folder.path().join(name);
        if file.exists() {
            assert!(std::fs::metadata(&file).unwrap().len() <= 1000);
            counts.extend(lines(&file).iter().map(|line| line["count"].as_u64().unwrap()));
        }
    }
    assert_eq!(counts, (0..12).collect::<Vec<u64>>());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    // More rotations than files are kept: the oldest go.
    let audit = start(&path, ArgumentsMode::None, 200, 3);
    for count in 0..12 {
        audit.record(who(&caller), Event::List { count });
    }
    drop(audit);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
}

#[test]
fn a_trail_that_can_t_be_opened_stops_the_start() {
    let target = Target::File { path: "/nonexistent/audit.log".into(), max_bytes: 1, keep: 1 };
    assert!(Audit::start(Settings { target, arguments: ArgumentsMode::None, redact: Vec::new() }).is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn events_that_can_t_be_written_block_nobody() {
    let target = Target::File { path: "/dev/full".into(), max_bytes: u64::MAX, keep: 1 };
    let audit = Audit::start(Settings { target, arguments: ArgumentsMode::None, redact: Vec::new() }).unwrap();
    let caller = caller();
    for count in 0..20_000 {
        audit.record(who(&caller), Event::List { count });
    }
    assert!(audit.flush(Duration::from_secs(30)));
}

#[tokio::test]
async fn every_refusal_at_the_door_is_written_down_and_says_nothing_outside() {
    use rest_mcp::transport::Authenticator as _;
    use rest_mcp::transport::identity::door::Door;
    use rest_mcp::transport::identity::{Authenticator, Settings as Identity};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.log");
    let audit = std::sync::Arc::new(start(&path, ArgumentsMode::None, u64::MAX, 1));
    let keys = Identity { api_keys: vec![super::identity::key("ci", "s3cret")], ..Identity::default() };
    let door = Door::new(std::sync::Arc::new(Authenticator::new(keys).unwrap()), audit.clone());
    let present = |value: &str| super::identity::headers(&[("authorization", value)]);
    assert_eq!(door.authenticate(&present("Bearer s3cret"), None).await.unwrap().subject.as_deref(), Some("ci"));
    let mut outside = Vec::new();
    for value in ["Bearer wr0ng", "Bearer other", "Basic wr0ng"] {
        let denied = door.authenticate(&present(value), None).await.unwrap_err();
        outside.push((denied.status, denied.www_authenticate, denied.body));
    }
    outside.dedup();
    assert_eq!(outside.len(), 1, "{outside:?}");
    assert!(audit.flush(Duration::from_secs(10)));
    let reasons: Vec<_> = lines(&path).iter().map(|line| line["reason"].clone()).collect();
    assert_eq!(reasons, ["unknown_key", "unknown_key", "other_scheme"]);
    assert!(!std::fs::read_to_string(&path).unwrap().contains("wr0ng"));
}
