//! Server URLs: whose, and what they are relative to.

use super::support::{codes, only, read_files, read_text};

fn urls(location: &str, text: &str) -> Vec<String> {
    let (api, _) = read_files(&[(location, text)]);
    only(&api).servers.iter().map(|it| it.url.clone()).collect()
}

#[test]
fn relative_servers_are_resolved_against_the_documents_url() {
    // RFC 3986 §5.2 with the base https://h.example/api/v1/openapi.json
    let cases = [
        ("/v3", "https://h.example/v3"),
        ("v3", "https://h.example/api/v1/v3"),
        ("./v3", "https://h.example/api/v1/v3"),
        ("../v3", "https://h.example/api/v3"),
        ("../../../v3", "https://h.example/v3"),
        (".", "https://h.example/api/v1/"),
        ("", "https://h.example/"),
        ("//o.example/x", "https://o.example/x"),
        ("http://o.example", "http://o.example"),
        ("/{stage}/v3", "https://h.example/{stage}/v3"),
        ("{base}/v3", "{base}/v3"),
        ("{scheme}://o.example/x", "{scheme}://o.example/x"),
    ];
    for (url, expected) in cases {
        let text = format!("openapi: 3.0.0\nservers: [{{ url: '{url}' }}]\npaths: {{ /: {{ get: {{}} }} }}");
        assert_eq!(urls("https://user:pw@h.example/api/v1/openapi.json?t=1", &text), [expected], "{url}");
    }
}

#[test]
fn relative_servers_of_a_file_stay_relative() {
    for (url, expected) in [("/v3", "/v3"), ("", "/"), ("../x", "../x")] {
        let text = format!("openapi: 3.0.0\nservers: [{{ url: '{url}' }}]\npaths: {{ /: {{ get: {{}} }} }}");
        assert_eq!(urls("/specs/a.yaml", &text), [expected]);
    }
    let none = "openapi: 3.0.0\npaths: { /: { get: {} } }";
    assert!(urls("/specs/a.yaml", none).is_empty());
    assert_eq!(urls("https://h.example/x/a.yaml", none), ["https://h.example/"]);
    let own =
        "openapi: 3.2.0\n$self: https://self.example/d/api.yaml\nservers: [{ url: v1 }]\npaths: { /: { get: {} } }";
    assert_eq!(urls("/specs/a.yaml", own), ["https://self.example/d/v1"]);
}

#[test]
fn the_nearest_servers_count() {
    let (api, _) = read_text(
        "openapi: 3.0.0\nservers: [{ url: 'https://root' }]\npaths:\n  /a: { servers: [{ url: 'https://path' }], get: { servers: [{ url: 'https://op', description: d }] }, put: {} }\n  /b: { get: { servers: [] } }",
    );
    let found: Vec<_> = api.operations.iter().map(|it| it.servers[0].url.as_str()).collect();
    assert_eq!(found, ["https://op", "https://path", "https://root"]);
}

#[test]
fn server_variables_with_and_without_defaults() {
    let (api, report) = read_text(
        "openapi: 3.0.0\nservers: [{ url: 'https://{region}.example:{port}/{undeclared}', name: n, variables: { region: { default: eu, enum: [eu, us] }, port: { default: 8443 }, gone: {} } }]\npaths: { /: { get: {} } }",
    );
    let server = &only(&api).servers[0];
    assert_eq!(server.name.as_deref(), Some("n"));
    assert_eq!(server.variables["region"].default.as_deref(), Some("eu"));
    assert_eq!(server.variables["region"].allowed, ["eu", "us"]);
    assert_eq!(server.variables["port"].default.as_deref(), Some("8443"));
    assert_eq!(server.variables["undeclared"].default, None);
    assert_eq!(codes(&report), ["server-variable", "server-variable"]);
}

#[test]
fn host_base_path_and_schemes_of_swagger_2() {
    let cases = [
        (
            "host: h.example, basePath: /v2, schemes: [http, https]",
            "/s.yaml",
            vec!["https://h.example/v2", "http://h.example/v2"],
        ),
        ("host: h.example", "/s.yaml", vec!["https://h.example"]),
        ("host: 'h.example:8080', schemes: [http]", "/s.yaml", vec!["http://h.example:8080"]),
        ("basePath: v2", "/s.yaml", vec!["/v2"]),
        ("basePath: /v2", "http://d.example:81/x/s.yaml", vec!["http://d.example:81/v2"]),
        ("x-a: 1", "/s.yaml", vec![]),
        (
            "basePath: /b, x-ms-parameterized-host: { hostTemplate: '{account}.h.example', parameters: [{ name: account, in: path }] }",
            "/s.yaml",
            vec!["https://{account}.h.example/b"],
        ),
    ];
    for (members, location, expected) in cases {
        let text = format!("{{ swagger: '2.0', {members}, paths: {{ /: {{ get: {{}} }} }} }}");
        assert_eq!(urls(location, &text), expected, "{members}");
    }
}
