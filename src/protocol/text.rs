//! Result members that are plain JSON.

use serde::Serialize;
use serde_json::{Map, Value};

/// Appends any serializable value.
pub(crate) fn put<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    // Writing into a Vec can't fail, and none of the values written here has a map with odd keys.
    let _ = serde_json::to_writer(out, value);
}

/// `,"_meta":{…}` of the members given, or nothing.
pub(crate) fn put_meta(out: &mut Vec<u8>, own: Option<&str>, more: Option<&Map<String, Value>>) {
    let more = more.filter(|map| !map.is_empty());
    if own.is_none() && more.is_none() {
        return;
    }
    out.extend_from_slice(b",\"_meta\":{");
    out.extend_from_slice(own.unwrap_or_default().as_bytes());
    for (index, (key, value)) in more.into_iter().flatten().enumerate() {
        if index > 0 || own.is_some() {
            out.push(b',');
        }
        put(out, key);
        out.push(b':');
        put(out, value);
    }
    out.push(b'}');
}
