//! Small valid contents for media types that no schema describes.

use crate::request::media;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

/// Text of a text type that is more than plain; `None` = a sample of the schema will do.
pub(super) fn text(media_type: &str) -> Option<&'static str> {
    match media::essence(media_type) {
        "text/html" => {
            Some("<!doctype html><html><head><title>Sample</title></head><body><p>Sample</p></body></html>\n")
        }
        "text/csv" => Some("id,name\n1,sample\n"),
        "text/markdown" => Some("# Sample\n\nA sample.\n"),
        "text/calendar" => Some("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//sample//EN\r\nEND:VCALENDAR\r\n"),
        _ => None,
    }
}

/// One transparent pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const GIF: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
/// Eight silent samples, mono, 8 kHz.
const WAV: &str = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==";
/// An archive without entries.
const ZIP: &str = "UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==";
const PDF: &str = "%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 72]>>endobj
trailer<</Root 1 0 R>>
%%EOF
";

/// Bytes of a binary type.
pub(super) fn binary(media_type: &str) -> Bytes {
    let encoded = match media::essence(media_type) {
        "image/png" | "image/apng" => PNG,
        "image/gif" => GIF,
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => WAV,
        "application/zip" | "application/x-zip-compressed" => ZIP,
        "application/pdf" => return Bytes::from_static(PDF.as_bytes()),
        _ => return Bytes::from_static(b"sample"),
    };
    STANDARD.decode(encoded).map(Bytes::from).unwrap_or_default()
}
