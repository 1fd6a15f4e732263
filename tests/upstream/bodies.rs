//! Bodies that are too long, too short, badly coded, or streams.

use super::server::*;
use http::Method;
use rest_mcp::mapping::{Bytes as Size, Limits};
use rest_mcp::response::{NoAnswer, TimeoutKind};
use rest_mcp::upstream::SendOptions;
use std::time::Duration;

/// DEFLATE (RFC 1951) of `blocks` times 64 KiB of zeros in a gzip member (RFC 1952): one fixed-Huffman
/// block is a literal 0, then matches of length 258 at distance 1.
pub fn zeros_in_gzip(matches: usize) -> Vec<u8> {
    let mut bits: Vec<bool> = Vec::new();
    let mut push = |code: u32, length: u32| (0..length).rev().for_each(|i| bits.push(code >> i & 1 == 1));
    push(1, 1); // BFINAL
    push(0b10, 2); // BTYPE 01, least significant bit first
    push(0b0011_0000, 8); // literal 0
    for _ in 0..matches {
        push(0b1100_0101, 8); // length code 285: 258
        push(0, 5); // distance code 0: 1
    }
    push(0, 7); // end of block
    let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    for eight in bits.chunks(8) {
        bytes.push(eight.iter().enumerate().fold(0, |byte, (i, bit)| byte | (u8::from(*bit) << i)));
    }
    let length = u32::try_from(1 + matches * 258).unwrap();
    bytes.extend(crc_of_zeros(length).to_le_bytes());
    bytes.extend(length.to_le_bytes());
    bytes
}

