//! `doctor` against APIs on this machine.

use super::{Desk, FILES};
use std::io::{Read, Write};
use std::net::TcpListener;

/// Answers every request with this status until the process ends; gives its address.
fn answering(status: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            std::thread::spawn(move || {
                let mut head = [0; 4096];
                if stream.read(&mut head).is_ok_and(|length| length > 0) {
                    let _ = write!(
                        stream,
                        "HTTP/1.1 {status}\r\ncontent-length: 2\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n[]"
                    );
                }
            });
        }
    });
    address
}

fn doctor(status: Option<&'static str>, key: Option<&str>) -> super::Ran {
    let address = match status {
        Some(status) => answering(status),
        None => {
            // Bound and let go: nothing listens there.
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap().to_string()
        }
    };
    let mut desk = Desk::new(&[("files.yaml", FILES)]);
    if let Some(key) = key {
        desk = desk.with("FILES_KEY", key);
    }
    desk.run(&["doctor", "files.yaml", "--base-url", &format!("http://{address}/v1")])
}

#[test]
fn an_api_that_works_passes() {
    let ran = doctor(Some("200 OK"), Some("k"));
    // The document itself has a problem, which is reported too.
    assert!(ran.out.ends_with("all well\n"), "{}", ran.out);
    assert!(ran.out.contains("ok    GET /files (listFiles): status 200"), "{}", ran.out);
    assert!(ran.out.contains("ok    credential: `key` is set"), "{}", ran.out);
}

#[test]
fn a_refused_connection_is_named() {
    let ran = doctor(None, Some("k"));
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("FAIL  connection: port"), "{}", ran.out);
}

#[test]
fn a_missing_credential_names_its_variable() {
    let ran = doctor(Some("200 OK"), None);
    assert_eq!(ran.code, 1);
    assert!(
        ran.out.contains("FAIL  credential: `key` is not set; 2 tools are refused until it is\n        set FILES_KEY"),
        "{}",
        ran.out
    );
}

#[test]
fn a_credential_that_is_not_accepted_is_not_shown() {
    let ran = doctor(Some("401 Unauthorized"), Some("wrong-key-0815"));
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("status 401: the credential is not accepted"), "{}", ran.out);
    assert!(!ran.out.contains("wrong-key-0815") && !ran.err.contains("wrong-key-0815"));
}

#[test]
fn the_settings_name_what_is_probed() {
    let address = answering("200 OK");
    let desk = Desk::new(&[
        ("specs/files.yaml", FILES),
        (
            "maps/a.yaml",
            &format!(
                "version: 1\nsources: {{ files: {{ spec: ../specs/files.yaml, base_url: \"http://{address}\" }} }}\n"
            ),
        ),
        ("rest-mcp.yaml", "version: 1\nmappings: [\"maps/*.yaml\"]\n"),
    ])
    .with("FILES_KEY", "k");
    let ran = desk.run(&["doctor", "--config", "rest-mcp.yaml"]);
    assert!(ran.out.contains("source files\n") && ran.out.ends_with("all well\n"), "{}{}", ran.out, ran.err);
}
