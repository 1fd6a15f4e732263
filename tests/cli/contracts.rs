//! `check`, `inspect`, `call --dry-run`, `mock`, `serve`.

use super::{Desk, FILES};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

#[test]
fn a_hostile_path_value_stays_one_segment() {
    let desk = Desk::new(&[("files.yaml", FILES)]);
    let cases =
        [("../../admin?x=1#y", "..%2F..%2Fadmin%3Fx%3D1%23y"), ("%2e%2e/", "%252e%252e%2F"), ("a b/c", "a%20b%2Fc")];
    for (value, segment) in cases {
        let arguments = serde_json::json!({ "name": value }).to_string();
        let ran = desk.run(&["call", "getFile", "files.yaml", "--args", &arguments, "--dry-run"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let first = ran.out.lines().next().unwrap();
        assert_eq!(first, format!("GET /v1/files/{segment} HTTP/1.1"));
        assert!(ran.out.contains("host: files.example\n"), "{}", ran.out);
        assert!(
            ran.out.contains(&format!("curl --path-as-is https://files.example/v1/files/{segment} "))
                || ran.out.contains(&format!("curl https://files.example/v1/files/{segment} ")),
            "{}",
            ran.out
        );
    }
}

#[test]
fn a_value_that_is_a_dot_segment_is_refused() {
    let desk = Desk::new(&[("files.yaml", FILES)]);
    let ran = desk.run(&["call", "getFile", "files.yaml", "--args", r#"{"name": ".."}"#, "--dry-run"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains(r#""isError":true"#) && ran.out.contains("name"), "{}", ran.out);
}

#[test]
fn check_shows_place_excerpt_caret_and_way_out() {
    let desk = Desk::new(&[
        ("files.yaml", FILES),
        (
            "map.yaml",
            "version: 1\nsources:\n  files: { spec: files.yaml }\ntools:\n  get_file:\n    operatoin: getFile\n",
        ),
    ]);
    let ran = desk.run(&["check", "map.yaml"]);
    assert_eq!(ran.code, 2, "nothing usable is left: {}", ran.err);
    assert!(ran.err.contains("map.yaml:6:5"), "{}", ran.err);
    assert!(ran.err.contains("operatoin: getFile\n") && ran.err.contains("^^^^^^^^^"), "{}", ran.err);
    assert!(ran.err.contains("`operation`"), "{}", ran.err);
}

#[test]
fn check_exits_0_1_or_2() {
    let good = FILES.replace("#/components/parameters/none", "#/components/parameters/one").replace(
        "components:\n",
        "components:\n  parameters: { one: { name: x, in: query, schema: { type: string } } }\n",
    );
    let desk = Desk::new(&[("files.yaml", FILES), ("good.yaml", &good), ("other.yaml", "a: 1\n")]);
    assert_eq!(desk.run(&["check", "good.yaml"]).code, 0);
    assert_eq!(desk.run(&["check", "files.yaml"]).code, 0, "a bad operation costs itself");
    let bad = desk.run(&["check", "files.yaml", "--strict"]);
    assert_eq!(bad.code, 1, "{}{}", bad.out, bad.err);
    assert!(bad.err.contains("files.yaml:29:"), "{}", bad.err);
    assert_eq!(desk.run(&["check", "other.yaml"]).code, 2);
    assert_eq!(desk.run(&["check", "absent.yaml"]).code, 2);
    assert_eq!(desk.run(&["check", "--no-such-flag"]).code, 2);
}

#[test]
fn check_as_json_is_one_object_with_places() {
    let desk = Desk::new(&[("files.yaml", FILES)]);
    let ran = desk.run(&["check", "files.yaml", "--json"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["tools"], 3);
    assert_eq!(report["operations"], 4);
    assert_eq!(report["skipped"][0]["operationId"], "bad");
    let first = &report["diagnostics"][0];
    assert_eq!((first["file"].as_str(), first["line"].as_u64()), (Some("files.yaml"), Some(29)), "{first}");
    assert!(first["code"].is_string() && first["message"].is_string() && first["column"].is_u64());
}

#[test]
fn inspect_tells_of_each_operation_what_a_call_needs() {
    let desk = Desk::new(&[("files.yaml", FILES)]);
    let ran = desk.run(&["inspect", "files.yaml"]);
    for wanted in [
        "tool  getFile  (about ",
        "operation: GET /files/{name} (getFile) of files",
        "request: GET https://files.example/v1/files/{name}",
        "name -> path `name`, required",
        "rev -> query `rev`",
        "credential: key (missing: set FILES_KEY)",
        "no tool  GET /bad (bad): ",
        "3 tools, 1 skipped; ",
    ] {
        assert!(ran.out.contains(wanted), "`{wanted}` is not in:\n{}", ran.out);
    }
    let set = desk.with("FILES_KEY", "k").run(&["inspect", "files.yaml", "--tool", "listFiles"]);
    assert!(set.out.contains("credential: key (set)"), "{}", set.out);
    assert!(set.out.contains("input schema: {"), "{}", set.out);
}

#[test]
fn a_call_without_its_credential_is_refused_not_sent() {
    let desk = Desk::new(&[("files.yaml", FILES)]);
    let ran = desk.run(&["call", "listFiles", "files.yaml", "--dry-run"]);
    assert_eq!(ran.code, 1);
    assert!(!ran.out.contains("HTTP/1.1"), "{}", ran.out);
}

#[test]
fn an_unknown_tool_gets_the_nearest_name() {
    let desk = Desk::new(&[("files.yaml", FILES)]);
    let ran = desk.run(&["call", "getFiel", "files.yaml"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("`getFile`"), "{}", ran.err);
}

/// A started program; it ends with the test.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the program and reads standard error up to a line that holds `mark`.
fn started(desk: &Desk, arguments: &[&str], mark: &str) -> (Running, String) {
    let mut command = desk.command(arguments);
    let mut running =
        Running(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(running.0.stderr.take().unwrap()).lines();
    let mut seen = String::new();
    while !seen.contains(mark) {
        let line = lines.next().unwrap_or_else(|| panic!("ended before `{mark}`:\n{seen}")).unwrap();
        seen.push_str(&line);
        seen.push('\n');
    }
    std::thread::spawn(move || lines.for_each(drop));
    (running, seen)
}

fn address(text: &str) -> String {
    let after = text.rsplit_once("http://").unwrap().1;
    after.split(['/', ' ', '\n', ',']).next().unwrap().to_owned()
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn mock_answers_from_the_documents_examples() {
    let desk = Desk::new(&[("files.yaml", FILES)]);
    let (_mock, banner) = started(&desk, &["mock", "files.yaml", "--listen", "127.0.0.1:0"], "http://");
    let answer = get(&address(&banner), "/v1/files");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with(r#"["a","b"]"#), "{answer}");
}

#[test]
fn serve_says_on_standard_error_what_it_loaded() {
    let desk = Desk::new(&[("files.yaml", FILES)]);
    let arguments = ["serve", "files.yaml", "--mock", "--listen", "127.0.0.1:0"];
    let (mut serving, banner) = started(&desk, &arguments, "/mcp");
    for wanted in ["source files: 3 tools, 1 operations skipped", "3 tools, ", " tokens", "http://127.0.0.1:"] {
        assert!(banner.contains(wanted), "`{wanted}` is not in:\n{banner}");
    }
    serving.0.kill().unwrap();
    let mut out = String::new();
    serving.0.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(out, "", "nothing but protocol goes to standard output");
}

#[test]
fn a_server_without_a_host_says_what_the_base_url_must_end_with() {
    let engine = "openapi: 3.0.3\ninfo: { title: Engine, version: '1' }\nservers: [{ url: /v1.56 }]\npaths: { /info: { get: { operationId: info, responses: { '200': { description: Facts. } } } } }\n";
    let desk = Desk::new(&[("engine.yaml", engine)]);
    let told = desk.run(&["check", "engine.yaml"]);
    let text = format!("{}{}", told.out, told.err);
    assert!(text.contains("it ends in `/v1.56`, such as `http://localhost:8080/v1.56`"), "{text}");
    let shown = desk.run(&["inspect", "engine.yaml", "--base-url", "http://localhost:8080/v1.56"]).out;
    assert!(shown.contains("request: GET http://localhost:8080/v1.56/info"), "{shown}");
}

#[test]
fn an_operation_with_a_server_of_its_own_keeps_its_place_beside_the_base_url() {
    // InfluxDB: everything under /api/v2, but for what stands at the root. What is given stands for the first server.
    let describe = |servers: &str, own: &str| {
        format!(
            "openapi: 3.0.3\ninfo: {{ title: Engine, version: '1' }}\n{servers}paths:\n  /write: {{ post: {{ operationId: write }} }}\n  /ping: {{ servers: [{{ url: '{own}' }}], get: {{ operationId: ping }} }}\n"
        )
    };
    let rows = [
        // Relative to the document, RFC 3986 §5.2; the document came from a file.
        ("servers: [{ url: /api/v2 }]\n", "/", "http://h.example/api/v2", "http://h.example/ping"),
        ("servers: [{ url: /api/v2/ }]\n", "/v3", "http://h.example/gate/api/v2", "http://h.example/gate/v3/ping"),
        ("", "/v3", "http://h.example:81", "http://h.example:81/v3/ping"),
        // On one origin, with variables.
        (
            "servers: [{ url: 'https://{region}.example/v1', variables: { region: { default: eu } } }]\n",
            "https://eu.example/v2",
            "http://h.example/v1/",
            "http://h.example/v2/ping",
        ),
        // Nobody can say where these are beside what is given: it replaces them.
        (
            "servers: [{ url: 'https://a.example/v1' }]\n",
            "https://b.example/v2",
            "http://h.example/v1",
            "http://h.example/v1/ping",
        ),
        ("servers: [{ url: /api/v2 }]\n", "/", "http://h.example", "http://h.example/ping"),
        ("servers: [{ url: /api/v2 }]\n", "/v3", "http://h.example/other", "http://h.example/other/ping"),
        ("servers: [{ url: /h.example }]\n", "/v3", "http://h.example", "http://h.example/ping"),
    ];
    for (servers, own, given, expected) in rows {
        let desk = Desk::new(&[("engine.yaml", &describe(servers, own))]);
        let shown = desk.run(&["inspect", "engine.yaml", "--base-url", given]).out;
        assert!(shown.contains(&format!("request: GET {expected}\n")), "{servers}{own} with {given}: {shown}");
        let main = format!("request: POST {}/write\n", given.trim_end_matches('/'));
        assert!(shown.contains(&main), "{shown}");
    }
}
