//! A server of bytes: each connection gets a script, every request is counted and kept.

use http::{HeaderMap, Method};
use indexmap::IndexMap;
use rest_mcp::catalog::SourcePlan;
use rest_mcp::mapping::{self, Limits, Tls};
use rest_mcp::request::Request;
use rest_mcp::upstream::{SendOptions, Upstream};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What a server does with one request.
pub enum Act {
    /// Sends these bytes and keeps the connection.
    Send(Vec<u8>),
    /// Sends these bytes and closes the connection in order.
    SendAndClose(Vec<u8>),
    /// Sends these bytes and resets the connection.
    SendAndReset(Vec<u8>),
    /// Sends these bytes and then nothing more, for ever.
    SendAndHang(Vec<u8>),
    /// Sends the head, then this chunk again and again for ever.
    Endless(Vec<u8>, Vec<u8>),
    /// Sends the head, then a byte now and then for ever: never silent, never done.
    Trickle(Vec<u8>),
}

/// A running server.
pub struct Server {
    pub url: String,
    requests: Arc<Mutex<Vec<String>>>,
    /// Connections that came, and those of them that ended.
    connections: watch::Receiver<(usize, usize)>,
}

impl Server {
    /// All requests so far, heads and bodies, as text.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    /// Connections so far.
    pub fn connections(&self) -> usize {
        self.connections.borrow().0
    }

    /// Waits until so many connections have ended, and until whoever is ready has noticed.
    pub async fn ended(&mut self, count: usize) {
        self.connections.wait_for(|(_, ended)| *ended >= count).await.unwrap();
        // The sockets are looked at before this comes back.
        tokio::task::yield_now().await;
    }
}

/// Starts a server; `script` gets the number of the request (from 0) and its text.
pub async fn serve(script: impl Fn(usize, &str) -> Act + Send + Sync + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(Mutex::new(Vec::new()));
    let (seen, script) = (requests.clone(), Arc::new(script));
    let (count, connections) = watch::channel((0, 0));
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let (seen, script) = (seen.clone(), script.clone());
            let count = count.clone();
            count.send_modify(|(came, _)| *came += 1);
            tokio::spawn(async move {
                talk(socket, seen, script).await;
                count.send_modify(|(_, ended)| *ended += 1);
            });
        }
    });
    Server { url, requests, connections }
}

async fn talk(
    mut socket: TcpStream,
    seen: Arc<Mutex<Vec<String>>>,
    script: Arc<impl Fn(usize, &str) -> Act + Send + Sync + 'static>,
) {
    while let Some(request) = read_request(&mut socket).await {
        let number = {
            let mut seen = seen.lock().unwrap();
            seen.push(request.clone());
            seen.len() - 1
        };
        match script(number, &request) {
            Act::Send(bytes) => {
                if socket.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Act::SendAndClose(bytes) => {
                let _ = socket.write_all(&bytes).await;
                let _ = socket.shutdown().await;
                return;
            }
            Act::SendAndReset(bytes) => {
                let _ = socket.write_all(&bytes).await;
                socket.set_zero_linger().unwrap();
                return;
            }
            Act::SendAndHang(bytes) => {
                let _ = socket.write_all(&bytes).await;
                let mut rest = Vec::new();
                let _ = socket.read_to_end(&mut rest).await;
                return;
            }
            Act::Trickle(head) => {
                let _ = socket.write_all(&head).await;
                while socket.write_all(b"x").await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                return;
            }
            Act::Endless(head, chunk) => {
                let _ = socket.write_all(&head).await;
                while socket.write_all(&chunk).await.is_ok() {}
                return;
            }
        }
    }
}

/// Head and body (by Content-Length) of the next request.
async fn read_request(socket: &mut (impl tokio::io::AsyncRead + Unpin)) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length:"))
                .map_or(0, |text| text.trim().parse::<usize>().unwrap());
            if bytes.len() >= end + 4 + length {
                return Some(String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        let mut part = [0; 4096];
        match socket.read(&mut part).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&part[..count]),
        }
    }
}

/// A whole answer.
pub fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut bytes = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// Limits with short times.
pub fn limits() -> Limits {
    Limits {
        connect_timeout: mapping::Duration(Duration::from_secs(2)),
        timeout: mapping::Duration(Duration::from_secs(20)),
        retries: 2,
        ..Limits::default()
    }
}

/// A source at `url`.
pub fn plan(url: &str, limits: Limits) -> SourcePlan {
    SourcePlan {
        name: "api".to_owned(),
        base_url: url.to_owned(),
        credentials: IndexMap::new(),
        headers: Vec::new(),
        forward_headers: Vec::new(),
        tls: Tls::default(),
        limits,
        upload_dirs: Vec::new(),
    }
}

pub fn upstream(url: &str, limits: Limits) -> Upstream {
    Upstream::new(&[Arc::new(plan(url, limits))]).unwrap()
}

pub fn request(method: Method, url: &str) -> Request {
    Request {
        method,
        url: url.to_owned(),
        headers: HeaderMap::new(),
        body: None,
        secret_in_url: Vec::new(),
        secrets: Vec::new(),
    }
}

pub fn get(url: &str) -> Request {
    request(Method::GET, url)
}

/// Options of a call that may be repeated.
pub fn idempotent() -> SendOptions {
    SendOptions { idempotent: true, ..SendOptions::default() }
}
