//! The decision procedure of the HTTP endpoint: the first line of the input are headers, separated by `|` and begun by
//! the method; the rest is the body. Every request gets a well-formed status line, and the next one too.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rest_mcp::transport::{Settings, serve_http};
use std::cell::RefCell;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

thread_local! {
    static SITE: RefCell<(Runtime, SocketAddr)> = RefCell::new(start());
}

fn start() -> (Runtime, SocketAddr) {
    let runtime = Builder::new_current_thread().enable_all().build().expect("runtime");
    let address = runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(serve_http(listener, common::double::server(), Settings::default(), CancellationToken::new()));
        address
    });
    (runtime, address)
}

fn request(input: &[u8], address: SocketAddr) -> Vec<u8> {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (head, body) = input.split_at(end);
    let body = body.get(1..).unwrap_or_default();
    // A line break would end the head: that is not what is fuzzed.
    let head = String::from_utf8_lossy(head).replace(['\r', '\0'], " ");
    let mut parts = head.split('|');
    let method = match parts.next() {
        Some("G") => "GET",
        Some("D") => "DELETE",
        Some("O") => "OPTIONS",
        _ => "POST",
    };
    let mut text =
        format!("{method} /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    for header in parts {
        text.push_str(header);
        text.push_str("\r\n");
    }
    text.push_str("\r\n");
    [text.as_bytes(), body].concat()
}

async fn ask(address: SocketAddr, request: &[u8]) -> Vec<u8> {
    let mut socket = TcpStream::connect(address).await.expect("the server listens");
    // The server may answer and close before it has read everything.
    let _ = socket.write_all(request).await;
    let mut answer = vec![0; 12];
    let mut read = 0;
    while read < answer.len() {
        match tokio::time::timeout(Duration::from_secs(5), socket.read(&mut answer[read..]))
            .await
            .expect("an answer in time")
        {
            Ok(0) | Err(_) => break,
            Ok(more) => read += more,
        }
    }
    answer.truncate(read);
    answer
}

fuzz_target!(|input: &[u8]| {
    SITE.with_borrow(|(runtime, address)| {
        runtime.block_on(async {
            let answer = ask(*address, &request(input, *address)).await;
            assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 "), "{answer:?}");
            let next = ask(*address, &request(b"P|Content-Type: application/json|Accept: */*\n{}", *address)).await;
            assert!(next.starts_with(b"HTTP/1.1 4"), "{next:?}");
        });
    });
});