/// CRC-32 (RFC 1952 §8).
fn crc_of_zeros(length: u32) -> u32 {
    let mut crc = u32::MAX;
    for _ in 0..length {
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

fn small() -> Limits {
    Limits { max_response: Size(1000), retries: 0, ..limits() }
}

#[tokio::test]
async fn an_endless_body_is_cut_at_the_limit_and_the_next_call_works() {
    let server = serve(|number, _| match number {
        0 => Act::Endless(b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b'x'; 300]),
        _ => Act::Send(answer("200 OK", "", "fine")),
    })
    .await;
    let upstream = upstream(&server.url, small());
    let got = upstream.send(0, get(&server.url), &idempotent()).await.unwrap();
    assert_eq!((got.body.len(), got.truncated), (1000, true));
    let got = upstream.send(0, get(&server.url), &idempotent()).await.unwrap();
    assert_eq!((&got.body[..], got.truncated), (&b"fine"[..], false));
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_whole() {
    for (length, truncated) in [(999, false), (1000, false), (1001, true)] {
        let server = serve(move |_, _| Act::Send(answer("200 OK", "", vec![b'x'; length]))).await;
        let got = upstream(&server.url, small()).send(0, get(&server.url), &idempotent()).await.unwrap();
        assert_eq!((got.body.len(), got.truncated), (length.min(1000), truncated), "{length}");
    }
}

#[tokio::test]
async fn a_gzip_bomb_is_cut_by_its_decoded_size() {
    let bomb = zeros_in_gzip(4000);
    assert!(bomb.len() < 8000);
    let server = serve(move |_, _| Act::Send(answer("200 OK", "content-encoding: gzip\r\n", &bomb))).await;
    let got = upstream(&server.url, small()).send(0, get(&server.url), &idempotent()).await.unwrap();
    assert_eq!((got.body.len(), got.truncated), (1000, true));
    assert!(got.body.iter().all(|byte| *byte == 0));
    assert!(!got.headers.contains_key("content-encoding"));
}

#[tokio::test]
async fn good_gzip_is_decoded() {
    let coded = zeros_in_gzip(3);
    let server = serve(move |_, _| Act::Send(answer("200 OK", "content-encoding: gzip\r\n", &coded))).await;
    let got = upstream(&server.url, small()).send(0, get(&server.url), &idempotent()).await.unwrap();
    assert_eq!((&got.body[..], got.truncated), (&[0; 775][..], false));
}

/// The same text from the reference encoders (`zlib`, `brotli`, `zstd`, `gzip`).
#[tokio::test]
async fn every_coding_that_is_asked_for_is_decoded() {
    let text = "Zürich, 21 °C";
    let bodies: [(&str, &[u8]); 5] = [
        ("br", b"\x0b\x07\x80\x5a\xc3\xbc\x72\x69\x63\x68\x2c\x20\x32\x31\x20\xc2\xb0\x43\x03"),
        ("deflate", b"\x78\x9c\x8b\x3a\xbc\xa7\x28\x33\x39\x43\x47\xc1\xc8\x50\xe1\xd0\x06\x67\x00\x33\xb6\x06\x04"),
        (
            "zstd",
            b"\x28\xb5\x2f\xfd\x04\x58\x79\x00\x00\x5a\xc3\xbc\x72\x69\x63\x68\x2c\x20\x32\x31\x20\xc2\xb0\x43\xc2\x8d\xf8\x4d",
        ),
        (
            "gzip",
            b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x8b\x3a\xbc\xa7\x28\x33\x39\x43\x47\xc1\xc8\x50\xe1\xd0\x06\x67\x00\x46\xd7\x5a\x0e\x0f\x00\x00\x00",
        ),
        ("identity", text.as_bytes()),
    ];
    for (coding, coded) in bodies {
        let head = format!("content-encoding: {coding}\r\n");
        let server = serve(move |_, _| Act::Send(answer("200 OK", &head, coded))).await;
        let got = upstream(&server.url, small()).send(0, get(&server.url), &idempotent()).await.unwrap();
        assert_eq!(std::str::from_utf8(&got.body).unwrap(), text, "{coding}");
        let asked = server.requests()[0].to_ascii_lowercase();
        let asked = asked.lines().find_map(|line| line.strip_prefix("accept-encoding:")).unwrap_or_default().to_owned();
        assert!(coding == "identity" || asked.contains(coding), "{coding} is decoded but not asked for: {asked}");
    }
}

#[tokio::test]
async fn a_body_that_does_not_decode_is_no_answer() {
    let cut = zeros_in_gzip(2);
    let cut = &cut[..cut.len() - 6];
    let bodies: [(&str, Vec<u8>); 5] = [
        ("gzip", b"not gzip at all".to_vec()),
        ("gzip", cut.to_vec()),
        ("br", vec![0xff; 40]),
        ("zstd", b"not zstd".to_vec()),
        ("x-secret", b"whatever".to_vec()),
    ];
    for (coding, body) in bodies {
        let header = format!("content-encoding: {coding}\r\n");
        let server = serve(move |_, _| Act::Send(answer("200 OK", &header, &body))).await;
        let upstream = upstream(&server.url, limits());
        let error = upstream.send(0, get(&server.url), &idempotent()).await.unwrap_err();
        assert!(matches!(error, NoAnswer::Body(_)), "{coding}: {error:?}");
        assert_eq!(server.count(), 1, "{coding}");
    }
}

/// gzip (RFC 1952) around one stored block (RFC 1951 §3.2.4), written by hand.
fn stored(content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap();
    let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    bytes.extend(length.to_le_bytes());
    bytes.extend((!length).to_le_bytes());
    bytes.extend_from_slice(content);
    let mut crc = u32::MAX;
    for byte in content {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    bytes.extend((!crc).to_le_bytes());
    bytes.extend(u32::from(length).to_le_bytes());
    bytes
}

#[tokio::test]
async fn codings_are_undone_by_any_of_their_names_and_in_any_number() {
    let hello = b"hello, hello".to_vec();
    let (once, twice, thrice) = (stored(&hello), stored(&stored(&hello)), stored(&stored(&stored(&hello))));
    for (headers, body) in [
        ("content-encoding: x-gzip\r\n", &once),
        ("content-encoding: GZIP\r\n", &once),
        ("content-encoding: identity, gzip\r\n", &once),
        ("content-encoding: gzip, identity,\r\n", &once),
        ("content-encoding: gzip, x-gzip\r\n", &twice),
        ("content-encoding: x-gzip\r\ncontent-encoding: gzip,gzip\r\n", &thrice),
        ("content-encoding: identity\r\n", &hello),
        ("content-encoding:\r\n", &hello),
    ] {
        let (headers, body) = (headers.to_owned(), body.clone());
        let shown = headers.clone();
        let server = serve(move |_, _| Act::Send(answer("200 OK", &headers, &body))).await;
        let got = upstream(&server.url, limits()).send(0, get(&server.url), &idempotent()).await;
        let got = got.unwrap_or_else(|error| panic!("{shown}: {error:?}"));
        assert_eq!(&got.body[..], &hello[..], "{shown}");
        assert!(!got.headers.contains_key("content-encoding"), "{shown}");
    }
    for (coding, body) in [
        ("compress", hello.clone()),
        ("gzip, compress", once),
        ("gzip,gzip,gzip,gzip", stored(&thrice)),
        ("gzip, br", twice),
    ] {
        let headers = format!("content-encoding: {coding}\r\n");
        let server = serve(move |_, _| Act::Send(answer("200 OK", &headers, &body))).await;
        let error = upstream(&server.url, limits()).send(0, get(&server.url), &idempotent()).await.unwrap_err();
        assert!(matches!(error, NoAnswer::Body(_)), "{coding}: {error:?}");
        assert_eq!(server.count(), 1, "{coding}");
    }
}

#[tokio::test]
async fn an_answer_without_content_may_name_a_coding() {
    for (method, status) in
        [(Method::GET, "204 No Content"), (Method::HEAD, "200 OK"), (Method::GET, "304 Not Modified")]
    {
        let server =
            serve(move |_, _| Act::Send(format!("HTTP/1.1 {status}\r\ncontent-encoding: gzip\r\n\r\n").into_bytes()))
                .await;
        let got = upstream(&server.url, small()).send(0, request(method, &server.url), &idempotent()).await.unwrap();
        assert!(got.body.is_empty());
    }
}

#[tokio::test]
async fn a_coded_body_of_no_bytes_is_empty() {
    let server = serve(|_, _| Act::Send(answer("200 OK", "content-encoding: gzip\r\n", ""))).await;
    let got = upstream(&server.url, small()).send(0, get(&server.url), &idempotent()).await.unwrap();
    assert!(got.body.is_empty());
}

#[tokio::test]
async fn a_body_shorter_than_announced_is_no_answer() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc".to_vec();
    let server = serve(move |_, _| Act::SendAndClose(head.clone())).await;
    let upstream = upstream(&server.url, limits());
    let error = upstream.send(0, request(Method::POST, &server.url), &SendOptions::default()).await.unwrap_err();
    assert!(matches!(error, NoAnswer::Body(_)), "{error:?}");
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn a_reset_in_the_body_is_repeated_only_where_that_is_harmless() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc".to_vec();
    for (options, sent) in [(idempotent(), 3), (SendOptions::default(), 1)] {
        let head = head.clone();
        let server = serve(move |_, _| Act::SendAndReset(head.clone())).await;
        let upstream = upstream(&server.url, limits());
        let error = upstream.send(0, get(&server.url), &options).await.unwrap_err();
        assert!(matches!(error, NoAnswer::Broken(_) | NoAnswer::Body(_)), "{error:?}");
        assert_eq!(server.count(), sent);
    }
}

#[tokio::test]
async fn a_stream_comes_chunk_by_chunk_and_ends_at_the_deadline() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let body = b"9\r\ndata: 1\n\n\r\n";
    let bytes = [&head[..], body].concat();
    let server = serve(move |_, _| Act::SendAndHang(bytes.clone())).await;
    let upstream = upstream(&server.url, limits());
    let options = SendOptions { timeout: Some(Duration::from_millis(150)), ..SendOptions::default() };
    let (head, mut stream) = upstream.open(0, get(&server.url), &options).await.unwrap();
    assert_eq!(head.headers["content-type"], "text/event-stream");
    assert_eq!(stream.chunk().await.unwrap().as_deref(), Some(&b"data: 1\n\n"[..]));
    let error = stream.chunk().await.unwrap_err();
    assert!(matches!(error, NoAnswer::Timeout(TimeoutKind::Total, _)), "{error:?}");
    assert!(stream.chunk().await.unwrap().is_none());
}

#[tokio::test]
async fn a_stream_without_end_is_cut_at_the_limit() {
    let server = serve(|_, _| Act::Endless(b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b'x'; 300])).await;
    let (_, mut stream) = upstream(&server.url, small()).open(0, get(&server.url), &idempotent()).await.unwrap();
    let mut length = 0;
    while let Some(chunk) = stream.chunk().await.unwrap() {
        length += chunk.len();
    }
    assert_eq!((length, stream.truncated()), (1000, true));
}
