use rest_mcp::config::{self, Anonymous, AuditArguments, Config, LogFormat, ProcessEnvironment};
use rest_mcp::mapping::Environment;

fn read(text: &str) -> Config {
    let (config, report) = config::read(&super::document(text));
    config.unwrap_or_else(|| panic!("{}", report.render(false)))
}

#[test]
fn the_settings_of_the_reference_are_read() {
    let config = read(
        r#"
version: 1
mappings: [mappings/*.yaml]
listen: 127.0.0.1:8080
tls: { cert: cert.pem, key: "${env:KEY_FILE}", client_ca: ca.pem }
transports: { streamable_http: /mcp, sse: /sse, websocket: /ws }
legacy_sessions: { enabled: true, idle: 30m, max: 10000 }
state_key: ${env:REST_MCP_STATE_KEY}
origins: [https://app.example]
hosts: [mcp.example]
access:
  api_keys: [ { name: ci, key_hash: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", tenant: acme, scopes: [read] } ]
  jwt: { issuer: https://auth.example, audience: https://mcp.example/mcp, jwks: https://auth.example/keys, tenant_claim: org, scopes_supported: [read] }
  mtls: { tenant: organization }
  anonymous: deny
  tenants: { acme: { allow: [get_*, "tag:pet"], deny: [delete_*], rate: 20/s, credentials: { petstore: { api_key: "${env:ACME_KEY}", oauth: { grant: client_credentials, client_id: a, client_secret: "${env:B}" } } } } }
  policy: { rego: [policies/*.rego], query: data.mcp.allow, timeout: 500ms }
audit: { to: audit.jsonl, arguments: none, rotate: { max_size: 10MiB, keep: 3 } }
telemetry: { metrics: /metrics, otlp: http://127.0.0.1:4317, log: json }
limits: { max_body: 1MiB, in_flight: 100, drain: 5s }
"#,
    );
    assert_eq!(config.transports.sse.as_deref(), Some("/sse"));
    assert_eq!(config.legacy_sessions.idle.0.as_secs(), 1800);
    assert_eq!(config.access.anonymous(), Anonymous::Deny);
    assert_eq!(config.access.tenants["acme"].rate.as_deref(), Some("20/s"));
    assert_eq!(config.audit.unwrap().arguments, AuditArguments::None);
    assert_eq!(config.telemetry.log, LogFormat::Json);
    assert_eq!(config.limits.max_body.0, 1024 * 1024);
}

#[test]
fn without_settings_the_server_is_local_and_open() {
    for config in [Config::default(), read("version: 1\n")] {
        assert_eq!(config.listen.0, "127.0.0.1:8080");
        assert_eq!(config.transports.streamable_http, "/mcp");
        assert!(config.transports.sse.is_none() && config.transports.websocket.is_none());
        assert!(config.access.is_open() && config.access.anonymous() == Anonymous::Allow);
    }
}

#[test]
fn any_access_rule_closes_the_door_for_the_anonymous() {
    let config = read("version: 1\naccess: { jwt: { issuer: https://a.example, audience: b, jwks: keys.json } }\n");
    assert_eq!(config.access.anonymous(), Anonymous::Deny);
    assert!(!config.access.is_open());
    let config = read("version: 1\naccess: { anonymous: deny }\n");
    assert_eq!((config.access.is_open(), config.access.anonymous()), (false, Anonymous::Deny));
}

#[test]
fn an_open_server_must_be_wanted() {
    for (text, refused) in [
        ("version: 1\nlisten: 0.0.0.0:80\n", true),
        ("version: 1\nlisten: '[::]:80'\n", true),
        ("version: 1\nlisten: 0.0.0.0:80\naccess: { anonymous: allow }\n", true),
        ("version: 1\nlisten: 0.0.0.0:80\nallow_public: true\n", false),
        ("version: 1\nlisten: 0.0.0.0:80\naccess: { anonymous: deny }\n", false),
        ("version: 1\nlisten: '[::1]:80'\n", false),
        ("version: 1\nlisten: localhost:80\n", false),
    ] {
        let (config, report) = config::read(&super::document(text));
        assert_eq!(config.is_none(), refused, "{text}{}", report.render(false));
    }
}

#[test]
fn files_are_read_beside_the_mapping_without_their_last_line_break() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("key"), "s3cr3t\r\n").unwrap();
    std::fs::write(folder.path().join("two"), "a\n\n").unwrap();
    std::fs::write(folder.path().join("binary"), [0xff, 0xfe]).unwrap();
    std::fs::write(folder.path().join("huge"), vec![b'x'; 2 << 20]).unwrap();
    let environment = ProcessEnvironment::new(folder.path());
    assert_eq!(environment.file("key").unwrap().expose(), "s3cr3t");
    assert_eq!(environment.file("two").unwrap().expose(), "a\n");
    for (path, reason) in [("nope", "no such file"), ("binary", "not UTF-8"), ("huge", "more than"), (".", "folder")] {
        let error = environment.file(path).unwrap_err();
        assert!(error.contains(reason), "{path}: {error}");
        assert!(!error.contains(folder.path().to_str().unwrap()), "{error}");
    }
    assert_eq!(environment.env("REST_MCP_TEST_SURELY_UNSET"), None);
}
