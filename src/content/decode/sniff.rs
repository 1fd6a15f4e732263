//! Signatures of formats (after the WHATWG MIME Sniffing Standard) and tests for text.

/// The media type that the first bytes betray.
pub(in crate::content) fn signature(body: &[u8]) -> Option<&'static str> {
    const SIGNATURES: &[(&[u8], &str)] = &[
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"%PDF-", "application/pdf"),
        (b"PK\x03\x04", "application/zip"),
        (b"PK\x05\x06", "application/zip"),
        (b"\x1f\x8b\x08", "application/gzip"),
        (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
        (b"Rar!\x1a\x07", "application/vnd.rar"),
        (b"\x28\xb5\x2f\xfd", "application/zstd"),
        (b"OggS\0", "audio/ogg"),
        (b"ID3", "audio/mpeg"),
        (b"fLaC", "audio/flac"),
        (b"MThd\0\0\0\x06", "audio/midi"),
        (b"\x1a\x45\xdf\xa3", "video/webm"),
        (b"\0asm", "application/wasm"),
        (b"wOFF", "font/woff"),
        (b"wOF2", "font/woff2"),
        (b"SQLite format 3\0", "application/vnd.sqlite3"),
        (b"PAR1", "application/vnd.apache.parquet"),
    ];
    if let Some((_, found)) = SIGNATURES.iter().find(|(magic, _)| body.starts_with(magic)) {
        return Some(found);
    }
    if body.starts_with(b"RIFF") {
        return match body.get(8..12)? {
            b"WAVE" => Some("audio/wav"),
            b"WEBP" => Some("image/webp"),
            b"AVI " => Some("video/avi"),
            _ => None,
        };
    }
    if body.get(4..8) == Some(b"ftyp") {
        return match body.get(8..12)? {
            b"avif" | b"avis" => Some("image/avif"),
            b"heic" | b"heix" | b"mif1" => Some("image/heic"),
            b"M4A " => Some("audio/mp4"),
            _ => Some("video/mp4"),
        };
    }
    if body.starts_with(b"FORM") && body.get(8..12) == Some(b"AIFF") {
        return Some("audio/aiff");
    }
    // MPEG audio without a tag: frame sync, layer III, a legal bit rate and sampling rate.
    if let [0xff, second, third, ..] = body
        && second & 0xe6 == 0xe2
        && third & 0xf0 != 0xf0
        && third & 0xf0 != 0
        && third & 0x0c != 0x0c
    {
        return Some("audio/mpeg");
    }
    None
}

/// True if the first byte that is no whitespace opens a JSON object or list.
pub(super) fn begins_like_json(body: &[u8]) -> bool {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    matches!(body.iter().find(|byte| !byte.is_ascii_whitespace()), Some(b'{' | b'['))
}

/// True if the bytes begin like an HTML page.
pub(super) fn is_html(body: &[u8]) -> bool {
    let start = body.trim_ascii_start();
    [&b"<!doctype html"[..], b"<html", b"<head", b"<body"]
        .iter()
        .any(|tag| start.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag)))
}

/// True if the bytes are text: no binary control byte (WHATWG §7.1), and UTF-8 or marked UTF-16.
pub(super) fn is_text(body: &[u8]) -> bool {
    if body.starts_with(b"\xff\xfe") || body.starts_with(b"\xfe\xff") {
        return true;
    }
    let binary = |byte: &u8| matches!(byte, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f);
    if body.iter().any(binary) {
        return false;
    }
    match std::str::from_utf8(body) {
        Ok(_) => true,
        // A character that the read limit cut in two.
        Err(error) => error.error_len().is_none(),
    }
}
