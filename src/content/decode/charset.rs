//! Text of any charset.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Decodes bytes: by their byte order mark, the declared charset, what the document itself says
/// (HTML `meta`, XML declaration), else UTF-8 where they are that, else windows-1252.
/// What can't be decoded becomes U+FFFD.
pub(super) fn text(body: &[u8], declared: Option<&str>, html: bool) -> String {
    let encoding = match Encoding::for_bom(body) {
        Some((encoding, _)) => encoding,
        None => declared
            .and_then(|label| Encoding::for_label(label.trim().as_bytes()))
            .or_else(|| by_document(body, html))
            .unwrap_or_else(|| if is_utf8(body) { UTF_8 } else { WINDOWS_1252 }),
    };
    encoding.decode(body).0.into_owned()
}

fn is_utf8(body: &[u8]) -> bool {
    match std::str::from_utf8(body) {
        Ok(_) => true,
        // A last character that the read limit cut in two; behind ASCII alone it is rather one of windows-1252.
        Err(error) => error.error_len().is_none() && !body.get(..error.valid_up_to()).is_none_or(<[u8]>::is_ascii),
    }
}

fn by_document(body: &[u8], html: bool) -> Option<&'static Encoding> {
    let head = body.get(..1024).unwrap_or(body);
    let lower = String::from_utf8_lossy(head).to_ascii_lowercase();
    let (_, after) = if html {
        lower.split_once("charset=")?
    } else if lower.trim_start().starts_with("<?xml") {
        lower.split_once("?>")?.0.split_once("encoding=")?
    } else {
        return None;
    };
    let label: String =
        after.trim_start_matches(['"', '\'']).chars().take_while(|char| !"\"'; />".contains(*char)).collect();
    Encoding::for_label(label.as_bytes())
}
